//! Strings and binaries as 64-bit words: how long they are, then eight bytes a word.
//!
//! The room of an element is fixed by its capacity; words beyond its length mean nothing and are not copied. Pure; where a
//! room is filled and read, nothing is allocated.

#![forbid(unsafe_code)]

use crate::Values;
use crate::word;

/// The length of a missing value: it was longer than its room.
pub const NOTHING: u64 = u64::MAX;

/// The number of words of an element with at most `capacity` bytes.
pub fn words(capacity: usize) -> usize {
    1 + capacity.div_ceil(8)
}

/// Hands the words of a value to `set`, by their place in the element's room.
#[inline]
pub fn pack(bytes: &[u8], mut set: impl FnMut(usize, u64)) {
    set(0, bytes.len() as u64);
    let (whole, rest) = bytes.as_chunks::<8>();
    for (i, chunk) in whole.iter().enumerate() {
        set(1 + i, u64::from_le_bytes(*chunk));
    }
    if !rest.is_empty() {
        let mut last = [0; 8];
        last[..rest.len()].copy_from_slice(rest);
        set(1 + whole.len(), u64::from_le_bytes(last));
    }
}

/// Copies a value into `room` and returns how many bytes it has. A length beyond the room, which only a mixture of two
/// versions can have, is cut: whoever reads such a mixture reads again.
#[inline]
pub fn unpack(get: impl Fn(usize) -> u64, room: &mut [u8]) -> usize {
    let length = usize::try_from(get(0)).map_or(room.len(), |length| length.min(room.len()));
    let (whole, rest) = room[..length].as_chunks_mut::<8>();
    let count = whole.len();
    for (i, chunk) in whole.iter_mut().enumerate() {
        *chunk = get(1 + i).to_le_bytes();
    }
    if !rest.is_empty() {
        rest.copy_from_slice(&get(1 + count).to_le_bytes()[..rest.len()]);
    }
    length
}

/// The words of a value, as many as it needs.
pub fn packed(bytes: &[u8]) -> Vec<u64> {
    let mut all = vec![0; words(bytes.len())];
    pack(bytes, |place, word| all[place] = word);
    all
}

/// The value in a room of these words; `None`: [nothing](NOTHING) is there, or a length beyond the room.
pub fn unpacked(room: &[u64]) -> Option<Vec<u8>> {
    let length = usize::try_from(*room.first()?).ok()?;
    let mut bytes = vec![0; Some(length).filter(|length| length.div_ceil(8) < room.len())?];
    unpack(|place| room[place], &mut bytes);
    Some(bytes)
}

/// The words of each element: one of a number, those of a string or binary.
pub fn elements(values: &Values) -> Vec<Vec<u64>> {
    match values {
        Values::String(all) => all.iter().map(|text| packed(text.as_bytes())).collect(),
        Values::Binary(all) => all.iter().map(|bytes| packed(bytes)).collect(),
        numbers => word::words(numbers).unwrap_or_default().into_iter().map(|word| vec![word]).collect(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn what_is_packed_is_unpacked_within_the_room_of_its_capacity(value in prop::collection::vec(any::<u8>(), 0..40)) {
            let mut room = vec![None; words(value.len())];
            pack(&value, |i, word| room[i] = Some(word));
            let mut back = vec![0xee; value.len() + 3];
            let length = unpack(|i| room[i].unwrap(), &mut back);
            prop_assert_eq!(&back[..length], &value[..]);
            prop_assert!(back[length..].iter().all(|byte| *byte == 0xee), "nothing is written behind the value");
            prop_assert!(room.iter().all(Option::is_some), "no word of the room is superfluous");
            prop_assert_eq!(unpacked(&packed(&value)), Some(value));
        }
    }

    #[test]
    fn a_torn_length_does_not_reach_beyond_the_room() {
        let mut room = [0; 4];
        assert_eq!(unpack(|_| u64::MAX, &mut room), 4);
        assert_eq!([&[NOTHING, 0][..], &[9, 0], &[]].map(unpacked), [None, None, None]);
        assert_eq!(unpacked(&[8, 0]), Some(vec![0; 8]));
    }
}
