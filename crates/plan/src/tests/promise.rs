//! What the promise of virtual time covers, what timing means in words, and how much delayed connections keep.

use super::*;
use crate::StimulusInput;
use crate::promise::Promise;
use crate::{UnitId, roots, table, timing};

const RECORD: &str = "[record]\nsignals = [\"*\"]\n";

fn connect(from: &str, to: &str, timing: &str) -> String {
    format!("[[connect]]\nfrom = \"{from}\"\nto = \"{to}\"\ntiming = \"{timing}\"\n")
}

/// Why a column is not covered.
fn why(plan: &Plan, column: &str) -> Option<String> {
    let index = plan.signals.iter().position(|signal| signal.name == column).unwrap();
    Promise::of(plan).signals[index].clone()
}

#[test]
fn a_delayed_connection_keeps_the_promise_and_an_immediate_one_breaks_it_for_all_that_follows() {
    let loop_of = |first: &str, second: &str| {
        let text = connect("plant.speed", "ecu.speed", first) + &connect("ecu.throttle", "plant.throttle", second);
        ecu_and_plant(&(text + RECORD))
    };
    let plan = loop_of("delayed", "delayed");
    assert_eq!((why(&plan, "plant.speed"), why(&plan, "ecu.throttle")), (None, None));
    let text = table::render(&plan);
    assert!(
        text.contains(
            "plant.speed   →  ecu.speed       Float64  delayed: visible at the next release of plant.step, 1 ms after"
        ),
        "{text}"
    );
    assert!(text.contains("assumed: columns of ecu depend on no memory that its partitions share"), "{text}");
    let plan = loop_of("delayed", "immediate");
    let immediate = "the connection ecu.throttle → plant.throttle is immediate";
    assert_eq!(why(&plan, "plant.speed").as_deref(), Some(immediate));
    assert_eq!(why(&plan, "ecu.speed").as_deref(), Some("ecu.speed comes from plant.step, which is not covered"));
    assert_eq!(why(&plan, "ecu.throttle"), None, "the slow task has no input");
}

/// Instances of one library share its static variables. The promise rests on there being none, and `vecud check` says so.
#[test]
fn instances_of_one_library_are_assumed_to_share_no_memory() {
    let mut plan = ecu_and_plant(RECORD);
    assert!(Promise::of(&plan).together.is_empty() && !table::render(&plan).contains("instances of one library"));
    plan.fmus[1].library = plan.fmus[0].library.clone();
    let text = table::render(&plan);
    let words = format!(
        "assumed: {} and {}, which are instances of one library, share no memory",
        plan.fmus[0].name, plan.fmus[1].name
    );
    assert!(text.contains(&words), "{text}");
}

#[test]
fn what_several_partitions_compute_or_what_comes_from_outside_is_not_covered() {
    let plan = ecu_and_plant(RECORD);
    assert!(why(&plan, "ecu.alive").unwrap().starts_with("several partitions compute it"));
    assert_eq!((why(&plan, "ecu.ticks"), why(&plan, "ecu.idle_speed")), (None, None));
    let plan = ecu_and_plant(&format!("[[trigger]]\nclock = \"ecu.isr\"\nudp = \"127.0.0.1:5005\"\n{RECORD}"));
    assert_eq!(why(&plan, "ecu.teeth").unwrap(), "ecu.isr is activated by udp 127.0.0.1:5005");
    let tick = "[[trigger]]\nclock = \"ecu.isr\"\nfrom = \"ecu.tick\"\n";
    assert_eq!(why(&ecu_and_plant(&format!("{tick}{RECORD}")), "ecu.teeth"), None);
    let now = ecu_and_plant(&format!("[rig]\ntrigger_time = \"now\"\n{tick}{RECORD}"));
    assert!(why(&now, "ecu.teeth").unwrap().contains("trigger_time = \"now\""));
}

/// In real time a more urgent partition that updates clocks may bring what another one has ticked or armed, at its own time
/// (semantics S4).
#[test]
fn what_the_clock_update_of_another_partition_may_bring_is_not_covered() {
    let build = |ecu: &str| {
        let tick = "[[trigger]]\nclock = \"ecu.isr\"\nfrom = \"ecu.tick\"\n";
        let text = format!("[fmu.ecu]\npath = \"ecu\"\n{tick}{RECORD}");
        try_build(&text, &[description(ecu)], &host()).unwrap()
    };
    let countdown = |by: u8| {
        format!(
            "<Clock name=\"timer\" valueReference=\"20\" causality=\"input\" intervalVariability=\"countdown\" \
             priority=\"3\" clocks=\"{by}\"/><Int32 name=\"timed\" valueReference=\"21\" causality=\"output\" \
             variability=\"discrete\" clocks=\"20\"/>"
        )
    };
    let (by_slow, by_fast) = (ECU.to_owned() + &countdown(2), ECU.to_owned() + &countdown(1));
    assert_eq!((why(&build(&by_slow), "ecu.teeth"), why(&build(&by_slow), "ecu.timed")), (None, None));
    assert_eq!(why(&build(&by_fast), "ecu.timed"), None, "slow is less urgent and never comes in between");
    let tick_by = |clocks: &str| by_slow.replace("triggered\" clocks=\"2\"", &format!("triggered\" {clocks}"));
    let within = "ecu.fast may update clocks in the midst of ecu.slow, and ecu.timer then counts from its time";
    let plan = build(&tick_by("clocks=\"1\""));
    assert_eq!((why(&plan, "ecu.teeth"), why(&plan, "ecu.timed").as_deref()), (None, Some(within)));
    let several = "several partitions may tick ecu.isr, in the order in which they run";
    for clocks in ["clocks=\"1 2\"", ""] {
        let plan = build(&tick_by(clocks));
        assert_eq!(why(&plan, "ecu.teeth").as_deref(), Some(several), "{clocks}");
        assert!(why(&plan, "ecu.timed").is_some(), "{clocks}");
    }
    let equal = tick_by("clocks=\"1 2\"").replace("0.01\" priority=\"2\"", "0.01\" priority=\"1\"");
    assert_eq!(why(&build(&equal), "ecu.teeth"), None, "of equal ones none comes in between");
}

/// Design S15: not variables of no clock.
#[test]
fn what_a_stimulus_feeds_to_several_partitions_is_not_covered() {
    let input = |clocks: &str| {
        ECU.to_owned()
            + &format!(
                "<Float64 name=\"load\" valueReference=\"20\" causality=\"input\" start=\"0\" variability=\"discrete\" \
                 {clocks}/>"
            )
    };
    let build = |ecu: &str| {
        let text = format!("[fmu.ecu]\npath = \"ecu\"\n[[stimulus]]\nfile = \"load.csv\"\n{RECORD}");
        let rig = rig::parse(&text, Path::new("rig.toml")).unwrap();
        let columns = vec![rig::At::unplaced("ecu.load".to_owned())];
        let stimuli = [StimulusInput { file: "load.csv".into(), columns, rate: 1.0, start: Vec::new() }];
        let descriptions = [description(ecu)];
        crate::build(&rig, &inputs(&rig, &descriptions), &stimuli, &host()).unwrap()
    };
    assert_eq!(why(&build(&input("clocks=\"2\"")), "ecu.throttle"), None);
    let several = "several partitions set ecu.load, which belongs to no clock alone";
    assert_eq!(why(&build(&input("")), "ecu.throttle").as_deref(), Some(several));
    assert_eq!(why(&build(&input("clocks=\"1 2\"")), "ecu.throttle").as_deref(), Some(several));
}

#[test]
fn a_chain_has_the_clocks_with_a_time_of_their_own_at_its_root() {
    let units = |more: &str| ecu_and_plant(more).units;
    assert_eq!(roots(&units("")), (0..4).map(|id| vec![UnitId(id)]).collect::<Vec<_>>());
    let units = units("[[trigger]]\nclock = \"ecu.isr\"\nfrom = \"ecu.tick\"\n");
    assert_eq!((units[0].name.as_str(), units[3].name.as_str()), ("isr", "slow"));
    assert_eq!(units[0].caused_by, [UnitId(3)]);
    assert_eq!(roots(&units)[0], [UnitId(3)], "what slow ticks");
}

#[test]
fn words_say_on_what_an_immediate_connection_depends() {
    let words = |more: &str| timing::words(&ecu_and_plant(more)).swap_remove(0);
    let speed = connect("plant.speed", "ecu.speed", "immediate");
    let throttle = connect("ecu.throttle", "plant.throttle", "immediate");
    assert_eq!(words(&speed), "without overruns the value of the same time: ecu.fast is less urgent than plant.step");
    assert_eq!(
        words(&throttle),
        "depends on the schedule: plant.step is released in the midst of a period of ecu.slow, which may run until then"
    );
    assert_eq!(
        words(&format!("[rig]\nmode = \"virtual\"\nstop_time = 1\n{throttle}")),
        "the same in every run in virtual time"
    );
    assert_eq!(
        words(&connect("ecu.teeth", "ecu.speed", "immediate")),
        "depends on the schedule: ecu.isr is not periodic"
    );
    let text = format!("[fmu.ecu]\npath = \"ecu\"\ncpu = 0\n[fmu.plant]\npath = \"plant\"\ncpu = 1\n{speed}");
    let plan = try_build(&text, &[description(ECU), description(PLANT)], &host()).unwrap();
    let expected = "depends on the schedule: plant.step runs on core 1, ecu.fast on core 0";
    assert_eq!(timing::words(&plan)[0], expected);
    // Of the same period, and the consumer before the producer.
    let (a, b) = (connect("plant.speed", "ecu.speed", "delayed"), connect("ecu.quick", "plant.throttle", "immediate"));
    let ecu = ECU.to_owned()
        + "<Float64 name=\"quick\" valueReference=\"16\" causality=\"output\" variability=\"discrete\" clocks=\"1\"/>";
    let text = format!("[fmu.ecu]\npath = \"ecu\"\n[fmu.plant]\npath = \"plant\"\n{a}{b}");
    let plan = try_build(&text, &[description(&ecu), description(PLANT)], &host()).unwrap();
    let words = timing::words(&plan).swap_remove(1);
    assert!(words.starts_with("without overruns the value of the "), "{words}");
}

#[test]
fn only_what_a_release_selects_is_kept_for_periodic_consumers() {
    let delay = |more: &str| ecu_and_plant(more).connections[0].delay.clone().unwrap();
    // 1 ms into 1 ms, at most 101 ms late.
    let speed = delay(&connect("plant.speed", "ecu.speed", "delayed"));
    assert_eq!((speed.producers.len(), speed.consumers.len(), speed.by_release), (1, 1, true));
    assert_eq!(speed.producers[0].versions, 103);
    // 10 ms into 1 ms.
    assert_eq!(delay(&connect("ecu.throttle", "plant.throttle", "delayed")).producers[0].versions, 13);
    // With overruns that queue, 16 more periods.
    let queue = format!("[rig]\noverrun = \"queue\"\n{}", connect("ecu.throttle", "plant.throttle", "delayed"));
    assert_eq!(delay(&queue).producers[0].versions, 14);
}

#[test]
fn what_would_take_too_much_memory_is_refused_with_the_connection() {
    let big = |name: &str, causality: &str, more: &str| {
        format!(
            "<Float64 name=\"{name}\" valueReference=\"50\" causality=\"{causality}\" variability=\"discrete\" clocks=\"1\" {more}>\
             <Dimension start=\"500000\"/></Float64>"
        )
    };
    let text = format!(
        "[fmu.ecu]\npath = \"ecu\"\n[fmu.plant]\npath = \"plant\"\n{}",
        connect("plant.map", "ecu.map", "delayed")
    );
    let descriptions = [
        description(&(ECU.to_owned() + &big("map", "input", "start=\"0\""))),
        description(&(PLANT.to_owned() + &big("map", "output", ""))),
    ];
    let message = try_build(&text, &descriptions, &host()).unwrap_err();
    let expected = "rig.toml:7:6: plant.map → ecu.map is delayed and would have to keep 104 versions of 4000064 bytes; 67108864 \
                    bytes are possible";
    assert!(message.starts_with(expected), "{message}");
    assert!(try_build(&text.replace("delayed", "immediate"), &descriptions, &host()).is_ok());
}
