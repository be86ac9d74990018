/* See importer.h. MODEL_IDENTIFIER is defined by the compiler's arguments. */

#include "fmiModelFunctions.h"
#include "importer.h"
#include <stdarg.h>
#include <stdio.h>

static void (*log_to)(const char *message);

static void logger(fmiComponent c, fmiString name, fmiStatus status, fmiString category, fmiString message, ...)
{
    (void)c, (void)name, (void)status, (void)category;
    char text[1024];
    va_list arguments;
    va_start(arguments, message);
    vsnprintf(text, sizeof text, message, arguments);
    va_end(arguments);
    log_to(text);
}

void *importer_new(const char *token, void (*log)(const char *message))
{
    log_to = log;
    fmiCallbackFunctions callbacks = {.logger = logger, .allocateMemory = calloc, .freeMemory = free};
    return fmiInstantiateModel("fmu", token, callbacks, fmiTrue);
}

void importer_free(void *fmu) { fmiFreeModelInstance(fmu); }
int importer_set_debug_logging(void *fmu, int on) { return fmiSetDebugLogging(fmu, on != 0); }

int importer_number_of_states(void *fmu, size_t *n)
{
    (void)fmu, (void)n;
    return fmiOK;
}

int importer_number_of_indicators(void *fmu, size_t *n)
{
    (void)fmu, (void)n;
    return fmiOK;
}

int importer_resize(void *fmu, unsigned reference, unsigned long long value)
{
    (void)fmu, (void)reference, (void)value;
    return fmiOK;
}

int importer_set_up(void *fmu, double start) { return fmiSetTime(fmu, start); }

int importer_enter_initialization(void *fmu, double start)
{
    (void)fmu, (void)start;
    return fmiOK;
}

static int told(int status, const fmiEventInfo *info, struct update *update)
{
    *update = (struct update){
        .needs_update = !info->iterationConverged,
        .terminate = info->terminateSimulation,
        .nominals_changed = info->stateValueReferencesChanged,
        .values_changed = info->stateValuesChanged,
        .has_next = info->upcomingTimeEvent,
        .next = info->nextEventTime,
    };
    return status;
}

int importer_exit_initialization(void *fmu, struct update *update)
{
    fmiEventInfo info;
    int status = fmiInitialize(fmu, fmiFalse, 0.0, &info);
    return told(status, &info, update);
}

int importer_enter_event_mode(void *fmu)
{
    (void)fmu;
    return fmiOK;
}

int importer_update(void *fmu, struct update *update)
{
    fmiEventInfo info;
    int status = fmiEventUpdate(fmu, fmiFalse, &info);
    return told(status, &info, update);
}

int importer_enter_continuous_time(void *fmu)
{
    (void)fmu;
    return fmiOK;
}

int importer_terminate(void *fmu) { return fmiTerminate(fmu); }

int importer_reset(void *fmu)
{
    (void)fmu;
    return fmiOK;
}

int importer_set_time(void *fmu, double time) { return fmiSetTime(fmu, time); }
int importer_set_states(void *fmu, const double x[], size_t n) { return fmiSetContinuousStates(fmu, x, n); }
int importer_get_states(void *fmu, double x[], size_t n) { return fmiGetContinuousStates(fmu, x, n); }
int importer_get_derivatives(void *fmu, double dx[], size_t n) { return fmiGetDerivatives(fmu, dx, n); }
int importer_get_indicators(void *fmu, double z[], size_t n) { return fmiGetEventIndicators(fmu, z, n); }
int importer_get_nominals(void *fmu, double nominals[], size_t n) { return fmiGetNominalContinuousStates(fmu, nominals, n); }

int importer_completed(void *fmu, int *enter_event_mode, int *terminate)
{
    fmiBoolean event = fmiFalse;
    int status = fmiCompletedIntegratorStep(fmu, &event);
    *enter_event_mode = event;
    *terminate = 0;
    return status;
}

int importer_set_real(void *fmu, unsigned reference, double value) { return fmiSetReal(fmu, &reference, 1, &value); }

int importer_get_reals(void *fmu, unsigned reference, double values[], size_t n)
{
    (void)n;
    return fmiGetReal(fmu, &reference, 1, values);
}

int importer_set_integer(void *fmu, unsigned reference, int value) { return fmiSetInteger(fmu, &reference, 1, &value); }
int importer_get_integer(void *fmu, unsigned reference, int *value) { return fmiGetInteger(fmu, &reference, 1, value); }
int importer_set_text(void *fmu, unsigned reference, const char *value) { return fmiSetString(fmu, &reference, 1, &value); }

int importer_directional(void *fmu, const unsigned unknowns[], size_t n_unknowns, const unsigned knowns[], size_t n_knowns,
                         const double seed[], double sensitivity[])
{
    (void)fmu, (void)unknowns, (void)n_unknowns, (void)knowns, (void)n_knowns, (void)seed, (void)sensitivity;
    return fmiOK;
}

int importer_save(void *fmu, void **state)
{
    (void)fmu, (void)state;
    return fmiOK;
}

int importer_restore(void *fmu, void *state)
{
    (void)fmu, (void)state;
    return fmiOK;
}

int importer_forget(void *fmu, void **state)
{
    (void)fmu, (void)state;
    return fmiOK;
}
