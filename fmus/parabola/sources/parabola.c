/* A Co-Simulation FMU whose outputs are polynomials of time, so that their derivatives are exact: y = t^2, z = 3 t. A derivative
 * of an order that there is none of is 0; one before the first step is refused, as is that of another variable. */

#include "fmi3_model.h"

const char model_token[] = "{vecud-parabola-1}";

enum { Y = 1, Z = 2, D = 3, U = 10 };

struct parabola {
    struct fmu_base base;
    double time, y, z, d, u;
    bool has_stepped;
};

const size_t model_size = sizeof(struct parabola);

#define AT(member) offsetof(struct parabola, member)
const struct fmu_variable model_variables[] = {
    {0, FMU_FLOAT64, FMU_INDEPENDENT, AT(time)},
    {Y, FMU_FLOAT64, FMU_OUTPUT, AT(y)},
    {Z, FMU_FLOAT64, FMU_OUTPUT, AT(z)},
    {D, FMU_FLOAT64, FMU_OUTPUT, AT(d)},
    {U, FMU_FLOAT64, FMU_INPUT, AT(u)},
};
const size_t model_variable_count = sizeof model_variables / sizeof *model_variables;

static void be_at(struct parabola *parabola, double time)
{
    parabola->time = time;
    parabola->y = parabola->d = time * time;
    parabola->z = 3.0 * time;
}

void model_set_start_values(void *model)
{
    (void)model;
}

void model_initialize(void *model, double start_time)
{
    be_at(model, start_time);
}

fmi3Status model_step(void *model, struct fmu_step *step)
{
    struct parabola *parabola = model;
    be_at(parabola, step->reached);
    parabola->has_stepped = true;
    return fmi3OK;
}

fmi3Status fmi3GetOutputDerivatives(fmi3Instance instance, const fmi3ValueReference valueReferences[],
                                    size_t nValueReferences, const fmi3Int32 orders[], fmi3Float64 values[],
                                    size_t nValues)
{
    struct parabola *parabola = instance;
    if (!parabola->has_stepped || nValues != nValueReferences)
        return fmu_log(&parabola->base, fmi3Error, "fmi3GetOutputDerivatives: before a step, or of too few values.");
    for (size_t i = 0; i < nValueReferences; i++) {
        if (valueReferences[i] != Y && valueReferences[i] != Z)
            return fmu_log(&parabola->base, fmi3Error, "fmi3GetOutputDerivatives: of what is no continuous output.");
        double of_y = orders[i] == 1 ? 2.0 * parabola->time : orders[i] == 2 ? 2.0 : 0.0;
        double of_z = orders[i] == 1 ? 3.0 : 0.0;
        values[i] = valueReferences[i] == Y ? of_y : of_z;
    }
    return fmi3OK;
}
