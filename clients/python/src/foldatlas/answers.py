"""The shapes of the gateway's answers to our own documents. A gateway that lies is told by a sentence."""

from __future__ import annotations

from typing import Any, Dict, Optional, Sequence

from . import documents
from .errors import InputError
from .shapes import Check, Mistakes, Node, list_of, object_of
from .trust import UntrustedAnswer, is_hash, is_id


def _hash(node: Node) -> None:
    if not is_hash(node.text()):
        node.fail("this is no hash.")


def _id(node: Node) -> None:
    if not is_id(node.text()):
        node.fail("this is no id.")


def _count(node: Node) -> int:
    return node.integer(0)


def _some(**optional: Check) -> Check:
    return object_of({}, optional)


def _record(required: Dict[str, Check], nullable: Dict[str, Check]) -> Check:
    """An object that has each of these fields, as GraphQL gives what was selected."""
    check = object_of(required, nullable)

    def run(node: Node) -> None:
        check(node)
        for key in nullable:
            if key not in node.value:
                node.fail("`%s` is missing." % key)

    return run


def _values(node: Node) -> None:
    """A list of numbers, some of them null, in one pass: there are hundreds of thousands."""
    if not isinstance(node.value, list) or not all(one is None or type(one) in (int, float) for one in node.value):
        node.fail("this must be a list of numbers.")


_TEXT, _NUMBER, _FLAG = Node.text, Node.number, Node.boolean
_ERROR = object_of({"message": _TEXT}, {})
_PAGE = object_of({"hasNextPage": _FLAG}, {"endCursor": _TEXT})
_LABELLED = _record({"index": _count}, {"label": _TEXT})
_FEATURE = _record({"index": _count}, {"label": _TEXT, "description": _TEXT})
_CLUSTER = _record({"representativeHash": _hash}, {"name": _TEXT, "size": _count, "percentCharacterized": _NUMBER})
_PLDDT = _record({}, {"mean": _NUMBER})


def _protein(texts: Sequence[str], more: Dict[str, Check]) -> Check:
    nullable = {name: _TEXT for name in ("accession", *texts)}
    return _record({"hash": _hash}, {**nullable, "length": _count, "ptm": _NUMBER, "plddt": _PLDDT, **more})


_NAMES = ("source", "name", "organism", "gene")
_VALUE = _record({"value": _NUMBER, "feature": _LABELLED}, {})
_FULL = {"sequence": _TEXT, "cluster": _CLUSTER, "features": list_of(_VALUE)}


def _or_null(check: Check) -> Check:
    return lambda node: None if node.value is None else check(node)


_RESULT = _record(
    {"status": _TEXT},
    {"requested": _TEXT, "problem": _ERROR, "protein": _protein(_NAMES, {"cluster": _CLUSTER})},
)
_HIT = _record({"score": _NUMBER}, {"protein": _protein((), {}), "cluster": _CLUSTER})
_COUNTS = _record({name: _count for name in ("total", "queued", "inProgress", "done", "failed", "cancelled")}, {})
_PAIR = _record(
    {"a": _TEXT, "b": _TEXT},
    {name: _NUMBER for name in ("ipsae", "ipsaeMax", "pDockQ", "pDockQ2", "lis", "meanPae", "minPae")},
)
_SCORES = _record({}, {"iptm": _NUMBER, "ptm": _NUMBER, "meanPlddt": _NUMBER, "chainPairs": list_of(_PAIR)})


def _task(more: Dict[str, Check]) -> Check:
    return _record({"taskId": _id, "status": _TEXT}, {"name": _TEXT, "error": _ERROR, **more})


def _pages(task: Check) -> Check:
    return _some(batch=_some(tasks=_record({"pageInfo": _PAGE, "nodes": list_of(task)}, {})))


_ISSUE = _record({"path": _TEXT, "code": _TEXT, "message": _TEXT}, {"hint": _TEXT})
_BATCH = _record({"batchId": _id}, {})
_PROGRESS = _record(
    {"final": _FLAG, "batch": _record({"counts": _COUNTS}, {}), "changedTasks": list_of(_task({}))},
    {"estimatedSecondsLeft": _NUMBER},
)
_BATCH_LISTED = _record({"batchId": _id}, {"label": _TEXT, "submittedAt": _TEXT, "status": _TEXT, "counts": _COUNTS})
_PROBLEM = {"__typename": _TEXT, "message": _TEXT}
_SUBMITTED = _record({"__typename": _TEXT, "replayed": _FLAG, "warnings": list_of(_ISSUE), "batch": _BATCH}, {})
_REFUSED = {"reason": _TEXT, "retryable": _FLAG, "retryAfterSeconds": _NUMBER}
_REFUSAL = object_of(_PROBLEM, {"hint": _TEXT, "issues": list_of(_ISSUE), "existingBatch": _BATCH, **_REFUSED})


def _submit_result(node: Node) -> None:
    is_queued = isinstance(node.value, dict) and node.value.get("__typename") == "FoldSubmitted"
    (_SUBMITTED if is_queued else _REFUSAL)(node)


_SEARCH = _record({"hits": list_of(_HIT)}, {"restrictedCount": _count, "warnings": list_of(_TEXT)})
_CHECKED = _record(
    {"ok": _FLAG, "issues": list_of(_ISSUE), "warnings": list_of(_ISSUE)},
    {"taskCount": _count, "totalLength": _count},
)
_PAE = _record({"size": _count, "block": _record({"step": _count, "values": list_of(_values)}, {})}, {})

SHAPES: Dict[str, Check] = {
    documents.LOOKUP: _some(lookup=list_of(_or_null(_RESULT))),
    documents.PROTEINS: _record({"proteins": list_of(_or_null(_protein(_NAMES, _FULL)))}, {}),
    documents.SIMILAR: _record({"similarProteins": _SEARCH}, {}),
    documents.FEATURES: _record({"features": _record({"nodes": list_of(_FEATURE), "pageInfo": _PAGE}, {})}, {}),
    documents.CHECK: _record({"checkFold": _CHECKED}, {}),
    documents.SUBMIT: _some(submitFold=_submit_result),
    documents.WATCH: _some(batchProgress=_PROGRESS),
    documents.COUNTS: _some(batch=_some(counts=_COUNTS)),
    documents.BATCHES: _some(myBatches=_record({"pageInfo": _PAGE, "nodes": list_of(_BATCH_LISTED)}, {})),
    documents.TASKS: _pages(_task({"inputIndex": _count, "repeatIndex": _count})),
    documents.RANK: _pages(_task({"repeatIndex": _count, "scores": _SCORES})),
    documents.PLDDT: _record({}, {"task": _record({}, {"result": _record({"plddt": _record({"values": _values}, {})}, {})})}),
    documents.PAE: _record({}, {"task": _record({}, {"result": _record({}, {"pae": _PAE})})}),
}


def check_answer(document: str, data: Optional[Dict[str, Any]], is_whole: bool) -> None:
    """Raises UntrustedAnswer where the data are not what one of our own documents asks for.

    `is_whole` is False beside errors, which leave out any part.
    """
    check = SHAPES.get(document)
    if check is None or (not is_whole and all(value is None for value in (data or {}).values())):
        return
    mistakes = Mistakes(1)
    mistakes.read(lambda: check(Node(data, "", mistakes)))
    try:
        mistakes.finish()
    except InputError as error:
        raise UntrustedAnswer(str(error)) from None
