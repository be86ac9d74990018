/* The strict base: see strict.h. Each refusal names the section of FMI 3.0.2 that forbids the call.
 *
 * Partitions preempt each other, on one core: what they share is atomic or belongs to one thread (`struct hand`). */

#define _GNU_SOURCE
#include "strict.h"
#include <math.h>
#include <pthread.h>
#include <sched.h>
#include <stdio.h>

/* ENDED: Terminated by an error that the test wanted; DEAD: by a fatal one; FAILED: by a call that is not allowed. */
enum state { INSTANTIATED, CONFIGURATION, INITIALIZATION, CLOCK_ACTIVATION, RECONFIGURATION, TERMINATED, ENDED, DEAD, FAILED };

enum { MOST_HANDS = 512, MOST_ACTIVATIONS = 1 << 16, MOST_SET = 64, MOST_LENT = 64 };

/* A string or binary that was handed out: the importer may read it until the next call. */
struct loan { size_t size; char bytes[]; };

/* A thread that calls the instance, and how far it is with its sequence: set, activate, get. */
struct hand {
    _Atomic uintptr_t thread; /* 0: nobody's */
    _Atomic int depth;        /* calls of this thread that have not returned */
    _Atomic int cpu;
    const struct variable *active; /* the partition that it computes */
    const struct variable *last;   /* the one that it has computed last */
    uint64_t serial;               /* of that activation */
    bool in_update, has_set;
    const struct variable *set[MOST_SET];
    size_t n_set;
};

/* What a variable is at run time. */
struct cell {
    void *values;
    size_t size; /* elements */
    /* Clocks */
    double interval, shift, told_interval, told_shift;
    uint64_t counter, resolution, shift_counter, shift_resolution;
    _Atomic int qualifier;
    _Atomic bool ticked; /* and not read yet */
    struct hand *ticked_by;
    uint64_t ticked_in; /* the activation, by its hand's serial */
    uint64_t activations, interval_reads, shift_reads, interval_sets;
    bool interval_due; /* a changing clock has ticked, and nobody has asked for its next interval */
    bool read_in_update;
    double last_time;
};

struct model {
    enum state state;
    char *name, *resources;
    bool logging, parameters_changed, structure_changed;
    fmi3InstanceEnvironment environment;
    fmi3LogMessageCallback log_message;
    fmi3ClockUpdateCallback clock_update;
    fmi3LockPreemptionCallback lock, unlock;
    double start_time, stop_time;
    struct cell *cells;
    struct hand hands[MOST_HANDS];
    _Atomic int active; /* partitions that compute or are preempted */
    _Atomic uintptr_t holder; /* the thread that holds the preemption lock */
    int held;
    _Atomic size_t noted;
    struct { double time; uint32_t clock; } notes[MOST_ACTIVATIONS];
    _Atomic(struct loan *) lent[MOST_LENT];
};

/* ---- Complaints ---- */

static FILE *results(const struct model *m)
{
    char path[4096];
    const char *folder = getenv("LEGAL_RESULTS");
    if (!folder) return NULL;
    snprintf(path, sizeof path, "%s/%s", folder, m->name);
    return fopen(path, "ae");
}

static fmi3Status refuse(struct model *m, const char *function, const char *section, const char *why)
{
    FILE *file = results(m);
    if (file) {
        fprintf(file, "violation %s: %s (%s)\n", function, why, section);
        fclose(file);
    }
    m->state = FAILED;
    if (m->logging) {
        char text[512];
        snprintf(text, sizeof text, "%s: %s (%s)", function, why, section);
        m->log_message(m->environment, fmi3Error, categories[0], text);
    }
    return fmi3Error;
}

#define REFUSE(section, why) return refuse(m, __func__, section, why)
#define REFUSE_IF(wrong, section, why) do { if (wrong) REFUSE(section, why); } while (0)

void remark(struct model *m, const char *what)
{
    FILE *file = results(m);
    if (!file) return;
    fprintf(file, "remark %s\n", what);
    fclose(file);
}

void expect(struct model *m, bool holds, const char *what)
{
    if (!holds) refuse(m, "expectation", "the test", what);
}

/* ---- Threads ---- */

static struct hand *hand_of(struct model *m)
{
    uintptr_t self = (uintptr_t)pthread_self();
    for (size_t i = 0; i < MOST_HANDS; i++) {
        uintptr_t owner = m->hands[i].thread;
        if (owner == 0 && atomic_compare_exchange_strong(&m->hands[i].thread, &owner, self)) owner = self;
        if (owner == self) return &m->hands[i];
    }
    abort();
}

static char *lend(struct model *m, const void *bytes, size_t size)
{
    struct loan *loan = malloc(sizeof *loan + size + 1);
    loan->size = size;
    if (size > 0) memcpy(loan->bytes, bytes, size);
    loan->bytes[size] = '\0';
    for (size_t i = 0; i < MOST_LENT; i++) {
        struct loan *none = NULL;
        if (atomic_compare_exchange_strong(&m->lent[i], &none, loan)) return loan->bytes;
    }
    abort();
}

/* What was lent is worth nothing from the next call on (2.2.7.2), whichever partition's. The memory stays. */
static void spoil_loans(struct model *m)
{
    for (size_t i = 0; i < MOST_LENT; i++) {
        struct loan *loan = atomic_exchange(&m->lent[i], NULL);
        if (loan) memset(loan->bytes, '?', loan->size);
    }
}

/* Every call but those into nothing begins with this. NULL: refused. */
static struct hand *enter(struct model *m, const char *function)
{
    struct hand *hand = hand_of(m);
    uintptr_t holder = m->holder;
    if (holder && holder != hand->thread) {
        refuse(m, function, "5.1.2", "a call while another thread holds the preemption lock");
        return NULL;
    }
    int cpu = sched_getcpu();
    for (size_t i = 0; i < MOST_HANDS && m->hands[i].thread; i++) {
        struct hand *other = &m->hands[i];
        if (other != hand && other->depth > 0 && other->cpu != cpu) {
            refuse(m, function, "2.2.1", "calls of one instance in parallel, on two cores");
            return NULL;
        }
    }
    if (hand->depth > 0 && !hand->in_update) {
        refuse(m, function, "2.2.1", "a call from inside a callback that may make none");
        return NULL;
    }
    hand->cpu = cpu;
    hand->depth++;
    spoil_loans(m);
    return hand;
}

static fmi3Status leave(struct hand *hand, fmi3Status status)
{
    hand->depth--;
    return status;
}

#define ENTER()                                                                                                       \
    struct model *m = instance;                                                                                       \
    if (!m) return fmi3Error;                                                                                         \
    if (m->state == FAILED) return refuse(m, __func__, "2.2.4", "a call after an error");                             \
    if (m->state == DEAD) return refuse(m, __func__, "2.2.4", "a call after fmi3Fatal");                              \
    struct hand *hand = enter(m, __func__);                                                                           \
    if (!hand) return fmi3Error

/* Nothing but clocks and intervals is for the callback (5.2.2). */
#define NOT_IN_UPDATE() REFUSE_LEAVING(hand->in_update, "5.2.2", "not allowed in Clock Update Mode")
#define REFUSE_LEAVING(wrong, section, why)                                                                           \
    do {                                                                                                              \
        if (wrong) return leave(hand, refuse(m, __func__, section, why));                                             \
    } while (0)

/* ---- Variables ---- */

static const struct variable *find(uint32_t vr)
{
    for (uint32_t i = 0; i < n_variables; i++)
        if (variables[i].vr == vr) return &variables[i];
    return NULL;
}

static struct cell *cell(const struct model *m, uint32_t vr)
{
    const struct variable *v = find(vr);
    return v ? &m->cells[v - variables] : NULL;
}

static size_t width(enum type type)
{
    static const size_t widths[] = {4, 8, 1, 1, 2, 2, 4, 4, 8, 8, sizeof(bool), sizeof(char *), 2 * sizeof(void *), 1};
    return widths[type];
}

struct blob { uint8_t *bytes; size_t size; };

static double number(const struct variable *v, const void *at)
{
    switch (v->type) {
    case FLOAT32: return *(const float *)at;
    case FLOAT64: return *(const double *)at;
    case INT8: return *(const int8_t *)at;
    case UINT8: return *(const uint8_t *)at;
    case INT16: return *(const int16_t *)at;
    case UINT16: return *(const uint16_t *)at;
    case INT32: return *(const int32_t *)at;
    case UINT32: return *(const uint32_t *)at;
    case INT64: return (double)*(const int64_t *)at;
    case UINT64: return (double)*(const uint64_t *)at;
    case BOOLEAN: return *(const bool *)at;
    case BINARY: return (double)((const struct blob *)at)->size;
    default: return NAN;
    }
}

static void write_number(const struct variable *v, void *at, double x)
{
    switch (v->type) {
    case FLOAT32: *(float *)at = (float)x; break;
    case FLOAT64: *(double *)at = x; break;
    case INT8: *(int8_t *)at = (int8_t)x; break;
    case UINT8: *(uint8_t *)at = (uint8_t)x; break;
    case INT16: *(int16_t *)at = (int16_t)x; break;
    case UINT16: *(uint16_t *)at = (uint16_t)x; break;
    case INT32: *(int32_t *)at = (int32_t)x; break;
    case UINT32: *(uint32_t *)at = (uint32_t)x; break;
    case INT64: *(int64_t *)at = (int64_t)x; break;
    case UINT64: *(uint64_t *)at = (uint64_t)x; break;
    case BOOLEAN: *(bool *)at = x != 0.0; break;
    default: break;
    }
}

static void *element(const struct model *m, uint32_t vr, size_t i)
{
    const struct cell *c = cell(m, vr);
    return (uint8_t *)c->values + i * width(find(vr)->type);
}

double value(const struct model *m, uint32_t vr, size_t i) { return number(find(vr), element(m, vr, i)); }
void put(struct model *m, uint32_t vr, size_t i, double x) { write_number(find(vr), element(m, vr, i), x); }
const char *string(const struct model *m, uint32_t vr, size_t i) { return *(char **)element(m, vr, i); }
const uint8_t *bytes(const struct model *m, uint32_t vr, size_t i) { return ((struct blob *)element(m, vr, i))->bytes; }

void put_string(struct model *m, uint32_t vr, size_t i, const char *text)
{
    char **at = element(m, vr, i);
    free(*at);
    *at = strdup(text);
}

void put_bytes(struct model *m, uint32_t vr, size_t i, const uint8_t *from, size_t size)
{
    struct blob *at = element(m, vr, i);
    at->bytes = realloc(at->bytes, size + 1);
    memcpy(at->bytes, from, at->size = size);
}

size_t elements(const struct model *m, uint32_t vr) { return cell(m, vr)->size; }
double told_interval(const struct model *m, uint32_t clock) { return cell(m, clock)->told_interval; }
double told_shift(const struct model *m, uint32_t clock) { return cell(m, clock)->told_shift; }
const char *resources(const struct model *m) { return m->resources; }

static size_t size_of(const struct model *m, const struct variable *v)
{
    size_t size = 1;
    for (uint32_t d = 0; d < v->n_dimensions; d++)
        size *= v->dimensions[d].by_reference ? (size_t)value(m, v->dimensions[d].vr, 0) : v->dimensions[d].size;
    return size;
}

/* An array that has not its size yet, or another one than before. */
static void allocate(struct model *m, const struct variable *v)
{
    struct cell *c = &m->cells[v - variables];
    c->size = size_of(m, v);
    c->values = realloc(c->values, (c->size + 1) * width(v->type));
    for (size_t i = 0; i < c->size; i++) {
        void *at = element(m, v->vr, i);
        memset(at, 0, width(v->type));
        if (v->type == STRING) *(char **)at = strdup(v->text ? v->text : "");
        if (v->n_start > 0) write_number(v, at, v->start[i < v->n_start ? i : v->n_start - 1]);
    }
}

/* Structural parameters first: the others' sizes are made of them. */
static void give_start_values(struct model *m)
{
    for (int structural = 1; structural >= 0; structural--)
        for (uint32_t i = 0; i < n_variables; i++)
            if ((variables[i].causality == STRUCTURAL_PARAMETER) == structural) allocate(m, &variables[i]);
    for (uint32_t i = 0; i < n_variables; i++) {
        struct cell *c = &m->cells[i];
        void *values = c->values;
        size_t size = c->size;
        *c = (struct cell){.values = values, .size = size, .told_interval = -1, .told_shift = -1, .resolution = 1,
                           .shift_resolution = 1, .last_time = -INFINITY, .qualifier = fmi3IntervalNotYetKnown};
    }
}

static void resize(struct model *m)
{
    for (uint32_t i = 0; i < n_variables; i++)
        if (m->cells[i].size != size_of(m, &variables[i])) allocate(m, &variables[i]);
}

static bool has_clock(const struct variable *v, uint32_t clock)
{
    for (uint32_t i = 0; i < v->n_clocks; i++)
        if (v->clocks[i] == clock) return true;
    return false;
}

static bool any(bool (*fits)(const struct variable *))
{
    for (uint32_t i = 0; i < n_variables; i++)
        if (fits(&variables[i])) return true;
    return false;
}

static bool is_structural(const struct variable *v) { return v->causality == STRUCTURAL_PARAMETER; }
static bool is_tunable_structural(const struct variable *v) { return is_structural(v) && v->variability == TUNABLE; }

/* ---- What a hook may say ---- */

void tick(struct model *m, uint32_t clock)
{
    struct cell *c = cell(m, clock);
    struct hand *hand = hand_of(m);
    c->ticked_by = hand;
    c->ticked_in = hand->serial;
    c->ticked = true;
}

void next(struct model *m, uint32_t clock, double interval)
{
    struct cell *c = cell(m, clock);
    c->interval = interval;
    c->qualifier = fmi3IntervalChanged;
}

void next_fraction(struct model *m, uint32_t clock, uint64_t counter, uint64_t resolution)
{
    struct cell *c = cell(m, clock);
    c->counter = counter, c->resolution = resolution;
    next(m, clock, (double)counter / (double)resolution);
}

void shift(struct model *m, uint32_t clock, double seconds) { cell(m, clock)->shift = seconds; }

void shift_fraction(struct model *m, uint32_t clock, uint64_t counter, uint64_t resolution)
{
    cell(m, clock)->shift_counter = counter, cell(m, clock)->shift_resolution = resolution;
    shift(m, clock, (double)counter / (double)resolution);
}

/* The importer reads every output clock that has ticked, and every countdown interval, before it returns (5.2.2). */
void update(struct model *m)
{
    struct hand *hand = hand_of(m);
    for (uint32_t i = 0; i < n_variables; i++) m->cells[i].read_in_update = false;
    hand->in_update = true;
    m->clock_update(m->environment);
    hand->in_update = false;
    if (m->state != CLOCK_ACTIVATION) return;
    for (uint32_t i = 0; i < n_variables; i++) {
        const struct variable *v = &variables[i];
        if (v->type == CLOCK && v->causality == OUTPUT && m->cells[i].ticked)
            refuse(m, "clockUpdate", "5.2.2", "returned without fmi3GetClock of a clock that had ticked");
        if (v->kind == CLOCK_COUNTDOWN && !m->cells[i].read_in_update)
            refuse(m, "clockUpdate", "5.2.2", "returned without fmi3GetInterval of a countdown clock");
    }
}

void lock(struct model *m)
{
    m->lock();
    if (m->held++ == 0) m->holder = (uintptr_t)pthread_self();
}

void unlock(struct model *m)
{
    if (--m->held == 0) m->holder = 0;
    m->unlock();
}

void message(struct model *m, fmi3Status status, const char *category, const char *text)
{
    if (m->logging) m->log_message(m->environment, status, category, text);
}

/* ---- Life ---- */

const char *fmi3GetVersion(void) { return fmi3Version; }

static bool is_blank(const char *text) { return text[strspn(text, " \t\r\n")] == '\0'; }

fmi3Instance fmi3InstantiateScheduledExecution(fmi3String instanceName, fmi3String instantiationToken,
                                               fmi3String resourcePath, fmi3Boolean visible, fmi3Boolean loggingOn,
                                               fmi3InstanceEnvironment instanceEnvironment,
                                               fmi3LogMessageCallback logMessage, fmi3ClockUpdateCallback clockUpdate,
                                               fmi3LockPreemptionCallback lockPreemption,
                                               fmi3UnlockPreemptionCallback unlockPreemption)
{
    (void)visible;
    struct model *m = calloc(1, sizeof *m);
    m->name = strdup(instanceName && !is_blank(instanceName) ? instanceName : "nameless");
    m->resources = resourcePath ? strdup(resourcePath) : NULL;
    m->logging = loggingOn && logMessage;
    m->environment = instanceEnvironment;
    m->log_message = logMessage, m->clock_update = clockUpdate;
    m->lock = lockPreemption, m->unlock = unlockPreemption;
    m->cells = calloc(n_variables, sizeof *m->cells);
    const char *wrong = NULL;
    if (!instanceName || is_blank(instanceName)) wrong = "instanceName has nothing but blanks";
    if (!instantiationToken || strcmp(instantiationToken, token) != 0) wrong = "the token is not that of the XML";
    if (!has_resources && resourcePath) wrong = "resourcePath without a folder of resources";
    if (has_resources && resourcePath &&
        (resourcePath[0] != '/' || resourcePath[strlen(resourcePath) - 1] != '/'))
        wrong = "resourcePath is absolute and ends with a separator";
    if (wrong) {
        refuse(m, __func__, "2.3.1", wrong);
        return NULL;
    }
    give_start_values(m);
    return hook(m, INSTANTIATED_NOW, 0, 0, 0) > fmi3Warning || m->state == FAILED ? NULL : m;
}

/* What the test looks at. */
static void write_notes(const struct model *m, const char *end)
{
    FILE *file = results(m);
    if (!file) return;
    for (size_t i = 0; i < m->noted && i < MOST_ACTIVATIONS; i++)
        fprintf(file, "activation %u %.17g\n", m->notes[i].clock, m->notes[i].time);
    fprintf(file, "%s\n", end);
    fclose(file);
}

/* An error leads to Terminated (2.3.1), and Discard is one (5.2); after Fatal there is nothing (2.2.4). */
static fmi3Status done(struct model *m, struct hand *hand, fmi3Status status)
{
    if (m->state == FAILED) {
        status = fmi3Error;
    } else if (status == fmi3Fatal) {
        m->state = DEAD;
        write_notes(m, "died");
    } else if (status > fmi3Warning) {
        m->state = ENDED;
    }
    if (status == fmi3OK && success != fmi3OK) {
        message(m, success, categories[0], "as it is wanted of this FMU");
        status = success;
    }
    return leave(hand, status);
}

fmi3Status fmi3SetDebugLogging(fmi3Instance instance, fmi3Boolean loggingOn, size_t nCategories,
                               const fmi3String names[])
{
    ENTER();
    NOT_IN_UPDATE();
    REFUSE_LEAVING(nCategories == 0 && names != NULL, "2.3.1", "no categories, but a pointer to some");
    REFUSE_LEAVING(nCategories > 0 && names == NULL, "2.2.1", "NULL");
    for (size_t i = 0; i < nCategories; i++) {
        bool known = false;
        for (const char *const *category = categories; *category; category++)
            known = known || strcmp(*category, names[i]) == 0;
        REFUSE_LEAVING(!known, "2.3.1", "a category that the description does not have");
    }
    if (nCategories == 0) m->logging = loggingOn;
    return done(m, hand, fmi3OK);
}

void fmi3FreeInstance(fmi3Instance instance)
{
    struct model *m = instance;
    if (!m) return;
    if (m->state == DEAD) refuse(m, __func__, "2.2.4", "a call after fmi3Fatal");
    if (m->active > 0) refuse(m, __func__, "5.2", "freed while a partition is active");
    hook(m, FREED_NOW, 0, 0, 0);
    write_notes(m, m->state == TERMINATED ? "freed terminated" : m->state == ENDED ? "freed ended" : "freed before");
    free(m->cells), free(m->resources), free(m->name), free(m);
}

fmi3Status fmi3Reset(fmi3Instance instance)
{
    struct model *m = instance;
    if (!m) return fmi3Error;
    REFUSE_IF(m->state == DEAD, "2.2.4", "a call after fmi3Fatal");
    REFUSE_IF(m->active > 0, "5.2", "while a partition is active or preempted");
    m->state = INSTANTIATED;
    m->parameters_changed = false;
    for (size_t i = 0; i < MOST_HANDS; i++) {
        struct hand *hand = &m->hands[i];
        hand->last = NULL, hand->has_set = false, hand->n_set = 0;
    }
    give_start_values(m);
    return fmi3OK;
}

fmi3Status fmi3EnterInitializationMode(fmi3Instance instance, fmi3Boolean toleranceDefined, fmi3Float64 tolerance,
                                       fmi3Float64 startTime, fmi3Boolean stopTimeDefined, fmi3Float64 stopTime)
{
    (void)toleranceDefined, (void)tolerance;
    ENTER();
    REFUSE_LEAVING(m->state != INSTANTIATED, "2.3.2", "from another state than Instantiated");
    REFUSE_LEAVING(!isfinite(startTime), "2.3.2", "a start time that is none");
    REFUSE_LEAVING(stopTimeDefined && !(stopTime >= startTime), "2.3.2", "a stop time before the start time");
    m->start_time = startTime;
    m->stop_time = stopTimeDefined ? stopTime : INFINITY;
    m->state = INITIALIZATION;
    return done(m, hand, hook(m, INITIALIZATION_BEGINS, 0, startTime, 0));
}

/* Every clock was asked and told what its kind wants (2.2.8.2, 2.3.3). */
fmi3Status fmi3ExitInitializationMode(fmi3Instance instance)
{
    ENTER();
    REFUSE_LEAVING(m->state != INITIALIZATION, "2.3.3", "from another state than Initialization Mode");
    for (uint32_t i = 0; i < n_variables; i++) {
        const struct variable *v = &variables[i];
        const struct cell *c = &m->cells[i];
        bool periodic = v->kind == CLOCK_FIXED || v->kind == CLOCK_TUNABLE;
        REFUSE_LEAVING(periodic && v->decimal && c->interval_sets == 0, "2.3.3",
                       "fmi3SetInterval* of a fixed or tunable clock is missing");
        REFUSE_LEAVING(periodic && !v->decimal && c->interval_reads == 0, "2.2.8.2",
                       "fmi3GetInterval* of a fixed or tunable clock without intervalDecimal is missing");
        REFUSE_LEAVING(periodic && !v->decimal && c->shift_reads == 0, "2.2.8.2",
                       "fmi3GetShift* of a fixed or tunable clock without intervalDecimal is missing");
        REFUSE_LEAVING((v->kind == CLOCK_CHANGING || v->kind == CLOCK_COUNTDOWN) && c->interval_reads == 0, "2.2.8.2",
                       "fmi3GetInterval* of an aperiodic clock is missing");
    }
    m->state = CLOCK_ACTIVATION;
    return done(m, hand, hook(m, INITIALIZATION_ENDS, 0, m->start_time, 0));
}

fmi3Status fmi3Terminate(fmi3Instance instance)
{
    ENTER();
    NOT_IN_UPDATE();
    REFUSE_LEAVING(m->state != CLOCK_ACTIVATION, "2.3.4", "only what is initialized can be terminated");
    REFUSE_LEAVING(m->active > 0, "5.2", "while a partition is active or preempted");
    m->state = TERMINATED;
    return done(m, hand, hook(m, TERMINATED_NOW, 0, 0, 0));
}

fmi3Status fmi3EnterConfigurationMode(fmi3Instance instance)
{
    ENTER();
    NOT_IN_UPDATE();
    bool before = m->state == INSTANTIATED && any(is_structural);
    bool meanwhile = m->state == CLOCK_ACTIVATION && any(is_tunable_structural);
    REFUSE_LEAVING(!before && !meanwhile, "2.3.6, 2.3.7", "not in this state, or no structural parameter to set");
    REFUSE_LEAVING(m->active > 0, "5.2", "while a partition is active or preempted");
    m->state = before ? CONFIGURATION : RECONFIGURATION;
    return done(m, hand, fmi3OK);
}

fmi3Status fmi3ExitConfigurationMode(fmi3Instance instance)
{
    ENTER();
    REFUSE_LEAVING(m->state != CONFIGURATION && m->state != RECONFIGURATION, "2.3.6", "without having entered it");
    resize(m);
    m->state = m->state == CONFIGURATION ? INSTANTIATED : CLOCK_ACTIVATION;
    return done(m, hand, m->state == CLOCK_ACTIVATION ? hook(m, RECONFIGURED, 0, 0, 0) : fmi3OK);
}

fmi3Status fmi3ActivateModelPartition(fmi3Instance instance, fmi3ValueReference clock, fmi3Float64 time)
{
    ENTER();
    NOT_IN_UPDATE();
    REFUSE_LEAVING(m->state != CLOCK_ACTIVATION, "5.2.1", "only in Clock Activation Mode");
    const struct variable *v = find(clock);
    REFUSE_LEAVING(!v || v->type != CLOCK || v->causality != INPUT, "5.2.1", "of what is no input clock");
    struct cell *c = &m->cells[v - variables];
    REFUSE_LEAVING(!(time > c->last_time), "5.2.1", "times of a clock's activations must increase");
    REFUSE_LEAVING(time < m->start_time, "2.3.2", "before the start time");
    REFUSE_LEAVING(time > m->stop_time, "2.3.2", "past the stop time");
    REFUSE_LEAVING(c->interval_due, "2.2.8.2", "of a changing clock whose interval nobody has asked for after its tick");
    for (size_t i = 0; i < MOST_HANDS && m->hands[i].thread; i++) {
        const struct variable *other = m->hands[i].active;
        REFUSE_LEAVING(other && other->priority <= v->priority, "5.1.2",
                       "while a partition is active that is not less urgent");
    }
    for (size_t i = 0; i < hand->n_set; i++) {
        const struct variable *set = hand->set[i];
        REFUSE_LEAVING(set->n_clocks > 0 && !has_clock(set, clock), "5.2.1",
                       "after a value was set that belongs to another clock's partition");
    }
    hand->n_set = 0, hand->has_set = false;
    hand->serial++;
    hand->active = v;
    m->active++;
    c->last_time = time;
    uint64_t n = ++c->activations;
    size_t at = m->noted++;
    if (at < MOST_ACTIVATIONS) m->notes[at].clock = clock, m->notes[at].time = time;
    if (v->kind == CLOCK_COUNTDOWN) {
        int known = fmi3IntervalUnchanged;
        atomic_compare_exchange_strong(&c->qualifier, &known, fmi3IntervalNotYetKnown);
    }
    if (v->kind == CLOCK_CHANGING) c->interval_due = true;
    fmi3Status status = hook(m, ACTIVATED, clock, time, n);
    m->active--;
    hand->active = NULL;
    hand->last = v;
    return done(m, hand, status);
}

/* ---- Values ---- */

/* Why a variable may not be read now; NULL if it may. */
static const char *unreadable(const struct model *m, const struct hand *hand, const struct variable *v)
{
    switch (m->state) {
    case INSTANTIATED: return v->n_clocks > 0 ? "2.2.7.2: a clocked variable before Initialization Mode" : NULL;
    case INITIALIZATION: case TERMINATED: case ENDED: return NULL;
    case CLOCK_ACTIVATION: break;
    default: return "2.3.6: no variable is read in Configuration Mode";
    }
    if (hand->has_set) return "5.2.1: read after a set without an activation between";
    if (!hand->last && !hand->active) return "5.2.1: read before a partition was computed";
    if (v->n_clocks == 0) return NULL;
    if (hand->last && has_clock(v, hand->last->vr) && !hand->in_update) return NULL;
    for (uint32_t i = 0; i < v->n_clocks; i++) {
        const struct variable *clock = find(v->clocks[i]);
        const struct cell *c = &m->cells[clock - variables];
        if (clock->causality == OUTPUT && c->ticked_by == hand && c->ticked_in == hand->serial) return NULL;
    }
    return "2.2.8.3, 5.2.1: a clocked variable of which no clock is active";
}

static const char *unsettable(const struct model *m, const struct variable *v)
{
    bool structural = v->causality == STRUCTURAL_PARAMETER;
    if (v->variability == CONSTANT) return "2.3.2: a constant";
    switch (m->state) {
    case INSTANTIATED:
        if (structural) return "2.3.2: a structural parameter outside of Configuration Mode";
        if (v->n_clocks > 0) return "2.2.7.2: a clocked variable before Initialization Mode";
        return v->initial == EXACT || v->initial == APPROX ? NULL : "2.3.2: initial is neither exact nor approx";
    case CONFIGURATION: return structural ? NULL : "2.3.6: no structural parameter";
    case RECONFIGURATION:
        return structural && v->variability == TUNABLE ? NULL : "2.3.7: no tunable structural parameter";
    case INITIALIZATION:
        if (structural) return "2.3.3: a structural parameter outside of Configuration Mode";
        return v->initial == EXACT ? NULL : "2.3.3: initial is not exact";
    case CLOCK_ACTIVATION:
        if (v->causality == INPUT || (v->causality == PARAMETER && v->variability == TUNABLE)) return NULL;
        return "5.2.1: neither an input nor a tunable parameter";
    default: return "2.3.8: nothing is set in Terminated";
    }
}

static fmi3Status access(struct model *m, struct hand *hand, const char *function, enum type type, bool set,
                         const fmi3ValueReference refs[], size_t n_refs, const void *values, size_t n_values)
{
    if (!refs || !values) return refuse(m, function, "2.2.1", "NULL");
    size_t total = 0;
    for (size_t i = 0; i < n_refs; i++) {
        const struct variable *v = find(refs[i]);
        if (!v || v->type != type) return refuse(m, function, "2.2.7.2", "a reference of another type, or of nothing");
        if (set && hand->in_update) return refuse(m, function, "5.2.2", "not allowed in Clock Update Mode");
        const char *wrong = set ? unsettable(m, v) : unreadable(m, hand, v);
        if (wrong) return refuse(m, function, wrong, "this variable, in this state");
        total += m->cells[v - variables].size;
        if (set && m->state == CLOCK_ACTIVATION) {
            hand->has_set = true;
            if (hand->n_set < MOST_SET) hand->set[hand->n_set++] = v;
            if (v->causality == PARAMETER) m->parameters_changed = true;
        }
    }
    if (total != n_values) return refuse(m, function, "2.2.7.2", "nValues is not the number of elements");
    return fmi3OK;
}

#define NUMBERS(Type, TYPE)                                                                                           \
    fmi3Status fmi3Get##Type(fmi3Instance instance, const fmi3ValueReference refs[], size_t n, fmi3##Type values[],   \
                             size_t nValues)                                                                          \
    {                                                                                                                 \
        ENTER();                                                                                                      \
        fmi3Status status = access(m, hand, __func__, TYPE, false, refs, n, values, nValues);                         \
        for (size_t i = 0; status <= fmi3Warning && i < n; i++) {                                                     \
            status = hook(m, VALUE_IS_READ, refs[i], 0, 0);                                                           \
            const struct cell *c = cell(m, refs[i]);                                                                  \
            memcpy(values, c->values, c->size * sizeof *values);                                                      \
            values += c->size;                                                                                        \
        }                                                                                                             \
        return done(m, hand, status);                                                                                 \
    }                                                                                                                 \
    fmi3Status fmi3Set##Type(fmi3Instance instance, const fmi3ValueReference refs[], size_t n,                        \
                             const fmi3##Type values[], size_t nValues)                                               \
    {                                                                                                                 \
        ENTER();                                                                                                      \
        fmi3Status status = access(m, hand, __func__, TYPE, true, refs, n, values, nValues);                          \
        for (size_t i = 0; status <= fmi3Warning && i < n; i++) {                                                     \
            const struct cell *c = cell(m, refs[i]);                                                                  \
            memcpy(c->values, values, c->size * sizeof *values);                                                      \
            values += c->size;                                                                                        \
            status = hook(m, VALUE_IS_SET, refs[i], 0, 0);                                                            \
        }                                                                                                             \
        return done(m, hand, status);                                                                                 \
    }

NUMBERS(Float32, FLOAT32)
NUMBERS(Float64, FLOAT64)
NUMBERS(Int8, INT8)
NUMBERS(UInt8, UINT8)
NUMBERS(Int16, INT16)
NUMBERS(UInt16, UINT16)
NUMBERS(Int32, INT32)
NUMBERS(UInt32, UINT32)
NUMBERS(Int64, INT64)
NUMBERS(UInt64, UINT64)
NUMBERS(Boolean, BOOLEAN)

fmi3Status fmi3GetString(fmi3Instance instance, const fmi3ValueReference refs[], size_t n, fmi3String values[],
                         size_t nValues)
{
    ENTER();
    fmi3Status status = access(m, hand, __func__, STRING, false, refs, n, values, nValues);
    for (size_t i = 0; status == fmi3OK && i < n; i++) {
        const struct cell *c = cell(m, refs[i]);
        for (size_t e = 0; e < c->size; e++) {
            const char *text = string(m, refs[i], e);
            *values++ = lend(m, text, strlen(text));
        }
    }
    return done(m, hand, status);
}

fmi3Status fmi3SetString(fmi3Instance instance, const fmi3ValueReference refs[], size_t n, const fmi3String values[],
                         size_t nValues)
{
    ENTER();
    fmi3Status status = access(m, hand, __func__, STRING, true, refs, n, values, nValues);
    for (size_t i = 0; status == fmi3OK && i < n; i++) {
        for (size_t e = 0; e < elements(m, refs[i]); e++) {
            char **at = element(m, refs[i], e);
            REFUSE_LEAVING(!*values, "2.2.1", "NULL");
            free(*at);
            *at = strdup(*values++);
        }
        status = hook(m, VALUE_IS_SET, refs[i], 0, 0);
    }
    return done(m, hand, status);
}

fmi3Status fmi3GetBinary(fmi3Instance instance, const fmi3ValueReference refs[], size_t n, size_t sizes[],
                         fmi3Binary values[], size_t nValues)
{
    ENTER();
    fmi3Status status = access(m, hand, __func__, BINARY, false, refs, n, values, nValues);
    REFUSE_LEAVING(!sizes, "2.2.1", "NULL");
    for (size_t i = 0; status == fmi3OK && i < n; i++)
        for (size_t e = 0; e < elements(m, refs[i]); e++) {
            const struct blob *at = element(m, refs[i], e);
            *values++ = (const uint8_t *)lend(m, at->bytes, at->size), *sizes++ = at->size;
        }
    return done(m, hand, status);
}

fmi3Status fmi3SetBinary(fmi3Instance instance, const fmi3ValueReference refs[], size_t n, const size_t sizes[],
                         const fmi3Binary values[], size_t nValues)
{
    ENTER();
    fmi3Status status = access(m, hand, __func__, BINARY, true, refs, n, values, nValues);
    REFUSE_LEAVING(!sizes, "2.2.1", "NULL");
    for (size_t i = 0; status == fmi3OK && i < n; i++) {
        for (size_t e = 0; e < elements(m, refs[i]); e++) {
            struct blob *at = element(m, refs[i], e);
            at->bytes = realloc(at->bytes, *sizes + 1);
            memcpy(at->bytes, *values++, at->size = *sizes++);
        }
        status = hook(m, VALUE_IS_SET, refs[i], 0, 0);
    }
    return done(m, hand, status);
}

/* ---- Clocks ---- */

fmi3Status fmi3GetClock(fmi3Instance instance, const fmi3ValueReference refs[], size_t n, fmi3Clock values[])
{
    ENTER();
    REFUSE_LEAVING(!refs || !values, "2.2.1", "NULL");
    REFUSE_LEAVING(!hand->in_update, "2.2.8.2", "outside of Clock Update Mode");
    fmi3Status status = fmi3OK;
    for (size_t i = 0; i < n && status == fmi3OK; i++) {
        const struct variable *v = find(refs[i]);
        REFUSE_LEAVING(!v || v->type != CLOCK || v->causality != OUTPUT, "5.2.2", "of what is no output clock");
        status = hook(m, CLOCK_IS_READ, refs[i], 0, 0);
        values[i] = atomic_exchange(&m->cells[v - variables].ticked, false);
    }
    return done(m, hand, status);
}

fmi3Status fmi3SetClock(fmi3Instance instance, const fmi3ValueReference refs[], size_t n, const fmi3Clock values[])
{
    (void)refs, (void)n, (void)values;
    struct model *m = instance;
    REFUSE("2.2.8.4", "never in Scheduled Execution");
}

/* Why an interval may not be asked for now. */
static const char *no_interval(const struct model *m, const struct hand *hand, const struct variable *v)
{
    const struct cell *c = &m->cells[v - variables];
    bool periodic = v->kind == CLOCK_CONSTANT || v->kind == CLOCK_FIXED || v->kind == CLOCK_TUNABLE;
    if (v->kind == NO_CLOCK || v->kind == CLOCK_TRIGGERED) return "2.2.8.2: a triggered clock has no interval";
    if (v->kind != CLOCK_CONSTANT && periodic && v->decimal) return "2.2.8.2: set where intervalDecimal is defined";
    if (m->state == INITIALIZATION) return NULL;
    if (m->state != CLOCK_ACTIVATION) return "2.2.8.2: not in this state";
    if (v->kind == CLOCK_COUNTDOWN) return hand->in_update ? NULL : "5.2.2: a countdown outside of Clock Update Mode";
    if (hand->in_update) return "5.2.2: only countdown clocks in Clock Update Mode";
    if (v->kind == CLOCK_TUNABLE) return m->parameters_changed ? NULL : "2.2.8.2: no tunable parameter was changed";
    if (v->kind == CLOCK_CHANGING) return c->interval_due ? NULL : "2.2.8.2: if and only if this clock ticked";
    return "2.2.8.2: only in Initialization Mode";
}

static fmi3Status get_interval(struct model *m, struct hand *hand, const char *function, bool fraction, uint32_t vr,
                               double *interval, uint64_t *counter, uint64_t *resolution, fmi3IntervalQualifier *q)
{
    const struct variable *v = find(vr);
    if (!v || v->type != CLOCK) return refuse(m, function, "2.2.8.4", "of what is no clock");
    const char *wrong = no_interval(m, hand, v);
    if (wrong) return refuse(m, function, wrong, "this clock, in this state");
    if (fraction && !v->fraction) return refuse(m, function, "2.2.8.4", "supportsFraction is false");
    struct cell *c = &m->cells[v - variables];
    fmi3Status status = hook(m, INTERVAL_IS_READ, vr, 0, c->interval_reads);
    c->interval_reads++;
    c->interval_due = false;
    c->read_in_update = true;
    *q = (fmi3IntervalQualifier)c->qualifier;
    int changed = fmi3IntervalChanged;
    if (v->kind == CLOCK_COUNTDOWN) atomic_compare_exchange_strong(&c->qualifier, &changed, fmi3IntervalUnchanged);
    *interval = c->interval, *counter = c->counter, *resolution = c->resolution;
    return status;
}

fmi3Status fmi3GetIntervalDecimal(fmi3Instance instance, const fmi3ValueReference refs[], size_t n,
                                  fmi3Float64 intervals[], fmi3IntervalQualifier qualifiers[])
{
    ENTER();
    REFUSE_LEAVING(!refs || !intervals || !qualifiers, "2.2.1", "NULL");
    fmi3Status status = fmi3OK;
    uint64_t unused;
    for (size_t i = 0; i < n && status == fmi3OK; i++)
        status = get_interval(m, hand, __func__, false, refs[i], &intervals[i], &unused, &unused, &qualifiers[i]);
    return done(m, hand, status);
}

fmi3Status fmi3GetIntervalFraction(fmi3Instance instance, const fmi3ValueReference refs[], size_t n,
                                   fmi3UInt64 counters[], fmi3UInt64 resolutions[], fmi3IntervalQualifier qualifiers[])
{
    ENTER();
    REFUSE_LEAVING(!refs || !counters || !resolutions || !qualifiers, "2.2.1", "NULL");
    fmi3Status status = fmi3OK;
    double unused;
    for (size_t i = 0; i < n && status == fmi3OK; i++)
        status = get_interval(m, hand, __func__, true, refs[i], &unused, &counters[i], &resolutions[i], &qualifiers[i]);
    return done(m, hand, status);
}

enum action { GET_SHIFT, SET_SHIFT, SET_INTERVAL };

static const char *no_action(const struct model *m, const struct hand *hand, const struct variable *v, enum action action)
{
    if (!v || v->type != CLOCK) return "2.2.8.4: of what is no clock";
    bool adjustable = v->kind == CLOCK_FIXED || v->kind == CLOCK_TUNABLE;
    if (action == GET_SHIFT) {
        if (v->kind != CLOCK_CONSTANT && !adjustable) return "2.2.8.2: aperiodic and triggered clocks have no shift";
        if (adjustable && v->decimal) return "2.2.8.2: the description has interval and shift";
        return m->state == INITIALIZATION ? NULL : "2.2.8.2: only in Initialization Mode";
    }
    if (!adjustable) return "2.2.8.2: only of fixed and tunable clocks";
    if (!v->decimal) return "2.2.8.2: the FMU is asked where intervalDecimal is not defined";
    if (m->state == INITIALIZATION) return NULL;
    bool meanwhile = action == SET_INTERVAL && v->kind == CLOCK_TUNABLE && m->state == CLOCK_ACTIVATION;
    return meanwhile && !hand->in_update ? NULL : "2.2.8.2: not in this state";
}

#define CLOCK_ACTION(action, fractions, wrong_null)                                                                   \
    ENTER();                                                                                                          \
    REFUSE_LEAVING(!refs || (wrong_null), "2.2.1", "NULL");                                                           \
    for (size_t i = 0; i < n; i++) {                                                                                  \
        const struct variable *v = find(refs[i]);                                                                     \
        const char *wrong = no_action(m, hand, v, action);                                                            \
        REFUSE_LEAVING(wrong, wrong, "this clock, in this state");                                                    \
        REFUSE_LEAVING((fractions) && !v->fraction, "2.2.8.4", "supportsFraction is false");                          \
    }

fmi3Status fmi3GetShiftDecimal(fmi3Instance instance, const fmi3ValueReference refs[], size_t n, fmi3Float64 shifts[])
{
    CLOCK_ACTION(GET_SHIFT, false, !shifts)
    for (size_t i = 0; i < n; i++) shifts[i] = cell(m, refs[i])->shift, cell(m, refs[i])->shift_reads++;
    return done(m, hand, fmi3OK);
}

fmi3Status fmi3GetShiftFraction(fmi3Instance instance, const fmi3ValueReference refs[], size_t n, fmi3UInt64 counters[],
                                fmi3UInt64 resolutions[])
{
    CLOCK_ACTION(GET_SHIFT, true, !counters || !resolutions)
    for (size_t i = 0; i < n; i++) {
        struct cell *c = cell(m, refs[i]);
        counters[i] = c->shift_counter, resolutions[i] = c->shift_resolution, c->shift_reads++;
    }
    return done(m, hand, fmi3OK);
}

fmi3Status fmi3SetIntervalDecimal(fmi3Instance instance, const fmi3ValueReference refs[], size_t n,
                                  const fmi3Float64 intervals[])
{
    CLOCK_ACTION(SET_INTERVAL, false, !intervals)
    for (size_t i = 0; i < n; i++) {
        REFUSE_LEAVING(!(intervals[i] > 0), "2.2.8.2", "intervals are above 0");
        cell(m, refs[i])->told_interval = intervals[i], cell(m, refs[i])->interval_sets++;
    }
    return done(m, hand, fmi3OK);
}

fmi3Status fmi3SetIntervalFraction(fmi3Instance instance, const fmi3ValueReference refs[], size_t n,
                                   const fmi3UInt64 counters[], const fmi3UInt64 resolutions[])
{
    CLOCK_ACTION(SET_INTERVAL, true, !counters || !resolutions)
    for (size_t i = 0; i < n; i++) {
        REFUSE_LEAVING(counters[i] == 0 || resolutions[i] == 0, "2.2.8.2", "intervals are above 0");
        cell(m, refs[i])->told_interval = (double)counters[i] / (double)resolutions[i];
        cell(m, refs[i])->interval_sets++;
    }
    return done(m, hand, fmi3OK);
}

fmi3Status fmi3SetShiftDecimal(fmi3Instance instance, const fmi3ValueReference refs[], size_t n,
                               const fmi3Float64 shifts[])
{
    CLOCK_ACTION(SET_SHIFT, false, !shifts)
    for (size_t i = 0; i < n; i++) {
        REFUSE_LEAVING(!(shifts[i] >= 0), "2.2.8.2", "shifts are at least 0");
        cell(m, refs[i])->told_shift = shifts[i];
    }
    return done(m, hand, fmi3OK);
}

fmi3Status fmi3SetShiftFraction(fmi3Instance instance, const fmi3ValueReference refs[], size_t n,
                                const fmi3UInt64 counters[], const fmi3UInt64 resolutions[])
{
    CLOCK_ACTION(SET_SHIFT, true, !counters || !resolutions)
    for (size_t i = 0; i < n; i++) cell(m, refs[i])->told_shift = (double)counters[i] / (double)resolutions[i];
    return done(m, hand, fmi3OK);
}

/* ---- States: of numbers and clocks ---- */

static size_t state_size(const struct model *m)
{
    size_t size = n_variables * sizeof *m->cells;
    for (uint32_t i = 0; i < n_variables; i++) size += m->cells[i].size * width(variables[i].type);
    return size;
}

/* All states are of the same size: this base does not resize arrays between them. */
static void copy_state(struct model *m, uint8_t *state, bool out)
{
    uint8_t *cells = state, *values = state + n_variables * sizeof *m->cells;
    for (uint32_t i = 0; i < n_variables; i++, cells += sizeof *m->cells) {
        size_t size = m->cells[i].size * width(variables[i].type);
        void *own = m->cells[i].values;
        if (out) {
            memcpy(cells, &m->cells[i], sizeof *m->cells), memcpy(values, own, size);
        } else {
            memcpy(&m->cells[i], cells, sizeof *m->cells), memcpy(own, values, size);
            m->cells[i].values = own;
        }
        values += size;
    }
}

#define STATE(serial)                                                                                                 \
    ENTER();                                                                                                          \
    NOT_IN_UPDATE();                                                                                                  \
    REFUSE_LEAVING(!can_get_and_set_state || ((serial) && !can_serialize_state), "2.2.7.4", "the flag is not true");  \
    REFUSE_LEAVING(m->active > 0, "5.2.1", "while a partition is active or preempted")

fmi3Status fmi3GetFMUState(fmi3Instance instance, fmi3FMUState *state)
{
    STATE(false);
    REFUSE_LEAVING(!state, "2.2.1", "NULL");
    if (!*state) *state = malloc(state_size(m));
    copy_state(m, *state, true);
    return done(m, hand, fmi3OK);
}

fmi3Status fmi3SetFMUState(fmi3Instance instance, fmi3FMUState state)
{
    STATE(false);
    REFUSE_LEAVING(!state, "2.2.1", "NULL");
    copy_state(m, state, false);
    return done(m, hand, fmi3OK);
}

fmi3Status fmi3FreeFMUState(fmi3Instance instance, fmi3FMUState *state)
{
    STATE(false);
    REFUSE_LEAVING(!state, "2.2.1", "NULL");
    free(*state);
    *state = NULL;
    return done(m, hand, fmi3OK);
}

fmi3Status fmi3SerializedFMUStateSize(fmi3Instance instance, fmi3FMUState state, size_t *size)
{
    STATE(true);
    REFUSE_LEAVING(!state || !size, "2.2.1", "NULL");
    *size = state_size(m);
    return done(m, hand, fmi3OK);
}

fmi3Status fmi3SerializeFMUState(fmi3Instance instance, fmi3FMUState state, fmi3Byte bytes[], size_t size)
{
    STATE(true);
    REFUSE_LEAVING(!state || !bytes, "2.2.1", "NULL");
    REFUSE_LEAVING(size != state_size(m), "2.2.7.4", "another size than was told");
    memcpy(bytes, state, size);
    return done(m, hand, fmi3OK);
}

fmi3Status fmi3DeserializeFMUState(fmi3Instance instance, const fmi3Byte bytes[], size_t size, fmi3FMUState *state)
{
    STATE(true);
    REFUSE_LEAVING(!state || !bytes, "2.2.1", "NULL");
    REFUSE_LEAVING(size != state_size(m), "2.2.7.4", "another size than was told");
    if (!*state) *state = malloc(size);
    memcpy(*state, bytes, size);
    return done(m, hand, fmi3OK);
}

/* ---- What no importer of Scheduled Execution calls ---- */

/* Looked up without being called (2.2.2); a call by any arguments comes here. */
static fmi3Status never(fmi3Instance instance, const char *function)
{
    return refuse(instance, function, "2.3, 5.2", "not allowed in Scheduled Execution, or not offered");
}

#define NEVER(name, ...) fmi3Status name(fmi3Instance instance, __VA_ARGS__) { return never(instance, __func__); }
#define NEVER_PLAIN(name) fmi3Status name(fmi3Instance instance) { return never(instance, __func__); }

#pragma GCC diagnostic ignored "-Wunused-parameter"
NEVER_PLAIN(fmi3EnterEventMode)
NEVER_PLAIN(fmi3EvaluateDiscreteStates)
NEVER_PLAIN(fmi3EnterContinuousTimeMode)
NEVER_PLAIN(fmi3EnterStepMode)
NEVER(fmi3UpdateDiscreteStates, fmi3Boolean *a, fmi3Boolean *b, fmi3Boolean *c, fmi3Boolean *d, fmi3Boolean *e,
      fmi3Float64 *f)
NEVER(fmi3CompletedIntegratorStep, fmi3Boolean a, fmi3Boolean *b, fmi3Boolean *c)
NEVER(fmi3SetTime, fmi3Float64 a)
NEVER(fmi3SetContinuousStates, const fmi3Float64 a[], size_t n)
NEVER(fmi3GetContinuousStateDerivatives, fmi3Float64 a[], size_t n)
NEVER(fmi3GetEventIndicators, fmi3Float64 a[], size_t n)
NEVER(fmi3GetContinuousStates, fmi3Float64 a[], size_t n)
NEVER(fmi3GetNominalsOfContinuousStates, fmi3Float64 a[], size_t n)
NEVER(fmi3GetNumberOfEventIndicators, size_t *n)
NEVER(fmi3GetNumberOfContinuousStates, size_t *n)
NEVER(fmi3GetOutputDerivatives, const fmi3ValueReference a[], size_t n, const fmi3Int32 b[], fmi3Float64 c[], size_t d)
NEVER(fmi3DoStep, fmi3Float64 a, fmi3Float64 b, fmi3Boolean c, fmi3Boolean *d, fmi3Boolean *e, fmi3Boolean *f,
      fmi3Float64 *g)
NEVER(fmi3GetNumberOfVariableDependencies, fmi3ValueReference a, size_t *n)
NEVER(fmi3GetVariableDependencies, fmi3ValueReference a, size_t b[], fmi3ValueReference c[], size_t d[],
      fmi3DependencyKind e[], size_t n)
NEVER(fmi3GetDirectionalDerivative, const fmi3ValueReference a[], size_t b, const fmi3ValueReference c[], size_t d,
      const fmi3Float64 e[], size_t f, fmi3Float64 g[], size_t h)
NEVER(fmi3GetAdjointDerivative, const fmi3ValueReference a[], size_t b, const fmi3ValueReference c[], size_t d,
      const fmi3Float64 e[], size_t f, fmi3Float64 g[], size_t h)

fmi3Instance fmi3InstantiateModelExchange(fmi3String a, fmi3String b, fmi3String c, fmi3Boolean d, fmi3Boolean e,
                                          fmi3InstanceEnvironment f, fmi3LogMessageCallback g)
{
    return NULL;
}

fmi3Instance fmi3InstantiateCoSimulation(fmi3String a, fmi3String b, fmi3String c, fmi3Boolean d, fmi3Boolean e,
                                         fmi3Boolean f, fmi3Boolean g, const fmi3ValueReference h[], size_t i,
                                         fmi3InstanceEnvironment j, fmi3LogMessageCallback k,
                                         fmi3IntermediateUpdateCallback l)
{
    return NULL;
}
