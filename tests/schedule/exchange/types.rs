//! All types, in both modes.

use crate::exchange::{digest, rig};
use crate::program::{Rig, shared_core};
use std::collections::{HashMap, HashSet};

const TYPES: [&str; 14] = [
    "Float32",
    "Float64",
    "Int8",
    "UInt8",
    "Int16",
    "UInt16",
    "Int32",
    "UInt32",
    "Int64",
    "UInt64",
    "Boolean",
    "String",
    "Binary",
    "Enumeration",
];

/// Everything from `a` to `b`.
fn connected(mut rig: Rig) -> Rig {
    for name in TYPES.iter().chain(&["matrix"]) {
        rig = rig.connect(&format!("a.{name}_out"), &format!("b.{name}_in"));
    }
    rig
}

/// What `a` starts with here, other than by its description.
const START: &str = r#"
    Float32_in = [-inf, nan, inf, -0.0, 1.5, 3.402823e38, 1e-45]
    Float64_in = [-inf, nan, inf, -0.0, 1.5, 1.7e308, 5e-324]
    Int8_in = [-128, 7]
    UInt8_in = [255, 8]
    Int16_in = [-32768, 9]
    UInt16_in = [65535, 10]
    Int32_in = [-2147483648, 11]
    UInt32_in = [4294967295, 12]
    Int64_in = [-9223372036854775808, 13]
    UInt64_in = [9223372036854775807, 14]
    Boolean_in = [[false, true], [true, true]]
    String_in = ["grün", ""]
    Binary_in = ["0x00ff80", "0x"]
    Enumeration_in = "three"
    matrix_in = [[1, 2, 3], [4, 5, 6]]
"#;

fn start_digest() -> u64 {
    fn bytes<T, const N: usize>(values: &[T], to: impl Fn(&T) -> [u8; N]) -> Vec<u8> {
        values.iter().flat_map(to).collect()
    }
    let single = [f32::NEG_INFINITY, f32::NAN, f32::INFINITY, -0.0, 1.5, 3.402823e38, 1e-45];
    let double = [f64::NEG_INFINITY, f64::NAN, f64::INFINITY, -0.0, 1.5, 1.7e308, 5e-324];
    digest(&[
        bytes(&single, |v| v.to_le_bytes()),
        bytes(&double, |v| v.to_le_bytes()),
        bytes(&[-128i8, 7], |v| v.to_le_bytes()),
        vec![255, 8],
        bytes(&[-32768i16, 9], |v| v.to_le_bytes()),
        bytes(&[65535u16, 10], |v| v.to_le_bytes()),
        bytes(&[i32::MIN, 11], |v| v.to_le_bytes()),
        bytes(&[u32::MAX, 12], |v| v.to_le_bytes()),
        bytes(&[i64::MIN, 13], |v| v.to_le_bytes()),
        bytes(&[i64::MAX as u64, 14], |v| v.to_le_bytes()),
        vec![0, 1, 1, 1],
        3i64.to_le_bytes().to_vec(),
        bytes(&[1f64, 2.0, 3.0, 4.0, 5.0, 6.0], |v| v.to_le_bytes()),
        "grün".into(),
        vec![],
        vec![0x00, 0xff, 0x80],
        vec![],
    ])
}

/// The fourth element of both is none, by the FMU's start values, and both partitions read them.
#[test]
fn numbers_that_are_none_are_counted_for_each_variable_and_activation() {
    let outcome =
        rig("stop_time = 0.05", &[("a", "", "")]).more("[record]\nsignals = ['a.Float*_out']").run_virtual().exits(0);
    let activations: u64 = ["fast", "slow"].iter().map(|clock| outcome.count("a", clock, "activations")).sum();
    assert_eq!(outcome.finding("a", "not_a_number"), Some(2 * activations));
    outcome.problem(&["gave NaN", "for element 4 of Float32_out", "in clock fast at 0 s"]);
}

#[test]
fn start_values_of_all_types_arrive_and_travel_on_in_initialization_mode() {
    let outcome = connected(rig("stop_time = 0.001", &[("a", START, ""), ("b", "", "")])).run_virtual().exits(0);
    let signals = outcome.signals();
    assert_eq!(signals.last("a.initial_digest"), start_digest(), "what the rig says was set");
    assert_eq!(signals.last("b.initial_digest"), start_digest(), "what a computed initially was set at b");
}

/// `a` counts up on top of what it started with; what its outputs are at each time is computed here.
#[test]
fn all_types_arrive_at_every_activation() {
    let outcome =
        connected(rig("stop_time = 0.3", &[("a", &format!("{START}moving = true"), ""), ("b", "", "")])).run_virtual();
    let signals = outcome.exits(0).signals();
    assert_eq!(signals.rows.len(), 300);
    let check = |name: &str, expected: &dyn Fn(u64) -> String| {
        for variable in [format!("a.{}", name.replace('*', "_out")), format!("b.{}", name.replace('*', "_in"))] {
            for (row, value) in signals.column(&variable).into_iter().enumerate() {
                assert_eq!(value, expected(row as u64 + 1), "{variable} in row {row}");
            }
        }
    };
    check("Float32*[1]", &|_| "-inf".to_owned());
    check("Float32*[2]", &|_| "NaN".to_owned());
    check("Float32*[5]", &|n| format!("{:?}", 1.5f32 + n as f32));
    check("Float64*[3]", &|_| "inf".to_owned());
    check("Float64*[5]", &|n| format!("{:?}", 1.5 + n as f64));
    check("Float64*[6]", &|_| format!("{:?}", 1.7e308));
    check("Int8*[1]", &|n| (-128i8).wrapping_add(n as i8).to_string());
    check("UInt8*[1]", &|n| 255u8.wrapping_add(n as u8).to_string());
    check("Int16*[1]", &|n| (-32768i16).wrapping_add(n as i16).to_string());
    check("UInt16*[1]", &|n| 65535u16.wrapping_add(n as u16).to_string());
    check("Int32*[1]", &|n| i32::MIN.wrapping_add(n as i32).to_string());
    check("UInt32*[1]", &|n| u32::MAX.wrapping_add(n as u32).to_string());
    check("Int64*[1]", &|n| i64::MIN.wrapping_add(n as i64).to_string());
    check("UInt64*[1]", &|n| (i64::MAX as u64).wrapping_add(n).to_string());
    check("UInt64*[2]", &|n| (14 + n).to_string());
    check("Boolean*[1,1]", &|n| (n % 2).to_string());
    check("Boolean*[2,1]", &|n| (1 - n % 2).to_string());
    check("Enumeration*", &|n| (1 + (2 + n) % 3).to_string());
    check("matrix*[2,1]", &|n| format!("{:?}", 4.0 + n as f64));
    let digests = |name| signals.column(name).into_iter().map(|value| value.parse().unwrap()).collect::<Vec<u64>>();
    let expected = |of: &dyn Fn(u64) -> u64| (1..=300).map(of).collect::<Vec<u64>>();
    let strings = expected(&|n| digest(&[format!("grün+{n}"), format!("+{n}")]));
    assert_eq!(digests("b.string_digest"), strings);
    assert_eq!(digests("b.binary_digest"), expected(&|n| digest(&[vec![n as u8, 0xff, 0x80], vec![]])));
}

/// In real time as well, between cores where there are two.
#[test]
fn all_types_arrive_in_real_time() {
    shared_core(|| {
        let fmus = [("a", &format!("{START}moving = true")[..], "cpu = 0"), ("b", "", "")];
        let outcome = connected(rig("stop_time = 0.3", &fmus)).run().exits(0);
        let signals = outcome.signals();
        let n: u64 = signals.last("a.UInt64_out[2]") - 14;
        assert!(n > 100, "{n} activations");
        // Whatever b saw, a had written it as a whole, and b never saw an older value after a newer one. (Values of different
        // types travel by themselves, so they may be of neighbouring activations.)
        let known: HashMap<String, u64> = (0..=n)
            .map(|n| (if n == 0 { String::new() } else { format!("+{n}") }, n))
            .map(|(end, n)| (digest(&[format!("grün{end}"), end]).to_string(), n))
            .collect();
        let seen: Vec<u64> = signals.column("b.string_digest").into_iter().map(|digest| known[digest]).collect();
        assert!(seen.is_sorted(), "{seen:?}");
        assert!(seen.last() > Some(&(n / 2)), "{:?} of {n}", seen.last());
        let known: HashSet<String> =
            (0..256).map(|n| digest(&[vec![n as u8, 0xff, 0x80], vec![]]).to_string()).collect();
        assert!(signals.column("b.binary_digest").into_iter().all(|digest| known.contains(digest)));
    });
}

#[test]
fn widened_values_are_the_same_numbers() {
    let pairs = [
        ("Int8_out", "Int16_in"),
        ("UInt8_out", "UInt16_in"),
        ("Int16_out", "Int32_in"),
        ("UInt16_out", "UInt32_in"),
        ("Int32_out", "Int64_in"),
        ("UInt32_out", "UInt64_in"),
        ("Float32_out", "Float64_in"),
        ("UInt16_out[1]", "Float32_in[1]"),
        ("Int8_out[1]", "Float32_in[2]"),
        ("Int32_out[1]", "matrix_in[1,1]"),
        ("UInt32_out[1]", "matrix_in[1,2]"),
        ("UInt8_out[1]", "matrix_in[1,3]"),
        ("Float32_out[5]", "matrix_in[2,1]"),
    ];
    let mut rig = rig("stop_time = 0.3", &[("a", &format!("{START}moving = true"), ""), ("b", "", "")]);
    for (from, to) in pairs {
        rig = rig.connect(&format!("a.{from}"), &format!("b.{to}"));
    }
    let signals = rig.run_virtual().exits(0).signals();
    for (from, to) in pairs {
        let element = |name: &str, i: usize| if name.ends_with(']') { name.to_owned() } else { format!("{name}[{i}]") };
        for i in 1..=2 {
            let numbers = |name: String| {
                signals.column(&name).into_iter().map(|v| v.parse::<f64>().unwrap()).collect::<Vec<f64>>()
            };
            let (a, b) = (numbers(element(&format!("a.{from}"), i)), numbers(element(&format!("b.{to}"), i)));
            // Bits, so that NaN is equal to NaN.
            let bits = |values: &[f64]| values.iter().map(|v| v.to_bits()).collect::<Vec<u64>>();
            assert_eq!(bits(&a), bits(&b), "{from} to {to}");
        }
    }
}

#[test]
fn units_convert_on_the_way() {
    let rig = rig("stop_time = 0.1", &[("a", "moving = true", ""), ("b", "", "")]).connect("a.bar", "b.pa_in");
    let signals = rig.run_virtual().exits(0).signals();
    let expected: Vec<String> = (1..=100).map(|n| format!("{:?}", 0.5e5 * f64::from(n))).collect();
    assert_eq!(signals.column("b.pa_out"), expected);
}
