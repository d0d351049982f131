"""The configuration: parameters from Python, CONFIG GET and CONFIG SET."""

from __future__ import annotations

from typing import Any

import pytest

from miniredis.clock import VirtualClock
from miniredis.commands.client_flags import CLIENT_UNAUTHENTICATED
from miniredis.errors import CommandError
from miniredis.keyspace import notify
from miniredis.reply import OK
from miniredis.server.config import PARAMETERS, Config
from miniredis.server.config_types import ApplyError, ConfigFlag, Parameter
from miniredis.server.server import Server

DEFAULT_SAVE = b"3600 1 300 100 60 10000"
FAILED = "ERR CONFIG SET failed (possibly related to argument '%s') - %s"
NOT_AN_INTEGER = "argument couldn't be parsed into an integer"


@pytest.fixture
def config() -> Config:
    return Config()


def get(config: Config, *patterns: str) -> dict[str, str]:
    found = config.get([pattern.encode() for pattern in patterns])
    return {name.decode(): value.decode() for name, value in found.items()}


def set_(config: Config, *words: str, local: bool = True) -> list[str]:
    pairs = [(n.encode(), v.encode()) for n, v in zip(words[::2], words[1::2], strict=True)]
    return config.set(pairs, local=local)


def refusal(config: Config, *words: str, local: bool = True) -> str:
    """The error text; nothing may have changed."""
    before = {name: getattr(config, name) for name in PARAMETERS}
    with pytest.raises(CommandError) as caught:
        set_(config, *words, local=local)
    assert {name: getattr(config, name) for name in PARAMETERS} == before
    return caught.value.text.decode()


# -- the table ------------------------------------------------------------------------------


def test_names_are_unique() -> None:
    names = [name for row in PARAMETERS.values() for name in (row.name, row.alias) if name]
    assert len(names) == len(set(names))
    assert len(names) > 190


@pytest.mark.parametrize("row", PARAMETERS.values(), ids=lambda row: row.attribute)
def test_defaults_are_values_that_the_parameter_accepts(row: Parameter) -> None:
    assert row.read(row.show(row.default), row.default) == row.default


# -- values from Python -----------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "given", "value"),
    [
        ("hz", 100, 100),
        ("hz", "100", 100),
        ("hz", b"100", 100),
        ("hz", 0, 1),
        ("hz", 501, 500),
        ("activerehashing", False, False),
        ("activerehashing", "no", False),
        ("activerehashing", b"YES", True),
        ("maxmemory", 104857600, 104857600),
        ("maxmemory", "100mb", 104857600),
        ("maxmemory_clients", -5, -5),
        ("maxmemory_clients", "5%", -5),
        ("maxmemory_policy", "Allkeys-LRU", "allkeys-lru"),
        ("unixsocketperm", 0o700, 0o700),
        ("unixsocketperm", "700", 0o700),
        ("requirepass", "p\u00e4ss\udcff", b"p\xc3\xa4ss\xff"),
        ("requirepass", b"\x00\xff", b"\x00\xff"),
        ("databases", 4, 4),
        ("dir", "/", b"/"),
        ("notify_keyspace_events", "Kx", notify.NOTIFY_KEYSPACE | notify.NOTIFY_EXPIRED),
        ("notify_keyspace_events", notify.NOTIFY_EXPIRED, notify.NOTIFY_EXPIRED),
        ("save", "60 1", ((60, 1),)),
        ("save", "", ()),
        ("replicaof", "localhost 6380", (b"localhost", 6380)),
        ("replicaof", "no one", None),
        ("bind", "127.0.0.1 ::1", (b"127.0.0.1", b"::1")),
        ("bind", "", ()),
        ("shutdown_on_sigterm", "now save", "save now"),
        ("latency_tracking_info_percentiles", "99.9 50", (99.9, 50.0)),
    ],
)
def test_values_from_python(name: str, given: object, value: object) -> None:
    config = Config(**{name: given})
    assert getattr(config, name) == value
    others = {other for other in PARAMETERS if getattr(config, other) != getattr(Config(), other)}
    assert others == ({name} if value != PARAMETERS[name].default else set())


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("hzz", "there is no configuration parameter 'hzz'; did you mean hz?"),
        (
            "active_expire_efort",
            "there is no configuration parameter 'active_expire_efort'; "
            "did you mean active_expire_effort?",
        ),
        (
            "maxmemory-policy",
            "there is no configuration parameter 'maxmemory-policy'; "
            "did you mean maxmemory_policy?",
        ),
        ("qqqqqqqq", "there is no configuration parameter 'qqqqqqqq'"),
    ],
)
def test_unknown_names(name: str, message: str) -> None:
    with pytest.raises(TypeError) as caught:
        Config(**{name: 1})
    assert str(caught.value) == message


def test_a_server_takes_parameters_as_keywords() -> None:
    server = Server(VirtualClock(), seed=1, hz=50, databases=3)
    assert server.hz == 50
    assert len(server.databases) == 3
    with pytest.raises(TypeError, match="did you mean databases"):
        Server(VirtualClock(), seed=1, database=3)


@pytest.mark.parametrize(
    ("name", "value", "message"),
    [
        ("hz", 1.5, "hz must be an int or a str, got float"),
        ("hz", True, "hz must be an int or a str, got bool"),
        ("hz", None, "hz must be an int or a str, got NoneType"),
        ("activerehashing", 1, "activerehashing must be a bool, 'yes' or 'no', got int"),
        ("maxmemory_policy", 1, "maxmemory_policy must be a str or bytes, got int"),
        ("requirepass", None, "requirepass must be a str or bytes, got NoneType"),
        ("save", [(60, 1)], "save must be a str or bytes, got list"),
        (
            "notify_keyspace_events",
            True,
            "notify_keyspace_events must be a str of class letters or an int of flags, got bool",
        ),
    ],
)
def test_wrong_types(name: str, value: object, message: str) -> None:
    with pytest.raises(TypeError) as caught:
        Config(**{name: value})
    assert str(caught.value) == message


@pytest.mark.parametrize(
    ("name", "value", "message"),
    [
        ("hz", -1, "hz must be between 0 and 2147483647, got -1"),
        ("databases", 0, "databases must be between 1 and 2147483647, got 0"),
        ("maxmemory", 2**64, "maxmemory must be between 0 and 18446744073709551615, got a larger"),
        ("maxmemory_clients", -101, "maxmemory_clients must be between -100 and 92233720368547758"),
        ("hz", "x", f"hz does not accept 'x': {NOT_AN_INTEGER}"),
        ("hz", b"", f"hz does not accept b'': {NOT_AN_INTEGER}"),
        ("maxmemory", "1tb", "maxmemory does not accept '1tb': argument must be a memory value"),
        ("activerehashing", "1", "activerehashing does not accept '1': argument must be 'yes' or"),
        ("loglevel", "loud", "loglevel does not accept 'loud': argument(s) must be one of the fol"),
        ("save", "60", "save does not accept '60': Invalid save parameters"),
        (
            "notify_keyspace_events",
            "Q",
            "notify_keyspace_events does not accept 'Q': Invalid event",
        ),
        ("notify_keyspace_events", 1 << 20, "notify_keyspace_events has unknown flags; known are"),
        ("replicaof", "a", "replicaof does not accept 'a': wrong number of arguments"),
        ("replicaof", "a 65536", "replicaof does not accept 'a 65536': Invalid master port"),
        ("bind", " ".join("a" * 17), "bind does not accept 'a a a a a a ...a a a a a a a': Too ma"),
        ("dbfilename", "a/b", "dbfilename does not accept 'a/b': dbfilename can't be a path"),
        ("appendfilename", "", "appendfilename does not accept '': appendfilename can't be empty"),
        ("appenddirname", "a/b", "appenddirname does not accept 'a/b': appenddirname can't be a p"),
    ],
)
def test_values_that_are_refused(name: str, value: object, message: str) -> None:
    with pytest.raises(ValueError) as caught:  # noqa: PT011 - the text is compared below
        Config(**{name: value})
    assert str(caught.value).startswith(message)


# -- CONFIG GET -------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("patterns", "expected"),
    [
        (["hz"], {"hz": "10"}),
        (["HZ"], {"HZ": "10"}),
        (["HZ", "hz"], {"HZ": "10"}),
        (["h?"], {"hz": "10"}),
        (["H[yz]", "hz"], {"hz": "10"}),
        (["nope"], {}),
        (["nope*", ""], {}),
        (["slave-priority"], {"slave-priority": "100"}),
        (
            ["replica-priority", "slave-priority"],
            {"replica-priority": "100"} | {"slave-priority": "100"},
        ),
        (["*lfu-*"], {"lfu-log-factor": "10", "lfu-decay-time": "1"}),
        (["key-load-delay"], {"key-load-delay": "0"}),
        (["key-load-dela?"], {}),
        (["maxmemory", "hz"], {"maxmemory": "0", "hz": "10"}),
        (["save"], {"save": DEFAULT_SAVE.decode()}),
        (["unixsocketperm"], {"unixsocketperm": "0"}),
        (["maxmemory-clients"], {"maxmemory-clients": "0"}),
        (["activerehash*"], {"activerehashing": "yes"}),
    ],
)
def test_get(config: Config, patterns: list[str], expected: dict[str, str]) -> None:
    assert get(config, *patterns) == expected


def test_get_everything_but_what_is_hidden(config: Config) -> None:
    found = get(config, "*")
    visible = {row.name for row in PARAMETERS.values() if ConfigFlag.HIDDEN not in row.flags}
    assert visible <= set(found)
    hidden = {row.name for row in PARAMETERS.values() if ConfigFlag.HIDDEN in row.flags}
    assert hidden
    assert not hidden & set(found)
    assert set(get(config, *hidden)) == hidden


# -- CONFIG SET -------------------------------------------------------------------------------


@pytest.mark.parametrize("row", PARAMETERS.values(), ids=lambda row: row.attribute)
def test_every_parameter_takes_the_value_that_it_shows(row: Parameter) -> None:
    config = Config()
    name = row.name.encode()
    pair = (name, config.get([name])[name])
    if ConfigFlag.IMMUTABLE in row.flags:
        assert refusal(config, *(word.decode() for word in pair)) == FAILED % (
            row.name,
            "can't set immutable config",
        )
        return
    config.enable_protected_configs = "yes"
    assert config.set([pair]) == []
    assert config.get([name]) == dict([pair])


@pytest.mark.parametrize("row", PARAMETERS.values(), ids=lambda row: row.attribute)
def test_an_alias_is_another_name_of_the_same(row: Parameter) -> None:
    config = Config()
    shown = get(config, row.name)[row.name]
    for name in (row.name.upper(), *([row.alias] if row.alias else [])):
        assert get(config, name) == {name: shown}


def test_set_through_an_alias(config: Config) -> None:
    assert set_(config, "slave-priority", "7") == ["slave-priority"]
    assert get(config, "replica-priority", "slave-priority") == {
        "replica-priority": "7",
        "slave-priority": "7",
    }
    assert config.replica_priority == 7


def test_set_names_what_changed(config: Config) -> None:
    assert set_(config, "hz", "10", "TIMEOUT", "5", "activerehashing", "no") == [
        "timeout",
        "activerehashing",
    ]


@pytest.mark.parametrize(
    ("words", "name", "why"),
    [
        ("hz 20 timeout -1", "timeout", "argument must be between 0 and 2147483647 inclusive"),
        ("hz 20 maxmemory x timeout y", "maxmemory", "argument must be a memory value"),
        ("hz 20 HZ 30", "HZ", "duplicate parameter"),
        ("hz 20 hz 20", "hz", "duplicate parameter"),
        ("hz 20 Databases 4", "Databases", "can't set immutable config"),
        ("hz x databases 4", "databases", "can't set immutable config"),
        ("hz 20 dir /tmp", "dir", "can't set protected config"),
        ("hz 20 dbfilename x", "dbfilename", "can't set protected config"),
    ],
)
def test_all_are_set_or_none(config: Config, words: str, name: str, why: str) -> None:
    assert refusal(config, *words.split()) == FAILED % (name, why)


def test_an_unknown_name(config: Config) -> None:
    text = "ERR Unknown option or number of arguments for CONFIG SET - 'Nope'"
    assert refusal(config, "hz", "20", "Nope", "1") == text
    assert refusal(config, "hz", "x", "Nope", "1", "databases", "1") == text


def test_nothing_to_set(config: Config) -> None:
    assert refusal(config) == "ERR syntax error"


def test_a_change_that_cannot_be_applied_is_undone(config: Config) -> None:
    """The parameter named is the first that changed."""
    seen: list[int] = []

    def refuse() -> None:
        seen.append(config.timeout)
        if config.timeout:
            raise ApplyError("no idle clients here")

    config.on_change = refuse
    words = ("hz", "10", "timeout", "5", "maxmemory", "1")
    assert refusal(config, *words) == FAILED % ("timeout", "no idle clients here")
    assert seen == [5, 0], "the old values are applied again"
    set_(config, "hz", "20")
    assert seen == [5, 0, 0]


@pytest.mark.parametrize(
    ("setting", "local", "allowed"),
    [
        ("no", True, False),
        ("no", False, False),
        ("local", True, True),
        ("local", False, False),
        ("yes", True, True),
        ("yes", False, True),
    ],
)
def test_protected_parameters(setting: str, local: bool, allowed: bool) -> None:
    config = Config(enable_protected_configs=setting)
    if allowed:
        assert set_(config, "dbfilename", "x.rdb", local=local) == ["dbfilename"]
        assert config.dbfilename == b"x.rdb"
    else:
        text = FAILED % ("dbfilename", "can't set protected config")
        assert refusal(config, "dbfilename", "x.rdb", local=local) == text


@pytest.mark.parametrize(
    ("given", "kept"),
    [("0", "1"), ("1", "1"), ("499", "499"), ("500", "500"), ("501", "500"), ("2147483647", "500")],
)
def test_hz_is_clamped(config: Config, given: str, kept: str) -> None:
    set_(config, "hz", given)
    assert get(config, "hz") == {"hz": kept}


# -- kinds of values ----------------------------------------------------------------------------

OTHER_LIMITS = "slave 268435456 67108864 60 pubsub 33554432 8388608 60"
EVENTS, BUFFERS = "notify-keyspace-events", "client-output-buffer-limit"


@pytest.mark.parametrize(
    ("name", "given", "shown"),
    [
        ("maxmemory", "1", "1"),
        ("maxmemory", "1b", "1"),
        ("maxmemory", "1k", "1000"),
        ("maxmemory", "1kb", "1024"),
        ("maxmemory", "1m", "1000000"),
        ("maxmemory", "100MB", "104857600"),
        ("maxmemory", "1g", "1000000000"),
        ("maxmemory", "1gB", "1073741824"),
        ("maxmemory", "", "0"),
        ("maxmemory", "mb", "0"),
        ("maxmemory", "00010", "10"),
        ("maxmemory", "99999999999999999999", "18446744073709551615"),
        ("maxmemory", "17179869185gb", "1073741824"),  # the product overflows
        ("maxmemory-clients", "100%", "100%"),
        ("maxmemory-clients", "0%", "0"),
        ("maxmemory-clients", "1mb", "1048576"),
        ("timeout", "2147483647", "2147483647"),
        ("list-max-listpack-size", "-2147483648", "-2147483648"),
        ("activerehashing", "NO", "no"),
        ("maxmemory-policy", "VOLATILE-ttl", "volatile-ttl"),
        ("shutdown-on-sigint", "force NOW", "now force"),
        ("latency-tracking-info-percentiles", "50 99.90", "50 99.9"),
        ("oom-score-adj-values", "-1 2000 3", "-1 2000 3"),
        (EVENTS, "", ""),
        (EVENTS, "KEA", "AKE"),
        (EVENTS, "xEKx", "xKE"),
        (EVENTS, "xg$E", "g$xE"),
        (EVENTS, "g$lshzxetd", "A"),
        (EVENTS, "g$lshzxet", "g$lshzxet"),
        (EVENTS, "nK", "nK"),
        (EVENTS, "AKEmn", "AKEm"),  # as in Redis: n is on, but A hides it
        # Classes that are not named keep their limits.
        (BUFFERS, "normal 1 2 3", f"normal 1 2 3 {OTHER_LIMITS}"),
        (BUFFERS, "normal 1 2 3 NORMAL 4 5 6", f"normal 4 5 6 {OTHER_LIMITS}"),
        (BUFFERS, "pubsub 1k 1kb 1 replica 0 0 0", "normal 0 0 0 slave 0 0 0 pubsub 1000 1024 1"),
        # What is given replaces what was there.
        ("save", "", ""),
        ("save", "60 0 3600 1000", "60 0 3600 1000"),
    ],
)
def test_values_that_set_takes(config: Config, name: str, given: str, shown: str) -> None:
    set_(config, name, given)
    assert get(config, name) == {name: shown}


NOT_MEMORY = "argument must be a memory value"
NOT_PERCENT = "argument must be a memory or percent value"
NOT_YES_NO = "argument must be 'yes' or 'no'"
ONE_OF = "argument(s) must be one of the following: "
NOT_EVENTS = "Invalid event class character. Use 'Ag$lshzxeKEtmdn'."
NOT_LIMITS = "Error in hard, soft or soft_seconds setting in buffer limit configuration."
NOT_FOURS = "Wrong number of arguments in buffer limit configuration."
NOT_A_CLASS = "Invalid client class specified in buffer limit configuration."
REFUSED = [
    ("maxmemory", NOT_MEMORY, ["1t", "1kib", "1.5g", " 1", "1 mb", "+1", "-1", "0x10", "1" * 128]),
    ("maxmemory-clients", NOT_PERCENT, ["-5%", "%", "5.5%", "1k%", "x"]),
    ("maxmemory-clients", "percentage argument must be less or equal to 100", ["101%"]),
    ("timeout", NOT_AN_INTEGER, ["", " 1", "01", "+1", "1k", "1.0", "9223372036854775808"]),
    ("timeout", "argument must be between 0 and 2147483647 inclusive", ["-1", "2147483648"]),
    ("active-expire-effort", "argument must be between 1 and 10 inclusive", ["0", "11"]),
    ("activerehashing", NOT_YES_NO, ["maybe", "", "1", "yess"]),
    ("loglevel", ONE_OF + "debug, verbose, notice, warning", ["loud", ""]),
    ("cluster-announce-hostname", "Hostnames must be less than 256 characters", ["a" * 256]),
    (EVENTS, NOT_EVENTS, ["Q", "k", "K E", "KE,x", "M"]),
    (BUFFERS, NOT_FOURS, ["normal 1 2", "normal 1 2 3 4", "normal"]),
    (BUFFERS, NOT_A_CLASS, ["master 1 2 3", "normal 1 2 3 nope 1 2 3"]),
    (BUFFERS, NOT_LIMITS, ["normal 1x 2 3", "normal 1 -2 3", "normal 1 2 -3", "slave 1 2 x"]),
    ("save", "Invalid save parameters", ["60", "0 1", "60 -1", "60 x", "x 1", "60 1 60", "60  1"]),
]


@pytest.mark.parametrize(
    ("name", "why", "given"), [(name, why, given) for name, why, bad in REFUSED for given in bad]
)
def test_values_that_set_refuses(config: Config, name: str, why: str, given: str) -> None:
    assert refusal(config, name, given) == FAILED % (name, why)


# -- in a server --------------------------------------------------------------------------------


def command(server: Server, *words: str, addr: str = "") -> Any:
    c = server.create_client(addr)
    return server.process_command(c, [word.encode() for word in words])


def test_a_change_takes_effect_at_once() -> None:
    server = Server(VirtualClock(), seed=1)
    words = "hz 50 activerehashing no notify-keyspace-events Ex requirepass secret"
    assert command(server, "CONFIG", "SET", *words.split()) is OK
    assert server.hz == 50
    assert not server.activerehashing
    assert server.notify_mask == notify.NOTIFY_KEYEVENT | notify.NOTIFY_EXPIRED
    assert server.create_client().flags & CLIENT_UNAUTHENTICATED


def test_pairs_must_be_complete() -> None:
    reply = command(Server(VirtualClock(), seed=1), "CONFIG", "SET", "hz", "20", "timeout")
    assert isinstance(reply, CommandError)
    assert reply.text == b"ERR syntax error"


@pytest.mark.parametrize(
    ("addr", "allowed"), [("127.0.0.1:5", True), ("[::1]:5", True), ("10.0.0.1:5", False)]
)
def test_local_clients_may_set_protected_parameters(addr: str, allowed: bool) -> None:
    server = Server(VirtualClock(), seed=1, enable_protected_configs="local")
    reply = command(server, "CONFIG", "SET", "dir", "/", addr=addr)
    assert (reply is OK) is allowed
    assert server.config.dir == (b"/" if allowed else b".")


def test_passwords_are_sensitive(config: Config) -> None:
    names = (b"requirepass", b"MASTERAUTH", b"masteruser", b"tls-key-file-pass", b"hz", b"nope")
    assert [config.is_sensitive(name) for name in names] == [True, True, True, False, False, False]


def test_maxmemory_is_accepted_and_does_nothing() -> None:
    """As docs/design.md says: memory is estimated, so nothing may depend on it."""
    server = Server(VirtualClock(), seed=1, maxmemory=1, maxmemory_policy="allkeys-random")
    for i in range(10):
        assert command(server, "SET", f"k{i}", "v") is OK
    assert server.dbsize() == 10
    assert server.stat_evictedkeys == 0
