/* A bounded list of events that partitions of all priorities append to, and that becomes a CSV file at the end.
 *
 * Appending takes one atomic addition and a store: no lock, no allocation, no system call but gettid. The sequence
 * number is taken by that addition, so the order of the file is the order in which events happened, also when one
 * appending thread preempts another. What does not fit is counted, not stored. */

#ifndef trace_h
#define trace_h

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum trace_what {
    TRACE_INSTANTIATE,
    TRACE_DEBUG_LOGGING,
    TRACE_ENTER_INIT,
    TRACE_EXIT_INIT,
    TRACE_TERMINATE,
    TRACE_RESET,
    TRACE_FREE,
    TRACE_SET,
    TRACE_GET,
    TRACE_GET_CLOCK,
    TRACE_GET_INTERVAL,
    TRACE_ACTIVATE,
    TRACE_UPDATE,
    TRACE_LOCK,
    TRACE_UNLOCK,
    TRACE_SLEEP,
    TRACE_TICK,
    TRACE_ARM,
    TRACE_FAIL,
    TRACE_VIOLATION,
    TRACE_GET_STATE,
    TRACE_SET_STATE,
    TRACE_FREE_STATE,
    TRACE_STATE_SIZE,
    TRACE_SERIALIZE,
    TRACE_DESERIALIZE,
    TRACE_GET_SHIFT,
    TRACE_SET_INTERVAL,
    TRACE_SET_SHIFT,
    TRACE_STEP,
    TRACE_ENTER_EVENT_MODE,
    TRACE_UPDATE_STATES,
    TRACE_ENTER_STEP_MODE,
};

enum trace_phase { TRACE_BEGIN, TRACE_END, TRACE_NOTE };

struct trace_event {
    int64_t ns;     /* CLOCK_MONOTONIC */
    double time;    /* activation time; the interval or shift where one is given or taken; where a step begins, and has ended */
    uint64_t hash;  /* FNV-1a of the values that went in or out; where it is said so, one value's own bits */
    uint32_t vr;    /* first value reference; kind of a violation or failure */
    uint32_t count; /* number of value references */
    int32_t tid;
    int32_t cpu;
    int16_t status; /* fmi3Status at TRACE_END, else -1 */
    uint8_t what, phase, clock;
    _Atomic uint8_t complete; /* set last: a reader skips an event that was interrupted by the end of the process */
};

struct trace {
    struct trace_event *events;
    size_t capacity;
    _Atomic size_t used; /* may exceed capacity: the rest was dropped */
    _Atomic bool on;
};

bool trace_init(struct trace *trace);
bool trace_grow(struct trace *trace, size_t capacity); /* one thread only: before the first activation */
void trace_release(struct trace *trace);

/* Fields that the caller leaves zero are zero in the file; time stamp, thread and core are filled in here. */
void trace_append(struct trace *trace, struct trace_event event);

/* Writes header, events and a last line beginning with '#'. `summary` ends up on that line. */
bool trace_write(const struct trace *trace, const char *path, const char *summary);

#define TRACE_HASH_START 0xcbf29ce484222325u
uint64_t trace_hash(uint64_t hash, const void *bytes, size_t n);

#endif
