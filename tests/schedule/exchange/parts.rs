//! Elements and slices of arrays.

use crate::exchange::{digest, rig};

#[test]
fn parts_of_arrays_travel_and_the_other_elements_keep_their_start_values() {
    let b = "'matrix_in[2,:]' = [7, 8, 9]\n'String_in[1]' = 'kept'";
    let rig = rig("stop_time = 0.02", &[("a", "moving = true", ""), ("b", b, "")])
        .connect("a.matrix_out[2,2:3]", "b.matrix_in[1,1:2]")
        .connect("a.matrix_out[1,1]", "b.matrix_in[2,3]")
        .connect("a.String_out[1]", "b.String_in[2]");
    let signals = rig.run_virtual().exits(0).signals();
    let row = |name: &str, expected: &dyn Fn(u32) -> f64| {
        let values: Vec<f64> = signals.column(name).into_iter().map(|v| v.parse().unwrap()).collect();
        assert_eq!(values, (1..=20).map(expected).collect::<Vec<f64>>(), "{name}");
    };
    row("b.matrix_in[1,1]", &|n| 5.0 + f64::from(n));
    row("b.matrix_in[1,2]", &|n| 6.0 + f64::from(n));
    row("b.matrix_in[1,3]", &|_| 3.0);
    row("b.matrix_in[2,1]", &|_| 7.0);
    row("b.matrix_in[2,2]", &|_| 8.0);
    row("b.matrix_in[2,3]", &|n| 1.0 + f64::from(n));
    let strings: Vec<String> = (1..=20).map(|n| digest(&["kept".to_owned(), format!("foo+{n}")]).to_string()).collect();
    assert_eq!(signals.column("b.string_digest"), strings);
}

#[test]
fn in_initialization_mode_parts_are_set_together_with_start_values() {
    // Without the connection, b starts with 1 to 6; what a computes initially is what it starts with.
    let initial = |rig: crate::program::Rig| rig.run_virtual().exits(0).signals().last("b.initial_digest");
    let by_connection = rig("stop_time = 0.001", &[("a", "matrix_in = 50", ""), ("b", "'matrix_in[2,1]' = 40", "")])
        .connect("a.matrix_out[1,1:2]", "b.matrix_in[1,2:3]");
    let by_start = rig("stop_time = 0.001", &[("b", "matrix_in = [1, 50, 50, 40, 5, 6]", "")]);
    assert_eq!(initial(by_connection), initial(by_start));
}
