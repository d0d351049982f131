"""Scripts about bitmaps, in the language of ``command_scripts.py``."""

from __future__ import annotations

BITMAPS = {
    "setbit": """
        SETBIT a 7 1
        GET a
        SETBIT a 7 1
        SETBIT a 7 0
        SETBIT a 100 0
        SETBIT a 100 0
        STRLEN a
        SETBIT a -1 1
        SETBIT a x 1
        SETBIT a 1 2
        SETBIT a 1 x
        SETBIT a 1 -1
        SETBIT a 4294967296 1
        SETBIT a {max} 1
        SETBIT a #1 1
        SETBIT a 1
        GETBIT a -1
        GETBIT a 4294967295
        GETBIT a 4294967296
        GETBIT a 7
        GETBIT b 7
        GETBIT a #1
        SET b 42
        SETBIT b 0 1
        OBJECT ENCODING b
        SET b 42
        GETBIT b 2
        GETBIT b 30
        SETBIT b 6 0
        SETBIT b 6 1
        SET c {long}
        SETBIT c 3 1
        GETBIT c 2399
        GETBIT c 2400
        PEXPIRE a 10
        SETBIT a 1 1
        PTTL a
        @11
        SETBIT a 1 0
        GET a
    """,
    "bitcount": """
        BITCOUNT a
        BITCOUNT a x y z
        SET a foobar
        BITCOUNT a
        BITCOUNT a 0 0
        BITCOUNT a 1 1
        BITCOUNT a 0
        BITCOUNT a 0 x
        BITCOUNT a x 0
        BITCOUNT a 0 -1 foo
        BITCOUNT a -1 -2 foo
        BITCOUNT a 0 -1 bit
        BITCOUNT a 0 -1 BYTE
        BITCOUNT a 5 30 BIT
        BITCOUNT a 5 6 BIT
        BITCOUNT a 8 7 BIT
        BITCOUNT a -7 -3 BIT
        BITCOUNT a -1000 1000 BIT
        BITCOUNT a {min} {max}
        BITCOUNT a {max} {min} BIT
        BITCOUNT a 0 -1 BIT x
        SET a ''
        BITCOUNT a
        BITCOUNT a 0 -1 BIT
        SET a 12345
        BITCOUNT a
        BITCOUNT a 1 2
        SET a {long}
        BITCOUNT a
        BITCOUNT a 3 2000 BIT
    """,
    "bitpos": """
        BITPOS a 0
        BITPOS a 1
        BITPOS a 2
        BITPOS a x
        BITPOS a 1 x y z w
        SETBIT a 0 0
        BITPOS a 1
        BITPOS a 0
        SETBIT a 30 1
        BITPOS a 1
        BITPOS a 1 3
        BITPOS a 1 4
        BITPOS a 1 0 2
        BITPOS a 1 0 -1 BIT
        BITPOS a 1 30 30 BIT
        BITPOS a 1 31 -1 BIT
        BITPOS a 0 30 30 BIT
        BITPOS a 0 30 31 BIT
        BITPOS a 0 x
        BITPOS a 0 0 x
        BITPOS a 0 0 x foo
        BITPOS a 0 0 0 foo
        BITPOS a 0 0 0 bit x
        BITPOS a 0 -1 -2
        BITFIELD b SET i64 0 -1
        BITPOS b 0
        BITPOS b 0 1
        BITPOS b 0 0 -1
        BITPOS b 0 8
        BITPOS b 0 7 100
        BITPOS b 0 3 62 BIT
        BITPOS b 1 9 100 BIT
        BITPOS b 1 64 100 BIT
        SET c ''
        BITPOS c 0
        BITPOS c 1
        BITPOS c 0 0
        BITPOS c 0 0 -1 BIT
        SET c 99
        BITPOS c 1
    """,
    "bitop": """
        SET a foobar
        SET b abc
        BITOP AND c a b
        GET c
        OBJECT ENCODING c
        BITOP or c a b
        GET c
        BITOP XOR c a b d
        GET c
        BITOP NOT c b
        GET c
        BITOP NOT c a b
        BITOP NOT c d
        EXISTS c
        BITOP AND c d
        BITOP NAND c a
        BITOP AND c
        SET c 1 PX 10000
        BITOP AND c d
        BITOP OR c a
        PTTL c
        SET d 12
        BITOP OR c d
        OBJECT ENCODING c
        BITOP XOR a a a
        GET a
        SET d {long}
        BITOP AND a d b
        BITOP XOR a d d b
        GET a
    """,
    "bitfield": """
        BITFIELD a
        BITFIELD a SET u8 0 255 GET u8 0 GET i8 0 GET u4 4 GET u63 0
        BITFIELD a INCRBY u8 0 1 INCRBY u8 0 -1 INCRBY i8 0 -128
        BITFIELD a OVERFLOW SAT INCRBY u8 0 1000 INCRBY i8 8 1000 INCRBY i8 8 -1000
        BITFIELD a OVERFLOW FAIL INCRBY u8 0 1 INCRBY i8 8 -1 SET u4 0 16 GET u8 0
        BITFIELD a overflow wrap incrby u8 #1 300 set i5 #3 17 get i5 #3
        BITFIELD a SET i64 0 {min} INCRBY i64 0 -1 INCRBY i64 0 1
        BITFIELD a OVERFLOW SAT INCRBY i64 0 {max} INCRBY i64 0 {max} INCRBY i64 0 {min}
        BITFIELD a OVERFLOW SAT SET i8 0 {min} SET i8 0 -129 SET i8 0 128 SET u8 0 -1
        BITFIELD a OVERFLOW FAIL SET i8 0 {min} SET u63 0 -1 INCRBY u63 0 {max}
        BITFIELD a SET i8 0 {min} SET i8 0 {max} SET u63 0 {min} INCRBY u63 1 {min}
        BITFIELD a GET u64 0
        BITFIELD a GET i65 0
        BITFIELD a GET i0 0
        BITFIELD a GET x8 0
        BITFIELD a GET '' 0
        BITFIELD a GET u8 -1
        BITFIELD a GET u8 x
        BITFIELD a GET u8 #x
        BITFIELD a GET u8 #-1
        BITFIELD a GET u8 #536870912
        BITFIELD a GET u4 #4611686018427387905
        BITFIELD a GET u8 4294967295
        BITFIELD a SET u8 0 x
        BITFIELD a SET u8 0
        BITFIELD a INCRBY u8 0
        BITFIELD a GET u8
        BITFIELD a OVERFLOW
        BITFIELD a OVERFLOW foo
        BITFIELD a FOO
        BITFIELD a OVERFLOW SAT
        BITFIELD_RO a GET u8 0 GET i8 #1
        BITFIELD_RO a SET u8 0 1
        BITFIELD_RO a OVERFLOW SAT
        BITFIELD_RO a
        SET b 12
        BITFIELD b GET u8 0 GET u16 0 GET i32 8
        OBJECT ENCODING b
        BITFIELD b SET u8 0 49
        OBJECT ENCODING b
        BITFIELD c GET u8 0
        EXISTS c
        BITFIELD c SET u8 100 0
        STRLEN c
        BITFIELD c SET u8 100 0
        BITFIELD c OVERFLOW FAIL SET u8 200 256
        STRLEN c
        COMMAND GETKEYSANDFLAGS BITFIELD c GET u8 0
        COMMAND GETKEYSANDFLAGS BITFIELD c GET u8 0 SET u8 0 1
        COMMAND GETKEYSANDFLAGS BITFIELD c OVERFLOW SAT
        COMMAND GETKEYSANDFLAGS BITFIELD c FOO
        SET d {long}
        BITFIELD d INCRBY u8 13 1 GET i63 5
        GET d
    """,
}
