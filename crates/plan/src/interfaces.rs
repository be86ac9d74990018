//! The interface type of each FMU, and its requirements: a known unit of time, states that can be saved.

use super::described::{DescribedFmu, offer};
use super::findings::Findings;
use super::{FmuInput, Mode, PlanError, dialect};
use crate::rig::Rig;
use vecud_description::{Interface, InterfaceOffer, ModelDescription};

/// Warnings of one description that are worth a note in the plan.
const WARNINGS: usize = 5;

/// Checks every FMU of a rig.
pub(super) fn check(fmus: &[DescribedFmu], mode: Mode, findings: &mut Findings) {
    check_interfaces(fmus, findings);
    check_time_units(fmus, mode, findings);
}

/// In real time the length of an FMU's unit of time must be known. In virtual time, and where the rig insists, it counts as 1
/// s.
fn check_time_units(fmus: &[DescribedFmu], mode: Mode, findings: &mut Findings) {
    for described in fmus {
        let time = &described.input.description.time;
        let (Err(why), Some(name)) = (time.unit, &time.name) else { continue };
        let fmu = described.name();
        let what = format!("{fmu} counts time in {name:?}, which is no unit of time that is known: {why}");
        if mode == Mode::Virtual || described.rig.lenient {
            findings.note(format!("{what}; one of it is 1 s of the run"));
        } else {
            let message = format!(
                "{what}; it can run in virtual time (mode = \"virtual\" in [rig], or `vecud run --mode virtual`), or with lenient = true in [fmu.{fmu}] of a rig file, \
                 where one of it is 1 s"
            );
            findings.rig(described.rig.path.place, message);
        }
    }
}

/// An interface type is there, usable, and instantiated no more often than it allows.
fn check_interfaces(fmus: &[DescribedFmu], findings: &mut Findings) {
    for (i, described) in fmus.iter().enumerate() {
        dialect::check(described, findings);
        let description = described.input.description;
        let place = described.rig.path.place;
        // The place of a finding names the FMU already when there is no rig file.
        let subject = match findings.is_rig(&described.input.path) {
            true => "the FMU".to_owned(),
            false => described.input.path.display().to_string(),
        };
        for warning in description.warnings.iter().take(WARNINGS) {
            findings.note(format!("{}: {warning}", described.name()));
        }
        if let Some(more @ 1..) = description.warnings.len().checked_sub(WARNINGS) {
            findings.note(format!("{}: {more} more of this kind; vecud inspect shows them", described.name()));
        }
        let Some(offer) = described.offer else {
            refuse(described, &subject, findings);
            continue;
        };
        let interface = offer.common();
        // One that was not asked for: it also has the tasks that others hide.
        let others = other_interfaces(description, offer.interface());
        if !others.is_empty() && described.rig.interface.is_none() {
            let (name, others, own) = (described.name(), others.join(" and "), offer.interface().name());
            findings.note(format!("{name} offers {others} as well: it runs with {own}"));
        }
        if let Some(tool) = described.co_simulation().and_then(|own| own.tool.as_ref()) {
            let message = format!(
                "{subject} only hands what it is told on to a tool ({}), which vecud does not do: export it stand-alone, with \
                 the model in its library (FMI 1.0 for Co-Simulation, CoSimulation_StandAlone)",
                tool.mime_type
            );
            findings.rig(place, message);
        }
        if interface.needs_execution_tool {
            let tool = match description.generation_tool.as_deref().map(str::trim).filter(|tool| !tool.is_empty()) {
                Some(tool) => format!("the tool that made it, {tool}"),
                None => "the tool that made it, which it does not name".to_owned(),
            };
            findings.note(format!(
                "{} needs a tool on this machine, probably {tool} (needsExecutionTool): its documentation says which, and how \
                 long a call takes is that tool's affair",
                described.name()
            ));
        }
        let twin = fmus[..i].iter().find(|other| other.input.library == described.input.library);
        if let (true, Some(twin)) = (interface.can_be_instantiated_only_once_per_process, twin) {
            let message = format!(
                "{} and {} are the same FMU, which can be instantiated only once per process \
                 (canBeInstantiatedOnlyOncePerProcess), and vecud runs all of a rig in one: keep one of them",
                twin.name(),
                described.name()
            );
            findings.rig(place, message);
        }
    }
}

/// Says why an FMU has no interface type to run with.
fn refuse(described: &DescribedFmu, subject: &str, findings: &mut Findings) {
    let description = described.input.description;
    let all: Vec<&str> = description.interfaces.iter().map(|offer| offer.interface().name()).collect();
    let offers = if all.is_empty() { "no interface at all".to_owned() } else { all.join(" and ") };
    let of = format!("{subject} (FMI {})", description.fmi_version);
    match &described.rig.interface {
        Some(wanted) => {
            let wanted_name = wanted.value.name();
            findings.rig(wanted.place, format!("{of} has no {wanted_name}: it offers {offers}"));
        }
        None => findings.rig(described.rig.path.place, format!("{of} offers {offers}")),
    }
}

/// The other interface types that an FMU offers.
fn other_interfaces(description: &ModelDescription, own: Interface) -> Vec<&'static str> {
    let all = description.interfaces.iter().map(InterfaceOffer::interface);
    all.filter(|&other| other != own).map(Interface::name).collect()
}

/// Finds the FMUs whose state cannot be serialised, for a run with `option`.
pub fn check_states(rig: &Rig, fmus: &[FmuInput], option: &str) -> Result<(), PlanError> {
    let mut findings = Findings::new(rig);
    for (rig, input) in rig.fmus.iter().zip(fmus) {
        let offers = offer(rig, input.description).is_some_and(|offer| offer.common().can_serialize_fmu_state);
        if !offers {
            let name = &rig.name.value;
            let message = format!(
                "fmu `{name}` cannot save its state: its modelDescription.xml does not say canSerializeFMUState=\"true\"; \
                 leave {option} out, or export the FMU with this capability"
            );
            findings.rig(rig.path.place, message);
        }
    }
    findings.refuse()
}
