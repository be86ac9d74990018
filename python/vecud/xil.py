"""The verbs of the model access port of ASAM XIL, for test code that is written in them.

This is the shape of those verbs over a rig of vecud and nothing more: it is not an implementation of ASAM XIL, was never certified or
cross-tested as one, and has no frameworks, factories, stimulation or watchers. Values are those of Python (float, int, bool, str,
bytes, lists) and not XIL's value objects.

    port = MAPort()
    port.Configure("engine.toml")
    port.StartSimulation()
    port.Write("ecu.idle_speed", 1000.0)
    capture = port.CreateCapture()
    capture.Variables = ["plant.speed"]
    capture.Start()
    ...
    capture.Stop()
    speed = capture.CaptureResult.ExtractSignalValue("plant.speed")
    port.Dispose()
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum
from pathlib import Path
from typing import Any

from .capture import Capture as _Capture
from .daemon import Daemon
from .errors import Error, is_told
from .rig import Rig
from .table import Table, as_frame

__tracebackhide__ = is_told


class MAPortState(Enum):
    """How far a port is."""

    eDISCONNECTED = "disconnected"
    eSIMULATION_STOPPED = "stopped"
    eSIMULATION_RUNNING = "running"
    eSIMULATION_PAUSED = "paused"


class CaptureState(Enum):
    """How far a capture is."""

    eCONFIGURED = "configured"
    eRUNNING = "running"
    eFINISHED = "finished"


#: The only raster of captures: all rows of the recording.
TASK = "recording"


class MAPort:
    """A port to a rig. What cannot be done in its state raises vecud.Error."""

    def __init__(self, Name: str = "vecud", daemon: Daemon | None = None) -> None:
        self.Name = Name
        self._daemon = daemon
        self._rig: Rig | None = None
        self._captures: list[Capture] = []

    # ---- The simulation ----

    def Configure(self, config: str | Path, forceConfig: bool = False) -> None:
        """Loads a rig file. With `forceConfig` a rig of its name that runs is stopped first; without, that is an error."""
        rig = Rig(config, daemon=self._daemon)
        if forceConfig and any(status.name == rig.name for status in rig.daemon.rigs()):
            rig.stop()
        rig.put()
        self._rig = rig

    def StartSimulation(self) -> None:
        """Starts it, or goes on after a pause."""
        rig = self._configured()
        if self.State == MAPortState.eSIMULATION_PAUSED:
            rig.resume()
        else:
            rig.start()

    def PauseSimulation(self) -> None:
        """Simulation time stands still."""
        self._configured().pause()

    def StopSimulation(self) -> None:
        """Ends it in good order; captures end with it."""
        rig = self._configured()
        for capture in self._captures:
            if capture.State == CaptureState.eRUNNING:
                capture.Stop()
        rig.stop()

    @property
    def State(self) -> MAPortState:
        """How far the port is."""
        if self._rig is None:
            return MAPortState.eDISCONNECTED
        state = self._rig.status().state
        if state == "paused":
            return MAPortState.eSIMULATION_PAUSED
        return MAPortState.eSIMULATION_STOPPED if state in ("idle", "failed") else MAPortState.eSIMULATION_RUNNING

    def Disconnect(self) -> None:
        """Stops the simulation, and knows the rig no more."""
        if self._rig is not None:
            self.StopSimulation()
        self._rig = None
        self._captures.clear()

    def Dispose(self) -> None:
        """The port is not used any more."""
        self.Disconnect()

    def _configured(self) -> Rig:
        if self._rig is None:
            raise Error("the port is not configured")
        return self._rig

    # ---- Variables ----

    @property
    def VariableNames(self) -> list[str]:
        """What can be read: recorded and watched signals. (There may be more that can be written.)"""
        return [str(signal["name"]) for signal in self._configured().signals()]

    def CheckVariableNames(self, variableNames: Iterable[str]) -> list[str]:
        """Those of the names that cannot be read."""
        known = set(self.VariableNames)
        return [name for name in variableNames if name not in known]

    def IsReadable(self, variableName: str) -> bool:
        """Whether it can be read."""
        return not self.CheckVariableNames([variableName])

    def Read(self, variableName: str) -> Any:
        """The newest value."""
        return self._configured().read([variableName])[variableName]

    def Write(self, variableName: str, value: Any) -> None:
        """Sets a tunable parameter or an input."""
        self._configured().write(variableName, value)

    def ReadMultiple(self, variableNames: Sequence[str]) -> list[Any]:
        """The newest values, in the order of the names."""
        values = self._configured().read(list(variableNames))
        return [values[name] for name in variableNames]

    def WriteMultiple(self, values: Mapping[str, Any]) -> None:
        """Sets several at once: none of them, when one of them cannot be set."""
        self._configured().write(values)

    # ---- Captures ----

    @property
    def TaskNames(self) -> list[str]:
        """The rasters that captures can have: one, all rows of the recording."""
        return [TASK]

    def CreateCapture(self, taskName: str = TASK) -> Capture:
        """A capture, whose variables are still to be named."""
        if taskName not in self.TaskNames:
            raise Error(f"there is no task {taskName}; there is {', '.join(self.TaskNames)}")
        capture = Capture(self._configured())
        self._captures.append(capture)
        return capture


@dataclass(frozen=True)
class SignalValue:
    """Samples of one variable: times, s, and values."""

    XVector: list[float]
    FcnValues: list[Any]


class CaptureResult:
    """What was captured."""

    def __init__(self, table: Table) -> None:
        self._table = table

    @property
    def SignalNames(self) -> list[str]:
        """The variables, an array as its elements."""
        return self._table.columns[1:]

    def ExtractSignalValue(self, signalName: str) -> SignalValue:
        """The samples of one of them."""
        if signalName not in self.SignalNames:
            raise Error(f"{signalName} was not captured; captured were {', '.join(self.SignalNames)}")
        return SignalValue(self._table["time"], self._table[signalName])

    @property
    def Frame(self) -> Any:
        """All of it as a pandas.DataFrame if there is pandas, else a vecud.Table. (No verb of XIL.)"""
        return as_frame(self._table)


class Capture:
    """All recorded samples of variables between Start and Stop."""

    def __init__(self, rig: Rig) -> None:
        self._rig = rig
        self._capture: _Capture | None = None
        self._result: CaptureResult | None = None
        #: What is captured: set it before Start.
        self.Variables: list[str] = []

    @property
    def State(self) -> CaptureState:
        """How far it is."""
        if self._capture is None:
            return CaptureState.eCONFIGURED
        return CaptureState.eRUNNING if self._result is None else CaptureState.eFINISHED

    def Start(self) -> None:
        """From now on. What was captured before is gone."""
        if self.State == CaptureState.eRUNNING:
            raise Error("the capture runs already")
        capture = _Capture(self._rig, self.Variables)
        capture.start()
        self._capture, self._result = capture, None

    def Stop(self) -> None:
        """Until now."""
        if self._capture is None:
            raise Error("the capture does not run")
        self._result = CaptureResult(self._capture.stop())

    def Fetch(self, whenFinished: bool = True) -> CaptureResult:
        """What was captured. A part of a capture that runs cannot be had: `whenFinished` has to be true, and the capture stopped."""
        if not whenFinished:
            raise Error("a capture can be fetched when it is finished only")
        return self.CaptureResult

    @property
    def CaptureResult(self) -> CaptureResult:
        """What was captured."""
        if self._result is None:
            raise Error("the capture is not finished: Stop ends it")
        return self._result

    def Dispose(self) -> None:
        """It is not used any more."""
        self._capture = self._result = None
