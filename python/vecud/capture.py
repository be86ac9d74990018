"""A stretch of a recording, while the run goes on."""

from __future__ import annotations

import math
import time
from collections.abc import Sequence
from types import TracebackType
from typing import TYPE_CHECKING, Any

from .errors import Error, is_told
from .recording import Follower
from .table import Table, as_frame

if TYPE_CHECKING:
    from .rig import Rig

__tracebackhide__ = is_told

#: How often it is looked for new rows, s.
_LOOK = 0.02
#: When no row has come for so long, s, none is waited for any more.
_QUIET = 1.0


class Capture:
    """All rows of the recording from a start on up to an end, in simulation time.

    As a context manager it is the time in the block; `samples` are there afterwards.
    """

    def __init__(self, rig: Rig, signals: Sequence[str]) -> None:
        self._rig = rig
        self._signals = [signals] if isinstance(signals, str) else list(signals)
        if not self._signals:
            raise ValueError("a capture needs signals")
        self._follower: Follower | None = None
        self._run: str | None = None
        self._table: Table | None = None
        #: Simulation time from which on rows belong to it, s; the last of them has at most `end`.
        self.start_time = -math.inf
        self.end_time = math.inf

    def start(self) -> None:
        """From now on."""
        if self._follower is not None:
            raise Error("the capture has been started already")
        status = self._rig.status()
        if status.run is None or status.is_over:
            raise Error(f"rig {self._rig.name} does not run")
        self._run = status.run
        kinds = {signal["name"]: str(signal["type"]) for signal in self._rig.signals()}
        self._follower = Follower(self._rig.daemon.client, self._rig.path("runs"), status.run, self._signals, kinds)
        self.start_time = self._rig.time()

    def stop(self, duration: float | None = None) -> Table:
        """Until now, or until so many seconds of simulation time after the start; waits until all of it is written.

        Where a run ends earlier, or no row comes any more (it is paused), it is less.
        """
        if self._table is not None:
            return self._table
        if self._follower is None:
            raise Error("the capture has not been started")
        self.end_time = self._rig.time() if duration is None else self.start_time + duration
        columns: dict[str, list[Any]] = {"time": [], **{name: [] for name in self._follower.columns}}
        self._collect(self._follower, columns, duration or 0.0)
        self._table = Table(columns)
        return self._table

    def _collect(self, follower: Follower, columns: dict[str, list[Any]], duration: float) -> None:
        lists = list(columns.values())
        is_last = False
        heard = time.monotonic()
        while True:
            rows = follower.rows()
            for now, values in rows:
                if math.isinf(self.end_time):
                    # Nothing had been computed at the start, which is now.
                    self.end_time = now + duration
                if self.start_time < now <= self.end_time:
                    for column, value in zip(lists, [now, *values]):
                        column.append(value)
                if now >= self.end_time:
                    return
            if rows:
                heard = time.monotonic()
                continue
            if is_last or time.monotonic() - heard > duration + _QUIET:
                return
            status = self._rig.status()
            # Once more: the last rows may have come in between.
            is_last = status.is_over or status.run != self._run
            if not is_last:
                time.sleep(_LOOK)

    @property
    def samples(self) -> Any:
        """The rows, as a pandas.DataFrame if there is pandas, else a Table: a column `time`, and one for each signal."""
        return as_frame(self.table)

    @property
    def table(self) -> Table:
        """The rows as a Table."""
        if self._table is None:
            raise Error("the capture goes on: its rows are there when it has been stopped")
        return self._table

    def __enter__(self) -> Capture:
        self.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if error is None:
            self.stop()
