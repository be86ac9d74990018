//! Cycles of a graph.

/// Nodes that reach each other (strongly connected components). A node alone is a cycle of one.
pub struct Cycles {
    /// The cycle of each node.
    pub of: Vec<usize>,
    /// The nodes of each cycle.
    pub members: Vec<Vec<usize>>,
}

impl Cycles {
    /// The cycles of a graph; `after` has the successors of each node.
    ///
    /// Tarjan's algorithm, with a stack of its own: chains may be longer than the thread's stack.
    pub fn of(after: &[Vec<usize>]) -> Cycles {
        const NEW: usize = usize::MAX;
        let n = after.len();
        let mut cycles = Cycles { of: vec![NEW; n], members: Vec::new() };
        // When each node was found, and the earliest found one that is known to be on a cycle with it.
        let (mut found, mut earliest, mut count) = (vec![NEW; n], vec![NEW; n], 0);
        let mut open = Vec::new();
        for root in 0..n {
            if found[root] != NEW {
                continue;
            }
            // A node, and how many of its successors have been looked at.
            let mut path = vec![(root, 0)];
            while let Some((node, looked_at)) = path.last_mut() {
                let node = *node;
                if *looked_at == 0 && found[node] == NEW {
                    (found[node], earliest[node]) = (count, count);
                    count += 1;
                    open.push(node);
                }
                if let Some(&next) = after[node].get(*looked_at) {
                    *looked_at += 1;
                    if found[next] == NEW {
                        path.push((next, 0));
                    } else if cycles.of[next] == NEW {
                        earliest[node] = earliest[node].min(found[next]);
                    }
                    continue;
                }
                path.pop();
                if let Some((above, _)) = path.last() {
                    earliest[*above] = earliest[*above].min(earliest[node]);
                }
                if earliest[node] == found[node] {
                    let begin = open.iter().rposition(|&other| other == node).expect("it is open");
                    let members = open.split_off(begin);
                    members.iter().for_each(|&member| cycles.of[member] = cycles.members.len());
                    cycles.members.push(members);
                }
            }
        }
        cycles
    }
}
