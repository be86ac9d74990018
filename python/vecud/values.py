"""Values of variables as JSON and cells of recordings have them."""

from __future__ import annotations

import base64
import math
from typing import Any

_NO_NUMBERS = ("NaN", "inf", "-inf")


def decoded(value: Any, kind: str) -> Any:
    """A value as the daemon writes it, of a variable of this type: floats that JSON has no number for are text there, binaries base64."""
    if isinstance(value, list):
        return [decoded(element, kind) for element in value]
    if isinstance(value, str):
        if kind.startswith("Float"):
            return float(value)
        if kind == "Binary":
            return base64.b64decode(value)
    return value


def decoded_unknown(value: Any) -> Any:
    """The same, where the type is not told: a text is a float if only that is written so."""
    if isinstance(value, list):
        return [decoded_unknown(element) for element in value]
    return float(value) if isinstance(value, str) and value in _NO_NUMBERS else value


def encoded(value: Any) -> Any:
    """A value as the daemon reads it. Arrays and numbers of numpy are lists and numbers."""
    if hasattr(value, "tolist"):
        value = value.tolist()
    if isinstance(value, (list, tuple)):
        return [encoded(element) for element in value]
    if isinstance(value, (bytes, bytearray)):
        return base64.b64encode(value).decode()
    if isinstance(value, float) and not math.isfinite(value):
        return "NaN" if math.isnan(value) else "inf" if value > 0 else "-inf"
    return value


def cell(text: str, kind: str) -> Any:
    """What a cell of signals.csv says, of a variable of this type; None: there is no value."""
    if text == "" and kind != "String":
        return None
    if kind == "Boolean" or kind == "Clock":
        return text not in ("0", "false")
    if kind == "String":
        return text
    if kind == "Binary":
        return bytes.fromhex(text[2:])
    if kind.startswith("Float"):
        return float(text)
    return int(text)
