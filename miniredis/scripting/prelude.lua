-- What every script finds: the globals of Redis's Lua, locked, and a way to run a script
-- and tell where it failed. Runs once, when an interpreter is made; afterwards the table of
-- globals is empty and everything is looked up through a proxy that cannot be written.
--
-- Redis has tables that C code marks as read-only. Plain Lua has none, so a protected table
-- is an empty proxy in front of the true one, and the few functions that look at tables raw
-- (next, pairs, rawget, ...) are replaced by ones that know proxies.
--
-- Redis: script_lua.c, eval.c

local host, libraries, plain = ...
local python = python
local getinfo, sethook = debug.getinfo, debug.sethook
local error, type, tostring, select, unpack = error, type, tostring, select, unpack
local xpcall, lua_pcall, byte, sub = xpcall, pcall, string.byte, string.sub
local lua_next, lua_pairs, lua_rawget, lua_rawset = next, pairs, rawget, rawset
local lua_getmetatable, lua_setmetatable = getmetatable, setmetatable
local lua_load, lua_loadstring, newproxy = load, loadstring, newproxy
local resume, create = coroutine.resume, coroutine.create
local describe, interrupt = host.describe, host.interrupt

local READONLY = "Attempt to modify a readonly table"
local HIDDEN = {} -- what __metatable holds where getmetatable() shall answer nil
local HOOK_COUNT = 100000 -- instructions between two looks at the time
local ESC = 27 -- the first byte of compiled Lua
local SHORT_ARRAY = 200 -- elements handed over in one go

local proxied = lua_setmetatable({}, {__mode = "k"}) -- proxy -> the table behind it

local function deny() error(READONLY, 2) end

local function protect(t)
    local proxy = {}
    proxied[proxy] = t
    return lua_setmetatable(proxy, {__index = t, __newindex = deny, __metatable = HIDDEN})
end

-- Errors ----------------------------------------------------------------------------------

-- The place of the innermost function of the script itself, as the message of an error
-- names it: the one below *level*, past C functions and past this file.
local function place(level)
    local i = getinfo(level + 1, "Sl")
    while i and (i.source == "@prelude" or i.what == "C" or i.what == "tail") do
        level = level + 1
        i = getinfo(level + 1, "Sl")
    end
    return i
end

-- Functions of the host raise Python exceptions. To a script they look like what Redis's
-- own functions raise: a table with the field err, or a string that begins with the place.
local function translate(e, i)
    if type(e) ~= "userdata" then return e end
    local kind, message, counted = describe(e)
    if kind == "table" then
        return {err = message, ignore_error_stats_update = counted or nil}
    elseif kind == "string" then
        if i and i.currentline > 0 then
            return i.short_src .. ":" .. i.currentline .. ": " .. message
        end
        return message
    end
    return e
end

local function on_error(e)
    local i = place(2)
    e = translate(e, i)
    if type(e) ~= "table" then e = {err = "ERR " .. tostring(e)} end
    if i then
        e.source = i.source
        e.line = i.currentline
    end
    return e
end

local function on_caught(e) return translate(e, place(2)) end

-- pcall() hands out the text of an error, as before Redis 7, where errors were strings.
local function caught(ok, e, ...)
    if ok then return true, e, ... end
    e = translate(e)
    if type(e) == "table" then
        local text = e.err
        if type(text) == "string" or type(text) == "number" then e = text end
    end
    return false, e
end

-- The globals -----------------------------------------------------------------------------

local G = {}
for _, name in lua_next, {
    "xpcall", "tostring", "setmetatable", "next", "assert", "tonumber", "rawequal",
    "collectgarbage", "getmetatable", "rawset", "pcall", "type", "select", "unpack", "gcinfo",
    "pairs", "rawget", "loadstring", "ipairs", "_VERSION", "load", "error",
} do
    G[name] = _G[name]
end

local function expect_table(name, t, n)
    if type(t) ~= "table" then
        local got = n == 0 and "no value" or type(t)
        error("bad argument #1 to '" .. name .. "' (table expected, got " .. got .. ")", 3)
    end
end

function G.pcall(...)
    if select("#", ...) == 0 then error("bad argument #1 to 'pcall' (value expected)", 2) end
    if select("#", ...) == 1 then return caught(xpcall(..., on_caught)) end
    return caught(lua_pcall(...))
end

function G.xpcall(...)
    local f, handler = ...
    if select("#", ...) < 2 then error("bad argument #2 to 'xpcall' (value expected)", 2) end
    return xpcall(f, function(e) return handler(translate(e, place(2))) end)
end

function G.next(...)
    local t, k = ...
    expect_table("next", t, select("#", ...))
    return lua_next(proxied[t] or t, k)
end

function G.pairs(...)
    local t = ...
    expect_table("pairs", t, select("#", ...))
    if proxied[t] then return G.next, t, nil end
    return lua_pairs(t)
end

function G.rawget(...)
    local t, k = ...
    expect_table("rawget", t, select("#", ...))
    return lua_rawget(proxied[t] or t, k)
end

function G.rawset(...)
    local t, k, v = ...
    expect_table("rawset", t, select("#", ...))
    if proxied[t] then error(READONLY, 0) end
    return lua_rawset(t, k, v)
end

function G.getmetatable(v)
    local m = lua_getmetatable(v)
    if m == HIDDEN then return nil end
    return m
end

function G.setmetatable(...)
    local t, m = ...
    expect_table("setmetatable", t, select("#", ...))
    if proxied[t] then error(READONLY, 0) end
    if m ~= nil and type(m) ~= "table" then
        error("bad argument #2 to 'setmetatable' (nil or table expected)", 2)
    end
    return lua_setmetatable(t, m)
end

-- Compiled code is not loaded: it could break the interpreter. It is read as text instead.
function G.loadstring(s, name)
    if type(s) == "string" and byte(s) == ESC then return lua_loadstring(" " .. s, name or s) end
    return lua_loadstring(s, name)
end

function G.load(reader, name)
    local first = true
    return lua_load(function()
        local piece = reader()
        if first and type(piece) == "string" and byte(piece) == ESC then piece = " " .. piece end
        first = false
        return piece
    end, name or "=(load)")
end

-- Others get their turn while a slow script runs. One that was killed fails at every line
-- from then on, so that it cannot catch the error and go on.
local function hooked()
    local reason = interrupt()
    if reason then
        sethook(hooked, "l")
        -- Not in here, where the error is being dealt with.
        if getinfo(2, "S").source == "@prelude" then return end
        error({err = reason})
    end
end

G.coroutine = {}
for name, f in lua_pairs(coroutine) do G.coroutine[name] = f end
function G.coroutine.create(f)
    local co = create(f)
    sethook(co, hooked, "", HOOK_COUNT)
    return co
end
local function resumed(ok, e, ...)
    if ok then return true, e, ... end
    return false, translate(e)
end
function G.coroutine.resume(...) return resumed(resume(...)) end
function G.coroutine.wrap(f)
    local co = G.coroutine.create(f)
    local function passed(ok, e, ...)
        if ok then return e, ... end
        error(translate(e), 0)
    end
    return function(...) return passed(resume(co, ...)) end
end

for _, name in lua_next, {"string", "table", "math"} do
    G[name] = {}
    for k, v in lua_pairs(_G[name]) do G[name][k] = v end
end
local null = newproxy(false) -- Redis has a NULL pointer here
for name, functions in lua_pairs(libraries) do
    G[name] = G[name] or {}
    for k, f in lua_pairs(functions) do G[name][k] = python.as_function(f) end
    for k, v in lua_pairs(plain[name] or {}) do G[name][k] = v end
end
G.cjson.null = null
function G.cjson.new()
    local copy = {null = null}
    for k, v in lua_pairs(plain.cjson) do copy[k] = v end
    for k, f in lua_pairs(host.new_cjson()) do copy[k] = python.as_function(f) end
    copy.new = G.cjson.new
    return copy
end
G.__redis__err__handler = on_error

for name, value in lua_pairs(G) do
    if type(value) == "table" then G[name] = protect(value) end
end
local of_strings = lua_getmetatable("")
of_strings.__index = G.string
of_strings.__metatable = protect({__index = G.string})

-- From here on the true table of globals is an empty proxy. Everything below is local.
for _, name in lua_next, {
    "io", "os", "package", "module", "require", "dofile", "loadfile", "print", "python",
    "debug", "getfenv", "setfenv", "newproxy",
} do
    _G[name] = nil
end
local globals = _G
for name in lua_pairs(G) do globals[name] = nil end
globals._G = nil
G._G = globals
proxied[globals] = G
local function nonexistent(_, name)
    if name == "debug" then
        -- The host looks for debug.traceback() whenever it calls a function.
        local i = getinfo(2, "S")
        if not i or i.what == "C" then return nil end
    end
    error("Script attempted to access nonexistent global variable '" .. tostring(name) .. "'", 2)
end
lua_setmetatable(G, {__index = nonexistent})
local of_globals = {
    __index = G,
    __newindex = deny,
    __metatable = protect({__index = nonexistent}),
}
lua_setmetatable(globals, of_globals)

-- While a library of functions is loaded it finds nothing but a small table `redis`.
local function loading(redis)
    local functions = {}
    for k, v in lua_pairs(redis) do
        functions[k] = type(v) == "userdata" and python.as_function(v) or v
    end
    lua_setmetatable(functions, {__index = nonexistent})
    return lua_setmetatable({redis = protect(functions)}, {__index = nonexistent})
end

-- What the host calls ---------------------------------------------------------------------

local entry = {}

-- Compile a script; nil and a message if it is not Lua.
function entry.compile(text, name) return G.loadstring(text, name) end

local function ended(ok, value)
    sethook()
    if ok then return true, value end
    if type(value) ~= "table" then return false, nil, tostring(value) end
    local line, source, message = value.line, value.source, value.err
    return false, message and tostring(message), source and tostring(source),
        line and tostring(line), value.ignore_error_stats_update == true
end

-- Run a script of EVAL, which finds its keys and arguments in global variables.
function entry.eval(f, keys, argv)
    G.KEYS, G.ARGV = keys, argv
    sethook(hooked, "", HOOK_COUNT)
    return ended(xpcall(f, on_error))
end

-- Run a library's function, which gets keys and arguments as arguments.
function entry.call(f, keys, argv)
    sethook(hooked, "", HOOK_COUNT)
    return ended(xpcall(function() return f(keys, argv) end, on_error))
end

-- Run the code of a library, which registers its functions.
function entry.load(f, redis)
    of_globals.__index = loading(redis)
    sethook(hooked, "", HOOK_COUNT)
    local ok, e = lua_pcall(f)
    sethook()
    of_globals.__index = G
    if ok then return true end
    e = translate(e)
    if type(e) == "table" then e = e.err or "" else e = "ERR " .. tostring(e) end
    return false, tostring(e)
end

-- What kind of reply a table stands for, and its content.
function entry.shape(t)
    local v = lua_rawget(t, "err")
    if type(v) == "string" then return "err", v, t.ignore_error_stats_update == true end
    v = lua_rawget(t, "ok")
    if type(v) == "string" then return "ok", v end
    v = lua_rawget(t, "double")
    if type(v) == "number" then return "double", v end
    v = lua_rawget(t, "big_number")
    if type(v) == "string" then return "big_number", v end
    v = lua_rawget(t, "verbatim_string")
    if type(v) == "table" then
        local format, text = lua_rawget(v, "format"), lua_rawget(v, "string")
        if type(format) == "string" and type(text) == "string" then
            return "verbatim", format, text
        end
    end
    v = lua_rawget(t, "map")
    if type(v) == "table" then return "map", v end
    v = lua_rawget(t, "set")
    if type(v) == "table" then return "set", v end
    local n = 0
    while lua_rawget(t, n + 1) ~= nil do n = n + 1 end
    if n <= SHORT_ARRAY then return "array", unpack(t, 1, n) end
    return "long", n
end

function entry.slice(t, first, last) return unpack(t, first, last) end

-- Make a table of the arguments; of a key, a value, a key, a value, ...
function entry.list(...) return {...} end
function entry.field(k, v) return {[k] = v} end
function entry.append(t, n, ...)
    local more = {...}
    for i = 1, select("#", ...) do t[n + i] = more[i] end
end
function entry.set(t, k, v) t[k] = v end
function entry.is_null(v) return v == null end
entry.null = null

return entry
