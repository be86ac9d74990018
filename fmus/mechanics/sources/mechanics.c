/* A motor that drives a load through a gear, a spring and a damper: the kind of model that C. Andersson's thesis (Lund, 2010) calls
 * Mechanics, with states, an input and no events. The thesis gives no numbers; these are ours.
 *
 *   der(phi1) = w1    J1 der(w1) = torque + amplitude sin(2 pi frequency t) - d1 w1 - m / n
 *   der(phi2) = w2    J2 der(w2) = m - d2 w2
 *   m = c (phi1 / n - phi2) + d (w1 / n - w2)
 *
 * It is linear in states and torque, so with the sine as two states more its solution is a matrix exponential. The sine of its own is
 * there for runs that set no input. */

#include "equations.h"
#include <math.h>

#define PI 3.14159265358979323846

struct mechanics {
    struct instance instance;
    double x[4], der[4]; /* phi1, w1, phi2, w2 */
    double torque, m;
    double j1, j2, n, c, d, d1, d2, amplitude, frequency;
};

#define AT(member) offsetof(struct mechanics, member)
static const struct variable variables[] = {
    {0, REAL, INDEPENDENT, 0, 0},
    {1, REAL, STATE, AT(x[0]), 0},
    {2, REAL, STATE, AT(x[1]), 0},
    {3, REAL, STATE, AT(x[2]), 0},
    {4, REAL, STATE, AT(x[3]), 0},
    {11, REAL, DERIVATIVE, AT(der[0]), 0},
    {12, REAL, DERIVATIVE, AT(der[1]), 0},
    {13, REAL, DERIVATIVE, AT(der[2]), 0},
    {14, REAL, DERIVATIVE, AT(der[3]), 0},
    {20, REAL, CONTINUOUS_INPUT, AT(torque), 0},
    {21, REAL, OUTPUT, AT(m), 0},
    {31, REAL, FIXED, AT(j1), 0},
    {32, REAL, FIXED, AT(j2), 0},
    {33, REAL, FIXED, AT(n), 0},
    {34, REAL, FIXED, AT(c), 0},
    {35, REAL, FIXED, AT(d), 0},
    {36, REAL, FIXED, AT(d1), 0},
    {37, REAL, FIXED, AT(d2), 0},
    {38, REAL, FIXED, AT(amplitude), 0},
    {39, REAL, FIXED, AT(frequency), 0},
};

static void start(void *model)
{
    struct mechanics *mechanics = model;
    mechanics->j1 = 0.05;
    mechanics->j2 = 2.0;
    mechanics->n = 10.0;
    mechanics->c = 1000.0;
    mechanics->d = 5.0;
    mechanics->d1 = 0.02;
    mechanics->d2 = 0.5;
    mechanics->amplitude = 10.0;
    mechanics->frequency = 2.0;
}

static enum answer outputs(void *model)
{
    struct mechanics *mechanics = model;
    const double *x = mechanics->x;
    mechanics->m = mechanics->c * (x[0] / mechanics->n - x[2]) + mechanics->d * (x[1] / mechanics->n - x[3]);
    return ANSWER_OK;
}

static enum answer derivatives(void *model)
{
    struct mechanics *mechanics = model;
    outputs(model);
    const double *x = mechanics->x;
    double own = mechanics->amplitude * sin(2.0 * PI * mechanics->frequency * mechanics->instance.time);
    mechanics->der[0] = x[1];
    mechanics->der[1] = (mechanics->torque + own - mechanics->d1 * x[1] - mechanics->m / mechanics->n) / mechanics->j1;
    mechanics->der[2] = x[3];
    mechanics->der[3] = (mechanics->m - mechanics->d2 * x[3]) / mechanics->j2;
    return ANSWER_OK;
}

const struct equations equations = {
    .token = "{vecud-mechanics-1}",
    .size = sizeof(struct mechanics),
    .variables = variables,
    .variable_count = sizeof variables / sizeof *variables,
    .state_count = 4,
    .state_offset = AT(x),
    .derivative_offset = AT(der),
    .start = start,
    .derivatives = derivatives,
    .outputs = outputs,
};
