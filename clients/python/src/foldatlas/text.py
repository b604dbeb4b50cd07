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
#: A number is data in every spreadsheet, signed or not.
_NUMBER = re.compile(r"[+-]?[0-9]{1,40}(\.[0-9]{1,40})?([eE][+-]?[0-9]{1,3})?")


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
    """A cell of a tab-separated table; empty for None. Spreadsheets do not run it as a formula.

    A bare quote would begin a text that ends, rows later, with the next one: quotes are doubled, as
    readers of tables expect.
    """
    text = _cell_text(value)
    # Programs skip white space before a formula, and some read wide forms such as U+FF1D.
    if unicodedata.normalize("NFKC", text.lstrip()[:1]) in ("=", "+", "-", "@") and not _NUMBER.fullmatch(text):
        text = "'" + text
    return '"%s"' % text.replace('"', '""') if '"' in text else text


def _cell_text(value: object) -> str:
    if value is None:
        return ""
    if isinstance(value, dict):
        return " ".join("%s:%s" % (plain_text(str(name)), _cell_text(one)) for name, one in value.items())
    return format_number(value) if isinstance(value, float) else plain_text(str(value))
