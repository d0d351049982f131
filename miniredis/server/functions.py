"""Libraries of functions: scripts that stay, with names, and belong to the data set.

The code of a library runs once, when it is loaded, and registers functions; FCALL runs
them. While it is loaded it can call nothing but ``redis.register_function`` and
``redis.log``. A library that fails to load leaves what was there before.

Redis: functions.c, function_lua.c.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from miniredis.errors import CommandError
from miniredis.scripting.arguments import tostring
from miniredis.scripting.errors import RedisError, ScriptError
from miniredis.scripting.flags import SCRIPT_FLAGS, ScriptFlags
from miniredis.structs.words import split_args

if TYPE_CHECKING:
    from miniredis.scripting.lua import Lua
    from miniredis.server.script import Scripting

LOAD_TIMEOUT_US = 500_000
ENGINE = b"LUA"
CODE_NAME = b"@user_function"
_NAME = re.compile(rb"[a-zA-Z0-9_]+\Z")
_BAD_NAME = (
    "names can only contain letters, numbers, or underscores(_) and must be at least one "
    "character long"
)


@dataclass(slots=True)
class Function:
    """functions.h: functionInfo"""

    name: bytes
    callback: Any  # a function of Lua
    description: bytes | None
    flags: ScriptFlags


@dataclass(slots=True)
class Library:
    """functions.h: functionLibInfo"""

    name: bytes
    code: bytes
    functions: dict[bytes, Function] = field(default_factory=dict)


class LibraryContext:
    """Libraries, and their functions by name. functions.c: functionsLibCtx"""

    def __init__(self) -> None:
        self.libraries: dict[bytes, Library] = {}
        self.functions: dict[bytes, Function] = {}  # by the name in lower case

    def link(self, library: Library) -> None:
        """Make a library known. functions.c: libraryLink()"""
        self.libraries[library.name] = library
        for name, function in library.functions.items():
            self.functions.setdefault(name.lower(), function)

    def unlink(self, library: Library) -> None:
        """Forget a library. functions.c: libraryUnlink()"""
        del self.libraries[library.name]
        for name in library.functions:
            self.functions.pop(name.lower(), None)

    def find(self, name: bytes) -> Function | None:
        """The function of a name in any case."""
        return self.functions.get(name.lower())

    def join(self, other: LibraryContext, replace: bool) -> None:
        """Take in all libraries of *other*, or, if names collide, none: ``CommandError``.

        With *replace* a library takes the place of one of its name, but a function never that
        of another library's. O(functions). functions.c: libraryJoin()
        """
        old = [self.libraries[name] for name in other.libraries if name in self.libraries]
        if old and not replace:
            raise CommandError(b"ERR Library %s already exists" % old[0].name)
        for library in old:
            self.unlink(library)
        for library in other.libraries.values():
            for name in library.functions:
                if self.find(name) is not None:
                    for unlinked in old:
                        self.link(unlinked)
                    raise CommandError(b"ERR Function %s already exists" % name)
        for library in other.libraries.values():
            self.link(library)


class Functions(LibraryContext):
    """The libraries of one server, which have an interpreter of their own."""

    def __init__(self, scripting: Scripting) -> None:
        super().__init__()
        self.scripting = scripting
        self._lua: Lua | None = None
        self._loading: Library | None = None
        self._load_start_us: int | None = None  # None: it may take its time

    @property
    def lua(self) -> Lua:
        """The interpreter of all libraries."""
        if self._lua is None:
            from miniredis.server.script_api import RedisApi  # lupa is loaded with it

            self._lua = RedisApi(self.scripting, for_eval=False).lua
        return self._lua

    # -- the set of libraries -----------------------------------------------------------

    def load(self, code: bytes, replace: bool) -> bytes:
        """Load a library; its name. functions.c: functionLoadCommand()"""
        return self.create(code, replace, self, self.scripting.wall.us())

    def create(
        self, code: bytes, replace: bool, into: LibraryContext, start_us: int | None = None
    ) -> bytes:
        """Run the code of a library, which began at *start_us*; its name.

        functions.c: functionsCreateWithLibraryCtx()
        """
        name, engine, body = extract_library_metadata(code)
        if not _NAME.match(name):
            raise CommandError(f"ERR Library {_BAD_NAME}")
        if engine.upper() != ENGINE:
            raise CommandError(b"ERR Engine '%s' not found" % engine)
        old = into.libraries.get(name)
        if old is not None and not replace:
            raise CommandError(b"ERR Library '%s' already exists" % name)
        library = Library(name, code)
        self._load_start_us = start_us
        self._run(library, body)
        if not library.functions:
            raise CommandError("ERR No functions registered")
        for function in library.functions:
            known = into.find(function)
            if known is not None and (old is None or known not in old.functions.values()):
                raise CommandError(b"ERR Function %s already exists" % function)
        if old is not None:
            into.unlink(old)
        into.link(library)
        return name

    def restore(self, codes: Iterable[bytes], policy: bytes) -> None:
        """Load libraries, all or none; *policy* is ``append``, ``replace`` or ``flush``.

        Raises ``CommandError``. O(functions) but for the code. functions.c:
        functionRestoreCommand()
        """
        fresh = LibraryContext()
        for code in codes:
            self.create(code, False, fresh)
        if policy == b"flush":
            self.libraries, self.functions = fresh.libraries, fresh.functions
        else:
            self.join(fresh, replace=policy == b"replace")

    def _run(self, library: Library, body: bytes) -> None:
        """Let the code register its functions. function_lua.c: luaEngineCreate()"""
        try:
            code = self.lua.compile(body, CODE_NAME)
        except ScriptError as error:
            raise _one_line(b"ERR Error compiling function: " + error.message) from None
        self._loading = library
        try:
            self.lua.load(code, self._library_api())
        except ScriptError as error:
            raise _one_line(b"ERR Error registering functions: " + error.message) from None
        finally:
            self._loading = None

    def delete(self, name: bytes) -> None:
        """FUNCTION DELETE."""
        library = self.libraries.get(name)
        if library is None:
            raise CommandError("ERR Library not found")
        self.unlink(library)

    def flush(self) -> None:
        """Forget all libraries, and the interpreter with them."""
        self.libraries.clear()
        self.functions.clear()
        self._lua = None

    # -- loading ------------------------------------------------------------------------

    def interrupt(self) -> str | None:
        """Asked now and then while a library is loaded. function_lua.c: luaEngineLoadHook()"""
        if self._loading is None or self._load_start_us is None:
            return None
        late = self.scripting.wall.us() - self._load_start_us > LOAD_TIMEOUT_US
        return "ERR FUNCTION LOAD timeout" if late else None

    def _library_api(self) -> dict[str, Any]:
        """The table ``redis`` of a library that is being loaded."""
        host = self.lua.host
        values = host.redis_values()
        kept = {k: v for k, v in values.items() if k.startswith(("LOG_", "REDIS_"))}
        return {
            **kept,
            "log": host.redis_functions()["log"],
            "register_function": self._register_function,
        }

    def _register_function(self, *args: Any) -> None:
        """redis.register_function(). function_lua.c: luaRegisterFunction()"""
        library = self._loading
        if library is None:
            raise RedisError(
                "ERR redis.register_function can only be called on FUNCTION LOAD command"
            )
        if len(args) == 1:
            function = self._named_arguments(args[0])
        elif len(args) == 2:
            name = _string(args[0], "first argument to redis.register_function must be a string")
            if self.lua.kind(args[1]) != "function":
                raise RedisError(
                    "ERR second argument to redis.register_function must be a function"
                )
            function = Function(name, args[1], None, ScriptFlags(compat=False))
        else:
            raise RedisError("ERR wrong number of arguments to redis.register_function")
        if not _NAME.match(function.name):
            raise RedisError(f"ERR Library {_BAD_NAME}")  # Redis says so of functions too
        if function.name in library.functions:
            raise RedisError("ERR Function already exists in the library")
        library.functions[function.name] = function

    def _named_arguments(self, table: Any) -> Function:
        """function_lua.c: luaRegisterFunctionReadNamedArgs()"""
        lua = self.lua
        if lua.kind(table) != "table":
            raise RedisError(
                "ERR calling redis.register_function with a single argument is only applicable "
                "to Lua table (representing named arguments)."
            )
        name = description = callback = None
        flags: frozenset[bytes] = frozenset()
        for key, value in lua.items(table):
            if lua.kind(key) not in ("string", "number"):
                raise RedisError(
                    "ERR named argument key given to redis.register_function is not a string"
                )
            word = key.lower() if isinstance(key, bytes) else b""
            if word == b"function_name":
                name = _string(
                    value,
                    "function_name argument given to redis.register_function must be a string",
                )
            elif word == b"description":
                description = _string(
                    value,
                    "description argument given to redis.register_function must be a string",
                )
            elif word == b"callback":
                if lua.kind(value) != "function":
                    raise RedisError(
                        "ERR callback argument given to redis.register_function must be a function"
                    )
                callback = value
            elif word == b"flags":
                flags = self._read_flags(value)
            else:
                raise RedisError("ERR unknown argument given to redis.register_function")
        if name is None:
            raise RedisError("ERR redis.register_function must get a function name argument")
        if callback is None:
            raise RedisError("ERR redis.register_function must get a callback argument")
        return Function(name, callback, description, ScriptFlags(flags, compat=False))

    def _read_flags(self, table: Any) -> frozenset[bytes]:
        if self.lua.kind(table) != "table":
            raise RedisError(
                "ERR flags argument to redis.register_function must be a table representing "
                "function flags"
            )
        given = dict(self.lua.items(table))
        flags = set()
        position = 1
        while (flag := given.get(position)) is not None:
            if not isinstance(flag, bytes) or flag.lower() not in SCRIPT_FLAGS:
                raise RedisError("ERR unknown flag given")
            flags.add(flag.lower())
            position += 1
        return frozenset(flags)


def extract_library_metadata(code: bytes) -> tuple[bytes, bytes, bytes]:
    """Name and engine from the first line of a library, and the rest of its code.

    functions.c: functionExtractLibMetaData()
    """
    if not code.startswith(b"#!"):
        raise CommandError("ERR Missing library metadata")
    length = code.find(b"\n")
    parts = split_args(code[:length]) if length >= 0 else None
    if not parts:
        raise CommandError("ERR Invalid library metadata")
    name: bytes | None = None
    for part in parts[1:]:
        if part[:5].lower() != b"name=":
            raise CommandError(b"ERR Invalid metadata value given: " + part)
        if name is not None:
            raise CommandError("ERR Invalid metadata value, name argument was given multiple times")
        name = part[5:]
    if name is None:
        raise CommandError("ERR Library name was not given")
    return name, parts[0][2:], code[length:]


def _string(value: Any, message: str) -> bytes:
    if isinstance(value, bytes):
        return value
    if value.__class__ in (int, float):
        return tostring(value)
    raise RedisError(f"ERR {message}")


def _one_line(text: bytes) -> CommandError:
    return CommandError(text.replace(b"\r", b" ").replace(b"\n", b" "))
