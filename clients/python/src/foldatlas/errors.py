"""Exceptions of the client. Each message says what is wrong and what to do next."""

from __future__ import annotations

from typing import Any, Dict, List, Mapping, Optional, Sequence

from .text import plain_text


class FoldAtlasError(Exception):
    """What the gateway answered instead of data.

    `code` is the code of the error, such as "UNAUTHENTICATED"; `retryable` says whether the same
    request may succeed later; `retry_after_seconds` is the time to wait, where the gateway says it.
    `errors` has all errors of an answer, and `data` what came beside them; None where nothing did.
    """

    data: Optional[Dict[str, Any]] = None

    def __init__(self, message: str, extensions: Optional[Mapping[str, Any]] = None) -> None:
        super().__init__(message)
        known = extensions or {}
        code, seconds = known.get("code"), known.get("retryAfterSeconds")
        self.code: Optional[str] = plain_text(code) if isinstance(code, str) else None
        self.retryable: bool = known.get("retryable") is True
        self.retry_after_seconds: Optional[float] = seconds if isinstance(seconds, (int, float)) else None
        self.errors: List[Dict[str, Any]] = []

    @classmethod
    def from_answer(cls, data: Optional[Dict[str, Any]], errors: List[Dict[str, Any]]) -> "FoldAtlasError":
        """The exception for an answer with errors, which has all of them and the data."""
        made = cls.from_error(errors[0])
        made.data, made.errors = data, errors
        return made

    @classmethod
    def from_error(cls, error: Mapping[str, Any]) -> "FoldAtlasError":
        """The exception for one entry of `errors` of a GraphQL answer."""
        return cls(plain_text(str(error.get("message", "no message"))), error.get("extensions"))


class Unreachable(FoldAtlasError):
    """The gateway cannot be reached, or something else answers at its address.

    `is_sent` is False where the request certainly did not reach it.
    """

    def __init__(self, message: str, is_sent: bool = True) -> None:
        super().__init__(message, {"code": "UNREACHABLE", "retryable": True})
        self.is_sent = is_sent


#: Mistakes of an input that a message lists.
MAX_TOLD_MISTAKES = 10


class InputError(ValueError):
    """A file or a value cannot be folded. Nothing was sent.

    `issues` has one sentence for each mistake, of which the message has the first ten. `count` is how
    many there are, which may be more than are listed.
    """

    def __init__(self, message: str, issues: Optional[List[str]] = None, count: Optional[int] = None) -> None:
        self.issues: List[str] = issues or []
        self.count = max(1, len(self.issues)) if count is None else count
        super().__init__("\n".join([message, *self.issues[:MAX_TOLD_MISTAKES]]))


class AlreadySubmitted(InputError):
    """The same input was submitted before, under another key or label, and would be paid for again. Nothing was sent.

    `issues` names the earlier batch, or says that the outcome is not known.
    """


class Refusal(FoldAtlasError):
    """A submission that the gateway or the service refused; nothing was charged, except where `kind` is OutcomeUnknown.

    `kind` is the type of the result, such as "Refused", "IdempotencyConflict" or "OutcomeUnknown".
    """

    def __init__(self, kind: str, message: str, extensions: Optional[Mapping[str, Any]] = None) -> None:
        super().__init__(message, extensions)
        self.kind = plain_text(kind)


def join_mistakes(lines: Sequence[str], more: Optional[int] = 0) -> InputError:
    """One exception for all mistakes of an input. `more` is how many are left out of the lines; None where that is not known."""
    if len(lines) == 1 and more == 0:
        return InputError(lines[0])
    if more is None:
        return InputError("The first {:,} mistakes are told; nothing was sent.".format(len(lines)), list(lines))
    count = len(lines) + more
    first = ", of which the first %d are told" % MAX_TOLD_MISTAKES if count > MAX_TOLD_MISTAKES else ""
    return InputError("There are {:,} mistakes{}; nothing was sent.".format(count, first), list(lines), count)
