"""CLIENT TRACKING beside a real server: what is sent to whom, and in which order."""

from __future__ import annotations

import pytest

from tests.differential.sides import RealSide, run

SCRIPTS = {
    "basic_resp3": """
        a: HELLO 3
        a: CLIENT TRACKING ON
        a: CLIENT TRACKINGINFO
        a: CLIENT GETREDIR
        b: SET k 1
        a: GET k
        b: SET k 2
        b: SET k 3
        a: MGET k l m
        b: MSET l 1 m 2 n 3
        a: GET k
        a: SET k 4
        a: SET k 5
        a: CLIENT INFO
        a: CLIENT LIST ID {a} {b}
        a: GET k
        a: CLIENT TRACKING OFF
        b: SET k 6
        a: CLIENT TRACKING OFF
        a: CLIENT TRACKINGINFO
        a: CLIENT GETREDIR
        b: INFO nothing
    """,
    "resp2_hears_nothing_by_itself": """
        a: CLIENT TRACKING on
        a: GET k
        b: SET k 1
        a: GET k
        a: SET k 1
        a: GET k
        a: HELLO 3
        b: SET k 2
    """,
    "which_keys": """
        a: HELLO 3
        a: CLIENT TRACKING ON
        b: RPUSH list 1 2
        b: HSET h f 1
        a: GET list
        b: RPUSH list 3
        a: EXISTS x y
        a: TYPE z
        b: MSET x 1 y 1 z 1
        a: STRLEN x
        a: LRANGE list 0 -1
        a: HGETALL h
        b: DEL x list h
        b: DEL x list h
        a: INCR n
        b: INCR n
        a: GETEX y
        b: SET y 1
        a: SUBSTR z 0 0
        a: OBJECT ENCODING z
        a: TTL w
        b: SET z 1
        b: SET w 1
        a: SUNION s1 s2
        b: SADD s1 a
        a: ZUNION 2 z1 z2
        b: ZADD z2 1 a
        a: SORT_RO s1
        b: SADD s1 b
        a: SORT s1
        b: SADD s1 c
        a: XREAD STREAMS st1 st2 0 0
        b: XADD st2 1-1 f v
        a: PFCOUNT hll
        b: PFADD hll a
        a: DBSIZE
        a: KEYS nothing
        a: SCAN 0 COUNT 100 MATCH nothing
        b: SET k 1
        a: DUMP k
        b: EXPIRE k 100
        a: BITCOUNT k
        b: PERSIST k
        a: GET k
        b: RENAME k k2
        a: GET k
        a: GET k2
        b: COPY k2 k
        b: SETRANGE k2 0 v
        b: APPEND k2 v
        a: LCS k k2
        b: GETDEL k
    """,
    "same_key_other_database": """
        a: HELLO 3
        a: CLIENT TRACKING ON
        b: SELECT 1
        a: GET k
        b: SET k 1
        a: GET k
        b: SWAPDB 0 1
        b: MOVE k 2
    """,
    "redirect": """
        c: SUBSCRIBE __redis__:invalidate
        a: CLIENT TRACKING ON REDIRECT {c}
        a: CLIENT GETREDIR
        a: CLIENT TRACKINGINFO
        a: GET k
        b: SET k 1
        a: GET k
        a: SET k 2
        a: HELLO 3
        a: GET k
        b: SET k 3
        b: CLIENT TRACKING ON REDIRECT {c}
        a: GET k
        b: GET k
        d: SET k 1
        b: CLIENT LIST ID {a} {b} {c}
        a: FLUSHALL
        a: FLUSHDB
        b: FLUSHALL
        a: CLIENT TRACKING OFF
        b: CLIENT TRACKING OFF
        b: FLUSHALL
    """,
    "redirect_needs_a_subscription": """
        c: PING
        a: CLIENT TRACKING ON REDIRECT {c}
        a: GET k
        b: SET k 1
        c: SUBSCRIBE other
        a: GET k
        b: SET k 2
        c: HELLO 3
        c: UNSUBSCRIBE
        c: HELLO 3
        a: GET k
        b: SET k 3
        c: PSUBSCRIBE x
        a: GET k
        c: SET k 4
    """,
    "redirect_to_itself": """
        a: CLIENT TRACKING ON REDIRECT {a}
        a: CLIENT GETREDIR
        a: GET k
        b: SET k 1
        a: HELLO 3
        a: GET k
        b: SET k 1
        a: GET k
        a: SET k 1
    """,
    "the_redirected_changes_the_key_itself": """
        c: HELLO 3
        a: CLIENT TRACKING ON REDIRECT {c}
        a: MGET k l s
        c: SET k 1
        c: INCR l
        c: SADD s a b
        a: MGET k l s
        c: MULTI
        c: SET k 2
        c: PING
        c: DEL l
        c: EXEC
        a: MGET k l s
        c: DEL k s
        a: MGET k l s
        c: FLUSHALL
    """,
    "broken_redirect": """
        c: SUBSCRIBE __redis__:invalidate
        a: HELLO 3
        a: CLIENT TRACKING ON REDIRECT {c}
        a: GET k
        b: GET k
        c: QUIT
        b: SET k 1
        a: CLIENT TRACKINGINFO
        a: CLIENT INFO
        a: GET k
        a: SET k 1
        b: FLUSHALL
        a: FLUSHALL
        a: CLIENT TRACKING ON REDIRECT {b}
        a: CLIENT TRACKINGINFO
        a: CLIENT TRACKING ON REDIRECT {c}
        a: HELLO 2
        b: CLIENT KILL ID {a}
        b: SET k 1
    """,
    "bcast": """
        a: HELLO 3
        a: CLIENT TRACKING ON BCAST
        a: CLIENT TRACKINGINFO
        a: CLIENT INFO
        b: SET k 1
        b: MSET z 1 y 1 x 1 z 2
        a: SET k 1
        a: MSET b 1 a 1
        b: GET k
        b: DEL nothing
        b: DEL k z
        b: SELECT 1
        b: SET k 1
        b: FLUSHDB
        a: FLUSHALL
        b: PUBLISH k 1
        a: GET k
        b: MULTI
        b: SET z 1
        b: SET a 1
        b: DEL z
        b: EXEC
        a: MULTI
        a: SET z 1
        a: GET z
        a: SET a 1
        a: EXEC
    """,
    "prefixes": """
        a: HELLO 3
        a: CONFIG RESETSTAT
        a: CLIENT TRACKING ON BCAST PREFIX user: PREFIX obj
        a: CLIENT TRACKINGINFO
        b: MSET user:2 1 user:1 1 object 1 other 1 obj 1 us 1
        a: CLIENT TRACKING ON BCAST PREFIX ot
        a: CLIENT TRACKINGINFO
        b: MSET user:2 1 user:1 1 object 1 other 1
        a: CLIENT TRACKING ON BCAST PREFIX user
        a: CLIENT TRACKING ON BCAST PREFIX user:1
        a: CLIENT TRACKING ON BCAST PREFIX user:
        a: CLIENT TRACKING ON BCAST
        a: CLIENT TRACKING ON BCAST PREFIX x PREFIX xy
        a: CLIENT TRACKING ON BCAST PREFIX xy PREFIX x
        a: CLIENT TRACKING ON BCAST PREFIX x PREFIX x
        a: CLIENT TRACKING ON BCAST PREFIX q PREFIX x PREFIX x\\r\\ny PREFIX x\\0z
        a: CLIENT TRACKINGINFO
        a: CLIENT TRACKING ON BCAST PREFIX a\\0b PREFIX a\\0b
        a: INFO errorstats
        b: MSET x 1 x\\r\\ny 2
        a: CLIENT TRACKING OFF
        b: MSET user:2 1 x 1
        a: CLIENT TRACKING ON BCAST PREFIX "" PREFIX ""
        a: CLIENT TRACKING ON BCAST PREFIX ""
        b: SET user:2 1
    """,
    "prefix_oddity_in_a_transaction": """
        a: MULTI
        a: CLIENT TRACKING ON BCAST PREFIX q PREFIX x PREFIX xx
        a: PING
        a: EXEC
        a: PING
        a: PING
    """,
    "modes_that_do_not_go_together": """
        a: CLIENT TRACKING
        a: CLIENT TRACKING maybe
        a: CLIENT TRACKING maybe BCAST
        a: CLIENT TRACKING ON NOTHING
        a: CLIENT TRACKING ON PREFIX
        a: CLIENT TRACKING ON REDIRECT
        a: CLIENT TRACKING ON REDIRECT x
        a: CLIENT TRACKING ON REDIRECT 0
        a: CLIENT TRACKING ON REDIRECT 99999
        a: CLIENT TRACKING ON REDIRECT -1
        a: CLIENT TRACKING ON REDIRECT {b} REDIRECT {b}
        b: PING
        a: CLIENT TRACKING ON PREFIX x
        a: CLIENT TRACKING ON BCAST OPTIN
        a: CLIENT TRACKING ON BCAST OPTOUT
        a: CLIENT TRACKING ON OPTIN OPTOUT
        a: CLIENT TRACKING ON BCAST OPTIN OPTOUT
        a: CLIENT TRACKING OFF NOTHING
        a: CLIENT TRACKING OFF BCAST PREFIX x REDIRECT {b}
        a: CLIENT TRACKINGINFO
        a: CLIENT TRACKING ON
        a: CLIENT TRACKING ON BCAST
        a: CLIENT TRACKING ON OPTIN
        a: CLIENT TRACKING ON OPTOUT
        a: CLIENT TRACKING ON BCAST
        a: CLIENT TRACKING ON
        a: CLIENT TRACKINGINFO
        a: CLIENT TRACKING ON OPTOUT NOLOOP
        a: CLIENT TRACKINGINFO
        a: CLIENT TRACKING ON OPTIN
        a: CLIENT TRACKING OFF
        a: CLIENT TRACKING ON BCAST NOLOOP
        a: CLIENT TRACKING ON
        a: CLIENT TRACKING ON BCAST
        a: CLIENT TRACKINGINFO
        a: RESET
        a: CLIENT TRACKINGINFO
        a: CLIENT TRACKINGINFO x
        a: CLIENT GETREDIR x
        a: CLIENT TRACKING
    """,
    "caching": """
        a: HELLO 3
        a: CLIENT CACHING YES
        a: CLIENT CACHING
        a: CLIENT TRACKING ON
        a: CLIENT CACHING YES
        a: CLIENT CACHING NO
        a: CLIENT CACHING MAYBE
        a: CLIENT CACHING YES x
        a: CLIENT TRACKING ON OPTIN
        a: CLIENT CACHING NO
        a: GET k
        b: SET k 1
        a: CLIENT CACHING YES
        a: CLIENT TRACKINGINFO
        a: CLIENT ID
        a: GET k
        a: GET l
        a: CLIENT TRACKINGINFO
        b: MSET k 1 l 1
        a: CLIENT CACHING YES
        a: PING
        a: GET k
        b: SET k 1
        a: CLIENT CACHING YES
        a: NOSUCH
        a: GET k
        b: SET k 1
        a: CLIENT CACHING YES
        a: GET
        a: GET k
        b: SET k 1
        a: CLIENT TRACKING OFF
        a: CLIENT TRACKING ON OPTOUT
        a: CLIENT CACHING YES
        a: CLIENT CACHING NO
        a: CLIENT TRACKINGINFO
        a: GET k
        a: GET l
        b: MSET k 1 l 1
    """,
    "caching_for_a_transaction": """
        a: HELLO 3
        a: CLIENT TRACKING ON OPTIN
        a: CLIENT CACHING YES
        a: MULTI
        a: GET k
        a: GET l
        a: EXEC
        a: GET m
        b: MSET k 1 l 1 m 1
        a: MULTI
        a: CLIENT CACHING YES
        a: GET k
        a: EXEC
        a: GET l
        b: MSET k 1 l 1
        a: MULTI
        a: CLIENT CACHING YES
        a: DISCARD
        a: GET l
        b: MSET k 1 l 1
    """,
    "noloop": """
        a: HELLO 3
        a: CLIENT TRACKING ON NOLOOP
        a: MGET k l
        a: SET k 1
        b: SET l 1
        a: GET k
        a: EVAL "return redis.call('SET', 'k', 2)" 1 k
        b: SET k 1
        a: CLIENT TRACKING OFF
        a: CLIENT TRACKING ON BCAST NOLOOP
        a: SET k 1
        b: SET k 1
        a: MULTI
        a: SET k 1
        a: SET l 1
        a: EXEC
        a: EVAL "return redis.call('SET', 'k', 2)" 1 k
        a: FLUSHALL
    """,
    "transactions": """
        a: HELLO 3
        a: CLIENT TRACKING ON
        a: MULTI
        a: GET k
        a: SET k 1
        a: GET k
        a: SET k 2
        a: GET l
        a: EXEC
        b: MULTI
        b: SET l 1
        b: SET k 1
        b: EXEC
        a: MULTI
        a: GET k
        a: FLUSHALL
        a: PING
        a: EXEC
        a: MULTI
        a: GET k
        a: NOSUCH
        a: EXEC
        b: SET k 1
        a: WATCH k
        b: SET k 1
        a: MULTI
        a: GET k
        a: EXEC
        b: SET k 1
        a: MULTI
        a: CLIENT TRACKING OFF
        a: CLIENT TRACKING ON
        a: GET k
        a: EXEC
        b: SET k 1
    """,
    "scripts": """
        a: HELLO 3
        a: CLIENT TRACKING ON
        a: EVAL "return redis.call('SET', 'k', 1)" 2 k l
        b: MSET k 1 l 1
        a: EVAL "return redis.call('GET', 'm')" 2 k l
        b: MSET k 1 l 1 m 1
        a: EVAL "return redis.call('GET', 'm')" 0
        b: SET m 1
        a: EVAL "redis.call('GET', 'k') redis.call('SET', 'k', 2) redis.call('INCR', 'k')" 1 k
        b: SET k 1
        a: EVAL_RO "return 1" 1 k
        b: SET k 1
        a: EVAL_RO "return redis.call('GET', 'x')" 1 k
        b: SET k 1
        b: EVAL "return redis.call('GET', 'x')" 1 k
        b: SET k 1
        a: GET k
        b: EVAL "redis.call('SET', 'k', 1) return redis.call('SET', 'k', 2)" 1 k
        a: GET k
        a: EVAL "redis.call('SET', 'k', 1) return redis.call('SET', 'k', 2)" 1 k
        a: MULTI
        a: EVAL "return redis.call('GET', 'm')" 2 k l
        a: SET l 1
        a: EXEC
        b: SET k 2
    """,
    "flush": """
        a: HELLO 3
        b: HELLO 3
        a: CLIENT TRACKING ON
        b: CLIENT TRACKING ON BCAST
        a: GET k
        c: FLUSHALL
        c: SET k 1
        a: GET k
        a: FLUSHDB
        a: FLUSHALL ASYNC
        b: FLUSHALL
        c: SELECT 3
        c: FLUSHDB
        a: GET k
        c: DEBUG RELOAD
        c: SET k 1
    """,
    "null_in_the_trackers_protocol": """
        c: HELLO 3
        a: CLIENT TRACKING ON REDIRECT {c}
        b: FLUSHALL
        a: FLUSHALL
        d: SUBSCRIBE x
        b: HELLO 3
        b: CLIENT TRACKING ON REDIRECT {d}
        a: FLUSHALL
        b: FLUSHALL
    """,
    "silenced": """
        a: HELLO 3
        a: CLIENT TRACKING ON
        a: GET k
        a: CLIENT REPLY OFF
        b: SET k 1
        a: GET k
        a: SET k 1
        a: CLIENT REPLY ON
        a: GET k
        a: CLIENT REPLY SKIP
        a: SET k 1
        a: PING
        a: GET k
        a: MULTI
        a: CLIENT REPLY OFF
        a: SET k 1
        a: EXEC
        a: CLIENT REPLY ON
        a: CLIENT TRACKING OFF
        a: CLIENT TRACKING ON BCAST
        a: CLIENT REPLY SKIP
        a: SET k 1
        a: PING
    """,
    "blocked": """
        a: HELLO 3
        b: HELLO 3
        a: CLIENT TRACKING ON
        b: CLIENT TRACKING ON
        a: LLEN l
        b: LLEN l
        b: LLEN dst
        b: BLMOVE l dst LEFT LEFT 0
        a: RPUSH l x
        a: LLEN l
        b: LLEN dst
        a: BLPOP dst l 0
        b: LPOP dst
        b: RPUSH l x
        b: PING
        a: XREAD BLOCK 0 STREAMS s $
        b: XADD s 1-1 f v
        b: XADD s 1-2 f v
        a: CLIENT TRACKING OFF
        b: CLIENT TRACKING OFF
        a: CLIENT TRACKING ON BCAST
        b: CLIENT TRACKING ON BCAST PREFIX d
        b: BLMOVE l dst LEFT LEFT 0
        a: RPUSH l x
    """,
    "monitored": """
        a: HELLO 3
        a: CLIENT TRACKING ON
        a: GET k
        m: MONITOR
        a: SET k 1
        a: GET k
        b: SET k 1
        a: CLIENT TRACKING OFF
    """,
    "keyspace_events_to_the_tracker": """
        a: CONFIG SET notify-keyspace-events KEA
        a: HELLO 3
        a: CLIENT TRACKING ON
        a: SUBSCRIBE __keyevent@0__:set
        a: GET k
        b: SET k 1
        a: GET k
        a: SET k 1
        a: CLIENT TRACKING OFF
        a: CLIENT TRACKING ON BCAST
        a: SET k 1
        a: CONFIG SET notify-keyspace-events ""
    """,
    "ends": """
        a: HELLO 3
        a: CLIENT TRACKING ON BCAST PREFIX x
        b: HELLO 3
        b: CLIENT TRACKING ON BCAST PREFIX x NOLOOP
        c: SET x 1
        a: RESET
        c: SET x 1
        b: SET x 1
        b: QUIT
        c: SET x 1
        a: HELLO 3
        a: CLIENT TRACKING ON
        a: GET x
        c: CLIENT KILL ID {a}
        c: SET x 1
    """,
    "limit": """
        a: HELLO 3
        a: CLIENT TRACKING ON
        a: GET k
        b: CONFIG SET tracking-table-max-keys 1
        a: MGET k
        b: DEL k
        a: GET k
        b: SET l 1
        b: CONFIG SET tracking-table-max-keys 1000000
    """,
}


@pytest.mark.parametrize("name", SCRIPTS)
def test_script(real_side: RealSide, name: str) -> None:
    run(real_side, SCRIPTS[name])


def test_the_fields_of_info(real_side: RealSide) -> None:
    script = """
        a: CLIENT TRACKING ON
        b: CLIENT TRACKING ON
        c: CLIENT TRACKING ON BCAST PREFIX p PREFIX q
        a: MGET k l m
        b: MGET k l
        d: DEL k
        d: SET l 1
    """
    fields = ("clients", "total_keys", "total_items", "total_prefixes")
    lines = [f'd: EVAL "{_INFO % field}" 0' for field in fields]
    run(real_side, script + "\n".join(lines) + "\n c: QUIT\n" + "\n".join(lines))


_INFO = "return string.match(redis.call('INFO', 'everything'), 'tracking_%s:%%d+')"
