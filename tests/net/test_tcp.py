"""The TCP server at the end of raw sockets, alone and beside a real server."""

from __future__ import annotations

import asyncio
import contextlib
import random
import re
import socket
import struct
import threading
from collections.abc import Callable, Iterator

import pytest

from miniredis.net.tcp import TcpServer
from miniredis.server.server import Server
from tests.real.raw import RawClient
from tests.real.servers import RealServer

TIMEOUT_S = 20
RESET_ON_CLOSE = struct.pack("ii", 1, 0)  # SO_LINGER: close() resets the connection


class TcpThread:
    """A TCP server in a thread of its own, and connections to it."""

    def __init__(self) -> None:
        self.server = Server(enable_debug_command="yes")
        self.tcp = TcpServer(self.server)
        self.errors: list[object] = []
        self._clients: list[RawClient] = []
        self._loop = asyncio.new_event_loop()
        # What escapes from a callback would only be logged otherwise.
        self._loop.set_exception_handler(lambda _, context: self.errors.append(context))
        ready = threading.Event()

        def run() -> None:
            self._loop.run_until_complete(self.tcp.start(port=0))
            ready.set()
            self._loop.run_forever()

        self._thread = threading.Thread(target=run, daemon=True)
        self._thread.start()
        assert ready.wait(TIMEOUT_S)
        self.port = self.tcp.address[1]

    def client(self) -> RawClient:
        client = RawClient(self.port)
        self._clients.append(client)
        return client

    def stop_serving(self) -> None:
        asyncio.run_coroutine_threadsafe(self.tcp.stop(), self._loop).result(TIMEOUT_S)

    def stop(self) -> None:
        for client in self._clients:
            client.close()
        self.stop_serving()
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join(TIMEOUT_S)
        self._loop.close()
        assert not self.errors


@pytest.fixture
def tcp() -> Iterator[TcpThread]:
    thread = TcpThread()
    yield thread
    thread.stop()


@pytest.fixture(scope="module")
def shared_tcp() -> Iterator[TcpThread]:
    """One server for all streams, as there is one real server."""
    thread = TcpThread()
    yield thread
    thread.stop()


def multibulk(*argv: bytes) -> bytes:
    head = b"*%d\r\n" % len(argv)
    return head + b"".join(b"$%d\r\n%s\r\n" % (len(arg), arg) for arg in argv)


def bulk(value: bytes) -> bytes:
    return b"$%d\r\n%s\r\n" % (len(value), value)


def rest(client: RawClient) -> bytes:
    """All that still comes until the server closes the connection."""
    received = b""
    with contextlib.suppress(ConnectionResetError):  # it closed with our bytes unread
        while data := client.file.read1(65536):
            received += data
    return received


def vanish(client: RawClient) -> None:
    """End the connection with a reset."""
    client.socket.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, RESET_ON_CLOSE)
    client.close()


def client_count(client: RawClient) -> int:
    return client(b"CLIENT", b"LIST").count(b" fd=")


def wait_until(client: RawClient, condition: Callable[[], bool]) -> None:
    """Turn the server's loop by commands of *client* until *condition* holds."""
    for _ in range(20_000):
        if condition():
            return
        assert client(b"PING") == b"+PONG\r\n"
    pytest.fail("the server did not get there")


# --- Requests -----------------------------------------------------------------------


def test_one_byte_at_a_time(tcp: TcpThread) -> None:
    client = tcp.client()
    client.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    stream = multibulk(b"SET", b"k", b"a\r\nb") + b'ECHO "x y"\r\n' + multibulk(b"GET", b"k")
    for i in range(len(stream)):
        client.socket.sendall(stream[i : i + 1])
    assert [client.read() for _ in range(3)] == [b"+OK\r\n", bulk(b"x y"), bulk(b"a\r\nb")]


def test_a_thousand_commands_in_one_write(tcp: TcpThread) -> None:
    client = tcp.client()
    client.socket.sendall(b"".join(multibulk(b"INCR", b"n") for _ in range(1000)))
    assert [client.read() for _ in range(1000)] == [b":%d\r\n" % n for n in range(1, 1001)]


def test_an_argument_larger_than_any_buffer(tcp: TcpThread) -> None:
    client = tcp.client()
    value = bytes(range(256)) * 20_000
    assert client(b"SET", b"k", value) == b"+OK\r\n"
    assert client(b"GET", b"k") == bulk(value)


@pytest.mark.parametrize("leave", [RawClient.close, vanish])
def test_half_a_request_then_gone(tcp: TcpThread, leave: Callable[[RawClient], None]) -> None:
    watcher = tcp.client()
    for request in (b"*2\r\n$3\r\nSET\r\n$1", b"SET k", b"*1\r\n$100\r\nabc"):
        client = tcp.client()
        assert client(b"SET", b"whole", b"1") == b"+OK\r\n"
        client.socket.sendall(request)
        leave(client)
    wait_until(watcher, lambda: client_count(watcher) == 1)
    assert watcher(b"DBSIZE") == b":1\r\n"


def test_gone_within_a_transaction(tcp: TcpThread) -> None:
    watcher, client = tcp.client(), tcp.client()
    assert client(b"WATCH", b"k") == b"+OK\r\n"
    assert client(b"MULTI") == b"+OK\r\n"
    assert client(b"SET", b"k", b"1") == b"+QUEUED\r\n"
    vanish(client)
    wait_until(watcher, lambda: client_count(watcher) == 1)
    assert watcher(b"EXISTS", b"k") == b":0\r\n"


def test_a_protocol_error_closes_after_its_text(tcp: TcpThread) -> None:
    client, other = tcp.client(), tcp.client()
    client.socket.sendall(multibulk(b"SET", b"k", b"1") + b"*x\r\n" + multibulk(b"DEL", b"k"))
    assert rest(client) == b"+OK\r\n-ERR Protocol error: invalid multibulk length\r\n"
    assert other(b"GET", b"k") == bulk(b"1")
    assert client_count(other) == 1


# --- The ends of a connection -------------------------------------------------------


def test_quit_closes_after_its_reply(tcp: TcpThread) -> None:
    client, other = tcp.client(), tcp.client()
    client.socket.sendall(b"PING\r\nQUIT\r\nSET k v\r\n")
    assert rest(client) == b"+PONG\r\n+OK\r\n"
    assert other(b"EXISTS", b"k") == b":0\r\n"


def test_killed_by_another_connection(tcp: TcpThread) -> None:
    victim, killer = tcp.client(), tcp.client()
    id = victim(b"CLIENT", b"ID")[1:-2]
    assert killer(b"CLIENT", b"KILL", b"ID", id) == b":1\r\n"
    assert rest(victim) == b""
    assert killer(b"CLIENT", b"KILL", b"ID", id) == b":0\r\n"
    assert client_count(killer) == 1


def test_killing_oneself_answers_first(tcp: TcpThread) -> None:
    client = tcp.client()
    id = client(b"CLIENT", b"ID")[1:-2]
    client.send(b"CLIENT", b"KILL", b"ID", id, b"SKIPME", b"no")
    assert rest(client) == b":1\r\n"


def test_killed_while_blocked(tcp: TcpThread) -> None:
    victim, killer = tcp.client(), tcp.client()
    id = victim(b"CLIENT", b"ID")[1:-2]
    assert killer(b"CLIENT", b"PAUSE", b"100000", b"WRITE") == b"+OK\r\n"
    victim.send(b"SET", b"k", b"v")
    wait_until(killer, lambda: blocked_clients(killer) == 1)
    assert killer(b"CLIENT", b"KILL", b"ID", id) == b":1\r\n"
    assert rest(victim) == b""
    assert killer(b"CLIENT", b"UNPAUSE") == b"+OK\r\n"
    assert killer(b"EXISTS", b"k") == b":0\r\n"


def test_maxclients(tcp: TcpThread) -> None:
    first = tcp.client()
    assert first(b"CONFIG", b"SET", b"maxclients", b"2") == b"+OK\r\n"
    second, third = tcp.client(), tcp.client()
    assert second(b"PING") == b"+PONG\r\n"
    assert rest(third) == b"-ERR max number of clients reached\r\n"
    assert b"rejected_connections:1\r\n" in first(b"INFO", b"stats")
    second.close()
    wait_until(first, lambda: client_count(first) == 1)
    assert tcp.client()(b"PING") == b"+PONG\r\n"


def test_stop_closes_everything(tcp: TcpThread) -> None:
    clients = [tcp.client() for _ in range(5)]
    assert [client(b"PING") for client in clients] == [b"+PONG\r\n"] * 5
    assert clients[0](b"SUBSCRIBE", b"a") == b"*3\r\n" + bulk(b"subscribe") + bulk(b"a") + b":1\r\n"
    clients[1].socket.sendall(b"*2\r\n$4\r\nECHO\r\n")
    tcp.stop_serving()
    assert [rest(client) for client in clients] == [b""] * 5
    assert not tcp.tcp.connections
    with pytest.raises(ConnectionRefusedError):
        RawClient(tcp.port)


# --- Blocked clients ----------------------------------------------------------------


def blocked_clients(client: RawClient) -> int:
    info = client(b"INFO", b"clients")
    return int(info.split(b"blocked_clients:")[1].split(b"\r\n")[0])


def test_a_blocked_client_gets_its_replies_after_unpause(tcp: TcpThread) -> None:
    boss, client = tcp.client(), tcp.client()
    assert boss(b"CLIENT", b"PAUSE", b"100000", b"WRITE") == b"+OK\r\n"
    client.socket.sendall(b"GET n\r\nINCR n\r\nINCR n\r\nGET n\r\nPI")
    assert client.read() == b"$-1\r\n"
    wait_until(boss, lambda: blocked_clients(boss) == 1)
    client.socket.sendall(b"NG\r\n")
    assert boss(b"GET", b"n") == b"$-1\r\n"
    assert boss(b"CLIENT", b"UNPAUSE") == b"+OK\r\n"
    replies = [client.read() for _ in range(4)]
    assert replies == [b":1\r\n", b":2\r\n", bulk(b"2"), b"+PONG\r\n"]
    assert blocked_clients(boss) == 0


def test_a_pause_ends_by_itself(tcp: TcpThread) -> None:
    client = tcp.client()
    client.socket.sendall(b"CLIENT PAUSE 5 ALL\r\nINCR n\r\nQUIT\r\n")
    assert rest(client) == b"+OK\r\n:1\r\n+OK\r\n"


def test_waiting_clients_are_served_and_go_on(tcp: TcpThread) -> None:
    """What they have sent meanwhile is taken up once they have their reply."""
    boss, *waiting = (tcp.client() for _ in range(4))
    for number, client in enumerate(waiting):
        client.socket.sendall(b"BLPOP k 0\r\nECHO after\r\n")
        wait_until(boss, lambda n=number: blocked_clients(boss) == n + 1)  # type: ignore[misc]
    assert boss(b"RPUSH", b"k", b"0", b"1") == b":2\r\n"
    for number in (0, 1):
        assert waiting[number].read() == b"*2\r\n" + bulk(b"k") + bulk(b"%d" % number)
        assert waiting[number].read() == bulk(b"after")
    assert blocked_clients(boss) == 1
    waiting[2].close()
    wait_until(boss, lambda: blocked_clients(boss) == 0)
    assert boss(b"RPUSH", b"k", b"2") == b":1\r\n"


def test_a_wait_ends_by_itself(tcp: TcpThread) -> None:
    client = tcp.client()
    assert client(b"BLPOP", b"k", b"0.001") == b"*-1\r\n"
    assert client(b"HELLO", b"3")
    assert client(b"BLMOVE", b"k", b"m", b"LEFT", b"LEFT", b"0.001") == b"_\r\n"


def test_served_within_a_pipeline(tcp: TcpThread) -> None:
    """The one who waits is served after the push, not after the pipeline."""
    boss, client = tcp.client(), tcp.client()
    client.send(b"BRPOP", b"k", b"0")
    wait_until(boss, lambda: blocked_clients(boss) == 1)
    boss.socket.sendall(b"RPUSH k 1\r\nLLEN k\r\nRPUSH k 2\r\n")
    assert [boss.read() for _ in range(3)] == [b":1\r\n", b":0\r\n", b":1\r\n"]
    assert client.read() == b"*2\r\n" + bulk(b"k") + bulk(b"1")


# --- RESP3 and messages -------------------------------------------------------------


def test_hello_3(tcp: TcpThread) -> None:
    client = tcp.client()
    hello = client(b"HELLO", b"3")
    assert hello.startswith(b"%7\r\n" + bulk(b"server") + bulk(b"redis") + bulk(b"version"))
    assert bulk(b"proto") + b":3\r\n" in hello
    assert client(b"GET", b"none") == b"_\r\n"
    assert client(b"CONFIG", b"GET", b"hz") == b"%1\r\n" + bulk(b"hz") + bulk(b"10")
    assert client(b"HELLO", b"2").startswith(b"*14\r\n")
    assert client(b"GET", b"none") == b"$-1\r\n"


@pytest.mark.parametrize(("resp", "sign"), [(b"2", b"*"), (b"3", b">")])
def test_pubsub_between_two_sockets(tcp: TcpThread, resp: bytes, sign: bytes) -> None:
    reader, writer = tcp.client(), tcp.client()
    reader(b"HELLO", resp)
    subscribed = sign + b"3\r\n" + bulk(b"subscribe") + bulk(b"news") + b":1\r\n"
    assert read_message(reader, b"SUBSCRIBE", b"news") == subscribed
    for i in range(100):
        assert writer(b"PUBLISH", b"news", b"%d" % i) == b":1\r\n"
    head = sign + b"3\r\n" + bulk(b"message") + bulk(b"news")
    assert [reader.read() for _ in range(100)] == [head + bulk(b"%d" % i) for i in range(100)]
    pong = b"+PONG\r\n" if resp == b"3" else b"*2\r\n" + bulk(b"pong") + bulk(b"")
    assert reader(b"PING") == pong
    reader.close()
    wait_until(writer, lambda: writer(b"PUBLISH", b"news", b"x") == b":0\r\n")


def read_message(client: RawClient, *argv: bytes) -> bytes:
    client.send(*argv)
    return client.read()


def test_monitor_sees_other_sockets(tcp: TcpThread) -> None:
    monitor, client = tcp.client(), tcp.client()
    assert monitor(b"MONITOR") == b"+OK\r\n"
    host, port = client.socket.getsockname()
    assert client(b"ECHO", b'"\r\n\xff') == bulk(b'"\r\n\xff')
    line = monitor.read()
    assert line.endswith(b' [0 %s:%d] "ECHO" "\\"\\r\\n\\xff"\r\n' % (host.encode(), port))


# --- Clients that do harm -----------------------------------------------------------


def test_who_does_not_read_delays_nobody_and_loses_nothing(tcp: TcpThread) -> None:
    deaf, other = tcp.client(), tcp.client()
    value = b"v" * 100_000  # 200 of them are more than what the kernel holds for both ends
    assert other(b"SET", b"k", value) == b"+OK\r\n"
    deaf.socket.sendall(b"GET k\r\n" * 200 + b"SET done 1\r\n")
    wait_until(other, lambda: other(b"EXISTS", b"done") == b":1\r\n")
    assert other(b"PING") == b"+PONG\r\n"
    assert [deaf.read() == bulk(value) for _ in range(200)] == [True] * 200
    assert deaf.read() == b"+OK\r\n"


def test_a_subscriber_that_does_not_read_is_cut_off(tcp: TcpThread) -> None:
    deaf, writer = tcp.client(), tcp.client()
    limit = b"pubsub 1000000 0 0"
    assert writer(b"CONFIG", b"SET", b"client-output-buffer-limit", limit) == b"+OK\r\n"
    deaf(b"SUBSCRIBE", b"news")
    message = b"m" * 200_000
    published = 0
    while writer(b"PUBLISH", b"news", message) == b":1\r\n":
        published += 1
        assert published < 1000
    assert client_count(writer) == 1
    assert len(rest(deaf)) < published * len(message)


def test_random_bytes_from_many_connections_harm_nobody(tcp: TcpThread) -> None:
    rng = random.Random(1)
    watcher = tcp.client()
    assert watcher(b"SET", b"k", b"v") == b"+OK\r\n"
    pieces = [b"*", b"$", b"\r\n", b"\n", b"1", b"2", b"-1", b"PING", b"GET k", b'"', b"'", b"\0"]
    pieces += [
        b"*2\r\n$3\r\nGET\r\n$1\r\nk\r\n",
        b"*1\r\n$4\r\n",
        b"MULTI\r\n",
        b"EXEC\r\n",
        b"\xff",
    ]
    for _ in range(30):
        crowd = [tcp.client() for _ in range(10)]
        for client in crowd:
            noise = b"".join(rng.choices(pieces, k=40))
            client.socket.sendall(rng.randbytes(60) if rng.random() < 0.3 else noise)
        assert watcher(b"GET", b"k") == bulk(b"v")
        for client in crowd:
            vanish(client)
    wait_until(watcher, lambda: client_count(watcher) == 1)
    assert watcher(b"DBSIZE") == b":1\r\n"


# --- Beside a real server -----------------------------------------------------------


def exchange(port: int, stream: bytes) -> bytes:
    """Send *stream*, half-close, and return all bytes up to the server's close."""
    client = RawClient(port)
    with contextlib.suppress(ConnectionError):  # it may have hung up already
        client.socket.sendall(stream)
        client.socket.shutdown(socket.SHUT_WR)
    received = rest(client)
    client.close()
    return received


# Each is sent whole; every byte that comes back up to the close must be the real server's.
STREAMS = [
    b"PING\r\n",
    b"PING\n",
    b"  PING  \r\n",
    b"\r\n\r\nPING\r\n",
    b"\n",
    b"",
    b"PING",
    b'"PING"\r\n',
    b"'PING'\r\n",
    b'PING "a b"\r\n',
    b'PING "\\x41\\n\\t\\"" \r\n',
    b"PING 'it\\'s'\r\n",
    b'PING "unbalanced\r\n',
    b'PING "a"b\r\n',
    b"PING 'a'b\r\nPING\r\n",
    b"ECHO \xff\xfe\r\n",
    b"ECHO a\0b\r\n",
    b"\0PING\r\n",
    b"NOSUCH a b c\r\n",
    b"NOSUCH " + b"x" * 300 + b"\r\n",
    b"*1\r\n$4\r\nPING\r\n",
    b"*2\r\n$4\r\nECHO\r\n$0\r\n\r\n",
    b"*2\r\n$4\r\nECHO\r\n$2\r\n\r\n\r\n",
    b"*0\r\nPING\r\n",
    b"*-1\r\nPING\r\n",
    b"*-10\r\nPING\r\n",
    b"*\r\nPING\r\n",
    b"*x\r\n",
    b"*1x\r\n",
    b"* 1\r\n",
    b"*+1\r\n$4\r\nPING\r\n",
    b"*01\r\n$4\r\nPING\r\n",
    b"*2147483648\r\n",
    b"*99999999999999999999\r\n",
    b"*1\r\nPING\r\n",
    b"*1\r\n:4\r\nPING\r\n",
    b"*1\r\n\r\n",
    b"*1\r\n$x\r\n",
    b"*1\r\n$-1\r\n",
    b"*1\r\n$\r\n",
    b"*1\r\n$536870913\r\n",
    b"*1\r\n$99999999999999999999\r\n",
    b"*1\r\n$4\r\nPINGxxPING\r\n",
    b"*1\r\n$4\r\nPI",
    b"*1\r\n$4",
    b"*1",
    b"*2\r\n$4\r\nECHO\r\n",
    b"*1\r\n$4\r\nQUIT\r\n*1\r\n$4\r\nPING\r\n",
    b"QUIT\r\nPING\r\n",
    b"PING\r\nQUIT\r\n",
    b"*1\r\n$4\r\nPING\r\nPING\r\n*1\r\n$4\r\nPING\r\n",
    b"GET / HTTP/1.1\r\nHost: x\r\n\r\n",
    b"POST / HTTP/1.1\r\n\r\n",
    b"PING\r\nPOST / HTTP/1.1\r\nPING\r\n",
    b"MULTI\r\nPING\r\nNOSUCH\r\nEXEC\r\n",
    b"MULTI\r\nECHO a\r\nSUBSCRIBE x\r\nEXEC\r\nPING\r\n",
    b"SUBSCRIBE x\r\nGET k\r\nPING\r\nUNSUBSCRIBE\r\nPING\r\n",
    b"CLIENT REPLY SKIP\r\nPING\r\nPING\r\nCLIENT REPLY OFF\r\nPING\r\n",
    b"CLIENT REPLY OFF\r\nPING\r\nCLIENT REPLY ON\r\nPING\r\n",
    # An empty request uses up a SKIP; a protocol error is not sent to who is silenced.
    b"CLIENT REPLY SKIP\r\n\r\nPING\r\nPING\r\n",
    b"CLIENT REPLY SKIP\r\n*0\r\nPING\r\nPING\r\n",
    b"CLIENT REPLY SKIP\r\n*-1\r\nPING\r\nPING\r\n",
    b"CLIENT REPLY OFF\r\n\r\n*1\r\n:\r\nPING\r\n",
    b"CLIENT REPLY SKIP\r\n*x\r\nPING\r\n",
    b"*1\r\n\xff\r\nPING\r\n",
    b"*1\r\n\xc3\xa91\r\nPING\r\n",
    b"*1\r\n\r1\r\nPING\r\n",
    b"*1\r\n\n1\r\nPING\r\n",
    # Limits count from the next argument on.
    b"CONFIG SET proto-max-bulk-len 1mb\r\n*1\r\n$1048577\r\n",
    b"CONFIG SET proto-max-bulk-len 512mb\r\n*1\r\n$536870913\r\n",
    # Each element of EXEC's reply is in the protocol of its moment.
    b"MULTI\r\nDEBUG PROTOCOL map\r\nSUBSCRIBE x\r\nGET nokey\r\nHELLO 3\r\nDEBUG PROTOCOL map\r\n"
    b"UNSUBSCRIBE x\r\nGET nokey\r\nEXEC\r\nPING\r\n",
    b"HELLO 3\r\nMULTI\r\nDEBUG PROTOCOL double\r\nSUBSCRIBE x\r\nHELLO 2\r\n"
    b"DEBUG PROTOCOL double\r\nPUBLISH x m\r\nHELLO 3\r\nDEBUG PROTOCOL true\r\nEXEC\r\n"
    b"GET nokey\r\n",
    # Who kills itself is told so, and nothing more.
    b"HELLO 3\r\nSUBSCRIBE own\r\nMULTI\r\nECHO a\r\nCLIENT KILL TYPE pubsub SKIPME no\r\n"
    b"ECHO b\r\nPUBLISH own m\r\nEXEC\r\nPING\r\n",
    b"HELLO 3 SETNAME\r\nHELLO 4\r\nHELLO x\r\n",
    b"RESET\r\nSELECT 99\r\nSELECT x\r\n",
    b"SET tcp v\r\nSETRANGE tcp 536870912 x\r\nGETRANGE tcp 0 -1\r\nDEL tcp\r\n",
    b"ECHO " + b"y" * 60_000 + b"\r\n",
    b"z" * 70_000,
    b"*" + b"1" * 70_000,
    b"*1\r\n$" + b"1" * 70_000,
    b"PING\r\n" * 2_000,
]


@pytest.mark.parametrize("stream", STREAMS, ids=lambda stream: repr(stream[:40]))
def test_a_real_server_sends_the_same_bytes(
    shared_tcp: TcpThread, real_server: RealServer, stream: bytes
) -> None:
    if real_server.version < (7, 0):
        pytest.skip("the texts compared here are those of Redis 7.0")
    mine, theirs = (
        re.sub(rb"(?<=\$2\r\nid\r\n:)\d+", b"<id>", exchange(port, stream))
        for port in (shared_tcp.port, real_server.port)
    )
    assert mine == theirs
    assert shared_tcp.client()(b"PING") == b"+PONG\r\n"


def test_a_protocol_error_is_counted_and_silence_is_kept(
    shared_tcp: TcpThread, real_server: RealServer
) -> None:
    """Whoever is silenced stays connected, deaf: nothing was sent that could close it."""
    assert _after_protocol_errors(shared_tcp.port) == _after_protocol_errors(real_server.port)


def _after_protocol_errors(port: int) -> list[object]:
    admin, deaf = RawClient(port), RawClient(port)
    admin(b"CONFIG", b"RESETSTAT")
    for stream in (b"*x\r\n", b"*1\r\n:\r\n", b'"\r\n', b"*1\r\n$-1\r\n"):
        exchange(port, stream)
    deaf.send(b"CLIENT", b"REPLY", b"OFF")
    deaf.socket.sendall(b"*x\r\n")
    deaf.send(b"SET", b"heard", b"1")
    wait_until(admin, lambda: b"errorstat_ERR:count=5" in admin(b"INFO", b"errorstats"))
    seen = [
        re.findall(rb"total_error_replies:\d+", admin(b"INFO", b"stats")),
        admin(b"EXISTS", b"heard"),
        len(re.findall(rb" flags=c ", admin(b"CLIENT", b"LIST"))),
    ]
    vanish(deaf)
    admin.close()
    return seen


def test_broadcasts_wait_for_the_end_of_what_has_come_in(tcp: TcpThread) -> None:
    """Commands that arrive together are one turn: one message, with each key once, sorted."""
    tracker, writer = tcp.client(), tcp.client()
    tracker(b"HELLO", b"3")
    tracker(b"CLIENT", b"TRACKING", b"ON", b"BCAST")
    writer.socket.sendall(b"SET b 1\r\nSET a 1\r\nINCR b\r\n")
    assert [writer.read() for _ in range(3)] == [b"+OK\r\n", b"+OK\r\n", b":2\r\n"]
    assert tracker.read() == b">2\r\n$10\r\ninvalidate\r\n*2\r\n$1\r\na\r\n$1\r\nb\r\n"
    tracker.socket.sendall(b"SET x 1\r\nPING\r\n")
    assert [tracker.read() for _ in range(2)] == [b"+OK\r\n", b"+PONG\r\n"]
    assert tracker.read() == b">2\r\n$10\r\ninvalidate\r\n*1\r\n$1\r\nx\r\n"


def test_config_set_port_listens_elsewhere(tcp: TcpThread) -> None:
    """Who is connected stays; a port that is taken is refused, and nothing else is set."""
    client = tcp.client()
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        reply = client(b"CONFIG", b"SET", b"maxmemory", b"100mb", b"port", b"%d" % port)
        assert reply == (
            b"-ERR CONFIG SET failed (possibly related to argument 'port') - Unable to listen "
            b"on this port. Check server logs.\r\n"
        )
        assert client(b"CONFIG", b"GET", b"maxmemory")[-7:] == b"$1\r\n0\r\n"
    old = tcp.port
    assert client(b"CONFIG", b"SET", b"port", b"%d" % port) == b"+OK\r\n"
    assert client(b"PING") == b"+PONG\r\n"
    tcp.port = port
    assert tcp.client()(b"PING") == b"+PONG\r\n"
    with pytest.raises(ConnectionRefusedError):
        RawClient(old)
    assert client(b"CONFIG", b"SET", b"port", b"0") == b"+OK\r\n"
    assert client(b"PING") == b"+PONG\r\n"
    with pytest.raises(ConnectionRefusedError):
        RawClient(port)
