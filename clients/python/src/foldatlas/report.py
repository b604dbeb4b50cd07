"""Says what the gateway found in an input by the places, counts and means of the file that it came from."""

from __future__ import annotations

import re
from functools import lru_cache, partial
from typing import Any, Dict, List, Mapping, Optional, Sequence, Tuple

from .fold_input import FoldInput
from .text import plain_text

Issue = Mapping[str, Any]
_ZERO_BASED = re.compile(r"position (\d{1,9}) \(0-based\)")
_ITEM = re.compile(r"^items\.(\d{1,9})(?![^.])")


def describe_issue(issue: Issue, source: Optional[FoldInput] = None, first: int = 0) -> str:
    """One line: the place, what is wrong, and what would be right. `first` as for `translate_issue`."""
    told = translate_issue(issue, source, first)
    place = told["path"] + ": " if told["path"] else ""
    return plain_text("%s%s %s" % (place, told["message"], told.get("hint") or "")).rstrip()


def describe_alike(issues: Sequence[Issue]) -> List[str]:
    """One line for all issues with the same sentence, with the first place and how many more there are."""
    alike: Dict[Tuple[Any, Any], List[Issue]] = {}
    for issue in issues:
        alike.setdefault((issue["message"], issue.get("hint")), []).append(issue)
    return [describe_issue({**same[0], "path": _some_places(same)}) for same in alike.values()]


def _some_places(issues: Sequence[Issue]) -> str:
    place = issues[0]["path"]
    return "%s and %d more" % (place, len(issues) - 1) if place and len(issues) > 1 else place


def translate_issue(issue: Issue, source: Optional[FoldInput], first: int = 0) -> Dict[str, Any]:
    """The same issue by the place in its file, and for our own form and lists by the path such as `items[0].name`.

    `first` is the position of the first item of the batch in the whole input.
    """
    path = _ITEM.sub(lambda match: "items.%d" % (int(match[1]) + first), issue["path"])
    files = source.files if source is not None and len(source.files) > 1 else []
    match = _ITEM.match(path)
    file, start = next((one for one in reversed(files) if match and one[1] <= int(match[1])), (None, 0))
    known = None if source is None else _find_place(path, source.places)
    place = known or _member_path(_ITEM.sub(lambda match: "items.%d" % (int(match[1]) - start), path))
    told = {**issue, "path": place if file is None else "%s: %s" % (file, place)}
    told["message"] = _name_others(issue, path, source, first)
    if source is None or known is None or (match and int(match[1]) in source.own_items):
        return told
    told["message"] = _ZERO_BASED.sub(lambda match: "position %d" % (int(match[1]) + 1), told["message"])
    told.update(_in_counts_of_file({**issue, "path": path}, source.items))
    if "atomIndex" in (told.get("hint") or ""):
        told["hint"] = "This format only names atoms: write the item in our own form, where an atom can have an index."
    return told


_OTHER_ITEM = re.compile(r"\b[Ii]tem (\d{1,9})\b")
_ITSELF = re.compile(r"^Item \d{1,9} is ")
_OTHER_CHAIN = re.compile(r"(?<= is taken by )chains\.\d{1,9}\.[a-z]{1,9}\.ids\.\d{1,9}\b")


def _name_others(issue: Issue, path: str, source: Optional[FoldInput], first: int) -> str:
    """A sentence that names other items and chains by their places in the file."""
    message = issue["message"]
    if issue.get("code") == "DUPLICATE_CHAIN_ID":
        item = ".".join(path.split(".")[:2])

        def place(match: "re.Match[str]") -> str:
            return (source and _find_place("%s.%s" % (item, match[0]), source.places)) or _member_path(match[0])

        return _OTHER_CHAIN.sub(place, message, 1)
    if issue.get("code") == "IDENTICAL_ITEM":
        message = _ITSELF.sub("This is ", message)
    if issue.get("code") in ("IDENTICAL_ITEM", "DUPLICATE_NAME"):
        return _OTHER_ITEM.sub(partial(_name_item, source, first), message, 1)
    return message


#: Places in files of lines, which are no paths: what stands behind them in a path is not in the file.
_PROSE = re.compile(r"(?:record|line) \d|the complex")


def _name_item(source: Optional[FoldInput], first: int, match: "re.Match[str]") -> str:
    """An item as its file has it; of several files its name, which is that of the file."""
    index = int(match[1]) + first
    if source is None or index >= len(source.items):
        return "items[%d]" % index
    name = source.items[index].get("name")
    if len(source.files) > 1 and name:
        found = "item %s" % name
    else:
        found = source.places.get("items.%d" % index) or "items[%d]" % index
    is_word = found.startswith("item ") or _PROSE.match(found)
    return found[0].upper() + found[1:] if is_word and match.start() == 0 else found


def _member_path(path: str) -> str:
    """A path of the gateway as the client writes it: `items.0.name` is `items[0].name`."""
    return re.sub(r"\.(\d+)(?![^.])", r"[\1]", path)


def _find_place(path: str, places: Mapping[str, str]) -> Optional[str]:
    """The place of a path, or of the nearest part around it with the rest of the path."""
    words = path.split(".")
    for length in range(len(words), 1, -1):
        place = places.get(".".join(words[:length]))
        if place is not None:
            rest = "" if _PROSE.match(place) else "".join("[%s]" % word if word.isdigit() else "." + word for word in words[length:])
            return (place + rest).lstrip(".") or "the document"
    return None


def _in_counts_of_file(issue: Issue, items: List[Dict[str, Any]]) -> Dict[str, Any]:
    """Sentences about positions, which count from 1 in every file of another program."""
    path, code = issue["path"].split("."), issue.get("code")
    try:
        item = items[int(path[1])]
        position = int(_value_at(items, path[1:])) + 1
        sequence = _sequence_of(item, path)
    except (KeyError, IndexError, ValueError, TypeError):
        return {}
    if code in ("POSITION_OUT_OF_RANGE", "RESIDUE_OUT_OF_RANGE"):
        length = "" if sequence is None else ", which has %d" % len(sequence)
        return {"message": "Position %d is outside the chain%s. Positions count from 1." % (position, length), "hint": None}
    if code in ("UNUSUAL_MODIFICATION", "POSITION_LOOKS_ONE_BASED") and sequence:
        component = _value_at(items, [*path[1:-1], "ccd"])
        told = "%s is no modification of residue %d, which is %s." % (component, position, sequence[position - 1])
        return {"message": told, "hint": "Check the position, which counts from 1, and the code."}
    if code == "DUPLICATE_POSITION":
        return {"message": "Residue %d is modified already." % position}
    return {}


def _value_at(items: List[Dict[str, Any]], path: List[str]) -> Any:
    found: Any = items
    for word in path:
        found = found[int(word)] if isinstance(found, list) else found[word]
    return found


def _sequence_of(item: Dict[str, Any], path: List[str]) -> Optional[str]:
    """The sequence of the chain that a position is in; None for a ligand."""
    if path[2] == "chains":
        return _letters(item["chains"][int(path[3])][path[4]])
    number = re.sub(r"\D", "", path[-1])
    owner = _value_at([item], ["0", *path[2:-1]])
    wanted = owner["chainId" + number]
    chains = (value for one in item["chains"] for value in one.values())
    return next((_letters(one) for one in chains if wanted in (one.get("ids") or [])), None)


def _letters(chain: Mapping[str, Any]) -> Optional[str]:
    sequence = chain.get("sequence")
    return None if sequence is None else _strip_sequence(sequence)


@lru_cache(maxsize=4)
def _strip_sequence(sequence: str) -> str:
    """A chain with a mistake at each residue is read once."""
    return "".join(sequence.split()).upper()
