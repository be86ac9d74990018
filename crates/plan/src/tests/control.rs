//! What can be set while a run goes on.

use super::*;
use crate::control::{element_place as place, elements};
use crate::{ControlKind, Length};
use proptest::prelude::*;

const FMU: &str = r#"
<Clock name="fast" valueReference="1" causality="input" intervalVariability="constant" intervalDecimal="0.001" priority="1"/>
<Clock name="slow" valueReference="2" causality="input" intervalVariability="constant" intervalDecimal="0.01" priority="2"/>
<Clock name="tick" valueReference="3" causality="output" intervalVariability="triggered"/>
<UInt64 name="n" valueReference="4" causality="structuralParameter" variability="tunable" start="3"/>
<UInt64 name="m" valueReference="5" causality="structuralParameter" variability="fixed" start="2"/>
<Float64 name="gain" valueReference="10" causality="parameter" variability="tunable" start="1"><Alias name="amplification"/></Float64>
<Float64 name="fixed" valueReference="11" causality="parameter" variability="fixed" start="1"/>
<Float64 name="any" valueReference="12" causality="input" start="1" variability="discrete"/>
<Float64 name="of_fast" valueReference="13" causality="input" start="1" variability="discrete" clocks="1"/>
<Float64 name="of_both" valueReference="14" causality="input" start="1" variability="discrete" clocks="1 2"/>
<Float64 name="of_tick" valueReference="15" causality="input" start="1" variability="discrete" clocks="3"/>
<Float64 name="array" valueReference="16" causality="output" variability="discrete" clocks="1"><Dimension valueReference="5"/><Dimension valueReference="4"/></Float64>
<Float64 name="other" valueReference="17" causality="output" variability="discrete" clocks="1"/>
"#;

fn plan(controlled: bool) -> Plan {
    let mut rig = rig::parse("[fmu.x]\npath = \"x\"\n[record]\nsignals = [\"*\"]", Path::new("rig.toml")).unwrap();
    rig.controlled = controlled;
    let description = [description(FMU)];
    build(&rig, &inputs(&rig, &description), &[], &host()).unwrap()
}

#[test]
fn each_variable_is_set_by_the_tasks_of_its_clocks_or_by_all() {
    let plan = plan(true);
    let control = &plan.fmus[0].control;
    let units = |name: &str| match control.variables[control.names[name].clone().unwrap()].kind {
        ControlKind::Value { lane, .. } => control.lanes[lane].units.iter().map(|unit| unit.0).collect::<Vec<_>>(),
        ControlKind::Structural { .. } => panic!("{name} is structural"),
    };
    assert_eq!((units("gain"), units("amplification"), units("any")), (vec![0, 1], vec![0, 1], vec![0, 1]));
    assert_eq!((units("of_fast"), units("of_both")), (vec![0], vec![0, 1]));
    assert_eq!(control.lanes.len(), 2, "one for the same tasks");
    for name in ["fixed", "m", "of_tick", "array", "fast", "tick"] {
        assert!(control.names[name].is_err(), "{name}");
    }
}

#[test]
fn arrays_whose_size_may_change_are_read_in_calls_of_their_own_with_nothing_else() {
    let plan = plan(true);
    let fast = &plan.units[0].get;
    let of = |name: &str| fast.iter().find(|batch| batch.items.iter().any(|item| item.name == name)).unwrap();
    assert_eq!(of("array").resizable, Some(vec![Length::Fixed(2), Length::By(0)]));
    assert_eq!((of("array").items.len(), of("other").resizable.as_ref()), (1, None));
    assert_eq!(plan.fmus[0].sizes[0].start, 3);
}

#[test]
fn without_control_a_plan_has_nothing_of_it() {
    let plan = plan(false);
    let fmu = &plan.fmus[0];
    assert!(fmu.sizes.is_empty() && fmu.control.variables.is_empty() && fmu.control.lanes.is_empty());
    assert!(plan.units.iter().flat_map(|unit| &unit.get).all(|batch| batch.resizable.is_none()));
    assert_eq!(plan.units[0].get.len(), 1, "one call per type");
}

proptest! {
    /// Each element of a smaller array has the column of its own indices, and no other one.
    #[test]
    fn elements_keep_their_columns(planned in prop::collection::vec(1u64..5, 1..4), less in prop::collection::vec(0u64..5, 4)) {
        let now: Vec<u64> = planned.iter().zip(&less).map(|(planned, less)| planned.saturating_sub(*less)).collect();
        let lengths: Vec<Length> = (0..planned.len()).map(Length::By).collect();
        let all = elements(&lengths, |i| planned[i]);
        let indices = |sizes: &[u64], mut element: usize| {
            let mut all: Vec<usize> = sizes.iter().rev().map(|n| {
                let index = element % *n as usize;
                element /= *n as usize;
                index
            }).collect();
            all.reverse();
            all
        };
        let mut seen = 0;
        for element in 0..all {
            if let Some(place) = place(&lengths, element, |i| planned[i], |i| now[i]) {
                prop_assert_eq!(indices(&planned, element), indices(&now, place));
                seen += 1;
            }
        }
        prop_assert_eq!(seen, elements(&lengths, |i| now[i]));
    }
}
