"""A real primary with a real replica, and a simulated pair, in step, the line equally slow.

Both real servers see the same frozen clock. Their line goes through a relay that keeps
each byte for the delay of the link, counted by that clock.
"""

from __future__ import annotations

import os
from pathlib import Path

from miniredis import Server, VirtualClock
from miniredis.clock import FREE
from miniredis.net.resp import encode_reply
from miniredis.reply import NO_REPLY
from miniredis.server.client import Client
from tests.conftest import START_MS
from tests.differential.layout import learn_hashes
from tests.differential.pair import KEYS, NOW_MS, NOW_S, Step
from tests.real.frozen import FrozenServer
from tests.real.raw import RawClient
from tests.real.relay import Relay
from tests.real.servers import RealServer

PRIMARY, REPLICA = 0, 1
EVENTS = "AKEmn"
TRIES = 2000
# Of INFO stats: what tells of expiry.
STATS = (b"expired_keys", b"keyspace_hits", b"keyspace_misses", b"slave_expires_tracked_keys")
OPTIONS = ["--repl-diskless-sync", "no"]


def info(client: RawClient, section: bytes) -> dict[bytes, bytes]:
    return fields(client(b"INFO", section))


def fields(text: bytes) -> dict[bytes, bytes]:
    pairs = (line.partition(b":") for line in text.split(b"\r\n") if b":" in line)
    return {name: value for name, _, value in pairs}


class ReplicaPair:
    """Steps name the server by PRIMARY or REPLICA; each has one client."""

    def __init__(self, binary: str, directory: Path) -> None:
        self.primary = FrozenServer(binary, directory, START_MS, OPTIONS)
        env = {
            "LD_PRELOAD": os.fspath(directory / "frozen_clock.so"),
            "FROZEN_CLOCK_PAGE": os.fspath(directory / "page"),
        }
        self.replica = RealServer(binary, env, OPTIONS)
        self.poker = self.replica.client()
        self.real = [RawClient(self.primary.port), RawClient(self.replica.port)]
        self.admins = [RawClient(self.primary.port), RawClient(self.replica.port)]
        self.real_listeners = [RawClient(self.primary.port), RawClient(self.replica.port)]
        for listener in self.real_listeners:
            listener(b"PSUBSCRIBE", b"__key*")
        self.hashes = [learn_hashes(client, KEYS) for client in self.real]
        for admin in self.admins:
            admin(b"CONFIG", b"SET", b"notify-keyspace-events", EVENTS.encode())
        self.detached = True  # the real replica is none now
        self.relay = Relay(self.primary.port, lambda: self.primary.us)

    # -- the real side -----------------------------------------------------------------

    def attach(self) -> None:
        """Make the real replica one, if it is none, and wait until it has caught up."""
        self.relay.open()
        port = b"%d" % self.relay.port
        self.admins[REPLICA](b"REPLICAOF", b"127.0.0.1", port)
        for _ in range(TRIES):
            state = info(self.admins[REPLICA], b"replication")
            if state[b"master_link_status"] == b"up":
                break
            self.advance_real(100)
        else:
            raise RuntimeError("the replica does not connect")
        for _ in range(TRIES):
            ours = info(self.admins[REPLICA], b"replication")[b"slave_repl_offset"]
            if ours == info(self.admins[PRIMARY], b"replication")[b"master_repl_offset"]:
                break
        else:
            raise RuntimeError("the replica does not catch up")
        self.base_offset = int(ours)
        self.base_in, self.base_out = self.relay.bytes_in, self.relay.bytes_out

    def _poke(self) -> None:
        for _ in range(2):
            self.poker.ping()

    def settle(self) -> None:
        """All that the primary has said is in the relay; all that was let pass is applied."""
        if self.detached:
            return
        said = int(info(self.admins[PRIMARY], b"replication")[b"master_repl_offset"])
        self.relay.wait_for(self.base_in + said - self.base_offset)
        self.relay.let_pass()
        passed = self.base_offset + self.relay.bytes_out - self.base_out
        for _ in range(TRIES):
            state = info(self.admins[REPLICA], b"replication")
            if int(state[b"slave_read_repl_offset"]) == passed:
                return
        raise RuntimeError(f"the replica stays at {state}, {passed} bytes have passed")

    def advance_real(self, ms: int, settle: bool = False) -> None:
        """Stop at every cron and at every arrival."""
        target = self.primary.us + ms * 1000
        while True:
            stops = [target, self.primary.next_cron_us]
            due = self.relay.next_due_us() if settle and not self.detached else None
            if due is not None:
                stops.append(due)
            stop = max(min(stops), self.primary.us)
            if stop == due:
                self.primary.set_us(stop)
                self.settle()  # sockets come before timers
            self.primary.advance_us(stop - self.primary.us)
            self._poke()
            if settle:
                self.settle()
            if stop == target:
                return

    def jump(self, crons: int) -> None:
        """Pass the instants of so many crons and run the next, on both sides.

        For servers that answer nobody until then: CLIENT PAUSE ALL.
        """
        target = self.primary.next_cron_us + crons * 100_000
        self.primary.set_us(target)
        self.primary.next_cron_us = target + 100_000
        self.primary.advance_us(0)
        self._poke()
        self.settle()
        self.clock.advance_to_us(target)
        self.compare_events("jump")

    # -- both sides -----------------------------------------------------------------------

    def start(self, delay_ms: int = 0, writable: bool = False, active: bool = True) -> None:
        """Begin anew with empty servers that are connected, database 0 selected everywhere."""
        self.detached = False
        for client in self.real:
            client(b"RESET")
        self.attach()
        on_off = b"no" if writable else b"yes"
        self.admins[REPLICA](b"CONFIG", b"SET", b"replica-read-only", on_off)
        self.primary.advance_ms((self.primary.next_cron_us - self.primary.us) // 1000 - 1)
        self._poke()
        self.clock = VirtualClock(self.primary.ms)
        mine = Server(
            self.clock,
            seed=1,
            cost=FREE,
            hash_function=lambda key: self.hashes[PRIMARY].get(key, 0),
            notify_keyspace_events=EVENTS,
        )
        replica = Server(
            replica_of=mine,
            seed=1,
            cost=FREE,
            hash_function=lambda key: self.hashes[REPLICA].get(key, 0),
            notify_keyspace_events=EVENTS,
            replica_read_only=not writable,
        )
        self.servers = [mine, replica]
        self.clock.advance(0)
        self.mine = [server.create_client() for server in self.servers]
        self.my_listeners = [server.create_client() for server in self.servers]
        for listener in self.my_listeners:
            self.run_mine(listener, (b"PSUBSCRIBE", b"__key*"))
        for words in ((b"SELECT", b"1"), (b"FLUSHALL",), (b"SELECT", b"0"), (b"FLUSHALL",)):
            self.real[PRIMARY](*words)
            self.run_mine(self.mine[PRIMARY], words)
        self.relay.delay_us = 0
        self.settle()
        self.clock.advance(0)
        for which in (PRIMARY, REPLICA):
            self.real_events(which)
            self.my_events(which)
        for which in (PRIMARY, REPLICA):
            self.step((which, (b"CONFIG", b"RESETSTAT")))
            self.step((which, (b"DEBUG", b"SET-ACTIVE-EXPIRE", b"%d" % active)))
        self.relay.delay_us = delay_ms * 1000
        replica.link_delay_ms = delay_ms

    def run_mine(self, client: Client, argv: tuple[bytes, ...]) -> bytes:
        reply = client.server.process_command(client, list(argv))
        messages = b"".join(encode_reply(m, client.resp) for m in client.outbox)
        client.outbox.clear()
        return messages + (b"" if reply is NO_REPLY else encode_reply(reply, client.resp))

    def real_events(self, which: int) -> list[bytes]:
        listener = self.real_listeners[which]
        listener.send(b"PING")
        return list(iter(listener.read, b"*2\r\n$4\r\npong\r\n$0\r\n\r\n"))

    def my_events(self, which: int) -> list[bytes]:
        listener = self.my_listeners[which]
        events = [encode_reply(message, 2) for message in listener.outbox]
        listener.outbox.clear()
        return events

    def complete(self, word: bytes) -> bytes:
        for prefix, now in ((NOW_MS, self.primary.ms), (NOW_S, self.primary.ms // 1000)):
            if word.startswith(prefix):
                return b"%d" % (now + int(word[len(prefix) :]))
        return word

    def reply(self, which: int, argv: tuple[bytes, ...]) -> bytes:
        """The one reply of both sides."""
        expected = self.real[which](*argv)
        got = self.run_mine(self.mine[which], argv)
        assert got == expected, (argv, got, expected)
        return expected

    def step(self, step: Step) -> bytes:
        """Do the same on both sides and compare; the one reply."""
        expected = b""
        if isinstance(step, int):
            self.advance_real(step, settle=True)
            self.clock.advance(step)
        else:
            which, words = step
            argv = tuple(self.complete(word) for word in words)
            expected = self.reply(which, argv)
            self.settle()
            self.clock.advance(0)
        self.compare_events(step)
        return expected

    def compare_events(self, after: object) -> None:
        for which in (PRIMARY, REPLICA):
            mine, real = self.my_events(which), self.real_events(which)
            assert mine == real, (after, which, mine, real)
            self.servers[which]._check()

    def compare_all(self) -> None:
        """Data, what was counted, and how many bytes the stream has grown."""
        for which in (PRIMARY, REPLICA):
            self.step((which, (b"RESET",)))
            self.step((which, (b"INFO", b"keyspace")))
            real = info(self.admins[which], b"stats")
            mine = fields(self.servers[which].info([b"stats"]))
            for name in STATS:
                assert mine[name] == real[name], (which, name)
        for db in (b"0", b"1"):
            for which in (PRIMARY, REPLICA):
                self.step((which, (b"SELECT", db)))
                self.step((which, (b"DBSIZE",)))
                for key in KEYS:
                    for name in (b"GET", b"PTTL", b"PEXPIRETIME"):
                        self.step((which, (name, key)))

    def stop(self) -> None:
        self.relay.close()
        self.replica.stop()
        self.primary.stop()
