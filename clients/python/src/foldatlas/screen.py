"""Reads a screen: several files and folders of designs as one input, whose items are named by their files."""

from __future__ import annotations

import os
import re
from typing import Dict, Iterable, List, Optional, Sequence, Tuple, Union

from .companions import list_restraints
from .errors import InputError, join_mistakes
from .fold_input import MAX_NAME_CHARACTERS, FoldInput, Item, read_stem
from .inputs import DOCUMENT_ENDINGS, FASTA_ENDINGS, read_file
from .journal import JOURNAL_FILE
from .saver import fold_case, plain_file_name

Path = Union[str, "os.PathLike[str]"]

ENDINGS = (*FASTA_ENDINGS, *DOCUMENT_ENDINGS, ".csv", ".tsv")
MAX_TOLD_NAMES = 5


def read_input(path: Union[Path, Sequence[Path]]) -> FoldInput:
    """Reads a file, a folder, or a list of both, as one screen. Raises InputError with every mistake and its file.

    A file is read by its content; the ending decides between CSV and TSV only. Of several files each
    names its item, and items of a file with several are named FILE_ITEM.
    """
    given = [path] if isinstance(path, (str, os.PathLike)) else list(path) if isinstance(path, Iterable) else []
    if not given or not all(isinstance(one, (str, os.PathLike)) for one in given):
        raise InputError("Give at least one file or folder.")
    warnings: List[str] = []
    files: List[str] = []
    is_screen = len(given) > 1
    for one in map(os.fspath, given):
        if os.path.isdir(one):
            is_screen = True
            files += _list_folder(one, warnings)
        else:
            files.append(one)
    if not is_screen:
        made = read_file(files[0])
        made.files = [(files[0], 0)]
    else:
        made = _read_files(files)
    fasta = [one for one in map(os.fspath, given) if one.lower().endswith(FASTA_ENDINGS) and not os.path.isdir(one)]
    made.warnings = warnings + made.warnings + list_restraints(fasta, files) + _same_names(made.items)
    return made


def _list_folder(folder: str, warnings: List[str]) -> List[str]:
    """The files of a folder that can be read, numbers in names by value. Folders in it are not entered."""
    names = sorted((name for name in os.listdir(folder) if not name.startswith(".")), key=_natural)
    if JOURNAL_FILE in names:
        raise InputError("%s has results in it, and %s. Name a folder of inputs." % (folder, JOURNAL_FILE))
    files, others = [], []
    for name in names:
        path = os.path.join(folder, name)
        is_read = name.lower().endswith(ENDINGS) and not os.path.isdir(path)
        (files if is_read else others).append(path)
    if not files:
        raise InputError("%s has no file that is read: %s. Folders in it are not entered." % (folder, ", ".join(ENDINGS)))
    if others:
        shown = ", ".join(os.path.basename(one) for one in others[:MAX_TOLD_NAMES])
        more = " and %d more" % (len(others) - MAX_TOLD_NAMES) if len(others) > MAX_TOLD_NAMES else ""
        warnings.append("%s: %s%s not read, by the ending or as a folder." % (folder, shown, more))
    return files


def _natural(name: str) -> List[Tuple[int, int, str]]:
    parts = re.split(r"([0-9]+)", name.lower())
    return [(0, int(part), "") if part.isdigit() and part.isascii() else (1, 0, part) for part in parts] + [(2, 0, name)]


def _read_files(files: Sequence[str]) -> FoldInput:
    made = FoldInput([])
    options: Optional[Dict[str, object]] = None
    first_file = ""
    owners: Dict[str, str] = {}
    problems: List[str] = []
    #: Mistakes that a file has beyond those that it tells.
    more = 0
    seen: Dict[str, str] = {}
    warnings: Dict[str, List[str]] = {}
    for file in files:
        real = os.path.realpath(file)
        if real in seen:
            problems.append("%s: this file is given twice." % file)
            continue
        seen[real] = file
        try:
            one = read_file(file)
            if not one.items:
                raise InputError("it has no items.")
            if options is None:
                options, first_file = one.options, file
            if one.options != options:
                keys = ", ".join(sorted({*one.options, *options}))
                raise InputError("%s must be the same as in %s. Give it once, outside the files." % (keys, first_file))
            names = _item_names(file, one.items)
        except InputError as error:
            # Behind its first line a message without issues has an example.
            lines = error.issues or [_without_path(str(error), file).split("\n", 1)[0]]
            problems += ["%s: %s" % (file, line) for line in lines]
            more += max(0, error.count - len(lines))
            continue
        first = len(made.items)
        made.files.append((file, first))
        made.own_items.update(first + index for index in one.own_items)
        for place, where in one.places.items():
            number, _, rest = place[len("items.") :].partition(".")
            made.places["items.%d%s" % (first + int(number), "." + rest if rest else "")] = where
        for warning in one.warnings:
            # Names inside files are not those of the items.
            own = one.items[0].get("name") if len(one.items) == 1 else None
            warnings.setdefault(_without_path(warning, own) if own else warning, []).append(file)
        made.items += [{**item, "name": name} for item, name in zip(one.items, names)]
        for name in {fold_case(plain_file_name(name)): name for name in names}:
            if name in owners:
                problems.append("%s: its results would have the names of those of %s. Rename one of them." % (file, owners[name]))
            owners.setdefault(name, file)
    if problems:
        raise join_mistakes(problems, more)
    made.options = dict(options or {})
    made.warnings += ["%s: %s" % (_some_files(named), warning) for warning, named in warnings.items()]
    return made


def _some_files(files: Sequence[str]) -> str:
    return files[0] if len(files) == 1 else "%s and %d more" % (files[0], len(files) - 1)


def _without_path(message: str, file: str) -> str:
    """A sentence that begins with the file's own name begins with it once."""
    for start in (file + ": ", file + ", ", file + " "):
        if message.startswith(start):
            return message[len(start) :]
    return message


def _item_names(file: str, items: Sequence[Item]) -> List[str]:
    """The file's name without its ending, and behind it the item's name or number where a file has several.

    A name that begins with that of the file is left as it is.
    """
    stem = read_stem(file)
    if len(items) == 1:
        return [stem[:MAX_NAME_CHARACTERS]]
    names = [str(item.get("name") or number) for number, item in enumerate(items, 1)]
    return [(name if name.startswith(stem + "_") else "%s_%s" % (stem, name))[:MAX_NAME_CHARACTERS] for name in names]


def _same_names(items: Sequence[Item]) -> List[str]:
    """A sentence where results of items will be told apart by a number only."""
    counts: Dict[str, List[str]] = {}
    for item in items:
        name = item.get("name") if isinstance(item, dict) else None
        if isinstance(name, str) and name:
            counts.setdefault(fold_case(plain_file_name(name)), []).append(name)
    same = [names for names in counts.values() if len(names) > 1]
    if not same:
        return []
    shown = ", ".join(names[0] for names in same[:MAX_TOLD_NAMES])
    more = " and %d more" % (len(same) - MAX_TOLD_NAMES) if len(same) > MAX_TOLD_NAMES else ""
    return ["Several items are called %s%s, where case does not count: their files are numbered." % (shown, more)]
