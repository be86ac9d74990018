"""A daemon of one's own: in a temporary folder, and gone when Python is, however that ends.

A shell starts it and holds one end of a pipe, of which this process has the other one. When this process is gone, killed
or not, the pipe ends, and the shell ends the daemon in good order. (A signal that the kernel sends when a parent dies would
not do: it is not sent to programs with file capabilities, which a vecud for real time has.)
"""

from __future__ import annotations

import atexit
import os
import shutil
import signal
import socket
import subprocess
import tempfile
import time
from pathlib import Path

from .errors import NoDaemon

#: How long a daemon may take until it answers, s.
START = 20.0
#: How long its rigs may take to end, s, before it is killed.
END = 60.0
#: A path of a socket is at most as long (sockaddr_un).
LONGEST_SOCKET = 107

# $0 is the folder, $@ the daemon's command line. A line in the pipe asks for the end; where the pipe ends without one, Python is gone,
# and nobody else removes the folder.
GUARD = """
exec 3<&0
"$@" </dev/null 3<&- &
daemon=$!
{ read -r line <&3 || : >"$0/orphaned"; kill -TERM "$daemon"; } 2>/dev/null &
guard=$!
exec 3<&-
wait "$daemon"
code=$?
kill "$guard" 2>/dev/null
[ ! -e "$0/orphaned" ] || rm -rf -- "$0"
exit "$code"
"""


def binary(named: str | None = None) -> str:
    """The program: this one, else what VECUD names, else vecud in the path."""
    named = named or os.environ.get("VECUD")
    found = shutil.which(named or "vecud")
    if found is None:
        what = f"there is no program {named}" if named else "there is no vecud in the path"
        raise NoDaemon(f"{what}: name one with VECUD, or a daemon that runs with VECUD_SOCKET")
    return os.path.abspath(found)


class OwnDaemon:
    """A daemon that this process has started."""

    def __init__(self, program: str | None = None, rigs: str | None = None, state: str | None = None) -> None:
        program = binary(program)
        self._pid = os.getpid()
        self.folder = _folder()
        self.socket = str(self.folder / "socket")
        self.state = Path(state).absolute() if state else self.folder / "state"
        self.log = self.folder / "log"
        command = [program, "daemon", "--socket", self.socket, "--state", str(self.state)]
        command += ["--rigs", os.path.abspath(rigs or ".")]
        with self.log.open("wb") as log:
            # A session of its own: Ctrl-C is for whoever uses the daemon, who then ends it.
            self._shell = subprocess.Popen(
                ["/bin/sh", "-c", GUARD, str(self.folder), *command],
                stdin=subprocess.PIPE,
                stdout=log,
                stderr=log,
                start_new_session=True,
            )
        atexit.register(self.end)
        try:
            self._wait_until_it_answers(program)
        except BaseException:
            self.end()
            raise

    def _wait_until_it_answers(self, program: str) -> None:
        deadline = time.monotonic() + START
        while True:
            with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as attempt:
                try:
                    return attempt.connect(self.socket)
                except OSError:
                    pass
            code = self._shell.poll()
            if code is not None:
                said = self.log.read_text("utf-8", "replace").strip()
                hint = (
                    "; it was built without its feature `daemon` (`cargo build --release` has it)"
                    if "unrecognized" in said
                    else ""
                )
                raise NoDaemon(f"`{program} daemon` has ended with {code}{hint}:\n{said}")
            if time.monotonic() > deadline:
                raise NoDaemon(f"`{program} daemon` does not answer within {START:g} s")
            time.sleep(0.01)

    def end(self) -> None:
        """Ends it, its rigs in good order, and removes its folder. A second time, and in a forked process, nothing happens."""
        if os.getpid() != self._pid or not self.folder.exists():
            return
        atexit.unregister(self.end)
        pipe = self._shell.stdin
        if pipe is not None and not pipe.closed:
            try:
                pipe.write(b"\n")
                pipe.close()
            except OSError:
                pass  # The shell is gone already.
        try:
            self._shell.wait(END)
        except subprocess.TimeoutExpired:
            os.killpg(self._shell.pid, signal.SIGKILL)
            self._shell.wait()
        shutil.rmtree(self.folder, ignore_errors=True)


def _folder() -> Path:
    """A folder that only this user may look into, with a path short enough for a socket."""
    folder = tempfile.mkdtemp(prefix="vecud-")
    if len(os.fsencode(folder)) + len("/socket") > LONGEST_SOCKET:
        os.rmdir(folder)
        folder = tempfile.mkdtemp(prefix="vecud-", dir="/tmp")
    return Path(folder)
