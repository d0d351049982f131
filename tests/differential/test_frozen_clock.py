"""The frozen clock itself: a real server lives in the time that the test writes."""

from __future__ import annotations

from tests.real.frozen import FrozenServer


def test_time_is_what_the_page_says(frozen_server: FrozenServer) -> None:
    r = frozen_server.client()
    assert r.time() == (frozen_server.us // 1_000_000, frozen_server.us % 1_000_000)
    r.flushall()
    r.set("k", "v", px=1000)
    frozen_server.advance_ms(400)
    assert r.pttl("k") == 600


def test_lazy_expiry_is_exact(frozen_server: FrozenServer) -> None:
    r = frozen_server.client()
    r.flushall()
    r.execute_command("DEBUG", "SET-ACTIVE-EXPIRE", "0")
    r.set("k", "v", px=1000)
    frozen_server.advance_ms(1000)
    assert r.get("k") == b"v"
    frozen_server.advance_ms(1)
    assert r.dbsize() == 1
    assert r.get("k") is None
    r.execute_command("DEBUG", "SET-ACTIVE-EXPIRE", "1")


def test_active_expiry_happens_at_the_cron(frozen_server: FrozenServer) -> None:
    r = frozen_server.client()
    r.flushall()
    r.set("k", "v", pxat=frozen_server.next_cron_us // 1000 + 50)
    frozen_server.advance_ms((frozen_server.next_cron_us - frozen_server.us) // 1000)
    assert r.dbsize() == 1
    frozen_server.advance_ms(99)
    assert r.dbsize() == 1
    frozen_server.advance_ms(1)
    assert r.dbsize() == 0


def test_one_cron_per_step(frozen_server: FrozenServer) -> None:
    """The stale estimate decays by 5 % at each cron: it counts them."""
    r = frozen_server.client()
    r.flushall()
    r.config_resetstat()
    r.set("k", "v", px=1)
    frozen_server.advance_ms(200)
    shown = [r.info("stats")["expired_stale_perc"]]
    for _ in range(3):
        frozen_server.advance_ms(100)
        shown.append(r.info("stats")["expired_stale_perc"])
    expected = [shown[0] * 0.95**i for i in range(4)]
    assert shown[0] > 0
    assert all(abs(a - b) < 0.02 for a, b in zip(shown, expected, strict=True))
