/* Stores words over the memory that the host's processes share, at random instants, as a stray pointer would: the
 * environment says by which seed (STRAY_WRITES=SEED) and from where (a partition for even seeds, a thread for odd ones). */
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static uint64_t state, *board;
static size_t words;
static long left = -1;

static uint64_t below(uint64_t limit)
{
    state += 0x9e3779b97f4a7c15u;
    uint64_t z = (state ^ (state >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return (z ^ (z >> 31)) % limit;
}

static void find_board(void)
{
    FILE *maps = fopen("/proc/self/maps", "r");
    char line[512];
    while (maps && fgets(line, sizeof line, maps)) {
        unsigned long from, to;
        if (strstr(line, "/memfd:vecud (deleted)") && sscanf(line, "%lx-%lx rw", &from, &to) == 2) {
            board = (uint64_t *)from;
            words = (to - from) / 8;
        }
    }
    if (maps) fclose(maps);
}

static uint64_t word(void)
{
    switch (below(8)) {
    case 0: case 1: return 0xbff0000000000000u;
    case 2: return UINT64_MAX;
    case 3: return 0;
    case 4: return below(16);
    case 5: return (uint64_t)INT64_MAX + below(2);
    case 6: return below(UINT64_MAX) >> below(64);
    default: return below(UINT64_MAX);
    }
}

static void store(void)
{
    if (!board) find_board();
    for (uint64_t stores = board ? 1 + below(4) : 0; stores > 0; stores--) {
        size_t at = (size_t)below(below(3) == 0 && words > 600 ? 600 : words);
        /* Most of the memory is empty: every other store goes where something is. */
        for (size_t steps = below(2) ? words : 0; steps > 0 && board[at] == 0; steps--) at = (at + 1) % words;
        size_t length = (size_t)(below(3) ? 1 : below(4) ? 1 + below(64) : 1 + below(4096));
        uint64_t value = word();
        for (int same = (int)below(2); length > 0 && at < words; length--, at++)
            ((volatile uint64_t *)board)[at] = same ? value : word();
    }
}

static void *on_a_thread(void *nothing)
{
    for (uint64_t times = 1 + below(3); times > 0; times--) {
        usleep((useconds_t)below(60000));
        store();
    }
    return nothing;
}

__attribute__((constructor)) static void begin(void)
{
    const char *seed = getenv("STRAY_WRITES");
    pthread_t thread;
    if (!seed) return;
    state = strtoull(seed, NULL, 10);
    if (state % 2 == 0)
        left = (long)below(100);
    else if (pthread_create(&thread, NULL, on_a_thread, NULL) == 0)
        pthread_detach(thread);
}

/* Each activation comes by here. */
void stray_writes(void)
{
    if (left >= 0 && left-- == 0) {
        store();
        left = below(3) ? -1 : (long)below(50);
    }
}
