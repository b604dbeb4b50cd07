"""Cleans text that others wrote before it reaches a terminal or a table."""

from __future__ import annotations

import re
import unicodedata

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


def table_cell(value: object) -> str:
    """A cell of a tab-separated table; empty for None. Spreadsheets do not run it as a formula."""
    if value is None:
        return ""
    if isinstance(value, dict):
        value = " ".join("%s:%s" % entry for entry in value.items())
    text = plain_text(str(value))
    return "'" + text if _FORMULA.match(text) and not _NUMBER.match(text) else text
