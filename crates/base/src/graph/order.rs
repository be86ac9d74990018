//! A repeatable order under constraints that may contradict each other.

use super::Cycles;
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// All of `0..n` such that for every `(a, b)` of `hard`, which must have no cycle, `a` comes before `b`, and for every
/// `(a, b)` of `soft` too, except inside cycles. Where the constraints leave a choice, the smaller number comes first.
///
/// The time that this takes grows with the number of nodes and constraints, not with their squares: a rig may have ten thousand FMUs.
pub fn constrained(n: usize, hard: &[(usize, usize)], soft: &[(usize, usize)]) -> Vec<usize> {
    let mut after = vec![Vec::new(); n];
    for &(a, b) in hard.iter().chain(soft) {
        after[a].push(b);
    }
    let cycles = Cycles::of(&after);
    // How many constraints lead into each cycle from others that are not done; a node alone is a cycle of one.
    let mut awaited = vec![0usize; cycles.members.len()];
    for (a, following) in after.iter().enumerate() {
        for &b in following.iter().filter(|&&b| cycles.of[b] != cycles.of[a]) {
            awaited[cycles.of[b]] += 1;
        }
    }
    let (mut before, mut hard_after) = (vec![0usize; n], vec![Vec::new(); n]);
    for &(a, b) in hard {
        before[b] += 1;
        hard_after[a].push(b);
    }
    let mut left: Vec<usize> = cycles.members.iter().map(Vec::len).collect();
    let mut free: BinaryHeap<Reverse<usize>> =
        (0..n).filter(|&node| awaited[cycles.of[node]] == 0 && before[node] == 0).map(Reverse).collect();
    let mut order = Vec::with_capacity(n);
    // In each cycle that nothing is before there is a node without hard predecessors, since these have no cycle.
    while let Some(Reverse(node)) = free.pop() {
        order.push(node);
        for &next in &hard_after[node] {
            before[next] -= 1;
            if before[next] == 0 && awaited[cycles.of[next]] == 0 {
                free.push(Reverse(next));
            }
        }
        let own = cycles.of[node];
        left[own] -= 1;
        if left[own] > 0 {
            continue;
        }
        let leaving = cycles.members[own].iter().flat_map(|&member| &after[member]);
        for &next in leaving.filter(|&&next| cycles.of[next] != own) {
            let other = cycles.of[next];
            awaited[other] -= 1;
            if awaited[other] == 0 {
                free.extend(cycles.members[other].iter().filter(|&&node| before[node] == 0).map(|&node| Reverse(node)));
            }
        }
    }
    assert_eq!(order.len(), n, "hard constraints have no cycle");
    order
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn without_constraints_the_order_is_kept() {
        assert_eq!(constrained(4, &[], &[]), [0, 1, 2, 3]);
    }

    #[test]
    fn producers_move_before_consumers() {
        assert_eq!(constrained(3, &[], &[(2, 0)]), [1, 2, 0]);
        assert_eq!(constrained(3, &[(0, 1)], &[(2, 1)]), [0, 2, 1]);
    }

    #[test]
    fn a_cycle_is_cut_at_its_smallest_member_and_stays_before_what_it_feeds() {
        assert_eq!(constrained(3, &[], &[(1, 2), (2, 1), (1, 0)]), [1, 2, 0]);
    }

    #[test]
    fn a_hard_constraint_wins_over_a_soft_one() {
        assert_eq!(constrained(2, &[(1, 0)], &[(0, 1)]), [1, 0]);
    }

    #[test]
    fn a_chain_of_a_hundred_thousand_is_ordered_at_once() {
        let n = 100_000;
        let chain: Vec<(usize, usize)> = (1..n).map(|i| (i, i - 1)).collect();
        assert!(constrained(n, &[], &chain).into_iter().eq((0..n).rev()));
        let ring: Vec<(usize, usize)> = (0..n).map(|i| (i, (i + 1) % n)).collect();
        assert!(constrained(n, &[], &ring).into_iter().eq(0..n));
    }

    /// Computes the order by its definition: reachability is known of all pairs, and each step looks at all nodes.
    fn by_definition(n: usize, hard: &[(usize, usize)], soft: &[(usize, usize)]) -> Vec<usize> {
        let mut reaches = vec![vec![false; n]; n];
        hard.iter().chain(soft).for_each(|&(a, b)| reaches[a][b] = true);
        for (via, from, to) in (0..n).flat_map(|v| (0..n).flat_map(move |f| (0..n).map(move |t| (v, f, t)))) {
            reaches[from][to] |= reaches[from][via] && reaches[via][to];
        }
        let mut order: Vec<usize> = Vec::new();
        while order.len() < n {
            let done = |node: usize| order.contains(&node);
            let free = |node: usize| {
                !done(node)
                    && hard.iter().all(|&(a, b)| b != node || done(a))
                    && (0..n).all(|other| done(other) || !reaches[other][node] || reaches[node][other])
            };
            order.push((0..n).find(|&node| free(node)).unwrap());
        }
        order
    }

    proptest! {
        #[test]
        fn any_constraints_give_the_order_of_the_definition(
            soft in prop::collection::vec((0..9usize, 0..9usize), 0..16),
            hard in prop::collection::vec((0..9usize, 0..9usize), 0..6),
            names in Just((0..9usize).collect::<Vec<_>>()).prop_shuffle(),
        ) {
            // From smaller to larger there is no cycle; the names take the order away.
            let hard: Vec<(usize, usize)> =
                hard.into_iter().filter(|(a, b)| a < b).map(|(a, b)| (names[a], names[b])).collect();
            prop_assert_eq!(constrained(9, &hard, &soft), by_definition(9, &hard, &soft));
        }
    }
}
