"""Libraries of functions as bytes, in the format of FUNCTION DUMP.

Of a library only its code is kept; it runs again when it is loaded. Each library is an opcode
and a string, packed like any other:

    f5             a library follows
    40d2 23216c..  its code, 210 bytes
    0a00           version of the format
    ........       checksum, 8 bytes

Redis: ``rdbSaveFunctions()``, ``rdbFunctionLoad()`` in rdb.c.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from miniredis.keyspace.rdb_reader import RdbError, RdbReader
from miniredis.keyspace.rdb_save import RdbWriter
from miniredis.keyspace.rdb_types import (
    DUMP_CRC_SIZE,
    DUMP_FOOTER_SIZE,
    DUMP_VERSION_SIZE,
    RDB_OPCODE_FUNCTION2,
    RDB_OPCODE_FUNCTION_PRE_GA,
    RDB_VERSION,
)
from miniredis.structs.crc64 import crc64


def create_functions_payload(codes: Iterable[bytes], compression: bool = True) -> bytes:
    """What FUNCTION DUMP replies for libraries of these codes. O(bytes).

    functions.c: functionDumpCommand()
    """
    rdb = RdbWriter(compression)
    for code in codes:
        rdb.out.append(RDB_OPCODE_FUNCTION2)
        rdb.string(code)
    rdb.out += RDB_VERSION.to_bytes(DUMP_VERSION_SIZE, "little")
    rdb.out += crc64(0, rdb.out).to_bytes(DUMP_CRC_SIZE, "little")
    return bytes(rdb.out)


def load_functions_payload(payload: bytes) -> Iterator[bytes]:
    """The codes in a payload whose checksum was verified, one by one. O(bytes).

    RdbError with Redis's text where it is damaged. functions.c: functionRestoreCommand()
    """
    rdb = RdbReader(payload)
    while len(payload) - rdb.at > DUMP_FOOTER_SIZE:
        opcode = rdb.byte()
        if opcode == RDB_OPCODE_FUNCTION2:
            yield _string(rdb, "payload")
        elif opcode == RDB_OPCODE_FUNCTION_PRE_GA:
            yield _pre_ga_code(rdb)
        else:
            raise RdbError("given type is not a function")


def _pre_ga_code(rdb: RdbReader) -> bytes:
    """A library whose name and engine stand beside its code. rdb.c: rdbFunctionLoad()"""
    name, engine = _string(rdb, "name"), _string(rdb, "engine name")
    try:
        has_description = rdb.number()
    except RdbError:
        raise RdbError("Failed loading library description indicator") from None
    if has_description:
        _string(rdb, "description")
    return b"#!%s name=%s\n%s" % (engine, name, _string(rdb, "blob"))


def _string(rdb: RdbReader, what: str) -> bytes:
    try:
        return rdb.string()
    except RdbError:
        article = "" if what == "engine name" else "library "
        raise RdbError(f"Failed loading {article}{what}") from None
