//! The top of the page: verdict, problems, whether the machine was fit, the figures in short; and the machine's facts.

use super::{breakable, escape};
use crate::plan::Mode;
use crate::priority::FifoPriority;
use crate::record::histogram::Histogram;
use crate::report::format::{cores, count, duration, plain_lines, plural, seconds};
use crate::report::{ClockResult, End, Host, Run, Scheduling, Severity, passed};

/// Everything above the tables.
pub fn head(run: &Run) -> String {
    let mode = match run.mode {
        Mode::RealTime => "Real time",
        Mode::Virtual => "Virtual time",
    };
    let end = match run.end {
        End::StopTime => "ended at its stop time",
        End::Overrun => "ended by an overrun",
        End::Signal => "stopped by a signal",
        End::Failure => "ended by a failure",
    };
    let span = format!("simulated {} to {}", seconds(run.start_time), seconds(run.end_time));
    let facts = [mode.to_owned(), span, format!("took {}", seconds(run.wall_seconds)), end.to_owned()];
    let mut out = format!("<header>\n<p class=\"eyebrow\">Run report</p>\n<h1>{}</h1>\n", escape(&run.rig));
    out += &format!("<p class=\"lead\">{}", facts.join(" · "));
    if !run.started.is_empty() {
        out += &format!(" · started <time>{}</time>", escape(&run.started));
    }
    out += "</p>\n</header>\n";
    out += &verdict(run);
    out += &readiness(run);
    out += &notes(run);
    out += &tiles(run);
    out
}

fn verdict(run: &Run) -> String {
    let number = run.problems.len() as u64;
    let (class, mark, word) = if passed(run) { ("pass", "✓", "Passed") } else { ("fail", "✕", "Failed") };
    let sentence = match (passed(run), number) {
        (true, 0) => "Nothing failed and no limit of the rig was exceeded.".to_owned(),
        (true, n) => format!("Nothing failed and no limit of the rig was exceeded; {} to look at.", plural(n, "thing")),
        (false, 0) => "The run ended by a failure.".to_owned(),
        (false, n) => format!("{}, most important first.", plural(n, "problem")),
    };
    let mut out =
        format!("<section class=\"verdict {class}\">\n<span class=\"badge\" aria-hidden=\"true\">{mark}</span>\n");
    out += &format!("<div><h2>{word}</h2><p>{sentence}</p></div>\n</section>\n");
    if number > 0 {
        let items: String = run.problems.iter().map(problem).collect();
        out += &format!("<ol class=\"problems\">\n{items}</ol>\n");
    }
    out
}

fn problem(problem: &crate::report::Problem) -> String {
    let (class, word) = match problem.severity {
        Severity::Failure => ("failure", "failure"),
        Severity::Limit => ("limit-exceeded", "limit exceeded"),
        Severity::Finding => ("warning", "finding"),
        Severity::Warning => ("warning", "warning"),
    };
    let message = plain_lines(&problem.message).map(|line| escape(&line)).collect::<Vec<_>>().join("<br>");
    format!("<li class=\"{class}\"><b>{word}</b><span>{message}</span></li>\n")
}

/// What keeps a machine from being ready for real time.
fn obstacles(run: &Run) -> Vec<String> {
    let host = &run.host;
    let mut obstacles = Vec::new();
    if host.scheduling == Scheduling::Cooperative {
        let what = "partitions ran one after the other without real-time priorities, none could preempt another";
        obstacles.push(what.to_owned());
    }
    if host.is_limited() {
        obstacles.push(format!("partitions had real-time priorities {}", bands(host)));
    }
    if !host.preempt_rt {
        obstacles.push("the kernel is not a PREEMPT_RT one".to_owned());
    }
    if !host.memory_locked {
        obstacles.push(match host.memory_locked_bytes {
            0 => "memory was not locked".to_owned(),
            _ => format!("memory was locked only in part, {}", locked(host)),
        });
    }
    obstacles
}

/// By which clock releases come, and how threads wait for them.
fn clock_words(host: &Host) -> String {
    let clock = format!("CLOCK_{}", host.clock.to_uppercase());
    if host.spin_us > 0.0 { format!("{clock}, polled for the last {} µs", host.spin_us) } else { clock }
}

/// `55 to 60, limited: the rig asks for 51 to 89`
fn bands(host: &Host) -> String {
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
fn locked(host: &Host) -> String {
    let mib = |bytes: u64| bytes as f64 / f64::from(1 << 20);
    format!("{:.1} of {:.1} MiB", mib(host.memory_locked_bytes), mib(host.memory_wanted_bytes))
}

fn readiness(run: &Run) -> String {
    let obstacles = obstacles(run);
    if run.mode == Mode::Virtual || obstacles.is_empty() {
        return String::new();
    }
    format!(
        "<section class=\"callout\"><p><b>The figures below are of a machine that is not real-time ready:</b> {}. \
         They show what this machine did, not what a prepared one can do.</p></section>\n",
        obstacles.join("; ")
    )
}

fn notes(run: &Run) -> String {
    let mut notes: Vec<String> = run.notes.iter().map(|note| escape(note)).collect();
    if run.samples_dropped > 0 {
        let samples = plural(run.samples_dropped, "sample");
        notes.push(format!("{samples} of the recorded signals could not be kept: the recording has gaps."));
    }
    if run.log_dropped > 0 {
        notes.push(format!("{} could not be kept.", plural(run.log_dropped, "log message")));
    }
    if notes.is_empty() {
        return String::new();
    }
    let items: String = notes.iter().map(|note| format!("<li>{note}</li>\n")).collect();
    format!("<section class=\"notes\"><h3>Worth knowing</h3>\n<ul>\n{items}</ul>\n</section>\n")
}

fn tiles(run: &Run) -> String {
    let activations: u64 = run.clocks.iter().map(|clock| clock.activations).sum();
    let overruns: u64 = run.clocks.iter().map(|clock| clock.overruns).sum();
    let of = format!("in {}", plural(run.clocks.len() as u64, "clock"));
    let busy = match overruns {
        0 => "each activation was done before the next".to_owned(),
        _ => {
            let worst = run.clocks.iter().max_by_key(|clock| clock.overruns);
            worst.map(|clock| format!("most: {}.{}", clock.fmu, clock.clock)).unwrap_or_default()
        }
    };
    let mut tiles = vec![tile("Activations", &count(activations), &of), tile("Overruns", &count(overruns), &busy)];
    match run.mode {
        Mode::RealTime => {
            tiles.extend(worst(run, "Longest wake-up latency", |clock| &clock.wakeup_latency));
            tiles.extend(worst(run, "Longest start latency", |clock| &clock.start_latency));
        }
        Mode::Virtual => {
            let simulated = run.end_time - run.start_time;
            if run.wall_seconds > 0.0 && simulated.is_finite() {
                let speed = simulated / run.wall_seconds;
                let digits = if speed < 10.0 { 1 } else { 0 };
                tiles.push(tile("Speed", &format!("{speed:.digits$} ×"), "simulated over elapsed time"));
            }
        }
    }
    format!("<section class=\"tiles\">\n{}</section>\n", tiles.concat())
}

fn worst<'a>(run: &'a Run, title: &str, histogram: impl Fn(&'a ClockResult) -> &'a Histogram) -> Option<String> {
    let clock = run.clocks.iter().filter(|clock| histogram(clock).count() > 0).max_by_key(|c| histogram(c).max())?;
    let name = format!("{}.{}", clock.fmu, clock.clock);
    Some(tile(title, &duration(histogram(clock).max()), &name))
}

fn tile(title: &str, value: &str, below: &str) -> String {
    format!("<div><p>{title}</p><strong>{value}</strong><small>{}</small></div>\n", breakable(below))
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
    rows.extend(host.facts.iter().map(|(name, value)| (name.as_str(), value.clone(), None)));
    let items: String = rows
        .iter()
        .map(|(name, value, good)| {
            let mark = match good {
                Some(true) if real_time => "<i class=\"good\">✓</i>",
                Some(false) if real_time => "<i class=\"bad\">!</i>",
                _ => "",
            };
            format!("<div><dt>{}</dt><dd>{mark}{}</dd></div>\n", escape(name), escape(value))
        })
        .collect();
    let sentence = if real_time {
        "Latencies belong to a machine as much as to a program. ✓ speaks for real time, ! against it."
    } else {
        "Where it ran. In virtual time the machine has no influence on the results."
    };
    format!("<section>\n<h2>Machine</h2>\n<p>{sentence}</p>\n<dl class=\"facts\">\n{items}</dl>\n</section>\n")
}
