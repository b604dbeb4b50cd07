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


class InputError(ValueError):
    """A file or a value cannot be folded. Nothing was sent. `issues` has one sentence for each mistake."""

    def __init__(self, message: str, issues: Optional[List[str]] = None) -> None:
        super().__init__("\n".join([message, *(issues or [])]))
        self.issues: List[str] = issues or []


class Refusal(FoldAtlasError):
    """A submission that the gateway or the service refused; nothing was charged, except where `kind` is OutcomeUnknown.

    `kind` is the type of the result, such as "Refused", "IdempotencyConflict" or "OutcomeUnknown".
    """

    def __init__(self, kind: str, message: str, extensions: Optional[Mapping[str, Any]] = None) -> None:
        super().__init__(message, extensions)
        self.kind = plain_text(kind)


def join_mistakes(lines: Sequence[str], is_cut: bool = False) -> InputError:
    """One exception for all mistakes of a file. `is_cut` where there may be more."""
    if len(lines) == 1:
        return InputError(lines[0])
    count = "The first %d mistakes are told" if is_cut else "There are %d mistakes"
    return InputError((count + "; nothing was sent.") % len(lines), list(lines))
