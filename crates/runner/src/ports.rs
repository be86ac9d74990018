//! Ports: where [signal bundles](super::signal_bundles) meet the batches of a task. Inputs are fetched from bundles, and outputs
//! are published to them.

use super::run_state::RunState;
use super::values::{Input, Output};
use crate::exchange::{FEW, Latest};
use std::ops::Range;
use std::sync::Arc;
use vecud_fmi::Batch;
use vecud_linux::prefetch::prefetch;
use vecud_plan::conversion::Conversion;

/// A segment of a signal bundle whose words are elements of a batch.
#[derive(Debug, PartialEq)]
struct Segment {
    word: usize,
    elements: Range<usize>,
    /// `None`: there is nothing to convert.
    conversion: Option<Conversion>,
}

impl Segment {
    /// The words of the segment.
    #[inline]
    fn words(&self) -> Range<usize> {
        self.word..self.word + self.elements.len()
    }
}

/// The port of a signal bundle at a batch.
struct BundlePort {
    bundle: Arc<Latest>,
    /// The version that the batch has.
    seen: u64,
    /// The words of the bundle are the elements of the batch, in the same order; they are [few](FEW) doubles, and all items are
    /// enabled, which stays so.
    is_whole: bool,
    segments: Vec<Segment>,
    /// Items that join with the first version.
    items: Vec<usize>,
}

impl BundlePort {
    /// The ports at a batch; `elements` are those of a connection on this side.
    fn all(
        run: &RunState,
        planned: &vecud_plan::BatchPlan,
        values: &Batch,
        elements: impl Fn(&vecud_plan::ConnectionPlan) -> (&[Range<usize>], Conversion),
    ) -> Ports {
        let bundles = &run.bundles;
        let mut ports: Vec<BundlePort> = Vec::new();
        for (item, variable) in planned.items.iter().enumerate() {
            let first = values.elements(item).start;
            for connection in &variable.connections {
                let Some((bundle, mut word)) = bundles.places[connection.0] else { continue };
                let bundle = &bundles.all[bundle];
                let number = ports.iter().position(|port| Arc::ptr_eq(&port.bundle, bundle)).unwrap_or_else(|| {
                    let bundle = bundle.clone();
                    ports.push(BundlePort {
                        bundle,
                        seen: 0,
                        is_whole: false,
                        segments: Vec::new(),
                        items: Vec::new(),
                    });
                    ports.len() - 1
                });
                let port = &mut ports[number];
                port.items.extend((!port.items.contains(&item)).then_some(item));
                let (runs, conversion) = elements(&run.plan.connections[connection.0]);
                let conversion = Some(conversion).filter(|conversion| *conversion != Conversion::NONE);
                for run in runs {
                    let elements = first + run.start..first + run.end;
                    let length = elements.len();
                    match port.segments.last_mut() {
                        Some(last)
                            if last.elements.end == elements.start
                                && last.word + last.elements.len() == word
                                && last.conversion == conversion =>
                        {
                            last.elements.end = elements.end;
                        }
                        _ => port.segments.push(Segment { word, elements, conversion }),
                    }
                    word += length;
                }
            }
        }
        ports.iter_mut().for_each(|port| port.look(values));
        let mut ports = ports.into_iter();
        Ports { first: ports.next(), others: ports.collect() }
    }

    /// Determines whether the port [is whole](BundlePort::is_whole) from now on.
    fn look(&mut self, values: &Batch) {
        let all = Segment { word: 0, elements: 0..values.len(), conversion: None };
        self.is_whole = self.segments == [all]
            && (self.bundle.width() == values.len() && values.len() <= FEW)
            && (0..values.items()).all(|item| values.is_enabled(item))
            && values.doubles().is_some();
    }

    /// Prefetches the memory of the version that is `further` after the newest one.
    #[inline]
    fn prefetch(&self, further: u64) {
        self.bundle.places(self.bundle.version() + further).into_iter().for_each(prefetch);
    }

    /// Brings the newest version into the batch. A function of its own, like [`BundlePort::publish`]: in line it would cost more.
    #[inline(never)]
    fn fetch(&mut self, version: u64, values: &mut Batch) {
        if self.is_whole
            && let Some(doubles) = values.doubles_by_place_mut()
            && self.bundle.try_read(version, |words| words.copy_few_to(doubles))
        {
            self.seen = version;
            return;
        }
        self.fetch_some(version, values);
    }

    /// [`BundlePort::fetch`] when doubles are side by side on both sides.
    #[inline(never)]
    fn fetch_some(&mut self, version: u64, values: &mut Batch) {
        if self.seen > 0
            && let [only] = &self.segments[..]
            && let Some(doubles) = values.doubles_mut()
        {
            let doubles = &mut doubles[only.elements.clone()];
            if self.bundle.try_read(version, |words| words.copy_to(only.word, doubles)) {
                self.seen = version;
                return;
            }
        }
        self.fetch_any(values);
    }

    /// [`BundlePort::fetch`] in general: for the first version, and again when the writer has overtaken a copy.
    fn fetch_any(&mut self, values: &mut Batch) {
        let is_first = self.seen == 0;
        self.seen = self.bundle.read_with(|words| {
            for segment in &self.segments {
                values.set_words(segment.elements.clone(), words.several(segment.words()));
            }
        });
        if is_first {
            self.items.iter().for_each(|item| values.enable(*item));
            self.look(values);
        }
    }

    /// Publishes the values of the batch.
    #[inline(never)]
    fn publish(&self, values: &Batch) {
        if self.is_whole
            && let Some(doubles) = values.doubles_by_place()
        {
            return self.bundle.write_with(|words| words.copy_few_from(doubles));
        }
        self.publish_some(values);
    }

    /// [`BundlePort::publish`] when doubles are side by side on both sides.
    #[inline(never)]
    fn publish_some(&self, values: &Batch) {
        if let [only @ Segment { conversion: None, .. }] = &self.segments[..]
            && let Some(doubles) = values.doubles()
        {
            let doubles = &doubles[only.elements.clone()];
            return self.bundle.write_with(|words| words.copy_from(only.word, doubles));
        }
        self.publish_any(values);
    }

    /// [`BundlePort::publish`] in general.
    fn publish_any(&self, values: &Batch) {
        self.bundle.write_with(|words| {
            for segment in &self.segments {
                let (elements, places) = (segment.elements.clone(), words.several(segment.words()));
                match segment.conversion {
                    None => values.words(elements, places),
                    Some(conversion) => {
                        values.words(elements, places.map(|place| move |value| place(conversion.apply(value))));
                    }
                }
            }
        });
    }
}

/// The ports at a batch. Most have one, which lies beside the batch: with many tasks none of them is in a cache when it is its
/// turn, and each further place is waited for.
struct Ports {
    first: Option<BundlePort>,
    others: Vec<BundlePort>,
}

impl Ports {
    #[inline]
    fn all(&self) -> impl Iterator<Item = &BundlePort> {
        self.first.iter().chain(&self.others)
    }

    #[inline]
    fn all_mut(&mut self) -> impl Iterator<Item = &mut BundlePort> {
        self.first.iter_mut().chain(&mut self.others)
    }
}

/// The signal bundles that end at an input batch.
pub struct Incoming(Ports);

impl Incoming {
    /// The signal bundles that end at this batch.
    fn new(run: &RunState, planned: &vecud_plan::BatchPlan, values: &Batch) -> Incoming {
        Incoming(BundlePort::all(run, planned, values, |connection| (&connection.to_elements, Conversion::NONE)))
    }

    /// Asks for the memory that [`Incoming::fetch`] will read.
    #[inline]
    pub fn prefetch(&self) {
        self.0.all().for_each(|port| port.prefetch(0));
    }

    /// Copies the newest versions into the batch, and enables an item as soon as it has a value.
    #[inline]
    pub fn fetch(&mut self, values: &mut Batch) {
        for port in self.0.all_mut() {
            let version = port.bundle.version();
            if version != port.seen {
                port.fetch(version, values);
            }
        }
    }
}

/// The signal bundles that begin at an output batch.
pub struct Outgoing(Ports);

impl Outgoing {
    /// The signal bundles that begin at this batch.
    fn new(run: &RunState, planned: &vecud_plan::BatchPlan, values: &Batch) -> Outgoing {
        Outgoing(BundlePort::all(run, planned, values, |connection| (&connection.from_elements, connection.conversion)))
    }

    /// Asks for the memory that [`Outgoing::publish`] will write.
    #[inline]
    pub fn prefetch(&self) {
        self.0.all().for_each(|port| port.prefetch(1));
    }

    /// Publishes the values of the batch.
    #[inline]
    pub fn publish(&self, values: &Batch) {
        self.0.all().for_each(|port| port.publish(values));
    }
}

/// The bundles that end at a batch, and its other inputs. The batch has the initial values of bundles from Initialization Mode or
/// from a saved state.
pub fn incoming(
    run: &RunState,
    planned: &vecud_plan::BatchPlan,
    inputs: Vec<Input>,
    values: &mut Batch,
) -> (Incoming, Vec<Input>) {
    let (mut initial, single): (Vec<Input>, Vec<Input>) =
        inputs.into_iter().partition(|input| run.bundles.has(input.connection()));
    initial.iter_mut().for_each(|input| input.fetch_initial(&run.cells, values));
    (Incoming::new(run, planned, values), single)
}

/// The bundles that begin at a batch, and its other outputs.
pub fn outgoing(
    run: &RunState,
    planned: &vecud_plan::BatchPlan,
    values: &Batch,
    outputs: Vec<Output>,
) -> (Outgoing, Vec<Output>) {
    let single = outputs.into_iter().filter_map(|output| output.without_bundles(run)).collect();
    (Outgoing::new(run, planned, values), single)
}
