//! Algorithm 1.

use crate::master::{Block, Dependencies, ExchangeStep};
use proptest::prelude::*;

/// Orders variables that are called as they are written.
fn ordered(names: &[&str], direct: &[(&str, &str)], connections: &[(&str, &str)]) -> (Vec<String>, Vec<String>) {
    let number = |name: &&str| names.iter().position(|other| other == name).unwrap();
    let numbers =
        |edges: &[(&str, &str)]| -> Vec<(usize, usize)> { edges.iter().map(|(a, b)| (number(a), number(b))).collect() };
    let (direct, connected) = (numbers(direct), numbers(connections));
    let dependencies = Dependencies { names, direct: &direct, connections: &connected };
    let order = dependencies.order();
    let block = |block: &Block| match block {
        Block::Variable(variable) => names[*variable].to_owned(),
        Block::Loop(variables) => {
            let way: Vec<&str> = dependencies.way_around(variables).iter().map(|&variable| names[variable]).collect();
            let all: Vec<&str> = variables.iter().map(|&variable| names[variable]).collect();
            format!("loop of {}: {}", all.join(" "), way.join(" -> "))
        }
    };
    let connection = |connection: &usize| format!("{} := {}", connections[*connection].1, connections[*connection].0);
    let exchange = |exchange: &ExchangeStep| match exchange {
        ExchangeStep::Connection(number) => connection(number),
        ExchangeStep::Loop(numbers) => {
            format!("loop: {}", numbers.iter().map(connection).collect::<Vec<_>>().join(", "))
        }
    };
    (order.iter().map(block).collect(), dependencies.exchanges(&order).iter().map(exchange).collect())
}

#[test]
fn who_is_computed_from_others_comes_after_them() {
    let (order, exchanges) = ordered(
        &["c.y", "c.u", "b.y", "b.u", "a.y", "a.u"],
        &[("a.u", "a.y"), ("c.u", "c.y")],
        &[("b.y", "c.u"), ("c.y", "a.u"), ("a.y", "b.u")],
    );
    assert_eq!(order, ["b.y", "c.u", "c.y", "a.u", "a.y", "b.u"]);
    assert_eq!(exchanges, ["c.u := b.y", "a.u := c.y", "b.u := a.y"]);
}

#[test]
fn where_there_is_a_choice_the_smaller_name_comes_first() {
    let (order, exchanges) = ordered(&["b.u", "a.y", "a.u", "b.y"], &[], &[("a.y", "b.u"), ("b.y", "a.u")]);
    assert_eq!(order, ["a.y", "b.u", "b.y", "a.u"]);
    assert_eq!(exchanges, ["b.u := a.y", "a.u := b.y"]);
}

/// y = u1 - u2, u2 := y, and what is before and behind it.
#[test]
fn a_loop_is_a_block_that_names_its_variables() {
    let (order, exchanges) = ordered(
        &["sink.u", "f.u1", "f.u2", "f.y", "source.y"],
        &[("f.u1", "f.y"), ("f.u2", "f.y")],
        &[("f.y", "sink.u"), ("source.y", "f.u1"), ("f.y", "f.u2")],
    );
    assert_eq!(order, ["source.y", "f.u1", "loop of f.u2 f.y: f.u2 -> f.y", "sink.u"]);
    assert_eq!(exchanges, ["f.u1 := source.y", "loop: f.u2 := f.y", "sink.u := f.y"]);
}

/// Two loops, one of which feeds the other; the way around the larger one leaves its detour out.
#[test]
fn a_loop_is_told_by_its_shortest_way_around() {
    let (order, exchanges) = ordered(
        &["a.u", "a.y", "b.u", "b.y", "c.u", "c.y", "d.u", "d.y"],
        &[("a.u", "a.y"), ("b.u", "b.y"), ("c.u", "c.y"), ("d.u", "d.y")],
        &[("d.y", "d.u"), ("a.y", "d.u"), ("b.y", "a.u"), ("a.y", "b.u"), ("a.y", "c.u"), ("c.y", "b.u")],
    );
    assert_eq!(order, ["loop of a.u a.y b.u b.y c.u c.y: a.u -> a.y -> b.u -> b.y", "loop of d.u d.y: d.u -> d.y"]);
    let loops = ["loop: a.u := b.y, b.u := a.y, b.u := c.y, c.u := a.y", "d.u := a.y", "loop: d.u := d.y"];
    assert_eq!(exchanges, loops);
}

#[test]
fn of_ways_around_that_are_as_short_the_one_with_the_smaller_name_is_told() {
    let mut connections = [("a.y", "c.u"), ("a.y", "b.u"), ("c.y", "d.u"), ("b.y", "d.u"), ("d.y", "a.u")];
    for _both in 0..2 {
        let (order, exchanges) = ordered(
            &["d.u", "d.y", "c.u", "c.y", "b.u", "b.y", "a.u", "a.y"],
            &[("d.u", "d.y"), ("c.u", "c.y"), ("b.u", "b.y"), ("a.u", "a.y")],
            &connections,
        );
        let way = "a.u -> a.y -> b.u -> b.y -> d.u -> d.y";
        assert_eq!(order, [format!("loop of a.u a.y b.u b.y c.u c.y d.u d.y: {way}")]);
        assert_eq!(exchanges, ["loop: a.u := d.y, b.u := a.y, c.u := a.y, d.u := b.y, d.u := c.y"]);
        connections.reverse();
    }
}

/// An array some elements of which are fed from a loop, and others from elsewhere.
#[test]
fn what_feeds_a_loop_from_outside_is_set_before_it() {
    let (_, exchanges) = ordered(&["a.u", "a.y", "b.y"], &[("a.u", "a.y")], &[("a.y", "a.u"), ("b.y", "a.u")]);
    assert_eq!(exchanges, ["a.u := b.y", "loop: a.u := a.y"]);
    let all = [ExchangeStep::Connection(1), ExchangeStep::Loop(vec![2, 0])];
    assert_eq!(ExchangeStep::without_loops(&all), [1, 2, 0].map(ExchangeStep::Connection));
}

#[test]
fn a_variable_that_depends_on_itself_is_a_loop() {
    assert_eq!(ordered(&["x", "y"], &[("y", "y"), ("y", "x")], &[]).0, ["loop of y: y", "x"]);
}

#[test]
fn a_hundred_thousand_variables_are_ordered_at_once() {
    let n = 100_000;
    let names: Vec<usize> = (0..n).rev().collect();
    let connections: Vec<(usize, usize)> = (1..n).map(|i| (i - 1, i)).collect();
    let chain = Dependencies { names: &names, direct: &[], connections: &connections };
    assert!(chain.order().into_iter().eq((0..n).map(Block::Variable)));
    let ring = Dependencies { direct: &[(n - 1, 0)], ..chain };
    let order = ring.order();
    assert!(matches!(&order[..], [Block::Loop(all)] if all.iter().copied().eq((0..n).rev())));
    assert_eq!(ring.exchanges(&order), [ExchangeStep::Loop((0..n - 1).rev().collect())]);
}

/// Who reaches whom, by definition.
fn reaches(n: usize, edges: &[(usize, usize)]) -> Vec<Vec<bool>> {
    let mut reaches = vec![vec![false; n]; n];
    edges.iter().for_each(|&(a, b)| reaches[a][b] = true);
    for (via, from, to) in (0..n).flat_map(|v| (0..n).flat_map(move |f| (0..n).map(move |t| (v, f, t)))) {
        reaches[from][to] |= reaches[from][via] && reaches[via][to];
    }
    reaches
}

proptest! {
    /// Every variable is there once, after what it depends on; loops are those that reach each other; names alone decide.
    #[test]
    fn any_dependencies_are_put_in_order(
        direct in prop::collection::vec((0..9usize, 0..9usize), 0..9),
        connections in prop::collection::vec((0..9usize, 0..9usize), 0..9),
        names in Just((0..9usize).collect::<Vec<_>>()).prop_shuffle(),
        places in Just((0..9usize).collect::<Vec<_>>()).prop_shuffle(),
    ) {
        let dependencies = Dependencies { names: &names, direct: &direct, connections: &connections };
        let order = dependencies.order();
        let edges = [&direct[..], &connections].concat();
        let reaches = reaches(9, &edges);
        let members = |block: &Block| match block {
            Block::Variable(variable) => vec![*variable],
            Block::Loop(variables) => variables.clone(),
        };
        let mut place = [None; 9];
        for (number, block) in order.iter().enumerate() {
            let members = members(block);
            let is_loop = matches!(block, Block::Loop(_));
            prop_assert!(members.is_sorted_by_key(|&variable| names[variable]));
            for &variable in &members {
                prop_assert_eq!(place[variable].replace(number), None);
                prop_assert_eq!(reaches[variable][variable], is_loop);
                let both_ways = |other: usize| reaches[variable][other] && reaches[other][variable];
                let belongs = |other: usize| other == variable || both_ways(other);
                prop_assert!((0..9).all(|other| members.contains(&other) == belongs(other)));
            }
            if is_loop {
                let way = dependencies.way_around(&members);
                prop_assert_eq!(way[0], members[0]);
                let next = |at: usize| way[(at + 1) % way.len()];
                prop_assert!((0..way.len()).all(|at| edges.contains(&(way[at], next(at)))), "{:?}", way);
            }
        }
        prop_assert!(edges.iter().all(|&(a, b)| place[a].unwrap() <= place[b].unwrap()));
        // Of blocks that could change places the one with the smaller name is first.
        for pair in order.windows(2) {
            let [first, second] = [members(&pair[0]), members(&pair[1])];
            let must = edges.iter().any(|(a, b)| first.contains(a) && second.contains(b));
            prop_assert!(must || names[first[0]] < names[second[0]]);
        }
        // Each connection once, in the order of what it feeds.
        let exchanges = dependencies.exchanges(&order);
        let mut all = Vec::new();
        exchanges.iter().for_each(|exchange| match exchange {
            ExchangeStep::Connection(number) => all.push(*number),
            ExchangeStep::Loop(numbers) => all.extend(numbers),
        });
        prop_assert!(all.is_sorted_by_key(|&number| place[connections[number].1]));
        all.sort_unstable();
        prop_assert!(all.into_iter().eq(0..connections.len()));
        // The same variables under other numbers, and their edges in another order.
        let renumbered = |edges: &[(usize, usize)]| -> Vec<(usize, usize)> {
            edges.iter().rev().map(|&(a, b)| (places[a], places[b])).collect()
        };
        let mut moved = vec![0; 9];
        (0..9).for_each(|variable| moved[places[variable]] = names[variable]);
        let (other_direct, other_connections) = (renumbered(&direct), renumbered(&connections));
        let other = Dependencies { names: &moved, direct: &other_direct, connections: &other_connections };
        let by_name = |order: &[Block], names: &[usize]| -> Vec<Vec<usize>> {
            order.iter().map(|block| members(block).into_iter().map(|variable| names[variable]).collect()).collect()
        };
        prop_assert_eq!(by_name(&order, &names), by_name(&other.order(), &moved));
    }
}
