"""How far a rig is."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from .errors import Mistake


@dataclass(frozen=True)
class Status:
    """How far a rig is, as the daemon tells it."""

    #: The rig.
    name: str
    #: idle, preparing, running, paused, stopping or failed.
    state: str
    #: What came of the last run that is over: pass or fail; None: there was none.
    verdict: str | None
    #: Its exit code, as of `vecud run`.
    exit_code: int | None
    #: Since when the state is this one (RFC 3339).
    since: str
    #: The run that goes on, or the last one; None: there was none.
    run: str | None
    #: The run of which `verdict` and `exit_code` are; None: that one could not begin, or there was none.
    last_run: str | None
    #: When it starts anew, since its last run has failed (RFC 3339); None: it does not.
    restart_at: str | None
    #: So often it has started anew in a row.
    restarts: int
    #: Why the last run could not begin; or why it has failed, and which limits it has exceeded.
    problems: tuple[Mistake, ...]

    @classmethod
    def of(cls, data: Mapping[str, Any]) -> Status:
        """A status as the daemon tells it."""
        return cls(
            name=data["name"],
            state=data["state"],
            verdict=data.get("verdict"),
            exit_code=data.get("exit_code"),
            since=data.get("since", ""),
            run=data.get("run"),
            last_run=data.get("last_run"),
            restart_at=data.get("restart_at"),
            restarts=data.get("restarts", 0),
            problems=tuple(Mistake.of(problem) for problem in data.get("problems") or ()),
        )

    @property
    def is_over(self) -> bool:
        """Whether no run goes on or is to begin."""
        return self.state in ("idle", "failed") and self.restart_at is None
