/* A model for Model Exchange as its equations, and the FMI side of it, so that the model's own file holds nothing but the model.
 *
 * A model is a struct whose first member is `struct instance`, and one table named `equations`: where in the struct each variable
 * lies, and functions that compute. It knows no version of FMI: with fmi3_equations.c it is an FMU of FMI 3.0, with draft_equations.c
 * of its draft, with fmi2_equations.c of FMI 2.0, with fmi1_equations.c of FMI 1.0. Those translate; all rules are in equations.c.
 *
 * The importer is watched. A call that the present mode does not allow, a variable that cannot be set or read in it, a number of
 * values that is not the model's, time that goes back over a completed step or an event, a time event that was passed, an event
 * iteration that was left too early, a clock that ticks off its time or not at all: each is answered with Error and logged with the function's name, and from then on the instance
 * can only be reset, restored or freed. */

#ifndef equations_h
#define equations_h

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* What a call answers. The numbers are those of fmi3Status, fmi2Status and fmiStatus. */
enum answer { ANSWER_OK, ANSWER_WARNING, ANSWER_DISCARD, ANSWER_ERROR, ANSWER_FATAL };

/* States of an instance, as bits, so that a function can say in which of them it is allowed. */
enum mode {
    INSTANTIATED = 1,
    CONFIGURATION = 2,
    INITIALIZATION = 4,
    EVENT_MODE = 8,
    CONTINUOUS_TIME = 16,
    TERMINATED = 32,
    FAILED = 64, /* after Error */
    LOST = 128,  /* after Fatal: no call is allowed at all */
};

/* What a variable's place in the model holds: double, int32_t, uint64_t, bool, char[TEXT_SIZE]. FMI 2.0 and 1.0 have no COUNT. */
enum value_type { REAL, INTEGER, COUNT, BOOLEAN, TEXT };
#define TEXT_SIZE 64

/* Decides when a variable can be set. */
enum role {
    INDEPENDENT,      /* time */
    STRUCTURAL,       /* a structural parameter: in Configuration Mode */
    FIXED,            /* a parameter, or anything that has but a start value: before and in Initialization Mode */
    TUNABLE,          /* a parameter: then, and in Event Mode */
    DISCRETE_INPUT,   /* as a tunable parameter */
    CONTINUOUS_INPUT, /* always */
    STATE,            /* a continuous state with initial="exact": before and in Initialization Mode */
    CALCULATED_STATE, /* one with initial="calculated": never; `initialize` computes its start value */
    DERIVATIVE,       /* of a state: never; `derivatives` computes it */
    INDICATOR,        /* of an event: never; `indicators` computes it */
    OUTPUT,           /* never; `outputs` computes it */
    INTERNAL,         /* never; `outputs` computes it, and it is no output */
};

/* Numbers of elements of variables that are as long as the instance has states or event indicators. */
#define AS_STATES ((size_t)-1)
#define AS_INDICATORS ((size_t)-2)

struct variable {
    uint32_t reference;
    enum value_type type;
    enum role role;
    size_t offset;   /* in the model's struct */
    size_t elements; /* 0: a scalar */
};

/* A clock, which FMI has from 3.0 on, its draft included. An output clock ticks when the model says so; a triggered one when the importer does; all
 * others have times, which are reckoned with here: the importer may tick them at those alone, and may not leave one out. */
enum clock_kind {
    OUTPUT_CLOCK,
    TRIGGERED_CLOCK,
    CONSTANT_CLOCK,  /* each `period` from the start on */
    FIXED_CLOCK,     /* likewise, and the importer may say another one before the start */
    TUNABLE_CLOCK,   /* likewise, and in Event Mode */
    CHANGING_CLOCK,  /* `interval` after the start and after each of its ticks */
    COUNTDOWN_CLOCK, /* `interval` after the model has set `armed` */
};

/* Rows with one reference are the elements of an array of clocks, which the draft has. */

/* A clock's place in the model. */
struct clock_state {
    bool active; /* in this iteration of an event */
    bool armed;  /* the importer has to ask for the interval */
    bool known;  /* there was an interval to be asked for */
    double interval;
    double first;   /* s */
    uint64_t ticks; /* since `first` */
    double next;    /* s, of a clock with times; INFINITY: none is to come */
    double then;    /* s, in the draft the time after that, for what was armed before */
    bool told;      /* in the draft: in this iteration the importer has found `arming` active, and has not asked for the interval yet */
};

struct clock {
    uint32_t reference;
    enum clock_kind kind;
    size_t offset; /* of its clock_state in the model's struct */
    double period; /* s */
    /* The variable that belongs to it, which can be set, or read, while it is active only; 0: none does. */
    uint32_t variable;
    /* The draft of FMI 3.0 has no clocks that say when they tick: there an output clock ticks when this one is armed, and says after which
     * time this one is to follow. Which; 0: none. */
    uint32_t arming;
};

/* The first member of every model. But for `owner` it is the model's values, and is saved with them. */
struct instance {
    void *owner; /* what the version's file makes of it */
    enum mode mode;
    enum mode configured_in; /* from which mode Configuration Mode was entered */
    double time;     /* s */
    double earliest; /* s, the last completed step or event: time does not go back over it */
    bool has_next;   /* whether a time event is to come */
    double next;     /* s, when */
    bool restless;   /* Event Mode cannot be left yet */
    bool clocks_read; /* in this iteration of an event it was asked which output clocks tick */
    bool over;       /* the model has asked for the end */
    bool nested;     /* within one call of the importer that is several here: `meddle` has been told of it */
    size_t state_count, indicator_count;
};

/* What an iteration of an event leads to: all false before. */
struct event {
    bool needs_update;
    bool terminate;
    bool nominals_changed;
    bool values_changed; /* of the states */
    bool has_next;
    double next; /* s */
};

/* Why Event Mode is entered, as the draft of FMI 3.0 says it. */
struct reasons {
    bool step_event;
    const int32_t *roots; /* of each event indicator 1, -1 or 0 */
    size_t root_count;    /* 0: it is not known which */
    bool time_event;
};

/* What a completed integrator step leads to. */
struct completed {
    bool enter_event_mode;
    bool terminate;
};

/* The model. Functions that are NULL do nothing. `model` is the model's struct; time, states, inputs and parameters are in it. */
struct equations {
    const char *token; /* instantiationToken or guid */
    size_t size;       /* of the struct */
    const struct variable *variables;
    size_t variable_count;
    const struct clock *clocks;
    size_t clock_count;
    size_t state_count, indicator_count;
    size_t state_offset;      /* of the states, one after the other */
    size_t derivative_offset; /* of their derivatives */
    size_t indicator_offset;

    void (*start)(void *model);      /* start values, in a struct of zeros; `state_count` and `indicator_count` may be changed */
    void (*resize)(void *model);     /* structural parameters have changed: before the initialisation, or in an event */
    void (*initialize)(void *model); /* parameters and inputs are known; a second time when Initialization Mode is left */
    enum answer (*derivatives)(void *model);
    enum answer (*indicators)(void *model);
    enum answer (*outputs)(void *model);
    void (*tick)(void *model); /* which output clocks tick in this iteration, of which the active input clocks are known */
    void (*update)(void *model, struct event *event); /* an iteration of an event; its clocks are active until it returns */
    void (*completed)(void *model, struct completed *completed);
    void (*nominals)(void *model, double nominals[]); /* all are 1 before */
    /* The partial derivative of the variable `unknown` with respect to `known`, for directional derivatives. */
    double (*partial)(void *model, uint32_t unknown, uint32_t known);
    /* Told why there is an event, where FMI says so, before anything is carried out; what is wrong with that, or NULL. */
    const char *(*enter)(void *model, const struct reasons *reasons);
    /* Told of every call from the importer before it is carried out, and says what it answers. From Discard on, nothing is carried out. */
    enum answer (*meddle)(void *model, const char *function);
};

extern const struct equations equations;

/* ---- For the files of the versions. `function` is the name by which the importer called. ---- */

void *equations_new(void *owner);
void equations_free(void *model);
enum answer equations_reset(void *model, const char *function);

/* False, with an error, where `function` is not allowed in the present mode; `modes` are bits of those in which it is. */
enum answer equations_called(void *model, const char *function, unsigned modes);
enum answer equations_refuse(void *model, const char *function, const char *why);

enum answer equations_enter_configuration(void *model, const char *function);
enum answer equations_exit_configuration(void *model, const char *function);
enum answer equations_enter_initialization(void *model, const char *function, double start_time);
enum answer equations_exit_initialization(void *model, const char *function);
/* `reasons`: NULL where the version of FMI has none. */
enum answer equations_enter_event_mode(void *model, const char *function, unsigned modes, const struct reasons *reasons);
enum answer equations_update(void *model, const char *function, struct event *event);
enum answer equations_enter_continuous_time(void *model, const char *function);
enum answer equations_terminate(void *model, const char *function);

enum answer equations_set_time(void *model, const char *function, double time);
enum answer equations_set_states(void *model, const char *function, const double x[], size_t n);
enum answer equations_get_states(void *model, const char *function, unsigned modes, double x[], size_t n);
enum answer equations_get_derivatives(void *model, const char *function, unsigned modes, double dx[], size_t n);
enum answer equations_get_indicators(void *model, const char *function, unsigned modes, double z[], size_t n);
enum answer equations_get_nominals(void *model, const char *function, unsigned modes, double nominals[], size_t n);
enum answer equations_completed(void *model, const char *function, struct completed *completed);

/* The place of the next variable's values, and how many there are, for the file of a version to copy them; NULL after a refusal.
 * The caller has asked equations_called. */
void *equations_place_to_set(void *model, const char *function, uint32_t reference, enum value_type type, size_t *n);
void *equations_place_to_get(void *model, const char *function, uint32_t reference, enum value_type type, size_t *n);
/* Brings up to date what equations_place_to_get leads to. */
enum answer equations_compute(void *model, const uint32_t references[], size_t n, enum value_type type);

enum answer equations_directional(void *model, const char *function, const uint32_t unknowns[], size_t n_unknowns,
                                  const uint32_t knowns[], size_t n_knowns, const double seed[], size_t n_seed,
                                  double sensitivity[], size_t n_sensitivity);

/* Clocks. How an interval is asked for is that of fmi3IntervalQualifier. */
enum qualifier { QUALIFIER_NOT_YET_KNOWN, QUALIFIER_UNCHANGED, QUALIFIER_CHANGED };
size_t equations_clock_elements(uint32_t reference);
enum answer equations_set_clock(void *model, const char *function, uint32_t reference, size_t element, bool active);
/* Of all elements, one clock after the other. */
enum answer equations_get_clocks(void *model, const char *function, const uint32_t references[], size_t n, bool active[]);
enum answer equations_get_interval(void *model, const char *function, uint32_t reference, double *interval,
                                   enum qualifier *qualifier);
/* How much later than an output clock, of which some element is active, others follow. */
enum answer equations_get_delay(void *model, const char *function, uint32_t reference, size_t element, double *delay);
enum answer equations_set_interval(void *model, const char *function, uint32_t reference, size_t element, double interval);

/* Saved states. */
void *equations_save(const void *model, void *into);
void equations_restore(void *model, const void *saved);

/* ---- Provided by the file of a version ---- */

/* The model of what the importer knows as an instance, for fmi3_alike.c. */
void *equations_model(void *instance);

/* Tells the importer, unless it wants no messages of this kind. */
void equations_tell(void *owner, enum answer answer, const char *message);

/* Which variables FMI says can be read in the present mode, beyond what is common to all versions. */
bool equations_can_read(enum mode mode, enum role role);

/* Whether discrete inputs can be set in Event Mode only, once Initialization Mode is left. */
extern const bool equations_have_event_mode;

/* Whether clocks are armed by `arming`, as in the draft. */
extern const bool equations_arm_by_clocks;

#endif
