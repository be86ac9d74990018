//! What is set when one run follows another: with `--repeat`, or from a saved state.

use super::bench::{Bench, SOON};
use super::program::{shared_core, wait_until};
use vecud::fmu::description::Values;
use vecud::supervisor::ControlError;

fn n(value: u64) -> (&'static str, Values) {
    ("n", Values::UInt64(vec![value]))
}

fn table(elements: usize) -> Values {
    Values::Float32(vec![0.5; elements])
}

#[test]
fn arrays_of_a_further_run_have_their_first_size_again() {
    shared_core(|| {
        let bench = Bench::new("", "").in_real_time().until(1.0).with(|options| options.repeat = Some(2));
        let running = bench.start(|_| ());
        let control = running.control.clone();
        control.reconfigure("x", &[n(3)], None).unwrap().wait(SOON).unwrap();
        assert!(
            matches!(control.set("x", "table", table(7)), Err(ControlError::Refused { .. })),
            "it has three elements now"
        );
        wait_until("the second run", || bench.folder.path().join("out/run-2/signals.csv").exists());
        let mut set = None;
        wait_until("seven values are taken", || {
            set = control.set("x", "table", table(7)).ok();
            set.is_some()
        });
        set.unwrap().wait(SOON).unwrap();
        running.finish();
    });
}

#[test]
fn a_run_goes_on_with_the_sizes_that_arrays_had_got() {
    let bench = Bench::new("", "").until(0.01);
    let file = bench.folder.path().join("left");
    let first = bench.with(|options| options.save_state = Some(file.clone()));
    let left = first.run(|control| drop(control.reconfigure("x", &[n(3)], None).unwrap())).passed().was_lawful();
    assert_eq!(left.last("x.n"), "3");

    let later = Bench::new("", "").until(0.02).with(|options| options.restore_state = Some(file.clone()));
    let left = later.run(|control| drop(control.set("x", "table", table(3)).unwrap())).passed().was_lawful();
    assert_eq!((left.last("x.table_sum"), left.last("x.values[3]"), left.last("x.values[4]")), ("1.5", "303.0", ""));

    let refusal = |keys: &str, control: bool| {
        let bench = Bench::new(keys, "").until(0.02).with(|options| options.control = control);
        bench.with(|options| options.restore_state = Some(file.clone())).refusal()
    };
    // Its buffers would be for seven elements, whatever the FMU has.
    assert!(refusal("", false).contains("arrays of fmu `x` had got another size"), "{}", refusal("", false));
    let other = refusal("start = { n = 2 }", true);
    assert!(other.contains("FMU x has the structural parameters of its description there, n = UInt64([2])"), "{other}");
}
