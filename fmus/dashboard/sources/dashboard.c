/* The instruments of a car, with two partitions that share nothing.
 *
 *   gear_message  one activation for each gear that the transmission engages, at that very time: the display of the gear
 *   needles       every 50 ms: speedometer and tachometer, which follow with some inertia */

#include "fmi3_model.h"

const char model_token[] = "{vecud-dashboard-1}";

enum clock { GEAR_MESSAGE = 1, NEEDLES = 2 };

static const double damping = 0.35; /* share of the way that a needle goes in 50 ms */

struct dashboard {
    struct fmu_base base;
    double time;
    /* Of gear_message. */
    uint64_t gear;                     /* input */
    uint64_t gear_shown, gear_changes; /* outputs */
    double gear_changed_at;            /* s, output */
    /* Of needles. */
    double vehicle_speed, engine_speed; /* km/h, rpm, inputs */
    double speedometer, tachometer;     /* km/h, rpm, outputs */
};

const size_t model_size = sizeof(struct dashboard);

#define AT(member) offsetof(struct dashboard, member)
const struct fmu_variable model_variables[] = {
    {0, FMU_FLOAT64, FMU_INDEPENDENT, AT(time)},
    {GEAR_MESSAGE, FMU_INPUT_CLOCK, FMU_CLOCK, 0},
    {NEEDLES, FMU_INPUT_CLOCK, FMU_CLOCK, 0},
    {10, FMU_UINT64, FMU_INPUT, AT(gear)},
    {11, FMU_FLOAT64, FMU_INPUT, AT(vehicle_speed)},
    {12, FMU_FLOAT64, FMU_INPUT, AT(engine_speed)},
    {20, FMU_UINT64, FMU_OUTPUT, AT(gear_shown)},
    {21, FMU_UINT64, FMU_OUTPUT, AT(gear_changes)},
    {22, FMU_FLOAT64, FMU_OUTPUT, AT(gear_changed_at)},
    {23, FMU_FLOAT64, FMU_OUTPUT, AT(speedometer)},
    {24, FMU_FLOAT64, FMU_OUTPUT, AT(tachometer)},
};
const size_t model_variable_count = sizeof model_variables / sizeof *model_variables;

void model_set_start_values(void *model)
{
    (void)model;
}

void model_initialize(void *model, double start_time)
{
    ((struct dashboard *)model)->time = start_time;
}

static void gear_message(struct dashboard *dashboard, double time)
{
    dashboard->gear_shown = dashboard->gear;
    dashboard->gear_changes++;
    dashboard->gear_changed_at = time;
}

static void needles(struct dashboard *dashboard)
{
    dashboard->speedometer += damping * (dashboard->vehicle_speed - dashboard->speedometer);
    dashboard->tachometer += damping * (dashboard->engine_speed - dashboard->tachometer);
}

void model_activate(void *model, fmi3ValueReference clock, double time)
{
    if (clock == GEAR_MESSAGE) gear_message(model, time);
    if (clock == NEEDLES) needles(model);
}
