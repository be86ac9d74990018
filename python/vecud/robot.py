"""Keywords of Robot Framework:

*** Settings ***
Library    vecud.robot.VecudLibrary

*** Test Cases ***
Idle Speed Follows Its Setting
    Start Rig             engine.toml
    Write Variable        ecu.idle_speed    1000
    Wait Until Signal     plant.speed > 950    timeout=10
    Limits Should Hold    p50_start_latency=0.005
    [Teardown]            Stop Rig
"""

from __future__ import annotations

from pathlib import Path
from typing import Any, Callable, Optional, TypeVar

from .capture import Capture
from .errors import Error
from .figures import parts
from .rig import Rig
from .table import Table

_F = TypeVar("_F", bound=Callable[..., Any])

try:
    from robot.api.deco import keyword
except ImportError:  # It can be looked at, and tested, without Robot Framework.

    def keyword(name: Any = None, tags: Any = (), types: Any = ()) -> Any:  # type: ignore[no-redef]
        """What Robot Framework would do: nothing that a program sees."""

        def same(function: _F) -> _F:
            return function

        return same


class VecudLibrary:
    """Runs a rig of virtual ECUs: sets variables, waits for signals, captures them, and holds clocks to limits.

    One rig runs at a time, in each suite. All times are in seconds. A rig that still runs when a suite ends is stopped.
    """

    ROBOT_LIBRARY_SCOPE = "SUITE"
    ROBOT_AUTO_KEYWORDS = False
    ROBOT_LISTENER_API_VERSION = 3

    def __init__(self) -> None:
        self.ROBOT_LIBRARY_LISTENER = self
        self._rig: Optional[Rig] = None
        self._capture: Optional[Capture] = None

    def _running(self) -> Rig:
        if self._rig is None:
            raise Error("no rig has been started: use the keyword Start Rig")
        return self._rig

    def end_suite(self, data: Any, result: Any) -> None:
        """Called by Robot Framework."""
        if self._rig is not None:
            self._rig.stop()

    # ---- From the start to the end ----

    @keyword("Start Rig")
    def start_rig(
        self, file: str, mode: Optional[str] = None, stop_time: Optional[float] = None, name: Optional[str] = None
    ) -> None:
        """Starts the rig in a file, after the one that ran before was stopped."""
        if self._rig is not None:
            self._rig.stop()
        self._rig = Rig(file, mode=mode, stop_time=stop_time, name=name)
        self._rig.put()
        self._rig.start()

    @keyword("Stop Rig")
    def stop_rig(self) -> str:
        """Ends the run in good order; answers its verdict, pass or fail."""
        rig = self._running()
        rig.stop()
        return rig.report().verdict

    @keyword("Pause Rig")
    def pause_rig(self) -> None:
        """Simulation time stands still."""
        self._running().pause()

    @keyword("Resume Rig")
    def resume_rig(self) -> None:
        """Simulation time goes on."""
        self._running().resume()

    @keyword("Reset Rig")
    def reset_rig(self) -> None:
        """Ends the run, and FMUs are as they were before it."""
        self._running().reset()

    @keyword("Rig State")
    def rig_state(self) -> str:
        """idle, preparing, running, paused, stopping or failed."""
        return self._running().status().state

    @keyword("Rig Should Have Passed")
    def rig_should_have_passed(self) -> None:
        """Fails with the problems of the last run, unless it did what it should and kept the limits of its rig."""
        report = self._running().report()
        if not report.passed:
            raise AssertionError(f"the run of rig {report.rig} has failed: " + "; ".join(report.problems))

    @keyword("Save Report")
    def save_report(self, folder: str) -> str:
        """Copies the page, figures, log and recording of the last run into a folder; answers where the page is."""
        self._running().report().save(folder)
        return str(Path(folder) / "report.html")

    # ---- Signals and variables ----

    @keyword("Read Signal")
    def read_signal(self, name: str) -> Any:
        """The newest value of a signal; of a pattern such as ecu.* a dictionary."""
        return self._running().read(name)

    # Robot Framework has text where a cell has no type: what a rig's variable is, the daemon knows.
    @keyword("Write Variable")
    def write_variable(self, name: str, value: Any) -> float | None:
        """Sets a tunable parameter or an input; answers the simulation time from which on it holds. Numbers and truth values may be written
        plainly: 2.0, true."""
        return self._running().write(name, plain(value))

    @keyword("Wait Until Signal")
    def wait_until_signal(self, condition: str, timeout: float = 5.0) -> float:
        """Waits until a condition such as `ecu.speed > 900 and rising(ecu.key)` holds; answers when, in simulation time."""
        return self._running().wait_until(condition, timeout).time

    @keyword("Tick Clock")
    def tick_clock(self, clock: str) -> float | None:
        """Ticks a triggered clock that nothing else ticks; answers the simulation time of its activation."""
        return self._running().tick(clock)

    @keyword("Capture Signals")
    def capture_signals(self, duration: float, *signals: str) -> Table:
        """All recorded samples in the next so many seconds of simulation time: ${rows}[time], ${rows}[plant.speed] are lists."""
        capture = Capture(self._running(), signals)
        capture.start()
        return capture.stop(duration)

    @keyword("Start Capture")
    def start_capture(self, *signals: str) -> None:
        """All recorded samples from now on, up to Stop Capture."""
        self._capture = Capture(self._running(), signals)
        self._capture.start()

    @keyword("Stop Capture")
    def stop_capture(self) -> Table:
        """The samples since Start Capture, as of Capture Signals."""
        if self._capture is None:
            raise Error("no capture goes on: use the keyword Start Capture")
        capture, self._capture = self._capture, None
        return capture.stop()

    # ---- Figures ----

    @keyword("Clock Percentile")
    def clock_percentile(self, clock: str, percentile: str = "p99", metric: str = "start_latency") -> float:
        """A figure of a clock, s: p50, p90, p99, p99_9, p99_99, max, min or mean of start_latency, wakeup_latency, start_jitter,
        execution or response."""
        figure = f"{percentile}_{metric}"
        parts(figure)
        return self._running().clock(clock).figure(figure)

    @keyword("Clock Activations")
    def clock_activations(self, clock: str) -> int:
        """How often the clock's partition has run."""
        return self._running().clock(clock).activations

    @keyword("Clock Overruns")
    def clock_overruns(self, clock: str) -> int:
        """Releases that came before the activation before had ended."""
        return self._running().clock(clock).overruns

    @keyword("Limits Should Hold")
    def limits_should_hold(self, clocks: str = "*", overruns: Optional[int] = None, **limits: float) -> None:
        """Fails unless all clocks that match have kept to these limits so far: overruns=0, p99_start_latency=0.0002."""
        figures = {name: float(limit) for name, limit in limits.items()}
        self._running().assert_limits(clocks=clocks, overruns=overruns, **figures)


def plain(value: Any) -> Any:
    """What a text says: a number or a truth value if it is written as one."""
    if not isinstance(value, str):
        return value
    if value.lower() in ("true", "false"):
        return value.lower() == "true"
    for kind in (int, float):
        try:
            return kind(value)
        except ValueError:
            continue
    return value
