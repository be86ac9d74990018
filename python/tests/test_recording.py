"""Captures: every row of a recording that is being written, whatever its pieces are."""

from __future__ import annotations

import builtins
import random
import re
import threading
import time
from pathlib import Path
from typing import Any

import pytest
from fake import Fake, Request, status

import vecud
from vecud.recording import Records, columns_of
from vecud.table import as_frame


class Recording:
    """Files that grow, as the daemon serves them."""

    def __init__(self, fake: Fake, parts: bool = True) -> None:
        self.fake = fake
        self.files: dict[str, bytes] = {}
        self.parts = parts
        self.signals: list[dict[str, Any]] = []
        fake.says("GET", "/v1/rigs/a", status())
        fake.on(
            "GET",
            "/v1/rigs/a/runs",
            lambda r: r.json([{"run": "r0", "files": []}, {"run": "r1", "files": [*self.files]}]),
        )
        fake.on("GET", "/v1/rigs/a/signals", lambda r: r.json(self.signals))
        for number in range(3):
            name = f"signals-{number:06}.csv" if number else "signals.csv"
            fake.on("GET", f"/v1/rigs/a/runs/r1/{name}", lambda r, name=name: self.serve(r, name))

    def write(self, text: str, file: str = "signals.csv") -> None:
        """The file grows."""
        self.files[file] = self.files.get(file, b"") + text.encode()

    def signal(self, name: str, kind: str = "Float64", now: float | None = None) -> None:
        """A recorded signal whose newest value is of this time."""
        self.signals.append({"name": name, "type": kind, "unit": None, "value": None, "time": now})

    def serve(self, request: Request, file: str) -> None:
        """Parts of files, as RFC 9110 wants it."""
        data = self.files.get(file)
        if data is None:
            request.problem(404, "no such file")
            return
        asked = re.fullmatch(r"bytes=(\d+)-(\d*)", request.headers.get("Range") or "")
        if not self.parts or asked is None:
            request.answer(200, data, "text/csv")
            return
        start, end = int(asked[1]), int(asked[2] or len(data)) + (asked[2] != "")
        if start >= len(data):
            request.answer(416, b"", headers={"Content-Range": f"bytes */{len(data)}"})
        else:
            place = f"bytes {start}-{min(end, len(data)) - 1}/{len(data)}"
            request.answer(206, data[start:end], "text/csv", {"Content-Range": place})


def test_records_are_whole_however_they_are_cut() -> None:
    text = b'time,"a,b",c\n0.5,"x\ny ""z""",1\n1.0,"",\n1.5,"\n",2\n'
    whole = [["time", "a,b", "c"], ["0.5", 'x\ny "z"', "1"], ["1.0", "", ""], ["1.5", "\n", "2"]]
    chance = random.Random(1)
    for _ in range(300):
        cuts = sorted(chance.sample(range(1, len(text)), chance.randrange(8)))
        records = Records()
        found = [r for a, b in zip([0, *cuts], [*cuts, len(text)]) for r in records.feed(text[a:b])]
        assert found == whole


def test_columns_are_names_arrays_and_patterns() -> None:
    header = ["time", "p.x", "p.map[1]", "p.map[2]", "p.mapping", "e.x"]
    assert list(columns_of(header, ["p.map"])) == ["p.map[1]", "p.map[2]"]
    assert columns_of(header, ["p.map[2]", "*.x", "p.x"]) == {"p.map[2]": 3, "p.x": 1, "e.x": 5}
    with pytest.raises(vecud.Error, match=r"no recorded signal is called time; recorded are p\.x, "):
        columns_of(header, ["time"])


@pytest.mark.parametrize("parts", [True, False])
def test_a_capture_has_the_rows_after_its_start_up_to_its_end(fake: Fake, a: vecud.Rig, parts: bool) -> None:
    recording = Recording(fake, parts)
    for name, kind in (("e.x", "Float64"), ("e.n", "UInt8"), ("e.on", "Boolean")):
        recording.signal(name, kind, 1.0)
    recording.write("time,e.x,e.n,e.on\n0.5,1.0,1,0\n1.0,2.0,2")
    with a.capture(["e.on", "e.x", "e.n"]) as capture:
        recording.write(",1\n1.5,NaN,3,0\n2.0,")
        recording.write("-inf,,1\n2.5,5.0,5,1\n")
        recording.signals[0]["time"] = 2.0
    table = capture.table
    assert table.columns == ["time", "e.on", "e.x", "e.n"]
    assert (table["time"], table["e.on"], table["e.n"]) == ([1.5, 2.0], [False, True], [3, None])
    assert str(table["e.x"]) == "[nan, -inf]"
    assert len(table) == 2 and list(table.rows())[1]["e.on"] is True
    assert "e.x" in table and "e.y" not in table


def test_a_duration_is_waited_for(fake: Fake, a: vecud.Rig) -> None:
    recording = Recording(fake)
    recording.signal("e.x", now=10.0)
    recording.write("time,e.x\n10.0,1.0\n")

    def write() -> None:
        for step in range(1, 30):
            time.sleep(0.01)
            recording.write(f"{10 + step / 10},{step}.0\n")

    writer = threading.Thread(target=write)
    capture = a.capture("e.x")
    capture.start()
    writer.start()
    capture.stop(2.0)
    assert list(capture.samples["time"]) == [10 + step / 10 for step in range(1, 21)]
    assert list(capture.samples["e.x"]) == [float(step) for step in range(1, 21)]
    writer.join()


def test_texts_with_line_breaks_are_one_cell(fake: Fake, a: vecud.Rig) -> None:
    recording = Recording(fake)
    recording.signal("e.s", "String", 0.0)
    recording.signal("e.b", "Binary", 0.0)
    recording.write('time,e.s,e.b\n0.0,"before\n')
    with a.capture("*") as capture:
        recording.write('0.7,",0x\n0.5,"a\nb",0x00ff\n')
        recording.signals[0]["time"] = 0.5
    assert capture.table["e.s"] == ["a\nb"]
    assert capture.table["e.b"] == [b"\0\xff"]


def test_files_that_follow_are_read_on(fake: Fake, a: vecud.Rig) -> None:
    recording = Recording(fake)
    recording.signal("e.x", now=0.0)
    recording.write("time,e.x\n0.0,0\n")
    with a.capture("e.x") as capture:
        recording.write("1.0,1\n")
        recording.write("time,e.x\n2.0,2\n", "signals-000001.csv")
        recording.write("time,e.x\n3.0,3\n4.0,4\n", "signals-000002.csv")
        recording.signals[0]["time"] = 3.0
    assert capture.table["e.x"] == [1.0, 2.0, 3.0]
    recording.signals[0]["time"] = 4.0
    with a.capture("e.x") as capture:
        recording.write("5.0,5\n", "signals-000002.csv")
        recording.signals[0]["time"] = 5.0
    assert capture.table["time"] == [5.0]


def test_rows_that_are_gone_are_an_error(fake: Fake, a: vecud.Rig) -> None:
    recording = Recording(fake)
    recording.signal("e.x", now=0.0)
    recording.write("time,e.x\n0.0,0\n")
    capture = a.capture("e.x")
    capture.start()
    del recording.files["signals.csv"]
    with pytest.raises(vecud.Error, match="removed before it was read"):
        capture.stop()


def test_a_run_that_ends_or_rests_ends_a_capture(fake: Fake, a: vecud.Rig) -> None:
    recording = Recording(fake)
    recording.signal("e.x")
    recording.write("time,e.x\n")
    capture = a.capture("e.x")
    capture.start()
    recording.write("0.25,7\n")
    fake.says("GET", "/v1/rigs/a", status("idle"))
    began = time.monotonic()
    assert capture.stop(100.0)["e.x"] == [7.0]
    assert time.monotonic() - began < 1, "it is over"
    with pytest.raises(vecud.Error, match="does not run"):
        a.capture("e.x", 1.0)
    fake.says("GET", "/v1/rigs/a", status("paused"))
    began = time.monotonic()
    assert len(a.capture("e.x", 0.2)) == 0
    assert 1 < time.monotonic() - began < 5, "nothing comes"


def test_what_is_not_recorded_is_told(fake: Fake, a: vecud.Rig) -> None:
    recording = Recording(fake)
    with pytest.raises(vecud.Error, match=r"nothing is recorded as CSV.*\[record\]"):
        a.capture("e.x", 1.0)
    recording.write("time,e.y\n")
    with pytest.raises(vecud.Error, match=r"is called e\.x; recorded are e\.y"):
        a.capture("e.x", 1.0)
    with pytest.raises(ValueError, match="needs signals"):
        a.capture([])
    capture = a.capture("e.y")
    with pytest.raises(vecud.Error, match="not been started"):
        capture.stop()
    capture.start()
    with pytest.raises(vecud.Error, match="goes on"):
        _ = capture.samples
    with pytest.raises(vecud.Error, match="already"):
        capture.start()


def test_rows_are_a_frame_where_there_is_pandas(monkeypatch: pytest.MonkeyPatch) -> None:
    table = vecud.Table({"time": [0.0, 1.0], "e.x": [1, None]})
    real = builtins.__import__

    def without(name: str, *rest: Any, **more: Any) -> Any:
        if name == "pandas":
            raise ImportError(name)
        return real(name, *rest, **more)

    with monkeypatch.context() as patch:
        patch.setattr(builtins, "__import__", without)
        assert as_frame(table) is table
    pandas = pytest.importorskip("pandas")
    frame = as_frame(table)
    assert isinstance(frame, pandas.DataFrame)
    assert list(frame.columns) == ["time", "e.x"] and len(frame) == len(table) == 2


def test_a_capture_of_a_file_from_its_first_byte(fake: Fake, a: vecud.Rig, tmp_path: Path) -> None:
    recording = Recording(fake)
    recording.write("time," + ",".join(f"e.x{number}" for number in range(20_000)) + "\n")
    with a.capture("e.x19999") as capture:
        recording.write("0.0," + ",".join(str(number) for number in range(20_000)) + "\n")
        recording.signal("e.x19999", now=0.0)
    assert capture.table["e.x19999"] == [19999.0]
