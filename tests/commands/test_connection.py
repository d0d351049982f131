"""Commands about connections: state, time, and what others see of it.

That replies and errors are Redis's to the byte is tested beside a real server.
"""

from __future__ import annotations

import pytest

from miniredis.clock import VirtualClock
from miniredis.commands.client_info import client_info
from miniredis.errors import CommandError
from miniredis.reply import BLOCKED, NO_REPLY, OK, PONG, QUEUED, Reply, SetReply, Status, Verbatim
from miniredis.server.client import Client
from miniredis.server.server import Server

START_MS = 1_391_234_400_000
SECRET = "secret"


class Caller:
    """A client whose commands are given as text."""

    def __init__(self, server: Server, addr: str = "127.0.0.1:50000") -> None:
        self.server = server
        self.client: Client = server.create_client(addr, "127.0.0.1:6379")
        self.hung_up = False
        self.client.on_close = self._hang_up

    def _hang_up(self) -> None:
        self.hung_up = True

    def __call__(self, text: str) -> Reply:
        reply = self.server.process_command(self.client, text.encode().split())
        self.server._check()
        return reply

    def error(self, text: str) -> str:
        reply = self(text)
        assert isinstance(reply, CommandError), reply
        return reply.text.decode()

    def info(self) -> dict[str, str]:
        """The fields of this client as another one sees them."""
        line = client_info(self.client).decode()
        return dict(field.split("=", 1) for field in line.split(" "))


@pytest.fixture
def clock() -> VirtualClock:
    return VirtualClock(START_MS)


@pytest.fixture
def server(clock: VirtualClock) -> Server:
    return Server(clock=clock, seed=1)


@pytest.fixture
def a(server: Server) -> Caller:
    return Caller(server)


@pytest.fixture
def b(server: Server) -> Caller:
    return Caller(server, "10.0.0.1:1")


# -- AUTH, HELLO, RESET, SELECT ----------------------------------------------------------


@pytest.fixture
def locked(clock: VirtualClock) -> Server:
    return Server(clock=clock, seed=1, requirepass=SECRET)


def test_requirepass_lets_nobody_pass_without_password(locked: Server) -> None:
    a = Caller(locked)
    assert a.error("PING") == "NOAUTH Authentication required."
    assert a.error("AUTH wrong").startswith("WRONGPASS ")
    assert a.error("AUTH default wrong").startswith("WRONGPASS ")
    assert a.error(f"AUTH nobody {SECRET}").startswith("WRONGPASS ")
    assert a.error("HELLO 3").startswith("NOAUTH HELLO must be called")
    assert a.client.resp == 2
    assert a(f"AUTH {SECRET}") is OK
    assert a("PING") is PONG
    assert a("RESET") == Status(b"RESET")
    assert a.error("PING").startswith("NOAUTH ")
    assert a(f"HELLO 3 AUTH default {SECRET}")[b"proto"] == 3
    assert a("PING") is PONG


def test_a_password_set_later_binds_new_clients_only(a: Caller, server: Server) -> None:
    assert a.error("AUTH x").startswith("ERR AUTH <password> called without any password")
    assert a("AUTH default x") is OK
    a(f"CONFIG SET requirepass {SECRET}")
    late = Caller(server)
    assert a("PING") is PONG
    assert late.error("PING").startswith("NOAUTH ")
    server.process_command(a.client, [b"CONFIG", b"SET", b"requirepass", b""])
    assert late("PING") is PONG


def test_the_user_is_the_one_who_logged_in(locked: Server) -> None:
    a = Caller(locked)
    a(f"AUTH default {SECRET}")
    assert a.info()["user"] == "default"


def test_hello_tells_about_the_server_and_switches(a: Caller) -> None:
    reply = a("HELLO 3 SETNAME me")
    assert reply[b"server"] == b"redis"
    assert reply[b"version"] == b"7.0.15"
    assert reply[b"id"] == a.client.id
    assert reply[b"role"] == b"master"
    assert (a.client.resp, a.client.name) == (3, b"me")
    assert a.error("HELLO 4") == "NOPROTO unsupported protocol version"
    assert a("HELLO")[b"proto"] == 3
    a.server.masterhost = "127.0.0.1"
    assert a("HELLO")[b"role"] == b"replica"


def test_secrets_are_not_shown_to_monitors_and_slow_log(a: Caller, b: Caller) -> None:
    b("MONITOR")
    a("CONFIG SET slowlog-log-slower-than 0")
    a("AUTH one")
    a("AUTH two three")
    a("HELLO 2 SETNAME me AUTH four five")
    a("MULTI")
    a("AUTH six")
    a("EXEC")
    shown = b" ".join(line.text for line in b.client.outbox)
    logged = b" ".join(arg for entry in a.server.slowlog.entries for arg in entry.argv)
    for secret in (b"one", b"two", b"three", b"four", b"five", b"six"):
        assert secret not in shown
        assert secret not in logged
    assert b'"HELLO" "2" "SETNAME" "me" "AUTH" "(redacted)" "(redacted)"' in shown
    assert shown.count(b"(redacted)") == logged.count(b"(redacted)") == 6
    a("ECHO one")
    assert b.client.outbox[-1].text.endswith(b'"ECHO" "one"')


def test_reset_makes_the_connection_new(a: Caller, b: Caller) -> None:
    for text in ("HELLO 3 SETNAME me", "SELECT 5", "SUBSCRIBE x", "WATCH k", "MULTI", "GET k"):
        a(text)
    a.client.outbox.clear()
    assert a("RESET") == Status(b"RESET")
    c = a.client
    assert (c.resp, c.db.id, c.name, c.flags) == (2, 0, b"", 0)
    assert a.error("EXEC") == "ERR EXEC without MULTI"
    assert b("PUBLISH x y") == 0
    b("SET k v")
    a("MULTI")
    assert a("EXEC") == []


def test_reset_ends_monitor(a: Caller, b: Caller) -> None:
    a("MONITOR")
    assert a.error("GET k") == "ERR Replica can't interact with the keyspace"
    a("RESET")
    b("GET k")
    assert a.server.monitors == []
    assert not any(b"GET" in line.text for line in a.client.outbox if isinstance(line, Status))
    assert a("GET k") is None


def test_reset_keeps_no_evict_and_obeys_a_skip(a: Caller) -> None:
    a("CLIENT NO-EVICT ON")
    a("CLIENT REPLY SKIP")
    assert a("RESET") is NO_REPLY
    assert a("PING") is PONG
    assert a.info()["flags"] == "e"


def test_quit_and_http_requests_end_the_connection(a: Caller, b: Caller) -> None:
    assert a("QUIT") is OK
    assert a.client.close_after_reply
    assert b("Host: x") is NO_REPLY
    assert b.client.close_after_reply


# -- CLIENT INFO, LIST, KILL -------------------------------------------------------------


def test_age_and_idle_are_differences_of_whole_seconds(
    clock: VirtualClock, a: Caller, b: Caller
) -> None:
    clock.advance(1_999)
    b("PING")
    assert (a.info()["age"], a.info()["idle"]) == ("1", "1")
    clock.advance(1)
    text = a("CLIENT INFO").text.decode()
    assert " age=2 idle=0 " in text, "whoever asks is not idle"
    clock.advance(10_000)
    b("PING")
    assert (a.info()["age"], a.info()["idle"]) == ("12", "10")


def test_flags_of_a_client(a: Caller, b: Caller) -> None:
    assert a.info()["flags"] == "N"
    a("WATCH k")
    a("MULTI")
    b("SET k v")
    assert a.info()["flags"] == "xd"
    assert a.info()["multi"] == "0"
    b("CLIENT PAUSE 1000 WRITE")
    assert a("SET k v") is BLOCKED
    assert a.info()["flags"] == "xbd"
    assert a.info()["argv-mem"] == str(len("SETkv"))
    b("MONITOR")
    assert b.info()["flags"] == "O"


def test_memory_of_arguments(a: Caller, b: Caller) -> None:
    a("SET key value")
    assert a.info()["argv-mem"] == "0", "a command that has run is forgotten"
    a("MULTI")
    a("SET key value")
    a("CLIENT INFO")
    queued = len("SETkeyvalue") + 3 * 8 + len("CLIENTINFO") + 2 * 8
    assert a.info()["multi-mem"] == str(queued)
    _, info = a("EXEC")
    assert f"multi=2 qbuf=14 qbuf-free=0 argv-mem=4 multi-mem={queued} " in info.text.decode()
    assert a.info()["multi-mem"] == "0"


def test_list_is_one_line_a_client_in_order(a: Caller, b: Caller) -> None:
    reply = a("CLIENT LIST")
    assert isinstance(reply, Verbatim)
    lines = reply.text.decode().splitlines()
    assert [line.split(" ")[1] for line in lines] == ["addr=127.0.0.1:50000", "addr=10.0.0.1:1"]
    twice = a(f"CLIENT LIST ID {b.client.id} 999 {b.client.id}").text.splitlines()
    assert [line.split(b" ")[0] for line in twice] == [b"id=%d" % b.client.id] * 2
    b("SUBSCRIBE x")
    assert len(a("CLIENT LIST TYPE pubsub").text.splitlines()) == 1
    assert a("CLIENT LIST TYPE replica").text == b""


def test_kill_by_address_closes_even_oneself(a: Caller, b: Caller) -> None:
    assert a("CLIENT KILL 10.0.0.1:1") is OK
    assert b.hung_up
    assert b.client.id not in a.server.clients
    assert a.error("CLIENT KILL 10.0.0.1:1") == "ERR No such client"
    assert a("CLIENT KILL 127.0.0.1:50000") is OK
    assert a.client.close_after_reply
    assert not a.hung_up, "the reply must go out first"


def test_kill_needs_all_conditions_and_spares_oneself(a: Caller, b: Caller) -> None:
    assert a(f"CLIENT KILL ID {b.client.id} TYPE pubsub") == 0
    assert a(f"CLIENT KILL ID {b.client.id} ADDR 127.0.0.1:50000") == 0
    assert a(f"CLIENT KILL ID {a.client.id}") == 0
    assert not b.hung_up
    assert a("CLIENT KILL LADDR 127.0.0.1:6379 USER default TYPE normal") == 1
    assert b.hung_up
    assert a("CLIENT KILL SKIPME no") == 1
    assert a.client.close_after_reply


def test_a_wrong_kill_kills_nobody(a: Caller, b: Caller) -> None:
    for text in ("TYPE nope", "ID 0", "ID x", "USER nobody", "SKIPME maybe", "NOPE x", "ID"):
        a.error(f"CLIENT KILL ADDR 10.0.0.1:1 {text}")
    assert not b.hung_up


# -- CLIENT PAUSE ------------------------------------------------------------------------


def test_a_write_is_held_back_until_the_pause_ends(
    clock: VirtualClock, a: Caller, b: Caller
) -> None:
    assert b("CLIENT PAUSE 1000 WRITE") is OK
    for text in ("SET k v", "PUBLISH x y"):
        client = Caller(a.server)
        assert client(text) is BLOCKED
        assert client.client.blocked
    assert a("GET k") is None
    assert a("SET k w") is BLOCKED
    assert b("CLIENT KILL TYPE pubsub") == 0
    assert a.server.dbsize(0) == 0
    assert not a.client.outbox


def test_the_first_cron_after_its_end_lifts_a_pause(clock: VirtualClock, a: Caller) -> None:
    a("CLIENT PAUSE 250 ALL")
    assert a("SET k v") is BLOCKED
    clock.advance(250)
    assert a.client.blocked
    clock.advance(100)
    assert not a.client.blocked
    assert list(a.client.outbox) == [OK]
    assert a.server.dbsize(0) == 1


def test_unpause_runs_what_was_held(a: Caller, b: Caller) -> None:
    b("CLIENT PAUSE 100000 WRITE")
    a("MULTI")
    assert a("SET k v") is BLOCKED
    b("CLIENT UNPAUSE")
    assert list(a.client.outbox) == [QUEUED]
    a.client.outbox.clear()
    b("CLIENT PAUSE 100000 WRITE")
    assert a("EXEC") is BLOCKED, "a queued write makes EXEC a write"
    b("CLIENT UNPAUSE")
    assert list(a.client.outbox) == [[OK]]


def test_a_second_pause_can_only_prolong_and_tighten(
    clock: VirtualClock, a: Caller, b: Caller
) -> None:
    b("CLIENT PAUSE 10000 WRITE")
    b("CLIENT PAUSE 1 WRITE")
    clock.advance(5_000)
    b("CLIENT PAUSE 0 ALL")
    assert a("PING") is BLOCKED
    clock.advance(4_900)
    assert a.client.blocked
    clock.advance(300)
    assert list(a.client.outbox) == [PONG]


@pytest.mark.parametrize("timeout", ["0", "9223372036854775807"])
def test_a_pause_of_nothing_or_beyond_64_bits_is_over_at_once(a: Caller, timeout: str) -> None:
    assert a(f"CLIENT PAUSE {timeout}") is OK
    assert a("SET k v") is OK


def test_nothing_expires_while_paused(clock: VirtualClock, a: Caller) -> None:
    a("SET k v PX 100")
    a("CLIENT PAUSE 10000 WRITE")
    clock.advance(5_000)
    assert a.server.dbsize(0) == 1
    clock.advance(10_000)
    assert a.server.dbsize(0) == 0


def test_a_held_client_can_be_killed(a: Caller, b: Caller) -> None:
    b("CLIENT PAUSE 100000 WRITE")
    assert a("SET k v") is BLOCKED
    assert b(f"CLIENT KILL ID {a.client.id}") == 1
    assert not a.client.blocked
    b("CLIENT UNPAUSE")
    assert a.server.dbsize(0) == 0
    assert not a.client.outbox


def test_monitors_are_never_paused(a: Caller, b: Caller) -> None:
    a("MONITOR")
    b("CLIENT PAUSE 1000 ALL")
    assert a("PING") is NO_REPLY  # what it is sent stands in order: the reply, then the line
    assert a.client.outbox.popleft() is PONG
    assert b("PING") is BLOCKED


# -- CLIENT REPLY and the rest -------------------------------------------------------------


def test_reply_skip_silences_the_next_command(a: Caller) -> None:
    assert a("CLIENT REPLY SKIP") is NO_REPLY
    assert a("SET k v") is NO_REPLY
    assert a("GET k") == b"v"
    assert a("CLIENT REPLY OFF") is NO_REPLY
    assert a("NOPE") is NO_REPLY
    assert a("CLIENT REPLY SKIP") is NO_REPLY
    assert a("CLIENT REPLY ON") is OK
    assert a("GET k") == b"v"


def test_names(a: Caller) -> None:
    assert a("CLIENT GETNAME") is None
    assert a("CLIENT SETNAME me") is OK
    assert a("CLIENT GETNAME") == b"me"
    a.server.process_command(a.client, [b"CLIENT", b"SETNAME", b""])
    assert a("CLIENT GETNAME") is None


def test_nothing_is_tracked_and_nobody_waits(a: Caller, b: Caller) -> None:
    assert a("CLIENT GETREDIR") == -1
    info = a("CLIENT TRACKINGINFO")
    assert isinstance(info[b"flags"], SetReply)
    assert info[b"flags"].items == [b"off"]
    a("CLIENT PAUSE 1000 WRITE")
    assert b("SET k v") is BLOCKED
    assert a(f"CLIENT UNBLOCK {b.client.id}") == 0
    assert b.client.blocked
