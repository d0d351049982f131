"""LZF: the quick compression of long strings in a dump.

Compressed data are pieces, each of which begins with a control byte:

    000LLLLL                      L + 1 bytes follow as they are
    LLLooooo oooooooo             copy L + 2 bytes from o + 1 bytes before here
    111ooooo LLLLLLLL oooooooo    copy L + 9 bytes from there

Redis: lzf_c.c and lzf_d.c of liblzf.
"""

from __future__ import annotations

HASH_BITS = 16  # HLOG
MAX_LIT = 1 << 5  # bytes of a run of literals
MAX_OFF = 1 << 13  # bytes that a copy may reach back
MAX_REF = (1 << 8) + (1 << 3)  # bytes of a copy
_LEAST_MATCH = 3  # bytes; a shorter copy would save nothing
_UNCHECKED = 16  # bytes that are compared without asking whether the copy is too long
_LONG_COPY = 7  # of LLL: the length goes on in the next byte
_HASH_MASK = (1 << HASH_BITS) - 1
_HASH_SHIFT = 3 * 8 - HASH_BITS


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
    out = bytearray(1)  # the control byte of the first run
    if not end or not out_len:
        return None
    table: dict[int, int] = {}
    ip = literals = 0
    while ip < end - 2:
        slot = _slot(data, ip)
        ref = table.get(slot, 0)
        table[slot] = ip
        if not (ref > 0 and ip - ref <= MAX_OFF and data[ref : ref + 3] == data[ip : ip + 3]):
            if len(out) >= out_len:
                return None
            out.append(data[ip])
            ip += 1
            literals = _count_literal(out, literals)
            continue
        if len(out) - (not literals) + 4 >= out_len:
            return None
        _end_run(out, literals)
        length = _match_length(data, ref, ip, min(end - ip - 2, MAX_REF))
        _put_copy(out, length, ip - ref - 1)
        out.append(0)
        literals = 0
        ip += length
        if ip >= end - 2:
            break
        for at in (ip - 2, ip - 1):
            table[_slot(data, at)] = at
    if len(out) + 3 > out_len:
        return None
    for byte in data[ip:]:
        out.append(byte)
        literals = _count_literal(out, literals)
    _end_run(out, literals)
    return bytes(out)


def _slot(data: bytes | bytearray, at: int) -> int:
    """The slot of three bytes. lzf_c.c: IDX()"""
    triple = data[at] << 16 | data[at + 1] << 8 | data[at + 2]
    return (triple >> _HASH_SHIFT) - triple * 5 & _HASH_MASK


def _count_literal(out: bytearray, literals: int) -> int:
    """One literal more is in *out*; a full run ends and the next one begins."""
    literals += 1
    if literals < MAX_LIT:
        return literals
    _end_run(out, literals)
    out.append(0)
    return 0


def _end_run(out: bytearray, literals: int) -> None:
    """Fill in the control byte of a run, or drop it if the run is empty."""
    if literals:
        out[-literals - 1] = literals - 1
    else:
        out.pop()


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
