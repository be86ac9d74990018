/* A Co-Simulation FMU of FMI 2.0 that interpolates its inputs: it integrates `u` over each step, as a line or a parabola where it was
 * given the first or both derivatives of `u` at the step's begin. They count for the step that follows; one without a value before it is
 * refused, and so is a third. Its own output derivative is that of the integral, which is u at the end of the step. */

#include "fmi2Functions.h"
#include <stdlib.h>
#include <string.h>

enum { U, V, INTEGRAL, SLOPE_U, SLOPE_V, CURVE_U, REALS };
enum { SLOPES = 5 };

struct follower {
    double values[REALS];
    double slope[2], curve[2]; /* for the step to come */
    int is_set[2];
    double u_at_end;
    int slopes;
};

const char *fmi2GetTypesPlatform(void) { return fmi2TypesPlatform; }
const char *fmi2GetVersion(void) { return fmi2Version; }

fmi2Component fmi2Instantiate(fmi2String name, fmi2Type type, fmi2String guid, fmi2String resources,
                              const fmi2CallbackFunctions *functions, fmi2Boolean visible, fmi2Boolean logging)
{
    (void)name, (void)resources, (void)functions, (void)visible, (void)logging;
    if (type != fmi2CoSimulation || strcmp(guid, "{vecud-follower-1}") != 0) return NULL;
    return calloc(1, sizeof(struct follower));
}

void fmi2FreeInstance(fmi2Component c) { free(c); }

fmi2Status fmi2SetupExperiment(fmi2Component c, fmi2Boolean has_tolerance, fmi2Real tolerance, fmi2Real start,
                               fmi2Boolean has_stop, fmi2Real stop)
{
    (void)c, (void)has_tolerance, (void)tolerance, (void)start, (void)has_stop, (void)stop;
    return fmi2OK;
}

fmi2Status fmi2EnterInitializationMode(fmi2Component c) { (void)c; return fmi2OK; }
fmi2Status fmi2ExitInitializationMode(fmi2Component c) { (void)c; return fmi2OK; }
fmi2Status fmi2Terminate(fmi2Component c) { (void)c; return fmi2OK; }

fmi2Status fmi2Reset(fmi2Component c)
{
    memset(c, 0, sizeof(struct follower));
    return fmi2OK;
}

fmi2Status fmi2SetDebugLogging(fmi2Component c, fmi2Boolean on, size_t n, const fmi2String categories[])
{
    (void)c, (void)on, (void)n, (void)categories;
    return fmi2OK;
}

fmi2Status fmi2SetReal(fmi2Component c, const fmi2ValueReference vr[], size_t n, const fmi2Real value[])
{
    struct follower *follower = c;
    for (size_t i = 0; i < n; i++) {
        if (vr[i] > V) return fmi2Error;
        follower->values[vr[i]] = value[i];
        follower->slope[vr[i]] = follower->curve[vr[i]] = 0.0;
        follower->is_set[vr[i]] = 1;
    }
    return fmi2OK;
}

fmi2Status fmi2GetReal(fmi2Component c, const fmi2ValueReference vr[], size_t n, fmi2Real value[])
{
    struct follower *follower = c;
    for (size_t i = 0; i < n; i++) {
        if (vr[i] >= REALS) return fmi2Error;
        value[i] = follower->values[vr[i]];
    }
    return fmi2OK;
}

fmi2Status fmi2GetInteger(fmi2Component c, const fmi2ValueReference vr[], size_t n, fmi2Integer value[])
{
    for (size_t i = 0; i < n; i++) {
        if (vr[i] != SLOPES) return fmi2Error;
        value[i] = ((struct follower *)c)->slopes;
    }
    return fmi2OK;
}

fmi2Status fmi2SetRealInputDerivatives(fmi2Component c, const fmi2ValueReference vr[], size_t n,
                                       const fmi2Integer order[], const fmi2Real value[])
{
    struct follower *follower = c;
    for (size_t i = 0; i < n; i++) {
        if (vr[i] > V || order[i] < 1 || order[i] > 2 || !follower->is_set[vr[i]]) return fmi2Error;
        if (order[i] == 1) follower->slope[vr[i]] = value[i];
        else follower->curve[vr[i]] = value[i];
    }
    follower->slopes++;
    return fmi2OK;
}

fmi2Status fmi2GetRealOutputDerivatives(fmi2Component c, const fmi2ValueReference vr[], size_t n,
                                        const fmi2Integer order[], fmi2Real value[])
{
    for (size_t i = 0; i < n; i++) {
        if (vr[i] != INTEGRAL || order[i] != 1) return fmi2Error;
        value[i] = ((struct follower *)c)->u_at_end;
    }
    return fmi2OK;
}

fmi2Status fmi2DoStep(fmi2Component c, fmi2Real point, fmi2Real size, fmi2Boolean no_set_state)
{
    (void)point, (void)no_set_state;
    struct follower *follower = c;
    double slope = follower->slope[U], curve = follower->curve[U];
    follower->u_at_end = follower->values[U] + slope * size + 0.5 * curve * size * size;
    follower->values[INTEGRAL] += follower->values[U] * size + 0.5 * slope * size * size + curve * size * size * size / 6.0;
    follower->values[SLOPE_U] = slope;
    follower->values[CURVE_U] = curve;
    follower->values[SLOPE_V] = follower->slope[V];
    return fmi2OK;
}
