"""Exceptions of the client. Each message says what is wrong and what to do next."""

from __future__ import annotations

from typing import Any, List, Mapping, Optional

from .text import plain_text


class FoldAtlasError(Exception):
    """What the gateway answered instead of data.

    `code` is the code of the error, such as "UNAUTHENTICATED"; `retryable` says whether the same
    request may succeed later; `retry_after_seconds` is the time to wait, where the gateway says it.
    """

    def __init__(self, message: str, extensions: Optional[Mapping[str, Any]] = None) -> None:
        super().__init__(message)
        known = extensions or {}
        self.code: Optional[str] = known.get("code")
        self.retryable: bool = bool(known.get("retryable", False))
        self.retry_after_seconds: Optional[float] = known.get("retryAfterSeconds")

    @classmethod
    def from_error(cls, error: Mapping[str, Any]) -> "FoldAtlasError":
        """The exception for one entry of `errors` of a GraphQL answer."""
        return cls(plain_text(str(error.get("message", "no message"))), error.get("extensions"))


class Unreachable(FoldAtlasError):
    """The gateway cannot be reached, or something else answers at its address."""

    def __init__(self, message: str) -> None:
        super().__init__(message, {"code": "UNREACHABLE", "retryable": True})


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
        self.kind = kind
