"""The journal beside results: which submission and which batches a folder belongs to."""

from __future__ import annotations

import json
import os
from typing import TYPE_CHECKING, Any, Dict, List, Mapping, Optional, Sequence, Union

from .errors import AlreadySubmitted, FoldAtlasError, InputError, Refusal, Unreachable
from .fold_input import FoldInput
from .parts import Report, send_parts, split_submission
from .submission import Items
from .transport import part_name
from .trust import create_file, is_id

if TYPE_CHECKING:
    from .client import FoldAtlas

JOURNAL_FILE = "foldatlas.json"


class Journal:
    """`foldatlas.json` of a folder. It has the input, so that failed items can be submitted again: it stays on this machine."""

    def __init__(self, folder: str, content: Mapping[str, Any]) -> None:
        self.folder = folder
        self.batches: List[Optional[str]] = content.get("batches", [])
        self.submission: Optional[Dict[str, Any]] = content.get("submission")
        if not isinstance(self.batches, list) or not all(one is None or is_id(one) for one in self.batches):
            raise ValueError("the batches are no list of ids")
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

    @property
    def batch_ids(self) -> List[str]:
        """The batches that are known."""
        return [one for one in self.batches if one is not None]

    def claim(self, batches: Sequence[str]) -> None:
        """Notes that the folder has the results of these batches. Raises InputError where it has those of others."""
        if not self.batch_ids:
            self._write([*batches])
        elif self.batches != [*batches]:
            raise InputError(
                "%s has the results of batch %s. Save those of %s to another folder."
                % (self.folder, ", ".join(self.batch_ids), ", ".join(batches))
            )

    def submit(
        self, client: "FoldAtlas", submission: Mapping[str, Any], items: Items = (), report: Optional[Report] = None
    ) -> Dict[str, Any]:
        """Sends a submission once for this folder. The input is written before it is sent, and each batch behind it.

        It stays there while it is not known whether it was queued, and is dropped when it certainly was
        not, so that a mended input can follow. Returns what `send_parts` does. Raises InputError,
        before anything is sent, where the folder belongs to another submission.
        """
        refuse_folder_of_inputs(items, self.folder)
        if self.submission is None and self.batch_ids:
            raise InputError("%s has the results of batch %s. Use another folder." % (self.folder, ", ".join(self.batch_ids)))
        is_first_try = self.submission is None
        if self.submission is not None and self.submission["idempotencyKey"] != submission["idempotencyKey"]:
            if self.batch_ids:
                raise InputError(
                    "%s has the results of another submission. Save those of this one to another folder; nothing was submitted."
                    % self.folder
                )
            raise InputError(
                "Another submission was sent from %s, and whether it was queued is not known. Run that one again to find out, "
                "or save the results of this one to another folder; nothing was submitted." % self.folder
            )
        if is_first_try:
            self.submission = dict(submission)
            self._write([])
        try:
            return send_parts(client, submission, items, self.batches, self._write, report)
        except (InputError, FoldAtlasError) as error:
            # A mistake in one of several batches says nothing about those before it.
            is_one = len(split_submission(submission)) == 1
            if not self.batch_ids and (is_one or is_first_try) and _is_not_queued(error, is_first_try):
                self.submission = None
                os.remove(os.path.join(self.folder, JOURNAL_FILE))
            raise

    def _write(self, batches: Sequence[Optional[str]]) -> None:
        os.makedirs(self.folder, exist_ok=True)
        self.batches = [*batches]
        path = os.path.join(self.folder, JOURNAL_FILE)
        part = part_name(path)
        with create_file(part) as file:
            file.write(json.dumps({"batches": self.batches, "submission": self.submission}).encode())
            file.flush()
            os.fsync(file.fileno())
        os.replace(part, path)


def refuse_folder_of_inputs(source: Items, folder: str) -> None:
    """Raises InputError where results would stand among the files that they are made from."""
    files = [file for file, _ in source.files] if isinstance(source, FoldInput) else []
    here = os.path.realpath(folder)
    if any(os.path.realpath(os.path.dirname(file) or ".") == here and file.lower().endswith(".json") for file in files):
        raise InputError("%s has the inputs in it. Save the results to another folder; nothing was submitted." % folder)


#: Codes of errors with which the gateway sends nothing to the service.
_NOTHING_SENT = ("BAD_USER_INPUT", "UNAUTHENTICATED", "FORBIDDEN", "RATE_LIMITED", "GRAPHQL_VALIDATION_FAILED")


def _is_not_queued(error: Exception, is_first_try: bool) -> bool:
    """Whether nothing of an input was queued, now or by an earlier try of which no answer came.

    Only a mistake in the input says something about earlier tries.
    """
    if isinstance(error, AlreadySubmitted):
        return is_first_try
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
