/* A test FMU: Y = K·U, Y 3x2, K 3x2, U 2x2, all in row-major order, with
 *   - directional derivatives: dY = K·dU + dK·U, of the values of the last activation (or initialisation),
 *   - adjoint derivatives: dU = Kᵀ·dY, dK = dY·Uᵀ,
 *   - dependencies of each element: Y(i,j) depends on U(1,j), U(2,j), K(i,1), K(i,2). At run time K can be tuned, so it is
 *     a tunable factor of U; in Initialization Mode it is just any.
 * Wrong variables or sizes are answered by fmi3Error, as are calls in states that forbid them. */

#include "fmi3_base.h"
#include <stdlib.h>
#include <string.h>

enum vr { STEP = 1, U = 2, K = 3, Y = 4 };
enum { ROWS = 3, INNER = 2, COLUMNS = 2, DEPENDENCIES = 2 * INNER };

struct matrix_gain {
    struct fmu_base base;
    double u[INNER][COLUMNS], k[ROWS][INNER], y[ROWS][COLUMNS];
};

static double *values_of(struct matrix_gain *fmu, fmi3ValueReference vr, size_t *elements)
{
    switch (vr) {
    case U: *elements = INNER * COLUMNS; return &fmu->u[0][0];
    case K: *elements = ROWS * INNER; return &fmu->k[0][0];
    case Y: *elements = ROWS * COLUMNS; return &fmu->y[0][0];
    default: *elements = 0; return NULL;
    }
}

/* y += k·u */
static void multiply(double y[ROWS][COLUMNS], double k[ROWS][INNER], double u[INNER][COLUMNS])
{
    for (size_t i = 0; i < ROWS; i++)
        for (size_t j = 0; j < COLUMNS; j++)
            for (size_t n = 0; n < INNER; n++) y[i][j] += k[i][n] * u[n][j];
}

static void compute(struct matrix_gain *fmu)
{
    memset(fmu->y, 0, sizeof fmu->y);
    multiply(fmu->y, fmu->k, fmu->u);
}

/* ---- Life ---- */

fmi3Instance fmi3InstantiateScheduledExecution(fmi3String instanceName, fmi3String instantiationToken,
                                               fmi3String resourcePath, fmi3Boolean visible, fmi3Boolean loggingOn,
                                               fmi3InstanceEnvironment instanceEnvironment,
                                               fmi3LogMessageCallback logMessage, fmi3ClockUpdateCallback clockUpdate,
                                               fmi3LockPreemptionCallback lockPreemption,
                                               fmi3UnlockPreemptionCallback unlockPreemption)
{
    (void)resourcePath, (void)visible;
    struct matrix_gain *fmu = calloc(1, sizeof *fmu);
    if (!fmu) return NULL;
    if (!fmu_base_init(&fmu->base, "{vecud-matrix-gain-1}", instanceName, instantiationToken, loggingOn,
                       instanceEnvironment, logMessage, clockUpdate, lockPreemption, unlockPreemption)) {
        free(fmu);
        return NULL;
    }
    for (int i = 0; i < INNER * COLUMNS; i++) (&fmu->u[0][0])[i] = i + 1;
    for (int i = 0; i < ROWS * INNER; i++) (&fmu->k[0][0])[i] = i + 1;
    return fmu;
}

void fmi3FreeInstance(fmi3Instance instance)
{
    if (!instance) return;
    fmu_base_release(instance);
    free(instance);
}

static fmi3Status enter(struct fmu_base *base, int from, int to, const char *function)
{
    if (base->state != from) return fmu_log(base, fmi3Error, "%s in the wrong state.", function);
    base->state = to;
    return fmi3OK;
}

fmi3Status fmi3EnterInitializationMode(fmi3Instance instance, fmi3Boolean toleranceDefined, fmi3Float64 tolerance,
                                       fmi3Float64 startTime, fmi3Boolean stopTimeDefined, fmi3Float64 stopTime)
{
    (void)toleranceDefined, (void)tolerance, (void)startTime, (void)stopTimeDefined, (void)stopTime;
    return enter(instance, FMU_INSTANTIATED, FMU_INITIALIZATION, "fmi3EnterInitializationMode");
}

fmi3Status fmi3ExitInitializationMode(fmi3Instance instance)
{
    return enter(instance, FMU_INITIALIZATION, FMU_CLOCK_ACTIVATION, "fmi3ExitInitializationMode");
}

fmi3Status fmi3Terminate(fmi3Instance instance)
{
    return enter(instance, FMU_CLOCK_ACTIVATION, FMU_TERMINATED, "fmi3Terminate");
}

fmi3Status fmi3ActivateModelPartition(fmi3Instance instance, fmi3ValueReference clockReference,
                                      fmi3Float64 activationTime)
{
    struct matrix_gain *fmu = instance;
    (void)activationTime;
    if (fmu->base.state != FMU_CLOCK_ACTIVATION || clockReference != STEP)
        return fmu_log(&fmu->base, fmi3Error, "fmi3ActivateModelPartition in the wrong state.");
    compute(fmu);
    return fmi3OK;
}

/* ---- Variables ---- */

fmi3Status fmi3GetFloat64(fmi3Instance instance, const fmi3ValueReference valueReferences[], size_t nValueReferences,
                          fmi3Float64 values[], size_t nValues)
{
    struct matrix_gain *fmu = instance;
    for (size_t i = 0, elements; i < nValueReferences; i++, values += elements, nValues -= elements) {
        double *from = values_of(fmu, valueReferences[i], &elements);
        if (!from || elements > nValues) return fmu_log(&fmu->base, fmi3Error, "fmi3GetFloat64: wrong variable or size.");
        memcpy(values, from, elements * sizeof *values);
    }
    return nValues == 0 ? fmi3OK : fmu_log(&fmu->base, fmi3Error, "fmi3GetFloat64: wrong size.");
}

fmi3Status fmi3SetFloat64(fmi3Instance instance, const fmi3ValueReference valueReferences[], size_t nValueReferences,
                          const fmi3Float64 values[], size_t nValues)
{
    struct matrix_gain *fmu = instance;
    for (size_t i = 0, elements; i < nValueReferences; i++, values += elements, nValues -= elements) {
        double *to = values_of(fmu, valueReferences[i], &elements);
        if (!to || elements > nValues || valueReferences[i] == Y)
            return fmu_log(&fmu->base, fmi3Error, "fmi3SetFloat64: wrong variable or size.");
        memcpy(to, values, elements * sizeof *values);
    }
    return nValues == 0 ? fmi3OK : fmu_log(&fmu->base, fmi3Error, "fmi3SetFloat64: wrong size.");
}

/* ---- Derivatives ---- */

/* Whether these are Y, and U or K or both, each once, with `n_unknown` and `n_known` elements. */
static bool are_ours(struct matrix_gain *fmu, const fmi3ValueReference unknowns[], size_t nUnknowns,
                     const fmi3ValueReference knowns[], size_t nKnowns, size_t n_unknown, size_t n_known)
{
    bool in_state = fmu->base.state == FMU_INITIALIZATION || fmu->base.state == FMU_CLOCK_ACTIVATION;
    if (!in_state || nUnknowns != 1 || unknowns[0] != Y || n_unknown != ROWS * COLUMNS) return false;
    size_t total = 0;
    for (size_t i = 0, elements; i < nKnowns; i++, total += elements) {
        if (!values_of(fmu, knowns[i], &elements) || knowns[i] == Y || (i == 1 && knowns[1] == knowns[0])) return false;
    }
    return (nKnowns == 1 || nKnowns == 2) && total == n_known;
}

fmi3Status fmi3GetDirectionalDerivative(fmi3Instance instance, const fmi3ValueReference unknowns[], size_t nUnknowns,
                                        const fmi3ValueReference knowns[], size_t nKnowns, const fmi3Float64 seed[],
                                        size_t nSeed, fmi3Float64 sensitivity[], size_t nSensitivity)
{
    struct matrix_gain *fmu = instance;
    if (!are_ours(fmu, unknowns, nUnknowns, knowns, nKnowns, nSensitivity, nSeed))
        return fmu_log(&fmu->base, fmi3Error, "fmi3GetDirectionalDerivative: not these variables, or not now.");
    double dy[ROWS][COLUMNS] = {{0}}, du[INNER][COLUMNS] = {{0}}, dk[ROWS][INNER] = {{0}};
    for (size_t i = 0; i < nKnowns; i++) {
        size_t elements;
        values_of(fmu, knowns[i], &elements);
        memcpy(knowns[i] == U ? &du[0][0] : &dk[0][0], seed, elements * sizeof *seed);
        seed += elements;
    }
    multiply(dy, fmu->k, du);
    multiply(dy, dk, fmu->u);
    memcpy(sensitivity, dy, sizeof dy);
    return fmi3OK;
}

fmi3Status fmi3GetAdjointDerivative(fmi3Instance instance, const fmi3ValueReference unknowns[], size_t nUnknowns,
                                    const fmi3ValueReference knowns[], size_t nKnowns, const fmi3Float64 seed[],
                                    size_t nSeed, fmi3Float64 sensitivity[], size_t nSensitivity)
{
    struct matrix_gain *fmu = instance;
    if (!are_ours(fmu, unknowns, nUnknowns, knowns, nKnowns, nSeed, nSensitivity))
        return fmu_log(&fmu->base, fmi3Error, "fmi3GetAdjointDerivative: not these variables, or not now.");
    memset(sensitivity, 0, nSensitivity * sizeof *sensitivity);
    for (size_t v = 0; v < nKnowns; v++) {
        for (size_t i = 0; i < ROWS; i++)
            for (size_t j = 0; j < COLUMNS; j++)
                for (size_t n = 0; n < INNER; n++) {
                    double w = seed[i * COLUMNS + j];
                    if (knowns[v] == U)
                        sensitivity[n * COLUMNS + j] += w * fmu->k[i][n];
                    else
                        sensitivity[i * INNER + n] += w * fmu->u[n][j];
                }
        sensitivity += knowns[v] == U ? INNER * COLUMNS : ROWS * INNER;
    }
    return fmi3OK;
}

/* ---- Dependencies ---- */

fmi3Status fmi3GetNumberOfVariableDependencies(fmi3Instance instance, fmi3ValueReference valueReference,
                                               size_t *nDependencies)
{
    if (valueReference != Y) return fmu_log(instance, fmi3Error, "fmi3GetNumberOfVariableDependencies: only of Y.");
    *nDependencies = ROWS * COLUMNS * DEPENDENCIES;
    return fmi3OK;
}

fmi3Status fmi3GetVariableDependencies(fmi3Instance instance, fmi3ValueReference dependent,
                                       size_t elementIndicesOfDependent[], fmi3ValueReference independents[],
                                       size_t elementIndicesOfIndependents[], fmi3DependencyKind dependencyKinds[],
                                       size_t nDependencies)
{
    struct fmu_base *base = instance;
    if (dependent != Y || nDependencies != ROWS * COLUMNS * DEPENDENCIES)
        return fmu_log(base, fmi3Error, "fmi3GetVariableDependencies: only of Y, all of them.");
    bool running = base->state == FMU_CLOCK_ACTIVATION;
    size_t at = 0;
    for (size_t i = 0; i < ROWS; i++)
        for (size_t j = 0; j < COLUMNS; j++)
            for (size_t n = 0; n < DEPENDENCIES; n++, at++) {
                bool on_u = n < INNER;
                elementIndicesOfDependent[at] = 1 + i * COLUMNS + j;
                independents[at] = on_u ? U : K;
                elementIndicesOfIndependents[at] = 1 + (on_u ? n * COLUMNS + j : i * INNER + n - INNER);
                dependencyKinds[at] = on_u && running ? fmi3Tunable : fmi3Dependent;
            }
    return fmi3OK;
}
