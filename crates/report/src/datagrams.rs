//! One line on the datagrams that were to activate a clock, or to tick one between the steps of its FMU.

use super::format::{count, duration, plural};
use super::{ClockResult, Run};

/// A line for each clock that datagrams activate.
pub(super) fn lines(run: &Run) -> impl Iterator<Item = String> {
    run.clocks.iter().filter_map(line)
}

fn line(clock: &ClockResult) -> Option<String> {
    let (fmu, name) = (&clock.fmu, &clock.clock);
    let fates = fates(clock)?;
    Some(match &clock.steps {
        None => format!("{} → {fmu}.{name}: {fates}", clock.activated_by),
        Some(_) => format!("{fmu}.{name}: {fates}"),
    })
}

/// `100 datagrams, 98 activations, 2 dropped beyond max_rate; arrival latency p50 31 µs, max 80 µs`
pub(super) fn fates(clock: &ClockResult) -> Option<String> {
    let own = clock.datagrams.as_ref()?;
    let received = plural(own.received, "datagram");
    let limited = (own.rate_limited, "dropped beyond max_rate");
    let dropped = (own.dropped, "dropped by the kernel since nobody could take them in so fast");
    let discarded = (clock.discarded, "discarded, from before the start or at the end");
    let waits = (clock.overruns, "dropped since 16 waited already");
    let (mut text, fates) = match &clock.steps {
        None => (
            format!("{received}, {}", plural(clock.activations, "activation")),
            vec![limited, dropped, waits, discarded],
        ),
        // Its overruns and what it discards are those of steps too, and its activations are nothing but steps.
        Some(steps) => {
            let ticks = plural(steps.deferred, "tick");
            (
                format!("{received} for a clock between its steps, {ticks} from outside of them"),
                vec![limited, dropped, (steps.refused_ticks, waits.1), (steps.discarded_ticks, discarded.1)],
            )
        }
    };
    for (number, fate) in fates {
        if number > 0 {
            text += &format!(", {} {fate}", count(number));
        }
    }
    if let Some(latency) = clock.arrival_latency.as_ref().filter(|latency| latency.count() > 0) {
        let (median, longest) = (duration(latency.quantile(0.5)), duration(latency.max()));
        text += &format!("; arrival latency p50 {median}, max {longest}");
    }
    Some(text)
}

#[cfg(test)]
mod tests {
    use super::super::{DatagramCounts, Distribution, StepCounts, sample};
    use super::*;

    #[test]
    fn every_datagram_has_a_fate() {
        let mut run = sample(1);
        assert_eq!(lines(&run).count(), 0);
        let clock = &mut run.clocks[0];
        (clock.activated_by, clock.activations) = ("udp 127.0.0.1:5005".into(), 1);
        clock.datagrams = Some(DatagramCounts { received: 1, ..DatagramCounts::default() });
        let text: Vec<String> = lines(&run).collect();
        assert_eq!(text, ["udp 127.0.0.1:5005 → ecu.crank_isr: 1 datagram, 1 activation"]);
        let clock = &mut run.clocks[0];
        (clock.overruns, clock.discarded) = (3, 4);
        clock.arrival_latency = Some(Distribution::of([30_000]));
        clock.datagrams = Some(DatagramCounts { received: 5008, rate_limited: 2000, dropped: 3000 });
        let text = fates(&run.clocks[0]).unwrap();
        assert_eq!(
            text,
            "5,008 datagrams, 1 activation, 2,000 dropped beyond max_rate, 3,000 dropped by the kernel since nobody could take \
             them in so fast, 3 dropped since 16 waited already, 4 discarded, from before the start or at the end; arrival \
             latency p50 30.0 µs, max 30.0 µs"
        );
    }

    /// Steps and their overruns are no fates of datagrams.
    #[test]
    fn between_steps_ticks_are_what_becomes_of_them() {
        let mut run = sample(1);
        let clock = &mut run.clocks[0];
        (clock.activated_by, clock.activations, clock.overruns) = ("every 500 ms".into(), 942, 7);
        clock.discarded = 5;
        clock.steps = Some(StepCounts { deferred: 120, refused_ticks: 4, discarded_ticks: 3, ..StepCounts::default() });
        clock.datagrams = Some(DatagramCounts { received: 306, rate_limited: 179, dropped: 0 });
        let text: Vec<String> = lines(&run).collect();
        let words = "ecu.crank_isr: 306 datagrams for a clock between its steps, 120 ticks from outside of them, 179 dropped beyond \
                     max_rate, 4 dropped since 16 waited already, 3 discarded, from before the start or at the end";
        assert_eq!(text, [words]);
    }
}
