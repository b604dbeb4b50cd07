"""The client: look-ups, folds and results of one FoldAtlas gateway."""

from __future__ import annotations

import os
import re
import time
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import Any, Callable, Dict, Iterable, Iterator, List, Mapping, Optional, Sequence, Set, Union

from . import documents
from .errors import FoldAtlasError, InputError, Refusal, Unreachable
from .fold_input import FoldInput
from .journal import Journal
from .parts import Report, check_parts, failed_items, refuse_to_pay_again, send_parts, split_submission
from .ranking import is_ranked, merge_rankings, read_order
from .report import describe_issue, translate_issue
from .shapes import describe
from .submission import Items, make_submission, plain_submission, submission_key
from .table import Row, Table
from .text import count_of, format_number, plain_text
from .transport import DOWNLOADS_AT_ONCE, Answer, Transport
from .trust import MAX_TASKS, Patience, UntrustedAnswer, is_away

#: 5,000 ids fit in one look-up, but not with all that a row selects.
LOOKUP_SIZE = 200
PROTEINS_SIZE = 100
#: Values of one request for a block of PAE.
PAE_POINTS = 250_000
#: How old the counts of batches may be that are not followed yet.
COUNTS_SECONDS = 5.0
#: A longer time to wait is told as this one.
MAX_TOLD_SECONDS = 10_000_000
#: No complex that can be folded is larger.
MAX_TOKENS = 100_000

Path = Union[str, "os.PathLike[str]"]
#: One batch, or several that are taken as one.
Batches = Union[str, Sequence[str]]
Read = Callable[[str, Mapping[str, Any]], Answer]

CLUSTER_COLUMNS = ("cluster_representative", "cluster_name", "cluster_size", "cluster_percent_characterized")
LOOKUP_COLUMNS = (
    *("requested", "status", "hash", "accession", "source", "name", "organism", "gene", "length", "ptm"),
    *("mean_plddt", *CLUSTER_COLUMNS, "problem"),
)
PROTEIN_COLUMNS = (
    *("hash", "accession", "source", "name", "organism", "gene", "length", "sequence", "ptm"),
    *("mean_plddt", *CLUSTER_COLUMNS, "features"),
)
SIMILAR_COLUMNS = ("score", "hash", "accession", "length", "ptm", "mean_plddt", *CLUSTER_COLUMNS)
RANK_COLUMNS = (
    *("rank", "name", "repeat", "status", "iptm", "ptm", "mean_plddt"),
    *("interface", "ipsae", "ipsae_min", "pdockq", "pdockq2", "lis", "mean_pae", "min_pae", "interfaces"),
    *("task_id", "batch_id", "problem"),
)

_COUNT_KEYS = {"total": "total", "queued": "queued", "running": "inProgress"}
_COUNT_KEYS.update({name: name for name in ("done", "failed", "cancelled")})
BATCH_COLUMNS = ("batch_id", "submitted", "label", "status", *_COUNT_KEYS, "problem")

#: The place of an id in its request, which is not its place in the whole list.
_PLACE = re.compile(r"^`ids\[\d+\]` \(\d+ characters\) ")


class FoldAtlas:
    """A gateway as one caller sees it.

    `url` is the endpoint, such as "https://fold.example.org/graphql"; by default FOLDATLAS_URL, else
    http://127.0.0.1:4000/graphql. `token` is the bearer token; by default FOLDATLAS_TOKEN. Only
    folds need one. `timeout` is how many seconds an answer may take, 270 when left out. An instance may
    be used by several threads. Every optional argument may be None, which leaves it out.
    """

    def __init__(self, url: Optional[str] = None, token: Optional[str] = None, timeout: Optional[float] = None) -> None:
        self.transport = Transport(url, token, timeout)

    def query(self, document: str, **variables: Any) -> Dict[str, Any]:
        """Data of any query or mutation; the latter is sent once.

        Raises FoldAtlasError when a part of it failed; its `data` has the parts that did not.
        """
        data, errors = self.transport.ask(document, variables)
        if errors:
            raise FoldAtlasError.from_answer(data, errors)
        return data or {}

    # The Atlas

    def lookup(self, ids: Iterable[str]) -> Table:
        """One row for each hash, accession, entry name or sequence, in the order given, duplicates kept.

        `status` is FOUND, NOT_IN_ATLAS, NO_SUCH_ENTRY, NOT_AN_IDENTIFIER or UNAVAILABLE, and
        `problem` says why in a sentence. Of a FASTA record `requested` is the header.
        """
        return Table(LOOKUP_COLUMNS, list(self.iter_lookup(ids)))

    def iter_lookup(self, ids: Iterable[str]) -> Iterator[Row]:
        """The rows of `lookup` while they are looked up, for lists of any length."""
        for part in _chunks(_each(ids, "ids"), LOOKUP_SIZE):
            data, errors = self.transport.read(documents.LOOKUP, {"ids": part})
            results = (data or {}).get("lookup")
            if results is not None and len(results) != len(part):
                raise UntrustedAnswer("%s have %s." % (count_of(len(part), "identifier"), count_of(len(results), "result")))
            failures = {error["path"][1]: error for error in reversed(errors) if len(error.get("path") or []) > 1}
            for place, requested in enumerate(part):
                failure = failures.get(place) or (errors[0] if results is None and errors else None)
                yield _lookup_row(requested, results[place] if results else None, failure)

    def proteins(self, hashes: Iterable[str]) -> Table:
        """The proteins with these hashes, in the order given; a protein that the Atlas does not have is a row of None.

        `features` is a list of (index, label, value) of the ten strongest SAE features.
        """
        rows: List[Row] = []
        for part in _chunks(_each(hashes, "hashes"), PROTEINS_SIZE):
            found = self.transport.query(documents.PROTEINS, {"hashes": part})["proteins"]
            if len(found) != len(part):
                raise UntrustedAnswer("%s have %s." % (count_of(len(part), "hash", "hashes"), count_of(len(found), "protein")))
            rows += [_protein_row(requested, protein) for requested, protein in zip(part, found)]
        return Table(PROTEIN_COLUMNS, rows)

    def similar(
        self,
        sequence: str,
        first: Optional[int] = None,
        min_similarity: Optional[float] = None,
        max_percent_characterized: Optional[int] = None,
    ) -> Table:
        """Proteins with features similar to those of a sequence, best first, ten when `first` is left out.

        `max_percent_characterized` of 0 finds members of dark clusters, whose domains are unknown.
        """
        variables = {
            "sequence": sequence,
            "first": read_count(first, "first", 10),
            "minSimilarity": min_similarity,
            "maxPercentCharacterized": max_percent_characterized,
        }
        search = self.transport.query(documents.SIMILAR, variables)["similarProteins"]
        rows = [
            {"score": hit["score"], **_pick(hit["protein"], ("hash", "accession", "length", "ptm")), **_means(hit["protein"]),
             **_cluster(hit["cluster"])}
            for hit in search["hits"]
        ]
        return Table(SIMILAR_COLUMNS, rows)

    def features(
        self, search: Optional[str] = None, indices: Optional[Sequence[int]] = None, first: Optional[int] = None
    ) -> Table:
        """SAE features of the catalogue: those that match all words of `search`, or those with these indices.

        A hundred at most when `first` is left out.
        """
        first = read_count(first, "first", 100)
        rows: List[Row] = []
        after: Optional[str] = None
        while len(rows) < first:
            size = min(first - len(rows), 1000)
            variables = {"search": search, "indices": indices, "first": size, "after": after}
            page = self.transport.query(documents.FEATURES, variables)["features"]
            rows += page["nodes"]
            if not page["pageInfo"]["hasNextPage"]:
                break
            if not page["nodes"]:
                raise UntrustedAnswer("a page without features is followed by another.")
            after = page["pageInfo"]["endCursor"]
        return Table(("index", "label", "description"), rows)

    def structures(self, ids: Iterable[str], folder: Path, format: Optional[str] = None) -> Table:
        """Saves the predicted structures of these identifiers as HASH.pdb, or with "mmcif" HASH.cif. Files that exist are kept.

        The table has a row for each identifier; `file` is None where there is no structure, and
        `problem` says why. B-factors are pLDDT, 0 to 100.
        """
        ending = {"pdb": "pdb", "mmcif": "cif", "cif": "cif"}.get(str(format or "pdb").lower())
        if ending is None:
            raise ValueError("format is pdb or mmcif, not %r." % format)
        os.makedirs(folder, exist_ok=True)
        rows = list(self.iter_lookup(ids))

        def save(row: Row) -> Row:
            made: Row = {**_pick(row, ("requested", "status", "hash", "problem")), "file": None}
            if row["hash"] is None:
                return made
            file = os.path.join(os.fspath(folder), "%s.%s" % (row["hash"], ending))
            problem = None if os.path.exists(file) else self._save("/structures/%s.%s" % (row["hash"], ending), file)
            return {**made, "problem": problem, "file": None if problem else file}

        with ThreadPoolExecutor(DOWNLOADS_AT_ONCE) as pool:
            return Table(("requested", "status", "hash", "file", "problem"), list(pool.map(save, rows)))

    # Folds

    def check(self, items: Items, **options: Any) -> Dict[str, Any]:
        """A dry run: `ok`, `issues`, `warnings`, `taskCount`, `totalLength`, `batchCount`. Costs nothing.

        Nothing is sent to the service, which tells no price: it counts tasks and residues.
        """
        return check_parts(self, plain_submission(items, options), items)

    def check_part(self, submission: Mapping[str, Any], items: Optional[Items] = None, first: Optional[int] = None) -> Dict[str, Any]:
        """The same for one batch. `first` is the position of its first item in `items`, 0 when left out."""
        found = self.transport.query(documents.CHECK, {"input": dict(submission)})["checkFold"]
        source = items if isinstance(items, FoldInput) else None
        translated = {key: [translate_issue(one, source, first or 0) for one in found[key]] for key in ("issues", "warnings")}
        return {**found, **translated}

    def submit(
        self,
        items: Items,
        *,
        label: Optional[str] = None,
        repeat: Optional[int] = None,
        model: Optional[str] = None,
        again: Optional[str] = None,
        key: Optional[str] = None,
        notify: Optional[str] = None,
    ) -> str:
        """Queues folds of at most 2,000 tasks, and returns the id of the batch; `submit_all` takes more.

        The idempotency key is made of the input, so that the same input is paid once over the same
        gateway, for 31 days: run the same again after a failure. `again`, a word of yours, makes
        another submission of the same input, which is paid for again; `key` is a key of your own.
        `notify` is an address that the gateway calls when every task has ended (docs/clients.md).

        Raises AlreadySubmitted where the same was submitted under another key or label and `again` is
        not given, InputError for an input that cannot be folded, Refusal where nothing was queued or
        (kind OutcomeUnknown) it is not known whether anything was. Either way nothing was sent a second time.
        """
        notified = None if notify is None else {"url": notify}
        options = {"label": label, "repeat": repeat, "model": model, "notify": notified}
        submission = make_submission(items, options, again, key)
        count = len(split_submission(submission))
        if count > 1:
            raise InputError("This makes %d batches of at most {:,} tasks: use submit_all or fold.".format(MAX_TASKS) % count)
        return send_parts(self, submission, items, report=_refuse_second(again))["batch_ids"][0]

    def submit_all(self, items: Items, **options: Any) -> List[str]:
        """The same for any number of tasks, with the options of `submit`. @returns the ids of the batches, in order

        Everything is checked before the first batch is sent. Run the same again after a failure: a
        batch that was sent is not paid again.
        """
        again, key, notify = options.pop("again", None), options.pop("key", None), options.pop("notify", None)
        notified = None if notify is None else {"url": notify}
        submission = make_submission(items, {**options, "notify": notified}, again, key)
        return send_parts(self, submission, items, report=_refuse_second(again))["batch_ids"]

    def send(self, submission: Mapping[str, Any], items: Optional[Items] = None, first: Optional[int] = None) -> Dict[str, Any]:
        """Sends a whole SubmitFoldInput once. @returns `batch_id`, `replayed` and `warnings` as `check` has them

        Sentences about an input that was read from files speak of these, which `items` has; `first` is
        the position of the first item of the batch in it.
        """
        source = items if isinstance(items, FoldInput) else None
        data, errors = self.transport.ask(documents.SUBMIT, {"input": dict(submission)})
        ended = (data or {}).get("submitFold")
        if ended is None:
            error = FoldAtlasError.from_error(errors[0] if errors else {})
            raise InputError(str(error)) if error.code == "BAD_USER_INPUT" else error
        if ended["__typename"] == "FoldSubmitted":
            warnings = [translate_issue(one, source, first or 0) for one in ended["warnings"]]
            return {"batch_id": ended["batch"]["batchId"], "replayed": ended["replayed"], "warnings": warnings}
        raise _refusal(ended, source, first or 0)

    def batches(self, first: Optional[int] = None) -> Table:
        """Your latest batches, newest first, 20 when `first` is left out. `problem` says why the state of one is not known."""
        first = read_count(first, "first", 20)
        rows: List[Row] = []
        after: Optional[str] = None
        while len(rows) < first:
            variables = {"first": min(first - len(rows), 100), "after": after}
            data, errors = self.transport.read(documents.BATCHES, variables)
            page = (data or {}).get("myBatches")
            if page is None:
                raise FoldAtlasError.from_error(errors[0] if errors else {})
            failed = {str(error["path"][2]): error for error in errors if len(error.get("path") or []) > 2}
            for place, batch in enumerate(page["nodes"]):
                rows.append(_batch_row(batch, failed.get(str(place))))
            if not page["pageInfo"]["hasNextPage"]:
                break
            if not page["nodes"]:
                raise UntrustedAnswer("a page without batches is followed by another.")
            after = page["pageInfo"]["endCursor"]
        return Table(BATCH_COLUMNS, rows[:first])

    def watch(self, batches: Batches) -> Iterator[Dict[str, Any]]:
        """The progress of a batch, or of several as one, now and at every change, until every task has ended.

        Each event has `counts` (total, queued, inProgress, done, failed, cancelled), `changed` (tasks
        with taskId, name, status, error), `seconds_left` (None where it cannot be estimated) and
        `final`. A stream that breaks is opened again for four minutes.
        """
        return self._watch_all(_each_batch(batches))

    def _watch_all(self, batches: Sequence[str], patience: Optional[Patience] = None) -> Iterator[Dict[str, Any]]:
        """Follows the batches one after the other; the counts are those of all, read now and then of those behind."""
        counts: List[Mapping[str, int]] = [{} for _ in batches]
        read = self.transport.read if patience is None else self.transport.read_patiently
        for place, batch_id in enumerate(batches[1:], 1):
            counts[place] = self._counts(batch_id, read)
        counted = time.monotonic()
        for place, batch_id in enumerate(batches):
            is_last = place == len(batches) - 1
            for event in self._watch(batch_id, patience):
                counts[place] = event["counts"]
                if not is_last and time.monotonic() >= counted + COUNTS_SECONDS:
                    for behind in range(place + 1, len(batches)):
                        counts[behind] = self._counts_or(counts[behind], batches[behind])
                    counted = time.monotonic()
                total = {name: sum(one.get(name, 0) for one in counts) for name in event["counts"]}
                seconds = event["seconds_left"] if is_last else None
                yield {**event, "counts": total, "seconds_left": seconds, "final": event["final"] and is_last}

    def _watch(self, batch_id: str, patience: Optional[Patience] = None) -> Iterator[Dict[str, Any]]:
        """`patience` waits for the first event, too; without it a first connection that fails is told at once."""
        while True:
            broken = Unreachable("The stream ended before the batch did.")
            try:
                for data, errors in self.transport.subscribe(documents.WATCH, {"batchId": batch_id}):
                    for error in errors:
                        broken = FoldAtlasError.from_error(error)
                        if not broken.retryable:
                            raise broken
                    progress = (data or {}).get("batchProgress")
                    if progress is None:
                        continue
                    patience = patience or Patience(self.transport.say)
                    patience.heard()
                    yield {
                        "counts": progress["batch"]["counts"],
                        "changed": progress["changedTasks"],
                        "seconds_left": progress["estimatedSecondsLeft"],
                        "final": progress["final"],
                    }
                    if progress["final"]:
                        return
            except FoldAtlasError as error:
                broken = error
            if patience is None and isinstance(broken, Unreachable):
                raise broken
            patience = patience or Patience(self.transport.say)
            patience.wait(broken)

    def _counts_or(self, before: Mapping[str, int], batch_id: str) -> Mapping[str, int]:
        """The same, asked once; those of before while the gateway is away."""
        try:
            return self._counts(batch_id, self.transport.ask) or before
        except FoldAtlasError:
            return before

    def _counts(self, batch_id: str, read: Read) -> Mapping[str, int]:
        """How many tasks are in each state; empty where that cannot be read at present."""
        data, errors = read(documents.COUNTS, {"batchId": batch_id})
        batch = (data or {}).get("batch")
        if batch is None and not errors:
            raise _no_batch(batch_id)
        return (batch or {}).get("counts") or {}

    def tasks(self, batches: Batches) -> List[Dict[str, Any]]:
        """All tasks of a batch, or of several, as the gateway lists them. Raises FoldAtlasError where one does not exist."""
        read = self.transport.read
        return [task for one in _each_batch(batches) for task in self._pages(documents.TASKS, {"batchId": one}, read)]

    def _tasks(self, batch_id: str) -> List[Dict[str, Any]]:
        """The same, which also waits for a gateway that is away."""
        return list(self._pages(documents.TASKS, {"batchId": batch_id}, self.transport.read_patiently))

    def rank(
        self,
        batches: Batches,
        order_by: Optional[str] = None,
        min_iptm: Optional[float] = None,
        min_ipsae: Optional[float] = None,
    ) -> Table:
        """Tasks of a batch, or of several in one table, best first, with their scores.

        `order_by` is IPTM, also when left out, IPSAE, PTM, PLDDT, NAME or INDEX.

        `mean_plddt` is 0 to 100. From `ipsae` to `min_pae` are the scores of `interface`, the two
        chains with the best ipSAE, such as "A-B"; `interfaces` is a dict with the ipSAE of every
        interface. They need includePae (docs/scores.md). Tasks without the score of the order, such
        as single chains by ipTM, have no rank and stand last; `problem` says why there are no scores.
        """
        order = read_order(order_by)
        limits = {"orderBy": order, "minIptm": min_iptm, "minIpsae": min_ipsae}
        return self._rank_all(_each_batch(batches), limits, self.transport.read)

    def _rank_all(self, batches: Sequence[str], limits: Mapping[str, Any], read: Read) -> Table:
        rows = merge_rankings([self._rank(one, limits, read) for one in batches], limits["orderBy"])
        rank = 0
        for row in rows:
            if is_ranked(row, limits["orderBy"]):
                rank += 1
                row["rank"] = rank
        return Table(RANK_COLUMNS, rows)

    def _rank(self, batch_id: str, limits: Mapping[str, Any], read: Read) -> List[Row]:
        rows: List[Row] = []
        for task in self._pages(documents.RANK, {"batchId": batch_id, **limits}, read):
            scores = task["scores"] or {}
            rows.append(
                {
                    "rank": None,
                    "name": task["name"],
                    "repeat": task["repeatIndex"],
                    "status": task["status"],
                    "iptm": scores.get("iptm"),
                    "ptm": scores.get("ptm"),
                    "mean_plddt": scores.get("meanPlddt"),
                    **_interfaces(scores.get("chainPairs") or []),
                    "task_id": task["taskId"],
                    "batch_id": batch_id,
                    "problem": (task["error"] or {}).get("message"),
                }
            )
        return rows

    def results(
        self, batches: Batches, folder: Path, best: Optional[int] = None, by: Optional[str] = None
    ) -> Iterator[Dict[str, Any]]:
        """Follows batches and saves NAME.json and NAME.cif of each task as it finishes, in the end scores.tsv.

        With `best` it waits for all of them and saves files of that many tasks only, the first by
        `by`, an order of `rank`, in which scores.tsv lists all tasks.

        Yields the events of `watch` with `saved`, the number of tasks saved so far; the last has
        `missing`, one sentence for each task without a result, and with `best` the table as `ranked`. Files that exist are kept, so that a
        second run goes on where the first was interrupted.
        """
        from .saver import save_results

        wanted = None if best is None else read_count(best, "best", 1)
        return save_results(self, _each_batch(batches), folder, read_order(by), wanted)

    def fold(
        self,
        items: Items,
        folder: Path,
        *,
        label: Optional[str] = None,
        repeat: Optional[int] = None,
        model: Optional[str] = None,
        again: Optional[str] = None,
        key: Optional[str] = None,
    ) -> Table:
        """Submits, waits, saves every result to a folder, and ranks. A run that was killed goes on when it is run again.

        The folder has a journal of what it belongs to; another input is refused there before
        anything is sent. The options are those of `submit`.
        """
        options = {"label": label, "repeat": repeat, "model": model}
        submission = make_submission(items, options, again, key)
        batches = Journal.open(folder).submit(self, submission, items, _refuse_second(again))["batch_ids"]
        for _ in self.results(batches, folder):
            pass
        return self.rank(batches)

    def retry_failed(self, folder: Path, again: Optional[str] = None) -> List[str]:
        """Submits the items of a folder's batches of which every repeat failed or was cancelled; they are paid for again.

        Returns the ids of the new batches, none where nothing failed. The same failures are
        submitted once, however often this is called. Raises InputError before every task has ended,
        and AlreadySubmitted where you submitted the same items yourself; `again`, a word, pays all the same.
        """
        journal = Journal.open(folder)
        if not journal.batch_ids or journal.submission is None:
            raise InputError("%s has no journal of a batch that was submitted from there." % os.fspath(folder))
        if None in journal.batches or len(journal.batches) < len(split_submission(journal.submission)):
            raise InputError("Not all batches of %s were submitted. Run that submission again first." % os.fspath(folder))
        items = failed_items(journal.submission, journal.batch_ids, [self.tasks(one) for one in journal.batch_ids])
        if not items:
            return []
        rest = {name: value for name, value in journal.submission.items() if name not in ("items", "idempotencyKey")}
        submission = {**rest, "items": items}
        submission["idempotencyKey"] = submission_key(submission, " ".join(["retry of", *journal.batch_ids, *([again] if again else [])]))
        report = None if again else partial(refuse_to_pay_again, own=journal.batch_ids)
        return send_parts(self, submission, report=report)["batch_ids"]

    def plddt(self, task_id: str) -> List[Optional[float]]:
        """Confidence of each token of a fold, 0 to 100."""
        return self._result(task_id, documents.PLDDT, {})["plddt"]["values"]

    def pae(self, task_id: str) -> List[List[Optional[float]]]:
        """Predicted aligned error in ångström: row i, column j is the error of token j when aligned on token i.

        Raises InputError where the fold was submitted without includePae.
        """
        first = self._result(task_id, documents.PAE, {"rowStart": 0, "rowEnd": 1, "maxPoints": PAE_POINTS})["pae"]
        if first is None:
            raise InputError("Task %s has no aligned error: submit it with includePae." % task_id)
        size = first["size"]
        if not isinstance(size, int) or not 0 < size <= MAX_TOKENS:
            raise UntrustedAnswer("an aligned error is of 1 to %d tokens." % MAX_TOKENS)
        rows: List[List[Optional[float]]] = []
        height = max(1, PAE_POINTS // size)
        while len(rows) < size:
            block = {"rowStart": len(rows), "rowEnd": min(size, len(rows) + height), "maxPoints": PAE_POINTS}
            found = self._result(task_id, documents.PAE, block)["pae"]["block"]
            if len(found["values"]) != block["rowEnd"] - block["rowStart"]:
                raise UntrustedAnswer("a block of the aligned error has other rows than asked for.")
            rows += found["values"]
        return rows

    def _result(self, task_id: str, document: str, variables: Mapping[str, Any]) -> Dict[str, Any]:
        task = self.transport.query(document, {"taskId": task_id, **variables})["task"]
        if task is None or task["result"] is None:
            raise InputError("There is no result of task %s for this token." % task_id)
        return task["result"]

    def _pages(
        self, document: str, variables: Mapping[str, Any], read: Read
    ) -> Iterator[Dict[str, Any]]:
        """Tasks of a batch over all pages. A detail of a task that failed becomes its `error`."""
        after: Optional[str] = None
        seen: Set[str] = set()
        while True:
            data, errors = read(document, {**variables, "after": after})
            batch = (data or {}).get("batch")
            tasks = (batch or {}).get("tasks")
            if tasks is None:
                if errors:
                    raise FoldAtlasError.from_error(errors[0])
                raise _no_batch(variables["batchId"])
            for error in errors:
                path = error.get("path") or []
                if len(path) < 4:
                    raise FoldAtlasError.from_error(error)
                if not isinstance(path[3], int) or not 0 <= path[3] < len(tasks["nodes"]):
                    raise UntrustedAnswer("an error is at no task of its page.")
                tasks["nodes"][path[3]]["error"] = {"message": error["message"]}
            for task in tasks["nodes"]:
                if task["taskId"] in seen or len(seen) >= MAX_TASKS:
                    raise UntrustedAnswer("its pages repeat tasks, or have more than %d." % MAX_TASKS)
                seen.add(task["taskId"])
                yield task
            if not tasks["pageInfo"]["hasNextPage"]:
                return
            if not tasks["nodes"]:
                raise UntrustedAnswer("a page without tasks is followed by another.")
            after = tasks["pageInfo"]["endCursor"]

    def _save(self, path: str, file: str, patience: Optional[Patience] = None) -> Optional[str]:
        """Downloads a file. @returns why it failed, None otherwise"""
        while True:
            try:
                self.transport.save(path, file)
                if patience is not None:
                    patience.heard()
                return None
            except (FoldAtlasError, OSError) as error:
                try:
                    if patience is None or not is_away(error):
                        raise
                    patience.wait(error)
                except (FoldAtlasError, OSError):
                    return str(error)


def _refuse_second(again: Optional[str]) -> Optional[Report]:
    """Refuses a second payment that `again` does not ask for."""
    return None if again else refuse_to_pay_again


def _each_batch(batches: Batches) -> List[str]:
    """The ids, each once."""
    found = list(dict.fromkeys(_each(batches, "batches")))
    if not found:
        raise InputError("Name at least one batch.")
    return found


def _no_batch(batch_id: str) -> FoldAtlasError:
    return FoldAtlasError("There is no batch %s for this token." % batch_id, {"code": "NOT_FOUND"})


def _batch_row(batch: Mapping[str, Any], failure: Optional[Mapping[str, Any]]) -> Row:
    counts = batch["counts"] or {}
    return {
        **{"batch_id": batch["batchId"], "submitted": batch["submittedAt"], "label": batch["label"], "status": batch["status"]},
        **{name: counts.get(key) for name, key in _COUNT_KEYS.items()},
        "problem": None if failure is None else failure["message"],
    }


def _each(values: Union[str, Iterable[str]], name: str) -> Iterator[str]:
    """The texts of a list; a text is one value, not its letters. Raises InputError for anything else."""
    if isinstance(values, str):
        values = [values]
    if isinstance(values, Mapping) or not isinstance(values, Iterable):
        raise InputError("%s: this must be a text or a list of texts, not %s." % (name, describe(values)))
    for place, value in enumerate(values):
        if not isinstance(value, str):
            raise InputError("%s[%d]: this must be a text, not %s." % (name, place, describe(value)))
        yield value


def read_count(value: Optional[int], name: str, default: int) -> int:
    """How many are wanted. Raises InputError for what is no number from 1."""
    if value is None:
        return default
    if type(value) is not int or value < 1:
        raise InputError("%s: this must be a whole number from 1, not %s." % (name, describe(value)))
    return value


def _chunks(values: Iterable[str], size: int) -> Iterator[List[str]]:
    part: List[str] = []
    for value in values:
        part.append(value)
        if len(part) == size:
            yield part
            part = []
    if part:
        yield part


def _pick(record: Optional[Mapping[str, Any]], names: Sequence[str]) -> Row:
    return {name: (record or {}).get(name) for name in names}


def _means(protein: Optional[Mapping[str, Any]]) -> Row:
    return {"mean_plddt": ((protein or {}).get("plddt") or {}).get("mean")}


def _interfaces(pairs: Sequence[Mapping[str, Any]]) -> Row:
    """Scores of the best interface, which stands first, and the ipSAE of all: pairs come in both orders."""
    best = pairs[0] if pairs else {}
    both = [pair["ipsae"] for pair in pairs if {pair["a"], pair["b"]} == {best["a"], best["b"]}]
    interfaces: Dict[str, float] = {}
    for pair in pairs:
        if pair["ipsaeMax"] is not None and "%(b)s-%(a)s" % pair not in interfaces:
            interfaces["%(a)s-%(b)s" % pair] = pair["ipsaeMax"]
    return {
        "interface": "%(a)s-%(b)s" % best if best else None,
        "ipsae": best.get("ipsaeMax"),
        "ipsae_min": None if None in both else min(both, default=None),
        "pdockq": best.get("pDockQ"),
        "pdockq2": best.get("pDockQ2"),
        "lis": best.get("lis"),
        "mean_pae": best.get("meanPae"),
        "min_pae": best.get("minPae"),
        "interfaces": interfaces,
    }


def _cluster(cluster: Optional[Mapping[str, Any]]) -> Row:
    names = ("representativeHash", "name", "size", "percentCharacterized")
    return dict(zip(CLUSTER_COLUMNS, _pick(cluster, names).values()))


_OWN = ("hash", "accession", "source", "name", "organism", "gene", "length", "ptm")


def _lookup_row(requested: str, result: Optional[Mapping[str, Any]], failure: Optional[Mapping[str, Any]]) -> Row:
    protein = (result or {}).get("protein")
    problem = ((result or {}).get("problem") or {}).get("message")
    status = (result or {}).get("status")
    if failure is not None or result is None:
        code = ((failure or {}).get("extensions") or {}).get("code", "ERROR")
        status, problem = "UNAVAILABLE", "%s: %s" % (code, (failure or {}).get("message", "no answer"))
    return {
        "requested": requested.split("\n", 1)[0],
        "status": status,
        **_pick(protein, _OWN),
        **_means(protein),
        **_cluster((protein or {}).get("cluster")),
        "problem": problem and _PLACE.sub("It ", problem),
    }


def _protein_row(requested: str, protein: Optional[Mapping[str, Any]]) -> Row:
    features = [
        (one["feature"]["index"], one["feature"]["label"], one["value"])
        for one in (protein or {}).get("features") or []
    ]
    return {
        **_pick(protein, (*_OWN[:-1], "sequence", "ptm")),
        "hash": requested,
        **_means(protein),
        **_cluster((protein or {}).get("cluster")),
        "features": features if protein else None,
    }


def _refusal(ended: Mapping[str, Any], source: Optional[FoldInput], first: int) -> Exception:
    kind = ended["__typename"]
    issues = [describe_issue(one, source, first) for one in ended.get("issues") or []]
    if kind == "InvalidInput":
        return InputError(plain_text(ended["message"]), issues)
    lines = [plain_text(line) for line in (ended["message"], ended.get("hint")) if line]
    if kind == "OutcomeUnknown":
        lines.append("Look at your batches first; another `again` word makes another submission, which may be paid twice.")
    if ended.get("existingBatch"):
        lines.append("The earlier batch is %s." % ended["existingBatch"]["batchId"])
    if ended.get("retryAfterSeconds") is not None:
        lines.append("Try again in %s s." % format_number(min(ended["retryAfterSeconds"], MAX_TOLD_SECONDS)))
    extensions = {"code": ended.get("reason", kind), "retryable": ended.get("retryable", False)}
    return Refusal(kind, "\n".join(lines), {**extensions, "retryAfterSeconds": ended.get("retryAfterSeconds")})
