/* A four-cylinder petrol engine (engine.h), and the toothed wheel on its crankshaft.
 *
 *   step        every 1 ms: reads the actuators, advances manifold, torque and crankshaft
 *   next_tooth  a countdown clock: its activation time is the instant at which a tooth passes the sensor
 *   crank_tooth the output clock that next_tooth ticks, so every tick carries the exact time of its tooth
 *
 * Between two steps the acceleration is constant, so the crank angle is a parabola and the instant of a tooth is the
 * root of a quadratic equation: teeth are as exact as the model, not rounded to the millisecond. `step` arms the first
 * tooth of the coming millisecond, `next_tooth` the further ones.
 *
 * The wheel has 36 positions 10 degrees apart; the tooth at the last one is missing (a "36-1" wheel), which is how the
 * control unit finds out where the crankshaft stands.
 *
 * Nothing here depends on anything but inputs, parameters and activation times. */

#include "engine.h"
#include "fmi3_model.h"
#include <math.h>

const char model_token[] = "{vecud-engine-plant-1}";

enum clock { STEP = 1, NEXT_TOOTH = 2, CRANK_TOOTH = 3 };

static const double step_size = 1e-3; /* s */

#define WHEEL_POSITIONS 36
static const double degrees_per_position = 360.0 / WHEEL_POSITIONS;

/* ---- The model ---- */

struct plant {
    struct fmu_base base;

    struct engine engine;

    /* Outputs. */
    double time;
    double tooth_time; /* s */
    uint64_t teeth;

    double step_time; /* the last step */

    /* The wheel. Angles in radians, counted from the angle at the last step, so that they stay small and exact. */
    double tooth_distance;   /* from the last step's angle to the next tooth */
    unsigned tooth_position; /* 0 to WHEEL_POSITIONS - 2 */
    double tooth_due;        /* s after the last step: where the armed tooth was placed */
    struct fmu_countdown next_tooth;
    fmu_tick crank_tooth;
};

const size_t model_size = sizeof(struct plant);

#define AT(member) offsetof(struct plant, member)
const struct fmu_variable model_variables[] = {
    {0, FMU_FLOAT64, FMU_INDEPENDENT, AT(time)},
    {STEP, FMU_INPUT_CLOCK, FMU_CLOCK, 0},
    {NEXT_TOOTH, FMU_COUNTDOWN_CLOCK, FMU_CLOCK, AT(next_tooth)},
    {CRANK_TOOTH, FMU_OUTPUT_CLOCK, FMU_CLOCK, AT(crank_tooth)},
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
    {27, FMU_FLOAT64, FMU_OUTPUT, AT(tooth_time)},
    {28, FMU_UINT64, FMU_OUTPUT, AT(teeth)},
    {40, FMU_FLOAT64, FMU_FIXED, AT(engine.initial_speed)},
    {41, FMU_FLOAT64, FMU_FIXED, AT(engine.load_step_time)},
    {42, FMU_FLOAT64, FMU_FIXED, AT(engine.load_step_end)},
    {43, FMU_FLOAT64, FMU_FIXED, AT(engine.load_step_torque)},
};
const size_t model_variable_count = sizeof model_variables / sizeof *model_variables;

void model_set_start_values(void *instance)
{
    engine_set_start_values(&((struct plant *)instance)->engine);
}

void model_initialize(void *instance, double start_time)
{
    struct plant *plant = instance;
    plant->time = plant->step_time = start_time;
    plant->tooth_distance = degrees_per_position / 2.0 * engine_pi / 180.0;
    plant->tooth_position = 0;
    engine_initialize(&plant->engine, start_time);
}

/* ---- The crankshaft between two steps ---- */

/* When the crankshaft will have turned by `angle`, in seconds after the last step; infinite if it stops before. */
static double time_of_angle(const struct plant *plant, double angle)
{
    double discriminant = plant->engine.omega * plant->engine.omega + 2.0 * plant->engine.acceleration * angle;
    if (discriminant < 0.0) return INFINITY;
    double divisor = plant->engine.omega + sqrt(discriminant); /* this form of the root does not cancel */
    return divisor > 0.0 ? 2.0 * angle / divisor : INFINITY;
}

/* Seconds from `now` (after the last step) to the next tooth, if it falls into this step; else negative. Whole
 * nanoseconds, as the timers that will wait for it, and at least one, since no clock ticks twice at one time. */
static double interval_to_tooth(const struct plant *plant, double now)
{
    double due = time_of_angle(plant, plant->tooth_distance);
    if (due > step_size) return -1.0;
    return fmax(1.0, round((due - now) * 1e9)) / 1e9;
}

/* ---- Partition step ---- */

/* From the last step to now. Of steps that the importer has skipped only one counts: the engine stands still meanwhile.
 * Hurrying after the clock would pass the overdue teeth in a burst, which no crankshaft can do. */
static void advance(struct plant *plant, double time)
{
    double dt = fmin(time - plant->step_time, step_size);
    plant->tooth_distance -= engine_angle_after(&plant->engine, dt);
    engine_advance(&plant->engine, dt);
    plant->step_time = time;
}

static void step(struct plant *plant, double time)
{
    /* next_tooth has the higher priority and reads what is computed here: it must find the states either of the last
     * step or of this one. And the interval counts from the activation in whose clock update the importer reads it, so
     * no other update may come between arming and update. Hence the lock around all of it. */
    fmu_lock(plant);
    advance(plant, time);
    engine_publish(&plant->engine, time);
    engine_differentiate(&plant->engine);
    double interval = interval_to_tooth(plant, 0.0);
    if (interval >= 0.0) {
        plant->tooth_due = interval;
        fmu_arm(&plant->next_tooth, interval);
        fmu_clock_update(plant);
    }
    fmu_unlock(plant);
}

/* ---- Partition next_tooth: the highest priority of this FMU, so nothing interrupts it and it needs no lock ---- */

static void next_tooth(struct plant *plant, double time)
{
    plant->teeth++;
    plant->tooth_time = time;
    plant->crank_tooth = true;

    bool before_gap = plant->tooth_position == WHEEL_POSITIONS - 2;
    plant->tooth_position = before_gap ? 0 : plant->tooth_position + 1;
    plant->tooth_distance += (before_gap ? 2.0 : 1.0) * degrees_per_position * engine_pi / 180.0;

    double interval = interval_to_tooth(plant, plant->tooth_due);
    if (interval >= 0.0) {
        plant->tooth_due += interval;
        fmu_arm(&plant->next_tooth, interval);
    }
    fmu_clock_update(plant); /* one update tells of both, the tick and the next tooth */
}

void model_activate(void *instance, fmi3ValueReference clock, double time)
{
    struct plant *plant = instance;
    plant->time = time;
    if (clock == STEP) step(plant, time);
    if (clock == NEXT_TOOTH) next_tooth(plant, time);
}
