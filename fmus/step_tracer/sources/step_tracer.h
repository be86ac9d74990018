/* The test FMU `step_tracer`: as `tracer` for Scheduled Execution, it notes every call of Co-Simulation that it gets, and checks
 * what an importer owes it.
 *
 *   fmu.c         the life of an instance, its modes
 *   steps.c       fmi3DoStep, events on request, and the checks of both
 *   variables.c   one table of all variables; set and get
 *   trace.c       the list of calls
 *
 * In the trace a step begins at its communication point, with the bits of its size as hash, and ends at the time that it has
 * reached; each value that is set or read is a note with the value's bits as hash. */

#ifndef step_tracer_h
#define step_tracer_h

#include "fmi3_base.h"
#include "trace.h"

/* ---- Breaches; the numbers are bits of the output `violation_kinds`. ---- */

enum violation {
    TWO_AT_ONCE = 0,       /* a call while another thread is inside of the instance */
    HOLE = 1,              /* a step that does not begin where the one before has ended */
    NO_SIZE = 2,           /* a step over no time, or backwards */
    BEYOND_STOP = 3,       /* a step beyond the stop time */
    READ_BEFORE_STEP = 4,  /* an output was read in Step Mode after an input was set, without a step in between */
    WRONG_STATE = 5,       /* a call that the state does not allow */
    CALL_AFTER_END = 6,    /* a call after fmi3Terminate */
    EVENT_NOT_HANDLED = 7, /* a step instead of Event Mode, which was asked for or is due */
    EVENT_PASSED = 8,      /* a step beyond nextEventTime, although its size is the importer's choice */
    EVENT_UNFINISHED = 9,  /* Event Mode was left before it needed no more iteration */
    STEP_VARIED = 10,      /* a step of another size than the first, although that cannot be */
    VIOLATIONS
};

enum mode { BEFORE, EVENT_MODE, STEP_MODE };

enum { INPUTS = 4, PATH_SIZE = 4096 };

struct settings {
    char trace_file[PATH_SIZE];
    uint64_t trace_capacity;
    bool varies;
    uint64_t burn_us, late_us, event_every, early_every, iterations;
    double late_at, event_interval;
};

struct step_tracer {
    struct fmu_base base; /* first: see fmi3_base.h */
    struct trace trace;
    struct settings settings;
    bool has_event_mode, may_return_early;
    _Atomic int inside; /* calls that have not returned */

    enum mode mode;
    bool has_stop;
    double stop;
    double inputs[INPUTS];
    double reached, a_used;
    uint64_t steps, events, violations, violation_kinds;

    bool was_set;           /* since the last step */
    bool wants_event;       /* the last step has asked for Event Mode */
    bool was_early;
    double first_size;      /* 0: there was no step */
    double next_event;      /* INFINITY: none */
    uint64_t open;          /* iterations that this event still needs */
};

/* fmu.c: around each call. */
void enter(struct step_tracer *fmu);
fmi3Status leave(struct step_tracer *fmu, fmi3Status status);
void note(struct step_tracer *fmu, enum trace_what what, enum trace_phase phase, uint32_t vr, double time, uint64_t hash);
void violated(struct step_tracer *fmu, enum violation kind);
uint64_t bits(double value);

/* variables.c */
void variables_reset(struct step_tracer *fmu);

#endif
