/* See engine.h. */

#include "engine.h"
#include <math.h>

/* ---- Physical constants ---- */

const double engine_pi = 3.14159265358979323846;
#define pi 3.14159265358979323846
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

void engine_set_start_values(struct engine *engine)
{
    engine->throttle = 0.05;
    engine->spark_advance = 12.0;
    engine->initial_speed = 1000.0;
    engine->load_step_time = 4.0;
    engine->load_step_end = 7.0;
    engine->load_step_torque = 15.0;
}

void engine_initialize(struct engine *engine, double time)
{
    engine->omega = engine->initial_speed * pi / 30.0;
    engine->pressure = 40e3;
    engine->combustion_torque = 30.0;
    engine_publish(engine, time);
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
static double indicated_torque(const struct engine *engine)
{
    double burnt = fmin(fmax(engine->fuel_mass, 0.0) * 1e-6, air_per_stroke(engine->pressure) / stoichiometric_ratio);
    double off = (engine->spark_advance - best_spark_advance) / spark_window;
    double spark_efficiency = fmax(0.0, 1.0 - off * off);
    return indicated_efficiency * spark_efficiency * heating_value * burnt * strokes_per_cycle / (4.0 * pi);
}

/* N m: bearings and valve gear, plus the work of drawing air past the throttle. */
static double lost_torque(const struct engine *engine)
{
    double friction = 13.0 + 0.02 * engine->omega + 1.2e-4 * engine->omega * engine->omega;
    return friction + fmax(0.0, ambient_pressure - engine->pressure) * displacement / (4.0 * pi);
}

static double load_at(const struct engine *engine, double time)
{
    bool stepped = time >= engine->load_step_time && time < engine->load_step_end;
    return engine->load_torque + (stepped ? engine->load_step_torque : 0.0);
}

/* ---- Crankshaft and manifold ---- */

double engine_angle_after(const struct engine *engine, double dt)
{
    return engine->omega * dt + 0.5 * engine->acceleration * dt * dt;
}

void engine_advance(struct engine *engine, double dt)
{
    double turned = engine_angle_after(engine, dt);
    engine->crank_angle = fmod(engine->crank_angle + turned * 180.0 / pi, 720.0);
    engine->omega = fmax(0.0, engine->omega + engine->acceleration * dt);
    engine->pressure = fmin(fmax(engine->pressure + engine->pressure_rate * dt, 5e3), ambient_pressure);
    engine->combustion_torque += engine->torque_rate * dt;
}

void engine_differentiate(struct engine *engine)
{
    double drawn = air_per_stroke(engine->pressure) * strokes_per_second(engine->omega);
    engine->pressure_rate = gas_constant * manifold_temperature / manifold_volume *
                           (throttle_flow(engine->throttle, engine->pressure) - drawn);

    /* Fuel becomes torque one power stroke later, which the mean value sees as a lag. */
    double lag = fmin(pi / fmax(engine->omega, 10.0), 0.1);
    engine->torque_rate = (indicated_torque(engine) - engine->combustion_torque) / lag;

    double brake = lost_torque(engine) + engine->load;
    if (engine->omega <= 0.0) brake = fmin(brake, engine->combustion_torque); /* friction holds, it does not drive */
    engine->acceleration = (engine->combustion_torque - brake) / inertia;
}

void engine_publish(struct engine *engine, double time)
{
    double air = air_per_stroke(engine->pressure);
    engine->speed = engine->omega * 30.0 / pi;
    engine->manifold_pressure = engine->pressure / 1000.0;
    engine->torque = engine->combustion_torque;
    engine->load = load_at(engine, time);
    engine->air_flow = air * strokes_per_second(engine->omega) * 1000.0;
    engine->lambda = engine->fuel_mass > 0.0 ? air / (stoichiometric_ratio * engine->fuel_mass * 1e-6) : 0.0;
}
