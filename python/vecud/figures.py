"""What clocks have measured, and limits on it. All times are in seconds."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from .errors import LimitsExceeded, is_told
from .names import matches

__tracebackhide__ = is_told

STATISTICS = ("p50", "p90", "p99", "p99_9", "p99_99", "max", "min", "mean")
METRICS = ("start_latency", "wakeup_latency", "start_jitter", "execution", "response")


@dataclass(frozen=True)
class Distribution:
    """Values of one metric, s. Percentiles are those of a histogram with buckets of 1 %; NaN: there are no values."""

    count: int
    min: float
    mean: float
    p50: float
    p90: float
    p99: float
    p99_9: float
    p99_99: float
    max: float

    @classmethod
    def of(cls, data: Mapping[str, Any]) -> Distribution:
        """Of values in ns, as in report.json."""
        count = int(data["count"])
        return cls(count, **{name: data[name] * 1e-9 if count else math.nan for name in STATISTICS})


@dataclass(frozen=True)
class Clock:
    """A clock, or the steps of an FMU. `p50` to `max` are those of the start latency: from the release to the first call into the FMU."""

    #: As in rigs: `ecu.task_1ms`.
    name: str
    #: How often its partition ran.
    activations: int
    #: Releases that came before the activation before had ended.
    overruns: int
    #: Releases that were left out.
    skipped: int
    #: From the release to the first call into the FMU.
    start_latency: Distribution
    #: From the release until its thread was awake.
    wakeup_latency: Distribution
    #: By how much the distance of two starts differs from that of their releases.
    start_jitter: Distribution
    #: From the first call to the last result, less the time of others on that core.
    execution: Distribution
    #: From the release to the last result.
    response: Distribution
    #: All that the daemon says, as in report.json.
    data: Mapping[str, Any]

    @classmethod
    def of(cls, data: Mapping[str, Any]) -> Clock:
        """A clock as in report.json."""
        metrics = {name: Distribution.of(data[name]) for name in METRICS}
        name = f"{data['fmu']}.{data['clock']}"
        return cls(name, data["activations"], data["overruns"], data["skipped"], data=data, **metrics)

    @property
    def p50(self) -> float:
        """Half of its start latencies are at most this, s."""
        return self.start_latency.p50

    @property
    def p90(self) -> float:
        """90 % of its start latencies are at most this, s."""
        return self.start_latency.p90

    @property
    def p99(self) -> float:
        """99 % of its start latencies are at most this, s."""
        return self.start_latency.p99

    @property
    def p99_9(self) -> float:
        """99.9 % of its start latencies are at most this, s."""
        return self.start_latency.p99_9

    @property
    def max(self) -> float:
        """Its longest start latency, s."""
        return self.start_latency.max

    def figure(self, name: str) -> float:
        """A figure by its name: `max_start_latency`, `p99_response`; s."""
        statistic, metric = parts(name)
        return float(getattr(getattr(self, metric), statistic))


def parts(name: str) -> tuple[str, str]:
    """Statistic and metric of a name such as `p99_9_start_latency`."""
    for metric in METRICS:
        statistic = name[: -len(metric) - 1]
        if name == f"{statistic}_{metric}" and statistic in STATISTICS:
            return statistic, metric
    raise TypeError(
        f"there is no figure {name!r}: it is one of {', '.join(STATISTICS)}, then _ and one of {', '.join(METRICS)}"
    )


def seconds(value: float) -> str:
    """A time, for people."""
    if math.isnan(value):
        return "not measured"
    for unit, factor in (("s", 1.0), ("ms", 1e3), ("µs", 1e6)):
        if abs(value) * factor >= 1 or unit == "µs":
            return f"{value * factor:.4g} {unit}"
    raise AssertionError("unreachable")


def assert_limits(all_clocks: Iterable[Clock], clocks: str, overruns: int | None, limits: Mapping[str, float]) -> None:
    """Raises LimitsExceeded unless each clock that matches has kept all of these."""
    if overruns is None and not limits:
        raise TypeError("name a limit, such as overruns=0 or max_start_latency=200e-6")
    for name in limits:
        parts(name)
    chosen = [clock for clock in all_clocks if matches(clocks, clock.name)]
    exceeded = [] if chosen else [f"no clock matches {clocks}"]
    for clock in chosen:
        if overruns is not None and clock.overruns > overruns:
            exceeded.append(f"{clock.name}: {clock.overruns} overruns, limit {overruns}")
        for name, limit in limits.items():
            value = clock.figure(name)
            if value > limit:
                exceeded.append(f"{clock.name}: {name} {seconds(value)}, limit {seconds(limit)}")
    for name in limits:
        # A clock that has never ticked keeps every limit; that none has been measured is no result.
        if chosen and all(math.isnan(clock.figure(name)) for clock in chosen):
            exceeded.append(f"{name}: nothing was measured")
    if exceeded:
        raise LimitsExceeded(exceeded)
