/* See trace.h for what this guarantees. */

#include "trace.h"
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define CAPACITY_BEFORE_INITIALIZATION 1024

static const char *const what_names[] = {
    "instantiate", "debug_logging", "enter_init",   "exit_init", "terminate", "reset", "free",
    "set",         "get",           "get_clock",    "get_interval", "activate", "update", "lock",
    "unlock",      "sleep",         "tick",         "arm",       "fail",      "violation",
    "get_state",   "set_state",     "free_state",   "state_size", "serialize", "deserialize",
    "get_shift",   "set_interval",  "set_shift",    "step",      "enter_event_mode",
    "update_states", "enter_step_mode",
};
static const char *const phase_names[] = {"begin", "end", "note"};

bool trace_init(struct trace *trace)
{
    trace->used = 0;
    trace->on = true;
    trace->capacity = CAPACITY_BEFORE_INITIALIZATION;
    trace->events = calloc(trace->capacity, sizeof *trace->events);
    return trace->events != NULL;
}

bool trace_grow(struct trace *trace, size_t capacity)
{
    if (capacity <= trace->capacity) return true;
    struct trace_event *events = malloc(capacity * sizeof *events);
    if (!events) return false;
    memset(events, 0, capacity * sizeof *events); /* touches every page, so that no activation faults one in */
    size_t used = trace->used < trace->capacity ? trace->used : trace->capacity;
    memcpy(events, trace->events, used * sizeof *events);
    free(trace->events);
    trace->events = events;
    trace->capacity = capacity;
    return true;
}

void trace_release(struct trace *trace)
{
    free(trace->events);
    trace->events = NULL;
    trace->capacity = 0;
}

void trace_append(struct trace *trace, struct trace_event event)
{
    if (!atomic_load_explicit(&trace->on, memory_order_relaxed)) return;
    size_t slot = atomic_fetch_add_explicit(&trace->used, 1, memory_order_relaxed);
    if (slot >= trace->capacity) return;
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    event.ns = (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
    event.tid = (int32_t)syscall(SYS_gettid);
    event.cpu = sched_getcpu();
    event.complete = 0;
    trace->events[slot] = event;
    atomic_store_explicit(&trace->events[slot].complete, 1, memory_order_release);
}

bool trace_write(const struct trace *trace, const char *path, const char *summary)
{
    FILE *file = fopen(path, "w");
    if (!file) return false;
    size_t used = trace->used, stored = used < trace->capacity ? used : trace->capacity;
    fputs("seq,ns,tid,cpu,what,phase,clock,vr,n,hash,time,status\n", file);
    for (size_t i = 0; i < stored; i++) {
        const struct trace_event *e = &trace->events[i];
        if (!atomic_load_explicit(&e->complete, memory_order_acquire)) continue;
        fprintf(file, "%zu,%lld,%d,%d,%s,%s,%u,%u,%u,%016llx,%.17g,%d\n", i, (long long)e->ns, e->tid, e->cpu,
                what_names[e->what], phase_names[e->phase], e->clock, e->vr, e->count, (unsigned long long)e->hash,
                e->time, e->status);
    }
    fprintf(file, "# dropped=%zu %s\n", used - stored, summary);
    return fclose(file) == 0;
}

uint64_t trace_hash(uint64_t hash, const void *bytes, size_t n)
{
    const unsigned char *byte = bytes;
    for (size_t i = 0; i < n; i++) hash = (hash ^ byte[i]) * 0x100000001b3u;
    return hash;
}
