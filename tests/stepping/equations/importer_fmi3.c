/* See importer.h. */

#include "fmi3Functions.h"
#include "importer.h"

static void (*log_to)(const char *message);

static void log_message(fmi3InstanceEnvironment environment, fmi3Status status, fmi3String category, fmi3String message)
{
    (void)environment, (void)status, (void)category;
    log_to(message);
}

void *importer_new(const char *token, void (*log)(const char *message))
{
    log_to = log;
    return fmi3InstantiateModelExchange("fmu", token, NULL, fmi3False, fmi3True, NULL, log_message);
}

void importer_free(void *fmu) { fmi3FreeInstance(fmu); }

int importer_set_debug_logging(void *fmu, int on) { return fmi3SetDebugLogging(fmu, on, 0, NULL); }
int importer_number_of_states(void *fmu, size_t *n) { return fmi3GetNumberOfContinuousStates(fmu, n); }
int importer_number_of_indicators(void *fmu, size_t *n) { return fmi3GetNumberOfEventIndicators(fmu, n); }

int importer_resize(void *fmu, unsigned reference, unsigned long long value)
{
    fmi3UInt64 size = value;
    int status = fmi3EnterConfigurationMode(fmu);
    if (status != fmi3OK) return status;
    status = fmi3SetUInt64(fmu, &reference, 1, &size, 1);
    if (status != fmi3OK) return status;
    return fmi3ExitConfigurationMode(fmu);
}

int importer_set_up(void *fmu, double start)
{
    (void)fmu, (void)start;
    return fmi3OK;
}

int importer_enter_initialization(void *fmu, double start)
{
    return fmi3EnterInitializationMode(fmu, fmi3False, 0.0, start, fmi3False, 0.0);
}

int importer_exit_initialization(void *fmu, struct update *update)
{
    *update = (struct update){.needs_update = 1};
    return fmi3ExitInitializationMode(fmu);
}

int importer_enter_event_mode(void *fmu) { return fmi3EnterEventMode(fmu); }

int importer_update(void *fmu, struct update *update)
{
    fmi3Boolean needs, terminate, nominals, values, has_next;
    int status = fmi3UpdateDiscreteStates(fmu, &needs, &terminate, &nominals, &values, &has_next, &update->next);
    update->needs_update = needs;
    update->terminate = terminate;
    update->nominals_changed = nominals;
    update->values_changed = values;
    update->has_next = has_next;
    return status;
}

int importer_enter_continuous_time(void *fmu) { return fmi3EnterContinuousTimeMode(fmu); }
int importer_terminate(void *fmu) { return fmi3Terminate(fmu); }
int importer_reset(void *fmu) { return fmi3Reset(fmu); }
int importer_set_time(void *fmu, double time) { return fmi3SetTime(fmu, time); }
int importer_set_states(void *fmu, const double x[], size_t n) { return fmi3SetContinuousStates(fmu, x, n); }
int importer_get_states(void *fmu, double x[], size_t n) { return fmi3GetContinuousStates(fmu, x, n); }
int importer_get_derivatives(void *fmu, double dx[], size_t n) { return fmi3GetContinuousStateDerivatives(fmu, dx, n); }
int importer_get_indicators(void *fmu, double z[], size_t n) { return fmi3GetEventIndicators(fmu, z, n); }
int importer_get_nominals(void *fmu, double nominals[], size_t n) { return fmi3GetNominalsOfContinuousStates(fmu, nominals, n); }

int importer_completed(void *fmu, int *enter_event_mode, int *terminate)
{
    fmi3Boolean enter, ends;
    int status = fmi3CompletedIntegratorStep(fmu, fmi3True, &enter, &ends);
    *enter_event_mode = enter;
    *terminate = ends;
    return status;
}

int importer_set_real(void *fmu, unsigned reference, double value) { return fmi3SetFloat64(fmu, &reference, 1, &value, 1); }

int importer_get_reals(void *fmu, unsigned reference, double values[], size_t n)
{
    return fmi3GetFloat64(fmu, &reference, 1, values, n);
}

int importer_set_integer(void *fmu, unsigned reference, int value) { return fmi3SetInt32(fmu, &reference, 1, &value, 1); }
int importer_get_integer(void *fmu, unsigned reference, int *value) { return fmi3GetInt32(fmu, &reference, 1, value, 1); }
int importer_set_text(void *fmu, unsigned reference, const char *value) { return fmi3SetString(fmu, &reference, 1, &value, 1); }

int importer_directional(void *fmu, const unsigned unknowns[], size_t n_unknowns, const unsigned knowns[], size_t n_knowns,
                         const double seed[], double sensitivity[])
{
    return fmi3GetDirectionalDerivative(fmu, unknowns, n_unknowns, knowns, n_knowns, seed, n_knowns, sensitivity, n_unknowns);
}

int importer_save(void *fmu, void **state) { return fmi3GetFMUState(fmu, state); }
int importer_restore(void *fmu, void *state) { return fmi3SetFMUState(fmu, state); }
int importer_forget(void *fmu, void **state) { return fmi3FreeFMUState(fmu, state); }
