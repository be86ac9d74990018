/* Six partitions that share nothing. Each has a number of its own that every activation mixes with the activation time;
 * its outputs are that number as a fraction, and how often it was activated. Whoever schedules them, in whatever order:
 * the same activation times give the same outputs, bit for bit, and a lost, doubled or shifted activation changes all
 * that follow.
 *
 * Partition d ticks out_high in its midst, inside a locked section, every second time; a ticks out_low every third. */

#include "fmi3_model.h"
#include <string.h>

const char model_token[] = "{vecud-own-state-1}";

enum clock { EVENT = 1, A = 2, B = 3, C = 4, D = 5, LATER = 6, PARTITIONS = 7, OUT_HIGH = 8, OUT_LOW = 9 };

struct partition {
    uint64_t state, activations;
    double x;
};

struct own_state {
    struct fmu_base base;
    double time;
    struct partition partitions[PARTITIONS]; /* by clock */
    fmu_tick out_high, out_low;
};

const size_t model_size = sizeof(struct own_state);

#define X(clock) {10 + clock, FMU_FLOAT64, FMU_OUTPUT, offsetof(struct own_state, partitions[clock].x)}
#define N(clock) {20 + clock, FMU_UINT64, FMU_OUTPUT, offsetof(struct own_state, partitions[clock].activations)}
const struct fmu_variable model_variables[] = {
    {0, FMU_FLOAT64, FMU_INDEPENDENT, offsetof(struct own_state, time)},
    {EVENT, FMU_INPUT_CLOCK, FMU_CLOCK, 0},
    {A, FMU_INPUT_CLOCK, FMU_CLOCK, 0},
    {B, FMU_INPUT_CLOCK, FMU_CLOCK, 0},
    {C, FMU_INPUT_CLOCK, FMU_CLOCK, 0},
    {D, FMU_INPUT_CLOCK, FMU_CLOCK, 0},
    {LATER, FMU_INPUT_CLOCK, FMU_CLOCK, 0},
    {OUT_HIGH, FMU_OUTPUT_CLOCK, FMU_CLOCK, offsetof(struct own_state, out_high)},
    {OUT_LOW, FMU_OUTPUT_CLOCK, FMU_CLOCK, offsetof(struct own_state, out_low)},
    X(EVENT), X(A), X(B), X(C), X(D), X(LATER), N(EVENT), N(A), N(B), N(C), N(D), N(LATER),
};
const size_t model_variable_count = sizeof model_variables / sizeof *model_variables;

void model_set_start_values(void *model)
{
    struct own_state *fmu = model;
    for (uint64_t clock = 0; clock < PARTITIONS; clock++) fmu->partitions[clock].state = clock;
}

void model_initialize(void *model, double start_time)
{
    ((struct own_state *)model)->time = start_time;
}

/* SplitMix64. */
static uint64_t mix(uint64_t z)
{
    z += 0x9e3779b97f4a7c15u;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
}

void model_activate(void *model, fmi3ValueReference clock, double time)
{
    struct own_state *fmu = model;
    struct partition *own = &fmu->partitions[clock];
    uint64_t bits;
    memcpy(&bits, &time, sizeof bits);
    own->state = mix(own->state ^ bits);
    own->activations++;
    own->x = (double)(own->state >> 11) / 9007199254740992.0;
    if (clock == D && own->activations % 2 == 0) {
        fmu_lock(fmu);
        fmu->out_high = true;
        fmu_clock_update(fmu);
        fmu_unlock(fmu);
    }
    if (clock == A && own->activations % 3 == 0) {
        fmu->out_low = true;
        fmu_clock_update(fmu);
    }
}

/* Fixed clocks: the importer says how long their intervals are. They are kept by who activates, not here. */
fmi3Status fmi3SetIntervalDecimal(fmi3Instance instance, const fmi3ValueReference valueReferences[],
                                  size_t nValueReferences, const fmi3Float64 intervals[])
{
    struct fmu_base *base = instance;
    bool allowed = base->state == FMU_INSTANTIATED || base->state == FMU_INITIALIZATION;
    for (size_t i = 0; i < nValueReferences; i++)
        if (!allowed || valueReferences[i] < A || valueReferences[i] > D || !(intervals[i] > 0.0))
            return fmu_log(base, fmi3Error, "fmi3SetIntervalDecimal: not this clock, not this value, or not now.");
    return fmi3OK;
}

fmi3Status fmi3SetShiftDecimal(fmi3Instance instance, const fmi3ValueReference valueReferences[],
                               size_t nValueReferences, const fmi3Float64 shifts[])
{
    struct fmu_base *base = instance;
    (void)valueReferences, (void)shifts, (void)nValueReferences;
    return base->state == FMU_INSTANTIATED || base->state == FMU_INITIALIZATION ? fmi3OK : fmi3Error;
}
