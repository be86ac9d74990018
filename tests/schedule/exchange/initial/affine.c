/* Two lines beside each other, y1 = a1 u1 + b1 and y2 = a2 u2 + b2: inputs and outputs of one FMU that have nothing to do with each
 * other. With KEEPS the outputs are those of the inputs at the initialisation. */

#include "equations.h"

struct affine {
    struct instance instance;
    double u1, u2, kept1, kept2, y1, y2, a1, b1, a2, b2;
};

#define AT(member) offsetof(struct affine, member)
static const struct variable variables[] = {
    {0, REAL, INDEPENDENT, 0, 0},
    {1, REAL, CONTINUOUS_INPUT, AT(u1), 0},
    {2, REAL, CONTINUOUS_INPUT, AT(u2), 0},
    {3, REAL, OUTPUT, AT(y1), 0},
    {4, REAL, OUTPUT, AT(y2), 0},
    {5, REAL, FIXED, AT(a1), 0},
    {6, REAL, FIXED, AT(b1), 0},
    {7, REAL, FIXED, AT(a2), 0},
    {8, REAL, FIXED, AT(b2), 0},
};

static void initialize(void *model)
{
    struct affine *affine = model;
    affine->kept1 = affine->u1;
    affine->kept2 = affine->u2;
}

static enum answer outputs(void *model)
{
    struct affine *affine = model;
#ifdef KEEPS
    double u1 = affine->kept1, u2 = affine->kept2;
#else
    double u1 = affine->u1, u2 = affine->u2;
#endif
    affine->y1 = affine->a1 * u1 + affine->b1;
    affine->y2 = affine->a2 * u2 + affine->b2;
    return ANSWER_OK;
}

const struct equations equations = {
    .token = "{affine}",
    .size = sizeof(struct affine),
    .variables = variables,
    .variable_count = sizeof variables / sizeof *variables,
    .initialize = initialize,
    .outputs = outputs,
};
