"""Buffers of replies: the cron fits them to what they need."""

from __future__ import annotations

import pytest

from miniredis import Server, VirtualClock
from miniredis.server.reply_buffer import ReplyBuffer, ReplyBufferPolicy


def test_an_idle_buffer_shrinks_and_a_full_one_grows() -> None:
    policy, buffer = ReplyBufferPolicy(), ReplyBuffer(now_ms=0)
    policy.peak_reset_time = 100
    sizes = []
    for now_ms in range(100, 500, 100):
        buffer.resize(policy, now_ms)
        sizes.append((buffer.size, buffer.peak))
    assert sizes == [(16_384, 0), (1024, 0), (1024, 0), (1024, 0)]
    policy.keep_peaks()
    grown = []
    for _ in range(6):
        buffer.note(32_768)
        buffer.resize(policy, 1000)
        grown.append(buffer.size)
    assert grown == [2048, 4096, 8192, 16_384, 16_384, 16_384]
    assert (policy.shrinks, policy.expands) == (1, 4)


def test_a_peak_in_between_decides() -> None:
    policy, buffer = ReplyBufferPolicy(), ReplyBuffer(now_ms=0)
    buffer.resize(policy, 5000)
    buffer.note(3000)
    buffer.resize(policy, 5001)
    assert buffer.size == 3072  # 3001 bytes in jemalloc's size class


def test_the_server_does_it_for_clients_on_a_wire() -> None:
    clock = VirtualClock()
    server = Server(clock, seed=1, enable_debug_command="yes")
    wired, within = server.create_client(), server.create_client()
    wired.reply_buffer = ReplyBuffer(server.now_ms())
    server.process_command(within, [b"DEBUG", b"REPLYBUFFER", b"PEAK-RESET-TIME", b"100"])
    clock.advance(1000)
    lines = server.process_command(within, [b"CLIENT", b"LIST"]).text.splitlines()
    assert b" rbs=1024 rbp=0 " in lines[0]
    assert b" rbs=0 rbp=0 " in lines[1]
    assert b"reply_buffer_shrinks:1\r\n" in server.info()


@pytest.mark.parametrize("words", ["X 1", "PEAK-RESET-TIME", "PEAK-RESET-TIME x", "RESIZING"])
def test_refused(words: str) -> None:
    server = Server(seed=1, enable_debug_command="yes")
    client = server.create_client()
    argv = [b"DEBUG", b"REPLYBUFFER", *words.encode().split()]
    assert server.process_command(client, argv).text.startswith(b"ERR ")
