/* A wheel whose speed is held: two periodic tasks and a triggered one. Put your model in its place.
 *
 *   on_pulse   triggered: the wheel has turned once; the time since the last turn says how fast
 *   task_1ms   every millisecond: the wheel itself, which ticks the output clock `pulse` once a turn
 *   task_10ms  every 10 ms: the controller, from the measured speed to the drive
 *
 * in the order of their priorities in modelDescription.xml: a task may be interrupted by any one above it, at any
 * instruction. Values that belong together, and that a task above writes, are read between fmu_lock and fmu_unlock.
 *
 * A further variable is an element in modelDescription.xml, a member of the struct and a line in the table below. A
 * further task is a clock there, a line in the table and a line in model_activate. fmi3_model.h says the rest; it and
 * what else lies here is the FMI side, the same in every model. No task allocates, prints or waits. */

#include "fmi3_model.h"
#include <math.h>

/* Another one whenever modelDescription.xml changes: vecud then notices a binary that does not belong to it. */
const char model_token[] = "{new_fmu-1}";

enum clock { ON_PULSE = 1, TASK_1MS = 2, TASK_10MS = 3, PULSE = 4 };

static const double time_constant = 0.5; /* s, of the wheel */
static const double reset_time = 0.5;    /* s, of the controller */
static const double strongest = 100.0;   /* turns per second that the drive is good for */

struct model {
    struct fmu_base base; /* first, always */

    double target; /* input, 1/s */
    double gain;   /* parameter */

    double time;           /* of the last activation, s */
    double speed;          /* output of task_1ms, 1/s */
    double measured_speed; /* output of on_pulse, 1/s; 0 before the second pulse */
    uint64_t turns;        /* output of on_pulse */
    double drive;          /* output of task_10ms: the speed that the wheel would have in the end, 1/s */
    fmu_tick pulse;

    /* task_1ms -> on_pulse */
    double turn_time; /* when the wheel was round, s */

    /* on_pulse -> task_10ms: belongs to measured_speed */
    double last_turn; /* s */

    /* Of task_1ms alone. */
    double angle;     /* turns, 0 to 1 */
    double last_step; /* s */

    /* Of task_10ms alone. */
    double integral; /* 1/s */
};

const size_t model_size = sizeof(struct model);

/* Value references, as in modelDescription.xml, and where the values are. */
#define AT(member) offsetof(struct model, member)
const struct fmu_variable model_variables[] = {
    {0, FMU_FLOAT64, FMU_INDEPENDENT, AT(time)},
    {ON_PULSE, FMU_INPUT_CLOCK, FMU_CLOCK, 0},
    {TASK_1MS, FMU_INPUT_CLOCK, FMU_CLOCK, 0},
    {TASK_10MS, FMU_INPUT_CLOCK, FMU_CLOCK, 0},
    {PULSE, FMU_OUTPUT_CLOCK, FMU_CLOCK, AT(pulse)},
    {10, FMU_FLOAT64, FMU_INPUT, AT(target)},
    {20, FMU_FLOAT64, FMU_OUTPUT, AT(speed)},
    {21, FMU_FLOAT64, FMU_OUTPUT, AT(measured_speed)},
    {22, FMU_UINT64, FMU_OUTPUT, AT(turns)},
    {23, FMU_FLOAT64, FMU_OUTPUT, AT(drive)},
    {40, FMU_FLOAT64, FMU_TUNABLE, AT(gain)},
};
const size_t model_variable_count = sizeof model_variables / sizeof *model_variables;

/* As in modelDescription.xml. Everything else is 0. */
void model_set_start_values(void *instance)
{
    struct model *model = instance;
    model->target = 20.0;
    model->gain = 1.0;
}

void model_initialize(void *instance, double start_time)
{
    struct model *model = instance;
    model->time = model->last_step = model->last_turn = start_time;
}

static void on_pulse(struct model *model)
{
    if (model->turns > 0) model->measured_speed = 1.0 / (model->turn_time - model->last_turn);
    model->last_turn = model->turn_time;
    model->turns++;
}

static void task_1ms(struct model *model, double time)
{
    double dt = time - model->last_step;
    model->last_step = time;
    model->speed += (model->drive - model->speed) * dt / time_constant;
    model->angle += model->speed * dt;
    if (model->angle < 1.0) return;

    model->angle -= 1.0;
    model->turn_time = time - model->angle / model->speed; /* between two steps */
    model->pulse = true;
    fmu_clock_update(model); /* tells of the tick, which activates on_pulse at once */
}

static void task_10ms(struct model *model, double time)
{
    fmu_lock(model);
    double measured = model->measured_speed, last_turn = model->last_turn;
    fmu_unlock(model);
    /* Of a wheel that comes to rest there are no more pulses: it is not faster than that. */
    if (time > last_turn) measured = fmin(measured, 1.0 / (time - last_turn));

    double error = model->target - measured;
    model->integral = fmin(fmax(model->integral + model->gain * error * 0.01 / reset_time, 0.0), strongest);
    model->drive = fmin(fmax(model->gain * error + model->integral, 0.0), strongest);
}

void model_activate(void *instance, fmi3ValueReference clock, double time)
{
    struct model *model = instance;
    model->time = time;
    if (clock == ON_PULSE) on_pulse(model);
    if (clock == TASK_1MS) task_1ms(model, time);
    if (clock == TASK_10MS) task_10ms(model, time);
}
