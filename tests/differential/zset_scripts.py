"""Scripts of sorted-set commands, each about one thing. ``test_zsets.py`` runs them.

The language is that of ``command_scripts.py``, and more: ``SCORED 5`` is ``0 0 1 1 ... 4 4``
(scores and members), ``SAME 5`` is ``0 0 0 1 ... 0 4``, ``INTS 3`` is ``0 1 2``.
"""

from __future__ import annotations

import shlex

# As scores and as ends of ranges: what strtod() takes and refuses, and limits of doubles.
_NUMBERS = """
    0 -0 1 -1 +1 01 1.5 .5 5. 1e2 1E+2 1e-2 0x10 0x1.8p1 0x 0x.8 -0x1p-2 inf +inf
    -inf Infinity
    -INFINITY nan -nan "nan(1)" infi "" " 1" "1 " 1_0 1e 1e+ e1 . - + -- 1,5 x 1x 1e308 1e309
    -1e309 4611686018427387904 4611686018427387905 -4611686018427387904 9e18
    1e-308 1e-323 1e-324 1e-400 0e-400 0x0p-9999 0x1p9999 0x1p-9999 1.7976931348623157e308
    4503599627370495 4503599627370496 4503599627370497 9007199254740993 {max} {min}
    18446744073709551616 0.1 0.3 1.1 2.2 3.3 123456789.123456789 1e15 1e16 1e17 1e18
    12345678901234567
    0.0001 0.00001 0.000012345 1e21 1e22 100000000000000000000000 5e-324 2.2250738585072014e-308
"""


def _each_number(*lines: str) -> str:
    """The lines once for each number, which ``{n}`` stands for."""
    numbers = shlex.split(_NUMBERS)
    return "\n".join(line.replace("{n}", shlex.quote(n)) for n in numbers for line in lines)


ZADD = {
    "zadd": """
        ZADD a 1 x
        ZADD a 2 x 3 y
        ZADD a CH 2 x 4 y 5 z
        ZADD a ch 2 x
        ZADD a NX 9 x 9 n
        ZADD a XX 9 x 9 new
        ZADD a XX CH 8 x 9 new
        ZADD a GT 7 x 10 y
        ZADD a GT CH 7 x 11 y
        ZADD a LT CH 7 x 12 y
        ZADD a GT CH 1 added
        ZADD a XX GT CH 1 nobody
        ZADD a NX CH 1 x 1 q
        ZADD a 1
        ZADD a 1 x 2
        ZADD a NX
        ZADD a NX XX 1 x
        ZADD a GT LT 1 x
        ZADD a GT NX 1 x
        ZADD a LT NX 1 x
        ZADD a GT LT NX XX INCR 1 x 2 y
        ZADD a nx nx 1 x
        ZADD a x 1
        ZADD a 1 x y 2
        ZADD a 1 x nx 2
        ZADD a INCR 1 x 2 y
        ZADD a INCR 1 x
        ZADD a INCR NX 1 x
        ZADD a INCR XX 1 nobody
        ZADD a INCR GT -1 x
        ZADD a INCR LT -1 x
        ZADD a INCR LT 1 x
        ZADD b XX INCR 1 x
        ZADD b XX 1 x
        ZADD b XX y x
        ZADD b GT 1 x
        ZADD b INCR CH 1 x
        EXISTS b
        SET s v
        ZADD s 1 x
        ZADD s x x
        ZADD s XX 1 x
        ZADD
        ZADD a
        ZRANGE a 0 -1 WITHSCORES
    """,
    "zincrby": """
        ZINCRBY a 1 x
        ZINCRBY a 1.5 x
        ZINCRBY a -2.5 x
        ZINCRBY a -0 x
        ZINCRBY a 0 y
        ZINCRBY a -0 z
        ZSCORE a z
        ZINCRBY a nx x
        ZINCRBY a incr 1
        ZINCRBY a x x
        ZINCRBY a 1
        ZINCRBY a 1 x y
        ZINCRBY a inf x
        ZINCRBY a -inf x
        ZINCRBY a 1 x
        ZSCORE a x
        ZADD a INCR -inf x
        ZINCRBY a 0.1 p
        ZINCRBY a 0.2 p
        ZINCRBY a 1e308 q
        ZINCRBY a 1e308 q
        SET s v
        ZINCRBY s 1 x
        ZRANGE a 0 -1 WITHSCORES
    """,
    "numbers": _each_number("ZADD a {n} m", "ZSCORE a m", "ZSCAN a 0", "ZADD a 5 m"),
    "number_ranges": "ZADD a -inf i -1 a 0 b 0.5 c 1 d 16 e inf f\n"
    + _each_number("ZCOUNT a {n} inf", "ZRANGEBYSCORE a -inf {n}", "ZCOUNT a ({n} +inf"),
    "zeros": """
        ZADD a 0 x -0 y
        ZADD a -0 x
        ZADD a CH 0 y
        ZRANGE a 0 -1 WITHSCORES
        ZADD a INCR -0 x
        ZSCORE a y
        ZADD b -0 x
        ZUNIONSTORE c 2 a b
        ZRANGE c 0 -1 WITHSCORES
        ZUNION 2 a b AGGREGATE MIN WITHSCORES
        ZUNION 2 b a AGGREGATE MAX WITHSCORES
        ZINTER 2 a b WEIGHTS -1 1 WITHSCORES
        ZUNION 1 b WEIGHTS 5 WITHSCORES
        ZCOUNT a 0 0
        ZCOUNT a -0 (0
        ZSCAN a 0
    """,
    "zrem": """
        ZREM a x
        ZADD a SCORED 5
        ZREM a x 1 x 1 3
        ZREM a
        ZRANGE a 0 -1
        ZREM a 0 2 4 1
        EXISTS a
        SET s v
        ZREM s v
        ZADD a 1 x
        PEXPIRE a 1000
        ZREM a x y
        ZADD a 1 x
        PTTL a
    """,
}

READING = {
    "scores": """
        ZSCORE a x
        ZMSCORE a x y
        ZMSCORE a
        ZCARD a
        ZADD a 1 x 2.5 y inf z
        ZSCORE a x
        ZSCORE a nobody
        ZSCORE a
        ZSCORE a x y
        ZMSCORE a x nobody z y
        ZCARD a
        ZCARD a a
        SET s v
        ZSCORE s v
        ZMSCORE s v
        ZCARD s
        ZRANK s v
        ZREVRANK s v
        ZCOUNT s 0 1
        ZCOUNT s x 1
        ZLEXCOUNT s - +
        ZLEXCOUNT s x +
        ZRANGE s 0 1
        ZRANGE s x 1
        ZRANGE s 0 1 foo
        ZRANDMEMBER s
        ZRANDMEMBER s 1
        ZSCAN s 0
        ZSCAN s x
        ZPOPMIN s
        ZPOPMAX s 1
        ZMPOP 1 s MIN
        ZREMRANGEBYRANK s 0 1
        ZREMRANGEBYRANK s x 1
    """,
    "ranks": """
        ZRANK a x
        ZREVRANK a x
        ZADD a 1 a 1 b 1 c 2 a2 0 zz
        ZRANK a zz
        ZRANK a a
        ZRANK a b
        ZRANK a a2
        ZRANK a nobody
        ZREVRANK a zz
        ZREVRANK a a2
        ZREVRANK a nobody
        ZRANK a
        ZRANK a x WITHSCORE
    """,
    "ranges": """
        ZADD a SCORED 10
        ZRANGE a 0 -1
        ZRANGE a 0 -1 WITHSCORES
        ZRANGE a 0 -1 withscores withscores
        ZRANGE a -3 -2
        ZRANGE a -100 2
        ZRANGE a 5 100
        ZRANGE a 5 4
        ZRANGE a 10 12
        ZRANGE a -1 -2
        ZRANGE a -100 -50
        ZRANGE a {min} {max}
        ZRANGE a {max} {min}
        ZRANGE a {min} {min}
        ZRANGE a 0 -1 REV
        ZRANGE a 1 3 REV WITHSCORES
        ZRANGE a 0 -1 REV REV
        ZRANGE a 0 -1 LIMIT 0 1
        ZRANGE a 0 -1 LIMIT 0 -1
        ZRANGE a 0 -1 LIMIT 0
        ZRANGE a 0 -1 LIMIT x 1
        ZRANGE a 0 -1 LIMIT 0 x
        ZRANGE a 0 -1 BYSCORE BYLEX
        ZRANGE a 0 -1 BYSCORE BYSCORE
        ZRANGE a 0 -1 BYLEX
        ZRANGE a x y BYLEX WITHSCORES
        ZRANGE a 1.5 3
        ZRANGE a 0 x
        ZRANGE a 0
        ZRANGE nokey 0 -1
        ZRANGE nokey 0 x
        ZRANGE nokey 0 -1 WITHSCORES
        ZREVRANGE a 0 2
        ZREVRANGE a 0 2 WITHSCORES
        ZREVRANGE a 0 2 REV
        ZREVRANGE a 0 2 BYSCORE
        ZREVRANGE a 0 2 LIMIT 0 1
        ZREVRANGE a -2 -1
        ZREVRANGE nokey 0 -1
    """,
    "scores_ranges": """
        ZADD a -inf a -5 b -5 bb 0 c 0 d 1.5 e 2 f 2 g inf h
        ZRANGEBYSCORE a -inf +inf
        ZRANGEBYSCORE a -inf +inf WITHSCORES
        ZRANGEBYSCORE a (-inf (+inf
        ZRANGEBYSCORE a -5 0
        ZRANGEBYSCORE a (-5 0
        ZRANGEBYSCORE a (-5 (0
        ZRANGEBYSCORE a 0 0
        ZRANGEBYSCORE a (0 0
        ZRANGEBYSCORE a 2 1
        ZRANGEBYSCORE a "" ""
        ZRANGEBYSCORE a ( 5
        ZRANGEBYSCORE a " -5" 0
        ZRANGEBYSCORE a "-5 " 0
        ZRANGEBYSCORE a "( -5" 0
        ZRANGEBYSCORE a ((1 0
        ZRANGEBYSCORE a [1 0
        ZRANGEBYSCORE a nan 0
        ZRANGEBYSCORE a 0 nan
        ZRANGEBYSCORE a 1e400 inf
        ZRANGEBYSCORE a inf inf
        ZRANGEBYSCORE a (inf inf
        ZRANGEBYSCORE a -inf -inf
        ZRANGEBYSCORE a -inf (-inf
        ZRANGEBYSCORE a -inf inf LIMIT 0 3
        ZRANGEBYSCORE a -inf inf LIMIT 2 3 WITHSCORES
        ZRANGEBYSCORE a -inf inf WITHSCORES LIMIT 2 3
        ZRANGEBYSCORE a -inf inf LIMIT 2 -1
        ZRANGEBYSCORE a -inf inf LIMIT 2 -5
        ZRANGEBYSCORE a -inf inf LIMIT -1 5
        ZRANGEBYSCORE a -inf inf LIMIT 0 0
        ZRANGEBYSCORE a -inf inf LIMIT 100 5
        ZRANGEBYSCORE a 0 2 LIMIT 4 5
        ZRANGEBYSCORE a 0 2 LIMIT 5 5
        ZRANGEBYSCORE a 0 2 LIMIT {max} {max}
        ZRANGEBYSCORE a 0 2 LIMIT 1 {max}
        ZRANGEBYSCORE a 0 2 LIMIT 1
        ZRANGEBYSCORE a 0 2 LIMIT 0 1 LIMIT 1 1
        ZRANGEBYSCORE a 0 2 REV
        ZRANGEBYSCORE a 0 2 BYSCORE
        ZREVRANGEBYSCORE a +inf -inf
        ZREVRANGEBYSCORE a 2 (0 WITHSCORES
        ZREVRANGEBYSCORE a 2 0 LIMIT 1 2
        ZREVRANGEBYSCORE a 0 2
        ZRANGE a (0 2 BYSCORE WITHSCORES
        ZRANGE a 2 0 BYSCORE REV LIMIT 0 2
        ZRANGE a 0 2 BYSCORE REV
        ZRANGE a 0 2 BYSCORE LIMIT 0 -1
        ZCOUNT a -inf inf
        ZCOUNT a (0 2
        ZCOUNT a 2 0
        ZCOUNT a x 0
        ZCOUNT a 0
        ZCOUNT nokey 0 1
        ZRANGEBYSCORE nokey 0 1
        ZRANGEBYSCORE nokey 0 1 WITHSCORES LIMIT 0 1
    """,
    "lex_ranges": """
        ZADD a 0 alpha 0 bar 0 cool 0 down 0 elephant 0 foo 0 great 0 hill 0 omega 0 ""
        ZRANGEBYLEX a - +
        ZRANGEBYLEX a + -
        ZRANGEBYLEX a - -
        ZRANGEBYLEX a + +
        ZRANGEBYLEX a - [cool
        ZRANGEBYLEX a [bar [down
        ZRANGEBYLEX a (bar (down
        ZRANGEBYLEX a [ [
        ZRANGEBYLEX a ( [a
        ZRANGEBYLEX a - (
        ZRANGEBYLEX a (az (b
        ZRANGEBYLEX a [omega +
        ZRANGEBYLEX a (omega +
        ZRANGEBYLEX a [zz +
        ZRANGEBYLEX a (bar (bar
        ZRANGEBYLEX a [bar (bar
        ZRANGEBYLEX a [bar [bar
        ZRANGEBYLEX a [foo [bar
        ZRANGEBYLEX a foo +
        ZRANGEBYLEX a -x +
        ZRANGEBYLEX a - +x
        ZRANGEBYLEX a - 5
        ZRANGEBYLEX a - ""
        ZRANGEBYLEX a - + LIMIT 0 3
        ZRANGEBYLEX a - + LIMIT 3 2
        ZRANGEBYLEX a - + LIMIT 3 -2
        ZRANGEBYLEX a - + LIMIT -1 2
        ZRANGEBYLEX a - + LIMIT 20 2
        ZRANGEBYLEX a - + WITHSCORES
        ZRANGEBYLEX a - + REV
        ZREVRANGEBYLEX a + -
        ZREVRANGEBYLEX a [foo (alpha
        ZREVRANGEBYLEX a [foo (alpha LIMIT 1 2
        ZREVRANGEBYLEX a - +
        ZRANGE a [b [d BYLEX
        ZRANGE a [d [b BYLEX REV
        ZRANGE a + - BYLEX REV LIMIT 2 3
        ZRANGE a - + BYLEX WITHSCORES
        ZLEXCOUNT a - +
        ZLEXCOUNT a [bar [down
        ZLEXCOUNT a (bar (down
        ZLEXCOUNT a + -
        ZLEXCOUNT a x +
        ZLEXCOUNT nokey - +
        ZRANGEBYLEX nokey - +
        ZREMRANGEBYLEX a [bar (down
        ZREMRANGEBYLEX a x y
        ZREMRANGEBYLEX a + -
        ZRANGE a 0 -1
        ZREMRANGEBYLEX a - +
        EXISTS a
    """,
    "lex_of_mixed_scores": """
        ZADD a 1 d 2 b 3 z 4 a 5 m 6 c 7 k
        ZRANGEBYLEX a - +
        ZRANGEBYLEX a - [d
        ZRANGEBYLEX a [c +
        ZRANGEBYLEX a [b [m
        ZRANGEBYLEX a (d (k
        ZREVRANGEBYLEX a + -
        ZREVRANGEBYLEX a [m [b
        ZREVRANGEBYLEX a + [b
        ZREVRANGEBYLEX a [k -
        ZLEXCOUNT a [b [m
        ZLEXCOUNT a - [d
        ZREMRANGEBYLEX a [b [m
        ZRANGE a 0 -1
    """,
    "zremrange": """
        ZADD a SCORED 20
        ZREMRANGEBYRANK a 0 1
        ZREMRANGEBYRANK a -2 -1
        ZREMRANGEBYRANK a 5 4
        ZREMRANGEBYRANK a 50 60
        ZREMRANGEBYRANK a x 1
        ZREMRANGEBYRANK a 0
        ZREMRANGEBYSCORE a 5 7
        ZREMRANGEBYSCORE a (10 (12
        ZREMRANGEBYSCORE a 7 5
        ZREMRANGEBYSCORE a x 5
        ZREMRANGEBYSCORE a 100 inf
        ZRANGE a 0 -1
        ZREMRANGEBYSCORE a -inf inf
        EXISTS a
        ZREMRANGEBYSCORE a -inf inf
        ZADD a SCORED 3
        ZREMRANGEBYRANK a 0 -1
    """,
    "zrangestore": """
        ZADD a SCORED 10
        ZRANGESTORE b a 0 -1
        ZRANGESTORE b a 2 4
        ZRANGE b 0 -1 WITHSCORES
        ZRANGESTORE b a (2 4 BYSCORE
        ZRANGESTORE b a 4 (2 BYSCORE REV LIMIT 0 1
        ZRANGE b 0 -1 WITHSCORES
        ZRANGESTORE b a [2 [5 BYLEX
        ZRANGE b 0 -1 WITHSCORES
        ZRANGESTORE b a 0 -1 WITHSCORES
        ZRANGESTORE b a 0 -1 LIMIT 0 1
        ZRANGESTORE b a 0 2 REV
        ZRANGE b 0 -1
        ZRANGESTORE b a 5 4
        EXISTS b
        ZRANGESTORE b a 5 4
        ZADD b 1 x
        ZRANGESTORE b nokey 0 -1
        EXISTS b
        SET s v
        ZRANGESTORE b s 0 -1
        ZRANGESTORE s a 0 -1
        TYPE s
        ZRANGESTORE a a 0 2
        PEXPIRE a 5000
        ZRANGESTORE a a 0 1
        PTTL a
        ZRANGESTORE a a 0
        ZRANGESTORE
        CONFIG SET zset-max-ziplist-entries 2
        ZADD c SCORED 5
        ZRANGESTORE b c 0 1
        OBJECT ENCODING b
        ZRANGESTORE b c 0 2
        OBJECT ENCODING b
        ZRANGESTORE b c 0 2 BYSCORE
        OBJECT ENCODING b
        ZRANGESTORE b c 1 0 BYSCORE REV
        OBJECT ENCODING b
        CONFIG SET zset-max-listpack-entries 128
    """,
    "zscan": """
        ZADD a 1 one 2.5 two -0 three inf four
        ZSCAN a 0
        ZSCAN a 5 COUNT 1
        ZSCAN a 0 MATCH t*
        ZSCAN a 0 COUNT 0
        ZSCAN a 0 TYPE zset
        ZSCAN a x
        ZSCAN a 0 MATCH
        ZSCAN nokey 0
        ZSCAN nokey x
        ZADD b SCORED 300
        ZSCAN b 0
        ZSCAN b 0 COUNT 3
        ZSCAN b 64 COUNT 20 MATCH *1*
        ZSCAN b 0 COUNT 1000
    """,
    "zrandmember": """
        ZRANDMEMBER a
        ZRANDMEMBER a 3
        ZRANDMEMBER a 3 WITHSCORES
        ZADD a 1 only
        ZRANDMEMBER a
        ZRANDMEMBER a 1
        ZRANDMEMBER a -3
        ZRANDMEMBER a -3 WITHSCORES
        ZRANDMEMBER a 1 WITHSCORES
        ZADD a SCORED 5
        ZRANDMEMBER a 0
        ZRANDMEMBER a 100
        ZRANDMEMBER a 6
        ZRANDMEMBER a 100 withscores
        ZRANDMEMBER a 100 foo
        ZRANDMEMBER a 100 WITHSCORES foo
        ZRANDMEMBER a x
        ZRANDMEMBER a x foo
        ZRANDMEMBER a {min}
        ZRANDMEMBER a {max} WITHSCORES
        ZRANDMEMBER a -{max} WITHSCORES
        ZRANDMEMBER a 4611686018427387903 WITHSCORES
        ZADD b SCORED 200
        ZRANDMEMBER b 200 WITHSCORES
    """,
}

ENCODINGS = {
    "entries": """
        CONFIG SET zset-max-listpack-entries 3
        ZADD a SCORED 3
        OBJECT ENCODING a
        ZADD a 5 0
        OBJECT ENCODING a
        ZADD a 5 four
        OBJECT ENCODING a
        ZREM a four 0 1
        OBJECT ENCODING a
        ZADD b SCORED 4
        OBJECT ENCODING b
        CONFIG SET zset-max-ziplist-entries 0
        ZADD c 1 x
        OBJECT ENCODING c
        CONFIG GET zset-max-ziplist-entries
        CONFIG SET zset-max-listpack-entries 128
        ZADD d SCORED 128
        OBJECT ENCODING d
        ZINCRBY d 1 another
        OBJECT ENCODING d
        ZCARD d
    """,
    "sizes": """
        ZADD a 1 {64}
        OBJECT ENCODING a
        ZADD a 1 {65}
        OBJECT ENCODING a
        ZADD b 1 {65}
        OBJECT ENCODING b
        CONFIG SET zset-max-ziplist-value 2
        ZADD c 1 abc
        OBJECT ENCODING c
        ZADD d 1 ab
        ZADD d XX 1 abc
        OBJECT ENCODING d
        ZADD d 1 abc
        OBJECT ENCODING d
        CONFIG SET zset-max-listpack-value 64
    """,
    "copies_and_reloads": """
        ZADD a SCORED 200
        COPY a b
        DEBUG HTSTATS-KEY b
        ZSCAN b 0 COUNT 30
        ZREMRANGEBYRANK a 100 -1
        OBJECT ENCODING a
        COPY a c
        OBJECT ENCODING c
        DEBUG RELOAD
        OBJECT ENCODING a
        OBJECT ENCODING b
        ZSCAN b 0 COUNT 30
        DEBUG HTSTATS-KEY b
        DEBUG HTSTATS-KEY a
        ZADD d SCORED 5
        CONFIG SET zset-max-listpack-entries 4
        CONFIG SET zset-max-listpack-value 0
        DEBUG RELOAD
        OBJECT ENCODING d
        ZRANGE d 0 -1 WITHSCORES
        OBJECT ENCODING a
        CONFIG SET zset-max-listpack-entries 128
        CONFIG SET zset-max-listpack-value 64
        DEBUG RELOAD
        OBJECT ENCODING d
        COPY a d REPLACE
        RENAME a z
        DEBUG DIGEST
        DEBUG DIGEST-VALUE a b c d
    """,
    "rehashing": """
        ZADD a SCORED 129
        DEBUG HTSTATS-KEY a
        ZSCORE a 1
        ZSCORE a 2
        DEBUG HTSTATS-KEY a
        ZADD a 1 x 1 y 1 z
        DEBUG HTSTATS-KEY a
        ZSCAN a 0 COUNT 100
        ZREMRANGEBYSCORE a 10 inf
        DEBUG HTSTATS-KEY a
        ZREM a x
        ZPOPMIN a 3
        ZRANK a 5
        ZREVRANK a 5
        ZINCRBY a 3 5
        DEBUG HTSTATS-KEY a
        ZSCAN a 0 COUNT 100
    """,
}

POPPING = {
    "zpop": """
        ZPOPMIN a
        ZPOPMAX a 3
        ZPOPMIN a x
        ZPOPMIN a -1
        ZPOPMIN a 1 2
        ZPOPMIN
        ZADD a SCORED 10
        ZPOPMIN a
        ZPOPMAX a
        ZPOPMIN a 1
        ZPOPMAX a 2
        ZPOPMIN a 0
        ZPOPMIN a -1
        ZPOPMAX a {max}
        EXISTS a
        ZADD a 1 x 1 y
        ZPOPMIN a 2
        EXISTS a
    """,
    "zmpop": """
        ZMPOP 1 a MIN
        ZMPOP 2 a b MAX COUNT 3
        ZADD b SCORED 5
        ZMPOP 2 a b MIN
        ZMPOP 2 a b MAX COUNT 2
        ZMPOP 2 a b min count 100
        ZMPOP 2 a b MIN
        ZMPOP 0 a MIN
        ZMPOP -1 a MIN
        ZMPOP x a MIN
        ZMPOP 1 a
        ZMPOP 2 a MIN
        ZMPOP 1 a MIN COUNT
        ZMPOP 1 a MIN COUNT 0
        ZMPOP 1 a MIN COUNT x
        ZMPOP 1 a MIN COUNT -1
        ZMPOP 1 a MIN COUNT 1 COUNT 1
        ZMPOP 1 a MIN COUNT x foo
        ZMPOP 1 a MIN foo
        ZMPOP 1 a MIN foo 1
        ZMPOP 1 a MID
        ZMPOP {max} a MIN
        SET s v
        ZADD b 1 x
        ZMPOP 2 s b MIN
        ZMPOP 2 b s MIN
        ZMPOP 2 b s MIN
    """,
}

COMBINING = {
    "errors": """
        ZUNION 0 a
        ZUNION -1 a
        ZUNION x a
        ZUNION 2 a
        ZUNIONSTORE c 0 a
        ZINTERSTORE c 0 a
        ZDIFFSTORE c 0 a
        ZINTERCARD 0 a
        ZDIFF 0 a
        ZUNION 1 a WEIGHTS
        ZUNION 2 a b WEIGHTS 1
        ZUNION 2 a b WEIGHTS 1 x
        ZUNION 2 a b WEIGHTS 1 nan
        ZUNION 2 a b WEIGHTS 1 2 3
        ZUNION 1 a AGGREGATE
        ZUNION 1 a AGGREGATE avg
        ZUNION 1 a AGGREGATE sum AGGREGATE MIN
        ZUNION 1 a WITHSCORES WITHSCORES
        ZUNION 1 a foo
        ZUNIONSTORE c 1 a WITHSCORES
        ZDIFF 1 a WEIGHTS 1
        ZDIFF 1 a AGGREGATE SUM
        ZDIFF 1 a WITHSCORES
        ZDIFFSTORE c 1 a WITHSCORES
        ZINTERCARD 1 a WITHSCORES
        ZINTERCARD 1 a LIMIT
        ZINTERCARD 1 a LIMIT x
        ZINTERCARD 1 a LIMIT -1
        ZINTERCARD 1 a WEIGHTS 1
        ZINTERCARD 1 a AGGREGATE SUM
        SET s v
        ZUNION 2 a s foo
        ZUNION 3 a s foo
        ZINTER 2 s a
        ZDIFF 2 a s
        ZUNIONSTORE c 2 a s
        ZUNIONSTORE s 1 a
        EXISTS s
        ZUNION {max} a
    """,
    "sets_and_sorted_sets": """
        SADD s1 1 2 3 4
        SADD s2 x y 2 3
        ZADD a 1 1 2 2 3 3 10 x
        ZADD b 5 2 6 x 7 q
        ZUNION 2 s1 a WITHSCORES
        ZUNION 4 s1 s2 a b WITHSCORES
        ZUNION 4 s1 s2 a b WEIGHTS 1 2 3 4 WITHSCORES
        ZUNION 2 a b AGGREGATE MIN WITHSCORES
        ZUNION 2 a b AGGREGATE MAX WEIGHTS -1 -2 WITHSCORES
        ZUNION 2 a b
        ZINTER 3 s2 a b WITHSCORES
        ZINTER 2 s1 a WEIGHTS 2 3 AGGREGATE MAX WITHSCORES
        ZINTER 2 a a WITHSCORES
        ZINTER 2 a nokey
        ZDIFF 2 a b WITHSCORES
        ZDIFF 2 a s1
        ZDIFF 2 s1 a
        ZDIFF 2 a a
        ZDIFF 3 a nokey b
        ZDIFF 1 nokey
        ZDIFF 2 nokey a
        ZINTERCARD 2 a s1
        ZINTERCARD 2 a s1 LIMIT 2
        ZINTERCARD 2 a s1 LIMIT 0
        ZINTERCARD 2 a s1 LIMIT 100
        ZINTERCARD 2 a nokey
        ZUNIONSTORE c 4 s1 s2 a b
        ZRANGE c 0 -1 WITHSCORES
        OBJECT ENCODING c
        ZINTERSTORE c 2 a b AGGREGATE MIN
        ZRANGE c 0 -1 WITHSCORES
        ZDIFFSTORE c 2 a b
        ZRANGE c 0 -1 WITHSCORES
        ZDIFFSTORE c 2 a a
        EXISTS c
        ZINTERSTORE c 2 a nokey
        ZUNIONSTORE a 2 a b
        ZRANGE a 0 -1 WITHSCORES
        ZUNIONSTORE s1 1 s1
        TYPE s1
    """,
    "infinities": """
        ZADD a inf x -inf y 0 z
        ZADD b -inf x inf y 0 z
        ZUNION 2 a b WITHSCORES
        ZUNION 2 a b WEIGHTS 0 1 WITHSCORES
        ZUNION 2 a b WEIGHTS inf 0 WITHSCORES
        ZUNION 2 a b WEIGHTS inf inf AGGREGATE MIN WITHSCORES
        ZINTER 2 a b WITHSCORES
        ZINTER 2 a b WEIGHTS 0 0 WITHSCORES
        ZINTER 2 a b WEIGHTS inf 0 AGGREGATE MAX WITHSCORES
        ZINTER 2 a b WEIGHTS 1 0 AGGREGATE MIN WITHSCORES
        ZADD c 1e308 x
        ZUNION 1 c WEIGHTS 1e10 WITHSCORES
        ZUNION 2 c c WITHSCORES
    """,
    "large_results": """
        ZADD a SCORED 150
        ZADD b SAME 100
        SADD s1 INTS 200
        ZUNIONSTORE c 2 a b
        OBJECT ENCODING c
        DEBUG HTSTATS-KEY c
        ZSCAN c 0 COUNT 40
        ZINTERSTORE c 2 a b
        OBJECT ENCODING c
        ZINTERSTORE c 2 a s1
        OBJECT ENCODING c
        ZSCAN c 0 COUNT 40
        DEBUG HTSTATS-KEY c
        ZDIFFSTORE c 2 s1 b
        OBJECT ENCODING c
        CONFIG SET zset-max-listpack-entries 2
        ZDIFFSTORE c 2 s1 b
        ZSCAN c 0 COUNT 40
        DEBUG HTSTATS-KEY c
        ZADD d 1 3 1 7
        ZADD e 1 9
        ZDIFFSTORE c 3 b d e
        ZSCAN c 0 COUNT 40
        DEBUG HTSTATS-KEY c
        ZDIFFSTORE c 5 a b d e s2
        DEBUG HTSTATS-KEY c
        ZSCAN c 0 COUNT 40
        ZUNIONSTORE c 3 d a e
        DEBUG HTSTATS-KEY c
        ZSCAN c 0 COUNT 40
        ZDIFFSTORE c 3 a s1 b
        CONFIG SET zset-max-listpack-entries 128
        ZUNIONSTORE c 1 d
        OBJECT ENCODING c
        ZADD d 1 {65}
        ZUNIONSTORE c 1 d
        OBJECT ENCODING c
    """,
}

SCRIPTS = {**ZADD, **READING, **ENCODINGS, **POPPING, **COMBINING}
