"""What the daemon answers, and what becomes of it."""

from __future__ import annotations

import http.client
import json
import math
import socket
import socketserver
import threading
import time
from http.server import HTTPServer
from pathlib import Path

import fake as fakes
import pytest
from fake import Fake, Request, status

import vecud
from vecud.http import Client
from vecud.names import in_condition


def test_a_problem_is_an_error_with_all_of_it(fake: Fake, a: vecud.Rig) -> None:
    fake.refuses("GET", "/v1/rigs/a", 404, "there is no rig a", type="/problems/unknown-name")
    with pytest.raises(vecud.Error, match="there is no rig a") as raised:
        a.status()
    problem = raised.value.problem
    assert problem == vecud.Problem("/problems/unknown-name", "title", 404, "there is no rig a")


def test_mistakes_of_a_rig_have_their_places(fake: Fake, daemon: vecud.Daemon, tmp_path: Path) -> None:
    mistakes = [
        {"file": "x.toml", "line": 3, "column": 7, "message": "unknown key"},
        {"file": None, "line": None, "column": None, "message": "no core is free"},
    ]
    fake.refuses("PUT", "/v1/rigs/a", 422, "there are 2 mistakes", type="/problems/invalid-rig", mistakes=mistakes)
    with pytest.raises(vecud.InvalidRig) as raised:
        vecud.Rig(text="x", name="a", daemon=daemon).__enter__()
    assert str(raised.value) == "x.toml:3:7: unknown key\nno core is free"
    assert raised.value.problem is not None
    assert raised.value.problem.mistakes[0] == vecud.Mistake("unknown key", "x.toml", 3, 7)


@pytest.mark.parametrize(
    ("kind", "body", "detail"),
    [
        ("text/plain", b"too much\n", "too much"),
        ("text/plain", b"", "413 Request Entity Too Large"),
        ("application/problem+json", b"{", "{"),
        ("application/problem+json", b"[1]", "[1]"),
    ],
)
def test_an_error_of_somebody_else_is_a_problem_too(
    fake: Fake, a: vecud.Rig, kind: str, body: bytes, detail: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(http.client.responses, 413, "Request Entity Too Large")
    fake.on("GET", "/v1/rigs/a", lambda request: request.answer(413, body, kind))
    with pytest.raises(vecud.Error) as raised:
        a.status()
    assert raised.value.problem is not None
    assert (raised.value.problem.status, raised.value.problem.detail) == (413, detail)


def test_answers_that_are_no_json_or_break_off_are_errors(fake: Fake, a: vecud.Rig) -> None:
    fake.on("GET", "/v1/rigs/a", lambda request: request.answer(200, b"<html>"))
    with pytest.raises(vecud.Error, match="no JSON"):
        a.status()

    def half(request: Request) -> None:
        request.send_response(200)
        request.send_header("Content-Length", "100")
        request.end_headers()
        request.wfile.write(b"{}")
        request.close_connection = True

    fake.on("GET", "/v1/rigs/a", half)
    with pytest.raises(vecud.NoDaemon, match="breaks off"):
        a.status()


def test_nobody_there_is_told_with_the_place(tmp_path: Path) -> None:
    path = str(tmp_path / "nobody")
    with pytest.raises(vecud.NoDaemon, match=f"no daemon answers at {path}"):
        vecud.Daemon(socket=path)


def test_an_answer_that_does_not_come_ends_after_its_time(fake: Fake, daemon: vecud.Daemon) -> None:
    fake.on("GET", "/slow", lambda request: time.sleep(2))
    began = time.monotonic()
    with pytest.raises(vecud.Error, match=r"within 0\.2 s"):
        daemon.client.ask("GET", "/slow", timeout=0.2)
    assert time.monotonic() - began < 1.5


def test_answers_in_chunks_are_whole(fake: Fake, a: vecud.Rig) -> None:
    def chunked(request: Request) -> None:
        request.begin_chunks("application/json")
        text = json.dumps(status()).encode()
        for piece in (text[:1], text[1:40], text[40:], b""):
            request.chunk(piece)

    fake.on("GET", "/v1/rigs/a", chunked)
    assert a.status().state == "running"


def test_an_answer_before_all_was_heard_is_heard(tmp_path: Path) -> None:
    path = str(tmp_path / "socket")
    text = b'{"status": 413, "detail": "too long"}'
    head = b"HTTP/1.1 413 Too Large\r\nContent-Type: application/problem+json\r\nContent-Length: %d\r\n\r\n"

    def answer_at_once() -> None:
        with listener, listener.accept()[0] as peer:
            peer.recv(1)
            peer.sendall(head % len(text) + text)

    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(path)
        listener.listen()
        threading.Thread(target=answer_at_once, daemon=True).start()
        with pytest.raises(vecud.Error, match="too long"):
            Client(socket=path).ask("PUT", "/v1/rigs/a", b"x" * 5_000_000)


def test_over_tcp_the_token_is_sent_and_files_go_as_text(tmp_path: Path) -> None:
    token, rig = tmp_path / "token", tmp_path / "a.toml"
    token.write_text("secret\n")
    rig.write_text("[rig]\n")
    heard: list[tuple[str, str | None, bytes]] = []

    class Answers(Request):
        def handle_any(self) -> None:
            body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
            heard.append((f"{self.command} {self.path}", self.headers.get("Authorization"), body))
            self.json(status("idle"))

        do_GET = do_PUT = handle_any

    class Server(socketserver.ThreadingMixIn, HTTPServer):
        daemon_threads = True

    with Server(("127.0.0.1", 0), Answers) as server:
        threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True).start()
        url = f"http://127.0.0.1:{server.server_port}/behind/"
        daemon = vecud.Daemon(url=url, token_file=str(token))
        vecud.Rig(rig, daemon=daemon).put()
        with pytest.raises(ValueError, match="takes the text of one only"):
            vecud.Rig("a.fmu", daemon=daemon).put()
        server.shutdown()
    assert heard == [
        ("GET /behind/v1/rigs", "Bearer secret", b""),
        ("PUT /behind/v1/rigs/a", "Bearer secret", b"[rig]\n"),
    ]


def test_a_socket_from_another_machine_gets_text(fake: Fake, tmp_path: Path) -> None:
    (tmp_path / "a.toml").write_text("[rig]\n")
    fake.says("PUT", "/v1/rigs/a", status("idle"))
    vecud.Rig(tmp_path / "a.toml", daemon=vecud.Daemon(socket=fake.path, local=False)).put()
    vecud.Rig(tmp_path / "a.toml", daemon=vecud.Daemon(socket=fake.path)).put()
    bodies = [body for method, _, body in fake.asked if method == "PUT"]
    assert bodies == [b"[rig]\n", json.dumps({"path": str(tmp_path / "a.toml")}).encode()]


def test_places_of_daemons_that_cannot_be_are_refused() -> None:
    for arguments in ({"url": "ftp://x"}, {"url": "nothing"}, {"url": "http://x", "socket": "y"}, {"token_file": "x"}):
        with pytest.raises(ValueError, match="daemon"):
            vecud.Daemon(**arguments)


def test_what_the_daemon_says_of_itself(fake: Fake, daemon: vecud.Daemon) -> None:
    fake.says("GET", "/v1/rigs", [status("paused"), status("idle", name="b", verdict="pass", exit_code=0)])
    assert [(rig.name, rig.state, rig.verdict) for rig in daemon.rigs()] == [
        ("a", "paused", None),
        ("b", "idle", "pass"),
    ]
    fake.on("GET", "/metrics", lambda request: request.answer(200, b"vecud_up 1\n", "text/plain"))
    assert daemon.metrics() == "vecud_up 1\n"
    fake.says("GET", "/openapi.json", {"paths": {}})
    assert daemon.openapi() == {"paths": {}}


def test_names_in_paths_are_quoted(fake: Fake, a: vecud.Rig) -> None:
    fake.says("POST", "/v1/rigs/a/ticks/ecu.a%20b%2Fc", {"time": 1.5})
    assert a.tick("ecu.a b/c") == 1.5
    fake.says("GET", "/v1/rigs/a/signals", [])
    assert a.read("ecu.map[3] & *") == {}
    assert fake.asked[-1][1] == "/v1/rigs/a/signals?match=ecu.map%5B3%5D+%26+%2A"


def test_values_of_all_kinds_are_read_and_written(fake: Fake, a: vecud.Rig) -> None:
    values = [
        ("f", "Float64", "NaN"),
        ("g", "Float32", ["-inf", 1.5, "inf"]),
        ("s", "String", "NaN"),
        ("x", "Binary", "AP8="),
        ("b", "Boolean", True),
        ("n", "Int8", None),
    ]
    signals = [{"name": n, "type": t, "unit": None, "value": v, "time": 0.0} for n, t, v in values]
    fake.says("GET", "/v1/rigs/a/signals", signals)
    read = a.read("*")
    assert math.isnan(read.pop("f"))
    assert read == {"g": [-math.inf, 1.5, math.inf], "s": "NaN", "x": b"\0\xff", "b": True, "n": None}

    with pytest.raises(vecud.Error, match=r"no signal is called g\[1\]"):
        a.read("g[1]")
    with pytest.raises(vecud.Error, match=r"no signal is called h, i "):
        a.read(["f", "h", "i"])

    class Numpy:
        def tolist(self) -> list[float]:
            return [1.0, math.nan]

    fake.on("PATCH", "/v1/rigs/a/variables", lambda r: r.json({name: {"time": 2.0} for name in json.loads(r.body)}))
    assert a.write("e.gain", -math.inf) == 2.0
    assert json.loads(fake.asked[-1][2]) == {"e.gain": "-inf"}
    assert a.write({"e.map": Numpy(), "e.raw": b"\0\xff", "e.on": True}) == {"e.map": 2.0, "e.raw": 2.0, "e.on": 2.0}
    assert json.loads(fake.asked[-1][2]) == {"e.map": [1.0, "NaN"], "e.raw": "AP8=", "e.on": True}


def test_a_condition_that_does_not_hold_is_a_timeout_with_the_newest_values(fake: Fake, a: vecud.Rig) -> None:
    fake.refuses("POST", "/v1/rigs/a/waits", 408, "not in time")
    value = {"name": "ecu.speed", "type": "Float64", "unit": None, "value": 800.0, "time": 1.0}

    def signals(request: Request) -> None:
        if request.path.endswith("=ecu.speed"):
            request.json([value])
        else:
            request.problem(422, "no such signal")

    fake.on("GET", "/v1/rigs/a/signals", signals)
    with pytest.raises(TimeoutError) as raised:
        a.wait_until("ecu.speed > 900.5 and rising(ecu.key-x.on)", timeout=0.5)
    error = raised.value
    assert isinstance(error, vecud.WaitTimeout)
    assert (error.condition, error.values) == ("ecu.speed > 900.5 and rising(ecu.key-x.on)", {"ecu.speed": 800.0})
    assert "did not hold within 0.5 s: ecu.speed = 800.0" in str(error)
    assert json.loads(fake.asked[1][2]) == {"condition": error.condition, "timeout": 0.5}


def test_a_wrong_condition_is_no_wrong_rig(fake: Fake, a: vecud.Rig) -> None:
    mistakes = [{"file": None, "line": None, "column": 8, "message": "a number is missing"}]
    kind = "/problems/invalid-condition"
    fake.refuses("POST", "/v1/rigs/a/waits", 422, "column 8: a number is missing", type=kind, mistakes=mistakes)
    with pytest.raises(vecud.Error, match=r"^column 8: a number is missing$") as raised:
        a.wait_until("e.x > ")
    assert not isinstance(raised.value, vecud.InvalidRig)
    assert raised.value.problem is not None and raised.value.problem.mistakes[0].column == 8


def test_signals_in_a_condition_are_found() -> None:
    condition = 'e.x_1 >= 1.5e3 and not rising("e.der(x)" < p-2.q.r[2,1]) or e.x_1 == true'
    assert in_condition(condition) == ["e.x_1", "e.der(x)", "p-2.q.r"]


def test_a_condition_that_holds_has_time_and_values_and_others_are_errors(fake: Fake, a: vecud.Rig) -> None:
    fake.says("POST", "/v1/rigs/a/waits", {"time": 2.5, "values": {"e.x": "inf", "e.key": True}})
    assert a.wait_until("e.x > 1 and e.key") == vecud.Held(2.5, {"e.x": math.inf, "e.key": True})
    fake.refuses("POST", "/v1/rigs/a/waits", 409, "the run has ended")
    with pytest.raises(vecud.Error, match="the run has ended") as raised:
        a.wait_until("e.x > 1")
    assert not isinstance(raised.value, TimeoutError)


def test_events_come_as_they_are_sent(fake: Fake, a: vecud.Rig) -> None:
    def stream(request: Request) -> None:
        request.begin_chunks("text/event-stream")
        for piece in (
            b": alive\n\nevent: sta",
            b'te\ndata: {"state":\ndata: "paused"}\n\n',
            b"event: nothing\n\n",
            b"id: 7\nretry: 10\r\ndata:plain\r\n\r\nevent: cut",
            b"",
        ):
            request.chunk(piece)

    fake.on("GET", "/v1/rigs/a/events", stream)
    assert list(a.events()) == [vecud.Event("state", {"state": "paused"}), vecud.Event("message", "plain")]
    with a.events(["ecu.*", "p.x"]) as events:
        assert next(events).kind == "state"
    assert fake.asked[-1][1] == "/v1/rigs/a/events?match=ecu.%2A&match=p.x"
    with pytest.raises(StopIteration):
        next(events)


def test_events_end_when_none_comes_in_time(fake: Fake, a: vecud.Rig) -> None:
    ended = threading.Event()

    def stream(request: Request) -> None:
        request.begin_chunks("text/event-stream")
        request.chunk(b"event: state\ndata: {}\n\n")
        while not ended.wait(0.05):
            request.chunk(b": alive\n\n")
        request.chunk(b"")

    fake.on("GET", "/v1/rigs/a/events", stream)
    began = time.monotonic()
    assert [event.kind for event in a.events(timeout=0.3)] == ["state"]
    assert time.monotonic() - began < 5
    ended.set()
    fake.refuses("GET", "/v1/rigs/a/events", 422, "no signal matches")
    with pytest.raises(vecud.Error, match="no signal matches"):
        a.events("x")


def test_a_run_that_is_over_already_is_stopped_in_peace(fake: Fake, daemon: vecud.Daemon) -> None:
    states = ["stopping", "idle"]
    fake.says("PUT", "/v1/rigs/a", status("idle"), 201)
    fake.says("POST", "/v1/rigs/a/start", status())
    fake.refuses("POST", "/v1/rigs/a/stop", 409, "it does not run")
    fake.on("GET", "/v1/rigs/a", lambda request: request.json(status(states.pop(0) if len(states) > 1 else "idle")))
    with vecud.Rig(text="[fmu]", name="a", mode="virtual", stop_time=1.0, daemon=daemon) as rig:
        assert json.loads(fake.asked[-1][2]) == {"mode": "virtual", "stop_time": 1.0}
    assert rig.status().is_over
    fake.refuses("POST", "/v1/rigs/a/stop", 507, "no space")
    with pytest.raises(vecud.Error, match="no space"):
        rig.stop()


def test_a_failure_in_the_block_is_told_also_when_the_daemon_is_gone(fake: Fake, daemon: vecud.Daemon) -> None:
    fake.says("PUT", "/v1/rigs/a", status("idle"), 201)
    fake.says("POST", "/v1/rigs/a/start", status())

    def gone(request: Request) -> None:
        request.connection.shutdown(socket.SHUT_RDWR)
        request.close_connection = True

    fake.on("POST", "/v1/rigs/a/stop", gone)
    with pytest.raises(ZeroDivisionError), vecud.Rig(text="x", name="a", daemon=daemon):
        raise ZeroDivisionError
    with pytest.raises(vecud.NoDaemon), vecud.Rig(text="x", name="a", daemon=daemon):
        pass


def test_joining_a_run_that_goes_on_ends_in_time(fake: Fake, a: vecud.Rig) -> None:
    fake.says("GET", "/v1/rigs/a", status())
    with pytest.raises(TimeoutError):
        a.join(timeout=0.1)
    fake.says("GET", "/v1/rigs/a", status("failed", restart_at="2026-11-25T10:00:05Z"))
    with pytest.raises(TimeoutError):
        a.join(timeout=0.1)


def test_limits_name_who_exceeds_them_and_by_how_much(fake: Fake, a: vecud.Rig) -> None:
    clocks = [
        fakes.clock("e", "fast", 1000),
        fakes.clock("e", "slow", 1_000_000, overruns=2),
        fakes.clock("p", "x", 0, 0),
    ]
    fake.says("GET", "/v1/rigs/a/clocks", clocks)
    a.assert_limits(clocks="e.*", overruns=2, p99_9_start_latency=4.1e-3, max_response=6.1e-3)
    a.assert_limits(clocks="e.fast", overruns=0, max_start_latency=6.1e-6)
    with pytest.raises(AssertionError) as raised:
        a.assert_limits(overruns=1, p50_start_latency=0.5e-3)
    assert isinstance(raised.value, vecud.LimitsExceeded)
    assert raised.value.exceeded == ["e.slow: 2 overruns, limit 1", "e.slow: p50_start_latency 1 ms, limit 500 µs"]
    for wrong in ({"max_latency": 1.0}, {"p98_response": 1.0}, {"response": 1.0}, {"max_parts": 1.0}, {}):
        with pytest.raises(TypeError):
            a.assert_limits(**wrong)
    with pytest.raises(AssertionError, match="no clock matches q"):
        a.assert_limits(clocks="q.*", overruns=0)
    with pytest.raises(AssertionError, match="nothing was measured"):
        a.assert_limits(clocks="p.x", max_start_latency=1.0)


def test_figures_are_seconds_and_those_of_a_run_that_is_over_are_its_report(fake: Fake, a: vecud.Rig) -> None:
    fake.refuses("GET", "/v1/rigs/a/clocks", 409, "it does not run")
    fake.says("GET", "/v1/rigs/a", status("idle"))
    report = {"verdict": "pass", "ended": "finished", "problems": [], "clocks": [fakes.clock("e", "t", 1000)]}
    fake.says("GET", "/v1/rigs/a/runs/r1", report)
    clock = a.clock("e.t")
    assert (clock.p50, clock.p90, clock.p99, clock.p99_9, clock.max) == pytest.approx((1e-6, 2e-6, 3e-6, 4e-6, 6e-6))
    assert (clock.activations, clock.overruns, clock.execution.count) == (100, 0, 100)
    with pytest.raises(vecud.Error, match=r"no clock e.u; it has e.t"):
        a.clock("e.u")


def test_problems_of_both_formats_are_texts_and_objects(fake: Fake, a: vecud.Rig) -> None:
    fake.says("GET", "/v1/rigs/a", status("idle"))
    subject = {"clock": {"fmu": "e", "clock": "t"}}
    late = {"kind": "overruns", "severity": "warning", "subject": subject, "text": "clock e.t: 3 overruns", "count": 3}
    report = {"format_version": 2, "verdict": "degraded", "ended": "finished", "problems": [late], "clocks": []}
    fake.says("GET", "/v1/rigs/a/runs/r1", report)
    degraded = a.report()
    assert (degraded.passed, degraded.problems, degraded.problem_objects) == (True, ["clock e.t: 3 overruns"], [late])
    older = {"problems": ["it crashed", "late"], "problem_severities": ["failure", "warning"]}
    fake.says("GET", "/v1/rigs/a/runs/r1", {**report, **older, "format_version": 1, "verdict": "fail"})
    failed = a.report()
    assert (failed.passed, failed.problems) == (False, ["it crashed", "late"])
    told = [("failure", "it crashed"), ("warning", "late")]
    assert failed.problem_objects == [
        {"kind": "other", "severity": severity, "subject": "run", "text": text} for severity, text in told
    ]


def test_runs_are_all_of_them_however_many_an_answer_lists(fake: Fake, a: vecud.Rig) -> None:
    pages = {
        "": (["r4", "r5"], "r4"),
        "?limit=2&before=r4": (["r2", "r3"], "r2"),
        "?limit=2&before=r2": (["r1"], None),
    }

    def page(request: Request) -> None:
        path, mark, query = request.path.partition("?")
        names, first = pages[mark + query]
        link = {"Link": f'<{path}?limit=2&before={first}>; rel="next"'} if first else {}
        runs = [{"run": name, "verdict": "pass", "ended": "finished", "files": [f"{name}.csv"]} for name in names]
        request.answer(200, json.dumps(runs).encode(), headers=link)

    fake.on("GET", "/v1/rigs/a/runs", page)
    assert [run["run"] for run in a.runs()] == ["r1", "r2", "r3", "r4", "r5"]
    fake.says("GET", "/v1/rigs/a/runs/r1", {"verdict": "pass", "ended": "finished", "problems": [], "clocks": []})
    assert a.report("r1").files == ["r1.csv"]


def test_a_report_is_saved_by_its_files(fake: Fake, a: vecud.Rig, tmp_path: Path) -> None:
    fake.says("GET", "/v1/rigs/a", status("idle"))
    fake.says("GET", "/v1/rigs/a/runs/r1", {"verdict": "fail", "ended": "finished", "problems": ["late"], "clocks": []})
    files = ["report.html", "report.json", "run.log", "signals.csv", "x.hgrm"]
    fake.says("GET", "/v1/rigs/a/runs", [{"run": "r1", "verdict": "fail", "ended": "finished", "files": files}])
    for name in files:
        fake.on("GET", f"/v1/rigs/a/runs/r1/{name}", lambda request: request.answer(200, b"x" * 200_000, "text/html"))
    report = a.report()
    assert (report.passed, report.problems, report.folder) == (False, ["late"], None)
    saved = report.save(tmp_path / "kept" / "here")
    assert [path.name for path in saved] == ["report.html", "report.json", "run.log", "signals.csv"]
    assert all(path.stat().st_size == 200_000 for path in saved)
    with pytest.raises(vecud.Error, match="has no file"):
        report.save(tmp_path, ["nothing*"])
    # Whoever answers does not choose where files go: nothing is written, not even files of good names.
    for name in ["../out", "/tmp/out", "..", ".", "", "a/b", "a\\b", str(tmp_path / "out")]:
        run = {"run": "r1", "verdict": "fail", "ended": "finished", "files": ["run.log", name]}
        fake.says("GET", "/v1/rigs/a/runs", [run])
        with pytest.raises(vecud.Error, match="a file of a name that is none"):
            a.report().save(tmp_path / "none", ["run.log", name])
    assert not (tmp_path / "none").exists() and not (tmp_path / "out").exists()
    fake.says("GET", "/v1/rigs/a", status("idle", run=None))
    with pytest.raises(vecud.Error, match="has not run yet"):
        a.report()
