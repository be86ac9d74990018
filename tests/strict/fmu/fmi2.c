/* The strict FMU of FMI 2.0 (2.0.5, sections 3.2.3 and 4.2.4). */

#include "strict.h"
#include "fmi2Functions.h"

static void log_error(struct strict *m, const char *text)
{
    ((fmi2CallbackLogger)m->log_message)(m->environment, m->name, fmi2Error, "logStatusError", "%s", text);
}

fmi2Component fmi2Instantiate(fmi2String name, fmi2Type type, fmi2String guid, fmi2String resources,
                              const fmi2CallbackFunctions *functions, fmi2Boolean visible, fmi2Boolean logging)
{
    if (strcmp(guid, "{strict}") != 0) return NULL;
    struct strict *m = calloc(1, sizeof *m);
    begin(&m->own);
    m->version = 2;
    m->steps = type == fmi2CoSimulation;
    m->environment = functions->componentEnvironment;
    m->log_message = (void (*)(void))functions->logger;
    m->log = log_error;
    snprintf(m->name, sizeof m->name, "%s", name);
    return m;
}

void fmi2FreeInstance(fmi2Component instance)
{
    if (instance) free_instance(instance);
}

const char *fmi2GetTypesPlatform(void) { return fmi2TypesPlatform; }
const char *fmi2GetVersion(void) { return fmi2Version; }

fmi2Status fmi2SetDebugLogging(fmi2Component instance, fmi2Boolean on, size_t n, const fmi2String categories[])
{
    ENTER(LIVE | WHEN_OVER);
    return fmi2OK;
}

/* ---- Modes ---- */

fmi2Status fmi2SetupExperiment(fmi2Component instance, fmi2Boolean has_tolerance, fmi2Real tolerance, fmi2Real start,
                               fmi2Boolean has_stop, fmi2Real stop)
{
    ENTER(NEW);
    set_up(&m->own, start, has_stop, stop);
    return fmi2OK;
}

fmi2Status fmi2EnterInitializationMode(fmi2Component instance)
{
    ENTER(NEW);
    REFUSE_IF(!m->own.is_set_up, "without fmi2SetupExperiment");
    m->own.state = INIT;
    return fmi2OK;
}

fmi2Status fmi2ExitInitializationMode(fmi2Component instance)
{
    ENTER(INIT);
    m->own.state = m->steps ? STEP : EVENT;
    return fmi2OK;
}

fmi2Status fmi2Terminate(fmi2Component instance)
{
    ENTER(EVENT | RUN | STEP | STOPPED | WHEN_OVER);
    m->own.state = END;
    return fmi2OK;
}

fmi2Status fmi2Reset(fmi2Component instance)
{
    ENTER(LIVE | BROKEN | WHEN_OVER);
    begin(&m->own);
    return fmi2OK;
}

/* ---- Model Exchange ---- */

fmi2Status fmi2EnterEventMode(fmi2Component instance)
{
    ENTER(EVENT | RUN);
    REFUSE_IF(m->steps, "a function of Model Exchange");
    return enter_event_mode(m, __func__);
}

fmi2Status fmi2NewDiscreteStates(fmi2Component instance, fmi2EventInfo *info)
{
    ENTER(EVENT);
    iterate_event(&m->own);
    *info = (fmi2EventInfo){
        .newDiscreteStatesNeeded = m->own.more,
        .terminateSimulation = m->own.is_over,
        .valuesOfContinuousStatesChanged = m->own.states_changed,
        .nextEventTimeDefined = m->own.has_next,
        .nextEventTime = m->own.next,
    };
    return fmi2OK;
}

fmi2Status fmi2EnterContinuousTimeMode(fmi2Component instance)
{
    ENTER(EVENT);
    return leave_event_mode(m, __func__, RUN);
}

fmi2Status fmi2SetTime(fmi2Component instance, fmi2Real t)
{
    ENTER(RUN);
    return set_time(m, __func__, t);
}

fmi2Status fmi2SetContinuousStates(fmi2Component instance, const fmi2Real x[], size_t n)
{
    ENTER(RUN);
    return set_states(m, __func__, x, n);
}

fmi2Status fmi2CompletedIntegratorStep(fmi2Component instance, fmi2Boolean no_state_before, fmi2Boolean *event_mode,
                                       fmi2Boolean *terminate)
{
    ENTER(RUN);
    *event_mode = *terminate = fmi2False;
    return completed(m, __func__);
}

#define COMPUTED (INIT | EVENT | RUN | END | WHEN_OVER)

fmi2Status fmi2GetContinuousStates(fmi2Component instance, fmi2Real x[], size_t n)
{
    ENTER(COMPUTED);
    REFUSE_IF(m->steps, "a function of Model Exchange");
    return get_states(m, __func__, x, n);
}

#define OF_ONE(Get, states, vr)                                                                                       \
    fmi2Status Get(fmi2Component instance, fmi2Real to[], size_t n)                                                   \
    {                                                                                                                 \
        ENTER(states);                                                                                                \
        REFUSE_IF(m->steps || n != 1, "%zu numbers", n);                                                              \
        to[0] = vr == TIME ? 1.0 : value(&m->own, vr);                                                                \
        return fmi2OK;                                                                                                \
    }
OF_ONE(fmi2GetDerivatives, COMPUTED, DX)
OF_ONE(fmi2GetEventIndicators, COMPUTED, Z)
OF_ONE(fmi2GetNominalsOfContinuousStates, COMPUTED | NEW, TIME)

/* ---- Co-Simulation ---- */

fmi2Status fmi2DoStep(fmi2Component instance, fmi2Real point, fmi2Real size, fmi2Boolean no_state_before)
{
    ENTER(STEP);
    REFUSE_IF(!m->steps, "a function of Co-Simulation");
    struct own *own = &m->own;
    if (may_step(m, __func__, point, size)) return fmi2Error;
    double end = point + size, when = own->values[WHEN];
    bool stops = own->values[DEMAND] == TERMINATE && end >= when - slack(end);
    stops |= own->values[DEMAND] == EARLY && point < when - slack(when) && end > when + slack(when);
    own->state = stops ? STOPPED : STEP;
    step_through(own, stops ? fmax(when, point) : end);
    own->is_over |= stops && own->values[DEMAND] == TERMINATE;
    return stops ? fmi2Discard : fmi2OK;
}

#define KIND(Get, Type, wanted, what)                                                                                 \
    fmi2Status Get(fmi2Component instance, const fmi2StatusKind kind, Type *to)                                       \
    {                                                                                                                 \
        ENTER(STEP | STOPPED | END | WHEN_OVER);                                                                      \
        if (kind != wanted) return fmi2Discard;                                                                       \
        REFUSE_IF(m->own.state != STOPPED, "no step was discarded");                                                  \
        *to = what;                                                                                                   \
        return fmi2OK;                                                                                                \
    }
KIND(fmi2GetStatus, fmi2Status, fmi2DoStepStatus, fmi2Discard)
KIND(fmi2GetRealStatus, fmi2Real, fmi2LastSuccessfulTime, m->own.time)
KIND(fmi2GetIntegerStatus, fmi2Integer, (fmi2StatusKind)-1, 0)
KIND(fmi2GetBooleanStatus, fmi2Boolean, fmi2Terminated, m->own.is_over)
KIND(fmi2GetStringStatus, fmi2String, fmi2PendingStatus, "")

/* ---- Values and states ---- */

ACCESS(fmi2GetReal, fmi2SetReal, fmi2Status, fmi2ValueReference, fmi2Real, false, )
ACCESS(fmi2GetInteger, fmi2SetInteger, fmi2Status, fmi2ValueReference, fmi2Integer, true, )

STATES(fmi2GetFMUstate, fmi2SetFMUstate, fmi2FreeFMUstate, fmi2SerializedFMUstateSize, fmi2SerializeFMUstate,
       fmi2DeSerializeFMUstate, fmi2Status, fmi2FMUstate, fmi2Byte)

/* ---- What this FMU has not ---- */

#define NOTHING(Function, ...)                                                                                        \
    fmi2Status Function(fmi2Component instance, __VA_ARGS__)                                                          \
    {                                                                                                                 \
        ENTER(0);                                                                                                     \
        return fmi2OK;                                                                                                \
    }
#define VARIABLES_OF const fmi2ValueReference vr[], size_t n
NOTHING(fmi2GetBoolean, VARIABLES_OF, fmi2Boolean values[])
NOTHING(fmi2SetBoolean, VARIABLES_OF, const fmi2Boolean values[])
NOTHING(fmi2GetString, VARIABLES_OF, fmi2String values[])
NOTHING(fmi2SetString, VARIABLES_OF, const fmi2String values[])
NOTHING(fmi2GetDirectionalDerivative, VARIABLES_OF, const fmi2ValueReference known[], size_t n_known,
        const fmi2Real seed[], fmi2Real sensitivity[])
NOTHING(fmi2SetRealInputDerivatives, VARIABLES_OF, const fmi2Integer orders[], const fmi2Real values[])
NOTHING(fmi2GetRealOutputDerivatives, VARIABLES_OF, const fmi2Integer orders[], fmi2Real values[])

fmi2Status fmi2CancelStep(fmi2Component instance) { ENTER(0); return fmi2OK; }
