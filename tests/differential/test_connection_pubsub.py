"""Connections and pub/sub beside a real server, byte for byte; see ``sides.py``."""

from __future__ import annotations

import re

import pytest

from tests.differential.sides import RealSide, open_all, run

SCRIPTS = {
    "subscribe": """
        a: SUBSCRIBE x y x
        a: SUBSCRIBE x
        a: PSUBSCRIBE p* q*
        a: SSUBSCRIBE s t s
        a: UNSUBSCRIBE y nope
        a: UNSUBSCRIBE
        a: UNSUBSCRIBE
        a: PUNSUBSCRIBE
        a: PUNSUBSCRIBE
        a: SUNSUBSCRIBE s s
        a: SUNSUBSCRIBE
        a: SUNSUBSCRIBE
        a: GET k
        a: SUBSCRIBE
        a: PSUBSCRIBE
        a: SSUBSCRIBE
        a: UNSUBSCRIBE a b
        a: PUNSUBSCRIBE a b
        a: SUNSUBSCRIBE a b
    """,
    "subscribe_resp3": """
        a: HELLO 3
        a: SUBSCRIBE x y
        a: PSUBSCRIBE p*
        a: SSUBSCRIBE s
        a: PING
        a: GET k
        a: PUBLISH x self
        a: PUBLISH px self
        a: SPUBLISH s self
        a: UNSUBSCRIBE y
        a: UNSUBSCRIBE
        a: UNSUBSCRIBE
        a: PUNSUBSCRIBE
        a: PUNSUBSCRIBE
        a: SUNSUBSCRIBE
        a: SUNSUBSCRIBE
    """,
    "publish": """
        p: PUBLISH x nobody
        a: SUBSCRIBE x
        b: PSUBSCRIBE x*
        c: SSUBSCRIBE x
        d: HELLO 3
        d: SUBSCRIBE x
        d: PSUBSCRIBE x*
        b: SUBSCRIBE x
        p: PUBLISH x one
        p: PUBLISH xy two
        p: PUBLISH y three
        p: SPUBLISH x four
        p: SPUBLISH y five
        p: PUBLISH x
        p: PUBLISH x y z
        p: SPUBLISH x
        b: UNSUBSCRIBE x
        p: PUBLISH x ''
        a: QUIT
        p: PUBLISH x six
        b: RESET
        p: PUBLISH x seven
        p: SET k v
        p: PUBLISH k v
    """,
    "patterns": """
        a: PSUBSCRIBE h?llo
        a: PSUBSCRIBE h[^e]llo
        b: PSUBSCRIBE h[^e]llo
        p: PUBLISH hello 1
        p: PUBLISH heello 2
        a: PUNSUBSCRIBE h?llo
        p: PUBLISH hallo 3
        b: PUNSUBSCRIBE h[^e]llo
        b: PSUBSCRIBE *
        p: PUBLISH '' 4
        p: PUBLISH x 5
        b: PUNSUBSCRIBE *
        b: SUBSCRIBE ''
        p: PUBLISH '' 6
    """,
    "subscribed_resp2": """
        a: SSUBSCRIBE s
        a: PING
        a: PING hi
        a: PING a b
        a: GET k
        a: CONFIG GET hz
        a: CLIENT ID
        a: PUBLISH x y
        a: NOPE
        a: CLIENT NOPE
        a: GET
        a: MULTI
        a: HELLO 3
        a: RESET
        a: PING
        a: SUBSCRIBE x
        a: QUIT
    """,
    "pubsub": """
        p: PUBSUB
        p: PUBSUB NOPE
        p: PUBSUB CHANNELS
        p: PUBSUB NUMSUB
        p: PUBSUB NUMPAT
        p: PUBSUB SHARDCHANNELS
        p: PUBSUB SHARDNUMSUB
        a: SUBSCRIBE x yy
        b: SUBSCRIBE x
        a: PSUBSCRIBE p* q*
        b: PSUBSCRIBE p*
        a: SSUBSCRIBE s
        p: PUBSUB CHANNELS x*
        p: PUBSUB CHANNELS y?
        p: PUBSUB channels nope
        p: PUBSUB CHANNELS x y
        p: PUBSUB SHARDCHANNELS
        p: PUBSUB SHARDCHANNELS x
        p: PUBSUB SHARDCHANNELS x y
        p: PUBSUB NUMSUB x yy s nope x
        p: PUBSUB SHARDNUMSUB x s
        p: PUBSUB NUMPAT
        p: PUBSUB NUMPAT x
        p: PUBSUB HELP x
        b: QUIT
        p: PUBSUB NUMPAT
        p: PUBSUB NUMSUB x
    """,
    "subscribe_in_multi": """
        a: MULTI
        a: SUBSCRIBE x
        a: PSUBSCRIBE p*
        a: SSUBSCRIBE s
        a: PING
        a: UNSUBSCRIBE
        a: EXEC
        p: PUBLISH px hi
        b: HELLO 3
        b: MULTI
        b: SUBSCRIBE x
        b: SUNSUBSCRIBE
        b: EXEC
    """,
    "keyspace_events": """
        p: CONFIG SET notify-keyspace-events KEA
        a: PSUBSCRIBE __key*
        b: SUBSCRIBE __keyevent@3__:set __keyspace@3__:k
        p: SELECT 3
        p: SET k v
        p: SET k w EX 100
        p: DEL k
        p: CONFIG SET notify-keyspace-events ''
        p: SET k v
        p: DEL k
    """,
    "ping_echo_select": """
        a: PING
        a: PING x
        a: PING x y
        a: ECHO x
        a: ECHO
        a: ECHO x y
        a: SELECT
        a: SELECT 15
        a: SELECT 16
        a: SELECT -1
        a: SELECT x
        a: SELECT 1.0
        a: SELECT ''
        a: SELECT 2147483648
        a: SELECT 99999999999999999999
        a: SELECT 1 2
        a: CLIENT INFO
    """,
    "hello": """
        a: HELLO
        a: HELLO 2
        a: HELLO 3
        a: HELLO
        a: HELLO 4
        a: HELLO 1
        a: HELLO x
        a: HELLO ''
        a: HELLO 99999999999999999999
        a: HELLO 2 SETNAME me
        a: CLIENT GETNAME
        a: HELLO 3 SETNAME 'not me'
        a: HELLO 3 SETNAME
        a: HELLO 3 AUTH
        a: HELLO 3 AUTH x
        a: HELLO 3 AUTH x y
        a: HELLO 3 SETNAME kept AUTH x y
        a: CLIENT GETNAME
        a: HELLO 3 AUTH default any
        a: HELLO 2 NOPE
        a: HELLO 2 'a\\r\\nb'
        a: HELLO 2 'a\\0b'
        a: HELLO 2 SETNAME me SETNAME '' AUTH default x
        a: CLIENT GETNAME
        a: MULTI
        a: HELLO 3
        a: EXEC
    """,
    "auth": """
        a: AUTH
        a: AUTH x
        a: AUTH default x
        a: AUTH nobody x
        a: AUTH a b c
        p: CONFIG SET requirepass secret
        a: PING
        b: PING
        b: NOPE
        b: GET
        b: PING a b
        b: HELLO
        b: HELLO 3
        b: HELLO 3 AUTH default wrong
        b: AUTH wrong
        b: AUTH default wrong
        b: AUTH nobody secret
        b: MULTI
        b: RESET
        b: AUTH secret
        b: PING
        b: RESET
        b: PING
        b: HELLO 3 AUTH default secret SETNAME b
        b: CLIENT INFO
        b: AUTH wrong
        b: PING
        c: PING
        a: RESET
        a: PING
        p: CONFIG SET requirepass ''
        c: PING
        c: HELLO
        c: AUTH x
        c: AUTH default x
        c: HELLO
    """,
    "quit": """
        a: QUIT
        b: QUIT now
        c: MULTI
        c: QUIT
        d: SUBSCRIBE x
        d: QUIT
        p: PUBSUB NUMSUB x
    """,
    "http": """
        a: POST / HTTP/1.1
        b: Host: localhost
        c: host
        c: MULTI
        c: post
    """,
    "unknown": """
        a: NOPE
        a: NOPE a b
        a: 'NO\\r\\nPE' 'a\\nb'
        a: 'NO\\0PE' 'a\\0b' c
        a: CLIENT 'NO\\0PE'
        a: CLIENT 'NO\\r\\nPE'
        a: client nope
        a: CLIENT
        a: get|x
        a: client|id
    """,
    "reset": """
        a: HELLO 3 SETNAME me
        a: SELECT 5
        a: CLIENT NO-EVICT ON
        a: SUBSCRIBE x
        a: PSUBSCRIBE p*
        a: SSUBSCRIBE s
        a: WATCH k
        a: MULTI
        a: SET k v
        a: RESET
        a: CLIENT INFO
        a: EXEC
        p: PUBLISH x y
        p: PUBSUB SHARDNUMSUB s
        p: PUBSUB NUMPAT
        a: CLIENT REPLY OFF
        a: RESET
        a: PING
        a: CLIENT REPLY SKIP
        a: RESET
        a: PING
        m: MONITOR
        m: RESET
        m: PING
        a: RESET x
    """,
    "monitor": """
        m: MONITOR
        m: GET k
        m: SET k v
        m: PUBLISH x y
        p: MULTI
        p: AUTH a
        p: HELLO 3 AUTH a b
        p: HELLO 2 AUTH a
        p: EXEC
        p: AUTH a b c
        p: AUTH default secret
        p: HELLO 2 AUTH default secret SETNAME x
        p: HELLO 2 SETNAME y AUTH default secret AUTH a secret AUTH b seen
        p: HELLO 9 AUTH default seen
        p: CLIENT LIST ID {m}
        p: CLIENT KILL ID {m} TYPE replica
        p: CLIENT KILL ID {m} TYPE normal
    """,
    "client_names": """
        a: CLIENT GETNAME
        a: CLIENT SETNAME me
        a: CLIENT GETNAME
        a: CLIENT SETNAME 'not me'
        a: CLIENT SETNAME 'a\\nb'
        a: CLIENT SETNAME é
        a: CLIENT SETNAME ~!
        a: CLIENT GETNAME
        a: CLIENT SETNAME ''
        a: CLIENT GETNAME
        a: HELLO 3
        a: CLIENT GETNAME
        a: CLIENT SETNAME
        a: CLIENT GETNAME x
        a: CLIENT ID x
        a: CLIENT INFO x
    """,
    "client_list": """
        a: CLIENT INFO
        a: CLIENT LIST ID {a}
        a: HELLO 3
        a: CLIENT INFO
        a: CLIENT LIST ID {a}
        b: SELECT 3
        b: CLIENT SETNAME b
        b: WATCH k
        b: MULTI
        b: SET k v
        b: SET kk vv EX 100
        p: CLIENT LIST ID {b}
        p: SET k w
        p: CLIENT LIST ID {b}
        b: PING
        p: CLIENT LIST ID {b}
        b: DISCARD
        p: CLIENT LIST ID {b}
        b: MULTI
        b: CLIENT INFO
        b: PING
        b: EXEC
        b: nope
        p: CLIENT LIST ID {b}
        b: CONFIG
        p: CLIENT LIST ID {b}
        b: CONFIG GET hz
        p: CLIENT LIST ID {b}
        b: SUBSCRIBE x y
        b: PSUBSCRIBE p*
        b: SSUBSCRIBE a b c
        p: CLIENT LIST ID {b} {a} {b} 999999 -1 0
        p: CLIENT NO-EVICT on
        p: CLIENT LIST ID {p}
        p: CLIENT NO-EVICT off
        p: CLIENT INFO
        p: CLIENT NO-EVICT
        p: CLIENT NO-EVICT x
        p: CLIENT LIST TYPE pubsub
        p: CLIENT LIST TYPE PubSub
        p: CLIENT LIST TYPE master
        p: CLIENT LIST TYPE slave
        p: CLIENT LIST TYPE replica
        p: CLIENT LIST TYPE
        p: CLIENT LIST TYPE nope
        p: CLIENT LIST TYPE 'no\\r\\npe'
        p: CLIENT LIST TYPE 'no\\0pe'
        p: CLIENT LIST TYPE normal x
        p: CLIENT LIST ID
        p: CLIENT LIST ID x
        p: CLIENT LIST ID 1 x
        p: CLIENT LIST x
        p: CLIENT LIST ID 999999
    """,
    "client_kill": """
        a: PING
        b: SUBSCRIBE x
        c: PING
        d: HELLO 3
        p: CLIENT KILL
        p: CLIENT KILL 1.2.3.4:5
        p: CLIENT KILL {a.addr}
        p: CLIENT KILL {a.addr}
        p: CLIENT KILL ID
        p: CLIENT KILL ID x
        p: CLIENT KILL ID x y
        p: CLIENT KILL ID 0
        p: CLIENT KILL ID -1
        p: CLIENT KILL ID 99999999999999999999
        p: CLIENT KILL ID 999999
        p: CLIENT KILL TYPE nope
        p: CLIENT KILL TYPE 'no\\npe'
        p: CLIENT KILL USER nobody
        p: CLIENT KILL USER 'no\\nbody'
        p: CLIENT KILL SKIPME maybe
        p: CLIENT KILL NOPE x
        p: CLIENT KILL ID {c} ID
        p: CLIENT KILL ID {c} TYPE pubsub
        p: CLIENT KILL ID {c} LADDR 1.2.3.4:5
        p: CLIENT KILL ID {c} LADDR {c.laddr} ADDR {p.addr}
        p: CLIENT KILL ID {c} USER default TYPE normal ADDR {c.addr} SKIPME no
        p: CLIENT KILL ID {p}
        p: CLIENT KILL TYPE pubsub
        p: PUBSUB NUMSUB x
        p: CLIENT KILL ID {p} ID {d}
        p: CLIENT KILL ID {p} SKIPME no
        q: CLIENT KILL {q.addr}
        r: MULTI
        r: PING
        r: CLIENT KILL ID {r} SKIPME no
        r: EXEC
    """,
    "client_reply": """
        a: CLIENT REPLY
        a: CLIENT REPLY nope
        a: CLIENT REPLY ON
        a: CLIENT REPLY SKIP
        a: PING
        a: PING
        a: CLIENT REPLY SKIP
        a: NOPE
        a: PING
        a: CLIENT REPLY SKIP
        a: CLIENT REPLY SKIP
        a: PING
        a: PING
        a: CLIENT REPLY OFF
        a: PING
        a: NOPE
        a: CLIENT REPLY SKIP
        a: CLIENT REPLY nope
        a: SUBSCRIBE x
        p: PUBLISH x loud
        a: UNSUBSCRIBE
        a: CLIENT REPLY ON
        a: PING
        a: CLIENT REPLY SKIP
        a: CLIENT REPLY ON
        a: PING
        a: CLIENT REPLY SKIP
        a: SUBSCRIBE x
        a: UNSUBSCRIBE
    """,
    "client_pause": """
        p: CLIENT PAUSE
        p: CLIENT PAUSE x
        p: CLIENT PAUSE -1
        p: CLIENT PAUSE 1.5
        p: CLIENT PAUSE 99999999999999999999
        p: CLIENT PAUSE 1 nope
        p: CLIENT PAUSE 1 WRITE x
        p: CLIENT PAUSE x nope
        p: CLIENT PAUSE 0
        a: SET k v
        p: CLIENT PAUSE 9223372036854775807
        a: SET k v
        p: CLIENT PAUSE 1000000 write
        a: GET k
        a: PUBLISH x y
        p: CLIENT LIST ID {a}
        p: CLIENT UNPAUSE
        p: CLIENT LIST ID {a}
        p: CLIENT UNPAUSE
        p: CLIENT PAUSE 1000000 WRITE
        a: MULTI
        a: GET k
        a: PING
        a: EXEC
        a: MULTI
        a: SPUBLISH x y
        p: CLIENT UNPAUSE
        p: CLIENT PAUSE 1000000 WRITE
        a: EXEC
        p: CLIENT LIST ID {a}
        p: CLIENT UNPAUSE
        p: CLIENT PAUSE 1000000 WRITE
        m: MONITOR
        m: SET k v
        a: SET k w
        p: CLIENT KILL ID {a}
        p: CLIENT UNPAUSE
        p: CLIENT UNPAUSE x
        b: SUBSCRIBE x
        p: GET k
        p: DEL k
    """,
    "several_held_clients": """
        p: CLIENT PAUSE 1000000 WRITE
        a: SET k a
        b: APPEND k b
        c: CLIENT PAUSE 1000000 WRITE
        c: APPEND k c
        p: CLIENT UNPAUSE
        p: GET k
        p: DEL k
    """,
    "held_client_kills_and_pauses": """
        a: MULTI
        a: APPEND k a
        a: CLIENT KILL ID {b}
        a: CLIENT PAUSE 1000000 WRITE
        p: CLIENT PAUSE 1000000 WRITE
        a: EXEC
        b: APPEND k b
        c: APPEND k c
        p: CLIENT UNPAUSE
        p: GET k
        p: CLIENT LIST ID {a} {b} {c}
        p: CLIENT UNPAUSE
        p: GET k
        p: DEL k
    """,
    "messages_to_oneself_in_exec": """
        a: MULTI
        a: SUBSCRIBE x y
        a: PUBLISH x 1
        a: UNSUBSCRIBE x
        a: UNSUBSCRIBE
        a: EXEC
        a: PING
        b: HELLO 3
        b: SUBSCRIBE x
        b: PUBLISH x 0
        b: MULTI
        b: PUBLISH x 1
        b: PING
        b: SUBSCRIBE y z
        b: PUBLISH y 2
        b: PUBLISH z 3
        b: EXEC
        b: MULTI
        b: UNSUBSCRIBE y x z
        b: PUBLISH x 4
        b: EXEC
    """,
    "reply_off_in_exec": """
        a: MULTI
        a: PING
        a: CLIENT REPLY OFF
        a: PING
        a: EXEC
        a: PING
        a: CLIENT REPLY ON
        a: MULTI
        a: PING
        a: CLIENT REPLY SKIP
        a: PING
        a: EXEC
        a: PING
        a: PING
        a: HELLO 3
        a: SUBSCRIBE x
        a: CLIENT REPLY OFF
        a: MULTI
        a: PUBLISH x 1
        a: CLIENT REPLY ON
        a: PUBLISH x 2
        a: PING
        a: EXEC
        a: PING
    """,
    "monitor_sees_its_own_commands": """
        a: MONITOR
        a: PING
        a: GET k
        b: MULTI
        b: PING
        b: ECHO x
        b: EXEC
        a: MULTI
        a: PING
        a: ECHO y
        a: EXEC
        a: CLIENT REPLY OFF
        b: ECHO unheard
        a: PING
        a: CLIENT REPLY ON
        a: PING
        a: CONFIG SET requirepass x maxmemory 0
        b: CONFIG SET requirepass ""
        a: RESET
        a: PING
    """,
    "debug_refused": """
        a: MULTI
        a: DEBUG JMAP
        a: EXEC
    """,
    "quit_in_silence": """
        a: CLIENT REPLY OFF
        a: QUIT
        b: PING
        a: PING
        b: CLIENT REPLY SKIP
        b: QUIT
        c: PING
    """,
    "replicas_are_missing": """
        p: CONFIG RESETSTAT
        p: CONFIG SET min-replicas-to-write 1
        a: SET k v
        a: SET k
        a: SET k v NOPE
        a: GET k
        a: DEL k
        a: FLUSHALL
        a: GETDEL k
        a: SWAPDB 0 1
        a: PUBLISH x y
        a: PING
        a: DEBUG POPULATE 1
        a: DEL key:0
        a: MULTI
        a: PING
        a: SET k v
        a: EXEC
        p: CONFIG SET min-replicas-to-write 0
        a: DEL key:0
        a: MULTI
        a: SET k v
        b: MULTI
        b: GET k
        p: CONFIG SET min-replicas-to-write 2
        a: EXEC
        a: EXEC
        b: EXEC
        b: SUBSCRIBE x
        b: SET k v
        b: GET k
        m: MONITOR
        m: SET k v
        p: INFO errorstats
        p: CONFIG SET min-replicas-max-lag 0
        a: SET k v
        p: CONFIG SET min-replicas-to-write 0 min-replicas-max-lag 10
        a: DEL k
        p: CONFIG RESETSTAT
    """,
    "events_of_ones_own_commands": """
        p: CONFIG SET notify-keyspace-events KEAm
        a: HELLO 3
        a: PSUBSCRIBE __keyevent*
        a: SET k v
        a: EXPIRE k 100
        a: EXPIRE k 100 NX
        a: PEXPIREAT k 99999999999999
        a: GETEX k EX 50
        a: GETEX k PERSIST
        a: GETEX k
        a: GETEX k EX 0
        a: EXPIRE k 50
        a: PERSIST k
        a: GETSET k w
        a: SET k v GET
        a: SET k v GET EX 100
        a: SET k v NX GET
        a: SET k v KEEPTTL
        a: GETEX k PXAT 1
        a: GETDEL k
        a: SET k v
        a: GETDEL k
        a: SET k v
        a: EXPIRE k -1
        a: GETSET new v
        a: MGET new k new l
        a: MGET new new
        a: MSET k 1 l 2
        a: INCR k
        a: INCRBYFLOAT k 1
        a: APPEND k 1
        a: SETRANGE k 0 2
        a: COPY k m
        a: RENAME m n
        a: MOVE n 1
        a: SETEX k 10 v
        a: MULTI
        a: MGET nope k
        a: EXPIRE k 10
        a: HELLO 2
        a: GETDEL k
        a: GETDEL k
        a: MGET nope nope
        a: EXEC
        a: RESET
        a: HELLO 3
        a: PSUBSCRIBE __keyevent*
        a: CLIENT REPLY OFF
        a: MGET nope k
        a: SET k v GET
        a: EXPIRE k 10
        a: GETDEL k
        a: CLIENT REPLY ON
        a: CLIENT REPLY SKIP
        a: SET k v GET
        a: GETDEL k
        p: CONFIG SET notify-keyspace-events ''
        p: SELECT 1
        p: DEL n
        p: SELECT 0
        p: DEL new l
    """,
    "client_caching": """
        a: CLIENT CACHING YES
        a: CLIENT CACHING no
        a: CLIENT CACHING x
        a: CLIENT CACHING
        a: CLIENT CACHING YES NO
    """,
    "client_rest": """
        a: CLIENT GETREDIR
        a: CLIENT GETREDIR x
        a: CLIENT TRACKINGINFO
        a: CLIENT TRACKINGINFO x
        a: CLIENT UNBLOCK
        a: CLIENT UNBLOCK x
        a: CLIENT UNBLOCK x y
        a: CLIENT UNBLOCK 1 y
        a: CLIENT UNBLOCK x TIMEOUT
        a: CLIENT UNBLOCK {a}
        a: CLIENT UNBLOCK {a} timeout
        a: CLIENT UNBLOCK {a} ERROR
        a: CLIENT UNBLOCK {a} ERROR x
        a: CLIENT UNBLOCK 99999999
        a: HELLO 3
        a: CLIENT TRACKINGINFO
        a: CLIENT HELP x
    """,
}


@pytest.mark.parametrize("name", SCRIPTS)
def test_script(real_side: RealSide, name: str) -> None:
    run(real_side, SCRIPTS[name])


@pytest.mark.parametrize("command", ["CLIENT", "PUBSUB"])
def test_help_gives_syntax_as_redis_does(real_side: RealSide, command: str) -> None:
    """The lines that are not explanation, in the same order, but for what is not there yet."""
    ours, _ = open_all(real_side, {"a"})
    lines, theirs = (
        [line for line in re.split(rb"\r\n\+?", side.step("a", [command, "HELP"])["a"])[1:] if line]
        for side in (ours, real_side)
    )
    assert [line for line in lines if is_syntax(line)] == list(filter(is_syntax, theirs))
    assert lines[0] == theirs[0]
    assert lines[-2:] == theirs[-2:]


def is_syntax(line: bytes) -> bool:
    return not line.startswith(b"    ") or line.startswith(b"    * ")


def test_unsubscribing_from_all_names_each_channel_once(real_side: RealSide) -> None:
    """The order is that of a hash table in Redis, and of subscription here."""
    ours, _ = open_all(real_side, {"a"})
    for side in (ours, real_side):
        side.step("a", ["SUBSCRIBE", "x", "y", "z"])
    replies = [side.step("a", ["UNSUBSCRIBE"])["a"] for side in (ours, real_side)]
    for reply in replies:
        assert set(re.findall(rb"\$1\r\n(.)", reply)) == {b"x", b"y", b"z"}
        assert re.findall(rb":(\d)", reply) == [b"2", b"1", b"0"]
    assert sorted(replies[0]) == sorted(replies[1])
