/* States and Reset: everything but what ties an instance to its importer. */

#include "structural.h"
#include <string.h>

struct kept {
    struct structural fmu; /* its pointers mean nothing */
    float table[LONGEST];
};

fmi3Status fmi3GetFMUState(fmi3Instance instance, fmi3FMUState *state)
{
    struct structural *fmu = instance;
    struct kept *kept = *state ? *state : calloc(1, sizeof *kept);
    if (!kept) return fmu_log(&fmu->base, fmi3Error, "There is no memory.");
    memcpy(&kept->fmu, fmu, sizeof *fmu);
    memcpy(kept->table, fmu->table, fmu->n * sizeof *fmu->table);
    *state = kept;
    return fmi3OK;
}

fmi3Status fmi3SetFMUState(fmi3Instance instance, fmi3FMUState state)
{
    struct structural *fmu = instance;
    const struct kept *kept = state;
    struct fmu_base base = fmu->base;
    if (!resize(fmu, kept->fmu.n, kept->fmu.rows, 1.0f)) return fmu_log(&base, fmi3Error, "There is no memory.");
    float *table = fmu->table;
    memcpy(table, kept->table, kept->fmu.n * sizeof *table);
    memcpy(fmu, &kept->fmu, sizeof *fmu);
    base.state = fmu->base.state;
    fmu->base = base;
    fmu->table = table;
    return fmi3OK;
}

fmi3Status fmi3FreeFMUState(fmi3Instance instance, fmi3FMUState *state)
{
    (void)instance;
    free(*state);
    *state = NULL;
    return fmi3OK;
}

fmi3Status fmi3SerializedFMUStateSize(fmi3Instance instance, fmi3FMUState state, size_t *size)
{
    (void)instance, (void)state;
    *size = sizeof(struct kept);
    return fmi3OK;
}

fmi3Status fmi3SerializeFMUState(fmi3Instance instance, fmi3FMUState state, fmi3Byte bytes[], size_t size)
{
    (void)instance;
    memcpy(bytes, state, size);
    return fmi3OK;
}

fmi3Status fmi3DeserializeFMUState(fmi3Instance instance, const fmi3Byte bytes[], size_t size, fmi3FMUState *state)
{
    struct structural *fmu = instance;
    if (size != sizeof(struct kept) || !(*state = malloc(size)))
        return fmu_log(&fmu->base, fmi3Error, "This is no state of this FMU, or there is no memory.");
    memcpy(*state, bytes, size);
    return fmi3OK;
}

fmi3Status fmi3Reset(fmi3Instance instance)
{
    struct structural *fmu = instance;
    struct fmu_base base = fmu->base;
    float *table = fmu->table;
    if (fmu->active) return fmu_log(&base, fmi3Error, "fmi3Reset while %d partitions are active.", fmu->active);
    memset(fmu, 0, sizeof *fmu);
    fmu->base = base;
    fmu->base.state = FMU_INSTANTIATED;
    fmu->table = table;
    return begin_anew(fmu) ? fmi3OK : fmu_log(&fmu->base, fmi3Error, "There is no memory.");
}
