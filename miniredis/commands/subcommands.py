"""The error of a subcommand whose arguments its own code, not the table, finds wrong.

Redis: ``addReplySubcommandSyntaxError()`` in networking.c.
"""

from __future__ import annotations

from miniredis.errors import CommandError

SHOWN_BYTES = 128  # of the subcommand's name


def subcommand_syntax_error(argv: list[bytes]) -> CommandError:
    """The error for the command *argv*, which has a subcommand. O(1)."""
    shown = argv[1].partition(b"\0")[0][:SHOWN_BYTES]
    text = b"ERR unknown subcommand or wrong number of arguments for '%s'. Try %s HELP." % (
        shown,
        argv[0].upper(),
    )
    return CommandError(one_line(text))


def one_line(text: bytes) -> bytes:
    """*text* with line ends made spaces, as an error must not have any.

    networking.c: addReplyErrorFormatInternal()
    """
    return text.replace(b"\r", b" ").replace(b"\n", b" ")
