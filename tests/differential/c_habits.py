"""Scripts about what C makes of arguments: NUL bytes, and numbers of any length.

As in ``command_scripts.py``; ``{9*5000}`` is the digit 9 five thousand times.
"""

from __future__ import annotations

WORDS = {
    "nul_in_options_of_set": """
        SET a 1 NX{nul}zz
        SET a 2 NX{nul}
        SET a 2 xx{nul}zz GET{nul}
        SET a 3 EX{nul}zz 10
        SET a 4 KEEPTTL{nul}
        SET a 5 PXAT{nul}EX 99999999999999
        SET a 5 EX{nul}a 1 PX{nul}b 1
        SET a 5 {nul}EX 10
        SET a 5 EX 10{nul}
        SET a 5 'EX {nul}' 10
        GETEX a PERSIST{nul}zz
        GETEX a EX{nul}zz 10
        GETEX a {nul}
        GETEX a GET{nul}
        PTTL a
    """,
    "nul_in_options_of_expire": """
        SET a 1
        EXPIRE a 10 NX{nul}zz
        EXPIRE a 20 GT{nul}
        PEXPIRE a 20 {nul}
        PEXPIREAT a 20 q{nul}b
        EXPIRE a 20 NX{nul} XX{nul}
        TTL a
    """,
    "nul_in_options_of_keys": """
        SET a 1
        SCAN 0 COUNT{nul}zz 10
        SCAN 0 MATCH{nul} a
        SCAN 0 TYPE{nul} string
        SCAN 0 TYPE string{nul}zz
        SCAN 0 TYPE {nul}string
        SCAN 0 MATCH *{nul}zz
        SCAN 0 COUNT 1{nul}
        COPY a b REPLACE{nul}zz
        COPY a b DB{nul}zz 1
        COPY a b DB 1{nul}
        COPY a b replace{nul} db{nul} 1
        COPY a b {nul}REPLACE
        LCS a b LEN{nul}
        LCS a b IDX{nul} MINMATCHLEN{nul} 1 WITHMATCHLEN{nul}
        LCS a b {nul}
        FLUSHDB ASYNC{nul}zz
        FLUSHALL SYNC{nul}
        FLUSHALL {nul}SYNC
        SWAPDB 0{nul} 1
        MOVE a 1{nul}
    """,
    "nul_in_options_of_the_server": """
        CLIENT NO-EVICT ON{nul}
        CLIENT NO-EVICT off{nul}on
        CLIENT NO-EVICT {nul}
        CLIENT PAUSE 0 WRITE{nul}
        CLIENT PAUSE 0 {nul}
        CLIENT LIST ID{nul}zz 999999
        CLIENT LIST TYPE{nul} master{nul}
        CLIENT LIST TYPE{nul} x{nul}master
        CLIENT UNBLOCK 999999 ERROR{nul}
        CLIENT KILL ID{nul} 999999
        CLIENT KILL ID 999999 SKIPME{nul} yes{nul}zz
        CLIENT KILL ID 999999 SKIPME {nul}yes
        CLIENT KILL USER{nul} default ID 999999
        CLIENT KILL USER default{nul} ID 999999
        CLIENT KILL TYPE{nul} pubsub{nul} ID 999999
        CLIENT KILL ID 999999{nul}
        CLIENT REPLY ON{nul}zz
        CLIENT REPLY {nul}ON
        HELLO 2{nul}
        DEBUG SET-ACTIVE-EXPIRE{nul}zz 0
        DEBUG PROTOCOL{nul} null{nul}zz
        DEBUG PROTOCOL {nul}
        DEBUG SLEEP{nul} 0
        DEBUG LOG{nul} x
        DEBUG NOPE{nul}zz
        DEBUG ERROR{nul} 'A b{nul}zz'
        DEBUG PAUSE-CRON{nul} 0
        INFO cluster{nul}zz
        INFO CLUSTER{nul}zz cluster
        INFO {nul}cluster
        COMMAND LIST FILTERBY{nul} MODULE{nul} x
        COMMAND LIST FILTERBY PATTERN{nul} get
        COMMAND LIST FILTERBY PATTERN get{nul}
        COMMAND LIST FILTERBY ACLCAT{nul} nope{nul}
        COMMAND GETKEYSANDFLAGS SET a b GET{nul}
        COMMAND GETKEYSANDFLAGS SET a b EX{nul} 5
        COMMAND INFO get{nul}
        LATENCY RESET x{nul}y
        LATENCY HISTORY x{nul}y
        LATENCY GRAPH x{nul}y
    """,
    "nul_in_options_of_lists": """
        RPUSH l a b c
        LINSERT l BEFORE{nul}zz b x
        LINSERT l {nul}AFTER b x
        LPOS l b RANK{nul} 1 COUNT{nul}zz 1 MAXLEN{nul} 0
        LMOVE l m LEFT{nul} RIGHT{nul}zz
        LMPOP 1 l LEFT{nul}zz COUNT{nul} 1
        LMPOP 1 l LEFT COUNT 1{nul}
        BLMOVE l m LEFT{nul} RIGHT{nul} 0
        BLMPOP 0 1 m RIGHT{nul} COUNT{nul} 1
        SORT l ASC{nul} ALPHA{nul} LIMIT{nul} 0 1
        SORT l BY{nul} nosort GET{nul} # STORE{nul} d
        COMMAND GETKEYS SORT l STORE{nul} d
        FLUSHALL
    """,
    "nul_in_options_of_sets_and_hashes": """
        SADD s a b
        SADD t a
        SINTERCARD 2 s t LIMIT{nul}zz 1
        SSCAN t 0 COUNT{nul} 10 MATCH{nul} a
        HSET h f v
        HSCAN h 0 COUNT{nul} 10
        HRANDFIELD h 1 WITHVALUES{nul}zz
        FLUSHALL
    """,
    "nul_in_options_of_sorted_sets": """
        ZADD z NX{nul}zz 1 a 2 b
        ZADD z XX{nul} CH{nul} 5 a
        ZADD z GT{nul} INCR{nul} 1 a
        ZADD z {nul}NX 1 a
        ZRANGE z 0 -1 WITHSCORES{nul}zz
        ZRANGE z 0 9 BYSCORE{nul} LIMIT{nul} 0 1 REV{nul}
        ZRANGE z - + BYLEX{nul}
        ZRANGEBYSCORE z -inf +inf WITHSCORES{nul} LIMIT{nul} 0 1
        ZRANGEBYSCORE z -inf{nul}x +inf
        ZRANGEBYSCORE z (1{nul}x 9
        ZRANGEBYLEX z -{nul} +
        ZUNION 2 z z WEIGHTS{nul} 1 2 AGGREGATE{nul} MIN{nul}zz WITHSCORES{nul}
        ZINTERCARD 2 z z LIMIT{nul} 1
        ZMPOP 1 z MIN{nul} COUNT{nul} 1
        BZMPOP 0 1 z MAX{nul}zz COUNT{nul} 1
        ZADD z 1 a
        ZRANDMEMBER z 1 WITHSCORES{nul}
        GEOADD g NX{nul} CH{nul} 13 38 a
        GEODIST g a a KM{nul}zz
        GEODIST g a a k{nul}m
        GEOSEARCH g FROMMEMBER{nul} a BYRADIUS{nul} 1 m{nul} COUNT{nul} 1 ANY{nul} ASC{nul}
        GEOSEARCH g FROMMEMBER a BYRADIUS 1 m WITHDIST{nul}
        GEOSEARCH g FROMLONLAT{nul} 13 38 BYBOX{nul} 1 1 ft{nul} WITHCOORD{nul} WITHHASH{nul}
        GEOSEARCHSTORE d g FROMMEMBER a BYRADIUS 1 m STOREDIST{nul}
        GEORADIUS g 13 38 1 m WITHDIST{nul} STORE{nul} d
        GEORADIUS g 13 38 1 m STORE{nul} d
        FLUSHALL
    """,
    "nul_in_options_of_streams": """
        XADD s NOMKSTREAM{nul}zz 1-1 f v
        XADD s MAXLEN{nul} ={nul}zz 10 1-1 f v
        XADD s MAXLEN ~{nul} 10 LIMIT{nul} 5 1-2 f v
        XADD s MINID{nul} 0 1-3 f v
        XADD s 1-4{nul}x f v
        XLEN s
        XTRIM s MAXLEN{nul} ={nul} 3
        XRANGE s -{nul} +{nul}
        XRANGE s - + COUNT{nul} 1
        XRANGE s 1-1{nul}x +
        XREVRANGE s + - COUNT{nul}zz 1
        XREAD COUNT{nul} 1 STREAMS{nul} s 0
        XREAD BLOCK{nul} 0 COUNT 1 STREAMS s 0
        XREAD STREAMS s ${nul}
        XGROUP CREATE s g ${nul} ENTRIESREAD{nul} 1
        XGROUP CREATE t g 0 MKSTREAM{nul}zz
        XGROUP SETID s g 0 ENTRIESREAD{nul} 1
        XREADGROUP GROUP{nul} g c COUNT{nul} 1 NOACK{nul} STREAMS{nul} s >{nul}
        XREADGROUP GROUP g c COUNT 1 STREAMS s >
        XPENDING s g IDLE{nul} 0 - + 10
        XCLAIM s g c 0 1-2 IDLE{nul} 1 RETRYCOUNT{nul} 2 FORCE{nul} JUSTID{nul}
        XCLAIM s g c 0 1-2 TIME{nul} 1 LASTID{nul} 1-1
        XAUTOCLAIM s g c 0 0 COUNT{nul} 1 JUSTID{nul}
        XINFO STREAM t FULL{nul} COUNT{nul} 1
        XSETID t 9-9 ENTRIESADDED{nul} 5 MAXDELETEDID{nul} 1-1
        FLUSHALL
    """,
    "nul_in_options_of_bits_and_the_rest": """
        SET a abc
        BITCOUNT a 0 -1 BIT{nul}zz
        BITPOS a 1 0 -1 BYTE{nul}
        BITOP AND{nul}zz d a a
        BITOP not{nul} d a
        BITFIELD a GET{nul} u8 0 OVERFLOW{nul} WRAP{nul} SET{nul} u8 0 1 INCRBY{nul} u8 0 1
        BITFIELD a GET u8{nul} 0
        BITFIELD a OVERFLOW SAT{nul}zz INCRBY u8 0 300
        BITFIELD_RO a GET{nul} u8 0
        COMMAND GETKEYSANDFLAGS BITFIELD a GET{nul} u8 0
        PFADD p x
        PFDEBUG ENCODING{nul}zz p
        PFDEBUG NOPE{nul}zz p
        SCRIPT FLUSH SYNC{nul}zz
        SCRIPT FLUSH {nul}
        SCRIPT DEBUG NO{nul}
        FUNCTION LIST WITHCODE{nul} LIBRARYNAME{nul} x
        FUNCTION FLUSH ASYNC{nul}
        FUNCTION LIST NOPE{nul}zz
        FUNCTION LOAD REPLACE{nul} x
        FUNCTION LOAD NOPE{nul}zz x
        FLUSHALL
    """,
}

NUMBERS = {
    "scan_cursor": """
        SCAN {0*128}
        SCAN {0*5000}1
        SCAN +{0*99}
        SCAN -{0*99}
        SCAN 18446744073709551615
        SCAN 18446744073709551616
        SCAN 00018446744073709551615
        SCAN -18446744073709551615
        SCAN -18446744073709551616
        SCAN {9*20}
        SCAN {9*5000}
        SCAN -1
        SCAN +5
        SCAN ' 5'
        SCAN '5 '
        SCAN '- 1'
        SCAN --1
        SCAN +
        SCAN -
        SCAN ''
        SCAN {nul}
        SCAN 5{nul}x
        SCAN x{nul}
        SCAN 0x5
        SCAN 5.0
        SCAN 1e0
    """,
    "incrbyfloat_long": """
        INCRBYFLOAT a {9*4300}
        INCRBYFLOAT a {9*4301}
        INCRBYFLOAT a -{9*4900}
        SET a 1
        INCRBYFLOAT a {9*5000}
        INCRBYFLOAT a {0*5118}
        INCRBYFLOAT a {0*5119}
        INCRBYFLOAT a {0*5120}
        INCRBYFLOAT a 0.{0*5000}1
        INCRBYFLOAT a 0.{0*5000}1e5000
        INCRBYFLOAT a {1*4400}e-4400
        INCRBYFLOAT a 1e{0*4900}1
        INCRBYFLOAT a 1e-{0*4900}1
        INCRBYFLOAT a 1e{9*4990}
        INCRBYFLOAT a 1e-{9*4990}
        INCRBYFLOAT a 0e{9*4990}
        INCRBYFLOAT a 0x{f*4000}
        INCRBYFLOAT a 0x{f*5000}
        SET a 1
        INCRBYFLOAT a 0x{0*5000}1
        INCRBYFLOAT a 0x.{0*4990}1
        INCRBYFLOAT a 0x.{0*4000}1p16004
        INCRBYFLOAT a 0x1p{9*4500}
        INCRBYFLOAT a 0x1p-16445
        SET a {9*5000}
        INCRBYFLOAT a 1
        INCR a
        SET a {9*4800}
        INCRBYFLOAT a -1
    """,
    "integers_long": """
        SET a {9*5000}
        INCRBY a 1
        INCRBY b {9*5000}
        INCRBY b {0*5000}
        EXPIRE a {9*5000}
        SET b 1 PX {9*5000}
        GETRANGE a {9*5000} 1
        SETRANGE a {9*5000} 1
        SELECT {9*5000}
        MOVE a {9*5000}
        SWAPDB {9*5000} 1
        COPY a b DB {9*5000}
        SCAN 0 COUNT {9*5000}
        LCS a b MINMATCHLEN {9*5000}
        SLOWLOG GET {9*5000}
        CLIENT PAUSE {9*5000}
        CLIENT UNBLOCK {9*5000}
        CLIENT KILL ID {9*5000}
        CLIENT LIST ID {9*5000}
        HELLO {9*5000}
        DEBUG HTSTATS {9*5000}
        DEBUG POPULATE {9*5000}
        CONFIG SET maxmemory {9*5000}
        CONFIG SET timeout {9*5000}
        CONFIG SET save '{9*5000} 1'
        CONFIG SET latency-tracking-info-percentiles {9*5000}
        CONFIG SET oom-score-adj-values '{9*5000} 0 0'
        CONFIG SET latency-tracking-info-percentiles '50 99 99.9'
        CONFIG SET save ''
    """,
    "debug_sleep": """
        DEBUG SLEEP 0x
        DEBUG SLEEP 0xg
        DEBUG SLEEP 0x0p5
        DEBUG SLEEP 0x1p-99999999
        DEBUG SLEEP nan
        DEBUG SLEEP -inf
        DEBUG SLEEP inf
        DEBUG SLEEP infinity
        DEBUG SLEEP 1e300
        DEBUG SLEEP 1e13
        DEBUG SLEEP -1
        DEBUG SLEEP -{9*5000}
        DEBUG SLEEP {9*5000}
        DEBUG SLEEP 0.{0*5000}1
        DEBUG SLEEP 0{nul}5
    """,
}

SCRIPTS = WORDS | NUMBERS
