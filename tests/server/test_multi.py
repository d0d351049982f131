"""multi.py: what a rejected EXEC says."""

from __future__ import annotations

from miniredis import CommandError, Server


def test_a_rejected_exec_tells_the_reason_without_the_general_code() -> None:
    server = Server(seed=1)
    c = server.create_client()
    server.process_command(c, [b"MULTI"])
    reply = server.process_command(c, [b"EXEC", b"x"])
    assert isinstance(reply, CommandError)
    assert reply.text == (
        b"EXECABORT Transaction discarded because of: wrong number of arguments for 'exec' command"
    )
    assert not c.in_multi
