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
from dataclasses import replace
from functools import partial
from itertools import zip_longest
from typing import Any, Dict, Iterator, List, Mapping, Optional, Sequence, Tuple, Union

from .alphafold import ALPHAFOLD_KEYS, read_alphafold, read_server_job
from .boltz import read_boltz
from .companions import ALIGNMENT_ENDINGS, describe_restraints
from .draft import POLYMERS, Draft
from .errors import InputError
from .fasta import parse_fasta
from .fold_input import KINDS, FoldInput, Item, chain, chain_places, item_name, name_items, read_stem
from .own import check_own
from .protenix import SERVER_KINDS, read_protenix
from .shapes import MAX_SHOWN_CHARACTERS, Mistakes, Node, OddInteger, describe

#: What R, pandas and databases write where there is no value: each is also letters of a sequence or a component.
NO_VALUES = frozenset(("NA", "N/A", "#N/A", "<NA>", "NaN", "nan", "NULL", "null", "None"))
_COLUMN = re.compile(r"^(protein|rna|dna|smiles|ccd|sequence)(?:[_ -]?\d+)?$")


NUCLEIC_ENDINGS = (".fna", ".ffn", ".frn")
FASTA_ENDINGS = (".fasta", ".fa", ".faa", ".fas", *NUCLEIC_ENDINGS)
DOCUMENT_ENDINGS = (".yaml", ".yml", ".json")
#: Lines of letters alone: no other format is read from a text without a colon or a bracket.
_BARE_SEQUENCE = re.compile(r"[A-Za-z*:\s]+")

#: Columns that one message names.
MAX_TOLD_COLUMNS = 5
#: Alignments and templates inside files of AlphaFold 3 are large.
MAX_INPUT_BYTES = 256 * 1024 * 1024
#: The first bytes of gzip, zip (as a spreadsheet is), Zstandard, xz and bzip2.
_PACKED = (b"\x1f\x8b", b"PK\x03\x04", b"\x28\xb5\x2f\xfd", b"\xfd7zXZ", b"BZh")


def read_file(path: Union[str, "os.PathLike[str]"]) -> FoldInput:
    """Reads one file. Raises InputError."""
    with open(path, "rb") as file:
        return parse_input(decode_input(file.read(MAX_INPUT_BYTES + 1), os.fspath(path)), os.fspath(path))


def decode_input(data: bytes, name: str) -> str:
    """The text of a file. Raises InputError where it is none, or is too large."""
    if len(data) > MAX_INPUT_BYTES:
        raise InputError("%s has more than %d MiB." % (name, MAX_INPUT_BYTES >> 20))
    if data.startswith(_PACKED):
        raise InputError("%s is a compressed file or a spreadsheet. Unpack it, or save the sheet as CSV." % name)
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError:
        raise InputError("%s is no UTF-8 text. Save it as UTF-8." % name) from None
    if "\0" in text:
        raise InputError("%s is no UTF-8 text, but UTF-16 or a binary file. Save it as UTF-8." % name)
    return text


def parse_input(text: str, name: Optional[str] = None) -> FoldInput:
    """The same for text. `name` is that of the file, whose ending tells CSV from TSV; "input" when left out.

    An item without a name in its file is called as the file, but in our own form, which is sent as it is.
    """
    name = "input" if name is None else name
    stem = read_stem(name)
    plain = text.lstrip("\ufeff \t\r\n")
    ending = os.path.splitext(name)[1].lower()
    if not plain:
        raise InputError("%s is empty." % name)
    if ending in ALIGNMENT_ENDINGS:
        raise InputError("%s is an alignment, and the service makes its own. Give its first sequence alone, as FASTA." % name)
    if plain.startswith(">"):
        made = parse_fasta(plain, ending in NUCLEIC_ENDINGS)
        return replace(made, items=name_items(made.items, stem))
    if ending in (".csv", ".tsv"):
        restraints = describe_restraints(text) if ending == ".csv" else None
        if restraints is not None:
            raise InputError("%s: %s Take the file away if the folds are right without them." % (name, restraints))
        made = parse_table(text, "\t" if ending == ".tsv" else ",")
        return replace(made, items=name_items(made.items, stem))
    is_bare = ending not in DOCUMENT_ENDINGS and not plain.rstrip().endswith(":") and _BARE_SEQUENCE.fullmatch(plain)
    if is_bare or ending in FASTA_ENDINGS or re.search(r"^>", plain, re.MULTILINE):
        raise InputError("%s: something stands before the first header. Begin with a line such as `>name`, and the sequence behind it." % name)
    return parse_document(_load(text, name), stem)


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

        def construct_integer(self, node: Any) -> int:
            value = self.construct_yaml_int(node)
            if re.fullmatch(r"[-+]?(0|[1-9][0-9]*)", node.value):
                return value
            odd = OddInteger(value)
            odd.written = node.value
            return odd

    Loader.add_constructor("tag:yaml.org,2002:map", lambda loader, node: loader.construct_mapping(node))
    Loader.add_constructor("tag:yaml.org,2002:int", lambda loader, node: loader.construct_integer(node))
    try:
        return yaml.load(text, Loader)  # noqa: S506 (a subclass of SafeLoader)
    except (InputError, RecursionError):
        raise
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        raise InputError(
            "%s, line %d, column %d: this cannot be read as YAML: %s. Indent with spaces, and quote texts with brackets or "
            "colons, such as a SMILES." % (name, mark.line + 1, mark.column + 1, error.problem)
        ) from None
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


def parse_table(text: str, delimiter: str = ",") -> FoldInput:
    """One item for each row: a column `name`, and a column for each chain, such as `protein`, `rna`, `smiles_2`.

    `id` is read as `name`, as in tables of ColabFold. `sequence` is a protein, and `:` in a cell of
    polymers stands between chains. A table with the columns `name`, `kind` and `value` has a row for
    each chain instead; rows with the same name are one complex.
    """
    lines = _table_lines(text.lstrip("\ufeff"), delimiter)
    columns = [column.strip().lower() for column in next(lines, (1, []))[1]]
    if len(columns) == 1 and ";" in columns[0]:
        raise InputError("line 1: semicolons stand between the columns. Save the table with commas, or as TSV with tabs.")
    if "name" not in columns:
        columns = ["name" if one == "id" else one for one in columns]
    unknown = [one for one in columns if one not in ("name", "kind", "value") and not _COLUMN.match(one)]
    if unknown:
        raise InputError(
            "line 1, column %s: this is not understood. Use `name`, and for chains %s with a number where there are several."
            % (", ".join(one[:MAX_SHOWN_CHARACTERS] or "without a name" for one in unknown[:MAX_TOLD_COLUMNS]), ", ".join(("sequence",) + KINDS))
        )
    twice = next((one for index, one in enumerate(columns) if one in columns[:index]), None)
    if twice is not None:
        raise InputError("line 1, column %s: this stands twice. Number the columns, such as `protein` and `protein_2`." % twice)
    long_form = {"name", "kind", "value"}
    if long_form & set(columns) - {"name"} and long_form != set(columns):
        raise InputError(
            "line 1: the columns are %s. A table with a row for each chain has `name`, `kind` and `value` and no other; else "
            "name each column by its kind, such as `protein` and `ccd`." % ", ".join(columns)
        )
    items: Dict[str, Item] = {}
    #: The place of each item, and those of its chains, by its key.
    where: Dict[str, Tuple[str, List[str]]] = {}
    mistakes = Mistakes(counts_rest=True)
    # A quote that stays open ends the table, and is a mistake behind those before.
    for line, row in iter(partial(mistakes.read, partial(next, lines, None)), None):
        added = mistakes.read(partial(_add_row, items, columns, line, row))
        if added is not None:
            key, chain_columns = added
            chains = where.setdefault(key, ("line %d" % line, []))[1]
            chains += ["line %d, column %s" % (line, column) for column in chain_columns]
    mistakes.finish()
    made = list(items.values())
    return FoldInput(made, places=chain_places(made, [where[key] for key in items]))


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
                raise InputError("line %d: a quote is opened and never closed." % first) from None
            raise InputError("line %d: this cannot be read as a table: %s." % (first, error)) from None
        if row:
            yield first, row


def _add_row(items: Dict[str, Item], columns: Sequence[str], line: int, row: Sequence[str]) -> Optional[Tuple[str, List[str]]]:
    """Adds the item of a row, or a chain to it. Returns the key of the item and the column of each chain; None for an empty row."""
    if len(row) > len(columns):
        raise InputError("line %d: there are more cells than the table has columns." % line)
    cells = {column: value.strip() for column, value in zip_longest(columns, row, fillvalue="")}
    if not any(cells.values()):
        return None
    if row[0].lstrip().startswith("#"):
        raise InputError("line %d: a row that begins with # is a comment in other programs; here it would be folded. Take it out." % line)
    for column, value in cells.items():
        if column != "name" and value in NO_VALUES and cells.get("kind", "").lower() != "ccd":
            hint = " A sodium ion is [Na+] in a column smiles." if column == "ccd" and value == "NA" else ""
            raise InputError("line %d, column %s: %s stands for no value. Leave the cell empty where there is no chain.%s" % (line, column, value, hint))
    name = cells.get("name", "")
    named = {"name": name} if name else {}
    if "kind" in columns:
        if cells["kind"].lower() not in KINDS:
            shown = cells["kind"][:MAX_SHOWN_CHARACTERS] or "an empty cell"
            raise InputError("line %d, column kind: %s is no kind of chain: use %s." % (line, shown, ", ".join(KINDS)))
        if not name:
            raise InputError("line %d, column name: there is no name. Rows with the same name are one complex: write it in each of them." % line)
        item = items.setdefault(name, {**named, "chains": []})
        item["chains"].append(chain(cells["kind"].lower(), cells["value"]))
        return name, ["value"]
    chains = [
        (column, chain(kind, value))
        for column in columns
        if (match := _COLUMN.match(column)) and cells[column]
        for kind in ["protein" if match[1] == "sequence" else match[1]]
        for value in (cells[column].split(":") if kind in POLYMERS else [cells[column]])
    ]
    items["\0%d" % line] = {**named, "chains": [one for _, one in chains]}
    return "\0%d" % line, [column for column, _ in chains]


def parse_document(document: Any, name: str = "input") -> FoldInput:
    """A document as JSON or YAML gives it: our own form, AlphaFold 3, its Server, Protenix or Boltz."""
    if isinstance(document, list) and document and all(_is_job(one) for one in document):
        return _read_jobs([("[%d]" % index, job) for index, job in enumerate(document)], name)
    if isinstance(document, dict) and "sequences" in document:
        return _read_jobs([("", document)], name)
    if isinstance(document, list) and document:
        check_own(document)
        places = {"items.%d" % index: "[%d]" % index for index in range(len(document))}
        return FoldInput(list(document), places=places, own_items=set(range(len(document))))
    if isinstance(document, dict) and document.get("items") != [] and "items" in document:
        check_own(document)
        items = list(document["items"])
        options = {key: value for key, value in document.items() if key != "items"}
        places = {"items.%d" % index: "items[%d]" % index for index in range(len(items))}
        return FoldInput(items, options, places=places, own_items=set(range(len(items))))
    raise InputError(
        "%s holds no items. A FASTA file works, or YAML such as:\nitems:\n  - name: my protein\n    chains:\n"
        "      - protein: { sequence: MQIFVKTLTGK }" % name
    )


def _is_job(document: Any) -> bool:
    return isinstance(document, dict) and "sequences" in document


def _read_jobs(jobs: Sequence[Tuple[str, Any]], name: str) -> FoldInput:
    """Items of other programs' jobs. Raises InputError with the mistakes of all of them."""
    mistakes = Mistakes()
    drafts = [
        mistakes.read(partial(_read_job, Node(job, place, mistakes), item_name(name, number, len(jobs))))
        for number, (place, job) in enumerate(jobs, 1)
    ]
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
