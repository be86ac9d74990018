"""What goes wrong, as the daemon tells it (RFC 9457)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Mistake:
    """What is wrong with a rig, and where."""

    message: str
    file: str | None = None
    line: int | None = None
    column: int | None = None

    @classmethod
    def of(cls, data: Mapping[str, Any]) -> Mistake:
        """A mistake as the daemon tells it."""
        return cls(str(data.get("message", "")), data.get("file"), data.get("line"), data.get("column"))

    def __str__(self) -> str:
        place = [str(part) for part in (self.file, self.line, self.column) if part is not None]
        return f"{':'.join(place)}: {self.message}" if place else self.message


@dataclass(frozen=True)
class Problem:
    """Why a request was not answered as it wanted."""

    type: str
    title: str
    status: int
    detail: str
    mistakes: tuple[Mistake, ...] = ()

    @classmethod
    def of(cls, status: int, data: Mapping[str, Any]) -> Problem:
        """A problem as the daemon tells it, in an answer of this status."""
        mistakes = tuple(Mistake.of(mistake) for mistake in data.get("mistakes") or ())
        title = str(data.get("title", ""))
        return cls(str(data.get("type", "about:blank")), title, status, str(data.get("detail") or title), mistakes)

    @property
    def is_of_a_rig(self) -> bool:
        """Whether a rig is wrong, or could not begin."""
        return self.type.endswith("/invalid-rig")

    def __str__(self) -> str:
        # Of a rig the detail may be that there are several; of anything else it says all.
        if self.is_of_a_rig and self.mistakes:
            return "\n".join(str(mistake) for mistake in self.mistakes)
        return self.detail


class Error(Exception):
    """Something that was asked of a rig or a daemon was not done."""

    def __init__(self, message: str, problem: Problem | None = None) -> None:
        super().__init__(message)
        #: What the daemon answered; None: it did not answer, or was not asked.
        self.problem = problem


class NoDaemon(Error):
    """No daemon answers, or it could not be started."""


class InvalidRig(Error):
    """The rig has mistakes, or could not begin: `problem.mistakes` has their places."""


class WaitTimeout(Error, TimeoutError):
    """A condition did not hold in time."""

    def __init__(
        self, condition: str, timeout: float, values: Mapping[str, Any], problem: Problem | None = None
    ) -> None:
        newest = ", ".join(f"{name} = {value!r}" for name, value in values.items())
        super().__init__(
            f"`{condition}` did not hold within {timeout:g} s" + (f": {newest}" if newest else ""), problem
        )
        #: What was waited for.
        self.condition = condition
        #: How long, s.
        self.timeout = timeout
        #: The newest values of the signals in it.
        self.values = dict(values)


class LimitsExceeded(AssertionError):
    """Clocks did not keep what `assert_limits` demands; `exceeded` has a line for each."""

    def __init__(self, exceeded: list[str]) -> None:
        super().__init__("limits exceeded:\n" + "\n".join(f"  {line}" for line in exceeded))
        self.exceeded = exceeded


def raised(problem: Problem) -> Error:
    """The exception of a problem."""
    return (InvalidRig if problem.is_of_a_rig else Error)(str(problem), problem)


def is_told(excinfo: Any) -> bool:
    """Whether pytest may leave out the frames of this package: the message says what a reader wants to know."""
    return excinfo is None or isinstance(excinfo.value, (Error, LimitsExceeded))
