"""Changing a quicklist in the middle: nodes are cut, and joined with their neighbours.

Redis: ``_quicklistInsert()``, ``_quicklistSplitNode()``, ``_quicklistMergeNodes()`` and
``quicklistReplaceEntry()`` in quicklist.c.
"""

from __future__ import annotations

from itertools import islice

from miniredis.keyspace.listpack_size import entry_size
from miniredis.keyspace.quicklist import EMPTY_NODE_BYTES, QuickList, QuickListNode


def insert_at(ql: QuickList, node: QuickListNode, offset: int, value: bytes, after: bool) -> None:
    """Put *value* beside the element at *offset* of *node*. O(elements of the node).

    A node with room takes it. Otherwise, at the edge of the node, the neighbour takes it
    if it has room, else a new node is made; in the middle the node is cut in two, the
    value goes to the end of one part, and the parts are joined with their neighbours
    where they fit.

    quicklist.c: _quicklistInsert()
    """
    size = len(value)
    at_edge = offset == (len(node.entries) - 1 if after else 0)
    neighbour = node.next if after else node.prev
    if size >= ql.packed:
        _insert_plain(ql, node, offset, value, after, at_edge)
    elif ql.allow_insert(node, size):
        node.entries.insert(offset + after, value)
        node.sz += entry_size(value)
    elif at_edge and neighbour is not None and ql.allow_insert(neighbour, size):
        _add_to_end(neighbour, value, head=after)
    elif at_edge:
        ql.link(node, ql.create_node(value), after)
    else:
        part = split_node(node, offset, after)
        _add_to_end(part, value, head=after)
        ql.link(node, part, after)
        merge_nodes(ql, node)
    ql.count += 1


def _insert_plain(
    ql: QuickList, node: QuickListNode, offset: int, value: bytes, after: bool, at_edge: bool
) -> None:
    """A large value gets a node of its own; *node* is cut for it unless at its edge."""
    plain = ql.create_node(value)
    if node.plain or at_edge:
        ql.link(node, plain, after)
        return
    part = split_node(node, offset, after)
    ql.link(node, plain, after)
    ql.link(plain, part, after)


def _add_to_end(node: QuickListNode, value: bytes, head: bool) -> None:
    if head:
        node.entries.appendleft(value)
    else:
        node.entries.append(value)
    node.sz += entry_size(value)


def split_node(node: QuickListNode, offset: int, after: bool) -> QuickListNode:
    """Cut *node*; the part behind *offset* (or before it) is returned as a new node.

    With *after*, the element at *offset* stays and what follows goes. Otherwise what is
    before it goes. The new node is not linked yet. quicklist.c: _quicklistSplitNode()
    """
    cut = offset + 1 if after else offset
    front, back = list(islice(node.entries, cut)), list(islice(node.entries, cut, None))
    kept, gone = (front, back) if after else (back, front)
    part = QuickListNode(gone, EMPTY_NODE_BYTES + sum(map(entry_size, gone)))
    node.entries.clear()
    node.entries.extend(kept)
    node.sz -= part.sz - EMPTY_NODE_BYTES
    return part


def merge_nodes(ql: QuickList, center: QuickListNode) -> None:
    """Join nodes around *center* where two fit into one.

    Tried in this order: the two before it, the two after it, the one before with it, and
    the result with the one after. quicklist.c: _quicklistMergeNodes()
    """
    before, after = center.prev, center.next
    if before is not None and ql.allow_merge(before, before.prev):
        assert before.prev is not None
        _merge(ql, before.prev, before)
    if after is not None and ql.allow_merge(after, after.next):
        assert after.next is not None
        _merge(ql, after, after.next)
    target = center
    if ql.allow_merge(center, center.prev):
        assert center.prev is not None
        target = center.prev
        _merge(ql, target, center)
    if ql.allow_merge(target, target.next):
        assert target.next is not None
        _merge(ql, target, target.next)


def _merge(ql: QuickList, a: QuickListNode, b: QuickListNode) -> None:
    """Move what *b* holds to the end of *a*. quicklist.c: _quicklistListpackMerge()"""
    a.entries.extend(b.entries)
    a.sz += b.sz - EMPTY_NODE_BYTES
    ql.count += len(b.entries)  # delete_node takes them off
    ql.delete_node(b)


def replace_at_index(ql: QuickList, index: int, value: bytes) -> bool:
    """Put *value* in the place of the element at *index*; False if there is none.

    A node may grow beyond its limit so. O(:meth:`QuickList.seek`).
    quicklist.c: quicklistReplaceAtIndex(), quicklistReplaceEntry()
    """
    found = ql.seek(index)
    if found is None:
        return False
    node, offset = found
    large = len(value) >= ql.packed
    if not node.plain and not large:
        node.sz += entry_size(value) - entry_size(node.entries[offset])
        node.entries[offset] = value
    elif node.plain and large:
        node.entries[0] = value
        node.sz = len(value)
    elif node.plain:
        insert_at(ql, node, 0, value, after=True)
        ql.delete_node(node)
    else:
        _replace_by_plain(ql, node, offset, value)
    return True


def _replace_by_plain(ql: QuickList, node: QuickListNode, offset: int, value: bytes) -> None:
    """A large value comes where a small one was: cut behind the old one, then drop that."""
    insert_at(ql, node, offset, value, after=True)
    if len(node.entries) == 1:
        ql.delete_node(node)
    else:
        old = node.entries.pop()
        node.sz -= entry_size(old)
        ql.count -= 1


def insert_beside(ql: QuickList, pivot: bytes, value: bytes, after: bool) -> bool:
    """Put *value* beside the first element equal to *pivot*; False if there is none. O(N).

    t_list.c: linsertCommand()
    """
    for node in ql.nodes():
        try:
            offset = node.entries.index(pivot)
        except ValueError:
            continue
        insert_at(ql, node, offset, value, after)
        return True
    return False
