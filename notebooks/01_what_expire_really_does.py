# ---
# jupyter:
#   jupytext:
#     text_representation:
#       extension: .py
#       format_name: percent
#   kernelspec:
#     display_name: Python 3
#     language: python
#     name: python3
# ---

# %% [markdown]
# # What EXPIRE really does
#
# `EXPIRE cake 10` is said to delete a key after ten seconds. It does not. It writes down
# an instant. Something else has to notice, later, that the instant has passed: a command
# that asks for the key, or a background job that looks at samples. Between the two, dead
# keys stay in memory. This lesson shows who deletes what, and when.
#
# Time here is virtual: it moves only when we say so, and every run gives the same
# numbers. Run the cells from top to bottom.
#
# ---
#
# # EXPIRE 到底做了什么
#
# 人们说 `EXPIRE cake 10` 会在十秒后删除一个键。其实不会。它只记下一个时刻。之后必须有别的东西
# 发现这个时刻已经过去：要么是访问这个键的命令，要么是抽样检查的后台任务。在这之间，死掉的键仍占着
# 内存。本课展示谁在什么时候删除了什么。
#
# 这里的时间是虚拟的：只有我们推动它，它才前进，而且每次运行得到的数字都一样。请从上到下依次运行各单元。

# %%
import random

import matplotlib.pyplot as plt

import miniredis
from miniredis.lab import plots
from miniredis.lab.experiments import run_expiry
from miniredis.lab.recorder import Recorder
from miniredis.lab.snapshot import picture_of_db

clock = miniredis.VirtualClock()
server = miniredis.Server(clock=clock, seed=7)
r = server.client(decode_responses=True)

# %% [markdown]
# ## 1. A time to live becomes an instant
#
# Ten seconds from now is written into a second table, `expires`, as a Unix time in
# milliseconds. Nothing counts down. `TTL` subtracts the clock from that number each time
# it is asked. Replicas are not told "ten seconds" either: they are sent the instant
# (`PEXPIREAT`), so a message that arrives late does not prolong a life.
#
# ---
#
# ## 1. 生存时间变成一个时刻
#
# “从现在起十秒”被换算成以毫秒计的 Unix 时间，写入第二张表 `expires`。没有什么东西在倒计时。
# 每次执行 `TTL` 时，才用那个数减去当前时间。发给副本的也不是“十秒”，而是那个时刻（`PEXPIREAT`），
# 所以消息迟到也不会延长键的寿命。

# %%
recorder = Recorder()
server.probe = recorder

r.set("cake", "fresh")
r.expire("cake", 10)
print("now           ", clock.ms())
print("PEXPIRETIME   ", r.pexpiretime("cake"))
print("expires table ", server.databases[0].expires.index[b"cake"].val)
assert r.pexpiretime("cake") == clock.ms() + 10_000

clock.advance(4_000)
print("4 s later: TTL", r.ttl("cake"), " PEXPIRETIME", r.pexpiretime("cake"))
assert r.ttl("cake") == 6

for dbid, argv in recorder.stream:
    print("to replicas:  ", dbid, *(word.decode() for word in argv))
assert recorder.stream[1][1][0] == b"PEXPIREAT"

# %% [markdown]
# A key is dead when `now > when`. At the very millisecond it is still alive, with a
# `PTTL` of 0.
#
# ---
#
# 当 `now > when` 时键才算死亡。恰好在那一毫秒它还活着，`PTTL` 为 0。

# %%
clock.advance_to(r.pexpiretime("cake"))
print("at the instant:  GET", r.get("cake"), " PTTL", r.pttl("cake"))
assert (r.get("cake"), r.pttl("cake")) == ("fresh", 0)
clock.advance(1)
print("1 ms later:      GET", r.get("cake"))
assert r.get("cake") is None

# %% [markdown]
# ## 2. Lazy expiry: who asks, deletes
#
# We switch the background job off. Five keys die, and nothing happens: `DBSIZE` still
# counts five. `KEYS` hides dead keys but leaves them. `GET` and `TTL` find their key
# dead, delete it, and answer as if it had never been there.
#
# So whoever asks for a dead key by its name is told that it is not there; only counts,
# such as `DBSIZE`'s, give it away. But a dead key that nobody asks for would stay for ever
# if this were all.
#
# ---
#
# ## 2. 惰性过期：谁来问，谁删除
#
# 我们关掉后台任务。五个键死了，却什么也没发生：`DBSIZE` 仍然数出五个。`KEYS` 隐藏死键，但不删除。
# `GET` 和 `TTL` 发现要找的键已死，就把它删掉，并像它从未存在过一样回答。
#
# 所以谁按名字去要一个死键，得到的回答都是它不存在；只有 `DBSIZE` 之类的计数会泄露它还在。但如果只有
# 这一种办法，没人访问的死键就会永远留着。

# %%
r.execute_command("DEBUG", "SET-ACTIVE-EXPIRE", "0")
for i in range(5):
    r.set(f"key:{i}", "x", px=100)
clock.advance(1_000)

print("DBSIZE", r.dbsize(), " KEYS", r.keys("*"), " DBSIZE", r.dbsize())
assert r.dbsize() == 5
print("GET key:0 ->", r.get("key:0"), " DBSIZE", r.dbsize())
assert r.dbsize() == 4
print("TTL key:1 ->", r.ttl("key:1"), " DBSIZE", r.dbsize())
assert r.dbsize() == 3

# %% [markdown]
# ## 3. The active cycle, window by window
#
# The background job is the *active expire cycle*. The cron calls it `hz` times a second
# (10 by default). For each database it does this:
#
# 1. Walk the buckets of `expires` from a cursor, taking whole chains, until 20 keys were
#    seen. That is a *window*. Delete the dead ones.
# 2. If more than 10 % of the window was dead, take the next window at once.
# 3. Every 16 windows look at the clock; stop when a quarter of the CPU is used up.
#
# Redis before 6.0 drew 20 keys at random. Since 6.0 the cursor walks, and the next call
# goes on where the last one stopped.
#
# Below, 1,000 keys with a TTL, of which every fourth has died. We call the cycle by hand.
#
# ---
#
# ## 3. 主动周期，一个窗口接一个窗口
#
# 后台任务叫作*主动过期周期*。cron 每秒调用它 `hz` 次（默认 10 次）。对每个数据库，它这样做：
#
# 1. 从游标处开始依次走过 `expires` 的桶，整条链一起取，直到看过 20 个键。这叫一个*窗口*。删除其中的死键。
# 2. 如果窗口里死键超过 10 %，立刻取下一个窗口。
# 3. 每 16 个窗口看一次时钟；用掉四分之一的 CPU 时间就停。
#
# 6.0 之前的 Redis 随机抽 20 个键。从 6.0 起由游标依次走，下一次调用从上一次停下的地方继续。
#
# 下面有 1,000 个带 TTL 的键，其中每四个死了一个。我们手动调用周期。


# %%
def server_with(ttls_ms, **config):
    """A server with one key per TTL and the background job switched off."""
    clock = miniredis.VirtualClock()
    server = miniredis.Server(clock=clock, seed=7, **config)
    r = server.client(decode_responses=True)
    r.execute_command("DEBUG", "SET-ACTIVE-EXPIRE", "0")
    for i, ttl in enumerate(ttls_ms):
        r.set(f"key:{i}", "x", px=ttl)
    return clock, server, r


clock, server, r = server_with([100 if i % 4 == 0 else 60_000 for i in range(1_000)])
clock.advance(101)

reports = []
for call in range(1, 8):
    report = server.active_expire_cycle("slow")
    reports.append(report)
    windows = [loop for loop in report.loops if loop.sampled]
    shares = " ".join(f"{100 * w.stale_share:.0f}" for w in windows)
    left = picture_of_db(server, server.databases[0]).dead
    print(f"call {call}: {len(windows):2} windows, dead per window (%): {shares}")
    print(f"        {report.expired} deleted, {left} dead keys left")

assert len([w for w in reports[0].loops if w.sampled]) == 1  # 2 of 20 is 10 %: good enough
assert sum(report.expired for report in reports) == 250

# %% [markdown]
# Look at the first call. A quarter of all keys is dead, but its only window happened to
# hold 2 dead keys of 20. That is not *more* than 10 %, so the cycle is content. A window
# is a small sample. Luck decides how far a call goes, and only the average over many
# calls means anything.
#
# ---
#
# 看第一次调用。全部键的四分之一已经死了，但它唯一的窗口里 20 个键中碰巧只有 2 个死键。这没有*超过*
# 10 %，于是周期就满意了。窗口是个小样本，一次调用走多远要看运气，只有许多次调用的平均值才有意义。

# %%
calls = range(1, len(reports) + 1)
fig, ax = plt.subplots(figsize=(6, 3.5), layout="constrained")
ax.bar(calls, [sum(1 for w in report.loops if w.sampled) for report in reports], color=plots.BLUE)
ax.set_xlabel("call of the cycle")
ax.set_ylabel("windows taken")
ax.set_yticks(range(0, 21, 5))
ax.set_title("1,000 keys, a quarter dead: windows per call")
plt.show()

# %% [markdown]
# ## 4. Decay: 20,000 keys die in the same millisecond
#
# Nobody asks for them. The first cron after the death starts a cycle whose windows are
# all 100 % dead, so it keeps going. The cost of work in virtual time is modelled on a
# real server: about 0.3 µs for each small key deleted from a keyspace of this size, more
# from a larger one.
#
# ---
#
# ## 4. 衰减：20,000 个键在同一毫秒死去
#
# 没有人访问它们。死亡之后的第一个 cron 启动一个周期，它的每个窗口都 100 % 是死键，所以一直干下去。
# 虚拟时间里的工作成本参照真实服务器：在这么大的键空间里每删一个小键约 0.3 微秒，更大的键空间里更贵。

# %%
result = run_expiry([1_000] * 20_000, seed=7)
first = result.first_death_ms
for share, ms in result.gone_ms.items():
    print(f"{100 * share:3.0f} % gone {ms - first:4} ms after their death")
print(f"slow cycles {len(result.cycles_of('slow'))}, time-limit exits {result.time_cap_reached}")
print(f"CPU {result.cycle_us / 1000:.1f} ms in all")
assert result.gone_ms[0.9] - first == 8
assert result.gone_ms[1.0] - first == 209
assert result.time_cap_reached == 0

plots.expiry_page(result)
plt.show()

# %% [markdown]
# 90 % are gone after 8 ms, in one cycle well below its limit of 25 ms. The
# last 1.6 % take 209 ms. Why?
#
# ## 5. The sparse tail
#
# Walking empty buckets is a waste, so the cycle leaves a table alone that is filled below
# 1 %. The `expires` table here has 32,768 buckets. When fewer than 328 keys are left in
# it, the cycle stops: the rest is dead, and held. What follows is a dance of three crons:
#
# 1. The cron that emptied the table also starts to shrink it. It moves `dict` first.
# 2. The next cron comes 100 ms after that one has *ended*. Its cycle finds `expires` sparse
#    still; then it moves `expires`.
# 3. In the cron after that, another 100 ms on, the small table is dense, and the last keys
#    go.
#
# The times printed below are those at which each cycle began. Between the first two lie
# 100 ms and the time that the first cron took.
#
# Without the cron's help (`activerehashing no`) and without commands that move buckets
# along, step 2 never ends. The tail stays for as long as we watch, one minute here.
#
# ---
#
# 8 毫秒后 90 % 已经消失，只用了一个周期，离 25 毫秒的上限还很远。最后的 1.6 % 却用了 209 毫秒。为什么？
#
# ## 5. 稀疏的尾巴
#
# 走过空桶是浪费，所以填充率低于 1 % 的表，周期就不看了。这里的 `expires` 表有 32,768 个桶。里面剩下的
# 键不足 328 个时，周期就停手：剩下的都死了，却还占着内存。接下来是三个 cron 的接力：
#
# 1. 清空这张表的那个 cron 也开始收缩它，先搬 `dict`。
# 2. 下一个 cron 在那一个*结束*之后 100 毫秒到来。它的周期发现 `expires` 仍然稀疏，随后它搬 `expires`。
# 3. 再过 100 毫秒，到了下一个 cron，小表变得稠密，最后的键被删除。
#
# 下面打印的是每个周期开始的时刻。前两个之间相隔 100 毫秒，再加上第一个 cron 所用的时间。
#
# 如果 cron 不帮忙（`activerehashing no`），又没有命令顺带搬桶，第 2 步就永远不会结束。我们看多久，尾巴就留多久，
# 这里是一分钟。

# %%
began = []
for cycle in result.cycles_of("slow"):
    began.append(cycle.start_us // 1000 - result.start_ms - first)
    print(
        f"{began[-1]:4} ms after the death: {cycle.sampled:6,} sampled, {cycle.expired:6,} deleted"
    )

first_took_ms = result.cycles_of("slow")[0].elapsed_us / 1000
assert abs(began[1] - began[0] - 100 - first_took_ms) < 2  # and moving `dict`
assert began[2] - began[1] in (100, 101)
deleted = [cycle.expired for cycle in result.cycles_of("slow")]
assert deleted[1] == 0
assert deleted[2] == 20_000 - deleted[0] < 328
assert round(100 * deleted[2] / 20_000, 1) == 1.6

stuck = run_expiry([1_000] * 20_000, seed=7, activerehashing=False)
print(f"activerehashing no: {stuck.remaining} keys still held a minute later")
assert stuck.remaining == 312
assert stuck.end_ms - stuck.last_death_ms >= 60_000

# %% [markdown]
# ## 6. Steady state: the true stale share, and what INFO says
#
# Mass death is rare. More usual: keys come in all the time, each with a TTL of its own.
# Here 1,000 keys a second, with TTLs of up to 20 seconds. Of the keys in memory, which
# share is dead? We can count them; Redis cannot afford to. It keeps a running mean
# of the share its windows met, and shows it in `INFO` as `expired_stale_perc`.
#
# ---
#
# ## 6. 稳定状态：真实的死键比例，与 INFO 的说法
#
# 大批同时死亡并不多见。更常见的是：键不断写入，各有各的 TTL。这里每秒 1,000 个键，TTL 最长 20 秒。
# 内存里的键有多大比例是死的？我们可以去数；Redis 数不起。它只对各窗口遇到的死键比例求一个滑动平均，
# 并在 `INFO` 中显示为 `expired_stale_perc`。


# %%
def steady(effort=1, hz=10, seconds=60, warm_up=30, ttl_max=20_000):
    """Write 1,000 keys a second; per half second: time, true stale %, INFO's %, keys."""
    clock = miniredis.VirtualClock()
    server = miniredis.Server(clock=clock, seed=7, active_expire_effort=effort, hz=hz)
    client = server.create_client()
    rng = random.Random(7)
    rows = []
    for n in range(seconds * 1_000):
        ttl = rng.randint(1, ttl_max)
        server.process_command(client, [b"SET", b"key:%d" % n, b"x", b"PX", b"%d" % ttl])
        clock.advance(1)
        if n % 500 == 499:
            db = picture_of_db(server, server.databases[0])
            info = 100 * server.stat_expired_stale_perc
            rows.append(((n + 1) / 1_000, 100 * db.dead / db.keys, info, db.keys))
    settled = [row for row in rows if row[0] > warm_up]
    true = sum(row[1] for row in settled) / len(settled)
    shown = sum(row[2] for row in settled) / len(settled)
    return rows, true, shown, server.stat_expire_cycle_time_used / (seconds * 1e4)


measured = {effort: steady(effort) for effort in (1, 5, 10)}
print("effort  true stale %  INFO %  true/INFO  CPU %")
for effort, (_, true, shown, cpu) in measured.items():
    print(f"{effort:6}  {true:12.1f}  {shown:6.1f}  {true / shown:9.2f}  {cpu:5.2f}")

assert [round(measured[effort][1], 1) for effort in (1, 5, 10)] == [16.0, 8.4, 4.4]
assert [round(measured[effort][2], 1) for effort in (1, 5, 10)] == [24.9, 13.4, 6.8]
assert all(0.6 < true / shown < 0.7 for _, true, shown, _ in measured.values())

# %%
rows, true, shown, _ = measured[1]
fig, ax = plt.subplots(figsize=(7, 4), layout="constrained")
seconds = [row[0] for row in rows]
ax.plot(seconds, [row[1] for row in rows], color=plots.VERMILLION, label="true")
ax.plot(
    seconds,
    [row[2] for row in rows],
    color=plots.BLUE,
    linestyle="--",
    label="INFO expired_stale_perc",
)
ax.axhline(10, color=plots.GREY, linestyle=":", label="10 %, acceptable in a window")
ax.set_ylim(0, None)
ax.set_xlabel("time (s)")
ax.set_ylabel("stale keys (%)")
ax.set_title("1,000 keys/s, TTL up to 20 s, hz 10, effort 1")
ax.legend(loc="lower right")
plt.show()

# %% [markdown]
# Three things to take away:
#
# - **10 % is not a promise.** It is the point where a call stops repeating. In the long
#   run 16.0 % of the keys are dead at effort 1.
# - **INFO shows more than the truth**, 24.9 % here. The windows look where the cursor has
#   not been for the longest time, and there the most have died since. The true share is
#   about two thirds of what INFO shows.
# - **After mass death INFO shows less than the truth.** In section 4 everything held was
#   dead, 100 %, while the estimate stood at 5 %: one cycle weighs only 5 %.
#
# ---
#
# 三点结论：
#
# - **10 % 不是保证。** 它只是一次调用停止重复的界限。长期来看，effort 为 1 时 16.0 % 的键是死的。
# - **INFO 显示的比真实值高**，这里是 24.9 %。窗口看的是游标最久没去过的地方，那里死得最多。真实比例大约是
#   INFO 显示值的三分之二。
# - **大批死亡之后，INFO 显示的比真实值低。** 第 4 节里内存中的键 100 % 是死的，估计值却只有 5 %：
#   一个周期的权重只有 5 %。

# %%
estimate = result.cycles_of("slow")[0].stale_perc
print(f"section 4, after the first cycle: INFO {100 * estimate:.2f} %, true 100 %")
assert estimate == 0.05

# %% [markdown]
# ## Exercises
#
# 1. `SET k v PX 100`, then `SET k w`. When does `k` die? And with `KEEPTTL`?
# 2. What does `EXPIRE k -1` do? Which event does it fire, `expired` or `del`?
# 3. 200,000 keys die at once instead of 20,000. How long until half are gone? Why is that
#    so much more than ten times as long? Use `run_expiry` and look at `time_cap_reached`.
# 4. Steady state as in section 6, but with `hz=100`, effort 1. Guess the true stale share
#    first: nearer to effort 1, or to effort 5 at `hz` 10? Then measure it.
#
# Try before you open the answers.
#
# ---
#
# ## 练习
#
# 1. 先 `SET k v PX 100`，再 `SET k w`。`k` 什么时候死？加上 `KEEPTTL` 呢？
# 2. `EXPIRE k -1` 会做什么？触发的事件是 `expired` 还是 `del`？
# 3. 同时死去的键从 20,000 个变为 200,000 个。一半消失要多久？为什么远不止十倍？用 `run_expiry`
#    并观察 `time_cap_reached`。
# 4. 与第 6 节相同的稳定状态，但 `hz=100`，effort 为 1。先猜真实的死键比例：更接近 `hz` 为 10 时的
#    effort 1，还是 effort 5？再测量。
#
# 请先自己试，再打开答案。

# %% [markdown]
# <details>
# <summary>Answers / 答案</summary>
#
# 1. Never: a plain `SET` removes the time to live. With `KEEPTTL` it dies 100 ms after the
#    first `SET`, whatever was written since.
# 2. The instant has passed already, so the key is deleted there and then, by the command.
#    The event is `del`, the reply 1, and `expired_keys` does not count it.
# 3. 271 ms after the death, against 6 ms. The first cycle runs into its limit of 25 ms and
#    must wait for the next cron, 100 ms later. So do four more: until then the work gets
#    a fifth of the time (25 of 125 ms) and 1 ms more, the fast cycle after each time-out.
# 4. 8.8 %, near to effort 5 at hz 10 (8.4 %). Ten times as many calls look at ten times as
#    many windows at least, so the cursor comes round sooner.
#
# ---
#
# 1. 永远不死：普通的 `SET` 会去掉生存时间。加上 `KEEPTTL`，它在第一次 `SET` 之后 100 毫秒死去，
#    不管后来写了什么。
# 2. 那个时刻已经过去，所以命令当场删除这个键。事件是 `del`，回复是 1，`expired_keys` 不计入它。
# 3. 死亡之后 271 毫秒，而之前是 6 毫秒。第一个周期碰到 25 毫秒的上限，必须等 100 毫秒后的下一个 cron。
#    之后还有四个周期也是如此：在此期间，这项工作只得到五分之一的时间（125 毫秒中的 25 毫秒），
#    外加每次超时之后一个快速周期的 1 毫秒。
# 4. 8.8 %，接近 `hz` 为 10 时的 effort 5（8.4 %）。调用次数是十倍，看的窗口至少也是十倍，游标更快地转回来。
#
# </details>

# %% jupyter={"source_hidden": true}
# The answers, checked. 答案的验证。
clock = miniredis.VirtualClock()
server = miniredis.Server(clock=clock, seed=7)
server.probe = recorder = Recorder()
r = server.client(decode_responses=True)
r.set("k", "v", px=100)
r.set("k", "w")
assert r.pttl("k") == -1
r.set("k", "v", px=100)
clock.advance(60)
r.set("k", "w", keepttl=True)
assert r.pttl("k") == 40

r.expire("k", -1)
assert recorder.events[-1][0] == b"del"
assert r.info("stats")["expired_keys"] == 0

many = run_expiry([1_000] * 200_000, seed=7)
assert many.gone_ms[0.5] - many.first_death_ms == 271
assert result.gone_ms[0.5] - result.first_death_ms == 6
capped = [c for c in many.cycles_of("slow") if c.elapsed_us > c.time_limit_us]
assert len(capped) == 5
assert len(many.cycles_of("fast")) == 5
assert many.time_cap_reached == 10

_, true, _, _ = steady(effort=1, hz=100)
assert round(true, 1) == 8.8
print("all answers hold")
