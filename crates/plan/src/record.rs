//! The recorded signals: patterns become columns, in rig order, then document order. Each has the last of the rules that match
//! its variable. Signals that are only watched (`[daemon] watch`) have the columns after those, by no rule.

use super::clocks::candidates::{is_input_clock, is_output_clock};
use super::described::{DescribedFmu, VariableId};
use super::findings::Findings;
use super::glob::matches;
use super::inputs::start_values::Starts;
use super::{SignalId, SignalPlan};
use crate::rig::{At, Rig, RigRecord, RigRule, Rule, suggestion};
use std::cell::LazyCell;
use std::collections::HashMap;
use vecud_description::bytes;
use vecud_description::{Causality, Variable, VariableType};

/// Bytes that all recorded strings and binaries may have together: a task has room for 64 samples at least, which are half a
/// gibibyte of shared memory then.
const TEXTS: usize = 1 << 23;

/// Columns that a recording may have, for the same reason.
pub(super) const COLUMNS: usize = 1 << 20;
/// Bytes of the room of a plan that a column takes.
const COLUMN: usize = 512;

/// The columns, and the variable of each.
pub(super) struct RecordedColumns {
    pub signals: Vec<SignalPlan>,
    /// Columns that are read like these, and not recorded; their numbers come after those of the others.
    pub watched: Vec<SignalPlan>,
    /// Columns of variables, which activations set and read.
    pub of: HashMap<VariableId, Vec<SignalId>>,
    /// Columns of clocks: the host has their ticks, and reads nothing for them.
    clocks: HashMap<VariableId, Vec<SignalId>>,
}

impl RecordedColumns {
    /// The longest value of these columns, bytes; 0: they are numbers.
    pub(super) fn capacity(&self, columns: &[SignalId]) -> usize {
        columns.iter().filter_map(|column| self.column(*column).capacity).max().unwrap_or(0)
    }

    fn column(&self, column: SignalId) -> &SignalPlan {
        self.signals.get(column.0).unwrap_or_else(|| &self.watched[column.0 - self.signals.len()])
    }

    /// Whether a variable is recorded, and not only watched.
    pub(super) fn is_recorded(&self, variable: VariableId) -> bool {
        self.of.get(&variable).is_some_and(|columns| columns.iter().any(|column| column.0 < self.signals.len()))
    }

    /// Whether clocks are recorded, whose ticks make rows.
    pub(super) fn has_clocks(&self) -> bool {
        !self.clocks.is_empty()
    }

    /// The columns of a variable; none, if it is not recorded.
    pub(super) fn of_variable(&self, variable: VariableId) -> Vec<SignalId> {
        self.of.get(&variable).cloned().unwrap_or_default()
    }

    /// The column of a clock: of its `element`, counted from 1, or 0 for a scalar one. `None`: it is not recorded.
    pub(super) fn of_clock(&self, clock: VariableId, element: usize) -> Option<SignalId> {
        self.clocks.get(&clock)?.get(element.saturating_sub(1)).copied()
    }
}

/// Types of variables beyond numbers that patterns match.
#[derive(Clone, Copy, Default)]
struct OptedIn {
    /// The bytes of strings and binaries; `None`: patterns do not match these.
    text_size: Option<usize>,
    clocks: bool,
}

impl OptedIn {
    fn of(record: Option<&RigRecord>) -> OptedIn {
        record.map(|own| OptedIn { text_size: own.text_size, clocks: own.clocks }).unwrap_or_default()
    }

    /// Whether a variable can be recorded.
    fn takes(self, v: &Variable) -> bool {
        match v.variable_type {
            VariableType::Clock => self.clocks && (is_input_clock(v) || is_output_clock(v)),
            VariableType::String | VariableType::Binary => self.text_size.is_some(),
            _ => v.causality != Causality::Independent,
        }
    }
}

/// Expands the rig's patterns.
pub(super) fn columns(rig: &Rig, fmus: &[DescribedFmu], starts: &[Starts], findings: &mut Findings) -> RecordedColumns {
    let patterns = rig.record.as_ref().map(|record| record.signals.as_slice()).unwrap_or_default();
    let rules = rig.record.as_ref().map(|record| record.rules.as_slice()).unwrap_or_default();
    let opted_in = OptedIn::of(rig.record.as_ref());
    let mut expansion = Expansion {
        fmus,
        starts,
        rules,
        opted_in,
        columns: RecordedColumns {
            signals: Vec::new(),
            watched: Vec::new(),
            of: HashMap::new(),
            clocks: HashMap::new(),
        },
        rules_used: rules.iter().map(|rule| vec![false; rule.signals.len()]).collect(),
        most: rig.room.map_or(COLUMNS, |room| room / COLUMN),
        total: 0,
        texts: 0,
    };
    let used = expansion.expand(patterns, &Purpose::Record, findings);
    let purpose = if rig.controlled { Purpose::Watch } else { Purpose::Check };
    let watch_used = expansion.expand(&rig.watch, &purpose, findings);
    let names = LazyCell::new(|| recordable_names(fmus, opted_in));
    for (pattern, used) in patterns.iter().zip(used).chain(rig.watch.iter().zip(watch_used)) {
        report(pattern, used, fmus, &names, findings);
    }
    let Expansion { columns, rules_used, most, total, texts, .. } = expansion;
    for (rule, used) in rules.iter().zip(rules_used) {
        for pattern in rule.signals.iter().zip(used).filter_map(|(pattern, used)| (!used).then_some(pattern)) {
            let names = columns.signals.iter().map(|signal| signal.name.as_str());
            let hint = suggestion(&pattern.value, names);
            findings.rig(pattern.place, format!("no recorded variable matches \"{}\"{hint}", pattern.value));
        }
    }
    let mut too_much = |what: String, way_out: &str| match patterns.iter().chain(&rig.watch).next() {
        Some(pattern) if pattern.place.line > 0 => findings.rig(pattern.place, format!("{what}: {way_out}")),
        _ => findings.note(format!("{what}: {} columns are", columns.signals.len())),
    };
    let are = if rig.watch.is_empty() { "recorded" } else { "recorded or watched" };
    if total > most {
        let what = format!("{total} columns would be {are}, but {most} are possible");
        too_much(what, "name fewer signals");
    }
    if texts > TEXTS {
        let what = format!("strings and binaries of {texts} bytes would be {are}, but {TEXTS} are possible");
        too_much(what, "name fewer signals, or give a smaller text_size");
    }
    columns
}

/// The purpose of the variables that patterns match.
#[derive(Clone, Copy, PartialEq)]
enum Purpose {
    /// The matching variables are recorded.
    Record,
    /// The matching variables are read, unless they are recorded anyway.
    Watch,
    /// Only the patterns are checked.
    Check,
}

/// Patterns that become columns.
struct Expansion<'a> {
    fmus: &'a [DescribedFmu<'a>],
    starts: &'a [Starts],
    rules: &'a [RigRule],
    opted_in: OptedIn,
    columns: RecordedColumns,
    /// For each pattern of each rule, whether it has matched something.
    rules_used: Vec<Vec<bool>>,
    /// Columns that there may be.
    most: usize,
    /// Columns, and bytes of strings and binaries in them, that patterns have asked for.
    total: usize,
    texts: usize,
}

impl Expansion<'_> {
    /// Adds columns for the variables that the patterns match. Returns the match of each pattern.
    fn expand(&mut self, patterns: &[At<String>], purpose: &Purpose, findings: &mut Findings) -> Vec<Match> {
        let mut used = vec![Match::Nothing; patterns.len()];
        let patterns = AskedSignals::of(patterns, self.fmus);
        for (fmu, described) in self.fmus.iter().enumerate() {
            for (index, v) in described.variables().iter().enumerate() {
                let Some(name) = chosen_name(described, v, &patterns, self.opted_in, &mut used) else { continue };
                let id = (fmu, index);
                if !self.columns.of.contains_key(&id) && !self.columns.clocks.contains_key(&id) {
                    self.add(id, v, &name, *purpose, findings);
                }
            }
        }
        used
    }

    /// A variable gets its columns.
    fn add(&mut self, (fmu, index): VariableId, v: &Variable, name: &str, purpose: Purpose, findings: &mut Findings) {
        let described = &self.fmus[fmu];
        let elements = described.elements(v);
        let is_clock = v.variable_type == VariableType::Clock;
        let given = self.starts[fmu].get(&index).or_else(|| described.structure.get(&index)).map(|start| &start.values);
        let words = match given.or(described.start_of(index)) {
            // A clock has not ticked before the run.
            _ if is_clock => vec![vec![0]],
            values => values.map(bytes::elements).unwrap_or_default(),
        };
        let capacity = capacity(v, self.opted_in.text_size.unwrap_or(0));
        self.total = self.total.saturating_add(elements);
        let bytes = capacity.unwrap_or(0).saturating_mul(elements);
        self.texts = self.texts.saturating_add(bytes);
        let first = self.columns.signals.len() + self.columns.watched.len();
        let is_too_much = first.saturating_add(elements) > self.most || bytes > 0 && self.texts > TEXTS;
        if is_too_much || purpose == Purpose::Check {
            return;
        }
        let longest = words.iter().map(|words| words[0]).max().unwrap_or(0);
        if let Some(room) = capacity.filter(|room| longest > *room as u64) {
            let what = format!("{name} starts with {longest} bytes, and {room} of a value are recorded");
            findings.note(format!("{what} (text_size): its cell is empty until there is one that fits"));
        }
        let ids = (0..elements).map(|i| SignalId(first + i)).collect();
        let shape = match described.shape(v) {
            // Elements of a clock are counted through, as everywhere.
            dimensions if is_clock && !dimensions.is_empty() => vec![elements],
            dimensions => dimensions,
        };
        let names = names_for_rules(described, v, self.rules);
        let fits = |start: &&Vec<u64>| capacity.is_none_or(|capacity| start[0] <= capacity as u64);
        for element in 0..elements {
            let position = position(element, &shape);
            let signal = SignalPlan {
                name: format!("{name}{position}"),
                variable_type: v.variable_type,
                unit: v.unit.as_deref().unwrap_or_default().to_owned(),
                capacity,
                // A single value fills an array.
                start: words.get(element).or(if words.len() == 1 { words.first() } else { None }).filter(fits).cloned(),
                rule: match purpose {
                    Purpose::Record => rule_of(&names, &position, self.rules, &mut self.rules_used),
                    _ => Rule::ALL,
                },
            };
            match purpose {
                Purpose::Record => self.columns.signals.push(signal),
                _ => self.columns.watched.push(signal),
            }
        }
        let of = if is_clock { &mut self.columns.clocks } else { &mut self.columns.of };
        of.insert((fmu, index), ids);
    }
}

/// The full names of a variable, its aliases too; none where no rule may name them.
fn names_for_rules(described: &DescribedFmu, v: &Variable, rules: &[RigRule]) -> Vec<String> {
    let names = v.names().map(|name| format!("{}.{name}", described.name()));
    if rules.is_empty() { Vec::new() } else { names.collect() }
}

/// The rule of a column: the last one with a pattern that matches a name of its variable, or of its element.
fn rule_of(names: &[String], position: &str, rules: &[RigRule], used: &mut [Vec<bool>]) -> Rule {
    let elements: Vec<String> = match position {
        "" => Vec::new(),
        position => names.iter().map(|name| format!("{name}{position}")).collect(),
    };
    let mut last = Rule::ALL;
    for (rule, used) in rules.iter().zip(used) {
        for (pattern, used) in rule.signals.iter().zip(used) {
            if names.iter().chain(&elements).any(|name| matches(&pattern.value, name)) {
                *used = true;
                last = rule.rule;
            }
        }
    }
    last
}

/// The match of a pattern.
#[derive(Clone, Copy, PartialEq)]
enum Match {
    Nothing,
    OnlyUnrecordable,
    Something,
}

/// The patterns by their places: each selects the variable of this name, or those whose names fit where there is no such variable.
/// Names are found without a look at all patterns, since a simulation names each output.
struct AskedSignals<'a> {
    names: HashMap<&'a str, Vec<usize>>,
    globs: Vec<(usize, &'a str)>,
}

impl<'a> AskedSignals<'a> {
    fn of(patterns: &'a [At<String>], fmus: &[DescribedFmu]) -> AskedSignals<'a> {
        let by_name: HashMap<&str, &DescribedFmu> = fmus.iter().map(|fmu| (fmu.name(), fmu)).collect();
        let mut all = AskedSignals { names: HashMap::new(), globs: Vec::new() };
        for (place, pattern) in patterns.iter().enumerate() {
            let text = pattern.value.as_str();
            let has_it = |(fmu, name): (&str, &str)| by_name.get(fmu).is_some_and(|fmu| fmu.find(name).is_some());
            match text.split_once('.').is_some_and(has_it) {
                true => all.names.entry(text).or_default().push(place),
                false => all.globs.push((place, text)),
            }
        }
        all
    }

    fn is_empty(&self) -> bool {
        self.names.is_empty() && self.globs.is_empty()
    }

    /// The places of the patterns that select the variable of this name.
    fn matching(&self, full: &str) -> impl Iterator<Item = usize> {
        let globs = self.globs.iter().filter(move |(_, glob)| matches(glob, full)).map(|(place, _)| *place);
        self.names.get(full).into_iter().flatten().copied().chain(globs)
    }
}

/// The name under which some pattern wants the variable: its own, else an alias.
fn chosen_name(
    described: &DescribedFmu,
    v: &Variable,
    patterns: &AskedSignals,
    opted_in: OptedIn,
    used: &mut [Match],
) -> Option<String> {
    let recordable = opted_in.takes(v);
    let mut chosen = None;
    for name in v.names() {
        if patterns.is_empty() {
            break;
        }
        let full = format!("{}.{name}", described.name());
        for place in patterns.matching(&full) {
            if recordable {
                used[place] = Match::Something;
                chosen.get_or_insert_with(|| full.clone());
            } else if used[place] == Match::Nothing {
                used[place] = Match::OnlyUnrecordable;
            }
        }
    }
    chosen
}

/// Bytes that a recorded element of this variable may have, if it is a string or a binary.
fn capacity(v: &Variable, text_size: usize) -> Option<usize> {
    let largest = v.max_size.map_or(usize::MAX, |size| usize::try_from(size).unwrap_or(usize::MAX));
    match v.variable_type {
        VariableType::String => Some(text_size),
        VariableType::Binary => Some(text_size.min(largest)),
        _ => None,
    }
}

/// `fmu.variable` of all that can be recorded.
fn recordable_names(fmus: &[DescribedFmu], opted_in: OptedIn) -> Vec<String> {
    let all = fmus.iter().flat_map(|described| described.variables().iter().map(move |v| (described.name(), v)));
    all.filter(|(_, v)| opted_in.takes(v)).map(|(fmu, v)| format!("{fmu}.{}", v.name)).collect()
}

/// Reports a pattern without a match; `names` are computed once, and only for a pattern that needs them.
fn report(
    pattern: &At<String>,
    used: Match,
    fmus: &[DescribedFmu],
    names: &LazyCell<Vec<String>, impl FnOnce() -> Vec<String>>,
    findings: &mut Findings,
) {
    match used {
        Match::Something => {}
        Match::OnlyUnrecordable => findings
            .note(format!("the pattern \"{}\" matches only clocks, which are recorded with clocks = true, strings and binaries, which are with text_size, or the time, which is not", pattern.value)),
        // `vecud run FILE.fmu` selects everything, and an FMU may have nothing.
        Match::Nothing if pattern.place.line == 0 => {}
        Match::Nothing => {
            let whole = pattern.value.ends_with(']').then(|| pattern.value.rsplit_once('[')).flatten();
            let whole = whole.filter(|(whole, _)| names.iter().any(|name| matches(whole, name)));
            let hint = match suggestion(&pattern.value, names.iter().map(String::as_str)) {
                _ if let Some((whole, _)) = whole => format!(": an array is recorded as a whole, as \"{whole}\""),
                none if none.is_empty() => {
                    let all: Vec<String> = fmus.iter().map(|described| format!("\"{}.*\"", described.name())).collect();
                    format!("; patterns are matched with fmu.variable, as in {}", all.join(" or "))
                }
                hint => hint,
            };
            findings.rig(pattern.place, format!("no variable matches \"{}\"{hint}", pattern.value));
        }
    }
}

/// `[2,1]` for an element of an array, 1-based; nothing for a scalar.
fn position(element: usize, shape: &[usize]) -> String {
    let mut rest = element;
    let mut indices = Vec::with_capacity(shape.len());
    for &length in shape.iter().rev() {
        indices.push(rest % length + 1);
        rest /= length;
    }
    indices.reverse();
    super::elements::shape_text(&indices)
}
