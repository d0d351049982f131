"""The rules of docs/design.md about who may import whom, checked on the source itself."""

from __future__ import annotations

import ast
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
PACKAGE = ROOT / "miniredis"
MODULES = sorted(PACKAGE.rglob("*.py"))

# From the top down: a room may import the rooms before it, and itself.
ROOMS = (
    ("clock",),
    ("probe", "errors", "reply"),
    ("structs",),
    ("keyspace",),
    ("scripting",),
    ("commands",),
    ("server",),
    ("net",),
    ("lab",),
    ("cli", "asyncio", "__init__", "__main__"),
)
RANK = {name: rank for rank, names in enumerate(ROOMS) for name in names}

# Who may import what from outside; everybody may import the rest of the standard library.
RESERVED = {
    "time": {"clock"},
    "socket": {"net"},
    "asyncio": {"net"},
    "redis": {"net"},
    "matplotlib": {"lab/plots", "cli"},
    "lupa": {"scripting"},
    "click": {"cli"},
    "rich": {"cli"},
}
MAX_LINES = 600


def name_of(path: Path) -> str:
    return path.relative_to(PACKAGE).with_suffix("").as_posix()


def room_of(path: Path) -> str:
    return name_of(path).split("/")[0]


def imports_of(tree: ast.AST) -> Iterator[str]:
    """Names of all modules imported, except under ``if TYPE_CHECKING:``."""
    for node in ast.iter_child_nodes(tree):
        if isinstance(node, ast.If) and "TYPE_CHECKING" in ast.dump(node.test):
            continue
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, "imports are absolute"
            yield node.module or ""
            if node.module and node.module.startswith("miniredis"):
                yield from (f"{node.module}.{alias.name}" for alias in node.names)
        else:
            yield from imports_of(node)


@pytest.mark.parametrize("path", MODULES, ids=name_of)
def test_imports_point_down(path: Path) -> None:
    for imported in imports_of(ast.parse(path.read_text())):
        parts = imported.split(".")
        if parts[0] != "miniredis" or len(parts) < 2 or parts[1] not in RANK:
            continue
        assert RANK[parts[1]] <= RANK[room_of(path)], f"{name_of(path)} imports {imported}"


@pytest.mark.parametrize("path", MODULES, ids=name_of)
def test_reserved_modules(path: Path) -> None:
    for imported in imports_of(ast.parse(path.read_text())):
        allowed = RESERVED.get(imported.split(".")[0])
        if allowed is not None:
            package = "/".join(name_of(path).split("/")[:2])
            assert {room_of(path), package} & allowed, f"{name_of(path)} imports {imported}"


def test_no_cycles() -> None:
    graph: dict[str, set[str]] = {}
    known = {
        "miniredis." + name_of(path).replace("/", ".").removesuffix(".__init__"): path
        for path in MODULES
    }
    for name, path in known.items():
        graph[name] = {i for i in imports_of(ast.parse(path.read_text())) if i in known} - {name}
    done: set[str] = set()

    def visit(name: str, trail: tuple[str, ...]) -> None:
        assert name not in trail, " -> ".join([*trail, name])
        if name not in done:
            for following in graph[name]:
                # A package named only to reach a module inside it is no dependency.
                if (PACKAGE.parent / following.replace(".", "/")).is_dir():
                    continue
                visit(following, (*trail, name))
            done.add(name)

    for name in graph:
        visit(name, ())


@pytest.mark.parametrize("path", MODULES, ids=name_of)
def test_modules_are_small_and_say_what_they_do(path: Path) -> None:
    text = path.read_text()
    assert text.count("\n") <= MAX_LINES
    if text.strip():
        assert ast.get_docstring(ast.parse(text)), "a module docstring is missing"


def test_structs_init_is_empty() -> None:
    # A submodule called dict must not shadow the builtin in a name space that anyone uses.
    assert (PACKAGE / "structs/__init__.py").read_text() == ""


PATTERNS = sorted((ROOT / "patterns").rglob("*.py"))
# Only what shows the patterns at work: it makes the simulator, and draws in its style.
SHOWS_PATTERNS = {"patterns/__main__.py"}


@pytest.mark.parametrize("path", PATTERNS, ids=lambda path: path.relative_to(ROOT).as_posix())
def test_patterns_never_import_miniredis(path: Path) -> None:
    name = path.relative_to(ROOT).as_posix()
    text = path.read_text()
    assert ast.get_docstring(ast.parse(text)) and text.count("\n") <= MAX_LINES
    if name in SHOWS_PATTERNS:
        return
    imported = {i for i in imports_of(ast.parse(text)) if i.split(".")[0] == "miniredis"}
    if name.startswith("patterns/demos/"):
        imported = {i for i in imported if not i.startswith("miniredis.lab.plots")}
    assert not imported


def run(code: str) -> str:
    return subprocess.run(
        [sys.executable, "-c", code], cwd=ROOT, check=True, capture_output=True, text=True
    ).stdout


def test_import_is_light() -> None:
    loaded = run("import miniredis, sys; print(*sys.modules)").split()
    for heavy in ("matplotlib", "lupa", "numpy", "rich", "click", "miniredis.net.tcp"):
        assert heavy not in loaded


def test_import_starts_no_thread_and_opens_no_socket() -> None:
    code = """
import socket, threading
def refuse(*args, **kwargs): raise AssertionError("a socket was opened")
socket.socket.__init__ = refuse
import miniredis
r = miniredis.Redis()
r.set("k", "v")
print(threading.active_count())
"""
    assert run(code).strip() == "1"
