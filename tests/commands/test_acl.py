"""ACL by way of redis-py, and that it costs nothing while everybody may do anything."""

from __future__ import annotations

import pytest
import redis

import miniredis


def test_a_user_with_few_rights() -> None:
    server = miniredis.Server(seed=1)
    admin = server.client(decode_responses=True)
    assert admin.acl_setuser(
        "bob",
        enabled=True,
        passwords=["+secret"],
        categories=["+@read"],
        commands=["+set"],
        keys=["cache:*"],
    )
    assert admin.acl_users() == ["bob", "default"]
    assert admin.acl_getuser("bob")["commands"] == ["+set"]
    bob = server.client(username="bob", password="secret")
    assert bob.set("cache:1", "v")
    assert bob.get("cache:1") == b"v"
    with pytest.raises(redis.exceptions.NoPermissionError):
        bob.set("other", "v")
    with pytest.raises(redis.exceptions.NoPermissionError):
        bob.delete("cache:1")
    with pytest.raises(redis.exceptions.AuthenticationError):
        server.client(username="bob", password="wrong").ping()
    reasons = [(entry["reason"], entry["object"]) for entry in admin.acl_log()]
    assert reasons[:3] == [("auth", "AUTH"), ("command", "del"), ("key", "other")]
    assert admin.acl_deluser("bob") == 1
    with pytest.raises(redis.ConnectionError):
        bob.ping()


def test_nothing_is_checked_while_everybody_may_do_anything() -> None:
    server = miniredis.Server(seed=1)
    r = server.client()
    assert not (server.acl.active or server.gates)
    r.acl_setuser(
        "eve", enabled=True, nopass=True, keys=["*"], channels=["*"], categories=["+@all"]
    )
    assert not (server.acl.active or server.gates)
    r.acl_setuser("eve", commands=["-get"])
    assert server.acl.active and server.gates
    r.acl_deluser("eve")
    assert not (server.acl.active or server.gates)


def test_the_log_has_a_limit_and_groups_what_is_alike() -> None:
    server = miniredis.Server(miniredis.VirtualClock(), seed=1, acllog_max_len=2)
    r = server.client()
    for user in ("a", "b", "b", "c"):
        with pytest.raises(redis.exceptions.AuthenticationError):
            r.execute_command("AUTH", user, "x")
    assert [(e["username"], e["count"]) for e in r.acl_log()] == [("c", 1), ("b", 2)]
    server.clock.advance(61_000)
    with pytest.raises(redis.exceptions.AuthenticationError):
        r.execute_command("AUTH", "c", "x")
    assert [(e["username"], e["count"]) for e in r.acl_log()] == [("c", 1), ("c", 1)]


def test_genpass_is_as_long_as_asked_for() -> None:
    r = miniredis.Redis(server=miniredis.Server(seed=1))
    assert [len(r.acl_genpass(bits)) for bits in (1, 4, 5, 256)] == [1, 1, 2, 64]
