/* Loaded with LD_PRELOAD, this library makes a program's random() and rand(), which are the
 * same in the GNU C library, repeatable: the second
 * 512 bytes of the file FROZEN_CLOCK_PAGE begin with a 64-bit state; each call multiplies
 * and adds, and returns 31 of the bits. While the state is 0, the C library answers. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

static volatile uint64_t *state;

long random(void) {
    static long (*original)(void);
    if (!state) {
        int fd = open(getenv("FROZEN_CLOCK_PAGE"), O_RDWR);
        void *memory = fd < 0 ? MAP_FAILED
            : mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
        if (memory == MAP_FAILED) _exit(99);
        state = (uint64_t *)memory + 64;
        original = (long (*)(void))dlsym(RTLD_NEXT, "random");
    }
    if (!*state) return original();
    *state = *state * 6364136223846793005ULL + 1442695040888963407ULL;
    return *state >> 33;
}

int rand(void) {
    return (int)random();
}
