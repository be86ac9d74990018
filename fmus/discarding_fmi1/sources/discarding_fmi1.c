/* Discards steps over its events, in FMI 1.0; a step can be rejected. discarding.h explains it.
 *
 * FMI 1.0 has no states that are saved: a step that says that the one before it does not count (newStep is false) begins where that one
 * has begun. */

#define MODEL_IDENTIFIER discarding_fmi1

#include "discarding.h"
#include "fmiFunctions.h"
#include <stdlib.h>
#include <string.h>

struct slave {
    struct discarding now, before; /* before: at the begin of the last step */
};

const char *fmiGetTypesPlatform(void) { return fmiPlatform; }
const char *fmiGetVersion(void) { return fmiVersion; }

fmiComponent fmiInstantiateSlave(fmiString name, fmiString guid, fmiString place, fmiString mime, fmiReal timeout,
                                 fmiBoolean visible, fmiBoolean interactive, fmiCallbackFunctions functions,
                                 fmiBoolean logging)
{
    (void)name, (void)place, (void)mime, (void)timeout, (void)visible, (void)interactive, (void)functions, (void)logging;
    if (strcmp(guid, "{vecud-discarding-1}") != 0) return NULL;
    struct slave *slave = calloc(1, sizeof *slave);
    if (slave) discarding_begin(&slave->now);
    return slave;
}

void fmiFreeSlaveInstance(fmiComponent c) { free(c); }

fmiStatus fmiInitializeSlave(fmiComponent c, fmiReal start, fmiBoolean has_stop, fmiReal stop)
{
    (void)has_stop, (void)stop;
    struct slave *slave = c;
    slave->now.time = start;
    slave->before = slave->now;
    return fmiOK;
}

fmiStatus fmiTerminateSlave(fmiComponent c) { (void)c; return fmiOK; }

fmiStatus fmiResetSlave(fmiComponent c)
{
    discarding_begin(&((struct slave *)c)->now);
    return fmiOK;
}

fmiStatus fmiSetDebugLogging(fmiComponent c, fmiBoolean on)
{
    (void)c, (void)on;
    return fmiOK;
}

fmiStatus fmiSetReal(fmiComponent c, const fmiValueReference vr[], size_t n, const fmiReal value[])
{
    for (size_t i = 0; i < n; i++) {
        double *place = discarding_real(&((struct slave *)c)->now, vr[i]);
        if (!place) return fmiError;
        *place = value[i];
    }
    return fmiOK;
}

fmiStatus fmiGetReal(fmiComponent c, const fmiValueReference vr[], size_t n, fmiReal value[])
{
    for (size_t i = 0; i < n; i++) {
        const double *place = discarding_real(&((struct slave *)c)->now, vr[i]);
        if (!place) return fmiError;
        value[i] = *place;
    }
    return fmiOK;
}

fmiStatus fmiGetInteger(fmiComponent c, const fmiValueReference vr[], size_t n, fmiInteger value[])
{
    for (size_t i = 0; i < n; i++) {
        const int *place = discarding_integer(&((struct slave *)c)->now, vr[i]);
        if (!place) return fmiError;
        value[i] = *place;
    }
    return fmiOK;
}

fmiStatus fmiDoStep(fmiComponent c, fmiReal point, fmiReal size, fmiBoolean new_step)
{
    struct slave *slave = c;
    if (!new_step) {
        /* Inputs are those of the step that is made. */
        double u = slave->now.u;
        slave->now = slave->before;
        slave->now.u = u;
    }
    slave->before = slave->now;
    switch (discarding_step(&slave->now, point, size)) {
    case MADE: return fmiOK;
    case DISCARDED: return fmiDiscard;
    default: return fmiError;
    }
}

fmiStatus fmiGetRealStatus(fmiComponent c, const fmiStatusKind kind, fmiReal *value)
{
    if (kind != fmiLastSuccessfulTime) return fmiDiscard;
    *value = ((struct slave *)c)->now.time;
    return fmiOK;
}
