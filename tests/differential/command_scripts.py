"""Short scripts of commands, each about one thing. ``test_commands.py`` runs them.

A line is a command in the words of a shell (so ``"\\x00"`` is not a NUL; see ``{nul}``),
``b: ...`` is said by a second client, ``@500`` lets 500 ms pass. ``{now}`` is the time in
ms, ``{now_s}`` in seconds, ``{max}`` and ``{min}`` are the ends of a 64-bit integer,
``{long}`` is a word of 300 letters.
"""

from __future__ import annotations

STRINGS = {
    "set_options": """
        SET a 1
        SET a 2 NX
        SET a 3 XX
        SET b 1 XX
        SET b 1 NX
        SET a 4 GET
        SET c 1 GET
        SET c 2 NX GET
        SET a 5 XX GET
        SET a 6 NX XX
        SET a 6 XX NX
        SET a 6 nx nx
        SET a 6 KEEPTTL EX 1
        SET a 6 EX 1 KEEPTTL
        SET a 6 EX 1 PX 1
        SET a 6 EX 1 EX 2
        SET a 6 PERSIST
        SET a 6 FOO
        SET a 6 EX
        SET a 6 GET GET
        SET a 6 get KeepTTL xx
        SET a
        SET
    """,
    "set_times": """
        SET a 1 EX 0
        SET a 1 EX -1
        SET a 1 EX x
        SET a 1 EX 1.5
        SET a 1 EX {max}
        SET a 1 EX 9223372036854775
        SET a 1 EX 9223370645620375
        SET a 1 PX {max}
        SET a 1 PX 9223370645620375807
        SET a 1 EXAT 0
        SET a 1 EXAT 1
        SET a 1 EXAT 9223372036854775
        SET a 1 EXAT 9223372036854776
        SET a 1 PXAT {max}
        SET a 1 PXAT 1
        GET a
        SET a 1 PXAT {now}
        GET a
        @1
        GET a
        SETEX a 0 v
        SETEX a -1 v
        SETEX a x v
        SETEX a {max} v
        SETEX a 5 v
        PSETEX a 0 v
        PSETEX a {max} v
        PSETEX a 5000 v
        SET a 2 KEEPTTL
        PTTL a
        SET a 3
        PTTL a
    """,
    "getex": """
        GETEX a
        GETEX a EX x
        GETEX a FOO
        SET a v
        GETEX a EX 10
        PTTL a
        GETEX a PERSIST
        GETEX a PERSIST
        PTTL a
        GETEX a PX 100 PERSIST
        GETEX a PERSIST EX 1
        GETEX a EX 1 PX 1
        GETEX a KEEPTTL
        GETEX a EX 0
        GETEX a EX
        GETEX a PXAT {now}
        EXISTS a
        SET a v
        GETEX a EXAT 1
        EXISTS a
        SET a v PX 100
        GETEX a PX 1
        @2
        GETEX a PX 100
        GETDEL a
        SET a v
        GETDEL a
        GETDEL a b
        GETSET a x
        GETSET a y
    """,
    "counters": """
        INCR a
        INCRBY a 5
        DECR a
        DECRBY a 10
        INCRBY a x
        INCRBY a 1.0
        INCRBY a ''
        INCRBY a {max}
        INCRBY a {max}
        DECRBY a {min}
        DECRBY b {min}
        DECRBY b {max}
        DECRBY b 1
        DECR b
        DECR b
        SET a ' 1'
        INCR a
        SET a 1x
        INCR a
        SET a 00
        INCR a
        SET a -0
        INCR a
        SET a {max}
        INCR a
        SET a {min}
        DECR a
        SET a 9999 PX 500
        INCR a
        INCR a
        DECR a
        PTTL a
        APPEND a 0
        OBJECT ENCODING a
        INCR a
        OBJECT ENCODING a
    """,
    "incrbyfloat": """
        INCRBYFLOAT a 0.1
        INCRBYFLOAT a 0.2
        INCRBYFLOAT a -0.3
        INCRBYFLOAT a 1e10
        INCRBYFLOAT a 1e17
        INCRBYFLOAT a 1e-17
        INCRBYFLOAT a 3.0
        INCRBYFLOAT a x
        INCRBYFLOAT a ' 1'
        INCRBYFLOAT a '1 '
        INCRBYFLOAT a ''
        INCRBYFLOAT a inf
        INCRBYFLOAT a -Infinity
        INCRBYFLOAT a nan
        INCRBYFLOAT a 1e5000
        INCRBYFLOAT a 0x1p3
        INCRBYFLOAT a 1.
        INCRBYFLOAT a .5
        INCRBYFLOAT a +5
        SET a 5.0e3
        INCRBYFLOAT a 1
        SET a inf
        INCRBYFLOAT a 1
        SET a 10
        INCRBYFLOAT a 5
        OBJECT ENCODING a
        SET a 3 EX 100
        INCRBYFLOAT a 0.1
        TTL a
        INCRBYFLOAT a
    """,
    "ranges": """
        SET a Hello
        GETRANGE a 0 -1
        GETRANGE a 1 3
        GETRANGE a -3 -2
        GETRANGE a -2 -3
        GETRANGE a 3 1
        GETRANGE a 0 100
        GETRANGE a 100 200
        GETRANGE a -100 -50
        GETRANGE a {min} {max}
        GETRANGE a x 1
        GETRANGE a 1 x
        GETRANGE b 0 1
        SUBSTR a 1 2
        SETRANGE a 5 ' World'
        SETRANGE a 0 J
        SETRANGE a -1 x
        SETRANGE a 10000000000 x
        SETRANGE a {max} x
        SETRANGE a 536870912 x
        SETRANGE a 3 ''
        SETRANGE b 3 ''
        SETRANGE b 3 x
        SETRANGE b x y
        GET b
        STRLEN a
        STRLEN c
        APPEND a !
        APPEND c ''
        APPEND c x
        OBJECT ENCODING a
        OBJECT ENCODING c
        GETRANGE a 1
    """,
    "encodings": """
        SET a 12345678901234567890
        OBJECT ENCODING a
        SET a {max}
        OBJECT ENCODING a
        SET a -1
        OBJECT ENCODING a
        SET a 44444444444444444444444444444444444444444444
        OBJECT ENCODING a
        SET a {long}
        OBJECT ENCODING a
        SET a ''
        OBJECT ENCODING a
        OBJECT REFCOUNT a
        SET a 5
        OBJECT REFCOUNT a
        SET a 10000
        OBJECT REFCOUNT a
        COPY a b
        OBJECT ENCODING b
        APPEND b x
        COPY b c
        OBJECT ENCODING c
        RENAME c d
        OBJECT ENCODING d
    """,
    "several": """
        MSET a 1 b 2
        MSET a 1 b
        MSET
        MSETNX b 1 c 2
        MSETNX c 1 d 2
        MSETNX c 1 c
        MGET a b nope d
        MGET
        MSET a 1 a 2
        GET a
        EXPIRE a 10
        MSET a 3
        TTL a
    """,
    "lcs": """
        MSET a ohmytext b mynewtext
        LCS a b
        LCS a b LEN
        LCS a b IDX
        LCS a b IDX MINMATCHLEN 4
        LCS a b IDX MINMATCHLEN 4 WITHMATCHLEN
        LCS a b IDX LEN
        LCS a b MINMATCHLEN
        LCS a b MINMATCHLEN x IDX
        LCS a b FOO
        LCS a nope
        LCS a nope LEN
        LCS a nope IDX
        LCS a
    """,
}

EXPIRY = {
    "rounding": """
        SET a v PX 499
        TTL a
        EXPIRETIME a
        SET a v PX 500
        TTL a
        EXPIRETIME a
        SET a v PX 501
        TTL a
        SET a v PX 1499
        TTL a
        SET a v PX 1500
        TTL a
        PTTL a
        PEXPIRETIME a
        @500
        TTL a
        @1
        TTL a
        @999
        TTL a
        PTTL a
        GET a
        @1
        TTL a
        PTTL a
        EXPIRETIME a
    """,
    "expire": """
        EXPIRE a 10
        SET a v
        TTL a
        EXPIRETIME a
        EXPIRE a 10
        EXPIRE a 0
        EXISTS a
        SET a v
        EXPIRE a -1
        EXISTS a
        SET a v
        EXPIRE a {min}
        EXPIRE a -9223372036854775
        SET a v
        EXPIRE a -9223372036854776
        EXPIRE a 9223372036854775
        EXPIRE a 9223372036854776
        EXPIRE a 9223370645620375
        PEXPIRE a {max}
        PEXPIRE a 9223370645620375807
        PEXPIREAT a {max}
        PEXPIRETIME a
        EXPIRETIME a
        TTL a
        EXPIREAT a 9223372036854775
        EXPIREAT a 9223372036854776
        EXPIREAT a x
        EXPIRE a 1.5
        EXPIRE a
        PERSIST a
        PERSIST a
        PERSIST b
        PEXPIREAT a {now}
        EXISTS a
        SET a v
        EXPIREAT a {now_s}
        EXISTS a
    """,
    "expire_options": """
        SET a v
        EXPIRE a 10 XX
        EXPIRE a 10 GT
        EXPIRE a 10 LT
        EXPIRE a 20 LT
        EXPIRE a 5 GT
        EXPIRE a 20 GT
        EXPIRE a 20 NX
        EXPIRE a 15 XX LT
        EXPIRE a 15 GT
        EXPIRE a 15 LT
        EXPIRE a 16 xx gt
        EXPIRE a 10 NX XX
        EXPIRE a 10 NX GT
        EXPIRE a 10 GT LT
        EXPIRE a 10 LT GT
        EXPIRE a 10 NX NX
        EXPIRE a 10 FOO
        EXPIRE a 10 'F{nul}OO'
        EXPIRE a x FOO
        EXPIRE nope 10 NX
        EXPIRE a -1 GT
        EXPIRE a -1 NX
        EXPIRE a -1 LT
        EXISTS a
        SET a v
        PEXPIRE a -1 GT
        PEXPIRE a -1 XX
        PEXPIRE a 500 NX
        PEXPIREAT a 1 GT
        PEXPIREAT a 1 LT
        EXISTS a
    """,
    "dead_keys": """
        MSET a 1 b 2 c 3
        PEXPIRE a 10
        PEXPIRE b 10
        PEXPIRE c 10
        @10
        EXISTS a b c
        @1
        DBSIZE
        TTL a
        DBSIZE
        DEL b
        SET c 9 KEEPTTL
        TTL c
        SET a 1 PX 10
        @11
        SETNX a 2
        PEXPIRE a 10
        @11
        INCR a
        PEXPIRE a 10
        @11
        APPEND a x
        PEXPIRE a 10
        @11
        RENAME a b
        SET a 1
        SET b 2 PX 10
        @11
        RENAMENX a b
        PEXPIRE b 10
        @11
        COPY b c
        EXPIRE b 10
        PERSIST b
        TOUCH b
        TYPE b
        OBJECT ENCODING b
        DBSIZE
    """,
}

KEYS = {
    "deleting": """
        MSET a 1 b 2 c 3
        DEL a a nope
        UNLINK b
        EXISTS a b c c
        TOUCH a c c
        DEL
        TYPE c
        TYPE nope
        RANDOMKEY
        DBSIZE
        DBSIZE x
        KEYS [a-c]
        KEYS
    """,
    "renaming": """
        RENAME a b
        SET a 1 PX 5000
        RENAME a a
        RENAME a b
        PTTL b
        SET a 2
        RENAMENX a b
        RENAMENX a a
        RENAMENX nope b
        RENAME a b
        PTTL b
        RENAMENX b c
        RENAME a
    """,
    "copying": """
        COPY a b
        SET a 1 PX 5000
        COPY a b
        PTTL b
        COPY a b
        COPY a b REPLACE
        COPY a a
        COPY a a DB 0
        COPY a a DB 1
        COPY a a DB 1
        COPY a a DB 1 REPLACE
        COPY a b DB
        COPY a b DB x
        COPY a b DB -1
        COPY a b DB 16
        COPY a b FOO
        COPY a b replace db 1 REPLACE
        SELECT 1
        DBSIZE
        PTTL a
    """,
    "moving": """
        MOVE a 1
        SET a 1 PX 5000
        MOVE a 0
        MOVE a 16
        MOVE a x
        MOVE a -1
        MOVE a 1
        EXISTS a
        SET a 2
        MOVE a 1
        SELECT 1
        GET a
        PTTL a
        SWAPDB 0 1
        GET a
        PTTL a
        SWAPDB 0 0
        SWAPDB 0 16
        SWAPDB x 0
        SWAPDB 0 x
        SWAPDB -1 0
        SWAPDB 0
        SELECT 16
        SELECT -1
        SELECT x
        SELECT 99999999999999999999
        SELECT
    """,
    "flushing": """
        MSET a 1 b 2
        FLUSHDB
        DBSIZE
        SET a 1
        FLUSHALL ASYNC
        FLUSHALL sync
        FLUSHDB SYNC ASYNC
        FLUSHALL FOO
        FLUSHDB FOO
    """,
    "scanning": """
        SCAN 0
        SCAN -1
        SET a 1
        SCAN 0
        SCAN 0 COUNT 100 MATCH a* TYPE string
        SCAN 0 MATCH b*
        SCAN 0 TYPE hash
        SCAN 0 TYPE nope
        SCAN 0 COUNT 0
        SCAN 0 COUNT -1
        SCAN 0 COUNT x
        SCAN 0 COUNT
        SCAN 0 FOO
        SCAN x
        SCAN ''
        FLUSHALL
        SCAN -1
        SCAN ' 0'
        SCAN 99999999999999999999
        SCAN
    """,
    "object": """
        OBJECT ENCODING a
        OBJECT REFCOUNT a
        OBJECT IDLETIME a
        OBJECT FREQ a
        SET a v
        OBJECT FREQ a
        OBJECT FOO a
        OBJECT
        OBJECT ENCODING
        OBJECT ENCODING a b
        object encoding a
    """,
}

TRANSACTIONS = {
    "multi": """
        EXEC
        DISCARD
        MULTI
        MULTI
        SET a 1
        INCR a
        GET a
        EXEC
        MULTI
        SET a
        SET a 2
        EXEC
        GET a
        MULTI
        NOPE x
        DISCARD
        MULTI
        APPEND a x
        INCR a
        SET a 1 FOO
        EXEC
        MULTI
        WATCH a
        EXEC
        MULTI
        EXEC
        EXEC x
        MULTI x
    """,
    "watch": """
        SET a 1
        WATCH a
        b: SET a 2
        MULTI
        GET a
        EXEC
        WATCH a
        b: GET a
        MULTI
        GET a
        EXEC
        WATCH a nope
        b: DEL nope
        MULTI
        GET a
        EXEC
        WATCH nope
        b: SET nope 1
        MULTI
        EXEC
        WATCH a
        b: SET a 3
        UNWATCH
        MULTI
        EXEC
        WATCH a
        SET a 4
        MULTI
        EXEC
        WATCH
        UNWATCH x
        WATCH a
        b: FLUSHALL
        MULTI
        EXEC
        SET a 1
        WATCH a
        b: SELECT 1
        b: SET a 9
        MULTI
        GET a
        EXEC
        WATCH a
        b: SWAPDB 0 1
        MULTI
        EXEC
    """,
    "watch_and_time": """
        SET a 1 PX 100
        WATCH a
        @101
        MULTI
        GET a
        EXEC
        SET a 1 PX 100
        @101
        WATCH a
        MULTI
        GET a
        EXEC
        SET a 1 PX 100
        @101
        WATCH a
        b: GET a
        MULTI
        PING
        EXEC
        SET a 1 PX 100
        @101
        WATCH a
        b: SET a 2
        MULTI
        PING
        EXEC
        SET a 1
        WATCH a
        b: PEXPIRE a 100
        MULTI
        EXEC
        WATCH a
        b: PERSIST a
        b: EXPIRE nope 1
        MULTI
        EXEC
    """,
    "time_in_exec": """
        SET a 1 PX 100
        MULTI
        GET a
        PTTL a
        SET b 1 PX 50
        PTTL b
        EXEC
        @51
        MULTI
        EXISTS a b
        PEXPIRE a 10
        PTTL a
        EXEC
    """,
}

OTHERS = {
    "connection": """
        PING
        PING x
        PING x y
        ECHO x
        ECHO
        ECHO x y
        SELECT 3
        CLIENT GETNAME
        CLIENT SETNAME 'a b'
        CLIENT SETNAME x
        CLIENT GETNAME
        CLIENT SETNAME ''
        CLIENT GETNAME
        CLIENT FOO
        CLIENT
        AUTH x
        AUTH default x
        AUTH nobody x
        AUTH a b c
        HELLO 1
        HELLO x
        HELLO 2 FOO
        HELLO 2 SETNAME
        RESET
    """,
    "unknown": """
        NOPE
        NOPE a b c
        NOPE {long} {long}
        {long}
        '' x
        'N O'
        CONFIG NOPE
        CONFIG
        COMMAND NOPE
        PUBSUB NOPE
        SLOWLOG NOPE
        LATENCY NOPE
        DEBUG NOPE
        'get' a
        GeT a
    """,
    "pubsub": """
        PUBLISH x y
        PUBLISH x
        SPUBLISH x y
        PUBSUB CHANNELS
        PUBSUB NUMSUB
        PUBSUB NUMSUB a b
        PUBSUB NUMPAT
        PUBSUB NUMPAT x
        PUBSUB SHARDCHANNELS
        PUBSUB SHARDNUMSUB a
        UNSUBSCRIBE
        PUNSUBSCRIBE x
        SUNSUBSCRIBE
        SUBSCRIBE
    """,
    "logs": """
        SLOWLOG LEN x
        SLOWLOG GET x
        SLOWLOG GET -2
        SLOWLOG GET 1 2
        SLOWLOG RESET x
        LATENCY HISTORY
        LATENCY HISTORY nope
        LATENCY LATEST
        LATENCY RESET nope
        LATENCY GRAPH nope
        LATENCY HISTOGRAM nope
    """,
    "command": """
        COMMAND INFO nope
        COMMAND GETKEYS
        COMMAND GETKEYS NOPE
        COMMAND GETKEYS GET
        COMMAND GETKEYS PING
        COMMAND GETKEYS SET a v
        COMMAND GETKEYS MSET a 1 b 2
        COMMAND GETKEYS COPY a b
        COMMAND GETKEYS OBJECT ENCODING a
        COMMAND GETKEYS LCS a b LEN
        COMMAND GETKEYSANDFLAGS SET a v
        COMMAND GETKEYSANDFLAGS COPY a b
        COMMAND LIST FILTERBY
        COMMAND LIST FILTERBY FOO x
        COMMAND LIST FOO
        COMMAND COUNT x
        COMMAND DOCS nope
    """,
    "debug": """
        DEBUG OBJECT nope
        DEBUG SET-ACTIVE-EXPIRE
        DEBUG JMAP
        DEBUG SLEEP 0
        DEBUG ERROR 'MY error'
        DEBUG LOG x
        DEBUG HTSTATS x
        DEBUG HTSTATS 99
        DEBUG PROTOCOL string
        DEBUG PROTOCOL integer
        DEBUG PROTOCOL double
        DEBUG PROTOCOL null
        DEBUG PROTOCOL array
        DEBUG PROTOCOL set
        DEBUG PROTOCOL map
        DEBUG PROTOCOL verbatim
        DEBUG PROTOCOL true
        DEBUG PROTOCOL bignum
        DEBUG PROTOCOL attrib
        DEBUG PROTOCOL nope
        DEBUG POPULATE -1
        DEBUG POPULATE x
        DEBUG POPULATE 1
        GET key:0
        DEBUG POPULATE 1 p 3
        GET p:0
        DEL key:0 p:0
        DEBUG STRINGMATCH-LEN x
    """,
    "arity": """
        GET
        GET a b
        SETNX a
        SETEX a 1
        PSETEX a
        GETSET a
        GETDEL
        GETEX
        INCR
        INCRBY a
        DECR a b
        DECRBY
        INCRBYFLOAT a b c
        STRLEN
        SETRANGE a 1
        TTL
        PTTL a b
        PERSIST
        PEXPIRE a
        EXPIREAT
        PEXPIREAT a
        EXPIRETIME
        PEXPIRETIME a b
        EXISTS
        UNLINK
        TOUCH
        TYPE
        MOVE a
        COPY a
        RENAMENX a
        KEYS a b
        RANDOMKEY x
        TIME x
        SWAPDB 1
        DISCARD x
        MONITOR x
        PUBLISH a
        PUBSUB
        SLOWLOG
        SLOWLOG GET 1 2 3
        OBJECT FREQ
        CLIENT ID x
        CLIENT SETNAME
        CLIENT REPLY
        CONFIG GET
        CONFIG SET a
        CONFIG RESETSTAT x
    """,
}

SCRIPTS = STRINGS | EXPIRY | KEYS | TRANSACTIONS | OTHERS
