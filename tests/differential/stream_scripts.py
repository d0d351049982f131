"""Scripts about streams, in the language of ``command_scripts.py``."""

from __future__ import annotations

STREAMS = {
    "xadd": """
        XADD a * f v
        XADD a * f v
        XADD a * f v g w
        @5
        XADD a * f w
        XLEN a
        XADD a 1-1 f v
        XADD a 0-0 f v
        XADD a 0 f v
        XADD a * f
        XADD a * f v g
        XADD a x f v
        XADD a - f v
        XADD a + f v
        XADD a $ f v
        XADD a 1-x f v
        XADD a -1 f v
        XADD a 1- f v
        XADD a '' f v
        XADD a 18446744073709551616 f v
        XADD a 18446744073709551615-18446744073709551616 f v
        XADD b 0-* f v
        XADD b 0-* f v
        XADD b 5-* f v
        XADD b 5-* f v
        XADD b 5-5 f v
        XADD b 6 f v
        XADD b 6 f v
        XADD b 007-1 f v
        XADD b 7-+8 f v
        XADD b 7--1 f v
        XADD b 7--05 f v
        XADD b ' 8' f v
        XADD b '8 ' f v
        XADD b {now}-* f v
        XADD b * f v
        XADD c 1-18446744073709551615 f v
        XADD c 1-* f v
        XADD c 18446744073709551615-18446744073709551614 f v
        XADD c * f v
        XADD c * f v
        XADD c 1-1 f v
        XADD d NOMKSTREAM * f v
        XADD d NOMKSTREAM NOMKSTREAM 1-* f v
        XADD d nomkstream MAXLEN 5 * f v
        EXISTS d
        XADD d MAXLEN 2 1-1 f v
        XADD d MAXLEN 2 1-2 f v
        XADD d MAXLEN = 2 1-3 f v
        XADD d NOMKSTREAM MAXLEN 2 1-4 f v
        XRANGE d - +
        XADD d MAXLEN 2
        XADD d MAXLEN 2 *
        XADD d MAXLEN
        XADD d MAXLEN x * f v
        XADD d MAXLEN -1 * f v
        XADD d MAXLEN 1 MAXLEN 1 * f v
        XADD d MAXLEN 1 MINID 1 * f v
        XADD d MINID 1-4 2-1 f v
        XRANGE d - +
        XADD d MINID x * f v
        XADD d MINID - * f v
        XADD d LIMIT 1 * f v
        XADD d LIMIT 0 3-1 f v
        XADD d MAXLEN 1 LIMIT 1 * f v
        XADD d MAXLEN ~ 1 LIMIT -1 * f v
        XADD d MAXLEN ~ 1 LIMIT x * f v
        XADD d MAXLEN ~ 1 LIMIT 5 4-1 f v
        XADD d MAXLEN 0 5-1 f v
        XRANGE d - +
        XINFO STREAM d
        XADD d FOO * f v
        SET a x
        XADD a * f v
        XLEN a
        XRANGE a - +
        XDEL a 1
        XTRIM a MAXLEN 1
        XSETID a 1
        XLEN nope
        OBJECT ENCODING d
        TYPE d
    """,
    "xrange": """
        XADD a 1-1 f 1
        XADD a 1-2 f 2
        XADD a 2-0 f 3 g 4
        XADD a 3-5 f 5
        XRANGE a - +
        XREVRANGE a + -
        XRANGE a 1 1
        XRANGE a 1-2 2
        XRANGE a (1-1 (3-5
        XRANGE a (1 +
        XREVRANGE a (3-5 (1-1
        XRANGE a (- +
        XRANGE a - (+
        XRANGE a (18446744073709551615-18446744073709551615 +
        XRANGE a (18446744073709551615 +
        XRANGE a - (0-0
        XRANGE a - (0
        XRANGE a ( +
        XRANGE a x +
        XRANGE a - x
        XRANGE a + -
        XRANGE a 5 1
        XREVRANGE a 1 5
        XRANGE a - + COUNT 2
        XRANGE a - + COUNT 0
        XRANGE a - + COUNT -1
        XRANGE a - + COUNT x
        XRANGE a - + COUNT
        XRANGE a - + COUNT 1 COUNT 3
        XRANGE a - + FOO 1
        XRANGE nope - + COUNT 0
        XRANGE nope x +
        XREVRANGE a + - COUNT 1
        XRANGE a -
        XDEL a 1-2
        XDEL a 1-2
        XDEL a 1-1 2-0 9-9
        XDEL a x
        XDEL nope x
        XRANGE a - +
        XINFO STREAM a
        XDEL a 3-5
        XLEN a
        EXISTS a
        XINFO STREAM a
        XADD a 3-5 f v
        XADD a 3-6 f v
        XINFO STREAM a
        COPY a b
        XINFO STREAM b FULL
        RENAME b c
        XLEN c
        DEL a
        XADD a MAXLEN ~ 5 * f v
    """,
    "xtrim": """
        CONFIG SET stream-node-max-entries 3
        XADD a 1 f v
        XADD a 2 f v
        XADD a 3 f v
        XADD a 4 f v
        XADD a 5 f v
        XADD a 6 f v
        XADD a 7 f v
        XINFO STREAM a
        XTRIM a MAXLEN ~ 5
        XTRIM a MAXLEN ~ 4
        XTRIM a MAXLEN ~ 4 LIMIT 1
        XTRIM a MAXLEN 2
        XINFO STREAM a
        XTRIM a MINID ~ 7
        XTRIM a MINID 7
        XINFO STREAM a FULL
        XTRIM a MAXLEN ~ 0
        XINFO STREAM a
        XADD a 8 f v
        XADD a 9 f v
        XADD a 10 f v
        XDEL a 10
        XADD a 11 f v
        XTRIM a MINID 10
        XINFO STREAM a
        XTRIM a MAXLEN
        XTRIM a FOO 1
        XTRIM a LIMIT 1
        XTRIM a LIMIT 0
        XTRIM a MAXLEN 1 LIMIT 1
        XTRIM a MAXLEN = 1 LIMIT 0
        XTRIM a MAXLEN ~
        XTRIM a MAXLEN ~ x
        XTRIM a MAXLEN 1 MINID 1
        XTRIM a MINID
        XTRIM a 1
        XTRIM a * MAXLEN 1
        XTRIM nope MAXLEN 1
        XADD b 5 f v
        XADD b 6 f v
        XADD b 7 f v
        XDEL b 7
        XTRIM b MINID 7
        XINFO STREAM b
        XSETID b 6
        XADD b 6-1 f v
        XINFO STREAM b
        XRANGE b - +
        XRANGE b 6 +
        XREVRANGE b 6-5 -
        XDEL b 6-1
        XINFO STREAM b
        CONFIG SET stream-node-max-entries 100
        CONFIG SET stream-node-max-bytes 60
        XADD c 1 field value
        XADD c 2 field value
        XADD c 3 field value
        XADD c 4 field 12
        XADD c 5 field 1
        XINFO STREAM c
        CONFIG SET stream-node-max-bytes 4096
    """,
    "xsetid": """
        XSETID a 1
        XADD a 5-5 f v
        XSETID a 5-4
        XSETID a 6
        XINFO STREAM a
        XSETID a 7-1 ENTRIESADDED 100
        XSETID a 7-1 ENTRIESADDED 0
        XSETID a 7-1 ENTRIESADDED -1
        XSETID a 7-1 ENTRIESADDED x
        XSETID a 7-1 MAXDELETEDID 7-2
        XSETID a 7-1 MAXDELETEDID 7-0 ENTRIESADDED 50
        XSETID a 7-1 MAXDELETEDID
        XSETID a 7-1 FOO 1
        XSETID a -
        XSETID a x
        XSETID a
        XINFO STREAM a
        XADD a * f v
        XDEL a 5-5
    """,
    "xread": """
        XREAD STREAMS a 0
        XADD a 1 f v
        XADD a 2 f v
        XADD b 1 g w
        XREAD STREAMS a 0
        XREAD STREAMS a b 0 0
        XREAD STREAMS a a 0 1
        XREAD COUNT 1 STREAMS a b 0 0
        XREAD COUNT 0 STREAMS a 0
        XREAD COUNT -5 STREAMS a 0
        XREAD COUNT x STREAMS a 0
        XREAD STREAMS a $
        XREAD STREAMS a b $ 0
        XREAD STREAMS a 2
        XREAD STREAMS a 1-5
        XREAD STREAMS a +
        XREAD STREAMS a -
        XREAD STREAMS a >
        XREAD STREAMS a
        XREAD STREAMS a b 0
        XREAD COUNT 1
        XREAD COUNT 1 STREAMS
        XREAD FOO STREAMS a 0
        XREAD BLOCK x STREAMS a 0
        XREAD BLOCK -1 STREAMS a 0
        XREAD BLOCK 1.5 STREAMS a 0
        XREAD BLOCK 10 STREAMS a 0
        XREAD GROUP g c STREAMS a 0
        XREAD NOACK STREAMS a 0
        XREAD streams nope 0
        XREAD STREAMS a 18446744073709551615-18446744073709551615
        XDEL a 2
        XREAD STREAMS a 1
        SET c x
        XREAD STREAMS a c 0 0
        XREADGROUP STREAMS a b c 1 2 3
        COMMAND GETKEYS XREAD COUNT 1 STREAMS a b 0 0
        COMMAND GETKEYS XREADGROUP GROUP g c COUNT 1 STREAMS a b > >
        COMMAND GETKEYS XREAD COUNT 1 STREAMS a b 0
    """,
    "xgroup": """
        XGROUP CREATE a g $
        XGROUP CREATE a g x MKSTREAM
        XGROUP CREATE a g - MKSTREAM
        EXISTS a
        XGROUP CREATE a g $ MKSTREAM
        XGROUP CREATE a g $ MKSTREAM
        XGROUP CREATE a h 5-1 MKSTREAM ENTRIESREAD 7
        XGROUP CREATE a i 0 ENTRIESREAD -1
        XGROUP CREATE a j 0 ENTRIESREAD -2
        XGROUP CREATE a j 0 ENTRIESREAD x
        XGROUP CREATE a j 0 ENTRIESREAD
        XGROUP CREATE a j 0 FOO
        XGROUP CREATE a j 0 MKSTREAM MKSTREAM MKSTREAM MKSTREAM
        XGROUP CREATE a
        XGROUP FOO a g
        XGROUP SETID a g 3
        XGROUP SETID a g $
        XGROUP SETID a g -
        XGROUP SETID a g +
        XGROUP SETID a g x
        XGROUP SETID a g 3 MKSTREAM
        XGROUP SETID a g 3 ENTRIESREAD 2
        XGROUP SETID a nope 3
        XGROUP SETID nope g 3
        XGROUP CREATECONSUMER a g c1
        XGROUP CREATECONSUMER a g c1
        XGROUP CREATECONSUMER a nope c1
        XGROUP CREATECONSUMER nope g c1
        XGROUP DELCONSUMER a g c1
        XGROUP DELCONSUMER a g c1
        XGROUP DELCONSUMER a nope c1
        XGROUP DESTROY a nope
        XGROUP DESTROY a i
        XGROUP DESTROY nope i
        XINFO GROUPS a
        XINFO STREAM a FULL
        XINFO CONSUMERS a g
        XINFO CONSUMERS a nope
        XINFO CONSUMERS nope g
        XINFO GROUPS nope
        XINFO STREAM nope
        XINFO STREAM a FOO
        XINFO STREAM a FULL COUNT
        XINFO STREAM a FULL COUNT x
        XINFO STREAM a FULL COUNT -1
        XINFO STREAM a FULL FOO 1
        XINFO FOO a
        XINFO STREAM
        SET b x
        XGROUP CREATE b g $
        XGROUP CREATE b g $ MKSTREAM
        XGROUP DESTROY b g
        XINFO STREAM b
        XACK b g 1
        XPENDING b g
        XCLAIM b g c 0 1
        XAUTOCLAIM b g c 0 1
        XREADGROUP GROUP g c STREAMS b >
    """,
    "readgroup": """
        XADD a 1 f v
        XADD a 2 f v
        XADD a 3 f v
        XGROUP CREATE a g 0
        XREADGROUP GROUP g c1 COUNT 1 STREAMS a >
        XREADGROUP GROUP g c1 STREAMS a 0
        @7
        XREADGROUP GROUP g c1 STREAMS a 0
        XREADGROUP GROUP g c2 COUNT 1 NOACK STREAMS a >
        XREADGROUP GROUP g c2 STREAMS a 0
        XINFO STREAM a FULL
        XREADGROUP GROUP g c2 STREAMS a >
        XREADGROUP GROUP g c3 STREAMS a >
        XREADGROUP GROUP g c3 NOACK STREAMS a 0
        XINFO CONSUMERS a g
        XINFO GROUPS a
        XPENDING a g
        XPENDING a g - + 10
        XPENDING a g - + 10 c2
        XPENDING a g - + 10 nope
        XPENDING a g (1 + 1
        XPENDING a g + - 1
        XPENDING a g - + -1
        XPENDING a g - +
        XPENDING a g IDLE 5 - + 10
        XPENDING a g IDLE 0 - + 10 c2
        XPENDING a g IDLE 5 - +
        XPENDING a g IDLE x - + 10
        XPENDING a g - + x
        XPENDING a g x + 1
        XPENDING a g (18446744073709551615-18446744073709551615 + 1
        XPENDING a nope
        XPENDING nope g
        XPENDING a g - + 1 2 3 4
        XDEL a 1
        XREADGROUP GROUP g c1 STREAMS a 0
        XREADGROUP GROUP g c1 STREAMS a 1
        XACK a g 1 3 3 9
        XACK a g x
        XACK a nope x
        XACK nope g 1
        XPENDING a g
        XREADGROUP GROUP nope c STREAMS a >
        XREADGROUP GROUP g c STREAMS nope >
        XREADGROUP GROUP g c STREAMS a $
        XREADGROUP GROUP g c STREAMS a -
        XREADGROUP COUNT 1 NOACK STREAMS a a > >
        XREADGROUP GROUP g c FOO STREAMS a >
        XGROUP SETID a g 0
        XREADGROUP GROUP g c2 COUNT 1 STREAMS a >
        XREADGROUP GROUP g c1 STREAMS a >
        XINFO STREAM a FULL COUNT 1
        XINFO STREAM a FULL COUNT 0
        XADD b 1 f v
        XGROUP CREATE b g 0
        XREADGROUP GROUP g c STREAMS a b > >
        XREADGROUP GROUP g c STREAMS a b 0 0
        XREADGROUP GROUP g c STREAMS b b > >
        XGROUP DELCONSUMER a g c1
        XPENDING a g
        COPY a d
        XINFO STREAM d FULL
        XREADGROUP GROUP g c9 STREAMS d >
        XINFO GROUPS a
    """,
    "xclaim": """
        XADD a 1 f v
        XADD a 2 f v
        XADD a 3 f v
        XADD a 4 f v
        XGROUP CREATE a g 0
        XREADGROUP GROUP g c1 COUNT 3 STREAMS a >
        @50
        XCLAIM a g c2 100 1
        XCLAIM a g c2 10 1
        XCLAIM a g c2 0 1 2 9 JUSTID
        XPENDING a g - + 10
        XCLAIM a g c3 0 1 IDLE 20
        XCLAIM a g c3 0 1 TIME 5
        XCLAIM a g c3 0 1 TIME -1
        XCLAIM a g c3 0 1 TIME {max}
        XCLAIM a g c3 0 1 IDLE {min}
        XCLAIM a g c3 0 1 IDLE {max}
        XCLAIM a g c3 0 1 RETRYCOUNT 7
        XCLAIM a g c3 0 1 RETRYCOUNT -7
        XPENDING a g - + 10
        XCLAIM a g c4 0 4
        XCLAIM a g c4 1000 4 FORCE
        XCLAIM a g c4 0 4 FORCE JUSTID
        XCLAIM a g c4 0 7 FORCE
        XPENDING a g - + 10
        XINFO GROUPS a
        XCLAIM a g c4 0 9 LASTID 2
        XCLAIM a g c4 0 9 LASTID 8
        XINFO GROUPS a
        XCLAIM a g c4 0 1 FOO
        XCLAIM a g c4 0 1 IDLE
        XCLAIM a g c4 0 1 IDLE x
        XCLAIM a g c4 0 1 TIME x
        XCLAIM a g c4 0 1 RETRYCOUNT x
        XCLAIM a g c4 0 1 LASTID x
        XCLAIM a g c4 x 1
        XCLAIM a g c4 -5 1
        XCLAIM a g c4 0 JUSTID 1
        XCLAIM a nope c4 x 1
        XCLAIM nope g c4 0 1
        XCLAIM a g c4 0
        XDEL a 2
        XCLAIM a g c4 0 2 3
        XPENDING a g - + 10
        XINFO STREAM a FULL
        XAUTOCLAIM a g c5 1000 -
        @50
        XAUTOCLAIM a g c5 10 - COUNT 1
        XAUTOCLAIM a g c5 10 (1 COUNT 1 JUSTID
        XAUTOCLAIM a g c5 0 0
        XDEL a 1 4
        XAUTOCLAIM a g c6 0 0 COUNT 1
        XAUTOCLAIM a g c6 0 0
        XAUTOCLAIM a g c6 0 0
        XINFO STREAM a FULL
        XAUTOCLAIM a g c6 x 0
        XAUTOCLAIM a g c6 0 x
        XAUTOCLAIM a g c6 0 (18446744073709551615-18446744073709551615
        XAUTOCLAIM a g c6 0 0 COUNT 0
        XAUTOCLAIM a g c6 0 0 COUNT x
        XAUTOCLAIM a g c6 0 0 COUNT {max}
        XAUTOCLAIM a g c6 0 0 COUNT 576460752303423487
        XAUTOCLAIM a g c6 0 0 COUNT
        XAUTOCLAIM a g c6 0 0 FOO
        XAUTOCLAIM a nope c6 0 0
        XAUTOCLAIM nope g c6 0 x
    """,
    "transaction": """
        MULTI
        XADD a * f v
        XADD a * f v
        XREAD STREAMS a 0
        XREAD BLOCK 100 STREAMS a $
        EXEC
        WATCH a
        b: XADD a * f w
        MULTI
        XLEN a
        EXEC
        WATCH a
        b: XGROUP CREATE a g 0
        b: XREADGROUP GROUP g c STREAMS a >
        b: XDEL a 5
        MULTI
        XLEN a
        EXEC
        PEXPIRE a 10
        @11
        XLEN a
        XINFO STREAM a
    """,
}
