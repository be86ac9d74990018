/* The test FMU `tracer`: notes every call that it gets, checks what an importer owes it while it runs, and misbehaves
 * on request.
 *
 *   fmu.c         the life of an instance, its activations and output clocks
 *   grid.c        priorities, intervals and shifts of its input clocks
 *   variables.c   one table of all variables; set and get
 *   partitions.c  what a partition does: burn time, sleep, lock, tick
 *   invariants.c  the checks; each breach is counted by kind
 *   states.c      copies of the whole state, to and from bytes
 *   failures.c    errors, hangs and crashes on request
 *   trace.c       the list of events
 *
 * Partitions of one instance preempt each other at any instruction, so everything that two of them touch is atomic. */

#ifndef tracer_h
#define tracer_h

#include "fmi3_base.h"
#include "trace.h"
#include <pthread.h>

/* ---- Clocks. The numbers are their value references. ---- */

enum clock_vr {
    NO_CLOCK = 0,
    FAST = 1,
    EQUAL_A = 2,
    EQUAL_B = 3,
    SLOW = 4,
    HIGH = 5,
    LOW = 6,
    DELAYED = 7,
    OUT_HIGH = 8,
    OUT_LOW = 9,
};
#define FIRST_INPUT_CLOCK FAST
#define LAST_INPUT_CLOCK DELAYED
#define CLOCKS 10
#define ALL_CLOCKS(clock) (uint32_t clock = FIRST_INPUT_CLOCK; clock <= LAST_INPUT_CLOCK; clock++)

/* What modelDescription.xml says. A description with other clocks goes with parameters that say the same. */
struct clock_info {
    const char *name;
    int32_t priority;
    int64_t period_ms; /* 0: not periodic */
};
extern const struct clock_info clock_infos[CLOCKS];

/* ---- Breaches that the FMU notices itself; the numbers are bits of the output `violation_kinds`. ---- */

enum violation {
    ENTERED_INSIDE = 0,     /* a partition began inside one of equal priority, or of higher one that is not asleep */
    WENT_ON_INSIDE = 1,     /* a partition went on while one of higher priority was active and not asleep */
    ENTERED_LOCKED = 2,     /* a partition began inside a locked section */
    WENT_ON_LOCKED = 3,     /* a partition went on inside a locked section of another */
    LOCK_NOT_EXCLUSIVE = 4, /* lockPreemption returned although another thread held the lock */
    TIME_NOT_INCREASING = 5,
    OFF_GRID = 6,           /* a periodic clock's activation time is not the double nearest to k * period */
    GET_AFTER_SET = 7,      /* no activation in between */
    FOREIGN_ACCESS = 8,     /* a variable was set or read by a task of another clock */
    GET_CLOCK_REENTERED = 9,
    OUTSIDE_UPDATE = 10,    /* fmi3GetClock, or fmi3GetInterval*, outside of a clock update (and of initialization) */
    UPDATE_INCOMPLETE = 11, /* a clock update without reading all output clocks and countdown intervals */
    CALL_AFTER_END = 12,    /* a call after fmi3Terminate, or after an error */
    WRONG_STATE = 13,       /* a call that the state does not allow, before the end */
    WRONG_DELAY = 14,       /* `delayed` is activated at another time than asked for */
    TORN_ARRAY = 15,        /* expect_uniform_array, and the elements of in_array differ */
    FLOATING_POINT_MODE = 16, /* a call begins with control words that another FMU has left behind */
    STATE_WHILE_ACTIVE = 17, /* a function of states, or fmi3Reset, while a partition is active or preempted */
    FOREIGN_STATE = 18,      /* a state that is not this instance's, or was freed */
    STATE_LEFT = 19          /* fmi3FreeInstance with states that were not freed */
};

/* ---- Variables ---- */

#define ARRAY_LENGTH 64
#define TEXT_SIZE 256
#define BINARY_SIZE 64
#define PATH_SIZE 4096
#define DUES 1024

struct text {
    char bytes[TEXT_SIZE];
};

struct blob {
    size_t size;
    uint8_t bytes[BINARY_SIZE];
};

/* The variables of one direction: each output repeats the input of the same name. */
struct values {
    double f64, array[ARRAY_LENGTH];
    int32_t i32;
    bool boolean;
    float f32;
    int8_t i8;
    uint8_t u8;
    int16_t i16;
    uint16_t u16;
    uint32_t u32;
    int64_t i64;
    uint64_t u64;
    int64_t choice;
    struct text text;
    struct blob blob;
};

/* What the partition of one clock does. "Every n" counts its activations; 0 is never. Times are microseconds: of
 * processor time for "burn" and "lock", of wall-clock time for "sleep". */
struct partition_settings {
    int32_t burn_us;
    int32_t lock_every, lock_us, lock_sleep_us;
    int32_t sleep_every, sleep_us;
    int32_t tick_high_every, tick_low_every;
    bool lock_nested, tick_in_lock;
};

/* What the description says of an input clock. It ticks at start + (shift + k * counter) / resolution; counter 0: it is not
 * periodic. */
struct grid {
    int32_t priority;
    bool adjustable; /* fixed or tunable: the importer has to say the interval */
    int64_t counter, resolution, shift;
};

struct settings {
    char trace_file[PATH_SIZE];
    int32_t trace_capacity;
    bool lock_in_get_clock, update_in_get_clock, count_up, expect_uniform_array;
    int32_t arm_every, log_every, cost_rounds;
    double arm_interval;
    int32_t fail_kind, fail_clock, fail_at, fail_function;
    struct partition_settings partition[CLOCKS];
    struct grid grid[CLOCKS];
};

/* ---- An instance ---- */

struct tracer {
    struct fmu_base base; /* first: see fmi3_base.h */
    struct tracer *next;  /* all instances of the process, for the flush at exit */
    struct trace trace;

    struct saved *states; /* those that were not freed */

    /* From here to `active` is the state. */
    struct settings settings;
    struct values in, out;

    /* Outputs. */
    _Atomic uint64_t counts[CLOCKS]; /* activations of input clocks; ticks of output clocks */
    double times[CLOCKS];    /* last activation time of each input clock */
    double lock_pair_ns, bare_pair_ns; /* cost.c */
    bool sleeps; /* some partition is asked to sleep */
    bool told[CLOCKS]; /* its interval */
    uint32_t not_below[CLOCKS], above[CLOCKS]; /* bit per clock of equal or higher, of higher priority */
    _Atomic uint64_t activations, violations, violation_kinds, resumed_early, entered_early, high_inside;
    _Atomic double time;

    /* Ticks and the countdown, until the importer asks. */
    atomic_bool ticked[CLOCKS];
    atomic_bool arm_pending;
    bool armed_once;
    double armed_at, armed_interval;
    double dues[DUES]; /* of delayed, in a ring: a passed one is activated though a later one is armed */
    unsigned next_due;

    bool activated[CLOCKS];
    _Atomic uint64_t reads[CLOCKS]; /* of output clocks and of the countdown interval */
    _Atomic int calls[16];          /* per enum fail_function */

    /* What the checks look at. */
    _Atomic uint32_t active, asleep; /* bit per clock */
    _Atomic uint64_t all_violations, all_kinds; /* of all runs of the instance */
    _Atomic uintptr_t holder;        /* pthread_self of the thread between lock and unlock */
    int lock_depth;                  /* of the holder */
    _Atomic uintptr_t task[CLOCKS];  /* thread of the last activation */
    _Atomic uintptr_t setter[CLOCKS]; /* thread that has set and not yet activated, or 0 */
    _Atomic int inside_update, inside_get_clock;
};

/* One activation, as its partition's code passes it around. */
struct activation {
    uint32_t clock;
    double time;
    uint64_t number;   /* 1 for the first */
    uint32_t reported; /* bit per violation: each at most once per activation */
};

/* variables.c */
void variables_reset(struct tracer *fmu);
void variables_compute(struct tracer *fmu, uint32_t clock, uint64_t number);

/* partitions.c */
void partition_run(struct tracer *fmu, struct activation *activation);
void lock(struct tracer *fmu, struct activation *activation);
void unlock(struct tracer *fmu, struct activation *activation);

/* grid.c */
void grid_reset(struct tracer *fmu);
bool grid_prepare(struct tracer *fmu);
bool on_grid(const struct tracer *fmu, uint32_t clock, double time);

/* invariants.c */
void violated(struct tracer *fmu, uint32_t clock, enum violation kind);
void check_call(struct tracer *fmu);
void check_entry(struct tracer *fmu, struct activation *activation);
void check_point(struct tracer *fmu, struct activation *activation);
void check_access(struct tracer *fmu, uint32_t clock, bool setting);

/* cost.c */
void measure_lock(struct tracer *fmu);

/* failures.c. The numbers are those of the parameters fail_kind and fail_function. */
enum fail_function {
    FAIL_ACTIVATE = 0,
    FAIL_INSTANTIATE = 1, /* by the instance's name only: parameters come later */
    FAIL_ENTER_INIT = 2,
    FAIL_EXIT_INIT = 3,
    FAIL_SET = 4,
    FAIL_GET = 5,
    FAIL_GET_CLOCK = 6,
    FAIL_GET_INTERVAL = 7,
    FAIL_TERMINATE = 8,
    FAIL_GET_STATE = 9,
    FAIL_SET_STATE = 10,
    FAIL_SERIALIZE = 11,
    FAIL_DESERIALIZE = 12,
    FAIL_RESET = 13,
    FAIL_STATE_SIZE = 14,
    FAIL_FREE_STATE = 15,
};
fmi3Status fail_in_function(struct tracer *fmu, enum fail_function function);
fmi3Status fail_in_activation(struct tracer *fmu, const struct activation *activation);
bool fail_by_name(const char *instance_name);

/* fmu.c */
void flush(struct tracer *fmu, const char *reason);
void flush_all(const char *reason);
void trace_begin(struct tracer *fmu, enum trace_what what, uint32_t clock, uint32_t vr, uint32_t n, double time);
fmi3Status trace_end(struct tracer *fmu, enum trace_what what, uint32_t clock, uint32_t vr, uint32_t n, double time,
                     uint64_t hash, fmi3Status status);

/* states.c */
void states_release(struct tracer *fmu);
void nobody_inside(struct tracer *fmu);

static inline uintptr_t this_thread(void)
{
    return (uintptr_t)pthread_self();
}

#endif
