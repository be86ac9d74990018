"""The verbs of XIL's model access port, over what the daemon answers."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from fake import Fake, Request, status
from test_recording import Recording

import vecud
from vecud.xil import CaptureState, MAPort, MAPortState


def test_a_port_from_its_configuration_to_its_end(fake: Fake, daemon: vecud.Daemon, tmp_path: Path) -> None:
    recording = Recording(fake)
    recording.signal("e.x", now=0.0)
    recording.write("time,e.x\n0.0,1.0\n")
    state = ["idle"]
    fake.on("GET", "/v1/rigs/a", lambda request: request.json(status(state[0])))
    fake.says("PUT", "/v1/rigs/a", status("idle"))
    for verb, then in (("start", "running"), ("stop", "idle"), ("pause", "paused"), ("resume", "running")):

        def go(request: Request, then: str = then) -> None:
            state[0] = then
            request.json(status(then))

        fake.on("POST", f"/v1/rigs/a/{verb}", go)
    fake.says("PATCH", "/v1/rigs/a/variables", {"e.gain": {"time": 1.0}})

    port = MAPort("bench", daemon)
    assert port.State == MAPortState.eDISCONNECTED
    with pytest.raises(vecud.Error, match="not configured"):
        port.StartSimulation()
    port.Configure(tmp_path / "a.toml")
    assert json.loads(fake.asked[-1][2]) == {"path": str(tmp_path / "a.toml")}
    assert port.State == MAPortState.eSIMULATION_STOPPED
    port.StartSimulation()
    assert port.State == MAPortState.eSIMULATION_RUNNING
    assert port.VariableNames == ["e.x"]
    assert port.CheckVariableNames(["e.x", "e.x[1]", "e.y"]) == ["e.x[1]", "e.y"]
    assert port.IsReadable("e.x") and not port.IsReadable("e.y")
    assert port.Read("e.x") is None and port.ReadMultiple(["e.x"]) == [None]
    port.Write("e.gain", 2.0)
    port.WriteMultiple({"e.gain": 2.0})
    assert json.loads(fake.asked[-1][2]) == {"e.gain": 2.0}
    port.PauseSimulation()
    assert port.State == MAPortState.eSIMULATION_PAUSED
    port.StartSimulation()
    assert fake.asked[-1][1].endswith("/resume")

    assert port.TaskNames == ["recording"]
    with pytest.raises(vecud.Error, match="no task fast"):
        port.CreateCapture("fast")
    capture = port.CreateCapture("recording")
    capture.Variables = ["e.x"]
    assert capture.State == CaptureState.eCONFIGURED
    with pytest.raises(vecud.Error, match="does not run"):
        capture.Stop()
    capture.Start()
    assert capture.State == CaptureState.eRUNNING
    with pytest.raises(vecud.Error, match="not finished"):
        capture.Fetch()
    with pytest.raises(vecud.Error, match="finished only"):
        capture.Fetch(whenFinished=False)
    recording.write("0.5,2.0\n")
    recording.signals[0]["time"] = 0.5
    port.StopSimulation()
    assert capture.State == CaptureState.eFINISHED, "captures end with the simulation"
    result = capture.CaptureResult
    assert result is capture.Fetch() and result.SignalNames == ["e.x"]
    values = result.ExtractSignalValue("e.x")
    assert (values.XVector, values.FcnValues) == ([0.5], [2.0])
    with pytest.raises(vecud.Error, match="was not captured"):
        result.ExtractSignalValue("e.y")
    capture.Dispose()
    port.Dispose()
    assert port.State == MAPortState.eDISCONNECTED


def test_a_rig_that_runs_is_stopped_by_force_only(fake: Fake, daemon: vecud.Daemon, tmp_path: Path) -> None:
    fake.says("GET", "/v1/rigs", [status()])
    fake.refuses("PUT", "/v1/rigs/a", 409, "rig a is running")
    fake.says("POST", "/v1/rigs/a/stop", status("idle"))
    port = MAPort(daemon=daemon)
    with pytest.raises(vecud.Error, match="rig a is running"):
        port.Configure(tmp_path / "a.toml")
    assert port.State == MAPortState.eDISCONNECTED
    with pytest.raises(vecud.Error, match="rig a is running"):
        port.Configure(tmp_path / "a.toml", forceConfig=True)
    assert [path for _, path, _ in fake.asked[-2:]] == ["/v1/rigs/a/stop", "/v1/rigs/a"]
