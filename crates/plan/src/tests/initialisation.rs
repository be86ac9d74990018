//! In which order FMUs are initialised, and what is set and read then (S11).

use super::*;
use crate::InitialStep;
use proptest::prelude::*;
use std::collections::{BTreeMap, BTreeSet};

/// All steps, with the names of what they set and read.
pub fn steps(plan: &Plan) -> String {
    told(plan, &plan.initialisation)
}

fn told(plan: &Plan, steps: &[InitialStep]) -> String {
    let mut all = Vec::new();
    for step in steps {
        let (word, fmu, batch) = match step {
            InitialStep::Enter(fmu) => {
                all.push(format!("enter {}", plan.fmus[fmu.0].name));
                continue;
            }
            InitialStep::Solve(own) => {
                let closing = own.closing.iter().map(|closing| plan.connections[closing.connection.0].to.as_str());
                let closing: Vec<&str> = closing.collect();
                all.push(format!("solve {} by ({})", closing.join(", "), told(plan, &own.steps)));
                continue;
            }
            InitialStep::Set { fmu, batch } => ("set", fmu, batch),
            InitialStep::Get { fmu, batch } => ("get", fmu, batch),
            InitialStep::GetInitialised { fmu, batch } => ("then get", fmu, batch),
        };
        let fmu = &plan.fmus[fmu.0].name;
        all.extend(batch.items.iter().map(|item| format!("{word} {fmu}.{}", item.name)));
    }
    all.join(", ")
}

/// An FMU for Co-Simulation of a version (30, 20, 10) with inputs `u0`, … and outputs `y0`, …; `on`: which inputs each output says that it
/// depends on, where it says so.
#[derive(Clone, Debug)]
struct Fmu {
    version: u32,
    inputs: usize,
    on: Vec<Option<Vec<usize>>>,
}

impl Fmu {
    fn new(version: u32, inputs: usize, on: &[Option<&[usize]>]) -> Fmu {
        Fmu { version, inputs, on: on.iter().map(|on| on.map(<[usize]>::to_vec)).collect() }
    }

    fn description(&self) -> ModelDescription {
        let mut description = parse(&self.xml()).unwrap();
        // That these small texts have no time is not what is tested here.
        description.warnings.retain(|warning| !warning.contains("causality independent"));
        assert!(description.warnings.is_empty(), "{:?}", description.warnings);
        description
    }

    fn xml(&self) -> String {
        let list = |first: usize, on: &Option<Vec<usize>>| match on {
            None => String::new(),
            Some(on) => {
                let numbers: Vec<String> = on.iter().map(|input| (first + input).to_string()).collect();
                format!("dependencies=\"{}\"", numbers.join(" "))
            }
        };
        let (inputs, outputs) = (0..self.inputs, self.on.iter().enumerate());
        match self.version {
            30 => {
                let inputs = inputs.map(|i| {
                    format!("<Float64 name=\"u{i}\" valueReference=\"{}\" causality=\"input\" start=\"0\"/>", 1 + i)
                });
                let variables = outputs.clone().map(|(i, _)| {
                    format!(
                        "<Float64 name=\"y{i}\" valueReference=\"{}\" causality=\"output\" initial=\"calculated\"/>",
                        100 + i
                    )
                });
                let entry = |element: &str| {
                    let entries = outputs
                        .clone()
                        .map(|(i, on)| format!("<{element} valueReference=\"{}\" {}/>", 100 + i, list(1, on)));
                    entries.collect::<String>()
                };
                format!(
                    "<fmiModelDescription fmiVersion=\"3.0\" modelName=\"m\" instantiationToken=\"t\">\
                     <CoSimulation modelIdentifier=\"m\"/><ModelVariables>{}{}</ModelVariables>\
                     <ModelStructure>{}{}</ModelStructure></fmiModelDescription>",
                    inputs.collect::<String>(),
                    variables.collect::<String>(),
                    entry("Output"),
                    entry("InitialUnknown")
                )
            }
            20 => {
                let inputs = inputs.map(|i| {
                    format!(
                        "<ScalarVariable name=\"u{i}\" valueReference=\"{}\" causality=\"input\"><Real start=\"0\"/></ScalarVariable>",
                        1 + i
                    )
                });
                let variables = outputs.clone().map(|(i, _)| {
                    format!(
                        "<ScalarVariable name=\"y{i}\" valueReference=\"{}\" causality=\"output\" initial=\"calculated\"><Real/>\
                         </ScalarVariable>",
                        100 + i
                    )
                });
                let unknowns = outputs
                    .clone()
                    .map(|(i, on)| format!("<Unknown index=\"{}\" {}/>", self.inputs + i + 1, list(1, on)));
                let unknowns: String = unknowns.collect();
                format!(
                    "<fmiModelDescription fmiVersion=\"2.0\" modelName=\"m\" guid=\"t\"><CoSimulation modelIdentifier=\"m\"/>\
                     <ModelVariables>{}{}</ModelVariables><ModelStructure><Outputs>{unknowns}</Outputs>\
                     <InitialUnknowns>{unknowns}</InitialUnknowns></ModelStructure></fmiModelDescription>",
                    inputs.collect::<String>(),
                    variables.collect::<String>()
                )
            }
            _ => {
                let inputs = inputs.map(|i| {
                    format!(
                        "<ScalarVariable name=\"u{i}\" valueReference=\"{}\" causality=\"input\"><Real start=\"0\"/></ScalarVariable>",
                        1 + i
                    )
                });
                let variables = outputs.clone().map(|(i, on)| {
                    let names = |on: &Vec<usize>| on.iter().map(|input| format!("<Name>u{input}</Name>")).collect::<String>();
                    let direct = on.as_ref().map(|on| format!("<DirectDependency>{}</DirectDependency>", names(on)));
                    format!(
                        "<ScalarVariable name=\"y{i}\" valueReference=\"{}\" causality=\"output\"><Real/>{}</ScalarVariable>",
                        100 + i,
                        direct.unwrap_or_default()
                    )
                });
                format!(
                    "<fmiModelDescription fmiVersion=\"1.0\" modelName=\"m\" modelIdentifier=\"m\" guid=\"t\" \
                     numberOfContinuousStates=\"0\" numberOfEventIndicators=\"0\"><ModelVariables>{}{}</ModelVariables>\
                     <Implementation><CoSimulation_StandAlone><Capabilities canHandleVariableCommunicationStepSize=\"true\"/>\
                     </CoSimulation_StandAlone></Implementation></fmiModelDescription>",
                    inputs.collect::<String>(),
                    variables.collect::<String>()
                )
            }
        }
    }
}

/// A rig of FMUs that have names, with connections like `a.y0 b.u0`; nothing is recorded.
fn rig(fmus: &[(&str, Fmu)], connections: &[&str]) -> Plan {
    let tables = fmus.iter().map(|(name, _)| format!("[fmu.{name}]\npath = \"{name}\"\nstep = 0.01\n"));
    let connects = connections.iter().map(|ends| {
        let (from, to) = ends.split_once(' ').unwrap();
        format!("[[connect]]\nfrom = \"{from}\"\nto = \"{to}\"\n")
    });
    let text: String = tables.chain(connects).collect();
    let descriptions: Vec<ModelDescription> = fmus.iter().map(|(_, fmu)| fmu.description()).collect();
    try_build(&text, &descriptions, &host()).unwrap()
}

const CHAIN: &str = r#"
<Clock name="c" valueReference="1" causality="input" intervalVariability="constant" intervalDecimal="1" priority="1"/>
<Float64 name="u" valueReference="2" causality="input" start="1"/>
<Float64 name="y" valueReference="3" causality="output" initial="calculated"/>"#;

#[test]
fn initial_outputs_travel_in_dependency_order() {
    let text = "[fmu.a]\npath = \"a\"\n[fmu.b]\npath = \"b\"\n[fmu.c]\npath = \"c\"\n\
        [[connect]]\nfrom = \"c.y\"\nto = \"a.u\"\n[[connect]]\nfrom = \"a.y\"\nto = \"b.u\"\n";
    let plan = try_build(text, &[CHAIN; 3].map(description), &host()).unwrap();
    // b.y feeds nothing and is not recorded.
    assert_eq!(steps(&plan), "enter c, get c.y, enter a, set a.u, get a.y, enter b, set b.u");
    assert!(plan.notes.is_empty());
}

#[test]
fn a_circle_is_cut_and_noted() {
    let text = "[fmu.a]\npath = \"a\"\n[fmu.b]\npath = \"b\"\n\
        [[connect]]\nfrom = \"b.y\"\nto = \"a.u\"\n[[connect]]\nfrom = \"a.y\"\nto = \"b.u\"\n";
    let plan = try_build(text, &[CHAIN; 2].map(description), &host()).unwrap();
    assert_eq!(steps(&plan), "enter a, get a.y, enter b, set b.u, get b.y");
    assert_eq!(
        plan.notes,
        [
            "a.u starts with its own start value: it gets b.y only when that is first computed after initialisation, because the FMUs \
             feed each other in a circle (a.u, a.y, b.u, b.y depend on each other)"
        ]
    );
}

#[test]
fn of_a_long_circle_some_variables_are_named() {
    let fmus: Vec<(String, Fmu)> = (0..9).map(|i| (format!("f{i}"), Fmu::new(30, 1, &[Some(&[0])]))).collect();
    let fmus: Vec<(&str, Fmu)> = fmus.iter().map(|(name, fmu)| (name.as_str(), fmu.clone())).collect();
    let connections: Vec<String> = (0..9).map(|i| format!("f{i}.y0 f{}.u0", (i + 1) % 9)).collect();
    let connections: Vec<&str> = connections.iter().map(String::as_str).collect();
    let plan = rig(&fmus, &connections);
    let circles: Vec<&String> = plan.notes.iter().filter(|note| note.contains("start value")).collect();
    assert!(
        matches!(circles[..], [only] if only.ends_with("f5.u0, f5.y0 and 6 more depend on each other)")),
        "{circles:?}"
    );
}

#[test]
fn clocked_outputs_have_no_initial_value() {
    let plan = ecu_and_plant("[[connect]]\nfrom = \"ecu.throttle\"\nto = \"plant.throttle\"\n[record]\n");
    assert_eq!(steps(&plan), "enter ecu, get ecu.alive, enter plant, get plant.count");
}

/// `y0` of `a` goes through `b` and comes back as `u1` of `a`, which goes through `b` once more.
const THERE_AND_BACK: [&str; 3] = ["a.y0 b.u0", "b.y0 a.u1", "a.y1 b.u1"];

#[test]
fn fmus_whose_variables_are_no_circle_take_turns() {
    for version in [30, 20] {
        let fmu = Fmu::new(version, 2, &[Some(&[0]), Some(&[1])]);
        let plan = rig(&[("a", fmu.clone()), ("b", fmu.clone())], &THERE_AND_BACK);
        assert_eq!(
            steps(&plan),
            "enter a, get a.y0, enter b, set b.u0, get b.y0, set a.u1, get a.y1, set b.u1",
            "{version}"
        );
        let plan = rig(&[("b", fmu.clone()), ("a", fmu)], &THERE_AND_BACK);
        assert_eq!(
            steps(&plan),
            "enter b, enter a, get a.y0, set b.u0, get b.y0, set a.u1, get a.y1, set b.u1",
            "{version}"
        );
        assert!(!plan.notes.iter().any(|note| note.contains("start value")), "{:?}", plan.notes);
    }
}

#[test]
fn what_says_nothing_of_its_dependencies_depends_on_all_inputs() {
    for version in [30, 20, 10] {
        let silent = Fmu::new(version, 2, &[None, None]);
        let plan = rig(&[("a", silent.clone()), ("b", silent)], &THERE_AND_BACK);
        assert!(!steps(&plan).contains("a.u1"), "{}", steps(&plan));
        assert_eq!(plan.notes.iter().filter(|note| note.starts_with("a.u1 starts with its own")).count(), 1);
    }
}

#[test]
fn a_circle_through_some_variables_is_cut_and_the_others_start_right() {
    // a.y0 and b.y0 are computed from each other; b.y1 feeds a.u1 on whatever place a stands.
    let fmu = Fmu::new(30, 2, &[Some(&[0]), Some(&[])]);
    let connections = ["a.y0 b.u0", "b.y0 a.u0", "b.y1 a.u1", "a.y1 b.u1"];
    let plan = rig(&[("a", fmu.clone()), ("b", fmu)], &connections);
    assert_eq!(steps(&plan), "enter a, get a.y0, get a.y1, enter b, set b.u0, set b.u1, get b.y0, get b.y1, set a.u1");
    let notes: Vec<&String> = plan.notes.iter().filter(|note| note.contains("start value")).collect();
    assert!(matches!(notes[..], [one] if one.ends_with("(a.u0, a.y0, b.u0, b.y0 depend on each other)")), "{notes:?}");
}

#[test]
fn an_exact_output_is_its_start_value_whatever_it_depends_on_later() {
    let exact = Fmu::new(30, 1, &[Some(&[0])]).xml().replace("initial=\"calculated\"", "initial=\"exact\" start=\"7\"");
    let (unknowns, _) = exact.split_once("<InitialUnknown").unwrap();
    let exact = parse(&format!("{unknowns}</ModelStructure></fmiModelDescription>")).unwrap();
    let other = Fmu::new(30, 1, &[Some(&[0])]).description();
    let text = "[fmu.a]\npath = \"a\"\nstep = 0.01\n[fmu.b]\npath = \"b\"\nstep = 0.01\n\
        [[connect]]\nfrom = \"a.y0\"\nto = \"b.u0\"\n[[connect]]\nfrom = \"b.y0\"\nto = \"a.u0\"\n";
    let plan = try_build(text, &[exact, other], &host()).unwrap();
    assert_eq!(steps(&plan), "enter a, get a.y0, enter b, set b.u0, get b.y0, set a.u0");
}

/// Of an output that is not among the initial unknowns, what is said of later values counts if it is said in words of inputs.
#[test]
fn an_output_that_depends_on_a_state_depends_on_all_inputs_unless_the_state_is_exact() {
    let xml = |initial: &str| {
        format!(
            "<fmiModelDescription fmiVersion=\"2.0\" modelName=\"m\" guid=\"t\"><CoSimulation modelIdentifier=\"m\"/><ModelVariables>\
             <ScalarVariable name=\"u0\" valueReference=\"1\" causality=\"input\"><Real start=\"0\"/></ScalarVariable>\
             <ScalarVariable name=\"y0\" valueReference=\"2\" causality=\"output\" initial=\"calculated\"><Real/></ScalarVariable>\
             <ScalarVariable name=\"x\" valueReference=\"3\" {initial}</ScalarVariable></ModelVariables>\
             <ModelStructure><Outputs><Unknown index=\"2\" dependencies=\"3\"/></Outputs></ModelStructure></fmiModelDescription>"
        )
    };
    let text = "[fmu.a]\npath = \"a\"\nstep = 0.01\n[[connect]]\nfrom = \"a.y0\"\nto = \"a.u0\"\n";
    let planned = |initial: &str| steps(&try_build(text, &[parse(&xml(initial)).unwrap()], &host()).unwrap());
    assert_eq!(planned("initial=\"exact\"><Real start=\"1\"/>"), "enter a, get a.y0, set a.u0");
    assert_eq!(planned("initial=\"calculated\"><Real/>"), "enter a, get a.y0");
}

#[test]
fn fmi_1_gets_all_inputs_before_and_gives_outputs_after_at_its_place() {
    let new = Fmu::new(30, 1, &[Some(&[0])]);
    let old = Fmu::new(10, 1, &[Some(&[0])]);
    let plan = rig(&[("old", old), ("a", new.clone()), ("b", new)], &["a.y0 old.u0", "old.y0 b.u0"]);
    assert_eq!(steps(&plan), "enter a, get a.y0, set old.u0, enter old, get old.y0, enter b, set b.u0");
}

/// No variables depend on each other here. But the outputs of the old FMU come after all its inputs, and what comes too late for
/// it is what goes through others; these start right.
#[test]
fn in_a_circle_that_only_fmi_1_makes_it_is_the_one_that_keeps_a_start_value() {
    let through = Fmu::new(30, 1, &[Some(&[0])]);
    let old = Fmu::new(10, 1, &[Some(&[])]);
    let connections = ["old.y0 a.u0", "a.y0 old.u0"];
    for fmus in [[("a", through.clone()), ("old", old.clone())], [("old", old), ("a", through)]] {
        let plan = rig(&fmus, &connections);
        let first = fmus[0].0;
        let expected = match first {
            "a" => "enter a, enter old, get old.y0, set a.u0, get a.y0",
            _ => "enter old, get old.y0, enter a, set a.u0, get a.y0",
        };
        assert_eq!(steps(&plan), expected);
        let notes: Vec<&String> = plan.notes.iter().filter(|note| note.contains("start value")).collect();
        let words = "old.u0 starts with its own start value: it gets a.y0 only when that is first computed after initialisation, because \
                     the FMUs feed each other in a circle, and old of FMI 1.0 has outputs only when it has been initialised with its inputs";
        assert!(matches!(notes[..], [one] if one.starts_with(words)), "{notes:?}");
    }
}

/// A note names the first of the inputs that keep their own start values in a circle, however many these are.
#[test]
fn a_circle_is_one_note() {
    let all: Vec<usize> = (0..14).collect();
    let own = Fmu::new(20, 14, &[Some(all.as_slice()); 14]);
    let connections: Vec<String> = (0..14).flat_map(|n| [format!("a.y{n} b.u{n}"), format!("b.y{n} a.u{n}")]).collect();
    let connections: Vec<&str> = connections.iter().map(String::as_str).collect();
    let plan = rig(&[("a", own.clone()), ("b", own)], &connections);
    let notes: Vec<&String> = plan.notes.iter().filter(|note| note.contains("own start value")).collect();
    let [note] = notes[..] else { panic!("{notes:?}") };
    assert!(
        note.starts_with("a.u0, a.u1, ")
            && note.contains(", a.u11 and 2 more start with their own start values: they get b.y0, "),
        "{note}"
    );
}

/// The same with all FMUs in one group.
fn grouped(fmus: &[(&str, Fmu)], connections: &[&str], loops: &str) -> Plan {
    let tables = fmus.iter().map(|(name, _)| format!("[fmu.{name}]\npath = \"{name}\"\n"));
    let names: Vec<&str> = fmus.iter().map(|(name, _)| *name).collect();
    let group = format!("[master.g]\nfmus = {names:?}\nstep = 0.01\nloops = \"{loops}\"\n");
    let connects = connections.iter().map(|ends| {
        let (from, to) = ends.split_once(' ').unwrap();
        format!("[[connect]]\nfrom = \"{from}\"\nto = \"{to}\"\n")
    });
    let text: String = tables.chain([group]).chain(connects).collect();
    let descriptions: Vec<ModelDescription> = fmus.iter().map(|(_, fmu)| fmu.description()).collect();
    try_build(&text, &descriptions, &host()).unwrap()
}

#[test]
fn a_group_solves_its_circles_where_they_stand() {
    let fmu = Fmu::new(30, 2, &[Some(&[0, 1]), Some(&[1])]);
    // c feeds the circle of a and b, which feeds c.
    let connections = ["a.y0 b.u0", "b.y0 a.u0", "c.y1 a.u1", "a.y0 c.u0"];
    let fmus = [("a", fmu.clone()), ("b", fmu.clone()), ("c", fmu)];
    let plan = grouped(&fmus, &connections, "newton");
    assert_eq!(
        steps(&plan),
        "enter a, enter b, enter c, get c.y1, set a.u1, solve a.u0 by (set a.u0, get a.y0, set b.u0, get b.y0), set c.u0"
    );
    let words =
        "[master.g] has an algebraic loop initially, which is solved: a.u0, a.y0, b.u0, b.y0 depend on each other";
    assert!(plan.notes.iter().any(|note| note == words), "{:?}", plan.notes);
    let Some(InitialStep::Solve(own)) = plan.initialisation.iter().find(|step| matches!(step, InitialStep::Solve(_)))
    else {
        panic!("{:?}", plan.initialisation)
    };
    assert_eq!((own.closing.len(), &own.closing[0].start[..], own.closing[0].nominal), (1, &[0.0][..], 1.0));
}

#[test]
fn an_input_that_is_set_only_once_is_in_no_circle_that_is_solved() {
    let xml = Fmu::new(30, 1, &[Some(&[0])]).xml();
    let once = xml.replace("start=\"0\"", "start=\"0\" canHandleMultipleSetPerTimeInstant=\"false\"");
    let text = "[fmu.a]\npath = \"a\"\n[master.g]\nfmus = [\"a\"]\nstep = 0.01\nloops = \"newton\"\n\
        [[connect]]\nfrom = \"a.y0\"\nto = \"a.u0\"\n";
    let built = |xml: &str| try_build(text, &[parse(xml).unwrap()], &host());
    assert!(built(&xml).is_ok());
    let refused = built(&once).unwrap_err();
    let words = "loops = \"newton\" cannot solve the algebraic loop of [master.g] (a.u0, a.y0 depend on each other): a.u0 is set only once";
    assert!(refused.contains(words), "{refused}");
}

/// FMI 1.0 is initialised once, with all that it gets.
#[test]
fn no_circle_is_solved_through_fmi_1() {
    let new = Fmu::new(30, 1, &[Some(&[0])]);
    let old = Fmu::new(10, 1, &[Some(&[0])]);
    let plan = grouped(&[("a", new), ("old", old)], &["a.y0 old.u0", "old.y0 a.u0"], "newton");
    assert_eq!(steps(&plan), "enter a, get a.y0, set old.u0, enter old, get old.y0");
    assert!(plan.notes.iter().any(|note| note.starts_with("a.u0 starts with its own start value")), "{:?}", plan.notes);
}

/// What is recorded of a group does not depend on the order of the rig.
#[test]
fn in_a_group_names_decide_which_input_keeps_its_start_value() {
    let fmu = || Fmu::new(30, 1, &[Some(&[0])]);
    for names in [["a", "b"], ["b", "a"]] {
        let plan = grouped(&names.map(|name| (name, fmu())), &["a.y0 b.u0", "b.y0 a.u0"], "report");
        assert!(steps(&plan).contains("set b.u0") && !steps(&plan).contains("set a.u0"), "{}", steps(&plan));
    }
}

/// What each input and output starts with, as a text of what it was computed from: as the steps do it.
fn carried_out(plan: &Plan, fmus: &BTreeMap<String, Fmu>) -> BTreeMap<String, String> {
    let mut values: BTreeMap<String, String> = BTreeMap::new();
    let mut entered = BTreeSet::new();
    for step in &plan.initialisation {
        let (InitialStep::Enter(fmu) | InitialStep::Set { fmu, .. } | InitialStep::Get { fmu, .. }) = step else {
            panic!("there is no group that solves loops: {step:?}")
        };
        let name = &plan.fmus[fmu.0].name;
        let fmu = &fmus[name];
        match step {
            InitialStep::Enter(_) => assert!(entered.insert(name.clone()), "{name} enters once"),
            InitialStep::Solve(_) | InitialStep::GetInitialised { .. } => {}
            InitialStep::Set { batch, .. } => {
                assert_eq!(entered.contains(name), fmu.version > 10, "{name} is set when it may be");
                for item in &batch.items {
                    let [connection] = item.connections[..] else { panic!("{name}.{} is set from nowhere", item.name) };
                    let value = values[&plan.connections[connection.0].from].clone();
                    assert!(values.insert(format!("{name}.{}", item.name), value).is_none(), "it is set once");
                }
            }
            InitialStep::Get { batch, .. } => {
                assert!(entered.contains(name), "{name} is read when it may be");
                for item in &batch.items {
                    let output: usize = item.name[1..].parse().unwrap();
                    let value = computed(name, fmu, output, |input| values.get(&input).cloned());
                    assert!(values.insert(format!("{name}.y{output}"), value).is_none(), "it is read once");
                }
            }
        }
    }
    assert_eq!(entered.len(), fmus.len());
    values
}

/// The initial value of an output, where `input` says what an input has got.
fn computed(name: &str, fmu: &Fmu, output: usize, input: impl Fn(String) -> Option<String>) -> String {
    let on = fmu.on[output].clone().unwrap_or_else(|| (0..fmu.inputs).collect());
    let of = |i: usize| input(format!("{name}.u{i}")).unwrap_or_else(|| "start".to_owned());
    format!("{name}.y{output}({})", on.into_iter().map(of).collect::<Vec<_>>().join(","))
}

/// The same by its definition.
fn defined(output: &str, fmus: &BTreeMap<String, Fmu>, sources: &BTreeMap<String, String>) -> String {
    let (name, variable) = output.split_once('.').unwrap();
    let source = |input: String| sources.get(&input).map(|source| defined(source, fmus, sources));
    computed(name, &fmus[name], variable[1..].parse().unwrap(), source)
}

/// Inputs with their sources of which no value gets back to the input, neither through variables nor, where `whole` says so of an
/// FMU, through this as a whole.
fn free(
    fmus: &BTreeMap<String, Fmu>,
    sources: &BTreeMap<String, String>,
    whole: impl Fn(&Fmu) -> bool,
) -> BTreeMap<String, String> {
    let comes_back = |start: &String| {
        let (mut waiting, mut seen) = (vec![sources[start].clone()], BTreeSet::new());
        while let Some(output) = waiting.pop() {
            let (name, variable) = output.split_once('.').unwrap();
            let fmu = &fmus[name];
            let said = fmu.on[variable[1..].parse::<usize>().unwrap()].clone().filter(|_| !whole(fmu));
            for input in said.unwrap_or_else(|| (0..fmu.inputs).collect()) {
                let input = format!("{name}.u{input}");
                if input == *start {
                    return true;
                }
                if seen.insert(input.clone()) {
                    waiting.extend(sources.get(&input).cloned());
                }
            }
        }
        false
    };
    sources.iter().filter(|(input, _)| !comes_back(input)).map(|(a, b)| (a.clone(), b.clone())).collect()
}

fn any_fmu() -> impl Strategy<Value = Fmu> {
    let on = proptest::option::weighted(0.8, proptest::sample::subsequence(vec![0, 1], 0..=2));
    (proptest::sample::select(vec![30, 30, 20, 10]), proptest::collection::vec(on, 2)).prop_map(|(version, on)| Fmu {
        version,
        inputs: 2,
        on,
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    #[test]
    fn every_input_starts_with_what_its_source_starts_with_unless_that_depends_on_it(
        fmus in proptest::collection::vec(any_fmu(), 3),
        sources in proptest::collection::vec(proptest::option::weighted(0.7, 0..6_usize), 6),
        orders in (0..3_usize, any::<bool>()),
    ) {
        let names = ["a", "b", "c"];
        let by_name: BTreeMap<String, Fmu> = names.iter().map(|name| name.to_string()).zip(fmus.clone()).collect();
        let port = |number: usize, letter: &str| format!("{}.{letter}{}", names[number / 2], number % 2);
        let sources: BTreeMap<String, String> = sources
            .iter()
            .enumerate()
            .filter_map(|(input, source)| Some((port(input, "u"), port((*source)?, "y"))))
            .collect();
        let connections: Vec<String> = sources.iter().map(|(to, from)| format!("{from} {to}")).collect();
        let connections: Vec<&str> = connections.iter().map(String::as_str).collect();
        let mut placed: Vec<(&str, Fmu)> = names.into_iter().zip(fmus).collect();
        placed.rotate_left(orders.0);
        if orders.1 {
            placed.reverse();
        }

        let plan = rig(&placed, &connections);
        let kept_alone = |note: &String| note.split_once(" start").map(|(inputs, _)| inputs.split(", ").map(str::to_owned).collect::<Vec<_>>());
        let own: Vec<String> =
            plan.notes.iter().filter(|note| note.contains(" own start value")).filter_map(kept_alone).flatten().collect();
        let noted = |input: &str| own.iter().any(|name| name == input);
        let values = carried_out(&plan, &by_name);
        let kept: BTreeMap<String, String> =
            sources.iter().filter(|(input, _)| !noted(input)).map(|(a, b)| (a.clone(), b.clone())).collect();
        for (input, source) in &kept {
            prop_assert_eq!(values.get(input), Some(&defined(source, &by_name, &kept)), "{}", input);
        }
        prop_assert_eq!(values.keys().filter(|name| name.contains(".u")).count(), kept.len());
        for input in free(&by_name, &sources, |fmu| fmu.version == 10).keys() {
            prop_assert!(kept.contains_key(input), "{} is cut without need: {:?}", input, plan.notes);
        }
        // A circle that only FMI 1.0 makes ends before an FMU of it.
        for input in free(&by_name, &sources, |_| false).keys() {
            let is_late = by_name[input.split_once('.').unwrap().0].version == 10;
            prop_assert!(is_late || kept.contains_key(input), "{} is cut without need: {:?}", input, plan.notes);
        }
    }
}

/// FMI 2.0.5, 4.2.4 and 3.2.3: in Initialization Mode outputs and initial unknowns are read, whichever their names, and nothing else; the rest
/// when the FMU has left it. Other versions give all variables there.
#[test]
fn of_fmi_2_only_what_may_be_asked_for_is_read_in_initialization_mode() {
    let local = |name: &str, reference: u32, more: &str| {
        format!(
            "<ScalarVariable name=\"{name}\" valueReference=\"{reference}\" causality=\"local\" initial=\"calculated\"><Real{more}/>\
             </ScalarVariable>"
        )
    };
    let variables = [
        local("aside", 1, ""),
        local("listed", 2, ""),
        local("x", 3, ""),
        local("der(x)", 4, " derivative=\"3\""),
        local("output_too", 5, ""),
        "<ScalarVariable name=\"y\" valueReference=\"5\" causality=\"output\" initial=\"calculated\"><Real/></ScalarVariable>".to_owned(),
    ];
    for interface in ["CoSimulation", "ModelExchange"] {
        let xml = format!(
            "<fmiModelDescription fmiVersion=\"2.0\" modelName=\"m\" guid=\"t\"><{interface} modelIdentifier=\"m\"/>\
             <ModelVariables>{}</ModelVariables><ModelStructure><Outputs><Unknown index=\"6\"/></Outputs>\
             <Derivatives><Unknown index=\"4\"/></Derivatives>\
             <InitialUnknowns><Unknown index=\"2\"/><Unknown index=\"4\"/><Unknown index=\"6\"/></InitialUnknowns></ModelStructure>\
             </fmiModelDescription>",
            variables.concat()
        );
        let text = "[fmu.a]\npath = \"a\"\nstep = 0.01\n[record]\nsignals = [\"a.*\"]\n";
        let plan = try_build(text, &[parse(&xml).unwrap()], &host()).unwrap();
        let steps = steps(&plan);
        let read =
            |word: &str| steps.split(", ").filter_map(|step| step.strip_prefix(word)).collect::<BTreeSet<&str>>();
        assert_eq!(read("get a."), BTreeSet::from(["listed", "der(x)", "output_too", "y"]), "{steps}");
        assert_eq!(read("then get a."), BTreeSet::from(["aside", "x"]), "{steps}");
    }
}
