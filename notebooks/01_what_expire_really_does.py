# ---
# jupyter:
#   jupytext:
#     text_representation:
#       format_name: percent
# ---

# %% [markdown]
# # What EXPIRE really does · EXPIRE 到底做了什么
#
# `EXPIRE key 10` starts no timer. It writes one number, the Unix time in ms at which the
# key dies, into a second dict called `expires`. Who deletes the key, and when, is the
# subject of this lesson.
#
# `EXPIRE key 10` 并不会启动定时器。它只是把一个数字（键失效的 Unix 毫秒时间）写进另一个名为
# `expires` 的字典。谁来删除这个键、何时删除，就是这一课的内容。

# %%
import matplotlib.pyplot as plt

import miniredis
from miniredis.lab.experiments import run_expiry
from miniredis.lab.plots import plot_lag_ecdf, plot_population, plot_stale_share, plot_work

clock = miniredis.VirtualClock(start_ms=1_391_234_400_000)
server = miniredis.Server(clock=clock, seed=7)
r = server.client(decode_responses=True)
db = server.databases[0]

# %% [markdown]
# ## 1. A relative time becomes an absolute one · 相对时间变成绝对时间

# %%
r.set("message", "hi")
r.expire("message", 5)
print(db.expires.index[b"message"].val, "=", clock.ms(), "+ 5000")

# %% [markdown]
# ## 2. Lazy: a command finds the dead key · 惰性删除：由命令发现死键
#
# A key is dead when now > when, strictly. At the very millisecond it is still alive, with
# a TTL of 0.
#
# 只有当 now > when（严格大于）时键才算过期；在那一毫秒它仍然活着，TTL 显示为 0。

# %%
server.active_expire_enabled = False  # nobody else may delete it
clock.advance(5_000)
print(r.get("message"), r.pttl("message"))
clock.advance(1)
print("held:", server.dbsize(0), "| GET:", r.get("message"), "| held:", server.dbsize(0))

# %% [markdown]
# ## 3. Active: the cycle, window by window · 主动删除：逐窗口观察
#
# Ten times a second the cron walks some buckets of `expires`. A window is about 20 keys.
# If more than 10 % of a window were dead, another follows at once.
#
# 定时任务每秒十次扫描 `expires` 的若干桶。一个窗口约 20 个键；若其中死键超过 10 %，立即再扫一个
# 窗口。

# %%
for i in range(50):
    r.set(f"short:{i}", "x", px=100)
clock.advance(101)
report = server.active_expire_cycle("slow")
for loop in report.loops:
    if loop.db == 0:
        print(f"sampled {loop.sampled:2}, expired {loop.expired:2}", loop.exit)

# %% [markdown]
# ## 4. Twenty thousand keys with one TTL · 两万个键同时过期
#
# The cycle stops when its share of the CPU is used, and a table filled below 1 % is left
# alone until the cron has shrunk it: the tail of the curve.
#
# 循环用完自己的 CPU 份额就会停下；装填率低于 1 % 的表会被跳过，直到定时任务把它缩小：这就是曲线
# 的尾巴。

# %%
result = run_expiry([10_000] * 20_000, seed=1)
figure, axes = plt.subplots(2, 2, figsize=(11, 8), layout="constrained")
plot_population(result, axes[0][0])
plot_stale_share(result, axes[0][1])
plot_work(result, axes[1][0])
plot_lag_ecdf(result, axes[1][1])
print({f"{share:.0%}": ms - result.first_death_ms for share, ms in result.gone_ms.items()})

# %% [markdown]
# ## 5. How much is stale, and what INFO says · 陈旧比例与 INFO 的估计
#
# With lifetimes spread over 20 s the cursor meets the region it left alone the longest, so
# the estimate lies above the truth.
#
# 当寿命分布在 20 秒内时，游标总是遇到最久未访问的区域，因此估计值高于真实值。

# %%
import random

rng = random.Random(1)
spread = run_expiry([rng.randint(1, 20_000) for _ in range(20_000)], seed=1)
axes = plot_stale_share(spread)
middle = [c for c in spread.cycles if 5_000 < c.start_us / 1000 - spread.start_ms < 15_000]
curve = spread.curve
true = [s for t, s in zip(curve.t_ms, curve.stale_share, strict=True) if 5_000 < t < 15_000]
print(f"true share {sum(true) / len(true):.1%} on average between 5 s and 15 s,")
print(f"INFO's estimate {sum(c.stale_perc for c in middle) / len(middle):.1%}")

# %% [markdown]
# ## Exercises · 练习
#
# 1. Repeat section 4 with `effort=10`. How many cron runs of 100 ms does the tail take now?
#    用 `effort=10` 重做第 4 节。现在尾巴需要几次（每次 100 毫秒的）定时任务？
# 2. And with `hz=100`? · 那么 `hz=100` 呢？
#
# The next cell answers. · 答案见下一个单元。

# %%
for settings in ({"effort": 10}, {"hz": 100}):
    again = run_expiry([10_000] * 20_000, seed=1, **settings)
    print(settings, again.gone_ms[1.0] - again.first_death_ms, "ms")
