/* The control unit of a small petrol engine at idle: control code without its scheduler, as virtual ECUs are shipped.
 *
 *   crank_isr   one activation per tooth of the crankshaft wheel: position, speed, time of the next injection
 *   task_1ms    air mass, and the fuel that it needs
 *   injection   a countdown clock that crank_isr arms: opens an injector at the right crank angle
 *   task_10ms   idle speed control: throttle and spark advance
 *   task_100ms  what is slow: coolant temperature, warm-up, load estimate, diagnosis
 *
 * in the order of their priorities. A partition may interrupt any one below it at any instruction. Data that several
 * partitions share lies in `struct shared`; for every group of values that belong together,
 *   - a partition that can be interrupted by another user of the group works under the preemption lock,
 *   - crank_isr, which nobody interrupts and which cannot begin inside a locked section, needs no lock.
 *
 * The throttle acts through the manifold, so it is slow; the spark acts at once, but has little authority. Idle control
 * uses both: a PID controller asks the throttle for torque, a proportional one takes quick corrections from the spark. */

#include "fmi3_model.h"
#include <math.h>

const char model_token[] = "{vecud-engine-ecu-1}";

enum clock { CRANK_ISR = 1, TASK_1MS = 2, INJECTION = 3, TASK_10MS = 4, TASK_100MS = 5 };

/* ---- Calibration ---- */

static const double pi = 3.14159265358979323846;

/* Crankshaft wheel: 36 positions, one tooth missing. */
#define WHEEL_POSITIONS 36
#define POSITIONS_PER_STROKE (WHEEL_POSITIONS / 2)
static const double degrees_per_position = 360.0 / WHEEL_POSITIONS;
static const double gap_ratio = 1.6;   /* a tooth this much later than the last one comes after the gap */
static const double stall_time = 0.1;  /* s without a tooth: the engine stands */
static const double shortest_period = 200e-6; /* s: no crankshaft of this engine turns at 8,300 rpm */

/* Air and fuel. */
static const double gas_constant = 287.0;         /* J/(kg K) */
static const double manifold_temperature = 310.0; /* K */
static const double cylinder_volume = 0.5e-3;     /* m3 */
static const double volumetric_efficiency = 0.85;
static const double stoichiometric_ratio = 14.7;
static const double injector_flow = 2.5;     /* mg/ms */
static const double end_of_injection = 90.0; /* degrees after the reference tooth of a stroke */

/* Throttle: what opening lets pass how much air, while the flow is choked. */
static const double throttle_area = 1.6e-3;     /* m2 */
static const double leakage_area = 4.0e-6;      /* m2 */
static const double choked_flow_density = 237.0; /* kg/(s m2), at ambient conditions */

/* Torque: indicated torque per milligram of fuel and stroke at the basic spark advance; losses by speed. */
static const double torque_per_fuel = 3.837;  /* N m/mg */
static const double idle_spark_advance = 12.0; /* degrees: far enough from the best one to have torque in reserve */
static const double minimal_spark_advance = 0.0, maximal_spark_advance = 25.0;

/* Idle controller. */
static const double period_10ms = 0.01;
static const double throttle_gain = 0.3;   /* N m/rpm */
static const double reset_time = 0.8;      /* s */
static const double damping = 0.05;        /* N m/(rpm/s), against acceleration */
static const double rate_filter = 0.3;     /* share of the new value, per 10 ms */
static const double spark_gain = 0.2;      /* degrees/rpm */
static const double minimal_torque = 5.0, maximal_torque = 110.0; /* N m, that idle control may ask for */
static const double pedal_torque = 150.0;  /* N m with the pedal down */
static const double warm_up_speed = 3.0;   /* rpm more per kelvin below warm */
static const double warm_temperature = 343.0; /* K */

/* ---- The control unit ---- */

/* What several partitions use. Comments name writer -> readers. */
struct shared {
    /* crank_isr -> task_10ms */
    double speed;       /* rpm */
    double tooth_time;  /* s */
    bool synchronous;
    /* task_1ms -> crank_isr, injection, task_10ms, task_100ms: belong together */
    double fuel_mass;          /* mg per stroke */
    double injection_duration; /* s */
    /* task_10ms -> task_100ms */
    double torque_request, loop_speed, reference_speed;
    /* task_100ms -> task_10ms */
    double idle_offset; /* rpm: warm-up */
};

struct ecu {
    struct fmu_base base;

    /* Inputs. */
    double manifold_pressure; /* kPa   task_1ms */
    double speed;             /* rpm   task_10ms: of an independent sensor */
    double pedal;             /* 0..1  task_10ms */

    /* Parameters. */
    double idle_speed;           /* rpm */
    double coolant_at_start;     /* K */

    /* Outputs. */
    double time;
    double engine_speed;      /* rpm   crank_isr */
    bool synchronous;         /*       crank_isr */
    uint64_t teeth;           /*       crank_isr */
    double air_mass;          /* mg    task_1ms */
    double fuel_mass;         /* mg    injection */
    double injection_time;    /* ms    injection */
    uint64_t injections;      /*       injection */
    double throttle;          /* 0..1  task_10ms */
    double spark_advance;     /* deg   task_10ms */
    double target_speed;      /* rpm   task_10ms */
    double speed_error;       /* rpm   task_10ms */
    double torque_request;    /* N m   task_10ms */
    double coolant;           /* K     task_100ms */
    double load_estimate;     /* N m   task_100ms */
    uint64_t faults;          /* bits  task_100ms */

    /* Of crank_isr alone. */
    double last_tooth, last_period; /* s; 0 if unknown */
    unsigned position;              /* on the wheel, once synchronous */

    /* Of task_10ms alone. */
    double integral;   /* N m */
    double loop_speed; /* rpm, of the last activation; 0 before the first */
    double rate;       /* rpm/s, filtered */

    /* Of task_100ms alone. */
    double previous_speed;
    unsigned implausible; /* consecutive disagreements of the speed sensors */

    struct shared shared;
    struct fmu_countdown injection;
};

const size_t model_size = sizeof(struct ecu);

#define AT(member) offsetof(struct ecu, member)
const struct fmu_variable model_variables[] = {
    {0, FMU_FLOAT64, FMU_INDEPENDENT, AT(time)},
    {CRANK_ISR, FMU_INPUT_CLOCK, FMU_CLOCK, 0},
    {TASK_1MS, FMU_INPUT_CLOCK, FMU_CLOCK, 0},
    {INJECTION, FMU_COUNTDOWN_CLOCK, FMU_CLOCK, AT(injection)},
    {TASK_10MS, FMU_INPUT_CLOCK, FMU_CLOCK, 0},
    {TASK_100MS, FMU_INPUT_CLOCK, FMU_CLOCK, 0},
    {10, FMU_FLOAT64, FMU_INPUT, AT(manifold_pressure)},
    {11, FMU_FLOAT64, FMU_INPUT, AT(speed)},
    {12, FMU_FLOAT64, FMU_INPUT, AT(pedal)},
    {20, FMU_FLOAT64, FMU_OUTPUT, AT(engine_speed)},
    {21, FMU_BOOLEAN, FMU_OUTPUT, AT(synchronous)},
    {22, FMU_UINT64, FMU_OUTPUT, AT(teeth)},
    {23, FMU_FLOAT64, FMU_OUTPUT, AT(air_mass)},
    {24, FMU_FLOAT64, FMU_OUTPUT, AT(fuel_mass)},
    {25, FMU_FLOAT64, FMU_OUTPUT, AT(injection_time)},
    {26, FMU_UINT64, FMU_OUTPUT, AT(injections)},
    {27, FMU_FLOAT64, FMU_OUTPUT, AT(throttle)},
    {28, FMU_FLOAT64, FMU_OUTPUT, AT(spark_advance)},
    {29, FMU_FLOAT64, FMU_OUTPUT, AT(target_speed)},
    {30, FMU_FLOAT64, FMU_OUTPUT, AT(speed_error)},
    {31, FMU_FLOAT64, FMU_OUTPUT, AT(torque_request)},
    {32, FMU_FLOAT64, FMU_OUTPUT, AT(coolant)},
    {33, FMU_FLOAT64, FMU_OUTPUT, AT(load_estimate)},
    {34, FMU_UINT64, FMU_OUTPUT, AT(faults)},
    {40, FMU_FLOAT64, FMU_TUNABLE, AT(idle_speed)},
    {41, FMU_FLOAT64, FMU_FIXED, AT(coolant_at_start)},
};
const size_t model_variable_count = sizeof model_variables / sizeof *model_variables;

static double clamp(double value, double low, double high)
{
    return fmin(fmax(value, low), high);
}

void model_set_start_values(void *instance)
{
    struct ecu *ecu = instance;
    ecu->manifold_pressure = 40.0;
    ecu->idle_speed = 850.0;
    ecu->coolant_at_start = 350.0;
    ecu->throttle = 0.05;
    ecu->spark_advance = idle_spark_advance;
}

void model_initialize(void *instance, double start_time)
{
    struct ecu *ecu = instance;
    ecu->time = start_time;
    ecu->coolant = ecu->coolant_at_start;
    ecu->target_speed = ecu->idle_speed;
    ecu->shared.tooth_time = start_time;
}

/* ---- crank_isr ---- */

/* Where on the wheel is the tooth that has just passed? The gap tells, once per revolution. */
static void track_position(struct ecu *ecu, double period)
{
    bool late = ecu->last_period > 0.0 && period > gap_ratio * ecu->last_period;
    if (late && ecu->synchronous && ecu->position == 0) {
        /* Two gaps in a row: no wheel has that. Teeth came too early or were lost; wait for the next gap. */
        ecu->synchronous = false;
    } else if (late) {
        /* In the right place it confirms; in the wrong one (teeth were lost) it starts the count anew. */
        ecu->synchronous = true;
        ecu->position = 0;
    } else if (ecu->synchronous && ++ecu->position > WHEEL_POSITIONS - 2) {
        ecu->synchronous = false;
    }
}

/* The gap is two positions wide; the period of one position is what speed and the next comparison need. */
static double period_per_position(const struct ecu *ecu, double period)
{
    return ecu->synchronous && ecu->position == 0 ? period / 2.0 : period;
}

/* Fuel has to be in by `end_of_injection` after the reference tooth; the injector opens earlier by its duration. */
static void plan_injection(struct ecu *ecu)
{
    double degrees_per_second = ecu->engine_speed * 6.0;
    double delay = end_of_injection / degrees_per_second - ecu->shared.injection_duration;
    fmu_arm(&ecu->injection, fmax(0.0, round(delay * 1e6)) / 1e6); /* the timer counts microseconds */
    fmu_clock_update(ecu);
}

static void crank_isr(struct ecu *ecu, double time)
{
    double period = time - ecu->last_tooth;
    bool first = ecu->teeth++ == 0;
    if (!first && period < shortest_period) return; /* a disturbance on the line, no tooth */
    ecu->last_tooth = time;
    ecu->shared.tooth_time = time;
    if (first || period > stall_time) { /* no period to speak of: begin again */
        ecu->last_period = 0.0;
        ecu->synchronous = ecu->shared.synchronous = false;
        return;
    }

    track_position(ecu, period);
    ecu->last_period = period_per_position(ecu, period);
    ecu->engine_speed = degrees_per_position / (6.0 * ecu->last_period);
    ecu->shared.speed = ecu->engine_speed;
    ecu->shared.synchronous = ecu->synchronous;

    bool reference_tooth = ecu->position % POSITIONS_PER_STROKE == 0;
    if (ecu->synchronous && reference_tooth) plan_injection(ecu);
}

/* ---- task_1ms ---- */

static void task_1ms(struct ecu *ecu)
{
    double kilograms = volumetric_efficiency * ecu->manifold_pressure * 1000.0 * cylinder_volume /
                       (gas_constant * manifold_temperature);
    double fuel = kilograms * 1e6 / stoichiometric_ratio;
    ecu->air_mass = kilograms * 1e6;

    fmu_lock(ecu); /* mass and duration belong together, and crank_isr may want them now */
    ecu->shared.fuel_mass = fuel;
    ecu->shared.injection_duration = fuel / injector_flow * 1e-3;
    fmu_unlock(ecu);
}

/* ---- injection ---- */

static void injection(struct ecu *ecu)
{
    fmu_lock(ecu);
    double mass = ecu->shared.fuel_mass, duration = ecu->shared.injection_duration;
    fmu_unlock(ecu);

    ecu->fuel_mass = mass;
    ecu->injection_time = duration * 1000.0;
    ecu->injections++;
}

/* ---- task_10ms ---- */

/* N m: friction and pumping of this engine at idle, by speed. The feed-forward part of the torque request. */
static double losses(double speed)
{
    double omega = speed * pi / 30.0;
    return 25.5 + 0.02 * omega + 1.2e-4 * omega * omega;
}

/* Which opening of the throttle lets the engine draw the air for this torque? The inverse of the flow model. */
static double throttle_for_torque(double torque, double speed)
{
    double fuel = torque / torque_per_fuel * 1e-6;             /* kg per stroke */
    double air = fuel * stoichiometric_ratio * speed / 30.0;   /* kg/s: two strokes per revolution */
    double area = air / choked_flow_density - leakage_area;
    double cosine = 1.0 - clamp(area, 0.0, throttle_area) / throttle_area;
    return acos(cosine) * 2.0 / pi;
}

/* The D part acts on the speed, not on the error: a new target gives no kick. */
static void filter_rate(struct ecu *ecu, double speed)
{
    double rate = ecu->loop_speed > 0.0 ? (speed - ecu->loop_speed) / period_10ms : 0.0;
    ecu->rate += rate_filter * (rate - ecu->rate);
    ecu->loop_speed = speed;
}

/* The PID controller of idle speed, on top of a feed-forward. Anti-windup: while the request is at its limit, the
 * integral moves only if that leads away from the limit. */
static double idle_torque(struct ecu *ecu, double error, double feed_forward)
{
    double wanted = feed_forward + throttle_gain * error - damping * ecu->rate + ecu->integral;
    double limited = clamp(wanted, minimal_torque, maximal_torque);
    bool windup = (wanted > limited && error > 0.0) || (wanted < limited && error < 0.0);
    if (!windup) ecu->integral += throttle_gain / reset_time * error * period_10ms;
    return limited;
}

static void task_10ms(struct ecu *ecu, double time)
{
    fmu_lock(ecu);
    double speed = ecu->shared.speed, tooth_time = ecu->shared.tooth_time, offset = ecu->shared.idle_offset;
    bool synchronous = ecu->shared.synchronous;
    fmu_unlock(ecu);
    if (!synchronous || time - tooth_time > stall_time) speed = ecu->speed; /* the other sensor, until teeth can be read */

    filter_rate(ecu, speed);
    ecu->target_speed = ecu->idle_speed + offset;
    ecu->speed_error = ecu->target_speed - speed;
    double idle = idle_torque(ecu, ecu->speed_error, losses(ecu->target_speed));
    double torque = fmax(idle, clamp(ecu->pedal, 0.0, 1.0) * pedal_torque);

    /* Air for the present speed would fall with it; air for the target speed helps to return to it. */
    ecu->torque_request = torque;
    ecu->throttle = throttle_for_torque(torque, fmax(speed, ecu->target_speed));
    ecu->spark_advance = clamp(idle_spark_advance + spark_gain * ecu->speed_error, minimal_spark_advance,
                               maximal_spark_advance);

    fmu_lock(ecu);
    ecu->shared.torque_request = torque;
    ecu->shared.loop_speed = speed;
    ecu->shared.reference_speed = ecu->speed;
    fmu_unlock(ecu);
}

/* ---- task_100ms ---- */

/* First order towards the thermostat's temperature, heated by the fuel that is burnt. */
static void warm_up(struct ecu *ecu, double fuel_mass, double speed)
{
    const double thermostat = 363.0, heating = 2.0e-5; /* K, K per (mg rpm) and 100 ms */
    ecu->coolant = fmin(ecu->coolant + heating * fuel_mass * speed / 30.0, thermostat);
}

/* What the fuel gives, less losses and acceleration, is taken by a load. */
static void estimate_load(struct ecu *ecu, double fuel_mass, double speed)
{
    const double filter = 0.2, inertia = 0.16; /* kg m2 */
    double acceleration = (speed - ecu->previous_speed) * pi / 30.0 / 0.1;
    double load = fuel_mass * torque_per_fuel - losses(speed) - inertia * acceleration;
    ecu->load_estimate += filter * (load - ecu->load_estimate);
    ecu->previous_speed = speed;
}

enum fault { SPEED_SENSORS_DISAGREE = 1, NOT_SYNCHRONOUS = 2, TORQUE_AT_LIMIT = 4, TOO_HOT = 8 };

static uint64_t diagnose(struct ecu *ecu, double speed, double torque, bool synchronous, double reference)
{
    bool disagree = synchronous && fabs(speed - reference) > 50.0 + 0.1 * reference;
    ecu->implausible = disagree ? ecu->implausible + 1 : 0;
    return (ecu->implausible >= 5 ? SPEED_SENSORS_DISAGREE : 0) | (synchronous ? 0 : NOT_SYNCHRONOUS) |
           (torque >= maximal_torque ? TORQUE_AT_LIMIT : 0) | (ecu->coolant > 383.0 ? TOO_HOT : 0);
}

static void task_100ms(struct ecu *ecu)
{
    fmu_lock(ecu); /* a snapshot: everything below may be interrupted */
    double fuel_mass = ecu->shared.fuel_mass, speed = ecu->shared.loop_speed, torque = ecu->shared.torque_request;
    double reference = ecu->shared.reference_speed;
    bool synchronous = ecu->shared.synchronous;
    fmu_unlock(ecu);

    warm_up(ecu, fuel_mass, speed);
    estimate_load(ecu, fuel_mass, speed);
    ecu->faults = diagnose(ecu, speed, torque, synchronous, reference);

    double offset = warm_up_speed * fmax(0.0, warm_temperature - ecu->coolant);
    fmu_lock(ecu);
    ecu->shared.idle_offset = offset;
    fmu_unlock(ecu);
}

void model_activate(void *instance, fmi3ValueReference clock, double time)
{
    struct ecu *ecu = instance;
    ecu->time = time;
    switch (clock) {
    case CRANK_ISR: crank_isr(ecu, time); break;
    case TASK_1MS: task_1ms(ecu); break;
    case INJECTION: injection(ecu); break;
    case TASK_10MS: task_10ms(ecu, time); break;
    case TASK_100MS: task_100ms(ecu); break;
    }
}
