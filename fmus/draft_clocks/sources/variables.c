/* The variables of draft_clocks, one access function for each type that it has. */

#include "fmu.h"
#include <stdlib.h>
#include <string.h>

static void noted(struct fmu *fmu, enum trace_what what, const fmi3ValueReference vrs[], size_t n)
{
    note(fmu, what, TRACE_BEGIN, NO_CLOCK, n > 0 ? vrs[0] : 0, (uint32_t)n, 0.0);
}

static double *float64(struct fmu *fmu, fmi3ValueReference vr)
{
    switch (vr) {
    case 20: return &fmu->in_base;
    case 21: return &fmu->out_base;
    case 33: return &fmu->delay;
    case 34: return &fmu->offset;
    default: return NULL;
    }
}

static int32_t *int32(struct fmu *fmu, fmi3ValueReference vr)
{
    switch (vr) {
    case 31: return &fmu->out_every;
    case 32: return &fmu->late_every;
    case 35: return &fmu->misbehave;
    case 36: return &fmu->burn_us;
    case 38: return &fmu->bank_burn_us;
    default: return NULL;
    }
}

fmi3Status fmi3GetFloat64(fmi3Instance instance, const fmi3ValueReference vrs[], size_t n, fmi3Float64 values[],
                          size_t n_values)
{
    noted(instance, TRACE_GET, vrs, n);
    for (size_t i = 0; i < n && i < n_values; i++) {
        const double *value = float64(instance, vrs[i]);
        if (!value) return fmi3Error;
        values[i] = *value;
    }
    return fmi3OK;
}

fmi3Status fmi3SetFloat64(fmi3Instance instance, const fmi3ValueReference vrs[], size_t n, const fmi3Float64 values[],
                          size_t n_values)
{
    noted(instance, TRACE_SET, vrs, n);
    for (size_t i = 0; i < n && i < n_values; i++) {
        double *value = float64(instance, vrs[i]);
        if (!value) return fmi3Error;
        *value = values[i];
    }
    return fmi3OK;
}

fmi3Status fmi3SetInt32(fmi3Instance instance, const fmi3ValueReference vrs[], size_t n, const fmi3Int32 values[],
                        size_t n_values)
{
    noted(instance, TRACE_SET, vrs, n);
    for (size_t i = 0; i < n && i < n_values; i++) {
        int32_t *value = int32(instance, vrs[i]);
        if (!value) return fmi3Error;
        *value = values[i];
    }
    return fmi3OK;
}

/* `active`: of the output clock that it belongs to; reading it at another time is against the rules. */
static uint64_t while_active(struct fmu *fmu, bool active, uint64_t value)
{
    if (!active) note(fmu, TRACE_VIOLATION, TRACE_NOTE, NO_CLOCK, 0, 0, 0.0);
    return value;
}

static uint64_t uint64(struct fmu *fmu, fmi3ValueReference vr)
{
    switch (vr) {
    case 22: return fmu->count_bank;
    case 23: return fmu->count_second;
    case 25: return while_active(fmu, fmu->payload_active, fmu->payload);
    case 26: return while_active(fmu, fmu->payload_second_active, fmu->payload_second);
    default: return fmu->got_urgent;
    }
}

fmi3Status fmi3GetUInt64(fmi3Instance instance, const fmi3ValueReference vrs[], size_t n, fmi3UInt64 values[],
                         size_t n_values)
{
    const struct fmu *fmu = instance;
    noted(instance, TRACE_GET, vrs, n);
    if (fmu->misbehave == PAYLOAD_FAILS && n > 0 && vrs[0] == 25) return fmi3Error;
    for (size_t i = 0; i < n && i < n_values; i++) values[i] = uint64(instance, vrs[i]);
    return fmi3OK;
}

fmi3Status fmi3SetUInt64(fmi3Instance instance, const fmi3ValueReference vrs[], size_t n, const fmi3UInt64 values[],
                         size_t n_values)
{
    struct fmu *fmu = instance;
    noted(fmu, TRACE_SET, vrs, n);
    if (n != 1 || n_values != 1 || vrs[0] != 27) return fmi3Error;
    fmu->in_urgent = values[0];
    return fmi3OK;
}

fmi3Status fmi3GetBoolean(fmi3Instance instance, const fmi3ValueReference vrs[], size_t n, fmi3Boolean values[],
                          size_t n_values)
{
    struct fmu *fmu = instance;
    noted(fmu, TRACE_GET, vrs, n);
    for (size_t i = 0; i < n && i < n_values; i++) values[i] = fmu->count_base % 2 == 1 ? 64 : 0;
    return fmi3OK;
}

fmi3Status fmi3SetString(fmi3Instance instance, const fmi3ValueReference vrs[], size_t n, const fmi3String values[],
                         size_t n_values)
{
    struct fmu *fmu = instance;
    if (n != 1 || n_values != 1 || vrs[0] != 30) return fmi3Error;
    free(fmu->trace_file);
    fmu->trace_file = strdup(values[0]);
    return fmi3OK;
}
