//! Search for the times at which event indicators change their domains.

/// The domains of all indicators, and the memory for finding the time at which one changes.
#[derive(Clone, Debug)]
pub(super) struct Roots {
    /// Whether each indicator was positive after the last event. The signs are remembered, not computed anew from the begin of a
    /// step: an indicator that is zero there has not changed since.
    domains: Vec<bool>,
    /// The indicators where the drive stands: at the beginning of the step, or within it.
    pub(super) begin: Vec<f64>,
    /// The indicators further on within the step.
    pub(super) within: Vec<f64>,
    /// The indicators where it ends.
    pub(super) end: Vec<f64>,
    /// The indicators at both ends of a search's present interval, and between them.
    low: Vec<f64>,
    high: Vec<f64>,
    middle: Vec<f64>,
    /// For each indicator 1 or -1 if the present event has made it positive, or not positive; else 0.
    found: Vec<i32>,
}

/// After this number of estimates a search halves its interval, so that it ends whatever the indicators do.
const ESTIMATES: u32 = 24;

/// A search ends at this share of where it began at the latest.
const SMALLEST_SHARE: f64 = 1e-18;

impl Roots {
    pub(super) fn new(indicators: usize) -> Roots {
        let none = vec![0.0; indicators];
        Roots {
            domains: vec![false; indicators],
            begin: none.clone(),
            within: none.clone(),
            end: none.clone(),
            low: none.clone(),
            high: none.clone(),
            middle: none,
            found: vec![0; indicators],
        }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.domains.is_empty()
    }

    /// The indicators of `begin` are those after an event.
    pub(super) fn remember(&mut self) {
        for (domain, &z) in self.domains.iter_mut().zip(&self.begin) {
            *domain = z > 0.0;
        }
        self.found.fill(0);
    }

    /// Whether the drive is in other domains: something other than the integration has changed the indicators.
    pub(super) fn begin_has_changed(&self) -> bool {
        changed(&self.domains, &self.begin)
    }

    pub(super) fn within_has_changed(&self) -> bool {
        changed(&self.domains, &self.within)
    }

    pub(super) fn end_has_changed(&self) -> bool {
        changed(&self.domains, &self.end)
    }

    /// Notes which indicators are in other domains where the drive stands, and in which.
    pub(super) fn note_found(&mut self) {
        for ((found, &domain), &z) in self.found.iter_mut().zip(&self.domains).zip(&self.begin) {
            *found = i32::from(z > 0.0) - i32::from(domain);
        }
    }

    pub(super) fn found(&self) -> &[i32] {
        &self.found
    }

    /// Sets the left end of the next search: the indicators at the drive's present point.
    pub(super) fn low_from_begin(&mut self) {
        self.low.copy_from_slice(&self.begin);
    }

    /// Sets the left end of the next search: the indicators at the step's end.
    pub(super) fn low_from_end(&mut self) {
        self.low.copy_from_slice(&self.end);
    }

    /// Sets the right end of the next search: the indicators at the step's end.
    pub(super) fn high_from_end(&mut self) {
        self.high.copy_from_slice(&self.end);
    }

    /// The indicators where the last search ended are those of the step's end.
    pub(super) fn end_from_high(&mut self) {
        self.end.copy_from_slice(&self.high);
    }

    /// Asks for the indicators at one time more to the right, and says whether a domain has changed there. If none has, a search
    /// starts from there on its left.
    pub(super) fn reaches<F>(
        &mut self,
        t: f64,
        mut at: impl FnMut(f64, &mut [f64]) -> Result<(), F>,
    ) -> Result<bool, F> {
        at(t, &mut self.high)?;
        let reached = changed(&self.domains, &self.high);
        if !reached {
            self.low.copy_from_slice(&self.high);
        }
        Ok(reached)
    }

    /// The earliest time between `low`, where no domain has changed, and `high`, where one has, such that one has: a few units in the
    /// last place ([`narrow`]) behind a time at which none has. `at` gives the indicators at a time between; those at both ends are
    /// there already.
    pub(super) fn bracket<F>(
        &mut self,
        mut low: f64,
        mut high: f64,
        mut at: impl FnMut(f64, &mut [f64]) -> Result<(), F>,
    ) -> Result<f64, F> {
        // Regula falsi, Illinois variant: an end that stays twice counts half as much the next time.
        let (mut weight, mut moved_high) = (1.0, None);
        let mut estimates = 0;
        // What is at 0 has units of no size.
        let least = SMALLEST_SHARE * (high - low);
        loop {
            let narrow = narrow(low.abs().max(high.abs())).max(least);
            if high - low <= narrow {
                break;
            }
            let mut middle = low + 0.5 * (high - low);
            if estimates < ESTIMATES
                && let Some(share) = self.share(weight)
            {
                middle = high - (high - low) * share;
            }
            estimates += 1;
            // A little inside, so that both ends come together and not only one of them.
            middle = middle.clamp(low + 0.5 * narrow, high - 0.5 * narrow);
            if middle <= low || middle >= high {
                break;
            }
            at(middle, &mut self.middle)?;
            let is_high = changed(&self.domains, &self.middle);
            if is_high {
                high = middle;
                std::mem::swap(&mut self.high, &mut self.middle);
            } else {
                low = middle;
                std::mem::swap(&mut self.low, &mut self.middle);
            }
            weight = match (moved_high, is_high) {
                (Some(true), true) => 0.5 * weight,
                (Some(false), false) => 2.0 * weight,
                _ => 1.0,
            };
            moved_high = Some(is_high);
        }
        Ok(high)
    }

    /// Position of the first change on a straight line between both ends, measured from the right as a share of the
    /// interval. `None` where an indicator changes without passing zero.
    fn share(&self, weight: f64) -> Option<f64> {
        let mut first = None;
        for ((&domain, &low), &high) in self.domains.iter().zip(&self.low).zip(&self.high) {
            if domain == (high > 0.0) {
                continue;
            }
            if low * high > 0.0 {
                return None;
            }
            let share = high / (high - weight * low);
            if share.is_finite() && first.is_none_or(|other| share > other) {
                first = Some(share);
            }
        }
        first
    }
}

fn changed(domains: &[bool], z: &[f64]) -> bool {
    domains.iter().zip(z).any(|(&domain, &z)| domain != (z > 0.0))
}

/// The width at which a search ends, for times up to this size: four units in the last place.
pub(super) fn narrow(t: f64) -> f64 {
    let t = t.abs();
    4.0 * (t.next_up() - t)
}
