"""Reads what people fold: FASTA, CSV, TSV, YAML, and files of AlphaFold 3, its Server, Protenix and Boltz.

Each reader returns a `FoldInput`: the input of `submitFold`, and warnings about what was left out
because this service has no counterpart for it. What changes the chemistry is refused instead.
"""

from __future__ import annotations

import csv
import io
import json
import os
import re
from collections import Counter
from dataclasses import dataclass, field
from functools import partial
from itertools import zip_longest
from typing import Any, Dict, Iterator, List, Mapping, Optional, Sequence, Tuple, Union

from .alphafold import ALPHAFOLD_KEYS, read_alphafold, read_server_job
from .boltz import read_boltz
from .draft import POLYMERS, Draft
from .errors import InputError
from .own import check_own
from .protenix import SERVER_KINDS, read_protenix
from .shapes import MAX_SHOWN_CHARACTERS, Mistakes, Node, describe

Item = Dict[str, Any]

KINDS = ("protein", "rna", "dna", "smiles", "ccd")
LIGANDS = ("smiles", "ccd")
_COLUMN = re.compile(r"^(protein|rna|dna|smiles|ccd|sequence)(?:[_ -]?\d+)?$")


FASTA_ENDINGS = (".fasta", ".fa", ".faa", ".fna", ".fas")
DOCUMENT_ENDINGS = (".yaml", ".yml", ".json")
#: Lines of letters alone: no other format is read from a text without a colon or a bracket.
_BARE_SEQUENCE = re.compile(r"[A-Za-z*:\s]+")

#: Alignments and templates inside files of AlphaFold 3 are large.
MAX_INPUT_BYTES = 256 * 1024 * 1024


@dataclass
class FoldInput:
    """Items as `submitFold` takes them, options of the batch, and one sentence for each thing that was left out.

    `places` has where each part stands in a file of another program, by its path in the submission.
    Without files of its own an input came from a text.
    """

    items: List[Item]
    options: Dict[str, Any] = field(default_factory=dict)
    warnings: List[str] = field(default_factory=list)
    places: Dict[str, str] = field(default_factory=dict)
    #: The files that were read, each with the position of its first item.
    files: List[Tuple[str, int]] = field(default_factory=list)


def read_file(path: Union[str, "os.PathLike[str]"]) -> FoldInput:
    """Reads one file. Raises InputError."""
    with open(path, "rb") as file:
        return parse_input(decode_input(file.read(MAX_INPUT_BYTES + 1), os.fspath(path)), os.fspath(path))


def decode_input(data: bytes, name: str) -> str:
    """The text of a file. Raises InputError where it is none, or is too large."""
    if len(data) > MAX_INPUT_BYTES:
        raise InputError("%s has more than %d MiB." % (name, MAX_INPUT_BYTES >> 20))
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError:
        raise InputError("%s is no UTF-8 text. Save it as UTF-8." % name) from None
    if "\0" in text:
        raise InputError("%s is no UTF-8 text, but UTF-16 or a binary file. Save it as UTF-8." % name)
    return text


def parse_input(text: str, name: str = "input") -> FoldInput:
    """The same for text. `name` is that of the file, whose ending tells CSV from TSV."""
    plain = text.lstrip("\ufeff \t\r\n")
    ending = os.path.splitext(name)[1].lower()
    if not plain:
        raise InputError("%s is empty." % name)
    if plain.startswith(">"):
        blank = re.sub(r"\r\n?", "\n", text[: len(text) - len(plain)]).count("\n")
        return parse_fasta("\n" * blank + plain)
    if ending in (".csv", ".tsv"):
        return parse_table(text, "\t" if ending == ".tsv" else ",")
    is_bare = ending not in DOCUMENT_ENDINGS and not plain.rstrip().endswith(":") and _BARE_SEQUENCE.fullmatch(plain)
    if is_bare or ending in FASTA_ENDINGS or re.search(r"^>", plain, re.MULTILINE):
        raise InputError("%s: something stands before the first header. Begin with a line such as `>name`, and the sequence behind it." % name)
    return parse_document(_load(text, name), os.path.splitext(os.path.basename(name))[0])


def _load(text: str, name: str) -> Any:
    """JSON, else YAML by PyYAML. Both refuse a key that stands twice: one of the two would be lost."""
    try:
        if text.lstrip()[:1] not in ("{", "["):
            return _load_yaml(text, name)
        try:
            return _load_json(text)
        except json.JSONDecodeError as error:
            try:  # YAML may have braces, too.
                return _load_yaml(text, name)
            except InputError:
                raise InputError("%s cannot be read as JSON: %s." % (name, error)) from None
    except RecursionError:
        raise InputError("%s cannot be read: it is nested too deeply." % name) from None


def _load_json(text: str) -> Any:
    def refuse(word: str) -> Any:
        raise InputError("%s is no number of JSON." % word[:MAX_SHOWN_CHARACTERS])

    def integer(digits: str) -> int:
        # Python refuses to read thousands of digits.
        return int(digits) if len(digits) < 400 else refuse(digits)

    return json.loads(text, object_pairs_hook=_unique, parse_constant=refuse, parse_int=integer)


def _load_yaml(text: str, name: str) -> Any:
    try:
        import yaml
    except ImportError:
        raise InputError(
            "%s is no JSON, and YAML needs PyYAML: pip install 'foldatlas[yaml]', or save it as JSON." % name
        ) from None

    class Loader(yaml.SafeLoader):  # type: ignore[misc, name-defined]
        def compose_node(self, parent: Any, index: Any) -> Any:
            # A few lines of anchors can stand for more than fits in memory.
            if self.check_event(yaml.AliasEvent):
                line = self.peek_event().start_mark.line + 1
                raise InputError("%s, line %d: anchors are not read. Write the value itself." % (name, line))
            return super().compose_node(parent, index)

        def construct_mapping(self, node: Any, deep: bool = False) -> Dict[str, Any]:
            if not isinstance(node, yaml.MappingNode):
                raise InputError("%s, line %d: a mapping is expected." % (name, node.start_mark.line + 1))
            pairs = [(self.construct_object(key, True), self.construct_object(value, True)) for key, value in node.value]
            return _unique(pairs, "%s, line %d: " % (name, node.start_mark.line + 1))

    Loader.add_constructor("tag:yaml.org,2002:map", lambda loader, node: loader.construct_mapping(node))
    try:
        return yaml.load(text, Loader)  # noqa: S506 (a subclass of SafeLoader)
    except (InputError, RecursionError):
        raise
    except Exception as error:  # PyYAML lets out whatever Python raises for odd dates and numbers
        raise InputError("%s cannot be read as YAML: %s" % (name, error)) from None


def _unique(pairs: Sequence[Tuple[Any, Any]], where: str = "") -> Dict[str, Any]:
    found: Dict[str, Any] = {}
    for key, value in pairs:
        if not isinstance(key, str):
            raise InputError("%sa key must be a text, and is read as %s. Quote it." % (where, describe(key)))
        if key in found:
            raise InputError("%sthe key %s stands twice in one object." % (where, key[:MAX_SHOWN_CHARACTERS]))
        found[key] = value
    return found


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


def parse_fasta(text: str) -> FoldInput:
    """One item for each record, `:` between the chains of a complex.

    All chains are proteins unless the header ends with their kinds: `>site|protein:dna` or
    `>aptamer|rna`. Empty chains stay, so that the gateway refuses them. Files of Boltz (`>A|protein`,
    `>B|ccd`, `>D|smiles`) and of Chai (`>protein|name=A`, `>ligand|name=B`) are one complex.
    """
    records: List[Tuple[str, str]] = []
    lines: List[int] = []
    before, *parts = re.split(r"^>", re.sub(r"\r\n?", "\n", text), flags=re.MULTILINE)
    line = 1 + before.count("\n")
    for record in parts:
        head, _, body = record.partition("\n")
        records.append((head.strip(), body.strip()))
        lines.append(line)
        line += record.count("\n")
    complexes = _one_complex(records)
    if complexes is not None:
        complexes.places = line_places(complexes.items, [lines])
        return complexes
    mistakes = Mistakes()
    items = [mistakes.read(partial(_fasta_item, head, body)) for head, body in records]
    mistakes.finish()
    return FoldInput(items, places=line_places(items, [[line] * len(item["chains"]) for line, item in zip(lines, items)]))


def line_places(items: Sequence[Item], lines: Sequence[Sequence[int]]) -> Dict[str, str]:
    """Where each part of items stands in a file of lines. `lines` has one number for each chain of each item, from 1."""
    places: Dict[str, str] = {}
    for index, (item, numbers) in enumerate(zip(items, lines)):
        at = "items.%d" % index
        places[at] = "line %d" % numbers[0]
        chains_by_line = Counter(numbers)
        for position, (one, number) in enumerate(zip(item["chains"], numbers)):
            place = "line %d" % number + (", chain %d" % (position + 1) if chains_by_line[number] > 1 else "")
            ((kind, value),) = one.items()
            prefix = "%s.chains.%d" % (at, position)
            places.update({prefix: place, **{"%s.%s.%s" % (prefix, kind, key): place for key in value}})
    return places


def _fasta_item(head: str, body: str) -> Item:
    name, kinds = _kinds(head)
    # A SMILES has colons of its own.
    sequences = [body] if kinds == ["smiles"] else [one.strip() for one in body.split(":")]
    if len(kinds) == 1:
        kinds = kinds * len(sequences)
    if len(kinds) != len(sequences):
        raise InputError("%s has %d chains and %d kinds." % (name or "A record", len(sequences), len(kinds)))
    if set(kinds) <= set(LIGANDS):
        raise InputError(
            "%s is a ligand alone. Name its chains with it, as in `>site|protein:ccd`, or give each record of the "
            "complex an id and a kind, as in `>A|protein` and `>B|ccd`." % (name or "A record")
        )
    chains = [_record_chain(head, kind, sequence) for kind, sequence in zip(kinds, sequences)]
    return {**({"name": name} if name else {}), "chains": chains}


def _record_chain(head: str, kind: str, text: str, ids: Optional[Sequence[str]] = None) -> Dict[str, Any]:
    """A chain as a record gives it: a polymer over several lines, maybe with `*` at its end; a ligand as it stands."""
    if kind == "smiles" and len(text.split()) > 1:
        raise InputError(
            "%s: a SMILES has no white space and one line. Give each molecule a record of its own." % (head or "A record")
        )
    return chain(kind, "".join(text.split()).rstrip("*") if kind in POLYMERS else text, ids)


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
        chains = [_record_chain(one, kind, body, [one]) for one, kind, body in named]
        tool = "Boltz"
    elif records and all(_CHAI.match(head) for head, _ in records):
        for head, body in records:
            match = _CHAI.match(head)
            kind = match[1].lower() if match else ""
            if kind == "glycan":
                raise InputError("%s is a glycan in the notation of Chai. Give its components and bonds." % head)
            chains.append(_record_chain(head, "smiles" if kind == "ligand" else kind, body))
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
    lines = _table_lines(text.lstrip("\ufeff"), delimiter)
    columns = [column.strip().lower() for column in next(lines, (1, []))[1]]
    unknown = [one for one in columns if one not in ("name", "kind", "value") and not _COLUMN.match(one)]
    if unknown or len(set(columns)) != len(columns):
        raise InputError(
            "The columns %s are not understood. Use `name`, and for chains %s with a number where there are several."
            % (", ".join(unknown) or "have the same name twice and", ", ".join(("sequence",) + KINDS))
        )
    long_form = {"name", "kind", "value"}
    if long_form & set(columns) - {"name"} and long_form != set(columns):
        raise InputError(
            "The columns are %s. A table with a row for each chain has `name`, `kind` and `value` and no other; else name "
            "each column by its kind, such as `protein` and `ccd`." % ", ".join(columns)
        )
    items: Dict[str, Item] = {}
    #: The line of each chain, by the key of its item.
    chain_lines: Dict[str, List[int]] = {}
    mistakes = Mistakes()
    for line, row in lines:
        key = mistakes.read(partial(_add_row, items, columns, line, row))
        if mistakes.is_full:
            break
        if key is not None:
            known = chain_lines.setdefault(key, [])
            # An item without chains has the line of its row.
            known.extend([line] * max(len(items[key]["chains"]) - len(known), 0 if known else 1))
    mistakes.finish()
    made = list(items.values())
    return FoldInput(made, places=line_places(made, [chain_lines[key] for key in items]))


def _table_lines(text: str, delimiter: str) -> Iterator[Tuple[int, List[str]]]:
    """Rows with the number of the line where each begins. Raises InputError with that of a quote that stays open."""
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter, strict=True)
    while True:
        first = reader.line_num + 1
        try:
            row = next(reader)
        except StopIteration:
            return
        except csv.Error as error:
            if str(error) == "unexpected end of data":
                raise InputError("Line %d: a quote is opened and never closed." % first) from None
            raise InputError("Line %d cannot be read as a table: %s." % (first, error)) from None
        if row:
            yield first, row


def _add_row(items: Dict[str, Item], columns: Sequence[str], line: int, row: Sequence[str]) -> Optional[str]:
    """Adds the item of a row, or a chain to it. Returns the key of the item; None for an empty row."""
    if len(row) > len(columns):
        raise InputError("Line %d has more cells than the table has columns." % line)
    cells = {column: value.strip() for column, value in zip_longest(columns, row, fillvalue="")}
    if not any(cells.values()):
        return None
    name = cells.get("name", "")
    named = {"name": name} if name else {}
    if "kind" in columns:
        if cells["kind"].lower() not in KINDS:
            raise InputError("Line %d: %s is no kind of chain: use %s." % (line, cells["kind"] or "an empty cell", ", ".join(KINDS)))
        if not name:
            raise InputError("Line %d has no name. Rows with the same name are one complex: write it in each of them." % line)
        item = items.setdefault(name, {**named, "chains": []})
        item["chains"].append(chain(cells["kind"].lower(), cells["value"]))
        return name
    chains = [
        chain(kind, value)
        for column in columns
        if (match := _COLUMN.match(column)) and cells[column]
        for kind in ["protein" if match[1] == "sequence" else match[1]]
        for value in (cells[column].split(":") if kind in POLYMERS else [cells[column]])
    ]
    items["\0%d" % line] = {**named, "chains": chains}
    return "\0%d" % line


def parse_document(document: Any, name: str = "input") -> FoldInput:
    """A document as JSON or YAML gives it: our own form, AlphaFold 3, its Server, Protenix or Boltz."""
    if isinstance(document, list) and document and all(_is_job(one) for one in document):
        return _read_jobs([("[%d]" % index, job) for index, job in enumerate(document)], name)
    if isinstance(document, dict) and "sequences" in document:
        return _read_jobs([("", document)], name)
    if isinstance(document, list) and document:
        check_own(document)
        return FoldInput(list(document))
    if isinstance(document, dict) and document.get("items") != [] and "items" in document:
        check_own(document)
        return FoldInput(list(document["items"]), {k: v for k, v in document.items() if k != "items"})
    raise InputError(
        "%s holds no items. A FASTA file works, or YAML such as:\nitems:\n  - name: my protein\n    chains:\n"
        "      - protein: { sequence: MQIFVKTLTGK }" % name
    )


def _is_job(document: Any) -> bool:
    return isinstance(document, dict) and "sequences" in document


def _read_jobs(jobs: Sequence[Tuple[str, Any]], name: str) -> FoldInput:
    """Items of other programs' jobs. Raises InputError with the mistakes of all of them."""
    mistakes = Mistakes()
    drafts = [mistakes.read(partial(_read_job, Node(job, place, mistakes), name)) for place, job in jobs]
    mistakes.finish()
    return _join(drafts)


def _read_job(job: Node, name: str) -> Draft:
    """An item in the format that its keys show."""
    if job.value.get("dialect") == "alphafoldserver":
        return read_server_job(job, name)
    if any(key in job.value for key in ALPHAFOLD_KEYS if key != "modelSeeds"):
        return read_alphafold(job, name)
    entries = job.value["sequences"]
    kinds = {key for one in entries if isinstance(one, dict) for key in one} if isinstance(entries, list) else set()
    if "covalent_bonds" in job.value or kinds & set(SERVER_KINDS):
        return read_protenix(job, name)
    return read_alphafold(job, name) if "modelSeeds" in job.value or "name" in job.value else read_boltz(job, name)


def _join(drafts: Sequence[Draft]) -> FoldInput:
    places = {
        ("items.%d.%s" % (index, path)).rstrip("."): place
        for index, draft in enumerate(drafts)
        for path, place in draft.places.items()
    }
    return FoldInput([one.item for one in drafts], {}, [text for one in drafts for text in one.warnings], places)
