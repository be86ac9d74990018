/* What every example FMU repeats: the common head of an instance, logging, and the check of the arguments of
 * fmi3InstantiateScheduledExecution. This file and fmi3_base.c are the same in every FMU of this repository, because
 * the sources of an FMU must not reach outside their folder. */

#ifndef fmi3_base_h
#define fmi3_base_h

#include "fmi3Functions.h"
#include <stdatomic.h>

enum fmu_state { FMU_INSTANTIATED, FMU_INITIALIZATION, FMU_CLOCK_ACTIVATION, FMU_TERMINATED, FMU_FAILED };

/* The first member of every FMU's instance, so that an fmi3Instance may be read as a pointer to it. */
struct fmu_base {
    const char *name;
    fmi3InstanceEnvironment environment;
    fmi3LogMessageCallback log_message;
    fmi3ClockUpdateCallback clock_update;
    fmi3LockPreemptionCallback lock_preemption;
    fmi3UnlockPreemptionCallback unlock_preemption;
    unsigned logged;   /* bit s: messages of fmi3Status s are wanted */
    _Atomic int state; /* enum fmu_state; partitions of all priorities read and write it */
    double start_time; /* of the run, from fmi3EnterInitializationMode on; with steps, the time that they have come to */
};

/* Fills `base`; false, with a log message, if the token or a callback is wrong. Keeps a copy of `name`. */
bool fmu_base_init(struct fmu_base *base, const char *expected_token, fmi3String name, fmi3String token,
                   bool logging_on, fmi3InstanceEnvironment environment, fmi3LogMessageCallback log_message,
                   fmi3ClockUpdateCallback clock_update, fmi3LockPreemptionCallback lock_preemption,
                   fmi3UnlockPreemptionCallback unlock_preemption);

void fmu_base_release(struct fmu_base *base);

/* Logs under the category that belongs to the status (logEvents, logStatusWarning, ...). Returns the status, so that
 * an error is reported and returned in one statement. Formats on the stack: for errors and rare events only. */
fmi3Status fmu_log(const struct fmu_base *base, fmi3Status status, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* fmi3SetDebugLogging, for an FMU that wraps it. No category means all of them. */
fmi3Status fmu_set_debug_logging(struct fmu_base *base, bool logging_on, size_t n_categories,
                                 const fmi3String categories[]);

#endif
