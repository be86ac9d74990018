//! The order in which the FMUs of a rig enter Initialization Mode, and variables are set and read.
//!
//! Guarantees: FMUs that feed each other in no circle are initialised one after the other as a whole, producers first, in the rig's
//! order where that leaves a choice. In a circle an FMU goes on as far as it can, too.

use super::dependencies::InitialDependencies;
use crate::Extrapolation;
use crate::connections::links::Link;
use crate::described::{DescribedFmu, VariableId};
use crate::findings::Findings;
use crate::resolved::Resolved;
use crate::rig::{Loops, RigMaster};
use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use vecud_base::graph::constrained;
use vecud_description::VariableType;
use vecud_solver::master::{Block, Dependencies};

/// The variables of one FMU that the rig needs in its initialisation, by index.
#[derive(Default)]
pub struct InitialVariables {
    /// Inputs whose sources have initial values.
    pub set: BTreeSet<usize>,
    /// Outputs that feed these.
    pub feeding: HashSet<usize>,
    /// All variables that are read, in document order; inputs only if they are in `set`.
    pub get: Vec<usize>,
    /// All variables that are read after Initialization Mode, since the FMU does not give them before.
    pub later: Vec<usize>,
}

/// The number of variables of a circle that messages name.
const NAMED: usize = 12;

/// An event of an FMU's initialisation. By default the events of an FMU are in this order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Port {
    /// The FMU enters Initialization Mode.
    Enter,
    /// An input of the FMU is set.
    Set(usize),
    /// All inputs of the FMU are set.
    AllSet,
    /// A variable of the FMU is read.
    Get(usize),
}

/// The order of all events.
pub struct Ordered {
    /// All actions of the initialisation.
    pub sequence: Vec<InitialBlock>,
    /// The links, by their numbers, that close a circle and have no value therefore.
    pub cut: HashSet<usize>,
}

/// Some events, each with its FMU.
pub enum InitialBlock {
    /// Events that happen once.
    Plain(Vec<(usize, Port)>),
    /// Events that are repeated, for a loop to be solved.
    Loop {
        /// The links, by their numbers, that close the loop.
        closing: Vec<usize>,
        /// The repeated events, once these inputs have values.
        events: Vec<(usize, Port)>,
    },
}

/// The order for links that are there with their numbers among all of the rig.
pub fn order(
    resolved: &Resolved,
    links: &[(usize, &Link)],
    variables: &[InitialVariables],
    findings: &mut Findings,
) -> Ordered {
    let graph = Graph::new(resolved, links, variables);
    let mut cut = HashSet::new();
    let mut notes = BTreeMap::new();
    // Variables that are computed from each other: whatever comes from an FMU behind, unless they are solved.
    let mut blocks = graph.blocks(&graph.direct, &cut);
    for circle in graph.circles(&blocks, &cut) {
        if let Some(group) = graph.solved_by(&circle) {
            let (master, names) = (&group.name.value, graph.names(&circle));
            if let Some(input) = graph.set_only_once(&circle) {
                let message = format!(
                    "loops = \"newton\" cannot solve the algebraic loop of [master.{master}] ({names} depend on each other): {input} is set \
                     only once at a time (canHandleMultipleSetPerTimeInstant)"
                );
                findings.rig(group.name.place, message);
            }
            findings.note(format!(
                "[master.{master}] has an algebraic loop initially, which is solved: {names} depend on each other"
            ));
            continue;
        }
        let because = "the FMUs feed each other in a circle";
        let closing = graph.closing(&circle);
        notes.extend(graph.note(&closing, because, &circle));
        cut.extend(closing);
    }
    // A circle that exists only because FMI 1.0 requires all inputs before any output is cut at all inputs of its first such FMU.
    let direct = [graph.direct.as_slice(), graph.late.as_slice()].concat();
    loop {
        blocks = graph.blocks(&direct, &cut);
        let circles = graph.circles(&blocks, &cut);
        let mut is_cut = false;
        for circle in &circles {
            let late = |&&link: &&usize| !graph.target(link).abi().has_initialization_mode();
            // Circles without such an FMU are solved.
            let Some(first) = circle.inside.iter().filter(late).map(|&link| graph.place_of_target(link)).min() else {
                continue;
            };
            is_cut = true;
            let into_first = circle.inside.iter().copied().filter(|&link| graph.place_of_target(link) == first);
            let closing: Vec<usize> = into_first.collect();
            let because = closing.first().map_or_else(String::new, |&link| {
                format!(
                    "the FMUs feed each other in a circle, and {} of FMI 1.0 has outputs only when it has been initialised with its inputs",
                    graph.target(link).name()
                )
            });
            notes.extend(graph.note(&closing, &because, circle));
            cut.extend(closing);
        }
        if !is_cut {
            break;
        }
    }
    notes.into_values().for_each(|note| findings.note(note));
    let mut circles = graph.circles(&blocks, &cut).into_iter();
    let (mut sequence, mut plain) = (Vec::new(), Vec::new());
    for block in &blocks {
        match block {
            Block::Variable(node) => plain.push(graph.event(*node)),
            Block::Loop(_) => {
                let circle = circles.next().expect("a circle for each loop");
                let closing = graph.closing(&circle);
                let events =
                    graph.within(&circle, &direct, &closing).into_iter().map(|node| graph.event(node)).collect();
                let closing = closing.into_iter().map(|link| graph.links[link].0).collect();
                sequence.push(InitialBlock::Plain(std::mem::take(&mut plain)));
                sequence.push(InitialBlock::Loop { closing, events });
            }
        }
    }
    sequence.push(InitialBlock::Plain(plain));
    Ordered { sequence, cut: cut.into_iter().map(|link| graph.links[link].0).collect() }
}

/// The dependencies between events.
struct Graph<'a> {
    fmus: &'a [DescribedFmu<'a>],
    /// The FMUs in the order in which they would be initialised as a whole: producers first.
    whole: Vec<usize>,
    /// Place in `whole`, and the event.
    nodes: Vec<(usize, Port)>,
    /// Pairs of nodes of one FMU: the earlier, and the later one.
    direct: Vec<(usize, usize)>,
    /// Further such pairs, for FMI 1.0: it has no Initialization Mode.
    late: Vec<(usize, usize)>,
    links: &'a [(usize, &'a Link)],
    /// The nodes at the ends of each link.
    connections: Vec<(usize, usize)>,
}

/// Nodes that depend on each other.
struct Circle<'a> {
    nodes: &'a [usize],
    /// Links, by their places, that are between these.
    inside: Vec<usize>,
}

impl<'a> Graph<'a> {
    fn new(resolved: &'a Resolved, links: &'a [(usize, &'a Link)], variables: &[InitialVariables]) -> Graph<'a> {
        let fmus = resolved.fmus;
        let edges: Vec<(usize, usize)> =
            links.iter().map(|(_, link)| (link.source.0, link.target.0)).filter(|(a, b)| a != b).collect();
        let whole = constrained(fmus.len(), &[], &edges);
        let mut graph = Graph {
            fmus,
            whole,
            nodes: Vec::new(),
            direct: Vec::new(),
            late: Vec::new(),
            links,
            connections: Vec::new(),
        };
        let (mut set, mut got) = (HashMap::new(), HashMap::new());
        for at in 0..fmus.len() {
            graph.add(at, &variables[graph.whole[at]], &mut set, &mut got);
        }
        graph.connections = links.iter().map(|(_, link)| (got[&link.source], set[&link.target])).collect();
        graph
    }

    /// Adds the events of the FMU at this place; `set` and `got` will find its inputs and the variables that are read.
    fn add(
        &mut self,
        at: usize,
        variables: &InitialVariables,
        set: &mut HashMap<VariableId, usize>,
        got: &mut HashMap<VariableId, usize>,
    ) {
        let fmu = self.whole[at];
        let described = &self.fmus[fmu];
        let enter = self.node(at, Port::Enter);
        let all_set = self.node(at, Port::AllSet);
        match described.abi().has_initialization_mode() {
            true => self.direct.push((enter, all_set)),
            false => self.late.push((all_set, enter)),
        }
        let mut by_place: HashMap<usize, Vec<usize>> = HashMap::new();
        for &input in &variables.set {
            let node = self.node(at, Port::Set(input));
            self.direct.push((node, all_set));
            if described.abi().has_initialization_mode() {
                self.direct.push((enter, node));
            }
            by_place.entry(described.place(input)).or_default().push(node);
            set.insert((fmu, input), node);
        }
        let said = InitialDependencies::new(described);
        for &variable in &variables.get {
            let node = self.node(at, Port::Get(variable));
            self.direct.push((enter, node));
            match said.of(variable).filter(|_| variables.feeding.contains(&variable)) {
                None => self.direct.push((all_set, node)),
                Some(inputs) => {
                    let before = inputs.iter().filter_map(|input| by_place.get(input)).flatten();
                    self.direct.extend(before.map(|&input| (input, node)));
                }
            }
            got.insert((fmu, variable), node);
        }
    }

    fn node(&mut self, at: usize, port: Port) -> usize {
        self.nodes.push((at, port));
        self.nodes.len() - 1
    }

    /// All nodes in order, without the links that are cut.
    fn blocks(&self, direct: &[(usize, usize)], cut: &HashSet<usize>) -> Vec<Block> {
        let kept = (0..self.links.len()).filter(|link| !cut.contains(link));
        let connections: Vec<(usize, usize)> = kept.map(|link| self.connections[link]).collect();
        Dependencies { names: &self.nodes, direct, connections: &connections }.order()
    }

    /// The parts of an order that are circles.
    fn circles<'b>(&self, blocks: &'b [Block], cut: &HashSet<usize>) -> Vec<Circle<'b>> {
        let mut circle_of = vec![None; self.nodes.len()];
        let mut circles = Vec::new();
        for block in blocks {
            if let Block::Loop(nodes) = block {
                nodes.iter().for_each(|&node| circle_of[node] = Some(circles.len()));
                circles.push(Circle { nodes, inside: Vec::new() });
            }
        }
        for (link, &(from, to)) in self.connections.iter().enumerate() {
            if let Some(circle) = circle_of[from].filter(|_| circle_of[from] == circle_of[to] && !cut.contains(&link)) {
                circles[circle].inside.push(link);
            }
        }
        circles
    }

    /// The links of a circle whose removal opens it: those that come from an FMU that is initialised later as a whole, or from
    /// the one that they lead to. In a group names decide, and not the order of the rig.
    fn closing(&self, circle: &Circle) -> Vec<usize> {
        let by_name = self.group_of(circle).is_some();
        let leads_back = |&&link: &&usize| {
            let Link { source: (from, _), target: (to, _), .. } = *self.links[link].1;
            let (from_node, to_node) = self.connections[link];
            match by_name {
                true => self.fmus[from].name() >= self.fmus[to].name(),
                false => self.nodes[from_node].0 >= self.nodes[to_node].0,
            }
        };
        circle.inside.iter().filter(leads_back).copied().collect()
    }

    /// The group that all FMUs of a circle are in.
    fn group_of(&self, circle: &Circle) -> Option<&RigMaster> {
        let group = |fmu: usize| self.fmus[fmu].master;
        let first = group(self.event(circle.nodes[0]).0)?;
        let is_its = |&node: &usize| group(self.event(node).0).is_some_and(|other| std::ptr::eq(other, first));
        circle.nodes.iter().all(is_its).then_some(first)
    }

    /// The group that solves a circle. Only numbers can be searched, and FMI 1.0 is initialised only once.
    fn solved_by(&self, circle: &Circle) -> Option<&RigMaster> {
        let group = self.group_of(circle).filter(|group| group.loops == Loops::Newton)?;
        let can_be = |&link: &usize| {
            let Link { source, target, extrapolation, .. } = self.links[link].1;
            let is_number = |&(fmu, variable): &VariableId| {
                self.fmus[fmu].variables()[variable].variable_type == VariableType::Float64
            };
            [source, target].into_iter().all(is_number)
                && *extrapolation == Extrapolation::Hold
                && self.target(link).abi().has_initialization_mode()
        };
        circle.inside.iter().all(can_be).then_some(group)
    }

    /// An input of a circle that no search can set again and again.
    fn set_only_once(&self, circle: &Circle) -> Option<String> {
        let mut inputs = circle.inside.iter().map(|&link| self.links[link].1.target);
        let is_once =
            |&(fmu, input): &VariableId| !self.fmus[fmu].variables()[input].can_handle_multiple_set_per_time_instant;
        inputs.find(is_once).map(|input| self.full_name(input))
    }

    /// The nodes of a circle in order, when these links have values.
    fn within(&self, circle: &Circle, direct: &[(usize, usize)], closing: &[usize]) -> Vec<usize> {
        let place: HashMap<usize, usize> =
            circle.nodes.iter().enumerate().map(|(place, &node)| (node, place)).collect();
        let inside = |&(a, b): &(usize, usize)| Some((*place.get(&a)?, *place.get(&b)?));
        let names: Vec<(usize, Port)> = circle.nodes.iter().map(|&node| self.nodes[node]).collect();
        let direct: Vec<(usize, usize)> = direct.iter().filter_map(inside).collect();
        let others = circle.inside.iter().filter(|link| !closing.contains(link));
        let connections: Vec<(usize, usize)> = others.filter_map(|&link| inside(&self.connections[link])).collect();
        let order = Dependencies { names: &names, direct: &direct, connections: &connections }.order();
        order
            .into_iter()
            .flat_map(|block| match block {
                Block::Variable(node) => vec![node],
                Block::Loop(nodes) => nodes,
            })
            .map(|place| circle.nodes[place])
            .collect()
    }

    fn place_of_target(&self, link: usize) -> usize {
        self.nodes[self.connections[link].1].0
    }

    fn target(&self, link: usize) -> &DescribedFmu<'a> {
        &self.fmus[self.links[link].1.target.0]
    }

    /// The event of a node.
    fn event(&self, node: usize) -> (usize, Port) {
        let (at, port) = self.nodes[node];
        (self.whole[at], port)
    }

    /// The note on these links of a circle, which carry no value at first, behind the number of the first one among all of the rig.
    fn note(&self, links: &[usize], because: &str, circle: &Circle) -> Option<(usize, String)> {
        let first = links.iter().map(|&link| self.links[link].0).min()?;
        let ends = |of: fn(&Link) -> VariableId| {
            let mut names: Vec<String> = links.iter().map(|&link| self.full_name(of(self.links[link].1))).collect();
            names.dedup();
            listed(names)
        };
        let (from, to, names) = (ends(|link| link.source), ends(|link| link.target), self.names(circle));
        let (start, get) = match links {
            [_] => ("starts with its own start value: it gets", "that is"),
            _ => ("start with their own start values: they get", "these are"),
        };
        Some((
            first,
            format!(
                "{to} {start} {from} only when {get} first computed after initialisation, because {because} ({names} depend on each \
                 other)"
            ),
        ))
    }

    /// Names of the variables of a circle, or of some of them.
    fn names(&self, circle: &Circle) -> String {
        let events = circle.nodes.iter().map(|&node| self.event(node));
        let names = events.filter_map(|(fmu, port)| match port {
            Port::Set(variable) | Port::Get(variable) => Some(self.full_name((fmu, variable))),
            Port::Enter | Port::AllSet => None,
        });
        listed(names.collect())
    }

    fn full_name(&self, (fmu, variable): VariableId) -> String {
        format!("{}.{}", self.fmus[fmu].name(), self.fmus[fmu].variables()[variable].name)
    }
}

/// Some names, or the first of them and the number of the others.
fn listed(mut names: Vec<String>) -> String {
    let more = names.len().saturating_sub(NAMED);
    names.truncate(NAMED);
    let more = if more > 0 { format!(" and {more} more") } else { String::new() };
    format!("{}{more}", names.join(", "))
}
