"""plots/replicas.py: one key on a primary and its replicas."""

from __future__ import annotations

import matplotlib as mpl
import matplotlib.pyplot as plt
import pytest

from miniredis import Server, VirtualClock
from miniredis.clock import FREE
from miniredis.lab.plots import alt_text_link, plot_lifeline, plot_link
from miniredis.server.life import History

mpl.use("Agg")


@pytest.fixture
def histories() -> dict[str, History]:
    """A chain of three servers, 300 and 100 ms apart; the key's time is 430 ms."""
    clock = VirtualClock()
    servers = [Server(clock, seed=1, cost=FREE, record_history=True)]
    for delay_ms in (300, 100):
        servers.append(
            Server(
                replica_of=servers[-1], link_delay_ms=delay_ms, seed=2, cost=FREE,
                record_history=True,
            )
        )  # fmt: skip
    clock.advance(2_700)  # the last one asks anew once the middle one has its data
    c = servers[0].create_client()
    servers[0].process_command(c, b"SET k v PX 430".split())
    clock.advance(2_000)
    return {f"server {i}": server.history("k") for i, server in enumerate(servers)}


def test_a_row_for_each_and_an_arrow_for_each_message(histories: dict[str, History]) -> None:
    ax = plot_link(histories)
    assert [label.get_text() for label in ax.get_yticklabels()] == list(histories)
    arrows = [
        (round(note.xyann[0], 3), round(note.xy[0], 3))  # type: ignore[attr-defined]
        for note in ax.texts
        if getattr(note, "arrow_patch", None) is not None
    ]
    assert arrows == [(0, 0.3), (0.501, 0.801), (0.3, 0.4), (0.801, 0.901)]
    labels = [text.get_text() for text in ax.get_legend().get_texts()]
    assert "deleted when dead" in labels and "deleted while alive" not in labels
    plt.close()


def test_in_words(histories: dict[str, History]) -> None:
    text = alt_text_link(histories)
    assert text.startswith(
        "One key on 3 servers. server 0: it comes at 0.000 s, is dead from 0.431 s on, "
        "is deleted at 0.501 s. server 1: it comes at 0.300 s, is dead from 0.431 s on, "
        "is deleted at 0.801 s. server 2: it comes at 0.400 s"
    )
    assert text.count("over 300 ms") == text.count("over 100 ms") == 2


def test_what_a_replica_did_by_itself_has_no_arrow() -> None:
    clock = VirtualClock()
    primary = Server(clock, seed=1, cost=FREE, record_history=True)
    replica = Server(
        replica_of=primary, seed=2, cost=FREE, record_history=True, replica_read_only=False
    )
    clock.advance(0)
    for server, line in ((primary, b"SET k 1"), (replica, b"SET k 2 PX 10")):
        server.process_command(server.create_client(), line.split())
    clock.advance(500)
    ax = plot_link({"primary": primary.history("k"), "replica": replica.history("k")})
    arrows = [note for note in ax.texts if getattr(note, "arrow_patch", None) is not None]
    assert len(arrows) == 1  # the SET of the primary; the clean-up came from nowhere
    plt.close()


def test_bad_input(histories: dict[str, History]) -> None:
    one = dict(list(histories.items())[:1])
    with pytest.raises(ValueError, match="a link has two ends"):
        plot_link(one)
    with pytest.raises(ValueError, match="a link has two ends"):
        alt_text_link(one)
    with pytest.raises(ValueError, match="as many names"):
        plot_lifeline(list(histories.values()), names=["a"])
