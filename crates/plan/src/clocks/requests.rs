//! Clocks that a controller of the run may tick.

use crate::{FmuId, FmuPlan, Release, RequestedClock, StepClock, TickTarget, UnitId, UnitPlan};

/// The clocks that are [released on request](Release::Request): those of tasks, then those that tick between steps.
pub fn clocks(units: &[UnitPlan], fmus: &[FmuPlan]) -> Vec<RequestedClock> {
    let mut requests = Vec::new();
    for (number, unit) in units.iter().enumerate().filter(|(_, unit)| unit.release == Release::Request) {
        let name = format!("{}.{}", fmus[unit.fmu.0].name, unit.name);
        requests.push(RequestedClock { name, target: TickTarget { unit: UnitId(number), clock: None } });
    }
    for (fmu, own) in fmus.iter().enumerate() {
        let Some(unit) = units.iter().position(|unit| unit.fmu == FmuId(fmu)) else { continue };
        for (clock, output) in own.output_clocks.iter().enumerate() {
            if output.input.as_ref().is_some_and(|input| input.release == Release::Request) {
                let name = format!("{}.{}", own.name, output.name);
                let clock = Some(StepClock { fmu: FmuId(fmu), clock });
                requests.push(RequestedClock { name, target: TickTarget { unit: UnitId(unit), clock } });
            }
        }
    }
    requests
}

#[cfg(test)]
mod tests {
    use crate::tests::{ECU, PLANT, description, ecu_and_plant, host, inputs};
    use crate::{Plan, Release, build};
    use std::path::Path;

    const RIG: &str = "[fmu.ecu]\npath = \"ecu\"\n[fmu.plant]\npath = \"plant\"\n";

    fn controlled(more: &str) -> Plan {
        let mut rig = crate::rig::parse(&format!("{RIG}{more}"), Path::new("rig.toml")).unwrap();
        rig.controlled = true;
        let descriptions = [description(ECU), description(PLANT)];
        build(&rig, &inputs(&rig, &descriptions), &[], &host()).unwrap()
    }

    #[test]
    fn what_nothing_ticks_is_ticked_on_request_where_somebody_may_ask() {
        let names = |plan: &Plan| plan.requests.iter().map(|own| own.name.clone()).collect::<Vec<_>>();
        let plan = controlled("");
        assert_eq!(names(&plan), ["ecu.isr"]);
        let unit = &plan.units[plan.requests[0].target.unit.0];
        assert_eq!((unit.name.as_str(), &unit.release), ("isr", &Release::Request));
        assert!(!plan.notes.iter().any(|note| note.contains("it never ticks")), "{:?}", plan.notes);
        assert!(names(&controlled("[[trigger]]\nclock = \"ecu.isr\"\nat = [1.0]\n")).is_empty());
        let plan = ecu_and_plant("");
        assert!(plan.requests.is_empty() && plan.units.iter().any(|unit| unit.release == Release::Never));
    }
}
