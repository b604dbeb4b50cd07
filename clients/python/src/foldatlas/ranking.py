"""Merges the rankings of several batches into one."""

from __future__ import annotations

import heapq
import re
from typing import Any, Iterable, List, Optional, Sequence, Tuple

from .errors import InputError
from .table import Row
from .text import count_of

#: What the gateway orders by.
ORDERS = ("IPTM", "IPSAE", "PTM", "PLDDT", "NAME", "INDEX")
_SCORES = {"IPTM": ("iptm", "ptm"), "IPSAE": ("ipsae", "iptm"), "PTM": ("ptm",), "PLDDT": ("mean_plddt",)}


def read_order(word: Optional[str]) -> str:
    """The order that a word names, in any case; IPTM when left out. Raises InputError."""
    order = "IPTM" if word is None else str(word).upper()
    if order not in ORDERS:
        raise InputError("%.40s is no order: use %s." % (word, ", ".join(ORDERS).lower()))
    return order


#: What users call the score that an order asks for.
SCORE_NAMES = {"IPTM": "ipTM", "IPSAE": "ipSAE", "PTM": "pTM", "PLDDT": "pLDDT"}
#: Why no task has the score, and what to do.
_NO_SCORE = {
    "IPTM": "Single chains have no ipTM: rank them --by ptm or plddt.",
    "IPSAE": "ipSAE needs two chains, and --pae in the submission: rank --by iptm or plddt.",
}


def is_ranked(row: Row, order: str) -> bool:
    """Whether a row has the score that an order asks for; any where it asks for none."""
    names = _SCORES[order][:1] if order in _SCORES else ("iptm", "ptm", "mean_plddt")
    return any(row[name] is not None for name in names)


def describe_ranking(rows: Sequence[Row], order: str) -> str:
    """How many are ranked, and how many are not and why, as a sentence."""
    ranked = sum(row["rank"] is not None for row in rows)
    scored = sum(is_ranked(row, "INDEX") for row in rows)
    parts = ["%d ranked" % ranked]
    if scored > ranked:
        parts.append("%d folded without %s" % (scored - ranked, SCORE_NAMES.get(order, "scores")))
    parts.append("%d without scores" % (len(rows) - scored))
    hint = [_NO_SCORE[order]] if ranked == 0 and scored > 0 and order in _NO_SCORE else []
    return " ".join(["%s: %s." % (count_of(len(rows), "task"), ", ".join(parts)), *hint])


def merge_rankings(rankings: Sequence[Iterable[Row]], order: str) -> List[Row]:
    """Rows of all batches. Those of one batch keep the order that the gateway gave them."""
    return list(heapq.merge(*rankings, key=lambda row: _key(row, order)))


def _key(row: Row, order: str) -> Tuple[Any, ...]:
    if order == "NAME":
        parts = re.split(r"([0-9]+)", (row["name"] or "").lower())
        return (row["name"] is None, [(0, int(one), "") if one.isascii() and one.isdigit() else (1, 0, one) for one in parts])
    # Null stands last.
    return tuple((row[name] is None, -(row[name] or 0)) for name in _SCORES.get(order, ()))
