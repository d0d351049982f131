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
# # Three ways to expire
#
# A key with a time to live has to go some day. Who notices?
#
# 1. **A timer.** Each key gets an alarm, and is deleted when it rings.
# 2. **Whoever asks.** A command that finds a dead key deletes it: *lazy* expiry.
# 3. **A patrol.** A background job looks at samples: *periodic* expiry.
#
# Redis has no timers; it does 2 and 3. In this lesson we build timers, run all ways on the
# same commands, and see what each buys and what it costs. Time is virtual, so every run gives
# the same numbers. Lesson 01 explains how Redis's own two ways work.
#
# ---
#
# # 三种过期方式
#
# 带生存时间的键总有一天要消失。由谁来发现呢？
#
# 1. **定时器。** 每个键有一个闹钟，响了就删除。
# 2. **谁来问谁发现。** 命令遇到死键就删除它：*惰性*过期。
# 3. **巡逻。** 后台任务抽样检查：*定期*过期。
#
# Redis 没有定时器，它用的是第 2 和第 3 种。本课先造出定时器，再让所有方式运行同样的命令，看各自
# 换来什么、付出什么。时间是虚拟的，每次运行得到的数字都一样。Redis 自己的两种方式怎么工作，见第 01 课。

# %%
from dataclasses import replace

import matplotlib.pyplot as plt

from miniredis.lab import plots
from miniredis.lab.strategies import run_strategies
from miniredis.lab.strategy_results import KEEPING, WAKING
from miniredis.lab.workload import TtlDistribution, Workload
from miniredis.structs.timer_heap import TimerHeap
from miniredis.structs.timing_wheel import TimingWheel

# %% [markdown]
# ## 1. Timers in a heap
#
# A binary heap keeps the earliest alarm at its root. A new alarm rises from the bottom while
# it is earlier than its parent. Keys are written again all the time, so alarms must be
# moved and cancelled too; for that the heap notes where each key's alarm is.
#
# How much work is it? `steps` counts the levels at which an alarm looks.
#
# ---
#
# ## 1. 堆里的定时器
#
# 二叉堆把最早的闹钟放在根上。新闹钟从底部上升，只要它比父节点早就继续升。键不断被重写，所以闹钟也要能移动、
# 能取消；为此堆记住每个键的闹钟在哪里。
#
# 要做多少工作？`steps` 数的是闹钟查看过的层数。

# %%
heap = TimerHeap()
for key, when in [("a", 50), ("b", 20), ("c", 70), ("d", 10), ("e", 40)]:
    heap.schedule(key, when)
heap.schedule("d", 90)  # d is written again and lives longer
heap.cancel("b")  # b is deleted
print("first alarm at", heap.next_wake())
print("due at 70:", [heap.pop_due(70) for _ in range(4)])
assert list(heap) == [("d", 90)]

for n in (1_000, 100_000):
    heap = TimerHeap()
    for i in range(n):
        heap.schedule(i, i * 7919 % n)
    set_steps, heap.steps = heap.steps / n, 0
    while heap.pop_due(n) is not None:
        pass
    print(f"{n:7,} alarms: {set_steps:.1f} steps to set one, {heap.steps / n:.1f} when one is due")
assert 14 < heap.steps / n < 17  # the height of the heap is 17 levels

# %% [markdown]
# Setting is cheap on average, taking the root away costs nearly the whole height: the last alarm
# takes its place and sinks down again. A hundred times as many alarms, not twice the steps.
#
# ## 2. Timers in a wheel
#
# Why keep alarms in order that are days away? A *timing wheel* sorts only what is near.
# Write the instant in base 64. An alarm lies on the level of the highest digit in which it
# differs from now, in the slot of that digit. When time reaches a slot, its alarms move to a
# finer level, until they are in order to the millisecond.
#
# ---
#
# 平均来说设置很便宜；取走根却几乎要走完整个高度：最后一个闹钟顶上来，再沉下去。闹钟多一百倍，步数还不到两倍。
#
# ## 2. 轮子里的定时器
#
# 几天以后才响的闹钟，何必现在就排好序？*时间轮*只把近的排好。把时刻写成 64 进制。闹钟放在与当前时刻不同的
# 最高一位所对应的层，槽号就是那一位的数字。时间走到一个槽时，里面的闹钟移到更细的层，直到精确到毫秒。

# %%
wheel = TimingWheel(now=1_000)  # 15 * 64 + 40
for key, when in [("soon", 1_005), ("next", 1_030), ("later", 70_000)]:
    wheel.schedule(key, when)
    level, slot = wheel.place(when)
    print(f"{key:5} at {when:6}: level {level}, slot {slot}")

wakes = []
while (now := wheel.next_wake()) is not None:
    due = wheel.pop_due(now)
    wakes.append((now, due))
    print(f"awake at {now:6}:", "cascade" if due is None else f"{due} is due")
assert [due for _, due in wakes] == ["soon", None, "next", None, None, "later"]
print(f"{wheel.steps} steps for 3 alarms")

# %% [markdown]
# No alarm was ever compared with another. The work for an alarm does not grow with
# their number. The price: the wheel wakes now and then only to move alarms.
#
# ## 3. The same commands, five servers
#
# 2,000 commands a second for 20 s on 10,000 keys: 70 % GET, the hottest keys most often
# (Zipf's law); 25 % SET with a time to live of 1 to 5 s; some EXPIRE and DEL. Each server is
# Redis in all but expiry. *Periodic only* hides dead keys from readers but leaves them.
# No client can tell the servers apart: to all of them a dead key is missing.
#
# The CPU time is that of a modelled server in C; `docs/strategies.md` lists the assumptions.
#
# ---
#
# 没有任何两个闹钟互相比较过。每个闹钟的工作量不随闹钟总数增长。代价是：轮子有时醒来只是为了搬动闹钟。
#
# ## 3. 同样的命令，五台服务器
#
# 每秒 2,000 条命令，持续 20 秒，共 10,000 个键：70 % 是 GET，越热的键被读得越多（齐夫定律）；25 % 是
# SET，生存时间 1 到 5 秒；还有少量 EXPIRE 和 DEL。每台服务器除了过期方式都是 Redis。*只定期*那台对读者
# 隐藏死键，但不删除。客户端分辨不出这些服务器：对它们来说，死键都不存在。
#
# CPU 时间是按 C 语言服务器的模型算的；假设列在 `docs/strategies.md`。

# %%
workload = Workload(
    keys=10_000,
    rate=2_000,
    duration_ms=20_000,
    ttls=TtlDistribution("uniform", 1_000, 5_000),
    seed=7,
)
results = {result.strategy.name: result for result in run_strategies(workload)}

print("                 keys  dead   dead %  CPU ms   median lag  longest pause")
for r in results.values():
    print(
        f"{r.strategy.title:14} {r.mean_held:6,.0f} {r.mean_owed:5,.0f} {100 * r.stale_share:7.1f}"
        f" {r.total_cpu_us / 1000:7.1f} {r.lag(0.5)!s:>12} {r.longest_pause_us:11,.1f} µs"
    )

dead = {name: round(100 * r.stale_share, 1) for name, r in results.items()}
assert dead == {"heap": 0.0, "wheel": 0.0, "lazy": 59.0, "periodic": 12.9, "redis": 12.9}
assert {r.deaths for r in results.values()} == {7_210}
cpu = {name: round(r.total_cpu_us / 1000, 1) for name, r in results.items()}
assert cpu == {"heap": 19.2, "wheel": 18.8, "lazy": 4.7, "periodic": 8.6, "redis": 8.6}
assert results["heap"].lag(1).ms == 0 and results["redis"].lag(0.5).ms == 499
assert results["lazy"].lag(0.5).ms == 6_489 and results["lazy"].lag(0.99).at_least

# %%
plots.strategies_page(list(results.values()), workload)
plt.show()

# %% [markdown]
# - **Timers** never hold a dead key. They pay at every write with a time to live, and with a
#   wake-up for nearly every death.
# - **Lazy only** is cheap because it leaves the work undone: 59 % of what it holds is dead.
#   Half of the dead wait for longer than 6 s, and some for longer than we watched.
# - **Redis** lies between: 12.9 % dead, half of them gone within half a second, for less than
#   half of the timers' CPU.
#
# But look where the timers' time goes.
#
# ---
#
# - **定时器**从不留下死键。代价是每次带生存时间的写入都要付费，而且几乎每次死亡都要唤醒一次。
# - **只惰性**便宜，是因为活没干完：它持有的键有 59 % 是死的。一半的死键要等 6 秒以上，有些比我们观察的时间还久。
# - **Redis** 居中：12.9 % 是死键，一半在半秒内消失，CPU 不到定时器的一半。
#
# 不过请看定时器的时间花在哪里。

# %%
for name in ("heap", "wheel"):
    r = results[name]
    keeping, waking = r.cpu_us[KEEPING] / 1000, r.cpu_us[WAKING] / 1000
    rest = r.total_cpu_us / 1000 - waking
    print(
        f"{name:5} keeping {keeping:.1f} ms, waking {waking:.1f} ms, all but waking {rest:.1f} ms"
    )
    assert rest < cpu["redis"] < r.total_cpu_us / 1000

# %% [markdown]
# Most of it is waking up: 2 µs each are assumed. Without it timers would be cheaper than
# Redis's patrol here. Whether timers are dear depends on what a wake-up costs, and a busy
# server is awake anyway. So why has Redis no timers? Two more experiments.
#
# ## 4. Reading does not save memory
#
# Redis deletes on access *and* by patrol; periodic only just by patrol. They hold the same
# number of dead keys. Perhaps there were too few reads? Four times as many commands, all
# of the new ones reads:
#
# ---
#
# 大部分是唤醒：假设每次 2 微秒。没有它，定时器在这里比 Redis 的巡逻还便宜。定时器贵不贵，取决于唤醒的代价，
# 而繁忙的服务器本来就醒着。那 Redis 为什么不用定时器？再做两个实验。
#
# ## 4. 读取并不节省内存
#
# Redis 在访问时删除，*也*靠巡逻删除；只定期的那台只靠巡逻。两者持有的死键一样多。也许是读得太少？
# 命令增加到四倍，新增的全是读：

# %%
busy = replace(workload, duration_ms=10_000, rate=8_000, reads=0.925, expires=0.0075, deletes=0.005)
both = {result.strategy.name: result for result in run_strategies(busy, ["periodic", "redis"])}
for r in both.values():
    print(
        f"{r.strategy.title:14} dead {r.mean_owed:5.0f}, deleted by commands {r.deleted_by['lazy']:5,}"
    )
change = both["redis"].mean_owed / both["periodic"].mean_owed - 1
print(f"dead keys where reading deletes, against where it does not: {100 * change:+.0f} %")
assert both["redis"].deleted_by["lazy"] > 4 * both["periodic"].deleted_by["lazy"]
assert abs(change) < 0.1

# %% [markdown]
# Commands delete six times as many keys, and it does not show. The patrol stops when a sample
# holds at most 10 % dead keys. If readers have cleared some, it stops sooner. It regulates the
# *share* of the dead, and whatever helps it lets it rest.
#
# Lazy expiry is not there to save memory. It is there so that nobody is ever given a dead key.
# (Periodic only needs the same check; it merely leaves the key where it is.)
#
# ## 5. When all die at once
#
# "Until midnight": all keys written within 5 s get the same instant of death. A timer rings
# for all of them in one millisecond.
#
# ---
#
# 命令删掉的键是六倍，却看不出效果。巡逻在样本里死键不超过 10 % 时就停。读者清掉了一些，它就停得更早。
# 它调节的是死键的*比例*，谁帮它，它就歇着。
#
# 惰性过期不是为了省内存，而是为了绝不把死键交给任何人。（只定期的那台也要做同样的检查，只是不删。）
#
# ## 5. 同时死去
#
# “到午夜为止”：5 秒内写入的所有键在同一时刻死去。定时器在一毫秒内为它们全部响起。

# %%
pauses = {}
rates = (2_000, 6_000, 10_000)
for rate in rates:
    burst = Workload(
        keys=200_000,
        rate=rate,
        duration_ms=6_000,
        reads=0,
        expires=0,
        deletes=0,
        ttls=TtlDistribution("aligned", 5_000, None),
        seed=7,
    )
    for r in run_strategies(burst, ["heap", "redis"]):
        pauses[rate, r.strategy.name] = r.longest_pause_us / 1000
        print(
            f"{r.deaths:6,} die, {r.strategy.title:12}: longest pause "
            f"{r.longest_pause_us / 1000:5.1f} ms, all gone after {r.lag(1)}"
        )
assert pauses[10_000, "heap"] > 4 * pauses[2_000, "heap"]
assert 25 < pauses[10_000, "redis"] < 26

# %%
fig, ax = plt.subplots(figsize=(6, 3.5), layout="constrained")
for name, color, marker, style in (
    ("heap", plots.GREEN, "s", "-"),
    ("redis", plots.BLUE, "o", "--"),
):
    ax.plot(
        rates,
        [pauses[rate, name] for rate in rates],
        color=color,
        marker=marker,
        linestyle=style,
        label=results[name].strategy.title,
    )
ax.axhline(25, color=plots.GREY, linestyle=":", label="limit of a cycle at hz 10")
ax.set_ylim(0, None)
ax.set_xlabel("SETs a second, all dying at the same instant")
ax.set_ylabel("longest pause (ms)")
ax.legend()
plt.show()

# %% [markdown]
# The more keys, the longer the pause: timers must ring when they must ring. Redis's cycle
# looks at the clock and stops after 25 ms, whatever is left. **A bounded pause is what Redis
# buys with the memory it owes**, besides no extra work in every SET and no extra bytes at
# every key.
#
# ## Exercises
#
# 1. Each strategy's dead keys, averaged, equal deaths a second times mean lag (Little's law).
#    Check it for `redis` with `lags_ms` and `open_lags_ms`.
# 2. Redis at `hz` 100 and effort 10: guess the share of dead keys, and what it costs in CPU.
#    Is it still cheaper than the heap?
# 3. Lazy only: does a *lower* skew of the reads leave more dead keys or fewer? Why?
# 4. Let writes prefer hot keys too (`write_skew` 2). What does that do to the work of keeping
#    timers, for each key that dies?
#
# Try before you open the answers.
#
# ---
#
# 键越多，停顿越长：定时器该响就得响。Redis 的周期看着时钟，25 毫秒后就停，不管还剩多少。
# **Redis 用欠着的内存换来有上限的停顿**，另外每次 SET 没有额外工作，每个键没有额外字节。
#
# ## 练习
#
# 1. 每种方式平均持有的死键数等于每秒死亡数乘以平均滞后（利特尔法则）。用 `lags_ms` 和 `open_lags_ms`
#    对 `redis` 验证。
# 2. `hz` 100、effort 10 的 Redis：先猜死键比例，以及 CPU 代价。它还比堆便宜吗？
# 3. 只惰性：读取的偏斜*更低*时，死键更多还是更少？为什么？
# 4. 让写入也偏向热键（`write_skew` 2）。平均到每个死去的键，维护定时器的工作有什么变化？
#
# 请先自己试，再打开答案。

# %% [markdown]
# <details>
# <summary>Answers / 答案</summary>
#
# 1. 187.3 on both sides. All lags added up, divided by 20,000 ms: each dead key counts for as
#    long as it is held.
# 2. 1.4 % dead, half of them gone within 47 ms. It costs 21.1 ms of CPU, more than the heap's
#    19.2: who searches hard enough pays more than who keeps a list.
# 3. Fewer: 50.2 % with skew 0, 52.2 % with 0.5, 59.0 % with 1. The dead that pile up are cold
#    keys. Only reads that reach them help, and skewed reads ask for the same few again.
# 4. 6.1 µs a death instead of 0.32. Hot keys are written again before they die, so their
#    timers are set and moved in vain: 152 keys die instead of 7,210. Redis pays nothing for
#    a time to live that is replaced.
#
# ---
#
# 1. 两边都是 187.3。所有滞后相加，除以 20,000 毫秒：每个死键被持有多久，就计多久。
# 2. 1.4 % 是死键，一半在 47 毫秒内消失。CPU 要 21.1 毫秒，比堆的 19.2 还多：找得太用力，比记一份清单更贵。
# 3. 更少：偏斜 0 时 50.2 %，0.5 时 52.2 %，1 时 59.0 %。堆积起来的死键是冷键。只有读到它们才有用，
#    而偏斜的读取总是问那几个键。
# 4. 每次死亡 6.1 微秒，原来是 0.32。热键在死之前就被重写，它们的定时器白白设置、移动：只有 152 个键死去，
#    原来是 7,210 个。被替换的生存时间，Redis 不用付任何代价。
#
# </details>

# %% jupyter={"source_hidden": true}
# The answers, checked. 答案的验证。
r = results["redis"]
lags = sum(r.lags_ms) + sum(r.open_lags_ms)
assert round(lags / workload.duration_ms, 1) == round(r.mean_owed, 1) == 187.3

keen = run_strategies(workload, ["redis"], hz=100, active_expire_effort=10)[0]
assert (round(100 * keen.stale_share, 1), keen.lag(0.5).ms) == (1.4, 47)
assert round(keen.total_cpu_us / 1000, 1) == 21.1 > cpu["heap"]

for skew, share in ((0, 50.2), (0.5, 52.2)):
    lazy = run_strategies(replace(workload, skew=skew), ["lazy"])[0]
    assert round(100 * lazy.stale_share, 1) == share < dead["lazy"] == 59.0

hot = run_strategies(replace(workload, write_skew=2), ["heap"])[0]
assert hot.deaths == 152
assert round(hot.cpu_us[KEEPING] / hot.deaths, 1) == 6.1
assert round(results["heap"].cpu_us[KEEPING] / results["heap"].deaths, 2) == 0.32
print("all answers hold")
