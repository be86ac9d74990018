//! Tasks and instances that words of the board name: 1 + their index, 0 for none.
//!
//! FMU code can write anywhere, also to these words: a number beyond the last one names nothing.

use super::telemetry_segment::Board;
use vecud_plan::{FmuId, UnitId};

impl Board<'_> {
    /// The task that a word with this value names.
    pub fn named_task(&self, word: u64) -> Option<UnitId> {
        named(word, self.layout.samples.len()).map(UnitId)
    }

    /// The instance that a word with this value names.
    pub fn named_fmu(&self, word: u64) -> Option<FmuId> {
        named(word, self.layout.control.len()).map(FmuId)
    }
}

fn named(word: u64, of: usize) -> Option<usize> {
    word.checked_sub(1).and_then(|index| usize::try_from(index).ok()).filter(|index| *index < of)
}

#[cfg(test)]
mod tests {
    use super::named;

    #[test]
    fn a_word_names_what_there_is_and_nothing_else() {
        assert_eq!([0, 1, 3, 4, u64::MAX].map(|word| named(word, 3)), [None, Some(0), Some(2), None, None]);
    }
}
