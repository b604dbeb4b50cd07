"""Checks our own form, the input of `submitFold`, before GraphQL reads it: a wrong shape is named as the file has it."""

from __future__ import annotations

from typing import Any, Dict, Union

from .shapes import MAX_INTEGER, Node, list_of, object_of

def _number(node: Node) -> int:
    """Any whole number: the gateway says what is out of range, and where."""
    return node.integer(-(2**31))


def _row(node: Node) -> None:
    """A row of whole numbers in one pass: a matrix has millions."""
    if not isinstance(node.value, list) or not all(type(one) is int and abs(one) <= MAX_INTEGER for one in node.value):
        for one in node.items():
            _number(one)


_TEXT, _TEXTS, _FLAG = Node.text, list_of(Node.text), Node.boolean
_MODIFICATION = object_of({"ccd": _TEXT, "position": _number}, {})
_POLYMER = object_of({"sequence": _TEXT}, {"ids": _TEXTS, "modifications": list_of(_MODIFICATION)})
_LIGAND = object_of({}, {"ids": _TEXTS, "ccd": _TEXTS, "smiles": _TEXT})
_CHAINS = {"protein": _POLYMER, "rna": _POLYMER, "dna": _POLYMER, "ligand": _LIGAND}
_BOND = object_of(
    {"chainId1": _TEXT, "residueIndex1": _number, "chainId2": _TEXT, "residueIndex2": _number},
    {"atomIndex1": _number, "atomName1": _TEXT, "atomIndex2": _number, "atomName2": _TEXT},
)
_CONTACT = object_of({"chainId": _TEXT, "residueIndex": _number}, {})
_DISTOGRAM = object_of({"chainId": _TEXT, "distogram": list_of(_row)}, {})


def _chain(node: Node) -> None:
    kind, value = node.only_field()
    if kind not in _CHAINS:
        node.note("`%s` is no kind of chain: use %s." % (kind, ", ".join(_CHAINS)))
    else:
        _CHAINS[kind](value)


_ITEM = object_of(
    {"chains": list_of(_chain)},
    {
        **{"name": _TEXT, "covalentBonds": list_of(_BOND), "distogramConditioning": list_of(_DISTOGRAM)},
        **{"pocket": object_of({"binderChainId": _TEXT, "contacts": list_of(_CONTACT)}, {})},
        **{"includePae": _FLAG, "includePairChainsIptm": _FLAG, "includeEmbeddings": _FLAG},
        **{"potentialSequenceOfConcern": _FLAG},
    },
)
_SUBMISSION = object_of(
    {"items": list_of(_ITEM)},
    {
        **{"label": _TEXT, "repeat": _number, "model": _TEXT, "idempotencyKey": _TEXT},
        **{"notify": object_of({"url": _TEXT}, {})},
    },
)


def check_own(document: Union[Dict[str, Any], list], place: str = "") -> None:
    """Checks a submission, or a list of items at `place`. Raises InputError with the places of all wrong shapes."""
    node = Node(document, place)
    check = list_of(_ITEM) if isinstance(document, list) else _SUBMISSION
    node.mistakes.read(lambda: check(node))
    node.mistakes.finish()
