/* The test FMU `draft_clocks`: what an SE FMU of the draft dialect of FMI 3.0 does with clocks, as its parameters say, and
 * a trace of every call. It exports only what it needs, as the draft allows.
 *
 *   base              every 10 ms; ticks out (every out_every) and out_late (every late_every) in one callback
 *   urgent, middle,   three members of the union of out
 *   last
 *   late              the union of out_late, which has a delay
 *   bank[1..3]        an array clock, periodic, not strict; element i ticks out_each[i]
 *   each[1..3]        the union of out_each, element by element
 *   outside           for the rig to trigger
 *
 * In the trace, `clock` is the clock of an activation, `vr` its element; in "arm", an interval that was set. */

#ifndef fmu_h
#define fmu_h

#include "fmi3Functions.h"
#include "trace.h"
#include <stdatomic.h>
#include <stdbool.h>

enum vr {
    NO_CLOCK = 0,
    BASE = 1,
    URGENT = 2,
    BANK = 6,
    OUT = 10,
    OUT_LATE = 11,
    OUT_EACH = 12,
};
#define ELEMENTS 3

enum misbehaviour {
    INTERVAL_FAILS = 1,
    UPDATE_IN_GET_CLOCK = 2,
    UPDATE_ON_THREAD = 3,
    UPDATE_IN_TERMINATE = 4,
    TICK_BEFORE = 5,
    TICK_AT_NO_TIME = 6,
    NULL_POINTERS = 7,
    TICK_IN_LOCK = 8,
    PAYLOAD_FAILS = 9,
};

struct fmu {
    char *name, *trace_file;
    fmi3InstanceEnvironment environment;
    fmi3CallbackLogMessage log_message;
    fmi3CallbackIntermediateUpdate intermediate_update;
    fmi3CallbackLockPreemption lock;
    fmi3CallbackUnlockPreemption unlock;
    struct trace trace;

    int32_t out_every, late_every, misbehave, burn_us, bank_burn_us;
    double delay, offset;
    double in_base, out_base;

    _Atomic uint64_t count_base, count_bank, count_second;
    /* What belongs to output clocks can be read only while they are active: from fmi3GetClock to the end of the callback. */
    _Atomic uint64_t payload, payload_second;
    atomic_bool payload_active, payload_second_active;
    uint64_t in_urgent, got_urgent;
    atomic_bool ticked[2 + ELEMENTS]; /* out, out_late, the elements of out_each */
};

/* fmu.c */
void note(struct fmu *fmu, enum trace_what what, enum trace_phase phase, uint32_t clock, uint32_t vr, uint32_t n,
          double time);

#endif
