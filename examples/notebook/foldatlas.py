"""FoldAtlas from Python 3.9 or newer, with nothing but its standard library. Copy this file beside your notebook.

Everything comes as lists of dicts in the order asked, so `pandas.DataFrame(rows)` works on all of it. The address is in
FOLDATLAS_URL, the token of your own (only folds need one) in FOLDATLAS_TOKEN: tokens do not belong into notebooks.
"""

import http.client
import json
import os
import re
import time
import urllib.error
import urllib.request

URL = os.environ.get("FOLDATLAS_URL", "http://127.0.0.1:4000/graphql")
LOOKUP_AT_ONCE = 500  # 5000 fit in one `lookup`, but not all that LOOKUP selects of so many
WATCH_AGAIN_SECONDS = 300  # how long `watch` tries to come back after a stream broke


class FoldAtlasError(Exception):
    """What the gateway said. `code` is such as "UNAUTHENTICATED"; `retryable` says whether asking again may help."""

    def __init__(self, error):
        super().__init__(error.get("message", "no message"))
        extensions = error.get("extensions") or {}
        self.code = extensions.get("code")
        self.retryable = extensions.get("retryable", False)
        self.retry_after_seconds = extensions.get("retryAfterSeconds")


def _open(document, variables, accept, timeout):
    headers = {"content-type": "application/json", "accept": accept}
    if os.environ.get("FOLDATLAS_TOKEN"):
        headers["authorization"] = "Bearer " + os.environ["FOLDATLAS_TOKEN"]
    body = json.dumps({"query": document, "variables": variables}).encode()
    try:
        return urllib.request.urlopen(urllib.request.Request(URL, body, headers), timeout=timeout)
    except urllib.error.HTTPError as refused:  # refusals are GraphQL answers too
        try:
            errors = json.load(refused)["errors"]
        except (ValueError, KeyError):
            raise refused from None
        raise FoldAtlasError(errors[0]) from None


def _ask(document, variables):
    with _open(document, variables, "application/json", 120) as response:
        answer = json.load(response)
    return answer.get("data"), answer.get("errors") or []


def query(document, **variables):
    """Data of a query or mutation. Raises FoldAtlasError when any part of it failed; what does not exist is None."""
    data, errors = _ask(document, variables)
    if errors:
        raise FoldAtlasError(errors[0])
    return data


LOOKUP = """query ($ids: [String!]!) { lookup(ids: $ids) { requested status problem { message hint } protein {
  hash accession source name organism gene length ptm plddt { mean } cluster { representativeHash name size percentCharacterized } } } }"""
OWN = ("hash", "accession", "source", "name", "organism", "gene", "length", "ptm")
CLUSTER = (("representative", "representativeHash"), ("name", "name"), ("size", "size"), ("percent_characterized", "percentCharacterized"))


def lookup(ids):
    """One row for each hash, accession, entry name or sequence, in the order given, duplicates kept; gaps are None.

    Columns are those of `foldatlas lookup` and of `/export.tsv`. `status` is FOUND, NOT_IN_ATLAS, NO_SUCH_ENTRY,
    NOT_AN_IDENTIFIER or UNAVAILABLE, and `problem` says why in a sentence.
    """
    ids, rows = [str(one) for one in ids], []
    for start in range(0, len(ids), LOOKUP_AT_ONCE):
        data, errors = _ask(LOOKUP, {"ids": ids[start : start + LOOKUP_AT_ONCE]})
        if not data or data["lookup"] is None:
            raise FoldAtlasError(errors[0])
        failed = {error["path"][1]: error["message"] for error in reversed(errors)}
        for place, found in enumerate(data["lookup"]):
            protein, problem = found["protein"] or {}, found["problem"]
            row = {"requested": found["requested"], "status": "UNAVAILABLE" if place in failed else found["status"]}
            row.update((key, protein.get(key)) for key in OWN)
            row["mean_plddt"] = (protein.get("plddt") or {}).get("mean")
            row.update(("cluster_" + name, (protein.get("cluster") or {}).get(key)) for name, key in CLUSTER)
            message = failed.get(place) or (problem and problem["message"])
            # Each request counts its own ids; the row is named by its place in the whole list.
            row["problem"] = message and re.sub(r"ids\[(\d+)\]", lambda at: "ids[%d]" % (start + int(at[1])), message)
            rows.append(row)
    return rows


SUBMIT = """mutation ($input: SubmitFoldInput!) { submitFold(input: $input) { __typename
  ... on FoldSubmitted { batch { batchId } } ... on Problem { message hint } ... on InvalidInput { issues { path message } } } }"""


def submit(items, key, repeat=1, label=None):
    """Queues folds and gives the id of the batch. The same `key` (any text of yours) never spends twice: run the cell again."""
    made = {"items": items, "repeat": repeat, "label": label, "idempotencyKey": key}
    result = query(SUBMIT, input=made)["submitFold"]
    if result["__typename"] == "FoldSubmitted":
        return result["batch"]["batchId"]
    places = ["%(path)s: %(message)s" % issue for issue in result.get("issues", [])]
    raise ValueError("\n".join(filter(None, [result["message"], *places, result["hint"]])))


WATCH = """subscription ($id: ID!) { batchProgress(batchId: $id) { final
  batch { counts { total queued inProgress done failed cancelled } } } }"""


def watch(batch_id):
    """Yields the counts of a batch, now and at every change, until every task has ended.

    A stream that breaks is opened again for WATCH_AGAIN_SECONDS; one that never opened is not.
    """
    last = None
    while True:
        try:
            with _open(WATCH, {"id": batch_id}, "text/event-stream", 60) as stream:
                for line in stream:  # every event is one line; others keep the connection alive
                    last = time.monotonic()
                    answer = json.loads(line[6:]) if line.startswith(b"data: {") else {}
                    for error in answer.get("errors", []):
                        if not error.get("extensions", {}).get("retryable"):
                            raise FoldAtlasError(error)
                    progress = (answer.get("data") or {}).get("batchProgress")
                    if progress:
                        yield progress["batch"]["counts"]
                        if progress["final"]:
                            return
        except (OSError, http.client.HTTPException):
            if last is None or time.monotonic() - last > WATCH_AGAIN_SECONDS:
                raise  # the address is wrong, or the gateway does not come back
            # The connection broke or the gateway stopped: the next stream starts with the present state.
        time.sleep(2)


SCORES = """query ($id: ID!, $after: String) { batch(batchId: $id) { tasks(first: 1000, after: $after) {
  nodes { taskId name repeatIndex status error { message } scores { ptm iptm meanPlddt } } pageInfo { endCursor hasNextPage } } } }"""


def scores(batch_id):
    """One row for each task of a batch, in the order of the submission; scores are None where there are none.

    `error` says why, also of a result that is damaged. Other failures raise FoldAtlasError: ask again.
    """
    rows, after, more = [], None, True
    while more:
        data, errors = _ask(SCORES, {"id": batch_id, "after": after})
        damaged = {}
        for error in errors:
            place = error.get("path", [])[3:4]
            if not place or error["extensions"].get("code") not in ("UPSTREAM_DRIFT", "RESULT_EXPIRED"):
                raise FoldAtlasError(error)
            damaged[place[0]] = error
        batch = data["batch"]
        if batch is None:
            raise ValueError("There is no batch %s for this token." % batch_id)
        for index, task in enumerate(batch["tasks"]["nodes"]):
            found, error = task.pop("scores") or {}, task.pop("error") or damaged.get(index) or {}
            got = {"ptm": found.get("ptm"), "iptm": found.get("iptm"), "mean_plddt": found.get("meanPlddt")}
            rows.append({**task, **got, "error": error.get("message")})
        page = batch["tasks"]["pageInfo"]
        after, more = page["endCursor"], page["hasNextPage"]
    return rows
