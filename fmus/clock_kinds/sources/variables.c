/* The variables of clock_kinds in one table, and the functions that set and get them. */

#include "clock_kinds.h"
#include <string.h>

enum type { F64, I32, U64, BOOL };
enum kind { FIXED, TUNABLE, OUTPUT };

struct variable {
    uint32_t vr;
    enum type type;
    enum kind kind;
    size_t offset; /* in struct model */
};

#define MEMBER(m) offsetof(struct model, m)
#define SETTINGS(c, interval_kind)                                                                                    \
    {300 + 10 * c, F64, interval_kind, MEMBER(settings[c].interval)},                                                 \
        {301 + 10 * c, F64, FIXED, MEMBER(settings[c].step)},                                                         \
        {302 + 10 * c, F64, FIXED, MEMBER(settings[c].shift)},                                                        \
        {303 + 10 * c, U64, FIXED, MEMBER(settings[c].counter)},                                                      \
        {304 + 10 * c, U64, FIXED, MEMBER(settings[c].resolution)},                                                   \
        {305 + 10 * c, U64, FIXED, MEMBER(settings[c].counter_step)},                                                 \
        {306 + 10 * c, U64, FIXED, MEMBER(settings[c].shift_counter)},                                                \
        {307 + 10 * c, U64, FIXED, MEMBER(settings[c].cycle)},                                                        \
        {308 + 10 * c, I32, FIXED, MEMBER(settings[c].burn_us)},                                                      \
        {309 + 10 * c, I32, FIXED, MEMBER(settings[c].burn_from)},                                                    \
        {20 + c, U64, OUTPUT, MEMBER(states[c].count)}, {40 + c, F64, OUTPUT, MEMBER(states[c].time)}

static const struct variable variables[] = {
    {0, F64, OUTPUT, MEMBER(time)},
    SETTINGS(1, FIXED),
    SETTINGS(2, FIXED),
    SETTINGS(3, FIXED),
    SETTINGS(4, FIXED),
    SETTINGS(5, FIXED),
    SETTINGS(6, TUNABLE),
    SETTINGS(7, FIXED),
    SETTINGS(8, FIXED),
    SETTINGS(9, FIXED),
    SETTINGS(10, FIXED),
    SETTINGS(11, FIXED),
    {60, U64, OUTPUT, MEMBER(violations)},
    {61, U64, OUTPUT, MEMBER(violation_kinds)},
    {201, I32, FIXED, MEMBER(trace_capacity)},
    {210, I32, FIXED, MEMBER(odd_clock)},
    {211, I32, FIXED, MEMBER(odd_reading)},
    {212, I32, FIXED, MEMBER(odd_kind)},
    {213, I32, FIXED, MEMBER(arm_every)},
    {214, I32, FIXED, MEMBER(tick_every)},
    {215, BOOL, FIXED, MEMBER(known_at_start)},
    {216, BOOL, FIXED, MEMBER(lock_in_get_interval)},
};

static void *find(struct model *m, uint32_t vr, enum type type, const struct variable **found)
{
    for (size_t i = 0; i < sizeof variables / sizeof *variables; i++)
        if (variables[i].vr == vr && variables[i].type == type) {
            *found = &variables[i];
            return (char *)m + variables[i].offset;
        }
    return NULL;
}

static bool may_set(struct model *m, const struct variable *variable)
{
    int state = m->base.state;
    if (variable->kind == TUNABLE && state == FMU_CLOCK_ACTIVATION) {
        m->parameters_changed = true;
        return true;
    }
    return variable->kind != OUTPUT && state <= FMU_INITIALIZATION;
}

static fmi3Status move(struct model *m, enum type type, size_t size, const uint32_t *vrs, size_t n, char *out,
                       const char *in)
{
    for (size_t i = 0; i < n; i++) {
        const struct variable *variable = NULL;
        void *place = find(m, vrs[i], type, &variable);
        if (!place || (in && !may_set(m, variable)))
            return fmu_log(&m->base, fmi3Error, "Value reference %u cannot be %s now.", vrs[i], in ? "set" : "read");
        if (in) memcpy(place, in + i * size, size);
        else memcpy(out + i * size, place, size);
    }
    return fmi3OK;
}

#define ACCESS(Type, TYPE)                                                                                            \
    fmi3Status fmi3Get##Type(fmi3Instance instance, const fmi3ValueReference vrs[], size_t n, fmi3##Type values[],    \
                             size_t n_values)                                                                         \
    {                                                                                                                 \
        (void)n_values;                                                                                               \
        return move(instance, TYPE, sizeof *values, vrs, n, (char *)values, NULL);                                    \
    }                                                                                                                 \
    fmi3Status fmi3Set##Type(fmi3Instance instance, const fmi3ValueReference vrs[], size_t n,                         \
                             const fmi3##Type values[], size_t n_values)                                              \
    {                                                                                                                 \
        (void)n_values;                                                                                               \
        return move(instance, TYPE, sizeof *values, vrs, n, NULL, (const char *)values);                              \
    }
ACCESS(Float64, F64)
ACCESS(Int32, I32)
ACCESS(UInt64, U64)
ACCESS(Boolean, BOOL)

fmi3Status fmi3SetString(fmi3Instance instance, const fmi3ValueReference vrs[], size_t n, const fmi3String values[],
                         size_t n_values)
{
    struct model *m = instance;
    (void)n_values;
    for (size_t i = 0; i < n; i++) {
        if (vrs[i] != 200 || strlen(values[i]) >= sizeof m->trace_file) return fmi3Error;
        strcpy(m->trace_file, values[i]);
    }
    return fmi3OK;
}
