"""Commands and parameters that only some clients may use.

``enable-debug-command``, ``enable-module-command`` and ``enable-protected-configs`` are
``yes``, ``no`` or ``local``.

Redis: ``allowProtectedAction()`` in config.c, ``islocalClient()`` in networking.c.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from miniredis.errors import CommandError

if TYPE_CHECKING:
    from miniredis.server.client import Client

_LOCAL_HOSTS = frozenset({"127.0.0.1", "::1", "[::1]"})


def is_local_client(c: Client) -> bool:
    """Whether the client is on this machine; those of this process are.

    networking.c: islocalClient()
    """
    return c.addr.rpartition(":")[0] in _LOCAL_HOSTS


def _refused(c: Client, name: str, switch: str) -> CommandError | None:
    if c.server.config.allows(switch, is_local_client(c)):
        return None
    return CommandError(
        f"ERR {name.upper()} command not allowed. If the enable-{name}-command option is set to "
        '"local", you can run it from a local connection, otherwise you need to set this '
        "option in the configuration file, and then restart the server."
    )


def debug_refused(c: Client) -> CommandError | None:
    """The error for a client that may not use DEBUG. server.c: processCommand()"""
    return _refused(c, "debug", c.server.config.enable_debug_command)


def module_refused(c: Client) -> CommandError | None:
    """The error for a client that may not load modules. server.c: processCommand()"""
    return _refused(c, "module", c.server.config.enable_module_command)
