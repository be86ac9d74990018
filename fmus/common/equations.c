/* The rules of Model Exchange that all versions of FMI have in common. See equations.h. */

#include "equations.h"
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void *at(void *model, size_t offset)
{
    return (char *)model + offset;
}

static void begin(struct instance *instance)
{
    void *owner = instance->owner;
    memset(instance, 0, equations.size);
    instance->owner = owner;
    instance->mode = INSTANTIATED;
    instance->state_count = equations.state_count;
    instance->indicator_count = equations.indicator_count;
    for (size_t i = 0; i < equations.clock_count; i++) {
        struct clock_state *clock = at(instance, equations.clocks[i].offset);
        clock->interval = equations.clocks[i].period;
        clock->next = clock->then = INFINITY;
    }
    if (equations.start) equations.start(instance);
}

void *equations_new(void *owner)
{
    struct instance *instance = calloc(1, equations.size);
    if (!instance) return NULL;
    instance->owner = owner;
    begin(instance);
    return instance;
}

void equations_free(void *model)
{
    free(model);
}

/* ---- What is refused ---- */

static const char *name(enum mode mode)
{
    switch (mode) {
    case INSTANTIATED: return "before Initialization Mode";
    case CONFIGURATION: return "in Configuration Mode";
    case INITIALIZATION: return "in Initialization Mode";
    case EVENT_MODE: return "in Event Mode";
    case CONTINUOUS_TIME: return "in Continuous-Time Mode";
    case TERMINATED: return "after the end";
    case FAILED: return "after an error";
    case LOST: return "after a fatal error";
    }
    return "in no mode";
}

__attribute__((format(printf, 2, 3))) static enum answer refuse(struct instance *instance, const char *format, ...)
{
    char message[512];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(message, sizeof message, format, arguments);
    va_end(arguments);
    if (instance->mode != LOST) instance->mode = FAILED;
    equations_tell(instance->owner, ANSWER_ERROR, message);
    return ANSWER_ERROR;
}

enum answer equations_refuse(void *model, const char *function, const char *why)
{
    return refuse(model, "%s: %s", function, why);
}

enum answer equations_called(void *model, const char *function, unsigned modes)
{
    struct instance *instance = model;
    if (!(instance->mode & modes))
        return refuse(instance, "%s: this call is not allowed %s.", function, name(instance->mode));
    if (!equations.meddle || instance->nested) return ANSWER_OK;
    enum answer answer = equations.meddle(model, function);
    if (answer == ANSWER_OK) return answer;
    char message[256];
    snprintf(message, sizeof message, "%s: as the parameters say, %s.", function, name(instance->mode));
    if (answer == ANSWER_ERROR) instance->mode = FAILED;
    if (answer == ANSWER_FATAL) instance->mode = LOST;
    equations_tell(instance->owner, answer, message);
    return answer;
}

/* Every function that follows asks first. */
#define CALLED(modes)                                                                                                 \
    struct instance *instance = model;                                                                                \
    enum answer answer = equations_called(model, function, modes);                                                    \
    if (answer >= ANSWER_DISCARD) return answer

/* ---- From mode to mode ---- */

enum answer equations_reset(void *model, const char *function)
{
    CALLED(~(unsigned)LOST);
    begin(instance);
    return answer;
}

enum answer equations_enter_configuration(void *model, const char *function)
{
    CALLED(INSTANTIATED | EVENT_MODE);
    if (!equations.resize) return equations_refuse(model, function, "there are no structural parameters.");
    instance->configured_in = instance->mode;
    instance->mode = CONFIGURATION;
    return answer;
}

enum answer equations_exit_configuration(void *model, const char *function)
{
    CALLED(CONFIGURATION);
    equations.resize(model);
    instance->mode = instance->configured_in;
    /* What has changed is an event. */
    if (instance->mode == EVENT_MODE) instance->restless = true;
    return answer;
}

enum answer equations_enter_initialization(void *model, const char *function, double start_time)
{
    CALLED(INSTANTIATED);
    instance->mode = INITIALIZATION;
    instance->time = instance->earliest = start_time;
    if (equations.initialize) equations.initialize(model);
    return answer;
}

/* ---- Clocks ---- */

static bool is_periodic(enum clock_kind kind)
{
    return kind == CONSTANT_CLOCK || kind == FIXED_CLOCK || kind == TUNABLE_CLOCK;
}

static struct clock_state *state_of(void *model, const struct clock *clock)
{
    return at(model, clock->offset);
}

static const struct clock *find_clock(uint32_t reference, size_t element)
{
    for (size_t i = 0; i < equations.clock_count; i++)
        if (equations.clocks[i].reference == reference && element-- == 0) return &equations.clocks[i];
    return NULL;
}

/* The clock that an output clock of the draft arms. */
static const struct clock *armed_by(uint32_t reference, size_t element)
{
    for (size_t i = 0; equations_arm_by_clocks && i < equations.clock_count; i++)
        if (reference != 0 && equations.clocks[i].arming == reference && element-- == 0) return &equations.clocks[i];
    return NULL;
}

size_t equations_clock_elements(uint32_t reference)
{
    size_t n = 0;
    while (find_clock(reference, n) || armed_by(reference, n)) n++;
    return n;
}

/* The clock that a variable belongs to. */
static const struct clock *clock_of(uint32_t variable)
{
    for (size_t i = 0; i < equations.clock_count; i++)
        if (variable != 0 && equations.clocks[i].variable == variable) return &equations.clocks[i];
    return NULL;
}

/* Times that differ by rounding alone. */
static double slack(double time)
{
    return 1e-9 * (1.0 + fabs(time));
}

/* From the start on clocks with a period tick. */
static void start_clocks(struct instance *instance)
{
    for (size_t i = 0; i < equations.clock_count; i++) {
        if (!is_periodic(equations.clocks[i].kind)) continue;
        struct clock_state *clock = state_of(instance, &equations.clocks[i]);
        clock->first = clock->next = instance->time;
    }
}

/* A clock that should have ticked by now, or before now; NULL: none. */
static const struct clock *left_out(struct instance *instance, bool before_now)
{
    for (size_t i = 0; i < equations.clock_count; i++) {
        double next = state_of(instance, &equations.clocks[i])->next;
        if (before_now ? instance->time > next + slack(next) : instance->time >= next - slack(next)) return &equations.clocks[i];
    }
    return NULL;
}

/* An iteration is over: clocks that have ticked know when they do so next, or that they are to be asked. */
static void end_ticks(struct instance *instance)
{
    instance->clocks_read = false;
    for (size_t i = 0; i < equations.clock_count; i++) {
        const struct clock *clock = &equations.clocks[i];
        struct clock_state *state = state_of(instance, clock);
        if (state->active && is_periodic(clock->kind)) state->next = state->first + (double)++state->ticks * state->interval;
        if (state->active && clock->kind == CHANGING_CLOCK) state->armed = true;
        if (state->active && clock->arming && equations_arm_by_clocks) {
            state->next = state->then;
            state->then = INFINITY;
        } else if (state->active && clock->kind == COUNTDOWN_CLOCK && !state->armed) {
            state->next = INFINITY;
        }
        state->active = false;
    }
}

enum answer equations_set_clock(void *model, const char *function, uint32_t reference, size_t element, bool active)
{
    CALLED(EVENT_MODE);
    const struct clock *clock = find_clock(reference, element);
    if (!clock || clock->kind == OUTPUT_CLOCK) return refuse(instance, "%s: there is no input clock %u.", function, reference);
    struct clock_state *state = state_of(model, clock);
    if (!active) return refuse(instance, "%s: to false, which says nothing.", function);
    if (instance->clocks_read) return refuse(instance, "%s: after fmi3GetClock in one iteration.", function);
    if (state->active) return refuse(instance, "%s: the clock %u ticks twice in one iteration.", function, reference);
    if (clock->kind != TRIGGERED_CLOCK && !(fabs(instance->time - state->next) <= slack(state->next)))
        return refuse(instance, "%s: the clock %u ticks at %.17g, and its time is %.17g.", function, reference, instance->time, state->next);
    state->active = true;
    return answer;
}

enum answer equations_get_clocks(void *model, const char *function, const uint32_t references[], size_t n, bool active[])
{
    CALLED(EVENT_MODE);
    if (instance->clocks_read) return refuse(instance, "%s: twice in one iteration.", function);
    if (equations.tick) equations.tick(model);
    for (size_t i = 0; i < n; i++) {
        size_t elements = equations_clock_elements(references[i]);
        if (elements == 0) return refuse(instance, "%s: there is no output clock %u.", function, references[i]);
        for (size_t element = 0; element < elements; element++, active++) {
            const struct clock *armed = armed_by(references[i], element);
            if (armed) {
                struct clock_state *state = state_of(model, armed);
                *active = state->told = state->armed;
                continue;
            }
            const struct clock *clock = find_clock(references[i], element);
            if (clock->kind != OUTPUT_CLOCK) return refuse(instance, "%s: there is no output clock %u.", function, references[i]);
            *active = state_of(model, clock)->active;
        }
    }
    instance->clocks_read = true;
    return answer;
}

enum answer equations_get_interval(void *model, const char *function, uint32_t reference, double *interval,
                                   enum qualifier *qualifier)
{
    CALLED(INITIALIZATION | EVENT_MODE);
    const struct clock *clock = find_clock(reference, 0);
    if (!clock || (clock->kind != CHANGING_CLOCK && clock->kind != COUNTDOWN_CLOCK))
        return refuse(instance, "%s: the interval of the clock %u is not the FMU's to say.", function, reference);
    struct clock_state *state = state_of(model, clock);
    if (instance->clocks_read || state->active)
        return refuse(instance, "%s: before fmi3UpdateDiscreteStates in one iteration.", function);
    if (clock->kind == CHANGING_CLOCK && !state->armed)
        return refuse(instance, "%s: the clock %u has not ticked.", function, reference);
    if (state->armed) state->next = instance->time + state->interval;
    state->known |= state->armed;
    *qualifier = state->armed ? QUALIFIER_CHANGED : state->known ? QUALIFIER_UNCHANGED : QUALIFIER_NOT_YET_KNOWN;
    *interval = state->interval;
    state->armed = false;
    return answer;
}

enum answer equations_get_delay(void *model, const char *function, uint32_t reference, size_t element, double *delay)
{
    CALLED(EVENT_MODE);
    bool is_array = equations_clock_elements(reference) > 1;
    const struct clock *clock = armed_by(reference, element);
    *delay = 0.0;
    if (!clock) {
        clock = find_clock(reference, element);
        bool is_active = clock && clock->kind == OUTPUT_CLOCK && instance->clocks_read && state_of(model, clock)->active;
        return is_active || is_array ? answer : refuse(instance, "%s: there is no output clock %u that is active.", function, reference);
    }
    struct clock_state *state = state_of(model, clock);
    if (!state->told && is_array) return answer;
    if (!state->told) return refuse(instance, "%s: the clock %u is not active, or is asked twice.", function, reference);
    if (isfinite(state->then)) return refuse(instance, "%s: two ticks of the clock %u wait already.", function, clock->reference);
    *delay = state->interval;
    /* Each tick is followed by one, and none takes the place of another. */
    double time = instance->time + state->interval;
    state->then = fmax(state->next, time);
    state->next = fmin(state->next, time);
    state->armed = state->told = false;
    return answer;
}

enum answer equations_set_interval(void *model, const char *function, uint32_t reference, size_t element, double interval)
{
    const struct clock *clock = find_clock(reference, element);
    bool is_tunable = clock && clock->kind == TUNABLE_CLOCK;
    CALLED(INSTANTIATED | INITIALIZATION | (is_tunable ? (unsigned)EVENT_MODE : 0u));
    if (!is_tunable && !(clock && clock->kind == FIXED_CLOCK))
        return refuse(instance, "%s: the interval of the clock %u is not the importer's to say.", function, reference);
    if (!(interval > 0.0)) return refuse(instance, "%s: %.17g is no interval.", function, interval);
    state_of(model, clock)->interval = interval;
    return answer;
}

/* ---- Events ---- */

/* An event in which no iteration has taken place yet. */
static void begin_event(struct instance *instance)
{
    instance->mode = EVENT_MODE;
    instance->earliest = instance->time;
    instance->restless = true;
}

enum answer equations_exit_initialization(void *model, const char *function)
{
    CALLED(INITIALIZATION);
    if (equations.initialize) equations.initialize(model);
    start_clocks(instance);
    begin_event(instance);
    return answer;
}

/* Whether the time event that was announced lies before the present time, and not only by rounding. */
static bool has_passed_event(const struct instance *instance)
{
    return instance->has_next && instance->time > instance->next + slack(instance->next);
}

enum answer equations_enter_event_mode(void *model, const char *function, unsigned modes, const struct reasons *reasons)
{
    CALLED(modes);
    const char *wrong = equations.enter && reasons ? equations.enter(model, reasons) : NULL;
    if (wrong) return refuse(instance, "%s: at %.17g: %s", function, instance->time, wrong);
    if (has_passed_event(instance))
        return refuse(instance, "%s: at %.17g, although a time event was due at %.17g.", function, instance->time, instance->next);
    const struct clock *late = left_out(instance, true);
    if (late) return refuse(instance, "%s: at %.17g, although the clock %u was due before.", function, instance->time, late->reference);
    begin_event(instance);
    return answer;
}

enum answer equations_update(void *model, const char *function, struct event *event)
{
    CALLED(EVENT_MODE);
    if (instance->over) return equations_refuse(model, function, "the model has asked for the end.");
    *event = (struct event){0};
    if (equations.clock_count > 0 && !instance->clocks_read)
        return equations_refuse(model, function, "before fmi3GetClock in one iteration.");
    for (size_t i = 0; i < equations.clock_count; i++)
        if (state_of(model, &equations.clocks[i])->told)
            return refuse(instance, "%s: nobody has asked for the interval of the clock %u, which is active.", function, equations.clocks[i].arming);
    if (equations.update) equations.update(model, event);
    end_ticks(instance);
    /* In a further iteration their output clocks tick. */
    for (size_t i = 0; equations_arm_by_clocks && i < equations.clock_count; i++)
        event->needs_update |= state_of(model, &equations.clocks[i])->armed;
    instance->has_next = event->has_next;
    instance->next = event->next;
    instance->restless = event->needs_update;
    instance->over = event->terminate;
    return answer;
}

enum answer equations_enter_continuous_time(void *model, const char *function)
{
    CALLED(EVENT_MODE);
    if (instance->over) return equations_refuse(model, function, "the model has asked for the end.");
    if (instance->restless) return equations_refuse(model, function, "the event iteration is not over.");
    for (size_t i = 0; i < equations.clock_count; i++)
        if (state_of(model, &equations.clocks[i])->armed)
            return refuse(instance, "%s: nobody has asked for the interval of the clock %u.", function, equations.clocks[i].reference);
    const struct clock *due = left_out(instance, false);
    if (due) return refuse(instance, "%s: at %.17g, although the clock %u is due.", function, instance->time, due->reference);
    instance->mode = CONTINUOUS_TIME;
    return answer;
}

enum answer equations_terminate(void *model, const char *function)
{
    CALLED(EVENT_MODE | CONTINUOUS_TIME);
    instance->mode = TERMINATED;
    return answer;
}

/* ---- Time, states, and what is computed from them ---- */

enum answer equations_set_time(void *model, const char *function, double time)
{
    CALLED(EVENT_MODE | CONTINUOUS_TIME);
    if (!(time >= instance->earliest))
        return refuse(instance, "%s: %.17g lies before the last completed step or event, %.17g.", function, time, instance->earliest);
    instance->time = time;
    return answer;
}

static enum answer check_count(struct instance *instance, const char *function, size_t given, size_t right)
{
    if (given == right) return ANSWER_OK;
    return refuse(instance, "%s: of %zu values, and there are %zu.", function, given, right);
}

/* The worse one of what the call and the model answer. */
static enum answer worse(enum answer a, enum answer b)
{
    return a > b ? a : b;
}

static enum answer computed(struct instance *instance, const char *function, enum answer answer)
{
    if (answer == ANSWER_DISCARD) {
        char message[128];
        snprintf(message, sizeof message, "%s: there is no value at %.17g.", function, instance->time);
        equations_tell(instance->owner, answer, message);
    }
    if (answer >= ANSWER_ERROR) return equations_refuse(instance, function, "the model cannot be computed.");
    return answer;
}

enum answer equations_set_states(void *model, const char *function, const double x[], size_t n)
{
    CALLED(CONTINUOUS_TIME);
    if (check_count(instance, function, n, instance->state_count) != ANSWER_OK) return ANSWER_ERROR;
    memcpy(at(model, equations.state_offset), x, n * sizeof *x);
    return answer;
}

enum answer equations_get_states(void *model, const char *function, unsigned modes, double x[], size_t n)
{
    CALLED(modes);
    if (check_count(instance, function, n, instance->state_count) != ANSWER_OK) return ANSWER_ERROR;
    memcpy(x, at(model, equations.state_offset), n * sizeof *x);
    return answer;
}

enum answer equations_get_derivatives(void *model, const char *function, unsigned modes, double dx[], size_t n)
{
    CALLED(modes);
    if (check_count(instance, function, n, instance->state_count) != ANSWER_OK) return ANSWER_ERROR;
    if (equations.derivatives) answer = worse(answer, computed(instance, function, equations.derivatives(model)));
    if (answer <= ANSWER_WARNING) memcpy(dx, at(model, equations.derivative_offset), n * sizeof *dx);
    return answer;
}

enum answer equations_get_indicators(void *model, const char *function, unsigned modes, double z[], size_t n)
{
    CALLED(modes);
    if (check_count(instance, function, n, instance->indicator_count) != ANSWER_OK) return ANSWER_ERROR;
    if (equations.indicators) answer = worse(answer, computed(instance, function, equations.indicators(model)));
    if (answer <= ANSWER_WARNING) memcpy(z, at(model, equations.indicator_offset), n * sizeof *z);
    return answer;
}

enum answer equations_get_nominals(void *model, const char *function, unsigned modes, double nominals[], size_t n)
{
    CALLED(modes);
    if (check_count(instance, function, n, instance->state_count) != ANSWER_OK) return ANSWER_ERROR;
    for (size_t i = 0; i < n; i++) nominals[i] = 1.0;
    if (equations.nominals) equations.nominals(model, nominals);
    return answer;
}

enum answer equations_completed(void *model, const char *function, struct completed *completed)
{
    CALLED(CONTINUOUS_TIME);
    if (has_passed_event(instance))
        return refuse(instance, "%s: at %.17g, although a time event is due at %.17g.", function, instance->time, instance->next);
    const struct clock *late = left_out(instance, true);
    if (late) return refuse(instance, "%s: at %.17g, although the clock %u is due.", function, instance->time, late->reference);
    *completed = (struct completed){0};
    instance->earliest = instance->time;
    if (equations.completed) equations.completed(model, completed);
    instance->over = completed->terminate;
    return answer;
}

/* ---- Variables ---- */

static const struct variable *find(uint32_t reference, enum value_type type)
{
    for (size_t i = 0; i < equations.variable_count; i++) {
        const struct variable *variable = &equations.variables[i];
        if (variable->reference == reference && variable->type == type) return variable;
    }
    return NULL;
}

static size_t elements(const struct instance *instance, const struct variable *variable)
{
    switch (variable->elements) {
    case 0: return 1;
    case AS_STATES: return instance->state_count;
    case AS_INDICATORS: return instance->indicator_count;
    default: return variable->elements;
    }
}

static bool can_set(enum mode mode, enum role role)
{
    bool early = mode == INSTANTIATED || mode == INITIALIZATION;
    switch (role) {
    case STRUCTURAL: return mode == CONFIGURATION;
    case FIXED:
    case STATE: return early;
    case TUNABLE: return early || mode == EVENT_MODE;
    case DISCRETE_INPUT:
        if (mode == CONTINUOUS_TIME) return !equations_have_event_mode;
        return early || mode == EVENT_MODE;
    case CONTINUOUS_INPUT: return early || mode == EVENT_MODE || mode == CONTINUOUS_TIME;
    default: return false;
    }
}

void *equations_place_to_set(void *model, const char *function, uint32_t reference, enum value_type type, size_t *n)
{
    struct instance *instance = model;
    const struct variable *variable = find(reference, type);
    if (!variable) {
        refuse(instance, "%s: there is no variable %u of this type.", function, reference);
        return NULL;
    }
    if (!can_set(instance->mode, variable->role)) {
        refuse(instance, "%s: the variable %u cannot be set %s.", function, reference, name(instance->mode));
        return NULL;
    }
    const struct clock *clock = clock_of(reference);
    bool is_running = instance->mode == EVENT_MODE || instance->mode == CONTINUOUS_TIME;
    if (clock && is_running && !(state_of(model, clock)->active && !instance->clocks_read)) {
        refuse(instance, "%s: the variable %u cannot be set while its clock is not active.", function, reference);
        return NULL;
    }
    *n = elements(instance, variable);
    return at(model, variable->offset);
}

void *equations_place_to_get(void *model, const char *function, uint32_t reference, enum value_type type, size_t *n)
{
    struct instance *instance = model;
    const struct variable *variable = find(reference, type);
    if (!variable) {
        refuse(instance, "%s: there is no variable %u of this type.", function, reference);
        return NULL;
    }
    if (!equations_can_read(instance->mode, variable->role)) {
        refuse(instance, "%s: the variable %u cannot be read %s.", function, reference, name(instance->mode));
        return NULL;
    }
    const struct clock *clock = clock_of(reference);
    bool is_running = instance->mode == EVENT_MODE || instance->mode == CONTINUOUS_TIME;
    if (clock && clock->kind == OUTPUT_CLOCK && is_running && !state_of(model, clock)->active) {
        refuse(instance, "%s: the variable %u cannot be read while its clock is not active.", function, reference);
        return NULL;
    }
    *n = elements(instance, variable);
    return variable->role == INDEPENDENT ? (void *)&instance->time : at(model, variable->offset);
}

enum answer equations_compute(void *model, const uint32_t references[], size_t n, enum value_type type)
{
    struct instance *instance = model;
    /* Before that, what a start value is computed to is not known. */
    if (instance->mode == INSTANTIATED || instance->mode == CONFIGURATION) return ANSWER_OK;
    bool derivatives = false, indicators = false, outputs = false;
    for (size_t i = 0; i < n; i++) {
        const struct variable *variable = find(references[i], type);
        if (!variable) continue;
        derivatives |= variable->role == DERIVATIVE;
        indicators |= variable->role == INDICATOR;
        outputs |= variable->role == OUTPUT || variable->role == INTERNAL;
    }
    enum answer answer = ANSWER_OK;
    if (derivatives && equations.derivatives) answer = equations.derivatives(model);
    if (indicators && equations.indicators) answer = worse(answer, equations.indicators(model));
    if (outputs && equations.outputs) answer = worse(answer, equations.outputs(model));
    return answer;
}

enum answer equations_directional(void *model, const char *function, const uint32_t unknowns[], size_t n_unknowns,
                                  const uint32_t knowns[], size_t n_knowns, const double seed[], size_t n_seed,
                                  double sensitivity[], size_t n_sensitivity)
{
    CALLED(INITIALIZATION | EVENT_MODE | CONTINUOUS_TIME | TERMINATED);
    if (!equations.partial) return equations_refuse(model, function, "this FMU has no partial derivatives.");
    if (check_count(instance, function, n_seed, n_knowns) != ANSWER_OK) return ANSWER_ERROR;
    if (check_count(instance, function, n_sensitivity, n_unknowns) != ANSWER_OK) return ANSWER_ERROR;
    for (size_t i = 0; i < n_unknowns; i++) {
        sensitivity[i] = 0.0;
        for (size_t k = 0; k < n_knowns; k++)
            sensitivity[i] += equations.partial(model, unknowns[i], knowns[k]) * seed[k];
    }
    return answer;
}

/* ---- Saved states ---- */

void *equations_save(const void *model, void *into)
{
    void *saved = into ? into : malloc(equations.size);
    if (saved) memcpy(saved, model, equations.size);
    return saved;
}

void equations_restore(void *model, const void *saved)
{
    struct instance *instance = model;
    void *owner = instance->owner;
    memcpy(model, saved, equations.size);
    instance->owner = owner;
}
