/* Declares every function that an FMI 1.0 FMU for Model Exchange exports, with status codes and callbacks. An FMU's
 * sources include this file and define them.
 *
 * Written for vecud from the application binary interface of the standard.
 *
 * Sources define MODEL_IDENTIFIER first: the name of every function, in a shared library too, begins with it and an
 * underscore. DllExport makes them visible even under -fvisibility=hidden. */

#ifndef fmiModelFunctions_h
#define fmiModelFunctions_h

#include "fmiModelTypes.h"
#include <stdlib.h>

#define fmiVersion "1.0"

#ifndef DllExport
#if defined(_WIN32) || defined(__CYGWIN__)
#define DllExport __declspec(dllexport)
#elif defined(__GNUC__)
#define DllExport __attribute__((visibility("default")))
#else
#define DllExport
#endif
#endif

#define fmiPaste(a, b) a##b
#define fmiPasteB(a, b) fmiPaste(a, b)
#define fmiFullName(name) fmiPasteB(MODEL_IDENTIFIER, name)

#define fmiGetModelTypesPlatform fmiFullName(_fmiGetModelTypesPlatform)
#define fmiGetVersion fmiFullName(_fmiGetVersion)
#define fmiInstantiateModel fmiFullName(_fmiInstantiateModel)
#define fmiFreeModelInstance fmiFullName(_fmiFreeModelInstance)
#define fmiSetDebugLogging fmiFullName(_fmiSetDebugLogging)
#define fmiInitialize fmiFullName(_fmiInitialize)
#define fmiTerminate fmiFullName(_fmiTerminate)
#define fmiGetReal fmiFullName(_fmiGetReal)
#define fmiGetInteger fmiFullName(_fmiGetInteger)
#define fmiGetBoolean fmiFullName(_fmiGetBoolean)
#define fmiGetString fmiFullName(_fmiGetString)
#define fmiSetReal fmiFullName(_fmiSetReal)
#define fmiSetInteger fmiFullName(_fmiSetInteger)
#define fmiSetBoolean fmiFullName(_fmiSetBoolean)
#define fmiSetString fmiFullName(_fmiSetString)
#define fmiSetTime fmiFullName(_fmiSetTime)
#define fmiSetContinuousStates fmiFullName(_fmiSetContinuousStates)
#define fmiCompletedIntegratorStep fmiFullName(_fmiCompletedIntegratorStep)
#define fmiGetDerivatives fmiFullName(_fmiGetDerivatives)
#define fmiGetEventIndicators fmiFullName(_fmiGetEventIndicators)
#define fmiEventUpdate fmiFullName(_fmiEventUpdate)
#define fmiGetContinuousStates fmiFullName(_fmiGetContinuousStates)
#define fmiGetNominalContinuousStates fmiFullName(_fmiGetNominalContinuousStates)
#define fmiGetStateValueReferences fmiFullName(_fmiGetStateValueReferences)

#ifdef __cplusplus
extern "C" {
#endif

/* Enumerations; the numbers are part of the interface */
typedef enum {
    fmiOK = 0,
    fmiWarning = 1,
    fmiDiscard = 2,
    fmiError = 3,
    fmiFatal = 4
} fmiStatus;

/* The importer's functions that an FMU calls, which it gets by value. The message is a format as printf takes it, and the
 * arguments that it asks for follow. */
typedef void (*fmiCallbackLogger)(fmiComponent c, fmiString instanceName, fmiStatus status, fmiString category,
                                  fmiString message, ...);
typedef void *(*fmiCallbackAllocateMemory)(size_t nobj, size_t size);
typedef void (*fmiCallbackFreeMemory)(void *obj);
typedef struct {
    fmiCallbackLogger logger;
    fmiCallbackAllocateMemory allocateMemory;
    fmiCallbackFreeMemory freeMemory;
} fmiCallbackFunctions;

/* What an instance tells of events. */
typedef struct {
    fmiBoolean iterationConverged;
    fmiBoolean stateValueReferencesChanged;
    fmiBoolean stateValuesChanged;
    fmiBoolean terminateSimulation;
    fmiBoolean upcomingTimeEvent;
    fmiReal nextEventTime;
} fmiEventInfo;

/* Life of an instance */
DllExport const char *fmiGetModelTypesPlatform(void);
DllExport const char *fmiGetVersion(void);
DllExport fmiComponent fmiInstantiateModel(fmiString instanceName, fmiString GUID, fmiCallbackFunctions functions,
                                           fmiBoolean loggingOn);
DllExport void fmiFreeModelInstance(fmiComponent c);
DllExport fmiStatus fmiSetDebugLogging(fmiComponent c, fmiBoolean loggingOn);
DllExport fmiStatus fmiInitialize(fmiComponent c, fmiBoolean toleranceControlled, fmiReal relativeTolerance,
                                  fmiEventInfo *eventInfo);
DllExport fmiStatus fmiTerminate(fmiComponent c);

/* Values */
DllExport fmiStatus fmiGetReal(fmiComponent c, const fmiValueReference vr[], size_t nvr, fmiReal value[]);
DllExport fmiStatus fmiGetInteger(fmiComponent c, const fmiValueReference vr[], size_t nvr, fmiInteger value[]);
DllExport fmiStatus fmiGetBoolean(fmiComponent c, const fmiValueReference vr[], size_t nvr, fmiBoolean value[]);
DllExport fmiStatus fmiGetString(fmiComponent c, const fmiValueReference vr[], size_t nvr, fmiString value[]);
DllExport fmiStatus fmiSetReal(fmiComponent c, const fmiValueReference vr[], size_t nvr, const fmiReal value[]);
DllExport fmiStatus fmiSetInteger(fmiComponent c, const fmiValueReference vr[], size_t nvr,
                                  const fmiInteger value[]);
DllExport fmiStatus fmiSetBoolean(fmiComponent c, const fmiValueReference vr[], size_t nvr,
                                  const fmiBoolean value[]);
DllExport fmiStatus fmiSetString(fmiComponent c, const fmiValueReference vr[], size_t nvr, const fmiString value[]);

/* Time, states, events */
DllExport fmiStatus fmiSetTime(fmiComponent c, fmiReal time);
DllExport fmiStatus fmiSetContinuousStates(fmiComponent c, const fmiReal x[], size_t nx);
DllExport fmiStatus fmiCompletedIntegratorStep(fmiComponent c, fmiBoolean *callEventUpdate);
DllExport fmiStatus fmiGetDerivatives(fmiComponent c, fmiReal derivatives[], size_t nx);
DllExport fmiStatus fmiGetEventIndicators(fmiComponent c, fmiReal eventIndicators[], size_t ni);
DllExport fmiStatus fmiEventUpdate(fmiComponent c, fmiBoolean intermediateResults, fmiEventInfo *eventInfo);
DllExport fmiStatus fmiGetContinuousStates(fmiComponent c, fmiReal x[], size_t nx);
DllExport fmiStatus fmiGetNominalContinuousStates(fmiComponent c, fmiReal x_nominal[], size_t nx);
DllExport fmiStatus fmiGetStateValueReferences(fmiComponent c, fmiValueReference vrx[], size_t nx);

#ifdef __cplusplus
}
#endif

#endif
