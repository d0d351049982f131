"""ACL beside a real server: rules and how they are described, what is refused and noted."""

from __future__ import annotations

import re
from typing import Any

import pytest

from miniredis.clock import VirtualClock
from miniredis.commands.table import lookup_by_name
from miniredis.server.server import Server
from tests.differential.plain_server import OurClient, RealServer, shared_real_server
from tests.differential.sides import RealSide, run

__all__ = ["shared_real_server"]

RULES = [
    "",
    "on",
    "on nopass",
    "on >pass >word <pass",
    "off nopass >x resetpass",
    ">x >x #" + "0" * 64,
    "skip-sanitize-payload",
    "~* &* +@all",
    "allkeys allchannels allcommands",
    "~a* ~b* %R~c %W~d %RW~e %r~a* %W~c %~f",
    "&a &b &a",
    "+get +set",
    "+@read",
    "+@read -get",
    "+@all -@admin -@dangerous",
    "+@all -get -set",
    "+@read +@write -@string",
    "+@scripting +set",
    "+config|get",
    "+config -config|set",
    "+@all -config|get -client",
    "+client|list +client|id -@connection +ping",
    "+select|0 +select|1 +SELECT|1",
    "+select|0 +select",
    "+select|0 -select",
    "+debug|object +@all -debug",
    "+@all -@all +get",
    "+@list +@set +@sortedset +@hash +@string",
    "+@fast -@keyspace -@stream",
    "+@pubsub -publish &x",
    "(+get ~x)",
    "+set ~y (+get ~x) (+@all allkeys allchannels)",
    "(+get clearselectors",
    "( +get ~x ) +ping",
    "(+get ~x) clearselectors",
    "()",
    "on >x ~* +@all reset",
    "allkeys resetkeys ~x allchannels resetchannels &y",
    # refused
    "+nosuch",
    "-nosuch",
    "+",
    "-",
    "@all",
    "+@nosuch",
    "-@",
    "+config|nosuch",
    "-select|0",
    "+config|",
    "+select|",
    "+config|get|x",
    "~* ~x",
    "&* &x",
    "%X~x",
    "%RR~x",
    "%R",
    "%Rx",
    "<nosuch",
    "!" + "0" * 64,
    "#abc",
    "#" + "A" * 64,
    "(+get",
    "(+nosuch)",
    "(on)",
    "on) (+get",
    "nosuch",
    "+get nosuch",
]


class Both:
    """The same commands to both; descriptions of commands are compared as sets of words."""

    def __init__(self, real: RealServer) -> None:
        self.real = real.client()
        self.server = Server(VirtualClock(), seed=1)
        self.mine = OurClient(self.server)

    def __call__(self, *words: str) -> Any:
        replies = [as_set(side(*words)) for side in (self.real, self.mine)]
        assert replies[0] == replies[1], words
        return replies[0]


def is_known(rule: bytes) -> bool:
    """Whether *rule* is not about a command that there is none of here."""
    if rule[:1] not in (b"+", b"-") or rule[1:2] == b"@":
        return True
    name = rule[1:].split(b"|")
    return lookup_by_name(name[0]) is not None and (
        len(name) == 1
        or not lookup_by_name(name[0]).subcommands
        or lookup_by_name(rule[1:]) is not None
    )


def as_set(reply: Any) -> Any:
    """Single commands stand in the order of a hash table in Redis; those that are not here
    are left out.
    """
    if isinstance(reply, bytes):
        return sorted(filter(is_known, re.sub(rb"[()]", b" ", reply).split()))
    if isinstance(reply, (list, tuple)):
        return [as_set(item) for item in reply]
    return reply


@pytest.fixture
def both(shared_real_server: RealServer) -> Both:
    both = Both(shared_real_server)
    both.real("ACL", "DELUSER", "u")
    both.real("ACL", "LOG", "RESET")
    return both


@pytest.mark.parametrize("rules", RULES)
def test_rules(both: Both, rules: str) -> None:
    both("ACL", "SETUSER", "u", *rules.split(" "))
    both("ACL", "GETUSER", "u")
    both("ACL", "LIST")
    for rule in ("+hget", "-@read", "+@write", "~z"):
        both("ACL", "SETUSER", "u", rule)
        both("ACL", "GETUSER", "u")


def test_categories(both: Both) -> None:
    """Of those commands that are here."""
    both("ACL", "CAT")
    names = set(both.mine("COMMAND", "LIST")[1])
    for category in both.mine("ACL", "CAT")[1]:
        mine, real = (set(side("ACL", "CAT", category)[1]) for side in (both.mine, both.real))
        assert mine == {
            name for name in real if name.split(b"|")[0] in names and name in (names | mine)
        }
    both("ACL", "CAT", "nosuch")
    both("ACL", "CAT", "a", "b")


DRY_RUNS = [
    "get x1", "get y1", "set x1 v", "set y1 v", "set x1 v get", "hset x f v", "mget x1 x2",
    "mget x1 y1", "copy x1 x2", "copy x1 y1", "publish c m", "publish d m", "subscribe c d",
    "psubscribe c", "psubscribe c*", "spublish c m", "unsubscribe d", "eval s 1 x1",
    "eval s 1 y1", "ping", "auth x", "select 0", "select 1", "config get x", "config set x y",
    "getrange x1 0 1", "bitfield x1 get u8 0", "bitfield x1 set u8 0 1", "sort x1", "xadd x1 * f v",
    "object encoding x1", "nosuch", "get", "config nosuch",
    "lmove x1 x2 left left", "zunionstore x1 1 y1", "expire x1 1", "touch x1", "exists y1",
]  # fmt: skip
USERS = {
    "none": "",
    "all": "~* &* +@all",
    "keys": "+@all ~x* &c",
    "read": "+@all %R~x*",
    "write": "+@all %W~x* &*",
    "commands": "allkeys +get +set +select|0 +config|get +@pubsub",
    "selectors": "+get ~x* (+set ~y*) (+publish &c) (+mget ~x* %R~y*)",
}


@pytest.mark.parametrize("user", USERS)
def test_dry_runs(both: Both, user: str) -> None:
    both("ACL", "SETUSER", "u", *USERS[user].split())
    for command in DRY_RUNS:
        both("ACL", "DRYRUN", "u", *command.split())
    both("ACL", "DRYRUN", "nobody", "get", "x")


SCRIPTS = {
    "who": """
        a: ACL WHOAMI
        a: ACL USERS
        a: ACL SETUSER bob on >pw ~x* +@all
        a: ACL SETUSER eve
        a: ACL USERS
        b: AUTH bob wrong
        b: AUTH nobody pw
        b: AUTH bob pw
        b: ACL WHOAMI
        b: AUTH eve x
        b: ACL WHOAMI
        b: CLIENT INFO
        a: CLIENT KILL USER bob
        a: ACL DELUSER bob nobody eve
        a: ACL DELUSER default
        a: ACL SETUSER "a b"
        a: ACL SETUSER
        a: ACL GETUSER nobody
        a: ACL GENPASS 0
        a: ACL GENPASS 4097
        a: ACL GENPASS x
        a: ACL GENPASS 1 2
        a: ACL LOAD
        a: ACL SAVE
        a: ACL NOSUCH
    """,
    "refused": """
        a: ACL SETUSER bob on nopass ~x* &c +@all -@dangerous -hset
        b: AUTH bob any
        b: GET x
        b: GET y
        b: HSET x f v
        b: FLUSHALL
        b: CONFIG GET x
        b: PUBLISH c m
        b: PUBLISH d m
        b: SUBSCRIBE d
        b: PSUBSCRIBE c
        b: PSUBSCRIBE c*
        b: MGET x1 y1 x2
        b: MULTI
        b: GET y
        b: EXEC
        b: MULTI
        b: SET x 1
        a: ACL SETUSER bob -set
        b: EXEC
        b: MULTI
        b: GET xx
        a: ACL SETUSER bob resetkeys ~z*
        b: EXEC
        b: EVAL "return redis.call('GET', 'z')" 0
        b: EVAL "return redis.call('GET', 'y')" 0
        b: EVAL "return redis.call('HSET', 'z', 'f', 'v')" 0
        b: EVAL "return redis.pcall('PUBLISH', 'd', 'm')" 0
        b: EVAL "return redis.acl_check_cmd('GET', 'z') and 1 or 0" 0
        b: EVAL "return redis.acl_check_cmd('GET', 'y') and 1 or 0" 0
        b: EVAL "return redis.acl_check_cmd('NOSUCH')" 0
        b: EVAL "return 1" 1 y
        b: SORT z BY nosort
        b: SORT z BY w*
        b: SORT z GET #
        b: RESET
        b: ACL WHOAMI
        a: ACL DELUSER bob
    """,
    "oneself": """
        a: ACL SETUSER bob on nopass +@all ~*
        b: AUTH bob x
        c: AUTH bob x
        b: ACL DELUSER bob
        a: PING
    """,
    "subscribers": """
        a: ACL SETUSER bob on nopass +@all &a* &b
        b: AUTH bob x
        b: SUBSCRIBE a1 b
        c: AUTH bob x
        c: PSUBSCRIBE a*
        d: AUTH bob x
        a: ACL SETUSER bob &c
        a: ACL SETUSER bob resetchannels &a* &c
        a: ACL SETUSER bob resetchannels &a1
        a: ACL SETUSER bob allchannels
        a: ACL DELUSER bob
    """,
    "the_default_user": """
        a: ACL SETUSER default >pw
        b: PING
        c: RESET
        c: PING
        c: AUTH pw
        c: PING
        c: AUTH x
        c: HELLO 3 AUTH default pw
        c: RESET
        c: HELLO 3
        a: ACL SETUSER default nopass
        c: PING
        c: AUTH x
        a: ACL SETUSER default -get
        b: GET k
        a: ACL SETUSER default +@all
        b: GET k
        a: CONFIG SET requirepass s
        a: ACL LIST
        a: CONFIG SET requirepass ''
        a: ACL LIST
    """,
}


@pytest.mark.parametrize("name", SCRIPTS)
def test_script(real_side: RealSide, name: str) -> None:
    real_side.control.sendall(b"ACL DELUSER bob eve u\r\n")
    assert real_side.control.recv(100)[:1] == b":"
    run(real_side, SCRIPTS[name])


def test_the_log(both: Both) -> None:
    """What was refused, the youngest first, like entries counted; but for times and clients."""
    both("ACL", "SETUSER", "u", "on", ">pw", "~x*", "+@all", "-hset", "&c")
    both("AUTH", "u", "wrong")
    both("AUTH", "u", "wrong")
    both("AUTH", "nobody", "wrong")
    both("AUTH", "u", "pw")
    for words in ("GET y", "GET y", "HSET x f v", "PUBLISH d m", "MULTI", "GET z", "DISCARD"):
        both(*words.split())
    both("EVAL", "return redis.pcall('GET', 'w')", "0")
    both("AUTH", "default", "any")
    for args in ([], ["3"], ["-1"], ["100"]):
        logs = [side("ACL", "LOG", *args)[1] for side in (both.real, both.mine)]
        entries = [[entry[1][:10] for entry in log] for log in logs]
        assert entries[0] == entries[1]
    both("ACL", "LOG", "x")
    both("ACL", "LOG", "1", "2")
    both("ACL", "LOG", "RESET")
    both("ACL", "LOG")
    both("ACL", "DELUSER", "u")
