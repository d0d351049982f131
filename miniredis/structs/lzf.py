"""LZF: the quick compression of long strings in a dump.

Compressed data are pieces, each of which begins with a control byte:

    000LLLLL                      L + 1 bytes follow as they are
    LLLooooo oooooooo             copy L + 2 bytes from o + 1 bytes before here
    111ooooo LLLLLLLL oooooooo    copy L + 9 bytes from there

Redis: lzf_c.c and lzf_d.c of liblzf.
"""

from __future__ import annotations

from collections import defaultdict

HASH_BITS = 16  # HLOG
MAX_LIT = 1 << 5  # bytes of a run of literals
MAX_OFF = 1 << 13  # bytes that a copy may reach back
MAX_REF = (1 << 8) + (1 << 3)  # bytes of a copy
_LEAST_MATCH = 3  # bytes; a shorter copy would save nothing
_UNCHECKED = 16  # bytes that are compared without asking whether the copy is too long
_LONG_COPY = 7  # of LLL: the length goes on in the next byte
_HASH_MASK = (1 << HASH_BITS) - 1
_HASH_SHIFT = 3 * 8 - HASH_BITS
_TWO_BYTES = (1 << 16) - 1
_LONG = 1000  # bytes


def lzf_compress(data: bytes | bytearray, out_len: int) -> bytes | None:
    """*data* compressed to at most *out_len* bytes, or None if that is not possible.

    How it works: at each position the next three bytes are looked up in a table of where
    they were seen last. If the place is near and the bytes are really the same, as long a
    copy of it as possible is written, else one literal. ``abcabcabcabc`` becomes the
    literals ``abca`` and a copy of 8 bytes from 3 bytes back: 04-1 is the length of the
    run, so ``03 'abca' c0 02``. The very first byte is never copied from.

    Why so: one look at one slot for each position keeps it quick; better places that were
    seen earlier are forgotten. Inside a copy only the last two positions are noted.

    The bytes are liblzf's, which depend on its hash function: two triples may
    share a slot, and the older is forgotten. Differs from it: the table begins empty, not
    with what an earlier call has left on the stack; a stale slot is of use only by chance.

    O(len). lzf_c.c: lzf_compress(), VERY_FAST
    """
    end = len(data)
    if not end or not out_len:
        return None
    out = bytearray()
    # Reading a list is quicker, but to make one takes as long as some hundred bytes.
    table: list[int] | dict[int, int]
    table = [0] * (_HASH_MASK + 1) if end > _LONG else defaultdict(int)
    ip = run = 0  # run: where the literals begin that are not written yet
    pair = data[0] << 8 | data[1] if end > 1 else 0  # the two bytes before data[ip + 2]
    while ip < end - 2:
        triple = pair << 8 | data[ip + 2]
        slot = (triple >> _HASH_SHIFT) - triple * 5 & _HASH_MASK  # lzf_c.c: IDX()
        ref = table[slot]
        table[slot] = ip
        if not (ref and ip - ref <= MAX_OFF and data[ref : ref + 3] == data[ip : ip + 3]):
            pair = triple & _TWO_BYTES
            ip += 1
            continue
        count = ip - run
        if _open_size(out, count) - (not count % MAX_LIT) + 4 >= out_len:
            return None
        _put_literals(out, data[run:ip])
        length = _match_length(data, ref, ip, min(end - ip - 2, MAX_REF))
        _put_copy(out, length, ip - ref - 1)
        ip += length
        run = ip
        if ip >= end - 2:
            break
        for at in (ip - 2, ip - 1):
            table[_slot(data, at)] = at
        pair = data[ip] << 8 | data[ip + 1]
    if _open_size(out, ip - run) + 3 > out_len:
        return None
    _put_literals(out, data[run:])
    return bytes(out)


def _slot(data: bytes | bytearray, at: int) -> int:
    """The slot of three bytes. lzf_c.c: IDX()"""
    triple = data[at] << 16 | data[at + 1] << 8 | data[at + 2]
    return (triple >> _HASH_SHIFT) - triple * 5 & _HASH_MASK


def _open_size(out: bytearray, literals: int) -> int:
    """Bytes when *literals* more are written and the run that they are in is still open.

    liblzf asks before each literal whether there is room for it, which is less.
    """
    return len(out) + 1 + literals + literals // MAX_LIT


def _put_literals(out: bytearray, literals: bytes | bytearray) -> None:
    """Write runs of up to 32 literals, each behind its control byte."""
    for at in range(0, len(literals), MAX_LIT):
        run = literals[at : at + MAX_LIT]
        out.append(len(run) - 1)
        out += run


def _match_length(data: bytes | bytearray, ref: int, ip: int, limit: int) -> int:
    """How many bytes at *ref* are the same as at *ip*; the first three are."""
    length = _LEAST_MATCH - 1
    if limit > _UNCHECKED:
        for _ in range(_UNCHECKED):
            length += 1
            if data[ref + length] != data[ip + length]:
                return length
    length += 1
    while length < limit and data[ref + length] == data[ip + length]:
        length += 1
    return length


def _put_copy(out: bytearray, length: int, offset: int) -> None:
    length -= 2
    if length < _LONG_COPY:
        out.append(offset >> 8 | length << 5)
    else:
        out += bytes((offset >> 8 | _LONG_COPY << 5, length - _LONG_COPY))
    out.append(offset & 0xFF)


def lzf_decompress(data: bytes, out_len: int) -> bytes | None:
    """What *data* were made of, or None if they are damaged or not *out_len* bytes.

    O(out_len). lzf_d.c: lzf_decompress()
    """
    out = bytearray()
    ip, end = 0, len(data)
    while ip < end:
        control = data[ip]
        ip += 1
        if control < MAX_LIT:
            control += 1
            if ip + control > end or len(out) + control > out_len:
                return None
            out += data[ip : ip + control]
            ip += control
            continue
        length = control >> 5
        size = 2 if length == _LONG_COPY else 1
        if ip + size > end:
            return None
        if size == 2:
            length += data[ip]
        ref = len(out) - ((control & 0x1F) << 8) - 1 - data[ip + size - 1]
        ip += size
        length += 2
        if ref < 0 or len(out) + length > out_len:
            return None
        _copy(out, ref, length)
    return bytes(out) if len(out) == out_len else None


def _copy(out: bytearray, ref: int, length: int) -> None:
    """Repeat *length* bytes from *ref* on, also those that this has just appended."""
    span = out[ref : ref + length]
    times, rest = divmod(length, len(span))
    out += span * times + span[:rest]
