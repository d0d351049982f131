/* What a step of a timer structure costs in C, for miniredis/lab/strategy_costs.py.
 *
 *     cc -O2 -o timers benchmarks/timers.c && ./timers
 *
 * Timers are spread over one heap block a key, as keys are, and picked at random, so that a
 * large number of them does not fit into the cache. A step is what the Python structures count:
 * in the heap a level that an entry looks at, in the wheel a link or an unlink.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <time.h>

#define SPREAD 20000 /* ms, the longest time to live */
#define ROUNDS 2000000

typedef struct timer {
    uint64_t when;
    size_t at;                  /* in the heap */
    struct timer *prev, *next;  /* in the wheel */
    char key[40];               /* what lies beside it */
} timer;

static timer **timers, **heap;
static size_t count, steps;
static timer wheel[3][64];
static uint64_t elapsed;

static double now_ns(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec * 1e9 + t.tv_nsec;
}

static uint64_t random_bits(void) {
    static uint64_t x = 88172645463325252ull;
    x ^= x << 13, x ^= x >> 7, x ^= x << 17;
    return x;
}

static void put(size_t at, timer *t) { heap[at] = t, t->at = at; }

static void settle(size_t at, timer *t) {
    while (steps++, at && t->when < heap[(at - 1) / 2]->when)
        put(at, heap[(at - 1) / 2]), at = (at - 1) / 2;
    while (steps++, 2 * at + 1 < count) {
        size_t child = 2 * at + 1;
        if (child + 1 < count && heap[child + 1]->when < heap[child]->when) child++;
        if (t->when <= heap[child]->when) break;
        put(at, heap[child]), at = child;
    }
    put(at, t);
}

static void link_timer(timer *t) {
    uint64_t differs = t->when ^ elapsed;
    int level = (63 - __builtin_clzll(differs | 1)) / 6;
    timer *head = &wheel[level][t->when >> 6 * level & 63];
    t->prev = head->prev, t->next = head;
    t->prev->next = t, head->prev = t;
    steps++;
}

static void unlink_timer(timer *t) {
    t->prev->next = t->next, t->next->prev = t->prev;
    steps++;
}

static double wake_up_us(void) {
    int fd = epoll_create1(0), n = 2000;
    struct epoll_event event;
    struct rusage a, b;
    getrusage(RUSAGE_SELF, &a);
    for (int i = 0; i < n; i++) epoll_wait(fd, &event, 1, 1);
    getrusage(RUSAGE_SELF, &b);
    double us = (b.ru_utime.tv_sec + b.ru_stime.tv_sec - a.ru_utime.tv_sec - a.ru_stime.tv_sec) * 1e6;
    return (us + b.ru_utime.tv_usec + b.ru_stime.tv_usec - a.ru_utime.tv_usec - a.ru_stime.tv_usec) / n;
}

int main(void) {
    static const size_t sizes[] = {10000, 100000, 1000000};
    for (int s = 0; s < 3; s++) {
        size_t n = sizes[s];
        timers = malloc(n * sizeof *timers), heap = malloc(n * sizeof *heap);
        for (int l = 0; l < 3; l++)
            for (int i = 0; i < 64; i++) wheel[l][i].prev = wheel[l][i].next = &wheel[l][i];
        count = 0, elapsed = 0;
        for (size_t i = 0; i < n; i++) {
            timer *t = timers[i] = malloc(sizeof *t);
            t->when = 1 + random_bits() % SPREAD;
            count++, settle(count - 1, t), link_timer(t);
        }
        double start, pick, spent;
        volatile uint64_t sink = 0;
        start = now_ns();
        for (int r = 0; r < ROUNDS; r++) sink += timers[random_bits() % n]->when + random_bits();
        pick = now_ns() - start; /* finding the timer is not the structure's work */
        start = now_ns(), steps = 0;
        for (int r = 0; r < ROUNDS; r++) {
            timer *t = timers[random_bits() % n];
            t->when = 1 + random_bits() % SPREAD, settle(t->at, t);
        }
        spent = now_ns() - start - pick;
        printf("%8zu timers: heap  %5.1f ns a move, %4.1f steps, %5.1f ns a step\n", n,
               spent / ROUNDS, (double)steps / ROUNDS, spent / steps);
        start = now_ns(), steps = 0;
        for (int r = 0; r < ROUNDS; r++) { /* the earliest falls due and is set anew, far ahead */
            timer *t = heap[0];
            t->when += SPREAD, settle(0, t);
        }
        spent = now_ns() - start;
        printf("%8zu timers: heap  %5.1f ns a due,  %4.1f steps, %5.1f ns a step\n", n,
               spent / ROUNDS, (double)steps / ROUNDS, spent / steps);
        for (size_t i = 0; i < n; i++) timers[i]->when %= SPREAD;
        for (int l = 0; l < 3; l++)
            for (int i = 0; i < 64; i++) wheel[l][i].prev = wheel[l][i].next = &wheel[l][i];
        for (size_t i = 0; i < n; i++) link_timer(timers[i]);
        start = now_ns(), steps = 0;
        for (int r = 0; r < ROUNDS; r++) {
            timer *t = timers[random_bits() % n];
            unlink_timer(t), t->when = 1 + random_bits() % SPREAD, link_timer(t);
        }
        spent = now_ns() - start - pick;
        printf("%8zu timers: wheel %5.1f ns a move, %4.1f steps, %5.1f ns a step\n", n,
               spent / ROUNDS, (double)steps / ROUNDS, spent / steps);
        for (size_t i = 0; i < n; i++) free(timers[i]);
        free(timers), free(heap);
    }
    printf("waking up from epoll_wait: %.1f us of CPU\n", wake_up_us());
    return 0;
}
