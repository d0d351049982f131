"""Constants of the file format. Redis: rdb.h."""

from __future__ import annotations

RDB_MAGIC = b"REDIS"  # a file begins with it, and with the version in four digits
RDB_VERSION = 10
RDB_VERSION_DIGITS = 4
RDB_VERSION_CHECKSUM = 5  # the oldest with a checksum
RDB_CRC_SIZE = 8  # bytes of the checksum, little endian; 0: none was made

# What stands in a file between keys, in the place of a type.
RDB_OPCODE_FUNCTION2 = 245
RDB_OPCODE_FUNCTION_PRE_GA = 246
RDB_OPCODE_MODULE_AUX = 247
RDB_OPCODE_IDLE = 248
RDB_OPCODE_FREQ = 249
RDB_OPCODE_AUX = 250
RDB_OPCODE_RESIZEDB = 251
RDB_OPCODE_EXPIRETIME_MS = 252
RDB_OPCODE_EXPIRETIME = 253
RDB_OPCODE_SELECTDB = 254
RDB_OPCODE_EOF = 255

# How a length begins: with two bits, or with a whole byte.
RDB_6BITLEN = 0
RDB_14BITLEN = 1
RDB_32BITLEN = 0x80
RDB_64BITLEN = 0x81
RDB_ENCVAL = 3  # no length: six bits tell how a string is encoded
RDB_LENERR = (1 << 64) - 1

RDB_ENC_INT8 = 0
RDB_ENC_INT16 = 1
RDB_ENC_INT32 = 2
RDB_ENC_LZF = 3
RDB_ENC_BYTES = {RDB_ENC_INT8: 1, RDB_ENC_INT16: 2, RDB_ENC_INT32: 4}  # of an integer

RDB_TYPE_STRING = 0
RDB_TYPE_LIST = 1
RDB_TYPE_SET = 2
RDB_TYPE_ZSET = 3
RDB_TYPE_HASH = 4
RDB_TYPE_ZSET_2 = 5
RDB_TYPE_HASH_ZIPMAP = 9
RDB_TYPE_LIST_ZIPLIST = 10
RDB_TYPE_SET_INTSET = 11
RDB_TYPE_ZSET_ZIPLIST = 12
RDB_TYPE_HASH_ZIPLIST = 13
RDB_TYPE_LIST_QUICKLIST = 14
RDB_TYPE_STREAM_LISTPACKS = 15
RDB_TYPE_HASH_LISTPACK = 16
RDB_TYPE_ZSET_LISTPACK = 17
RDB_TYPE_LIST_QUICKLIST_2 = 18
RDB_TYPE_STREAM_LISTPACKS_2 = 19

# What a node of a quicklist holds. quicklist.h
QUICKLIST_NODE_CONTAINER_PLAIN = 1  # one element
QUICKLIST_NODE_CONTAINER_PACKED = 2  # a listpack

# Flags of an entry in a node of a stream. t_stream.c
STREAM_ITEM_FLAG_DELETED = 1 << 0
STREAM_ITEM_FLAG_SAMEFIELDS = 1 << 1

STREAM_ID_SIZE = 16  # bytes: two integers of 64 bits, big endian
MS_SIZE = 8  # bytes of a time, little endian
DOUBLE_FORMAT = "<d"  # of a score
DOUBLE_SIZE = 8  # bytes

DUMP_VERSION_SIZE = 2  # bytes behind the value, little endian
DUMP_CRC_SIZE = 8  # bytes of the checksum of all that is before it, little endian
DUMP_FOOTER_SIZE = DUMP_VERSION_SIZE + DUMP_CRC_SIZE
