//! Decisions that follow from a seed (SplitMix64).

pub struct Chance(u64);

impl Chance {
    pub fn new(seed: u64) -> Chance {
        Chance(seed)
    }

    pub fn bits(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ (z >> 31)
    }

    /// A number below `end`, which is not 0.
    pub fn below(&mut self, end: usize) -> usize {
        (self.bits() % end as u64) as usize
    }

    pub fn pick<'a, T>(&mut self, all: &'a [T]) -> &'a T {
        &all[self.below(all.len())]
    }

    /// One of these words.
    pub fn word<'a>(&mut self, all: &[&'a str]) -> &'a str {
        all[self.below(all.len())]
    }

    /// A part of what is `length` long, mostly a short one.
    pub fn range(&mut self, length: usize) -> std::ops::Range<usize> {
        let start = self.below(length + 1);
        let most = if self.below(4) == 0 { length } else { 40 };
        start..(start + self.below(most + 1)).min(length)
    }

    /// Bytes lost, doubled, changed or moved, a few times.
    pub fn damage(&mut self, bytes: &mut Vec<u8>) {
        for _ in 0..=self.below(4) {
            let range = self.range(bytes.len());
            match self.below(7) {
                0 => bytes.truncate(range.start),
                1 => drop(bytes.drain(range)),
                2 => {
                    let copy = bytes[range.clone()].to_vec();
                    let place = self.below(bytes.len() + 1);
                    bytes.splice(place..place, copy);
                }
                3 => {
                    let value = [0, 0xFF, 0x7F, 0x80][self.below(4)];
                    bytes[range].fill(value);
                }
                4 => {
                    let value = *self.pick(&[0u32, 1, 0x7FFF_FFFF, 0x8000_0000, u32::MAX - 1, u32::MAX, 0xFFFF]);
                    let width = 1 << self.below(3);
                    let place = range.start.min(bytes.len().saturating_sub(width));
                    let end = (place + width).min(bytes.len());
                    bytes[place..end].copy_from_slice(&value.to_le_bytes()[..end - place]);
                }
                _ => {
                    if let Some(byte) = bytes.get_mut(range.start) {
                        *byte ^= 1 << self.below(8);
                    }
                }
            }
        }
    }
}
