"""Values of the keyspace: type, encoding, access time.

A :class:`RedisObject` wraps a value together with what OBJECT tells about it. A string's
``ptr`` is ``bytes``, or a ``bytearray`` once a command has changed it in place (then it
is ``raw`` for good, like an sds that APPEND has grown). Other types keep a value of their
own class in ``ptr``, see ``value.py``; it knows its encoding.

Differs from Redis: the encoding of a fresh string is worked out when somebody asks for
it, not at SET, because it follows from the bytes alone.

Redis: object.c; the LFU counter is in evict.c.
"""

from __future__ import annotations

import random
from typing import Any

OBJ_STRING = 0
OBJ_LIST = 1
OBJ_SET = 2
OBJ_ZSET = 3
OBJ_HASH = 4
OBJ_STREAM = 6

#: Names as TYPE replies them.
TYPE_NAMES = {
    OBJ_STRING: b"string",
    OBJ_LIST: b"list",
    OBJ_SET: b"set",
    OBJ_ZSET: b"zset",
    OBJ_HASH: b"hash",
    OBJ_STREAM: b"stream",
}

OBJ_ENCODING_EMBSTR_SIZE_LIMIT = 44  # bytes of the longest embstr
LONG_MAX_DIGITS = 20  # bytes of the longest string tried as an integer
LLONG_MIN, LLONG_MAX = -(2**63), 2**63 - 1
INT_BASE_LRU_BITS = 24
LRU_CLOCK_MAX = (1 << INT_BASE_LRU_BITS) - 1  # the LRU clock wraps after 194 days
LRU_CLOCK_RESOLUTION = 1000  # ms
OBJ_SHARED_INTEGERS = 10_000  # integers below it are one shared object each
OBJ_SHARED_REFCOUNT = 2_147_483_647  # what OBJECT REFCOUNT says of a shared object

LFU_INIT_VAL = 5  # counter of a new key, so that it is not evicted at once


class RedisObject:
    """A value with its type. server.h: robj

    ``encoding`` is None where the encoding follows from ``ptr``, see
    :func:`object_encoding`. ``lru`` is the LRU clock of the last access in seconds, or,
    under an LFU policy, minutes << 8 | counter.
    """

    __slots__ = ("encoding", "lru", "ptr", "type")

    def __init__(self, type: int, ptr: Any, lru: int = 0, encoding: str | None = None) -> None:
        self.type = type
        self.ptr = ptr
        self.lru = lru
        self.encoding = encoding

    def __repr__(self) -> str:
        return f"RedisObject({TYPE_NAMES[self.type].decode()}, {self.ptr!r})"


def object_encoding(o: RedisObject) -> str:
    """The encoding's name as OBJECT ENCODING replies it. object.c: tryObjectEncoding()"""
    if o.encoding is not None:
        return o.encoding
    if o.type != OBJ_STRING:
        encoding: str = o.ptr.encoding
        return encoding
    value: bytes = o.ptr
    if len(value) <= LONG_MAX_DIGITS and string2ll(value) is not None:
        return "int"
    return "embstr" if len(value) <= OBJ_ENCODING_EMBSTR_SIZE_LIMIT else "raw"


def fixed_string_encoding(value: bytes) -> str:
    """The encoding of a string that was never tried as an integer.

    Redis: createStringObject() without tryObjectEncoding(), e.g. in INCRBYFLOAT.
    """
    return "embstr" if len(value) <= OBJ_ENCODING_EMBSTR_SIZE_LIMIT else "raw"


def dup_object(o: RedisObject, lru: int, rng: random.Random) -> RedisObject:
    """A copy of a value of any type with the same encoding. O(N). db.c: copyCommand()"""
    if o.type == OBJ_STRING:
        return dup_string_object(o, lru)
    return RedisObject(o.type, o.ptr.copy(rng), lru, o.encoding)


def dup_string_object(o: RedisObject, lru: int) -> RedisObject:
    """A copy of a string object with the same encoding. object.c: dupStringObject()"""
    ptr = bytearray(o.ptr) if o.ptr.__class__ is bytearray else o.ptr
    return RedisObject(o.type, ptr, lru, o.encoding)


def string2ll(value: bytes) -> int | None:
    """*value* as a signed 64-bit integer, or None if it is not exactly one.

    No spaces, no plus sign, no leading zeros, no ``-0``. util.c: string2ll()
    """
    if not 0 < len(value) <= LONG_MAX_DIGITS:
        return None
    try:
        number = int(value)
    except ValueError:
        return None
    if b"%d" % number != value or not LLONG_MIN <= number <= LLONG_MAX:
        return None
    return number


def refcount(o: RedisObject) -> int:
    """What OBJECT REFCOUNT replies: small integers are shared objects. object.c"""
    if o.type == OBJ_STRING and object_encoding(o) == "int":
        number = int(o.ptr)
        if 0 <= number < OBJ_SHARED_INTEGERS:
            return OBJ_SHARED_REFCOUNT
    return 1


def estimate_object_idle_time(o: RedisObject, lru_clock: int) -> int:
    """Milliseconds since the last access. evict.c: estimateObjectIdleTime()"""
    if lru_clock >= o.lru:
        return (lru_clock - o.lru) * LRU_CLOCK_RESOLUTION
    return (lru_clock + LRU_CLOCK_MAX - o.lru) * LRU_CLOCK_RESOLUTION


def lfu_get_time_in_minutes(unix_seconds: int) -> int:
    """The 16-bit minute clock. evict.c: LFUGetTimeInMinutes()"""
    return (unix_seconds // 60) & 0xFFFF


def lfu_decr_and_return(o: RedisObject, now_minutes: int, decay_time: int) -> int:
    """The counter after decay: one down for every *decay_time* minutes since the last.

    evict.c: LFUDecrAndReturn()
    """
    last, counter = o.lru >> 8, o.lru & 255
    elapsed = now_minutes - last if now_minutes >= last else 65535 - last + now_minutes
    periods = elapsed // decay_time if decay_time else 0
    return max(counter - periods, 0)


def lfu_log_incr(counter: int, log_factor: int, rng: random.Random) -> int:
    """Count an access, the less likely the higher the counter is. evict.c: LFULogIncr()

    With the default factor of 10, some 100 accesses lead to 10 and a million to 255.
    """
    if counter == 255:
        return 255
    base = max(counter - LFU_INIT_VAL, 0)
    return counter + 1 if rng.random() < 1.0 / (base * log_factor + 1) else counter
