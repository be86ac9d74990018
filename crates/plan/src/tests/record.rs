//! Recorded columns.

use super::*;
use crate::rig::Rule;
use vecud_description::VariableType;

fn columns(plan: &Plan) -> Vec<&str> {
    plan.signals.iter().map(|signal| signal.name.as_str()).collect()
}

#[test]
fn without_a_record_table_nothing_is_recorded() {
    assert!(ecu_and_plant("").signals.is_empty());
}

#[test]
fn columns_stand_in_rig_order_then_document_order() {
    let plan = ecu_and_plant("[record]\nsignals = [\"plant.speed\", \"ecu.t*\"]\n");
    assert_eq!(columns(&plan), ["ecu.throttle", "ecu.teeth", "ecu.ticks", "plant.speed"]);
}

#[test]
fn arrays_have_one_column_per_element() {
    let plan = ecu_and_plant("[record]\nsignals = [\"plant.field\"]\n");
    let expected = ["[1,1]", "[1,2]", "[1,3]", "[2,1]", "[2,2]", "[2,3]"].map(|i| format!("plant.field{i}"));
    assert_eq!(columns(&plan), expected);
    let item = &plan.units.iter().find(|unit| unit.name == "step").unwrap().get[0].items[0];
    assert_eq!((item.elements, item.signals.len()), (6, 6));
}

#[test]
fn start_values_fill_the_column_until_it_is_computed() {
    let plan = ecu_and_plant("[record]\nsignals = [\"plant.throttle\", \"plant.speed\"]\n");
    assert_eq!(plan.signals[0].start, Some(vec![0.05f64.to_bits()]));
    assert_eq!(plan.signals[1].start, None);
}

/// A name that looks like a pattern is a name.
#[test]
fn a_variable_that_is_called_as_a_pattern_is_meant_alone() {
    let fmu = "<Float64 name=\"*\" valueReference=\"1\" causality=\"output\"/><Float64 name=\"x\" valueReference=\"2\"/>\
               <Float64 name=\"x?\" valueReference=\"3\"/><Float64 name=\"x1\" valueReference=\"4\"/>";
    let recorded = |signals: &str| {
        let text = format!("[fmu.a]\npath = \"a\"\n[record]\nsignals = {signals}\n");
        let plan = try_build(&text, &[description(fmu)], &host()).unwrap();
        columns(&plan).into_iter().map(str::to_owned).collect::<Vec<_>>()
    };
    assert_eq!(recorded("['a.*']"), ["a.*"]);
    assert_eq!(recorded("['a.x?', 'a.x']"), ["a.x", "a.x?"]);
    assert_eq!(recorded("['?.x*']"), ["a.x", "a.x?", "a.x1"]);
}

#[test]
fn a_pattern_that_matches_nothing_is_refused_with_the_nearest_name() {
    assert_eq!(
        problems("[record]\nsignals = [\"plant.*\", \"plant.sped\"]\n"),
        "rig.toml:6:23: no variable matches \"plant.sped\"; did you mean \"plant.speed\"?"
    );
}

#[test]
fn clocks_alone_are_noted() {
    let plan = ecu_and_plant("[record]\nsignals = [\"ecu.tick\"]\n");
    assert!(plan.signals.is_empty());
    assert!(plan.notes.iter().any(|note| note.contains("\"ecu.tick\" matches only clocks")), "{:?}", plan.notes);
}

/// Existing rigs match clocks with their patterns and do not record them.
#[test]
fn clocks_have_columns_where_the_rig_says_so_and_are_read_by_nobody() {
    assert!(!columns(&ecu_and_plant("[record]\n")).contains(&"ecu.tick"));
    let plan = ecu_and_plant("[record]\nsignals = [\"ecu.tick\", \"*.step\", \"ecu.isr\"]\nclocks = true\n");
    assert_eq!(columns(&plan), ["ecu.isr", "ecu.tick", "plant.step"]);
    for signal in &plan.signals {
        assert_eq!(
            (signal.variable_type, signal.start.clone()),
            (VariableType::Clock, Some(vec![0])),
            "{}",
            signal.name
        );
    }
    // Its own clock, and those that it may tick.
    for unit in &plan.units {
        let own: Vec<&str> = unit.ticks.iter().map(|clock| plan.signals[clock.signal.0].name.as_str()).collect();
        let expected: &[&str] = match unit.name.as_str() {
            "isr" => &["ecu.isr"],
            "slow" => &["ecu.tick"],
            "step" => &["plant.step"],
            _ => &[],
        };
        assert_eq!(own, expected, "{}", unit.name);
        assert!(unit.get.is_empty() && unit.set.is_empty(), "{}", unit.name);
    }
}

#[test]
fn an_alias_gives_its_name_to_the_column() {
    let fmu = "<Float64 name=\"x\" valueReference=\"1\"><Alias name=\"y\"/></Float64>";
    let columns_of = |signals: &str| {
        let text = format!("[fmu.a]\npath = \"a\"\n[record]\nsignals = [\"{signals}\"]\n");
        let plan = try_build(&text, &[description(fmu)], &host()).unwrap();
        plan.signals.into_iter().map(|signal| signal.name).collect::<Vec<_>>()
    };
    assert_eq!(columns_of("a.y"), ["a.y"]);
    assert_eq!(columns_of("a.*"), ["a.x"]);
}

#[test]
fn too_many_columns_are_refused_in_a_rig_and_cut_for_a_single_fmu() {
    let fmu = "<Float64 name=\"x\" valueReference=\"1\"><Dimension start=\"2000000\"/></Float64>\
        <Float64 name=\"y\" valueReference=\"2\"/>";
    let text = "[fmu.a]\npath = \"a\"\n[record]\nsignals = [\"*\"]\n";
    assert_eq!(
        try_build(text, &[description(fmu)], &host()).unwrap_err(),
        "rig.toml:4:12: 2000001 columns would be recorded, but 1048576 are possible: name fewer signals"
    );
    let rig = crate::rig::Rig::for_fmu(Path::new("a.fmu"));
    let descriptions = [description(fmu)];
    let plan = build(&rig, &inputs(&rig, &descriptions), &[], &host()).unwrap();
    assert_eq!(columns(&plan), ["a.y"]);
    assert!(plan.notes.iter().any(|note| note.starts_with("2000001 columns would be recorded")), "{:?}", plan.notes);
}

#[test]
fn of_several_rules_that_match_a_variable_the_last_one_counts() {
    let record = "[record]\n[[record.rule]]\nsignals = [\"plant.*\"]\nevery = 10\nchange = 0.5\n\
        [[record.rule]]\nsignals = [\"plant.f?eld\", \"ecu.throttle\"]\nchange = true\n";
    let plan = ecu_and_plant(record);
    for signal in &plan.signals {
        let expected = match signal.name.as_str() {
            "ecu.throttle" => Rule { every: 1, change: Some(0.0) },
            name if name.starts_with("plant.field[") => Rule { every: 1, change: Some(0.0) },
            name if name.starts_with("plant.") => Rule { every: 10, change: Some(0.5) },
            _ => Rule::ALL,
        };
        assert_eq!(signal.rule, expected, "{}", signal.name);
    }
}

#[test]
fn a_rule_that_no_recorded_variable_has_is_refused() {
    let rule = |pattern: &str| {
        problems(&format!("[record]\nsignals = [\"ecu.*\"]\n[[record.rule]]\nsignals = [\"{pattern}\"]\nevery = 2\n"))
    };
    let nothing = "rig.toml:8:12: no recorded variable matches";
    assert_eq!(rule("ecu.throtle"), format!("{nothing} \"ecu.throtle\"; did you mean \"ecu.throttle\"?"));
    assert_eq!(rule("plant.*"), format!("{nothing} \"plant.*\""));
}

#[test]
fn strings_and_binaries_are_recorded_where_the_rig_says_what_room_they_have() {
    let fmu = "<String name=\"s\" valueReference=\"1\"/><Binary name=\"b\" valueReference=\"2\" maxSize=\"5000\"/>\
        <Binary name=\"c\" valueReference=\"3\" maxSize=\"10\"/><Float64 name=\"x\" valueReference=\"4\"/>";
    let plan = |record: &str| {
        let text = format!("[fmu.a]\npath = \"a\"\n[record]\n{record}\n");
        try_build(&text, &[description(fmu)], &host()).unwrap()
    };
    assert_eq!(columns(&plan("")), ["a.x"]);
    let planned = plan("text_size = 20");
    let room: Vec<_> = planned.signals.iter().map(|signal| (signal.capacity, signal.words())).collect();
    assert_eq!(room, [(Some(20), 4), (Some(20), 4), (Some(10), 3), (None, 1)]);
    let notes = plan("signals = [\"a.s\"]").notes;
    assert!(notes.iter().any(|note| note.contains("strings and binaries, which are with text_size")), "{notes:?}");
}

/// Of a parameter nobody reads what it starts with, so that no finding counts it.
#[test]
fn a_start_value_that_is_longer_than_its_column_is_noted() {
    let fmu = "<String name=\"s\" valueReference=\"1\" causality=\"parameter\" variability=\"tunable\">\
        <Start value=\"longer\"/></String>";
    let plan = |size: usize| {
        let text = format!("[fmu.a]\npath = \"a\"\n[record]\ntext_size = {size}\n");
        try_build(&text, &[description(fmu)], &host()).unwrap()
    };
    let (short, long) = (plan(5), plan(6));
    let told = "a.s starts with 6 bytes, and 5 of a value are recorded (text_size): its cell is empty until there is one that fits";
    assert!(short.notes.iter().any(|note| note == told), "{:?}", short.notes);
    assert!(!long.notes.iter().any(|note| note.contains("text_size")), "{:?}", long.notes);
    assert_eq!((short.signals[0].start.is_some(), long.signals[0].start.is_some()), (false, true));
}

#[test]
fn more_text_than_there_is_room_for_is_refused() {
    let fmu = "<String name=\"s\" valueReference=\"1\"><Dimension start=\"40000\"/></String>\
        <Float64 name=\"y\" valueReference=\"2\"/>";
    let rig = |size: usize| format!("[fmu.a]\npath = \"a\"\n[record]\nsignals = [\"*\"]\ntext_size = {size}\n");
    assert_eq!(
        try_build(&rig(256), &[description(fmu)], &host()).unwrap_err(),
        "rig.toml:4:12: strings and binaries of 10240000 bytes would be recorded, but 8388608 are possible: name fewer signals, or \
         give a smaller text_size"
    );
    assert_eq!(try_build(&rig(100), &[description(fmu)], &host()).unwrap().signals.len(), 40001);
}
