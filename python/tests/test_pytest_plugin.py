"""The fixture `rig`, and what is kept of tests that fail, in runs of pytest of their own."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from fake import Fake, status

pytest_plugins = ["pytester"]


class Bench:
    """A rig `a` that runs, and a run of pytest beside it."""

    def __init__(self, fake: Fake, pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch) -> None:
        self.fake, self.pytester = fake, pytester
        monkeypatch.setenv("VECUD_SOCKET", fake.path)
        fake.says("PUT", "/v1/rigs/a", status("idle"), 201)
        fake.says("GET", "/v1/rigs/a", status())
        for verb in ("start", "stop"):
            fake.says("POST", f"/v1/rigs/a/{verb}", status())
        self.verdict("pass")
        files = ["report.html", "run.log", "signals.csv", "x.hgrm"]
        fake.says("GET", "/v1/rigs/a/runs", [{"run": "r1", "files": files}])
        for name in files:
            fake.on("GET", f"/v1/rigs/a/runs/r1/{name}", lambda request: request.answer(200, b"kept", "text/html"))

    def verdict(self, verdict: str, *problems: str) -> None:
        """What comes of the run."""
        report = {"verdict": verdict, "ended": "finished", "problems": problems, "clocks": []}
        self.fake.says("GET", "/v1/rigs/a/runs/r1", report)

    def run(self, test: str, *arguments: str) -> pytest.RunResult:
        """Runs these tests in a process of their own."""
        self.pytester.makepyfile("import pytest\n" + test)
        return self.pytester.runpytest_subprocess("-p", "no:cacheprovider", *arguments)


@pytest.fixture
def bench(fake: Fake, pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch) -> Bench:
    return Bench(fake, pytester, monkeypatch)


def test_a_rig_runs_during_the_test(bench: Bench) -> None:
    test = """
@pytest.mark.rig("rigs/a.toml", mode="virtual", stop_time=2.0)
def test_it(rig, vecud_daemon):
    assert rig.name == "a" and rig.daemon is vecud_daemon and rig.status().state == "running"
"""
    bench.run(test, "--strict-markers").assert_outcomes(passed=1)
    asked = [entry for entry in bench.fake.asked if entry[0] != "GET"]
    assert [path for _, path, _ in asked] == ["/v1/rigs/a", "/v1/rigs/a/start", "/v1/rigs/a/stop"]
    assert json.loads(asked[0][2]) == {"path": str(bench.pytester.path / "rigs" / "a.toml")}
    assert json.loads(asked[1][2]) == {"mode": "virtual", "stop_time": 2.0}
    assert not list(bench.pytester.path.rglob("report.html"))


def test_what_a_run_has_left_is_kept_and_named_when_its_test_fails(bench: Bench) -> None:
    bench.verdict("pass", "12 overruns")
    test = """
@pytest.mark.rig("a.toml")
@pytest.mark.parametrize("speed", [1, 2])
def test_it(rig, speed):
    assert speed == 1
"""
    run = bench.run(test, "--vecud-reports", "kept")
    run.assert_outcomes(passed=1, failed=1)
    (folder,) = (bench.pytester.path / "kept").iterdir()
    assert folder.name.endswith(".py_test_it_2"), folder
    run.stdout.fnmatch_lines(["*-- vecud --*", f"rig a: report.html, *are in {folder}", "  12 overruns"])
    assert sorted(path.name for path in folder.iterdir()) == ["report.html", "run.log", "signals.csv"]


def test_without_a_folder_it_is_kept_where_pytest_keeps_things(bench: Bench) -> None:
    test = """
@pytest.mark.rig("a.toml")
def test_it(rig):
    rig.assert_limits(overruns=0)
"""
    bench.fake.refuses("GET", "/v1/rigs/a/clocks", 422, "no clocks here")
    run = bench.run(test, "--basetemp", "base")
    run.assert_outcomes(failed=1)
    assert "rig.py" not in run.stdout.str().replace("test_rig.py", ""), "frames of the package say nothing to a tester"
    kept = list((bench.pytester.path / "base").rglob("report.html"))
    assert len(kept) == 1
    run.stdout.fnmatch_lines(["*no clocks here*", f"*are in {kept[0].parent}"])


def test_a_run_that_fails_fails_its_test(bench: Bench) -> None:
    bench.verdict("fail", "fmu e: it has crashed")
    test = """
@pytest.mark.rig("a.toml")
def test_it(rig):
    pass

@pytest.mark.rig("a.toml", may_fail=True)
def test_that(rig):
    pass
"""
    run = bench.run(test, "--vecud-reports", "kept")
    run.assert_outcomes(passed=2, errors=1)
    run.stdout.fnmatch_lines(["*the run of rig a has failed:*", "*fmu e: it has crashed", "report: *kept*report.html"])
    assert len(list((bench.pytester.path / "kept").rglob("report.html"))) == 1


def test_the_ini_file_may_name_the_rig(bench: Bench) -> None:
    bench.pytester.makeini("[pytest]\nvecud_rig = rigs/a.toml\n")
    bench.run("def test_it(rig):\n    assert rig.file.parent.name == 'rigs'\n").assert_outcomes(passed=1)


@pytest.mark.parametrize(
    ("mark", "words"),
    [
        ("", "*the fixture rig needs @pytest.mark.rig*vecud_rig in the ini file*"),
        ("@pytest.mark.rig('a.toml', 'virtual')", "*takes one file; the rest by name*"),
        ("@pytest.mark.rig('a.toml', speed=2)", "*@pytest.mark.rig has no speed*"),
    ],
)
def test_marks_that_are_wrong_are_told(bench: Bench, mark: str, words: str) -> None:
    run = bench.run(f"{mark}\ndef test_it(rig):\n    pass\n")
    run.assert_outcomes(errors=1)
    run.stdout.fnmatch_lines([words])


def test_a_bad_rig_is_told_with_its_place(bench: Bench) -> None:
    mistakes = [{"file": "a.toml", "line": 3, "column": 1, "message": "unknown key"}]
    bench.fake.refuses("PUT", "/v1/rigs/a", 422, "", type="/problems/invalid-rig", mistakes=mistakes)
    run = bench.run("@pytest.mark.rig('a.toml')\ndef test_it(rig):\n    pass\n")
    run.assert_outcomes(errors=1)
    run.stdout.fnmatch_lines(["*InvalidRig: a.toml:3:1: unknown key"])


def test_workers_have_rigs_of_their_own(bench: Bench, tmp_path: Path) -> None:
    bench.fake.says("PUT", "/v1/rigs/a-gw1", status("idle", name="a-gw1"), 201)
    bench.fake.refuses("POST", "/v1/rigs/a-gw1/start", 409, "that far")
    bench.pytester.makeconftest("def pytest_configure(config):\n    config.workerinput = {'workerid': 'gw1'}\n")
    run = bench.run("@pytest.mark.rig('a.toml')\ndef test_it(rig):\n    pass\n")
    run.stdout.fnmatch_lines(["*that far*"])
