"""Names of variables and clocks, and patterns of them as in rigs."""

from __future__ import annotations

import re
from functools import lru_cache


@lru_cache(maxsize=1024)
def _compiled(pattern: str) -> re.Pattern[str]:
    return re.compile(".*".join(re.escape(part) for part in pattern.split("*")), re.DOTALL)


def is_pattern(name: str) -> bool:
    """Whether it stands for several names."""
    return "*" in name


def matches(pattern: str, name: str) -> bool:
    """Whether a name fits a pattern, in which `*` stands for any characters."""
    return _compiled(pattern).fullmatch(name) is not None


def whole(column: str) -> str:
    """The array of an element `ecu.map[3]`; anything else is itself."""
    return column.split("[", 1)[0] if column.endswith("]") else column


# A name with other letters is quoted. What follows is an array's element.
_NAME = re.compile(r'"([^"]+)"|([^\W\d][\w-]*(?:\.[^\W\d]\w*)+)')


def in_condition(condition: str) -> list[str]:
    """The signals in a condition, each once: of an array's element the array."""
    return list(dict.fromkeys(whole(quoted or plain) for quoted, plain in _NAME.findall(condition)))
