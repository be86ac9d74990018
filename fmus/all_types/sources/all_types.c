/* See all_types.h: the life of an instance, and what its partitions do. */

#include "all_types.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char token[] = "{vecud-all-types-1}";

/* How long a text of this letter is, a being 0. */
static size_t length_of_letter(unsigned letter)
{
    return 100 + 5 * letter;
}

static void start_values(struct all_types *model)
{
    static const struct values start = {
        .float32 = {-INFINITY, -3.402823e+38f, -1.175494e-38f, NAN, 1.175494e-38f, 3.402823e+38f, INFINITY},
        .float64 = {-INFINITY, -1.79769e+308, -2.22507e-308, NAN, 2.22507e-308, 1.79769e+308, INFINITY},
        .int8 = {INT8_MIN, INT8_MAX},
        .uint8 = {0, UINT8_MAX},
        .int16 = {INT16_MIN, INT16_MAX},
        .uint16 = {0, UINT16_MAX},
        .int32 = {INT32_MIN, INT32_MAX},
        .uint32 = {0, UINT32_MAX},
        .int64 = {INT64_MIN, INT64_MAX},
        .uint64 = {0, UINT64_MAX},
        .boolean = {true, false, true, false},
        .string = {{"foo"}, {"bar"}},
        .binary = {{2, {0x3c, 0x3f}}, {3, {0x68, 0x65, 0x72}}},
        .enumeration = 1,
        .matrix = {1, 2, 3, 4, 5, 6},
    };
    model->in = start;
    memset(model->slow_text.bytes, 'b', length_of_letter(1));
    model->long_from = UINT64_MAX;
}

static uint64_t digest(uint64_t sum, const void *bytes, size_t size)
{
    for (size_t i = 0; i < size; i++) sum = (sum ^ ((const uint8_t *)bytes)[i]) * 0x100000001b3u;
    /* Where one value ends and the next one begins counts too. */
    return (sum ^ 0xff) * 0x100000001b3u;
}

/* Adding 0 would make 0 of -0. */
#define ADD(member, wide)                                                                                             \
    for (size_t i = 0; i < sizeof in->member / sizeof *in->member; i++)                                               \
        out->member[i] = n == 0 ? in->member[i] : (__typeof__(*out->member))(wide)(in->member[i] + (wide)n)

void all_types_compute(struct all_types *model)
{
    const struct values *in = &model->in;
    struct values *out = &model->out;
    uint64_t n = model->n;
    ADD(float32, float);
    ADD(float64, double);
    ADD(int8, uint64_t);
    ADD(uint8, uint64_t);
    ADD(int16, uint64_t);
    ADD(uint16, uint64_t);
    ADD(int32, uint64_t);
    ADD(uint32, uint64_t);
    ADD(int64, uint64_t);
    ADD(uint64, uint64_t);
    ADD(matrix, double);
    for (size_t i = 0; i < 4; i++) out->boolean[i] = in->boolean[i] ^ (n % 2 == 1);
    out->enumeration = 1 + (in->enumeration - 1 + (int64_t)(n % 3)) % 3;
    model->string_digest = model->binary_digest = 0xcbf29ce484222325u;
    for (size_t i = 0; i < 2; i++) {
        size_t length = strlen(in->string[i].bytes);
        memcpy(out->string[i].bytes, in->string[i].bytes, length + 1);
        if (n > 0) snprintf(out->string[i].bytes + length, TEXT - length, "+%llu", (unsigned long long)n);
        model->string_digest = digest(model->string_digest, in->string[i].bytes, length);
        out->binary[i].size = in->binary[i].size;
        memcpy(out->binary[i].bytes, in->binary[i].bytes, in->binary[i].size);
        if (in->binary[i].size > 0) out->binary[i].bytes[0] = (uint8_t)(out->binary[i].bytes[0] + n);
        model->binary_digest = digest(model->binary_digest, in->binary[i].bytes, in->binary[i].size);
    }
    model->bar = 0.5 * (double)n;
    model->pa_out = model->pa_in;
}

static uint64_t digest_of_all(const struct values *in)
{
    uint64_t sum = 0xcbf29ce484222325u;
#define DIGEST(member) sum = digest(sum, &in->member, sizeof in->member)
    DIGEST(float32), DIGEST(float64), DIGEST(int8), DIGEST(uint8), DIGEST(int16), DIGEST(uint16), DIGEST(int32);
    DIGEST(uint32), DIGEST(int64), DIGEST(uint64), DIGEST(boolean), DIGEST(enumeration), DIGEST(matrix);
    for (size_t i = 0; i < 2; i++) sum = digest(sum, in->string[i].bytes, strlen(in->string[i].bytes));
    for (size_t i = 0; i < 2; i++) sum = digest(sum, in->binary[i].bytes, in->binary[i].size);
    return sum;
}

static size_t size_of_byte(unsigned byte)
{
    return 1 + 7 * byte;
}

static void fast(struct all_types *model)
{
    if (model->moving) model->n++;
    all_types_compute(model);
    uint64_t k = ++model->written;
    for (size_t i = 0; i < WIDE; i++) model->wide[i] = (double)k;
    unsigned letter = k % 26, byte = k % 256;
    size_t length = k >= model->long_from ? LONG : length_of_letter(letter);
    memset(model->text.bytes, 'a' + (int)letter, length);
    model->text.bytes[length] = '\0';
    model->blob.size = k >= model->long_from ? LONG : size_of_byte(byte);
    memset(model->blob.bytes, (int)byte, model->blob.size);
}

/* Whether something in it is a mixture. Nothing has come yet: no. */
static bool is_torn(const struct all_types *model)
{
    for (size_t i = 1; i < WIDE; i++)
        if (model->wide_in[i] != model->wide_in[0]) return true;
    const char *text = model->text_in.bytes;
    if (*text) {
        if (strlen(text) != length_of_letter((unsigned)(*text - 'a'))) return true;
        if (strspn(text, (char[]){*text, 0}) != strlen(text)) return true;
    }
    const struct blob *blob = &model->blob_in;
    if (blob->size > 0 && blob->size != size_of_byte(blob->bytes[0])) return true;
    for (size_t i = 1; i < blob->size; i++)
        if (blob->bytes[i] != blob->bytes[0]) return true;
    return false;
}

static void slow(struct all_types *model)
{
    model->checked++;
    if (is_torn(model)) model->torn++;
    if (model->wide_in[0] != model->last) model->distinct++;
    model->last = model->wide_in[0];
    model->text_length = strlen(model->text_in.bytes);
    model->blob_length = model->blob_in.size;
}

/* ---- Life of an instance ---- */

fmi3Instance fmi3InstantiateScheduledExecution(fmi3String instanceName, fmi3String instantiationToken,
                                               fmi3String resourcePath, fmi3Boolean visible, fmi3Boolean loggingOn,
                                               fmi3InstanceEnvironment instanceEnvironment,
                                               fmi3LogMessageCallback logMessage, fmi3ClockUpdateCallback clockUpdate,
                                               fmi3LockPreemptionCallback lockPreemption,
                                               fmi3UnlockPreemptionCallback unlockPreemption)
{
    (void)resourcePath, (void)visible;
    struct all_types *model = calloc(1, sizeof *model);
    if (!model) return NULL;
    if (!fmu_base_init(&model->base, token, instanceName, instantiationToken, loggingOn, instanceEnvironment,
                       logMessage, clockUpdate, lockPreemption, unlockPreemption)) {
        free(model);
        return NULL;
    }
    start_values(model);
    return model;
}

void fmi3FreeInstance(fmi3Instance instance)
{
    if (!instance) return;
    fmu_base_release(instance);
    free(instance);
}

static fmi3Status change_state(struct all_types *model, int from, int to, const char *function)
{
    all_types_expire(model);
    if (model->base.state != from) {
        model->base.state = FMU_FAILED;
        return fmu_log(&model->base, fmi3Error, "%s: this call is not allowed in the present state.", function);
    }
    model->base.state = to;
    return fmi3OK;
}

fmi3Status fmi3EnterInitializationMode(fmi3Instance instance, fmi3Boolean toleranceDefined, fmi3Float64 tolerance,
                                       fmi3Float64 startTime, fmi3Boolean stopTimeDefined, fmi3Float64 stopTime)
{
    (void)toleranceDefined, (void)tolerance, (void)startTime, (void)stopTimeDefined, (void)stopTime;
    return change_state(instance, FMU_INSTANTIATED, FMU_INITIALIZATION, "fmi3EnterInitializationMode");
}

fmi3Status fmi3ExitInitializationMode(fmi3Instance instance)
{
    struct all_types *model = instance;
    model->initial_digest = digest_of_all(&model->in);
    return change_state(model, FMU_INITIALIZATION, FMU_CLOCK_ACTIVATION, "fmi3ExitInitializationMode");
}

fmi3Status fmi3Terminate(fmi3Instance instance)
{
    return change_state(instance, FMU_CLOCK_ACTIVATION, FMU_TERMINATED, "fmi3Terminate");
}

fmi3Status fmi3ActivateModelPartition(fmi3Instance instance, fmi3ValueReference clockReference,
                                      fmi3Float64 activationTime)
{
    (void)activationTime;
    struct all_types *model = instance;
    fmi3Status status =
        change_state(model, FMU_CLOCK_ACTIVATION, FMU_CLOCK_ACTIVATION, "fmi3ActivateModelPartition");
    if (status != fmi3OK) return status;
    if (clockReference == FAST)
        fast(model);
    else
        slow(model);
    return fmi3OK;
}
