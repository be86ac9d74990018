//! Model descriptions that nobody here wrote: set `VECUD_CORPUS` to a folder of XML files.

use crate::descriptions::foreign::skipped;
use std::path::{Path, PathBuf};
use vecud::fmu::description::{
    self, Abi, Dependency, InterfaceOffer, InterfaceType, ModelDescription, Unknown, VariableKey,
};
use vecud::fmu::description::{Values, Variable, VariableType};
use vecud::plan::{self, FmuInput, HostFacts};
use vecud::rig;
use vecud::time::Fraction;

#[test]
fn every_description_of_the_corpus_is_parsed_or_refused_with_a_place() {
    let Some(folder) = std::env::var_os("VECUD_CORPUS").map(PathBuf::from) else {
        skipped("every_description_of_the_corpus: set VECUD_CORPUS to a folder of model descriptions");
        return;
    };
    let mut files: Vec<PathBuf> = std::fs::read_dir(&folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    files.sort();
    let (mut parsed, mut refused, mut other_versions) = (0, 0, 0);
    for file in files.iter().filter(|file| file.extension().is_some_and(|e| e == "xml")) {
        let name = file.file_name().unwrap().to_string_lossy();
        let text = String::from_utf8_lossy(&std::fs::read(file).unwrap()).into_owned();
        match description::parse(&text) {
            Ok(found) => {
                parsed += 1;
                let is_fmi3 = matches!(found.abi, Abi::Fmi3 | Abi::Draft);
                other_versions += usize::from(!is_fmi3);
                for variable in &found.variables {
                    let place = Some(variable.line);
                    assert_eq!(found.variable(&variable.name).map(|v| v.line), place, "{name}");
                    let key = (variable.variable_type, variable.value_reference);
                    let root = variable.alias_of.map_or(variable, |other| &found.variables[other.position as usize]);
                    let by_reference = found.by_reference(key).map(|v| v.line);
                    assert!(by_reference == Some(root.line) || found.abi == Abi::Fmi1, "{name}");
                }
                for warning in &found.warnings {
                    eprintln!("warning {name}: {warning}");
                }
                for breach in description::breaches_of_schema(&text, &found) {
                    assert!(breach.line > 0, "{name}: {breach}");
                    eprintln!("breach {name}: {breach}");
                }
            }
            Err(error) => {
                refused += 1;
                eprintln!("refused {name}: {error}");
            }
        }
    }
    eprintln!("{parsed} parsed, {other_versions} of them of FMI 1 or 2, {refused} refused");
    assert!(parsed > 0);
}

/// Whatever somebody else has exported for Co-Simulation has a plan, with everything recorded, or a reason that names it.
#[test]
fn every_description_for_co_simulation_has_a_plan() {
    let Some(folder) = std::env::var_os("VECUD_CORPUS").map(PathBuf::from) else {
        skipped("every_description_for_co_simulation: set VECUD_CORPUS to a folder of model descriptions");
        return;
    };
    let host = HostFacts { allowed_cpus: vec![0], ..HostFacts::default() };
    let (mut planned, mut reasons) = ([0; 3], Vec::new());
    for entry in std::fs::read_dir(&folder).unwrap() {
        let file = entry.unwrap().path();
        let Ok(text) = std::fs::read(&file) else { continue };
        let Ok(found) = description::parse(&String::from_utf8_lossy(&text)) else { continue };
        let offers = |offer: &InterfaceOffer| matches!(offer, InterfaceOffer::CoSimulation(_));
        if !found.interfaces.iter().any(offers) || found.abi == Abi::Draft {
            continue;
        }
        let rig = "[rig]\nmode = 'virtual'\nstop_time = 1\n[record]\n[fmu.m]\npath = 'm'\ninterface = 'co-simulation'\nstep = 0.5\n";
        let rig = rig::parse(rig, Path::new("rig.toml")).unwrap();
        let input = FmuInput {
            description: &found,
            library: PathBuf::from("/cache/m.so"),
            folder: "/cache/m".to_owned(),
            resources: None,
            path: PathBuf::from("m"),
            tells_max_step: false,
        };
        match plan::build(&rig, &[input], &[], &host) {
            Ok(plan) => {
                assert_eq!((plan.units.len(), plan.units[0].name.as_str()), (1, "step"));
                planned[match found.abi {
                    Abi::Fmi1 => 0,
                    Abi::Fmi2 => 1,
                    Abi::Fmi3 | Abi::Draft => 2,
                }] += 1;
            }
            Err(error) => reasons.push(format!("{}: {error}", file.file_name().unwrap().display())),
        }
    }
    eprintln!("planned: {planned:?} of FMI 1, 2, 3\n{}", reasons.join("\n"));
    assert!(planned.iter().sum::<usize>() > 0);
    // FMUs of FMI 1.0 whose library only hands on to a tool, internal steps that 0.5 s is no multiple of, nothing to be recorded.
    let known = ["hands what it is told on to a tool", "fixedInternalStepSize", "no variable matches"];
    assert!(reasons.iter().all(|reason| known.iter().any(|known| reason.contains(known))), "{reasons:#?}");
}

/// What FMPy reads in the same files, by `tests/fmus/descriptions/facts.py`: hashes of each column.
const FACTS: &str = include_str!("facts.tsv");

/// Each field of FMI 1.0 and 2.0 is read as FMPy reads it, but for these exceptions, where FMPy's reading is not the
/// standard's and the script has written down the standard's:
///
/// - no variable but a Real is continuous, whatever the default (FMI 2.0.5, 2.2.7, variability);
/// - a parameter of FMI 1.0 without a start value cannot be set: it is calculated (FMI 1.0 for Model Exchange, 2.4, 3.3);
/// - kinds of another number than dependencies say nothing (FMI 2.0.5, 2.2.8).
#[test]
fn every_field_of_fmi_1_and_2_is_what_fmpy_reads() {
    let Some(folder) = std::env::var_os("VECUD_CORPUS").map(PathBuf::from) else {
        skipped("every_field_of_fmi_1_and_2: set VECUD_CORPUS to a folder of model descriptions");
        return;
    };
    let (mut compared, mut wrong) = (0, Vec::new());
    for facts in FACTS.split("file\t").skip(1) {
        let mut lines = facts.lines().map(|line| line.split('\t').collect::<Vec<_>>());
        let head = lines.next().unwrap();
        let Ok(bytes) = std::fs::read(folder.join(head[0])) else { continue };
        if fnv(&bytes) != head[1] {
            continue;
        }
        let parsed = description::parse(&String::from_utf8_lossy(&bytes));
        for fact in lines.filter(|fact| fact[0] != "refused") {
            let found = parsed.as_ref().unwrap_or_else(|error| panic!("{}: {error}", head[0]));
            let entries = column(found, fact[0]);
            let text: String = entries.iter().flat_map(|entry| [entry, "\n"]).collect();
            compared += 1;
            if (entries.len().to_string().as_str(), fnv(text.as_bytes()).as_str()) != (fact[1], fact[2]) {
                wrong.push(format!("{}: {}: {entries:?}", head[0], fact[0]));
            }
        }
    }
    eprintln!("{compared} columns compared");
    assert!(compared > 0, "no file of the corpus is one that the facts are about");
    assert!(wrong.is_empty(), "{} columns differ:\n{}", wrong.len(), wrong.join("\n"));
}

/// FNV-1a, 64 bits.
fn fnv(bytes: &[u8]) -> String {
    let hash = bytes
        .iter()
        .fold(0xcbf2_9ce4_8422_2325_u64, |hash, &byte| (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3));
    format!("{hash:016x}")
}

fn text<T: ToString>(value: Option<T>) -> String {
    value.map_or("-".to_owned(), |value| format!("={}", value.to_string()))
}

fn number(value: Option<f64>) -> String {
    value.map_or("-".to_owned(), |value| format!("{:016x}", value.to_bits()))
}

fn flag(value: bool) -> String {
    u8::from(value).to_string()
}

fn typed(values: Option<&Values>) -> String {
    match values {
        None => "-".to_owned(),
        Some(Values::Float64(v)) => number(v.first().copied()),
        Some(Values::Int32(v)) => v[0].to_string(),
        Some(Values::Int64(v)) => v[0].to_string(),
        Some(Values::Boolean(v)) => flag(v[0]),
        Some(Values::String(v)) => text(v.first()),
        Some(other) => panic!("no values of FMI 1 or 2: {other:?}"),
    }
}

fn type_name(variable_type: VariableType) -> String {
    match variable_type {
        VariableType::Float64 => "Real".to_owned(),
        VariableType::Int32 => "Integer".to_owned(),
        other => format!("{other:?}"),
    }
}

/// A word of the standard from the name of a variant.
fn word(variant: impl std::fmt::Debug) -> String {
    let name = format!("{variant:?}");
    name[..1].to_lowercase() + &name[1..]
}

fn common(interface: &InterfaceType, is_fmi1: bool) -> Vec<String> {
    let mut all = vec![interface.model_identifier.clone()];
    if !is_fmi1 {
        let flags = [
            interface.needs_execution_tool,
            interface.can_be_instantiated_only_once_per_process,
            interface.can_not_use_memory_management_functions,
            interface.can_get_and_set_fmu_state,
            interface.can_serialize_fmu_state,
            interface.provides_directional_derivatives,
        ];
        all.extend(flags.map(flag));
    }
    all
}

/// The entries of a column, as the script writes them.
fn column(found: &ModelDescription, name: &str) -> Vec<String> {
    let is_fmi1 = found.abi == Abi::Fmi1;
    let name_of = |key: VariableKey| text(found.by_reference(key).map(|v| &v.name));
    let variables = |entry: &dyn Fn(&Variable) -> String| found.variables.iter().map(entry).collect::<Vec<_>>();
    let structure = |list: &[Unknown]| {
        let mut entries = Vec::new();
        for unknown in list {
            entries.push(name_of(unknown.variable));
            entries.push(match &unknown.dependencies {
                None => "all".to_owned(),
                Some(all) => {
                    let each = |d: &Dependency| format!("{}:{}", name_of(d.on), word(d.kind));
                    all.iter().map(each).collect::<Vec<_>>().join(" ")
                }
            });
        }
        entries
    };
    match name {
        "root" => {
            let naming = Some(word(found.naming));
            let version = Some(found.fmi_version.clone());
            let name = Some(found.model_name.clone());
            let token = Some(found.instantiation_token.clone());
            let (tool, date) = (found.generation_tool.clone(), found.generation_date_and_time.clone());
            let (description, author, copyright) =
                (found.description.clone(), found.author.clone(), found.copyright.clone());
            let (own, license) = (found.version.clone(), found.license.clone());
            [version, name, token, description, author, own, copyright, license, tool, date, naming].map(text).to_vec()
        }
        "numberOfEventIndicators" => vec![found.number_of_event_indicators.unwrap_or(0).to_string()],
        "numberOfContinuousStates" => {
            let states = found.structure.continuous_state_derivatives.len() as u32;
            vec![found.number_of_continuous_states.unwrap_or(states).to_string()]
        }
        "logCategories" => {
            let entry = |c: &description::LogCategory| text(Some(&c.name)) + &text(c.description.as_ref());
            found.log_categories.iter().map(entry).collect()
        }
        "defaultExperiment" => {
            let own = &found.default_experiment;
            [own.start_time, own.stop_time, own.tolerance, own.step_size.map(Fraction::seconds)].map(number).to_vec()
        }
        "ModelExchange" => match found.model_exchange() {
            None => Vec::new(),
            Some(me) => {
                let mut all = common(&me.common, is_fmi1);
                all.extend((!is_fmi1).then(|| flag(me.needs_completed_integrator_step)));
                all
            }
        },
        "CoSimulation" => match found.co_simulation() {
            None => Vec::new(),
            Some(cs) => {
                let mut all = common(&cs.common, is_fmi1);
                if !is_fmi1 {
                    let step = cs.can_handle_variable_communication_step_size;
                    all.extend([step, cs.can_interpolate_inputs, cs.can_run_asynchronously].map(flag));
                    all.push(cs.max_output_derivative_order.to_string());
                }
                all
            }
        },
        "sourceFiles" => {
            // FMPy has one list for a model identifier, that of Model Exchange first.
            let mut files: Vec<String> = Vec::new();
            let mut first: Option<&str> = None;
            let all = [found.model_exchange().map(|me| &me.common), found.co_simulation().map(|cs| &cs.common)];
            for interface in all.into_iter().flatten() {
                if first == Some(&interface.model_identifier) {
                    continue;
                }
                if !interface.source_files.is_empty() {
                    first = first.or(Some(&interface.model_identifier));
                    files.extend(interface.source_files.iter().map(|file| text(Some(&file.name))));
                }
            }
            files
        }
        "units" => {
            let mut all = Vec::new();
            for unit in &found.units {
                all.push(text(Some(&unit.name)));
                if let Some(base) = &unit.base {
                    all.push(base.exponents.map(|exponent| exponent.to_string()).join(" "));
                    all.push(number(Some(base.factor)) + &number(Some(base.offset)));
                }
                let display = |own: &description::DisplayUnit| {
                    text(Some(&own.name)) + &number(Some(own.factor)) + &number(Some(own.offset))
                };
                all.extend(unit.display_units.iter().map(display));
            }
            all
        }
        "types" => {
            let mut all = Vec::new();
            for own in &found.types {
                all.push(format!("{} {}", text(Some(&own.name)), type_name(own.variable_type)));
                let (quantity, unit, display) =
                    (text(own.quantity.as_ref()), text(own.unit.as_ref()), text(own.display_unit.as_ref()));
                all.push(quantity + &unit + &display + &flag(own.relative_quantity));
                let (min, max) = (typed(own.min.as_deref()), typed(own.max.as_deref()));
                all.push(flag(own.unbounded) + &min + &max + &number(own.nominal));
                let item = |item: &description::EnumerationItem| {
                    format!("{}{}{}", text(Some(&item.name)), text(item.description.as_ref()), item.value)
                };
                all.extend(own.items.iter().map(item));
            }
            all
        }
        "variable.name" => variables(&|v| text(Some(&v.name))),
        "variable.description" => variables(&|v| text(v.description.as_ref())),
        "variable.type" => variables(&|v| text(Some(type_name(v.variable_type)))),
        "variable.valueReference" => variables(&|v| v.value_reference.0.to_string()),
        "variable.quantity" => variables(&|v| text(v.quantity.as_ref())),
        "variable.unit" => variables(&|v| text(v.unit.as_ref())),
        "variable.displayUnit" => variables(&|v| text(v.display_unit.as_ref())),
        "variable.min" => variables(&|v| typed(v.min.as_deref())),
        "variable.max" => variables(&|v| typed(v.max.as_deref())),
        "variable.nominal" => variables(&|v| number(v.nominal)),
        "variable.start" => variables(&|v| typed(v.start.as_ref())),
        "variable.declaredType" => variables(&|v| text(v.declared_type.as_ref())),
        "variable.derivative" => variables(&|v| {
            let state = v.derivative.map(|state| name_of((VariableType::Float64, state).into()));
            state.unwrap_or("-".to_owned())
        }),
        "variable.causality" => variables(&|v| word(v.causality)),
        "variable.variability" => variables(&|v| word(v.variability)),
        "variable.initial" => variables(&|v| text(v.initial.map(word))),
        "outputs" => structure(&found.structure.outputs),
        "derivatives" => structure(&found.structure.continuous_state_derivatives),
        "initialUnknowns" => structure(&found.structure.initial_unknowns),
        other => panic!("the facts have a column {other:?} that this test does not know"),
    }
}
