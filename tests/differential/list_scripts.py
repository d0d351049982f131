"""Scripts of list commands and SORT, each about one thing. ``test_lists.py`` runs them.

The language is that of ``command_scripts.py``; ``INTS 3`` is ``0 1 2``, ``{big}`` a word of
3000 letters.

SORT looks whether strtod() has left ERANGE in errno, and does not clear it before: after
a number out of range the next SORT of a real server may fail too. INCRBYFLOAT clears it.
"""

from __future__ import annotations

LISTS = {
    "push_and_pop": """
        LPUSH a 1
        LPUSH a 2 3
        RPUSH a x "" -5 007
        LRANGE a 0 -1
        LPUSHX a y
        RPUSHX a z zz
        LPUSHX b y
        RPUSHX b z
        LLEN a
        LLEN b
        OBJECT ENCODING a
        LPOP a
        RPOP a
        LPOP b
        RPOP b
        LPOP a 2
        RPOP a 2
        LPOP a 0
        LPOP b 0
        LPOP b 1
        LPOP a -1
        LPOP a x
        LPOP a 1.5
        LPOP a {max}
        EXISTS a
        LPOP a 1 2
        RPOP a 1 2
        LPUSH a
        RPUSH
        LPOP
        SET s v
        LPUSH s 1
        RPUSHX s 1
        LPOP s
        RPOP s 1
        LPOP s x
        LLEN s
        LRANGE s 0 1
        LRANGE s x y
        SADD t m
        LPUSH t 1
        EXPIRE a 10
        RPUSH a 1
        PEXPIRE a 50
        @51
        LPOP a
        RPUSH a 1
        TTL a
    """,
    "ranges": """
        RPUSH a INTS 20
        LRANGE a 0 -1
        LRANGE a 3 5
        LRANGE a 5 3
        LRANGE a -3 -1
        LRANGE a -3 100
        LRANGE a -100 2
        LRANGE a 19 19
        LRANGE a 20 20
        LRANGE a -21 -21
        LRANGE a {min} {max}
        LRANGE a {max} {min}
        LRANGE a 0 x
        LRANGE a x 0
        LRANGE a 0 9223372036854775808
        LRANGE b 0 -1
        LRANGE b 0 x
        LINDEX a 0
        LINDEX a 7
        LINDEX a 19
        LINDEX a 20
        LINDEX a -1
        LINDEX a -20
        LINDEX a -21
        LINDEX a {max}
        LINDEX a {min}
        LINDEX a x
        LINDEX b 0
        LINDEX b x
        LTRIM a 2 -3
        LRANGE a 0 -1
        LTRIM a 0 100
        LTRIM a -5 -2
        LRANGE a 0 -1
        LTRIM a 1 x
        LTRIM b 0 1
        LTRIM b 0 x
        LTRIM a 3 1
        EXISTS a
        RPUSH a 1 2 3
        LTRIM a {min} -100
        EXISTS a
        RPUSH a 1 2 3
        LTRIM a 3 5
        EXISTS a
    """,
    "in_the_middle": """
        RPUSH a 1 2 3 2 1 2 3
        LSET a 0 x
        LSET a -1 y
        LSET a 7 z
        LSET a -8 z
        LSET a x z
        LSET b 0 z
        LSET b x z
        LSET a {min} z
        LINSERT a BEFORE 2 before
        LINSERT a after 3 after
        LINSERT a AFTER nobody z
        LINSERT b AFTER 1 z
        LINSERT a BESIDE 1 z
        LINSERT a
        LRANGE a 0 -1
        LREM a 1 2
        LREM a -1 2
        LRANGE a 0 -1
        LREM a 0 nobody
        LREM a x 2
        LREM b 0 2
        LREM b x 2
        RPUSH a 2 2 2 2 2
        LREM a -2 2
        LREM a 2 2
        LRANGE a 0 -1
        LREM a {min} 2
        LREM a {max} 1
        LRANGE a 0 -1
        DEL a
        RPUSH a 1 1 1
        LREM a 0 1
        EXISTS a
        SET s v
        LSET s 0 x
        LINSERT s before 1 2
        LREM s 0 1
        LREM s x 1
        LINSERT s bad 1 2
        LINDEX s 0
        LINDEX s x
        LTRIM s 0 1
    """,
    "lpos": """
        RPUSH a 1 2 3 2 1 2 3 2
        LPOS a 2
        LPOS a 2 RANK 2
        LPOS a 2 RANK -1
        LPOS a 2 RANK -2
        LPOS a 2 RANK 5
        LPOS a 2 RANK -5
        LPOS a 2 COUNT 0
        LPOS a 2 COUNT 2
        LPOS a 2 COUNT 2 RANK 2
        LPOS a 2 COUNT 0 RANK -2
        LPOS a 2 COUNT 0 RANK 9
        LPOS a 2 MAXLEN 1
        LPOS a 2 MAXLEN 2
        LPOS a 2 MAXLEN 4 COUNT 0
        LPOS a 2 MAXLEN 4 COUNT 0 RANK -1
        LPOS a 2 MAXLEN 0
        LPOS a nobody
        LPOS a nobody COUNT 1
        LPOS b 1
        LPOS b 1 COUNT 1
        LPOS a 2 RANK 0
        LPOS a 2 RANK x
        LPOS a 2 COUNT -1
        LPOS a 2 COUNT x
        LPOS a 2 MAXLEN -1
        LPOS a 2 MAXLEN {max} COUNT {max}
        LPOS a 2 RANK {max}
        LPOS a 2 RANK {min}
        LPOS a 2 RANK {min} COUNT 0
        LPOS a 2 RANK {min} COUNT 1
        LPOS a 2 RANK -9223372036854775807
        LPOS a 2 RANK
        LPOS a 2 FOO 1
        LPOS a 2 FOO
        LPOS a 2 rank 1 count 1 maxlen 0 rank 2
        LPOS a
        SET s v
        LPOS s 2
        LPOS s 2 RANK 0
    """,
    "moving": """
        RPUSH a 1 2 3 4 5
        LMOVE a b LEFT RIGHT
        LMOVE a b right left
        LMOVE a a LEFT RIGHT
        LMOVE a a LEFT LEFT
        RPOPLPUSH a b
        RPOPLPUSH a a
        LRANGE a 0 -1
        LRANGE b 0 -1
        LMOVE c b LEFT LEFT
        RPOPLPUSH c b
        LMOVE a b UP LEFT
        LMOVE a b LEFT UP
        LMOVE a b LEFT
        RPOPLPUSH a
        SET s v
        LMOVE a s LEFT LEFT
        RPOPLPUSH s a
        RPOPLPUSH c s
        LRANGE a 0 -1
        RPOPLPUSH a d
        RPOPLPUSH a d
        RPOPLPUSH a d
        EXISTS a
        LRANGE d 0 -1
        EXPIRE d 5
        RPOPLPUSH d d
        TTL d
        RPOPLPUSH d e
        TTL e
        LMPOP 1 d LEFT
        LMPOP 2 c d RIGHT COUNT 5
        LMPOP 2 c x LEFT
        LMPOP 0 d LEFT
        LMPOP -1 d LEFT
        LMPOP x d LEFT
        LMPOP 2 d LEFT
        LMPOP 1 d UP
        LMPOP 1 d LEFT COUNT 0
        LMPOP 1 d LEFT COUNT -1
        LMPOP 1 d LEFT COUNT x
        LMPOP 1 d LEFT COUNT
        LMPOP 1 d LEFT COUNT 1 COUNT 2
        LMPOP 1 d LEFT FOO 2
        LMPOP 1 d
        LMPOP 2 s d LEFT
        LMPOP 3 c b s LEFT COUNT {max}
        LMPOP {max} b LEFT
    """,
    "not_waiting": """
        RPUSH a INTS 40
        BLPOP a 0
        BRPOP b a 0
        BLMPOP 0 2 b a LEFT COUNT 2
        BLMOVE a b LEFT RIGHT 0
        BRPOPLPUSH a b 0
        BLPOP a x
        BLPOP a ""
        BLPOP a -1
        BLPOP a inf
        BLPOP a -inf
        BLPOP a nan
        BLPOP a 1e300
        BLPOP a 1e5000
        BLPOP a " 1"
        BLPOP a "1 "
        BLPOP a 0x1p1x
        BLPOP a -0x1p-1
        BLPOP a 9223372036854775.807
        BLPOP a 9223372036854775.808
        BLPOP a 9223372036854776
        BLPOP a 1e-4950
        BLMPOP -1 1 a LEFT
        BLMPOP x 0 a LEFT
        BLMPOP x 1 a UP
        BLMPOP 0 1 a LEFT COUNT 0
        BLMPOP 0 1 a LEFT COUNT
        BLMPOP 0 9 a LEFT
        BLMOVE a b UP LEFT x
        BLMOVE a b LEFT LEFT x
        BRPOPLPUSH a b -1
        SET s v
        BLPOP s 0
        BLPOP x s a 0
        BRPOPLPUSH s b 0
        BLMOVE a s LEFT LEFT 0
        BLMPOP 0 2 s a LEFT
        BLPOP a
        BLMOVE a b LEFT LEFT
        RPUSH a 1 2 3
        MULTI
        BLPOP a 0
        BLPOP none 0
        BLPOP none 5
        BLPOP none x
        BLMPOP 0 1 none LEFT
        BLMOVE none a LEFT LEFT 0
        BRPOPLPUSH none a 0
        BRPOPLPUSH a b 0
        EXEC
    """,
    "other_commands": """
        RPUSH a 1 2 3
        TYPE a
        COPY a b
        COPY a b REPLACE
        LPOP a
        LRANGE b 0 -1
        RENAME b c
        MOVE c 1
        SCAN 0 TYPE list
        GET a
        APPEND a x
        SET a x GET
        SET a x
        RPUSH b 1
        DEBUG DIGEST-VALUE b
        DEBUG RELOAD
        LRANGE b 0 -1
        PEXPIRE b 100
        @101
        LLEN b
        LPUSH b 1
        PTTL b
        OBJECT REFCOUNT b
        OBJECT FREQ b
    """,
    "nodes": """
        CONFIG SET list-max-listpack-size 3
        CONFIG GET list-max-ziplist-size
        RPUSH a INTS 11
        LINSERT a BEFORE 4 x
        LINSERT a AFTER 4 y
        LINSERT a AFTER 5 z
        LINSERT a BEFORE 6 w
        LINSERT a AFTER 2 v
        LREM a 0 4
        LREM a 0 7
        LINSERT a BEFORE 10 u
        LTRIM a 1 -3
        LSET a 2 {big}
        LINSERT a BEFORE {big} t
        RPUSH a {big} {big} {big} {big}
        LINSERT a BEFORE {big} s
        LPOP a 4
        COPY a b
        CONFIG SET list-max-listpack-size 0
        RPUSH a 1 2
        RPUSH c 1 2
        LINSERT c AFTER 1 x
        CONFIG SET list-max-listpack-size -9
        RPUSH d {big} {big} {big}
        CONFIG SET list-max-listpack-size 40000
        RPUSH e INTS 700
        CONFIG SET list-max-listpack-size -1
        DEBUG RELOAD
        RPUSH a {big} {big} {big}
        RPUSH f {big} {big} {big}
        LINSERT f BEFORE {big} x
        LINSERT f AFTER x {big}
        LINSERT f AFTER x y
        LTRIM e 100 350
        LINSERT e AFTER 200 x
        LREM e 0 x
        LPOP e 100
        RPOP e 100
        CONFIG SET list-max-listpack-size -2
    """,
    "plain_nodes": """
        DEBUG QUICKLIST-PACKED-THRESHOLD 10b
        RPUSH a 1 2 0123456789 3 4
        LSET a 0 abcdefghijk
        LSET a 0 abcdefghijklm
        LSET a 0 short
        LSET a 4 abcdefghijk
        LINSERT a BEFORE 3 abcdefghijk
        LINSERT a AFTER 3 abcdefghijk
        LINSERT a BEFORE abcdefghijk x
        LINSERT a AFTER abcdefghijk y
        LRANGE a 0 -1
        LPOS a abcdefghijk COUNT 0
        RPUSH b 1 2 3 4 5
        LSET b 2 abcdefghijk
        LRANGE b 0 -1
        LREM a 0 abcdefghijk
        LPUSH b 0123456789
        LPOP b
        RPUSH b 0123456789
        LMOVE b c RIGHT LEFT
        DEBUG RELOAD
        LRANGE c 0 -1
        DEBUG QUICKLIST-PACKED-THRESHOLD 0
        LSET c 0 x
        DEBUG QUICKLIST-PACKED-THRESHOLD x
        DEBUG QUICKLIST-PACKED-THRESHOLD 5gb
        DEBUG QUICKLIST-PACKED-THRESHOLD
    """,
}

SORT = {
    "numbers": """
        RPUSH a 3 1 2 10 -5 1.5 1e2 0x10 "" inf -inf 2 01
        SORT a
        SORT a DESC
        SORT a ALPHA
        SORT a ALPHA DESC
        SORT a asc desc ASC
        SORT a LIMIT 2 3
        SORT a LIMIT -1 3
        SORT a LIMIT 2 -1
        SORT a LIMIT 2 -5
        SORT a LIMIT 100 3
        SORT a LIMIT 0 0
        SORT a LIMIT {max} {max}
        SORT a LIMIT {min} {min}
        SORT a LIMIT 1 x
        SORT a LIMIT x 1
        SORT a LIMIT 1
        SORT a FOO
        SORT a BY
        SORT a GET
        SORT a STORE
        SORT_RO a STORE b
        SORT_RO a
        SORT none
        SORT none LIMIT 1 1
        SORT none BY nosort GET #
        SORT
        SET s v
        SORT s
        SORT s FOO
        HSET h f v
        SORT h
        RPUSH b 1 2 x
        SORT b
        SORT b STORE c
        SORT b ALPHA
        DEL b
        RPUSH b " 1" 1
        SORT b
        RPUSH b "1 "
        SORT b
        DEL b
        RPUSH b nan
        SORT b
        DEL b
        RPUSH b 1e309
        SORT b
        INCRBYFLOAT n 1
        DEL b
        RPUSH b 1e-400
        SORT b
        INCRBYFLOAT n 1
        DEL b
        RPUSH b 0e-400 -0 0 0x1p-1074 2.2250738585072014e-308
        SORT b
        RPUSH b 1e-310
        SORT b
        INCRBYFLOAT n 1
        DEL b
        RPUSH b 0x1.8p-1074
        SORT b
        INCRBYFLOAT n 1
        DEL b
        RPUSH b 1{nul}x
        SORT b
        DEL b
        RPUSH b 9007199254740993 9007199254740992 9007199254740994 {max} {min}
        SORT b
        SORT b DESC
    """,
    "by": """
        RPUSH a 1 2 3 4 5 6
        MSET w_1 30 w_2 10 w_3 20 w_4 10 w_6 x
        SORT a BY w_*
        DEL w_6
        SORT a BY w_*
        SORT a BY w_* DESC
        SORT a BY w_* ALPHA
        SORT a BY w_* ALPHA DESC
        SORT a BY w_* ALPHA LIMIT 0 3
        SORT a BY w_* ALPHA DESC LIMIT 1 3
        SORT a BY w_* LIMIT 1 3
        SORT a BY w_* GET #
        SORT a BY w_* GET # GET w_* GET none_*
        SORT a BY w_* GET nostar
        SORT a BY nosort
        SORT a BY nosort DESC
        SORT a BY nosort LIMIT 1 2
        SORT a BY nosort DESC LIMIT 1 2
        SORT a BY nosort LIMIT 10 2
        SORT a BY nosort DESC LIMIT 5 20
        SORT a BY nosort GET w_* LIMIT 0 2
        SORT a BY nosort BY w_*
        SORT a BY w_* BY nosort
        HSET h_1 f 5 g 1
        HSET h_2 f 4
        HSET h_3 f 3 "" 9
        HSET h_4 g 3
        SORT a BY h_*->f
        SORT a BY h_*->f GET h_*->f GET h_*->g
        SORT a BY h_*->
        SORT a GET h_*->
        SORT a GET h_*
        SORT a GET w_*->f
        SORT a BY *->f
        SORT a GET *
        SORT a GET h_*->f*
        SORT a GET "h_->*"
        SET 3 three
        SORT a GET *
        SORT a GET **
        SORT a GET ##
        RPUSH l x
        SORT a GET l*
        SORT a BY h_*->f ALPHA DESC GET #
    """,
    "store": """
        RPUSH a 3 1 2
        SORT a STORE b
        TYPE b
        LRANGE b 0 -1
        EXPIRE b 100
        SORT a DESC STORE b
        TTL b
        LRANGE b 0 -1
        SORT a GET # GET w_* STORE b
        LRANGE b 0 -1
        SORT none STORE b
        EXISTS b
        SORT none STORE b
        SET s v
        SORT a STORE s
        TYPE s
        SORT a LIMIT 5 5 STORE s
        EXISTS s
        SORT a STORE a
        LRANGE a 0 -1
        SORT a STORE x STORE y
        EXISTS x y
        RPUSH t b B a A "b{nul}x" "b{nul}a" {long}
        SORT t ALPHA
        SORT t ALPHA STORE u
        LRANGE u 0 -1
        SORT t ALPHA DESC STORE u
        LRANGE u 0 -1
        OBJECT ENCODING u
        CONFIG SET list-max-listpack-size 1
        SORT a STORE u
        CONFIG SET list-max-listpack-size -2
    """,
    "sets": """
        SADD i 5 3 1 2 4
        SORT i
        SORT i BY nosort
        SORT i BY nosort LIMIT 1 2
        SORT i BY nosort DESC
        SORT i BY nosort STORE l
        LRANGE l 0 -1
        SADD t a b c d e f g
        SORT t
        SORT t ALPHA
        SORT t ALPHA DESC LIMIT 1 3
        SORT t BY nosort GET #
        SORT t BY nosort LIMIT 2 3
        SORT t BY nosort STORE l
        LRANGE l 0 -1
        SORT t BY nosort DESC LIMIT 1 3 STORE l
        LRANGE l 0 -1
        MSET w_a 1 w_b 1 w_c 0 w_d 1 w_e 0
        SORT t BY w_* ALPHA
        SORT t BY w_* ALPHA LIMIT 1 4
        SORT t BY w_*
        ZADD z 3 a 1 b 2 c 2 d
        OBJECT ENCODING z
        SORT z
        OBJECT ENCODING z
        SORT z ALPHA
        SORT z BY nosort
        SORT z BY nosort DESC
        SORT z BY nosort LIMIT 1 2
        SORT z BY nosort DESC LIMIT 1 2
        SORT z BY nosort LIMIT 9 2
        SORT z BY w_* ALPHA
        SORT z BY w_* GET # GET w_*
        SORT z BY nosort STORE l
        LRANGE l 0 -1
    """,
    "keys": """
        COMMAND GETKEYS SORT a
        COMMAND GETKEYS SORT a STORE b
        COMMAND GETKEYS SORT a STORE b STORE c
        COMMAND GETKEYS SORT a BY store GET store LIMIT store store STORE c
        COMMAND GETKEYS SORT a STORE
        COMMAND GETKEYS SORT a FOO STORE STORE c
        COMMAND GETKEYSANDFLAGS SORT a STORE b
        COMMAND GETKEYSANDFLAGS SORT_RO a GET b
        COMMAND GETKEYS SORT_RO a STORE b
        COMMAND GETKEYS LMPOP 2 a b LEFT
        COMMAND GETKEYS BLMPOP 0 2 a b LEFT
        COMMAND GETKEYS BLPOP a b 0
        COMMAND GETKEYS LMOVE a b LEFT LEFT
    """,
}

SCRIPTS = {**LISTS, **{f"sort_{name}": text for name, text in SORT.items()}}
