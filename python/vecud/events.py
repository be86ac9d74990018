"""Server-sent events of a rig, as they come."""

from __future__ import annotations

import http.client
import json
import socket
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from types import TracebackType
from typing import Any
from urllib.parse import urlencode

from .errors import NoDaemon, is_told, raised
from .http import Answer, Client, problem_of

__tracebackhide__ = is_told


@dataclass(frozen=True)
class Event:
    """Something that has happened."""

    #: state, problem, figures or signals.
    kind: str
    #: What is told of it.
    data: Any


class Events(Iterator[Event]):
    """The events of a rig from now on. It ends when the daemon ends it, or after `timeout` seconds without an event; close it when
    you have heard enough, or use it as a context manager."""

    def __init__(self, client: Client, path: str, match: Sequence[str], timeout: float | None) -> None:
        if match:
            path += "?" + urlencode([("match", pattern) for pattern in match])
        self._timeout = timeout
        self._place = client.place
        headers = {"Accept": "text/event-stream"}
        self._connection, self._response = client.open("GET", path, headers=headers, timeout=timeout)
        if self._response.status != 200:
            answer = Answer(self._response.status, self._response.headers, self._response.read())
            self.close()
            raise raised(problem_of(answer))

    def __next__(self) -> Event:
        # Lines that only keep the connection alive are no event.
        deadline = None if self._timeout is None else time.monotonic() + self._timeout
        kind, data = "message", list[str]()
        while deadline is None or time.monotonic() < deadline:
            line = self._line()
            if line is None:
                break
            if line == "":
                if data:
                    return Event(kind, _parsed("\n".join(data)))
                kind = "message"
                continue
            field, _, value = line.partition(":")
            value = value[1:] if value.startswith(" ") else value
            if field == "event":
                kind = value
            elif field == "data":
                data.append(value)
        self.close()
        raise StopIteration

    def _line(self) -> str | None:
        """The next line; None: there is no further one, or not in time."""
        try:
            line = self._response.readline()
        except socket.timeout:
            return None
        except (http.client.HTTPException, OSError, ValueError) as error:
            if self._response.closed:
                return None
            self.close()
            raise NoDaemon(f"the events from {self._place} break off: {error!r}") from error
        return line.decode("utf-8", "replace").rstrip("\r\n") if line else None

    def close(self) -> None:
        """Nothing more is wanted."""
        self._response.close()
        self._connection.close()

    def __enter__(self) -> Events:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


def _parsed(text: str) -> Any:
    try:
        return json.loads(text)
    except ValueError:
        return text
