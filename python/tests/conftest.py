"""Who speaks to whom in these tests: a fake daemon for single answers, a real one where VECUD names a program."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
from fake import Fake

import vecud

#: The folder of the project.
ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture
def fake(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Fake]:
    """A daemon that says what the test wants."""
    folder = tmp_path_factory.mktemp("fake")
    with Fake(folder) as server:
        yield server
        server.shutdown()


@pytest.fixture
def daemon(fake: Fake) -> vecud.Daemon:
    """A client of it."""
    return vecud.Daemon(socket=fake.path)


@pytest.fixture
def a(daemon: vecud.Daemon) -> vecud.Rig:
    """A rig `a` of it."""
    return daemon.rig("a")


@pytest.fixture(scope="session")
def program() -> str:
    """The program whose daemon is tried."""
    named = os.environ.get("VECUD")
    if not named:
        pytest.skip("VECUD names no vecud")
    found = shutil.which(named)
    assert found, f"VECUD names {named}, which is no program"
    return os.path.abspath(found)


@pytest.fixture(scope="session")
def live(program: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[vecud.Daemon]:
    """A real daemon."""
    with vecud.Daemon.start(program, rigs=str(ROOT / "examples")) as daemon:
        yield daemon
