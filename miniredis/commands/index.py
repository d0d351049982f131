"""Which module declares which commands, so that it is imported when one is first used.

Most programs use a few of the commands. The table (``commands/table.py``) looks a name up
here, imports the modules that name it, and each then declares its rows. Where several
declare subcommands of one command, all are imported.

The order here is that of COMMAND and COMMAND LIST, whatever was used first.
"""

from __future__ import annotations

#: Names of commands by module of this package.
MODULES = {
    "bitfield": "bitfield bitfield_ro",
    "bitops": "setbit getbit bitcount bitpos bitop",
    "client_cmds": "client",
    "client_kill": "client",
    "command_cmds": "command",
    "config_cmds": "config",
    "connection": "ping echo select auth hello quit reset",
    "counters": "incr decr incrby decrby incrbyfloat",
    "debug": "debug",
    "dump": "dump restore restore-asking",
    "expiry": "expire pexpire expireat pexpireat ttl pttl expiretime pexpiretime persist",
    "functions": "fcall fcall_ro function",
    "geo": "geoadd geodist geohash geopos",
    "geo_search": (
        "georadius georadius_ro georadiusbymember georadiusbymember_ro geosearch geosearchstore"
    ),
    "hyperloglog": "pfadd pfcount pfmerge pfdebug pfselftest",
    "introspection": "info time monitor",
    "keys": (
        "del unlink exists touch type randomkey rename renamenx move copy dbsize flushdb "
        "flushall swapdb"
    ),
    "latency_cmds": "latency",
    "lcs": "lcs",
    "object_cmds": "object",
    "pubsub": (
        "subscribe unsubscribe psubscribe punsubscribe ssubscribe sunsubscribe publish spublish"
    ),
    "pubsub_info": "pubsub",
    "replication_cmds": "replicaof slaveof role wait replconf",
    "scanning": "keys scan",
    "scripting": "eval eval_ro evalsha evalsha_ro script",
    "slowlog_cmds": "slowlog",
    "sort": "sort sort_ro",
    "stream_claim": "xclaim xautoclaim",
    "stream_groups": "xgroup xack xpending",
    "stream_info": "xinfo",
    "stream_read": "xread xreadgroup",
    "string_parts": "setrange getrange substr append strlen",
    "t_hash": (
        "hset hmset hsetnx hincrby hincrbyfloat hdel hget hmget hlen hstrlen hexists hkeys "
        "hvals hgetall"
    ),
    "t_hash_walk": "hscan hrandfield",
    "t_list": "lpush rpush lpushx rpushx lpop rpop lmpop rpoplpush lmove",
    "t_list_blocking": "blpop brpop blmpop blmove brpoplpush",
    "t_list_parts": "llen lindex lset linsert lrange ltrim lrem lpos",
    "t_set": "sadd srem smove sismember smismember scard sscan",
    "t_set_algebra": "smembers sinter sintercard sinterstore sunion sunionstore sdiff sdiffstore",
    "t_set_random": "spop srandmember",
    "t_stream": "xadd xtrim xlen xrange xrevrange xdel xsetid",
    "t_string": "set setnx setex psetex get getex getdel getset mget mset msetnx",
    "t_zset": "zadd zincrby zrem zcard zscore zmscore zrank zrevrank zcount zlexcount",
    "t_zset_blocking": "bzpopmin bzpopmax bzmpop",
    "t_zset_ops": "zunion zinter zdiff zintercard zunionstore zinterstore zdiffstore",
    "t_zset_pop": "zpopmin zpopmax zmpop",
    "t_zset_ranges": (
        "zrange zrevrange zrangebyscore zrevrangebyscore zrangebylex zrevrangebylex zrangestore"
    ),
    "t_zset_remove": "zremrangebyrank zremrangebyscore zremrangebylex",
    "t_zset_walk": "zrandmember zscan",
    "transactions": "multi exec discard watch unwatch",
}

#: Names of modules by command.
MODULES_OF: dict[bytes, list[str]] = {}
for _module, _names in MODULES.items():
    for _name in _names.split():
        MODULES_OF.setdefault(_name.encode(), []).append(_module)
