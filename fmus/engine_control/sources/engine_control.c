/* A simple control unit for the engine of fmus/engine_plant, made for delayed connections: two partitions that share
 * nothing and know the engine by their inputs alone, so that every output depends on inputs and activation times only.
 *
 * fuel, 1 ms: the mass of fuel for the air that the cylinders draw. idle, 10 ms: a PI controller of idle speed,
 * which the pedal outbids. */

#include "fmi3_model.h"
#include <math.h>

const char model_token[] = "{vecud-engine-control-1}";

enum clock { FUEL = 1, IDLE = 2 };

/* ---- Calibration ---- */

static const double pi = 3.14159265358979323846;
static const double gas_constant = 287.0;         /* J/(kg K) */
static const double manifold_temperature = 310.0; /* K */
static const double cylinder_volume = 0.5e-3;     /* m3 */
static const double volumetric_efficiency = 0.85;
static const double stoichiometric_ratio = 14.7;
static const double throttle_area = 1.6e-3;       /* m2 */
static const double leakage_area = 4.0e-6;        /* m2 */
static const double choked_flow_density = 237.0;  /* kg/(s m2), at ambient conditions */
static const double torque_per_fuel = 3.837;      /* N m/mg */
static const double idle_spark_advance = 12.0;    /* degrees */
static const double spark_gain = 0.2;             /* degrees/rpm */
static const double throttle_gain = 0.3;          /* N m/rpm */
static const double reset_time = 0.8;             /* s */
static const double period = 0.01;                /* s */
static const double minimal_torque = 5.0, maximal_torque = 110.0; /* N m, that idle control may ask for */
static const double pedal_torque = 150.0; /* N m with the pedal down */

struct control {
    struct fmu_base base;
    double time;
    double idle_speed; /* rpm, parameter */
    /* Of fuel. */
    double manifold_pressure; /* kPa, input */
    double fuel_mass;         /* mg per stroke, output */
    /* Of idle. */
    double speed;                   /* rpm, input */
    double pedal;                   /* 0..1, input */
    double throttle, spark_advance; /* outputs */
    double integral;                /* N m */
};

const size_t model_size = sizeof(struct control);

#define AT(member) offsetof(struct control, member)
const struct fmu_variable model_variables[] = {
    {0, FMU_FLOAT64, FMU_INDEPENDENT, AT(time)},
    {FUEL, FMU_INPUT_CLOCK, FMU_CLOCK, 0},
    {IDLE, FMU_INPUT_CLOCK, FMU_CLOCK, 0},
    {10, FMU_FLOAT64, FMU_INPUT, AT(manifold_pressure)},
    {11, FMU_FLOAT64, FMU_INPUT, AT(speed)},
    {12, FMU_FLOAT64, FMU_INPUT, AT(pedal)},
    {20, FMU_FLOAT64, FMU_OUTPUT, AT(fuel_mass)},
    {21, FMU_FLOAT64, FMU_OUTPUT, AT(throttle)},
    {22, FMU_FLOAT64, FMU_OUTPUT, AT(spark_advance)},
    {30, FMU_FLOAT64, FMU_FIXED, AT(idle_speed)},
};
const size_t model_variable_count = sizeof model_variables / sizeof *model_variables;

void model_set_start_values(void *model)
{
    struct control *control = model;
    control->manifold_pressure = 40.0;
    control->idle_speed = 850.0;
    control->throttle = 0.05;
    control->spark_advance = idle_spark_advance;
}

void model_initialize(void *model, double start_time)
{
    ((struct control *)model)->time = start_time;
}

static double clamp(double value, double low, double high)
{
    return fmin(fmax(value, low), high);
}

static void fuel(struct control *control)
{
    double air = volumetric_efficiency * control->manifold_pressure * 1000.0 * cylinder_volume /
                 (gas_constant * manifold_temperature);
    control->fuel_mass = air * 1e6 / stoichiometric_ratio;
}

/* N m: friction and pumping of this engine, by speed. */
static double losses(double speed)
{
    double omega = speed * pi / 30.0;
    return 25.5 + 0.02 * omega + 1.2e-4 * omega * omega;
}

/* Which opening of the throttle lets the engine draw the air for this torque? */
static double throttle_for_torque(double torque, double speed)
{
    double air = torque / torque_per_fuel * 1e-6 * stoichiometric_ratio * speed / 30.0; /* kg/s: two strokes a turn */
    double area = clamp(air / choked_flow_density - leakage_area, 0.0, throttle_area);
    return acos(1.0 - area / throttle_area) * 2.0 / pi;
}

/* Anti-windup: while the torque is at its limit, the integral moves only if that leads away from the limit. */
static void idle(struct control *control)
{
    double error = control->idle_speed - control->speed;
    double wanted = losses(control->idle_speed) + throttle_gain * error + control->integral;
    double torque = clamp(wanted, minimal_torque, maximal_torque);
    bool windup = (wanted > torque && error > 0.0) || (wanted < torque && error < 0.0);
    if (!windup) control->integral += throttle_gain / reset_time * error * period;
    torque = fmax(torque, clamp(control->pedal, 0.0, 1.0) * pedal_torque);
    control->throttle = throttle_for_torque(torque, fmax(control->speed, control->idle_speed));
    control->spark_advance = clamp(idle_spark_advance + spark_gain * error, 0.0, 25.0);
}

void model_activate(void *model, fmi3ValueReference clock, double time)
{
    (void)time;
    if (clock == FUEL) fuel(model);
    if (clock == IDLE) idle(model);
}
