//! Values that pass from a clock of one FMU to another clock of another FMU (requirements, row 52): the consumer samples what
//! the producer last computed, and holds it until it is activated again; with equal clocks every value passes.

use crate::loading::{copy, edit, ours};
use crate::program::Rig;
use std::path::Path;

/// A matrix gain with this interval in ms; as a producer, K(1,1) is the time of the activation in ms plus 1.
fn gain(folder: &Path, interval: u32, produces: bool) {
    copy(&ours("matrix_gain"), folder);
    let interval = format!("intervalDecimal=\"{}\"", f64::from(interval) / 1000.0);
    edit(&folder.join("modelDescription.xml"), "intervalDecimal=\"0.01\"", &interval);
    if produces {
        let source = folder.join("sources/matrix_gain.c");
        edit(
            &source,
            "    compute(fmu);\n",
            "    fmu->k[0][0] = (long)(activationTime * 1000 + 0.5) + 1;\n    compute(fmu);\n",
        );
    }
}

/// Time in ms and what the consumer saw: p.Y(1,1) = K(1,1) + 6 arrives as U(1,1), and c.K(1,1) = 1 and c.K(1,2) = 0.
fn seen(producer: u32, consumer: u32) -> Vec<(u32, u32)> {
    let rig = Rig::of_text(
        "[rig]\nmode = \"virtual\"\nstop_time = 0.06\n[fmu.p]\npath = 'p'\n[fmu.c]\npath = 'c'\n\
         start = { K = [1, 0, 0, 0, 0, 0] }\n\
         [[connect]]\nfrom = \"p.Y[1:2,:]\"\nto = \"c.U\"\n[record]\nsignals = [\"c.Y*\"]\n",
    );
    gain(&rig.folder().join("p"), producer, true);
    gain(&rig.folder().join("c"), consumer, false);
    let signals = rig.run().exits(0).signals();
    let times = signals.times().into_iter().map(|time| (time * 1000.0).round() as u32);
    let values = signals.column("c.Y[1,1]").into_iter().map(|value| value.parse::<f64>().unwrap() as u32);
    times.zip(values).filter(|(time, _)| time % consumer == 0).collect()
}

/// What a producer that was last activated at this time (ms) has computed.
fn of(time: u32) -> u32 {
    time + 1 + 6
}

#[test]
fn a_slower_consumer_samples() {
    assert_eq!(seen(10, 30), [(0, of(0)), (30, of(30))]);
    assert_eq!(seen(4, 10), [(0, of(0)), (10, of(8)), (20, of(20)), (30, of(28)), (40, of(40)), (50, of(48))]);
}

/// Being more urgent, it runs before a producer that is released at the same time; before any value it has its start value.
#[test]
fn a_faster_consumer_holds() {
    assert_eq!(seen(30, 10), [(0, 1), (10, of(0)), (20, of(0)), (30, of(0)), (40, of(30)), (50, of(30))]);
}

#[test]
fn with_equal_clocks_every_value_passes() {
    assert_eq!(seen(20, 20), [(0, of(0)), (20, of(20)), (40, of(40))]);
}
