//! The view of an FMU: its variables, their order and their layout.

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
    /// Layout that fits the names of an FMU.
    pub fn of(description: &ModelDescription) -> ListStyle {
        match description.naming {
            NamingConvention::Structured => ListStyle::Tree,
            NamingConvention::Flat => ListStyle::Flat,
        }
    }
}

/// A view of an FMU.
pub struct View<'a> {
    /// Model description of the FMU.
    pub description: &'a ModelDescription,
    /// Start values of the variables.
    pub starts: OwnStarts<'a>,
    /// Condition on the shown variables.
    pub only: Filters,
    /// Layout of the variables.
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
