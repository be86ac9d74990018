//! Derivatives of values with respect to time that travel with them, so that an input is extrapolated between two values of the output
//! that feeds it (semantics S20).
//!
//! On their way they are per second, whatever the FMU's unit of time. All memory is taken when a run is prepared.

use vecud_base::time::{Instant, TimeUnit};
use vecud_fmi::{Batch, TimeDerivatives};
use vecud_plan::Plan;

/// The highest order that is carried.
pub const HIGHEST: usize = 2;

/// The derivatives of those elements of a batch whose connections carry them.
pub struct CarriedDerivatives {
    derivatives: TimeDerivatives,
    /// Per element of the batch.
    places: Vec<Option<Orders>>,
    /// Seconds of the FMU's unit of time.
    seconds: f64,
    is_known: bool,
}

/// The places of an element's derivatives among those of its batch.
#[derive(Clone, Copy)]
struct Orders {
    /// The place of the first order.
    first: usize,
    /// From one order to the next: elements of the variable.
    stride: usize,
    orders: usize,
}

impl Orders {
    fn of(self, order: usize) -> Option<usize> {
        (order <= self.orders).then(|| self.first + (order - 1) * self.stride)
    }
}

impl CarriedDerivatives {
    /// The derivatives of a batch of an FMU with this unit of time; `None`: its connections carry none.
    pub fn of(
        plan: &Plan,
        planned: &vecud_plan::BatchPlan,
        values: &Batch,
        unit: TimeUnit,
    ) -> Option<CarriedDerivatives> {
        let mut places = vec![None; values.len()];
        let mut variables = Vec::new();
        let mut next = 0;
        for (number, item) in planned.items.iter().enumerate() {
            let connections = item.connections.iter().map(|connection| &plan.connections[connection.0]);
            let orders = connections.map(|connection| connection.extrapolation.orders()).max().unwrap_or(0);
            if orders > 0 {
                variables.push((item.reference, item.elements, orders as i32));
                for (element, first) in values.elements(number).zip(next..) {
                    places[element] = Some(Orders { first, stride: item.elements, orders });
                }
                next += item.elements * orders;
            }
        }
        let derivatives = TimeDerivatives::new(&variables);
        let seconds = unit.seconds().seconds();
        (next > 0).then_some(CarriedDerivatives { derivatives, places, seconds, is_known: false })
    }

    /// Of each element of the batch that has derivatives its number and these, in the FMU's unit of time, from the first order up; 0
    /// where none is carried.
    pub fn elements(&self) -> impl Iterator<Item = (usize, [f64; HIGHEST])> {
        let derivatives = |place: Orders| {
            let mut all = [0.0; HIGHEST];
            let known = (1..).map_while(|order| place.of(order));
            all.iter_mut().zip(known).for_each(|(own, at)| *own = self.derivatives.values()[at]);
            all
        };
        let places = self.places.iter().enumerate();
        places.filter_map(move |(element, place)| Some((element, derivatives((*place)?))))
    }

    /// Whether one was ever set.
    pub fn is_known(&self) -> bool {
        self.is_known
    }

    /// As the FMU gives and takes them.
    pub fn derivatives(&self) -> &TimeDerivatives {
        &self.derivatives
    }

    /// [`CarriedDerivatives::derivatives`], to be read from the FMU.
    pub fn derivatives_mut(&mut self) -> &mut TimeDerivatives {
        &mut self.derivatives
    }

    /// The derivative of this order of an element of the batch, with respect to seconds; 0 where none is carried.
    pub fn per_second(&self, element: usize, order: usize) -> f64 {
        let at = self.places[element].and_then(|place| place.of(order));
        at.map_or(0.0, |at| self.derivatives.values()[at] / self.seconds.powi(order as i32))
    }

    /// Sets the derivatives of an element of the batch with respect to seconds, from the first order up, where they are carried.
    pub fn set_per_second(&mut self, element: usize, derivatives: [f64; HIGHEST]) {
        let Some(place) = self.places[element] else { return };
        for (order, derivative) in (1..).zip(derivatives) {
            if let Some(at) = place.of(order) {
                self.derivatives.values_mut()[at] = derivative * self.seconds.powi(order as i32);
            }
        }
        self.is_known = true;
    }
}

/// The inputs of a batch that are on curves, as they are where a part of a step begins.
pub struct Moved {
    batch: Batch,
    /// Their places among the items of the whole batch.
    items: Vec<usize>,
    derivatives: TimeDerivatives,
}

impl Moved {
    /// The inputs of a batch, `planned`, that have these slopes.
    pub fn of(planned: &vecud_plan::BatchPlan, values: &Batch, slopes: &CarriedDerivatives) -> Moved {
        let has_slopes = |item: &usize| slopes.places[values.elements(*item)].iter().any(Option::is_some);
        let items: Vec<usize> = (0..planned.items.len()).filter(has_slopes).collect();
        let variables =
            items.iter().map(|item| (planned.items[*item].reference, planned.items[*item].elements)).collect();
        let batch = Batch::awaiting(values.variable_type(), variables);
        Moved { batch, items, derivatives: slopes.derivatives.clone() }
    }

    /// The values of the whole batch and their derivatives, moved on by `later`, in the FMU's unit of time.
    pub fn bring(&mut self, values: &Batch, slopes: &CarriedDerivatives, later: f64) -> (&Batch, &TimeDerivatives) {
        let Moved { batch, items, derivatives } = self;
        let is_set = |own: &(usize, &usize)| values.is_enabled(*own.1);
        items.iter().enumerate().filter(is_set).for_each(|(own, _)| batch.enable(own));
        for (own, (element, known)) in slopes.elements().enumerate() {
            let (value, now) = taylor(f64::from_bits(values.word(element)), known, later);
            batch.set_word(own, value.to_bits());
            for (order, derivative) in (1..).zip(now) {
                if let Some(at) = slopes.places[element].and_then(|place| place.of(order)) {
                    derivatives.values_mut()[at] = derivative;
                }
            }
        }
        (batch, derivatives)
    }
}

/// A value `after` this long and its derivatives then, by Taylor's formula, from the value and derivatives at the begin. At 0 the
/// value is returned unchanged, even where derivatives are not finite.
pub fn taylor(value: f64, [once, twice]: [f64; HIGHEST], after: f64) -> (f64, [f64; HIGHEST]) {
    match after == 0.0 {
        true => (value, [once, twice]),
        false => (value + (once + twice * 0.5 * after) * after, [once + twice * after, twice]),
    }
}

/// The last values and derivatives of the elements of a connection that carries derivatives.
pub struct Extrapolated {
    orders: usize,
    /// From when on; `None`: nothing is known yet.
    since: Option<Instant>,
    /// Of each element its value then, and its derivatives with respect to seconds.
    elements: Vec<(f64, [f64; HIGHEST])>,
}

impl Extrapolated {
    /// No values yet, of `elements` elements with `orders` derivatives each.
    pub fn new(elements: usize, orders: usize) -> Extrapolated {
        Extrapolated { orders, since: None, elements: vec![(0.0, [0.0; HIGHEST]); elements] }
    }

    /// Takes values and derivatives as they are in the words of a version.
    pub fn take(&mut self, word: impl Fn(usize) -> u64) {
        for ((value, derivatives), at) in self.elements.iter_mut().zip((0..).step_by(1 + self.orders)) {
            *value = f64::from_bits(word(at));
            let own = derivatives.iter_mut().take(self.orders);
            own.zip(at + 1..).for_each(|(derivative, at)| *derivative = f64::from_bits(word(at)));
        }
    }

    /// Sets the time of the values that were taken.
    pub fn is_since(&mut self, time: Option<Instant>) {
        self.since = time;
    }

    /// Of each element where its curve is at `time`, and its derivatives there; `None`: nothing is known.
    pub fn at(&self, time: Instant) -> Option<impl Iterator<Item = (f64, [f64; HIGHEST])>> {
        let after = time.minus(self.since?).map_or(0.0, |after| after.seconds());
        Some(self.elements.iter().map(move |(value, derivatives)| taylor(*value, *derivatives, after)))
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
        let mut line = Extrapolated::new(2, 1);
        assert!(line.at(at(1.0)).is_none());
        let words = [1.0, 2.0, 3.0, f64::INFINITY].map(f64::to_bits);
        line.take(|word| words[word]);
        line.is_since(Some(at(0.5)));
        let infinite = [f64::INFINITY, 0.0];
        assert_eq!(line.at(at(0.75)).unwrap().collect::<Vec<_>>(), [(1.5, [2.0, 0.0]), (f64::INFINITY, infinite)]);
        assert_eq!(line.at(at(0.5)).unwrap().collect::<Vec<_>>(), [(1.0, [2.0, 0.0]), (3.0, infinite)]);
    }

    /// x = 2 t² + 3 t + 1, known at 0.5 s.
    #[test]
    fn a_parabola_has_another_slope_after_a_time() {
        let mut parabola = Extrapolated::new(1, 2);
        let words = [3.0, 5.0, 4.0].map(f64::to_bits);
        parabola.take(|word| words[word]);
        parabola.is_since(Some(at(0.5)));
        assert_eq!(parabola.at(at(0.5)).unwrap().collect::<Vec<_>>(), [(3.0, [5.0, 4.0])]);
        assert_eq!(parabola.at(at(2.0)).unwrap().collect::<Vec<_>>(), [(15.0, [11.0, 4.0])]);
    }
}
