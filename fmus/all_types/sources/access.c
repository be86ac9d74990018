/* See all_types.h: the variables, and how they are set and read. */

#include "all_types.h"
#include <string.h>
#include <time.h>

#define AT(member) offsetof(struct all_types, member)
#define PAIR(vr, kind, member, count)                                                                                 \
    {vr, kind, AT(in.member), count, true}, {(vr) + 100, kind, AT(out.member), count, false}

const struct variable all_types_variables[] = {
    PAIR(11, FLOAT32, float32, 7),
    PAIR(12, FLOAT64, float64, 7),
    PAIR(13, INT8, int8, 2),
    PAIR(14, UINT8, uint8, 2),
    PAIR(15, INT16, int16, 2),
    PAIR(16, UINT16, uint16, 2),
    PAIR(17, INT32, int32, 2),
    PAIR(18, UINT32, uint32, 2),
    PAIR(19, INT64, int64, 2),
    PAIR(20, UINT64, uint64, 2),
    PAIR(21, BOOLEAN, boolean, 4),
    PAIR(22, STRING, string, 2),
    PAIR(23, BINARY, binary, 2),
    PAIR(24, INT64, enumeration, 1),
    PAIR(25, FLOAT64, matrix, 6),
    {30, BOOLEAN, AT(moving), 1, true},
    {31, BOOLEAN, AT(null_text), 1, true},
    {32, UINT64, AT(long_from), 1, true},
    {33, FLOAT64, AT(linger), 1, true},
    {40, UINT64, AT(string_digest), 1, false},
    {41, UINT64, AT(binary_digest), 1, false},
    {45, UINT64, AT(initial_digest), 1, false},
    {42, FLOAT64, AT(bar), 1, false},
    {43, FLOAT64, AT(pa_in), 1, true},
    {44, FLOAT64, AT(pa_out), 1, false},
    {50, FLOAT64, AT(wide), WIDE, false},
    {51, STRING, AT(text), 1, false},
    {52, BINARY, AT(blob), 1, false},
    {53, STRING, AT(slow_text), 1, false},
    {60, FLOAT64, AT(wide_in), WIDE, true},
    {61, STRING, AT(text_in), 1, true},
    {62, BINARY, AT(blob_in), 1, true},
    {70, UINT64, AT(checked), 1, false},
    {71, UINT64, AT(torn), 1, false},
    {72, UINT64, AT(distinct), 1, false},
    {73, UINT64, AT(text_length), 1, false},
    {74, UINT64, AT(blob_length), 1, false},
};
const size_t all_types_variable_count = sizeof all_types_variables / sizeof *all_types_variables;

static fmi3Status failed(struct all_types *model, const char *function, const char *why)
{
    model->base.state = FMU_FAILED;
    return fmu_log(&model->base, fmi3Error, "%s: %s", function, why);
}

void all_types_expire(struct all_types *model)
{
    memset(model->fleeting + model->begin, '#', model->used);
    model->begin += model->used;
    model->used = 0;
    /* From one end to the other, so that what is returned next does not hide what has become of this. */
    if (model->begin > sizeof model->fleeting / 2) model->begin = 0;
}

/* The variable of that kind; with an error in the log, none. */
static const struct variable *find(struct all_types *model, const char *function, bool setting, enum kind kind,
                                   fmi3ValueReference vr)
{
    if (model->base.state == FMU_FAILED || model->base.state == FMU_TERMINATED) return NULL;
    for (size_t i = 0; i < all_types_variable_count; i++) {
        const struct variable *variable = &all_types_variables[i];
        if (variable->vr == vr && variable->kind == kind && (variable->settable || !setting)) return variable;
    }
    failed(model, function, "there is no such variable, or it cannot be set.");
    return NULL;
}

/* What every access begins with. */
static void begin(struct all_types *model)
{
    all_types_expire(model);
    if (model->base.state == FMU_INITIALIZATION) all_types_compute(model);
}

static fmi3Status numbers(struct all_types *model, const char *function, bool setting, enum kind kind, size_t size,
                          const fmi3ValueReference vrs[], size_t n, char *values, size_t n_values)
{
    begin(model);
    size_t place = 0;
    for (size_t i = 0; i < n; i++) {
        const struct variable *variable = find(model, function, setting, kind, vrs[i]);
        if (!variable) return fmi3Error;
        if (place + variable->count > n_values) return failed(model, function, "too few values.");
        char *own = (char *)model + variable->offset;
        if (setting)
            memcpy(own, values + place * size, variable->count * size);
        else
            memcpy(values + place * size, own, variable->count * size);
        place += variable->count;
    }
    return place == n_values ? fmi3OK : failed(model, function, "too many values.");
}

#define ACCESS(Type, kind)                                                                                            \
    fmi3Status fmi3Get##Type(fmi3Instance instance, const fmi3ValueReference vrs[], size_t n, fmi3##Type values[],    \
                             size_t n_values)                                                                         \
    {                                                                                                                 \
        return numbers(instance, "fmi3Get" #Type, false, kind, sizeof *values, vrs, n, (char *)values, n_values);     \
    }                                                                                                                 \
    fmi3Status fmi3Set##Type(fmi3Instance instance, const fmi3ValueReference vrs[], size_t n,                         \
                             const fmi3##Type values[], size_t n_values)                                              \
    {                                                                                                                 \
        return numbers(instance, "fmi3Set" #Type, true, kind, sizeof *values, vrs, n, (char *)values, n_values);      \
    }

ACCESS(Float32, FLOAT32)
ACCESS(Float64, FLOAT64)
ACCESS(Int8, INT8)
ACCESS(UInt8, UINT8)
ACCESS(Int16, INT16)
ACCESS(UInt16, UINT16)
ACCESS(Int32, INT32)
ACCESS(UInt32, UINT32)
ACCESS(Int64, INT64)
ACCESS(UInt64, UINT64)
ACCESS(Boolean, BOOLEAN)

/* Memory for what is returned. */
static char *lend(struct all_types *model, const void *bytes, size_t size)
{
    if (model->begin + model->used + size > sizeof model->fleeting) return NULL;
    char *place = memcpy(model->fleeting + model->begin + model->used, bytes, size);
    model->used += size;
    return place;
}

static double seconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

fmi3Status fmi3GetString(fmi3Instance instance, const fmi3ValueReference vrs[], size_t n, fmi3String values[],
                         size_t n_values)
{
    struct all_types *model = instance;
    begin(model);
    size_t place = 0;
    for (size_t i = 0; i < n; i++) {
        const struct variable *variable = find(model, "fmi3GetString", false, STRING, vrs[i]);
        if (!variable) return fmi3Error;
        const struct text *own = (const struct text *)((const char *)model + variable->offset);
        for (size_t k = 0; k < variable->count && place < n_values; k++, place++) {
            values[place] = lend(model, own[k].bytes, strlen(own[k].bytes) + 1);
            if (model->null_text && own == &model->text) values[place] = NULL;
        }
    }
    for (double end = seconds() + model->linger; model->linger > 0 && seconds() < end;) continue;
    return fmi3OK;
}

fmi3Status fmi3SetString(fmi3Instance instance, const fmi3ValueReference vrs[], size_t n, const fmi3String values[],
                         size_t n_values)
{
    struct all_types *model = instance;
    begin(model);
    size_t place = 0;
    for (size_t i = 0; i < n; i++) {
        const struct variable *variable = find(model, "fmi3SetString", true, STRING, vrs[i]);
        if (!variable) return fmi3Error;
        struct text *own = (struct text *)((char *)model + variable->offset);
        for (size_t k = 0; k < variable->count && place < n_values; k++, place++) {
            size_t length = strlen(values[place]);
            if (length >= TEXT - 32) return failed(model, "fmi3SetString", "the value is too long.");
            memcpy(own[k].bytes, values[place], length + 1);
        }
    }
    return fmi3OK;
}

fmi3Status fmi3GetBinary(fmi3Instance instance, const fmi3ValueReference vrs[], size_t n, size_t sizes[],
                         fmi3Binary values[], size_t n_values)
{
    struct all_types *model = instance;
    begin(model);
    size_t place = 0;
    for (size_t i = 0; i < n; i++) {
        const struct variable *variable = find(model, "fmi3GetBinary", false, BINARY, vrs[i]);
        if (!variable) return fmi3Error;
        const struct blob *own = (const struct blob *)((const char *)model + variable->offset);
        for (size_t k = 0; k < variable->count && place < n_values; k++, place++) {
            sizes[place] = own[k].size;
            values[place] = (fmi3Binary)lend(model, own[k].bytes, own[k].size);
        }
    }
    return fmi3OK;
}

fmi3Status fmi3SetBinary(fmi3Instance instance, const fmi3ValueReference vrs[], size_t n, const size_t sizes[],
                         const fmi3Binary values[], size_t n_values)
{
    struct all_types *model = instance;
    begin(model);
    size_t place = 0;
    for (size_t i = 0; i < n; i++) {
        const struct variable *variable = find(model, "fmi3SetBinary", true, BINARY, vrs[i]);
        if (!variable) return fmi3Error;
        struct blob *own = (struct blob *)((char *)model + variable->offset);
        for (size_t k = 0; k < variable->count && place < n_values; k++, place++) {
            if (sizes[place] > TEXT) return failed(model, "fmi3SetBinary", "the value is too long.");
            own[k].size = sizes[place];
            memcpy(own[k].bytes, values[place], sizes[place]);
        }
    }
    return fmi3OK;
}
