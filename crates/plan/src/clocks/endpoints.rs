//! Endpoints: what their items tick, a task or a clock between steps, and where the thread runs that serves them.

use super::released::released;
use crate::rig::{Mode, Rig, TriggerSource};
use crate::{EndpointPlan, FmuPlan, HostFacts, ReceiverPlan, Release, TaskPlan, UnitId, UnitPlan};

/// The endpoints, in the order of the rig's triggers; [`Release::Endpoint`] has the index.
pub fn plans(rig: &Rig, units: &[UnitPlan], fmus: &[FmuPlan]) -> Vec<EndpointPlan> {
    let endpoints = rig.triggers.iter().filter_map(|trigger| match &trigger.source {
        TriggerSource::Endpoint(endpoint) => Some(endpoint),
        _ => None,
    });
    let plans = endpoints.enumerate().filter_map(|(endpoint, own)| {
        let target = released(&Release::Endpoint { endpoint }, units, fmus)?;
        Some(EndpointPlan { source: own.source.value.planned(), target, max_rate: own.max_rate })
    });
    plans.collect()
}

/// The thread that serves endpoints; in virtual time there is none. It has the priority of the most urgent clock that it
/// serves: with less, an event would wait for partitions that are less urgent than its own; with more, it would interrupt
/// partitions that are more urgent than everything that an event can start. It goes to an allowed core without partitions, else
/// to the core of that clock.
pub fn receiver(
    mode: Mode,
    endpoints: &[EndpointPlan],
    tasks: &[TaskPlan],
    units: &[UnitPlan],
    host: &HostFacts,
) -> Option<ReceiverPlan> {
    let task_of = |unit: UnitId| &tasks[units[unit.0].task.0];
    let targets = endpoints.iter().map(|endpoint| endpoint.target.unit);
    let first = targets.min_by_key(|unit| (std::cmp::Reverse(task_of(*unit).fifo.get()), *unit)).map(task_of)?;
    let is_free = |cpu: &&usize| host.is_free(**cpu) && tasks.iter().all(|task| task.cpu != **cpu);
    let free = host.allowed_cpus.iter().filter(is_free).max().copied();
    (mode == Mode::RealTime).then(|| ReceiverPlan { cpu: free.unwrap_or(first.cpu), fifo: first.fifo })
}

#[cfg(test)]
mod tests {
    use crate::rig::{DatagramAddress, EndpointSource};
    use crate::tests::{ECU, PLANT, description, ecu_and_plant, try_build};
    use crate::{EndpointPlan, HostFacts, Plan, Release, UnitId, table};
    use std::ffi::OsStr;
    use std::os::unix::ffi::OsStrExt;

    const UDP: &str = "[[trigger]]\nclock = \"ecu.isr\"\nudp = \"127.0.0.1:5005\"\nmax_rate = 20\n";

    fn on(cpus: &[usize], isolated: &[usize], more: &str) -> Plan {
        let text = format!("[fmu.ecu]\npath = \"ecu\"\n[fmu.plant]\npath = \"plant\"\n{UDP}{more}");
        let host = HostFacts { allowed_cpus: cpus.to_vec(), isolated_cpus: isolated.to_vec(), ..HostFacts::default() };
        try_build(&text, &[description(ECU), description(PLANT)], &host).unwrap()
    }

    #[test]
    fn a_source_knows_its_task_and_the_task_its_source() {
        let plan = ecu_and_plant(UDP);
        let EndpointPlan { source, target, max_rate } = &plan.endpoints[0];
        assert_eq!((source.to_string().as_str(), target.unit, *max_rate), ("udp 127.0.0.1:5005", UnitId(0), 20.0));
        assert_eq!(plan.units[0].release, Release::Endpoint { endpoint: 0 });
        assert_eq!(plan.notes, Vec::<String>::new());
    }

    #[test]
    fn check_shows_what_is_received_and_by_whom() {
        let text = table::render(&ecu_and_plant(UDP));
        for words in [
            "by udp 127.0.0.1:5005",
            "udp 127.0.0.1:5005  →  ecu.isr  at most 20 events per second; received on core 2 at FIFO 89",
            "activation times of clocks that datagrams activate",
        ] {
            assert!(text.contains(words), "{words} is not in\n{text}");
        }
        assert!(!table::render(&ecu_and_plant("")).contains("datagram"));
    }

    #[test]
    fn the_receiver_has_a_core_of_its_own_where_there_is_one() {
        let core = |plan: Plan| plan.receiver.unwrap().cpu;
        assert_eq!(core(on(&[0, 1, 2], &[], "")), 1, "partitions are on the last one");
        assert_eq!(core(on(&[0, 1], &[3], "")), 1, "partitions are on the isolated one");
        assert_eq!(core(on(&[0, 1], &[3], "[host]\ncpus = [1]\n")), 0, "isolated cores are left alone");
        assert_eq!(core(on(&[1], &[], "")), 1, "there is no other one");
        assert_eq!(core(on(&[0, 1], &[], "[host]\ncpus = [1, 0]\n")), 1, "the core of the clock");
    }

    #[test]
    fn the_receiver_is_as_urgent_as_its_most_urgent_clock() {
        let late = ECU.replace("\"triggered\" priority=\"0\"", "\"triggered\" priority=\"9\"");
        let text = format!("[fmu.ecu]\npath = \"ecu\"\n{UDP}");
        let host = HostFacts { allowed_cpus: vec![0, 1], isolated_cpus: vec![], ..HostFacts::default() };
        let plan = try_build(&text, &[description(&late)], &host).unwrap();
        let isr = plan.units.iter().find(|unit| unit.name == "isr").unwrap();
        let isr = &plan.tasks[isr.task.0];
        assert_eq!((plan.receiver.unwrap().fifo, isr.fifo.get()), (isr.fifo, 87));
    }

    #[test]
    fn virtual_time_receives_nothing_and_says_so() {
        let plan = ecu_and_plant(&format!("{UDP}[rig]\nmode = \"virtual\"\nstop_time = 1\n"));
        assert_eq!(plan.receiver, None);
        let note = "ecu.isr is activated by datagrams (udp 127.0.0.1:5005), which virtual time does not receive: it never ticks";
        assert_eq!(plan.notes, [note]);
    }

    #[test]
    fn a_plan_with_datagrams_survives_its_way_to_the_runner() {
        let mut plan = ecu_and_plant(UDP);
        // The folder of a rig may have a name that is no UTF-8.
        let path = OsStr::from_bytes(b"r\xffg/key.sock").into();
        plan.endpoints[0].source = EndpointSource::Datagrams(DatagramAddress::Unix(path)).planned();
        let bytes = postcard::to_stdvec(&plan).unwrap();
        assert_eq!(postcard::from_bytes::<Plan>(&bytes).unwrap(), plan);
    }
}
