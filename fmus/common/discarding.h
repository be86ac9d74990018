/* What FMUs for Co-Simulation of FMI 2.0 and 1.0 do that make no step over one of their events, for masters of several FMUs: y is the
 * integral of the input u over the steps, and an event is due at `first`, `first + every`, `first + 2 every`, ... These versions have no
 * early return: a step beyond an event is computed up to it and then discarded, and the time of the event is the last successful one.
 * The FMU has to be taken back then: a step that goes on from there all the same is an error. Steps that end at an event or before it are
 * made as they are. `steps` are those that count. */

#include <math.h>
#include <stdbool.h>

enum { U = 1, Y = 2, STEPS = 3, EVENTS = 5, FIRST = 6, EVERY = 7 };

struct discarding {
    double time, u, y;
    double first, every;
    int steps, events;
    bool is_discarded; /* the last step, and nobody has taken the FMU back since */
};

enum outcome { MADE, DISCARDED, WRONG };

static inline void discarding_begin(struct discarding *own)
{
    *own = (struct discarding){.first = 0.0037, .every = 0.01};
}

static inline double slack(double time)
{
    return 1e-12 * (1.0 + fabs(time));
}

static inline enum outcome discarding_step(struct discarding *own, double point, double size)
{
    if (own->is_discarded || fabs(point - own->time) > slack(point)) return WRONG;
    double end = point + size, event = own->first + own->events * own->every;
    own->is_discarded = end > event + slack(event);
    double reached = own->is_discarded ? event : end;
    own->y += own->u * (reached - point);
    own->time = reached;
    own->steps++;
    if (reached >= event - slack(event)) own->events++;
    return own->is_discarded ? DISCARDED : MADE;
}

static inline double *discarding_real(struct discarding *own, unsigned reference)
{
    switch (reference) {
    case U: return &own->u;
    case Y: return &own->y;
    case FIRST: return &own->first;
    case EVERY: return &own->every;
    default: return 0;
    }
}

static inline int *discarding_integer(struct discarding *own, unsigned reference)
{
    switch (reference) {
    case STEPS: return &own->steps;
    case EVENTS: return &own->events;
    default: return 0;
    }
}
