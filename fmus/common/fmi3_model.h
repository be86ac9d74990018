/* The FMI side of a small model for Scheduled Execution, or with fmi3_steps.c for Co-Simulation, so that the model's own file holds nothing but the model. This
 * file and fmi3_model.c are the same in every FMU that has them.
 *
 * A model is a struct whose first member is `struct fmu_base`, one table that says where in it each variable lies, and
 * three functions. */

#ifndef fmi3_model_h
#define fmi3_model_h

#include "fmi3_base.h"

enum fmu_type { FMU_FLOAT64, FMU_UINT64, FMU_BOOLEAN, FMU_INPUT_CLOCK, FMU_OUTPUT_CLOCK, FMU_COUNTDOWN_CLOCK };
enum fmu_role { FMU_INDEPENDENT, FMU_FIXED, FMU_TUNABLE, FMU_INPUT, FMU_OUTPUT, FMU_CLOCK };

struct fmu_variable {
    fmi3ValueReference vr;
    enum fmu_type type;
    enum fmu_role role;
    size_t offset; /* in the model's struct; unused for input clocks without countdown */
    size_t elements; /* 0: a scalar */
};

/* A countdown clock: the partition arms it, the importer fetches the interval in the clock update that follows. */
struct fmu_countdown {
    double interval; /* s */
    bool armed_once;
    atomic_bool pending;
};

/* An output clock that has ticked and was not yet read. */
typedef atomic_bool fmu_tick;

/* ---- Provided by the model ---- */

extern const char model_token[];
extern const size_t model_size;
extern const struct fmu_variable model_variables[];
extern const size_t model_variable_count;

void model_set_start_values(void *model);
void model_initialize(void *model, double start_time); /* parameters are known; a second time, inputs too */
void model_activate(void *model, fmi3ValueReference clock, double time);

/* A step of a model for Co-Simulation (fmi3_steps.c). */
struct fmu_step {
    double point, size;
    double reached;  /* point + size, unless the model stops short of it */
    bool early;      /* it stops short of it, at `reached` */
    bool event;      /* it wants to enter Event Mode */
    bool terminate;  /* the model asks for the end of the run */
    bool lies;       /* lastSuccessfulTime is `said`, whatever was reached */
    double said;
};

fmi3Status model_step(void *model, struct fmu_step *step);

/* What the importer wants to do in intermediate updates; nothing, where a model does not have this. */
void model_is_told(void *model, const fmi3ValueReference required[], size_t n, fmi3IntermediateUpdateCallback update);

/* Whether a variable may be set now, beyond what its role says; always, where a model does not have this. */
bool model_may_set(const void *model, fmi3ValueReference vr);

/* The same of reading it. */
bool model_may_get(const void *model, fmi3ValueReference vr);

/* ---- For the model's partitions ---- */

void fmu_lock(void *model);
void fmu_unlock(void *model);
void fmu_arm(struct fmu_countdown *countdown, double interval); /* a clock update must follow */
void fmu_clock_update(void *model);

#endif
