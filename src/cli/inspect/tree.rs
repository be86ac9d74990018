//! The hierarchy that structured names stand for (FMI 3.0, 2.4.9: `variableNamingConvention="structured"`):
//! `engine.valve[2].lift` and `der(engine.speed)` are both below `engine`.

use std::collections::HashMap;

/// Names of more parts than people read are not taken apart.
const DEEPEST: usize = 32;

/// A line of the tree.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct TreeLine {
    pub depth: usize,
    pub label: String,
    /// Which of the names this is; `None`: only part of others.
    pub name: Option<usize>,
}

/// The parts of a structured name, outermost first. Dots in quoted parts and in indices do not separate.
pub(super) fn parts(name: &str) -> Vec<String> {
    // `der(a.b)` and `der(a.b,2)` belong where `a.b` does.
    for function in ["der", "previous"] {
        let inner = name.strip_prefix(function).and_then(|rest| rest.strip_prefix('('));
        if let Some(inner) = inner.and_then(|rest| rest.strip_suffix(')')) {
            let (of, order) = match inner.rsplit_once(',') {
                Some((of, order)) if order.trim().parse::<u32>().is_ok() => (of, format!(",{}", order.trim())),
                _ => (inner, String::new()),
            };
            let mut parts = split(of);
            if let Some(last) = parts.last_mut() {
                *last = format!("{function}({last}{order})");
            }
            return parts;
        }
    }
    split(name)
}

fn split(name: &str) -> Vec<String> {
    let (mut parts, mut quoted, mut escaped, mut depth) = (vec![String::new()], false, false, 0usize);
    for c in name.chars() {
        match c {
            _ if escaped => escaped = false,
            '\\' if quoted => escaped = true,
            '\'' => quoted = !quoted,
            '[' if !quoted => depth += 1,
            ']' if !quoted => depth = depth.saturating_sub(1),
            '.' if !quoted && depth == 0 => {
                parts.push(String::new());
                continue;
            }
            _ => {}
        }
        parts.last_mut().expect("never empty").push(c);
    }
    if parts.len() > DEEPEST { vec![name.to_owned()] } else { parts }
}

/// All names as a tree, parts in the order in which they first appear.
pub(super) fn tree<'a>(names: impl Iterator<Item = &'a str>) -> Vec<TreeLine> {
    #[derive(Default)]
    struct Node {
        name: Option<usize>,
        children: Vec<(String, Node)>,
        /// Where among them, by part.
        places: HashMap<String, usize>,
    }
    fn flatten(node: Node, depth: usize, lines: &mut Vec<TreeLine>) {
        for (label, child) in node.children {
            lines.push(TreeLine { depth, label, name: child.name });
            flatten(child, depth + 1, lines);
        }
    }
    let mut root = Node::default();
    for (index, name) in names.enumerate() {
        let mut node = &mut root;
        for part in parts(name) {
            let at = *node.places.entry(part).or_insert_with_key(|part| {
                node.children.push((part.clone(), Node::default()));
                node.children.len() - 1
            });
            node = &mut node.children[at].1;
        }
        node.name = Some(index);
    }
    let mut lines = Vec::new();
    flatten(root, 0, &mut lines);
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dots_separate_unless_they_are_quoted_or_in_an_index() {
        for (name, expected) in [
            ("speed", vec!["speed"]),
            ("engine.valve[2].lift", vec!["engine", "valve[2]", "lift"]),
            ("m[1,2].'a.b'.c", vec!["m[1,2]", "'a.b'", "c"]),
            (r"'it\'s.one'.x", vec![r"'it\'s.one'", "x"]),
            ("a[x.y]", vec!["a[x.y]"]),
            ("der(engine.speed)", vec!["engine", "der(speed)"]),
            ("der(engine.speed,2)", vec!["engine", "der(speed,2)"]),
            ("der(a[1,2])", vec!["der(a[1,2])"]),
            ("previous(engine.n)", vec!["engine", "previous(n)"]),
            ("derivative.x", vec!["derivative", "x"]),
            ("", vec![""]),
        ] {
            assert_eq!(parts(name), expected, "{name}");
        }
    }

    #[test]
    fn names_of_absurd_depth_or_number_do_no_harm() {
        let deep = vec!["a"; 100_000].join(".");
        assert_eq!(parts(&deep), std::slice::from_ref(&deep));
        assert_eq!(parts(&"der(".repeat(100_000)).len(), 1);
        let many: Vec<String> = (0..100_000).map(|i| format!("all.v{i}")).collect();
        let begun = std::time::Instant::now();
        assert_eq!(tree(many.iter().map(String::as_str)).len(), 100_001);
        assert!(begun.elapsed().as_secs() < 10, "{:?}", begun.elapsed());
    }

    #[test]
    fn names_with_a_common_beginning_stand_below_it() {
        let lines = tree(["engine.speed", "time", "engine.valve.lift", "der(engine.speed)", "engine"].into_iter());
        let text: Vec<String> =
            lines.iter().map(|line| format!("{}{} {:?}", "  ".repeat(line.depth), line.label, line.name)).collect();
        let expected = [
            "engine Some(4)",
            "  speed Some(0)",
            "  valve None",
            "    lift Some(2)",
            "  der(speed) Some(3)",
            "time Some(1)",
        ];
        assert_eq!(text, expected);
    }
}
