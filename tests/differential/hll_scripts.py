"""Scripts about HyperLogLogs, in the language of ``command_scripts.py``."""

from __future__ import annotations

_MANY = " ".join(map(str, range(300)))
HYPERLOGLOGS = {
    "pfadd": f"""
        PFADD a
        PFADD a
        GET a
        PFCOUNT a
        PFADD a x y z
        GET a
        PFADD a x
        PFCOUNT a
        GET a
        PFCOUNT a
        PFADD a ''
        PFADD a {_MANY}
        PFCOUNT a
        GET a
        PFDEBUG DECODE a
        PFDEBUG ENCODING a
        PFDEBUG FOO a
        PFDEBUG ENCODING missing
        PFDEBUG ENCODING
        PFDEBUG GETREG a
        PFDEBUG DECODE a
        PFDEBUG TODENSE a
        GET a
        PFADD b 1
        PFDEBUG TODENSE b
        PFDEBUG TODENSE b
        GET b
        PFCOUNT b a missing
        PFMERGE c a b
        PFCOUNT c
        GET c
        OBJECT ENCODING c
        PFCOUNT missing
        PFCOUNT missing missing2
        PFMERGE d
        PFMERGE d missing
        GET d
        PFMERGE d b
        GET d
        PEXPIRE d 10
        PFADD d zz
        PTTL d
    """,
    "not_one": """
        SET a foo
        PFADD a x
        PFCOUNT a
        PFCOUNT missing a
        PFMERGE b a
        PFDEBUG GETREG a
        SET a HYLL
        PFADD a x
        SET a HYLLxxxxxxxxxxxxxxxxxxxx
        PFADD a x
        SET a 12
        PFCOUNT a
        SET a HYLL{nul}{nul}{nul}{nul}{nul}{nul}{nul}{nul}{nul}{nul}{nul}{nul}
        PFCOUNT a
    """,
    "sparse_limit": f"""
        CONFIG SET hll-sparse-max-bytes 60
        PFADD a {" ".join(map(str, range(20)))}
        GET a
        PFADD a {_MANY}
        GET a
        CONFIG SET hll-sparse-max-bytes 3000
        PFADD b {_MANY}
        CONFIG SET hll-sparse-max-bytes 200
        PFMERGE c b
        GET c
        PFADD b zz yy xx ww vv uu tt
        GET b
        CONFIG SET hll-sparse-max-bytes 3000
    """,
}
