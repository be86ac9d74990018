//! All C interfaces of FMI.

use super::c_interface::CInterface;
use super::{draft, fmi1, fmi2, fmi3};
use crate::Function;
use vecud_description::Abi;

/// The interface whose names are used where none is selected.
pub(crate) const NEWEST: Abi = Abi::Fmi3;

/// All C interfaces, in the order in which a library is searched for signs of them.
const ALL: [&CInterface; 4] = [&fmi3::FMI3, &draft::DRAFT, &fmi2::FMI2, &fmi1::FMI1];

impl CInterface {
    pub(crate) fn of(abi: Abi) -> &'static CInterface {
        match abi {
            Abi::Fmi1 => &fmi1::FMI1,
            Abi::Fmi2 => &fmi2::FMI2,
            Abi::Fmi3 => &fmi3::FMI3,
            Abi::Draft => &draft::DRAFT,
        }
    }

    /// The other ones.
    pub(crate) fn others(&self) -> impl Iterator<Item = &'static CInterface> {
        ALL.into_iter().filter(|other| other.abi != self.abi)
    }
}

/// The name of a function in any C interface that has it, the newest first.
pub(crate) fn newest_name(function: Function) -> &'static str {
    ALL.into_iter().find_map(|c| c.name(function, None)).unwrap_or("a function of no C interface")
}
