//! Words of this process alone, zero at first: memory that takes none until it is written to, however much is read of it.

use std::alloc::{Layout, alloc_zeroed};
use std::sync::atomic::AtomicU64;

/// Allocates this many words, all zero; `None`: there is no memory for them.
pub fn zeroed(words: usize) -> Option<Box<[AtomicU64]>> {
    let layout = Layout::array::<AtomicU64>(words).ok()?;
    if layout.size() == 0 {
        return Some(Box::default());
    }
    // SAFETY: the layout's size is not zero.
    let start = unsafe { alloc_zeroed(layout) }.cast::<AtomicU64>();
    if start.is_null() {
        return None;
    }
    // SAFETY: the global allocator has just given this memory for the layout of `words` words, which is that of the slice, and
    // nobody else knows of it. All bits zero are an AtomicU64.
    Some(unsafe { Box::from_raw(std::ptr::slice_from_raw_parts_mut(start, words)) })
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::Ordering::Relaxed;

    #[test]
    fn words_are_zero_and_as_many_as_wanted() {
        for words in [0, 1, 100_000] {
            let own = zeroed(words).unwrap();
            assert!(own.len() == words && own.iter().all(|word| word.swap(1, Relaxed) == 0));
        }
        assert!(zeroed(usize::MAX / 4).is_none() && zeroed(1 << 57).is_none(), "more than there is");
    }
}
