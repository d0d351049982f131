"""Replies of scripts that nest deeply: to the same level as the real server's, and no further."""

from __future__ import annotations

import pytest

from miniredis import Server
from miniredis.net.resp import encode_reply
from tests.real.raw import RawClient
from tests.real.servers import RealServer

# What stands in each other, and how many of them are the most.
FORMS = [("{x}", 7994), ("{set={[x]=true}}", 2664), ("{map={a=x}}", 2664), ("{{x}}", 3997)]


def received(port: int, script: bytes, length: int) -> bytes:
    """The first *length* bytes of the reply, unparsed: parsing would recurse."""
    client = RawClient(port)
    client.send(b"EVAL", script, b"0")
    data = client.file.read(length)
    client.close()
    return data


@pytest.mark.parametrize(("form", "most"), FORMS, ids=[form for form, _ in FORMS])
@pytest.mark.parametrize("resp", [2, 3])
def test_levels(real_server: RealServer, form: str, most: int, resp: int) -> None:
    server = Server(seed=1)
    client = server.create_client()
    for levels in (most - 1, most, most + 1):
        script = f"local x = 7 for i = 1, {levels} do x = {form} end return x".encode()
        if resp == 3:
            script = b"redis.setresp(3) " + script
        mine = encode_reply(server.process_command(client, [b"EVAL", script, b"0"]), 2)
        assert (b"-ERR reached lua stack limit\r\n" in mine) == (levels > most)
        assert received(real_server.port, script, len(mine)) == mine
