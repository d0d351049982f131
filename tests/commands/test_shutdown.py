"""SHUTDOWN in process and over TCP; CLUSTER, MODULE and LOLWUT of a server with none of it."""

from __future__ import annotations

import asyncio
import threading

import pytest
import redis

import miniredis
from miniredis.net.tcp import TcpServer


def test_a_client_in_process_finds_the_server_gone() -> None:
    server = miniredis.Server(seed=1)
    r, other = server.client(), server.client()
    other.ping()
    r.shutdown(nosave=True)  # redis-py raises unless the connection ends
    assert server.closed
    with pytest.raises(redis.ConnectionError):
        other.ping()


@pytest.mark.parametrize(
    ("words", "text"),
    [
        ("x", "syntax error"),
        ("SAVE NOSAVE", "syntax error"),
        ("ABORT NOW", "syntax error"),
        ("ABORT", "No shutdown in progress."),
    ],
)
def test_refused(words: str, text: str) -> None:
    server = miniredis.Server(seed=1)
    with pytest.raises(redis.ResponseError, match=text):
        server.client().execute_command("SHUTDOWN", *words.split())
    assert not server.closed


def test_the_tcp_server_is_told() -> None:
    server = miniredis.Server(seed=1)
    tcp = TcpServer(server)
    failures: list[object] = []

    async def serve(ready: threading.Event) -> None:
        asyncio.get_running_loop().set_exception_handler(lambda _, what: failures.append(what))
        await tcp.start(port=0)
        ready.set()
        await asyncio.wait_for(tcp.finished.wait(), 10)
        await tcp.stop()

    ready = threading.Event()
    thread = threading.Thread(target=lambda: asyncio.run(serve(ready)))
    thread.start()
    assert ready.wait(10)
    redis.Redis(port=tcp.address[1]).shutdown(nosave=True, now=True)
    thread.join(10)
    assert not thread.is_alive()
    assert server.closed
    assert not failures


def test_modules_need_a_switch() -> None:
    r = miniredis.Redis(server=miniredis.Server(seed=1))
    assert r.module_list() == []
    with pytest.raises(redis.ResponseError, match="MODULE command not allowed"):
        r.module_load("x.so")
    r = miniredis.Redis(server=miniredis.Server(seed=1, enable_module_command="yes"))
    with pytest.raises(redis.ResponseError, match="Error loading the extension"):
        r.module_load("x.so")
    with pytest.raises(redis.ResponseError, match="no such module with that name"):
        r.module_unload("x")


def test_there_is_no_cluster() -> None:
    r = miniredis.Redis(server=miniredis.Server(seed=1))
    for words in ("INFO", "HELP", "KEYSLOT k", "ADDSLOTS 1 2"):
        with pytest.raises(redis.ResponseError, match="cluster support disabled"):
            r.execute_command("CLUSTER", *words.split())
    with pytest.raises(redis.ResponseError, match=r"unknown subcommand 'X'\. Try CLUSTER HELP"):
        r.execute_command("CLUSTER", "X")
