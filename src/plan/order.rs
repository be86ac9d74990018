//! A repeatable order under constraints that may contradict each other.

/// All of `0..n` such that for every `(a, b)` of `hard`, which must have no cycle, `a` comes before `b`, and for every
/// `(a, b)` of `soft` too, except inside cycles. Where the constraints leave a choice, the smaller number comes first.
pub(super) fn constrained(n: usize, hard: &[(usize, usize)], soft: &[(usize, usize)]) -> Vec<usize> {
    let mut reaches = vec![vec![false; n]; n];
    for &(a, b) in hard.iter().chain(soft) {
        reaches[a][b] = true;
    }
    for via in 0..n {
        let from_via = reaches[via].clone();
        for row in reaches.iter_mut().filter(|row| row[via]) {
            for (to, reached) in row.iter_mut().enumerate() {
                *reached |= from_via[to];
            }
        }
    }
    let mut before = vec![Vec::new(); n];
    for &(a, b) in hard {
        before[b].push(a);
    }
    let mut done = vec![false; n];
    let mut order = Vec::with_capacity(n);
    while order.len() < n {
        // Nothing that is left comes before the next one, unless on a cycle with it. Such a node exists: take any node
        // that has only its own cycle before it, and of that cycle one without hard predecessors.
        let free = |node: usize| {
            !done[node]
                && before[node].iter().all(|&a| done[a])
                && (0..n).all(|other| done[other] || !reaches[other][node] || reaches[node][other])
        };
        let next = (0..n).find(|&node| free(node)).expect("hard constraints have no cycle");
        done[next] = true;
        order.push(next);
    }
    order
}

#[cfg(test)]
mod tests {
    use super::*;

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
}
