/* The strict FMU of FMI 3.0 (3.0.2, sections 2.3, 3.2 and 4.2). */

#include "strict.h"
#include "fmi3Functions.h"

static void log_error(struct strict *m, const char *text)
{
    ((fmi3LogMessageCallback)m->log_message)(m->environment, fmi3Error, "logStatusError", text);
}

static fmi3Instance instantiate(fmi3String name, fmi3String token, fmi3InstanceEnvironment environment,
                                fmi3LogMessageCallback log_message, bool steps, bool event_mode, bool early)
{
    if (strcmp(token, "{strict}") != 0) return NULL;
    struct strict *m = calloc(1, sizeof *m);
    begin(&m->own);
    m->version = 3;
    m->steps = steps, m->event_mode = event_mode, m->may_return_early = early;
    m->environment = environment;
    m->log_message = (void (*)(void))log_message;
    m->log = log_error;
    snprintf(m->name, sizeof m->name, "%s", name);
    return m;
}

fmi3Instance fmi3InstantiateModelExchange(fmi3String name, fmi3String token, fmi3String resources, fmi3Boolean visible,
                                          fmi3Boolean logging, fmi3InstanceEnvironment environment,
                                          fmi3LogMessageCallback log_message)
{
    return instantiate(name, token, environment, log_message, false, false, false);
}

fmi3Instance fmi3InstantiateCoSimulation(fmi3String name, fmi3String token, fmi3String resources, fmi3Boolean visible,
                                         fmi3Boolean logging, fmi3Boolean event_mode, fmi3Boolean early,
                                         const fmi3ValueReference required[], size_t n,
                                         fmi3InstanceEnvironment environment, fmi3LogMessageCallback log_message,
                                         fmi3IntermediateUpdateCallback update)
{
    return instantiate(name, token, environment, log_message, true, event_mode, early);
}

fmi3Instance fmi3InstantiateScheduledExecution(fmi3String name, fmi3String token, fmi3String resources,
                                               fmi3Boolean visible, fmi3Boolean logging,
                                               fmi3InstanceEnvironment environment, fmi3LogMessageCallback log_message,
                                               fmi3ClockUpdateCallback clock_update, fmi3LockPreemptionCallback lock,
                                               fmi3UnlockPreemptionCallback unlock)
{
    return NULL;
}

void fmi3FreeInstance(fmi3Instance instance)
{
    if (!instance) return;
    free_instance(instance);
}

const char *fmi3GetVersion(void) { return "3.0"; }

fmi3Status fmi3SetDebugLogging(fmi3Instance instance, fmi3Boolean on, size_t n, const fmi3String categories[])
{
    ENTER(LIVE | WHEN_OVER);
    return fmi3OK;
}

/* ---- Modes ---- */

fmi3Status fmi3EnterInitializationMode(fmi3Instance instance, fmi3Boolean has_tolerance, fmi3Float64 tolerance,
                                       fmi3Float64 start, fmi3Boolean has_stop, fmi3Float64 stop)
{
    ENTER(NEW);
    set_up(&m->own, start, has_stop, stop);
    m->own.state = INIT;
    return fmi3OK;
}

fmi3Status fmi3ExitInitializationMode(fmi3Instance instance)
{
    ENTER(INIT);
    m->own.state = m->steps && !m->event_mode ? STEP : EVENT;
    return fmi3OK;
}

fmi3Status fmi3EnterEventMode(fmi3Instance instance)
{
    ENTER(RUN | STEP);
    REFUSE_IF(m->steps && !m->event_mode, "no Event Mode was agreed on");
    return enter_event_mode(m, __func__);
}

fmi3Status fmi3UpdateDiscreteStates(fmi3Instance instance, fmi3Boolean *more, fmi3Boolean *terminate,
                                    fmi3Boolean *nominals_changed, fmi3Boolean *states_changed, fmi3Boolean *has_next,
                                    fmi3Float64 *next)
{
    ENTER(EVENT);
    iterate_event(&m->own);
    *more = m->own.more, *terminate = m->own.is_over;
    *nominals_changed = false, *states_changed = !m->steps && m->own.states_changed;
    *has_next = m->own.has_next, *next = m->own.next;
    return fmi3OK;
}

fmi3Status fmi3EnterContinuousTimeMode(fmi3Instance instance)
{
    ENTER(EVENT);
    REFUSE_IF(m->steps, "a function of Model Exchange");
    return leave_event_mode(m, __func__, RUN);
}

fmi3Status fmi3EnterStepMode(fmi3Instance instance)
{
    ENTER(EVENT);
    REFUSE_IF(!m->steps, "a function of Co-Simulation");
    return leave_event_mode(m, __func__, STEP);
}

fmi3Status fmi3Terminate(fmi3Instance instance)
{
    ENTER(EVENT | RUN | STEP | WHEN_OVER);
    m->own.state = END;
    return fmi3OK;
}

fmi3Status fmi3Reset(fmi3Instance instance)
{
    ENTER(LIVE | BROKEN | WHEN_OVER);
    begin(&m->own);
    return fmi3OK;
}

/* ---- Model Exchange ---- */

fmi3Status fmi3SetTime(fmi3Instance instance, fmi3Float64 t)
{
    ENTER(RUN);
    return set_time(m, __func__, t);
}

fmi3Status fmi3SetContinuousStates(fmi3Instance instance, const fmi3Float64 x[], size_t n)
{
    ENTER(RUN);
    return set_states(m, __func__, x, n);
}

fmi3Status fmi3CompletedIntegratorStep(fmi3Instance instance, fmi3Boolean no_state_before, fmi3Boolean *event_mode,
                                       fmi3Boolean *terminate)
{
    ENTER(RUN);
    *event_mode = *terminate = false;
    return completed(m, __func__);
}

#define COMPUTED (INIT | EVENT | RUN | END | WHEN_OVER)

fmi3Status fmi3GetContinuousStates(fmi3Instance instance, fmi3Float64 x[], size_t n)
{
    ENTER(COMPUTED);
    REFUSE_IF(m->steps, "a function of Model Exchange");
    return get_states(m, __func__, x, n);
}

fmi3Status fmi3GetContinuousStateDerivatives(fmi3Instance instance, fmi3Float64 dx[], size_t n)
{
    ENTER(COMPUTED);
    REFUSE_IF(m->steps || n != 1, "of %zu states", n);
    dx[0] = value(&m->own, DX);
    return fmi3OK;
}

fmi3Status fmi3GetNominalsOfContinuousStates(fmi3Instance instance, fmi3Float64 nominals[], size_t n)
{
    ENTER(COMPUTED);
    REFUSE_IF(m->steps || n != 1, "of %zu states", n);
    nominals[0] = 1.0;
    return fmi3OK;
}

fmi3Status fmi3GetEventIndicators(fmi3Instance instance, fmi3Float64 z[], size_t n)
{
    ENTER(COMPUTED);
    REFUSE_IF(m->steps || n != 1, "of %zu indicators", n);
    z[0] = value(&m->own, Z);
    return fmi3OK;
}

#define COUNT(Get)                                                                                                    \
    fmi3Status Get(fmi3Instance instance, size_t *n)                                                                  \
    {                                                                                                                 \
        ENTER(NEW | EVENT | WHEN_OVER);                                                                               \
        REFUSE_IF(m->steps, "a function of Model Exchange");                                                          \
        *n = 1;                                                                                                       \
        return fmi3OK;                                                                                                \
    }
COUNT(fmi3GetNumberOfContinuousStates)
COUNT(fmi3GetNumberOfEventIndicators)

/* ---- Co-Simulation ---- */

fmi3Status fmi3DoStep(fmi3Instance instance, fmi3Float64 point, fmi3Float64 size, fmi3Boolean no_state_before,
                      fmi3Boolean *event, fmi3Boolean *terminate, fmi3Boolean *early, fmi3Float64 *reached)
{
    ENTER(STEP);
    REFUSE_IF(!m->steps, "a function of Co-Simulation");
    struct own *own = &m->own;
    if (may_step(m, __func__, point, size)) return fmi3Error;
    double end = point + size, when = own->values[WHEN];
    *event = *terminate = *early = false;
    if (demands(own, REFUSED, end)) return fmi3Discard;
    if (m->may_return_early && when > point && when < end - slack(end) && demands(own, EARLY, end)) {
        *early = true;
        end = when;
    }
    double at = crossing(own);
    if (!m->event_mode) {
        step_through(own, end);
    } else if (at <= end + slack(end)) {
        if (m->may_return_early && at < end - slack(end)) {
            *early = true;
            end = fmax(at, point);
        }
        integrate(own, end);
        *event = own->is_due = true;
    } else {
        integrate(own, end);
    }
    if (!m->event_mode) own->is_over |= demands(own, TERMINATE, own->time);
    *terminate = own->is_over;
    *reached = own->time;
    return fmi3OK;
}

/* ---- Values and states ---- */

#define N_VALUES , size_t n_values
ACCESS(fmi3GetFloat64, fmi3SetFloat64, fmi3Status, fmi3ValueReference, fmi3Float64, false, N_VALUES)
ACCESS(fmi3GetInt32, fmi3SetInt32, fmi3Status, fmi3ValueReference, fmi3Int32, true, N_VALUES)

STATES(fmi3GetFMUState, fmi3SetFMUState, fmi3FreeFMUState, fmi3SerializedFMUStateSize, fmi3SerializeFMUState,
       fmi3DeserializeFMUState, fmi3Status, fmi3FMUState, fmi3Byte)

/* ---- What this FMU has not ---- */

#define NOTHING(Function, ...)                                                                                        \
    fmi3Status Function(fmi3Instance instance, __VA_ARGS__)                                                           \
    {                                                                                                                 \
        ENTER(0);                                                                                                     \
        return fmi3OK;                                                                                                \
    }
#define NO_TYPE(Type)                                                                                                 \
    NOTHING(fmi3Get##Type, const fmi3ValueReference vr[], size_t n, fmi3##Type values[], size_t n_values)             \
    NOTHING(fmi3Set##Type, const fmi3ValueReference vr[], size_t n, const fmi3##Type values[], size_t n_values)
NO_TYPE(Float32)
NO_TYPE(Int8)
NO_TYPE(UInt8)
NO_TYPE(Int16)
NO_TYPE(UInt16)
NO_TYPE(UInt32)
NO_TYPE(Int64)
NO_TYPE(UInt64)
NO_TYPE(Boolean)
NO_TYPE(String)
#define VARIABLES_OF const fmi3ValueReference vr[], size_t n
NOTHING(fmi3GetBinary, VARIABLES_OF, size_t sizes[], fmi3Binary values[], size_t n_values)
NOTHING(fmi3SetBinary, VARIABLES_OF, const size_t sizes[], const fmi3Binary values[], size_t n_values)
NOTHING(fmi3GetClock, VARIABLES_OF, fmi3Clock values[])
NOTHING(fmi3SetClock, VARIABLES_OF, const fmi3Clock values[])
NOTHING(fmi3GetIntervalDecimal, VARIABLES_OF, fmi3Float64 intervals[], fmi3IntervalQualifier qualifiers[])
NOTHING(fmi3GetIntervalFraction, VARIABLES_OF, fmi3UInt64 a[], fmi3UInt64 b[], fmi3IntervalQualifier qualifiers[])
NOTHING(fmi3GetShiftDecimal, VARIABLES_OF, fmi3Float64 shifts[])
NOTHING(fmi3GetShiftFraction, VARIABLES_OF, fmi3UInt64 a[], fmi3UInt64 b[])
NOTHING(fmi3SetIntervalDecimal, VARIABLES_OF, const fmi3Float64 intervals[])
NOTHING(fmi3SetIntervalFraction, VARIABLES_OF, const fmi3UInt64 a[], const fmi3UInt64 b[])
NOTHING(fmi3SetShiftDecimal, VARIABLES_OF, const fmi3Float64 shifts[])
NOTHING(fmi3SetShiftFraction, VARIABLES_OF, const fmi3UInt64 a[], const fmi3UInt64 b[])
NOTHING(fmi3GetNumberOfVariableDependencies, fmi3ValueReference vr, size_t *n)
NOTHING(fmi3GetVariableDependencies, fmi3ValueReference vr, size_t a[], fmi3ValueReference b[], size_t c[],
        fmi3DependencyKind d[], size_t n)
NOTHING(fmi3GetDirectionalDerivative, VARIABLES_OF, const fmi3ValueReference known[], size_t n_known,
        const fmi3Float64 seed[], size_t n_seed, fmi3Float64 sensitivity[], size_t n_sensitivity)
NOTHING(fmi3GetAdjointDerivative, VARIABLES_OF, const fmi3ValueReference known[], size_t n_known,
        const fmi3Float64 seed[], size_t n_seed, fmi3Float64 sensitivity[], size_t n_sensitivity)
NOTHING(fmi3GetOutputDerivatives, VARIABLES_OF, const fmi3Int32 orders[], fmi3Float64 values[], size_t n_values)
NOTHING(fmi3ActivateModelPartition, fmi3ValueReference clock, fmi3Float64 time)

fmi3Status fmi3EnterConfigurationMode(fmi3Instance instance) { ENTER(0); return fmi3OK; }
fmi3Status fmi3ExitConfigurationMode(fmi3Instance instance) { ENTER(0); return fmi3OK; }
fmi3Status fmi3EvaluateDiscreteStates(fmi3Instance instance) { ENTER(0); return fmi3OK; }
