//! What of an FMU is shown, and how.

use super::only::Filters;
use vecud_description::{ModelDescription, NamingConvention, Variable};
use vecud_plan::OwnStarts;

/// How variables are laid out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ListStyle {
    /// Below each other, by the parts of their names.
    Tree,
    /// One after the other.
    Flat,
}

impl ListStyle {
    /// That of the names of an FMU.
    pub fn of(description: &ModelDescription) -> ListStyle {
        match description.naming {
            NamingConvention::Structured => ListStyle::Tree,
            NamingConvention::Flat => ListStyle::Flat,
        }
    }
}

/// An FMU as somebody wants to see it.
pub struct View<'a> {
    /// What it says of itself.
    pub description: &'a ModelDescription,
    /// What its variables start with.
    pub starts: OwnStarts<'a>,
    /// Which of them are shown.
    pub only: Filters,
    /// How they are laid out.
    pub layout: ListStyle,
    /// The columns of the screen that the text is for; `None`: for none.
    pub screen: Option<usize>,
}

impl<'a> View<'a> {
    /// The variables that are shown, with their places.
    pub fn shown(&self) -> impl Iterator<Item = (usize, &'a Variable)> + Clone + use<'_, 'a> {
        let takes = |(index, variable): &(usize, &Variable)| self.only.takes(*index, variable, &self.starts);
        self.description.variables.iter().enumerate().filter(takes)
    }

    /// The clocks among them.
    pub fn shown_clocks(&self) -> impl Iterator<Item = (usize, &'a Variable)> + use<'_, 'a> {
        self.shown().filter(|(_, variable)| variable.clock.is_some())
    }
}
