//! Values of all types through batches, and items that join later.

use super::stub::*;
use crate::*;
use vecud_description::{ValueReference, VariableType};

/// Sets and gets one word of a type; returns what C saw and what came back of `from_c`.
fn through(variable_type: VariableType, word: u64, from_c: u64) -> (u64, u64) {
    let (_control, mut partition, _) = running();
    let mut batch = Batch::new(variable_type, vec![(ValueReference(3), 1)]);
    batch.set_word(0, word);
    let mut setting = partition.begin();
    assert_eq!(setting.set(&batch), Ok(Outcome::Ok));
    let seen = last_set();
    assert_eq!(seen.references, [3]);
    next_get(&[from_c]);
    assert_eq!(setting.activate(0.0).unwrap().get(&mut batch), Ok(Outcome::Ok));
    (seen.words[0], batch.word(0))
}

#[test]
fn every_type_crosses_as_a_word() {
    use VariableType::*;
    let minus_two = -2i64 as u64;
    for (variable_type, bits) in [(Int8, 8), (Int16, 16), (Int32, 32), (Int64, 64), (Enumeration, 64)] {
        let in_c = minus_two & (u64::MAX >> (64 - bits));
        assert_eq!(through(variable_type, minus_two, in_c), (in_c, minus_two), "{variable_type:?}");
    }
    for (variable_type, bits) in [(UInt8, 8), (UInt16, 16), (UInt32, 32), (UInt64, 64)] {
        let all = u64::MAX >> (64 - bits);
        assert_eq!(through(variable_type, all, all), (all, all), "{variable_type:?}");
    }
    let (single, double) = (u64::from((-1.5f32).to_bits()), (-1.5f64).to_bits());
    assert_eq!(through(Float32, single, single), (single, single));
    assert_eq!(through(Float64, double, double), (double, double));
    // Any byte but 0 is true, whoever writes it.
    assert_eq!(through(Boolean, 256, 0xfe), (1, 1));
    assert_eq!(through(Boolean, 0, 0), (0, 0));
}

#[test]
fn bytes_that_are_no_bool_do_not_get_into_another_fmu() {
    let (_control, mut partition, notes) = running();
    let mut batch = Batch::new(VariableType::Boolean, vec![(ValueReference(3), 2)]);
    next_get(&[1, 0]);
    partition.begin().activate(0.0).unwrap().get(&mut batch).unwrap();
    assert_eq!(*notes.no_booleans.lock().unwrap(), []);
    next_get(&[0xff, 0]);
    partition.begin().activate(0.0).unwrap().get(&mut batch).unwrap();
    assert_eq!(*notes.no_booleans.lock().unwrap(), [(3, 0xff)]);
    partition.begin().set(&batch).unwrap();
    assert_eq!(last_set().words, [1, 0]);
}

#[test]
#[should_panic(expected = "String")]
fn no_batch_of_strings() {
    Batch::new(VariableType::String, vec![]);
}

#[test]
fn nothing_enabled_nothing_called() {
    let (_control, mut partition, _) = running();
    let batch = Batch::awaiting(VariableType::Float64, vec![(ValueReference(1), 4)]);
    assert_eq!(partition.begin().set(&batch), Ok(Outcome::Ok));
    assert_eq!(calls(), []);
}

/// In whatever order items join: C sees exactly those, each with its own values, and no value is lost on the way.
#[test]
fn items_join_in_any_order() {
    // Of doubles, which go their own way once all are there, as of any other type.
    [VariableType::UInt16, VariableType::Float64].into_iter().for_each(items_of_this_type_join_in_any_order);
}

fn items_of_this_type_join_in_any_order(variable_type: VariableType) {
    let sizes = [2, 1, 0, 3];
    let variables = || sizes.iter().zip(10u32..).map(|(&n, r)| (ValueReference(r), n)).collect::<Vec<_>>();
    for order in permutations(4) {
        let mut batch = Batch::awaiting(variable_type, variables());
        let word = |element: usize| 100 + element as u64;
        (0..batch.len()).for_each(|e| batch.set_word(e, word(e)));
        let (_control, mut partition, _) = running();
        for (joined, &item) in order.iter().enumerate() {
            batch.enable(item);
            batch.enable(item);
            assert!((0..batch.len()).all(|e| batch.word(e) == word(e)), "{order:?}");
            partition.begin().set(&batch).unwrap();
            let seen = last_set();
            let inside = &order[..=joined];
            assert_eq!(seen.references, inside.iter().map(|&i| 10 + i as u32).collect::<Vec<_>>());
            assert_eq!(seen.words, inside.iter().flat_map(|&i| batch.elements(i)).map(word).collect::<Vec<_>>());
            assert_eq!((0..4).filter(|&i| batch.is_enabled(i)).count(), joined + 1);
        }
    }
}

/// Who copies all of a batch at once must not mistake an element's place for its number, nor one type for another.
#[test]
fn doubles_are_lent_as_they_lie_only_in_order() {
    let variables = || vec![(ValueReference(1), 2), (ValueReference(2), 1)];
    let mut batch = Batch::awaiting(VariableType::Float64, variables());
    batch.doubles_mut().unwrap().copy_from_slice(&[0.5, 1.5, 2.5]);
    assert_eq!((0..3).map(|e| f64::from_bits(batch.word(e))).collect::<Vec<_>>(), [0.5, 1.5, 2.5]);
    batch.enable(1);
    assert!(batch.doubles().is_none() && batch.doubles_mut().is_none(), "the second item lies first");
    batch.enable(0);
    assert!(batch.doubles().is_none());
    let mut integers = Batch::new(VariableType::Int64, variables());
    assert!(integers.doubles().is_none() && integers.doubles_mut().is_none());
}

/// A batch of one item can stand for one variable after the other, each with a size of its own.
#[test]
fn what_refers_to_another_variable_is_handed_over_as_that() {
    let (_control, mut partition, _) = running();
    let mut batch = Batch::new(VariableType::Float64, vec![(ValueReference(1), 3)]);
    for (reference, size) in [(7, 2), (1, 3), (4, 0), (7, 1)] {
        batch.refer_to(ValueReference(reference), size);
        (0..3).for_each(|element| batch.set_word(element, 5));
        partition.begin().set(&batch).unwrap();
        let set = last_set();
        // No elements are set in no call.
        let references = if size > 0 { vec![reference] } else { Vec::new() };
        assert_eq!((set.references, set.words), (references, vec![5; size]));
    }
}

/// C sees as many elements as there are now, of doubles as of any other type, whether it is set or got.
#[test]
fn what_is_resized_is_handed_over_with_its_size() {
    for variable_type in [VariableType::UInt16, VariableType::Float64] {
        let (_control, mut partition, _) = running();
        let mut batch = Batch::new(variable_type, vec![(ValueReference(1), 3)]);
        for size in [3, 1, 0, 2, 3] {
            batch.resize(size);
            (0..3).for_each(|element| batch.set_word(element, 5));
            let mut setting = partition.begin();
            setting.set(&batch).unwrap();
            assert_eq!(last_set().words, vec![5; size]);
            next_get(&vec![7; size]);
            setting.activate(0.0).unwrap().get(&mut batch).unwrap();
            let got: Vec<u64> = (0..3).map(|element| batch.word(element)).collect();
            assert_eq!(got, [vec![7; size], vec![5; 3 - size]].concat());
        }
    }
}

fn permutations(n: usize) -> Vec<Vec<usize>> {
    if n == 0 {
        return vec![vec![]];
    }
    let shorter = permutations(n - 1).into_iter();
    shorter.flat_map(|p| (0..n).map(move |at| [&p[..at], &[n - 1], &p[at..]].concat())).collect()
}
