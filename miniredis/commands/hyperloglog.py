"""HyperLogLog: PFADD, PFCOUNT, PFMERGE, PFDEBUG, PFSELFTEST.

A HyperLogLog is a string of a certain form, see ``structs/hyperloglog.py``.

Redis: hyperloglog.c.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from miniredis.commands.args import c_string, word
from miniredis.commands.string_parts import unshare_string_value
from miniredis.commands.subcommands import one_line
from miniredis.commands.table import KeySpec, command
from miniredis.errors import CommandError, wrong_type
from miniredis.keyspace.notify import NOTIFY_STRING
from miniredis.keyspace.object import OBJ_STRING, RedisObject
from miniredis.reply import OK, Reply, Status
from miniredis.structs.hll_dense import (
    HLL_DENSE_SIZE,
    HLL_HDR_SIZE,
    HLL_REGISTER_MAX,
    HLL_REGISTERS,
    dense_registers,
    get_register,
    pack_registers,
    set_register,
)
from miniredis.structs.hll_sparse import (
    ENCODING_AT,
    HLL_DENSE,
    HLL_SPARSE,
    hll_sparse_to_dense,
    invalidate_cache,
    opcodes,
)
from miniredis.structs.hyperloglog import (
    Hll,
    RegisterUnion,
    cache_cardinality,
    cached_cardinality,
    create_hll,
    hll_add_all,
    hll_count,
    hll_histogram,
    hll_set_all,
    is_hll,
    register_histogram,
)

if TYPE_CHECKING:
    from miniredis.server.client import Client

LLONG_SPAN = 1 << 64
# What PFSELFTEST does; Redis does 1000 cycles and goes to 10,000,000 elements.
HLL_TEST_CYCLES = 3
HLL_TEST_ELEMENTS = 100_000
HLL_TEST_ERRORS = 6  # standard errors that an estimate may be off


def _corrupted() -> CommandError:
    return CommandError("INVALIDOBJ Corrupted HLL object detected")


def _check_hll(o: RedisObject) -> Hll:
    """The bytes of a HyperLogLog, not copied. hyperloglog.c: isHLLObjectOrReply()"""
    if o.type != OBJ_STRING:
        raise wrong_type()
    value: Hll = o.ptr
    if not is_hll(value):
        raise CommandError("WRONGTYPE Key is not a valid HyperLogLog string value.")
    return value


def _create(c: Client, key: bytes) -> bytearray:
    hll = create_hll()
    c.db.add(key, RedisObject(OBJ_STRING, hll, c.server.new_object_lru, "raw"))
    return hll


def _merge(c: Client, keys: tuple[bytes, ...]) -> tuple[bytes, bool]:
    """The registers of the union of several keys, and whether any of them is dense."""
    union, dense = RegisterUnion(), False
    for key in keys:
        o = c.db.lookup_key_read(key)
        if o is None:
            continue
        hll = _check_hll(o)
        dense |= hll[ENCODING_AT] == HLL_DENSE
        if not union.add(hll):
            raise _corrupted()
    return union.registers(), dense


@command(
    "pfadd",
    arity=-2,
    flags="write denyoom fast",
    keys=(1, 1, 1),
    access="RW insert",
    group="hyperloglog",
    since="2.8.9",
    complexity="O(1) to add every element.",
)
def pfadd(c: Client, key: bytes, *elements: bytes) -> Reply:
    """PFADD key [element [element ...]]

    Counts elements in a HyperLogLog, which is created if missing; 1 if that changed it.

    hyperloglog.c: pfaddCommand()
    """
    o = c.db.lookup_key_write(key)
    if o is None:
        hll, updated = _create(c, key), 1
    else:
        _check_hll(o)
        hll, updated = unshare_string_value(c, key, o), 0
    added, valid = hll_add_all(hll, elements, c.server.config.hll_sparse_max_bytes)
    if not valid:
        raise _corrupted()
    updated += added
    if not updated:
        return 0
    c.server.signal_modified_key(c.db, key)
    c.db.notify(NOTIFY_STRING, b"pfadd", key)
    c.server.dirty += updated
    invalidate_cache(hll)
    return 1


@command(
    "pfcount",
    arity=-2,
    flags="readonly may_replicate",
    keys=(1, -1, 1),
    specs=(
        KeySpec("RW access", index=1, lastkey=-1, notes="May write: the count is kept in the key"),
    ),
    group="hyperloglog",
    since="2.8.9",
    complexity="O(1) for one key whose estimate is cached; else O(N) in the number of keys",
)
def pfcount(c: Client, *keys: bytes) -> Reply:
    """PFCOUNT key [key ...]

    Estimates how many different elements were added, to any of several keys. The estimate
    for one key is kept in its value, which counts as a change.

    hyperloglog.c: pfcountCommand()
    """
    if len(keys) > 1:
        return _signed(hll_count(register_histogram(_merge(c, keys)[0])))
    key = keys[0]
    o = c.db.lookup_key_read(key)
    if o is None:
        return 0
    _check_hll(o)
    hll = unshare_string_value(c, key, o)
    cardinality = cached_cardinality(hll)
    if cardinality is None:
        histogram = hll_histogram(hll)
        if histogram is None:
            raise _corrupted()
        cardinality = hll_count(histogram)
        cache_cardinality(hll, cardinality)
        c.server.signal_modified_key(c.db, key)
        c.server.dirty += 1
    return _signed(cardinality)


def _signed(number: int) -> int:
    """An unsigned 64-bit integer as a reply shows it."""
    return number - LLONG_SPAN if number >= LLONG_SPAN // 2 else number


@command(
    "pfmerge",
    arity=-2,
    flags="write denyoom",
    keys=(1, -1, 1),
    specs=(KeySpec("RW access insert", index=1), KeySpec("RO access", index=2, lastkey=-1)),
    group="hyperloglog",
    since="2.8.9",
    complexity="O(N) to merge N HyperLogLogs, but with high constant times.",
)
def pfmerge(c: Client, destkey: bytes, *keys: bytes) -> Reply:
    """PFMERGE destkey sourcekey [sourcekey ...]

    Adds all that several HyperLogLogs have seen to the first one.

    hyperloglog.c: pfmergeCommand()
    """
    registers, dense = _merge(c, (destkey, *keys))
    o = c.db.lookup_key_write(destkey)
    hll = _create(c, destkey) if o is None else unshare_string_value(c, destkey, o)
    if dense and not hll_sparse_to_dense(hll):
        raise _corrupted()
    if hll[ENCODING_AT] == HLL_DENSE:
        # The union holds what the destination had, so all can be written at once.
        hll[HLL_HDR_SIZE:] = pack_registers(registers)
    else:
        changes = ((index, value) for index, value in enumerate(registers) if value)
        hll_set_all(hll, changes, c.server.config.hll_sparse_max_bytes)
    invalidate_cache(hll)
    c.server.signal_modified_key(c.db, destkey)
    c.db.notify(NOTIFY_STRING, b"pfadd", destkey)
    c.server.dirty += 1
    return OK


@command(
    "pfdebug",
    arity=3,
    flags="write denyoom admin",
    keys=(2, 2, 1),
    access="RW access",
    group="hyperloglog",
    since="2.8.9",
    complexity="N/A",
)
def pfdebug(c: Client, subcommand: bytes, key: bytes) -> Reply:
    """PFDEBUG subcommand key

    Shows the inside of a HyperLogLog: GETREG all registers (which makes it dense), DECODE
    the opcodes of a sparse one, ENCODING; TODENSE makes it dense.

    hyperloglog.c: pfdebugCommand()
    """
    o = c.db.lookup_key_write(key)
    if o is None:
        raise CommandError("ERR The specified key does not exist")
    _check_hll(o)
    hll = unshare_string_value(c, key, o)
    sparse = hll[ENCODING_AT] == HLL_SPARSE
    name = word(subcommand)
    if name in (b"getreg", b"todense"):
        if sparse:
            if not hll_sparse_to_dense(hll):
                raise _corrupted()
            c.server.dirty += 1  # replicas are to change the encoding too
        return list(dense_registers(hll)) if name == b"getreg" else int(sparse)
    if name == b"decode":
        if not sparse:
            raise CommandError("ERR HLL encoding is not sparse")
        return b" ".join(
            b"v:%d,%d" % (value, length) if kind == "v" else b"%s:%d" % (kind.encode(), length)
            for kind, value, length in opcodes(hll)
        )
    if name == b"encoding":
        return Status(b"sparse" if sparse else b"dense")
    raise CommandError(one_line(b"ERR Unknown PFDEBUG subcommand '%s'" % c_string(subcommand)))


@command(
    "pfselftest",
    arity=1,
    flags="admin",
    group="hyperloglog",
    since="2.8.9",
    complexity="N/A",
)
def pfselftest(c: Client) -> Reply:
    """PFSELFTEST

    Tests registers and estimates. Takes about a second; Redis's own goes on to ten million
    elements, a hundred times as many.

    hyperloglog.c: pfselftestCommand()
    """
    _test_registers(c)
    _test_estimates(c)
    return OK


def _test_registers(c: Client) -> None:
    """Set all registers to random values and read them back, one by one and all at once."""
    dense = bytearray(HLL_DENSE_SIZE)
    for _ in range(HLL_TEST_CYCLES):
        expected = bytes(c.server.rng.choices(range(HLL_REGISTER_MAX + 1), k=HLL_REGISTERS))
        for index, value in enumerate(expected):
            set_register(dense, index, value)
        at_once = dense_registers(dense)
        for index, value in enumerate(expected):
            for got in (get_register(dense, index), at_once[index]):
                if got != value:
                    raise CommandError(
                        f"ERR TESTFAILED Register {index} should be {value} but is {got}"
                    )


def _test_estimates(c: Client) -> None:
    """At 1, 10, 100, ... elements: both forms agree, and the estimate is near enough."""
    sparse_max_bytes = c.server.config.hll_sparse_max_bytes
    hll, dense = create_hll(), create_hll()
    hll_sparse_to_dense(dense)
    relative_error = 1.04 / math.sqrt(HLL_REGISTERS)
    checkpoint = 1
    seed = c.server.rng.getrandbits(64)
    tested = 0
    while checkpoint <= HLL_TEST_ELEMENTS:
        elements = [(j ^ seed).to_bytes(8, "little") for j in range(tested + 1, checkpoint + 1)]
        for one in (dense, hll):
            hll_add_all(one, elements, sparse_max_bytes)
        tested = j = checkpoint
        if j < sparse_max_bytes // 2 and hll[ENCODING_AT] != HLL_SPARSE:
            raise CommandError("ERR TESTFAILED sparse encoding not used")
        histogram = hll_histogram(dense)
        if histogram is None or histogram != hll_histogram(hll):
            raise CommandError("ERR TESTFAILED dense/sparse disagree")
        error = abs(checkpoint - hll_count(histogram))
        if error > (1 if j == 10 else math.ceil(relative_error * HLL_TEST_ERRORS * checkpoint)):
            raise CommandError(f"ERR TESTFAILED Too big error. card:{checkpoint} abserr:{error}")
        checkpoint *= 10
