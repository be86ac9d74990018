/* The draft dialect of FMI 3.0 (January 2021). OutClock ticks at a time of its own, the intermediateUpdateTime of the
 * callback; asked for its interval, as the importer must at every tick, it says 0: AperiodicClock ticks at that time. */

#include "model.h"
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define ALL_STATUSES 0x1fu
#define WITHOUT_DEBUG (ALL_STATUSES & ~(1u << fmi3OK))

static const char *const categories_of_status[] = {"logEvents", "logStatusWarning", "logStatusDiscard",
                                                   "logStatusError", "logStatusFatal"};

/* ---- Instances ---- */

static fmi3Instance refuse(fmi3InstanceEnvironment environment, fmi3CallbackLogMessage log_message, fmi3String name,
                           const char *why)
{
    if (log_message) log_message(environment, name ? name : "", fmi3Error, "logStatusError", why);
    return NULL;
}

fmi3Instance fmi3InstantiateScheduledExecution(
    fmi3String instanceName, fmi3String instantiationToken, fmi3String resourceLocation, fmi3Boolean visible,
    fmi3Boolean loggingOn, const fmi3ValueReference requiredIntermediateVariables[],
    size_t nRequiredIntermediateVariables, fmi3InstanceEnvironment instanceEnvironment,
    fmi3CallbackLogMessage logMessage, fmi3CallbackIntermediateUpdate intermediateUpdate,
    fmi3CallbackLockPreemption lockPreemption, fmi3CallbackUnlockPreemption unlockPreemption)
{
    (void)visible, (void)requiredIntermediateVariables;
    if (!instanceName || !*instanceName)
        return refuse(instanceEnvironment, logMessage, instanceName, "The instance name is missing.");
    /* The description has none, as in the text. */
    if (instantiationToken && *instantiationToken)
        return refuse(instanceEnvironment, logMessage, instanceName, "The instantiation token does not match.");
    if (nRequiredIntermediateVariables > 0)
        return refuse(instanceEnvironment, logMessage, instanceName, "There are no intermediate variables.");
    if (!intermediateUpdate || !lockPreemption || !unlockPreemption)
        return refuse(instanceEnvironment, logMessage, instanceName, "A callback is missing.");

    struct model *model = calloc(1, sizeof *model);
    if (!model) return NULL;
    model->base = (struct fmu_base){.name = strdup(instanceName),
                                    .environment = instanceEnvironment,
                                    .log_message = logMessage,
                                    .intermediate_update = intermediateUpdate,
                                    .lock_preemption = lockPreemption,
                                    .unlock_preemption = unlockPreemption,
                                    .logged = loggingOn ? ALL_STATUSES : WITHOUT_DEBUG};
    if (!model->base.name || !model_create(model)) {
        fmu_base_release(&model->base);
        free(model);
        return NULL;
    }
    model_note(model, TRACE_INSTANTIATE, TRACE_NOTE, NO_CLOCK, 0, 0.0);
    if (resourceLocation && *resourceLocation && strncmp(resourceLocation, "file:/", 6) != 0)
        model_violated(model, NO_CLOCK, WRONG_RESOURCE);
    return model;
}

void fmu_base_release(struct fmu_base *base)
{
    free((char *)base->name);
    base->name = NULL;
}

/* ---- Clocks ---- */

void dialect_ticked(struct model *model, double time)
{
    fmi3Boolean early_return = fmi3False; /* without meaning in Scheduled Execution */
    fmi3Float64 early_return_time = time;
    model->base.intermediate_update(model->base.environment, time, fmi3True, fmi3False, fmi3False, fmi3False, fmi3False,
                                    &early_return, &early_return_time);
}

fmi3Status fmi3ActivateModelPartition(fmi3Instance instance, fmi3ValueReference clockReference,
                                      size_t clockElementIndex, fmi3Float64 activationTime)
{
    struct model *model = instance;
    if (clockElementIndex != 0) model_violated(model, clockReference, WRONG_ELEMENT);
    return model_activate(model, clockReference, activationTime);
}

static fmi3Status wrong_count(struct model *model, const char *function)
{
    model->base.state = FMU_FAILED;
    return fmu_log(&model->base, fmi3Error, "%s: the number of values is wrong: all clocks are scalars.", function);
}

fmi3Status fmi3GetClock(fmi3Instance instance, const fmi3ValueReference valueReferences[], size_t nValueReferences,
                        fmi3Clock values[], size_t nValues)
{
    if (nValues != nValueReferences) return wrong_count(instance, "fmi3GetClock");
    return model_get_clock(instance, valueReferences, nValueReferences, values);
}

static fmi3Status check_interval(struct model *model, const char *function, const fmi3ValueReference vrs[], size_t n,
                                 size_t n_values)
{
    model_note(model, TRACE_GET_INTERVAL, TRACE_END, NO_CLOCK, n > 0 ? vrs[0] : 0, 0.0);
    if (n != n_values) return wrong_count(model, function);
    if (model->inside_update == 0) model_violated(model, NO_CLOCK, OUTSIDE_UPDATE);
    for (size_t i = 0; i < n; i++)
        if (vrs[i] != OUT_CLOCK)
            return fmu_log(&model->base, fmi3Error, "%s: value reference %u is no output clock.", function, vrs[i]);
    return fmi3OK;
}

fmi3Status fmi3GetIntervalDecimal(fmi3Instance instance, const fmi3ValueReference valueReferences[],
                                  size_t nValueReferences, fmi3Float64 interval[], size_t nValues)
{
    fmi3Status status = check_interval(instance, "fmi3GetIntervalDecimal", valueReferences, nValueReferences, nValues);
    for (size_t i = 0; i < nValues && status == fmi3OK; i++) interval[i] = 0.0;
    return status;
}

fmi3Status fmi3GetIntervalFraction(fmi3Instance instance, const fmi3ValueReference valueReferences[],
                                   size_t nValueReferences, fmi3UInt64 intervalCounter[], fmi3UInt64 resolution[],
                                   size_t nValues)
{
    fmi3Status status = check_interval(instance, "fmi3GetIntervalFraction", valueReferences, nValueReferences, nValues);
    for (size_t i = 0; i < nValues && status == fmi3OK; i++) intervalCounter[i] = 0, resolution[i] = 1;
    return status;
}

/* ---- Logging ---- */

fmi3Status fmu_log(const struct fmu_base *base, fmi3Status status, const char *format, ...)
{
    if (!base || !base->log_message || !(base->logged & 1u << status)) return status;
    char message[512];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(message, sizeof message, format, arguments);
    va_end(arguments);
    base->log_message(base->environment, base->name, status, categories_of_status[status], message);
    return status;
}

const char *fmi3GetVersion(void)
{
    return fmi3Version;
}

fmi3Status fmi3SetDebugLogging(fmi3Instance instance, fmi3Boolean loggingOn, size_t nCategories,
                               const fmi3String categories[])
{
    struct fmu_base *base = instance;
    unsigned selected = nCategories == 0 ? ALL_STATUSES : 0;
    for (size_t i = 0; i < nCategories; i++)
        for (unsigned status = fmi3OK; status <= fmi3Fatal; status++)
            if (strcmp(categories[i], categories_of_status[status]) == 0) selected |= 1u << status;
    base->logged = loggingOn ? selected : WITHOUT_DEBUG;
    return fmi3OK;
}
