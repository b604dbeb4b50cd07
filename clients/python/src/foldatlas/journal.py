"""The journal beside results: which submission and which batch a folder belongs to."""

from __future__ import annotations

import json
import os
from typing import TYPE_CHECKING, Any, Dict, Mapping, Optional, Union

from .errors import InputError

if TYPE_CHECKING:
    from .client import FoldAtlas

JOURNAL_FILE = "foldatlas.json"


class Journal:
    """`foldatlas.json` of a folder. It has the input, so that failed items can be submitted again: it stays on this machine."""

    def __init__(self, folder: str, content: Mapping[str, Any]) -> None:
        self.folder = folder
        self.batch_id: Optional[str] = content.get("batchId")
        self.submission: Optional[Dict[str, Any]] = content.get("submission")

    @classmethod
    def open(cls, folder: Union[str, "os.PathLike[str]"]) -> "Journal":
        """Reads the journal of a folder, which may be new. Raises InputError where it cannot be read."""
        path = os.path.join(os.fspath(folder), JOURNAL_FILE)
        if not os.path.exists(path):
            return cls(os.fspath(folder), {})
        try:
            with open(path, encoding="utf-8") as file:
                content = json.load(file)
        except (OSError, ValueError) as error:
            raise InputError("%s cannot be read: %s. Save the results to another folder." % (path, error)) from None
        return cls(os.fspath(folder), content)

    def claim(self, batch_id: str) -> None:
        """Notes that the folder has the results of this batch. Raises InputError where it has those of another."""
        if self.batch_id is None:
            self._write(batch_id)
        elif self.batch_id != batch_id:
            raise InputError(
                "%s has the results of batch %s. Save those of %s to another folder."
                % (self.folder, self.batch_id, batch_id)
            )

    def submit(self, client: "FoldAtlas", submission: Mapping[str, Any]) -> Dict[str, Any]:
        """Sends a submission once for this folder. The input is written before it is sent.

        Returns `batch_id`, `replayed` and `warnings`. Raises InputError, before anything is sent, where
        the folder belongs to another submission.
        """
        if self.submission is not None and self.submission["idempotencyKey"] != submission["idempotencyKey"]:
            raise InputError(
                "%s has the results of another submission. Save those of this one to another folder; nothing was submitted."
                % self.folder
            )
        if self.submission is None and self.batch_id is not None:
            raise InputError("%s has the results of batch %s. Use another folder." % (self.folder, self.batch_id))
        if self.batch_id is not None:
            return {"batch_id": self.batch_id, "replayed": True, "warnings": []}
        self.submission = dict(submission)
        self._write(None)
        sent = client.send(submission)
        self._write(sent["batch_id"])
        return sent

    def _write(self, batch_id: Optional[str]) -> None:
        os.makedirs(self.folder, exist_ok=True)
        self.batch_id = batch_id
        path = os.path.join(self.folder, JOURNAL_FILE)
        with open(path + ".part", "w", encoding="utf-8") as file:
            json.dump({"batchId": batch_id, "submission": self.submission}, file, ensure_ascii=False)
            file.flush()
            os.fsync(file.fileno())
        os.replace(path + ".part", path)
