"""A user's recent contacts, and a large address book."""

from __future__ import annotations

from patterns.autocomplete import (
    add_update_contact,
    autocomplete_on_prefix,
    contacts_key,
    fetch_autocomplete_list,
    join_guild,
    members_key,
    remove_contact,
)
from patterns.demos.stage import PREFIX, Stage

USER = GUILD = f"{PREFIX}autocomplete"


def run(stage: Stage) -> list[str]:
    """The names of the book that begin with what was typed last."""
    conn = stage.new_client()
    conn.delete(contacts_key(USER), members_key(GUILD))
    for name in ("Anna", "Ben", "andrea", "Ana", "Anna"):
        add_update_contact(conn, USER, name)
    stage.say(f"recent, an: {fetch_autocomplete_list(conn, USER, 'an')}")
    remove_contact(conn, USER, "Anna")
    stage.say(f"without Anna: {fetch_autocomplete_list(conn, USER, 'AN')}")
    for first in ("Ann", "Ben", "Mia", "Émile"):
        for last in ("Abel", "Berg", "Cohn"):
            join_guild(conn, GUILD, f"{first} {last}")
    for prefix in ("ann", "é", "b", "x"):
        stage.say(f"book, {prefix}: {autocomplete_on_prefix(conn, GUILD, prefix)}")
    found = autocomplete_on_prefix(conn, GUILD, "mia b")
    stage.say(f"book, mia b: {found}")
    conn.delete(contacts_key(USER), members_key(GUILD))
    return found
