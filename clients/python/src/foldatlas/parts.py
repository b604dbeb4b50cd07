"""A submission that is larger than a batch, as several batches under one key."""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING, Any, Callable, Dict, List, Mapping, Optional, Sequence, Tuple

from .errors import AlreadySubmitted, InputError, join_mistakes
from .report import describe_alike, describe_issue
from .submission import Items
from .text import count_of
from .trust import MAX_TASKS

if TYPE_CHECKING:
    from .client import FoldAtlas

#: Gets the answer of a check before anything is sent.
Report = Callable[[Dict[str, Any]], None]

#: Codes of warnings that the same input was sent before, under another key or without one.
SENT_BEFORE = ("ALREADY_SUBMITTED", "EARLIER_OUTCOME_UNKNOWN")


def split_submission(submission: Mapping[str, Any]) -> List[Tuple[int, Dict[str, Any]]]:
    """Batches of at most 2,000 tasks, each with the position of its first item; a small submission is one as it is.

    The key of each follows from the key of the whole, so that the same screen is always the same batches.
    """
    items = submission["items"]
    size = MAX_TASKS // _times(submission)
    if len(items) <= size:
        return [(0, dict(submission))]
    parts: List[Tuple[int, Dict[str, Any]]] = []
    for first in range(0, len(items), size):
        # Without a name, items of two batches would have the same one.
        named = [_named(item, first + place) for place, item in enumerate(items[first : first + size])]
        part = {**submission, "items": named}
        if "idempotencyKey" in submission:
            part["idempotencyKey"] = _part_key(submission["idempotencyKey"], len(parts))
        parts.append((first, part))
    return parts


def _times(submission: Mapping[str, Any]) -> int:
    """How many tasks each item makes; 1 for a number that the gateway refuses."""
    repeat = submission.get("repeat")
    return repeat if type(repeat) is int and 0 < repeat <= MAX_TASKS else 1


def _named(item: Any, position: int) -> Any:
    return item if not isinstance(item, Mapping) or item.get("name") is not None else {**item, "name": "item%d" % position}


def _part_key(key: str, number: int) -> str:
    digest = hashlib.sha256(("%d of %s" % (number, key)).encode("utf-8", "surrogatepass"))
    return "py-" + digest.hexdigest()[:48]


def check_parts(client: "FoldAtlas", submission: Mapping[str, Any], items: Items = ()) -> Dict[str, Any]:
    """What `checkFold` says of every batch, together. `batchCount` is how many there are."""
    parts = split_submission(submission)
    total: Dict[str, Any] = {"ok": True, "issues": [], "warnings": [], "taskCount": 0, "totalLength": 0, "batchCount": len(parts)}
    for first, part in parts:
        found = client.check_part(part, items, first)
        total["ok"] = total["ok"] and found["ok"]
        for name in ("issues", "warnings", "taskCount", "totalLength"):
            total[name] = total[name] + (found[name] or 0 if name.endswith(("Count", "Length")) else found[name])
    return total


def refuse_to_pay_again(check: Mapping[str, Any], ask: Callable[[], bool] = lambda: False, own: Sequence[str] = ()) -> None:
    """Raises AlreadySubmitted where a check says that the same was submitted before, unless `ask` says yes.

    An earlier batch may be one of `own`.
    """
    earlier = [one for one in check["warnings"] if one["code"] in SENT_BEFORE and not any(batch in one["message"] for batch in own)]
    if earlier and not ask():
        raise AlreadySubmitted(
            "Nothing was sent, because the same was submitted before. To pay for it again, give a word of yours: "
            'again="second" in Python, --again second in a shell.',
            describe_alike(earlier),
        )


def send_parts(
    client: "FoldAtlas",
    submission: Mapping[str, Any],
    items: Items = (),
    known: Sequence[Optional[str]] = (),
    record: Callable[[List[Optional[str]]], None] = lambda batches: None,
    report: Optional[Report] = None,
) -> Dict[str, Any]:
    """Sends the batches that are not known yet, one after the other, and records each before the next.

    All are checked before the first is sent. Returns `batch_ids`, `replayed` (whether all were there
    before) and `warnings`, without those that `report` got. Raises InputError, or what
    `FoldAtlas.send` raises.
    """
    parts = split_submission(submission)
    batches: List[Optional[str]] = [*known] if known else [None] * len(parts)
    if len(batches) != len(parts):
        raise InputError("The journal has %s, and the submission makes %d." % (count_of(len(batches), "batch", "batches"), len(parts)))
    reported: List[Dict[str, Any]] = []
    if all(one is None for one in batches) and (len(parts) > 1 or report is not None):
        check = check_parts(client, submission, items)
        if report is not None:
            report(check)
            reported = check["warnings"]
        if not check["ok"]:
            raise join_mistakes([describe_issue(one) for one in check["issues"]])
    replayed, warnings = True, []
    for number, (first, part) in enumerate(parts):
        if batches[number] is not None:
            continue
        try:
            sent = client.send(part, items, first)
        except BaseException:
            done = sum(one is not None for one in batches)
            if done > 0:
                client.transport.say("%d of %d batches queued. Run the same again for the rest: nothing is paid twice." % (done, len(parts)))
            raise
        batches[number] = sent["batch_id"]
        replayed = replayed and sent["replayed"]
        warnings += [one for one in sent["warnings"] if one not in reported]
        record(batches)
    return {"batch_ids": batches, "replayed": replayed, "warnings": warnings}


def failed_items(submission: Mapping[str, Any], batches: Sequence[str], tasks_by_batch: Sequence[Sequence[Mapping[str, Any]]]) -> List[Any]:
    """The items of which every repeat failed or was cancelled. Raises InputError while some may still succeed."""
    items: List[Any] = []
    for (_, part), batch_id, tasks in zip(split_submission(submission), batches, tasks_by_batch):
        failed: Dict[int, bool] = {}
        for task in tasks:
            if task["status"] in ("QUEUED", "IN_PROGRESS"):
                raise InputError("The batch has not ended. Wait for it: what fails later would be paid for twice.")
            is_failed = task["status"] in ("FAILED", "CANCELLED")
            if task["inputIndex"] is not None:
                failed[task["inputIndex"]] = failed.get(task["inputIndex"], True) and is_failed
            elif is_failed:
                raise _unknown_items(batch_id, "does not know to which items its tasks belong")
        if len(tasks) < len(part["items"]) * _times(part):
            raise _unknown_items(batch_id, "lists only %s of it" % count_of(len(tasks), "task"))
        items += [item for index, item in enumerate(part["items"]) if failed.get(index)]
    return items


def _unknown_items(batch_id: str, reason: str) -> InputError:
    return InputError(
        "What failed of batch %s cannot be known: the gateway %s, because it stores batches for 31 days or has lost its ledger. "
        "Nothing was sent. Compare the saved results with your input, and fold the items that you miss from a file of their own: "
        "foldatlas fold FILE --again WORD." % (batch_id, reason)
    )
