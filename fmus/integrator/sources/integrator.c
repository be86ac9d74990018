/* y' = gain u, y(start) = y_0: exact for an input that is held over each step, so what a co-simulation makes of it is known in
 * closed form. */

#include "fmi3_model.h"

const char model_token[] = "{vecud-integrator-1}";

struct integrator {
    struct fmu_base base;
    double time, u, y, gain, y_0;
};

const size_t model_size = sizeof(struct integrator);

#define AT(member) offsetof(struct integrator, member)
const struct fmu_variable model_variables[] = {
    {0, FMU_FLOAT64, FMU_INDEPENDENT, AT(time)}, {10, FMU_FLOAT64, FMU_INPUT, AT(u)},
    {20, FMU_FLOAT64, FMU_OUTPUT, AT(y)},        {30, FMU_FLOAT64, FMU_FIXED, AT(gain)},
    {31, FMU_FLOAT64, FMU_FIXED, AT(y_0)},
};
const size_t model_variable_count = sizeof model_variables / sizeof *model_variables;

void model_set_start_values(void *model)
{
    struct integrator *own = model;
    own->gain = 1.0;
}

void model_initialize(void *model, double start_time)
{
    struct integrator *own = model;
    own->time = start_time;
    own->y = own->y_0;
}

fmi3Status model_step(void *model, struct fmu_step *step)
{
    struct integrator *own = model;
    own->y += own->gain * own->u * step->size;
    own->time = step->reached;
    return fmi3OK;
}
