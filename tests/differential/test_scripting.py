"""Scripts, run by a real server and by the simulator: the same bytes in both protocols."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from miniredis import Server
from miniredis.net.resp import encode_reply
from tests.real.raw import RawClient
from tests.real.servers import RealServer

# In this order on one server: some leave keys and scripts behind. After the first of each
# command come its arguments.
COMMANDS: list[tuple[str, ...]] = [
    ("eval", "return 1", "0"),
    ("eval", "return {1,2,{3,'a'},redis.status_reply('FINE'),false,true,1.9}", "0"),
    ("eval", "return redis.call('set',KEYS[1],ARGV[1])", "1", "k", "v"),
    ("eval", "return redis.call('get',KEYS[1])", "1", "k"),
    ("eval", "return redis.call('incr',KEYS[1])", "1", "k"),
    ("eval", "return redis.pcall('incr',KEYS[1])", "1", "k"),
    ("eval", "return redis.call('nosuch')", "0"),
    ("eval", "return redis.call('get')", "0"),
    ("eval", "return redis.call()", "0"),
    ("eval", "return redis.call({})", "0"),
    ("eval", "return redis.pcall('set','x')", "0"),
    ("eval", "return foo", "0"),
    ("eval", "x=1", "0"),
    ("eval", "return redis.error_reply('MY ERR')", "0"),
    ("eval", "return redis.error_reply('MYERR')", "0"),
    ("eval", "return {err='x y'}", "0"),
    ("eval", "error('boom')", "0"),
    ("eval", "error({err='E boom'})", "0"),
    ("eval", "local t={} ; return t.x.y", "0"),
    ("eval", "return (", "0"),
    ("eval", "return redis.sha1hex('')", "0"),
    ("eval", "return redis.sha1hex()", "0"),
    ("eval", "return redis.log(1,'x')", "0"),
    ("eval", "return redis.log(1)", "0"),
    ("eval", "return redis.setresp(4)", "0"),
    ("eval", "redis.setresp(3) return redis.call('config','get','hz')", "0"),
    ("eval", "redis.setresp(3) return redis.call('get','nokey')", "0"),
    ("eval", "return redis.call('config','get','hz')", "0"),
    ("eval", "return tostring(redis.REDIS_VERSION_NUM)..redis.REDIS_VERSION", "0"),
    ("eval", "math.randomseed(7) return math.random(100)", "0"),
    ("eval", "math.randomseed(5) return tostring(math.random())", "0"),
    ("eval", "return cjson.encode({a=1,b={1,2,3},c=cjson.null,d=1e20,e=0.1,f='é/'})", "0"),
    ("eval", 'return cjson.decode(\'{"a":[1,2,{"b":null}]}\').a[3].b == cjson.null', "0"),
    ("eval", "return cjson.decode('{\"a\"')", "0"),
    ("eval", "return cjson.encode({[1]=1,[1000]=2})", "0"),
    (
        "eval",
        "return cmsgpack.pack({1,2,3,{a=1,b=1.5,c='x'},true,false,-1,300,70000,2^40,-2^40,0.1})",
        "0",
    ),
    ("eval", "return struct.pack('>I2hbs', 1,2,3,'abc')", "0"),
    ("eval", "return {struct.unpack('>I2hbs', struct.pack('>I2hbs', 1,-2,3,'abc'))}", "0"),
    ("eval", "return struct.pack('x', 1)", "0"),
    ("eval", "return struct.pack('y', 1)", "0"),
    (
        "eval",
        "return {bit.band(255,15), bit.bor(1,2), bit.bxor(5,3), bit.lshift(1,31), bit.rshift(-1,28), bit.arshift(-8,1), bit.rol(1,33), bit.bswap(1), bit.bnot(0), bit.tobit(2^32+5)}",
        "0",
    ),
    ("eval", "return bit.tohex(255,-4)", "0"),
    ("eval", "return bit.band()", "0"),
    ("evalsha", "e0e1f9fabfc9d4800c877a703b823ac0578ff8db", "0"),
    ("evalsha", "E0E1F9FABFC9D4800C877A703B823AC0578FF8DB", "0"),
    ("evalsha", "abc", "0"),
    ("eval", "return 1", "x"),
    ("eval", "return 1", "3", "a"),
    ("eval", "return 1", "-1"),
    ("eval_ro", "return redis.call('set','a','b')", "0"),
    ("eval_ro", "return redis.call('get','k')", "0"),
    ("eval", "#!lua flags=no-writes\nreturn redis.call('set','a','b')", "0"),
    ("eval", "#!lua flags=bad\nreturn 1", "0"),
    ("eval", "#!py\nreturn 1", "0"),
    ("eval", "#!lua name=x\nreturn 1", "0"),
    ("eval_ro", "#!lua\nreturn 1", "0"),
    ("script", "load", "return 5"),
    ("script", "exists", "e0e1f9fabfc9d4800c877a703b823ac0578ff8db", "abc"),
    ("script", "flush", "foo"),
    ("script", "kill"),
    ("eval", "return redis.call('multi')", "0"),
    ("eval", "return redis.call('script','load','x')", "0"),
    ("eval", "return {pcall(redis.call,'incr',KEYS[1])}", "1", "k"),
    ("eval", "local ok,e = pcall(function() return redis.call('incr','k') end) return e", "0"),
    ("eval", "local ok,e = pcall(error, {err='z'}) return e", "0"),
    ("eval", "return {1,nil,3}", "0"),
    ("eval", "return {double=3.5}", "0"),
    ("eval", "return {map={a=1}}", "0"),
    ("eval", "return {set={a=true}}", "0"),
    ("eval", "return {verbatim_string={format='txt',string='hi'}}", "0"),
    ("eval", "return {big_number='123'}", "0"),
    ("eval", "return 1e300", "0"),
    ("eval", "return -3.7", "0"),
    ("eval", "return 0/0", "0"),
    (
        "eval",
        "redis.call('set','f',0.1) redis.call('set','g',1e17) redis.call('set','h',3) return {redis.call('get','f'),redis.call('get','g'),redis.call('get','h')}",
        "0",
    ),
    ("eval", "for k,v in pairs(redis) do end return #KEYS + #ARGV", "2", "a", "b", "c", "d", "e"),
    ("eval", "local t={} for k in pairs(_G) do t[#t+1]=k end table.sort(t) return t", "0"),
    ("eval", "local t={} for k in pairs(redis) do t[#t+1]=k end table.sort(t) return t", "0"),
    ("eval", "local t={} for k in pairs(string) do t[#t+1]=k end table.sort(t) return t", "0"),
    ("eval", "local t={} for k in pairs(cjson) do t[#t+1]=k end table.sort(t) return t", "0"),
    ("eval", "local t={} for k in pairs(math) do t[#t+1]=k end table.sort(t) return t", "0"),
    ("eval", "local t={} for k in pairs(table) do t[#t+1]=k end table.sort(t) return t", "0"),
    ("eval", "local t={} for k in pairs(cmsgpack) do t[#t+1]=k end table.sort(t) return t", "0"),
    ("eval", "return redis.acl_check_cmd('get','x')", "0"),
    ("eval", "return redis.acl_check_cmd('nosuch')", "0"),
    ("eval", "return redis.set_repl(9)", "0"),
    ("eval", "redis.x=1", "0"),
    ("eval", "getmetatable(_G).__index=1", "0"),
    ("eval", "setmetatable(_G,{})", "0"),
    ("eval", "rawset(_G,'a',1)", "0"),
    ("eval", "rawset(redis,'a',1)", "0"),
    ("eval", "return loadstring('return 7')()", "0"),
    ("eval", "return loadstring(string.dump(function() return 1 end))", "0"),
    ("eval", "return select(2, loadstring(string.dump(function() return 1 end)))", "0"),
    ("eval", "return type(cjson.null)", "0"),
    ("eval", "return string.format('%s %d', 'a', 3)", "0"),
    ("eval", "return redis.call('get', KEYS[1], 'x')", "1", "k"),
    ("eval", "return tostring(nil)..tostring(1e15)..tostring(0.1)", "0"),
    ("eval", "return table.concat({1,2},',')", "0"),
    ("eval", "local a={} a[1]=a return 'x'", "0"),
    ("eval", "return string.rep('x', 100)", "0"),
    ("eval", "local t = {} for i = 1, 500 do t[i] = i end return t", "0"),
    (
        "eval",
        "local t = {} for i = 1, 500 do t[i] = i end return #redis.call('keys', '*') + t[500]",
        "0",
    ),
    ("eval", "return redis.call('mget', 'k', 'none', 'k')", "0"),
    ("eval", "redis.setresp(3) return redis.call('mget', 'k', 'none', 'k')", "0"),
    ("eval", "return redis.call('exec')", "0"),
    ("eval", "return redis.status_reply(1)", "0"),
    ("eval", "return redis.error_reply({})", "0"),
    ("eval", "return {ok='a\\r\\nb'}", "0"),
    ("eval", "return {err='a b\\r\\nc'}", "0"),
    ("eval", "return cjson.encode({[1.5]=1})", "0"),
    ("eval", "return cjson.encode({[true]=1})", "0"),
    ("eval", "return cjson.encode(function() end)", "0"),
    ("eval", "return cjson.encode(1/0)", "0"),
    ("eval", "return cjson.encode({1,2,nil,4})", "0"),
    ("eval", "local t = {} t[1] = t return cjson.encode(t)", "0"),
    ("eval", "return cjson.encode('\\0\\1\\127é')", "0"),
    ("eval", "return cjson.decode('\"\\\\u00e9\\\\ud83d\\\\ude00\\\\n\"')", "0"),
    ("eval", "return cjson.decode('\"\\\\ud83d\"')", "0"),
    ("eval", "return cjson.decode('[1,]')", "0"),
    ("eval", "return cjson.decode('{\"a\":1,}')", "0"),
    ("eval", "return cjson.decode('[1 2]')", "0"),
    ("eval", "return cjson.decode('nul')", "0"),
    ("eval", "return cjson.decode('')", "0"),
    ("eval", "return cjson.decode('1 1')", "0"),
    ("eval", "return tostring(cjson.decode('0x10')) .. tostring(cjson.decode('-1.5e2'))", "0"),
    ("eval", "return cjson.decode('[' .. string.rep('[', 1001))", "0"),
    ("eval", "return cjson.decode(nil)", "0"),
    ("eval", "return cjson.decode()", "0"),
    (
        "eval",
        "return {cjson.encode_max_depth(), cjson.decode_max_depth(), cjson.encode_number_precision()}",
        "0",
    ),
    ("eval", "return {cjson.encode_sparse_array()}", "0"),
    ("eval", "cjson.encode_max_depth(0)", "0"),
    ("eval", "cjson.encode_invalid_numbers('maybe')", "0"),
    (
        "eval",
        "return {cmsgpack.unpack(cmsgpack.pack(1, 'a', {2, 3}, -129, 2^33, -2^33, 1.1, nil, true))}",
        "0",
    ),
    ("eval", "return cmsgpack.pack(string.rep('x', 300))", "0"),
    ("eval", "return cmsgpack.pack()", "0"),
    ("eval", "return {cmsgpack.unpack_one('\\1\\2\\3')}", "0"),
    ("eval", "return {cmsgpack.unpack_limit('\\1\\2\\3', 2)}", "0"),
    ("eval", "return {cmsgpack.unpack_limit('\\1\\2\\3', 2, 2)}", "0"),
    ("eval", "return cmsgpack.unpack('\\220')", "0"),
    ("eval", "return cmsgpack.unpack('\\193')", "0"),
    ("eval", "return cmsgpack.unpack_one('', 1)", "0"),
    ("eval", "local t = {} t[1] = t return cmsgpack.pack(t)", "0"),
    ("eval", "return struct.pack('<i3>I8!4bi4', -2, 3, 1, 5)", "0"),
    ("eval", "return struct.pack('c2', 'a')", "0"),
    ("eval", "return struct.pack('i33', 1)", "0"),
    ("eval", "return struct.pack('!3', 1)", "0"),
    ("eval", "return struct.size('>!8bid')", "0"),
    ("eval", "return struct.size('s')", "0"),
    ("eval", "return {struct.unpack('bc0s', struct.pack('bc0s', 3, 'abc', 'de'))}", "0"),
    ("eval", "return {struct.unpack('f', struct.pack('f', 0.5))}", "0"),
    ("eval", "return struct.unpack('i4', 'abc')", "0"),
    ("eval", "return struct.unpack('i4', 'abcd', 0)", "0"),
    ("eval", "return {bit.tohex(-1), bit.tohex(1, 2), bit.tohex(255, -2), bit.tobit('0x7f')}", "0"),
    ("eval", "return bit.band({}, 1)", "0"),
    ("eval", "return {bit.tobit(0.5), bit.tobit(1.5), bit.tobit(2^31), bit.tobit(-2^31 - 1)}", "0"),
    (
        "eval",
        "math.randomseed(42) return {math.random(1000), math.random(5, 9), math.random(1, 1)}",
        "0",
    ),
    ("eval", "return math.random(0)", "0"),
    ("eval", "return math.random(2, 1)", "0"),
    ("eval", "return math.random(1, 2, 3)", "0"),
    ("eval", "return pcall(error)", "0"),
    ("eval", "return select('#', pcall(error))", "0"),
    (
        "eval",
        "return {xpcall(function() return redis.call('incr', 'k') end, function(e) return e.err end)}",
        "0",
    ),
    (
        "eval",
        "local co = coroutine.create(function() coroutine.yield(redis.call('get', 'k')) end) return {coroutine.resume(co)}",
        "0",
    ),
    ("eval", "local x = coroutine.wrap(function() return redis.call('incr', 'k') end)()", "0"),
    ("eval", "return tostring(redis) == tostring(redis)", "0"),
    ("eval", "return next({}) == nil and type(next) ", "0"),
    ("eval", "local x = pairs(nil)", "0"),
    ("eval", "for k in pairs(nil) do end", "0"),
    ("eval", "setmetatable(1, {})", "0"),
    ("eval", "return rawget({a=5}, 'a') + rawget(_G, 'KEYS')[1]", "1", "2"),
    ("eval", "table.insert(KEYS, 'x') return KEYS", "1", "a"),
    ("eval", "KEYS = 5", "0"),
    ("eval", "local string = 5 return string", "0"),
    ("eval", "return ('abc'):len() + #'x'", "0"),
    ("eval", "string.len = 5", "0"),
    ("eval", "('x').y = 5", "0"),
    ("eval", "return getmetatable('').__index == string", "0"),
    ("eval", "getmetatable('').__index = nil", "0"),
    ("eval", "return debug", "0"),
    ("eval", "return os.time()", "0"),
    ("eval", "return require('x')", "0"),
    ("eval", "return _G['io']", "0"),
    ("eval", "return dofile('/etc/passwd')", "0"),
    ("eval", "return tostring(_VERSION)", "0"),
    ("eval", "return 1 .. {}", "0"),
    ("eval", "return nil + 1", "0"),
    ("eval", "local function f() return f() + 1 end return f()", "0"),
    ("eval", "return (string.rep('x', -1)) .. string.format('%q', 'a\\nb')", "0"),
    ("eval", "\n\nreturn redis.call('incr',\n 'k')", "0"),
    ("eval", "local a = 1\nlocal b = a.x.y", "0"),
    ("eval", "return 5 5", "0"),
    ("eval", "x = ", "0"),
    ("eval", "goto = 1 return goto", "0"),
    ("eval", "#!lua\nreturn redis.call('set', 'sb', 1)", "0"),
    ("eval", "#!lua flags=allow-oom,no-cluster\nreturn redis.call('get', 'sb')", "0"),
    ("eval", "#!lua", "0"),
    ("eval", "#!", "0"),
    ("eval", "#!lua flags=\nreturn 1", "0"),
    ("script", "load", "return ("),
    ("script", "exists"),
    ("script", "nosuch"),
    ("script", "flush"),
    ("script", "debug", "no"),
    ("script", "debug", "maybe"),
    ("evalsha", "e0e1f9fabfc9d4800c877a703b823ac0578ff8db", "0"),
    ("eval",),
    ("eval", "return 1"),
]
# Names of functions that Debian has taken out or put in since.
VARIES = ("pairs(_G)",)


class Both:
    """A real server and a simulated one."""

    def __init__(self, real: RealServer, resp: int) -> None:
        self.ask = RawClient(real.port)
        self.server = Server(seed=1)
        self.mine = self.server.create_client()
        self.resp = resp
        self(b"HELLO", b"%d" % resp) if resp == 3 else None
        for command in ((b"FLUSHALL",), (b"SCRIPT", b"FLUSH"), (b"CONFIG", b"RESETSTAT")):
            self.ask(*command)

    def __call__(self, *argv: bytes) -> tuple[bytes, bytes]:
        """The bytes of both replies."""
        expected = self.ask(*argv)
        reply = self.server.process_command(self.mine, list(argv))
        return encode_reply(reply, self.resp), expected


@pytest.fixture(params=[2, 3], ids=["RESP2", "RESP3"])
def both(request: pytest.FixtureRequest, real_server: RealServer) -> Iterator[Both]:
    if real_server.version < (7, 0):
        pytest.skip("scripts are compared with Redis 7.0")
    pair = Both(real_server, request.param)
    yield pair
    pair.ask.close()


def test_replies(both: Both) -> None:
    wrong = []
    for command in COMMANDS:
        mine, expected = both(*(word.encode() for word in command))
        if mine != expected and not any(word in command[1] for word in VARIES):
            wrong.append((command, mine, expected))
    assert not wrong, "\n".join(map(str, wrong))


def test_errors_are_counted_once_and_for_the_right_command(both: Both) -> None:
    both(b"SET", b"k", b"v")
    for script in (
        b"return redis.call('nosuch')",
        b"redis.pcall('incr', 'k') return 1",
        b"redis.pcall('incr', 'k') return redis.pcall('incr', 'k')",
        b"return redis.call('get')",
        b"return {redis.pcall('incr', 'k')}",
        b"return {1, {redis.error_reply('MY ERR')}}",
        b"error('x')",
        b"local ok, e = pcall(redis.call, 'incr', 'k') return {err = e}",
        b"return redis.call('multi')",
    ):
        both(b"CONFIG", b"RESETSTAT")
        mine, expected = both(b"EVAL", script, b"0")
        assert mine == expected
        found = []
        for info in (
            both.ask(b"INFO", b"commandstats", b"errorstats"),
            both.server.info([b"commandstats", b"errorstats"]),
        ):
            lines = [line for line in info.split(b"\r\n") if b"stat_" in line]
            kept = [
                b",".join(w for w in line.split(b",") if b"usec" not in w)
                for line in lines
                if b"config" not in line and b"info" not in line
            ]
            found.append(sorted(kept))
        assert found[1] == found[0], script
