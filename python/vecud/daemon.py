"""The daemon that runs rigs: one that is there already, or one of this process's own."""

from __future__ import annotations

import os
import socket
import threading
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any

from .http import Client
from .process import OwnDaemon
from .status import Status

if TYPE_CHECKING:
    from .rig import Rig


class Daemon:
    """A daemon.

    With a `socket`, or a `url` and a `token_file`, it is the one there, which sees the same files as this process behind a socket, and
    others behind a URL, unless `local` says otherwise (of a socket that comes from another machine, through ssh). Otherwise it is
    the one at `VECUD_SOCKET`, else the one at the usual socket, `vecud.sock` in `$RUNTIME_DIRECTORY`, `$XDG_RUNTIME_DIR` or `/run/vecud`, if it
    answers; else one is started, which ends with this process, or with `close()`.
    """

    def __init__(
        self,
        socket: str | None = None,
        url: str | None = None,
        token_file: str | None = None,
        local: bool | None = None,
    ) -> None:
        self._own: OwnDaemon | None = None
        if socket is None and url is None:
            if token_file is not None:
                raise ValueError("a token is for a daemon at a URL: name that, too")
            socket = os.environ.get("VECUD_SOCKET") or usual_socket()
            if socket is None:
                self._own = OwnDaemon()
                socket = self._own.socket
        #: Whether it sees the same files as this process.
        self.is_local = url is None if local is None else local
        self.client = Client(socket=socket, url=url, token_file=token_file)
        try:
            # Behind a URL it is asked for something that needs the token.
            self.client.ask("GET", "/healthz" if url is None else "/v1/rigs")
        except BaseException:
            self.close()
            raise

    @classmethod
    def start(cls, binary: str | None = None, rigs: str | None = None, state: str | None = None) -> Daemon:
        """One of this process's own, whoever else runs: the program (default: `VECUD`, else vecud in the path), the folder that
        relative paths in texts of rigs count from (default: the current one), and where runs are kept (default: nowhere once
        it has ended)."""
        own = OwnDaemon(binary, rigs, state)
        daemon = cls(socket=own.socket)
        daemon._own = own
        return daemon

    @property
    def is_own(self) -> bool:
        """Whether this process has started it."""
        return self._own is not None

    @property
    def state_folder(self) -> Path | None:
        """Where it keeps runs; None: somebody else has started it, and only that one knows."""
        return self._own.state if self._own else None

    def rigs(self) -> list[Status]:
        """How far each of its rigs is."""
        return [Status.of(status) for status in self.client.ask_json("GET", "/v1/rigs")]

    def rig(self, name: str) -> Rig:
        """A rig that is there already."""
        from .rig import Rig

        return Rig(name=name, daemon=self)

    def openapi(self) -> Any:
        """What the daemon says of its requests."""
        return self.client.ask_json("GET", "/openapi.json")

    def metrics(self) -> str:
        """Its figures, as Prometheus reads them."""
        return self.client.ask("GET", "/metrics").body.decode()

    def close(self) -> None:
        """Ends a daemon that this process has started, after its rigs. Another one goes on."""
        if self._own is not None:
            self._own.end()

    def __enter__(self) -> Daemon:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"<vecud.Daemon at {self.client.place}{', own' if self.is_own else ''}>"


# Where systemd/vecud.service listens.
SERVICE = "/run/vecud"


def usual_socket() -> str | None:
    """The socket where a daemon listens unless it is told otherwise, that of this user or the system's, if one answers there."""
    folders = [os.environ.get("RUNTIME_DIRECTORY"), os.environ.get("XDG_RUNTIME_DIR"), SERVICE]
    for path in (os.path.join(folder, "vecud.sock") for folder in folders if folder):
        with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as attempt:
            try:
                attempt.connect(path)
                return path
            except OSError:
                continue
    return None


_default: Daemon | None = None
_choosing = threading.Lock()


def default_daemon() -> Daemon:
    """The daemon of all rigs of this process that name none: found or started once, and again after it was closed."""
    global _default
    with _choosing:
        if _default is None or (_default._own is not None and not _default._own.folder.exists()):
            _default = Daemon()
        return _default
