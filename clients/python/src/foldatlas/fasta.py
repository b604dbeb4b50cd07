"""Reads FASTA: an item for each record, or the chains of one complex in files of Boltz and Chai."""

from __future__ import annotations

import re
from functools import partial
from typing import Any, Dict, List, NamedTuple, Optional, Sequence, Tuple

from .draft import POLYMERS
from .errors import InputError
from .fold_input import KINDS, LIGANDS, FoldInput, Item, chain, chain_places
from .shapes import MAX_SHOWN_CHARACTERS, Mistakes
from .text import count_of

#: Boltz reads the first word of a header. Its ids have at most five characters.
_BOLTZ = re.compile(r"(\w{1,5})\|(protein|rna|dna|ccd|smiles)(?:\|([^|\s]*))?(?:\s.*)?", re.IGNORECASE)
_CHAI = re.compile(r"(protein|rna|dna|ligand|glycan)\|(.*)", re.IGNORECASE)
#: Kinds of chains that are not read as a protein.
_OTHER_KINDS = ("rna", "dna", "ligand", "glycan", *LIGANDS)
#: Such as `(SEP)` or `[MSE]` among letters.
_MODIFIED = re.compile(r"[(\[](\w{2,5})[)\]]")
_NUCLEOTIDES = re.compile(r"[ACGTUN*\s]+", re.IGNORECASE)


class Record(NamedTuple):
    """A record, and its place such as `record 2 (lysozyme)`."""

    head: str
    body: str
    place: str


def parse_fasta(text: str, is_nucleic: bool = False) -> FoldInput:
    """One item for each record, `:` between the chains of a complex.

    All chains are proteins unless the header ends with their kinds: `>site|protein:dna` or
    `>aptamer|rna`. Empty chains stay, so that the gateway refuses them. Files of Boltz
    (`>A|protein|`, `>B|ccd`) and of Chai (`>protein|name=A`, `>ligand|name=B`) are one complex.
    Raises InputError where a file can be read in both ways, and for a record without a kind where the
    file `is_nucleic` by its ending.
    """
    records: List[Record] = []
    _, *parts = re.split(r"^>", re.sub(r"\r\n?", "\n", text), flags=re.MULTILINE)
    for number, part in enumerate(parts, 1):
        head, _, body = part.partition("\n")
        records.append(Record(head.strip(), body.strip(), _place(number, head.strip())))
    found = _read_boltz(records) or _read_chai(records)
    if found is not None:
        return found
    mistakes = Mistakes(counts_rest=True)
    items = [mistakes.read(partial(_read_record, record, is_nucleic)) for record in records]
    mistakes.finish()
    where = [(record.place, [record.place] * len(item["chains"])) for record, item in zip(records, items)]
    return FoldInput(items, places=chain_places(items, where))


def _place(number: int, head: str) -> str:
    boltz = _BOLTZ.fullmatch(head)
    chai = _CHAI.fullmatch(head)
    name = boltz[1] if boltz else chai[2][len("name=") :] if chai and chai[2].startswith("name=") else _split_header(head)[0]
    shown = name[:MAX_SHOWN_CHARACTERS] + ("…" if len(name) > MAX_SHOWN_CHARACTERS else "")
    return "record %d (%s)" % (number, shown) if shown else "record %d" % number


def _split_header(head: str) -> Tuple[str, List[str]]:
    """The name and the kinds of a record, no kinds where the header does not end with some."""
    name, separator, last = head.rpartition("|")
    kinds = last.strip().lower().split(":")
    return (name.strip(), kinds) if separator and all(kind in KINDS for kind in kinds) else (head, [])


def _read_record(record: Record, is_nucleic: bool) -> Item:
    name, kinds = _split_header(record.head)
    if not kinds and is_nucleic:
        raise InputError(
            "%s: files of this ending have nucleotides, and records without a kind are read as proteins. End the header "
            "with the kind, as in `>%s|dna`." % (record.place, name[:MAX_SHOWN_CHARACTERS] or "name")
        )
    if not kinds:
        _refuse_unread_kind(record)
        kinds = ["protein"]
    # A SMILES has colons of its own.
    sequences = [record.body] if kinds == ["smiles"] else [one.strip() for one in record.body.split(":")]
    if len(kinds) == 1:
        kinds = kinds * len(sequences)
    if len(kinds) != len(sequences):
        counts = (record.place, count_of(len(sequences), "chain"), count_of(len(kinds), "kind"))
        raise InputError("%s: it has %s and %s." % counts)
    if set(kinds) <= set(LIGANDS):
        raise InputError(
            "%s: it is a ligand alone. Name its chains with it, as in `>site|protein:ccd`, or give each record of the "
            "complex an id and a kind, as in `>A|protein` and `>B|ccd`." % record.place
        )
    chains = [_read_chain(record, kind, sequence) for kind, sequence in zip(kinds, sequences)]
    return {**({"name": name} if name else {}), "chains": chains}


def _refuse_unread_kind(record: Record) -> None:
    """Raises InputError where a header names a kind that would not be read: the record would be taken for a protein."""
    fields = [one.strip().lower() for one in record.head.split("|")]
    if len(fields) < 2:
        return
    words = [*fields[:-1], *fields[-1].split(":")]
    found = [one for one in words if one in _OTHER_KINDS or (one == "protein" and one not in fields[:-1])]
    begun = [one.split()[0] for one in fields if one.split() and one.split()[0] in ("rna", "dna")]
    if begun and _NUCLEOTIDES.fullmatch(record.body):
        found += begun
    boltz = _BOLTZ.fullmatch(record.head)
    if (boltz and boltz[3] is not None) or (_CHAI.fullmatch(record.head) and "name=" in record.head):
        tool = "Boltz" if boltz else "Chai"
        raise InputError(
            "%s: this is a header of %s, and other records have none. Write all of them so for one complex, or end it with "
            "the kind, as in `>name|rna`." % (record.place, tool)
        )
    if found:
        raise InputError(
            "%s: the header has `%s`, which is read only where kinds end it, as in `>name|rna` or `>name|protein:dna`. "
            "Kinds are %s." % (record.place, found[0], ", ".join(KINDS))
        )


def _read_chain(record: Record, kind: str, text: str, ids: Optional[Sequence[str]] = None) -> Dict[str, Any]:
    """A chain as a record gives it: a polymer over several lines, maybe with `*` at its end; a ligand as it stands."""
    if kind == "smiles" and len(text.split()) > 1:
        raise InputError("%s: a SMILES has no white space and one line. Give each molecule a record of its own." % record.place)
    modified = _MODIFIED.search(text) if kind in POLYMERS else None
    if modified:
        raise InputError(
            "%s: %s is a residue by its code, as in files of Chai, of which the letter is not known. Write the chain in YAML "
            "with the letter and `modifications: [{ position: 3, ccd: %s }]`, counted from 0." % (record.place, modified[0], modified[1])
        )
    return chain(kind, "".join(text.split()).rstrip("*") if kind in POLYMERS else text, ids)


def _read_boltz(records: Sequence[Record]) -> Optional[FoldInput]:
    """A file of Boltz; None for another one. Raises InputError where its records may be items of their own.

    In our own form `>A|rna` is an item. Only a third field, or a ligand among polymers, is of Boltz alone.
    """
    found = [_BOLTZ.fullmatch(record.head) for record in records]
    heads = [(one[1], one[2].lower(), one[3]) for one in found if one]
    if len(heads) < len(records) or not heads:
        return None
    kinds = {kind for _, kind, _ in heads}
    if all(third is None for _, _, third in heads) and (kinds <= set(LIGANDS) or not kinds & set(LIGANDS)):
        if len(records) == 1 or kinds <= set(LIGANDS):
            return None
        name, kind, _ = heads[0]
        raise InputError(
            "The %d records may be the chains of one complex, as Boltz reads such headers, or items of their own. "
            "For one complex end each header with `|`, as in `>%s|%s|`. For items of their own give longer names, which "
            "are no ids of chains, as in `>item_%s|%s`." % (len(records), name, kind, name, kind)
        )
    chains: List[Dict[str, Any]] = []
    warnings: List[str] = []
    seen: Dict[str, str] = {}
    for record, (name, kind, third) in zip(records, heads):
        if name in seen:
            raise InputError("%s: %s has the same chain id." % (record.place, seen[name]))
        seen[name] = record.place
        if third:
            shown = third[:MAX_SHOWN_CHARACTERS]
            warnings.append("%s: the alignment `%s` left out; the service makes its own." % (record.place, shown))
        chains.append(_read_chain(record, kind, record.body, [name]))
    return _one_complex(records, chains, "Boltz", warnings)


def _read_chai(records: Sequence[Record]) -> Optional[FoldInput]:
    """A file of Chai; None for another one. Raises InputError where its records may be items of their own."""
    found = [_CHAI.fullmatch(record.head) for record in records]
    heads = [(one[1].lower(), one[2]) for one in found if one]
    if len(heads) < len(records) or not heads:
        return None
    is_chai = any(kind in ("ligand", "glycan") or name.startswith("name=") for kind, name in heads)
    if not is_chai and len(records) > 1:
        kind, name = heads[0]
        raise InputError(
            "The %d records may be the chains of one complex, as Chai reads such headers, or items of their own. "
            "For one complex write `name=`, as in `>%s|name=%.40s`. For items of their own write the kind at the end, "
            "as in `>%.40s|%s`." % (len(records), kind, name, name, kind)
        )
    chains: List[Dict[str, Any]] = []
    for record, (kind, _) in zip(records, heads):
        if kind == "glycan":
            raise InputError("%s: it is a glycan in the notation of Chai. Give its components and bonds." % record.place)
        chains.append(_read_chain(record, "smiles" if kind == "ligand" else kind, record.body))
    made = _one_complex(records, chains, "Chai", [])
    name = heads[0][1][len("name=") :] if heads[0][1].startswith("name=") else heads[0][1]
    if len(records) == 1 and name:
        made.items[0]["name"] = name
    return made


def _one_complex(records: Sequence[Record], chains: List[Dict[str, Any]], tool: str, warnings: List[str]) -> FoldInput:
    items: List[Item] = [{"chains": chains}]
    if len(records) > 1:
        warnings = ["The %d records are read as the chains of one complex, as %s does." % (len(records), tool), *warnings]
    places = chain_places(items, [("the complex", [record.place for record in records])])
    return FoldInput(items, {}, warnings, places)
