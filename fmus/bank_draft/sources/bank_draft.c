/* Arrays of clocks in Model Exchange of the draft of FMI 3.0, and nothing that is integrated.
 *
 *   bank      two elements, each 10 ms unless the importer says otherwise before the start
 *   out_each  an output clock of two elements, each of which ticks after that of `bank`, and says `delay` of it
 *   each      follows it, element by element */

#include "equations.h"

enum { BANK = 1, EACH, OUT_EACH, ELEMENTS = 2 };

struct bank {
    struct instance instance;
    struct clock_state bank[ELEMENTS], each[ELEMENTS];
    uint64_t counts[2 * ELEMENTS];
    double last[2 * ELEMENTS]; /* when each has ticked last, s */
    double delay[ELEMENTS];
};

#define AT(member) offsetof(struct bank, member)
static const struct variable variables[] = {
    {0, REAL, INDEPENDENT, 0, 0},
    {10, COUNT, OUTPUT, AT(counts[0]), 0},
    {11, COUNT, OUTPUT, AT(counts[1]), 0},
    {12, COUNT, OUTPUT, AT(counts[2]), 0},
    {13, COUNT, OUTPUT, AT(counts[3]), 0},
    {20, REAL, OUTPUT, AT(last[2]), 0},
    {21, REAL, OUTPUT, AT(last[3]), 0},
    {30, REAL, FIXED, AT(delay), ELEMENTS},
};

static const struct clock clocks[] = {
    {BANK, FIXED_CLOCK, AT(bank[0]), 0.010, 0, 0},
    {BANK, FIXED_CLOCK, AT(bank[1]), 0.010, 0, 0},
    {EACH, COUNTDOWN_CLOCK, AT(each[0]), 0, 0, OUT_EACH},
    {EACH, COUNTDOWN_CLOCK, AT(each[1]), 0, 0, OUT_EACH},
};

static void start(void *model)
{
    struct bank *own = model;
    own->delay[0] = 0.001;
    own->delay[1] = 0.0025;
}

static void update(void *model, struct event *event)
{
    (void)event;
    struct bank *own = model;
    for (int i = 0; i < ELEMENTS; i++) {
        if (own->bank[i].active) {
            own->counts[i]++;
            own->last[i] = own->instance.time;
            own->each[i].interval = own->delay[i];
            own->each[i].armed = true;
        }
        if (own->each[i].active) {
            own->counts[ELEMENTS + i]++;
            own->last[ELEMENTS + i] = own->instance.time;
        }
    }
}

const struct equations equations = {
    .token = "{vecud-bank-draft-1}",
    .size = sizeof(struct bank),
    .variables = variables,
    .variable_count = sizeof variables / sizeof *variables,
    .clocks = clocks,
    .clock_count = sizeof clocks / sizeof *clocks,
    .start = start,
    .update = update,
};
