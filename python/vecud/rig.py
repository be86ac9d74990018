"""A rig, from its start to its report."""

from __future__ import annotations

import math
import re
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Any, overload
from urllib.parse import quote, urlencode

from .capture import Capture
from .daemon import Daemon, default_daemon
from .errors import Error, NoDaemon, Problem, WaitTimeout, is_told
from .events import Events
from .figures import Clock, assert_limits
from .names import in_condition, is_pattern
from .report import Report
from .status import Status
from .table import as_frame
from .values import decoded, decoded_unknown, encoded

__tracebackhide__ = is_told

#: How much longer than a wait its answer may take, s.
_SPARE = 20.0
#: How often it is looked whether a run is over, s.
_LOOK = 0.05

_REQUEST_TIMEOUT, _CONFLICT = 408, 409


@dataclass(frozen=True)
class Held:
    """When a condition held."""

    #: Simulation time of the sample at which it held, s.
    time: float
    #: What the signals in it were then.
    values: dict[str, Any]


class Rig:
    """A rig of a daemon.

    `file` is a rig file, an .fmu file or the folder of an FMU, `text` the text of a rig file, whose relative paths count from the
    daemon's own folder. Without either it is the rig of that `name` that the daemon has. `mode` (realtime, virtual) and `stop_time` (s)
    go before the rig's own words. `daemon` is by default the one that `vecud.default_daemon()` finds or starts.

    As a context manager it is put and started, and stopped at the end; the report is there afterwards.
    """

    def __init__(
        self,
        file: str | Path | None = None,
        *,
        text: str | None = None,
        name: str | None = None,
        mode: str | None = None,
        stop_time: float | None = None,
        daemon: Daemon | None = None,
    ) -> None:
        if file is not None and text is not None:
            raise ValueError("a rig is a file or a text")
        if name is None:
            if file is None:
                raise ValueError("a rig without a file needs a name")
            name = re.sub(r"[^A-Za-z0-9_.-]", "_", Path(file).absolute().stem).lstrip(".-")[:64]
        #: What the daemon calls it.
        self.name = name
        self.file = Path(file).absolute() if file is not None else None
        self.text = text
        self.mode = mode
        self.stop_time = stop_time
        self.daemon = daemon if daemon is not None else default_daemon()

    # ---- From the start to the end ----

    def put(self, reload: bool = False) -> Status:
        """Tells the daemon what the rig is, which checks it as `vecud check` does. Raises InvalidRig with the places of mistakes.
        With `reload` a run that goes on is ended first, and started anew."""
        path = self.path() + ("?reload=true" if reload else "")
        if self.file is not None and self.daemon.is_local:
            return Status.of(self._ask("PUT", path, {"path": str(self.file)}))
        if self.file is not None and self.file.suffix != ".toml":
            raise ValueError(f"{self.file} is no rig file: a daemon elsewhere takes the text of one only")
        text = self.text if self.file is None else self.file.read_text(encoding="utf-8")
        if text is None:
            raise ValueError(f"rig {self.name} has neither file nor text that could be put")
        headers = {"Content-Type": "application/toml"}
        return Status.of(self.daemon.client.ask("PUT", path, text.encode(), headers).json())

    def start(self) -> Status:
        """Starts it, and is back when it runs. Raises InvalidRig where it could not begin."""
        how = {"mode": self.mode, "stop_time": self.stop_time}
        return Status.of(
            self._ask("POST", self.path("start"), {key: value for key, value in how.items() if value is not None})
        )

    def stop(self, now: bool = False) -> Status:
        """Ends the run in good order, and is back when its report is written. Where none goes on any more, nothing happens.

        With `now` by force: FMU code that runs is not waited for, and the run has failed.
        """
        try:
            return Status.of(self._ask("POST", self.path("stop") + ("?now=true" if now else "")))
        except Error as error:
            if _status_of(error) != _CONFLICT:
                raise
        return self.join()

    def join(self, timeout: float | None = None) -> Status:
        """Waits until the run has ended by itself, as at its `stop_time`."""
        deadline = math.inf if timeout is None else time.monotonic() + timeout
        while not (status := self.status()).is_over:
            if time.monotonic() > deadline:
                raise WaitTimeout(f"rig {self.name} is over", timeout or 0.0, {})
            time.sleep(_LOOK)
        return status

    def pause(self) -> Status:
        """Simulation time stands still, when what runs has ended."""
        return Status.of(self._ask("POST", self.path("pause")))

    def resume(self) -> Status:
        """Simulation time goes on."""
        return Status.of(self._ask("POST", self.path("resume")))

    def reset(self) -> Status:
        """Ends the run, and FMUs are as they were before it."""
        return Status.of(self._ask("POST", self.path("reset")))

    def delete(self) -> None:
        """The daemon forgets it. Its runs stay on the disk."""
        self._ask("DELETE", self.path())

    def status(self) -> Status:
        """How far it is."""
        return Status.of(self._ask("GET", self.path()))

    def __enter__(self) -> Rig:
        if self.file is not None or self.text is not None:
            self.put()
        self.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        try:
            self.stop()
        except NoDaemon:
            # Why the block has failed is the news.
            if error is None:
                raise

    # ---- Signals and variables ----

    def signals(self, *match: str) -> list[dict[str, Any]]:
        """Recorded and watched signals: `name`, `type`, `unit`, `value` and its `time`; those that match, or all."""
        query = "?" + urlencode([("match", pattern) for pattern in match]) if match else ""
        signals: list[dict[str, Any]] = self._ask("GET", self.path("signals") + query)
        return [{**signal, "value": decoded(signal["value"], str(signal["type"]))} for signal in signals]

    @overload
    def read(self, names: str) -> Any: ...
    @overload
    def read(self, names: Sequence[str]) -> dict[str, Any]: ...
    def read(self, names: str | Sequence[str]) -> Any:
        """The newest value of a recorded or watched signal; of several, or of a pattern such as `ecu.*`, a dict. None: no value yet."""
        wanted = [names] if isinstance(names, str) else list(names)
        if not wanted:
            return {}
        values = {signal["name"]: signal["value"] for signal in self.signals(*wanted)}
        missing = [name for name in wanted if not is_pattern(name) and name not in values]
        if missing:
            raise Error(f"no signal is called {', '.join(missing)} (an array is one signal, by its own name)")
        return values[names] if isinstance(names, str) and not is_pattern(names) else values

    @overload
    def write(self, names: str, value: Any) -> float | None: ...
    @overload
    def write(self, names: Mapping[str, Any]) -> dict[str, float | None]: ...
    def write(self, names: str | Mapping[str, Any], value: Any = None) -> Any:
        """Sets tunable parameters and inputs that nothing feeds: one, or several by name at once, of which nothing is set when any of it
        is wrong. Answers the simulation time from which on it holds, s; None: the rig pauses, and it is set when it goes on."""
        values = {names: value} if isinstance(names, str) else dict(names)
        body = {name: encoded(one) for name, one in values.items()}
        answer = self._ask("PATCH", self.path("variables"), body)
        times = {name: _time(set_at) for name, set_at in answer.items()}
        return times[names] if isinstance(names, str) else times

    def wait_until(self, condition: str, timeout: float = 5.0) -> Held:
        """Waits until a condition holds at a sample, such as `ecu.speed > 900 and rising(ecu.key)`: comparisons, and, or, not, rising().
        Raises WaitTimeout, with the newest values, after so many seconds by the wall clock, at most 240."""
        body = {"condition": condition, "timeout": timeout}
        try:
            answer = self._ask("POST", self.path("waits"), body, timeout + _SPARE)
        except Error as error:
            if _status_of(error) != _REQUEST_TIMEOUT:
                raise
            raise WaitTimeout(condition, timeout, self._newest(condition), error.problem) from error
        values = {name: decoded_unknown(value) for name, value in answer["values"].items()}
        return Held(float(answer["time"]), values)

    def _newest(self, condition: str) -> dict[str, Any]:
        """The values of the signals in a condition, for a message: none rather than another error."""
        values = {}
        for name in in_condition(condition):
            try:
                values.update(self.read([name]))
            except Error:
                continue
        return values

    def tick(self, clock: str) -> float | None:
        """Ticks a triggered clock that nothing else ticks. Answers the simulation time of its activation, s; None: the rig pauses, and
        it ticks when it goes on."""
        return _time(self._ask("POST", self.path("ticks", clock)))

    def time(self) -> float:
        """Simulation time of the newest value of all signals, s; -inf: there is none yet."""
        times = [signal["time"] for signal in self.signals() if signal["time"] is not None]
        return max(times, default=-math.inf)

    @overload
    def capture(self, signals: str | Sequence[str]) -> Capture: ...
    @overload
    def capture(self, signals: str | Sequence[str], duration: float) -> Any: ...
    def capture(self, signals: str | Sequence[str], duration: float | None = None) -> Any:
        """All recorded samples of signals (names, patterns) in the next `duration` seconds of simulation time: a pandas.DataFrame if
        there is pandas, else a Table, both with a column `time`. Without a duration it is a context manager: what happens
        in its block is captured.

        Rows are those of the recording of the run, so the rig needs [record], with "csv" among its formats.
        """
        capture = Capture(self, [signals] if isinstance(signals, str) else signals)
        if duration is None:
            return capture
        capture.start()
        return as_frame(capture.stop(duration))

    # ---- Figures and results ----

    def clocks(self) -> dict[str, Clock]:
        """What each clock has measured so far; of a run that is over, all of it."""
        try:
            clocks = self._ask("GET", self.path("clocks"))
        except Error as error:
            if _status_of(error) != _CONFLICT:
                raise
            return self.report().clocks
        return {clock.name: clock for clock in map(Clock.of, clocks)}

    def clock(self, name: str) -> Clock:
        """What a clock has measured so far."""
        clocks = self.clocks()
        if name not in clocks:
            raise Error(f"rig {self.name} has no clock {name}; it has {', '.join(clocks)}")
        return clocks[name]

    def reset_clocks(self) -> None:
        """What clocks have measured so far is forgotten: live figures begin anew."""
        self._ask("POST", self.path("clocks", "reset"))

    def assert_limits(self, *, clocks: str = "*", overruns: int | None = None, **limits: float) -> None:
        """Raises LimitsExceeded, an AssertionError, unless all clocks that match have kept to these limits so far: `overruns`, and figures by
        their names, in seconds, such as `max_start_latency=200e-6` or `p99_response=1e-3`."""
        assert_limits(self.clocks().values(), clocks, overruns, limits)

    def events(self, match: str | Sequence[str] = (), timeout: float | None = None) -> Events:
        """What happens from now on: states, problems, figures each second; with `match` the values of these signals each second, too."""
        patterns = [match] if isinstance(match, str) else list(match)
        return Events(self.daemon.client, self.path("events"), patterns, timeout)

    def runs(self) -> list[dict[str, Any]]:
        """All of its runs, oldest first: `run`, `verdict`, `ended`, `files`."""
        pages = list(self.daemon.client.pages(self.path("runs")))
        return [run for page in reversed(pages) for run in page]

    def report(self, run: str | None = None) -> Report:
        """What a run has left, by default the last one; of one that goes on what is known so far."""
        run = run or self.status().run
        if run is None:
            raise Error(f"rig {self.name} has not run yet")
        return Report(self, run)

    # ---- How it is asked ----

    def path(self, *parts: str) -> str:
        """The path of the rig, or of something of it."""
        return "/".join(["/v1/rigs", *(quote(part, safe="") for part in (self.name, *parts))])

    def _ask(self, method: str, path: str, body: Any = None, timeout: float | None = None) -> Any:
        if timeout is None:
            return self.daemon.client.ask_json(method, path, body)
        return self.daemon.client.ask_json(method, path, body, timeout)

    def __repr__(self) -> str:
        return f"<vecud.Rig {self.name} of {self.daemon!r}>"


def _time(answer: dict[str, Any]) -> float | None:
    return None if answer["time"] is None else float(answer["time"])


def _status_of(error: Error) -> int | None:
    problem: Problem | None = error.problem
    return problem.status if problem else None
