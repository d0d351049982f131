"""CLUSTER, MODULE and LOLWUT: as a server answers that is no part of a cluster and has no modules.

Every subcommand of CLUSTER is there, with its row, and refuses: so does redis-server unless
it was started with ``cluster-enabled yes``. Modules can't be loaded into this process; with
``enable-module-command`` LOAD fails as for a file that is no module.

Redis: cluster.c, module.c, lolwut.c.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from miniredis.commands.args import get_long_long, word
from miniredis.commands.protected import module_refused
from miniredis.commands.table import command, container
from miniredis.errors import CommandError
from miniredis.reply import Reply, Verbatim

if TYPE_CHECKING:
    from miniredis.server.client import Client

_LOOK = "stale"
_ASK = "admin stale"
_CHANGE = "admin stale no_async_loading"
_VARIES = "nondeterministic_output"
_NODES = "O(N) in the number of nodes"
_SLOTS = "O(N) in the number of slots"

# name and arguments, arity, flags, tips, since, complexity, what it is for in a cluster
_CLUSTER: tuple[tuple[str, int, str, str, str, str, str], ...] = (
    ("ADDSLOTS slot [slot ...]", -3, _CHANGE, "", "3.0.0", _SLOTS, "Takes hash slots."),
    (
        "ADDSLOTSRANGE start-slot end-slot [start-slot end-slot ...]",
        -4,
        _CHANGE,
        "",
        "7.0.0",
        _SLOTS,
        "Takes ranges of hash slots.",
    ),
    ("BUMPEPOCH", 2, _CHANGE, _VARIES, "3.0.0", "O(1)", "Moves the configuration on."),
    (
        "COUNT-FAILURE-REPORTS node-id",
        3,
        _ASK,
        _VARIES,
        "3.0.0",
        "O(N) in the number of reports",
        "How many nodes report that one has failed.",
    ),
    ("COUNTKEYSINSLOT slot", 3, _LOOK, "", "3.0.0", "O(1)", "How many keys a slot has."),
    ("DELSLOTS slot [slot ...]", -3, _CHANGE, "", "3.0.0", _SLOTS, "Gives hash slots away."),
    (
        "DELSLOTSRANGE start-slot end-slot [start-slot end-slot ...]",
        -4,
        _CHANGE,
        "",
        "7.0.0",
        _SLOTS,
        "Gives ranges of hash slots away.",
    ),
    (
        "FAILOVER [FORCE | TAKEOVER]",
        -2,
        _CHANGE,
        "",
        "3.0.0",
        "O(1)",
        "Makes a replica the primary.",
    ),
    ("FLUSHSLOTS", 2, _CHANGE, "", "3.0.0", "O(1)", "Gives all hash slots away."),
    ("FORGET node-id", 3, _CHANGE, "", "3.0.0", "O(1)", "Removes a node."),
    (
        "GETKEYSINSLOT slot count",
        4,
        _LOOK,
        _VARIES,
        "3.0.0",
        "O(log(N)) in the number of keys asked for",
        "Some keys of a slot.",
    ),
    ("HELP", 2, "loading stale", "", "5.0.0", "O(1)", "What CLUSTER can do."),
    ("INFO", 2, _LOOK, _VARIES, "3.0.0", "O(1)", "The state of the cluster."),
    ("KEYSLOT key", 3, _LOOK, "", "3.0.0", "O(N) in the bytes of the key", "The slot of a key."),
    ("LINKS", 2, _LOOK, _VARIES, "7.0.0", _NODES, "The connections between nodes."),
    ("MEET ip port [cluster_bus_port]", -4, _CHANGE, "", "3.0.0", "O(1)", "Adds a node."),
    ("MYID", 2, _LOOK, "", "3.0.0", "O(1)", "The ID of this node."),
    ("NODES", 2, _LOOK, _VARIES, "3.0.0", _NODES, "All nodes."),
    ("REPLICAS node-id", 3, _ASK, _VARIES, "5.0.0", "O(1)", "The replicas of a node."),
    ("REPLICATE node-id", 3, _CHANGE, "", "3.0.0", "O(1)", "Becomes a replica of a node."),
    (
        "RESET [HARD | SOFT]",
        -2,
        "admin noscript stale",
        "",
        "3.0.0",
        "O(N) in the number of nodes known",
        "Leaves the cluster.",
    ),
    ("SAVECONFIG", 2, _CHANGE, "", "3.0.0", "O(1)", "Saves the configuration."),
    (
        "SET-CONFIG-EPOCH config-epoch",
        3,
        _CHANGE,
        "",
        "3.0.0",
        "O(1)",
        "Sets the number of a new node's configuration.",
    ),
    (
        "SETSLOT slot IMPORTING node-id | MIGRATING node-id | NODE node-id | STABLE",
        -4,
        _CHANGE,
        "",
        "3.0.0",
        "O(1)",
        "Moves a slot from node to node.",
    ),
    ("SHARDS", 2, _LOOK, _VARIES, "7.0.0", _NODES, "The slots and nodes of each shard."),
    ("SLAVES node-id", 3, _ASK, _VARIES, "3.0.0", "O(1)", "The replicas of a node."),
    ("SLOTS", 2, _LOOK, _VARIES, "3.0.0", _NODES, "Which node has which slots."),
)

container("cluster", group="cluster", since="3.0.0", summary="Commands about a cluster.")


def _refusing(usage: str, meaning: str) -> Callable[..., Reply]:
    def cluster_command(c: Client, *_: bytes) -> Reply:
        raise CommandError("ERR This instance has cluster support disabled")

    cluster_command.__doc__ = f"CLUSTER {usage}\n\n    {meaning}\n\n    cluster.c: clusterCommand()"
    return cluster_command


for _usage, _arity, _flags, _tips, _since, _complexity, _meaning in _CLUSTER:
    command(
        f"cluster|{_usage.split()[0].lower()}",
        arity=_arity,
        flags=_flags,
        tips=_tips,
        group="cluster",
        acl="",
        since=_since,
        complexity=_complexity,
    )(_refusing(_usage, _meaning))


# -- MODULE -------------------------------------------------------------------------------

_MODULE = "admin noscript no_async_loading"

container("module", group="server", since="4.0.0", summary="Commands about modules.")


@command(
    "module|list",
    arity=2,
    flags="admin noscript",
    tips="nondeterministic_output_order",
    group="server",
    since="4.0.0",
    complexity="O(N) in the number of modules",
)
def module_list(c: Client, _: bytes) -> Reply:
    """MODULE LIST

    The modules that are loaded: none.

    module.c: moduleCommand()
    """
    return []


def _load(c: Client) -> CommandError:
    refused = module_refused(c)
    text = "ERR Error loading the extension. Please check the server logs."
    return CommandError(text) if refused is None else refused


@command("module|load", arity=-3, flags=_MODULE, group="server", since="4.0.0")
def module_load(c: Client, _: bytes, path: bytes, *args: bytes) -> Reply:
    """MODULE LOAD path [arg [arg ...]]

    Loads a module, which fails.

    module.c: moduleCommand()
    """
    raise _load(c)


@command("module|loadex", arity=-3, flags=_MODULE, group="server", since="7.0.0")
def module_loadex(c: Client, _: bytes, path: bytes, *args: bytes) -> Reply:
    """MODULE LOADEX path [CONFIG name value [CONFIG name value ...]] [ARGS arg [arg ...]]

    Loads a module with parameters, which fails.

    module.c: moduleCommand()
    """
    raise _load(c)


@command("module|unload", arity=3, flags=_MODULE, group="server", since="4.0.0")
def module_unload(c: Client, _: bytes, name: bytes) -> Reply:
    """MODULE UNLOAD name

    Unloads a module; none is there.

    module.c: moduleCommand()
    """
    raise module_refused(c) or CommandError(
        "ERR Error unloading module: no such module with that name"
    )


@command("module|help", arity=2, flags="loading stale", group="server", since="5.0.0")
def module_help(c: Client, _: bytes) -> Reply:
    """MODULE HELP

    What MODULE can do.

    module.c: moduleCommand()
    """
    return c.help(
        ("LIST", "The modules that are loaded."),
        ("LOAD <path> [<arg> ...]", "Load a module."),
        (
            "LOADEX <path> [[CONFIG NAME VALUE] [CONFIG NAME VALUE]] [ARGS ...]",
            "Load a module with parameters.",
        ),
        ("UNLOAD <name>", "Unload a module."),
    )


@command("lolwut", arity=-1, flags="readonly fast", group="server", since="5.0.0", complexity="")
def lolwut(c: Client, *args: bytes) -> Reply:
    """LOLWUT [VERSION version]

    The version of Redis. Versions 5 and 6 would draw something, here they don't.

    lolwut.c: lolwutUnstableCommand()
    """
    if len(args) >= 2 and word(args[0]) == b"version":
        get_long_long(args[1])
    return Verbatim(b"Redis ver. 7.0.15\n")
