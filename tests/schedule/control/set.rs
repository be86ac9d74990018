//! Tunable parameters and inputs: when they are set, by whom, and that none is lost.

use super::bench::{Bench, SOON, at};
use super::program::{real_time, shared_core, user, wait_until};
use crate::wait_until_recorded;
use std::path::Path;
use vecud::fmu::description::Values;
use vecud::supervisor::{Control, ControlError};

fn f64s(value: f64) -> Values {
    Values::Float64(vec![value])
}

#[test]
fn a_value_with_a_time_is_set_before_the_first_activation_at_or_after_it() {
    let left = Bench::new("", "").until(0.02).run(|control| {
        // Between two ticks of fast (1 ms): the next one.
        control.set_together("x", &[("gain", f64s(5.0))], at(0.0035)).unwrap();
        control.set_together("x", &[("gain", f64s(6.0)), ("twin", f64s(6.0))], at(0.01)).unwrap();
    });
    let left = left.passed();
    assert_eq!(left.changes("x.gain_seen"), [(0.0, "1.0"), (0.004, "5.0"), (0.01, "6.0")]);
    assert_eq!(left.changes("x.gain"), [(0.0, "1.0"), (0.004, "5.0"), (0.01, "6.0")]);
    assert_eq!(left.changes("x.twin"), [(0.0, "1.0"), (0.01, "6.0")]);
    // The two differed from 4 ms to 9 ms: six ticks of fast, three of middle.
    assert_eq!(left.last("x.apart"), "9");
}

#[test]
fn in_real_time_too_the_activation_at_that_time_is_the_first_to_see_it() {
    shared_core(|| {
        let bench = Bench::new("", "").until(0.1).in_real_time();
        let running = bench.start(|_| ());
        let ticket = running.control.set_together("x", &[("gain", f64s(5.0))], at(0.0605)).unwrap();
        let applied = ticket.wait(SOON).unwrap();
        let left = running.finish().passed();
        // Exactly the next one of 1 ms, unless that was skipped on a busy machine.
        let skipped = bench.report()["clocks"][0]["skipped"].as_u64().unwrap();
        let time = applied.time.seconds();
        assert!(time == 0.061 || skipped > 0 && time > 0.061, "{time}");
        let changes = left.changes("x.gain_seen");
        let seen = changes.iter().find(|(_, value)| *value == "5.0").unwrap().0;
        assert!(changes.len() == 2 && seen >= time && (seen == time || skipped > 0), "{changes:?}, {time}");
        assert_eq!(left.changes("x.gain").last().unwrap(), &(time, "5.0"));
    });
}

#[test]
fn a_variable_with_clocks_is_set_before_an_activation_of_one_of_them() {
    let left = Bench::new("", "").until(0.03).run(|control| {
        control.set_together("x", &[("add_slow", Values::UInt64(vec![40]))], at(0.0035)).unwrap();
        control.set_together("x", &[("add_fast", Values::UInt64(vec![2]))], at(0.0035)).unwrap();
        control.set_together("x", &[("add_any", Values::UInt64(vec![100]))], at(0.0141)).unwrap();
    });
    let left = left.passed().was_lawful();
    assert_eq!(left.changes("x.add_slow"), [(0.0, "0"), (0.01, "40")]);
    assert_eq!(left.changes("x.add_fast"), [(0.0, "0"), (0.004, "2")]);
    // Of no clock: whoever starts next.
    assert_eq!(left.changes("x.add_any"), [(0.0, "0"), (0.015, "100")]);
    assert_eq!(left.changes("x.total"), [(0.0, "0"), (0.01, "42"), (0.02, "142")]);
}

#[test]
fn values_of_every_type_arrive_before_the_first_activation() {
    let left = Bench::new("", "").until(0.002).run(|control| {
        let table: Vec<f32> = vec![0.5, 1.5, f32::INFINITY, -1.0, 0.0, 2.0, 4.0];
        control.set("x", "table", Values::Float32(table)).unwrap();
        control.set("x", "label", Values::String(vec!["grün".into()])).unwrap();
        control.set("x", "blob", Values::Binary(vec![vec![1, 0, 5]])).unwrap();
        control.set("x", "on", Values::Boolean(vec![true])).unwrap();
        control.set("x", "field", f64s(1.0)).map(|_| ()).unwrap_err();
        control.set("x", "field", Values::Float64(vec![7.0, -0.0])).unwrap();
    });
    let left = left.passed().was_lawful();
    assert_eq!(left.at(0.0, "x.table_sum"), "inf");
    assert_eq!(left.at(0.0, "x.text_seen"), (5 + 1000 * 6).to_string());
    assert_eq!((left.at(0.0, "x.table[3]"), left.at(0.0, "x.on"), left.at(0.0, "x.field[2]")), ("inf", "1", "-0.0"));
}

/// What is set by request is held against the room of its column too: the FMU gets it, the recording does not.
#[test]
fn strings_set_by_request_that_are_longer_than_their_column_are_left_out_and_counted() {
    let bench = Bench::new("", "[record]\ntext_size = 5\nformat = ['csv', 'mcap']").until(0.003);
    let left = bench.run(|control| {
        control.set_together("x", &[("label", Values::String(vec!["short".into()]))], at(0.0)).unwrap();
        control.set_together("x", &[("label", Values::String(vec!["longer".into()]))], at(0.002)).unwrap();
    });
    assert_eq!((left.at(0.001, "x.label"), left.at(0.002, "x.label")), ("\"short\"", ""));
    assert_eq!(left.at(0.002, "x.text_seen"), "6", "the FMU got what the recording has no room for");
    let report = bench.report();
    let findings = report["fmus"][0]["findings"].as_array().unwrap();
    let findings: Vec<_> = findings.iter().filter(|f| f["kind"] == "oversized_value").collect();
    assert_eq!((findings.len(), findings[0]["count"].as_u64()), (1, Some(1)), "{findings:?}");
}

/// Of a Binary without any room the empty value is the only one: what is acknowledged has been handed to the FMU.
#[test]
fn the_empty_value_of_a_binary_that_can_have_no_other_is_set_too() {
    let label = "name=\"label\" valueReference=\"122\" causality=\"parameter\" variability=";
    let changes = [
        // The only texts that can be set.
        ("modelDescription.xml", &*format!("{label}\"tunable\""), &*format!("{label}\"fixed\"")),
        ("modelDescription.xml", "maxSize=\"32\"", "maxSize=\"0\""),
        ("sources/variables.c", "fmu->blob_size = sizes[at];", "strcpy(fmu->label, \"called\");"),
    ];
    let bench = Bench::new("", "").with_changes(&changes).until(0.02);
    let left = bench.run(|control| {
        let blob = |bytes: Vec<u8>| [("blob", Values::Binary(vec![bytes]))];
        control.set_together("x", &blob(vec![]), at(0.01)).unwrap();
        let refused = control.set_together("x", &blob(vec![1]), None).err().unwrap().to_string();
        assert_eq!(refused, "x.blob cannot be set: a value has 1 bytes, and 0 are possible");
    });
    assert_eq!(left.passed().changes("x.text_seen"), [(0.0, "0"), (0.01, "6")]);
}

#[test]
fn of_two_values_the_one_that_was_sent_last_stays() {
    let left = Bench::new("", "").until(0.01).run(|control| {
        for value in 2..50 {
            control.set_together("x", &[("gain", f64s(value.into())), ("twin", f64s(value.into()))], None).unwrap();
        }
        control.set_together("x", &[("gain", f64s(0.5)), ("twin", f64s(0.5))], at(0.0)).unwrap();
    });
    let left = left.passed().was_lawful();
    assert_eq!(left.changes("x.gain_seen"), [(0.0, "0.5")]);
}

/// Threads that send for the whole run: the sum of what was acknowledged is what the FMU has added up.
fn storm(bench: &Bench) -> (u64, super::bench::Left) {
    let running = bench.start(|_| ());
    wait_until("the run begins", || bench.is_recording());
    let names = ["add_any", "add_fast", "add_slow", "add_any"];
    let senders: Vec<_> = names
        .into_iter()
        .enumerate()
        .map(|(number, name)| {
            let control = running.control.clone();
            std::thread::spawn(move || send(&control, number as u64 + 1, name))
        })
        .collect();
    let commands: Vec<u64> = senders.into_iter().map(|sender| sender.join().unwrap()).collect();
    let sent: u64 = commands.iter().zip(1..).map(|(commands, amount)| commands * amount).sum();
    // Everything is in; slow has to see it.
    wait_until_recorded(&bench.folder.path().join("out"), "x.total", sent as f64);
    running.control.end();
    let left = running.finish().passed().was_lawful();
    assert_eq!(left.last("x.total"), sent.to_string());
    assert!(left.changes("x.gain_seen").len() > 10, "gain and twin were set all the time");
    return (commands.into_iter().sum(), left);

    fn send(control: &Control, amount: u64, name: &str) -> u64 {
        let began = std::time::Instant::now();
        let mut tickets = Vec::new();
        let mut count = 0;
        while began.elapsed().as_millis() < 600 {
            match control.set("x", name, Values::UInt64(vec![amount])) {
                Ok(ticket) => tickets.push(ticket),
                Err(ControlError::Busy) => std::thread::sleep(std::time::Duration::from_micros(300)),
                Err(error) => panic!("{error}"),
            }
            let value = f64s((count % 100) as f64);
            match control.set_together("x", &[("gain", value.clone()), ("twin", value)], None) {
                Ok(_) | Err(ControlError::Busy) => count += 1,
                Err(error) => panic!("{error}"),
            }
        }
        for ticket in &tickets {
            ticket.wait(SOON).unwrap();
        }
        tickets.len() as u64
    }
}

const BUSY: &str = "start = { fast_burn_us = 100, slow_burn_us = 2000 }";

#[test]
fn a_storm_of_values_loses_none_and_none_comes_where_it_may_not() {
    let test = "a_storm_of_values_loses_none_and_none_comes_where_it_may_not";
    real_time(test, || {
        let bench = Bench::new(BUSY, "").in_real_time();
        let (commands, left) = storm(&bench);
        assert!(commands > 200, "{commands} prove nothing");
        assert!(left.last("x.preempted").parse::<u64>().unwrap() > 20, "partitions preempted each other meanwhile");
    });
}

#[test]
fn so_it_is_in_turns_without_privileges_as_this_user() {
    let test = "so_it_is_in_turns_without_privileges_as_this_user";
    let Some(words) = user::words_without_real_time(test) else { return };
    shared_core(|| {
        let bench = Bench::new(BUSY, "").in_real_time().with_runner(words);
        let (commands, left) = storm(&bench);
        assert_eq!(bench.report()["host"]["scheduling"], "cooperative");
        assert!(commands > 100, "{commands} prove nothing");
        assert_eq!(left.last("x.preempted"), "0");
    });
}

/// `fmus/events` takes its continuous input in Step Mode alone and its discrete one in Event Mode alone, which it is in at first.
#[test]
fn an_fmu_with_event_mode_is_set_in_the_mode_that_each_variable_demands() {
    let events = Path::new(env!("CARGO_MANIFEST_DIR")).join("fmus/events");
    let left = Bench::new("", &format!("[fmu.e]\npath = '{}'", events.display())).until(0.1).run(|control| {
        let u64s = |value: u64| Values::UInt64(vec![value]);
        control.set("e", "u", f64s(2.0)).unwrap();
        control.set_together("e", &[("u", f64s(3.0)), ("d", u64s(7))], at(0.03)).unwrap();
        // The order is kept across both modes, and nothing waits for another step.
        control.set_together("e", &[("u", f64s(4.0))], at(0.05)).unwrap();
        control.set_together("e", &[("d", u64s(8)), ("u", f64s(5.0))], at(0.05)).unwrap();
        control.set_together("e", &[("d", u64s(9))], at(0.05)).unwrap();
        control.set_together("e", &[("u", f64s(6.0))], at(0.05)).unwrap();
    });
    let left = left.passed();
    assert_eq!(left.changes("e.u"), [(0.0, "2.0"), (0.03, "3.0"), (0.05, "6.0")]);
    assert_eq!(left.changes("e.d_seen"), [(0.0, "0"), (0.03, "7"), (0.05, "9")]);
    // What is asked for jumps (FMI 3.0.2, 4.1.1): all that is due at one time is set in one event.
    assert_eq!((left.last("e.entered"), left.last("e.changes"), left.last("e.u_seen")), ("2", "0", "6.0"));
    let sum: f64 = left.last("e.sum").parse().unwrap();
    assert!((sum - (2.0 * 0.03 + 3.0 * 0.02 + 6.0 * 0.05)).abs() < 1e-12, "{sum}");
}
