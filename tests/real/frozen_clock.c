/* Loaded with LD_PRELOAD, this library makes a program see only the time that somebody
 * else writes: the first 64-bit word of the file FROZEN_CLOCK_PAGE holds it, in
 * microseconds since 1970. The second word is added to the first at each reading of the
 * wall clock (0: time stands still). That goes for the main thread. Others sleep until
 * instants that they work out, and the kernel wakes them by the true time: with the frozen
 * one, long past, jemalloc's thread would never sleep at all. So they see the true time.
 *
 * A program that waits for events waits until there are some: how long it would have
 * waited otherwise is a matter of the machine's time, which nothing here may depend on. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

static volatile int64_t *page;

static int in_main_thread(void) {
    static __thread int known;
    if (!known) known = gettid() == getpid() ? 1 : -1;
    return known > 0;
}

static int64_t true_time(clockid_t id) {
    struct timespec ts;
    syscall(SYS_clock_gettime, id, &ts);
    return ts.tv_sec * 1000000LL + ts.tv_nsec / 1000;
}

static int64_t now(clockid_t id) {
    if (!in_main_thread()) return true_time(id);
    if (!page) {
        int fd = open(getenv("FROZEN_CLOCK_PAGE"), O_RDWR);
        void *memory = fd < 0 ? MAP_FAILED
            : mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
        if (memory == MAP_FAILED) _exit(99);
        page = memory;
    }
    return id == CLOCK_REALTIME ? __sync_fetch_and_add(&page[0], page[1]) : page[0];
}

int gettimeofday(struct timeval *restrict tv, void *restrict tz) {
    int64_t us = now(CLOCK_REALTIME);
    (void)tz;
    tv->tv_sec = us / 1000000;
    tv->tv_usec = us % 1000000;
    return 0;
}

int clock_gettime(clockid_t id, struct timespec *ts) {
    int64_t us = now(id);
    ts->tv_sec = us / 1000000;
    ts->tv_nsec = us % 1000000 * 1000;
    return 0;
}

time_t time(time_t *t) {
    time_t seconds = now(CLOCK_REALTIME_COARSE) / 1000000;
    if (t) *t = seconds;
    return seconds;
}

int epoll_wait(int epfd, struct epoll_event *events, int maxevents, int timeout) {
    int found;
    /* A process that was stopped and goes on is interrupted here; no turn may come of it. */
    do {
        found = epoll_pwait(epfd, events, maxevents, timeout == 0 ? 0 : -1, NULL);
    } while (found < 0 && errno == EINTR);
    return found;
}
