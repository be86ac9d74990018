//! Evaluates a condition in a row.

use std::cmp::Ordering;
use vecud_description::VariableType;
use vecud_plan::SignalId;

/// A column that a condition may name: numbers, booleans and clocks.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ConditionColumn {
    /// The column.
    pub column: SignalId,
    /// The type of its values, which are words (`vecud_description::word`): no strings, no binaries.
    pub variable_type: VariableType,
}

impl ConditionColumn {
    /// Whether its values are true or false.
    pub fn is_boolean(self) -> bool {
        matches!(self.variable_type, VariableType::Boolean | VariableType::Clock)
    }
}

/// The relation of two numbers.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum ComparisonOperator {
    Less,
    AtMost,
    Greater,
    AtLeast,
    Equal,
    Unequal,
}

/// A number, or the place of a signal that has one.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Operand {
    Whole(i128),
    Float(f64),
    Signal(usize),
}

/// A boolean expression.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Node {
    Known(bool),
    /// The signal at this place, a boolean.
    Signal(usize),
    Compare(Operand, ComparisonOperator, Operand),
    Same(Box<Node>, Box<Node>),
    Not(Box<Node>),
    And(Box<Node>, Box<Node>),
    Or(Box<Node>, Box<Node>),
    /// The value in the previous row is kept under this number.
    Rising(usize, Box<Node>),
}

/// A condition, with its state from the previous row.
#[derive(Clone, Debug)]
pub struct Condition {
    pub(super) root: Node,
    /// The signals that it names, each once, with their names.
    signals: Vec<(String, ConditionColumn)>,
    /// The argument of each `rising` in the row before; `None`: it was neither true nor false, or there was no row.
    before: Vec<Option<bool>>,
}

impl Default for Condition {
    fn default() -> Condition {
        Condition { root: Node::Known(true), signals: Vec::new(), before: Vec::new() }
    }
}

/// A row, with the words of all columns.
#[derive(Clone, Copy)]
struct Row<'a> {
    words: &'a [Option<u64>],
    signals: &'a [(String, ConditionColumn)],
}

#[derive(Clone, Copy)]
enum Number {
    Whole(i128),
    Float(f64),
}

impl Condition {
    /// The signals that it names, each once.
    pub fn signals(&self) -> &[(String, ConditionColumn)] {
        &self.signals
    }

    /// A signal that it names.
    pub(super) fn uses(&mut self, name: &str, signal: ConditionColumn) -> Operand {
        let known = self.signals.iter().position(|(_, own)| own.column == signal.column);
        Operand::Signal(known.unwrap_or_else(|| {
            self.signals.push((name.to_owned(), signal));
            self.signals.len() - 1
        }))
    }

    /// The number of a further `rising`.
    pub(super) fn another_edge(&mut self) -> usize {
        self.before.push(None);
        self.before.len() - 1
    }

    /// Whether it holds in a row, in which columns have these words. Rows come one after the other: in the first one nothing rises.
    pub fn holds(&mut self, words: &[Option<u64>]) -> bool {
        let row = Row { words, signals: &self.signals };
        evaluate(&self.root, row, &mut self.before) == Some(true)
    }
}

fn evaluate(node: &Node, row: Row, before: &mut [Option<bool>]) -> Option<bool> {
    match node {
        Node::Known(truth) => Some(*truth),
        Node::Signal(place) => row.word(*place).map(|word| word != 0),
        Node::Compare(left, is, right) => Some(is.holds(row.number(*left)?, row.number(*right)?)),
        // Both sides are looked at in every row, whatever the first one says: there may be edges in them.
        Node::Same(left, right) => {
            let (left, right) = (evaluate(left, row, before), evaluate(right, row, before));
            Some(left? == right?)
        }
        Node::Not(inner) => evaluate(inner, row, before).map(|truth| !truth),
        Node::And(left, right) => match (evaluate(left, row, before), evaluate(right, row, before)) {
            (Some(false), _) | (_, Some(false)) => Some(false),
            (Some(true), Some(true)) => Some(true),
            _ => None,
        },
        Node::Or(left, right) => match (evaluate(left, row, before), evaluate(right, row, before)) {
            (Some(true), _) | (_, Some(true)) => Some(true),
            (Some(false), Some(false)) => Some(false),
            _ => None,
        },
        Node::Rising(edge, inner) => {
            let now = evaluate(inner, row, before);
            let was = std::mem::replace(&mut before[*edge], now);
            Some(was == Some(false) && now == Some(true))
        }
    }
}

impl Row<'_> {
    fn word(self, place: usize) -> Option<u64> {
        self.words[self.signals[place].1.column.0]
    }

    fn number(self, operand: Operand) -> Option<Number> {
        use VariableType as T;
        let place = match operand {
            Operand::Whole(number) => return Some(Number::Whole(number)),
            Operand::Float(number) => return Some(Number::Float(number)),
            Operand::Signal(place) => place,
        };
        let word = self.word(place)?;
        Some(match self.signals[place].1.variable_type {
            T::Float32 => Number::Float(f32::from_bits(word as u32).into()),
            T::Float64 => Number::Float(f64::from_bits(word)),
            T::Int8 | T::Int16 | T::Int32 | T::Int64 | T::Enumeration => Number::Whole((word as i64).into()),
            _ => Number::Whole(word.into()),
        })
    }
}

impl ComparisonOperator {
    /// NaN is unequal to everything, and nothing else.
    fn holds(self, left: Number, right: Number) -> bool {
        let order = order(left, right);
        match self {
            ComparisonOperator::Less => order == Some(Ordering::Less),
            ComparisonOperator::AtMost => matches!(order, Some(Ordering::Less | Ordering::Equal)),
            ComparisonOperator::Greater => order == Some(Ordering::Greater),
            ComparisonOperator::AtLeast => matches!(order, Some(Ordering::Greater | Ordering::Equal)),
            ComparisonOperator::Equal => order == Some(Ordering::Equal),
            ComparisonOperator::Unequal => order != Some(Ordering::Equal),
        }
    }
}

/// The order of two numbers of any type; `None`: one of them is NaN.
fn order(left: Number, right: Number) -> Option<Ordering> {
    match (left, right) {
        (Number::Whole(left), Number::Whole(right)) => Some(left.cmp(&right)),
        (Number::Float(left), Number::Float(right)) => left.partial_cmp(&right),
        (Number::Whole(left), Number::Float(right)) => whole_and_float(left, right),
        (Number::Float(left), Number::Whole(right)) => whole_and_float(right, left).map(Ordering::reverse),
    }
}

fn whole_and_float(whole: i128, float: f64) -> Option<Ordering> {
    if float.is_nan() {
        return None;
    }
    // Floats beyond all whole numbers become the last of these.
    let floor = float.floor() as i128;
    let fraction = if float.fract() != 0.0 { Ordering::Less } else { Ordering::Equal };
    Some(match (whole.cmp(&floor), float.is_infinite()) {
        (_, true) if float > 0.0 => Ordering::Less,
        (_, true) => Ordering::Greater,
        (Ordering::Equal, false) => fraction,
        (other, false) => other,
    })
}

#[cfg(test)]
mod tests {
    use super::super::ConditionError;
    use super::*;
    use proptest::prelude::*;

    /// The signals of the tests, in the order of their columns.
    const SIGNALS: [(&str, VariableType); 7] = [
        ("a.x", VariableType::Float64),
        ("a.n", VariableType::Int32),
        ("a.u", VariableType::UInt64),
        ("a.key", VariableType::Boolean),
        ("a.v[2]", VariableType::Float32),
        ("a.der(x)", VariableType::Float64),
        ("a.tick", VariableType::Clock),
    ];

    fn parse(text: &str) -> Result<Condition, ConditionError> {
        Condition::parse(text, |name| {
            let place = SIGNALS.iter().position(|(own, _)| *own == name).ok_or(format!("there is no {name}"))?;
            Ok(ConditionColumn { column: SignalId(place), variable_type: SIGNALS[place].1 })
        })
    }

    /// A row in which all columns have a value.
    fn row(x: f64, n: i32, key: bool) -> Vec<Option<u64>> {
        let v = u64::from(0.5f32.to_bits());
        vec![x.to_bits(), i64::from(n) as u64, u64::MAX, key.into(), v, 1.0f64.to_bits(), 0]
            .into_iter()
            .map(Some)
            .collect()
    }

    fn holds(text: &str) -> bool {
        parse(text).unwrap_or_else(|error| panic!("{text}: {error}")).holds(&row(901.5, -3, true))
    }

    #[test]
    fn comparisons_and_words_bind_as_everywhere() {
        for text in [
            "a.x > 900",
            "900 < a.x",
            "a.x>=901.5 and a.x<=901.5",
            "a.n == -3",
            "a.n != 3",
            "a.n < a.x",
            "a.key",
            "a.key == true",
            "a.key != false",
            "not a.tick",
            "not not a.key",
            "a.u == 18446744073709551615",
            "a.u > 18446744073709551614",
            "a.v[2] == 0.5",
            "\"a.der(x)\" == 1",
            // `and` binds closer than `or`, `not` closer than both.
            "true or true and false",
            "not false and true",
            "not (false or false)",
            "(a.x > 900) == a.key",
            "((a.x)) > (900)",
            "a.x > 900 and (a.n > 0 or a.key)",
        ] {
            assert!(holds(text), "{text}");
        }
        for text in [
            "a.x < 900",
            "a.key and a.tick",
            "(true or true) and false",
            "not a.key",
            "a.key == false",
            "rising(a.key)",
        ] {
            assert!(!holds(text), "{text}");
        }
    }

    #[test]
    fn what_is_wrong_has_its_column() {
        for (text, column, words) in [
            ("", 1, "the condition ends here"),
            ("a.x", 1, "this is a number"),
            ("a.key and a.x", 11, "this is a number"),
            ("a.x or a.key", 1, "this is a number"),
            ("not a.x", 5, "this is a number"),
            ("rising(a.x)", 8, "this is a number"),
            ("rising a.key", 1, "rising is written as rising(ecu.key)"),
            ("a.x > ", 7, "the condition ends here"),
            ("a.x > and", 7, "not \"and\""),
            ("a.x > )", 7, "not \")\""),
            ("(a.key", 7, "a bracket should be closed here"),
            ("a.key)", 6, "should end here"),
            ("a.key a.tick", 7, "should end here"),
            ("a.key < a.tick", 7, "use == or !="),
            ("a.key == 1", 7, "a number is compared with what is true or false"),
            ("1 < a.x < 2", 9, "join them with and"),
            ("a.x > a.y", 7, "there is no a.y"),
        ] {
            let error = parse(text).map(|_| ()).unwrap_err();
            assert!(error.column == column && error.message.contains(words), "{text}: {error}");
        }
        let deep = format!("{}true{}", "(".repeat(65), ")".repeat(65));
        assert_eq!(parse(&deep).unwrap_err().column, 66);
        assert!(parse(&format!("{}true{}", "(".repeat(64), ")".repeat(64))).is_ok());
        assert!(parse(&format!("{}true", " ".repeat(5000))).unwrap_err().message.contains("longer"));
    }

    #[test]
    fn an_edge_is_seen_in_the_row_in_which_it_is_and_in_no_other() {
        let mut condition = parse("rising(a.key)").unwrap();
        let seen: Vec<bool> =
            [true, true, false, true, true, false, true].map(|key| condition.holds(&row(0.0, 0, key))).to_vec();
        assert_eq!(seen, [false, false, false, true, false, false, true], "nothing rises in the first row");
        let mut condition = parse("a.n > 0 or rising(a.x > 900)").unwrap();
        let rows = [(0.0, 1), (901.0, 1), (901.0, 0), (0.0, 0), (901.0, 0)];
        let seen: Vec<bool> = rows.map(|(x, n)| condition.holds(&row(x, n, false))).to_vec();
        assert_eq!(seen, [true, true, false, false, true], "the edge was in a row in which the other side held");
    }

    #[test]
    fn what_has_no_value_decides_nothing() {
        let mut without_x = row(0.0, 0, true);
        without_x[0] = None;
        for (text, expected) in [
            ("a.x > 1", false),
            ("not a.x > 1", false),
            ("a.x > 1 or a.key", true),
            ("a.x > 1 and a.key", false),
            ("not (a.x > 1 and false)", true),
        ] {
            assert_eq!(parse(text).unwrap().holds(&without_x), expected, "{text}");
        }
        let mut condition = parse("rising(a.x > 1)").unwrap();
        assert!(!condition.holds(&without_x) && !condition.holds(&row(2.0, 0, true)), "it was not false before");
    }

    #[test]
    fn signals_are_named_once() {
        let condition = parse("a.x > 1 and (a.key or a.x < 0)").unwrap();
        let names: Vec<&str> = condition.signals().iter().map(|(name, _)| name.as_str()).collect();
        assert_eq!(names, ["a.x", "a.key"]);
    }

    /// A condition without edges as text, and whether it holds where `a.x`, `a.n` and `a.key` are these.
    fn conditions(x: f64, n: i32, key: bool) -> impl Strategy<Value = (String, bool)> {
        let leaf = prop_oneof![
            Just(("a.key".to_owned(), key)),
            any::<bool>().prop_map(|truth| (truth.to_string(), truth)),
            (-5i32..5).prop_map(move |c| (format!("a.n <= {c}"), n <= c)),
            (-5i32..5).prop_map(move |c| (format!("a.x > {c}"), x > f64::from(c))),
            (-5.0f64..5.0).prop_map(move |c| (format!("{c:?} != a.x"), x != c)),
            (-5.0f64..5.0).prop_map(move |c| (format!("a.n < {c:?}"), f64::from(n) < c)),
        ];
        leaf.prop_recursive(6, 48, 3, |inner| {
            prop_oneof![
                (inner.clone(), inner.clone()).prop_map(|(a, b)| (format!("({}) and ({})", a.0, b.0), a.1 && b.1)),
                (inner.clone(), inner.clone()).prop_map(|(a, b)| (format!("({}) or ({})", a.0, b.0), a.1 || b.1)),
                (inner.clone(), inner.clone()).prop_map(|(a, b)| (format!("({}) != ({})", a.0, b.0), a.1 != b.1)),
                inner.prop_map(|a| (format!("not ({})", a.0), !a.1)),
            ]
        })
    }

    proptest! {
        #[test]
        fn a_condition_means_what_it_says(
            ((text, expected), (x, n, key)) in (-5.0f64..5.0, -5i32..5, any::<bool>())
                .prop_flat_map(|(x, n, key)| (conditions(x, n, key), Just((x, n, key))))
        ) {
            // Brackets are bounded; what is deeper is refused, as another test has it.
            if let Ok(mut condition) = parse(&text) {
                prop_assert_eq!(condition.holds(&row(x, n, key)), expected, "{}", text);
            } else {
                prop_assert!(text.len() > 4096, "{}", text);
            }
        }

        #[test]
        fn whole_numbers_and_floats_are_compared_exactly(whole in any::<i64>(), steps in -2i64..3) {
            let float = whole as f64;
            let near = i128::from(whole) + i128::from(steps);
            let exact = near.cmp(&(float as i128));
            prop_assert_eq!(whole_and_float(near, float), Some(exact));
        }

        /// Any text is a condition or has a column in it.
        #[test]
        fn any_text_is_read_without_harm(text in "[a-z.<>=!()\\[\\]0-9e \"-]{0,40}") {
            if let Err(error) = parse(&text) {
                prop_assert!((1..=text.chars().count() + 1).contains(&error.column), "{}: {}", text, error);
            }
        }
    }
}
