/* All variables of the tracer in one table, and the functions that set and get them.
 *
 * Every call is traced with a hash of the values that went in or out. Strings and binaries are copied into buffers of
 * the instance; a pointer that fmi3GetString or fmi3GetBinary returns is valid until the clock's next activation. */

#include "tracer.h"
#include <stdio.h>
#include <string.h>

enum kind { INDEPENDENT, PARAMETER, INPUT, OUTPUT };
enum type { F32, F64, I8, U8, I16, U16, I32, U32, I64, U64, BOOL, STRING, PATH, BINARY };

struct variable {
    uint32_t vr;
    uint8_t kind, type, clock;
    uint16_t count; /* elements */
    size_t offset;  /* in struct tracer */
};

#define MEMBER(m) offsetof(struct tracer, m)
#define PAIR(n, type, clock, count, member)                                                                           \
    {20 + n, INPUT, type, clock, count, MEMBER(in.member)}, {40 + n, OUTPUT, type, clock, count, MEMBER(out.member)}
#define OF_CLOCK(clock)                                                                                               \
    {80 + clock, OUTPUT, U64, clock, 1, MEMBER(counts[clock])},                                                       \
        {100 + clock, OUTPUT, F64, clock, 1, MEMBER(times[clock])},                                                   \
        {300 + 20 * clock + 0, PARAMETER, I32, NO_CLOCK, 1, MEMBER(settings.partition[clock].burn_us)},               \
        {300 + 20 * clock + 1, PARAMETER, I32, NO_CLOCK, 1, MEMBER(settings.partition[clock].lock_every)},            \
        {300 + 20 * clock + 2, PARAMETER, I32, NO_CLOCK, 1, MEMBER(settings.partition[clock].lock_us)},               \
        {300 + 20 * clock + 3, PARAMETER, I32, NO_CLOCK, 1, MEMBER(settings.partition[clock].lock_sleep_us)},         \
        {300 + 20 * clock + 4, PARAMETER, I32, NO_CLOCK, 1, MEMBER(settings.partition[clock].sleep_every)},           \
        {300 + 20 * clock + 5, PARAMETER, I32, NO_CLOCK, 1, MEMBER(settings.partition[clock].sleep_us)},              \
        {300 + 20 * clock + 6, PARAMETER, I32, NO_CLOCK, 1, MEMBER(settings.partition[clock].tick_high_every)},       \
        {300 + 20 * clock + 7, PARAMETER, I32, NO_CLOCK, 1, MEMBER(settings.partition[clock].tick_low_every)},        \
        {300 + 20 * clock + 8, PARAMETER, BOOL, NO_CLOCK, 1, MEMBER(settings.partition[clock].lock_nested)},          \
        {300 + 20 * clock + 9, PARAMETER, BOOL, NO_CLOCK, 1, MEMBER(settings.partition[clock].tick_in_lock)},         \
        {300 + 20 * clock + 10, PARAMETER, I32, NO_CLOCK, 1, MEMBER(settings.grid[clock].priority)},                  \
        {300 + 20 * clock + 11, PARAMETER, BOOL, NO_CLOCK, 1, MEMBER(settings.grid[clock].adjustable)},               \
        {300 + 20 * clock + 12, PARAMETER, I64, NO_CLOCK, 1, MEMBER(settings.grid[clock].counter)},                   \
        {300 + 20 * clock + 13, PARAMETER, I64, NO_CLOCK, 1, MEMBER(settings.grid[clock].resolution)},                \
        {300 + 20 * clock + 14, PARAMETER, I64, NO_CLOCK, 1, MEMBER(settings.grid[clock].shift)}

static const struct variable variables[] = {
    {0, INDEPENDENT, F64, NO_CLOCK, 1, MEMBER(time)},
    PAIR(0, F64, FAST, 1, f64),
    PAIR(1, I32, FAST, 1, i32),
    PAIR(2, BOOL, FAST, 1, boolean),
    PAIR(3, F64, FAST, ARRAY_LENGTH, array),
    PAIR(4, F32, SLOW, 1, f32),
    PAIR(5, I8, SLOW, 1, i8),
    PAIR(6, U8, SLOW, 1, u8),
    PAIR(7, I16, SLOW, 1, i16),
    PAIR(8, U16, SLOW, 1, u16),
    PAIR(9, U32, SLOW, 1, u32),
    PAIR(10, I64, SLOW, 1, i64),
    PAIR(11, U64, SLOW, 1, u64),
    PAIR(12, I64, SLOW, 1, choice),
    PAIR(13, STRING, SLOW, 1, text),
    PAIR(14, BINARY, SLOW, 1, blob),
    OF_CLOCK(FAST),
    OF_CLOCK(EQUAL_A),
    OF_CLOCK(EQUAL_B),
    OF_CLOCK(SLOW),
    OF_CLOCK(HIGH),
    OF_CLOCK(LOW),
    OF_CLOCK(DELAYED),
    {88, OUTPUT, U64, OUT_HIGH, 1, MEMBER(counts[OUT_HIGH])},
    {89, OUTPUT, U64, OUT_LOW, 1, MEMBER(counts[OUT_LOW])},
    {90, OUTPUT, U64, NO_CLOCK, 1, MEMBER(activations)},
    {91, OUTPUT, U64, NO_CLOCK, 1, MEMBER(violations)},
    {92, OUTPUT, U64, NO_CLOCK, 1, MEMBER(violation_kinds)},
    {93, OUTPUT, U64, NO_CLOCK, 1, MEMBER(resumed_early)},
    {94, OUTPUT, U64, NO_CLOCK, 1, MEMBER(high_inside)},
    {95, OUTPUT, F64, SLOW, 1, MEMBER(lock_pair_ns)},
    {96, OUTPUT, F64, SLOW, 1, MEMBER(bare_pair_ns)},
    {200, PARAMETER, PATH, NO_CLOCK, 1, MEMBER(settings.trace_file)},
    {201, PARAMETER, I32, NO_CLOCK, 1, MEMBER(settings.trace_capacity)},
    {202, PARAMETER, BOOL, NO_CLOCK, 1, MEMBER(settings.lock_in_get_clock)},
    {203, PARAMETER, BOOL, NO_CLOCK, 1, MEMBER(settings.update_in_get_clock)},
    {204, PARAMETER, BOOL, NO_CLOCK, 1, MEMBER(settings.count_up)},
    {205, PARAMETER, BOOL, NO_CLOCK, 1, MEMBER(settings.expect_uniform_array)},
    {206, PARAMETER, I32, NO_CLOCK, 1, MEMBER(settings.arm_every)},
    {207, PARAMETER, F64, NO_CLOCK, 1, MEMBER(settings.arm_interval)},
    {208, PARAMETER, I32, NO_CLOCK, 1, MEMBER(settings.fail_kind)},
    {209, PARAMETER, I32, NO_CLOCK, 1, MEMBER(settings.fail_clock)},
    {210, PARAMETER, I32, NO_CLOCK, 1, MEMBER(settings.fail_at)},
    {211, PARAMETER, I32, NO_CLOCK, 1, MEMBER(settings.fail_function)},
    {212, PARAMETER, I32, NO_CLOCK, 1, MEMBER(settings.log_every)},
    {213, PARAMETER, I32, NO_CLOCK, 1, MEMBER(settings.cost_rounds)},
};

#define VARIABLES (sizeof variables / sizeof *variables)

static const struct variable *find(uint32_t vr)
{
    for (size_t i = 0; i < VARIABLES; i++)
        if (variables[i].vr == vr) return &variables[i];
    return NULL;
}

/* ---- Start values, as in modelDescription.xml ---- */

void variables_reset(struct tracer *fmu)
{
    struct settings *set = &fmu->settings;
    memset(set, 0, sizeof *set);
    set->trace_capacity = 1 << 18;
    set->arm_every = 2;
    set->arm_interval = 0.0025;
    set->fail_clock = FAST;
    set->fail_at = 1;
    for ALL_CLOCKS (clock) set->partition[clock] = (struct partition_settings){.burn_us = 5, .lock_every = 1, .lock_us = 2};
    set->partition[SLOW].tick_high_every = 1;
    set->partition[EQUAL_A].tick_low_every = 5;
    grid_reset(fmu);

    memset(&fmu->in, 0, sizeof fmu->in);
    fmu->in.choice = 1;
    fmu->out = fmu->in;
}

/* ---- What a partition computes: each output is the input of the same name, with count_up the activation's number is
 * added (a Boolean changes with every activation, a text gets "#number") ---- */

static void compute_fast(struct tracer *fmu, uint64_t n)
{
    fmu->out.f64 = fmu->in.f64 + (double)n;
    fmu->out.i32 = (int32_t)((uint32_t)fmu->in.i32 + (uint32_t)n);
    fmu->out.boolean = fmu->in.boolean != (n % 2 == 1);
    for (size_t i = 0; i < ARRAY_LENGTH; i++) fmu->out.array[i] = fmu->in.array[i] + (double)n;
}

/* Decimal, without stdio: this runs in a partition. */
static void append_number(struct text *text, uint64_t n)
{
    char digits[24];
    size_t length = strlen(text->bytes), count = 0;
    do digits[count++] = (char)('0' + n % 10);
    while ((n /= 10) != 0);
    if (length + count + 2 > TEXT_SIZE) return;
    text->bytes[length++] = '#';
    while (count > 0) text->bytes[length++] = digits[--count];
    text->bytes[length] = '\0';
}

static void compute_slow(struct tracer *fmu, uint64_t n)
{
    struct values *out = &fmu->out;
    const struct values *in = &fmu->in;
    out->f32 = in->f32 + (float)n;
    out->i8 = (int8_t)(uint8_t)((uint8_t)in->i8 + n);
    out->u8 = (uint8_t)(in->u8 + n);
    out->i16 = (int16_t)(uint16_t)((uint16_t)in->i16 + n);
    out->u16 = (uint16_t)(in->u16 + n);
    out->u32 = (uint32_t)(in->u32 + n);
    out->i64 = (int64_t)((uint64_t)in->i64 + n);
    out->u64 = in->u64 + n;
    out->choice = (int64_t)(((uint64_t)in->choice - 1 + n) % 3 + 1);
    out->text = in->text;
    if (n) append_number(&out->text, n);
    out->blob = in->blob;
    if (n && out->blob.size > 0) out->blob.bytes[0] = (uint8_t)(in->blob.bytes[0] + n);
}

void variables_compute(struct tracer *fmu, uint32_t clock, uint64_t number)
{
    uint64_t n = fmu->settings.count_up ? number : 0;
    if (clock == FAST) compute_fast(fmu, n);
    if (clock == SLOW) compute_slow(fmu, n);
}

/* ---- Set and get ---- */

struct call {
    struct tracer *fmu;
    const char *function;
    bool setting;
    fmi3Status status;
    uint64_t hash;
    uint32_t clock, first; /* of the first variable */
    size_t n;
};

static void note(const struct call *call, enum trace_phase phase)
{
    trace_append(&call->fmu->trace,
                 (struct trace_event){.what = call->setting ? TRACE_SET : TRACE_GET,
                                      .phase = phase,
                                      .clock = (uint8_t)call->clock,
                                      .vr = call->first,
                                      .count = (uint32_t)call->n,
                                      .hash = call->hash,
                                      .time = call->fmu->times[call->clock],
                                      .status = phase == TRACE_END ? (int16_t)call->status : -1});
}

static struct call begin(fmi3Instance instance, const char *function, bool setting, const uint32_t *vrs, size_t n)
{
    struct tracer *fmu = instance;
    const struct variable *first = n > 0 ? find(vrs[0]) : NULL;
    struct call call = {fmu, function, setting, fmi3OK, TRACE_HASH_START, first ? first->clock : NO_CLOCK,
                        n > 0 ? vrs[0] : 0, n};
    note(&call, TRACE_BEGIN);
    if (setting || fmu->base.state != FMU_TERMINATED) check_call(fmu); /* final values may be read */
    if (fmu->base.state == FMU_FAILED)
        call.status = fmi3Error;
    else
        call.status = fail_in_function(fmu, setting ? FAIL_SET : FAIL_GET);
    return call;
}

static fmi3Status finish(struct call *call)
{
    if (call->status >= fmi3Discard) call->fmu->base.state = FMU_FAILED;
    note(call, TRACE_END);
    return call->status;
}

static bool may_set(const struct tracer *fmu, const struct variable *variable)
{
    int state = fmu->base.state;
    if (state == FMU_INSTANTIATED || state == FMU_INITIALIZATION)
        return variable->kind == INPUT || variable->kind == PARAMETER;
    return state == FMU_CLOCK_ACTIVATION && variable->kind == INPUT;
}

/* The variable, if the call may have it; else NULL, logged, and the call's status says so. */
static const struct variable *admit(struct call *call, uint32_t vr, enum type type)
{
    if (call->status >= fmi3Discard) return NULL;
    struct tracer *fmu = call->fmu;
    const struct variable *variable = find(vr);
    if (variable && variable->type == PATH && type == STRING) type = PATH;
    if (!variable || variable->type != type) {
        call->status = fmu_log(&fmu->base, fmi3Error, "%s: there is no such variable with value reference %u.",
                               call->function, vr);
        return NULL;
    }
    if (call->setting && !may_set(fmu, variable)) {
        violated(fmu, variable->clock, WRONG_STATE);
        call->status = fmu_log(&fmu->base, fmi3Error, "%s: variable #%u# cannot be set now.", call->function, vr);
        return NULL;
    }
    if (variable->clock != NO_CLOCK && fmu->base.state == FMU_CLOCK_ACTIVATION)
        check_access(fmu, variable->clock, call->setting);
    return variable;
}

static void *place(struct tracer *fmu, const struct variable *variable)
{
    return (char *)fmu + variable->offset;
}

static void wrong_count(struct call *call)
{
    if (call->status < fmi3Discard)
        call->status = fmu_log(&call->fmu->base, fmi3Error, "%s: the number of values is wrong.", call->function);
}

/* Types whose values are copied as they are. */
static fmi3Status access_plain(struct call call, enum type type, size_t size, const uint32_t *vrs, char *values,
                               size_t n_values)
{
    size_t used = 0;
    for (size_t i = 0; i < call.n; i++) {
        const struct variable *variable = admit(&call, vrs[i], type);
        if (!variable) break;
        if (variable->count > n_values - used) break;
        size_t bytes = variable->count * size;
        if (call.setting)
            memcpy(place(call.fmu, variable), values + used * size, bytes);
        else
            memcpy(values + used * size, place(call.fmu, variable), bytes);
        used += variable->count;
    }
    if (used != n_values) wrong_count(&call);
    call.hash = trace_hash(call.hash, values, used * size);
    return finish(&call);
}

#define PLAIN(Type, type)                                                                                             \
    fmi3Status fmi3Get##Type(fmi3Instance instance, const fmi3ValueReference vrs[], size_t n, fmi3##Type values[],    \
                             size_t n_values)                                                                         \
    {                                                                                                                 \
        return access_plain(begin(instance, "fmi3Get" #Type, false, vrs, n), type, sizeof(fmi3##Type), vrs,           \
                            (char *)values, n_values);                                                                \
    }                                                                                                                 \
    fmi3Status fmi3Set##Type(fmi3Instance instance, const fmi3ValueReference vrs[], size_t n,                         \
                             const fmi3##Type values[], size_t n_values)                                              \
    {                                                                                                                 \
        return access_plain(begin(instance, "fmi3Set" #Type, true, vrs, n), type, sizeof(fmi3##Type), vrs,            \
                            (char *)values, n_values);                                                                \
    }

PLAIN(Float32, F32)
PLAIN(Float64, F64)
PLAIN(Int8, I8)
PLAIN(UInt8, U8)
PLAIN(Int16, I16)
PLAIN(UInt16, U16)
PLAIN(Int32, I32)
PLAIN(UInt32, U32)
PLAIN(Int64, I64)
PLAIN(UInt64, U64)
PLAIN(Boolean, BOOL)

fmi3Status fmi3GetString(fmi3Instance instance, const fmi3ValueReference vrs[], size_t n, fmi3String values[],
                         size_t n_values)
{
    struct call call = begin(instance, "fmi3GetString", false, vrs, n);
    if (n != n_values) wrong_count(&call);
    for (size_t i = 0; i < n; i++) {
        const struct variable *variable = admit(&call, vrs[i], STRING);
        if (!variable) break;
        values[i] = place(call.fmu, variable);
        call.hash = trace_hash(call.hash, values[i], strlen(values[i]));
    }
    return finish(&call);
}

fmi3Status fmi3SetString(fmi3Instance instance, const fmi3ValueReference vrs[], size_t n, const fmi3String values[],
                         size_t n_values)
{
    struct call call = begin(instance, "fmi3SetString", true, vrs, n);
    if (n != n_values) wrong_count(&call);
    for (size_t i = 0; i < n; i++) {
        const struct variable *variable = admit(&call, vrs[i], STRING);
        if (!variable) break;
        size_t length = strlen(values[i]), room = variable->type == PATH ? PATH_SIZE : TEXT_SIZE;
        if (length >= room) {
            call.status = fmu_log(&call.fmu->base, fmi3Error, "fmi3SetString: the value of #%u# is too long.", vrs[i]);
            break;
        }
        memcpy(place(call.fmu, variable), values[i], length + 1);
        call.hash = trace_hash(call.hash, values[i], length);
    }
    return finish(&call);
}

fmi3Status fmi3GetBinary(fmi3Instance instance, const fmi3ValueReference vrs[], size_t n, size_t sizes[],
                         fmi3Binary values[], size_t n_values)
{
    struct call call = begin(instance, "fmi3GetBinary", false, vrs, n);
    if (n != n_values) wrong_count(&call);
    for (size_t i = 0; i < n; i++) {
        const struct variable *variable = admit(&call, vrs[i], BINARY);
        if (!variable) break;
        const struct blob *blob = place(call.fmu, variable);
        sizes[i] = blob->size;
        values[i] = blob->bytes;
        call.hash = trace_hash(call.hash, blob->bytes, blob->size);
    }
    return finish(&call);
}

fmi3Status fmi3SetBinary(fmi3Instance instance, const fmi3ValueReference vrs[], size_t n, const size_t sizes[],
                         const fmi3Binary values[], size_t n_values)
{
    struct call call = begin(instance, "fmi3SetBinary", true, vrs, n);
    if (n != n_values) wrong_count(&call);
    for (size_t i = 0; i < n; i++) {
        const struct variable *variable = admit(&call, vrs[i], BINARY);
        if (!variable) break;
        if (sizes[i] > BINARY_SIZE) {
            call.status = fmu_log(&call.fmu->base, fmi3Error, "fmi3SetBinary: the value of #%u# is too long.", vrs[i]);
            break;
        }
        struct blob *blob = place(call.fmu, variable);
        blob->size = sizes[i];
        if (sizes[i] > 0) memcpy(blob->bytes, values[i], sizes[i]);
        call.hash = trace_hash(call.hash, blob->bytes, blob->size);
    }
    return finish(&call);
}
