//! Rigs and FMUs that do not fit: each message names the place and, where there is one, the way out.

use super::*;
use crate::FifoReach;
use vecud_description::{InterfaceOffer, InterfaceType};

/// Exactly one problem, which reads like this.
#[track_caller]
fn refused(more: &str, message: &str) {
    assert_eq!(problems(more), message);
}

#[test]
fn a_connection_to_a_variable_that_does_not_exist_names_the_nearest() {
    refused(
        "[[connect]]\nfrom = \"plant.sped\"\nto = \"ecu.speed\"\n",
        "rig.toml:6:8: plant has no variable \"sped\"; did you mean \"speed\"?",
    );
    refused(
        "[[connect]]\nfrom = \"plant.speed\"\nto = \"ecu.sped\"\n",
        "rig.toml:7:6: ecu has no variable \"sped\"; did you mean \"speed\"?",
    );
}

#[test]
fn a_connection_between_types_names_both() {
    refused(
        "[[connect]]\nfrom = \"plant.count\"\nto = \"plant.throttle\"\n",
        "rig.toml:7:6: plant.count is Int64, but plant.throttle is Float64; neither holds all values of the other",
    );
    refused(
        "[[connect]]\nfrom = \"plant.field\"\nto = \"ecu.speed\"\n",
        "rig.toml:7:6: plant.field is Float64[2,3], but ecu.speed is Float64; one of its elements is written plant.field[1,1]",
    );
}

#[test]
fn a_connection_onto_something_else_than_an_input_is_refused() {
    refused(
        "[[connect]]\nfrom = \"plant.speed\"\nto = \"ecu.throttle\"\n",
        "rig.toml:7:6: ecu.throttle is an output; to must name an input",
    );
    refused(
        "[[connect]]\nfrom = \"ecu.idle_speed\"\nto = \"ecu.speed\"\n",
        "rig.toml:6:8: ecu.idle_speed is a parameter; from must name an output",
    );
    refused(
        "[[connect]]\nfrom = \"ecu.tick\"\nto = \"ecu.speed\"\n",
        "rig.toml:6:8: ecu.tick is a clock: clocks are connected by [[trigger]]",
    );
}

#[test]
fn a_start_so_late_that_nanoseconds_do_not_fit_is_refused() {
    refused(
        "[rig]\nstart_time = 1e10\nstop_time = 10000000001.0\n",
        "rig.toml:6:14: the start time, 10000000000 s, is more than 4000000000 s away from 0",
    );
}

#[test]
fn two_sources_for_one_input_are_refused() {
    refused(
        "[[connect]]\nfrom = \"plant.speed\"\nto = \"ecu.speed\"\n\n[[connect]]\nfrom = \"ecu.throttle\"\nto = \"ecu.speed\"\n",
        "rig.toml:11:6: ecu.speed already has the source plant.speed (line 7): an input has one",
    );
}

#[test]
fn triggers_need_a_triggered_clock_and_an_output_clock() {
    refused(
        "[[trigger]]\nclock = \"ecu.irs\"\nfrom = \"ecu.tick\"\n",
        "rig.toml:6:9: ecu has no clock \"irs\"; did you mean \"isr\"?",
    );
    refused(
        "[[trigger]]\nclock = \"ecu.fast\"\nfrom = \"ecu.tick\"\n",
        "rig.toml:6:9: ecu.fast is a constant clock: only triggered clocks can have a trigger",
    );
    refused("[[trigger]]\nclock = \"ecu.speed\"\nfrom = \"ecu.tick\"\n", "rig.toml:6:9: ecu.speed is no clock");
    refused(
        "[[trigger]]\nclock = \"ecu.isr\"\nfrom = \"ecu.tik\"\n",
        "rig.toml:7:8: ecu has no output clock \"tik\"; did you mean \"tick\"?",
    );
    refused(
        "[[trigger]]\nclock = \"ecu.isr\"\nfrom = \"ecu.fast\"\n",
        "rig.toml:7:8: ecu.fast is no output clock: only output clocks can trigger",
    );
    refused(
        "[[trigger]]\nclock = \"ecu.isr\"\nfrom = \"ecu.tick\"\n[[trigger]]\nclock = \"ecu.isr\"\nat = [1]\n",
        "rig.toml:9:9: ecu.isr already has a trigger in line 6: a clock has one",
    );
    refused(
        "[[trigger]]\nclock = \"ecu.isr\"\nat = [0.5, 1]\n[rig]\nstart_time = 0.75\n",
        "rig.toml:7:7: ecu.isr is triggered at 0.5 s, before the run starts at 0.75 s",
    );
}

#[test]
fn a_core_that_does_not_exist_is_refused() {
    refused(
        "[host]\ncpus = [1, 99]\n",
        "rig.toml:6:12: cpus: core 99 does not exist on this machine or is not open to this process; usable are 0, 1, 2, 3",
    );
    let error = try_build("[fmu.x]\npath = \"x\"\ncpu = 4\n", &[description(PLANT)], &host()).unwrap_err();
    assert!(error.starts_with("rig.toml:3:7: cpu: core 4 does not exist"), "{error}");
}

/// FMI 3.0.2, 2.4.4: a priority is any number, so a band with fewer FIFO priorities is refused only if the rig says so.
#[test]
fn a_band_that_is_too_small_is_refused_by_strict_priorities() {
    refused(
        "[host]\nfifo_priorities = [80, 81]\nstrict_priorities = true\n",
        "rig.toml:7:21: strict_priorities = true: ecu has 3 priority levels, but fifo_priorities = [80, 81] has 2, so that some \
         would share a FIFO priority: make it wider (at most [1, 99]), or allow that by leaving strict_priorities out",
    );
}

/// Each of these clocks may tick each other one, so that none of them may share.
#[test]
fn levels_that_must_not_share_need_a_band_that_has_room_for_them() {
    let clocks = ECU.replace("clocks=\"2\"", "");
    let rig = |host: &str| {
        format!("[fmu.ecu]\npath = \"e\"\n[[trigger]]\nclock = \"ecu.isr\"\nfrom = \"ecu.tick\"\n[host]\n{host}")
    };
    let host = |fifo| HostFacts { fifo, ..host() };
    let one = |text: &str, fifo| try_build(text, &[description(&clocks)], &host(fifo));
    let narrow = rig("fifo_priorities = [80, 80]\n");
    let error = one(&narrow, FifoReach::All).unwrap_err();
    assert_eq!(
        error,
        "rig.toml:7:19: ecu has 3 priority levels, which need 2 FIFO priorities, but fifo_priorities = [80, 80] has 1: a \
         triggered level shares none with one that may tick it; make it wider (at most [1, 99]), or say in the model \
         description (clocks of the output clocks and of the countdown clocks) which partitions tick them"
    );
    assert!(one(&narrow, FifoReach::Nothing).is_ok(), "without FIFO priorities there is no limit");
    assert!(one(&format!("{narrow}[rig]\nmode = \"virtual\"\nstop_time = 1\n"), FifoReach::All).is_ok());
    let plan = one(&rig("fifo_priorities = [80, 81]\n"), FifoReach::All).unwrap();
    let fifo: Vec<(&str, u8)> =
        plan.units.iter().map(|unit| (unit.name.as_str(), plan.tasks[unit.task.0].fifo.get())).collect();
    assert_eq!(fifo, [("isr", 81), ("fast", 80), ("slow", 80)]);
}

/// `hi` has to run before the callback of `lo` returns, although another FMU lies between them.
#[test]
fn a_level_does_not_share_with_one_that_ticks_it_through_another_fmu() {
    let clocks = "<Clock name=\"hi\" valueReference=\"1\" causality=\"input\" intervalVariability=\"triggered\" priority=\"0\"/>\
        <Clock name=\"lo\" valueReference=\"2\" causality=\"input\" intervalVariability=\"constant\" intervalDecimal=\"0.01\" priority=\"1\"/>\
        <Clock name=\"out_hi\" valueReference=\"3\" causality=\"output\" intervalVariability=\"triggered\" clocks=\"1\"/>\
        <Clock name=\"out_lo\" valueReference=\"4\" causality=\"output\" intervalVariability=\"triggered\" clocks=\"2\"/>";
    let trigger = |from: &str, clock: &str| format!("[[trigger]]\nfrom = \"{from}\"\nclock = \"{clock}\"\n");
    let fmus = "[host]\nfifo_priorities = [80, 80]\n[fmu.a]\npath = \"a\"\ncpu = 0\n[fmu.b]\npath = \"b\"\ncpu = 1\n";
    let built = |triggers: &[String]| {
        let text = format!("{fmus}{}", triggers.concat());
        try_build(&text, &[description(clocks), description(clocks)], &host())
    };
    let there = trigger("a.out_lo", "b.hi");
    let plan = built(std::slice::from_ref(&there)).unwrap();
    assert_eq!(plan.shared().len(), 2, "the two levels of each FMU");
    let error = built(&[there, trigger("b.out_hi", "a.hi")]).unwrap_err();
    assert!(error.contains("a has 2 priority levels, which need 2 FIFO priorities"), "{error}");
}

#[test]
fn an_overridden_clock_must_exist_and_be_adjustable() {
    refused(
        "[fmu.ecu.clock.fats]\nmax_overruns = 0\n",
        "rig.toml:5:16: ecu has no input clock \"fats\"; did you mean \"fast\"?",
    );
    refused("[fmu.ecu.clock.tick]\nmax_overruns = 0\n", "rig.toml:5:16: ecu.tick is no input clock, so it has no task");
    refused(
        "[fmu.ecu.clock.fast]\ninterval = 0.1\n",
        "rig.toml:6:12: the interval of ecu.fast cannot be set to 0.1 s: it is a constant clock, not a fixed or tunable one",
    );
}

#[test]
fn times_must_make_a_run() {
    refused(
        "[rig]\nstart_time = 1\nstop_time = 1.0\n",
        "rig.toml:7:13: the stop time, 1 s, is not after the start time, 1 s: nothing would run; set stop_time in [rig], or \
         use --stop-time",
    );
    refused(
        "[rig]\nmode = \"virtual\"\n",
        "rig.toml: virtual time needs a stop time: set stop_time in [rig], or use --stop-time",
    );
}

/// One FMU `x` with these variables.
fn alone(variables: &str, more: &str) -> Result<Plan, String> {
    try_build(&format!("[fmu.x]\npath = \"x\"\n{more}"), &[description(variables)], &host())
}

#[test]
fn an_input_clock_without_priority_is_refused_unless_lenient() {
    let clock = "\n<Clock name=\"c\" valueReference=\"1\" causality=\"input\" intervalVariability=\"triggered\"/>";
    assert_eq!(
        alone(clock, "").unwrap_err(),
        "x/modelDescription.xml:2:1: the input clock \"c\" has no priority, which Scheduled Execution requires; with \
         lenient = true in [fmu.x] of a rig file it runs with the lowest"
    );
    let plan = alone(clock, "lenient = true").unwrap();
    assert!(plan.notes.contains(&"x.c has no priority: it runs with the lowest".to_owned()), "{:?}", plan.notes);
}

#[test]
fn shifts_can_be_set_where_intervals_can() {
    for (clock, kind, place) in [("slow", "constant", "6:9"), ("isr", "triggered", "6:9")] {
        refused(
            &format!("[fmu.ecu.clock.{clock}]\nshift = \"1/1000\"\n"),
            &format!(
                "rig.toml:{place}: the shift of ecu.{clock} cannot be set to 0.001 s: it is a {kind} clock, not a fixed or \
                 tunable one"
            ),
        );
    }
}

#[test]
fn no_real_time_interval_is_shorter_than_a_microsecond() {
    let clock = "\n<Clock name=\"c\" valueReference=\"1\" causality=\"input\" intervalVariability=\"fixed\" priority=\"1\" \
         intervalDecimal=\"1\"/>";
    let short = "[fmu.x.clock.c]\ninterval = 1e-9\n[rig]\nstop_time = 1\n";
    assert_eq!(
        alone(clock, short).unwrap_err(),
        "x/modelDescription.xml:2:1: the interval of the clock \"c\" is shorter than a microsecond, which no real time can \
         keep: try mode = \"virtual\" in [rig], or `vecud run --mode virtual`"
    );
    assert!(alone(clock, &format!("{short}mode = \"virtual\"")).is_ok());
}

#[test]
fn an_interface_type_that_an_fmu_does_not_offer_is_refused_with_those_it_does() {
    let mut other = description("");
    other.interfaces = vec![InterfaceOffer::ModelExchange(Default::default())];
    let error = try_build("[fmu.x]\npath = \"x.fmu\"\ninterface = \"co-simulation\"", &[other], &host()).unwrap_err();
    assert_eq!(error, "rig.toml:3:13: x.fmu (FMI 3.0) has no Co-Simulation: it offers Model Exchange");
}

#[test]
fn flags_that_exclude_this_host_are_respected() {
    let mut single = description("");
    let once = InterfaceType { can_be_instantiated_only_once_per_process: true, ..Default::default() };
    single.interfaces = vec![InterfaceOffer::ScheduledExecution(once)];
    let rig = "[fmu.a]\npath = \"x\"\n[fmu.b]\npath = \"x\"";
    let error = try_build(rig, &[single.clone(), single.clone()], &host()).unwrap_err();
    assert_eq!(
        error,
        "rig.toml:4:8: a and b are the same FMU, which can be instantiated only once per process \
         (canBeInstantiatedOnlyOncePerProcess), and vecud runs all of a rig in one: keep one of them"
    );
}

/// FMI 3.0.2, 2.4.2: `needsExecutionTool` informs the user, who may well have the tool here.
#[test]
fn an_fmu_that_needs_a_tool_is_planned_with_a_note() {
    let mut single = description("");
    let needs = InterfaceType { needs_execution_tool: true, ..Default::default() };
    single.interfaces = vec![InterfaceOffer::ScheduledExecution(needs)];
    for (tool, words) in [(Some("ToolBox 7"), "the tool that made it, ToolBox 7"), (None, "which it does not name")] {
        single.generation_tool = tool.map(str::to_owned);
        let plan = try_build("[fmu.a]\npath = \"x\"", std::slice::from_ref(&single), &host()).unwrap();
        let note = plan.notes.iter().find(|note| note.contains("(needsExecutionTool)")).expect("noted");
        assert!(note.starts_with("a needs a tool on this machine") && note.contains(words), "{note}");
    }
}

#[test]
fn scheduled_execution_is_preferred_and_that_is_said() {
    let mut both = description("");
    let notes =
        |d: &ModelDescription| try_build("[fmu.a]\npath = \"x\"", std::slice::from_ref(d), &host()).unwrap().notes;
    assert!(!notes(&both).iter().any(|note| note.contains("as well")));
    both.interfaces.push(InterfaceOffer::CoSimulation(Default::default()));
    assert!(notes(&both).contains(&"a offers Co-Simulation as well: it runs with Scheduled Execution".to_owned()));
    both.interfaces.push(InterfaceOffer::ModelExchange(Default::default()));
    let note = "a offers Co-Simulation and Model Exchange as well: it runs with Scheduled Execution";
    assert!(notes(&both).contains(&note.to_owned()));
}

#[test]
fn all_problems_are_reported_in_the_order_of_the_file() {
    let error = problems("[[connect]]\nfrom = \"plant.a\"\nto = \"ecu.b\"\n[record]\nsignals = [\"nobody.*\"]\n");
    let places: Vec<&str> = error.lines().map(|line| line.split(": ").next().unwrap()).collect();
    assert_eq!(places, ["rig.toml:6:8", "rig.toml:7:6", "rig.toml:9:12"]);
}
