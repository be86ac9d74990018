//! The machine: its strengths and weaknesses for real time.

use super::page::fold;
use crate::format::{cores, plural};
use crate::markup::escape;
use crate::{DoctorFinding, DoctorResult, Ended, Fact, HostResult, MemoryOverTime, Run, Scheduling};
use vecud_base::priority::FifoPriority;
use vecud_plan::Mode;

/// The clock of the releases, and the way in which threads wait for them.
fn clock_words(host: &HostResult) -> String {
    let clock = format!("CLOCK_{}", host.clock.to_uppercase());
    if host.spin_us > 0.0 { format!("{clock}, polled for the last {} µs", host.spin_us) } else { clock }
}

/// `55 to 60, limited: the rig asks for 51 to 89`
pub(super) fn bands(host: &HostResult) -> String {
    let text = |(low, high): (FifoPriority, FifoPriority)| format!("{} to {}", low.get(), high.get());
    match host.fifo_band_used {
        Some(used) if host.is_limited() => {
            format!("{}, limited: the rig asks for {}", text(used), text(host.fifo_band_asked))
        }
        Some(used) => format!("{} of {}", text(used), text(host.fifo_band_asked)),
        None => format!("none of {}", text(host.fifo_band_asked)),
    }
}

/// `8 of 20 MiB`
pub(super) fn locked(host: &HostResult) -> String {
    let mib = |bytes: u64| bytes as f64 / f64::from(1 << 20);
    format!("{:.1} of {:.1} MiB", mib(host.memory_locked_bytes), mib(host.memory_wanted_bytes))
}

/// `0.08, 0.11, 0.20: threads that wanted a core, means of 1, 5 and 15 min`
fn load_words([one, five, fifteen]: [f64; 3]) -> String {
    format!("{one:.2}, {five:.2}, {fifteen:.2}: threads that wanted a core, means of 1, 5 and 15 min")
}

fn capital(name: &str) -> String {
    let mut letters = name.chars();
    letters.next().into_iter().flat_map(char::to_uppercase).chain(letters).collect()
}

/// Whether a fact that has only words speaks for or against real time.
fn speaks(name: &str, value: &str) -> Option<bool> {
    match name {
        "throttling" => Some(value == "off"),
        "virtual machine" => Some(false),
        _ if name.starts_with("governor of core") => Some(value == "performance"),
        _ => None,
    }
}

/// The machine's facts.
pub fn machine(run: &Run) -> String {
    let host = &run.host;
    let real_time = run.mode == Mode::RealTime;
    let yes_no = |yes: bool| if yes { "yes" } else { "no" };
    let scheduling = match host.scheduling {
        Scheduling::Fifo => "SCHED_FIFO",
        Scheduling::Cooperative => "cooperative, without real-time privileges",
        Scheduling::Virtual => "virtual time, one thread",
    };
    let memory = match (host.memory_locked, host.memory_locked_bytes) {
        (false, 1..) => format!("in part: {}", locked(host)),
        (all, _) => yes_no(all).to_owned(),
    };
    let isolated = if host.isolated_cpus.is_empty() { "none".to_owned() } else { cores(&host.isolated_cpus) };
    let or_unknown = |text: &str| if text.is_empty() { "unknown".to_owned() } else { text.to_owned() };
    // Whether a fact speaks for or against real time; None: neither.
    let mut rows: Vec<(&str, String, Option<bool>)> = vec![
        ("Kernel", or_unknown(&host.kernel), None),
        ("PREEMPT_RT", yes_no(host.preempt_rt).into(), Some(host.preempt_rt)),
        ("Scheduling", scheduling.into(), Some(host.scheduling == Scheduling::Fifo)),
        ("FIFO priorities", bands(host), Some(host.fifo_band_used.is_some() && !host.is_limited())),
        ("Memory locked", memory, Some(host.memory_locked)),
        ("Deep idle prevented", yes_no(host.dma_latency_held).into(), Some(host.dma_latency_held)),
        ("Kept by", clock_words(host), None),
        ("Processor", or_unknown(&host.cpu_model), None),
        ("Cores online", host.cpus_online.to_string(), None),
        ("Isolated cores", isolated, Some(!host.isolated_cpus.is_empty())),
    ];
    if !real_time {
        rows.retain(|(name, ..)| !matches!(*name, "FIFO priorities" | "Kept by"));
    }
    if let Some(MemoryOverTime { resident_kib, .. }) = &host.memory_over_time {
        let [least, most] = [resident_kib.iter().min(), resident_kib.iter().max()]
            .map(|kib| kib.map_or(0.0, |kib| *kib as f64 / 1024.0));
        rows.push(("Memory of the FMUs", format!("{least:.1} to {most:.1} MiB"), None));
    }
    let last = match run.ended {
        Ended::Finished => "Load at its end",
        Ended::Running => "Load when this was written",
        Ended::CutOff => "Load when last written down",
    };
    let loads = [("Load before the run", host.load_at_start), (last, host.load_at_end)];
    rows.extend(loads.into_iter().filter_map(|(name, load)| Some((name, load_words(load?), None))));
    rows.extend(host.facts.iter().map(|Fact { name, value }| (name.as_str(), value.clone(), speaks(name, value))));
    let items: String = rows
        .iter()
        .map(|(name, value, good)| {
            let mark = match good {
                Some(true) if real_time => "<i class=\"good\">✓</i>",
                Some(false) if real_time => "<i class=\"bad\">!</i>",
                _ => "",
            };
            format!("<div><dt>{}</dt><dd>{mark}{}</dd></div>\n", escape(&capital(name)), escape(value))
        })
        .collect();
    let sentence = if real_time {
        "Latencies belong to a machine as much as to a program. ✓ speaks for real time, ! against it."
    } else {
        "Where it ran. In virtual time the machine has no influence on the results."
    };
    let doctor = host.doctor.as_ref().map(verdict).unwrap_or_default();
    format!(
        "<section id=\"machine\">\n<h2>Machine</h2>\n<p>{sentence}</p>\n<dl class=\"facts\">\n{items}</dl>\n{doctor}{}</section>\n",
        super::cores::table(&host.cores)
    )
}

/// The verdict of doctor before the run.
fn verdict(doctor: &DoctorResult) -> String {
    let (problems, advice): (Vec<&DoctorFinding>, Vec<&DoctorFinding>) =
        doctor.findings.iter().partition(|finding| finding.is_problem);
    let verdict = match (problems.len(), advice.len()) {
        (0, 0) => "Nothing that it saw costs latency.".to_owned(),
        (0, advice) => format!("Fit for real time; {}.", plural(advice as u64, "thing") + " could be better"),
        (problems, advice) => format!(
            "{} can cost releases, {} microseconds.",
            plural(problems as u64, "thing"),
            plural(advice as u64, "thing")
        ),
    };
    let item = |finding: &&DoctorFinding| {
        let mark = if finding.is_problem { "bad" } else { "idle" };
        let core = finding.cpu.map_or(String::new(), |cpu| format!("core {cpu}: "));
        format!(
            "<li><i class=\"{mark}\">{}</i> {core}{}: {}</li>\n",
            if finding.is_problem { "!" } else { "·" },
            escape(&finding.found),
            escape(&finding.why)
        )
    };
    let items: String = problems.iter().chain(&advice).map(item).collect();
    let list =
        if items.is_empty() { String::new() } else { fold("What it found", &format!("<ul>\n{items}</ul>\n"), false) };
    format!(
        "<h3>Doctor’s verdict</h3>\n<p>{verdict} Doctor looked before the run, for the cores and priorities of the rig; \
         <code>vecud doctor</code> says what changes what.</p>\n{list}"
    )
}
