/* A Co-Simulation FMU that mixes everything which it is given into a number: communication points, step sizes, inputs, and
 * what it had before. A single value that comes one step too early or too late changes all that follow, here and in whoever
 * reads it. Steps that do not follow one another are an error (fmi3_steps.c).
 *
 * `burn_us` keeps the core busy for so long in each step, by the processor time of the thread. With `fail_kind` something goes
 * wrong in the step that begins at `fail_at` or is the first after it. */

#include "fmi3_model.h"
#include "mixing.h"
#include <math.h>
#include <stdlib.h>

const char model_token[] = "{vecud-stepper-1}";

enum { INPUTS = 3 };

enum fail_kind {
    FAIL_NOT,
    FAIL_WARNING,
    FAIL_DISCARD,
    FAIL_ERROR,
    FAIL_FATAL,
    FAIL_TERMINATE,
    FAIL_HANG,
    FAIL_CRASH,
    FAIL_OFF_THE_POINT,
    FAIL_NAN,
    FAIL_ONE_LONG_STEP, /* 20 ms */
};

struct stepper {
    struct fmu_base base;
    double time;
    double inputs[INPUTS];
    uint64_t salt, burn_us, fail_kind;
    double fail_at;
    uint64_t state, steps;
    double x, longest;
};

const size_t model_size = sizeof(struct stepper);

#define AT(member) offsetof(struct stepper, member)
const struct fmu_variable model_variables[] = {
    {0, FMU_FLOAT64, FMU_INDEPENDENT, AT(time)},
    {10, FMU_FLOAT64, FMU_INPUT, AT(inputs[0])},
    {11, FMU_FLOAT64, FMU_INPUT, AT(inputs[1])},
    {12, FMU_FLOAT64, FMU_INPUT, AT(inputs[2])},
    {20, FMU_FLOAT64, FMU_OUTPUT, AT(x)},
    {21, FMU_UINT64, FMU_OUTPUT, AT(steps)},
    {22, FMU_FLOAT64, FMU_OUTPUT, AT(longest)},
    {30, FMU_UINT64, FMU_FIXED, AT(salt)},
    {31, FMU_UINT64, FMU_FIXED, AT(burn_us)},
    {32, FMU_FLOAT64, FMU_FIXED, AT(fail_at)},
    {33, FMU_UINT64, FMU_FIXED, AT(fail_kind)},
};
const size_t model_variable_count = sizeof model_variables / sizeof *model_variables;

void model_set_start_values(void *model)
{
    (void)model;
}

void model_initialize(void *model, double start_time)
{
    struct stepper *stepper = model;
    stepper->time = start_time;
    stepper->state = stepper->salt;
}

static fmi3Status failure(struct stepper *stepper, struct fmu_step *step)
{
    switch ((enum fail_kind)stepper->fail_kind) {
    case FAIL_WARNING: return fmu_log(&stepper->base, fmi3Warning, "a warning, as it was told");
    case FAIL_DISCARD: return fmu_log(&stepper->base, fmi3Discard, "no such step, as it was told");
    case FAIL_ERROR: return fmu_log(&stepper->base, fmi3Error, "an error, as it was told");
    case FAIL_FATAL: return fmu_log(&stepper->base, fmi3Fatal, "a fatal error, as it was told");
    case FAIL_TERMINATE: step->terminate = true; return fmi3OK;
    case FAIL_HANG:
        for (volatile bool forever = true; forever;) {
        }
        return fmi3OK;
    case FAIL_CRASH: abort();
    case FAIL_OFF_THE_POINT:
        step->lies = true;
        step->said = step->point + 0.5 * step->size;
        return fmi3OK;
    case FAIL_NAN: stepper->x = NAN; return fmi3OK;
    case FAIL_ONE_LONG_STEP: burn(20000); return fmi3OK;
    case FAIL_NOT: break;
    }
    return fmi3OK;
}

fmi3Status model_step(void *model, struct fmu_step *step)
{
    struct stepper *stepper = model;
    stepper->state = with(with(stepper->state, step->point), step->size);
    for (size_t i = 0; i < INPUTS; i++) stepper->state = with(stepper->state, stepper->inputs[i]);
    stepper->time = step->reached;
    stepper->steps++;
    stepper->x = (double)(stepper->state >> 11) / 9007199254740992.0;
    if (step->size > stepper->longest) stepper->longest = step->size;
    if (stepper->burn_us > 0) burn(stepper->burn_us);
    if (stepper->fail_kind == FAIL_NOT || step->point < stepper->fail_at) return fmi3OK;
    fmi3Status status = failure(stepper, step);
    stepper->fail_kind = FAIL_NOT;
    return status;
}
