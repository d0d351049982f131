"""HyperLogLogs on miniredis and on a frozen real server: the same strings to the byte."""

from __future__ import annotations

import random

import pytest

from miniredis.structs.hll_dense import pack_registers
from tests.differential.hll_scripts import HYPERLOGLOGS
from tests.differential.pair import Pair
from tests.differential.test_commands import parse


@pytest.mark.parametrize("name", HYPERLOGLOGS)
@pytest.mark.parametrize("resp", [2, 3])
def test_script(pair: Pair, name: str, resp: int) -> None:
    pair.start(resp)
    for line in HYPERLOGLOGS[name].strip().splitlines():
        pair.step(parse(line.strip(), pair.frozen.ms))
    pair.compare_all()


@pytest.mark.parametrize("seed", range(3))
def test_growth_from_sparse_to_dense(pair: Pair, seed: int) -> None:
    pair.start()
    rng = random.Random(seed)
    for _ in range(60):
        key = rng.choice([b"a", b"b"])
        elements = [rng.randbytes(rng.randint(0, 30)) for _ in range(rng.choice([1, 10, 150]))]
        pair.step((0, (b"PFADD", key, *elements)))
        pair.step((0, (b"GET", key)))
        pair.step((0, (b"PFCOUNT", key)))
        pair.step((0, (b"PFCOUNT", b"a", b"b")))
        pair.step((0, (b"PFMERGE", b"c", key)))
        pair.step((0, (b"GET", b"c")))
    for _ in range(10):
        pair.step((0, (b"PFADD", b"a", *(rng.randbytes(8) for _ in range(3000)))))
        pair.step((0, (b"PFCOUNT", b"a")))
    pair.compare_all()


@pytest.mark.parametrize("seed", range(40))
def test_damaged_values(pair: Pair, seed: int) -> None:
    pair.start()
    rng = random.Random(seed)
    pair.step((0, (b"PFADD", b"b", *(rng.randbytes(4) for _ in range(rng.choice([0, 3, 50]))))))
    value = bytearray(pair.server.databases[0].dict.index[b"b"].val.ptr)
    for _ in range(rng.randint(1, 3)):
        at = rng.randrange(8, len(value))
        if rng.random() < 0.3 and len(value) > 17:
            del value[at]
        elif rng.random() < 0.3:
            value.insert(at, rng.randrange(256))
        else:
            value[at] = rng.randrange(256)
    steps = [
        (b"PFCOUNT", b"a"),
        (b"PFADD", b"a", *(rng.randbytes(4) for _ in range(20))),
        (b"GET", b"a"),
        (b"PFCOUNT", b"a", b"b"),
        (b"PFMERGE", b"a", b"b"),
        (b"PFMERGE", b"b", b"a"),
        (b"PFDEBUG", b"DECODE", b"a"),
        (b"PFDEBUG", b"TODENSE", b"a"),
    ]
    for _ in range(6):
        pair.step((0, (b"SET", b"a", bytes(value))))
        pair.step((0, rng.choice(steps)))
        pair.step((0, (b"GET", b"a")))


@pytest.mark.parametrize("register", [0, 1, 50, 51, 52, 63])
def test_full_registers(pair: Pair, register: int) -> None:
    """Estimates at the far end, up to the infinite one."""
    pair.start()
    for share in (1, 2, 16384):
        registers = bytes(register if i % share == 0 else 0 for i in range(16384))
        value = b"HYLL" + bytes(11) + b"\x80" + pack_registers(registers)
        pair.step((0, (b"SET", b"a", value)))
        pair.step((0, (b"PFCOUNT", b"a", b"b")))
        pair.step((0, (b"PFCOUNT", b"a")))
        pair.step((0, (b"GET", b"a")))
