"""What a gateway may send before it becomes a file name, an address or a loop. It may lie, or its service may."""

from __future__ import annotations

import os
import re
import time
from typing import Any, BinaryIO, Callable, Iterator, Optional

from .errors import FoldAtlasError, Unreachable

#: The forms that the gateway enforces on the service, too.
_ID = re.compile(r"\w[\w.~:@=+-]{0,199}", re.ASCII)
_HASH = re.compile(r"[0-9a-f]{32}")
#: The gateway ends answers of more. Those to our own documents are much smaller.
MAX_ANSWER_BYTES = 256 * 1024 * 1024
MAX_OWN_ANSWER_BYTES = 64 * 1024 * 1024
MAX_EVENT_BYTES = 16 * 1024 * 1024
#: Results of the largest complexes with embeddings stay below this.
MAX_FILE_BYTES = 4 * 1024 * 1024 * 1024
#: A batch has at most 2,000 tasks, on pages of 500 and more.
MAX_TASKS = 2000
#: How long an answer or a file may take when it comes in drops.
MAX_SECONDS = 3600.0
CHUNK_BYTES = 256 * 1024
#: How long a gateway that is away is waited for.
AWAY_SECONDS = 240.0
MAX_PAUSE_SECONDS = 15.0


class UntrustedAnswer(FoldAtlasError):
    """An answer that no gateway of this project gives: nothing of it is used."""

    def __init__(self, sentence: str) -> None:
        super().__init__("The gateway's answer cannot be trusted: %s" % sentence, {"code": "UNTRUSTED_ANSWER"})


def is_hash(value: Any) -> bool:
    return isinstance(value, str) and _HASH.fullmatch(value) is not None


def is_id(value: Any) -> bool:
    return isinstance(value, str) and _ID.fullmatch(value) is not None


def is_away(error: Exception) -> bool:
    """Whether the gateway did not answer, but at most a proxy before it."""
    is_of_proxy = isinstance(error, FoldAtlasError) and error.retryable and (error.code or "").startswith("HTTP_")
    return is_of_proxy or isinstance(error, Unreachable)


def read_chunks(response: Any, limit: int) -> Iterator[bytes]:
    """The body of a response in pieces, of which `limit` bytes come at most, in at most an hour."""
    end = time.monotonic() + MAX_SECONDS
    size = 0
    while True:
        chunk = response.read1(CHUNK_BYTES)
        size += len(chunk)
        if size > limit:
            raise UntrustedAnswer("it has more than %d bytes." % limit)
        if not chunk:
            return
        yield chunk
        if time.monotonic() > end:
            raise UntrustedAnswer("it does not end.")


def create_file(path: str) -> BinaryIO:
    """A new file for writing. What stood there before is removed, and a link is never followed."""
    if os.path.lexists(path):
        os.remove(path)
    return open(path, "xb")


class Patience:
    """Waits while the gateway is away, for four minutes in which it says nothing."""

    def __init__(self, say: Callable[[str], None] = lambda line: None) -> None:
        self._say = say
        self._heard: Optional[float] = None
        self._pause = 1.0
        #: Ends the waits of other threads.
        self.is_over = False

    def heard(self) -> None:
        """The gateway is there."""
        self._heard = None
        self._pause = 1.0

    def wait(self, error: FoldAtlasError) -> None:
        """Sleeps before the next try. Raises the error where it is none of an absence, or that lasted too long."""
        if not (error.retryable or isinstance(error, Unreachable)):
            raise error
        now = time.monotonic()
        if self._heard is None:
            self._heard = now
            self._say("%s Waiting for it, up to %d minutes." % (str(error).rstrip(".") + ".", AWAY_SECONDS // 60))
        if self.is_over or now - self._heard >= AWAY_SECONDS:
            raise error
        time.sleep(self._pause)
        self._pause = min(self._pause * 2, MAX_PAUSE_SECONDS)
