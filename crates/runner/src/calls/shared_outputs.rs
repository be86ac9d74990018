//! Finds the tasks that must keep others of their instance out while they read, since these read and publish the same outputs.

use std::collections::{HashMap, HashSet};
use vecud_description::{ValueReference, VariableType};
use vecud_plan::{BatchPlan, Plan, UnitPlan};

/// Which variables several tasks of an instance read.
pub struct SharedOutputs {
    /// Variables that feed connections, and how many tasks read each of them.
    readers: HashMap<(usize, ValueReference), usize>,
    /// Per instance: how many tasks it has.
    tasks: Vec<usize>,
}

impl SharedOutputs {
    /// The outputs of all instances of a plan.
    pub fn of(plan: &Plan) -> SharedOutputs {
        let mut shared = SharedOutputs { readers: HashMap::new(), tasks: vec![0; plan.fmus.len()] };
        for unit in &plan.units {
            shared.tasks[unit.fmu.0] += 1;
            let read: HashSet<ValueReference> = feeds(unit).collect();
            read.into_iter().for_each(|reference| *shared.readers.entry((unit.fmu.0, reference)).or_default() += 1);
        }
        shared
    }

    /// Whether other partitions may disturb this task's reading and publishing.
    pub fn disturb(&self, unit: &UnitPlan) -> bool {
        // The FMU's memory of strings and binaries is valid until the next call to it, from whichever thread.
        let fleeting = |batch: &BatchPlan| matches!(batch.variable_type, VariableType::String | VariableType::Binary);
        self.tasks[unit.fmu.0] > 1 && unit.get.iter().any(fleeting)
            || feeds(unit).any(|reference| self.readers[&(unit.fmu.0, reference)] > 1)
    }
}

/// The variables that a task reads for connections.
fn feeds(unit: &UnitPlan) -> impl Iterator<Item = ValueReference> {
    let items = unit.get.iter().flat_map(|batch| &batch.items).filter(|item| !item.connections.is_empty());
    items.map(|item| item.reference)
}
