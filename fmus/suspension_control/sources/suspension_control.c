/* A control unit for the adjustable damper of fmus/suspension: two partitions that share no memory. What one knows of the other comes
 * through a connection of the rig, so that every output depends on inputs and activation times only.
 *
 * damper, 1 ms: as if the body hung on a damper from the sky. Where the damper can only push the wrong way, it is as soft as it may be.
 * ride, 10 ms: how rough the ride is, and how unsteadily the wheel stands on the road: the rougher, the stronger that hold from the sky;
 * the more unsteady, the harder the damper at its softest, which keeps the wheel on the road. */

#include "fmi3_model.h"
#include <math.h>

const char model_token[] = "{vecud-suspension-control-1}";

enum clock { DAMPER = 1, RIDE = 2 };

/* ---- Calibration ---- */

static const double period = 0.01;       /* s, of ride */
static const double memory = 0.5;        /* s, how far back ride looks */
static const double rough_ride = 1.0;    /* m/s2, from which on the hold is the strongest */
static const double unsteady_load = 0.5; /* of the load at rest, from which on the damper is kept hardest */

struct control {
    struct fmu_base base;
    double time;
    double load;                        /* N at rest, parameter */
    double weakest_hold, strongest_hold; /* N s/m, parameters */
    double softest, firm, hardest;      /* N s/m, parameters */
    /* Of damper. */
    double body_velocity, wheel_velocity; /* m/s, inputs */
    double hold, floor;                   /* N s/m, inputs */
    double damping;                       /* N s/m, output */
    /* Of ride. */
    double body_acceleration, tyre_force;    /* inputs */
    double roughness, unsteadiness;          /* m/s2; of the load at rest: outputs */
    double wanted_hold, wanted_floor;        /* N s/m, outputs */
};

const size_t model_size = sizeof(struct control);

#define AT(member) offsetof(struct control, member)
const struct fmu_variable model_variables[] = {
    {0, FMU_FLOAT64, FMU_INDEPENDENT, AT(time)},
    {DAMPER, FMU_INPUT_CLOCK, FMU_CLOCK, 0},
    {RIDE, FMU_INPUT_CLOCK, FMU_CLOCK, 0},
    {10, FMU_FLOAT64, FMU_INPUT, AT(body_velocity)},
    {11, FMU_FLOAT64, FMU_INPUT, AT(wheel_velocity)},
    {12, FMU_FLOAT64, FMU_INPUT, AT(hold)},
    {13, FMU_FLOAT64, FMU_INPUT, AT(floor)},
    {14, FMU_FLOAT64, FMU_INPUT, AT(body_acceleration)},
    {15, FMU_FLOAT64, FMU_INPUT, AT(tyre_force)},
    {20, FMU_FLOAT64, FMU_OUTPUT, AT(damping)},
    {21, FMU_FLOAT64, FMU_OUTPUT, AT(roughness)},
    {22, FMU_FLOAT64, FMU_OUTPUT, AT(unsteadiness)},
    {23, FMU_FLOAT64, FMU_OUTPUT, AT(wanted_hold)},
    {24, FMU_FLOAT64, FMU_OUTPUT, AT(wanted_floor)},
    {30, FMU_FLOAT64, FMU_FIXED, AT(load)},
    {31, FMU_FLOAT64, FMU_FIXED, AT(weakest_hold)},
    {32, FMU_FLOAT64, FMU_FIXED, AT(strongest_hold)},
    {33, FMU_FLOAT64, FMU_FIXED, AT(softest)},
    {34, FMU_FLOAT64, FMU_FIXED, AT(firm)},
    {35, FMU_FLOAT64, FMU_FIXED, AT(hardest)},
};
const size_t model_variable_count = sizeof model_variables / sizeof *model_variables;

void model_set_start_values(void *model)
{
    struct control *control = model;
    control->load = 3531.6;
    control->weakest_hold = 2000.0;
    control->strongest_hold = 4000.0;
    control->softest = 300.0;
    control->firm = 800.0;
    control->hardest = 4000.0;
    control->hold = 2000.0;
    control->floor = 300.0;
    control->tyre_force = 3531.6;
}

void model_initialize(void *model, double start_time)
{
    struct control *control = model;
    control->time = start_time;
    control->damping = control->softest;
    control->wanted_hold = control->weakest_hold;
    control->wanted_floor = control->softest;
}

static double clamp(double value, double low, double high)
{
    return fmin(fmax(value, low), high);
}

static void damper(struct control *control)
{
    double body = control->body_velocity;
    double apart = body - control->wheel_velocity;
    bool helps = body * apart > 0.0;
    control->damping = helps ? clamp(control->hold * body / apart, control->floor, control->hardest) : control->floor;
}

/* The root of the mean square of the last half second or so, with one more value. */
static double mean(double before, double value)
{
    double square = before * before + period / memory * (value * value - before * before);
    return sqrt(square);
}

static double between(double low, double high, double share)
{
    return low + (high - low) * clamp(share, 0.0, 1.0);
}

static void ride(struct control *control)
{
    control->roughness = mean(control->roughness, control->body_acceleration);
    control->unsteadiness = mean(control->unsteadiness, control->tyre_force / control->load - 1.0);
    control->wanted_hold = between(control->weakest_hold, control->strongest_hold, control->roughness / rough_ride);
    control->wanted_floor = between(control->softest, control->firm, control->unsteadiness / unsteady_load);
}

void model_activate(void *model, fmi3ValueReference clock, double time)
{
    (void)time;
    if (clock == DAMPER) damper(model);
    if (clock == RIDE) ride(model);
}
