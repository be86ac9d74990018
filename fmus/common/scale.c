/* A chain of masses between two walls with springs of one stiffness, as long as its structural parameters say, and event indicators that
 * watch where its masses are: equations of any size. size.h has the numbers of states and event indicators that the FMU begins with.
 *
 *   der(x_i) = v_i    der(v_i) = c (x_(i-1) - 2 x_i + x_(i+1)) - d v_i    x_0 = x_(n+1) = 0
 *
 * The states are all x, then all v, so their number is even. At first x_1 is 1 and all else 0. Without damping the energy is constant.
 * In a run, masses that are cut off are gone with their speed, and new ones rest at 0; what is above its level then is not counted.
 * Indicator j is x_i - l, with i and the level l spread over masses and [-1/2, 1/2]; what it crosses is counted, and nothing else happens. */

#include "equations.h"
#include "size.h"
#include <string.h>

enum { MOST_STATES = 512, MOST_INDICATORS = 4096 };

struct scale {
    struct instance instance;
    uint64_t states, indicators, resized;
    double x[MOST_STATES], der[MOST_STATES], z[MOST_INDICATORS];
    bool above[MOST_INDICATORS];
    double c, d, energy;
    int32_t crossings;
};

#define AT(member) offsetof(struct scale, member)
static const struct variable variables[] = {
    {0, REAL, INDEPENDENT, 0, 0},
    {1, COUNT, STRUCTURAL, AT(states), 0},
    {2, COUNT, STRUCTURAL, AT(indicators), 0},
    {3, REAL, CALCULATED_STATE, AT(x), AS_STATES},
    {4, REAL, DERIVATIVE, AT(der), AS_STATES},
    {5, REAL, INDICATOR, AT(z), AS_INDICATORS},
    {6, REAL, FIXED, AT(c), 0},
    {7, REAL, FIXED, AT(d), 0},
    {8, REAL, OUTPUT, AT(energy), 0},
    {9, INTEGER, OUTPUT, AT(crossings), 0},
    {10, COUNT, OUTPUT, AT(resized), 0},
};

static size_t masses(const struct scale *scale)
{
    return scale->states / 2;
}

static enum answer indicators(void *model);

/* From here on crossings are counted. */
static void watch(struct scale *scale)
{
    indicators(scale);
    for (size_t j = 0; j < scale->indicators; j++) scale->above[j] = scale->z[j] > 0.0;
}

static void resize(void *model)
{
    struct scale *scale = model;
    size_t before = scale->instance.state_count / 2;
    if (scale->states > MOST_STATES) scale->states = MOST_STATES;
    if (scale->indicators > MOST_INDICATORS) scale->indicators = MOST_INDICATORS;
    scale->states -= scale->states % 2;
    scale->instance.state_count = scale->states;
    scale->instance.indicator_count = scale->indicators;
    if (scale->instance.configured_in != EVENT_MODE) return;
    size_t now = scale->states / 2, kept = now < before ? now : before;
    double speeds[MOST_STATES / 2];
    memcpy(speeds, scale->x + before, kept * sizeof *speeds);
    memset(scale->x + kept, 0, (MOST_STATES - kept) * sizeof *scale->x);
    memcpy(scale->x + now, speeds, kept * sizeof *speeds);
    scale->resized++;
    watch(scale);
}

static void start(void *model)
{
    struct scale *scale = model;
    scale->states = STATES;
    scale->indicators = INDICATORS;
    scale->c = 100.0;
    resize(model);
}


/* Where mass `i` is, counted from 1; the walls are 0 and one more than there are masses. */
static double place(const struct scale *scale, size_t i)
{
    return i == 0 || i > masses(scale) ? 0.0 : scale->x[i - 1];
}

static enum answer derivatives(void *model)
{
    struct scale *scale = model;
    size_t n = masses(scale);
    for (size_t i = 1; i <= n; i++) {
        double v = scale->x[n + i - 1];
        scale->der[i - 1] = v;
        scale->der[n + i - 1] = scale->c * (place(scale, i - 1) - 2.0 * place(scale, i) + place(scale, i + 1)) - scale->d * v;
    }
    return ANSWER_OK;
}

static enum answer indicators(void *model)
{
    struct scale *scale = model;
    for (size_t j = 0; j < scale->indicators; j++) {
        /* 11 is prime to both sizes, so neighbours have levels far apart. */
        double level = (double)(11 * j % scale->indicators + 0.5) / (double)scale->indicators - 0.5;
        scale->z[j] = place(scale, masses(scale) ? 1 + j % masses(scale) : 0) - level;
    }
    return ANSWER_OK;
}

static enum answer outputs(void *model)
{
    struct scale *scale = model;
    size_t n = masses(scale);
    scale->energy = 0.0;
    for (size_t i = 0; i <= n; i++) {
        double stretch = place(scale, i + 1) - place(scale, i), v = i < n ? scale->x[n + i] : 0.0;
        scale->energy += 0.5 * scale->c * stretch * stretch + 0.5 * v * v;
    }
    return ANSWER_OK;
}

static void initialize(void *model)
{
    struct scale *scale = model;
    scale->x[0] = 1.0;
    watch(scale);
}

static void update(void *model, struct event *event)
{
    (void)event;
    struct scale *scale = model;
    indicators(model);
    for (size_t j = 0; j < scale->indicators; j++) {
        bool above = scale->z[j] > 0.0;
        scale->crossings += above != scale->above[j];
        scale->above[j] = above;
    }
}

const struct equations equations = {
    .token = TOKEN,
    .size = sizeof(struct scale),
    .variables = variables,
    .variable_count = sizeof variables / sizeof *variables,
    .state_offset = AT(x),
    .derivative_offset = AT(der),
    .indicator_offset = AT(z),
    .start = start,
    .resize = resize,
    .initialize = initialize,
    .derivatives = derivatives,
    .indicators = indicators,
    .outputs = outputs,
    .update = update,
};
