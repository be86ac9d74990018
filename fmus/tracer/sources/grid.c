/* Priorities, intervals and shifts of input clocks: as the description says, or, of fixed and tunable clocks, as the importer
 * has said in Initialization Mode. */

#include "tracer.h"
#include <float.h>
#include <math.h>

void grid_reset(struct tracer *fmu)
{
    for ALL_CLOCKS (clock) {
        const struct clock_info *info = &clock_infos[clock];
        fmu->settings.grid[clock] = (struct grid){
            .priority = info->priority, .counter = info->period_ms, .resolution = 1000, .shift = 0, .adjustable = false};
        fmu->told[clock] = false;
    }
}

/* At the end of Initialization Mode. False: an interval is missing, or the parameters make no sense. */
bool grid_prepare(struct tracer *fmu)
{
    for ALL_CLOCKS (clock) {
        const struct grid *own = &fmu->settings.grid[clock];
        if (own->adjustable != fmu->told[clock]) violated(fmu, clock, WRONG_STATE);
        if (own->counter < 0 || own->resolution <= 0 || own->shift < 0) return false;
        fmu->not_below[clock] = fmu->above[clock] = 0;
        for ALL_CLOCKS (other) {
            if (fmu->settings.grid[other].priority <= own->priority) fmu->not_below[clock] |= 1u << other;
            if (fmu->settings.grid[other].priority < own->priority) fmu->above[clock] |= 1u << other;
        }
    }
    return true;
}

/* start + (shift + k * counter) / resolution; from 0, as one division of integers: what a host that counts ticks must
 * arrive at. */
bool on_grid(const struct tracer *fmu, uint32_t clock, double time)
{
    const struct grid *grid = &fmu->settings.grid[clock];
    if (grid->counter == 0) return true;
    double counter = (double)grid->counter, resolution = (double)grid->resolution, shift = (double)grid->shift;
    double start = fmu->base.start_time, k = round(((time - start) * resolution - shift) / counter);
    double expected = start + (shift + k * counter) / resolution;
    bool exact = start == 0.0 && shift + k * counter < 0x1p53 && resolution < 0x1p53;
    if (exact) return k >= 0 && time == expected;
    return k >= 0 && fabs(time - expected) <= 1e-9 + 4 * DBL_EPSILON * fabs(time);
}

/* ---- What the importer says ---- */

static fmi3Status told(struct tracer *fmu, uint32_t clock, double interval)
{
    if (fmu->base.state != FMU_INITIALIZATION || clock < FIRST_INPUT_CLOCK || clock > LAST_INPUT_CLOCK ||
        !fmu->settings.grid[clock].adjustable) {
        violated(fmu, NO_CLOCK, WRONG_STATE);
        return fmu_log(&fmu->base, fmi3Error, "The interval of clock %u cannot be set now.", clock);
    }
    const struct grid *grid = &fmu->settings.grid[clock];
    double expected = (double)grid->counter / (double)grid->resolution;
    if (fabs(interval - expected) > 1e-12 * expected) {
        violated(fmu, clock, OFF_GRID);
        return fmu_log(&fmu->base, fmi3Error, "The interval of clock %u is set to another one than agreed.", clock);
    }
    fmu->told[clock] = true;
    return fmi3OK;
}

fmi3Status fmi3SetIntervalDecimal(fmi3Instance instance, const fmi3ValueReference valueReferences[],
                                  size_t nValueReferences, const fmi3Float64 intervals[])
{
    struct tracer *fmu = instance;
    check_call(fmu);
    fmi3Status status = fmi3OK;
    for (size_t i = 0; i < nValueReferences && status < fmi3Discard; i++)
        status = told(fmu, valueReferences[i], intervals[i]);
    return status;
}

fmi3Status fmi3SetIntervalFraction(fmi3Instance instance, const fmi3ValueReference valueReferences[],
                                   size_t nValueReferences, const fmi3UInt64 counters[], const fmi3UInt64 resolutions[])
{
    struct tracer *fmu = instance;
    check_call(fmu);
    fmi3Status status = fmi3OK;
    for (size_t i = 0; i < nValueReferences && status < fmi3Discard; i++)
        status = told(fmu, valueReferences[i], (double)counters[i] / (double)resolutions[i]);
    return status;
}
