//! Elements of arrays: the ones that a rig selects, and their values.
//!
//! Parts of arrays are written `map[3]`, `map[2:4]`, `m[1,2]`, `m[1,:]`. Indices count from 1 in each dimension, elements are in
//! row-major order (FMI 3.0, 2.2.6.1).
//!
//! A variable's own name may end like that, so names come first: only where no variable is called `m[1]` is it an element
//! of `m`.

use std::ops::Range;
use vecud_description::Values;

/// Elements of a variable, by row-major number counted from 0.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ElementSelection {
    /// Runs of neighbours, in the order in which the selection has them; never overlapping.
    pub runs: Vec<Range<usize>>,
    /// Lengths of the dimensions that are left; empty for a single element.
    pub shape: Vec<usize>,
    /// Whether the selection leaves out elements of the variable.
    pub partial: bool,
    /// The selection as written: `[1,:]`; empty for a whole variable.
    pub text: String,
}

impl ElementSelection {
    /// Everything that a variable has.
    pub fn whole(shape: Vec<usize>) -> ElementSelection {
        ElementSelection { runs: vec![0..count(&shape); 1], shape, partial: false, text: String::new() }
    }

    /// Number of elements.
    pub fn elements(&self) -> usize {
        self.runs.iter().map(ExactSizeIterator::len).sum()
    }

    /// Whether some element is in both.
    pub fn overlaps(&self, other: &ElementSelection) -> bool {
        self.runs.iter().any(|a| other.runs.iter().any(|b| a.start < b.end && b.start < a.end))
    }
}

/// The elements that `indices`, the text between the brackets, selects of an array of this shape.
pub fn select(shape: &[usize], indices: &str) -> Result<ElementSelection, String> {
    let parts: Vec<&str> = indices.split(',').map(str::trim).collect();
    if shape.is_empty() {
        return Err("the variable is a scalar".to_owned());
    }
    if parts.len() != shape.len() {
        let s = if shape.len() == 1 { "" } else { "s" };
        return Err(format!("the variable has {} dimension{s}, not {}", shape.len(), parts.len()));
    }
    let mut ranges = Vec::with_capacity(shape.len());
    let mut left = Vec::new();
    for (part, &length) in parts.iter().zip(shape) {
        let range = range(part, length).map_err(|reason| format!("{reason} (its size is {})", shape_text(shape)))?;
        if part.contains(':') {
            left.push(range.len());
        }
        ranges.push(range);
    }
    Ok(ElementSelection {
        partial: ranges.iter().zip(shape).any(|(range, &length)| range.len() != length),
        runs: runs(&ranges, shape),
        shape: left,
        text: format!("[{}]", parts.join(",")),
    })
}

/// The range of one index, counted from 0: `3`, `2:4`, `:`.
fn range(part: &str, length: usize) -> Result<Range<usize>, String> {
    let number =
        |text: &str| text.trim().parse::<usize>().map_err(|_| format!("\"{part}\" is no index: write 3, 2:4 or :"));
    let (first, last) = match part.split_once(':') {
        Some(("", "")) => (1, length),
        Some((first, last)) => (number(first)?, number(last)?),
        None => (number(part)?, number(part)?),
    };
    if first == 0 {
        return Err(format!("\"{part}\" starts at 0, but indices count from 1"));
    }
    if last < first {
        return Err(format!("\"{part}\" is empty: it ends before it starts"));
    }
    if last > length {
        return Err(format!("\"{part}\" is out of range: there are {length} elements in this dimension"));
    }
    Ok(first - 1..last)
}

/// The selected elements, neighbours joined.
fn runs(ranges: &[Range<usize>], shape: &[usize]) -> Vec<Range<usize>> {
    let mut runs: Vec<Range<usize>> = vec![0..1; 1];
    for (range, &length) in ranges.iter().zip(shape) {
        // Each run so far stands for whole rows below it.
        runs = runs
            .iter()
            .flat_map(|run| run.clone())
            .map(|row| row * length + range.start..row * length + range.end)
            .fold(Vec::new(), |mut joined: Vec<Range<usize>>, run| {
                match joined.last_mut() {
                    Some(last) if last.end == run.start => last.end = run.end,
                    _ => joined.push(run),
                }
                joined
            });
    }
    runs
}

/// Number of elements of an array of this shape; 1 for a scalar.
pub fn count(shape: &[usize]) -> usize {
    shape.iter().fold(1, |count: usize, length| count.saturating_mul(*length))
}

/// `[3,2]`, or nothing for a scalar.
pub fn shape_text(shape: &[usize]) -> String {
    let lengths: Vec<String> = shape.iter().map(usize::to_string).collect();
    if shape.is_empty() { String::new() } else { format!("[{}]", lengths.join(",")) }
}

/// Expands the same expression for every kind of values.
macro_rules! for_each {
    ($values:expr, $v:ident => $same:expr) => {
        match $values {
            Values::Float32($v) => Values::Float32($same),
            Values::Float64($v) => Values::Float64($same),
            Values::Int8($v) => Values::Int8($same),
            Values::UInt8($v) => Values::UInt8($same),
            Values::Int16($v) => Values::Int16($same),
            Values::UInt16($v) => Values::UInt16($same),
            Values::Int32($v) => Values::Int32($same),
            Values::UInt32($v) => Values::UInt32($same),
            Values::Int64($v) => Values::Int64($same),
            Values::UInt64($v) => Values::UInt64($same),
            Values::Boolean($v) => Values::Boolean($same),
            Values::String($v) => Values::String($same),
            Values::Binary($v) => Values::Binary($same),
            Values::Clock($v) => Values::Clock($same),
        }
    };
}

/// The values of all `elements` of an array; one value may stand for all of them.
pub fn expanded(values: &Values, elements: usize) -> Values {
    fn fill<T: Clone>(values: &[T], elements: usize) -> Vec<T> {
        match values {
            [single] => vec![single.clone(); elements],
            all => all.to_vec(),
        }
    }
    for_each!(values, v => fill(v, elements))
}

/// `values` with the elements of `runs` replaced by those of `part`, in order.
///
/// # Panics
/// If the values are of different types.
pub fn replaced(values: Values, runs: &[Range<usize>], part: &Values) -> Values {
    fn replace<T: Clone>(mut values: Vec<T>, runs: &[Range<usize>], part: &[T]) -> Vec<T> {
        let numbers = runs.iter().cloned().flatten();
        numbers.zip(part).for_each(|(number, value)| values[number] = value.clone());
        values
    }
    macro_rules! same_type {
        ($($variant:ident)*) => {
            match (values, part) {
                $((Values::$variant(v), Values::$variant(part)) => Values::$variant(replace(v, runs, part)),)*
                (values, part) => panic!("{part:?} is no part of {values:?}"),
            }
        };
    }
    same_type!(Float32 Float64 Int8 UInt8 Int16 UInt16 Int32 UInt32 Int64 UInt64 Boolean String Binary Clock)
}

/// Bytes of the longest string or binary.
pub fn longest(values: &Values) -> usize {
    match values {
        Values::String(v) => v.iter().map(String::len).max().unwrap_or(0),
        Values::Binary(v) => v.iter().map(Vec::len).max().unwrap_or(0),
        _ => 0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn numbers(shape: &[usize], indices: &str) -> Vec<usize> {
        select(shape, indices).unwrap().runs.into_iter().flatten().collect()
    }

    #[test]
    fn indices_count_from_one_and_rows_come_first() {
        assert_eq!(numbers(&[4], "3"), [2]);
        assert_eq!(numbers(&[4], "2:4"), [1, 2, 3]);
        assert_eq!(numbers(&[2, 3], "1,2"), [1]);
        assert_eq!(numbers(&[2, 3], "2,:"), [3, 4, 5]);
        assert_eq!(numbers(&[2, 3], " : , 2 "), [1, 4]);
        assert_eq!(numbers(&[2, 2, 2], "2,1:2,1"), [4, 6]);
    }

    #[test]
    fn an_index_takes_its_dimension_away_and_a_range_keeps_it() {
        let shape = |indices| select(&[2, 3], indices).unwrap().shape;
        assert_eq!(shape("1,2"), [0usize; 0]);
        assert_eq!(shape("1,:"), [3]);
        assert_eq!(shape("1:2,3"), [2]);
        assert_eq!(shape("1:1,2:3"), [1, 2]);
    }

    #[test]
    fn what_is_selected_in_full_is_one_run_and_not_partial() {
        let all = select(&[2, 3], ":,1:3").unwrap();
        assert_eq!((all.runs.len(), all.partial, all.elements()), (1, false, 6));
        let row = select(&[2, 3], "2,:").unwrap();
        assert_eq!((row.runs.len(), row.partial), (1, true));
    }

    #[test]
    fn wrong_indices_say_what_is_wrong() {
        let error = |shape: &[usize], indices| select(shape, indices).unwrap_err();
        assert_eq!(error(&[3], "4"), "\"4\" is out of range: there are 3 elements in this dimension (its size is [3])");
        assert_eq!(error(&[3], "0"), "\"0\" starts at 0, but indices count from 1 (its size is [3])");
        assert_eq!(error(&[3], "3:2"), "\"3:2\" is empty: it ends before it starts (its size is [3])");
        assert_eq!(error(&[3], "x"), "\"x\" is no index: write 3, 2:4 or : (its size is [3])");
        assert_eq!(error(&[3], ""), "\"\" is no index: write 3, 2:4 or : (its size is [3])");
        assert_eq!(error(&[3], "2:"), "\"2:\" is no index: write 3, 2:4 or : (its size is [3])");
        assert_eq!(error(&[2, 3], "1"), "the variable has 2 dimensions, not 1");
        assert_eq!(error(&[], "1"), "the variable is a scalar");
    }

    proptest! {
        #[test]
        fn runs_are_what_counting_one_by_one_gives(
            (shape, bounds) in prop::collection::vec((1usize..5, 0usize..5, 0usize..5), 1..4).prop_map(|dimensions| {
                let shape: Vec<usize> = dimensions.iter().map(|d| d.0).collect();
                let bounds: Vec<(usize, usize)> =
                    dimensions.iter().map(|&(n, a, b)| ((a % n).min(b % n), (a % n).max(b % n))).collect();
                (shape, bounds)
            })
        ) {
            let indices: Vec<String> = bounds.iter().map(|(a, b)| format!("{}:{}", a + 1, b + 1)).collect();
            let selection = select(&shape, &indices.join(",")).unwrap();
            let total: usize = shape.iter().product();
            let inside = |element: &usize| {
                let mut rest = *element;
                shape.iter().zip(&bounds).rev().all(|(&n, &(a, b))| {
                    let index = rest % n;
                    rest /= n;
                    (a..=b).contains(&index)
                })
            };
            prop_assert_eq!(selection.runs.iter().cloned().flatten().collect::<Vec<_>>(), (0..total).filter(inside).collect::<Vec<_>>());
            prop_assert!(selection.runs.windows(2).all(|pair| pair[0].end < pair[1].start), "neighbours are joined");
            prop_assert!(selection.overlaps(&selection));
        }
    }
}
