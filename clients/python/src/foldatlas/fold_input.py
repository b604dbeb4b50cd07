"""What readers of files return: items, options, warnings, and where each part stands in its file."""

from __future__ import annotations

import os
import re
from collections import Counter
from dataclasses import dataclass, field
from typing import Any, Dict, List, Sequence, Set, Tuple, Union

from .draft import POLYMERS
from .errors import InputError
from .shapes import describe

Item = Dict[str, Any]

LIGANDS = ("smiles", "ccd")
KINDS = (*POLYMERS, *LIGANDS)
#: The gateway takes no longer names.
MAX_NAME_CHARACTERS = 200


@dataclass
class FoldInput:
    """Items as `submitFold` takes them, options of the batch, and one sentence for each thing that was left out.

    `places` has where each part stands in its file, by its path in the submission. Without files of
    its own an input came from a text.
    """

    items: List[Item]
    options: Dict[str, Any] = field(default_factory=dict)
    warnings: List[str] = field(default_factory=list)
    places: Dict[str, str] = field(default_factory=dict)
    #: The files that were read, each with the position of its first item.
    files: List[Tuple[str, int]] = field(default_factory=list)
    #: Positions of the items in our own form, in which residues count from 0.
    own_items: Set[int] = field(default_factory=set)


def read_stem(file: str) -> str:
    """The name of a file without its ending, which names its items; "input" for standard input. Raises InputError where it is no UTF-8."""
    stem = os.path.splitext(os.path.basename(file))[0]
    if any("\ud800" <= char <= "\udfff" for char in stem):
        raise InputError("the name of the file is no UTF-8.")
    return "input" if file == "-" else stem


def item_name(stem: str, number: int, count: int) -> str:
    """The name of an item that has none in its file: that of the file, numbered from 1 where it has several items."""
    return (stem if count == 1 else "%s_%d" % (stem, number))[:MAX_NAME_CHARACTERS]


def name_items(items: Sequence[Item], stem: str) -> List[Item]:
    """The items, those without a name by `item_name`."""
    return [{"name": item_name(stem, number, len(items)), **item} for number, item in enumerate(items, 1)]


def chain(kind: str, value: str, ids: Union[None, str, Sequence[str]] = None) -> Dict[str, Any]:
    """One chain of an item. `kind` is protein, rna, dna, smiles or ccd; `ids` has one id for each copy."""
    named: Dict[str, Any] = {} if ids is None else {"ids": [ids] if isinstance(ids, str) else list(ids)}
    if not isinstance(value, str):
        raise InputError("A chain is given as a text, not as %s." % describe(value))
    if kind == "smiles":
        return {"ligand": {**named, "smiles": value}}
    if kind == "ccd":
        return {"ligand": {**named, "ccd": [code for code in re.split(r"[\s,;+]+", value) if code]}}
    if kind not in POLYMERS:
        raise InputError("%s is no kind of chain: use %s." % (kind, ", ".join(KINDS)))
    return {kind: {**named, "sequence": value}}


def chain_places(items: Sequence[Item], where: Sequence[Tuple[str, Sequence[str]]]) -> Dict[str, str]:
    """Places of the parts of items, by their paths. `where` has the place of each item, and those of its chains.

    Chains of one place are numbered from 1.
    """
    places: Dict[str, str] = {}
    for index, (item, (item_place, chains)) in enumerate(zip(items, where)):
        places["items.%d" % index] = item_place
        counts = Counter(chains)
        numbers: Counter[str] = Counter()
        for position, (one, place) in enumerate(zip(item["chains"], chains)):
            numbers[place] += 1
            numbered = "%s, chain %d" % (place, numbers[place]) if counts[place] > 1 else place
            ((kind, value),) = one.items()
            prefix = "items.%d.chains.%d" % (index, position)
            places.update({prefix: numbered, **{"%s.%s.%s" % (prefix, kind, key): numbered for key in value}})
    return places
