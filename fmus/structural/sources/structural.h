/* A test FMU with sizes that are structural parameters, and values that are set while it runs.
 *
 * It answers fmi3Error, and logs why, when the importer
 *   - sets anything but structural parameters in Configuration or Reconfiguration Mode, or these elsewhere,
 *   - enters that mode while a partition is active, preempted ones included, or activates one in it,
 *   - hands over another number of values than an array has at that moment.
 * It counts as a breach, since it could not be told from the outside,
 *   - an input of a clock that another thread has set than the one that then runs the clock's partition,
 *   - a set while another thread is inside of a set. */

#ifndef structural_h
#define structural_h

#include "fmi3_base.h"
#include <stdatomic.h>
#include <stdlib.h>

#define LONGEST 16
#define MOST_ROWS 4

enum clock { FAST = 1, MIDDLE = 2, SLOW = 3, CLOCKS = 4 };
enum vr {
    N = 100, ROWS, TABLE = 110, VALUES, GRID, FIELD, GAIN = 120, TWIN, LABEL, BLOB, ON, FIXED, CONSTANT, TRAP, TRAP_ENTER,
    ADD_ANY = 130, ADD_FAST, ADD_SLOW, FAST_BURN = 140, SLOW_BURN, SLOW_SLEEP, TOTAL = 150, GAIN_SEEN, TEXT_SEEN, APART,
    CONFIGURATIONS, PREEMPTED, BREACHES, TABLE_SUM
};

struct structural {
    struct fmu_base base; /* its state FMU_INSTANTIATED also in Configuration Mode: see `configuring` */
    atomic_bool configuring;
    uint64_t n, rows, new_n, new_rows;
    double time;
    float *table;         /* exactly n values, so that a memory checker sees any further one */
    double field[MOST_ROWS];
    double gain, twin, fixed;
    char label[1025];
    unsigned char blob[32];
    size_t blob_size;
    bool on;
    int32_t trap, trap_enter, fast_burn, slow_burn, slow_sleep;
    _Atomic uint64_t sum, total, apart, configurations, preempted, breaches;
    double gain_seen, table_sum;
    uint64_t text_seen;
    atomic_int active;               /* partitions */
    atomic_int setter;               /* the thread that is inside of a set; 0 none */
    atomic_int setter_of[CLOCKS];    /* the thread that has set an input of the clock since its last activation */
};

/* The start of a set: checks the state for this variable. */
fmi3Status begin_set(struct structural *fmu, fmi3ValueReference vr);
void end_set(struct structural *fmu);
/* How many values a variable has now; SIZE_MAX if there is no such variable. */
size_t elements_of(const struct structural *fmu, fmi3ValueReference vr);
int thread_id(void);
/* Gives the array another size; false: there is no memory. */
bool resize(struct structural *fmu, uint64_t n, uint64_t rows, float step);
/* Start values other than zeros. */
bool begin_anew(struct structural *fmu);

#endif
