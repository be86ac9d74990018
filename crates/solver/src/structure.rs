//! Which derivative depends on which state.

/// The places of a Jacobian that may be other than zero, and the states that may be moved together to find them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Structure {
    /// The derivatives that depend on each state; empty where any may.
    rows: Vec<Vec<usize>>,
    /// Groups of states; no derivative depends on two states of a group.
    groups: Vec<Vec<usize>>,
}

impl Structure {
    /// Any derivative may depend on any state.
    pub fn dense(states: usize) -> Structure {
        Structure { rows: Vec::new(), groups: (0..states).map(|state| vec![state]).collect() }
    }

    /// A structure from pairs of a derivative and a state that it depends on, both by number. Each state joins the first group in
    /// which none has a derivative in common with it.
    pub fn sparse(states: usize, dependencies: &[(usize, usize)]) -> Structure {
        let mut rows = vec![Vec::new(); states];
        for &(derivative, state) in dependencies {
            rows[state].push(derivative);
        }
        let mut groups: Vec<(Vec<usize>, Vec<bool>)> = Vec::new();
        for (state, rows) in rows.iter_mut().enumerate() {
            rows.sort_unstable();
            rows.dedup();
            let free = groups.iter().position(|(_, taken)| rows.iter().all(|&row| !taken[row]));
            let group = free.unwrap_or_else(|| {
                groups.push((Vec::new(), vec![false; states]));
                groups.len() - 1
            });
            let (members, taken) = &mut groups[group];
            members.push(state);
            rows.iter().for_each(|&row| taken[row] = true);
        }
        Structure { rows, groups: groups.into_iter().map(|(members, _)| members).collect() }
    }

    /// States that may be moved together.
    pub fn groups(&self) -> &[Vec<usize>] {
        &self.groups
    }

    /// The derivatives that depend on a state; `None` where any may.
    pub fn rows_of(&self, state: usize) -> Option<&[usize]> {
        self.rows.get(state).map(Vec::as_slice)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn each_state_is_in_one_group_and_no_two_of_a_group_have_a_derivative_in_common(
            dependencies in prop::collection::vec((0..9usize, 0..9usize), 0..40),
        ) {
            let structure = Structure::sparse(9, &dependencies);
            let mut members: Vec<usize> = structure.groups().iter().flatten().copied().collect();
            members.sort_unstable();
            prop_assert!(members.into_iter().eq(0..9));
            for group in structure.groups() {
                let mut rows: Vec<usize> = group.iter().flat_map(|&state| structure.rows_of(state).unwrap()).copied().collect();
                let all = rows.len();
                rows.sort_unstable();
                rows.dedup();
                prop_assert_eq!(rows.len(), all);
            }
            for (derivative, state) in dependencies {
                prop_assert!(structure.rows_of(state).unwrap().contains(&derivative));
            }
        }
    }
}
