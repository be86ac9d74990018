//! Room in memory for the rigs that one process prepares for others.

use super::Error;
use std::fs;
use vecud_fmu::archive::Unpacked;
use vecud_linux::permits::{Permit, Permits};
use vecud_linux::stop::StopToken;

/// A rig that needs more than this has a permit while it is prepared.
const LITTLE: usize = 1 << 20;
/// Bytes that an element of a description takes while it is read, and an attribute.
const ELEMENT: usize = 64;
const ATTRIBUTE: usize = 48;

/// Room for one rig, in its descriptions and once more in its plan.
#[derive(Clone, Debug)]
pub struct MemoryBudget {
    /// Bytes, by a rough reckoning.
    pub bytes: usize,
    /// Permits for rigs that need much of it.
    pub permits: Permits,
}

impl MemoryBudget {
    /// Waits until something that needs this many bytes may be prepared, if they are many.
    pub(super) fn permit(&self, bytes: usize, stop: &StopToken) -> Result<Option<Permit>, Error> {
        match bytes > LITTLE {
            true => self.permits.wait(stop).map(Some).ok_or(Error::Interrupted),
            false => Ok(None),
        }
    }
}

/// The room that the descriptions of one rig have had so far.
pub(super) struct DescriptionBudget<'a> {
    room: Option<&'a MemoryBudget>,
    pub(super) stop: &'a StopToken,
    taken: usize,
    pub(super) permit: Option<Permit>,
}

impl<'a> DescriptionBudget<'a> {
    pub(super) fn of(room: Option<&'a MemoryBudget>, stop: &'a StopToken) -> DescriptionBudget<'a> {
        DescriptionBudget { room, stop, taken: 0, permit: None }
    }

    /// Reads the description of an FMU, if there is room for what is made of it.
    pub(super) fn description(&mut self, fmu: &Unpacked) -> Result<String, Error> {
        let read = || fmu.model_description().map_err(Error::Archive);
        let Some(room) = self.room else { return read() };
        let length = fs::metadata(fmu.root.join("modelDescription.xml")).map_or(0, |found| found.len());
        self.take(room, usize::try_from(length).unwrap_or(usize::MAX))?;
        let text = read()?;
        let count = |letter: u8| text.bytes().filter(|own| *own == letter).count();
        self.take(room, ELEMENT * count(b'<') + ATTRIBUTE * count(b'='))?;
        Ok(text)
    }

    fn take(&mut self, room: &MemoryBudget, bytes: usize) -> Result<(), Error> {
        self.taken = self.taken.saturating_add(bytes);
        if self.taken > room.bytes {
            return Err(Error::Command(format!(
                "the model descriptions of the rig up to this FMU take some {} MiB to read, and a daemon has {} MiB for one rig: make \
                 several rigs of it, or run it without a daemon",
                self.taken.div_ceil(1 << 20),
                room.bytes >> 20
            )));
        }
        if self.permit.is_none() {
            self.permit = room.permit(self.taken, self.stop)?;
        }
        Ok(())
    }
}
