/* One partition that mixes everything which it is given into a number: activation times, inputs, and what it had before.
 * A single value that comes one activation too early or too late changes all that follow, here and in whoever reads it.
 *
 * `burn_us` keeps the core busy for so long in each activation, by the processor time of the thread. */

#include "fmi3_model.h"
#include "mixing.h"

const char model_token[] = "{vecud-mixer-1}";

enum { STEP = 1, INPUTS = 3 };

struct mixer {
    struct fmu_base base;
    double time;
    double inputs[INPUTS];
    uint64_t salt, burn_us;
    uint64_t state, activations;
    double x;
};

const size_t model_size = sizeof(struct mixer);

#define AT(member) offsetof(struct mixer, member)
const struct fmu_variable model_variables[] = {
    {0, FMU_FLOAT64, FMU_INDEPENDENT, AT(time)},
    {STEP, FMU_INPUT_CLOCK, FMU_CLOCK, 0},
    {10, FMU_FLOAT64, FMU_INPUT, AT(inputs[0])},
    {11, FMU_FLOAT64, FMU_INPUT, AT(inputs[1])},
    {12, FMU_FLOAT64, FMU_INPUT, AT(inputs[2])},
    {20, FMU_FLOAT64, FMU_OUTPUT, AT(x)},
    {21, FMU_UINT64, FMU_OUTPUT, AT(activations)},
    {30, FMU_UINT64, FMU_FIXED, AT(salt)},
    {31, FMU_UINT64, FMU_FIXED, AT(burn_us)},
};
const size_t model_variable_count = sizeof model_variables / sizeof *model_variables;

void model_set_start_values(void *model)
{
    (void)model;
}

void model_initialize(void *model, double start_time)
{
    struct mixer *mixer = model;
    mixer->time = start_time;
    mixer->state = mixer->salt;
}

void model_activate(void *model, fmi3ValueReference clock, double time)
{
    struct mixer *mixer = model;
    (void)clock;
    mixer->time = time;
    mixer->state = with(mixer->state, time);
    for (size_t i = 0; i < INPUTS; i++) mixer->state = with(mixer->state, mixer->inputs[i]);
    mixer->activations++;
    mixer->x = (double)(mixer->state >> 11) / 9007199254740992.0;
    if (mixer->burn_us > 0) burn(mixer->burn_us);
}

/* A fixed clock: the importer says how long its interval is. Who activates keeps it, not this. */
fmi3Status fmi3SetIntervalDecimal(fmi3Instance instance, const fmi3ValueReference valueReferences[],
                                  size_t nValueReferences, const fmi3Float64 intervals[])
{
    struct fmu_base *base = instance;
    bool allowed = base->state == FMU_INSTANTIATED || base->state == FMU_INITIALIZATION;
    for (size_t i = 0; i < nValueReferences; i++)
        if (!allowed || valueReferences[i] != STEP || !(intervals[i] > 0.0))
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
