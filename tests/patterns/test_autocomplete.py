"""Autocompletion: most recent first, whatever the capitals; a book searched by range."""

from __future__ import annotations

import random
import threading
from typing import Any

import pytest
from redis.cluster import RedisCluster

from patterns.autocomplete import (
    CONTACTS_MAX,
    add_update_contact,
    add_update_contact_naive,
    autocomplete_on_prefix,
    autocomplete_on_prefix_naive,
    contacts_key,
    fetch_autocomplete_list,
    fetch_autocomplete_list_naive,
    find_prefix_range,
    folded,
    join_guild,
    leave_guild,
    members_key,
    remove_contact,
)
from patterns.text import as_text
from tests.patterns.conftest import Target
from tests.patterns.schedules import Actor, Chance, Scheduler, run_schedules


def contacts(conn: Any, user: str = "u") -> list[str]:
    return [as_text(name) for name in conn.lrange(contacts_key(user), 0, -1)]


# -- on every target -------------------------------------------------------------------------


def test_most_recent_first_and_capitals_do_not_matter(target: Target) -> None:
    for name in ("Anna", "Ben", "andrea", "Ana", "ÉMILE", "Anna"):
        add_update_contact(target.conn, "u", name)
    assert fetch_autocomplete_list(target.conn, "u", "an") == ["Anna", "Ana", "andrea"]
    assert fetch_autocomplete_list(target.conn, "u", "AN") == ["Anna", "Ana", "andrea"]
    assert fetch_autocomplete_list(target.conn, "u", "émi") == ["ÉMILE"]
    assert fetch_autocomplete_list(target.conn, "u", "e\u0301") == ["ÉMILE"]  # accent behind
    assert fetch_autocomplete_list(target.conn, "u", "") == contacts(target.conn)
    assert fetch_autocomplete_list(target.conn, "other", "a") == []


def test_a_hundred_are_kept(target: Target) -> None:
    for i in range(CONTACTS_MAX + 5):
        add_update_contact(target.conn, "u", f"name {i}")
    add_update_contact(target.conn, "u", "name 50")
    kept = contacts(target.conn)
    assert len(kept) == CONTACTS_MAX == len(set(kept))
    assert kept[:2] == ["name 50", "name 104"] and kept[-1] == "name 5"


def test_removal_tells_whether_it_was_there(target: Target) -> None:
    add_update_contact(target.conn, "u", "Anna")
    assert remove_contact(target.conn, "u", "Anna")
    assert not remove_contact(target.conn, "u", "Anna")
    assert not target.conn.exists(contacts_key("u"))


def test_the_book_in_order_of_the_alphabet(target: Target) -> None:
    conn = target.conn
    for name in ("bea", "Anna", "ann", "Annabel", "ANNE", "Ärger", "Zoe", "an{", "a`"):
        assert join_guild(conn, "g", name)
    assert not join_guild(conn, "g", "bea")
    assert autocomplete_on_prefix(conn, "g", "ann") == ["ann", "Anna", "Annabel", "ANNE"]
    assert autocomplete_on_prefix(conn, "g", "ANN", 2) == ["ann", "Anna"]
    assert autocomplete_on_prefix(conn, "g", "an{") == ["an{"]
    assert autocomplete_on_prefix(conn, "g", "ä") == ["Ärger"]
    assert autocomplete_on_prefix(conn, "g", "x") == []
    assert len(autocomplete_on_prefix(conn, "g", "", 100)) == 9
    assert leave_guild(conn, "g", "Anna") and not leave_guild(conn, "g", "Anna")
    assert autocomplete_on_prefix(conn, "g", "anna") == ["Annabel"]


def test_bad_input(target: Target) -> None:
    with pytest.raises(ValueError, match="zero character"):
        join_guild(target.conn, "g", "a\0b")
    with pytest.raises(ValueError, match="1 or more"):
        autocomplete_on_prefix(target.conn, "g", "a", 0)


def test_a_large_book_is_what_sorting_finds(target: Target) -> None:
    rng = random.Random(5)
    letters = "abcABCéÉ z"
    names = {"".join(rng.choices(letters, k=rng.randint(1, 6))) for _ in range(600)}
    for name in names:
        join_guild(target.conn, "g", name)
    for prefix in ("a", "AB", "é", " ", "cab", "zz", "b "):
        expected = sorted(
            (name for name in names if folded(name).startswith(folded(prefix))),
            key=lambda name: (folded(name).encode(), name.encode()),
        )
        assert autocomplete_on_prefix(target.conn, "g", prefix, 1000) == expected
        assert autocomplete_on_prefix(target.conn, "g", prefix, 3) == expected[:3]


def test_threads(target: Target) -> None:
    if "system" not in target.name:
        pytest.skip("several threads need a clock that moves by itself")

    def work() -> None:
        conn = target.new_client()
        for i in range(30):
            add_update_contact(conn, "u", f"name {i % 7}")

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(30)
    assert sorted(contacts(target.conn)) == [f"name {i}" for i in range(7)]


def test_cluster(cluster: RedisCluster) -> None:
    for user in ("x", "y", "z"):
        add_update_contact(cluster, user, "Anna")
        assert fetch_autocomplete_list(cluster, user, "a") == ["Anna"]
        join_guild(cluster, user, "Ben")
        assert autocomplete_on_prefix(cluster, user, "b") == ["Ben"]


# -- how the naive ones fail -----------------------------------------------------------------


def added_by_two(add: Any, order: str) -> list[str]:
    s = Scheduler(order=order)
    for name in "ab":
        s.add(name, lambda a: add(a.conn, "u", "Anna"))
    return contacts(s.run().client())


def test_two_add_at_once_and_it_is_there_twice() -> None:
    assert added_by_two(add_update_contact_naive, "abab") == ["Anna", "Anna"]
    assert added_by_two(add_update_contact, "ab") == ["Anna"]


def test_a_crash_behind_lrem_loses_a_contact() -> None:
    for add, left in ((add_update_contact_naive, []), (add_update_contact, ["Anna"])):
        s = Scheduler()
        add_update_contact(s.client(), "u", "Anna")
        s.add("a", lambda a, add=add: add(a.conn, "u", "Anna"), crash_at=2)
        assert contacts(s.run().client()) == left


def test_capitals_in_what_was_typed_find_nobody() -> None:
    s = Scheduler(decode_responses=True)
    add_update_contact(s.client(), "u", "Anna")
    assert fetch_autocomplete_list_naive(s.client(), "u", "An") == []
    assert fetch_autocomplete_list(s.client(), "u", "An") == ["Anna"]
    with pytest.raises(TypeError):
        fetch_autocomplete_list_naive(bytes_with_anna().client(), "u", "an")


def bytes_with_anna() -> Scheduler:
    s = Scheduler()
    add_update_contact(s.client(), "u", "Anna")
    return s


def test_markers_of_the_naive_look_up() -> None:
    assert find_prefix_range("abc") == ("abb{", "abc{")
    assert find_prefix_range("a") == ("`{", "a{")
    s = Scheduler()
    for name in ("anna", "ben"):
        join_guild(s.client(), "g", name)
    assert autocomplete_on_prefix_naive(s.client(), "g", "an") == ["anna"]
    # No name has the prefix, and all stand behind it: the range 0 to -1 is everything.
    assert autocomplete_on_prefix_naive(s.client(), "g", "aa") == ["anna", "ben"]
    assert autocomplete_on_prefix(s.client(), "g", "aa") == []


def test_a_crash_leaves_markers_in_the_book() -> None:
    for look_up, left in ((autocomplete_on_prefix_naive, 3), (autocomplete_on_prefix, 1)):
        s = Scheduler()
        join_guild(s.client(), "g", "anna")
        s.add("a", lambda a, look_up=look_up: look_up(a.conn, "g", "an"), crash_at=2)
        assert s.run().client().zcard(members_key("g")) == left


# -- schedules -------------------------------------------------------------------------------


def play(seed: int, add: Any = add_update_contact) -> None:
    """Machines of one user add and remove: nobody twice, and none lost that nobody removed."""
    s = Scheduler(seed, Chance(latency=0.01, pause=0.05, pause_s=0.5, crash=0.01))
    kept = [f"kept {i}" for i in range(4)]
    for name in kept:
        add_update_contact(s.client(), "u", name)

    def body(a: Actor) -> None:
        for _ in range(8):
            if s.rng.random() < 0.3:
                remove_contact(a.conn, "u", f"name {s.rng.randrange(3)}")
            else:
                add(a.conn, "u", s.rng.choice([*kept, *(f"name {i}" for i in range(3))]))
            found = contacts(s.client())
            assert len(found) == len(set(found)), "somebody is there twice"
            assert set(kept) <= set(found), "somebody was lost"

    for name in "abc":
        s.add(name, body)
    s.run()
    found = contacts(s.client())
    assert len(found) == len(set(found)) and set(kept) <= set(found)


def test_schedules() -> None:
    run_schedules(play)


def test_schedules_catch_the_naive_one() -> None:
    with pytest.raises(AssertionError):
        run_schedules(lambda seed: play(seed, add_update_contact_naive))
