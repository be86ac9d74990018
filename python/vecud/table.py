"""Recorded rows, where there is no pandas."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any


class Table:
    """Columns by name, the first one `time` (s). `len` is the number of rows, as of a DataFrame."""

    def __init__(self, columns: Mapping[str, list[Any]]) -> None:
        self._columns = dict(columns)

    @property
    def columns(self) -> list[str]:
        """The names of the columns."""
        return list(self._columns)

    def __getitem__(self, name: str) -> list[Any]:
        return self._columns[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._columns)

    def __len__(self) -> int:
        return len(next(iter(self._columns.values()), []))

    def __contains__(self, name: object) -> bool:
        return name in self._columns

    def rows(self) -> Iterator[dict[str, Any]]:
        """Row by row."""
        for row in zip(*self._columns.values()):
            yield dict(zip(self._columns, row))

    def __repr__(self) -> str:
        return f"<vecud.Table of {len(self)} rows: {', '.join(self._columns)}>"


def as_frame(table: Table) -> Any:
    """The same as a pandas.DataFrame, if there is pandas; else as it is."""
    try:
        import pandas
    except ImportError:
        return table
    return pandas.DataFrame({name: table[name] for name in table.columns})
