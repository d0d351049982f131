"""16384 registers of 6 bits in 12288 bytes: the dense form of a HyperLogLog.

Register 0 is in the low bits of byte 0, and so on, little end first:

    byte 0     byte 1     byte 2
    11000000   22221111   33333322

All registers at once are unpacked by Base64, which does the same with the other end
first: of the bytes in reverse order it makes the registers in reverse order.

Redis: HLL_DENSE_GET_REGISTER and HLL_DENSE_SET_REGISTER in hyperloglog.c.
"""

from __future__ import annotations

import binascii
import string

HLL_P = 14  # bits of a hash that choose the register
HLL_REGISTERS = 1 << HLL_P
HLL_BITS = 6
HLL_REGISTER_MAX = (1 << HLL_BITS) - 1
HLL_HDR_SIZE = 16  # bytes before the registers
HLL_DENSE_SIZE = HLL_HDR_SIZE + (HLL_REGISTERS * HLL_BITS + 7) // 8  # bytes of the whole

_ALPHABET = (string.ascii_uppercase + string.ascii_lowercase + string.digits + "+/").encode()
_DECODE = bytes.maketrans(_ALPHABET, bytes(range(64)))
_ENCODE = bytes.maketrans(bytes(range(64)), _ALPHABET)


def get_register(hll: bytes | bytearray, index: int) -> int:
    """One register of a dense HyperLogLog. O(1)."""
    bit = index * HLL_BITS
    at = HLL_HDR_SIZE + (bit >> 3)
    # The last register ends in the last byte; the slice is then a byte shorter.
    return int.from_bytes(hll[at : at + 2], "little") >> (bit & 7) & HLL_REGISTER_MAX


def set_register(hll: bytearray, index: int, value: int) -> None:
    """Change one register. O(1)."""
    bit = index * HLL_BITS
    at, shift = HLL_HDR_SIZE + (bit >> 3), bit & 7
    old = hll[at : at + 2]
    word = int.from_bytes(old, "little") & ~(HLL_REGISTER_MAX << shift) | value << shift
    hll[at : at + 2] = word.to_bytes(len(old), "little")


def hll_dense_set(hll: bytearray, index: int, count: int) -> int:
    """Raise a register to *count*; 1 if it was lower, else 0. O(1). Redis: hllDenseSet()"""
    if count <= get_register(hll, index):
        return 0
    set_register(hll, index, count)
    return 1


def dense_registers(hll: bytes | bytearray) -> bytes:
    """All registers, a byte each. O(registers)."""
    packed = binascii.b2a_base64(hll[: HLL_HDR_SIZE - 1 : -1], newline=False)
    return packed.translate(_DECODE)[::-1]


def pack_registers(registers: bytes | bytearray) -> bytes:
    """The dense form of *registers*, without the header. O(registers)."""
    return binascii.a2b_base64(registers[::-1].translate(_ENCODE))[::-1]
