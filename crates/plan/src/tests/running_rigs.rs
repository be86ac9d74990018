//! Rigs that are planned beside others that run (semantics S26).

use super::*;
use crate::{FifoReach, RunningRig, UnitPlan};
use proptest::prelude::*;
use std::collections::{BTreeMap, BTreeSet};
use vecud_base::priority::FifoPriority;

/// A rig of this text, planned beside those that run on two cores.
fn beside(running: &[RunningRig], text: &str, descriptions: &[ModelDescription]) -> Result<Plan, String> {
    let host = HostFacts { allowed_cpus: vec![0, 1], beside: running.to_vec(), ..HostFacts::default() };
    try_build(text, descriptions, &host)
}

/// An ECU alone, whose levels are three.
fn ecu(running: &[RunningRig], more: &str) -> Result<Plan, String> {
    beside(running, &format!("[fmu.ecu]\npath = \"ecu\"\n{more}"), &[description(ECU)])
}

/// The ECU with what else its rig says, beside nobody.
fn first(name: &str, more: &str) -> RunningRig {
    RunningRig::of(name, &ecu(&[], more).unwrap())
}

/// Core and FIFO priority of each task, most urgent first.
fn places(plan: &Plan) -> Vec<(usize, u8)> {
    plan.tasks.iter().map(|task| (task.cpu, task.fifo.get())).collect()
}

/// What a plan notes of others.
fn notes(plan: &Plan) -> Vec<&str> {
    plan.notes.iter().map(String::as_str).filter(|note| note.starts_with("core ")).collect()
}

#[test]
fn free_cores_are_taken_first_and_then_the_one_of_which_others_have_least() {
    let a = first("a", "");
    assert_eq!(a.cores(), BTreeSet::from([1]));
    let second = ecu(std::slice::from_ref(&a), "").unwrap();
    assert_eq!((places(&second), notes(&second).len()), (vec![(0, 89), (0, 88), (0, 87)], 0));
    let plant = beside(std::slice::from_ref(&a), "[fmu.plant]\npath = \"p\"\n", &[description(PLANT)]).unwrap();
    let third = ecu(&[a.clone(), RunningRig::of("p", &plant)], "").unwrap();
    assert_eq!(places(&third), [(0, 88), (0, 87), (0, 86)], "of core 1 they have three priorities");
    let pool = "[host]\ncpus = [1, 0]\n";
    assert_eq!(places(&ecu(&[], pool).unwrap())[0].0, 1);
    assert_eq!(places(&ecu(std::slice::from_ref(&a), pool).unwrap())[0].0, 0, "of those that it names");
    let isolated =
        |beside| HostFacts { allowed_cpus: vec![0], isolated_cpus: vec![2, 3], beside, fifo: FifoReach::All };
    assert_eq!(isolated(vec![]).default_cores(), [2, 3]);
    let on_2 = RunningRig::of("b", &ecu_on(2));
    assert_eq!(isolated(vec![on_2.clone()]).default_cores(), [3]);
    assert_eq!(isolated(vec![on_2, RunningRig::of("c", &ecu_on(3))]).default_cores(), [0]);
}

/// Two runs whose core is taken already are told in the plural.
#[test]
fn runs_that_have_a_core_are_told() {
    let run = |process| RunningRig { process: Some(process), ..RunningRig::of("a", &ecu_on(1)) };
    let told = |running: &[RunningRig]| ecu(running, "").unwrap().notes.join("\n");
    assert!(told(&[run(7)]).contains("process 7 uses core 1, so this run uses core 0"), "{}", told(&[run(7)]));
    let both = told(&[run(7), run(8)]);
    assert!(both.contains("process 7 and the run of process 8 use core 1, so"), "{both}");
}

/// An ECU alone on this one of four cores.
fn ecu_on(cpu: usize) -> Plan {
    try_build(&format!("[fmu.ecu]\npath = \"e\"\ncpu = {cpu}\n"), &[description(ECU)], &host()).unwrap()
}

#[test]
fn on_a_shared_core_the_band_is_filled_with_what_is_left_from_its_top() {
    let a = first("a", "[host]\nfifo_priorities = [80, 85]\n");
    let below = ecu(std::slice::from_ref(&a), "cpu = 1\n[host]\nfifo_priorities = [51, 85]\n").unwrap();
    assert_eq!(places(&below), [(1, 82), (1, 81), (1, 80)]);
    let note = "core 1 is shared with rig `a`, which runs there already (FIFO 85 to 83): what that takes of the core is in the latencies \
                of this rig, but not in its analysis";
    assert_eq!(notes(&below), [note]);
    let around = ecu(std::slice::from_ref(&a), "cpu = 1\n[host]\nfifo_priorities = [51, 87]\n").unwrap();
    assert_eq!(places(&around), [(1, 87), (1, 86), (1, 82)]);
}

#[test]
fn a_priority_of_another_rig_is_shared_only_if_need_be_and_a_note_says_so() {
    let a = first("a", "[host]\nfifo_priorities = [80, 83]\n");
    assert_eq!(places(&ecu(&[], "[host]\nfifo_priorities = [80, 83]\n").unwrap()), [(1, 83), (1, 82), (1, 81)]);
    let plan = ecu(&[a], "cpu = 1\n[host]\nfifo_priorities = [79, 83]\n").unwrap();
    assert_eq!(places(&plan), [(1, 81), (1, 80), (1, 79)]);
    assert_eq!(
        notes(&plan)[1],
        "core 1: ecu.isr shares FIFO 81 with rig `a`: of those one that has begun is not interrupted by another; a wider band \
         (fifo_priorities) gives each its own"
    );
    assert_eq!((notes(&plan).len(), plan.shared().len()), (2, 0), "{:?}", plan.notes);
}

#[test]
fn without_a_priority_that_is_left_a_rig_is_refused_and_told_who_has_them() {
    let a = first("a", "[host]\nfifo_priorities = [81, 83]\n");
    let refused = ecu(std::slice::from_ref(&a), "cpu = 1\n[host]\nfifo_priorities = [82, 83]\n").unwrap_err();
    assert_eq!(
        refused,
        "rig.toml:5:19: no priority is left on core 1: of fifo_priorities = [82, 83] all are held by rig `a`; make it wider (at most \
         [1, 99]) or another one, name another core (cpus in [host], cpu of an FMU), or stop a rig there"
    );
    let virtual_time = "cpu = 1\n[host]\nfifo_priorities = [82, 83]\n[rig]\nmode = \"virtual\"\nstop_time = 1\n";
    assert_eq!(notes(&ecu(std::slice::from_ref(&a), virtual_time).unwrap()), [""; 0]);
    let host =
        HostFacts { allowed_cpus: vec![0, 1], fifo: FifoReach::Nothing, beside: vec![a], ..HostFacts::default() };
    let text = "[fmu.ecu]\npath = \"ecu\"\ncpu = 1\n[host]\nfifo_priorities = [81, 83]\n";
    let plan = try_build(text, &[description(ECU)], &host).unwrap();
    assert_eq!(places(&plan), [(1, 83), (1, 82), (1, 81)], "nobody has any");
}

#[test]
fn an_exclusive_rig_shares_its_cores_with_nobody_whoever_came_first() {
    let a = first("a", "");
    let refused = ecu(std::slice::from_ref(&a), "[host]\ncpus = [1]\nexclusive = true\n").unwrap_err();
    assert_eq!(
        refused,
        "rig.toml:5:13: exclusive: rig `a` runs on core 1 already; name a core that is free (cpus in [host], cpu of an FMU), stop that \
         rig, or share the core by leaving exclusive out"
    );
    let b = RunningRig::of("b", &ecu(std::slice::from_ref(&a), "[host]\nexclusive = true\n").unwrap());
    assert_eq!((b.exclusive, b.cores()), (true, BTreeSet::from([0])));
    let refused = ecu(&[a.clone(), b.clone()], "cpu = 0\n").unwrap_err();
    assert_eq!(
        refused,
        "rig.toml:3:7: core 0 is that of rig `b` alone (b: exclusive = true in [host]); name another core (cpus in [host], cpu of an \
         FMU), stop that rig, or have it share its cores"
    );
    assert_eq!(
        places(&ecu(&[a, b.clone()], "").unwrap())[0].0,
        1,
        "without a wish it goes to the core that can be shared"
    );
    let virtual_time = "cpu = 0\n[rig]\nmode = \"virtual\"\nstop_time = 1\n";
    assert!(ecu(&[b], virtual_time).is_ok(), "cores mean nothing there");
    assert_eq!(RunningRig::of("v", &ecu(&[], virtual_time).unwrap()).threads, []);
}

/// The thread that receives datagrams is on a core without partitions: others leave its priority alone, and it leaves theirs alone.
#[test]
fn a_receiver_holds_its_priority_too() {
    const UDP: &str = "[[trigger]]\nclock = \"ecu.isr\"\nudp = \"127.0.0.1:5005\"\n";
    let a = first("a", UDP);
    let there: Vec<usize> = a.threads.iter().filter(|thread| !thread.is_task).map(|thread| thread.cpu).collect();
    assert_eq!((a.cores(), there), (BTreeSet::from([1]), vec![0]));
    let beside_it = ecu(std::slice::from_ref(&a), "").unwrap();
    assert_eq!(places(&beside_it), [(0, 88), (0, 87), (0, 86)]);
    assert!(notes(&beside_it)[0].contains("rig `a`, which runs there already (FIFO 89)"), "{:?}", beside_it.notes);
    let third = ecu(&[a, RunningRig::of("b", &beside_it)], &format!("cpu = 0\n{UDP}")).unwrap();
    let receiver = third.receiver.unwrap();
    assert_eq!((receiver.cpu, receiver.fifo), (0, third.tasks[0].fifo), "there is no core without partitions");
}

#[test]
fn below_a_limit_of_the_machine_the_band_goes_down_to_what_is_left() {
    let limit = FifoPriority::new(60).unwrap();
    let plan = |beside: &[RunningRig], limit| {
        let fifo = FifoReach::UpTo(limit);
        let host = HostFacts { allowed_cpus: vec![0], fifo, beside: beside.to_vec(), ..HostFacts::default() };
        try_build("[fmu.ecu]\npath = \"ecu\"\n[host]\nfifo_priorities = [87, 89]\n", &[description(ECU)], &host)
    };
    let a = plan(&[], limit).unwrap();
    assert_eq!(places(&a), [(0, 60), (0, 59), (0, 58)]);
    let b = plan(&[RunningRig::of("a", &a)], limit).unwrap();
    assert_eq!(places(&b), [(0, 57), (0, 56), (0, 55)]);
    let low = FifoPriority::new(4).unwrap();
    let a = plan(&[], low).unwrap();
    let b = plan(&[RunningRig::of("a", &a)], low).unwrap();
    assert_eq!((places(&a), places(&b)), (vec![(0, 4), (0, 3), (0, 2)], vec![(0, 3), (0, 2), (0, 1)]));
    let three = FifoPriority::new(3).unwrap();
    let a = plan(&[], three).unwrap();
    assert!(plan(&[RunningRig::of("a", &a)], three).unwrap_err().contains("all are held by rig `a`"));
}

/// An FMU of this many levels, and which core it names.
type Fmu = (u8, Option<usize>);

/// FMUs, the lowest priority of the band and how many there are above it, and whether the rig is exclusive.
type Wish = (Vec<Fmu>, u8, u8, bool);

fn wishes() -> impl Strategy<Value = Vec<Wish>> {
    let fmu = (1..5_u8, proptest::option::of(0..3_usize));
    let exclusive = proptest::bool::weighted(0.1);
    proptest::collection::vec((proptest::collection::vec(fmu, 1..4), 70..74_u8, 0..8_u8, exclusive), 1..7)
}

fn fmu_of(levels: u8) -> ModelDescription {
    let clock = |level: u8| {
        format!(
            "<Clock name=\"c{level}\" valueReference=\"{level}\" causality=\"input\" intervalVariability=\"constant\" \
             intervalDecimal=\"0.0{}\" priority=\"{level}\"/>",
            level + 1
        )
    };
    description(&(0..levels).map(clock).collect::<String>())
}

fn text_of((fmus, low, more, exclusive): &Wish) -> String {
    let mut text = format!("[host]\nfifo_priorities = [{low}, {}]\nexclusive = {exclusive}\n", low + more);
    for (number, (_, cpu)) in fmus.iter().enumerate() {
        let cpu = cpu.map_or(String::new(), |cpu| format!("cpu = {cpu}\n"));
        text += &format!("[fmu.f{number}]\npath = \"f\"\n{cpu}");
    }
    text
}

/// The priorities of a rig's tasks, by core.
fn by_core(plan: &Plan) -> BTreeMap<usize, BTreeSet<u8>> {
    let mut all: BTreeMap<usize, BTreeSet<u8>> = BTreeMap::new();
    for (cpu, fifo) in places(plan) {
        all.entry(cpu).or_default().insert(fifo);
    }
    all
}

proptest! {
    /// Any rigs, one after the other on three cores. None has to do with what those before it have, unless it cannot be otherwise.
    #[test]
    fn any_rig_leaves_to_those_that_run_what_they_have(wishes in wishes()) {
        let mut running: Vec<RunningRig> = Vec::new();
        for (number, wish) in wishes.iter().enumerate() {
            let descriptions: Vec<_> = wish.0.iter().map(|(levels, _)| fmu_of(*levels)).collect();
            let alone = HostFacts { allowed_cpus: vec![0, 1, 2], ..HostFacts::default() };
            let host = HostFacts { beside: running.clone(), ..alone.clone() };
            let band: BTreeSet<u8> = (wish.1..=wish.1 + wish.2).collect();
            let held = host.held();
            let left = |cpu| -> BTreeSet<u8> {
                let held = held.get(&cpu).cloned().unwrap_or_default();
                band.difference(&held).copied().collect()
            };
            let plan = match try_build(&text_of(wish), &descriptions, &host) {
                Ok(plan) => plan,
                Err(error) => {
                    // Where FMUs without a wish go is told by a plan that has the same cores and all priorities.
                    let open = |rig: &RunningRig| {
                        let threads = rig.threads.iter().map(|own| crate::RunningThread { fifo: None, ..*own });
                        RunningRig { threads: threads.collect(), ..rig.clone() }
                    };
                    let beside: Vec<RunningRig> = running.iter().map(open).collect();
                    let cores: BTreeSet<usize> = match try_build(&text_of(wish), &descriptions, &HostFacts { beside, ..alone }) {
                        Ok(plan) => plan.cores().into_iter().collect(),
                        Err(_) => BTreeSet::from([0, 1, 2]),
                    };
                    let on = |cpu: &usize| running.iter().any(|rig| rig.cores().contains(cpu));
                    let closed = |cpu: &usize| running.iter().any(|rig| rig.exclusive && rig.cores().contains(cpu));
                    let is_real = cores.iter().any(|cpu| match error.contains("no priority is left") {
                        true => left(*cpu).is_empty(),
                        false => closed(cpu) || wish.3 && on(cpu),
                    });
                    prop_assert!(is_real, "{}", error);
                    continue;
                }
            };
            for (task, next) in plan.tasks.iter().zip(plan.tasks.iter().skip(1)) {
                prop_assert!(task.cpu != next.cpu || task.fifo.get() >= next.fifo.get(), "the merged order is kept");
            }
            let fifo = |unit: &UnitPlan| plan.tasks[unit.task.0].fifo.get();
            for (unit, own) in plan.units.iter().enumerate() {
                prop_assert!(band.contains(&fifo(own)));
                for other in plan.units.iter().skip(unit + 1).filter(|other| other.fmu == own.fmu) {
                    // Levels of an FMU share only where the band itself has fewer, however much of it is held.
                    let fits = usize::from(wish.0[own.fmu.0].0) <= band.len();
                    prop_assert!(own.level < other.level && (!fits || fifo(own) > fifo(other)));
                }
            }
            for (cpu, used) in by_core(&plan) {
                let most = plan.fmus.iter().enumerate().filter(|(_, fmu)| fmu.cpu == cpu);
                let most = most.map(|(fmu, _)| usize::from(wish.0[fmu].0).min(band.len())).max().unwrap();
                let free = left(cpu);
                prop_assert!(!free.is_empty());
                if free.len() >= most {
                    let top: BTreeSet<u8> = free.iter().rev().take(used.len()).copied().collect();
                    prop_assert_eq!(&used, &top, "filled from the top, and nobody's is shared");
                } else {
                    prop_assert!(used.len() == most && free.is_subset(&used));
                    let shared = used.difference(&free).next().unwrap();
                    let note = format!("shares FIFO {shared} with rig");
                    prop_assert!(plan.notes.iter().any(|line| line.contains(&note)), "{:?}", plan.notes);
                }
                for rig in &running {
                    prop_assert!(!(rig.exclusive || wish.3) || !rig.cores().contains(&cpu));
                }
            }
            running.push(RunningRig::of(&format!("r{number}"), &plan));
        }
    }
}
