//! What steps must have computed, worked out here.

use super::program::{Rig, real_time};
use super::{numbers, run, stepper};

/// s
const STOP: f64 = 0.06;

/// A step as long as its points are apart.
const DIFFERENCE: f64 = 0.0;

/// What `fmus/stepper` computes.
struct Mixer {
    state: u64,
    x: f64,
}

impl Mixer {
    fn new(salt: u64) -> Mixer {
        Mixer { state: salt, x: 0.0 }
    }

    fn with(&mut self, value: f64) {
        let mut z = (self.state ^ value.to_bits()).wrapping_add(0x9e37_79b9_7f4a_7c15);
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        self.state = z ^ (z >> 31);
    }

    fn step(&mut self, (point, next): (f64, f64), mut size: f64, inputs: [f64; 3]) {
        if size == DIFFERENCE {
            size = next - point;
        }
        // FMUs may refuse to go beyond the stop time, by however little.
        while point + size > STOP {
            size = size.next_down();
        }
        [point, size].into_iter().chain(inputs).for_each(|value| self.with(value));
        self.x = (self.state >> 11) as f64 / 9_007_199_254_740_992.0;
    }
}

/// Two that read each other, one of 10 ms and one of 5 ms, over 60 ms: the fast one's input changes when the slow one's step has
/// ended, and the other way round. The FMU is told the start time and the stop time.
fn two(keys: &str) -> Rig {
    let path = stepper();
    let fmu = |name: &str, step: &str, salt: u64| {
        format!("[fmu.{name}]\npath = '{}'\nstep = '{step}'\nstart = {{ salt = {salt} }}\n{keys}\n", path.display())
    };
    let connect = "[[connect]]\nfrom = 'slow.x'\nto = 'fast.a'\n[[connect]]\nfrom = 'fast.x'\nto = 'slow.b'\n";
    let tables = format!("{}{}{connect}", fmu("slow", "1/100", 7), fmu("fast", "1/200", 8));
    Rig::of_text(&format!("[rig]\nstop_time = {STOP}\n[record]\n{tables}"))
}

/// Rows at 0, 5, ... 60 ms: what each of the two shows then; `sizes`: what they are told of their steps.
fn expected(sizes: [f64; 2]) -> (Vec<f64>, Vec<f64>) {
    let (mut slow, mut fast) = (Mixer::new(7), Mixer::new(8));
    let (mut slow_rows, mut fast_rows) = (Vec::new(), Vec::new());
    for k in 0..=12 {
        slow_rows.push(slow.x);
        fast_rows.push(fast.x);
        let point = f64::from(5 * k) / 1000.0;
        let next = |after: i32| (point, f64::from(5 * k + after) / 1000.0);
        // Nothing is visible before the end of the step that has computed it, and both begin at the same instant.
        let (seen_by_fast, seen_by_slow) = (slow_rows[usize::try_from(k - k % 2).unwrap()], fast.x);
        if k == 12 {
            break;
        }
        if k % 2 == 0 {
            // What it computes shows from its end on.
            let mut stepped = Mixer { ..slow };
            stepped.step(next(10), sizes[0], [0.0, seen_by_slow, 0.0]);
            slow_rows.push(slow.x);
            slow = stepped;
        } else {
            slow_rows.pop();
        }
        fast.step(next(5), sizes[1], [seen_by_fast, 0.0, 0.0]);
    }
    (slow_rows, fast_rows)
}

#[track_caller]
fn is_as_worked_out(mode: &str) {
    for (keys, sizes) in [("", [DIFFERENCE; 2]), ("step_size = 'nominal'", [0.01, 0.005])] {
        let outcome = run(&two(keys), mode).exits(0);
        let (slow, fast) = expected(sizes);
        let times: Vec<f64> = (0..=12).map(|k| f64::from(5 * k) / 1000.0).collect();
        assert_eq!(outcome.signals().times(), times);
        assert_eq!(numbers(&outcome, "fast.x"), fast, "{keys}");
        assert_eq!(numbers(&outcome, "slow.x"), slow, "{keys}");
        // What is set at a release is in its row.
        assert_eq!(numbers(&outcome, "fast.a")[..12], slow[..12]);
    }
}

#[test]
fn what_is_computed_is_seen_at_the_end_of_the_step_and_not_before() {
    is_as_worked_out("virtual");
}

#[test]
fn real_time_records_the_same() {
    real_time("real_time_records_the_same", || is_as_worked_out("realtime"));
}

/// A recording has what was set at its time, so that it can be played back.
#[test]
fn a_recording_that_is_played_back_gives_the_same_values() {
    let first = run(&two(""), "virtual").exits(0);
    let recorded = first.file("signals.csv");
    let rig = Rig::of_text(&format!(
        "[rig]\nstop_time = 0.06\n[record]\n[fmu.fast]\npath = '{}'\nstep = '1/200'\nstart = {{ salt = 8 }}\n\
         [[stimulus]]\nfile = 'signals.csv'\ncolumns = {{ 'fast.a' = 'fast.a' }}\n",
        stepper().display()
    ));
    std::fs::write(rig.folder().join("signals.csv"), recorded).unwrap();
    let again = run(&rig, "virtual").exits(0);
    assert_eq!(numbers(&again, "fast.x"), numbers(&first, "fast.x"));
}
