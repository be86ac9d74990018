//! Mechanisms that take time away from real-time threads by design: throttling, the fair server, control groups.

use super::lists::named;
use crate::doctor::facts::FairServer;
use crate::doctor::finding::{Action, Needs, SYSCTL, TUNED, UNIT};
use crate::doctor::{Case, Finding, Fix};
use vecud_report::format::short_duration;

pub(super) fn findings(case: &Case) -> Vec<Finding> {
    [Some(throttling(case)), fair_server(case), Some(quota(case)), real_time_group(case)]
        .into_iter()
        .flatten()
        .collect()
}

fn throttling(case: &Case) -> Finding {
    const FILE: &str = "/proc/sys/kernel/sched_rt_runtime_us";
    let settings = &case.facts.settings;
    let text = settings.values.get("kernel/sched_rt_runtime_us");
    let period = settings.number("kernel/sched_rt_period_us").unwrap_or(1_000_000);
    match text.map(|text| text.parse::<i64>()) {
        None => Finding::ok("rt_throttling", "no real-time throttling in this kernel"),
        Some(Ok(runtime)) if runtime < 0 || runtime >= period => {
            Finding::ok("rt_throttling", "real-time throttling off")
        }
        Some(Ok(runtime)) => Finding::advice(
            "rt_throttling",
            format!("real-time threads get {runtime} of {period} µs (sched_rt_runtime_us)"),
            format!(
                "a core that partitions load by more than that stands still for the rest: {} at a time",
                short_duration((period - runtime).unsigned_abs().saturating_mul(1000))
            ),
        )
        .fixed_by(
            Fix::write(-1, FILE)
                .lasting(SYSCTL)
                .and("the price: an FMU that loops for ever keeps its core; read the file's comment first"),
        ),
        Some(Err(_)) => Finding::advice(
            "rt_throttling",
            format!("sched_rt_runtime_us reads `{}`", text.map_or("", String::as_str)),
            "whether real-time threads are throttled is not known",
        )
        .fixed_by(Fix::write(-1, FILE).lasting(SYSCTL)),
    }
}

fn fair_server(case: &Case) -> Option<Finding> {
    const FOLDER: &str = "/sys/kernel/debug/sched/fair_server";
    const WHY: &str = "where partitions leave a core no idle time, ordinary threads get this much of it before them";
    if case.facts.kernel.at_least(6, 12) == Some(false) {
        return Some(Finding::ok("fair_server", "no fair server before Linux 6.12"));
    }
    let off = |cpu: usize| Action::write(0, format!("{FOLDER}/cpu{cpu}/runtime"));
    let cpus = &case.target.cpus;
    let all_off = cpus.iter().map(|cpu| off(*cpu));
    Some(match &case.facts.settings.fair_server {
        FairServer::None => Finding::ok("fair_server", "no fair server in this kernel"),
        FairServer::NoDebugFs => Finding::advice(
            "fair_server",
            "the fair server (a second throttle, from Linux 6.12) cannot be seen: debugfs is not mounted",
            format!("by default 50 ms of each second: {WHY}"),
        )
        .fixed_by(Fix::now(std::iter::once(Action::mount_debugfs()).chain(all_off).collect()).lasting(TUNED)),
        FairServer::Refused => Finding::advice(
            "fair_server",
            "the fair server (a second throttle, from Linux 6.12) cannot be seen: debugfs refuses",
            format!("by default 50 ms of each second: {WHY}"),
        )
        .fixed_by(Fix::now(all_off.collect()).lasting(TUNED).and(
            "as root doctor sees more; unless the kernel is locked down (/sys/kernel/security/lockdown), which a boot \
             without Secure Boot or lockdown= changes",
        )),
        FairServer::Of(cores) => {
            let on: Vec<usize> = cpus.iter().copied().filter(|cpu| cores.get(cpu).is_none_or(|of| of.0 > 0)).collect();
            let Some((runtime, period)) = on.iter().find_map(|cpu| cores.get(cpu)) else {
                return Some(match on.is_empty() {
                    true => Finding::ok("fair_server", "fair server off"),
                    false => Finding::advice(
                        "fair_server",
                        format!("the fair server of {} reads as no number", named(&on)),
                        WHY,
                    )
                    .fixed_by(Fix::now(on.iter().map(|cpu| off(*cpu)).collect()).lasting(TUNED)),
                });
            };
            let (runtime, period) = (short_duration(*runtime), short_duration(*period));
            Finding::advice("fair_server", format!("fair server of {}: {runtime} of {period}", named(&on)), WHY)
                .fixed_by(Fix::now(on.iter().map(|cpu| off(*cpu)).collect()).lasting(TUNED))
        }
    })
}

fn quota(case: &Case) -> Finding {
    let Some(quota) = &case.facts.groups.quota else {
        return Finding::ok("cpu_quota", "no quota of a control group");
    };
    let found = format!("ordinary threads get {} of {} µs ({})", quota.runtime_us, quota.period_us, quota.file);
    let unlimited = if quota.file.ends_with("cpu.max") { "max" } else { "-1" };
    let fix = Fix::write(unlimited, &quota.file).lasting(UNIT).and(
        "where it comes from: CPUQuota= of a systemd unit or slice (the unit here sets none), `docker run --cpus`, or \
         limits of a pod",
    );
    let finding = match case.trials.fifo {
        Some(_) => Finding::advice(
            "cpu_quota",
            found,
            "partitions (SCHED_FIFO) are exempt, but what drains recordings and feeds stimuli stands still when it is used \
             up",
        ),
        None => Finding::problem(
            "cpu_quota",
            found,
            "without SCHED_FIFO partitions are ordinary threads: once it is used up they stand still for the rest of the \
             period",
        ),
    };
    finding.fixed_by(fix)
}

/// Kernels with RT_GROUP_SCHED.
fn real_time_group(case: &Case) -> Option<Finding> {
    let quota = case.facts.groups.real_time.as_ref()?;
    let share = format!("real-time threads of this control group get {} of {} µs", quota.runtime_us, quota.period_us);
    let found = format!("{share} ({})", quota.file);
    let fix = Fix::write(500_000, &quota.file)
        .and("or start vecud from the root control group, or boot with rt_group_sched=0 (Linux 6.16)");
    match quota.runtime_us {
        runtime if runtime < 0 || (quota.period_us > 0 && runtime >= quota.period_us) => {
            Some(Finding::ok("rt_group", "real-time threads of this control group are not limited"))
        }
        0 => {
            let why = "RT_GROUP_SCHED: SCHED_FIFO is refused here, to root too; partitions would run in turns";
            Some(Finding::problem("rt_group", found, why).fixed_by(Fix { needs: Needs::Nothing, ..fix }))
        }
        runtime => {
            let rest = quota.period_us.saturating_sub(runtime).max(0) as u64;
            let why = format!(
                "RT_GROUP_SCHED: a core that partitions load by more than that stands still for {} at a time",
                short_duration(rest.saturating_mul(1000))
            );
            // What the root group has by default is what throttling allows; that has a finding of its own.
            match quota.file.matches('/').count() <= 5 {
                true => Some(Finding::ok("rt_group", share)),
                false => Some(Finding::advice("rt_group", found, why).fixed_by(fix)),
            }
        }
    }
}
