"""Rigs as fixtures of pytest, and their reports beside failures.

- `rig` is a rig that runs during the test: that of `@pytest.mark.rig("engine.toml", mode=..., stop_time=..., name=...)`, whose path
  is relative to the test's file, else that of the ini option `vecud_rig`, relative to the ini file. A run that fails
  fails the test, unless the mark says `may_fail=True`.
- `vecud_daemon` is the daemon of all of them.
- When a test fails, what its run has left is kept, below `--vecud-reports DIR` or in pytest's temporary folder, and the
  test's output says where.
"""

from __future__ import annotations

import re
from collections.abc import Generator, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from .daemon import Daemon, default_daemon
from .errors import Error, NoDaemon
from .rig import Rig


@dataclass
class _Running:
    """The rig of a test, and the folder for what its run has left."""

    rig: Rig
    folder: Path
    has_failed: bool = False


_RUNNING = pytest.StashKey[_Running]()


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.getgroup("vecud").addoption(
        "--vecud-reports",
        metavar="DIR",
        help="where reports and recordings of rigs are kept whose tests have failed; default: in pytest's temporary folder",
    )
    parser.addini("vecud_rig", "the rig of tests without @pytest.mark.rig, relative to the ini file", default="")


def pytest_configure(config: pytest.Config) -> None:
    words = "the rig that the fixture `rig` runs; run with mode and stop_time; may_fail: a failing run does not fail the test"
    config.addinivalue_line("markers", f"rig(file, mode=None, stop_time=None, name=None, may_fail=False): {words}")


@pytest.fixture(scope="session")
def vecud_daemon() -> Iterator[Daemon]:
    """The daemon that runs the rigs of all tests: one that is there already, or one that is started for them."""
    daemon = default_daemon()
    yield daemon
    daemon.close()


@pytest.fixture
def rig(
    request: pytest.FixtureRequest, vecud_daemon: Daemon, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Rig]:
    """A rig that runs."""
    wanted = _wanted(request)
    rig = Rig(wanted.file, name=wanted.name, mode=wanted.mode, stop_time=wanted.stop_time, daemon=vecud_daemon)
    running = _Running(rig, _folder(request, tmp_path_factory))
    with rig:
        request.node.stash[_RUNNING] = running
        yield rig
    report = rig.report()
    fails = report.verdict == "fail" and not wanted.may_fail
    if running.has_failed or fails:
        report.save(running.folder)
    if fails and not running.has_failed:
        problems = "\n".join(f"  {problem}" for problem in report.problems)
        pytest.fail(
            f"the run of rig {rig.name} has failed:\n{problems}\nreport: {running.folder / 'report.html'}",
            pytrace=False,
        )


@dataclass(frozen=True)
class _Wanted:
    """What a mark says."""

    file: Path
    name: str
    mode: str | None = None
    stop_time: float | None = None
    may_fail: bool = False


def _wanted(request: pytest.FixtureRequest) -> _Wanted:
    marker = request.node.get_closest_marker("rig")
    arguments: dict[str, Any] = dict(marker.kwargs) if marker else {}
    if marker and len(marker.args) > 1:
        raise pytest.UsageError("@pytest.mark.rig takes one file; the rest by name: mode, stop_time, name, may_fail")
    unknown = set(arguments) - {"mode", "stop_time", "name", "may_fail"}
    if unknown:
        raise pytest.UsageError(f"@pytest.mark.rig has no {', '.join(sorted(unknown))}")
    if marker and marker.args:
        file = request.path.parent / marker.args[0]
    else:
        named = str(request.config.getini("vecud_rig"))
        if not named:
            raise pytest.UsageError('the fixture rig needs @pytest.mark.rig("FILE.toml"), or vecud_rig in the ini file')
        file = (request.config.inipath or request.config.rootpath / "ini").parent / named
    name = arguments.pop("name", None) or re.sub(r"[^A-Za-z0-9_.-]", "_", file.stem)
    # Workers of pytest-xdist may have one daemon: each has a rig of its own there.
    worker = getattr(request.config, "workerinput", {}).get("workerid")
    return _Wanted(file, f"{name}-{worker}" if worker else name, **arguments)


def _folder(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder for what the test's run has left. It need not be there."""
    test = re.sub(r"[^A-Za-z0-9_.-]+", "_", request.node.nodeid).strip("_")
    chosen = request.config.getoption("--vecud-reports")
    if chosen:
        return Path(str(chosen)).absolute() / test
    return tmp_path_factory.getbasetemp() / "vecud-reports" / test


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_makereport(item: pytest.Item) -> Generator[None, Any, None]:
    outcome = yield
    report: pytest.TestReport = outcome.get_result()
    running = item.stash.get(_RUNNING, None)
    if running is None or report.when == "teardown" or not report.failed:
        return
    running.has_failed = True
    lines = [f"rig {running.rig.name}: report.html, run.log and the recording of this run are in {running.folder}"]
    try:
        status = running.rig.status()
        lines.append(f"the rig was {status.state}")
        lines += [f"  {problem}" for problem in running.rig.report().problems]
    except NoDaemon as error:
        lines.append(str(error))
    except Error:
        pass  # Of a run that is young nothing is written yet.
    report.sections.append(("vecud", "\n".join(lines)))
