/* All variables of step_tracer in one table, and the functions that set and get them. */

#include "step_tracer.h"
#include <string.h>

enum type { FLOAT64, UINT64, BOOLEAN, PATH };
enum kind { INDEPENDENT, PARAMETER, CONTINUOUS, DISCRETE, OUTPUT };

struct variable {
    uint32_t vr;
    enum type type;
    enum kind kind;
    size_t offset; /* in struct step_tracer */
};

#define AT(member) offsetof(struct step_tracer, member)
static const struct variable variables[] = {
    {0, FLOAT64, INDEPENDENT, AT(reached)},
    {10, FLOAT64, CONTINUOUS, AT(inputs[0])},
    {11, FLOAT64, CONTINUOUS, AT(inputs[1])},
    {12, FLOAT64, CONTINUOUS, AT(inputs[2])},
    {13, FLOAT64, DISCRETE, AT(inputs[3])},
    {20, FLOAT64, OUTPUT, AT(reached)},
    {21, FLOAT64, OUTPUT, AT(a_used)},
    {22, UINT64, OUTPUT, AT(steps)},
    {23, UINT64, OUTPUT, AT(events)},
    {24, UINT64, OUTPUT, AT(violations)},
    {25, UINT64, OUTPUT, AT(violation_kinds)},
    {30, BOOLEAN, PARAMETER, AT(settings.varies)},
    {31, UINT64, PARAMETER, AT(settings.burn_us)},
    {32, FLOAT64, PARAMETER, AT(settings.late_at)},
    {33, UINT64, PARAMETER, AT(settings.late_us)},
    {34, UINT64, PARAMETER, AT(settings.event_every)},
    {35, UINT64, PARAMETER, AT(settings.early_every)},
    {36, FLOAT64, PARAMETER, AT(settings.event_interval)},
    {37, UINT64, PARAMETER, AT(settings.iterations)},
    {200, PATH, PARAMETER, AT(settings.trace_file)},
    {201, UINT64, PARAMETER, AT(settings.trace_capacity)},
};

void variables_reset(struct step_tracer *fmu)
{
    fmu->settings =
        (struct settings){.varies = true, .late_at = 1e300, .iterations = 1, .trace_capacity = 200000};
}

static const struct variable *find(uint32_t vr, enum type type)
{
    for (size_t i = 0; i < sizeof variables / sizeof *variables; i++)
        if (variables[i].vr == vr && variables[i].type == type) return &variables[i];
    return NULL;
}

/* ---- The rules of access ---- */

static void check_set(struct step_tracer *fmu, enum kind kind)
{
    bool starts = fmu->base.state <= FMU_INITIALIZATION;
    bool may = kind == CONTINUOUS ? starts || fmu->base.state == FMU_CLOCK_ACTIVATION
               : kind == DISCRETE ? starts || fmu->mode == EVENT_MODE || !fmu->has_event_mode
                                  : kind == PARAMETER && fmu->base.state == FMU_INSTANTIATED;
    if (!may) violated(fmu, WRONG_STATE);
    if (fmu->mode == STEP_MODE) fmu->was_set = true;
}

static void check_get(struct step_tracer *fmu)
{
    if (fmu->base.state == FMU_INSTANTIATED) violated(fmu, WRONG_STATE);
    if (fmu->mode == STEP_MODE && fmu->was_set) violated(fmu, READ_BEFORE_STEP);
}

/* The place of a variable; NULL, after a message: there is none. */
static char *place(struct step_tracer *fmu, uint32_t vr, enum type type, bool setting)
{
    const struct variable *variable = find(vr, type);
    if (!variable) {
        fmu_log(&fmu->base, fmi3Error, "There is no variable %u of this type.", vr);
        return NULL;
    }
    if (setting)
        check_set(fmu, variable->kind);
    else
        check_get(fmu);
    return (char *)fmu + variable->offset;
}

static fmi3Status access_values(struct step_tracer *fmu, enum type type, size_t size, bool setting,
                                const fmi3ValueReference vrs[], size_t n, char *values)
{
    enter(fmu);
    for (size_t i = 0; i < n; i++) {
        char *own = place(fmu, vrs[i], type, setting), *value = values + i * size;
        if (!own) return leave(fmu, fmi3Error);
        memcpy(setting ? own : value, setting ? value : own, size);
        uint64_t hash = 0;
        memcpy(&hash, value, size);
        note(fmu, setting ? TRACE_SET : TRACE_GET, TRACE_NOTE, vrs[i], fmu->reached, hash);
    }
    return leave(fmu, fmi3OK);
}

#define ACCESS(Type, type)                                                                                             \
    fmi3Status fmi3Get##Type(fmi3Instance instance, const fmi3ValueReference vrs[], size_t n, fmi3##Type values[],     \
                             size_t n_values)                                                                          \
    {                                                                                                                  \
        (void)n_values;                                                                                                \
        return access_values(instance, type, sizeof *values, false, vrs, n, (char *)values);                           \
    }                                                                                                                  \
    fmi3Status fmi3Set##Type(fmi3Instance instance, const fmi3ValueReference vrs[], size_t n,                          \
                             const fmi3##Type values[], size_t n_values)                                               \
    {                                                                                                                  \
        (void)n_values;                                                                                                \
        return access_values(instance, type, sizeof *values, true, vrs, n, (char *)values);                            \
    }

ACCESS(Float64, FLOAT64)
ACCESS(UInt64, UINT64)
ACCESS(Boolean, BOOLEAN)

fmi3Status fmi3SetString(fmi3Instance instance, const fmi3ValueReference vrs[], size_t n, const fmi3String values[],
                         size_t n_values)
{
    (void)n_values;
    struct step_tracer *fmu = instance;
    enter(fmu);
    for (size_t i = 0; i < n; i++) {
        char *own = place(fmu, vrs[i], PATH, true);
        if (!own || strlen(values[i]) >= PATH_SIZE) return leave(fmu, fmi3Error);
        strcpy(own, values[i]);
    }
    return leave(fmu, fmi3OK);
}
