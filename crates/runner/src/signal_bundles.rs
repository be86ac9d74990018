//! Signal bundles: how numbers travel that are visible at once. All connections that begin at variables which the same calls
//! read, and end at variables which the same calls set, form one bundle. Their values travel together, as one version: ten values
//! cost one look at a version instead of ten.
//!
//! Values from Initialization Mode and from a saved state are in the connections' own cells, since not each connection of a
//! bundle has such a value.

use crate::exchange::Latest;
use std::collections::BTreeMap;
use std::sync::Arc;
use vecud_description::VariableType;
use vecud_plan::{ConnectionId, Plan, Timing};

/// All signal bundles of a rig.
#[derive(Debug, Default)]
pub struct SignalBundles {
    pub(super) all: Vec<Arc<Latest>>,
    /// Per connection: its bundle, and its first word there.
    pub(super) places: Vec<Option<(usize, usize)>>,
}

impl SignalBundles {
    /// Builds the bundles of a plan: one for all connections that the same calls read, and the same calls set.
    pub fn lay(plan: &Plan) -> SignalBundles {
        let on_ticks = plan.fmus.iter().flat_map(|fmu| fmu.on_ticks()).map(|on_tick| &on_tick.batch);
        let reading = calls(plan, plan.units.iter().flat_map(|unit| &unit.get).chain(on_ticks));
        let setting = calls(plan, plan.units.iter().flat_map(|unit| &unit.set));
        let mut groups: BTreeMap<(&[usize], &[usize]), Vec<ConnectionId>> = BTreeMap::new();
        // In the order in which consumers set them.
        let set = plan.units.iter().flat_map(|unit| &unit.set).flat_map(|batch| &batch.items);
        for &connection in set.flat_map(|item| &item.connections) {
            let planned = &plan.connections[connection.0];
            let is_number = !matches!(planned.variable_type, VariableType::String | VariableType::Binary);
            if planned.timing == Timing::Immediate && is_number && !planned.tells_jumps {
                let members = groups.entry((&reading[connection.0], &setting[connection.0])).or_default();
                if !members.contains(&connection) {
                    members.push(connection);
                }
            }
        }
        let mut bundles = SignalBundles { all: Vec::new(), places: vec![None; plan.connections.len()] };
        for members in groups.into_values() {
            let mut words = 0;
            for member in &members {
                bundles.places[member.0] = Some((bundles.all.len(), words));
                words += plan.connections[member.0].elements;
            }
            bundles.all.push(Arc::new(Latest::new(words)));
        }
        bundles
    }

    /// Whether this connection travels in a bundle, once activations run.
    pub fn has(&self, connection: ConnectionId) -> bool {
        self.places[connection.0].is_some()
    }

    /// The newest value that has travelled in a bundle; `None`: none has. Allocates.
    pub fn value(&self, plan: &Plan, connection: ConnectionId) -> Option<Vec<u64>> {
        let (bundle, first) = self.places[connection.0]?;
        let mut value = Vec::new();
        let elements = plan.connections[connection.0].elements;
        let version = self.all[bundle].read_with(|words| {
            value = words.several(first..first + elements).collect();
        });
        (version > 0).then_some(value)
    }
}

/// Per connection: the numbers of the calls that it takes part in.
fn calls<'a>(plan: &Plan, batches: impl Iterator<Item = &'a vecud_plan::BatchPlan>) -> Vec<Vec<usize>> {
    let mut calls = vec![Vec::new(); plan.connections.len()];
    for (call, batch) in batches.enumerate() {
        batch.items.iter().flat_map(|item| &item.connections).for_each(|connection| calls[connection.0].push(call));
    }
    calls
}
