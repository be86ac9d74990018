//! The cells that carry the values of connections from producers to consumers: one each, and versions for a delayed one
//! (semantics S11). Derivatives follow the elements that have them.

use crate::exchange::{LaneShape, Latest, Versions};
use vecud_description::VariableType;
use vecud_description::bytes;
use vecud_plan::{ConnectionPlan, Plan, Release, UnitId};

/// The cell of a connection.
pub fn cell(connection: &ConnectionPlan) -> Latest {
    Latest::new(words(connection))
}

/// The versions of a delayed connection.
pub fn versions(plan: &Plan, connection: &ConnectionPlan) -> Option<Versions> {
    let delay = connection.delay.as_ref()?;
    let grid = |unit: &UnitId| match plan.units[unit.0].release {
        Release::Periodic { shift, interval } => Some((plan.start.after(shift), interval)),
        _ => None,
    };
    let releases = delay.consumers.iter().filter(|_| delay.by_release).filter_map(grid);
    let releases: Vec<_> = releases.collect();
    let shape =
        |producer: &vecud_plan::ProducerPlan| LaneShape { positions: producer.versions, releases: releases.clone() };
    let lanes: Vec<LaneShape> = delay.producers.iter().map(shape).collect();
    Some(Versions::new(words(connection), &lanes, delay.consumers.len()))
}

/// Words that a value takes; where jumps are reported, the last one is the time of the last jump.
pub fn words(connection: &ConnectionPlan) -> usize {
    connection.elements * element_words(connection) + usize::from(connection.tells_jumps)
}

/// Words that an element takes.
pub fn element_words(connection: &ConnectionPlan) -> usize {
    match connection.variable_type {
        VariableType::String | VariableType::Binary => bytes::words(connection.capacity),
        _ => 1 + orders(connection),
    }
}

/// Number of derivatives that follow each element's word, from the first order up.
pub fn orders(connection: &ConnectionPlan) -> usize {
    connection.extrapolation.orders()
}
