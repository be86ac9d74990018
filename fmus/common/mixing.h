/* What FMUs are made of whose output depends on every value that they ever got. The same file in every FMU that has it. */

#ifndef mixing_h
#define mixing_h

#include <stdint.h>
#include <string.h>
#include <time.h>

/* SplitMix64. */
static inline uint64_t mix(uint64_t z)
{
    z += 0x9e3779b97f4a7c15u;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
}

/* The state after a value. */
static inline uint64_t with(uint64_t state, double value)
{
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    return mix(state ^ bits);
}

/* Keeps the core busy for so long, by the processor time of the thread. */
static inline void burn(uint64_t us)
{
    struct timespec now;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    uint64_t end = (uint64_t)now.tv_sec * 1000000u + (uint64_t)now.tv_nsec / 1000u + us;
    do
        clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    while ((uint64_t)now.tv_sec * 1000000u + (uint64_t)now.tv_nsec / 1000u < end);
}

#endif
