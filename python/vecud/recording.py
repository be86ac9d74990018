"""Rows of the recording of a run that goes on, as they are written: every sample, not only the newest ones."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Mapping, Sequence
from typing import Any
from urllib.parse import quote

from .errors import Error, is_told
from .http import Client
from .names import matches, whole
from .values import cell

__tracebackhide__ = is_told

_FILE = re.compile(r"signals(?:-(\d{6,}))?\.csv")

#: How much of a file is asked for to find its header.
_HEAD = 1 << 16

#: The file is there and has nothing more; there is no such file.
_NO_MORE, _NOT_THERE = 416, 404


def number_of(file: str) -> int | None:
    """Which of the files of a recording in CSV this is, from 0 on; None: none of them."""
    found = _FILE.fullmatch(file)
    return int(found[1] or 0) if found else None


def file_of(number: int) -> str:
    """The name of that file."""
    return f"signals-{number:06}.csv" if number else "signals.csv"


class Records:
    """Pieces of a file of CSV, as whole records: a line break inside of quotes ends none."""

    def __init__(self) -> None:
        self._rest = b""

    def feed(self, data: bytes) -> list[list[str]]:
        """The records that are complete with these bytes."""
        data = self._rest + data
        end = seen = quotes = 0
        at = data.find(b"\n")
        while at >= 0:
            quotes += data.count(b'"', seen, at)
            seen = at + 1
            if quotes % 2 == 0:
                end = seen
            at = data.find(b"\n", seen)
        self._rest = data[end:]
        return list(csv.reader(io.StringIO(data[:end].decode("utf-8", "replace"), newline="")))


class Follower:
    """Reads a recording from where it is now.

    `runs` is the path of the rig's runs, `run` the one that goes on, `kinds` has the types of variables. With texts among them it is
    read from its beginning, since only that tells the end of a row from a line break in a text.
    """

    def __init__(self, client: Client, runs: str, run: str, patterns: Sequence[str], kinds: Mapping[str, str]) -> None:
        self._client = client
        self._folder = f"{runs}/{quote(run)}"
        self._number = self._newest(runs, run)
        header = self._header()
        self._places = columns_of(header, patterns)
        self._kinds = {name: kinds.get(name) or kinds.get(whole(name)) or "Float64" for name in self._places}
        self._records = Records()
        from_start = "String" in kinds.values()
        # The byte before the end is a line break, unless half of a row is written: what is first complete is no whole row.
        self._offset = 0 if from_start else self._size() - 1
        self._is_within = not from_start

    @property
    def columns(self) -> list[str]:
        """The columns that are read, without `time`."""
        return list(self._places)

    def rows(self) -> list[tuple[float, list[Any]]]:
        """What has been written since: time, s, and the values of all columns."""
        data = self._read(self._number, self._offset)
        if data == b"" and self._read(self._number + 1, 0) is not None:
            # It goes on in another file; what was written to this one last may have come in between.
            data = self._read(self._number, self._offset)
            if data == b"":
                self._number, self._offset, self._records = self._number + 1, 0, Records()
                data = self._read(self._number, 0)
        if data is None:
            raise Error(f"{file_of(self._number)} was removed before it was read to its end (`keep` in [record])")
        self._offset += len(data)
        records = self._records.feed(data)
        if self._is_within and records:
            del records[0]
            self._is_within = False
        return [self._row(record) for record in records if record and record[0] != "time"]

    def _row(self, record: list[str]) -> tuple[float, list[Any]]:
        values = [cell(record[place], self._kinds[name]) for name, place in self._places.items()]
        return float(record[0]), values

    def _newest(self, runs: str, run: str) -> int:
        numbers = [number for number in map(number_of, self._client.files_of(runs, run)) if number is not None]
        if not numbers:
            raise Error('nothing is recorded as CSV: the rig needs [record], with "csv" among its formats')
        return max(numbers)

    def _header(self) -> list[str]:
        records: list[list[str]] = []
        reader, offset = Records(), 0
        while not records:
            data = self._read(self._number, offset, offset + _HEAD)
            if not data:
                raise Error(f"{file_of(self._number)} has no header")
            records, offset = reader.feed(data), offset + len(data)
        return records[0]

    def _path(self, number: int) -> str:
        return f"{self._folder}/{file_of(number)}"

    def _size(self) -> int:
        answer = self._client.ask("GET", self._path(self._number), headers={"Range": "bytes=0-0"})
        length = (answer.headers.get("Content-Range") or "").rpartition("/")[2]
        return int(length) if length.isdigit() else len(answer.body)

    def _read(self, number: int, start: int, end: int | None = None) -> bytes | None:
        """A part of a file; None: there is no such file."""
        wanted = f"bytes={start}-{'' if end is None else end - 1}"
        also = (_NO_MORE, _NOT_THERE)
        answer = self._client.ask("GET", self._path(number), headers={"Range": wanted}, also=also)
        if answer.status == _NOT_THERE:
            return None
        if answer.status == _NO_MORE:
            return b""
        # Whoever knows no parts answers with everything.
        return answer.body if answer.status == 206 else answer.body[start:end]


def columns_of(header: Sequence[str], patterns: Sequence[str]) -> dict[str, int]:
    """The columns that are wanted, with their places: an array by its name has all of its elements."""
    names = list(header)[1:]
    places: dict[str, int] = {}
    for pattern in patterns:
        fitting = [name for name in names if pattern in (name, whole(name))]
        fitting = fitting or [name for name in names if matches(pattern, name)]
        if not fitting:
            raise Error(f"no recorded signal is called {pattern}; recorded are {', '.join(names)}")
        places.update((name, header.index(name)) for name in fitting)
    return places
