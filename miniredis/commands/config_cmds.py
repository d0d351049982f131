"""CONFIG: reading and setting parameters, and resetting statistics.

Redis: config.c.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from miniredis.commands.protected import is_local_client
from miniredis.commands.table import command, container
from miniredis.errors import syntax_error
from miniredis.reply import OK, Reply

if TYPE_CHECKING:
    from miniredis.server.client import Client

FIRST_VALUE = 3  # position of the first value in CONFIG SET name value ...
_FLAGS = "admin noscript loading stale"

container("config", group="server", since="2.0.0", summary="Commands of the configuration.")


@command(
    "config|get",
    arity=-3,
    flags=_FLAGS,
    group="server",
    since="2.0.0",
    complexity="O(N) in the number of parameters asked for",
)
def config_get(c: Client, _: bytes, *patterns: bytes) -> Reply:
    """CONFIG GET parameter [parameter ...]

    Shows the values of parameters, given by names or glob patterns.

    config.c: configGetCommand()
    """
    return c.server.config.get(list(patterns))


@command(
    "config|set",
    arity=-4,
    flags=_FLAGS,
    tips="request_policy:all_nodes response_policy:all_succeeded",
    group="server",
    since="2.0.0",
    complexity="O(N) in the number of parameters given",
)
def config_set(c: Client, _: bytes, *args: bytes) -> Reply:
    """CONFIG SET parameter value [parameter value ...]

    Sets parameters, all of them or none.

    config.c: configSetCommand()
    """
    if len(args) % 2:
        raise syntax_error()
    pairs = list(zip(args[::2], args[1::2], strict=True))
    for i, (name, _value) in enumerate(pairs):
        if c.server.config.is_sensitive(name):
            c.redact(2 * i + FIRST_VALUE)
    c.server.config.set(pairs, local=is_local_client(c))
    return OK


@command("config|resetstat", arity=2, flags=_FLAGS, group="server", since="2.0.0")
def config_resetstat(c: Client, _: bytes) -> Reply:
    """CONFIG RESETSTAT

    Zeroes the statistics that INFO shows.

    config.c: configResetStatCommand()
    """
    c.server.reset_server_stats()
    return OK


@command("config|rewrite", arity=2, flags=_FLAGS, group="server", since="2.8.0")
def config_rewrite(c: Client, _: bytes) -> Reply:
    """CONFIG REWRITE

    Writes the configuration to its file; there is none here, so this fails.

    config.c: configRewriteCommand()
    """
    c.server.config.rewrite()
    return OK


@command("config|help", arity=2, flags="loading stale", group="server", since="5.0.0")
def config_help(c: Client, _: bytes) -> Reply:
    """CONFIG HELP

    Shows the subcommands.

    config.c: configHelpCommand()
    """
    return c.help(
        ("GET <pattern>", "The parameters that match <pattern>, with their values."),
        ("SET <directive> <value>", "Set a parameter."),
        ("RESETSTAT", "Zero the statistics of INFO."),
        ("REWRITE", "Rewrite the configuration file."),
    )
