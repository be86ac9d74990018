//! Slopes of values (derivatives with respect to time) that travel with them, so that an input is extrapolated between two values of
//! the output that feeds it (semantics S20).
//!
//! On their way they are per second, whatever the FMU's unit of time. All memory is taken when a run is prepared.

use crate::ffi::{Batch, TimeDerivatives};
use crate::plan::{self, Extrapolation, Plan};
use crate::time::{Instant, TimeUnit};

/// The first derivative alone.
const ORDER: i32 = 1;

/// The slopes of those elements of a batch whose connections carry them.
pub struct Slopes {
    derivatives: TimeDerivatives,
    /// Per element of the batch: its place among the derivatives.
    places: Vec<Option<usize>>,
    /// Of the FMU's unit of time.
    seconds: f64,
    is_known: bool,
}

impl Slopes {
    /// The slopes of a batch of an FMU with this unit of time; `None`: its connections carry none.
    pub fn of(plan: &Plan, planned: &plan::Batch, values: &Batch, unit: TimeUnit) -> Option<Slopes> {
        let mut places = vec![None; values.len()];
        let mut variables = Vec::new();
        let mut next = 0;
        for (number, item) in planned.items.iter().enumerate() {
            let mut connections = item.connections.iter().map(|connection| &plan.connections[connection.0]);
            if connections.any(|connection| connection.extrapolation == Extrapolation::Linear) {
                variables.push((item.reference, item.elements));
                for element in values.elements(number) {
                    places[element] = Some(next);
                    next += 1;
                }
            }
        }
        let derivatives = TimeDerivatives::new(&variables, ORDER);
        let seconds = unit.seconds().seconds();
        (next > 0).then_some(Slopes { derivatives, places, seconds, is_known: false })
    }

    /// The elements of the batch that have slopes, in the order of the derivatives.
    pub fn elements(&self) -> impl Iterator<Item = usize> {
        self.places.iter().enumerate().filter_map(|(element, place)| place.map(|_| element))
    }

    /// Whether one was ever set.
    pub fn is_known(&self) -> bool {
        self.is_known
    }

    /// As the FMU gives and takes them.
    pub fn derivatives(&self) -> &TimeDerivatives {
        &self.derivatives
    }

    /// [`Slopes::derivatives`], to be read from the FMU.
    pub fn derivatives_mut(&mut self) -> &mut TimeDerivatives {
        &mut self.derivatives
    }

    /// The slope of an element of the batch, per second; 0 where none is carried.
    pub fn per_second(&self, element: usize) -> f64 {
        self.places[element].map_or(0.0, |place| self.derivatives.values()[place] / self.seconds)
    }

    /// Sets [`Slopes::per_second`], where one is carried.
    pub fn set_per_second(&mut self, element: usize, slope: f64) {
        if let Some(place) = self.places[element] {
            self.derivatives.values_mut()[place] = slope * self.seconds;
            self.is_known = true;
        }
    }
}

/// What is known of the elements that a connection carries with their slopes.
pub struct Line {
    /// From when on; `None`: nothing is known yet.
    since: Option<Instant>,
    /// Of each element its value then, and its slope per second.
    elements: Vec<(f64, f64)>,
}

impl Line {
    /// Nothing is known of so many elements.
    pub fn new(elements: usize) -> Line {
        Line { since: None, elements: vec![(0.0, 0.0); elements] }
    }

    /// Takes values and slopes as they are in the words of a version.
    pub fn take(&mut self, word: impl Fn(usize) -> u64) {
        for (number, (value, slope)) in self.elements.iter_mut().enumerate() {
            (*value, *slope) = (f64::from_bits(word(2 * number)), f64::from_bits(word(2 * number + 1)));
        }
    }

    /// What was taken is from then on.
    pub fn is_since(&mut self, time: Option<Instant>) {
        self.since = time;
    }

    /// Of each element where its line is at `time`, and its slope; `None`: nothing is known.
    pub fn at(&self, time: Instant) -> Option<impl Iterator<Item = (f64, f64)>> {
        let after = time.minus(self.since?).map_or(0.0, |after| after.seconds());
        Some(self.elements.iter().map(move |&(value, slope)| {
            // What is from now is as it is, whatever its slope.
            (if after == 0.0 { value } else { value + slope * after }, slope)
        }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(seconds: f64) -> Instant {
        Instant::from_f64(seconds).unwrap()
    }

    #[test]
    fn a_line_goes_through_the_last_value() {
        let mut line = Line::new(2);
        assert!(line.at(at(1.0)).is_none());
        let words = [1.0, 2.0, 3.0, f64::INFINITY].map(f64::to_bits);
        line.take(|word| words[word]);
        line.is_since(Some(at(0.5)));
        assert_eq!(line.at(at(0.75)).unwrap().collect::<Vec<_>>(), [(1.5, 2.0), (f64::INFINITY, f64::INFINITY)]);
        assert_eq!(line.at(at(0.5)).unwrap().collect::<Vec<_>>(), [(1.0, 2.0), (3.0, f64::INFINITY)]);
    }
}
