"""Rigs of virtual ECUs from Python.

    with vecud.Rig("engine.toml") as rig:
        rig.write("ecu.idle_speed", 1000.0)
        rig.wait_until("plant.speed > 950", timeout=5.0)
    assert rig.report().passed

A daemon runs them (`vecud daemon`): one that is there already, or one that this package starts. All times are in seconds.
"""

from .capture import Capture
from .daemon import Daemon, default_daemon
from .errors import Error, InvalidRig, LimitsExceeded, Mistake, NoDaemon, Problem, WaitTimeout
from .events import Event, Events
from .figures import Clock, Distribution
from .report import Report
from .rig import Held, Rig
from .status import Status
from .table import Table

__all__ = [
    "Capture",
    "Clock",
    "Daemon",
    "Distribution",
    "Error",
    "Event",
    "Events",
    "Held",
    "InvalidRig",
    "LimitsExceeded",
    "Mistake",
    "NoDaemon",
    "Problem",
    "Report",
    "Rig",
    "Status",
    "Table",
    "WaitTimeout",
    "default_daemon",
]

__version__ = "0.1.0"
