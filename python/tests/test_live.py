"""A real daemon and real rigs: what is said to it is understood, and what it says is."""

from __future__ import annotations

import math
import socket
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from conftest import ROOT

import vecud
from vecud.xil import MAPort, MAPortState

BENCH = ROOT / "examples" / "hil" / "bench.toml"
IDLE = "plant.speed > 800 and plant.speed < 900"


@pytest.fixture
def bench(live: vecud.Daemon) -> Iterator[vecud.Rig]:
    """The engine on its bench, running."""
    with vecud.Rig(BENCH, daemon=live) as rig:
        yield rig


def test_every_request_of_this_package_is_one_of_the_daemon(live: vecud.Daemon) -> None:
    """By the daemon's own description: a name that is wrong here would be seen nowhere else."""
    wanted = {
        "/v1/rigs": {"get"},
        "/v1/rigs/{rig}": {"get", "put", "delete"},
        **{f"/v1/rigs/{{rig}}/{verb}": {"post"} for verb in ("start", "stop", "pause", "resume", "reset", "waits")},
        "/v1/rigs/{rig}/clocks": {"get"},
        "/v1/rigs/{rig}/clocks/reset": {"post"},
        "/v1/rigs/{rig}/signals": {"get"},
        "/v1/rigs/{rig}/variables": {"patch"},
        "/v1/rigs/{rig}/ticks/{clock}": {"post"},
        "/v1/rigs/{rig}/events": {"get"},
        "/v1/rigs/{rig}/runs": {"get"},
        "/v1/rigs/{rig}/runs/{run}": {"get"},
        "/v1/rigs/{rig}/runs/{run}/{file}": {"get"},
    }
    there = {path: set(methods) for path, methods in live.openapi()["paths"].items()}
    missing = {path for path, methods in wanted.items() if not methods <= there.get(path, set())}
    assert not missing


def test_a_run_that_is_ended_by_force_has_failed(live: vecud.Daemon) -> None:
    with vecud.Rig(BENCH, daemon=live, name="forced") as rig:
        status = rig.stop(now=True)
    assert (status.verdict, status.exit_code, status.last_run) == ("fail", 1, status.run)
    assert "by force" in status.problems[0].message
    rig.delete()


def test_a_rig_from_its_start_to_its_report(live: vecud.Daemon, tmp_path: Path) -> None:
    with vecud.Rig(BENCH, daemon=live, stop_time=1000.0) as rig:
        assert rig.status().state == "running"
        assert "bench" in [status.name for status in live.rigs()]
        time.sleep(0.5)
        clock = rig.clock("ecu.task_1ms")
        assert clock.activations > 100 and 0 < clock.p50 <= clock.p99 <= clock.max < 10
        rig.assert_limits(clocks="ecu.*", p50_start_latency=0.5)
        with pytest.raises(vecud.LimitsExceeded, match=r"ecu\.task_1ms: max_execution"):
            rig.assert_limits(clocks="ecu.task_1ms", max_execution=0.0)
    assert rig.status().is_over
    report = rig.report()
    assert (report.passed, report.ended) == (True, "finished")
    assert report.clocks["ecu.task_1ms"].activations >= clock.activations
    assert b"<title" in report.html
    assert report.folder is not None and (report.folder / "report.html").read_bytes() == report.html
    saved = {path.name for path in report.save(tmp_path)}
    assert {"report.html", "report.json", "junit.xml", "run.log", "signals.csv"} <= saved
    assert rig.clock("ecu.task_1ms").activations == report.clocks["ecu.task_1ms"].activations, "also after the end"
    assert rig.stop().is_over, "a second time"
    rig.delete()
    with pytest.raises(vecud.Error, match="no rig bench"):
        rig.status()


def test_a_run_that_ends_by_itself_is_waited_for(live: vecud.Daemon) -> None:
    with vecud.Rig(BENCH, name="fast", mode="virtual", stop_time=0.5, daemon=live) as rig:
        assert rig.join(timeout=30).verdict == "pass"
    assert rig.report().data["end_time"] == 0.5


def test_mistakes_have_their_places(live: vecud.Daemon) -> None:
    with pytest.raises(vecud.InvalidRig, match=r'bad\.toml:2:1: unknown key "sped"') as raised:
        vecud.Rig(text="[rig]\nsped = 1\n[fmu.a]\npath = 'x'\n", name="bad", daemon=live).put()
    problem = raised.value.problem
    assert problem is not None
    assert (problem.status, problem.mistakes[0].line, problem.mistakes[0].column) == (422, 2, 1)
    with pytest.raises(vecud.InvalidRig, match=r"nope\.toml"):
        vecud.Rig("nope.toml", daemon=live).put()
    with pytest.raises(vecud.Error) as conflict:
        live.rig("nobody").start()
    assert conflict.value.problem is not None and conflict.value.problem.status == 404


def test_values_are_read_set_and_waited_for(bench: vecud.Rig) -> None:
    held = bench.wait_until(f"{IDLE} and ecu.synchronous", timeout=20.0)
    assert 800 < held.values["plant.speed"] < 900 and held.values["ecu.synchronous"] is True
    values = bench.read("ecu.*")
    assert values["ecu.idle_speed"] == 850.0 and values["ecu.synchronous"] is True
    assert isinstance(values["ecu.teeth"], int) and isinstance(bench.read("plant.speed"), float)
    at = bench.write("ecu.idle_speed", 1000.0)
    assert bench.wait_until("plant.speed > 950", timeout=20.0).time > at > held.time
    assert bench.write({"plant.load_torque": 5.0, "ecu.idle_speed": 850.0}).keys() == {
        "plant.load_torque",
        "ecu.idle_speed",
    }
    bench.wait_until("plant.load >= 5 and ecu.idle_speed < 851", timeout=5.0)
    with pytest.raises(vecud.WaitTimeout) as late:
        bench.wait_until("plant.speed > 9000", timeout=0.3)
    assert 0 < late.value.values["plant.speed"] < 9000
    with pytest.raises(vecud.Error) as wrong_word:
        bench.wait_until("plant.speed > fast")
    assert wrong_word.value.problem is not None and wrong_word.value.problem.mistakes[0].column is not None
    for wrong in (
        lambda: bench.wait_until("plant.speed >"),
        lambda: bench.read("nobody.x"),
        lambda: bench.write("plant.speed", 1.0),
    ):
        with pytest.raises(vecud.Error) as refused:
            wrong()
        assert refused.value.problem is not None and refused.value.problem.status == 422


def test_a_capture_has_every_row_of_the_recording(bench: vecud.Rig) -> None:
    bench.wait_until(IDLE, timeout=20.0)
    with bench.capture(["plant.speed", "ecu.synchronous", "ecu.teeth"]) as capture:
        at = bench.write("plant.load_torque", 10.0)
        bench.wait_until("plant.load > 9", timeout=5.0)
        time.sleep(0.3)
    rows = capture.table
    assert rows["time"][0] <= at < rows["time"][-1] and math.isfinite(capture.start_time)
    assert {type(value) for value in rows["ecu.synchronous"]} == {bool}
    assert {type(value) for value in rows["ecu.teeth"]} == {int}
    timed = bench.capture("plant.speed", duration=0.5)
    assert timed["time"].iloc[-1] - timed["time"].iloc[0] > 0.45 if hasattr(timed, "iloc") else True
    bench.stop()
    lines = bench.report().read("signals.csv").decode().splitlines()
    column = lines[0].split(",").index("plant.speed")
    recorded = [(float(cells[0]), float(cells[column])) for cells in (line.split(",") for line in lines[1:])]
    within = [row for row in recorded if capture.start_time < row[0] <= capture.end_time]
    assert list(zip(rows["time"], rows["plant.speed"])) == within


def test_time_stands_still_in_a_pause(bench: vecud.Rig) -> None:
    bench.wait_until("plant.speed > 0", timeout=5.0)
    assert bench.pause().state == "paused"
    time.sleep(0.1)  # Values are looked at every 20 ms.
    now = bench.time()
    time.sleep(0.2)
    assert bench.time() == now
    assert bench.resume().state == "running"
    bench.wait_until("plant.speed > 0", timeout=5.0)
    assert bench.time() > now
    assert bench.reset().state == "idle"


def test_a_clock_is_ticked(live: vecud.Daemon) -> None:
    with vecud.Rig(ROOT / "examples" / "hil" / "ecu_alone.toml", daemon=live) as rig:
        first = rig.tick("ecu.crank_isr")
        assert rig.wait_until("ecu.teeth >= 1").time >= first
        assert rig.tick("ecu.crank_isr") > first
        for wrong in ("ecu.task_1ms", "ecu.nothing"):
            with pytest.raises(vecud.Error) as refused:
                rig.tick(wrong)
            assert refused.value.problem is not None and refused.value.problem.status == 422
        rig.reset_clocks()


def test_events_are_heard(bench: vecud.Rig) -> None:
    kinds = set()
    with bench.events(match="plant.speed", timeout=10.0) as events:
        for event in events:
            kinds.add(event.kind)
            if {"figures", "signals"} <= kinds:
                break
    assert {"figures", "signals"} <= kinds
    with bench.events(timeout=10.0) as events:
        bench.stop()
        assert any(event.kind == "state" and event.data["state"] == "idle" for event in events)


def test_over_tcp_it_wants_the_token(program: str, tmp_path: Path) -> None:
    token, wrong, log = tmp_path / "token", tmp_path / "wrong", tmp_path / "log"
    for file, word in ((token, "a" * 32), (wrong, "b" * 32)):
        file.touch(0o600)
        file.write_text(word + "\n")
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    command = [program, "daemon", "--socket", str(tmp_path / "socket"), "--state", str(tmp_path / "state")]
    command += ["--rigs", str(BENCH.parent), "--listen", f"127.0.0.1:{port}", "--token-file", str(token)]
    with log.open("w") as out, subprocess.Popen(command, stdout=out, stderr=out) as process:
        try:
            deadline = time.monotonic() + 20
            while not (tmp_path / "socket").exists():
                assert process.poll() is None and time.monotonic() < deadline, log.read_text()
                time.sleep(0.02)
            url = f"http://127.0.0.1:{port}"
            with pytest.raises(vecud.Error) as refused:
                vecud.Daemon(url=url, token_file=str(wrong))
            assert refused.value.problem is not None and refused.value.problem.status == 401
            daemon = vecud.Daemon(url=url, token_file=str(token))
            with vecud.Rig(BENCH, mode="virtual", stop_time=0.1, daemon=daemon) as rig:
                rig.join(timeout=30)
            assert rig.report().passed, "the text of the rig, whose paths count from the daemon's folder"
        finally:
            process.terminate()


def test_the_verbs_of_a_port(live: vecud.Daemon) -> None:
    port = MAPort(daemon=live)
    port.Configure(BENCH, forceConfig=True)
    port.StartSimulation()
    assert port.State == MAPortState.eSIMULATION_RUNNING
    assert port.CheckVariableNames(["plant.speed", "plant.nothing"]) == ["plant.nothing"]
    capture = port.CreateCapture()
    capture.Variables = ["plant.speed", "ecu.idle_speed"]
    capture.Start()
    port.Write("ecu.idle_speed", 900.0)
    time.sleep(0.3)
    capture.Stop()
    assert capture.CaptureResult.ExtractSignalValue("ecu.idle_speed").FcnValues[-1] == 900.0
    assert port.Read("ecu.idle_speed") == 900.0
    port.Dispose()
