"""Cleans text that others wrote before it reaches a terminal or a table."""

from __future__ import annotations

import re
import unicodedata
from typing import Any

# Control characters, halves of characters, and format characters such as those that reverse the
# direction of text.
_CONTROLS = ("Cc", "Cf", "Cs", "Zl", "Zp")
# Sequences that a terminal obeys: those that end with a letter, and titles.
_ESCAPES = re.compile(r"\x1b\[[0-?]*[ -/]*[@-~]|\x1b\][^\x07\x1b]*(?:\x07|\x1b\\)?|\x9b[0-?]*[ -/]*[@-~]")
_FORMULA = re.compile(r"^[=+@\-\t\r]")
_NUMBER = re.compile(r"^-?\d+(\.\d+)?([eE][+-]?\d+)?$")


def count_of(count: int, noun: str, plural: str = "") -> str:
    """A number with its noun, such as "1 task" and "2,000 tasks"."""
    return "{:,} {}".format(count, noun if count == 1 else plural or noun + "s")


def plain_text(text: str) -> str:
    """One line without control characters: white space becomes a space, the rest is left out."""
    words = (" " if char.isspace() else char for char in _ESCAPES.sub("", text))
    return "".join(char for char in words if unicodedata.category(char) not in _CONTROLS)


def for_terminal(text: str) -> str:
    """The same for text of several lines, whose line ends and tabs stay."""
    return re.sub(r"[^\n\t]+", lambda match: plain_text(match[0]), text)


def round_numbers(value: Any) -> Any:
    """The same with at most four decimals, which is more than any score means."""
    if isinstance(value, dict):
        return {name: round_numbers(one) for name, one in value.items()}
    if isinstance(value, (list, tuple)):
        return [round_numbers(one) for one in value]
    return round(value, 4) + 0.0 if isinstance(value, float) else value


def format_number(value: float) -> str:
    """A number with at most four decimals, such as "0.5" and "80"."""
    text = "%.4f" % (round(value, 4) + 0.0)
    return text.rstrip("0").rstrip(".")


def table_cell(value: object) -> str:
    """A cell of a tab-separated table; empty for None. Spreadsheets do not run it as a formula."""
    if value is None:
        return ""
    if isinstance(value, dict):
        value = " ".join("%s:%s" % (name, table_cell(one)) for name, one in value.items())
    text = format_number(value) if isinstance(value, float) else plain_text(str(value))
    return "'" + text if _FORMULA.match(text) and not _NUMBER.match(text) else text
