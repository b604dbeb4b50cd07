"""The journal beside results: which submission and which batch a folder belongs to."""

from __future__ import annotations

import json
import os
from typing import TYPE_CHECKING, Any, Dict, Mapping, Optional, Union

from .errors import FoldAtlasError, InputError, Refusal, Unreachable
from .submission import Items
from .transport import part_name
from .trust import create_file

if TYPE_CHECKING:
    from .client import FoldAtlas

JOURNAL_FILE = "foldatlas.json"


class Journal:
    """`foldatlas.json` of a folder. It has the input, so that failed items can be submitted again: it stays on this machine."""

    def __init__(self, folder: str, content: Mapping[str, Any]) -> None:
        self.folder = folder
        self.batch_id: Optional[str] = content.get("batchId")
        self.submission: Optional[Dict[str, Any]] = content.get("submission")
        if not isinstance(self.batch_id, (str, type(None))):
            raise ValueError("the batch is no text")
        if self.submission is not None and not isinstance(self.submission["idempotencyKey"], str):
            raise ValueError("the key is no text")
        if self.submission is not None and not isinstance(self.submission["items"], list):
            raise ValueError("the items are no list")

    @classmethod
    def open(cls, folder: Union[str, "os.PathLike[str]"]) -> "Journal":
        """Reads the journal of a folder, which may be new. Raises InputError where it cannot be read."""
        path = os.path.join(os.fspath(folder), JOURNAL_FILE)
        if not os.path.exists(path):
            return cls(os.fspath(folder), {})
        try:
            with open(path, encoding="utf-8") as file:
                return cls(os.fspath(folder), json.load(file))
        except (OSError, ValueError, LookupError, TypeError, AttributeError, RecursionError) as error:
            raise InputError("%s cannot be read: %s. Save the results to another folder." % (path, error)) from None

    def claim(self, batch_id: str) -> None:
        """Notes that the folder has the results of this batch. Raises InputError where it has those of another."""
        if self.batch_id is None:
            self._write(batch_id)
        elif self.batch_id != batch_id:
            raise InputError(
                "%s has the results of batch %s. Save those of %s to another folder."
                % (self.folder, self.batch_id, batch_id)
            )

    def submit(self, client: "FoldAtlas", submission: Mapping[str, Any], items: Items = ()) -> Dict[str, Any]:
        """Sends a submission once for this folder. The input is written before it is sent.

        It stays there while nobody knows whether it was queued, and is dropped when it certainly was
        not, so that a mended input can follow. Returns `batch_id`, `replayed` and `warnings`. Raises
        InputError, before anything is sent, where the folder belongs to another submission.
        """
        if self.submission is None and self.batch_id is not None:
            raise InputError("%s has the results of batch %s. Use another folder." % (self.folder, self.batch_id))
        is_first_try = self.submission is None
        if self.submission is not None and self.submission["idempotencyKey"] != submission["idempotencyKey"]:
            if self.batch_id is not None:
                raise InputError(
                    "%s has the results of another submission. Save those of this one to another folder; nothing was submitted."
                    % self.folder
                )
            raise InputError(
                "Another submission was sent from %s, and whether it was queued is not known. Run that one again to find out, "
                "or save the results of this one to another folder; nothing was submitted." % self.folder
            )
        if self.batch_id is not None:
            return {"batch_id": self.batch_id, "replayed": True, "warnings": []}
        self.submission = dict(submission)
        self._write(None)
        try:
            sent = client.send(submission, items)
        except (InputError, FoldAtlasError) as error:
            if _is_not_queued(error, is_first_try):
                self.submission = None
                os.remove(os.path.join(self.folder, JOURNAL_FILE))
            raise
        self._write(sent["batch_id"])
        return sent

    def _write(self, batch_id: Optional[str]) -> None:
        os.makedirs(self.folder, exist_ok=True)
        self.batch_id = batch_id
        path = os.path.join(self.folder, JOURNAL_FILE)
        part = part_name(path)
        with create_file(part) as file:
            file.write(json.dumps({"batchId": batch_id, "submission": self.submission}).encode())
            file.flush()
            os.fsync(file.fileno())
        os.replace(part, path)


#: Codes of errors with which the gateway sends nothing to the service.
_NOTHING_SENT = ("BAD_USER_INPUT", "UNAUTHENTICATED", "FORBIDDEN", "RATE_LIMITED", "GRAPHQL_VALIDATION_FAILED")


def _is_not_queued(error: Exception, is_first_try: bool) -> bool:
    """Whether nothing of an input was queued, now or by an earlier try of which no answer came.

    Only a mistake in the input says something about earlier tries.
    """
    if isinstance(error, InputError):
        return True
    if not is_first_try:
        return False
    if isinstance(error, Refusal):
        return error.kind != "OutcomeUnknown"
    if isinstance(error, Unreachable):
        return not error.is_sent
    code = getattr(error, "code", None) or ""
    # 408 says that the request was not read whole in time; a part may have been.
    return code in _NOTHING_SENT or (code.startswith("HTTP_4") and code != "HTTP_408")
