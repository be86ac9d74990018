"""What a run has left."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from .errors import Error, is_told
from .figures import Clock
from .names import matches

if TYPE_CHECKING:
    from .rig import Rig

__tracebackhide__ = is_told

#: What is kept of a run that a test has failed in: the page, the figures, what FMUs have printed, what was recorded.
KEPT = ("report.html", "report.json", "junit.xml", "run*.log", "signals*")


class Report:
    """A run: its report.json (`data`), and its files. Of a run that goes on it is what is known so far."""

    def __init__(self, rig: Rig, run: str) -> None:
        self._client = rig.daemon.client
        self._runs = rig.path("runs")
        self._path = f"{self._runs}/{quote(run)}"
        #: The name of the rig.
        self.rig = rig.name
        #: The name of the run: its start.
        self.run = run
        #: All of report.json.
        self.data: Mapping[str, Any] = self._client.ask_json("GET", self._path)
        state = rig.daemon.state_folder
        #: The folder of the run; None: only the daemon knows, which somebody else has started.
        self.folder: Path | None = state / "rigs" / rig.name / "runs" / run if state else None

    @property
    def verdict(self) -> str:
        """pass, degraded or fail."""
        return str(self.data["verdict"])

    @property
    def passed(self) -> bool:
        """Whether nothing failed and no limit of the rig was exceeded; a run that is degraded has passed."""
        return self.verdict in ("pass", "degraded")

    @property
    def ended(self) -> str:
        """finished, cut off, or running."""
        return str(self.data["ended"])

    @property
    def problems(self) -> list[str]:
        """What went wrong, most important first."""
        return [problem if isinstance(problem, str) else str(problem["text"]) for problem in self.data["problems"]]

    @property
    def problem_objects(self) -> list[Mapping[str, Any]]:
        """The same with `kind`, `severity`, `subject`, `text`, and the figures of the kind. Of a report of format 1 only severity and
        text are known: kind `other`, subject `run`."""
        if self.data.get("format_version", 1) > 1:
            return list(self.data["problems"])
        return [
            {"kind": "other", "severity": severity, "subject": "run", "text": text}
            for severity, text in zip(self.data["problem_severities"], self.data["problems"])
        ]

    @property
    def clocks(self) -> dict[str, Clock]:
        """What each clock has measured."""
        return {clock.name: clock for clock in map(Clock.of, self.data["clocks"])}

    @property
    def files(self) -> list[str]:
        """The files of the run."""
        return self._client.files_of(self._runs, self.run)

    def read(self, file: str) -> bytes:
        """What is in a file of the run, such as report.html."""
        return self._client.ask("GET", f"{self._path}/{quote(file)}").body

    @property
    def html(self) -> bytes:
        """The page for people: report.html."""
        return self.read("report.html")

    def save(self, folder: str | Path, files: Iterable[str] = KEPT) -> list[Path]:
        """Copies files of the run into a folder, which is made if it is not there. Names may be patterns; by default it is what
        one wants to see after a failure. Answers where they are now."""
        patterns = [files] if isinstance(files, str) else list(files)
        folder = Path(folder)
        names = [name for name in self.files if any(matches(pattern, name) for pattern in patterns)]
        if not names:
            raise Error(f"run {self.run} of rig {self.rig} has no file {', '.join(patterns)}")
        for name in names:
            # Whoever answers must not choose where files go.
            if name in ("", ".", "..") or any(part in name for part in "/\\\0"):
                raise Error(f"run {self.run} of rig {self.rig} has a file of a name that is none: {name!r}")
        folder.mkdir(parents=True, exist_ok=True)
        saved = []
        for name in names:
            self._client.save(f"{self._path}/{quote(name)}", folder / name)
            saved.append(folder / name)
        return saved

    def __repr__(self) -> str:
        return f"<vecud.Report of {self.rig}, run {self.run}: {self.verdict}>"
