"""Consumer groups: who was given which entry and has not acknowledged it.

Each delivered entry has a :class:`StreamNACK`, which stands in two pending entries lists
(PEL): that of the group and that of the consumer who has it. Both are sorted by ID.

Redis: streamCG, streamConsumer, streamNACK in stream.h.
"""

from __future__ import annotations

from sortedcontainers import SortedDict

from miniredis.keyspace.rdb import rdb_saved_len_size, rdb_saved_string_len

RDB_ID_SIZE = 16  # bytes of an ID in a file
RDB_MS_SIZE = 8  # bytes of a time
_U64 = (1 << 64) - 1


class StreamNACK:
    """An entry that was delivered and not acknowledged. ``delivery_time`` is in Unix ms.

    ``consumer`` is None only while XCLAIM FORCE makes one.
    """

    __slots__ = ("consumer", "delivery_count", "delivery_time")

    def __init__(self, consumer: StreamConsumer | None, now_ms: int) -> None:
        self.consumer = consumer
        self.delivery_time = now_ms
        self.delivery_count = 1


class StreamConsumer:
    """A consumer of a group. ``seen_time`` is in Unix ms; ``pel`` maps IDs to NACKs."""

    __slots__ = ("name", "pel", "seen_time")

    def __init__(self, name: bytes, now_ms: int) -> None:
        self.name = name
        self.seen_time = now_ms
        self.pel: SortedDict[int, StreamNACK] = SortedDict()


class StreamCG:
    """A consumer group.

    ``last_id`` is the last ID delivered; ``entries_read`` how many entries were ever
    delivered up to it, None if that is not known (-1 in Redis).
    """

    __slots__ = ("consumers", "entries_read", "last_id", "pel")

    def __init__(self, last_id: int, entries_read: int | None) -> None:
        self.last_id = last_id
        self.entries_read = entries_read
        self.pel: SortedDict[int, StreamNACK] = SortedDict()
        self.consumers: dict[bytes, StreamConsumer] = {}

    def sorted_consumers(self) -> list[StreamConsumer]:
        """All consumers by name, as replies list them. O(C log C)."""
        return [self.consumers[name] for name in sorted(self.consumers)]

    def lookup_consumer(self, name: bytes, now_ms: int | None = None) -> StreamConsumer | None:
        """The consumer of that name, seen at *now_ms* if given. O(1).

        t_stream.c: streamLookupConsumer()
        """
        consumer = self.consumers.get(name)
        if consumer is not None and now_ms is not None:
            consumer.seen_time = now_ms
        return consumer

    def delete_consumer(self, consumer: StreamConsumer) -> None:
        """Remove a consumer with all that is pending. O(P log P). streamDelConsumer()"""
        for id in consumer.pel:
            del self.pel[id]
        del self.consumers[consumer.name]

    def deliver(self, id: int, consumer: StreamConsumer, now_ms: int) -> StreamNACK:
        """Note that *consumer* was given the entry *id*, even if another one had it.

        O(log P). t_stream.c: streamReplyWithRange()
        """
        nack: StreamNACK | None = self.pel.get(id)
        if nack is None:
            nack = StreamNACK(consumer, now_ms)
            self.pel[id] = nack
            consumer.pel[id] = nack
            return nack
        self.give(id, nack, consumer)
        nack.delivery_time = now_ms
        nack.delivery_count = 1
        return nack

    def give(self, id: int, nack: StreamNACK, consumer: StreamConsumer) -> None:
        """Make *consumer* the owner of a pending entry. O(log P)."""
        if nack.consumer is not consumer:
            if nack.consumer is not None:
                del nack.consumer.pel[id]
            consumer.pel[id] = nack
            nack.consumer = consumer

    def acknowledge(self, id: int) -> bool:
        """Forget a pending entry; whether it was pending. O(log P)."""
        nack = self.pel.pop(id, None)
        if nack is None:
            return False
        del nack.consumer.pel[id]
        return True

    def copy(self) -> StreamCG:
        """An equal group with objects of its own. O(P log P)."""
        other = StreamCG(self.last_id, self.entries_read)
        for name, consumer in self.consumers.items():
            other.consumers[name] = StreamConsumer(name, consumer.seen_time)
        for id, nack in self.pel.items():
            owner = other.consumers[nack.consumer.name]
            twin = StreamNACK(owner, nack.delivery_time)
            twin.delivery_count = nack.delivery_count
            other.pel[id] = owner.pel[id] = twin
        return other

    def rdb_saved_len(self) -> int:
        """Bytes in a file after name and ID. O(P). rdb.c: rdbSaveStreamConsumers()"""
        read = _U64 if self.entries_read is None else self.entries_read
        size = rdb_saved_len_size(read) + rdb_saved_len_size(len(self.pel))
        for nack in self.pel.values():
            size += RDB_ID_SIZE + RDB_MS_SIZE + rdb_saved_len_size(nack.delivery_count)
        size += rdb_saved_len_size(len(self.consumers))
        for consumer in self.consumers.values():
            size += rdb_saved_string_len(consumer.name) + RDB_MS_SIZE
            size += rdb_saved_len_size(len(consumer.pel)) + RDB_ID_SIZE * len(consumer.pel)
        return size

    def _check(self) -> None:
        """Assert that both lists hold the same."""
        for id, nack in self.pel.items():
            assert nack.consumer.pel[id] is nack
            assert self.consumers[nack.consumer.name] is nack.consumer
        assert len(self.pel) == sum(len(c.pel) for c in self.consumers.values())
