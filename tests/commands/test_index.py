"""commands/index.py: each module declares the commands that the index says."""

from __future__ import annotations

import pkgutil
import subprocess
import sys

import miniredis.commands
from miniredis.commands.index import MODULES, MODULES_OF
from miniredis.commands.table import every_command, lookup, lookup_by_name


def test_the_index_is_what_modules_declare() -> None:
    declared: dict[str, set[str]] = {}
    for row in every_command():
        if row.proc is not None:
            module = row.proc.__module__.removeprefix("miniredis.commands.")
            declared.setdefault(module, set()).add(row.name.split("|")[0])
    assert declared == {module: set(names.split()) for module, names in MODULES.items()}


def test_every_module_that_declares_commands_is_in_the_index() -> None:
    code = (
        "from importlib import import_module\n"
        "from miniredis.commands.table import COMMANDS\n"
        "import sys\n"
        "for name in sys.argv[1:]: import_module('miniredis.commands.' + name)\n"
        "print(*sorted(name.decode() for name in COMMANDS))"
    )
    modules = [m.name for m in pkgutil.iter_modules(miniredis.commands.__path__)]
    run = subprocess.run(
        [sys.executable, "-c", code, *modules], capture_output=True, text=True, check=True
    )
    assert run.stdout.split() == sorted(name.decode() for name in MODULES_OF)


def test_a_look_up_imports_what_it_needs_and_no_more() -> None:
    code = (
        "import sys\n"
        "import miniredis\n"
        "def loaded():\n"
        "    return {m for m in sys.modules if m.startswith('miniredis.commands.t_')}\n"
        "server = miniredis.Server(seed=1)\n"
        "r = server.client()\n"
        "assert not loaded(), loaded()\n"
        "assert r.rpush('l', 'a', 'b') == 2\n"
        "assert 'miniredis.commands.t_list' in loaded()\n"
        "assert all(m.startswith('miniredis.commands.t_list') for m in loaded()), loaded()\n"
        "assert r.command_count() > 100\n"
        "assert 'miniredis.commands.t_zset' not in loaded()\n"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


def test_the_order_of_command_does_not_depend_on_what_was_used_first() -> None:
    code = (
        "import sys\n"
        "from miniredis.commands.table import every_command, lookup\n"
        "lookup([sys.argv[1].encode()])\n"
        "print(*(row.name for row in every_command()))"
    )
    lists = {
        subprocess.run(
            [sys.executable, "-c", code, first], capture_output=True, text=True, check=True
        ).stdout
        for first in ("zadd", "get", "client")
    }
    assert len(lists) == 1


def test_unknown_names_and_parts_of_containers() -> None:
    assert lookup([b"NoSuch"]) is None
    assert lookup([b"CLIENT", b"nosuch"]) is None
    kill = lookup([b"CLIENT", b"KILL"])
    assert kill is not None
    assert kill.name == "client|kill"
    assert lookup_by_name(b"client|kill") is kill
    assert lookup_by_name(b"client|kill|more") is None
