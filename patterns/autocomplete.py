"""Autocompletion: from the first letters of a name to the names that begin so.

Two sizes. The hundred people that a user wrote to last are a list, which the client fetches
whole and looks through. A large address book is a sorted set in which all scores are 0, so
that members stand in order of their bytes: the names with a prefix stand side by side, and the
server finds them by ZRANGEBYLEX.

Capitals do not matter, nor how an accent is encoded: "é" is the same as "e" with an accent
behind it. Each user and each book is one key: safe in a cluster.
"""

from __future__ import annotations

import bisect
import unicodedata
import uuid
from typing import Any

from redis.exceptions import WatchError

from patterns.text import as_text

CONTACTS_MAX = 100  # contacts kept for a user
FOUND_MAX = 10  # names returned from an address book
END = "\0"  # ends the folded name in a member; sorts before every letter
AFTER_ALL = b"\xff"  # no UTF-8 text has this byte: it sorts behind all that begin the same
LETTERS = "`abcdefghijklmnopqrstuvwxyz{"  # a to z and their neighbours in ASCII


def folded(text: str) -> str:
    """*text* as it is compared: without capitals, accents encoded in one way."""
    composed = unicodedata.normalize("NFC", text).casefold()
    return unicodedata.normalize("NFC", composed)


# -- recent contacts ---------------------------------------------------------------------------


def contacts_key(user: str) -> str:
    """The key of a user's list of recent contacts."""
    return f"contacts:{{{user}}}"


def add_update_contact(conn: Any, user: str, contact: str) -> None:
    """Put *contact* first among the user's recent ones; the hundred most recent are kept.

    One transaction: nobody sees the contact missing or twice. "Ann" and "ann" are two
    contacts. O(n) for n contacts, 100 at most.
    """
    key = contacts_key(user)
    pipe = conn.pipeline(transaction=True)
    pipe.lrem(key, 0, contact)
    pipe.lpush(key, contact)
    pipe.ltrim(key, 0, CONTACTS_MAX - 1)
    pipe.execute()


def add_update_contact_naive(conn: Any, user: str, contact: str) -> None:
    """LREM, LPUSH, LTRIM, each by itself.

    Fails so: two of a user's machines add the same contact, both remove it, both push it,
    and it is there twice. And a crash behind LREM loses a contact.
    """
    key = contacts_key(user)
    conn.lrem(key, 0, contact)
    conn.lpush(key, contact)
    conn.ltrim(key, 0, CONTACTS_MAX - 1)


def remove_contact(conn: Any, user: str, contact: str) -> bool:
    """Forget a contact; whether it was there. O(n) for n contacts."""
    return bool(conn.lrem(contacts_key(user), 0, contact))


def fetch_autocomplete_list(conn: Any, user: str, prefix: str) -> list[str]:
    """The user's recent contacts that begin with *prefix*, most recent first.

    The list is fetched whole and looked through here, which for a hundred is quicker than
    anything cleverer. O(n) for n contacts.
    """
    wanted = folded(prefix)
    candidates = [as_text(found) for found in conn.lrange(contacts_key(user), 0, -1)]
    return [name for name in candidates if folded(name).startswith(wanted)]


def fetch_autocomplete_list_naive(conn: Any, user: str, prefix: str) -> list[str]:
    """Lower the candidates, and forget the prefix.

    Fails so: who types "An" finds nobody, not even "Ann". And a client that answers in bytes
    raises ``TypeError``.
    """
    candidates: list[str] = conn.lrange(contacts_key(user), 0, -1)
    return [name for name in candidates if name.lower().startswith(prefix)]


# -- a large address book ------------------------------------------------------------------------


def members_key(guild: str) -> str:
    """The key of a guild's address book."""
    return f"members:{{{guild}}}"


def member_of(name: str) -> str:
    """What stands for *name* in the sorted set: the folded name, a zero, the name as it is.

    So members are in order of the folded names, and the name can be had back. ``ValueError``
    for a name with a zero in it.
    """
    if END in name:
        raise ValueError(f"a name must not have a zero character in it, got {name!r}")
    return f"{folded(name)}{END}{name}"


def join_guild(conn: Any, guild: str, user: str) -> bool:
    """Enter a name in the guild's book; False if it was there. O(log n)."""
    return bool(conn.zadd(members_key(guild), {member_of(user): 0}))


def leave_guild(conn: Any, guild: str, user: str) -> bool:
    """Take a name out; False if it was not there. O(log n)."""
    return bool(conn.zrem(members_key(guild), member_of(user)))


def autocomplete_on_prefix(conn: Any, guild: str, prefix: str, limit: int = FOUND_MAX) -> list[str]:
    """The first *limit* names that begin with *prefix*, in order of the alphabet.

    Members from the prefix itself to the prefix with a byte behind it that no text has. One
    command that only reads, so look-ups do not disturb one another, and may go to replicas.
    O(log n + limit).
    """
    if limit < 1:
        raise ValueError(f"limit must be 1 or more, got {limit!r}")
    first = b"[" + folded(prefix).encode()
    found = conn.zrangebylex(members_key(guild), first, first + AFTER_ALL, start=0, num=limit)
    return [_name_in(member) for member in found]


def find_prefix_range(prefix: str) -> tuple[str, str]:
    """Two texts between which all names with *prefix* stand, if they have only letters a to z.

    For "abc" they are "abb{" and "abc{": in ASCII, "{" comes right behind "z".
    """
    place = bisect.bisect_left(LETTERS, prefix[-1:])
    return f"{prefix[:-1]}{LETTERS[(place or 1) - 1]}{{", f"{prefix}{{"


def autocomplete_on_prefix_naive(
    conn: Any, guild: str, prefix: str, limit: int = FOUND_MAX
) -> list[str]:
    """Write two markers around the range, and read between them, as before ZRANGEBYLEX (2.8.9).

    Fails so: a client that crashes behind ZADD leaves its markers in the book for ever. Every
    look-up writes, so it makes all others under way begin anew. If no name has the prefix and
    all stand behind it, the range is 0 to -1, which is all of the book. Only a to z work.
    """
    key = members_key(guild)
    mark = str(uuid.uuid4())
    first, last = (text + mark for text in find_prefix_range(folded(prefix)))
    conn.zadd(key, {first: 0, last: 0})
    with conn.pipeline(transaction=True) as pipe:
        while True:
            try:
                pipe.watch(key)
                start, stop = pipe.zrank(key, first), pipe.zrank(key, last)
                pipe.multi()
                pipe.zrem(key, first, last)
                pipe.zrange(key, start, min(start + limit - 1, stop - 2))
                found = pipe.execute()[-1]
            except WatchError:
                continue
            # The markers of others are among them, and took the place of names.
            return [_name_in(member) for member in found if "{" not in as_text(member)]


def _name_in(member: bytes | str) -> str:
    """The name in a member; what is no member of ours, as it is."""
    return as_text(member).rpartition(END)[2]
