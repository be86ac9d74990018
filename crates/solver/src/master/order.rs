//! Algorithm 1 (Order-Variables): in which order variables are set and read, so that each has its value before another one is
//! computed from it.
//!
//! Guarantees: the order depends on the names of the variables alone, not on their numbers nor on the order of the edges. Where
//! the slides end with an error, at a cycle, the order has a block that names all variables of it, and the caller decides.

use serde::{Deserialize, Serialize};
use std::collections::VecDeque;
use vecud_base::graph::{Cycles, constrained};

/// Dependencies of variables. Variables are numbers below the length of `names`.
#[derive(Clone, Copy, Debug)]
pub struct Dependencies<'a, N> {
    /// The names decide if the dependencies leave a choice: the smaller name comes first. Names are unique, such as
    /// those of FMU and variable.
    pub names: &'a [N],
    /// D: dependencies inside of one FMU, as (input, output).
    pub direct: &'a [(usize, usize)],
    /// P: (output, input). An input may have several where each feeds some elements of an array.
    pub connections: &'a [(usize, usize)],
}

/// A step of the order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Block {
    /// A variable that depends only on variables before it.
    Variable(usize),
    /// An algebraic loop: variables that depend on each other, by their names. All other variables that they depend on
    /// come before it.
    Loop(Vec<usize>),
}

/// An action in line 1 of a master step.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum ExchangeStep {
    /// `u := P(u)` for the connection of this number.
    Connection(usize),
    /// The connections with these numbers are one algebraic loop.
    Loop(Vec<usize>),
}

impl ExchangeStep {
    /// All connections one by one: in loops the inputs get the present values of the outputs, in the order of their names.
    pub fn without_loops(exchanges: &[ExchangeStep]) -> Vec<ExchangeStep> {
        let mut all = Vec::new();
        for exchange in exchanges {
            match exchange {
                ExchangeStep::Connection(connection) => all.push(ExchangeStep::Connection(*connection)),
                ExchangeStep::Loop(connections) => {
                    all.extend(connections.iter().copied().map(ExchangeStep::Connection))
                }
            }
        }
        all
    }
}

impl<N: Ord> Dependencies<'_, N> {
    /// All variables in order: lines 1 and 2 of Algorithm 1.
    pub fn order(&self) -> Vec<Block> {
        let by_rank = self.by_rank();
        let rank_of = inverse(&by_rank);
        // 1. G = (U + Y, D + { (P(u), u) }), with ranks for nodes.
        let mut after = vec![Vec::new(); by_rank.len()];
        for &(a, b) in self.edges() {
            after[rank_of[a]].push(rank_of[b]);
        }
        // 2. Sorted. A cycle is one node, which is known by its first member.
        let mut blocks = Cycles::of(&after).members;
        blocks.iter_mut().for_each(|block| block.sort_unstable());
        blocks.sort_unstable();
        let mut block_of = vec![0; by_rank.len()];
        for (number, block) in blocks.iter().enumerate() {
            block.iter().for_each(|&rank| block_of[rank] = number);
        }
        let mut edges = Vec::new();
        for (rank, following) in after.iter().enumerate() {
            let own = block_of[rank];
            edges.extend(following.iter().map(|&next| (own, block_of[next])).filter(|(a, b)| a != b));
        }
        let order = constrained(blocks.len(), &edges, &[]);
        let block = |number: usize| {
            let ranks = &blocks[number];
            match ranks[..] {
                [only] if !after[only].contains(&only) => Block::Variable(by_rank[only]),
                _ => Block::Loop(ranks.iter().map(|&rank| by_rank[rank]).collect()),
            }
        };
        order.into_iter().map(block).collect()
    }

    /// The connections in the order of the inputs that they feed; those whose both ends are in a loop are together.
    pub fn exchanges(&self, order: &[Block]) -> Vec<ExchangeStep> {
        let rank_of = inverse(&self.by_rank());
        let mut into = vec![Vec::new(); self.names.len()];
        for (number, &(output, input)) in self.connections.iter().enumerate() {
            into[input].push((rank_of[output], number));
        }
        into.iter_mut().for_each(|connections| connections.sort_unstable());
        let (mut exchanges, mut is_in_loop) = (Vec::new(), vec![false; self.names.len()]);
        for block in order {
            match block {
                Block::Variable(variable) => {
                    exchanges.extend(into[*variable].iter().map(|&(_, number)| ExchangeStep::Connection(number)));
                }
                Block::Loop(variables) => {
                    variables.iter().for_each(|&variable| is_in_loop[variable] = true);
                    let connections = variables.iter().flat_map(|&variable| &into[variable]).map(|&(_, number)| number);
                    let (inside, before): (Vec<usize>, Vec<usize>) =
                        connections.partition(|&number| is_in_loop[self.connections[number].0]);
                    variables.iter().for_each(|&variable| is_in_loop[variable] = false);
                    exchanges.extend(before.into_iter().map(ExchangeStep::Connection));
                    exchanges.push(ExchangeStep::Loop(inside));
                }
            }
        }
        exchanges
    }

    /// A shortest way from the first variable of a loop back to it, which stands only at its beginning: what a user is told.
    pub fn way_around(&self, variables: &[usize]) -> Vec<usize> {
        let Some(&first) = variables.first() else { return Vec::new() };
        let rank_of = inverse(&self.by_rank());
        let mut after = vec![Vec::new(); self.names.len()];
        for &(a, b) in self.edges() {
            after[a].push(b);
        }
        // No way that leaves the loop comes back.
        after.iter_mut().for_each(|following| following.sort_unstable_by_key(|&next| rank_of[next]));
        let mut from = vec![None; self.names.len()];
        let mut waiting = VecDeque::from([first]);
        while let Some(variable) = waiting.pop_front() {
            for &next in &after[variable] {
                if from[next].is_none() {
                    from[next] = Some(variable);
                    waiting.push_back(next);
                }
            }
        }
        let mut way = vec![first];
        let mut before = from[first];
        while let Some(variable) = before.filter(|&variable| variable != first) {
            way.push(variable);
            before = from[variable];
        }
        way[1..].reverse();
        way
    }

    fn edges(&self) -> impl Iterator<Item = &(usize, usize)> {
        self.direct.iter().chain(self.connections)
    }

    /// All variables by their names.
    fn by_rank(&self) -> Vec<usize> {
        let mut by_rank: Vec<usize> = (0..self.names.len()).collect();
        by_rank.sort_by(|&a, &b| self.names[a].cmp(&self.names[b]));
        by_rank
    }
}

fn inverse(by_rank: &[usize]) -> Vec<usize> {
    let mut rank_of = vec![0; by_rank.len()];
    by_rank.iter().enumerate().for_each(|(rank, &variable)| rank_of[variable] = rank);
    rank_of
}
