"""``python -m benchmarks.parts``: where the time of one command in process goes, in µs.

Each row does one thing more than the row above; the difference is what that part costs.
The least processor time of many rounds is shown, which a busy machine disturbs least.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any, cast

import miniredis
from miniredis.commands.table import lookup
from miniredis.net.connection import InProcessConnection

ROUNDS = 60
CALLS = 1000

# Name, what the program calls, what the server gets.
COMMANDS: list[tuple[str, Callable[[Any], Any], list[bytes]]] = [
    ("GET", lambda r: r.get("k"), [b"GET", b"k"]),
    ("INCR", lambda r: r.incr("n"), [b"INCRBY", b"n", b"1"]),
    ("SET", lambda r: r.set("k", "v"), [b"SET", b"k", b"v"]),
    (
        "SET PX",
        lambda r: r.set("k", "v", px=100_000),
        [b"SET", b"k", b"v", b"PX", b"100000"],
    ),
]


class NoOp(miniredis.Redis):
    """The client's methods, ending where a command would be sent."""

    def execute_command(self, *args: Any, **options: Any) -> Any:
        return None


class EncodeOnly(miniredis.Redis):
    """Ends with the arguments as bytes."""

    def execute_command(self, *args: Any, **options: Any) -> Any:
        connection = self._local.connection or self._thread_connection()
        return connection.encode_args(args)


class ProcessOnly(miniredis.Redis):
    """Ends with the server's reply, as the server gives it."""

    def execute_command(self, *args: Any, **options: Any) -> Any:
        connection = self._local.connection or self._thread_connection()
        return connection.process(connection.encode_args(args))


def least_us(operation: Callable[[], Any]) -> float:
    best = float("inf")
    for _ in range(ROUNDS):
        start = time.thread_time()
        for _ in range(CALLS):
            operation()
        best = min(best, time.thread_time() - start)
    return best / CALLS * 1e6


def parts(operation: Callable[[Any], Any], argv: list[bytes]) -> dict[str, float]:
    """µs of each part of one command."""
    server = miniredis.Server()
    clients = [NoOp(server=server), EncodeOnly(server=server), ProcessOnly(server=server)]
    whole = miniredis.Redis(server=server)
    empty = least_us(lambda: None)
    method, encoded, processed, total = (
        least_us(lambda r=r: operation(r)) - empty for r in [*clients, whole]
    )
    connection = cast(InProcessConnection, whole._thread_connection())
    client = connection.client
    assert client is not None
    row = lookup(argv)
    assert row is not None and row.proc is not None
    proc, rest = row.proc, argv[1:]
    in_proc = least_us(lambda: proc(client, *rest)) - empty
    in_server = least_us(lambda: server.process_command(client, argv)) - empty
    return {
        "the client's method": method,
        "arguments to bytes": encoded - method,
        "the way to the server": processed - encoded - in_server,
        "server: around the command": in_server - in_proc,
        "server: the command": in_proc,
        "reply to Python, callback": total - processed,
        "in all": total,
    }


def main() -> None:
    columns = {name: parts(operation, argv) for name, operation, argv in COMMANDS}
    print(f"{'µs per command, least':28}" + "".join(f"{name:>9}" for name in columns))
    for part in columns["GET"]:
        print(f"{part:28}" + "".join(f"{column[part]:9.2f}" for column in columns.values()))


if __name__ == "__main__":
    main()
