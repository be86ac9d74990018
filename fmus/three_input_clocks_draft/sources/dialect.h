/* The draft dialect of FMI 3.0 (January 2021): what fmi3_base.h is for the released one, with its callbacks. */

#ifndef dialect_h
#define dialect_h

#include "fmi3Functions.h"
#include <stdatomic.h>
#include <stdbool.h>

enum fmu_state { FMU_INSTANTIATED, FMU_INITIALIZATION, FMU_CLOCK_ACTIVATION, FMU_TERMINATED, FMU_FAILED };

/* The first member of the instance. */
struct fmu_base {
    const char *name;
    fmi3InstanceEnvironment environment;
    fmi3CallbackLogMessage log_message;
    fmi3CallbackIntermediateUpdate intermediate_update;
    fmi3CallbackLockPreemption lock_preemption;
    fmi3CallbackUnlockPreemption unlock_preemption;
    unsigned logged;   /* bit s: messages of fmi3Status s are wanted */
    _Atomic int state; /* enum fmu_state */
    double start_time; /* of the run */
};

void fmu_base_release(struct fmu_base *base);

/* Logs under the category that belongs to the status. Returns the status. */
fmi3Status fmu_log(const struct fmu_base *base, fmi3Status status, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

#endif
