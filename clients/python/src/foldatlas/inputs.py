"""Reads what people fold: FASTA, CSV, TSV, YAML, AlphaFold 3 JSON and Boltz YAML.

Each reader returns a `FoldInput`: the input of `submitFold`, and warnings about what was left out
because this service has no counterpart for it. What changes the chemistry is refused instead.
"""

from __future__ import annotations

import csv
import io
import json
import os
import re
from dataclasses import dataclass, field
from typing import Any, Dict, List, Mapping, Optional, Sequence, Tuple, Union

from .errors import InputError

Item = Dict[str, Any]

KINDS = ("protein", "rna", "dna", "smiles", "ccd")
POLYMERS = ("protein", "rna", "dna")
LIGANDS = ("smiles", "ccd")
_COLUMN = re.compile(r"^(protein|rna|dna|smiles|ccd|sequence)(?:[_ -]?\d+)?$")


@dataclass
class FoldInput:
    """Items as `submitFold` takes them, options of the batch, and one sentence for each thing that was left out."""

    items: List[Item]
    options: Dict[str, Any] = field(default_factory=dict)
    warnings: List[str] = field(default_factory=list)


def read_input(path: Union[str, "os.PathLike[str]"]) -> FoldInput:
    """Reads a file by its content; the ending decides between CSV and TSV only. Raises InputError."""
    with open(path, encoding="utf-8-sig") as file:
        try:
            text = file.read()
        except UnicodeDecodeError:
            raise InputError("%s is no UTF-8 text. Save it as UTF-8." % path) from None
    return parse_input(text, os.fspath(path))


def parse_input(text: str, name: str = "input") -> FoldInput:
    """The same for text. `name` is that of the file, whose ending tells CSV from TSV."""
    plain = text.lstrip("\ufeff \t\r\n")
    ending = os.path.splitext(name)[1].lower()
    if not plain:
        raise InputError("%s is empty." % name)
    if plain.startswith(">"):
        return parse_fasta(plain)
    if ending in (".csv", ".tsv"):
        return parse_table(text, "\t" if ending == ".tsv" else ",")
    return parse_document(_load(text, name), os.path.splitext(os.path.basename(name))[0])


def _load(text: str, name: str) -> Any:
    """JSON, else YAML by PyYAML. Both refuse a key that stands twice: one of the two would be lost."""
    if text.lstrip()[:1] in ("{", "["):
        try:
            return json.loads(text, object_pairs_hook=_unique)
        except ValueError as error:
            if isinstance(error, InputError):
                raise
    try:
        import yaml
    except ImportError:
        raise InputError(
            "%s is no JSON, and YAML needs PyYAML: pip install 'foldatlas[yaml]', or save it as JSON." % name
        ) from None

    class Loader(yaml.SafeLoader):  # type: ignore[misc, name-defined]
        def construct_mapping(self, node: Any, deep: bool = False) -> Dict[str, Any]:
            pairs = [(self.construct_object(key, True), self.construct_object(value, True)) for key, value in node.value]
            return _unique(pairs)

    Loader.add_constructor("tag:yaml.org,2002:map", lambda loader, node: loader.construct_mapping(node))
    try:
        return yaml.load(text, Loader)  # noqa: S506 (a subclass of SafeLoader)
    except yaml.YAMLError as error:
        raise InputError("%s cannot be read: %s" % (name, error)) from None


def _unique(pairs: Sequence[Any]) -> Dict[str, Any]:
    found: Dict[str, Any] = {}
    for key, value in pairs:
        if key in found:
            raise InputError("The key %s stands twice in one object." % key)
        found[str(key)] = value
    return found


def chain(kind: str, value: str, ids: Optional[Sequence[str]] = None) -> Dict[str, Any]:
    """One chain of an item. `kind` is protein, rna, dna, smiles or ccd; `ids` has one id for each copy."""
    named: Dict[str, Any] = {} if ids is None else {"ids": list(ids)}
    if kind == "smiles":
        return {"ligand": {**named, "smiles": value}}
    if kind == "ccd":
        return {"ligand": {**named, "ccd": [code for code in re.split(r"[\s,;+]+", value) if code]}}
    if kind not in POLYMERS:
        raise InputError("%s is no kind of chain: use %s." % (kind, ", ".join(KINDS)))
    return {kind: {**named, "sequence": value}}


def parse_fasta(text: str) -> FoldInput:
    """One item for each record, `:` between the chains of a complex.

    All chains are proteins unless the header ends with their kinds: `>site|protein:dna` or
    `>aptamer|rna`. Empty chains stay, so that the gateway refuses them. Files of Boltz (`>A|protein`,
    `>B|ccd`, `>D|smiles`) and of Chai (`>protein|name=A`, `>ligand|name=B`) are one complex.
    """
    records: List[Tuple[str, str]] = []
    for record in re.split(r"^>", re.sub(r"\r\n?", "\n", text), flags=re.MULTILINE)[1:]:
        head, _, body = record.partition("\n")
        records.append((head.strip(), "".join(body.split())))
    complexes = _one_complex(records)
    if complexes is not None:
        return complexes
    items: List[Item] = []
    for head, body in records:
        name, kinds = _kinds(head)
        # A SMILES has colons of its own.
        sequences = [body] if kinds == ["smiles"] else body.split(":")
        if len(kinds) == 1:
            kinds = kinds * len(sequences)
        if len(kinds) != len(sequences):
            raise InputError("%s has %d chains and %d kinds." % (name or "A record", len(sequences), len(kinds)))
        if set(kinds) <= set(LIGANDS):
            raise InputError(
                "%s is a ligand alone. Name its chains with it, as in `>site|protein:ccd`, or give each record of the "
                "complex an id and a kind, as in `>A|protein` and `>B|ccd`." % (name or "A record")
            )
        chains = [chain(kind, sequence.rstrip("*")) for kind, sequence in zip(kinds, sequences)]
        items.append({**({"name": name} if name else {}), "chains": chains})
    return FoldInput(items)


_BOLTZ = re.compile(r"^(\w{1,5})\|(protein|rna|dna|ccd|smiles)(?:\|[^|]*)?$", re.IGNORECASE)
_CHAI = re.compile(r"^(protein|rna|dna|ligand|glycan)\|(?:name=)?(.*)$", re.IGNORECASE)


def _one_complex(records: Sequence[Tuple[str, str]]) -> Optional[FoldInput]:
    """Files of Boltz and Chai, whose records are the chains of one complex; None for other files."""
    boltz = [_BOLTZ.match(head) for head, _ in records]
    chains: List[Dict[str, Any]] = []
    if len(records) > 1 and all(boltz):
        named = [(match[1], match[2].lower(), body) for match, (_, body) in zip(boltz, records) if match]
        if len({one for one, _, _ in named}) < len(named):
            raise InputError("Two records have the same chain id.")
        chains = [chain(kind, body if kind in LIGANDS else body.rstrip("*"), [one]) for one, kind, body in named]
        tool = "Boltz"
    elif records and all(_CHAI.match(head) for head, _ in records):
        for head, body in records:
            match = _CHAI.match(head)
            kind = match[1].lower() if match else ""
            if kind == "glycan":
                raise InputError("%s is a glycan in the notation of Chai. Give its components and bonds." % head)
            chains.append(chain("smiles" if kind == "ligand" else kind, body))
        tool = "Chai"
    else:
        return None
    warning = "The %d records are read as the chains of one complex, as %s does." % (len(records), tool)
    return FoldInput([{"chains": chains}], {}, [warning])


def _kinds(header: str) -> Any:
    name, separator, last = header.rpartition("|")
    kinds = last.strip().lower().split(":")
    if separator and all(kind in KINDS for kind in kinds):
        return name.strip(), kinds
    return header, ["protein"]


def parse_table(text: str, delimiter: str = ",") -> FoldInput:
    """One item for each row: a column `name`, and a column for each chain, such as `protein`, `rna`, `smiles_2`.

    `sequence` is a protein, and `:` in a cell of polymers stands between chains. A table with the
    columns `name`, `kind` and `value` has a row for each chain instead; rows with the same name are
    one complex.
    """
    reader = csv.DictReader(io.StringIO(text.lstrip("\ufeff")), delimiter=delimiter, restkey="\0more")
    columns = [(column or "").strip().lower() for column in reader.fieldnames or []]
    reader.fieldnames = columns
    is_long = {"name", "kind", "value"} <= set(columns)
    unknown = [one for one in columns if one not in ("name", "kind", "value") and not _COLUMN.match(one)]
    if unknown or len(set(columns)) != len(columns):
        raise InputError(
            "The columns %s are not understood. Use `name`, and for chains %s with a number where there are several."
            % (", ".join(unknown) or "have the same name twice and", ", ".join(("sequence",) + KINDS))
        )
    items: Dict[str, Item] = {}
    for line, row in enumerate(reader, 2):
        if "\0more" in row:
            raise InputError("Line %d has more cells than the table has columns." % line)
        cells = {key: (value or "").strip() for key, value in row.items()}
        if not any(cells.values()):
            continue
        name = cells.get("name", "")
        if is_long:
            item = items.setdefault(name or "\0%d" % line, {**({"name": name} if name else {}), "chains": []})
            item["chains"].append(chain(cells["kind"].lower(), cells["value"]))
            continue
        chains = [
            chain(kind, value)
            for column in columns
            if (match := _COLUMN.match(column)) and cells[column]
            for kind in ["protein" if match[1] == "sequence" else match[1]]
            for value in (cells[column].split(":") if kind in POLYMERS else [cells[column]])
        ]
        items["\0%d" % line] = {**({"name": name} if name else {}), "chains": chains}
    return FoldInput(list(items.values()))


def parse_document(document: Any, name: str = "input") -> FoldInput:
    """A document as JSON or YAML gives it: our own form, AlphaFold 3 (both dialects) or Boltz."""
    if isinstance(document, list) and document and all(_is_server_job(one) for one in document):
        return _join([_alphafold_server(job) for job in document])
    if isinstance(document, list):
        return FoldInput(list(document))
    if isinstance(document, dict) and "items" in document:
        return FoldInput(list(document["items"] or []), {k: v for k, v in document.items() if k != "items"})
    if isinstance(document, dict) and isinstance(document.get("sequences"), list):
        is_boltz = "modelSeeds" not in document and "dialect" not in document
        return _boltz(document, name) if is_boltz else _alphafold(document)
    raise InputError(
        "%s holds no items. A FASTA file works, or YAML such as:\nitems:\n  - name: my protein\n    chains:\n"
        "      - protein: { sequence: MQIFVKTLTGK }" % name
    )


def _join(inputs: Sequence[FoldInput]) -> FoldInput:
    return FoldInput(
        [item for one in inputs for item in one.items], {}, [text for one in inputs for text in one.warnings]
    )


def _ids(value: Any) -> Optional[List[str]]:
    if value is None:
        return None
    return [str(one) for one in value] if isinstance(value, list) else [str(value)]


class _Notes:
    """Names what a foreign format has and this service has not."""

    def __init__(self, item: str) -> None:
        self.item = item
        self.warnings: List[str] = []

    def left_out(self, what: str) -> None:
        self.warnings.append("%s: %s left out; the service makes its own." % (self.item, what))

    def refuse(self, what: str, instead: str = "Write the item in our own form.") -> None:
        raise InputError("%s: %s, which this service does not have. %s" % (self.item, what, instead))

    def check(self, fields: Mapping[str, Any], known: Sequence[str]) -> None:
        for key in fields:
            if key not in known:
                self.refuse("it has `%s`" % key, "Take it out if the fold is right without it.")


def _modifications(found: Any, ccd: str, position: str) -> List[Dict[str, Any]]:
    """Positions are 1-based there and 0-based here."""
    return [{"ccd": str(one[ccd]), "position": int(one[position]) - 1} for one in found or []]


def _alphafold(document: Mapping[str, Any]) -> FoldInput:
    """AlphaFold 3's input JSON (dialect alphafold3, version 1 to 4)."""
    notes = _Notes(str(document.get("name") or "AlphaFold 3 job"))
    notes.check(document, ("name", "modelSeeds", "sequences", "dialect", "version", "bondedAtomPairs", "userCCD", "userCCDPath"))
    if document.get("userCCD") or document.get("userCCDPath"):
        notes.refuse("it has a chemical component of its own", "Give the ligand as SMILES.")
    seeds = document.get("modelSeeds") or []
    if seeds:
        notes.warnings.append(
            "%s: %d seeds left out; the service chooses its own, and `repeat` folds several times." % (notes.item, len(seeds))
        )
    chains: List[Dict[str, Any]] = []
    for entry in document["sequences"]:
        (kind, value), *more = entry.items()
        if more:
            notes.refuse("one of its sequences is several things at once")
        ids = _ids(value.get("id"))
        if kind == "ligand":
            notes.check(value, ("id", "ccdCodes", "smiles", "description"))
            chains.append(_ligand(ids, value.get("ccdCodes"), value.get("smiles")))
            continue
        if kind not in POLYMERS:
            notes.refuse("it has a chain of kind %s" % kind)
        own = ("unpairedMsa", "unpairedMsaPath", "pairedMsa", "pairedMsaPath", "templates")
        notes.check(value, ("id", "sequence", "modifications", "description", *own))
        given = [key for key in own if value.get(key)]
        if given:
            notes.left_out("%s of chain %s" % (", ".join(given), "/".join(ids or ["?"])))
        names = ("ptmType", "ptmPosition") if kind == "protein" else ("modificationType", "basePosition")
        chains.append(_polymer(kind, ids, value["sequence"], _modifications(value.get("modifications"), *names)))
    item: Item = {"name": notes.item, "chains": chains}
    bonds = [_bond(notes, *pair) for pair in document.get("bondedAtomPairs") or []]
    return FoldInput([{**item, "covalentBonds": bonds} if bonds else item], {}, notes.warnings)


def _bond(notes: _Notes, *atoms: Any) -> Dict[str, Any]:
    """Two atoms as [chain, 1-based residue, atom name]. The gateway makes indices of the names."""
    if len(atoms) != 2 or any(not isinstance(atom, list) or len(atom) != 3 for atom in atoms):
        notes.refuse("it has a bond that is not of two atoms")
    return {
        key: value
        for n, (one, residue, name) in enumerate(atoms, 1)
        for key, value in (
            ("chainId%d" % n, str(one)),
            ("residueIndex%d" % n, int(residue) - 1),
            ("atomName%d" % n, str(name)),
        )
    }


def _is_server_job(job: Any) -> bool:
    return isinstance(job, dict) and isinstance(job.get("sequences"), list) and "name" in job


def _alphafold_server(job: Mapping[str, Any]) -> FoldInput:
    """A job of the AlphaFold Server, or one of AlphaFold 3 in a list."""
    if job.get("dialect") != "alphafoldserver":
        return _alphafold(job)
    notes = _Notes(str(job["name"]))
    notes.check(job, ("name", "modelSeeds", "sequences", "dialect", "version"))
    if job.get("modelSeeds"):
        notes.left_out("seeds")
    kinds = {"proteinChain": "protein", "rnaSequence": "rna", "dnaSequence": "dna"}
    chains: List[Dict[str, Any]] = []
    for entry in job["sequences"]:
        ((kind, value),) = entry.items()
        copies = int(value.get("count", 1))
        if kind in ("ligand", "ion"):
            notes.check(value, ("count", kind))
            chains += [chain("ccd", re.sub(r"^CCD_", "", str(value[kind]))) for _ in range(copies)]
            continue
        if kind not in kinds:
            notes.refuse("it has a chain of kind %s" % kind)
        notes.check(value, ("count", "sequence", "modifications", "maxTemplateDate", "useStructureTemplate", "glycans"))
        if value.get("glycans"):
            notes.refuse("it has glycans")
        names = ("ptmType", "ptmPosition") if kind == "proteinChain" else ("modificationType", "basePosition")
        modifications = [
            {**one, "ccd": re.sub(r"^CCD_", "", one["ccd"])}
            for one in _modifications(value.get("modifications"), *names)
        ]
        chains += [_polymer(kinds[kind], None, value["sequence"], modifications) for _ in range(copies)]
    return FoldInput([{"name": notes.item, "chains": chains}], {}, notes.warnings)


def _boltz(document: Mapping[str, Any], name: str) -> FoldInput:
    """Boltz' input YAML (version 1). Its positions are 1-based."""
    notes = _Notes(name)
    notes.check(document, ("version", "sequences", "constraints", "templates", "properties"))
    for key in ("templates", "properties"):
        if document.get(key):
            notes.left_out(key)
    chains: List[Dict[str, Any]] = []
    for entry in document["sequences"]:
        ((kind, value),) = entry.items()
        kind = str(kind).lower()
        ids = _ids(value.get("id"))
        if kind == "ligand":
            notes.check(value, ("id", "smiles", "ccd"))
            ccd = value.get("ccd")
            chains.append(_ligand(ids, None if ccd is None else [ccd], value.get("smiles")))
            continue
        if kind not in POLYMERS:
            notes.refuse("it has a chain of kind %s" % kind)
        notes.check(value, ("id", "sequence", "msa", "modifications", "cyclic"))
        if value.get("cyclic"):
            notes.refuse("chain %s is cyclic" % "/".join(ids or ["?"]))
        if value.get("msa") not in (None, "empty"):
            notes.left_out("the alignment of chain %s" % "/".join(ids or ["?"]))
        chains.append(_polymer(kind, ids, value["sequence"], _modifications(value.get("modifications"), "ccd", "position")))
    item: Item = {"name": name, "chains": chains}
    for constraint in document.get("constraints") or []:
        ((kind, value),) = constraint.items()
        if kind == "bond":
            notes.check(value, ("atom1", "atom2"))
            item.setdefault("covalentBonds", []).append(_bond(notes, value["atom1"], value["atom2"]))
            continue
        if kind != "pocket" or "pocket" in item:
            notes.refuse("it has a constraint of kind %s" % kind)
        notes.check(value, ("binder", "contacts", "max_distance", "force"))
        for key in ("max_distance", "force"):
            if key in value:
                notes.left_out("`%s` of the pocket" % key)
        if not all(isinstance(residue, int) for _, residue in value["contacts"]):
            notes.refuse("its pocket names atoms", "Name residues by their position.")
        contacts = [{"chainId": str(one), "residueIndex": residue - 1} for one, residue in value["contacts"]]
        item["pocket"] = {"binderChainId": str(value["binder"]), "contacts": contacts}
    return FoldInput([item], {}, notes.warnings)


def _polymer(kind: str, ids: Optional[List[str]], sequence: Any, modifications: List[Dict[str, Any]]) -> Dict[str, Any]:
    made = chain(kind, str(sequence), ids)
    if modifications:
        made[kind]["modifications"] = modifications
    return made


def _ligand(ids: Optional[List[str]], ccd: Optional[Sequence[Any]], smiles: Any) -> Dict[str, Any]:
    named: Dict[str, Any] = {} if ids is None else {"ids": ids}
    if smiles is not None:
        named["smiles"] = str(smiles)
    if ccd is not None:
        named["ccd"] = [_code(one) for one in ccd]
    return {"ligand": named}


def _code(value: Any) -> str:
    if isinstance(value, str):
        return value
    raise InputError("The code %s is read as a number. Quote it, such as \"017\"." % value)


