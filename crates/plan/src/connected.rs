//! Connections as the plan has them, when tasks and instances are known.

use super::connections::delays;
use super::connections::links::Link;
use super::described::VariableId;
use super::findings::Findings;
use super::resolved::Resolved;
use super::{ConnectionPlan, FmuPlan, TaskPlan, UnitPlan};

/// The plans of all connections. `fmus`: the instances that they are between.
pub(super) fn plans(
    resolved: &Resolved,
    tasks: &[TaskPlan],
    units: &[UnitPlan],
    fmus: &[FmuPlan],
    findings: &mut Findings,
) -> Vec<ConnectionPlan> {
    let variable = |(fmu, index): VariableId| {
        let described = &resolved.fmus[fmu];
        (described.name(), &described.variables()[index])
    };
    let plan = |link: &Link| {
        let ((from_fmu, from), (to_fmu, to)) = (variable(link.source), variable(link.target));
        ConnectionPlan {
            from: format!("{from_fmu}.{}{}", from.name, link.from.text),
            to: format!("{to_fmu}.{}{}", to.name, link.to.text),
            timing: link.timing,
            is_inside: link.is_inside,
            delay: None,
            from_type: from.variable_type,
            variable_type: to.variable_type,
            conversion: link.conversion,
            units: link
                .conversion
                .unit
                .and(from.unit.as_deref().zip(to.unit.as_deref()))
                .map(|(a, b)| (a.to_owned(), b.to_owned())),
            elements: link.from.elements(),
            from_elements: link.from.runs.clone(),
            to_elements: link.to.runs.clone(),
            capacity: link.capacity,
            extrapolation: link.extrapolation,
            tells_jumps: resolved.tells_jumps(link),
            jumps_among_others: resolved.jumps_among_others(link),
        }
    };
    let connections = resolved.links.iter().map(plan).collect();
    delays::complete(connections, tasks, units, fmus, resolved.rig, findings)
}

impl Resolved<'_> {
    /// Whether each change of a connection's values is a jump of an array whose other elements are continuous. A master handles
    /// that itself.
    fn jumps_among_others(&self, link: &Link) -> bool {
        let target = &self.fmus[link.target.0];
        let is_carried = link.is_inside && target.master.is_some();
        let jumps = target.takes_jumps_in_event_mode() && !is_carried && self.is_stepwise(link);
        jumps && !self.is_set_in_event_mode(link.target)
    }

    /// Whether values of a connection come with the time at which their source has jumped last, in an event of its own.
    fn tells_jumps(&self, link: &Link) -> bool {
        let (source, target) = (&self.fmus[link.source.0], &self.fmus[link.target.0]);
        // A master carries them himself.
        let is_carried = link.is_inside && source.master.is_some();
        let is_told = source.handles_events() && target.takes_jumps_in_event_mode() && !is_carried;
        is_told && !self.is_set_in_event_mode(link.target)
    }
}
