/* A four-cylinder petrol engine of two litres, as a mean-value model: manifold, torque and crankshaft. The same file in every
 * FMU that has it. Nothing here depends on anything but inputs and time. */

#ifndef engine_h
#define engine_h

#include <stdbool.h>

struct engine {
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
    double speed;             /* rpm */
    double manifold_pressure; /* kPa */
    double torque;            /* N m, indicated */
    double load;              /* N m */
    double air_flow;          /* g/s, into the cylinders */
    double lambda;            /* air-fuel ratio over the stoichiometric one; 0 without fuel */
    double crank_angle;       /* degrees, 0 to 720 */

    /* States, and their derivatives. */
    double omega, acceleration; /* rad/s, rad/s2 */
    double pressure;            /* Pa */
    double pressure_rate;       /* Pa/s */
    double combustion_torque;   /* N m, what reaches the crankshaft */
    double torque_rate;
};

extern const double engine_pi;

void engine_set_start_values(struct engine *engine);
void engine_initialize(struct engine *engine, double time); /* parameters and inputs are known */

/* Radians that the crankshaft turns in `dt` seconds from now. */
double engine_angle_after(const struct engine *engine, double dt);
/* States after `dt` seconds. */
void engine_advance(struct engine *engine, double dt);
/* Outputs, of the states at `time`. */
void engine_publish(struct engine *engine, double time);
/* What inputs and states make of the coming milliseconds. */
void engine_differentiate(struct engine *engine);

#endif
