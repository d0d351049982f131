"""CLIENT TRACKING and its kin: which keys a connection wants to hear of when they change.

What comes of it is in ``server/tracking.py``.

Redis: ``clientCommand()`` in networking.c, ``checkPrefixCollisionsOrReply()`` in tracking.c.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from miniredis.commands.args import c_string, get_long_long, word
from miniredis.commands.client_flags import (
    CLIENT_TRACKING,
    CLIENT_TRACKING_BCAST,
    CLIENT_TRACKING_BROKEN_REDIR,
    CLIENT_TRACKING_CACHING,
    CLIENT_TRACKING_NOLOOP,
    CLIENT_TRACKING_OPTIN,
    CLIENT_TRACKING_OPTOUT,
)
from miniredis.commands.client_info import tracking_redirection
from miniredis.commands.subcommands import one_line
from miniredis.commands.table import command
from miniredis.errors import CommandError, syntax_error
from miniredis.reply import OK, Reply, SetReply

if TYPE_CHECKING:
    from miniredis.server.client import Client

_FLAGS = "noscript loading stale"
_SWITCHES = {
    b"bcast": CLIENT_TRACKING_BCAST,
    b"optin": CLIENT_TRACKING_OPTIN,
    b"optout": CLIENT_TRACKING_OPTOUT,
    b"noloop": CLIENT_TRACKING_NOLOOP,
}
_OPT = CLIENT_TRACKING_OPTIN | CLIENT_TRACKING_OPTOUT


@dataclass(slots=True)
class TrackingOptions:
    """What stands behind ON or OFF. ``switches``: CLIENT_TRACKING_*; ``redirect``: 0, nobody."""

    redirect: int = 0
    switches: int = 0
    prefixes: list[bytes] = field(default_factory=list)


@command(
    "client|tracking",
    arity=-3,
    flags=_FLAGS,
    group="connection",
    since="6.0.0",
    complexity="O(1), or O(N) in the prefixes given",
)
def client_tracking(c: Client, _: bytes, switch: bytes, *args: bytes) -> Reply:
    """CLIENT TRACKING ON | OFF [REDIRECT client-id] [PREFIX prefix [PREFIX prefix ...]] \
[BCAST] [OPTIN] [OPTOUT] [NOLOOP]

    Lets the server tell this connection when a key that it has read changes.

    networking.c: clientCommand()
    """
    options = _parse(c, args)
    mode = word(switch)
    if mode == b"on":
        _check_modes(c, options)
        if options.switches & CLIENT_TRACKING_BCAST:
            _check_prefixes(c, options.prefixes)
        c.server.tracking.enable(c, options.redirect, options.switches, options.prefixes)
    elif mode == b"off":
        c.server.tracking.disable(c)
    else:
        raise syntax_error()
    return OK


def _parse(c: Client, args: tuple[bytes, ...]) -> TrackingOptions:
    """The options, in the order given: the first bad one decides the error."""
    options = TrackingOptions()
    i = 0
    while i < len(args):
        name, more = word(args[i]), i + 1 < len(args)
        if name == b"redirect" and more:
            i += 1
            if options.redirect:
                raise CommandError("ERR A client can only redirect to a single other client")
            options.redirect = get_long_long(args[i])
            if options.redirect not in c.server.clients:
                raise CommandError("ERR The client ID you want redirect to does not exist")
        elif name == b"prefix" and more:
            i += 1
            options.prefixes.append(args[i])
        elif name in _SWITCHES:
            options.switches |= _SWITCHES[name]
        else:
            raise syntax_error()
        i += 1
    return options


def _check_modes(c: Client, options: TrackingOptions) -> None:
    """Refuse options that do not go together, or not with the mode that is on."""
    switches = options.switches
    bcast = bool(switches & CLIENT_TRACKING_BCAST)
    if options.prefixes and not bcast:
        raise CommandError("ERR PREFIX option requires BCAST mode to be enabled")
    if c.flags & CLIENT_TRACKING and bcast is not bool(c.flags & CLIENT_TRACKING_BCAST):
        raise CommandError(
            "ERR You can't switch BCAST mode on/off before disabling tracking for this client, "
            "and then re-enabling it with a different mode."
        )
    if bcast and switches & _OPT:
        raise CommandError("ERR OPTIN and OPTOUT are not compatible with BCAST")
    if switches & _OPT == _OPT:
        raise CommandError("ERR You can't specify both OPTIN mode and OPTOUT mode")
    if switches & _OPT and c.flags & _OPT and switches & _OPT != c.flags & _OPT:
        raise CommandError(
            "ERR You can't switch OPTIN/OPTOUT mode before disabling tracking for this client, "
            "and then re-enabling it with a different mode."
        )


def _check_prefixes(c: Client, prefixes: list[bytes]) -> None:
    """Refuse prefixes of which one begins with another: keys would be told twice.

    An oddity of Redis until 8: the error for two prefixes of this call is no end unless
    the first of them is the first given. The error is sent, then the mode is switched on and
    OK is sent as well. tracking.c: checkPrefixCollisionsOrReply()
    """
    for i, prefix in enumerate(prefixes):
        for mine in sorted(c.tracking_prefixes):
            if _overlap(mine, prefix):
                raise _collision(prefix, b"an existing", mine)
        for other in prefixes[i + 1 :]:
            if _overlap(prefix, other):
                error = _collision(prefix, b"another provided", other)
                if i == 0:
                    raise error
                c.server.count_error(error)
                assert c.cmd is not None
                c.server.command_stats[c.cmd].failed_calls += 1
                if not c.silenced:
                    c.push(error)
                return


def _overlap(a: bytes, b: bytes) -> bool:
    return a.startswith(b) or b.startswith(a)


def _collision(prefix: bytes, what: bytes, other: bytes) -> CommandError:
    text = b"ERR Prefix '%s' overlaps with %s prefix '%s'. " % (
        c_string(prefix),
        what,
        c_string(other),
    )
    return CommandError(one_line(text + b"Prefixes for a single client must not overlap."))


@command("client|getredir", arity=2, flags=_FLAGS, group="connection", since="6.0.0")
def client_getredir(c: Client, _: bytes) -> Reply:
    """CLIENT GETREDIR

    The client that gets this one's invalidation messages; 0 for itself, -1 while it tracks
    no keys.

    networking.c: clientCommand()
    """
    return tracking_redirection(c)


@command("client|trackinginfo", arity=2, flags=_FLAGS, group="connection", since="6.2.0")
def client_trackinginfo(c: Client, _: bytes) -> Reply:
    """CLIENT TRACKINGINFO

    How the server tracks the keys this connection reads.

    networking.c: clientCommand()
    """
    flags = [b"on" if c.flags & CLIENT_TRACKING else b"off"]
    caching = c.flags & CLIENT_TRACKING_CACHING
    if c.flags & CLIENT_TRACKING_BCAST:
        flags.append(b"bcast")
    if c.flags & CLIENT_TRACKING_OPTIN:
        flags += [b"optin", b"caching-yes"] if caching else [b"optin"]
    if c.flags & CLIENT_TRACKING_OPTOUT:
        flags += [b"optout", b"caching-no"] if caching else [b"optout"]
    if c.flags & CLIENT_TRACKING_NOLOOP:
        flags.append(b"noloop")
    if c.flags & CLIENT_TRACKING_BROKEN_REDIR:
        flags.append(b"broken_redirect")
    return {
        b"flags": SetReply(flags),
        b"redirect": tracking_redirection(c),
        b"prefixes": sorted(c.tracking_prefixes),
    }


@command("client|caching", arity=3, flags=_FLAGS, group="connection", since="6.0.0")
def client_caching(c: Client, _: bytes, mode: bytes) -> Reply:
    """CLIENT CACHING YES | NO

    Whether the keys of the next command, or transaction, are tracked: YES in OPTIN mode,
    where none are otherwise, NO in OPTOUT mode.

    networking.c: clientCommand()
    """
    if not c.flags & CLIENT_TRACKING:
        raise CommandError(
            "ERR CLIENT CACHING can be called only when the client is in tracking mode with "
            "OPTIN or OPTOUT mode enabled"
        )
    switch = word(mode)
    if switch == b"yes":
        if not c.flags & CLIENT_TRACKING_OPTIN:
            raise CommandError(
                "ERR CLIENT CACHING YES is only valid when tracking is enabled in OPTIN mode."
            )
    elif switch == b"no":
        if not c.flags & CLIENT_TRACKING_OPTOUT:
            raise CommandError(
                "ERR CLIENT CACHING NO is only valid when tracking is enabled in OPTOUT mode."
            )
    else:
        raise syntax_error()
    c.flags |= CLIENT_TRACKING_CACHING
    return OK
