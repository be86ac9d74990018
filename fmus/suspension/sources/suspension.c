/* A quarter of a car on a road: a body on a spring, an adjustable damper and a bump stop, a wheel beneath them, and a tyre that pushes
 * but does not pull, so that the wheel can leave the road.
 *
 *   M der(V) = S + D - M g          S = ks s, and kb (s - s_stop) more on the stop: s is how far the suspension is pressed together
 *   m der(v) = T - S - D - m g      T = kt d on the road, else 0: d is how far the tyre is pressed together
 *   D = c (v - V)                   s = wheel height - body height,  d = road height - wheel height
 *
 * Heights are measured from where the springs are unloaded on an even road. It begins at rest, its weight on the springs: the tyre is
 * pressed by (M + m) g / kt, the suspension by M g / ks.
 *
 * M, m, ks, kt and the damper's 1000 N s/m are those of the example "Robust Control of Active Suspension" of MathWorks' Robust Control
 * Toolbox: 300 kg, 60 kg, 16 kN/m, 190 kN/m. The damper's range, the stop and the road are ours.
 *
 * The road: waves of four lengths as long as the car goes, as high as they are long; a bump and a pothole, each one period of a cosine.
 * They begin and end at time events, since the road's curvature jumps there. Two event indicators: d, and s - s_stop. */

#include "equations.h"
#include <math.h>

enum { BODY, WHEEL, BODY_VELOCITY, WHEEL_VELOCITY, STATES };
enum { ROAD, STOP, CONTACTS };
enum { WAVES = 4 };

#define PI 3.14159265358979323846
#define GRAVITY 9.81 /* m/s2 */

/* m, of which the first one shakes the body most and the last one the wheel, at the speed that is the default. */
static const double wave_lengths[WAVES] = {15.4, 6.7, 3.3, 1.7};

/* A bump, or with a negative height a pothole. */
struct hump {
    double at;     /* s, when the wheel comes to it */
    double height; /* m */
    double length; /* m */
};

struct suspension {
    struct instance instance;
    double x[STATES], der[STATES], z[CONTACTS];
    double damping;                                                      /* N s/m, input */
    double body_acceleration, deflection, tyre_force, damper_force, road; /* outputs */
    double body_mass, wheel_mass;
    double spring_stiffness, tyre_stiffness, stop_stiffness; /* N/m */
    double stop_at;                                          /* m */
    double softest, hardest;                                 /* N s/m, what the damper can be */
    double speed, wave_height;
    struct hump bump, pothole;
    bool touches[CONTACTS];
    bool airborne;
    int32_t flights, stops;
};

#define AT(member) offsetof(struct suspension, member)
static const struct variable variables[] = {
    {0, REAL, INDEPENDENT, 0, 0},
    {1, REAL, CALCULATED_STATE, AT(x[BODY]), 0},
    {2, REAL, CALCULATED_STATE, AT(x[WHEEL]), 0},
    {3, REAL, CALCULATED_STATE, AT(x[BODY_VELOCITY]), 0},
    {4, REAL, CALCULATED_STATE, AT(x[WHEEL_VELOCITY]), 0},
    {5, REAL, DERIVATIVE, AT(der[BODY]), 0},
    {6, REAL, DERIVATIVE, AT(der[WHEEL]), 0},
    {7, REAL, DERIVATIVE, AT(der[BODY_VELOCITY]), 0},
    {8, REAL, DERIVATIVE, AT(der[WHEEL_VELOCITY]), 0},
    {10, REAL, CONTINUOUS_INPUT, AT(damping), 0},
    {20, REAL, OUTPUT, AT(body_acceleration), 0},
    {21, REAL, OUTPUT, AT(deflection), 0},
    {22, REAL, OUTPUT, AT(tyre_force), 0},
    {23, REAL, OUTPUT, AT(damper_force), 0},
    {24, REAL, OUTPUT, AT(road), 0},
    {30, BOOLEAN, OUTPUT, AT(airborne), 0},
    {31, INTEGER, OUTPUT, AT(flights), 0},
    {32, INTEGER, OUTPUT, AT(stops), 0},
    {40, REAL, FIXED, AT(body_mass), 0},
    {41, REAL, FIXED, AT(wheel_mass), 0},
    {42, REAL, FIXED, AT(spring_stiffness), 0},
    {43, REAL, FIXED, AT(tyre_stiffness), 0},
    {44, REAL, FIXED, AT(stop_stiffness), 0},
    {45, REAL, FIXED, AT(stop_at), 0},
    {46, REAL, FIXED, AT(softest), 0},
    {47, REAL, FIXED, AT(hardest), 0},
    {50, REAL, FIXED, AT(speed), 0},
    {51, REAL, FIXED, AT(wave_height), 0},
    {52, REAL, FIXED, AT(bump.at), 0},
    {53, REAL, FIXED, AT(bump.height), 0},
    {54, REAL, FIXED, AT(bump.length), 0},
    {55, REAL, FIXED, AT(pothole.at), 0},
    {56, REAL, FIXED, AT(pothole.height), 0},
    {57, REAL, FIXED, AT(pothole.length), 0},
    {60, REAL, INDICATOR, AT(z), AS_INDICATORS},
};

static void start(void *model)
{
    struct suspension *car = model;
    car->damping = 1000.0;
    car->body_mass = 300.0;
    car->wheel_mass = 60.0;
    car->spring_stiffness = 16e3;
    car->tyre_stiffness = 190e3;
    car->stop_stiffness = 100e3;
    car->stop_at = 0.26;
    car->softest = 300.0;
    car->hardest = 4000.0;
    car->speed = 20.0;
    car->wave_height = 0.01;
    car->bump = (struct hump){1.0, 0.08, 1.2};
    car->pothole = (struct hump){3.0, -0.08, 1.2};
}

/* ---- The road ---- */

static double hump_end(const struct suspension *car, const struct hump *hump)
{
    return hump->at + hump->length / car->speed;
}

static double hump_height(const struct suspension *car, const struct hump *hump)
{
    double time = car->instance.time;
    if (time <= hump->at || time >= hump_end(car, hump)) return 0.0;
    return hump->height * 0.5 * (1.0 - cos(2.0 * PI * (time - hump->at) * car->speed / hump->length));
}

static double road_height(const struct suspension *car)
{
    double height = hump_height(car, &car->bump) + hump_height(car, &car->pothole);
    for (int i = 0; i < WAVES; i++) {
        double length = wave_lengths[i];
        height += car->wave_height * length / wave_lengths[0] * sin(2.0 * PI * car->instance.time * car->speed / length);
    }
    return height;
}

/* ---- Forces, as long as nothing begins or ceases to touch ---- */

/* At rest; the road begins at height 0. */
static void initialize(void *model)
{
    struct suspension *car = model;
    car->x[WHEEL] = road_height(car) - (car->body_mass + car->wheel_mass) * GRAVITY / car->tyre_stiffness;
    car->x[BODY] = car->x[WHEEL] - car->body_mass * GRAVITY / car->spring_stiffness;
    car->touches[ROAD] = true;
}

static enum answer derivatives(void *model)
{
    struct suspension *car = model;
    car->road = road_height(car);
    car->deflection = car->x[WHEEL] - car->x[BODY];
    car->tyre_force = car->touches[ROAD] ? car->tyre_stiffness * (car->road - car->x[WHEEL]) : 0.0;
    double spring_force = car->spring_stiffness * car->deflection;
    if (car->touches[STOP]) spring_force += car->stop_stiffness * (car->deflection - car->stop_at);
    double damping = fmin(fmax(car->damping, car->softest), car->hardest);
    car->damper_force = damping * (car->x[WHEEL_VELOCITY] - car->x[BODY_VELOCITY]);

    double between = spring_force + car->damper_force;
    car->body_acceleration = between / car->body_mass - GRAVITY;
    car->der[BODY] = car->x[BODY_VELOCITY];
    car->der[WHEEL] = car->x[WHEEL_VELOCITY];
    car->der[BODY_VELOCITY] = car->body_acceleration;
    car->der[WHEEL_VELOCITY] = (car->tyre_force - between) / car->wheel_mass - GRAVITY;
    return ANSWER_OK;
}

/* Above zero where something touches. */
static enum answer indicators(void *model)
{
    struct suspension *car = model;
    car->z[ROAD] = road_height(car) - car->x[WHEEL];
    car->z[STOP] = car->x[WHEEL] - car->x[BODY] - car->stop_at;
    return ANSWER_OK;
}

/* ---- Events ---- */

static void announce(const struct suspension *car, struct event *event, double time)
{
    if (time <= car->instance.time || (event->has_next && event->next <= time)) return;
    event->has_next = true;
    event->next = time;
}

static void update(void *model, struct event *event)
{
    struct suspension *car = model;
    announce(car, event, car->bump.at);
    announce(car, event, hump_end(car, &car->bump));
    announce(car, event, car->pothole.at);
    announce(car, event, hump_end(car, &car->pothole));

    indicators(model);
    bool touches_road = car->z[ROAD] > 0.0, touches_stop = car->z[STOP] > 0.0;
    if (car->touches[ROAD] && !touches_road) car->flights++;
    if (!car->touches[STOP] && touches_stop) car->stops++;
    car->touches[ROAD] = touches_road;
    car->touches[STOP] = touches_stop;
    car->airborne = !touches_road;
}

const struct equations equations = {
    .token = "{vecud-suspension-1}",
    .size = sizeof(struct suspension),
    .variables = variables,
    .variable_count = sizeof variables / sizeof *variables,
    .state_count = STATES,
    .indicator_count = CONTACTS,
    .state_offset = AT(x),
    .derivative_offset = AT(der),
    .indicator_offset = AT(z),
    .start = start,
    .initialize = initialize,
    .derivatives = derivatives,
    .indicators = indicators,
    .outputs = derivatives,
    .update = update,
};
