//! The form of a snapshot in a file: a mark, the version of this form, the version of vecud, the length of the content, the
//! content, and a SHA-256 of everything before.

use super::Snapshot;
use sha2::{Digest, Sha256};
use std::fmt;

/// Every saved state begins with this.
pub const MARK: &[u8; 12] = b"vecud state\n";
/// The number of the form of the frame and of the content within a version of vecud.
const FORM: u32 = 3;
const VERSION: &str = env!("CARGO_PKG_VERSION");
/// Mark, form, vecud's version (padded with zeros), length.
const HEADER: usize = MARK.len() + 4 + 24 + 8;
const DIGEST: usize = 32;

/// Why a file is no snapshot that can be taken up.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Unreadable {
    /// The file does not begin as a snapshot.
    NotOne,
    /// The file ends too early or too late: its length, and the right one.
    Length(usize, Option<usize>),
    /// Another version of vecud, with this name, has written the state, or another build of the same version in another form.
    Version(String),
    /// The content is not the written one.
    Changed,
}

impl fmt::Display for Unreadable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Unreadable::NotOne => f.write_str("is no state that vecud has saved (vecud run --save-state)"),
            Unreadable::Length(is, Some(should)) => write!(f, "is damaged: it has {is} bytes instead of {should}"),
            Unreadable::Length(is, None) => write!(f, "is damaged: it ends after {is} bytes"),
            Unreadable::Version(version) if version == VERSION => {
                write!(
                    f,
                    "was saved by another build of vecud {version}, with another form of states: only the same build reads it"
                )
            }
            Unreadable::Version(version) => {
                write!(f, "was saved by vecud {version}, and this is vecud {VERSION}: only the same version reads it")
            }
            Unreadable::Changed => f.write_str("is damaged: its content is not what was written"),
        }
    }
}

impl Snapshot {
    /// The content of a file.
    ///
    /// # Errors
    /// If there is no memory for them.
    pub fn to_bytes(&self) -> Result<Vec<u8>, String> {
        let content = postcard::to_stdvec(self).map_err(|error| error.to_string())?;
        let mut version = [0; 24];
        let length = VERSION.len().min(version.len());
        version[..length].copy_from_slice(&VERSION.as_bytes()[..length]);
        let mut bytes = Vec::with_capacity(HEADER + content.len() + DIGEST);
        bytes.extend(MARK);
        bytes.extend(FORM.to_le_bytes());
        bytes.extend(version);
        bytes.extend((content.len() as u64).to_le_bytes());
        bytes.extend(content);
        let digest = Sha256::digest(&bytes);
        bytes.extend(digest);
        Ok(bytes)
    }

    /// The inverse of [`Snapshot::to_bytes`].
    pub fn from_bytes(bytes: &[u8]) -> Result<Snapshot, Unreadable> {
        let begin = MARK.len().min(bytes.len());
        if bytes.is_empty() || bytes[..begin] != MARK[..begin] {
            return Err(Unreadable::NotOne);
        }
        if bytes.len() < HEADER {
            return Err(Unreadable::Length(bytes.len(), None));
        }
        let (form, rest) = bytes[MARK.len()..HEADER].split_at(4);
        let (version, length) = rest.split_at(24);
        let version = String::from_utf8_lossy(version).trim_end_matches('\0').to_owned();
        if form != FORM.to_le_bytes() || version != VERSION {
            return Err(Unreadable::Version(version));
        }
        let length = length.try_into().map_or(u64::MAX, u64::from_le_bytes);
        let should = usize::try_from(length).ok().and_then(|length| length.checked_add(HEADER + DIGEST));
        if should != Some(bytes.len()) {
            return Err(Unreadable::Length(bytes.len(), should));
        }
        let (content, digest) = bytes.split_at(bytes.len() - DIGEST);
        if Sha256::digest(content)[..] != *digest {
            return Err(Unreadable::Changed);
        }
        postcard::from_bytes(&content[HEADER..]).map_err(|_| Unreadable::Changed)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Release;
    use crate::schedule::Timeline;
    use crate::snapshot::BetweenSteps;
    use vecud_base::time::Instant;

    fn snapshot() -> Snapshot {
        Snapshot {
            identity: super::super::identity::tests::identity(),
            time: Instant::from_f64(5.0).unwrap(),
            states: vec![vec![1, 2, 3], vec![]],
            timelines: vec![Timeline::new(&Release::Never, Instant::ZERO, None)],
            connections: vec![None, Some(vec![u64::MAX])],
            versions: vec![vec![vec![((Instant::ZERO, Instant::ZERO), vec![7])]]],
            sizes: vec![vec![3], vec![]],
            between: vec![
                BetweenSteps::default(),
                BetweenSteps { next_event: Instant::from_f64(6.5), ..BetweenSteps::default() },
            ],
            columns: vec![("a.y".to_owned(), vec![7])],
        }
    }

    #[test]
    fn what_was_written_is_read() {
        assert_eq!(Snapshot::from_bytes(&snapshot().to_bytes().unwrap()), Ok(snapshot()));
    }

    #[test]
    fn a_file_that_was_cut_is_refused_at_every_length() {
        let bytes = snapshot().to_bytes().unwrap();
        assert_eq!(Snapshot::from_bytes(&[]), Err(Unreadable::NotOne));
        for length in 1..bytes.len() {
            let expected = Unreadable::Length(length, (length >= HEADER).then_some(bytes.len()));
            assert_eq!(Snapshot::from_bytes(&bytes[..length]), Err(expected));
        }
        let longer = [&bytes[..], b"\n"].concat();
        assert_eq!(Snapshot::from_bytes(&longer), Err(Unreadable::Length(bytes.len() + 1, Some(bytes.len()))));
    }

    #[test]
    fn a_file_in_which_any_byte_has_changed_is_refused() {
        let bytes = snapshot().to_bytes().unwrap();
        for place in 0..bytes.len() {
            let mut changed = bytes.clone();
            changed[place] ^= 0x20;
            assert!(Snapshot::from_bytes(&changed).is_err(), "byte {place}");
        }
        let mut older = bytes.clone();
        older[16..24].copy_from_slice(b"0.0.9\0\0\0");
        assert_eq!(Snapshot::from_bytes(&older), Err(Unreadable::Version("0.0.9".to_owned())));
        let mut other = bytes.clone();
        other[12] -= 1;
        let refused = Snapshot::from_bytes(&other).unwrap_err();
        assert_eq!(refused, Unreadable::Version(VERSION.to_owned()));
        assert!(refused.to_string().contains("another build of vecud"), "{refused}");
        assert_eq!(Snapshot::from_bytes(b"[rig]\nname = 'no state'\n"), Err(Unreadable::NotOne));
    }
}
