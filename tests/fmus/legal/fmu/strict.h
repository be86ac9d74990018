/* What the small FMUs of tests/fmus/legal share: an implementation of FMI 3.0 for Scheduled Execution that answers fmi3Error
 * to every call that the standard does not allow in the state in which it comes, and notes why, with the section.
 *
 * A FMU of a test is this base (strict.c), a table of its variables, made from its modelDescription.xml, and a hook: C
 * statements that say what it does in its activations and elsewhere, in the words of the macros below. */

#ifndef STRICT_H
#define STRICT_H

#include "fmi3Functions.h"
#include <stdatomic.h>
#include <string.h>

enum type { FLOAT32, FLOAT64, INT8, UINT8, INT16, UINT16, INT32, UINT32, INT64, UINT64, BOOLEAN, STRING, BINARY, CLOCK };
enum causality { PARAMETER, CALCULATED_PARAMETER, STRUCTURAL_PARAMETER, INPUT, OUTPUT, LOCAL, INDEPENDENT };
enum variability { CONSTANT, FIXED, TUNABLE, DISCRETE, CONTINUOUS };
enum initial { NO_INITIAL, EXACT, APPROX, CALCULATED };
enum kind { NO_CLOCK, CLOCK_CONSTANT, CLOCK_FIXED, CLOCK_TUNABLE, CLOCK_CHANGING, CLOCK_COUNTDOWN, CLOCK_TRIGGERED };

/* A variable as its description has it. */
struct variable {
    fmi3ValueReference vr;
    enum type type;
    enum causality causality;
    enum variability variability;
    enum initial initial;
    uint32_t clocks[8], n_clocks;
    /* Each dimension is a number, or the reference of a structural parameter. */
    struct { uint64_t size; uint32_t vr; bool by_reference; } dimensions[4];
    uint32_t n_dimensions;
    const double *start; /* of numbers */
    uint32_t n_start;
    const char *text; /* of strings and binaries */
    enum kind kind;
    bool decimal, fraction; /* intervalDecimal is there; supportsFraction */
    uint32_t priority;
};

enum event {
    INSTANTIATED_NOW,
    INITIALIZATION_BEGINS,
    INITIALIZATION_ENDS,
    ACTIVATED,        /* fmi3ActivateModelPartition of `vr` at `t`, for the `n`th time */
    CLOCK_IS_READ,    /* fmi3GetClock of `vr` */
    INTERVAL_IS_READ, /* fmi3GetInterval* of `vr` */
    VALUE_IS_SET,     /* of variable `vr` */
    VALUE_IS_READ,    /* before it is handed out */
    RECONFIGURED,
    TERMINATED_NOW,
    FREED_NOW
};

struct model;
extern const struct variable variables[];
extern const uint32_t n_variables;
extern const char *const token;
extern const char *const categories[]; /* of its log, NULL at the end */
extern const bool has_resources, can_get_and_set_state, can_serialize_state;
/* What every function that may succeed answers instead of fmi3OK. */
extern const fmi3Status success;
/* Returns what the function answers. */
fmi3Status hook(struct model *m, enum event event, uint32_t vr, double t, uint64_t n);

/* ---- What a hook may say ---- */

#define ON(clock) if (event == ACTIVATED && vr == (clock))
#define AT(what) if (event == (what))
/* An output clock ticks; the importer hears of it with UPDATE. */
void tick(struct model *m, uint32_t clock);
void update(struct model *m);
/* The next interval of a countdown, changing or asked clock, and the shift: as decimals. */
void next(struct model *m, uint32_t clock, double interval);
void next_fraction(struct model *m, uint32_t clock, uint64_t counter, uint64_t resolution);
void shift(struct model *m, uint32_t clock, double shift);
void shift_fraction(struct model *m, uint32_t clock, uint64_t counter, uint64_t resolution);
void lock(struct model *m);
void unlock(struct model *m);
void message(struct model *m, fmi3Status status, const char *category, const char *text);
/* An element of a variable that is a number; of a binary its size. */
double value(const struct model *m, uint32_t vr, size_t element);
void put(struct model *m, uint32_t vr, size_t element, double value);
const char *string(const struct model *m, uint32_t vr, size_t element);
const uint8_t *bytes(const struct model *m, uint32_t vr, size_t element);
void put_string(struct model *m, uint32_t vr, size_t element, const char *text);
void put_bytes(struct model *m, uint32_t vr, size_t element, const uint8_t *bytes, size_t size);
size_t elements(const struct model *m, uint32_t vr);
/* Interval and shift as the importer has set them; -1 if it has not. */
double told_interval(const struct model *m, uint32_t clock);
double told_shift(const struct model *m, uint32_t clock);
const char *resources(const struct model *m);
/* What the test expects of the importer beside the rules that hold for every FMU. */
void expect(struct model *m, bool holds, const char *what);
/* Something that the test wants to have happened. */
void remark(struct model *m, const char *what);

#define TICK(clock) tick(m, clock)
#define UPDATE() update(m)
#define NEXT(clock, seconds) next(m, clock, seconds)
#define NEXT_FRACTION(clock, counter, resolution) next_fraction(m, clock, counter, resolution)
#define SHIFT(clock, seconds) shift(m, clock, seconds)
#define SHIFT_FRACTION(clock, counter, resolution) shift_fraction(m, clock, counter, resolution)
#define LOCK() lock(m)
#define UNLOCK() unlock(m)
#define LOG(status, category, text) message(m, status, category, text)
#define VALUE(vr) value(m, vr, 0)
#define PUT(vr, x) put(m, vr, 0, x)
#define EXPECT(what) expect(m, what, #what)

#endif
