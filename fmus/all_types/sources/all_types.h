/* A test FMU with variables of all types, as the standard's example docs/examples/variable_types.xml has them.
 *
 * `fast` (1 kHz) copies each input X_in to its output X_out. With the parameter `moving` it also counts its activations,
 * n, and changes every value with n, so that whoever knows the inputs and n knows the outputs:
 *   numbers        + n (integers wrap around)
 *   Boolean        inverted while n is odd
 *   Enumeration    n items further round
 *   String         followed by "+n"
 *   Binary         its first byte + n
 * The digests are FNV-1a sums over what String_in and Binary_in hold, so that numbers tell about them.
 *
 * For tearing: `fast` fills wide, text and blob such that each value of theirs can be told from a mixture of two; `slow`
 * (100 Hz), of another instance, checks what it gets of them and counts.
 *
 * Strings and binaries are returned in memory that the next call to the instance overwrites, as the standard allows. */

#ifndef all_types_h
#define all_types_h

#include "fmi3_base.h"

#define TEXT 4096 /* bytes that a string or binary may have in here */
#define WIDE 64
#define LONG 3000 /* length of text and blob from activation `long_from` on */

struct text {
    char bytes[TEXT];
};

struct blob {
    size_t size;
    uint8_t bytes[TEXT];
};

enum clock { FAST = 1, SLOW = 2 };

/* What a variable's memory is made of. */
enum kind { FLOAT32, FLOAT64, INT8, UINT8, INT16, UINT16, INT32, UINT32, INT64, UINT64, BOOLEAN, STRING, BINARY };

/* Each as X_in and X_out. */
struct values {
    float float32[7];
    double float64[7];
    int8_t int8[2];
    uint8_t uint8[2];
    int16_t int16[2];
    uint16_t uint16[2];
    int32_t int32[2];
    uint32_t uint32[2];
    int64_t int64[2];
    uint64_t uint64[2];
    bool boolean[4];
    struct text string[2];
    struct blob binary[2];
    int64_t enumeration;
    double matrix[6]; /* 2x3 */
};

struct all_types {
    struct fmu_base base;
    struct values in, out;
    bool moving;
    bool null_text;
    uint64_t long_from;
    uint64_t n;            /* activations of fast that have changed the outputs */
    uint64_t string_digest, binary_digest;
    uint64_t initial_digest; /* of all X_in when Initialization Mode was left */
    double bar, pa_in, pa_out;

    uint64_t written;      /* activations of fast */
    double wide[WIDE];
    struct text text;
    struct blob blob;
    struct text slow_text; /* always the same, read after slow */

    double wide_in[WIDE];
    struct text text_in;
    struct blob blob_in;
    uint64_t checked, torn, distinct, text_length, blob_length;
    double last;

    /* What fmi3GetString and fmi3GetBinary return: `used` bytes from `begin` on are valid until the next call. */
    char fleeting[32 * TEXT];
    size_t begin, used;
    double linger; /* s that fmi3GetString takes, on the wall clock */
};

struct variable {
    fmi3ValueReference vr;
    enum kind kind;
    size_t offset, count;
    bool settable;
};

extern const struct variable all_types_variables[];
extern const size_t all_types_variable_count;

/* The outputs, from the inputs and n. */
void all_types_compute(struct all_types *model);

/* Invalidates what was returned before. */
void all_types_expire(struct all_types *model);

#endif
