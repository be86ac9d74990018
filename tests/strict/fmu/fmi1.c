/* The strict FMU of FMI 1.0, for Model Exchange, or with CO_SIMULATION for Co-Simulation. Without modes: RUN is all of Model Exchange
 * behind the initialisation, STEP all of Co-Simulation. */

#define MODEL_IDENTIFIER strict
#include "strict.h"
#ifdef CO_SIMULATION
#include "fmiFunctions.h"
#else
#include "fmiModelFunctions.h"
#endif

static void log_error(struct strict *m, const char *text)
{
    ((fmiCallbackLogger)m->log_message)(m, m->name, fmiError, "error", "%s", text);
}

static fmiComponent instantiate(fmiString name, fmiString guid, const fmiCallbackFunctions *functions, bool steps)
{
    if (strcmp(guid, "{strict}") != 0) return NULL;
    struct strict *m = calloc(1, sizeof *m);
    begin(&m->own);
    m->version = 1;
    m->steps = steps;
    m->log_message = (void (*)(void))functions->logger;
    m->log = log_error;
    snprintf(m->name, sizeof m->name, "%s", name);
    return m;
}

const char *fmiGetVersion(void) { return fmiVersion; }

fmiStatus fmiSetDebugLogging(fmiComponent instance, fmiBoolean on)
{
    ENTER(LIVE | WHEN_OVER);
    return fmiOK;
}

#define NO_TYPE(Type)                                                                                                 \
    fmiStatus fmiGet##Type(fmiComponent instance, const fmiValueReference vr[], size_t n, fmi##Type values[])         \
    {                                                                                                                 \
        ENTER(0);                                                                                                     \
        return fmiOK;                                                                                                 \
    }                                                                                                                 \
    fmiStatus fmiSet##Type(fmiComponent instance, const fmiValueReference vr[], size_t n, const fmi##Type values[])   \
    {                                                                                                                 \
        ENTER(0);                                                                                                     \
        return fmiOK;                                                                                                 \
    }
NO_TYPE(Boolean)
NO_TYPE(String)

ACCESS(fmiGetReal, fmiSetReal, fmiStatus, fmiValueReference, fmiReal, false, )
ACCESS(fmiGetInteger, fmiSetInteger, fmiStatus, fmiValueReference, fmiInteger, true, )

#ifndef CO_SIMULATION

const char *fmiGetModelTypesPlatform(void) { return fmiModelTypesPlatform; }

fmiComponent fmiInstantiateModel(fmiString name, fmiString guid, fmiCallbackFunctions functions, fmiBoolean logging)
{
    return instantiate(name, guid, &functions, false);
}

void fmiFreeModelInstance(fmiComponent instance)
{
    if (instance) free_instance(instance);
}

static void iterate(struct strict *m, fmiEventInfo *info)
{
    iterate_event(&m->own);
    *info = (fmiEventInfo){
        .iterationConverged = !m->own.more,
        .stateValuesChanged = m->own.states_changed,
        .terminateSimulation = m->own.is_over,
        .upcomingTimeEvent = m->own.has_next,
        .nextEventTime = m->own.next,
    };
}

fmiStatus fmiInitialize(fmiComponent instance, fmiBoolean has_tolerance, fmiReal tolerance, fmiEventInfo *info)
{
    ENTER(NEW);
    REFUSE_IF(!m->own.is_set_up, "without fmiSetTime");
    m->own.state = RUN;
    iterate(m, info);
    return fmiOK;
}

fmiStatus fmiTerminate(fmiComponent instance)
{
    ENTER(RUN | WHEN_OVER);
    m->own.state = END;
    return fmiOK;
}

fmiStatus fmiSetTime(fmiComponent instance, fmiReal t)
{
    ENTER(NEW | RUN);
    if (m->own.state != NEW) return set_time(m, __func__, t);
    set_up(&m->own, t, false, 0.0);
    return fmiOK;
}

fmiStatus fmiSetContinuousStates(fmiComponent instance, const fmiReal x[], size_t n)
{
    ENTER(RUN);
    return set_states(m, __func__, x, n);
}

fmiStatus fmiCompletedIntegratorStep(fmiComponent instance, fmiBoolean *event)
{
    ENTER(RUN);
    REFUSE_IF(m->own.more, "the event iteration is not over");
    *event = false;
    return completed(m, __func__);
}

fmiStatus fmiEventUpdate(fmiComponent instance, fmiBoolean intermediate, fmiEventInfo *info)
{
    ENTER(RUN);
    /* Iterations follow one another without a name for their begin. */
    if (!m->own.more && enter_event_mode(m, __func__)) return fmiError;
    m->own.state = RUN;
    iterate(m, info);
    return fmiOK;
}

fmiStatus fmiGetContinuousStates(fmiComponent instance, fmiReal x[], size_t n)
{
    ENTER(RUN | WHEN_OVER);
    return get_states(m, __func__, x, n);
}

#define OF_ONE(Get, Type, what)                                                                                       \
    fmiStatus Get(fmiComponent instance, Type to[], size_t n)                                                         \
    {                                                                                                                 \
        ENTER(RUN | WHEN_OVER);                                                                                       \
        REFUSE_IF(n != 1, "%zu numbers", n);                                                                          \
        to[0] = what;                                                                                                 \
        return fmiOK;                                                                                                 \
    }
OF_ONE(fmiGetDerivatives, fmiReal, value(&m->own, DX))
OF_ONE(fmiGetEventIndicators, fmiReal, value(&m->own, Z))
OF_ONE(fmiGetNominalContinuousStates, fmiReal, 1.0)
OF_ONE(fmiGetStateValueReferences, fmiValueReference, X)

#else

const char *fmiGetTypesPlatform(void) { return fmiPlatform; }

fmiComponent fmiInstantiateSlave(fmiString name, fmiString guid, fmiString place, fmiString mime, fmiReal timeout,
                                 fmiBoolean visible, fmiBoolean interactive, fmiCallbackFunctions functions,
                                 fmiBoolean logging)
{
    return instantiate(name, guid, &functions, true);
}

void fmiFreeSlaveInstance(fmiComponent instance)
{
    if (instance) free_instance(instance);
}

fmiStatus fmiInitializeSlave(fmiComponent instance, fmiReal start, fmiBoolean has_stop, fmiReal stop)
{
    ENTER(NEW);
    set_up(&m->own, start, has_stop, stop);
    m->own.state = STEP;
    return fmiOK;
}

fmiStatus fmiTerminateSlave(fmiComponent instance)
{
    ENTER(STEP | STOPPED | WHEN_OVER);
    m->own.state = END;
    return fmiOK;
}

fmiStatus fmiResetSlave(fmiComponent instance)
{
    ENTER(LIVE | WHEN_OVER);
    begin(&m->own);
    return fmiOK;
}

fmiStatus fmiDoStep(fmiComponent instance, fmiReal point, fmiReal size, fmiBoolean new_step)
{
    ENTER(STEP | STOPPED);
    struct own *own = &m->own;
    REFUSE_IF(new_step && own->state == STOPPED, "on from a discarded step, which was not rejected");
    if (!new_step) {
        /* Inputs are those of the step that is made. */
        double u = own->values[U], d = own->values[D];
        *own = m->before;
        own->values[U] = u, own->values[D] = d;
    }
    m->before = *own;
    if (may_step(m, __func__, point, size)) return fmiError;
    double end = point + size, when = own->values[WHEN];
    bool stops = own->values[DEMAND] == EARLY && point < when - slack(when) && end > when + slack(when);
    own->state = stops ? STOPPED : STEP;
    step_through(own, stops ? when : end);
    return stops ? fmiDiscard : fmiOK;
}

#define KIND(Get, Type, wanted, what)                                                                                 \
    fmiStatus Get(fmiComponent instance, const fmiStatusKind kind, Type *to)                                          \
    {                                                                                                                 \
        ENTER(STEP | STOPPED | END);                                                                                  \
        if (kind != wanted) return fmiDiscard;                                                                        \
        REFUSE_IF(m->own.state != STOPPED, "no step was discarded");                                                  \
        *to = what;                                                                                                   \
        return fmiOK;                                                                                                 \
    }
KIND(fmiGetStatus, fmiStatus, fmiDoStepStatus, fmiDiscard)
KIND(fmiGetRealStatus, fmiReal, fmiLastSuccessfulTime, m->own.time)
KIND(fmiGetIntegerStatus, fmiInteger, (fmiStatusKind)-1, 0)
KIND(fmiGetBooleanStatus, fmiBoolean, (fmiStatusKind)-1, 0)
KIND(fmiGetStringStatus, fmiString, fmiPendingStatus, "")

#define NOTHING(Function, ...)                                                                                        \
    fmiStatus Function(fmiComponent instance, __VA_ARGS__)                                                            \
    {                                                                                                                 \
        ENTER(0);                                                                                                     \
        return fmiOK;                                                                                                 \
    }
#define VARIABLES_OF const fmiValueReference vr[], size_t n
NOTHING(fmiSetRealInputDerivatives, VARIABLES_OF, const fmiInteger orders[], const fmiReal values[])
NOTHING(fmiGetRealOutputDerivatives, VARIABLES_OF, const fmiInteger orders[], fmiReal values[])
fmiStatus fmiCancelStep(fmiComponent instance) { ENTER(0); return fmiOK; }

#endif
