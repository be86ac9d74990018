//! Choices of the user about building one FMU.

use std::collections::BTreeMap;

/// The user's choice among the definitions that a build description leaves open: by name, the value (empty: as it is
/// without one), or `None` to leave it out.
pub type Definitions = BTreeMap<String, Option<String>>;

/// The user's settings for building one FMU.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct BuildChoices {
    /// The values of definitions that the build description leaves open.
    pub definitions: Definitions,
    /// The FMU's options are handed to the compiler whatever they are, and its sources may include any file.
    pub trusted: bool,
}
