"""multi.py: what a rejected EXEC says."""

from __future__ import annotations

from miniredis import CommandError, Server
from miniredis.reply import NO_REPLY, Interleaved


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


def test_a_plain_transaction_answers_with_a_plain_list() -> None:
    server = Server(seed=1)
    c = server.create_client()
    for line in (b"MULTI", b"PING", b"DEBUG JMAP", b"SET k v"):
        server.process_command(c, line.split())
    replies = server.process_command(c, [b"EXEC"])
    assert replies.__class__ is list
    assert len(replies) == 3
    assert not c.outbox


def test_messages_from_before_exec_stay_before_it() -> None:
    server = Server(seed=1)
    c, other = server.create_client(), server.create_client()
    c.resp = 3
    for line in (b"SUBSCRIBE x", b"MULTI", b"PUBLISH x inside"):
        server.process_command(c, line.split())
    server.process_command(other, [b"PUBLISH", b"x", b"before"])
    assert server.process_command(c, [b"EXEC"]) is NO_REPLY
    subscribed, before, answer = c.outbox
    assert subscribed.items[0] == b"subscribe"
    assert before.items[-1] == b"before"
    assert isinstance(answer, Interleaved)
    assert [getattr(item, "items", item) for item in answer.items] == [
        [b"message", b"x", b"inside"],
        1,
    ]


def test_a_refused_command_aborts_the_transaction_and_counts_as_rejected() -> None:
    server = Server(seed=1, enable_debug_command="no")
    c = server.create_client()
    server.process_command(c, [b"MULTI"])
    refused = server.process_command(c, [b"DEBUG", b"JMAP"])
    assert isinstance(refused, CommandError)
    assert refused.text.startswith(b"ERR DEBUG command not allowed.")
    aborted = server.process_command(c, [b"EXEC"])
    assert isinstance(aborted, CommandError)
    assert aborted.text.startswith(b"EXECABORT ")
    stats = server.info([b"commandstats"])
    assert b"cmdstat_debug:calls=0," in stats
    assert b"rejected_calls=1,failed_calls=0" in stats
