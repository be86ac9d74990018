//! Words → a condition, with the signals that it names.

use super::error::ConditionError;
use super::evaluate::{ComparisonOperator, Condition, ConditionColumn, Node, Operand};
use super::text::{Lexeme, words};

/// A longer condition is refused, and one with more brackets in brackets.
const LONGEST: usize = 4096;
const DEEPEST: usize = 64;

/// A part of a condition while it is read: a signal, a number, or a condition.
enum Term {
    Number(Operand),
    Truth(Node),
}

struct Parser<'a, F> {
    words: &'a [(usize, Lexeme)],
    /// The column behind the last word.
    end: usize,
    /// The signal that a name stands for; `Err`: why none.
    find: F,
    /// Number of open brackets.
    depth: usize,
    condition: Condition,
}

impl Condition {
    /// The condition that a text is. `find` gives the signal that a name stands for, or why it is none.
    pub fn parse(
        text: &str,
        find: impl FnMut(&str) -> Result<ConditionColumn, String>,
    ) -> Result<Condition, ConditionError> {
        if text.len() > LONGEST {
            let message = format!("the condition is longer than {LONGEST} bytes: shorten it");
            return Err(ConditionError { column: 1, message });
        }
        let words = words(text)?;
        let end = 1 + text.chars().count();
        let mut parser = Parser { words: &words, end, find, depth: 0, condition: Condition::default() };
        let root = parser.truth()?;
        if let Some((column, _)) = parser.words.first() {
            let message = "the condition should end here, or go on with and, or, or a comparison".to_owned();
            return Err(ConditionError { column: *column, message });
        }
        parser.condition.root = root;
        Ok(parser.condition)
    }
}

impl<F: FnMut(&str) -> Result<ConditionColumn, String>> Parser<'_, F> {
    fn column(&self) -> usize {
        self.words.first().map_or(self.end, |(column, _)| *column)
    }

    /// Takes the next word, if it is this one.
    fn takes(&mut self, is: impl Fn(&Lexeme) -> bool) -> bool {
        let found = self.words.first().is_some_and(|(_, word)| is(word));
        if found {
            self.words = &self.words[1..];
        }
        found
    }

    fn takes_name(&mut self, name: &str) -> bool {
        self.takes(|word| matches!(word, Lexeme::Name(own) if own == name))
    }

    fn takes_sign(&mut self, sign: &str) -> bool {
        self.takes(|word| matches!(word, Lexeme::Sign(own) if *own == sign))
    }

    /// Parses a boolean expression.
    fn truth(&mut self) -> Result<Node, ConditionError> {
        let column = self.column();
        let term = self.any()?;
        self.must_be_truth(term, column)
    }

    fn must_be_truth(&self, term: Term, column: usize) -> Result<Node, ConditionError> {
        match term {
            Term::Truth(node) => Ok(node),
            Term::Number(_) => {
                let message = "this is a number, neither true nor false: compare it, as in ecu.speed > 900".to_owned();
                Err(ConditionError { column, message })
            }
        }
    }

    fn any(&mut self) -> Result<Term, ConditionError> {
        self.joined("or", Self::conjunction, Node::Or)
    }

    fn conjunction(&mut self) -> Result<Term, ConditionError> {
        self.joined("and", Self::negation, Node::And)
    }

    /// One part, or several with this word between them; of several, each must be a condition.
    fn joined(
        &mut self,
        word: &str,
        part: fn(&mut Self) -> Result<Term, ConditionError>,
        join: fn(Box<Node>, Box<Node>) -> Node,
    ) -> Result<Term, ConditionError> {
        let column = self.column();
        let mut term = part(self)?;
        while self.takes_name(word) {
            let left = self.must_be_truth(term, column)?;
            let right_column = self.column();
            let right = part(self)?;
            let right = self.must_be_truth(right, right_column)?;
            term = Term::Truth(join(Box::new(left), Box::new(right)));
        }
        Ok(term)
    }

    fn negation(&mut self) -> Result<Term, ConditionError> {
        let mut nots = 0;
        while self.takes_name("not") {
            nots += 1;
        }
        let column = self.column();
        let term = self.comparison()?;
        if nots == 0 {
            return Ok(term);
        }
        let truth = self.must_be_truth(term, column)?;
        Ok(Term::Truth(if nots % 2 == 1 { Node::Not(Box::new(truth)) } else { truth }))
    }

    fn comparison(&mut self) -> Result<Term, ConditionError> {
        let left = self.operand()?;
        let column = self.column();
        let Some(is) = self.comparator() else { return Ok(left) };
        let right = self.operand()?;
        let error = |message: &str| Err(ConditionError { column, message: message.to_owned() });
        if let Some((column, _)) = self.words.first()
            && self.comparator().is_some()
        {
            let message = "comparisons follow each other: join them with and".to_owned();
            return Err(ConditionError { column: *column, message });
        }
        match (left, right) {
            (Term::Number(left), Term::Number(right)) => Ok(Term::Truth(Node::Compare(left, is, right))),
            (Term::Truth(left), Term::Truth(right)) => match is {
                ComparisonOperator::Equal => Ok(Term::Truth(Node::Same(Box::new(left), Box::new(right)))),
                ComparisonOperator::Unequal => {
                    Ok(Term::Truth(Node::Not(Box::new(Node::Same(Box::new(left), Box::new(right))))))
                }
                _ => error("of what is true or false it can be said whether it is the same: use == or !="),
            },
            _ => error("a number is compared with what is true or false"),
        }
    }

    fn comparator(&mut self) -> Option<ComparisonOperator> {
        const ALL: [(&str, ComparisonOperator); 6] = [
            ("<", ComparisonOperator::Less),
            ("<=", ComparisonOperator::AtMost),
            (">", ComparisonOperator::Greater),
            (">=", ComparisonOperator::AtLeast),
            ("==", ComparisonOperator::Equal),
            ("!=", ComparisonOperator::Unequal),
        ];
        ALL.into_iter().find(|(sign, _)| self.takes_sign(sign)).map(|(_, is)| is)
    }

    fn operand(&mut self) -> Result<Term, ConditionError> {
        let column = self.column();
        let error = |message: String| Err(ConditionError { column, message });
        if self.takes_sign("(") {
            return self.in_brackets(Self::any);
        }
        let Some((_, word)) = self.words.first() else {
            return error("the condition ends here, where a signal or a number should follow".to_owned());
        };
        self.words = &self.words[1..];
        match word {
            Lexeme::Whole(number) => Ok(Term::Number(Operand::Whole(*number))),
            Lexeme::Float(number) => Ok(Term::Number(Operand::Float(*number))),
            Lexeme::Sign(sign) => error(format!("a signal or a number should stand here, not \"{sign}\"")),
            Lexeme::Name(name) if name == "true" => Ok(Term::Truth(Node::Known(true))),
            Lexeme::Name(name) if name == "false" => Ok(Term::Truth(Node::Known(false))),
            Lexeme::Name(name) if matches!(name.as_str(), "and" | "or" | "not") => {
                error(format!("a signal or a number should stand here, not \"{name}\""))
            }
            Lexeme::Name(name) if name == "rising" => {
                if !self.takes_sign("(") {
                    return error("rising is written as rising(ecu.key)".to_owned());
                }
                let inner = self.in_brackets(|parser| parser.truth().map(Term::Truth))?;
                let inner = self.must_be_truth(inner, column)?;
                Ok(Term::Truth(Node::Rising(self.condition.another_edge(), Box::new(inner))))
            }
            Lexeme::Name(name) | Lexeme::Quoted(name) => match (self.find)(name) {
                Ok(signal) => Ok(match self.condition.uses(name, signal) {
                    Operand::Signal(place) if signal.is_boolean() => Term::Truth(Node::Signal(place)),
                    number => Term::Number(number),
                }),
                Err(message) => error(message),
            },
        }
    }

    fn in_brackets(
        &mut self,
        inner: impl FnOnce(&mut Self) -> Result<Term, ConditionError>,
    ) -> Result<Term, ConditionError> {
        if self.depth == DEEPEST {
            let message = format!("more than {DEEPEST} brackets are open: simplify it");
            return Err(ConditionError { column: self.column(), message });
        }
        self.depth += 1;
        let term = inner(self)?;
        self.depth -= 1;
        let column = self.column();
        match self.takes_sign(")") {
            true => Ok(term),
            false => Err(ConditionError { column, message: "a bracket should be closed here".to_owned() }),
        }
    }
}
