/* An inertia on a spring and a damper, with the value references of the standard's example SpringMassDamper (FMI 2.0 and 3.0, Model
 * Exchange): several are beyond 2^29 and 2^30. The example gives no equations; these are the usual ones, and the numbers are ours.
 *
 *   der(phi) = w    J der(w) = tau - c phi - d w
 *
 * With a constant torque the solution is closed: with k = d / 2J, W = sqrt(c/J - k^2) and q = phi - tau/c,
 * q(t) = exp(-k t) (q(0) cos W t + (w(0) + k q(0)) / W sin W t). With c = d = 0 it is an inertia alone. */

#include "equations.h"

enum { PHI = 0, W = 1, DER_PHI = 2, DER_W = 3, TIME = 4, TAU = 536870912, OUT_PHI = 805306368, OUT_W, J = 1073741824, C, D };

struct spring {
    struct instance instance;
    double x[2], der[2];
    double tau, j, c, d;
};

#define AT(member) offsetof(struct spring, member)
static const struct variable variables[] = {
    {TIME, REAL, INDEPENDENT, 0, 0},
    {PHI, REAL, STATE, AT(x[0]), 0},
    {W, REAL, STATE, AT(x[1]), 0},
    {DER_PHI, REAL, DERIVATIVE, AT(der[0]), 0},
    {DER_W, REAL, DERIVATIVE, AT(der[1]), 0},
    {OUT_PHI, REAL, OUTPUT, AT(x[0]), 0},
    {OUT_W, REAL, OUTPUT, AT(x[1]), 0},
    {TAU, REAL, CONTINUOUS_INPUT, AT(tau), 0},
    {J, REAL, FIXED, AT(j), 0},
    {C, REAL, FIXED, AT(c), 0},
    {D, REAL, FIXED, AT(d), 0},
};

static void start(void *model)
{
    struct spring *spring = model;
    spring->x[0] = 1.0;
    spring->j = 1.0;
    spring->c = 100.0;
    spring->d = 2.0;
}

static enum answer derivatives(void *model)
{
    struct spring *spring = model;
    double phi = spring->x[0], w = spring->x[1];
    spring->der[0] = w;
    spring->der[1] = (spring->tau - spring->c * phi - spring->d * w) / spring->j;
    return ANSWER_OK;
}

static double partial(void *model, uint32_t unknown, uint32_t known)
{
    struct spring *spring = model;
    switch (unknown) {
    case DER_PHI: return known == W;
    case DER_W:
        if (known == PHI) return -spring->c / spring->j;
        if (known == W) return -spring->d / spring->j;
        return known == TAU ? 1.0 / spring->j : 0.0;
    case OUT_PHI: return known == PHI;
    case OUT_W: return known == W;
    default: return 0.0;
    }
}

const struct equations equations = {
    .token = "{8c4e810f-3df3-4a00-8276-176fa3c9f9e0}",
    .size = sizeof(struct spring),
    .variables = variables,
    .variable_count = sizeof variables / sizeof *variables,
    .state_count = 2,
    .state_offset = AT(x),
    .derivative_offset = AT(der),
    .start = start,
    .derivatives = derivatives,
    .partial = partial,
};
