"""Looking for a name, and reading a table page by page while rows are added."""

from __future__ import annotations

from patterns.demos.stage import PREFIX, Stage, clear
from patterns.search import Row, Table, containing, find_fields, find_keys, find_keys_naive

NAME = f"{PREFIX}search"


def titles(rows: list[Row]) -> str:
    """The rows' titles in a line."""
    return ", ".join(row.fields["title"] for row in rows)


def run(stage: Stage) -> dict[str, str]:
    """What the second page shows, by the way of paging."""
    conn = stage.new_client()
    clear(conn, f"*{NAME}*")
    people = ("ann", "joanna", "ben", "Anna", "100% ann")
    for number, person in enumerate(people):
        conn.set(f"{NAME}:{person}", number)
        conn.hset(f"{NAME}:hash", person, str(number))
    for number in range(300):
        conn.set(f"{NAME}:other:{number}", number)
    stage.say(f"SCAN  *ann*    {sorted(find_keys(conn, f'{NAME}:*ann*'))}")
    stage.say(f"      naive    {sorted(find_keys_naive(conn, f'{NAME}:*ann*', 10))}")
    stage.say(f"HSCAN *[Aa]nn* {sorted(find_fields(conn, f'{NAME}:hash', '*[Aa]nn*'))}")
    stage.say(f"HSCAN with %   {sorted(find_fields(conn, f'{NAME}:hash', containing('%')))}")

    table = Table(conn, f"{NAME}:news")
    for number in range(1, 7):
        table.add(title=f"news {number}")
    first, until = table.page(1, 3)
    stage.say(f"page 1: {titles(first)}; now news 7 comes in")
    table.add(title="news 7")
    second = {
        "naive": titles(table.page_naive(2, 3)),
        "by number": titles(table.page(2, 3, until)[0]),
        "by cursor": titles(table.after(first[-1].place, 3)),
    }
    for way, rows in second.items():
        stage.say(f"page 2, {way:9}: {rows}")
    clear(conn, f"*{NAME}*")
    return second
