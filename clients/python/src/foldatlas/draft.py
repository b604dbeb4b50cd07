"""Puts together one item of a submission from a file of another program, whose positions count from 1."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any, Dict, List, NoReturn, Optional, Sequence, Tuple, Union

from .errors import InputError
from .shapes import Node

POLYMERS = ("protein", "rna", "dna")
#: Why something is left out that the service has no field for.
TAKES_NONE = "the service takes none"
OWN_SEEDS = "the service chooses its own, and `repeat` folds several times"
#: Copies of one chain; no complex that can be folded has more.
MAX_COPIES = 1000


@dataclass
class Atom:
    """One end of a bond: `residue` is 1-based, `atom` a name or the index of a heavy atom."""

    chain: str
    residue: int
    atom: Union[str, int]
    #: Where chain, residue and atom stand in the file.
    places: Tuple[str, str, str]


class Draft:
    """An item, what was left out of it, and where each of its parts stands in the file."""

    def __init__(self, name: str, place: str) -> None:
        self.name = name
        self.chains: List[Dict[str, Any]] = []
        self.bonds: List[Dict[str, Any]] = []
        self.pocket: Optional[Dict[str, Any]] = None
        self.warnings: List[str] = []
        #: Place in the file by path in the item.
        self.places: Dict[str, str] = {"": place}

    @property
    def item(self) -> Dict[str, Any]:
        made: Dict[str, Any] = {"name": self.name, "chains": self.chains}
        if self.bonds:
            made["covalentBonds"] = self.bonds
        if self.pocket is not None:
            made["pocket"] = self.pocket
        return made

    def leave_out(self, parts: Sequence[Node], instead: str = "the service makes its own") -> None:
        """Tells of parts of the file that are not sent, by their places."""
        if parts:
            self.warnings.append("%s: %s left out; %s." % (self.name, ", ".join("`%s`" % one.place for one in parts), instead))

    def refuse(self, what: str, instead: str = "Write the item in our own form.") -> NoReturn:
        raise InputError("%s: %s, which this service does not have. %s" % (self.name, what, instead))

    def polymer(
        self,
        kind: str,
        node: Node,
        ids: Optional[Sequence[str]],
        sequence: Node,
        modifications: Sequence[Tuple[Node, Node]],
    ) -> None:
        """Adds a chain. `modifications` are codes with 1-based positions."""
        at = self._chain_at(kind, node, len(ids or ()))
        made: Dict[str, Any] = {**_named(ids), "sequence": sequence.text()}
        if modifications:
            made["modifications"] = []
        for index, (code, position) in enumerate(modifications):
            self.places["%s.modifications.%d.ccd" % (at, index)] = code.place
            self.places["%s.modifications.%d.position" % (at, index)] = position.place
            made["modifications"].append(
                {"ccd": re.sub(r"^CCD_", "", code.text()), "position": position.integer(1) - 1}
            )
        self.places[at + ".sequence"] = sequence.place
        self.chains.append({kind: made})

    def ligand(
        self,
        node: Node,
        ids: Optional[Sequence[str]],
        ccd: Optional[Sequence[str]],
        smiles: Optional[str],
        given: Optional[Node] = None,
    ) -> None:
        """Adds a ligand, whose codes or SMILES are `given`; either, not both."""
        if (ccd is None) == (smiles is None):
            node.fail("a ligand has either its codes or its SMILES, not both or neither.")
        at = self._chain_at("ligand", node, len(ids or ()))
        found = {"ccd": list(ccd)} if ccd is not None else {"smiles": smiles}
        for key in found:
            self.places["%s.%s" % (at, key)] = (given or node).place
        if given is not None and isinstance(given.value, str):
            # One text with all codes, which have no places of their own.
            self.places.update({"%s.ccd.%d" % (at, index): given.place for index in range(len(ccd or ()))})
        self.chains.append({"ligand": {**_named(ids), **found}})

    def bond(self, place: str, atoms: Sequence[Atom]) -> None:
        at = "covalentBonds.%d" % len(self.bonds)
        self.places[at] = place
        made: Dict[str, Any] = {}
        for n, one in enumerate(atoms, 1):
            atom = ("atomName%d" if isinstance(one.atom, str) else "atomIndex%d") % n
            made.update({"chainId%d" % n: one.chain, "residueIndex%d" % n: one.residue - 1, atom: one.atom})
            for key, where in zip(("chainId%d" % n, "residueIndex%d" % n, atom), one.places):
                self.places["%s.%s" % (at, key)] = where
        self.bonds.append(made)

    def set_pocket(self, node: Node, binder: str, binder_place: str, contacts: Sequence[Atom]) -> None:
        """`contacts` are residues; their atoms are not read."""
        if self.pocket is not None:
            node.fail("this service takes one pocket.")
        self.places.update({"pocket": node.place, "pocket.binderChainId": binder_place})
        for index, one in enumerate(contacts):
            for key, where in zip(("chainId", "residueIndex"), one.places):
                self.places["pocket.contacts.%d.%s" % (index, key)] = where
        listed = [{"chainId": one.chain, "residueIndex": one.residue - 1} for one in contacts]
        self.pocket = {"binderChainId": binder, "contacts": listed}

    def _chain_at(self, kind: str, node: Node, count: int) -> str:
        """The path of the next chain, of which the places are noted: of its ids, `count`, too."""
        at = "chains.%d.%s" % (len(self.chains), kind)
        given = node.value if isinstance(node.value, dict) else {}
        key = next((one for one in ("id", "count") if one in given), "")
        ids = ("%s.%s" % (node.place, key)).rstrip(".")
        self.places.update({"chains.%d" % len(self.chains): node.place, at: node.place, at + ".ids": ids})
        if not isinstance(given.get(key), list):
            self.places.update({"%s.ids.%d" % (at, index): ids for index in range(count)})
        return at


def _named(ids: Optional[Sequence[str]]) -> Dict[str, Any]:
    return {} if ids is None else {"ids": list(ids)}


def read_modifications(found: Optional[Node], code: str, position: str) -> List[Tuple[Node, Node]]:
    """A list of codes and positions under the names that the format gives them."""
    if found is None:
        return []
    each = [one.fields((code, position)) for one in found.items()]
    return [(one.require(code), one.require(position)) for one in each]
