"""Scripts about hashes and sets, in the manner of ``command_scripts.py``.

Nothing random is asked for here, so every reply is the same, its order included.
``INTS n`` stands for the numbers from 0 to n - 1, ``PAIRS n`` for as many pairs of them.
"""

from __future__ import annotations

HASHES = {
    "hset": """
        HSET a f 1
        HSET a f 2 g 3
        HSET a f 2 g
        HSET a f
        HSET a
        HMSET a f 1 h 2
        HMSET a f
        HMSET a f 1 g
        HSETNX a f 9
        HSETNX a new 9
        HSETNX b f 9
        HSET a '' ''
        HGET a ''
        HGET a f
        HGET a nope
        HGET nope f
        HMGET a f nope g
        HMGET nope f g
        HMGET a
        HGETALL a
        HKEYS a
        HVALS a
        HGETALL nope
        HKEYS nope
        HVALS nope
        HLEN a
        HLEN nope
        HSTRLEN a f
        HSTRLEN a nope
        HSTRLEN nope f
        HEXISTS a f
        HEXISTS a nope
        HEXISTS a ''
        HEXISTS nope f
        HDEL a nope
        HDEL a f f g
        HGETALL a
        HSET a f 1
        HGETALL a
        HDEL a f '' h new x
        EXISTS a
        HDEL nope f
        HDEL a
    """,
    "wrong_types": """
        SET s v
        SADD t 1
        HSET s f v
        HSET t f v
        HSET s f
        HMSET s f v
        HSETNX s f v
        HGET s f
        HMGET s f
        HGETALL s
        HKEYS s
        HVALS s
        HLEN s
        HSTRLEN s f
        HEXISTS s f
        HDEL s f
        HINCRBY s f 1
        HINCRBY s f x
        HINCRBYFLOAT s f 1
        HINCRBYFLOAT s f x
        HINCRBYFLOAT s f inf
        HSCAN s 0
        HSCAN s x
        HSCAN s 0 FOO
        HRANDFIELD s
        HRANDFIELD s 1
        HRANDFIELD s x
        HRANDFIELD s 1 foo
        HRANDFIELD s 0
        HSET a f 1
        GET a
        SADD a 1
        INCR a
        SET a v
        GET a
        HSET b f v
        GETSET b v
        SETNX b v
        MGET a b s
    """,
    "hincrby": """
        HINCRBY a f 5
        HINCRBY a f -7
        HINCRBY a f x
        HINCRBY a f 1.5
        HINCRBY a f {max}
        HINCRBY a f {max}
        HINCRBY a g {min}
        HINCRBY a g -1
        HINCRBY a g {max}
        HSET a s ' 1' t 1x u '' v 01 w +1 x -0 y {long} z 3.0
        HINCRBY a s 1
        HINCRBY a t 1
        HINCRBY a u 1
        HINCRBY a v 1
        HINCRBY a w 1
        HINCRBY a x 1
        HINCRBY a y 1
        HINCRBY a z 1
        HINCRBY a f
        HINCRBY b {long} 3
        OBJECT ENCODING b
        HINCRBY b {long} 3
        HGETALL b
    """,
    "hincrbyfloat": """
        HINCRBYFLOAT a f 0.1
        HINCRBYFLOAT a f 0.2
        HINCRBYFLOAT a f -0.3
        HINCRBYFLOAT a f 1e17
        HINCRBYFLOAT a f 1e-17
        HINCRBYFLOAT a f inf
        HINCRBYFLOAT a f -inf
        HINCRBYFLOAT a f nan
        HINCRBYFLOAT a f x
        HINCRBYFLOAT a f ''
        HINCRBYFLOAT a f 0x1p3
        HSET a s ' 1' t 1x u '' v inf w -0 x 1e5000 y {max} z 3.0
        HINCRBYFLOAT a s 1
        HINCRBYFLOAT a t 1
        HINCRBYFLOAT a u 1
        HINCRBYFLOAT a v 1
        HINCRBYFLOAT a w 0
        HINCRBYFLOAT a x 1
        HINCRBYFLOAT a y 1
        HINCRBYFLOAT a z 1
        HINCRBYFLOAT b new 3
        HINCRBYFLOAT b new 1e4900
        HGETALL b
        HSTRLEN b new
        HINCRBYFLOAT b new 1.1e4932
        HINCRBYFLOAT b new 1.1e4932
        HINCRBYFLOAT b new
        HINCRBYFLOAT c {long} 1
        OBJECT ENCODING c
    """,
    "value_too_long": """
        HSET a f {64}
        OBJECT ENCODING a
        HSET a f {65}
        OBJECT ENCODING a
        HSET b {65} v
        OBJECT ENCODING b
        HSET c f v
        HSETNX c f {65}
        OBJECT ENCODING c
        HSETNX c g {65}
        OBJECT ENCODING c
        HDEL c g
        OBJECT ENCODING c
        HSET d f1 v f2 v f3 v f4 v f5 v f6 v
        HSET d f7 v f8 {65}
        HGETALL d
        DEBUG HTSTATS-KEY d
        CONFIG SET hash-max-ziplist-value 3
        CONFIG GET hash-max-listpack-value
        CONFIG GET hash-max-ziplist-value
        HSET e f 123
        OBJECT ENCODING e
        HINCRBY e f 2000
        OBJECT ENCODING e
        HSET f f 1
        HINCRBYFLOAT f f 0.125
        OBJECT ENCODING f
        CONFIG SET hash-max-listpack-value 64
    """,
    "too_many_fields": """
        HSET a PAIRS 512
        OBJECT ENCODING a
        HSET a new v
        OBJECT ENCODING a
        HGETALL a
        DEBUG HTSTATS-KEY a
        CONFIG SET hash-max-ziplist-entries 4
        CONFIG GET hash-max-listpack-entries
        HSET b 1 a 2 b 3 c 4 d
        OBJECT ENCODING b
        HSET b 5 e
        OBJECT ENCODING b
        HKEYS b
        HSET c 1 a 2 b 3 c 4 d
        CONFIG SET hash-max-listpack-entries 3
        HSET c 1 x
        OBJECT ENCODING c
        HVALS c
        CONFIG SET hash-max-listpack-entries 0
        HSET d 1 a
        OBJECT ENCODING d
        CONFIG SET hash-max-listpack-entries 512
    """,
    "growing_and_shrinking": """
        CONFIG SET hash-max-listpack-entries 2
        HSET a PAIRS 6
        DEBUG HTSTATS-KEY a
        HSET a PAIRS 70
        DEBUG HTSTATS-KEY a
        HKEYS a
        HGET a 1
        HEXISTS a nope
        DEBUG HTSTATS-KEY a
        HDEL a INTS 64
        DEBUG HTSTATS-KEY a
        HGETALL a
        HSET a 64 x 65 x
        HVALS a
        DEBUG HTSTATS-KEY a
        COPY a b
        HKEYS b
        DEBUG HTSTATS-KEY b
        HSET b 1 y
        HGETALL a
        CONFIG SET hash-max-listpack-entries 512
    """,
    "hscan": """
        HSET a f 1 g 2 foo 3
        HSCAN a 0
        HSCAN a 5 COUNT 1
        HSCAN a 0 MATCH f*
        HSCAN a 0 MATCH * COUNT 1
        HSCAN a 0 MATCH 1
        HSCAN a 0 COUNT 0
        HSCAN a 0 COUNT -1
        HSCAN a 0 COUNT x
        HSCAN a 0 COUNT
        HSCAN a 0 TYPE hash
        HSCAN a 0 FOO 1
        HSCAN a x
        HSCAN a -1
        HSCAN a
        HSCAN nope 0
        HSCAN nope 0 FOO
        HSCAN nope x
        HSET b PAIRS 600
        HSCAN b 0
        HSCAN b 64 COUNT 3
        HSCAN b 0 COUNT 1000
        HSCAN b 0 MATCH 1?? COUNT 50
        HSCAN b 0 COUNT {max}
        HSCAN b 0 COUNT 4611686018427387904
        HSCAN b 0 COUNT 922337203685477581
        HDEL b INTS 560
        HSCAN b 0 COUNT 1
        HSCAN b 128 COUNT 2
    """,
    "hrandfield": """
        HRANDFIELD a
        HRANDFIELD a 0
        HRANDFIELD a 5
        HRANDFIELD a -5
        HRANDFIELD a 5 WITHVALUES
        HRANDFIELD a x
        HRANDFIELD a {min}
        HRANDFIELD a {max} withvalues
        HRANDFIELD a -{max} withvalues
        HRANDFIELD a {max}
        HRANDFIELD a 1 foo
        HRANDFIELD a x foo
        HRANDFIELD a 1 withvalues foo
        HSET a f v
        HRANDFIELD a
        HRANDFIELD a 0
        HRANDFIELD a 0 withvalues
        HRANDFIELD a -3
        HRANDFIELD a -2 WITHVALUES
        HRANDFIELD a 1 withvalues
        HRANDFIELD a 9 withvalues
        HSET a g w h x
        HRANDFIELD a 3
        HRANDFIELD a 3 withvalues
        HRANDFIELD a 4611686018427387903 withvalues
        HRANDFIELD a 4611686018427387904 withvalues
        HRANDFIELD a {max}
        HSET b PAIRS 520
        HRANDFIELD b 520
        HRANDFIELD b 1000 withvalues
    """,
    "reload": """
        HSET a PAIRS 600
        HSET b 1 a 2 b
        HSET c {65} v 1 a
        HDEL c {65}
        HSET d 1 a 2 b 3 c 4 d 5 e 6 f 7 g {65} x 8 h 9 i 10 j 11 k 12 l 13 m 14 n
        DEBUG RELOAD
        OBJECT ENCODING a
        OBJECT ENCODING b
        OBJECT ENCODING c
        OBJECT ENCODING d
        HGETALL a
        HGETALL d
        DEBUG HTSTATS-KEY d
        HDEL a INTS 100
        DEBUG RELOAD
        OBJECT ENCODING a
        HGETALL a
        CONFIG SET hash-max-listpack-entries 10
        DEBUG RELOAD
        OBJECT ENCODING a
        HKEYS a
        DEBUG HTSTATS-KEY a
        CONFIG SET hash-max-listpack-entries 512
    """,
    "keys_and_time": """
        HSET a f v
        PEXPIRE a 100
        HSET a g w
        PTTL a
        @101
        HGETALL a
        HSET a f v
        PTTL a
        COPY a b
        RENAME b c
        MOVE c 1
        HGETALL c
        TYPE a
        SCAN 0 TYPE hash
        OBJECT REFCOUNT a
        DEBUG DIGEST-VALUE a b nope
        DEBUG DIGEST
        WATCH a
        b: HSET a f v
        MULTI
        HGET a f
        EXEC
        WATCH a
        b: HDEL a nope
        MULTI
        HGET a f
        HDEL a f
        HDEL a f
        EXEC
    """,
}

SETS = {
    "sadd": """
        SADD a 1 2 3
        SADD a 3 4 4
        SADD a
        SADD a x
        SADD a x
        SADD b x
        SADD b ''
        SADD c -0 00 +1 ' 1' 1.0
        SADD d {max} {min} 0 -1
        SMEMBERS d
        OBJECT ENCODING d
        SADD d 9223372036854775808
        OBJECT ENCODING d
        SMEMBERS a
        SMEMBERS b
        SMEMBERS c
        SMEMBERS nope
        SCARD a
        SCARD nope
        SISMEMBER a 1
        SISMEMBER a 01
        SISMEMBER a nope
        SISMEMBER nope 1
        SMISMEMBER a 1 nope x
        SMISMEMBER nope 1 2
        SMISMEMBER a
        SREM a nope
        SREM a 1 1 2
        SREM nope 1
        SREM a
        SREM a 3 4 x 5
        EXISTS a
    """,
    "wrong_types": """
        SET s v
        HSET t f v
        SADD s 1
        SADD t 1
        SREM s 1
        SISMEMBER s 1
        SMISMEMBER s 1
        SCARD s
        SMEMBERS s
        SPOP s
        SPOP s 0
        SPOP s x
        SPOP s -1
        SPOP s 1 2
        SRANDMEMBER s
        SRANDMEMBER s 0
        SRANDMEMBER s x
        SRANDMEMBER s 1 2
        SSCAN s 0
        SSCAN s x
        SINTER nope s
        SINTER s nope
        SINTERCARD 1 s
        SINTERCARD 2 nope s
        SINTERSTORE d nope s
        SUNION nope s
        SUNIONSTORE d s nope
        SDIFF nope s
        SDIFFSTORE d nope s
        SADD a 1
        SMOVE a s 1
        SMOVE s a 1
        SMOVE nope s 1
        SMOVE a s 2
        SUNIONSTORE s a
        TYPE s
        GET a
        HGET a f
        APPEND a x
    """,
    "intset": """
        SADD a INTS 512
        OBJECT ENCODING a
        SMEMBERS a
        SADD a 600
        OBJECT ENCODING a
        SMEMBERS a
        DEBUG HTSTATS-KEY a
        SREM a INTS 512
        OBJECT ENCODING a
        DEBUG HTSTATS-KEY a
        CONFIG SET set-max-intset-entries 3
        CONFIG GET set-max-intset-entries
        SADD b 3 1 2
        OBJECT ENCODING b
        SADD b 2
        OBJECT ENCODING b
        SADD b 0
        OBJECT ENCODING b
        SMEMBERS b
        CONFIG SET set-max-intset-entries 0
        SADD c 1
        OBJECT ENCODING c
        CONFIG SET set-max-intset-entries 512
        SADD d 1 2 x
        OBJECT ENCODING d
        SREM d x
        OBJECT ENCODING d
        SADD e 100 -100 32767 -32768 32768 -32769 2147483647 2147483648 -2147483649
        SMEMBERS e
        SADD f -5 3 0 -1 -7
        SMEMBERS f
        SRANDMEMBER f 5
        SRANDMEMBER f 9
    """,
    "smove": """
        SADD a 1 2 x
        SADD b 2
        SMOVE a b 1
        SMOVE a b 2
        SMOVE a b 3
        SMOVE a b x
        EXISTS a
        SMEMBERS b
        OBJECT ENCODING b
        SMOVE b b 1
        SMOVE b b nope
        SMOVE nope b 1
        SMOVE nope c 1
        SMOVE b c 1
        SMOVE b d x
        OBJECT ENCODING c
        OBJECT ENCODING d
        SMOVE a b
    """,
    "inter": """
        SADD a 1 2 3 4 5
        SADD b 3 4 5 6 x
        SADD c 4 5 6 7 8 9
        SINTER a b
        SINTER b a
        SINTER a b c
        SINTER a
        SINTER b
        SINTER a a
        SINTER a nope
        SINTER nope
        SINTER
        SINTERCARD 2 a b
        SINTERCARD 2 a b LIMIT 2
        SINTERCARD 2 a b limit 0
        SINTERCARD 2 a b LIMIT 9 LIMIT 1
        SINTERCARD 2 a b LIMIT -1
        SINTERCARD 2 a b LIMIT x
        SINTERCARD 2 a b LIMIT
        SINTERCARD 2 a b FOO
        SINTERCARD 0 a b
        SINTERCARD -1 a b
        SINTERCARD x a b
        SINTERCARD 3 a b
        SINTERCARD {max} a b
        SINTERCARD 1 nope
        SINTERCARD 1
        SINTERSTORE d a b
        SMEMBERS d
        OBJECT ENCODING d
        SINTERSTORE b b b
        OBJECT ENCODING b
        SMEMBERS b
        SINTERSTORE d a nope
        EXISTS d
        SINTERSTORE d a nope
        SET e v EX 100
        SINTERSTORE e a c
        TTL e
        SADD f 100
        SINTERSTORE e a f
        SINTERSTORE e a f
        SINTERSTORE e
    """,
    "union": """
        SADD a 1 2 3
        SADD b 3 x y
        SADD c INTS 600
        SUNION a b
        SUNION b a
        SUNION a a
        SUNION a
        SUNION c b
        SUNION nope
        SUNION nope a nope
        SUNION
        SUNIONSTORE d a b
        SMEMBERS d
        DEBUG HTSTATS-KEY d
        SUNIONSTORE d c
        SMEMBERS d
        DEBUG HTSTATS-KEY d
        SUNIONSTORE a a a
        OBJECT ENCODING a
        SUNIONSTORE a nope
        EXISTS a
        SUNIONSTORE a nope
        SUNIONSTORE d
        SPOP c 600
        SPOP b 100
        EXISTS b c
    """,
    "diff": """
        SADD a 1 2 3 4 5
        SADD b 3 4 x
        SADD c 5
        SDIFF a b
        SDIFF b a
        SDIFF a b c
        SDIFF a
        SDIFF a a
        SDIFF a b a
        SDIFF nope a
        SDIFF a nope
        SDIFF a nope nope nope b
        SDIFF nope
        SDIFF
        SADD d INTS 600
        SADD d x y z
        SADD e INTS 20
        SADD f INTS 590
        SDIFF d e
        SDIFF d e e e e
        SDIFF d f
        SDIFF d f e b c
        SDIFF e d
        SDIFF e d b c a
        SDIFFSTORE g d f
        SMEMBERS g
        DEBUG HTSTATS-KEY g
        SDIFFSTORE g d e a b c
        DEBUG HTSTATS-KEY g
        SMEMBERS g
        SDIFFSTORE g a a
        EXISTS g
        SDIFFSTORE g nope
        SDIFFSTORE a a b
        SMEMBERS a
        SDIFFSTORE g
    """,
    "growing_and_shrinking": """
        SADD a x INTS 5
        DEBUG HTSTATS-KEY a
        SADD a INTS 70
        DEBUG HTSTATS-KEY a
        SMEMBERS a
        SISMEMBER a 1
        SISMEMBER a nope
        DEBUG HTSTATS-KEY a
        SREM a INTS 66
        DEBUG HTSTATS-KEY a
        SMEMBERS a
        SADD a 66 67
        SMEMBERS a
        DEBUG HTSTATS-KEY a
        COPY a b
        SMEMBERS b
        DEBUG HTSTATS-KEY b
        SADD b 1
        SCARD a
        SINTER a b
        DEBUG HTSTATS-KEY nope
        SADD c 1
        DEBUG HTSTATS-KEY c
        SET d v
        DEBUG HTSTATS-KEY d
    """,
    "sscan": """
        SADD a 3 1 2
        SSCAN a 0
        SSCAN a 7 COUNT 1
        SSCAN a 0 MATCH 1
        SSCAN a 0 MATCH [12] COUNT 1
        SSCAN a 0 COUNT 0
        SSCAN a 0 COUNT x
        SSCAN a 0 FOO
        SSCAN a 0 TYPE set
        SSCAN a x
        SSCAN a
        SSCAN nope 0
        SSCAN nope 0 COUNT
        SADD b x INTS 100
        SSCAN b 0
        SSCAN b 64 COUNT 3
        SSCAN b 0 COUNT 1000
        SSCAN b 0 MATCH 1? COUNT 50
        SSCAN b 0 COUNT {max}
        SSCAN b 0 COUNT 1844674407370955162
        SCAN 0 COUNT 1844674407370955162
        SADD b INTS 129
        SSCAN b 64 COUNT 3
        SSCAN b 0 COUNT 1
        SREM b INTS 120
        SSCAN b 0 COUNT 1
        SSCAN b 128 COUNT 2
    """,
    "one_member": """
        SPOP a
        SPOP a 0
        SPOP a 1
        SPOP a x
        SPOP a -1
        SPOP a {min}
        SPOP a 1 2
        SRANDMEMBER a
        SRANDMEMBER a 0
        SRANDMEMBER a -5
        SRANDMEMBER a {min}
        SRANDMEMBER a {max}
        SRANDMEMBER a x
        SADD a 1
        SRANDMEMBER a
        SRANDMEMBER a -3
        SRANDMEMBER a 1
        SRANDMEMBER a 2
        SRANDMEMBER a 0
        SPOP a 0
        SPOP a
        SPOP a
        EXISTS a
        SADD a x
        SRANDMEMBER a -3
        SPOP a 1
        SADD a x y z
        SPOP a 3
        SADD a 3 2 1
        SPOP a 5
        SADD a x
        SPOP a 9
        EXISTS a
    """,
    "reload": """
        SADD a INTS 600
        SADD b 1 2 x
        SREM b x
        SADD c 1 2 3
        SADD d 1 2 3 4 5 6 7 8 x 9 10 11
        DEBUG RELOAD
        OBJECT ENCODING a
        OBJECT ENCODING b
        OBJECT ENCODING d
        SMEMBERS a
        SMEMBERS b
        SMEMBERS d
        DEBUG HTSTATS-KEY d
        SREM a INTS 88
        DEBUG RELOAD
        OBJECT ENCODING a
        CONFIG SET set-max-intset-entries 2
        DEBUG RELOAD
        OBJECT ENCODING a
        OBJECT ENCODING c
        SMEMBERS a
        DEBUG HTSTATS-KEY a
        DEBUG HTSTATS-KEY c
        CONFIG SET set-max-intset-entries 512
    """,
    "keys_and_time": """
        SADD a 1
        PEXPIRE a 100
        SADD a 2
        PTTL a
        SADD b 1
        PEXPIRE b 100
        SUNIONSTORE b a
        PTTL b
        @101
        SMEMBERS a
        SINTER a b
        SINTERSTORE b a b
        TYPE b
        SADD a 1 x
        COPY a b
        RENAME b c
        SCAN 0 TYPE set
        DEBUG DIGEST-VALUE a b c
        DEBUG DIGEST
        SREM a x
        DEBUG DIGEST-VALUE a
        WATCH a
        b: SADD a 1
        MULTI
        SADD a 5
        EXEC
        WATCH a
        b: SREM a 5
        MULTI
        SADD a 6
        EXEC
    """,
}

SCRIPTS = {f"hash_{name}": text for name, text in HASHES.items()} | {
    f"set_{name}": text for name, text in SETS.items()
}
