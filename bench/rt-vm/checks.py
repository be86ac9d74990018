"""What has to be true of a run in the virtual machine. Times in µs unless a name says otherwise."""

import json

import histograms

FIFO = 1  # SCHED_FIFO in /proc/PID/task/TID/stat
TAIL_US = 3.5
# How far the runs of a boot may be apart, by the mean of the slowest 1 % of their wake-ups: of 20,000 the slowest 200. Not by p99.9, the
# 20th of them, which lies on a step. The kernel keeps a share of the core for ordinary threads (its fair server, since Linux 6.12),
# and whenever these have used 50 ms it sets the server's timer anew. vecud has such threads, the one that collects and the one
# that writes checkpoints, some 4 s of this slow core in 20 s; and where the wake-up of the clock's thread is what interrupts them
# as the 50 ms are over, that is done in the midst of the switch to it. So some 75 of the wake-ups take 20 µs or 21.5 to 23, and about
# 20 of these the latter: p99.9 is now the one and now the other. The mean shifts by 0.01 µs with each of them, and with
# all 75 there or none by 0.75.
ALIKE_US = 1.0
# The same by the median, which does not move: a busy loop of an ordinary thread beside one of the runs shifts it by 1.6 µs.
ALIKE_MEDIAN_US = 0.5
# Of inheritance.toml: the clock that waits has this period, and the busy loop goes on for much longer.
WAITER_US = 1000.0
BUSY_US = 4000.0


class Checks:
    def __init__(self):
        self.rows = []

    def add(self, name, kept, figure, limit=""):
        self.rows.append({"check": name, "kept": bool(kept), "figure": str(figure), "limit": limit})

    def failed(self):
        return [row["check"] for row in self.rows if not row["kept"]]


def load(stage, name):
    """A file of a stage as JSON; empty if there is none."""
    try:
        return json.loads(stage.get(name, ""))
    except ValueError:
        return {}


def ended_well(checks, what, stage, name):
    code = stage.get(f"{name}.code", "none").strip()
    checks.add(f"{what} ends well", code == "0", f"exit code {code}", "0")
    return load(stage, f"{name}.json")


def machine(checks, boot, stage):
    version = stage["version"].strip()
    checks.add(f"{boot}: kernel is PREEMPT_RT", "PREEMPT_RT" in version, f"{stage['release'].strip()} {version}", "uname -v says so")
    clock = stage["clocksource"].strip()
    checks.add(f"{boot}: clock source", clock == "tsc", clock, "tsc")


def engine(checks, stage):
    report = ended_well(checks, "engine", stage, "engine")
    host = report.get("host", {})
    checks.add("engine: preempt_rt", host.get("preempt_rt") is True, host.get("preempt_rt"), "true")
    checks.add("engine: scheduling", host.get("scheduling") == "fifo", host.get("scheduling"), "fifo")
    checks.add("engine: memory_locked", host.get("memory_locked") is True, host.get("memory_locked"), "true")
    clocks = report.get("clocks", [])
    overruns = sum(clock["overruns"] for clock in clocks)
    activations = sum(clock["activations"] for clock in clocks)
    checks.add("engine: overruns", clocks and overruns == 0, f"{overruns} in {activations} activations", "0")
    threads(checks, clocks, stage.get("threads", ""), "engine")
    return report


def threads(checks, clocks, stat, what):
    """Each clock's thread has the policy and the priority that the report names, by the kernel's own word."""
    seen = {}
    for line in stat.splitlines():
        name, _, rest = line.partition("(")[2].rpartition(") ")
        fields = rest.split()  # from the third field on
        if len(fields) >= 39:
            seen.setdefault(name, []).append((int(fields[38]), int(fields[37])))
    wrong = []
    for clock in clocks:
        planned = [(FIFO, clock["fifo_priority"])]
        if seen.get(clock["thread"]) != planned:
            wrong.append(f"{clock['thread']} has (policy, priority) {seen.get(clock['thread'])}, not {planned}")
    figure = "; ".join(wrong) or ", ".join(f"{clock['thread']} {clock['fifo_priority']}" for clock in clocks)
    checks.add(f"{what}: SCHED_FIFO priorities in /proc", clocks and not wrong, figure or "no thread", "as in report.json")


def of_cyclictest(report):
    thread = report.get("thread", {}).get("0", {})
    return histograms.figures(histograms.of_cyclictest(thread), thread.get("cycles", 0), thread.get("max", 0) / 1000)


def of_vecud(report, counts):
    """Figures of report.json, and of all values the mean of the slowest."""
    figures = {"count": report["count"], **{name: report[name] / 1000 for name in (*histograms.SHARES, "max")}}
    return {**figures, "slowest": histograms.mean_of_slowest(counts, figures["count"], figures["max"])}


# Number of threads, and of vecud's clocks that are due together: the name of the highest one.
HIGHEST = {1: "step", 2: "fuel"}


def tails(checks, stages, priority):
    """Gives, for each number of threads, the figures of each repetition."""
    figures = {}
    for threads, name in HIGHEST.items():
        title = f"{threads} thread{'s' if threads > 1 else ''}"
        runs = [one_run(checks, f"{title}, run {number}", stage, threads, name, priority) for number, stage in enumerate(stages, 1)]
        figures[title] = runs = [run for run in runs if run]
        for who in ("cyclictest", "vecud"):
            apart = {name: spread([run[who][name] for run in runs]) for name in ("p50", "slowest", "p99_9")}
            # Of two threads of cyclictest, those of a boot were seen 3.7 µs apart at p99.9: that is not vecud's to keep.
            judged = who == "vecud" or threads == 1
            kept = len(runs) == len(stages) and (apart["slowest"] <= ALIKE_US or not judged)
            figure = f"{apart['slowest']:.2f} µs apart (p99.9: {apart['p99_9']:.2f})"
            limit = f"at most {ALIKE_US:g} µs" if judged else "not judged"
            checks.add(f"{title}, {len(stages)} runs alike: slowest 1 % of {who}, mean", kept, figure, limit)
            kept = len(runs) == len(stages) and apart["p50"] <= ALIKE_MEDIAN_US
            figure = f"{apart['p50']:.2f} µs apart"
            checks.add(f"{title}, {len(stages)} runs alike: p50 of {who}", kept, figure, f"at most {ALIKE_MEDIAN_US:g} µs")
    return figures


def spread(values):
    return max(values) - min(values) if values else float("nan")


def one_run(checks, title, stage, threads, name, priority):
    """cyclictest and vecud, one after the other; nothing if one of them gave no figures."""
    code = stage.get(f"bare{threads}.code", "none").strip()
    report = ended_well(checks, f"{title}: vecud", stage, f"vecud{threads}")
    bare = of_cyclictest(load(stage, f"bare{threads}.json"))
    clock = next((clock for clock in report.get("clocks", []) if clock["clock"] == name), None)
    if code != "0" or bare["count"] == 0 or clock is None:
        checks.add(f"{title}: measured", False, f"cyclictest: exit code {code}, {bare['count']} wake-ups", "both")
        return None
    same = clock["fifo_priority"] == priority and clock["interval_s"] == 0.001
    figure = f"{clock['thread']}: {clock['interval_s'] * 1000:g} ms, priority {clock['fifo_priority']}"
    checks.add(f"{title}: same interval and priority", same, figure, f"1 ms, {priority}")
    overruns = sum(clock["overruns"] for clock in report["clocks"])
    checks.add(f"{title}: overruns", overruns == 0, overruns, "0")
    log, measured = stage.get(f"vecud{threads}.hlog", ""), {"cyclictest": bare}
    for who, metric in (("vecud", "wakeup_latency"), ("start", "start_latency")):
        counts = histograms.of_log(log, f"{clock['fmu']}.{clock['clock']}.{metric}")
        measured[who] = of_vecud(clock[metric], counts)
        logged = sum(counts.values())
        checks.add(f"{title}: {metric} in histograms.hlog", logged == clock[metric]["count"], logged, "as many as in report.json")
    difference = measured["vecud"]["p99_9"] - bare["p99_9"]
    figure = f"{measured['vecud']['p99_9']:.2f} - {bare['p99_9']:.2f} = {difference:+.2f} µs"
    checks.add(f"{title}: p99.9 of vecud - cyclictest", difference <= TAIL_US, figure, f"at most {TAIL_US:g} µs")
    return measured


def missed(checks, stage, seconds):
    """How many releases a bare thread was a whole interval late for that had the core for itself."""
    code, report = stage.get("bare.code", "none").strip(), load(stage, "bare.json")
    thread = report.get("thread", {}).get("0", {})
    wakeups, longest = thread.get("cycles", 0), thread.get("max", 0) / 1000
    late = wakeups - sum(histograms.of_cyclictest(thread).values())
    figure = f"exit code {code}, {late} of {wakeups} wake-ups missed a release, {longest:.2f} µs late at most"
    checks.add(f"bare thread for {seconds} s", code == "0" and wakeups >= seconds * 1000, figure, f"{seconds * 1000} wake-ups")
    return late


def closed_loop(checks, title, stage, missed, seconds):
    """A plant and a control unit of clocks, at 1 kHz. What real time records is what virtual time does, up to the first release
    that was late, of which there are no more than a bare thread has."""
    report = ended_well(checks, title, stage, "realtime")
    virtual = ended_well(checks, f"{title} in virtual time", stage, "virtual")
    clocks = report.get("clocks", [])
    overruns = {clock["thread"]: clock["overruns"] for clock in clocks}
    activations = sum(clock["activations"] for clock in clocks)
    figure = f"{', '.join(f'{thread} {number}' for thread, number in overruns.items())} in {activations} activations"
    kept = overruns and max(overruns.values()) <= missed and activations > 2 * seconds * 1000
    checks.add(f"{title}: overruns", kept, figure, f"of none more than the {missed} of a bare thread")
    same_signals(checks, title, stage, report.get("promise", {}), sum(overruns.values()), seconds)
    for clock, expected in zip(clocks, virtual.get("clocks", [])):
        if clock.get("integration"):
            integration(checks, title, clock, expected, sum(overruns.values()))
    for clock in clocks:
        host, execution, response = clock.get("parts", {}).get("host", {}), clock["execution"], clock["response"]
        times = [host.get("p50", 0), execution["p50"], execution["p99_9"], execution["max"], response["max"]]
        shown = "host {:.2f} µs (p50), execution {:.2f} (p50), {:.2f} (p99.9), {:.2f} (max), response {:.2f} (max)"
        figure = shown.format(*(time / 1000 for time in times))
        checks.add(f"{title}: times of {clock['thread']}", min(times) > 0, figure, "not judged")


def same_signals(checks, title, stage, promise, overruns, seconds):
    until = None if promise.get("holds") is True else promise.get("until_s")
    figure = "holds" if promise.get("holds") is True else f"until {until} s, {promise.get('broken_by')}"
    checks.add(f"{title}: promise", promise.get("holds") is True or overruns > 0, figure, "holds where there is no overrun")
    lines = [int(stage.get(f"{mode}.lines", "0")) for mode in ("realtime", "virtual")]
    compared, differs = stage.get("cmp.log", "nothing was compared").strip(), stage.get("differs", "").split(",")[0]
    if not compared:
        kept, figure = lines[0] == lines[1] > seconds * 1000, f"the same {lines[0]} lines"
    else:
        # A line without a time, such as the one with the names, is none that an overrun explains.
        time = float(differs) if differs.replace(".", "").isdigit() else 0.0
        kept = until is not None and time >= until
        figure = f"{lines[0]} and {lines[1]} lines, other ones from {differs or 'the end of one'} on: {compared}"
    checks.add(f"{title}: signals of both modes", kept, figure, "the same bytes up to the first overrun")


def integration(checks, title, clock, expected, overruns):
    """What a solver does in a release is bounded, and depends on time and inputs alone."""
    done, expected = clock["integration"], expected.get("integration")
    figure = f"at most {done['most_right_hand_sides']} right-hand sides in one of {clock['activations']} releases, "
    figure += f"{done['right_hand_sides']} in all, {done['state_events']} state events"
    kept = done["state_events"] > 0 and (done == expected or overruns > 0)
    checks.add(f"{title}: work of {clock['thread']}", kept, figure, "as in virtual time where there is no overrun")


def inheritance(checks, stress, stage):
    code = stress.get("pi_stress.code", "none").strip()
    words = [line for line in stress.get("pi_stress.log", "").splitlines() if "inversion" in line]
    checks.add("pi_stress", code == "0" and words, "; ".join(words) or f"exit code {code}", "exit code 0")
    report = ended_well(checks, "inheritance", stage, "inheritance")
    clocks = {clock["clock"]: clock for clock in report.get("clocks", [])}
    if not clocks:
        return
    lock = report["fmus"][0]["lock"]
    busy = clocks["slow"]["response"]["max"] / 1000
    waited = clocks["fast"]["response"]["max"] / 1000
    # Alone it takes some 50 µs; the lock's own count of waits does not hold those at the gate.
    checks.add("inheritance: fast waits for the lock's holder", waited >= 300, f"response at most {waited:.0f} µs", "at least 300 µs")
    checks.add("inheritance: the busy loop holds the core", busy >= BUSY_US, f"{busy:.0f} µs from slow", f"at least {BUSY_US:g} µs")
    held = lock["hold"]["max"] / 1000
    checks.add("inheritance: it interrupts the lock's holder", held > 750, f"{held:.0f} µs of 700", "held for more than 750 µs")
    figure = f"response at most {waited:.0f} µs, {clocks['fast']['overruns']} overruns"
    kept = waited <= WAITER_US and clocks["fast"]["overruns"] == 0
    checks.add("inheritance: fast does not wait for it", kept, figure, f"at most {WAITER_US:g} µs, 0")
    checks.add("inheritance: violations of the lock", lock["violations"] == 0, lock["violations"], "0")


def doctor(checks, stage):
    """Findings that this machine has for certain, or has for certain not."""
    said = ended_well(checks, "doctor", stage, "doctor")
    facts = said.get("machine", {})
    checks.add("doctor: preempt_rt", facts.get("preempt_rt") is True, facts.get("preempt_rt"), "true")
    checks.add("doctor: virtual machine", facts.get("virtual_machine") is True, facts.get("virtual_machine"), "true")
    checks.add("doctor: memory can be locked", facts.get("memory_can_be_locked") is True, facts.get("memory_can_be_locked"), "true")
    findings = said.get("findings", [])
    unfit = [finding.get("found", "?") for finding in findings if finding.get("level") == "problem"]
    checks.add("doctor: findings", findings, f"{len(findings)}, problems: {'; '.join(unfit) or 'none'}", "some")
