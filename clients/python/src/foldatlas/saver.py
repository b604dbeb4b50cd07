"""Saves the results of a batch to a folder while its tasks finish."""

from __future__ import annotations

import os
import re
import unicodedata
import urllib.parse
from concurrent.futures import Future, ThreadPoolExecutor
from typing import TYPE_CHECKING, Any, Dict, Iterator, List, Mapping, Optional, Sequence, Set, Union

from .journal import Journal
from .table import Table
from .transport import DOWNLOADS_AT_ONCE, part_name
from .trust import Patience, create_file

if TYPE_CHECKING:
    from .client import FoldAtlas

#: What is saved of each task: the file at the gateway, and the ending of its name here.
FILES = (("result.json", "json"), ("structure.cif", "cif"))


def plain_file_name(name: str) -> str:
    """A file name that every system takes; by the rules of the gateway, so that both agree."""
    kept = (c if c in "_.-" or unicodedata.category(c)[0] in "LMN" else "\0" for c in unicodedata.normalize("NFC", name))
    plain = re.sub(r"^[.-]+", "", re.sub("\0+", "_", "".join(kept)))
    plain = plain.encode("utf-16-le")[:160].decode("utf-16-le", "ignore")
    return re.sub(r"^(?:con|prn|aux|nul|com[\d¹²³]|lpt[\d¹²³])(?=\.|$)", r"\g<0>_", plain, flags=re.ASCII | re.IGNORECASE) or "item"


def fold_case(name: str) -> str:
    """The same for names that are one file where case does not count, such as on macOS and Windows."""
    return name.lower().upper()


def file_names(tasks: Sequence[Mapping[str, Any]], known: Mapping[str, str] = {}) -> Dict[str, str]:  # noqa: B006
    """Names without ending by task id, as in the column `file` of scores.tsv: the item's name, numbered where several share it.

    Tasks that have a name in `known` keep it.
    """
    has_repeats = any((task["repeatIndex"] or 0) > 0 for task in tasks)
    # The archive of results has a manifest of its own, and a folder of results the journal.
    taken = {"MANIFEST", "FOLDATLAS", *(fold_case(name) for name in known.values())}
    names: Dict[str, str] = dict(known)
    for task in sorted((one for one in tasks if one["taskId"] not in known), key=lambda one: one["taskId"]):
        index, repeat = task["inputIndex"], task["repeatIndex"]
        given = task["name"] if task["name"] is not None else task["taskId"] if index is None else "item%d" % index
        plain = plain_file_name(given)
        base = "%s_%d" % (plain, repeat) if has_repeats and repeat is not None else plain
        free, count = base, 2
        while fold_case(free) in taken:
            free, count = "%s-%d" % (base, count), count + 1
        taken.add(fold_case(free))
        names[task["taskId"]] = free
    return names


def _write_table(ranked: Table, files: Mapping[str, str], path: str) -> None:
    """Writes the ranking with the names of files, as the gateway writes that of one batch."""
    rows = [{**row, "file": files.get(row["task_id"])} for row in ranked]
    columns = [*ranked.columns[:-1], "file", ranked.columns[-1]]
    part = part_name(path)
    with create_file(part) as file:
        file.write(Table(columns, rows).to_tsv().encode("utf-8", "replace"))
    os.replace(part, path)


def save_results(
    client: "FoldAtlas", batches: Sequence[str], folder: Union[str, "os.PathLike[str]"], order: str, best: Optional[int]
) -> Iterator[Dict[str, Any]]:
    """See `FoldAtlas.results`."""
    names: Dict[str, str] = {}

    def list_tasks() -> List[Dict[str, Any]]:
        """All tasks; those of later batches have other names of files than those of earlier ones."""
        listed: List[Dict[str, Any]] = []
        for batch_id in batches:
            tasks = client._tasks(batch_id)
            names.update(file_names(tasks, names))
            listed += tasks
        return listed

    list_tasks()
    Journal.open(folder).claim(batches)
    saving: Dict[str, "Future[Optional[str]]"] = {}
    # One for all files: a gateway that stays away is not waited for by each.
    downloads = Patience(client.transport.say)

    def save(task_id: str) -> Optional[str]:
        for remote, ending in FILES:
            file = os.path.join(os.fspath(folder), "%s.%s" % (names[task_id], ending))
            if os.path.exists(file):
                continue
            problem = client._save("/tasks/%s/%s" % (urllib.parse.quote(task_id, safe=""), remote), file, downloads)
            if problem is not None:
                return problem
        return None

    def saved() -> int:
        return sum(one.done() and one.result() is None for one in saving.values())

    with ThreadPoolExecutor(DOWNLOADS_AT_ONCE) as pool:

        chosen: Optional[Set[str]] = None if best is None else set()

        def is_wanted(task: Mapping[str, Any]) -> bool:
            return task["status"] == "DONE" and (chosen is None or task["taskId"] in chosen)

        def take(tasks: Sequence[Mapping[str, Any]]) -> None:
            for task in tasks:
                # A task that the list has not named yet waits for the next list.
                if is_wanted(task) and task["taskId"] in names and task["taskId"] not in saving:
                    saving[task["taskId"]] = pool.submit(save, task["taskId"])

        try:
            last: Dict[str, Any] = {}
            for last in client._watch_all(batches, Patience(client.transport.say)):
                take(last["changed"])
                yield {**last, "final": False, "saved": saved()}
            tasks = list_tasks()
            ranked: Optional[Table] = None
            if best is not None or len(batches) > 1:
                limits = {"orderBy": order, "minIptm": None, "minIpsae": None}
                ranked = client._rank_all(batches, limits, client.transport.read_patiently)
            if chosen is not None and ranked is not None:
                chosen.update([row["task_id"] for row in ranked if row["rank"] is not None][:best])
            take(tasks)
            missing: List[str] = []
            for task in tasks:
                problem = (task["error"] or {}).get("message")
                if task["status"] == "DONE" and not is_wanted(task):
                    continue
                if task["status"] == "DONE":
                    # A task that could not be saved is tried once more.
                    problem = saving[task["taskId"]].result() and save(task["taskId"])
                    if problem is None:
                        continue
                missing.append(": ".join(filter(None, [names[task["taskId"]], task["status"], problem])))
            table = os.path.join(os.fspath(folder), "scores.tsv")
            if ranked is None:
                query = "" if order == "IPTM" else "?orderBy=" + order
                path = "/batches/%s/scores.tsv%s" % (urllib.parse.quote(batches[0], safe=""), query)
                problem = client._save(path, table, downloads)
                if problem is not None:
                    missing.append("scores.tsv: " + problem)
            else:
                kept = {task["taskId"]: names[task["taskId"]] for task in tasks if is_wanted(task)}
                _write_table(ranked, kept, table)
            done = sum(map(is_wanted, tasks))
            yield {**last, "changed": [], "final": True, "saved": done, "missing": missing, **({} if best is None else {"ranked": ranked})}
        finally:
            downloads.is_over = True
            for one in saving.values():
                one.cancel()
