/* der(x) = A x + B u, y = C x + D u with 12 states, 2 inputs and 3 outputs, whose matrices are sparse and known, so that whoever
 * takes them from directional derivatives can be checked: nothing in them is 0 or 1 by chance, and all are exact in binary.
 *
 *   A(i,i) = -1 - i/4    A(i,i+1) = 1/2 + i/16    A(i+1,i) = -3/8 - i/32    A(0,11) = 1/8    A(7,2) = -5/16
 *   B(0,0) = 3/2    B(6,1) = -7/4    C(0,0) = 2    C(1,5) = -3    C(1,6) = 1/2    C(2,11) = 5/4    D(2,1) = 9/8
 *
 * (rows and columns from 0). modelDescription.xml has exactly these dependencies. The FMU counts calls of
 * fmi3GetDirectionalDerivative and of fmi3GetContinuousStateDerivatives. */

#include "equations.h"
#include <string.h>

enum { STATES = 12, INPUTS = 2, OUTPUTS = 3 };
/* Value references of the first of each kind. */
enum { X = 100, DER_X = 200, U = 300, Y = 400 };

struct linear {
    struct instance instance;
    double x[STATES], der[STATES], u[INPUTS], y[OUTPUTS];
    int32_t directional_derivatives, right_hand_sides;
};

#define AT(member) offsetof(struct linear, member)
#define TWELVE(first, role, member)                                                                                   \
    {first, REAL, role, AT(member[0]), 0}, {first + 1, REAL, role, AT(member[1]), 0},                                 \
        {first + 2, REAL, role, AT(member[2]), 0}, {first + 3, REAL, role, AT(member[3]), 0},                         \
        {first + 4, REAL, role, AT(member[4]), 0}, {first + 5, REAL, role, AT(member[5]), 0},                         \
        {first + 6, REAL, role, AT(member[6]), 0}, {first + 7, REAL, role, AT(member[7]), 0},                         \
        {first + 8, REAL, role, AT(member[8]), 0}, {first + 9, REAL, role, AT(member[9]), 0},                         \
        {first + 10, REAL, role, AT(member[10]), 0}, {first + 11, REAL, role, AT(member[11]), 0}

static const struct variable variables[] = {
    {0, REAL, INDEPENDENT, 0, 0},
    TWELVE(X, STATE, x),
    TWELVE(DER_X, DERIVATIVE, der),
    {U, REAL, CONTINUOUS_INPUT, AT(u[0]), 0},
    {U + 1, REAL, CONTINUOUS_INPUT, AT(u[1]), 0},
    {Y, REAL, OUTPUT, AT(y[0]), 0},
    {Y + 1, REAL, OUTPUT, AT(y[1]), 0},
    {Y + 2, REAL, OUTPUT, AT(y[2]), 0},
    {500, INTEGER, OUTPUT, AT(directional_derivatives), 0},
    {501, INTEGER, OUTPUT, AT(right_hand_sides), 0},
};

static double a(int row, int column)
{
    if (row == column) return -1.0 - row / 4.0;
    if (column == row + 1) return 0.5 + row / 16.0;
    if (row == column + 1) return -0.375 - column / 32.0;
    if (row == 0 && column == STATES - 1) return 0.125;
    return row == 7 && column == 2 ? -0.3125 : 0.0;
}

static double b(int row, int column)
{
    if (row == 0 && column == 0) return 1.5;
    return row == 6 && column == 1 ? -1.75 : 0.0;
}

static double c(int row, int column)
{
    if (row == 0 && column == 0) return 2.0;
    if (row == 1 && column == 5) return -3.0;
    if (row == 1 && column == 6) return 0.5;
    return row == 2 && column == STATES - 1 ? 1.25 : 0.0;
}

static double d(int row, int column)
{
    return row == 2 && column == 1 ? 1.125 : 0.0;
}

static void start(void *model)
{
    struct linear *linear = model;
    for (int i = 0; i < STATES; i++) linear->x[i] = 1.0 + i;
}

static enum answer derivatives(void *model)
{
    struct linear *linear = model;
    for (int row = 0; row < STATES; row++) {
        linear->der[row] = 0.0;
        for (int column = 0; column < STATES; column++) linear->der[row] += a(row, column) * linear->x[column];
        for (int column = 0; column < INPUTS; column++) linear->der[row] += b(row, column) * linear->u[column];
    }
    return ANSWER_OK;
}

static enum answer outputs(void *model)
{
    struct linear *linear = model;
    for (int row = 0; row < OUTPUTS; row++) {
        linear->y[row] = 0.0;
        for (int column = 0; column < STATES; column++) linear->y[row] += c(row, column) * linear->x[column];
        for (int column = 0; column < INPUTS; column++) linear->y[row] += d(row, column) * linear->u[column];
    }
    return ANSWER_OK;
}

/* Whether a variable is one of `count` from `first` on, and which. */
static bool is_among(uint32_t reference, uint32_t first, uint32_t count, int *which)
{
    *which = (int)(reference - first);
    return reference >= first && reference < first + count;
}

static double partial(void *model, uint32_t unknown, uint32_t known)
{
    (void)model;
    int row, column;
    bool of_derivative = is_among(unknown, DER_X, STATES, &row);
    if (!of_derivative && !is_among(unknown, Y, OUTPUTS, &row)) return 0.0;
    if (is_among(known, X, STATES, &column)) return of_derivative ? a(row, column) : c(row, column);
    if (is_among(known, U, INPUTS, &column)) return of_derivative ? b(row, column) : d(row, column);
    return 0.0;
}

static enum answer count(void *model, const char *function)
{
    struct linear *linear = model;
    if (strcmp(function, "fmi3GetDirectionalDerivative") == 0) linear->directional_derivatives++;
    if (strcmp(function, "fmi3GetContinuousStateDerivatives") == 0) linear->right_hand_sides++;
    return ANSWER_OK;
}

const struct equations equations = {
    .token = "{vecud-linear-1}",
    .size = sizeof(struct linear),
    .variables = variables,
    .variable_count = sizeof variables / sizeof *variables,
    .state_count = STATES,
    .state_offset = AT(x),
    .derivative_offset = AT(der),
    .start = start,
    .derivatives = derivatives,
    .outputs = outputs,
    .partial = partial,
    .meddle = count,
};
