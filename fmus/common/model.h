/* ThreeInputClocks: the example of the standard's draft for Scheduled Execution (5.2.3 of the text of January 2021), as
 * an FMU of either dialect from one source.
 *
 *   model.c             the model, its variables, its trace and its checks; the same file in both FMUs
 *   dialect.c, .h       what the two dialects do not share: instantiation, callbacks, arguments of clock functions
 *   trace.c             the list of events; the tracer's
 *
 *   every 10 ms         AOut = AIn1 + AIn2; every second time, from the first on, OutClock ticks within it
 *   AperiodicClock      BOut = BIn; meant to be activated by OutClock
 *   every 50 ms         nothing but time
 *
 * The partitions spend processor time as parameters say, by default none. The figure of the text has, in milliseconds: 10 ms
 * partition 3.4, OutClock ticks 2.0 after its start (tick_at is 0.6), aperiodic partition 8.2 and then 5.3, 50 ms
 * partition 6.2. */

#ifndef model_h
#define model_h

#include "dialect.h"
#include "trace.h"
#include <stdatomic.h>
#include <stdint.h>

/* Value references; those of the text are the first nine. */
enum vr {
    A_IN_1 = 0,
    A_IN_2 = 1,
    A_OUT = 2,
    B_IN = 3,
    B_OUT = 4,
    CLOCK_10MS = 5,
    CLOCK_APERIODIC = 6,
    OUT_CLOCK = 7,
    CLOCK_50MS = 8,
    TIME = 9,
    VIOLATIONS = 10,
    BURN_10MS = 20, /* microseconds of processor time */
    BURN_APERIODIC_FIRST = 21,
    BURN_APERIODIC = 22, /* from the second activation on */
    BURN_50MS = 23,
    TICK_EVERY = 24, /* OutClock ticks in every n-th activation from the first on; 0: never */
    TICK_AT = 25,    /* after which part of burn_10ms_us */
    TRACE_FILE = 26, /* no trace if empty */
    TRACE_CAPACITY = 27,
};
#define CLOCKS 9 /* size of lists that value references of clocks index */
#define NO_CLOCK TIME
#define PATH_SIZE 4096

/* Breaches that the FMU notices itself; the numbers are bits of `kinds` in the trace. Up to 16 they are the tracer's. */
enum violation {
    ENTERED_INSIDE = 0, /* a partition began inside one of equal or higher priority */
    WENT_ON_INSIDE = 1, /* a partition went on while one of higher priority was active */
    TIME_NOT_INCREASING = 5,
    OFF_GRID = 6,
    GET_AFTER_SET = 7,      /* no activation in between */
    OUTSIDE_UPDATE = 10,    /* a tick or an interval was read outside of the importer's callback */
    UPDATE_INCOMPLETE = 11, /* the callback did not read OutClock */
    CALL_AFTER_END = 12,
    WRONG_STATE = 13,
    READ_TWICE = 32,     /* OutClock was read a second time in one callback */
    WRONG_ELEMENT = 33,  /* draft: an element of a clock that is a scalar */
    WRONG_RESOURCE = 34, /* draft: the resource location is no URI of a file */
};

struct model {
    struct fmu_base base; /* first: an fmi3Instance may be read as a pointer to it */
    struct trace trace;

    double a_in[2], a_out, b_in, b_out;
    _Atomic double time;
    int32_t burn_10ms_us, burn_aperiodic_first_us, burn_aperiodic_us, burn_50ms_us, tick_every, trace_capacity;
    double tick_at;
    char trace_file[PATH_SIZE];

    atomic_bool ticked; /* OutClock, until the importer reads it */
    uint64_t counts[CLOCKS];
    double times[CLOCKS];
    bool unprocessed[CLOCKS]; /* set, and not yet activated */

    _Atomic uint32_t active; /* bit per input clock */
    _Atomic int inside_update;
    _Atomic uint64_t reads; /* of OutClock */
    _Atomic uint64_t violations, violation_kinds;
};

/* ---- For dialect.c ---- */

bool model_create(struct model *model);
void model_note(struct model *model, enum trace_what what, enum trace_phase phase, uint32_t clock, uint32_t vr,
                double time);
void model_violated(struct model *model, uint32_t clock, enum violation kind);
fmi3Status model_activate(struct model *model, uint32_t clock, double time);
fmi3Status model_get_clock(struct model *model, const fmi3ValueReference vrs[], size_t n, fmi3Clock values[]);

/* ---- Provided by dialect.c ---- */

/* Tells the importer that OutClock has ticked at `time`. */
void dialect_ticked(struct model *model, double time);

#endif
