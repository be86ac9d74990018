/* A weighted sum, y = a u1 + b u2, without states or events. With a = 1, b = -1 and y connected to u2 it is the model Feedback of
 * C. Andersson's thesis (Lund, 2010): an algebraic loop whose solution for u1 = sin t is y = 0.5 sin t. With other weights it is the
 * spring and damper between what has states: y = -c phi - d w. */

#include "equations.h"

enum { U1 = 1, U2 = 2, Y = 3 };

struct feedback {
    struct instance instance;
    double u1, u2, y, a, b;
};

#define AT(member) offsetof(struct feedback, member)
static const struct variable variables[] = {
    {0, REAL, INDEPENDENT, 0, 0},
    {U1, REAL, CONTINUOUS_INPUT, AT(u1), 0},
    {U2, REAL, CONTINUOUS_INPUT, AT(u2), 0},
    {Y, REAL, OUTPUT, AT(y), 0},
    {4, REAL, FIXED, AT(a), 0},
    {5, REAL, FIXED, AT(b), 0},
};

static void start(void *model)
{
    struct feedback *feedback = model;
    feedback->a = 1.0;
    feedback->b = -1.0;
}

static enum answer outputs(void *model)
{
    struct feedback *feedback = model;
    feedback->y = feedback->a * feedback->u1 + feedback->b * feedback->u2;
    return ANSWER_OK;
}

static double partial(void *model, uint32_t unknown, uint32_t known)
{
    struct feedback *feedback = model;
    if (unknown != Y) return 0.0;
    if (known == U1) return feedback->a;
    return known == U2 ? feedback->b : 0.0;
}

const struct equations equations = {
    .token = "{vecud-feedback-1}",
    .size = sizeof(struct feedback),
    .variables = variables,
    .variable_count = sizeof variables / sizeof *variables,
    .start = start,
    .outputs = outputs,
    .partial = partial,
};
