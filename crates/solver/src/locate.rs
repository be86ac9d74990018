//! Moves the end of a step to the first event in it.

use super::Indicators;
use super::asked::{MeteredModel, Tried};
use super::fixed::Step;
use super::method::Integrator;
use super::roots::{Roots, narrow};

/// The most repetitions of a step to another end; then the earliest end counts at which a domain is known to have changed.
const REPETITIONS: u32 = 5;

/// Moves the end of a step in which a domain has changed to the right side of the earliest change. Up to the time `from` none has, where
/// the indicators are `roots.begin`; at the end they are `roots.end`. The model is told the new end last.
///
/// The search uses the method's states inside of the step. If these are less exact than the method, the step is repeated to the end that
/// was found: the method's own solution must have changed its domain, and is the result. If the event `is_close` to the beginning of the
/// step, the states inside of the step are as exact, and are the result. If another event is `known` at the end of the step, a change just
/// before it counts as at that end: the step is the method's own already.
pub(super) fn locate<E: Indicators>(
    asked: &mut MeteredModel<'_, E>,
    integrator: &mut Integrator,
    step: &mut Step,
    roots: &mut Roots,
    between: &mut [f64],
    (from, is_close): (f64, bool),
    known: f64,
) -> Tried<E> {
    roots.low_from_begin();
    roots.high_from_end();
    let mut end = roots.bracket(from, step.to, |t, z| probe(asked, integrator, step, between, t, z))?;
    if step.to == known && known - end <= narrow(known) {
        return asked.tell_end(step.to, &step.x1);
    }
    if is_close || integrator.is_exact_between() {
        if end < step.to {
            integrator.between(step, end, between);
            step.x1.copy_from_slice(between);
            step.to = end;
            step.length = end - step.from;
            roots.end_from_high();
        }
        return asked.tell_end(step.to, &step.x1);
    }
    let narrow = narrow(from.abs().max(end.abs()));
    let (mut unchanged, mut changed, mut changed_length) = (from, step.to, step.length);
    for _ in 0..REPETITIONS {
        if end >= changed {
            break;
        }
        repeat(asked, integrator, step, roots, end, end - step.from)?;
        if roots.end_has_changed() {
            (changed, changed_length) = (end, end - step.from);
            let before = end - 2.0 * narrow;
            if before <= unchanged || !roots.reaches(before, |t, z| probe(asked, integrator, step, between, t, z))? {
                return asked.tell_end(step.to, &step.x1);
            }
            roots.low_from_begin();
            end = roots.bracket(from, before, |t, z| probe(asked, integrator, step, between, t, z))?;
            end = end.max(unchanged + narrow);
        } else {
            // A little too short: what follows is found beyond the end of the repeated step, first close to it.
            unchanged = end;
            roots.low_from_end();
            let (mut low, mut distance) = (end, narrow);
            loop {
                let high = unchanged + distance;
                if high >= changed {
                    end = changed;
                    break;
                }
                if roots.reaches(high, |t, z| probe(asked, integrator, step, between, t, z))? {
                    end = roots.bracket(low, high, |t, z| probe(asked, integrator, step, between, t, z))?;
                    break;
                }
                low = high;
                distance *= 8.0;
            }
        }
    }
    if step.to != changed || !roots.end_has_changed() {
        repeat(asked, integrator, step, roots, changed, changed_length)?;
    }
    asked.tell_end(step.to, &step.x1)
}

/// Asks for the indicators at a time inside of the step.
fn probe<E: Indicators>(
    asked: &mut MeteredModel<'_, E>,
    integrator: &Integrator,
    step: &Step,
    between: &mut [f64],
    t: f64,
    z: &mut [f64],
) -> Tried<E> {
    integrator.between(step, t, between);
    asked.tell(t, between)?;
    asked.indicators(z)
}

/// Makes the step once more, to another end, and asks for the indicators there.
pub(super) fn repeat<E: Indicators>(
    asked: &mut MeteredModel<'_, E>,
    integrator: &mut Integrator,
    step: &mut Step,
    roots: &mut Roots,
    to: f64,
    length: f64,
) -> Tried<E> {
    step.to = to;
    step.length = length;
    integrator.advance(asked, step)?;
    asked.tell_end(to, &step.x1)?;
    asked.indicators(&mut roots.end)
}
