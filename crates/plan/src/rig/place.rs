//! Places in the rig file or on the command line.

/// A place in the rig file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Default)]
pub struct Place {
    /// 1-based; 0: not from the file (a command-line option, a default).
    pub line: u32,
    /// 1-based, in characters; 0: the whole line. Without a line: which of [`Rig::options`](super::Rig::options), 1-based; 0: none.
    pub column: u32,
}

impl Place {
    /// The index in [`Rig::options`](super::Rig::options), if the place is an option.
    pub fn option(self) -> Option<usize> {
        if self.line == 0 { (self.column as usize).checked_sub(1) } else { None }
    }
}

/// A value and the place where it was written.
#[derive(Clone, Debug, PartialEq)]
pub struct At<T> {
    /// The value.
    pub value: T,
    /// The place.
    pub place: Place,
}

impl<T> At<T> {
    /// A value that is written in no file.
    pub fn unplaced(value: T) -> At<T> {
        At { value, place: Place::default() }
    }
}
