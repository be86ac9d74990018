"""Keywords, as Robot Framework finds and runs them."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from fake import Fake, clock, status
from test_recording import Recording

import vecud
from vecud.robot import VecudLibrary, plain

SUITE = """
*** Settings ***
Library           vecud.robot.VecudLibrary

*** Test Cases ***
All Keywords
    Run Keyword And Expect Error    *use the keyword Start Rig    Read Signal    e.x
    Start Rig    {rig}    mode=virtual    stop_time=2.5    name=a
    ${{at}} =    Write Variable    e.gain    2.5
    Should Be Equal    ${{at}}    ${{1.0}}
    ${{at}} =    Wait Until Signal    e.x > 1    timeout=0.5
    Should Be Equal    ${{at}}    ${{2.0}}
    ${{at}} =    Tick Clock    e.key
    Should Be Equal    ${{at}}    ${{3.0}}
    ${{value}} =    Read Signal    e.x
    Should Be Equal    ${{value}}    ${{7.5}}
    ${{p}} =    Clock Percentile    e.fast    p99
    Should Be True    abs(${{p}} - 3e-6) < 1e-9
    ${{p}} =    Clock Percentile    e.fast    max    response
    Should Be True    abs(${{p}} - 6e-6) < 1e-9
    ${{n}} =    Clock Overruns    e.fast
    Should Be Equal As Integers    ${{n}}    0
    Limits Should Hold    overruns=0    max_start_latency=0.001
    Run Keyword And Expect Error    *limits exceeded*e.fast: p50_response*    Limits Should Hold    p50_response=1e-9
    Pause Rig
    Resume Rig
    Start Capture    e.x
    ${{rows}} =    Stop Capture
    Length Should Be    ${{rows}}    0
    ${{state}} =    Rig State
    Should Be Equal    ${{state}}    running
    ${{verdict}} =    Stop Rig
    Should Be Equal    ${{verdict}}    fail
    Run Keyword And Expect Error    *has failed: too late    Rig Should Have Passed
    ${{page}} =    Save Report    {folder}
    Should Be Equal    ${{page}}    {folder}/report.html
"""


@pytest.fixture
def answering(fake: Fake) -> Fake:
    """A fake that answers every keyword."""
    recording = Recording(fake)
    recording.write("time,e.x\n0.0,1.0\n")
    recording.signals.append({"name": "e.x", "type": "Float64", "unit": None, "value": 7.5, "time": 0.0})
    fake.says("PUT", "/v1/rigs/a", status("idle"), 201)
    for verb in ("start", "pause", "resume", "stop"):
        fake.says("POST", f"/v1/rigs/a/{verb}", status())
    fake.says("PATCH", "/v1/rigs/a/variables", {"e.gain": {"time": 1.0}})
    fake.says("POST", "/v1/rigs/a/waits", {"time": 2.0, "values": {}})
    fake.says("POST", "/v1/rigs/a/ticks/e.key", {"time": 3.0})
    fake.says("GET", "/v1/rigs/a/clocks", [clock("e", "fast")])
    report = {"verdict": "fail", "ended": "finished", "problems": ["too late"], "clocks": []}
    fake.says("GET", "/v1/rigs/a/runs/r1", report)
    recording.files["report.html"] = b"<html>"
    fake.on("GET", "/v1/rigs/a/runs/r1/report.html", lambda request: request.answer(200, b"<html>", "text/html"))
    return fake


def test_keywords_do_what_they_say(answering: Fake, tmp_path: Path) -> None:
    pytest.importorskip("robot")
    suite = tmp_path / "suite.robot"
    suite.write_text(SUITE.format(rig=tmp_path / "a.toml", folder=tmp_path / "kept"))
    command = [sys.executable, "-m", "robot", "--outputdir", str(tmp_path / "out"), str(suite)]
    run = subprocess.run(command, env={**os.environ, "VECUD_SOCKET": answering.path}, capture_output=True, text=True)
    assert run.returncode == 0, run.stdout
    asked = [(method, path, body) for method, path, body in answering.asked if method != "GET"]
    assert (b'"mode": "virtual"' in asked[1][2]) and (b'"stop_time": 2.5' in asked[1][2])
    assert asked[2] == ("PATCH", "/v1/rigs/a/variables", b'{"e.gain": 2.5}')
    assert (tmp_path / "kept" / "report.html").read_bytes() == b"<html>"
    assert [path for _, path, _ in asked].count("/v1/rigs/a/stop") == 2, "once more at the end of the suite"


def test_it_can_be_used_without_robot_framework(
    answering: Fake, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    code = """
import sys
sys.modules["robot"] = None
from vecud.robot import VecudLibrary
print(VecudLibrary().read_signal.__doc__)
"""
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert run.stdout.startswith("The newest value of a signal"), run.stderr
    with pytest.raises(vecud.Error, match="Start Rig"):
        VecudLibrary().tick_clock("e.key")


def test_texts_are_numbers_if_they_are_written_so() -> None:
    assert [plain(text) for text in ("2", "2.5", "-1e3", "true", "False", "idle", "")] == [
        2,
        2.5,
        -1e3,
        True,
        False,
        "idle",
        "",
    ]
    assert plain([1]) == [1]
