//! For programs. The fields are documented in `docs/doctor.md`; new ones may be added, these stay.

use super::counts::number;
use crate::doctor::against::{Changes, ComparedCore, Figure};
use crate::doctor::rules::verdict;
use crate::doctor::{Action, Case, Finding, Fix, Level};
use serde_json::{Value, json};
use vecud_base::plain::plain;

/// The answer as one object, over several lines.
pub fn json(case: &Case, findings: &[Finding], against: Option<&Changes>) -> String {
    let (facts, isolated) = (&case.facts, case.facts.cores.isolated());
    let problems = number(findings, Level::Problem);
    let value = json!({
        "vecud": env!("CARGO_PKG_VERSION"),
        "fit": problems == 0,
        "problems": problems,
        "advice": number(findings, Level::Advice),
        "target": {
            "rig": case.target.rig,
            "cpus": case.target.cpus,
            "fifo_priorities": [case.target.band.0, case.target.band.1],
        },
        "machine": {
            "kernel": plain(&facts.kernel.release),
            "version": plain(&facts.kernel.version),
            "preempt_rt": facts.kernel.preempt_rt,
            "cpu_model": facts.processor.model.as_deref().map(plain),
            "cpus_online": facts.cores.online.len(),
            "isolated_cpus": isolated,
            "virtual_machine": facts.processor.virtual_machine.is_some(),
            "highest_fifo": case.trials.fifo,
            "memory_can_be_locked": case.trials.memory_refused.is_none(),
        },
        "probe": probe(case),
        "against": against.map(comparison),
        "findings": findings.iter().map(finding).collect::<Vec<Value>>(),
    });
    format!("{value:#}\n")
}

fn probe(case: &Case) -> Value {
    let Some(probe) = &case.probe else { return Value::Null };
    let cores = probe.cores.iter().map(|core| {
        let latency = &core.latency;
        let value = |nanos: u64| if latency.count() == 0 { Value::Null } else { nanos.into() };
        json!({
            "cpu": core.cpu,
            "fifo_priority": core.priority,
            "count": latency.count(),
            "min_ns": value(latency.min()),
            "p50_ns": value(latency.quantile(0.5)),
            "p99_ns": value(latency.quantile(0.99)),
            "max_ns": value(latency.max()),
            "parts": core.parts.iter().map(|part| json!({ "p50_ns": part.p50_ns, "p99_ns": part.p99_ns, "max_ns": part.max_ns })).collect::<Vec<_>>(),
            "page_faults": core.faults,
            "preempted": core.preempted,
            "level": verdict(core).0.word(),
            "refused": core.refused,
        })
    });
    json!({
        "seconds": probe.seconds,
        "cut_short": probe.cut_short,
        "period_ns": crate::doctor::probe::PERIOD,
        "cores": cores.collect::<Vec<Value>>(),
    })
}

fn comparison(comparison: &Changes) -> Value {
    let figure =
        |figure: &Figure| json!({ "then_ns": figure.then, "now_ns": figure.now, "change": figure.change.word() });
    let core = |core: &ComparedCore| {
        let mut value = json!({ "cpu": core.cpu });
        for own in &core.figures {
            value[own.name] = figure(own);
        }
        value
    };
    json!({
        "file": plain(&comparison.file),
        "kernel": plain(&comparison.saved.machine.kernel),
        "cores": comparison.cores.iter().map(core).collect::<Vec<Value>>(),
        "gone": comparison.gone,
        "new": comparison.new,
    })
}

fn finding(finding: &Finding) -> Value {
    json!({
        "check": finding.check,
        "cpu": finding.cpu,
        "level": finding.level.word(),
        "found": finding.found,
        "why": finding.why,
        "fix": finding.fix.as_ref().map(fix),
    })
}

fn fix(fix: &Fix) -> Value {
    json!({
        "commands": fix.now.iter().map(Action::command).collect::<Vec<String>>(),
        "file": fix.file,
        "words": fix.words,
        "needs": fix.needs.word(),
    })
}
