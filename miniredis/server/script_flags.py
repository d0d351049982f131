"""The flags of a command that runs a script are those that the script declares.

Redis: ``getCommandFlags()`` in server.c, ``evalGetCommandFlags()`` in eval.c,
``fcallGetCommandFlags()`` in functions.c,
``scriptFlagsToCmdFlags()`` in script.c.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from miniredis.errors import CommandError
from miniredis.scripting.flags import (
    ALLOW_OOM,
    ALLOW_STALE,
    NO_WRITES,
    ScriptFlags,
    extract_shebang_flags,
)

if TYPE_CHECKING:
    from miniredis.commands.table import Command
    from miniredis.server.server import Server

BY_BODY = frozenset({"eval", "eval_ro"})
BY_SHA = frozenset({"evalsha", "evalsha_ro"})
BY_FUNCTION = frozenset({"fcall", "fcall_ro"})
REPLACED = frozenset({"stale", "denyoom", "write", "may_replicate"})


def command_flags(server: Server, cmd: Command, argv: list[bytes]) -> frozenset[str]:
    """The flags by which a command with these arguments is judged before it runs."""
    declared = None
    if cmd.name in BY_BODY:
        try:
            declared, _ = extract_shebang_flags(argv[1])
        except CommandError:
            return cmd.flags  # the command itself will say what is wrong
    elif cmd.name in BY_SHA:
        script = server.scripting.find(argv[1])
        declared = None if script is None else script.flags
    elif cmd.name in BY_FUNCTION:
        function = server.scripting.functions.find(argv[1])
        declared = None if function is None else function.flags
    if declared is None or declared.compat:
        return cmd.flags
    return (cmd.flags - REPLACED) | _as_command_flags(declared)


def _as_command_flags(declared: ScriptFlags) -> set[str]:
    flags = set()
    if NO_WRITES not in declared:
        flags.add("write")
        if ALLOW_OOM not in declared:
            flags.add("denyoom")
    if ALLOW_STALE in declared:
        flags.add("stale")
    return flags
