/* The life of an instance, its modes, and its partitions. */

#include "structural.h"
#include <string.h>
#include <time.h>
#include <unistd.h>

int thread_id(void)
{
    return (int)gettid();
}

/* ---- From instantiation to the end ---- */

/* Values of an array that gets another size are invalid: here they become the index, from 1, times `step`. */
bool resize(struct structural *fmu, uint64_t n, uint64_t rows, float step)
{
    float *table = malloc(n ? n * sizeof *table : 1);
    if (!table) return false;
    for (uint64_t i = 0; i < n; i++) table[i] = step * (float)(i + 1);
    free(fmu->table);
    fmu->table = table;
    fmu->n = n;
    fmu->rows = rows;
    return true;
}

bool begin_anew(struct structural *fmu)
{
    fmu->gain = fmu->twin = 1.0;
    fmu->fast_burn = fmu->slow_burn = 20;
    return resize(fmu, 7, 2, 1.0f);
}

fmi3Instance fmi3InstantiateScheduledExecution(fmi3String instanceName, fmi3String instantiationToken,
                                               fmi3String resourcePath, fmi3Boolean visible, fmi3Boolean loggingOn,
                                               fmi3InstanceEnvironment instanceEnvironment,
                                               fmi3LogMessageCallback logMessage, fmi3ClockUpdateCallback clockUpdate,
                                               fmi3LockPreemptionCallback lockPreemption,
                                               fmi3UnlockPreemptionCallback unlockPreemption)
{
    (void)resourcePath, (void)visible;
    struct structural *fmu = calloc(1, sizeof *fmu);
    if (!fmu) return NULL;
    if (!fmu_base_init(&fmu->base, "{vecud-structural-1}", instanceName, instantiationToken, loggingOn,
                       instanceEnvironment, logMessage, clockUpdate, lockPreemption, unlockPreemption) ||
        !begin_anew(fmu)) {
        free(fmu);
        return NULL;
    }
    return fmu;
}

void fmi3FreeInstance(fmi3Instance instance)
{
    struct structural *fmu = instance;
    if (!fmu) return;
    free(fmu->table);
    fmu_base_release(&fmu->base);
    free(fmu);
}

fmi3Status fmi3EnterInitializationMode(fmi3Instance instance, fmi3Boolean toleranceDefined, fmi3Float64 tolerance,
                                       fmi3Float64 startTime, fmi3Boolean stopTimeDefined, fmi3Float64 stopTime)
{
    (void)toleranceDefined, (void)tolerance, (void)stopTimeDefined, (void)stopTime;
    struct structural *fmu = instance;
    if (fmu->base.state != FMU_INSTANTIATED || fmu->configuring)
        return fmu_log(&fmu->base, fmi3Error, "fmi3EnterInitializationMode in the wrong state.");
    fmu->time = startTime;
    fmu->base.state = FMU_INITIALIZATION;
    return fmi3OK;
}

fmi3Status fmi3ExitInitializationMode(fmi3Instance instance)
{
    struct structural *fmu = instance;
    if (fmu->base.state != FMU_INITIALIZATION)
        return fmu_log(&fmu->base, fmi3Error, "fmi3ExitInitializationMode in the wrong state.");
    fmu->base.state = FMU_CLOCK_ACTIVATION;
    return fmi3OK;
}

fmi3Status fmi3Terminate(fmi3Instance instance)
{
    struct structural *fmu = instance;
    if (fmu->base.state != FMU_CLOCK_ACTIVATION || fmu->configuring || fmu->active)
        return fmu_log(&fmu->base, fmi3Error, "fmi3Terminate in the wrong state.");
    fmu->base.state = FMU_TERMINATED;
    return fmi3OK;
}

/* ---- Configuration and Reconfiguration Mode ---- */

fmi3Status fmi3EnterConfigurationMode(fmi3Instance instance)
{
    struct structural *fmu = instance;
    bool before = fmu->base.state == FMU_INSTANTIATED, running = fmu->base.state == FMU_CLOCK_ACTIVATION;
    if ((!before && !running) || fmu->configuring)
        return fmu_log(&fmu->base, fmi3Error, "fmi3EnterConfigurationMode in the wrong state.");
    if (fmu->active)
        return fmu_log(&fmu->base, fmi3Error, "fmi3EnterConfigurationMode while %d partitions are active.", fmu->active);
    int trap = fmu->trap_enter;
    fmu->trap_enter = 0;
    if (trap == 5) for (;;) sleep(1);
    if (trap == 6) abort();
    if (trap >= 2 && trap <= 4)
        return fmu_log(&fmu->base, (fmi3Status)trap, "Configuration Mode is refused, as asked for.");
    fmu->new_n = fmu->n;
    fmu->new_rows = fmu->rows;
    fmu->configuring = true;
    /* Long enough for somebody who does not wait to be caught at it. */
    nanosleep(&(struct timespec){.tv_nsec = running ? 3000000 : 0}, NULL);
    return trap == 1 ? fmu_log(&fmu->base, fmi3Warning, "A warning, as asked for.") : fmi3OK;
}

fmi3Status fmi3ExitConfigurationMode(fmi3Instance instance)
{
    struct structural *fmu = instance;
    if (!fmu->configuring) return fmu_log(&fmu->base, fmi3Error, "fmi3ExitConfigurationMode in the wrong state.");
    if (!resize(fmu, fmu->new_n, fmu->new_rows, 10.0f)) return fmu_log(&fmu->base, fmi3Error, "There is no memory.");
    fmu->configurations++;
    fmu->configuring = false;
    return fmi3OK;
}

/* ---- Partitions ---- */

static int64_t microseconds(clockid_t clock)
{
    struct timespec now;
    clock_gettime(clock, &now);
    return now.tv_sec * (int64_t)1000000 + now.tv_nsec / 1000;
}

static void burn(int32_t time)
{
    int64_t end = microseconds(CLOCK_THREAD_CPUTIME_ID) + time;
    while (time > 0 && microseconds(CLOCK_THREAD_CPUTIME_ID) < end) {}
}

static void run(struct structural *fmu, fmi3ValueReference clock)
{
    /* Together or not at all. */
    fmu->base.lock_preemption();
    if (fmu->gain != fmu->twin) fmu->apart++;
    fmu->base.unlock_preemption();
    switch (clock) {
    case FAST:
        fmu->gain_seen = fmu->gain;
        fmu->text_seen = strlen(fmu->label);
        for (size_t i = 0; i < fmu->blob_size; i++) fmu->text_seen += 1000u * fmu->blob[i];
        fmu->table_sum = 0.0;
        for (uint64_t i = 0; i < fmu->n; i++) fmu->table_sum += fmu->table[i];
        burn(fmu->fast_burn);
        break;
    case SLOW:
        fmu->total = fmu->sum;
        burn(fmu->slow_burn);
        if (fmu->slow_sleep > 0) usleep((useconds_t)fmu->slow_sleep);
        break;
    }
}

fmi3Status fmi3ActivateModelPartition(fmi3Instance instance, fmi3ValueReference clockReference,
                                      fmi3Float64 activationTime)
{
    struct structural *fmu = instance;
    if (fmu->base.state != FMU_CLOCK_ACTIVATION || fmu->configuring || clockReference < FAST || clockReference > SLOW) {
        fmu->breaches++;
        return fmu_log(&fmu->base, fmi3Error, "fmi3ActivateModelPartition in the wrong state.");
    }
    if (atomic_fetch_add(&fmu->active, 1) > 0) fmu->preempted++;
    int setter = atomic_exchange(&fmu->setter_of[clockReference], 0);
    if (setter && setter != thread_id()) fmu->breaches++;
    if (fmu->setter) fmu->breaches++;
    fmu->time = activationTime;
    run(fmu, clockReference);
    atomic_fetch_sub(&fmu->active, 1);
    return fmi3OK;
}
