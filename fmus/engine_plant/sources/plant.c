/* A four-cylinder petrol engine of two litres, as a mean-value model, and the toothed wheel on its crankshaft.
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

#include "fmi3_model.h"
#include <math.h>

const char model_token[] = "{vecud-engine-plant-1}";

enum clock { STEP = 1, NEXT_TOOTH = 2, CRANK_TOOTH = 3 };

/* ---- Physical constants ---- */

static const double pi = 3.14159265358979323846;
static const double step_size = 1e-3;              /* s */
static const double gas_constant = 287.0;          /* J/(kg K), of air */
static const double ambient_pressure = 101325.0;   /* Pa */
static const double ambient_temperature = 298.0;   /* K */
static const double manifold_temperature = 310.0;  /* K */
static const double manifold_volume = 2.5e-3;      /* m3 */
static const double displacement = 2.0e-3;         /* m3 */
static const double strokes_per_cycle = 4.0;       /* power strokes in two revolutions: one per cylinder */
static const double volumetric_efficiency = 0.85;
static const double throttle_area = 1.6e-3;        /* m2, wide open, discharge coefficient included */
static const double leakage_area = 4.0e-6;         /* m2, past the closed plate */
static const double stoichiometric_ratio = 14.7;   /* kg air per kg fuel */
static const double heating_value = 42.5e6;        /* J/kg */
static const double indicated_efficiency = 0.30;   /* at the best spark advance */
static const double best_spark_advance = 26.0;     /* degrees before top dead centre */
static const double spark_window = 60.0;           /* degrees off the best advance at which no torque is left */
static const double inertia = 0.16;                /* kg m2 */

#define WHEEL_POSITIONS 36
static const double degrees_per_position = 360.0 / WHEEL_POSITIONS;

/* ---- The model ---- */

struct plant {
    struct fmu_base base;

    /* Inputs, constant from one step to the next. */
    double throttle;      /* 0 closed, 1 open */
    double spark_advance; /* degrees before top dead centre */
    double fuel_mass;     /* mg per power stroke */
    double load_torque;   /* N m, on top of the load step */

    /* Parameters. */
    double initial_speed;    /* rpm */
    double load_step_time;   /* s */
    double load_step_end;    /* s */
    double load_step_torque; /* N m */

    /* Outputs. */
    double time;
    double speed;             /* rpm */
    double manifold_pressure; /* kPa */
    double torque;            /* N m, indicated */
    double load;              /* N m */
    double air_flow;          /* g/s, into the cylinders */
    double lambda;            /* air-fuel ratio over the stoichiometric one; 0 without fuel */
    double crank_angle;       /* degrees, 0 to 720 */
    double tooth_time;        /* s */
    uint64_t teeth;

    /* States at the last step, and their derivatives until the next one. */
    double step_time;
    double omega, acceleration; /* rad/s, rad/s2 */
    double pressure;            /* Pa */
    double pressure_rate;       /* Pa/s */
    double combustion_torque;   /* N m, what reaches the crankshaft */
    double torque_rate;

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
    {10, FMU_FLOAT64, FMU_INPUT, AT(throttle)},
    {11, FMU_FLOAT64, FMU_INPUT, AT(spark_advance)},
    {12, FMU_FLOAT64, FMU_INPUT, AT(fuel_mass)},
    {13, FMU_FLOAT64, FMU_INPUT, AT(load_torque)},
    {20, FMU_FLOAT64, FMU_OUTPUT, AT(speed)},
    {21, FMU_FLOAT64, FMU_OUTPUT, AT(manifold_pressure)},
    {22, FMU_FLOAT64, FMU_OUTPUT, AT(torque)},
    {23, FMU_FLOAT64, FMU_OUTPUT, AT(load)},
    {24, FMU_FLOAT64, FMU_OUTPUT, AT(air_flow)},
    {25, FMU_FLOAT64, FMU_OUTPUT, AT(lambda)},
    {26, FMU_FLOAT64, FMU_OUTPUT, AT(crank_angle)},
    {27, FMU_FLOAT64, FMU_OUTPUT, AT(tooth_time)},
    {28, FMU_UINT64, FMU_OUTPUT, AT(teeth)},
    {40, FMU_FLOAT64, FMU_FIXED, AT(initial_speed)},
    {41, FMU_FLOAT64, FMU_FIXED, AT(load_step_time)},
    {42, FMU_FLOAT64, FMU_FIXED, AT(load_step_end)},
    {43, FMU_FLOAT64, FMU_FIXED, AT(load_step_torque)},
};
const size_t model_variable_count = sizeof model_variables / sizeof *model_variables;

void model_set_start_values(void *instance)
{
    struct plant *plant = instance;
    plant->throttle = 0.05;
    plant->spark_advance = 12.0;
    plant->initial_speed = 1000.0;
    plant->load_step_time = 4.0;
    plant->load_step_end = 7.0;
    plant->load_step_torque = 15.0;
}

static void publish(struct plant *plant);

void model_initialize(void *instance, double start_time)
{
    struct plant *plant = instance;
    plant->time = plant->step_time = start_time;
    plant->omega = plant->initial_speed * pi / 30.0;
    plant->pressure = 40e3;
    plant->combustion_torque = 30.0;
    plant->tooth_distance = degrees_per_position / 2.0 * pi / 180.0;
    plant->tooth_position = 0;
    publish(plant);
}

/* ---- Air, fuel, torque ---- */

/* kg/s through the throttle: compressible flow, choked below the critical pressure ratio. */
static double throttle_flow(double throttle, double pressure)
{
    double opening = fmin(fmax(throttle, 0.0), 1.0);
    double area = leakage_area + throttle_area * (1.0 - cos(opening * pi / 2.0));
    double ratio = fmin(pressure / ambient_pressure, 1.0);
    double shape = ratio < 0.5283 ? 0.6847 : sqrt(7.0 * (pow(ratio, 2.0 / 1.4) - pow(ratio, 2.4 / 1.4)));
    return area * ambient_pressure / sqrt(gas_constant * ambient_temperature) * shape;
}

/* kg of air that one cylinder draws. */
static double air_per_stroke(double pressure)
{
    return volumetric_efficiency * pressure * displacement / strokes_per_cycle /
           (gas_constant * manifold_temperature);
}

static double strokes_per_second(double omega)
{
    return omega / (4.0 * pi) * strokes_per_cycle;
}

/* N m, from the fuel that finds air to burn with. */
static double indicated_torque(const struct plant *plant)
{
    double burnt = fmin(fmax(plant->fuel_mass, 0.0) * 1e-6, air_per_stroke(plant->pressure) / stoichiometric_ratio);
    double off = (plant->spark_advance - best_spark_advance) / spark_window;
    double spark_efficiency = fmax(0.0, 1.0 - off * off);
    return indicated_efficiency * spark_efficiency * heating_value * burnt * strokes_per_cycle / (4.0 * pi);
}

/* N m: bearings and valve gear, plus the work of drawing air past the throttle. */
static double lost_torque(const struct plant *plant)
{
    double friction = 13.0 + 0.02 * plant->omega + 1.2e-4 * plant->omega * plant->omega;
    return friction + fmax(0.0, ambient_pressure - plant->pressure) * displacement / (4.0 * pi);
}

static double load_at(const struct plant *plant, double time)
{
    bool stepped = time >= plant->load_step_time && time < plant->load_step_end;
    return plant->load_torque + (stepped ? plant->load_step_torque : 0.0);
}

/* ---- The crankshaft between two steps ---- */

static double angle_after(const struct plant *plant, double dt)
{
    return plant->omega * dt + 0.5 * plant->acceleration * dt * dt;
}

/* When the crankshaft will have turned by `angle`, in seconds after the last step; infinite if it stops before. */
static double time_of_angle(const struct plant *plant, double angle)
{
    double discriminant = plant->omega * plant->omega + 2.0 * plant->acceleration * angle;
    if (discriminant < 0.0) return INFINITY;
    double divisor = plant->omega + sqrt(discriminant); /* this form of the root does not cancel */
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
    double turned = angle_after(plant, dt);
    plant->tooth_distance -= turned;
    plant->crank_angle = fmod(plant->crank_angle + turned * 180.0 / pi, 720.0);
    plant->omega = fmax(0.0, plant->omega + plant->acceleration * dt);
    plant->pressure = fmin(fmax(plant->pressure + plant->pressure_rate * dt, 5e3), ambient_pressure);
    plant->combustion_torque += plant->torque_rate * dt;
    plant->step_time = time;
}

/* What the inputs make of the coming millisecond. */
static void differentiate(struct plant *plant)
{
    double drawn = air_per_stroke(plant->pressure) * strokes_per_second(plant->omega);
    plant->pressure_rate = gas_constant * manifold_temperature / manifold_volume *
                           (throttle_flow(plant->throttle, plant->pressure) - drawn);

    /* Fuel becomes torque one power stroke later, which the mean value sees as a lag. */
    double lag = fmin(pi / fmax(plant->omega, 10.0), 0.1);
    plant->torque_rate = (indicated_torque(plant) - plant->combustion_torque) / lag;

    double brake = lost_torque(plant) + plant->load;
    if (plant->omega <= 0.0) brake = fmin(brake, plant->combustion_torque); /* friction holds, it does not drive */
    plant->acceleration = (plant->combustion_torque - brake) / inertia;
}

static void publish(struct plant *plant)
{
    double air = air_per_stroke(plant->pressure);
    plant->speed = plant->omega * 30.0 / pi;
    plant->manifold_pressure = plant->pressure / 1000.0;
    plant->torque = plant->combustion_torque;
    plant->load = load_at(plant, plant->step_time);
    plant->air_flow = air * strokes_per_second(plant->omega) * 1000.0;
    plant->lambda = plant->fuel_mass > 0.0 ? air / (stoichiometric_ratio * plant->fuel_mass * 1e-6) : 0.0;
}

static void step(struct plant *plant, double time)
{
    /* next_tooth has the higher priority and reads what is computed here: it must find the states either of the last
     * step or of this one. And the interval counts from the activation in whose clock update the importer reads it, so
     * no other update may come between arming and update. Hence the lock around all of it. */
    fmu_lock(plant);
    advance(plant, time);
    publish(plant);
    differentiate(plant);
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
    plant->tooth_distance += (before_gap ? 2.0 : 1.0) * degrees_per_position * pi / 180.0;

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
