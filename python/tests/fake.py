"""A daemon that says what a test wants it to: for answers that a real one gives seldom."""

from __future__ import annotations

import json
import socketserver
import threading
from collections.abc import Callable
from http.server import BaseHTTPRequestHandler
from pathlib import Path
from typing import Any

Handler = Callable[["Request"], None]


class Request(BaseHTTPRequestHandler):
    """What was asked, and how it is answered."""

    protocol_version = "HTTP/1.1"
    server: Fake
    body: bytes

    def answer(
        self, status: int, body: bytes, kind: str = "application/json", headers: dict[str, str] | None = None
    ) -> None:
        """An answer in one piece."""
        self.send_response(status)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(body)))
        for name, value in (headers or {}).items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(body)

    def json(self, data: Any, status: int = 200, kind: str = "application/json") -> None:
        """An answer of JSON."""
        self.answer(status, json.dumps(data).encode(), kind)

    def problem(self, status: int, detail: str, **more: Any) -> None:
        """What is wrong, as the daemon says it."""
        kind = more.pop("type", "/problems/state")
        problem = {"type": kind, "title": "title", "status": status, "detail": detail, **more}
        self.json(problem, status, "application/problem+json")

    def begin_chunks(self, kind: str) -> None:
        """An answer whose length nobody knows."""
        self.send_response(200)
        self.send_header("Content-Type", kind)
        self.send_header("Transfer-Encoding", "chunked")
        self.end_headers()

    def chunk(self, data: bytes) -> None:
        """A piece of it; an empty one is its end."""
        self.wfile.write(f"{len(data):x}\r\n".encode() + data + b"\r\n")
        self.wfile.flush()

    def handle_any(self) -> None:
        self.body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        self.server.asked.append((self.command, self.path, self.body))
        handler = self.server.handlers.get((self.command, self.path.split("?")[0]))
        if handler is None:
            self.problem(404, "there is nothing at this path", type="/problems/unknown-path")
        else:
            handler(self)

    do_GET = do_POST = do_PUT = do_PATCH = do_DELETE = handle_any

    def address_string(self) -> str:
        return "client"

    def log_message(self, format: str, *args: Any) -> None:
        pass


class Fake(socketserver.ThreadingUnixStreamServer):
    """Answers by the handlers of method and path; without one with 404."""

    daemon_threads = True

    def __init__(self, folder: Path) -> None:
        self.path = str(folder / "socket")
        self.handlers: dict[tuple[str, str], Handler] = {}
        self.asked: list[tuple[str, str, bytes]] = []
        super().__init__(self.path, Request)
        self.on("GET", "/healthz", lambda request: request.answer(200, b"ok\n", "text/plain"))
        threading.Thread(target=self.serve_forever, args=(0.01,), daemon=True).start()

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Clients that have heard enough go away."""

    def on(self, method: str, path: str, handler: Handler) -> None:
        """From now on that is answered so."""
        self.handlers[method, path] = handler

    def says(self, method: str, path: str, data: Any, status: int = 200) -> None:
        """From now on that is answered with this JSON."""
        self.on(method, path, lambda request: request.json(data, status))

    def refuses(self, method: str, path: str, status: int, detail: str, **more: Any) -> None:
        """From now on that is answered with this problem."""
        self.on(method, path, lambda request: request.problem(status, detail, **more))


def status(state: str = "running", **more: Any) -> dict[str, Any]:
    """A status of the rig `a`."""
    return {
        "name": "a",
        "state": state,
        "verdict": None,
        "exit_code": None,
        "since": "2026-11-25T10:00:00Z",
        "run": "r1",
        "restart_at": None,
        "restarts": 0,
        "problems": [],
        **more,
    }


def clock(fmu: str, name: str, scale: int = 1000, count: int = 100, **more: Any) -> dict[str, Any]:
    """A clock, as in report.json: percentiles are `scale` ns times 1, 2, 3 and so on."""
    figures = {"min": 1, "p50": 1, "p90": 2, "p99": 3, "p99_9": 4, "p99_99": 5, "max": 6, "mean": 1.5}
    distribution = {"count": count, **{key: value * scale for key, value in figures.items()}}
    metrics = ("start_latency", "wakeup_latency", "start_jitter", "execution", "response")
    return {
        "fmu": fmu,
        "clock": name,
        "activations": count,
        "overruns": 0,
        "skipped": 0,
        **{metric: distribution for metric in metrics},
        **more,
    }
