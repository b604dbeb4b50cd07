"""Merges the rankings of several batches into one."""

from __future__ import annotations

import heapq
import re
from typing import Any, Iterable, List, Optional, Sequence, Tuple

from .errors import InputError
from .table import Row

#: What the gateway orders by.
ORDERS = ("IPTM", "IPSAE", "PTM", "PLDDT", "NAME", "INDEX")
_SCORES = {"IPTM": ("iptm", "ptm"), "IPSAE": ("ipsae", "iptm"), "PTM": ("ptm",), "PLDDT": ("mean_plddt",)}


def read_order(word: Optional[str]) -> str:
    """The order that a word names, in any case; IPTM when left out. Raises InputError."""
    order = "IPTM" if word is None else str(word).upper()
    if order not in ORDERS:
        raise InputError("%.40s is no order: use %s." % (word, ", ".join(ORDERS).lower()))
    return order


def merge_rankings(rankings: Sequence[Iterable[Row]], order: str) -> List[Row]:
    """Rows of all batches. Those of one batch keep the order that the gateway gave them."""
    return list(heapq.merge(*rankings, key=lambda row: _key(row, order)))


def _key(row: Row, order: str) -> Tuple[Any, ...]:
    if order == "NAME":
        parts = re.split(r"([0-9]+)", (row["name"] or "").lower())
        return (row["name"] is None, [(0, int(one), "") if one.isascii() and one.isdigit() else (1, 0, one) for one in parts])
    # Null stands last.
    return tuple((row[name] is None, -(row[name] or 0)) for name in _SCORES.get(order, ()))
