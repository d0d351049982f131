"""Which arguments of a command are keys, and what it does to them.

Most commands say it by key specs: where to begin, and how to go on. A few need a function
of their own (``getkeys`` of their row), and where a spec's flags depend on the options
given, the flags come from here.

Redis: ``getKeysFromCommandWithSpecs()`` in db.c.
"""

from __future__ import annotations

from miniredis.commands.args import word
from miniredis.commands.table import Command, KeyFinder, KeySpec
from miniredis.keyspace.object import string2ll

# In the order of COMMAND INFO's reply. server.c: addReplyFlagsForKeyArgs()
KEY_FLAGS = (
    "RO",
    "RW",
    "OW",
    "RM",
    "access",
    "update",
    "insert",
    "delete",
    "not_key",
    "incomplete",
    "variable_flags",
)

KeyReference = tuple[int, str]  # position in argv; flags, separated by spaces
NOT_KEY = "not_key"  # an argument that only routes, like a key would, e.g. a shard channel


def does_command_have_keys(cmd: Command) -> bool:
    """Whether any argument of *cmd* can be a key. db.c: doesCommandHaveKeys()"""
    return cmd.getkeys is not None or _has_key_spec(cmd)


def _has_key_spec(cmd: Command) -> bool:
    return any(NOT_KEY not in spec.flags.split() for spec in cmd.key_specs)


def get_keys_from_command_with_specs(cmd: Command, argv: list[bytes]) -> list[KeyReference]:
    """The keys among *argv*; empty if there are none or the arguments make no sense.

    db.c: getKeysFromCommandWithSpecs()
    """
    varies = any("variable_flags" in spec.flags.split() for spec in cmd.key_specs)
    if _has_key_spec(cmd) and not varies:
        found = _get_keys_using_key_specs(cmd, argv)
        if found is not None:
            return found
    finder = cmd.getkeys or VARIABLE_FLAGS.get(cmd.name)
    return finder(argv) if finder is not None else []


def _get_keys_using_key_specs(cmd: Command, argv: list[bytes]) -> list[KeyReference] | None:
    """None if a spec does not fit the arguments, or does not tell all.

    db.c: getKeysUsingKeySpecs()
    """
    found: list[KeyReference] = []
    for spec in cmd.key_specs:
        flags = spec.flags.split()
        if NOT_KEY in flags:
            continue
        if spec.unknown:
            return None
        first = spec.index or _find_keyword(spec, argv)
        if not first:
            continue  # the keyword is an option, and was not given
        bounds = _range(spec, first, argv)
        if bounds is None or not bounds[0] <= bounds[1] < len(argv):
            return None
        found += [(i, spec.flags) for i in range(bounds[0], bounds[1] + 1, spec.keystep)]
        if "incomplete" in flags:
            return None
    return found


def _find_keyword(spec: KeySpec, argv: list[bytes]) -> int:
    """The position after the keyword, searched from the front or from the back; or 0."""
    keyword = spec.keyword.lower().encode()
    if spec.startfrom > 0:
        positions = range(spec.startfrom, len(argv) - 1)
    else:
        positions = range(len(argv) + spec.startfrom, 1, -1)
    for i in positions:
        if 1 <= i < len(argv) and word(argv[i]) == keyword:
            return i + 1
    return 0


def _range(spec: KeySpec, first: int, argv: list[bytes]) -> tuple[int, int] | None:
    """The first and last position that a spec names; None if its number of keys is bad."""
    if spec.keynumidx is not None:
        at = first + spec.keynumidx
        numkeys = string2ll(argv[at]) if at < len(argv) else None
        if numkeys is None or numkeys < 0:
            return None
        first += spec.firstkey
        return first, first + numkeys - 1
    if spec.lastkey >= 0:
        return first, first + spec.lastkey
    if spec.limit:
        return first, first + (len(argv) - first) // spec.limit + spec.lastkey
    return first, len(argv) + spec.lastkey


def _set_get_keys(argv: list[bytes]) -> list[KeyReference]:
    """SET only overwrites its key, unless GET asks for the old value. db.c: setGetKeys()"""
    reads = any(word(arg) == b"get" for arg in argv[3:])
    return [(1, "RW access update" if reads else "OW update")]


def _bitfield_get_keys(argv: list[bytes]) -> list[KeyReference]:
    """BITFIELD only reads if it is well-formed and has no writing part. db.c: bitfieldGetKeys()"""
    i = 2
    while i < len(argv):
        name, rest = word(argv[i]), len(argv) - i - 1
        if name == b"get" and rest >= 2:
            i += 3
        elif name == b"overflow" and rest >= 1:
            i += 2
        else:
            return [(1, "RW access update")]
    return [(1, "RO access")]


#: Commands whose specs have the flag ``variable_flags``.
VARIABLE_FLAGS: dict[str, KeyFinder] = {"bitfield": _bitfield_get_keys, "set": _set_get_keys}
