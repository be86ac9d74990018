//! `vecud inspect`: the content of an FMU, as text and as JSON.
//!
//! Pure: both come from the model description and the start values that somebody gives.

use super::fit::Fit;
use super::names::{names, type_in, variability_name};
use super::view::{ListStyle, View};
use super::{graph, tree};
use serde::ser::{Serialize, SerializeMap, Serializer};
use serde_json::{Value, json};
use std::io;
use vecud_base::columns::{self, indented};
use vecud_base::plain::{Plain, plain};
use vecud_base::time::Fraction;
use vecud_description::{
    Abi, Clock, ClockType, Dimension, Initial, InterfaceOffer, IntervalVariability, ModelDescription, Time, Unknown,
    Values, Variable, VariableKey, VariableType,
};
use vecud_plan::table::interval_text;

/// For people. Written line by line: of a million variables the whole would take gigabytes.
pub fn write_text(view: &View, mut out: impl io::Write) -> io::Result<()> {
    let description = view.description;
    let dialect = match description.abi {
        Abi::Fmi1 | Abi::Fmi2 | Abi::Fmi3 => "",
        Abi::Draft => ", draft dialect",
    };
    let (name, version) = (Plain(&description.model_name), Plain(&description.fmi_version));
    writeln!(out, "{name} (FMI {version}{dialect})")?;
    if !view.only.is_everything() {
        return selected(view, &mut out);
    }
    writeln!(out, "{}", indented(facts(description).iter(), &[]).trim_end())?;
    section(&mut out, "Interfaces", columns::lines(interfaces(description).iter(), &[]))?;
    clocks(view, "Clocks", &mut out)?;
    let edges = graph::edges(description);
    section(&mut out, "Who may tick what", edges.iter().map(|edge| plain(&edge.text(description))))?;
    variables(view, "Variables", &mut out)?;
    let categories = description.log_categories.iter();
    let categories = categories.map(|own| [own.name.clone(), own.description.clone().unwrap_or_default()]);
    section(&mut out, "Log categories", columns::lines(categories, &[]))?;
    section(&mut out, "Warnings", description.warnings.iter().map(|warning| plain(warning)))
}

/// Of clocks and other variables those that somebody wants to see, and how many there are of each.
fn selected(view: &View, out: &mut impl io::Write) -> io::Result<()> {
    let all = || view.description.variables.iter();
    let (clock_count, shown_clocks) = (all().filter(|v| v.clock.is_some()).count(), view.shown_clocks().count());
    let (count, shown) = (all().count() - clock_count, view.shown().count() - shown_clocks);
    clocks(view, &format!("Clocks ({shown_clocks} of {clock_count})"), out)?;
    match shown + shown_clocks {
        0 => writeln!(out, "\nNone of its {} variables is like that", count + clock_count),
        _ => variables(view, &format!("Variables ({shown} of {count})"), out),
    }
}

/// Facts about the whole FMU, each with its name.
fn facts(description: &ModelDescription) -> Vec<Vec<String>> {
    let facts = [
        ("description", &description.description),
        ("author", &description.author),
        ("version", &description.version),
        ("copyright", &description.copyright),
        ("license", &description.license),
        ("made by", &description.generation_tool),
        ("made at", &description.generation_date_and_time),
    ];
    let mut rows: Vec<Vec<String>> = Vec::new();
    rows.extend(facts.into_iter().filter_map(|(name, fact)| Some(vec![name.to_owned(), fact.clone()?])));
    let token = if description.abi.is_earlier() { "guid" } else { "token" };
    rows.push(vec![token.to_owned(), description.instantiation_token.clone()]);
    let counts = [
        ("states", description.number_of_continuous_states),
        ("event indicators", description.number_of_event_indicators),
    ];
    rows.extend(counts.into_iter().filter_map(|(name, count)| Some(vec![name.to_owned(), count?.to_string()])));
    if !description.vendor_annotations.is_empty() {
        rows.push(vec!["data for".to_owned(), description.vendor_annotations.join(", ")]);
    }
    let experiment = &description.default_experiment;
    let seconds = |name: &str, value: Option<f64>| value.map(|value| format!("{name} {value} s"));
    let times = [
        seconds("start", experiment.start_time),
        seconds("stop", experiment.stop_time),
        seconds("step", experiment.step_size.map(Fraction::seconds)),
    ];
    let times: Vec<String> = times.into_iter().flatten().collect();
    if !times.is_empty() {
        rows.push(vec!["experiment".to_owned(), times.join(", ")]);
    }
    rows.extend(time_unit(&description.time).map(|text| vec!["time in".to_owned(), text]));
    rows
}

/// The unit in which the FMU counts time, if that is not the second.
fn time_unit(time: &Time) -> Option<String> {
    let name = time.name.as_deref()?;
    match time.unit {
        Ok(unit) if unit.is_second() => None,
        Ok(unit) => Some(format!("{name} = {} s", unit.seconds().seconds())),
        Err(why) => Some(format!("{name}, no unit of time that is known: {why}")),
    }
}

/// For programs. Written variable by variable: of a million of them the whole would take gigabytes.
pub fn write_json(view: &View, mut out: impl io::Write) -> io::Result<()> {
    let description = view.description;
    let experiment = &description.default_experiment;
    let interfaces: serde_json::Map<String, Value> = description
        .interfaces
        .iter()
        .map(|interface| (interface.interface().name().replace([' ', '-'], ""), interface_json(description, interface)))
        .collect();
    let dialect = match description.abi {
        Abi::Fmi1 | Abi::Fmi2 => None,
        Abi::Fmi3 => Some("released"),
        Abi::Draft => Some("draft"),
    };
    let experiment = json!({
        "startTime": experiment.start_time,
        "stopTime": experiment.stop_time,
        "tolerance": experiment.tolerance,
        "stepSize": experiment.step_size.map(Fraction::seconds),
    });
    let mut json = serde_json::Serializer::pretty(&mut out);
    let mut all = json.serialize_map(None)?;
    all.serialize_entry("author", &description.author)?;
    let edges = graph::edges(description);
    all.serialize_entry("clockGraph", &Each(|| edges.iter().map(|edge| edge.json(description))))?;
    all.serialize_entry("copyright", &description.copyright)?;
    all.serialize_entry("defaultExperiment", &experiment)?;
    all.serialize_entry("description", &description.description)?;
    all.serialize_entry("dialect", &dialect)?;
    all.serialize_entry("fmiVersion", &description.fmi_version)?;
    all.serialize_entry("generationDateAndTime", &description.generation_date_and_time)?;
    all.serialize_entry("generationTool", &description.generation_tool)?;
    all.serialize_entry("instantiationToken", &description.instantiation_token)?;
    all.serialize_entry("interfaces", &interfaces)?;
    all.serialize_entry("license", &description.license)?;
    all.serialize_entry("logCategories", &Each(|| description.log_categories.iter().map(|category| &category.name)))?;
    all.serialize_entry("modelName", &description.model_name)?;
    if description.abi.is_earlier() {
        all.serialize_entry("modelStructure", &structure_json(description))?;
        all.serialize_entry("numberOfContinuousStates", &description.number_of_continuous_states)?;
        all.serialize_entry("numberOfEventIndicators", &description.number_of_event_indicators)?;
    }
    let seconds = description.time.unit.ok().map(|unit| unit.seconds().seconds());
    all.serialize_entry("timeUnit", &json!({ "name": description.time.name, "seconds": seconds }))?;
    all.serialize_entry("variables", &Each(|| view.shown().map(|(index, v)| variable_json(view, index, v))))?;
    if description.abi.is_earlier() {
        all.serialize_entry("vendorAnnotations", &description.vendor_annotations)?;
    }
    all.serialize_entry("version", &description.version)?;
    all.serialize_entry("warnings", &description.warnings)?;
    all.end()?;
    writeln!(out)
}

/// A list of which each item is made when it is written.
struct Each<F>(F);

impl<F: Fn() -> I, I: Iterator<Item: Serialize>> Serialize for Each<F> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq((self.0)())
    }
}

/// Lines under a title; nothing where there are none.
fn section(out: &mut impl io::Write, title: &str, lines: impl Iterator<Item = String>) -> io::Result<()> {
    for (number, line) in lines.enumerate() {
        if number == 0 {
            writeln!(out, "\n{title}")?;
        }
        writeln!(out, "  {line}")?;
    }
    Ok(())
}

/// A table under a title, as far as the screen has room for it: which of its columns are right-aligned, and which can be missed, the
/// most dispensable first.
fn table(
    view: &View,
    out: &mut impl io::Write,
    title: &str,
    rows: impl Iterator<Item = Vec<String>> + Clone,
    (right, spare): (&[usize], &[usize]),
) -> io::Result<()> {
    let Some(screen) = view.screen else { return section(out, title, columns::lines(rows, right)) };
    let fit = Fit::of(rows.clone(), spare, screen);
    let right: Vec<usize> = right.iter().filter_map(|column| fit.place(*column)).collect();
    let lines = columns::lines(rows.clone().map(|row| fit.row(row)), &right);
    section(out, title, lines.map(|line| fit.line(line)))?;
    let head = rows.into_iter().next().unwrap_or_default();
    let missing: Vec<&str> = fit.missing().filter_map(|column| Some(head.get(column)?.as_str())).collect();
    match missing.as_slice() {
        [] => Ok(()),
        names => writeln!(out, "  (no room for: {})", names.join(", ")),
    }
}

/// Flags by the names of their attributes.
type Flags = Vec<(&'static str, bool)>;

/// The flags of an interface type, as the description's version has them.
fn flags(description: &ModelDescription, interface: &InterfaceOffer) -> Flags {
    let common = interface.common();
    let mut all = vec![
        ("needsExecutionTool", common.needs_execution_tool),
        ("canBeInstantiatedOnlyOncePerProcess", common.can_be_instantiated_only_once_per_process),
    ];
    match description.abi {
        Abi::Fmi1 => {
            all.push(("canNotUseMemoryManagementFunctions", common.can_not_use_memory_management_functions));
        }
        Abi::Fmi2 => all.extend([
            ("canNotUseMemoryManagementFunctions", common.can_not_use_memory_management_functions),
            ("canGetAndSetFMUstate", common.can_get_and_set_fmu_state),
            ("canSerializeFMUstate", common.can_serialize_fmu_state),
            ("providesDirectionalDerivative", common.provides_directional_derivatives),
        ]),
        Abi::Fmi3 | Abi::Draft => all.extend([
            ("canGetAndSetFMUState", common.can_get_and_set_fmu_state),
            ("canSerializeFMUState", common.can_serialize_fmu_state),
            ("providesDirectionalDerivatives", common.provides_directional_derivatives),
            ("providesAdjointDerivatives", common.provides_adjoint_derivatives),
            ("providesPerElementDependencies", common.provides_per_element_dependencies),
        ]),
    }
    all.extend(own_flags(description, interface));
    all
}

/// The flags that only an interface type has.
fn own_flags(description: &ModelDescription, interface: &InterfaceOffer) -> Flags {
    match (interface, description.abi) {
        (InterfaceOffer::ScheduledExecution(_), _) => Vec::new(),
        (InterfaceOffer::CoSimulation(cs), Abi::Fmi1 | Abi::Fmi2) => {
            let mut own = vec![
                ("canHandleVariableCommunicationStepSize", cs.can_handle_variable_communication_step_size),
                ("canInterpolateInputs", cs.can_interpolate_inputs),
                ("canRunAsynchronuously", cs.can_run_asynchronously),
            ];
            if description.abi == Abi::Fmi1 {
                own.extend([
                    ("canHandleEvents", cs.can_handle_events),
                    ("canRejectSteps", cs.can_reject_steps),
                    ("canSignalEvents", cs.can_signal_events),
                ]);
            }
            own
        }
        (InterfaceOffer::CoSimulation(cs), _) => vec![
            ("providesIntermediateUpdate", cs.provides_intermediate_update),
            ("mightReturnEarlyFromDoStep", cs.might_return_early_from_do_step),
            ("canReturnEarlyAfterIntermediateUpdate", cs.can_return_early_after_intermediate_update),
            ("canHandleVariableCommunicationStepSize", cs.can_handle_variable_communication_step_size),
            ("hasEventMode", cs.has_event_mode),
            ("providesEvaluateDiscreteStates", cs.provides_evaluate_discrete_states),
        ],
        (InterfaceOffer::ModelExchange(me), Abi::Fmi1 | Abi::Fmi2) => {
            vec![("needsCompletedIntegratorStep", me.needs_completed_integrator_step)]
        }
        (InterfaceOffer::ModelExchange(me), _) => vec![
            ("needsCompletedIntegratorStep", me.needs_completed_integrator_step),
            ("providesEvaluateDiscreteStates", me.provides_evaluate_discrete_states),
        ],
    }
}

/// What an interface type says beside its flags, where FMI 1.0 and 2.0 have it.
fn interface_json(description: &ModelDescription, interface: &InterfaceOffer) -> Value {
    let flags = flags(description, interface).into_iter();
    let mut object: serde_json::Map<String, Value> =
        flags.map(|(name, value)| (name.to_owned(), Value::Bool(value))).collect();
    object.insert("modelIdentifier".to_owned(), interface.common().model_identifier.clone().into());
    if !description.abi.is_earlier() {
        return Value::Object(object);
    }
    if description.abi == Abi::Fmi2 {
        let names: Vec<&str> = interface.common().source_files.iter().map(|file| file.name.as_str()).collect();
        object.insert("sourceFiles".to_owned(), json!(names));
    }
    if let InterfaceOffer::CoSimulation(cs) = interface {
        object.insert("maxOutputDerivativeOrder".to_owned(), cs.max_output_derivative_order.into());
        if let Some(tool) = &cs.tool {
            let model = json!({
                "entryPoint": tool.entry_point,
                "manualStart": tool.manual_start,
                "type": tool.mime_type,
                "files": tool.files,
            });
            object.insert("model".to_owned(), model);
        }
    }
    Value::Object(object)
}

/// `<ModelStructure>` with the names of variables, `dependencies` null where they are all.
fn structure_json(description: &ModelDescription) -> Value {
    let name = |key: VariableKey| description.by_reference(key).map(|variable| variable.name.as_str());
    let list = |unknowns: &[Unknown]| -> Value {
        let unknown = |unknown: &Unknown| {
            let dependencies = unknown.dependencies.as_ref();
            let dependencies = dependencies.map(|all| all.iter().map(|own| name(own.on)).collect::<Vec<_>>());
            json!({ "name": name(unknown.variable), "dependencies": dependencies })
        };
        unknowns.iter().map(unknown).collect()
    };
    let structure = &description.structure;
    json!({
        "outputs": list(&structure.outputs),
        "derivatives": list(&structure.continuous_state_derivatives),
        "initialUnknowns": list(&structure.initial_unknowns),
    })
}

fn interfaces(description: &ModelDescription) -> Vec<Vec<String>> {
    let row = |interface: &InterfaceOffer| {
        let set = flags(description, interface).into_iter().filter(|(_, set)| *set);
        let set: Vec<&str> = set.map(|(name, _)| name).collect();
        vec![interface.interface().name().to_owned(), interface.common().model_identifier.clone(), set.join(", ")]
    };
    description.interfaces.iter().map(row).collect()
}

fn header(names: &[&str]) -> Vec<String> {
    names.iter().map(|&name| name.to_owned()).collect()
}

fn clocks(view: &View, title: &str, out: &mut impl io::Write) -> io::Result<()> {
    const HEAD: [&str; 8] = ["name", "reference", "causality", "kind", "interval", "shift", "priority", ""];
    let description = view.description;
    let rows: Vec<_> = view.shown_clocks().filter_map(|(_, v)| clock_row(description, v)).collect();
    let head = (!rows.is_empty()).then(|| header(&HEAD));
    table(view, out, title, head.into_iter().chain(rows), (&[1, 6], &[1, 5]))
}

fn clock_row(description: &ModelDescription, v: &Variable) -> Option<Vec<String>> {
    let is_draft = description.abi == Abi::Draft;
    let clock = v.clock.as_ref()?;
    Some(vec![
        format!("{}{}", v.name, shape(description, v)),
        v.value_reference.0.to_string(),
        v.causality.name().to_owned(),
        if is_draft { draft_kind(clock) } else { clock.interval_variability.name().to_owned() },
        clock.interval.map(interval_text).unwrap_or_default(),
        if clock.shift.is_zero() { String::new() } else { interval_text(clock.shift) },
        clock.priority.map(|priority| priority.0.to_string()).unwrap_or_default(),
        v.description.clone().unwrap_or_default(),
    ])
}

fn variables(view: &View, title: &str, out: &mut impl io::Write) -> io::Result<()> {
    let all: Vec<(usize, &Variable)> = view.shown().filter(|(_, v)| v.clock.is_none()).collect();
    if all.is_empty() {
        return Ok(());
    }
    const HEAD: [&str; 10] =
        ["name", "reference", "type", "causality", "variability", "initial", "clocks", "start", "unit", ""];
    let row = |line: &tree::TreeLine| {
        let name = format!("{}{}", "  ".repeat(line.depth), line.label);
        match line.name {
            Some(place) => variable_row(view, all[place], name),
            None => vec![name, String::new()],
        }
    };
    let lines = lines(view.layout, &all);
    // Each row is made anew whenever it is looked at.
    let rows = std::iter::once(header(&HEAD)).chain(lines.iter().map(row));
    table(view, out, title, rows, (&[1], &[5, 1, 6, 4]))?;
    match all.iter().filter(|(index, _)| view.starts.changed(*index).is_some()).count() {
        0 => Ok(()),
        changed => writeln!(out, "\n* {changed} changed: in parentheses the start value of the description"),
    }
}

fn variable_row(view: &View, (index, v): (usize, &Variable), name: String) -> Vec<String> {
    let description = view.description;
    let aliases: Vec<&str> = v.aliases.iter().map(|alias| alias.name.as_str()).collect();
    let aliases = match alias_of(description, v) {
        Some((other, negated)) => format!(" ({}alias of {other})", if negated { "negated " } else { "" }),
        None if aliases.is_empty() => String::new(),
        None => format!(" (also {})", aliases.join(", ")),
    };
    vec![
        name,
        reference(description, v).to_string(),
        format!("{}{}", type_in(description, v.variable_type), shape(description, v)),
        v.causality.name().to_owned(),
        variability_name(v.variability).to_owned(),
        v.initial.map(initial_name).unwrap_or_default().to_owned(),
        graph::clocks_of(description, v),
        start_cell(view, index, v),
        v.unit.as_deref().unwrap_or_default().to_owned(),
        format!("{}{aliases}", v.description.clone().unwrap_or_default()).trim().to_owned(),
    ]
}

/// What a variable starts with; with a mark, and what the description has, where that is something else.
fn start_cell(view: &View, index: usize, v: &Variable) -> String {
    let text = |values: Option<&Values>| values.map(start_text);
    match view.starts.changed(index) {
        Some(changed) => {
            let described = text(v.start.as_ref()).unwrap_or_else(|| "none".to_owned());
            format!("* {} ({described})", start_text(changed))
        }
        None => text(view.starts.value(index)).unwrap_or_default(),
    }
}

/// The value reference as the description has it.
fn reference(description: &ModelDescription, v: &Variable) -> u32 {
    description.abi.reference_of_fmu(v.value_reference).0
}

/// The name of the variable that this is an alias of, and whether its values have the opposite sign.
fn alias_of<'a>(description: &'a ModelDescription, v: &Variable) -> Option<(&'a str, bool)> {
    let alias = v.alias_of?;
    let other = description.variables.get(alias.position as usize)?;
    Some((&other.name, alias.negated))
}

/// The lines of a table of variables, which name them by their places in `all`.
fn lines(layout: ListStyle, all: &[(usize, &Variable)]) -> Vec<tree::TreeLine> {
    match layout {
        ListStyle::Tree => tree::tree(all.iter().map(|(_, v)| v.name.as_str())),
        ListStyle::Flat => {
            let names = all.iter().map(|(_, v)| v.name.clone()).enumerate();
            names.map(|(place, label)| tree::TreeLine { depth: 0, label, name: Some(place) }).collect()
        }
    }
}

/// The draft's own words for a clock.
fn draft_kind(clock: &Clock) -> String {
    let kind = match clock.interval_variability {
        IntervalVariability::Constant => "strictly periodic",
        IntervalVariability::Fixed => "periodic",
        _ => "aperiodic",
    };
    match clock.clock_type {
        Some(ClockType::SynchronousTime) => format!("{kind}, synchronous"),
        _ => kind.to_owned(),
    }
}

/// `[3,n]`: structural dimensions by the name of their variable.
fn shape(description: &ModelDescription, v: &Variable) -> String {
    let length = |dimension: &Dimension| match dimension {
        Dimension::Fixed(n) => n.to_string(),
        Dimension::Structural(reference) => names(description, &[*reference]).concat(),
    };
    let lengths: Vec<String> = v.dimensions.iter().map(length).collect();
    if lengths.is_empty() { String::new() } else { format!("[{}]", lengths.join(",")) }
}

fn initial_name(initial: Initial) -> &'static str {
    match initial {
        Initial::Exact => "exact",
        Initial::Approx => "approx",
        Initial::Calculated => "calculated",
    }
}

/// The first elements.
pub(super) fn start_text(values: &Values) -> String {
    const SHOWN: usize = 4;
    let json = values_json(values, SHOWN);
    let shown: Vec<String> = json.iter().map(Value::to_string).collect();
    let more = if values.len() > SHOWN { " …" } else { "" };
    format!("{}{more}", shown.join(" "))
}

/// Up to `limit` elements; numbers that JSON does not know as strings, binaries in hexadecimal.
fn values_json(values: &Values, limit: usize) -> Vec<Value> {
    fn all<T: Clone + Into<Value>>(values: &[T], limit: usize) -> Vec<Value> {
        values.iter().take(limit).map(|value| value.clone().into()).collect()
    }
    let float = |text: String, value: f64| if value.is_finite() { json!(value) } else { json!(text) };
    match values {
        // By its own shortest decimal: 0.1 and not 0.10000000149011612.
        Values::Float32(v) => {
            v.iter().take(limit).map(|&f| float(f.to_string(), f.to_string().parse().unwrap_or(f64::from(f)))).collect()
        }
        Values::Float64(v) => v.iter().take(limit).map(|&f| float(f.to_string(), f)).collect(),
        Values::Int8(v) => all(v, limit),
        Values::UInt8(v) => all(v, limit),
        Values::Int16(v) => all(v, limit),
        Values::UInt16(v) => all(v, limit),
        Values::Int32(v) => all(v, limit),
        Values::UInt32(v) => all(v, limit),
        Values::Int64(v) => all(v, limit),
        Values::UInt64(v) => all(v, limit),
        Values::Boolean(v) | Values::Clock(v) => all(v, limit),
        Values::String(v) => all(v, limit),
        Values::Binary(v) => {
            let hex = |bytes: &Vec<u8>| bytes.iter().map(|byte| format!("{byte:02x}")).collect::<String>();
            v.iter().take(limit).map(|bytes| Value::String(hex(bytes))).collect()
        }
    }
}

fn variable_json(view: &View, index: usize, v: &Variable) -> Value {
    let description = view.description;
    let seconds =
        |fraction: vecud_base::time::Fraction| json!({ "seconds": fraction.seconds(), "exact": fraction.to_string() });
    let mut object = json!({
        "name": v.name,
        "valueReference": reference(description, v),
        "type": type_in(description, v.variable_type),
        "causality": v.causality.name(),
        "variability": variability_name(v.variability),
        "initial": v.initial.map(initial_name),
        "clocks": names(description, &v.clocks),
        "dimensions": v.dimensions.iter().map(|dimension| match dimension {
            Dimension::Fixed(n) => json!(n),
            Dimension::Structural(reference) => json!({ "valueReference": reference.0 }),
        }).collect::<Vec<_>>(),
        "start": v.start.as_ref().map(|values| values_json(values, usize::MAX)),
        "unit": v.unit.as_deref(),
        "description": v.description,
        "aliases": v.aliases.iter().map(|alias| &alias.name).collect::<Vec<_>>(),
    });
    if let Some(changed) = view.starts.changed(index) {
        object["changedStart"] = json!(values_json(changed, usize::MAX));
    }
    if view.layout == ListStyle::Tree {
        object["path"] = json!(tree::parts(&v.name));
    }
    if let Some(clock) = &v.clock {
        object["clock"] = json!({
            "intervalVariability": clock.interval_variability.name(),
            "priority": clock.priority.map(|priority| priority.0),
            "interval": clock.interval.map(seconds),
            "shift": seconds(clock.shift),
            "supportsFraction": clock.supports_fraction,
        });
    }
    if description.abi.is_earlier() {
        let alias = alias_of(description, v);
        object["aliasOf"] = json!(alias.map(|(name, negated)| json!({ "name": name, "negated": negated })));
        object["derivative"] = json!(v.derivative.and_then(|state| {
            let state = description.by_reference((VariableType::Float64, state))?;
            Some(state.name.as_str())
        }));
        object["declaredType"] = json!(v.declared_type.as_deref());
        object["displayUnit"] = json!(v.display_unit.as_deref());
        object["min"] = json!(v.min.as_ref().map(|min| values_json(min, 1)));
        object["max"] = json!(v.max.as_ref().map(|max| values_json(max, 1)));
        object["nominal"] = json!(v.nominal);
    }
    // What only the draft has.
    if description.abi == Abi::Draft {
        object["clockElementIndex"] = json!(v.clock_element);
        if let Some(clock) = &v.clock {
            object["clock"]["clockType"] = json!(clock.clock_type.map(|clock_type| match clock_type {
                ClockType::SynchronousTime => "synchronousTime",
                ClockType::CommunicationPoint => "communicationPoint",
            }));
            object["clock"]["triggeredBy"] = json!(clock.triggered_by.map(|by| names(description, &[by]).concat()));
        }
    }
    object
}

#[cfg(test)]
mod tests {
    use super::super::only::Filters;
    use super::*;
    use vecud_description::parse;
    use vecud_plan::OwnStarts;

    const XML: &str = r#"<fmiModelDescription fmiVersion="3.0.1" modelName="demo" instantiationToken="{t}" author="me">
<ScheduledExecution modelIdentifier="demo" canBeInstantiatedOnlyOncePerProcess="true"/>
<DefaultExperiment startTime="0" stopTime="2.5"/>
<ModelVariables>
<Float64 name="time" valueReference="0" causality="independent" variability="continuous"/>
<Clock name="c" valueReference="1" causality="input" intervalVariability="constant" intervalDecimal="0.01" shiftDecimal="0.5" priority="3"/>
<Clock name="d" valueReference="2" causality="input" intervalVariability="countdown" priority="4" clocks="1"/>
<Clock name="out" valueReference="3" causality="output" intervalVariability="triggered" clocks="1 2"/>
<Float32 name="k" valueReference="4" causality="parameter" variability="fixed" start="0.1" description="gain"><Alias name="gain"/></Float32>
<Float64 name="y" valueReference="5" causality="output" variability="discrete" clocks="1"><Dimension start="6"/></Float64>
</ModelVariables>
<ModelStructure><Output valueReference="3"/><Output valueReference="5"/></ModelStructure>
</fmiModelDescription>"#;

    fn whole(description: &ModelDescription) -> View<'_> {
        let (starts, layout) = (OwnStarts::described(description), ListStyle::of(description));
        View { description, starts, only: Filters::default(), layout, screen: None }
    }

    fn render(description: &ModelDescription) -> String {
        let mut bytes = Vec::new();
        write_text(&whole(description), &mut bytes).unwrap();
        String::from_utf8(bytes).unwrap()
    }

    fn json(description: &ModelDescription) -> Value {
        let mut bytes = Vec::new();
        write_json(&whole(description), &mut bytes).unwrap();
        serde_json::from_slice(&bytes).unwrap()
    }

    #[test]
    fn the_text_shows_clocks_variables_and_who_ticks_what() {
        let expected = "\
demo (FMI 3.0.1)
  author      me
  token       {t}
  experiment  start 0 s, stop 2.5 s

Interfaces
  Scheduled Execution  demo  canBeInstantiatedOnlyOncePerProcess

Clocks
  name  reference  causality  kind       interval  shift   priority
  c             1  input      constant   10 ms     500 ms         3
  d             2  input      countdown                           4
  out           3  output     triggered

Who may tick what
  d may be armed in c
  out may tick in c, d

Variables
  name  reference  type        causality    variability  initial     clocks  start  unit
  time          0  Float64     independent  continuous
  k             4  Float32     parameter    fixed        exact               0.1          gain (also gain)
  y             5  Float64[6]  output       discrete     calculated  c
";
        assert_eq!(render(&parse(XML).unwrap()), expected);
    }

    #[test]
    fn structured_names_are_a_tree() {
        let xml = XML
            .replace("author=", "variableNamingConvention=\"structured\" author=")
            .replace("name=\"k\"", "name=\"engine.k\"")
            .replace("name=\"y\"", "name=\"engine.y\"");
        let description = parse(&xml).unwrap();
        let expected = "\
Variables
  name    reference  type        causality    variability  initial     clocks  start  unit
  time            0  Float64     independent  continuous
  engine
    k             4  Float32     parameter    fixed        exact               0.1          gain (also gain)
    y             5  Float64[6]  output       discrete     calculated  c
";
        let text = render(&description);
        assert_eq!(&text[text.find("Variables").unwrap()..], expected);
        assert_eq!(json(&description)["variables"][5]["path"], json!(["engine", "y"]));
        assert_eq!(json(&parse(XML).unwrap())["variables"][5].get("path"), None);
    }

    #[test]
    fn the_json_has_the_standards_names() {
        let json = json(&parse(XML).unwrap());
        assert_eq!(json["interfaces"]["ScheduledExecution"]["canBeInstantiatedOnlyOncePerProcess"], true);
        assert_eq!(json["variables"][1]["clock"]["interval"]["exact"], "1/100");
        assert_eq!(json["variables"][3]["clocks"], json!(["c", "d"]));
        assert_eq!(json["variables"][4]["start"], json!([0.1]));
        assert_eq!(json["defaultExperiment"]["stopTime"], 2.5);
        assert_eq!(json["dialect"], "released");
        let graph = json!([
            { "clock": "d", "armedIn": ["c"], "triggers": [] },
            { "clock": "out", "ticksIn": ["c", "d"], "triggers": [] },
        ]);
        assert_eq!(json["clockGraph"], graph);
    }
}
