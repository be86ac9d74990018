/* Clocks that share nothing but who of them has begun, and when. */

#include "fmi3_model.h"
#include <time.h>

#define CLOCKS @CLOCKS@

const char model_token[] = "{levels}";

static const int intervals[CLOCKS] = {@INTERVALS@};
static const int shifts[CLOCKS] = {@SHIFTS@};

struct own {
    uint64_t n;         /* activations */
    uint64_t early;     /* began although a more urgent one of the same instant had not */
    uint64_t over_next; /* began while the next less urgent one was active */
    uint64_t over;      /* began while a less urgent one was active */
    _Atomic long begun; /* time of the last activation, us */
    _Atomic int active;
};

struct levels {
    struct fmu_base base;
    double time;
    struct own own[CLOCKS];
};

const size_t model_size = sizeof(struct levels);

#define CLOCK(i) {i + 1, FMU_INPUT_CLOCK, FMU_CLOCK, 0}
#define OUTPUT(i, base, what) {base + i, FMU_UINT64, FMU_OUTPUT, offsetof(struct levels, own[i].what)}
#define OF(i)                                                                                                          \
    CLOCK(i), OUTPUT(i, 1000, n), OUTPUT(i, 2000, early), OUTPUT(i, 3000, over_next), OUTPUT(i, 4000, over)

const struct fmu_variable model_variables[] = {
    {0, FMU_FLOAT64, FMU_INDEPENDENT, offsetof(struct levels, time)},
    @VARIABLES@
};
const size_t model_variable_count = sizeof model_variables / sizeof *model_variables;

void model_set_start_values(void *model)
{
    for (int i = 0; i < CLOCKS; i++) ((struct levels *)model)->own[i].begun = -1;
}

void model_initialize(void *model, double start_time)
{
    ((struct levels *)model)->time = start_time;
}

void model_activate(void *model, fmi3ValueReference clock, double time)
{
    struct levels *fmu = model;
    int me = (int)clock - 1;
    long now = (long)(time * 1e6 + 0.5);
    struct own *own = &fmu->own[me];
    own->n++;
    for (int i = 0; i < me; i++) {
        long since = now - shifts[i] * 1000L;
        if (since >= 0 && since % (intervals[i] * 1000L) == 0 && fmu->own[i].begun < now) own->early++;
    }
    int over = 0;
    for (int i = me + 1; i < CLOCKS; i++) over |= fmu->own[i].active;
    own->over += over;
    if (me + 1 < CLOCKS) own->over_next += fmu->own[me + 1].active;
    own->begun = now;
    own->active = 1;
    if (me == CLOCKS - 1) nanosleep(&(struct timespec){.tv_nsec = 8000000}, NULL);
    own->active = 0;
}
