/* A four-speed automatic transmission with its control unit, and the car that it drives: a virtual ECU for Co-Simulation
 * whose software is made of clocks, which tick in Event Mode between the steps of the mechanics.
 *
 *   control       constant, 20 ms: the control unit looks at the speed of the turbine and at the pedal, and decides for a gear
 *   engage        countdown, armed by control: the clutch of the new gear is full of oil, 43 to 71 ms after the decision
 *   gear_changed  ticks with engage; with it goes `gear`, the one that is engaged now
 *
 * A step is the mechanics: torque converter, gears, car. It knows of the software only which gear is engaged. */

#include "fmi3_model.h"
#include <math.h>

const char model_token[] = "{vecud-transmission-1}";

enum { CONTROL = 1, ENGAGE = 2, GEAR_CHANGED = 3 };

static const double internal_step = 1e-3; /* s, at most */
static const double pi = 3.14159265358979323846;

/* ---- Calibration of the control unit ---- */

#define HIGHEST_GEAR 4
static const double shortest_stay = 0.5; /* s in a gear before the next decision */
static const double pulling_away = 0.02; /* pedal from which on the first gear is wanted */

/* rpm of the turbine above which the next higher gear is wanted: the further the pedal is down, the later. */
static double upshift_speed(double pedal)
{
    return 1300.0 + 1000.0 * pedal;
}

/* rpm of the turbine below which the next lower gear is wanted. A gear that was just shifted up to is well above. */
static double downshift_speed(double pedal)
{
    return 650.0 + 350.0 * pedal;
}

/* s until the clutch is full: the pressure of the oil rises with the pedal. The timer counts milliseconds. */
static double fill_time(double pedal)
{
    return round(71.0 - 28.0 * pedal) / 1000.0;
}

/* ---- Physical constants ---- */

static const double ratios[HIGHEST_GEAR + 1] = {2.84, 2.84, 1.57, 1.0, 0.70}; /* with no gear, that of the first */
static const double final_drive = 4.0;
static const double glide_time = 0.12;      /* s: how fast a clutch takes over, first order */
static const double pump_capacity = 2.0e-3; /* N m s2: torque of the converter per difference of squared speeds */
static const double wheel_radius = 0.30;    /* m */
static const double mass = 1100.0;          /* kg, rotating parts included */
static const double rolling_force = 120.0;  /* N */
static const double drag = 0.4;             /* N s2/m2 */
static const double braking_force = 8000.0; /* N, of the whole brake */

struct transmission {
    struct fmu_base base;
    double time;

    /* Inputs. */
    double engine_speed; /* rpm */
    double pedal, brake; /* 0 to 1 */

    /* Outputs. */
    uint64_t gear, wanted_gear;
    double ratio;         /* also a state */
    double turbine_speed; /* rpm */
    double vehicle_speed; /* km/h */
    double load_torque;   /* N m */

    /* States of the mechanics. */
    double grip;  /* 0 no clutch holds, 1 one does */
    double speed; /* m/s, of the car */

    /* The control unit. */
    double engaged_at; /* s */
    bool is_deciding;  /* control has ticked in this iteration */
    struct fmu_countdown engage;
    fmu_tick gear_changed;
};

const size_t model_size = sizeof(struct transmission);

#define AT(member) offsetof(struct transmission, member)
const struct fmu_variable model_variables[] = {
    {0, FMU_FLOAT64, FMU_INDEPENDENT, AT(time)},
    {CONTROL, FMU_INPUT_CLOCK, FMU_CLOCK, 0},
    {ENGAGE, FMU_COUNTDOWN_CLOCK, FMU_CLOCK, AT(engage)},
    {GEAR_CHANGED, FMU_OUTPUT_CLOCK, FMU_CLOCK, AT(gear_changed)},
    {10, FMU_FLOAT64, FMU_INPUT, AT(engine_speed)},
    {11, FMU_FLOAT64, FMU_INPUT, AT(pedal)},
    {12, FMU_FLOAT64, FMU_INPUT, AT(brake)},
    {20, FMU_UINT64, FMU_OUTPUT, AT(gear)},
    {21, FMU_UINT64, FMU_OUTPUT, AT(wanted_gear)},
    {22, FMU_FLOAT64, FMU_OUTPUT, AT(ratio)},
    {23, FMU_FLOAT64, FMU_OUTPUT, AT(turbine_speed)},
    {24, FMU_FLOAT64, FMU_OUTPUT, AT(vehicle_speed)},
    {25, FMU_FLOAT64, FMU_OUTPUT, AT(load_torque)},
};
const size_t model_variable_count = sizeof model_variables / sizeof *model_variables;

/* ---- The mechanics ---- */

static double turbine_omega(const struct transmission *own)
{
    return own->speed / wheel_radius * final_drive * own->ratio;
}

/* N m that the converter takes from the engine. Where the turbine is the faster one, the car drives the engine. */
static double pump_torque(const struct transmission *own)
{
    double engine = own->engine_speed * pi / 30.0, turbine = turbine_omega(own);
    return own->grip * pump_capacity * (engine * engine - turbine * turbine);
}

/* The converter doubles the torque of an engine that cannot turn its turbine yet, and none where both are nearly as fast. */
static double multiplication(const struct transmission *own)
{
    double engine = fmax(own->engine_speed * pi / 30.0, 1.0);
    return fmax(1.0, 2.0 - 1.1 * turbine_omega(own) / engine);
}

static void publish(struct transmission *own)
{
    own->turbine_speed = turbine_omega(own) * 30.0 / pi;
    own->vehicle_speed = own->speed * 3.6;
    own->load_torque = pump_torque(own);
}

/* Brake and tyres hold a car that stands, they do not drive it backwards. */
static void advance(struct transmission *own, double dt)
{
    double drive = pump_torque(own) * multiplication(own) * own->ratio * final_drive / wheel_radius;
    double resistance = rolling_force + drag * own->speed * own->speed + braking_force * own->brake;
    own->speed = fmax(0.0, own->speed + (drive - resistance) / mass * dt);
    own->ratio += (ratios[own->gear] - own->ratio) * dt / glide_time;
    own->grip += ((own->gear > 0 ? 1.0 : 0.0) - own->grip) * dt / glide_time;
}

fmi3Status model_step(void *model, struct fmu_step *step)
{
    struct transmission *own = model;
    double parts = fmax(1.0, ceil(step->size / internal_step - 1e-6));
    for (double part = 0.0; part < parts; part++) advance(own, step->size / parts);
    own->time = step->reached;
    publish(own);
    return fmi3OK;
}

void model_set_start_values(void *model)
{
    ((struct transmission *)model)->engine_speed = 850.0;
}

void model_initialize(void *model, double start_time)
{
    struct transmission *own = model;
    own->time = start_time;
    own->engaged_at = start_time - shortest_stay;
    own->ratio = ratios[0];
    publish(own);
}

/* ---- The control unit ---- */

static uint64_t right_gear(const struct transmission *own)
{
    if (own->gear == 0) return own->pedal > pulling_away ? 1 : 0;
    if (own->gear < HIGHEST_GEAR && own->turbine_speed > upshift_speed(own->pedal)) return own->gear + 1;
    if (own->gear > 1 && own->turbine_speed < downshift_speed(own->pedal)) return own->gear - 1;
    return own->gear;
}

static void control(struct transmission *own)
{
    bool is_shifting = own->wanted_gear != own->gear;
    if (is_shifting || own->time - own->engaged_at < shortest_stay) return;
    own->wanted_gear = right_gear(own);
    if (own->wanted_gear != own->gear) fmu_arm(&own->engage, fill_time(own->pedal));
}

static void engage(struct transmission *own)
{
    own->gear = own->wanted_gear;
    own->engaged_at = own->time;
    own->gear_changed = true;
}

/* ---- Event Mode ---- */

fmi3Status fmi3EnterEventMode(fmi3Instance instance)
{
    (void)instance;
    return fmi3OK;
}

fmi3Status fmi3EnterStepMode(fmi3Instance instance)
{
    (void)instance;
    return fmi3OK;
}

/* What goes with gear_changed can be read in this very iteration, so engage is done with at once. What control decides is
 * seen by nobody before fmi3UpdateDiscreteStates. */
fmi3Status fmi3SetClock(fmi3Instance instance, const fmi3ValueReference vrs[], size_t n, const fmi3Clock values[])
{
    struct transmission *own = instance;
    for (size_t i = 0; i < n; i++) {
        if (vrs[i] != CONTROL && vrs[i] != ENGAGE)
            return fmu_log(&own->base, fmi3Error, "fmi3SetClock: %u is no input clock.", vrs[i]);
        if (values[i] && vrs[i] == CONTROL) own->is_deciding = true;
        if (values[i] && vrs[i] == ENGAGE) engage(own);
    }
    return fmi3OK;
}

fmi3Status fmi3UpdateDiscreteStates(fmi3Instance instance, fmi3Boolean *discreteStatesNeedUpdate,
                                    fmi3Boolean *terminateSimulation, fmi3Boolean *nominalsOfContinuousStatesChanged,
                                    fmi3Boolean *valuesOfContinuousStatesChanged, fmi3Boolean *nextEventTimeDefined,
                                    fmi3Float64 *nextEventTime)
{
    struct transmission *own = instance;
    if (own->is_deciding) control(own);
    own->is_deciding = false;
    *discreteStatesNeedUpdate = *terminateSimulation = *nominalsOfContinuousStatesChanged = false;
    *valuesOfContinuousStatesChanged = *nextEventTimeDefined = false;
    *nextEventTime = 0.0;
    return fmi3OK;
}
