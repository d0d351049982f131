"""The list of lists behind a Redis list: nodes in a chain, each holding many elements.

Redis: quicklist.c. The structure is here; cutting and joining nodes when something is
inserted in the middle is in ``quicklist_insert.py``.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator
from itertools import islice

from miniredis.keyspace.listpack_size import LP_EOF_SIZE, LP_HDR_SIZE, entry_size

FILL_MAX, FILL_MIN = (1 << 15) - 1, -5
COMPRESS_MAX = (1 << 16) - 1
OPTIMIZATION_LEVEL = (4096, 8192, 16384, 32768, 65536)  # bytes of a node, by -fill - 1
SIZE_SAFETY_LIMIT = 8192  # bytes of a node whose elements are counted
SIZE_ESTIMATE_OVERHEAD = 8  # bytes that an element takes beside its own, at most
PACKED_THRESHOLD = 1 << 30  # bytes of an element that gets a node of its own
PACKED_THRESHOLD_MAX = (1 << 32) - (1 << 20)  # what it may be set to
EMPTY_NODE_BYTES = LP_HDR_SIZE + LP_EOF_SIZE


class QuickListNode:
    """One link of the chain. quicklist.h: quicklistNode

    ``sz`` is what a listpack of ``entries`` takes, in bytes. A ``plain`` node holds a
    single element that is too large for a listpack; ``sz`` is the element's length.
    """

    __slots__ = ("entries", "next", "plain", "prev", "sz")

    def __init__(self, entries: Iterable[bytes], sz: int, plain: bool = False) -> None:
        self.entries = deque(entries)
        self.sz = sz
        self.plain = plain
        self.prev: QuickListNode | None = None
        self.next: QuickListNode | None = None


class QuickList:
    """A list of bytes that is quick at both ends and bearable in the middle.

    How it works: the elements stand in nodes, in order, each node a deque. An element is
    pushed into the node at that end while the node has room, else a new node is made. To
    find an element by its index, whole nodes are passed over by their counts, from the
    nearer end; inside a node the deque finds it.

    Why so: one array would move everything at each LPUSH, a chain of single elements would
    cost memory and take N hops. Redis keeps a node as one block of memory (a listpack)
    that fits the processor's cache, and rewrites that block when it changes.

    When a node is full follows from *fill* (``list-max-listpack-size``): n >= 0 means at
    most n elements and 8 kB; -1 ... -5 mean 4, 8, 16, 32, 64 kB. The bytes are those of a
    listpack, so that nodes split where Redis splits them. Example with fill 2:
    RPUSH a b c makes [a b] [c]; LINSERT BEFORE b x cuts the full node, [a x] [b] [c], and
    joins what fits: [a x] [b c].

    Limits: nothing is compressed; *compress* (``list-compress-depth``) is remembered only.
    An element of *packed_threshold* bytes or more gets a plain node of its own.
    """

    __slots__ = ("_node_bytes", "compress", "count", "fill", "head", "len", "packed", "tail")

    def __init__(self, fill: int = -2, compress: int = 0, packed: int = PACKED_THRESHOLD) -> None:
        self.head: QuickListNode | None = None
        self.tail: QuickListNode | None = None
        self.len = 0  # nodes
        self.count = 0  # elements
        self.fill = max(FILL_MIN, min(fill, FILL_MAX))
        self.compress = max(0, min(compress, COMPRESS_MAX))
        self.packed = packed
        self._node_bytes = (
            OPTIMIZATION_LEVEL[-self.fill - 1] if self.fill < 0 else SIZE_SAFETY_LIMIT
        )

    def __len__(self) -> int:
        """Number of elements. O(1). quicklist.c: quicklistCount()"""
        return self.count

    def nodes(self) -> Iterator[QuickListNode]:
        """The nodes from head to tail; the one just given may be deleted."""
        node = self.head
        while node is not None:
            following = node.next
            yield node
            node = following

    def __iter__(self) -> Iterator[bytes]:
        """The elements from head to tail."""
        for node in self.nodes():
            yield from node.entries

    def __reversed__(self) -> Iterator[bytes]:
        """The elements from tail to head."""
        node = self.tail
        while node is not None:
            yield from reversed(node.entries)
            node = node.prev

    # -- the chain ----------------------------------------------------------------------

    def allow_insert(self, node: QuickListNode | None, size: int) -> bool:
        """Whether an element of *size* bytes may go into *node*.

        The sum is an estimate that is too high by a few bytes, as Redis's.
        quicklist.c: _quicklistNodeAllowInsert()
        """
        if node is None or node.plain or size >= self.packed:
            return False
        if node.sz + size + SIZE_ESTIMATE_OVERHEAD > self._node_bytes:
            return False
        return self.fill < 0 or len(node.entries) < self.fill

    def allow_merge(self, a: QuickListNode | None, b: QuickListNode | None) -> bool:
        """Whether two neighbours may become one node. quicklist.c: _quicklistNodeAllowMerge()"""
        if a is None or b is None or a.plain or b.plain:
            return False
        if a.sz + b.sz - 11 > self._node_bytes:
            return False
        return self.fill < 0 or len(a.entries) + len(b.entries) <= self.fill

    def create_node(self, value: bytes) -> QuickListNode:
        """A node that holds *value* alone; plain if that is large."""
        if len(value) >= self.packed:
            return QuickListNode((value,), len(value), plain=True)
        return QuickListNode((value,), EMPTY_NODE_BYTES + entry_size(value))

    def link(self, old: QuickListNode | None, new: QuickListNode, after: bool) -> None:
        """Put *new* beside *old*. O(1). quicklist.c: __quicklistInsertNode()"""
        if old is None:
            assert self.head is None
            self.head = self.tail = new
        elif after:
            new.prev, new.next = old, old.next
            old.next = new
            if new.next is None:
                self.tail = new
            else:
                new.next.prev = new
        else:
            new.prev, new.next = old.prev, old
            old.prev = new
            if new.prev is None:
                self.head = new
            else:
                new.prev.next = new
        self.len += 1

    def delete_node(self, node: QuickListNode) -> None:
        """Take *node* and what it holds out. O(1). quicklist.c: __quicklistDelNode()"""
        if node.prev is None:
            self.head = node.next
        else:
            node.prev.next = node.next
        if node.next is None:
            self.tail = node.prev
        else:
            node.next.prev = node.prev
        self.len -= 1
        self.count -= len(node.entries)

    def seek(self, index: int) -> tuple[QuickListNode, int] | None:
        """The node and the offset in it of an index, which may be negative; None outside.

        O(nodes up to it from the nearer end). quicklist.c: quicklistGetIteratorAtIdx()
        """
        count = self.count
        if index < 0:
            index += count
        if not 0 <= index < count:
            return None
        if index <= (count - 1) // 2:
            node = self.head
            assert node is not None
            while index >= len(node.entries):
                index -= len(node.entries)
                node = node.next
                assert node is not None
            return node, index
        back = count - index  # counted from the tail, 1 for the last element
        node = self.tail
        assert node is not None
        while back > len(node.entries):
            back -= len(node.entries)
            node = node.prev
            assert node is not None
        return node, len(node.entries) - back

    # -- ends ---------------------------------------------------------------------------

    def push_head(self, value: bytes) -> None:
        """Put *value* before all others. O(1). quicklist.c: quicklistPushHead()"""
        head = self.head
        if head is not None and self.allow_insert(head, len(value)):
            head.entries.appendleft(value)
            head.sz += entry_size(value)
        else:
            self.link(head, self.create_node(value), after=False)
        self.count += 1

    def push_tail(self, value: bytes) -> None:
        """Put *value* after all others. O(1). quicklist.c: quicklistPushTail()"""
        tail = self.tail
        if tail is not None and self.allow_insert(tail, len(value)):
            tail.entries.append(value)
            tail.sz += entry_size(value)
        else:
            self.link(tail, self.create_node(value), after=True)
        self.count += 1

    def pop_head(self) -> bytes:
        """Take the first element, which must exist. O(1). quicklist.c: quicklistPopCustom()"""
        node = self.head
        assert node is not None
        value = node.entries.popleft()
        self._popped(node, value)
        return value

    def pop_tail(self) -> bytes:
        """Take the last element, which must exist. O(1). quicklist.c: quicklistPopCustom()"""
        node = self.tail
        assert node is not None
        value = node.entries.pop()
        self._popped(node, value)
        return value

    def _popped(self, node: QuickListNode, value: bytes) -> None:
        """quicklist.c: quicklistDelIndex()"""
        self.count -= 1
        if node.entries:
            node.sz -= entry_size(value)
        else:
            self.delete_node(node)

    # -- by index -------------------------------------------------------------------------

    def index(self, index: int) -> bytes | None:
        """The element at *index*, negative from the tail; None outside. See :meth:`seek`."""
        found = self.seek(index)
        return None if found is None else found[0].entries[found[1]]

    def range(self, start: int, stop: int) -> list[bytes]:
        """The elements from *start* to before *stop*, 0 <= start < stop <= len.

        O(nodes up to *start*) and O(stop - start), and the part of a node before it.
        """
        found = self.seek(start)
        assert found is not None
        node, offset = found
        left = stop - start
        result: list[bytes] = []
        while True:
            entries = node.entries
            result += islice(entries, offset, offset + left) if offset else islice(entries, left)
            if len(result) == stop - start:
                return result
            left = stop - start - len(result)
            assert node.next is not None
            node, offset = node.next, 0

    def del_range(self, start: int, count: int) -> None:
        """Delete up to *count* elements from *start* on; nothing if that is outside.

        Nodes that are left are not joined. O(nodes up to *start* + elements of the nodes
        that lose some). quicklist.c: quicklistDelRange()
        """
        found = self.seek(start) if count > 0 else None
        if found is None:
            return
        node: QuickListNode | None
        node, offset = found
        while count > 0 and node is not None:
            following = node.next
            deleted = min(count, len(node.entries) - offset)
            if deleted == len(node.entries):
                self.delete_node(node)
            else:
                self._delete_from(node, offset, deleted)
            count -= deleted
            node, offset = following, 0

    def _delete_from(self, node: QuickListNode, offset: int, count: int) -> None:
        """Delete some but not all elements of a node."""
        entries = node.entries
        if not offset:
            gone = [entries.popleft() for _ in range(count)]
        else:
            entries.rotate(-offset)
            gone = [entries.popleft() for _ in range(count)]
            entries.rotate(offset)
        node.sz -= sum(map(entry_size, gone))
        self.count -= count

    def remove(self, value: bytes, count: int = 0) -> int:
        """Delete elements equal to *value*, and say how many.

        At most *count* from the head, or -*count* from the tail; 0 means all. O(N).
        t_list.c: lremCommand()
        """
        left = abs(count) or self.count
        wanted = left
        node = self.tail if count < 0 else self.head
        while node is not None and left:
            following = node.prev if count < 0 else node.next
            if found := min(node.entries.count(value), left):
                if found == len(node.entries):
                    self.delete_node(node)
                else:
                    self._remove_from(node, value, found, from_tail=count < 0)
                left -= found
            node = following
        return wanted - left

    def _remove_from(self, node: QuickListNode, value: bytes, count: int, from_tail: bool) -> None:
        entries = node.entries
        if from_tail:
            entries.reverse()
        for _ in range(count):
            entries.remove(value)
        if from_tail:
            entries.reverse()
        node.sz -= count * entry_size(value)
        self.count -= count

    # -- whole ----------------------------------------------------------------------------

    def copy_nodes_of(self, other: QuickList) -> None:
        """Fill this empty list with copies of the nodes of *other*. O(N).

        quicklist.c: quicklistDup()
        """
        for node in other.nodes():
            self.link(self.tail, QuickListNode(node.entries, node.sz, node.plain), after=True)
        self.count = other.count

    def _check(self) -> None:
        """Assert that chain, counts and sizes agree, and that no node is empty."""
        nodes = list(self.nodes())
        assert self.len == len(nodes)
        assert self.count == sum(len(node.entries) for node in nodes)
        assert (self.head, self.tail) == ((nodes[0], nodes[-1]) if nodes else (None, None))
        for before, node in zip([None, *nodes], nodes, strict=False):
            assert node.prev is before
            assert node.entries, "an empty node"
            if node.plain:
                assert len(node.entries) == 1
                assert node.sz == len(node.entries[0])
            else:
                assert node.sz == EMPTY_NODE_BYTES + sum(map(entry_size, node.entries))

    def __repr__(self) -> str:
        return f"<QuickList: {self.count} elements in {self.len} nodes>"
