/* Setting and getting. */

#include "structural.h"
#include <string.h>

static bool is_structural(fmi3ValueReference vr)
{
    return vr == N || vr == ROWS;
}

fmi3Status begin_set(struct structural *fmu, fmi3ValueReference vr)
{
    if (fmu->configuring != is_structural(vr)) {
        fmu->breaches++;
        return fmu_log(&fmu->base, fmi3Error, "Variable #%u# must not be set %s Configuration Mode.", vr,
                       fmu->configuring ? "in" : "outside of");
    }
    bool running = fmu->base.state == FMU_CLOCK_ACTIVATION;
    bool input = (vr >= ADD_ANY && vr <= ADD_SLOW) || vr == FIELD;
    bool tunable = vr == TABLE || (vr >= GAIN && vr <= ON) || vr == TRAP || vr == TRAP_ENTER || vr == N;
    if (running ? !input && !tunable : fmu->base.state == FMU_TERMINATED) {
        fmu->breaches++;
        return fmu_log(&fmu->base, fmi3Error, "Variable #%u# must not be set now.", vr);
    }
    /* Who sets does so with nobody else of this instance in between; and only before an activation of its own clock. */
    if (atomic_exchange(&fmu->setter, thread_id()) != 0) fmu->breaches++;
    if (running && vr == ADD_FAST) fmu->setter_of[FAST] = thread_id();
    if (running && vr == ADD_SLOW) fmu->setter_of[SLOW] = thread_id();
    return fmi3OK;
}

void end_set(struct structural *fmu)
{
    fmu->setter = 0;
}

size_t elements_of(const struct structural *fmu, fmi3ValueReference vr)
{
    switch (vr) {
    case TABLE: case VALUES: return fmu->n;
    case GRID: return fmu->rows * fmu->n;
    case FIELD: return fmu->rows;
    default: return 1;
    }
}

static fmi3Status wrong(struct structural *fmu, fmi3ValueReference vr, const char *what)
{
    fmu->breaches++;
    return fmu_log(&fmu->base, fmi3Error, "Variable #%u#: %s.", vr, what);
}

/* Calls `store` or `load` for each variable with its first value; checks numbers of values and the state. */
#define FOR_EACH(setting, body)                                                                                        \
    struct structural *fmu = instance;                                                                                 \
    size_t at = 0;                                                                                                     \
    if (!(setting) && fmu->configuring) return wrong(fmu, 0, "a get in Configuration Mode");                           \
    for (size_t i = 0; i < n; i++) {                                                                                   \
        fmi3ValueReference vr = vrs[i];                                                                                \
        size_t own = elements_of(fmu, vr);                                                                             \
        if (at + own > n_values) return wrong(fmu, vr, "too few values");                                              \
        fmi3Status status = (setting) ? begin_set(fmu, vr) : fmi3OK;                                                   \
        if (status != fmi3OK) return status;                                                                           \
        body;                                                                                                          \
        if (setting) end_set(fmu);                                                                                     \
        at += own;                                                                                                     \
    }                                                                                                                  \
    return at == n_values ? fmi3OK : wrong(fmu, n ? vrs[0] : 0, "too many values");

fmi3Status fmi3SetFloat64(fmi3Instance instance, const fmi3ValueReference vrs[], size_t n, const fmi3Float64 values[],
                          size_t n_values)
{
    FOR_EACH(true, switch (vr) {
        case GAIN: fmu->gain = values[at]; break;
        case TWIN: fmu->twin = values[at]; break;
        case FIXED: fmu->fixed = values[at]; break;
        case FIELD: memcpy(fmu->field, values + at, own * sizeof *values); break;
        default: return wrong(fmu, vr, "no Float64 to be set");
    })
}

fmi3Status fmi3GetFloat64(fmi3Instance instance, const fmi3ValueReference vrs[], size_t n, fmi3Float64 values[],
                          size_t n_values)
{
    FOR_EACH(false, switch (vr) {
        case 0: values[at] = fmu->time; break;
        case VALUES: for (size_t k = 0; k < own; k++) values[at + k] = 100.0 * (double)(k + 1) + (double)fmu->n; break;
        case FIELD: memcpy(values + at, fmu->field, own * sizeof *values); break;
        case GAIN: values[at] = fmu->gain; break;
        case TWIN: values[at] = fmu->twin; break;
        case FIXED: values[at] = fmu->fixed; break;
        case CONSTANT: values[at] = 3.0; break;
        case GAIN_SEEN: values[at] = fmu->gain_seen; break;
        case TABLE_SUM: values[at] = fmu->table_sum; break;
        default: return wrong(fmu, vr, "no Float64");
    })
}

fmi3Status fmi3SetFloat32(fmi3Instance instance, const fmi3ValueReference vrs[], size_t n, const fmi3Float32 values[],
                          size_t n_values)
{
    FOR_EACH(true, {
        if (vr != TABLE) return wrong(fmu, vr, "no Float32 to be set");
        memcpy(fmu->table, values + at, own * sizeof *values);
    })
}

fmi3Status fmi3GetFloat32(fmi3Instance instance, const fmi3ValueReference vrs[], size_t n, fmi3Float32 values[],
                          size_t n_values)
{
    FOR_EACH(false, {
        if (vr != TABLE) return wrong(fmu, vr, "no Float32");
        memcpy(values + at, fmu->table, own * sizeof *values);
    })
}

fmi3Status fmi3SetInt32(fmi3Instance instance, const fmi3ValueReference vrs[], size_t n, const fmi3Int32 values[],
                        size_t n_values)
{
    FOR_EACH(true, switch (vr) {
        case TRAP:
            if (values[at] > 0 && values[at] <= 4) {
                end_set(fmu);
                return fmu_log(&fmu->base, (fmi3Status)values[at], "Not this value, as asked for.");
            }
            break;
        case TRAP_ENTER: fmu->trap_enter = values[at]; break;
        case FAST_BURN: fmu->fast_burn = values[at]; break;
        case SLOW_BURN: fmu->slow_burn = values[at]; break;
        case SLOW_SLEEP: fmu->slow_sleep = values[at]; break;
        default: return wrong(fmu, vr, "no Int32 to be set");
    })
}

fmi3Status fmi3GetInt32(fmi3Instance instance, const fmi3ValueReference vrs[], size_t n, fmi3Int32 values[],
                        size_t n_values)
{
    FOR_EACH(false, {
        if (vr != GRID) return wrong(fmu, vr, "no Int32");
        for (size_t k = 0; k < own; k++) values[at + k] = (int32_t)(10 * (k / fmu->n + 1) + k % fmu->n + 1);
    })
}

fmi3Status fmi3SetUInt64(fmi3Instance instance, const fmi3ValueReference vrs[], size_t n, const fmi3UInt64 values[],
                         size_t n_values)
{
    FOR_EACH(true, switch (vr) {
        case N:
            if (values[at] > LONGEST) return wrong(fmu, vr, "too large");
            fmu->new_n = values[at];
            break;
        case ROWS:
            if (values[at] > MOST_ROWS) return wrong(fmu, vr, "too large");
            fmu->new_rows = values[at];
            break;
        case ADD_ANY: case ADD_FAST: case ADD_SLOW: fmu->sum += values[at]; break;
        default: return wrong(fmu, vr, "no UInt64 to be set");
    })
}

fmi3Status fmi3GetUInt64(fmi3Instance instance, const fmi3ValueReference vrs[], size_t n, fmi3UInt64 values[],
                         size_t n_values)
{
    FOR_EACH(false, switch (vr) {
        case N: values[at] = fmu->n; break;
        case ROWS: values[at] = fmu->rows; break;
        case TOTAL: values[at] = fmu->total; break;
        case TEXT_SEEN: values[at] = fmu->text_seen; break;
        case APART: values[at] = fmu->apart; break;
        case CONFIGURATIONS: values[at] = fmu->configurations; break;
        case PREEMPTED: values[at] = fmu->preempted; break;
        case BREACHES: values[at] = fmu->breaches; break;
        default: return wrong(fmu, vr, "no UInt64");
    })
}

fmi3Status fmi3SetBoolean(fmi3Instance instance, const fmi3ValueReference vrs[], size_t n, const fmi3Boolean values[],
                          size_t n_values)
{
    FOR_EACH(true, {
        if (vr != ON) return wrong(fmu, vr, "no Boolean to be set");
        fmu->on = values[at];
    })
}

fmi3Status fmi3SetString(fmi3Instance instance, const fmi3ValueReference vrs[], size_t n, const fmi3String values[],
                         size_t n_values)
{
    FOR_EACH(true, {
        if (vr != LABEL || strlen(values[at]) >= sizeof fmu->label) return wrong(fmu, vr, "no such String");
        strcpy(fmu->label, values[at]);
    })
}

fmi3Status fmi3SetBinary(fmi3Instance instance, const fmi3ValueReference vrs[], size_t n, const size_t sizes[],
                         const fmi3Binary values[], size_t n_values)
{
    FOR_EACH(true, {
        if (vr != BLOB || sizes[at] > sizeof fmu->blob) return wrong(fmu, vr, "no such Binary");
        memcpy(fmu->blob, values[at], sizes[at]);
        fmu->blob_size = sizes[at];
    })
}
