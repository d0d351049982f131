"""What a script may do, declared in its first line: ``#!lua flags=no-writes,allow-stale``.

A script without that line is in compatibility mode: it may do what a client may, and
each of its commands is checked by itself.

Redis: ``scripts_flags_def`` in script.c, ``evalExtractShebangFlags()`` in eval.c.
"""

from __future__ import annotations

from dataclasses import dataclass

from miniredis.errors import CommandError
from miniredis.structs.words import split_args

NO_WRITES = b"no-writes"
ALLOW_OOM = b"allow-oom"
ALLOW_STALE = b"allow-stale"
NO_CLUSTER = b"no-cluster"
ALLOW_CROSS_SLOT = b"allow-cross-slot-keys"
SCRIPT_FLAGS = (NO_WRITES, ALLOW_OOM, ALLOW_STALE, NO_CLUSTER, ALLOW_CROSS_SLOT)


@dataclass(frozen=True, slots=True)
class ScriptFlags:
    """The declared flags; ``compat`` without a declaration."""

    names: frozenset[bytes] = frozenset()
    compat: bool = True

    def __contains__(self, flag: bytes) -> bool:
        return flag in self.names


def extract_shebang_flags(body: bytes) -> tuple[ScriptFlags, int]:
    """The flags of a script, and how many bytes its first line has without the line feed.

    Raises :class:`CommandError` for an unknown engine, option or flag. eval.c
    """
    if not body.startswith(b"#!"):
        return ScriptFlags(), 0
    length = body.find(b"\n")
    if length < 0:
        raise CommandError("ERR Invalid script shebang")
    parts = split_args(body[:length])
    if not parts:
        raise CommandError("ERR Invalid engine in script shebang")
    if parts[0] != b"#!lua":
        raise CommandError(b"ERR Unexpected engine in script shebang: " + parts[0])
    names: set[bytes] = set()
    for part in parts[1:]:
        if not part.startswith(b"flags="):
            raise CommandError(b"ERR Unknown lua shebang option: " + part)
        declared = part[len(b"flags=") :]
        for name in declared.split(b",") if declared else ():
            if name not in SCRIPT_FLAGS:
                raise CommandError(b"ERR Unexpected flag in script shebang: " + name)
            names.add(name)
    return ScriptFlags(frozenset(names), compat=False), length
