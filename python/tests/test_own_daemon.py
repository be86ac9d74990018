"""A daemon that this package starts, and that is gone when Python is."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from fake import Fake

import vecud
from vecud.daemon import usual_socket


def until(what: str, holds: Callable[[], bool]) -> None:
    """Waits until something holds."""
    deadline = time.monotonic() + 30
    while not holds():
        assert time.monotonic() < deadline, what
        time.sleep(0.02)


def processes(folder: str) -> list[str]:
    """The command lines of processes that name this folder."""
    found = []
    for entry in Path("/proc").iterdir():
        try:
            line = (entry / "cmdline").read_bytes()
        except OSError:
            continue
        if entry.name.isdigit() and folder.encode() in line and int(entry.name) != os.getpid():
            found.append(line.decode(errors="replace"))
    return found


def test_it_ends_when_it_is_closed_and_leaves_nothing(program: str) -> None:
    daemon = vecud.Daemon.start(program)
    assert daemon.is_own and daemon.is_local and daemon.rigs() == []
    folder = str(Path(daemon.client.place).parent)
    assert len(processes(folder)) >= 2 and os.stat(folder).st_mode & 0o077 == 0
    daemon.close()
    assert not os.path.exists(folder)
    until("all of it is gone", lambda: not processes(folder))
    daemon.close()


def test_a_state_folder_that_is_given_stays(program: str, tmp_path: Path) -> None:
    with vecud.Daemon.start(program, state=str(tmp_path / "state")) as daemon:
        assert daemon.state_folder == tmp_path / "state"
    assert (tmp_path / "state").is_dir()


@pytest.mark.parametrize("end", ["pass", "os._exit(3)", "os.kill(os.getpid(), signal.SIGKILL)", "1 / 0"])
def test_it_ends_when_python_does_however_that_ends(program: str, end: str) -> None:
    code = f"import os, signal, vecud; d = vecud.Daemon(); print(d.is_own, d.client.place, flush=True); {end}"
    environment = {
        k: v for k, v in os.environ.items() if k not in ("VECUD_SOCKET", "XDG_RUNTIME_DIR", "RUNTIME_DIRECTORY")
    }
    environment["VECUD"] = program
    python = subprocess.run(
        [sys.executable, "-c", code], env=environment, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
    )
    own, place = python.stdout.split()
    folder = str(Path(place).parent)
    assert own == "True"
    until("the daemon is gone", lambda: not processes(folder))
    until("its folder is gone", lambda: not os.path.exists(folder))


def test_a_forked_process_does_not_end_it(program: str) -> None:
    code = """
import os, sys, vecud
daemon = vecud.Daemon.start()
child = os.fork()
if child == 0:
    sys.exit(0)
os.waitpid(child, 0)
print(daemon.rigs())
child = os.fork()
if child == 0:
    import time
    time.sleep(60)
    os._exit(0)
daemon.close()
print(os.path.exists(daemon.client.place))
import signal
os.kill(child, signal.SIGKILL)
"""
    environment = {**os.environ, "VECUD": program}
    python = subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, text=True, timeout=50)
    assert python.stdout == "[]\nFalse\n", python.stderr


def test_ctrl_c_is_for_python_which_ends_it(program: str, tmp_path: Path) -> None:
    # Whoever runs these tests in the background may have had SIGINT ignored.
    code = """
import signal, time, vecud
signal.signal(signal.SIGINT, signal.default_int_handler)
daemon = vecud.Daemon.start()
print(daemon.client.place, flush=True)
time.sleep(60)
"""
    python = subprocess.Popen(
        [sys.executable, "-c", code],
        env={**os.environ, "VECUD": program},
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
        text=True,
    )
    assert python.stdout is not None
    folder = str(Path(python.stdout.readline().strip()).parent)
    os.killpg(python.pid, signal.SIGINT)
    python.wait(30)
    python.stdout.close()
    until("the daemon is gone", lambda: not processes(folder) and not os.path.exists(folder))


def test_programs_that_are_no_daemon_are_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.delenv("VECUD", raising=False)
    with pytest.raises(vecud.NoDaemon, match="no vecud in the path: name one with VECUD"):
        vecud.Daemon.start()
    monkeypatch.setenv("VECUD", str(tmp_path / "nope"))
    with pytest.raises(vecud.NoDaemon, match="there is no program"):
        vecud.Daemon.start()
    old = tmp_path / "vecud"
    old.write_text("#!/bin/sh\necho \"error: unrecognized subcommand 'daemon'\" >&2\nexit 2\n")
    old.chmod(0o755)
    with pytest.raises(
        vecud.NoDaemon, match=r"(?s)ended with 2; it was built without its feature `daemon`.*unrecognized"
    ):
        vecud.Daemon.start(str(old))


def test_a_daemon_that_is_there_is_used(fake: Fake, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("VECUD", str(tmp_path / "nope"))
    monkeypatch.setenv("VECUD_SOCKET", fake.path)
    daemon = vecud.Daemon()
    assert not daemon.is_own and daemon.client.place == fake.path
    monkeypatch.setenv("VECUD_SOCKET", str(tmp_path / "nobody"))
    with pytest.raises(vecud.NoDaemon, match="nobody"):
        vecud.Daemon()
    monkeypatch.delenv("VECUD_SOCKET")
    monkeypatch.setenv("RUNTIME_DIRECTORY", str(tmp_path))
    monkeypatch.setattr("vecud.daemon.SERVICE", str(tmp_path / "none"))
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(tmp_path / "user"))
    assert usual_socket() is None
    (tmp_path / "user").mkdir()
    os.symlink(fake.path, tmp_path / "user" / "vecud.sock")
    assert vecud.Daemon().client.place == str(tmp_path / "user" / "vecud.sock")


def test_a_deep_temporary_folder_is_no_hindrance(program: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    deep = tmp_path / ("x" * 100)
    deep.mkdir()
    monkeypatch.setattr("tempfile.tempdir", str(deep))
    with vecud.Daemon.start(program) as daemon:
        assert len(daemon.client.place) < 108
    assert list(deep.iterdir()) == []
