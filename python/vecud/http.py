"""HTTP over a unix socket, or over TCP with a token.

Each request has a connection of its own, so that any number of threads may ask at once.
"""

from __future__ import annotations

import contextlib
import http.client
import json
import re
import socket
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from .errors import Error, NoDaemon, Problem, is_told, raised

__tracebackhide__ = is_told

#: The daemon answers within 300 s, if only by saying that it takes longer.
PATIENCE = 320.0

#: How much of a file is in memory at once.
PIECE = 1 << 16


@dataclass(frozen=True)
class Answer:
    """What was answered."""

    status: int
    headers: http.client.HTTPMessage
    body: bytes

    def json(self) -> Any:
        """The body, which is JSON."""
        try:
            return json.loads(self.body) if self.body.strip() else None
        except ValueError as error:
            raise Error(f"the answer is no JSON: {error}: {self.body[:200]!r}") from error


class _UnixConnection(http.client.HTTPConnection):
    """A connection to a socket in the file system."""

    def __init__(self, path: str, timeout: float | None) -> None:
        super().__init__("vecud", timeout=timeout)
        self.path = path

    def connect(self) -> None:
        self.sock = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self.sock.settimeout(self.timeout)
        self.sock.connect(self.path)


class Client:
    """Whoever asks a daemon."""

    def __init__(self, *, socket: str | None = None, url: str | None = None, token_file: str | None = None) -> None:
        if (socket is None) == (url is None):
            raise ValueError("a daemon is at a socket, or at a URL: name one of them")
        self.socket = socket
        self.url = url
        self._token: str | None = None
        if url is not None:
            parts = urlsplit(url)
            if parts.scheme not in ("http", "https") or not parts.hostname:
                raise ValueError(f"{url!r} is no URL of a daemon, such as http://127.0.0.1:8080")
            self._https = parts.scheme == "https"
            self._host, self._port = parts.hostname, parts.port
            self._prefix = parts.path.rstrip("/")
        else:
            self._prefix = ""
        if token_file is not None:
            self._token = Path(token_file).read_text(encoding="utf-8").strip()

    @property
    def place(self) -> str:
        """Where the daemon is, for people."""
        return self.socket or self.url or ""

    def _connection(self, timeout: float | None) -> http.client.HTTPConnection:
        if self.socket is not None:
            return _UnixConnection(self.socket, timeout)
        kind = http.client.HTTPSConnection if self._https else http.client.HTTPConnection
        return kind(self._host, self._port, timeout=timeout)

    def open(
        self,
        method: str,
        path: str,
        body: bytes | None = None,
        headers: dict[str, str] | None = None,
        timeout: float | None = PATIENCE,
    ) -> tuple[http.client.HTTPConnection, http.client.HTTPResponse]:
        """Asks, and leaves the body of the answer unread. The connection is the caller's, who closes it."""
        connection = self._connection(timeout)
        headers = {"Connection": "close", **(headers or {})}
        if self._token is not None:
            headers["Authorization"] = f"Bearer {self._token}"
        try:
            # It may have answered, and hung up, before it has heard all: then the answer says why.
            with contextlib.suppress(BrokenPipeError, ConnectionResetError):
                connection.request(method, self._prefix + path, body, headers)
            return connection, connection.getresponse()
        except socket.timeout as error:
            connection.close()
            raise Error(f"{method} {path}: no answer from {self.place} within {timeout:g} s") from error
        except (OSError, http.client.HTTPException) as error:
            connection.close()
            raise NoDaemon(f"no daemon answers at {self.place}: {error or type(error).__name__}") from error

    def ask(
        self,
        method: str,
        path: str,
        body: bytes | None = None,
        headers: dict[str, str] | None = None,
        timeout: float = PATIENCE,
        also: tuple[int, ...] = (),
    ) -> Answer:
        """Asks, and reads the whole answer. A problem is raised, unless its status is one of `also`."""
        connection, response = self.open(method, path, body, headers, timeout)
        try:
            answer = Answer(response.status, response.headers, response.read())
        except socket.timeout as error:
            raise Error(f"{method} {path}: the answer from {self.place} takes longer than {timeout:g} s") from error
        except (OSError, http.client.HTTPException) as error:
            raise NoDaemon(f"{method} {path}: the answer from {self.place} breaks off: {error!r}") from error
        finally:
            connection.close()
        if answer.status >= 400 and answer.status not in also:
            raise raised(problem_of(answer))
        return answer

    def ask_json(self, method: str, path: str, body: Any = None, timeout: float = PATIENCE) -> Any:
        """Sends JSON, if there is something to send, and answers what the JSON of the answer says."""
        headers = {}
        text = None
        if body is not None:
            text = json.dumps(body, allow_nan=False).encode()
            headers["Content-Type"] = "application/json"
        return self.ask(method, path, text, headers, timeout).json()

    def pages(self, path: str) -> Iterator[list[Any]]:
        """The lists of a path, each of which names the path of the next one (`Link`)."""
        following: str | None = path
        while following:
            answer = self.ask("GET", following)
            yield answer.json()
            found = re.match(r'<(/[^>]*)>; rel="next"', answer.headers.get("Link", ""))
            following = found and found[1]

    def files_of(self, runs: str, run: str) -> list[str]:
        """The files of a run, which is one of those at this path."""
        all_runs = (summary for page in self.pages(runs) for summary in page)
        return next((list(summary["files"]) for summary in all_runs if summary["run"] == run), [])

    def save(self, path: str, file: Path) -> None:
        """Writes the answer to a GET into a file, piece by piece."""
        connection, response = self.open("GET", path)
        try:
            if response.status != 200:
                raise raised(problem_of(Answer(response.status, response.headers, response.read())))
            with file.open("wb") as out:
                try:
                    while piece := response.read(PIECE):
                        out.write(piece)
                except BaseException:
                    # A part could be taken for the whole.
                    file.unlink(missing_ok=True)
                    raise
        except http.client.HTTPException as error:
            raise NoDaemon(f"GET {path}: the answer from {self.place} breaks off: {error!r}") from error
        finally:
            connection.close()


def problem_of(answer: Answer) -> Problem:
    """What an answer of status 400 or more says, whoever wrote it."""
    kind = answer.headers.get_content_type()
    if kind in ("application/problem+json", "application/json"):
        try:
            data = json.loads(answer.body)
            if isinstance(data, dict):
                return Problem.of(answer.status, data)
        except ValueError:
            pass
    title = http.client.responses.get(answer.status, "error")
    text = answer.body.decode("utf-8", "replace").strip()
    return Problem("about:blank", title, answer.status, text or f"{answer.status} {title}")
