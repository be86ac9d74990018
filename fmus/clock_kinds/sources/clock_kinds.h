/* What clock_kinds.c (clocks and partitions) and variables.c (set and get) share. */

#ifndef clock_kinds_h
#define clock_kinds_h

#include "fmi3_base.h"
#include "trace.h"
#include <stdint.h>

enum clock_vr { BASE = 1, TUNABLE_ASKED = 6, OUT = 12 };
#define CLOCKS 12 /* and 0 for none */

struct settings {
    double interval, step, shift;
    uint64_t counter, resolution, counter_step, shift_counter, cycle;
    int32_t burn_us, burn_from;
};

struct state {
    uint64_t count;    /* activations */
    double time;       /* of the last one */
    uint64_t readings; /* of the interval */
    uint64_t armed;    /* countdown: how often */
    atomic_bool pending;
    bool active;
    int unread; /* changing: activations less readings since */
    uintptr_t thread;
    int gets, sets, get_shifts, set_shifts; /* in Initialization Mode */
};

struct model {
    struct fmu_base base;
    struct trace trace;
    char trace_file[4096];
    int32_t trace_capacity, odd_clock, odd_reading, odd_kind, arm_every, tick_every;
    bool known_at_start, lock_in_get_interval;
    struct settings settings[CLOCKS];
    struct state states[CLOCKS];
    _Atomic double time;
    atomic_bool ticked, parameters_changed;
    _Atomic int inside_update;
    _Atomic uint64_t update_reads[CLOCKS + 1];
    _Atomic uint64_t violations, violation_kinds;
};

#endif
