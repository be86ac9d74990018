/* A four-cylinder petrol engine (engine.h) for Co-Simulation: one step advances manifold, torque and crankshaft, with the
 * actuators as they are at its begin. Inside, steps of more than a millisecond are made of several. */

#include "engine.h"
#include "fmi3_model.h"
#include <math.h>

const char model_token[] = "{vecud-engine-cs-1}";

static const double internal_step = 1e-3; /* s, at most */

struct plant {
    struct fmu_base base;
    struct engine engine;
    double time;
};

const size_t model_size = sizeof(struct plant);

#define AT(member) offsetof(struct plant, member)
const struct fmu_variable model_variables[] = {
    {0, FMU_FLOAT64, FMU_INDEPENDENT, AT(time)},
    {10, FMU_FLOAT64, FMU_INPUT, AT(engine.throttle)},
    {11, FMU_FLOAT64, FMU_INPUT, AT(engine.spark_advance)},
    {12, FMU_FLOAT64, FMU_INPUT, AT(engine.fuel_mass)},
    {13, FMU_FLOAT64, FMU_INPUT, AT(engine.load_torque)},
    {20, FMU_FLOAT64, FMU_OUTPUT, AT(engine.speed)},
    {21, FMU_FLOAT64, FMU_OUTPUT, AT(engine.manifold_pressure)},
    {22, FMU_FLOAT64, FMU_OUTPUT, AT(engine.torque)},
    {23, FMU_FLOAT64, FMU_OUTPUT, AT(engine.load)},
    {24, FMU_FLOAT64, FMU_OUTPUT, AT(engine.air_flow)},
    {25, FMU_FLOAT64, FMU_OUTPUT, AT(engine.lambda)},
    {26, FMU_FLOAT64, FMU_OUTPUT, AT(engine.crank_angle)},
    {40, FMU_FLOAT64, FMU_FIXED, AT(engine.initial_speed)},
    {41, FMU_FLOAT64, FMU_FIXED, AT(engine.load_step_time)},
    {42, FMU_FLOAT64, FMU_FIXED, AT(engine.load_step_end)},
    {43, FMU_FLOAT64, FMU_FIXED, AT(engine.load_step_torque)},
};
const size_t model_variable_count = sizeof model_variables / sizeof *model_variables;

void model_set_start_values(void *model)
{
    engine_set_start_values(&((struct plant *)model)->engine);
}

void model_initialize(void *model, double start_time)
{
    struct plant *plant = model;
    plant->time = start_time;
    engine_initialize(&plant->engine, start_time);
}

fmi3Status model_step(void *model, struct fmu_step *step)
{
    struct plant *plant = model;
    double parts = fmax(1.0, ceil(step->size / internal_step - 1e-6));
    for (double part = 0.0; part < parts; part++) {
        engine_differentiate(&plant->engine);
        engine_advance(&plant->engine, step->size / parts);
        engine_publish(&plant->engine, step->point + step->size * (part + 1.0) / parts);
    }
    plant->time = step->reached;
    return fmi3OK;
}
