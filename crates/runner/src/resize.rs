//! Arrays whose size changes while the run goes on: the number of elements that are read, and the column of each.
//!
//! Buffers and columns are those of the planned size, which is the largest. A smaller array has its elements elsewhere in
//! row-major order, but in the same columns: `a[2,1]` stays `a[2,1]`. Columns without an element stay empty.

use super::run_state::RunState;
use std::sync::atomic::Ordering::Relaxed;
use vecud_plan::{FmuId, Length, Plan, UnitPlan, control};

/// The arrays of one task that can get another size.
pub struct Resizable {
    /// Changes of sizes that this has followed.
    seen: u64,
    arrays: Vec<Array>,
    /// A bit per recorded value: whether it is there.
    presence: Vec<u64>,
}

struct Array {
    /// The batch that reads the array, by its place among the output batches.
    batch: usize,
    lengths: Vec<Length>,
    /// The present place of each element of the planned size; `None`: the array has no such element now.
    places: Vec<Option<u32>>,
    /// The column of the first element among the recorded values; `None`: the array is not recorded.
    column: Option<usize>,
}

impl Resizable {
    /// `None` when all sizes are fixed.
    pub fn new(whole: &Plan, plan: &UnitPlan) -> Option<Resizable> {
        let mut column = plan.set.iter().flat_map(|batch| &batch.items).map(|item| item.signals.len()).sum::<usize>();
        let mut arrays = Vec::new();
        for (number, batch) in plan.get.iter().enumerate() {
            if let (Some(lengths), [item]) = (&batch.resizable, batch.items.as_slice()) {
                arrays.push(Array {
                    batch: number,
                    lengths: lengths.clone(),
                    places: (0..item.elements as u32).map(Some).collect(),
                    column: (!item.signals.is_empty()).then_some(column),
                });
            }
            column += batch.items.iter().map(|item| item.signals.len()).sum::<usize>();
        }
        let presence = vec![u64::MAX; whole.presence_words(plan)];
        (!arrays.is_empty()).then_some(Resizable { seen: 0, arrays, presence })
    }

    /// Follows changes of sizes; `resize` gives a batch another number of elements. Called inside the gate, where sizes do not
    /// change. Allocates nothing.
    #[inline]
    pub fn follow(&mut self, run: &RunState, fmu: FmuId, resize: impl FnMut(usize, usize)) {
        let resized = run.instances[fmu.0].resized.load(Relaxed);
        if resized != self.seen {
            self.seen = resized;
            self.change(run, fmu, resize);
        }
    }

    #[cold]
    fn change(&mut self, run: &RunState, fmu: FmuId, mut resize: impl FnMut(usize, usize)) {
        let sizes = &run.plan.fmus[fmu.0].sizes;
        for array in &mut self.arrays {
            let now = |size: usize| run.instances[fmu.0].sizes[size].load(Relaxed);
            resize(array.batch, control::elements(&array.lengths, now));
            for (element, place) in array.places.iter_mut().enumerate() {
                *place = control::element_place(&array.lengths, element, |size| sizes[size].start, now)
                    .map(|place| place as u32);
            }
            let Some(column) = array.column else { continue };
            for (element, place) in array.places.iter().enumerate() {
                let (word, bit) = ((column + element) / 64, 1 << ((column + element) % 64));
                match place {
                    Some(_) => self.presence[word] |= bit,
                    None => self.presence[word] &= !bit,
                }
            }
        }
    }

    /// Where the elements of this batch are now; `None` when their number is fixed.
    pub fn places(&self, batch: usize) -> Option<&[Option<u32>]> {
        self.arrays.iter().find(|array| array.batch == batch).map(|array| array.places.as_slice())
    }

    /// A word with a bit for each of 64 recorded values.
    pub fn presence(&self, word: usize) -> u64 {
        self.presence[word]
    }
}
