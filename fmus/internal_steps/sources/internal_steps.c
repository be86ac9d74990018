/* A Co-Simulation FMU that makes each step in internal ones of a fifth, and calls back twice in each: in its midst, where values
 * are tentative (intermediateStepFinished is false), and at its end, where they count; `u` is asked for at both. It stops where it is
 * asked to return early. The first internal step of each takes `slow` seconds more, in which it goes on asking whether it is to.
 *
 * What an importer must not do is refused, so that the step is an error: to read or set what was not registered, or was not
 * allowed, in a callback; to set before it has read. */

#include "fmi3_model.h"
#include "mixing.h"
#include <stdlib.h>

const char model_token[] = "{vecud-internal-steps-1}";

enum { H = 1, V = 2, STEPS = 3, INTEGRAL = 4, U = 10, W = 11, STRAY = 20, SLOW = 21 };
enum { PARTS = 5, MOST = 8 };

struct ball {
    struct fmu_base base;
    double time, h, v, steps, integral, u, w, stray, slow;
    fmi3IntermediateUpdateCallback update;
    fmi3ValueReference registered[MOST];
    size_t n_registered;
    bool in_update, may_get, may_set, has_set, is_wrong;
};

const size_t model_size = sizeof(struct ball);

#define AT(member) offsetof(struct ball, member)
const struct fmu_variable model_variables[] = {
    {0, FMU_FLOAT64, FMU_INDEPENDENT, AT(time)},
    {H, FMU_FLOAT64, FMU_OUTPUT, AT(h)},
    {V, FMU_FLOAT64, FMU_OUTPUT, AT(v)},
    {STEPS, FMU_FLOAT64, FMU_OUTPUT, AT(steps)},
    {INTEGRAL, FMU_FLOAT64, FMU_OUTPUT, AT(integral)},
    {U, FMU_FLOAT64, FMU_INPUT, AT(u)},
    {W, FMU_FLOAT64, FMU_INPUT, AT(w)},
    {STRAY, FMU_FLOAT64, FMU_FIXED, AT(stray)},
    {SLOW, FMU_FLOAT64, FMU_FIXED, AT(slow)},
};
const size_t model_variable_count = sizeof model_variables / sizeof *model_variables;

void model_set_start_values(void *model)
{
    ((struct ball *)model)->h = 100.0;
}

void model_initialize(void *model, double start_time)
{
    ((struct ball *)model)->time = start_time;
}

/* Keeps what fmi3_steps.c leaves out. */
void model_is_told(void *model, const fmi3ValueReference required[], size_t n, fmi3IntermediateUpdateCallback update)
{
    struct ball *ball = model;
    ball->update = update;
    ball->n_registered = n < MOST ? n : MOST;
    for (size_t i = 0; i < ball->n_registered; i++) ball->registered[i] = required[i];
}

static bool is_registered(const struct ball *ball, fmi3ValueReference vr)
{
    for (size_t i = 0; i < ball->n_registered; i++)
        if (ball->registered[i] == vr) return true;
    return false;
}

bool model_may_set(const void *model, fmi3ValueReference vr)
{
    struct ball *ball = (struct ball *)model;
    if (!ball->in_update) return true;
    ball->has_set = true;
    if (ball->may_set && is_registered(ball, vr)) return true;
    ball->is_wrong = true;
    return false;
}

bool model_may_get(const void *model, fmi3ValueReference vr)
{
    struct ball *ball = (struct ball *)model;
    if (!ball->in_update && ball->stray == 1.0 && ball->steps > 0.0) {
        fmi3Boolean requested;
        double early;
        ball->stray = 2.0;
        if (ball->update) ball->update(ball->base.environment, ball->time, true, true, true, true, &requested, &early);
    }
    if (!ball->in_update || (ball->may_get && !ball->has_set && is_registered(ball, vr))) return true;
    ball->is_wrong = true;
    return false;
}

/* Calls back; whether it is to return early. */
static bool call_back(struct ball *ball, double time, bool finished)
{
    if (!ball->update) return false;
    fmi3Boolean requested = true;
    double early = -1.0;
    ball->in_update = true;
    ball->has_set = false;
    ball->may_get = ball->may_set = true;
    ball->update(ball->base.environment, time, true, true, finished, finished, &requested, &early);
    ball->in_update = false;
    if (requested && !(early >= time)) ball->is_wrong = true;
    return requested;
}

fmi3Status model_step(void *model, struct fmu_step *step)
{
    struct ball *ball = model;
    double h = step->size / PARTS;
    for (int part = 0; part < PARTS; part++) {
        double begin = step->point + part * h;
        ball->time = begin + 0.5 * h;
        if (call_back(ball, begin + 0.5 * h, false)) ball->is_wrong = true;
        ball->integral += ball->u * h;
        ball->v -= 10.0 * h;
        ball->h += (ball->v + 5.0 * h) * h;
        ball->time = begin + h;
        if (ball->is_wrong) return fmu_log(&ball->base, fmi3Error, "what was not allowed in an intermediate update");
        double end = part + 1 < PARTS ? begin + h : step->reached;
        bool early = call_back(ball, end, true);
        for (double spent = 0.0; !early && part == 0 && spent < ball->slow; spent += 1e-3) {
            burn(1000);
            early = call_back(ball, end, true);
        }
        if (early && part + 1 < PARTS) {
            step->early = true;
            step->reached = begin + h;
            break;
        }
    }
    ball->steps++;
    return ball->is_wrong ? fmi3Error : fmi3OK;
}
