/* See importer.h. */

#include "fmi2Functions.h"
#include "importer.h"
#include <stdarg.h>
#include <stdio.h>

static void (*log_to)(const char *message);

static void logger(fmi2ComponentEnvironment environment, fmi2String name, fmi2Status status, fmi2String category, fmi2String message, ...)
{
    (void)environment, (void)name, (void)status, (void)category;
    char text[1024];
    va_list arguments;
    va_start(arguments, message);
    vsnprintf(text, sizeof text, message, arguments);
    va_end(arguments);
    log_to(text);
}

void *importer_new(const char *token, void (*log)(const char *message))
{
    static const fmi2CallbackFunctions callbacks = {.logger = logger, .allocateMemory = calloc, .freeMemory = free};
    log_to = log;
    return fmi2Instantiate("fmu", fmi2ModelExchange, token, "file:///", &callbacks, fmi2False, fmi2True);
}

void importer_free(void *fmu) { fmi2FreeInstance(fmu); }
int importer_set_debug_logging(void *fmu, int on) { return fmi2SetDebugLogging(fmu, on, 0, NULL); }

int importer_number_of_states(void *fmu, size_t *n)
{
    (void)fmu, (void)n;
    return fmi2OK;
}

int importer_number_of_indicators(void *fmu, size_t *n)
{
    (void)fmu, (void)n;
    return fmi2OK;
}

int importer_resize(void *fmu, unsigned reference, unsigned long long value)
{
    (void)fmu, (void)reference, (void)value;
    return fmi2OK;
}

int importer_set_up(void *fmu, double start) { return fmi2SetupExperiment(fmu, fmi2False, 0.0, start, fmi2False, 0.0); }

int importer_enter_initialization(void *fmu, double start)
{
    (void)start;
    return fmi2EnterInitializationMode(fmu);
}

int importer_exit_initialization(void *fmu, struct update *update)
{
    *update = (struct update){.needs_update = 1};
    return fmi2ExitInitializationMode(fmu);
}

int importer_enter_event_mode(void *fmu) { return fmi2EnterEventMode(fmu); }

int importer_update(void *fmu, struct update *update)
{
    fmi2EventInfo info;
    int status = fmi2NewDiscreteStates(fmu, &info);
    *update = (struct update){
        .needs_update = info.newDiscreteStatesNeeded,
        .terminate = info.terminateSimulation,
        .nominals_changed = info.nominalsOfContinuousStatesChanged,
        .values_changed = info.valuesOfContinuousStatesChanged,
        .has_next = info.nextEventTimeDefined,
        .next = info.nextEventTime,
    };
    return status;
}

int importer_enter_continuous_time(void *fmu) { return fmi2EnterContinuousTimeMode(fmu); }
int importer_terminate(void *fmu) { return fmi2Terminate(fmu); }
int importer_reset(void *fmu) { return fmi2Reset(fmu); }
int importer_set_time(void *fmu, double time) { return fmi2SetTime(fmu, time); }
int importer_set_states(void *fmu, const double x[], size_t n) { return fmi2SetContinuousStates(fmu, x, n); }
int importer_get_states(void *fmu, double x[], size_t n) { return fmi2GetContinuousStates(fmu, x, n); }
int importer_get_derivatives(void *fmu, double dx[], size_t n) { return fmi2GetDerivatives(fmu, dx, n); }
int importer_get_indicators(void *fmu, double z[], size_t n) { return fmi2GetEventIndicators(fmu, z, n); }
int importer_get_nominals(void *fmu, double nominals[], size_t n) { return fmi2GetNominalsOfContinuousStates(fmu, nominals, n); }

int importer_completed(void *fmu, int *enter_event_mode, int *terminate)
{
    return fmi2CompletedIntegratorStep(fmu, fmi2True, enter_event_mode, terminate);
}

int importer_set_real(void *fmu, unsigned reference, double value) { return fmi2SetReal(fmu, &reference, 1, &value); }

int importer_get_reals(void *fmu, unsigned reference, double values[], size_t n)
{
    (void)n;
    return fmi2GetReal(fmu, &reference, 1, values);
}

int importer_set_integer(void *fmu, unsigned reference, int value) { return fmi2SetInteger(fmu, &reference, 1, &value); }
int importer_get_integer(void *fmu, unsigned reference, int *value) { return fmi2GetInteger(fmu, &reference, 1, value); }
int importer_set_text(void *fmu, unsigned reference, const char *value) { return fmi2SetString(fmu, &reference, 1, &value); }

int importer_directional(void *fmu, const unsigned unknowns[], size_t n_unknowns, const unsigned knowns[], size_t n_knowns,
                         const double seed[], double sensitivity[])
{
    return fmi2GetDirectionalDerivative(fmu, unknowns, n_unknowns, knowns, n_knowns, seed, sensitivity);
}

int importer_save(void *fmu, void **state) { return fmi2GetFMUstate(fmu, state); }
int importer_restore(void *fmu, void *state) { return fmi2SetFMUstate(fmu, state); }
int importer_forget(void *fmu, void **state) { return fmi2FreeFMUstate(fmu, state); }
