"""Makes the input of `submitFold`, and its idempotency key."""

from __future__ import annotations

import hashlib
import json
from typing import Any, Dict, Iterable, Mapping, Optional, Sequence, Union

from .errors import InputError
from .fold_input import FoldInput
from .own import check_own

Items = Union[FoldInput, Sequence[Mapping[str, Any]]]


def submission_key(submission: Mapping[str, Any], again: Optional[str] = None) -> str:
    """The key of an input: the same content is the same key, whatever the order of its members."""
    content = json.dumps([submission, again or ""], sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    return "py-" + hashlib.sha256(content.encode("utf-8", "surrogatepass")).hexdigest()[:48]


def plain_submission(items: Items, options: Mapping[str, Any]) -> Dict[str, Any]:
    """The input without a key of ours. `options` win over those of a file; None leaves one as it is."""
    given = {name: value for name, value in options.items() if value is not None}
    if isinstance(items, FoldInput):
        return {**items.options, "items": items.items, **given}
    if isinstance(items, (str, Mapping)) or not isinstance(items, Iterable):
        raise InputError("Give a list of items, or what read_input returns.")
    plain = [dict(item) if isinstance(item, Mapping) else item for item in items]
    check_own(plain, "items")
    return {"items": plain, **given}


def make_submission(
    items: Items, options: Mapping[str, Any], again: Optional[str] = None, key: Optional[str] = None
) -> Dict[str, Any]:
    """The input with its key: `key`, else that of the file, else one made of the content and the word `again`."""
    submission = plain_submission(items, options)
    own = submission.pop("idempotencyKey", None)
    # Whom to notify is no part of what is folded.
    content = {name: value for name, value in submission.items() if name != "notify"}
    chosen = key or (None if again else own)
    return {**submission, "idempotencyKey": chosen or submission_key(content, again)}
