/* Declares every function that an FMI 1.0 FMU for Co-Simulation exports, with status codes and callbacks. An FMU's
 * sources include this file and define them.
 *
 * Written for vecud from the application binary interface of the standard.
 *
 * Sources define MODEL_IDENTIFIER first: the name of every function, in a shared library too, begins with it and an
 * underscore. DllExport makes them visible even under -fvisibility=hidden. */

#ifndef fmiFunctions_h
#define fmiFunctions_h

#include "fmiPlatformTypes.h"
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

#define fmiGetTypesPlatform fmiFullName(_fmiGetTypesPlatform)
#define fmiGetVersion fmiFullName(_fmiGetVersion)
#define fmiSetDebugLogging fmiFullName(_fmiSetDebugLogging)
#define fmiInstantiateSlave fmiFullName(_fmiInstantiateSlave)
#define fmiInitializeSlave fmiFullName(_fmiInitializeSlave)
#define fmiTerminateSlave fmiFullName(_fmiTerminateSlave)
#define fmiResetSlave fmiFullName(_fmiResetSlave)
#define fmiFreeSlaveInstance fmiFullName(_fmiFreeSlaveInstance)
#define fmiGetReal fmiFullName(_fmiGetReal)
#define fmiGetInteger fmiFullName(_fmiGetInteger)
#define fmiGetBoolean fmiFullName(_fmiGetBoolean)
#define fmiGetString fmiFullName(_fmiGetString)
#define fmiSetReal fmiFullName(_fmiSetReal)
#define fmiSetInteger fmiFullName(_fmiSetInteger)
#define fmiSetBoolean fmiFullName(_fmiSetBoolean)
#define fmiSetString fmiFullName(_fmiSetString)
#define fmiSetRealInputDerivatives fmiFullName(_fmiSetRealInputDerivatives)
#define fmiGetRealOutputDerivatives fmiFullName(_fmiGetRealOutputDerivatives)
#define fmiDoStep fmiFullName(_fmiDoStep)
#define fmiCancelStep fmiFullName(_fmiCancelStep)
#define fmiGetStatus fmiFullName(_fmiGetStatus)
#define fmiGetRealStatus fmiFullName(_fmiGetRealStatus)
#define fmiGetIntegerStatus fmiFullName(_fmiGetIntegerStatus)
#define fmiGetBooleanStatus fmiFullName(_fmiGetBooleanStatus)
#define fmiGetStringStatus fmiFullName(_fmiGetStringStatus)

#ifdef __cplusplus
extern "C" {
#endif

/* Enumerations; the numbers are part of the interface */
typedef enum {
    fmiOK = 0,
    fmiWarning = 1,
    fmiDiscard = 2,
    fmiError = 3,
    fmiFatal = 4,
    fmiPending = 5
} fmiStatus;
typedef enum { fmiDoStepStatus = 0, fmiPendingStatus = 1, fmiLastSuccessfulTime = 2 } fmiStatusKind;

/* The importer's functions that an FMU calls, which it gets by value. The message is a format as printf takes it, and the
 * arguments that it asks for follow. */
typedef void (*fmiCallbackLogger)(fmiComponent c, fmiString instanceName, fmiStatus status, fmiString category,
                                  fmiString message, ...);
typedef void *(*fmiCallbackAllocateMemory)(size_t nobj, size_t size);
typedef void (*fmiCallbackFreeMemory)(void *obj);
typedef void (*fmiStepFinished)(fmiComponent c, fmiStatus status);
typedef struct {
    fmiCallbackLogger logger;
    fmiCallbackAllocateMemory allocateMemory;
    fmiCallbackFreeMemory freeMemory;
    fmiStepFinished stepFinished; /* may be NULL */
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

/* Life of a slave */
DllExport const char *fmiGetTypesPlatform(void);
DllExport const char *fmiGetVersion(void);
DllExport fmiStatus fmiSetDebugLogging(fmiComponent c, fmiBoolean loggingOn);
DllExport fmiComponent fmiInstantiateSlave(fmiString instanceName, fmiString fmuGUID, fmiString fmuLocation,
                                           fmiString mimeType, fmiReal timeout, fmiBoolean visible,
                                           fmiBoolean interactive, fmiCallbackFunctions functions,
                                           fmiBoolean loggingOn);
DllExport fmiStatus fmiInitializeSlave(fmiComponent c, fmiReal tStart, fmiBoolean StopTimeDefined, fmiReal tStop);
DllExport fmiStatus fmiTerminateSlave(fmiComponent c);
DllExport fmiStatus fmiResetSlave(fmiComponent c);
DllExport void fmiFreeSlaveInstance(fmiComponent c);

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

/* Steps */
DllExport fmiStatus fmiSetRealInputDerivatives(fmiComponent c, const fmiValueReference vr[], size_t nvr,
                                               const fmiInteger order[], const fmiReal value[]);
DllExport fmiStatus fmiGetRealOutputDerivatives(fmiComponent c, const fmiValueReference vr[], size_t nvr,
                                                const fmiInteger order[], fmiReal value[]);
DllExport fmiStatus fmiDoStep(fmiComponent c, fmiReal currentCommunicationPoint, fmiReal communicationStepSize,
                              fmiBoolean newStep);
DllExport fmiStatus fmiCancelStep(fmiComponent c);
DllExport fmiStatus fmiGetStatus(fmiComponent c, const fmiStatusKind s, fmiStatus *value);
DllExport fmiStatus fmiGetRealStatus(fmiComponent c, const fmiStatusKind s, fmiReal *value);
DllExport fmiStatus fmiGetIntegerStatus(fmiComponent c, const fmiStatusKind s, fmiInteger *value);
DllExport fmiStatus fmiGetBooleanStatus(fmiComponent c, const fmiStatusKind s, fmiBoolean *value);
DllExport fmiStatus fmiGetStringStatus(fmiComponent c, const fmiStatusKind s, fmiString *value);

#ifdef __cplusplus
}
#endif

#endif
