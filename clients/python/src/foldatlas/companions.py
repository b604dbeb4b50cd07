"""Files that stand beside inputs of other programs and are not sent: restraints of Chai, and alignments."""

from __future__ import annotations

import csv
import io
import os
from typing import Iterable, List, Optional

from .text import count_of

ALIGNMENT_ENDINGS = (".a3m", ".a2m", ".sto", ".stk", ".aln")
#: Columns that every table of restraints has, in lower case.
_RESTRAINT_COLUMNS = {"chaina", "chainb", "connection_type"}
MAX_TOLD_LINES = 5
#: A table of restraints has some lines.
_MAX_TABLE_CHARACTERS = 1 << 20


def describe_restraints(text: str) -> Optional[str]:
    """What restraints of Chai a table has, by their lines; None where it is another table."""
    reader = csv.reader(io.StringIO(text[:_MAX_TABLE_CHARACTERS].lstrip("\ufeff"), newline=""))
    try:
        columns = [one.strip().lower() for one in next(reader, [])]
        if not _RESTRAINT_COLUMNS <= set(columns):
            return None
        kind = columns.index("connection_type")
        lines = ["line %d (%.20s)" % (reader.line_num, row[kind].strip()) for row in reader if len(row) > kind]
    except csv.Error:
        return None
    more = ["and %s" % count_of(len(lines) - MAX_TOLD_LINES, "more line")] if len(lines) > MAX_TOLD_LINES else []
    shown = ", ".join([*lines[:MAX_TOLD_LINES], *more])
    return "these are restraints of Chai, which are not sent: %s. Our own form has `pocket` and `covalentBonds`, but no contacts." % (shown or "no line")


def list_restraints(files: Iterable[str], given: Iterable[str]) -> List[str]:
    """A sentence for each table of restraints in the folders of files that is not itself `given`."""
    known = {os.path.realpath(one) for one in given}
    found: List[str] = []
    for folder in dict.fromkeys(os.path.dirname(one) for one in files):
        for name in sorted(os.listdir(folder or ".")):
            path = os.path.join(folder, name)
            if not name.lower().endswith(".csv") or os.path.realpath(path) in known or not os.path.isfile(path):
                continue
            with open(path, encoding="utf-8", errors="replace") as file:
                said = describe_restraints(file.read(_MAX_TABLE_CHARACTERS))
            if said is not None:
                found.append("%s: %s" % (path, said))
    return found
