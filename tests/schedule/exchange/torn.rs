//! Values are whole (semantics S11).

use crate::exchange::rig;
use crate::program::real_time;

/// Cores that partitions may use.
fn cores() -> usize {
    std::thread::available_parallelism().map_or(1, usize::from)
}

#[test]
fn what_is_written_at_1_khz_is_whole_on_another_core() {
    real_time("what_is_written_at_1_khz_is_whole_on_another_core", || {
        // Three seconds: the consumer looks each 10 ms, and has to see many values.
        let other = if cores() > 1 { "cpu = 1" } else { "cpu = 0" };
        let rig = rig("stop_time = 3.0", &[("a", "", "cpu = 0"), ("b", "", other)])
            .connect("a.wide", "b.wide_in")
            .connect("a.text", "b.text_in")
            .connect("a.blob", "b.blob_in")
            .more("[record]\nsignals = ['b.torn', 'b.checked', 'b.distinct']");
        let signals = rig.run().exits(0).signals();
        assert_eq!(signals.last("b.torn"), 0);
        let (checked, distinct) = (signals.last("b.checked"), signals.last("b.distinct"));
        assert!(checked >= 150 && distinct >= 100, "{checked} checks, {distinct} of them of new values");
    });
}

/// The FMU overwrites what it has returned at its next call. `fast` would interrupt `slow` while that reads, which takes
/// beyond the next millisecond.
#[test]
fn what_an_fmu_lends_is_copied_before_another_partition_calls_it() {
    real_time("what_an_fmu_lends_is_copied_before_another_partition_calls_it", || {
        let rig = rig("stop_time = 0.5", &[("a", "linger = 0.0015", "cpu = 0"), ("b", "", "cpu = 0")])
            .connect("a.slow_text", "b.text_in")
            .more("[record]\nsignals = ['b.torn', 'b.text_length']");
        let signals = rig.run().exits(0).signals();
        assert_eq!((signals.last("b.torn"), signals.last("b.text_length")), (0, 105));
    });
}
