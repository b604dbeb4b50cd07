"""Sends documents to the gateway over HTTP and reads answers, event streams and files."""

from __future__ import annotations

import hashlib
import http.client
import json
import os
import socket
import ssl
import time
import urllib.error
import urllib.parse
import urllib.request
from typing import Any, Callable, Dict, Iterator, List, Mapping, Optional, Tuple

from .answers import SHAPES, check_answer
from .errors import FoldAtlasError, Unreachable
from .text import plain_text
from .trust import (
    MAX_ANSWER_BYTES,
    MAX_EVENT_BYTES,
    MAX_FILE_BYTES,
    MAX_OWN_ANSWER_BYTES,
    Patience,
    UntrustedAnswer,
    create_file,
    read_chunks,
)

DEFAULT_URL = "http://127.0.0.1:4000/graphql"
#: How often a read is sent while the gateway or the service refuses it for now.
MAX_TRIES = 5
DEFAULT_PAUSE_SECONDS = 5.0
MAX_PAUSE_SECONDS = 60.0
#: How long an answer may take. The gateway gives up before.
TIMEOUT_SECONDS = 270.0
#: The gateway sends a sign of life every 12 seconds.
STREAM_TIMEOUT_SECONDS = 60.0
#: Files that are downloaded at the same time.
DOWNLOADS_AT_ONCE = 4
MAX_REFUSAL_BYTES = 1024 * 1024
#: Failures before anything was sent.
_NOT_SENT = (ConnectionRefusedError, socket.gaierror, ssl.SSLCertVerificationError)
#: Media types of files by the endings of their addresses; a page of a proxy is no file.
_FILE_TYPES = {"json": "application/json", "tsv": "text/tab-separated-values"}
_FILE_TYPES.update({"cif": "chemical/x-mmcif", "pdb": "chemical/x-pdb"})

Answer = Tuple[Optional[Dict[str, Any]], List[Dict[str, Any]]]


class _NoRedirect(urllib.request.HTTPRedirectHandler):
    """A token is never sent on to another address."""

    def redirect_request(self, *_: Any, **__: Any) -> None:
        return None


class Transport:
    """One gateway and one caller.

    `url` is the address of the endpoint, by default FOLDATLAS_URL or that of a gateway on this
    machine. `token` is the bearer token, by default FOLDATLAS_TOKEN; without one only public data
    can be read.
    """

    def __init__(self, url: Optional[str] = None, token: Optional[str] = None, timeout: Optional[float] = None) -> None:
        given = url or os.environ.get("FOLDATLAS_URL") or DEFAULT_URL
        parts = urllib.parse.urlsplit(given)
        if parts.scheme not in ("http", "https") or not parts.netloc:
            raise ValueError("%r is no http(s) address." % given)
        base = given.rstrip("/")
        self.base = base[: -len("/graphql")] if base.endswith("/graphql") else base
        self.url = self.base + "/graphql"
        self.token = read_token(token if token is not None else os.environ.get("FOLDATLAS_TOKEN", ""))
        self.timeout = TIMEOUT_SECONDS if timeout is None else timeout
        self._opener = urllib.request.build_opener(_NoRedirect)
        #: Gets a sentence when the gateway is away and is waited for.
        self.say: Callable[[str], None] = lambda line: None

    def ask(self, document: str, variables: Mapping[str, Any], operation: Optional[str] = None) -> Answer:
        """Data and errors of one operation. It is sent once."""
        accept = "application/graphql-response+json, application/json"
        with self._post(document, variables, operation, accept, self.timeout) as response:
            limit = MAX_OWN_ANSWER_BYTES if document in SHAPES else MAX_ANSWER_BYTES
            data, errors = _read_answer(_read_body(response, limit), response.status)
        check_answer(document, data, not errors)
        return data, errors

    def read_patiently(self, document: str, variables: Mapping[str, Any]) -> Answer:
        """The same as `read`, which also waits for a gateway that is away."""
        patience = Patience(self.say)
        while True:
            try:
                return self.read(document, variables)
            except FoldAtlasError as error:
                patience.wait(error)

    def read(self, document: str, variables: Mapping[str, Any]) -> Answer:
        """The same for a query, asked again while it is refused as a whole and that may change."""
        for tries in range(1, MAX_TRIES + 1):
            try:
                data, errors = self.ask(document, variables)
            except FoldAtlasError as error:  # of a proxy
                if not error.retryable or isinstance(error, Unreachable) or tries == MAX_TRIES:
                    raise
                time.sleep(_pause([None]))
                continue
            is_empty = all(value is None for value in (data or {}).values())
            extensions = [error.get("extensions") or {} for error in errors]
            is_refused = is_empty and bool(errors) and all(one.get("retryable") is True for one in extensions)
            if not is_refused or tries == MAX_TRIES:
                return data, errors
            time.sleep(_pause([one.get("retryAfterSeconds") for one in extensions]))
        raise AssertionError("unreachable")

    def query(self, document: str, variables: Mapping[str, Any]) -> Dict[str, Any]:
        """Data of a query of which no part may fail. Raises FoldAtlasError."""
        data, errors = self.read(document, variables)
        if errors:
            raise FoldAtlasError.from_error(errors[0])
        return data or {}

    def subscribe(
        self, document: str, variables: Mapping[str, Any], operation: Optional[str] = None
    ) -> Iterator[Answer]:
        """The events of a subscription. Ends when the stream does, for whatever reason."""
        with self._post(document, variables, operation, "text/event-stream", STREAM_TIMEOUT_SECONDS) as response:
            if not response.headers.get("content-type", "").startswith("text/event-stream"):
                yield _read_answer(_read_body(response, MAX_REFUSAL_BYTES), response.status)
                return
            try:
                while True:
                    line = response.readline(MAX_EVENT_BYTES + 1)
                    if not line:
                        return
                    if len(line) > MAX_EVENT_BYTES:
                        raise UntrustedAnswer("an event has more than %d bytes." % MAX_EVENT_BYTES)
                    if line.startswith(b"data: {"):
                        data, errors = _read_answer(line[len(b"data: ") :], response.status)
                        check_answer(document, data, not errors)
                        yield data, errors
            except (OSError, http.client.HTTPException) as error:
                raise Unreachable("The stream broke off: %s" % error) from error

    def save(self, path: str, file: str) -> None:
        """Downloads a file of the gateway, such as /tasks/{id}/result.json, whole or not at all."""
        part = part_name(file)
        expected_type = _FILE_TYPES.get(path.partition("?")[0].rpartition(".")[2])
        try:
            with self._open(self.base + path, None, {}, self.timeout) as response:
                self._check_file(response, expected_type)
                with create_file(part) as out:
                    for chunk in read_chunks(response, MAX_FILE_BYTES):
                        out.write(chunk)
                    expected = response.headers.get("content-length")
                    if expected is not None and str(out.tell()) != expected.strip():
                        raise Unreachable("The download broke off after %d of %.20s bytes." % (out.tell(), expected))
            os.replace(part, file)
        except urllib.error.HTTPError as refused:
            with refused:
                raise _refusal(_read_body(refused, MAX_REFUSAL_BYTES), refused.code) from None
        except (http.client.HTTPException, ConnectionError, socket.timeout) as error:
            raise Unreachable("The download broke off: %s" % error) from error
        finally:
            if os.path.lexists(part):
                os.remove(part)

    @staticmethod
    def _check_file(response: Any, expected_type: Optional[str]) -> None:
        seen = (response.headers.get("content-type") or "").partition(";")[0].strip().lower()
        if response.status != 200:
            raise Unreachable("The address answered HTTP %d, and no file." % response.status)
        if expected_type is not None and seen != expected_type:
            raise UntrustedAnswer("%s is expected, and %.60s came." % (expected_type, seen or "no media type"))
        if (response.headers.get("content-encoding") or "identity").strip().lower() != "identity":
            raise UntrustedAnswer("it is compressed, which was not asked for.")

    def _post(
        self,
        document: str,
        variables: Mapping[str, Any],
        operation: Optional[str],
        accept: str,
        timeout: float,
    ) -> Any:
        body: Dict[str, Any] = {"query": document, "variables": dict(variables)}
        if operation is not None:
            body["operationName"] = operation
        headers = {"content-type": "application/json", "accept": accept}
        try:
            return self._open(self.url, json.dumps(body).encode(), headers, timeout)
        except urllib.error.HTTPError as refused:  # an answer of GraphQL, too
            return refused

    def _open(self, url: str, body: Optional[bytes], headers: Mapping[str, str], timeout: float) -> Any:
        request = urllib.request.Request(url, body, dict(headers))
        if self.token:
            request.add_unredirected_header("authorization", "Bearer " + self.token)
        try:
            return self._opener.open(request, timeout=timeout)
        except urllib.error.HTTPError:
            raise
        except (OSError, http.client.HTTPException, UnicodeError) as error:
            reason = getattr(error, "reason", error)
            is_sent = not isinstance(reason, _NOT_SENT)
            raise Unreachable("%s cannot be reached: %s" % (self.base, reason), is_sent) from error


def read_token(text: str) -> Optional[str]:
    """A token as it can stand in a header; None for an empty one. Never quotes it."""
    token = text.strip()
    if not token:
        return None
    if not all("!" <= char <= "~" for char in token):
        raise ValueError("A token is one word of ASCII letters, digits and signs.")
    return token


def _pause(seconds: List[Any]) -> float:
    asked = [float(one) if isinstance(one, (int, float)) and one >= 0 else DEFAULT_PAUSE_SECONDS for one in seconds]
    return min(max(asked), MAX_PAUSE_SECONDS)


def part_name(file: str) -> str:
    """Where a file is written before it is whole: beside it, under a name that is short enough everywhere."""
    folder, name = os.path.split(file)
    digest = hashlib.sha256(name.encode("utf-8", "surrogatepass")).hexdigest()
    return os.path.join(folder, ".%s.part" % digest[:16])


def _read_body(response: Any, limit: int) -> bytes:
    try:
        body = b"".join(read_chunks(response, limit))
        expected = response.headers.get("content-length")
        if expected is not None and str(len(body)) != expected.strip():
            raise Unreachable("The answer broke off after %d of %.20s bytes." % (len(body), expected))
        return body
    except (OSError, http.client.HTTPException) as error:
        raise Unreachable("The answer broke off: %s" % error) from error


def _read_answer(body: bytes, status: int) -> Answer:
    try:
        answer = json.loads(body)
    except (ValueError, RecursionError):
        answer = None
    if isinstance(answer, dict) and ("data" in answer or "errors" in answer):
        data, errors = answer.get("data"), answer.get("errors") or []
        if not isinstance(data, (dict, type(None))) or not _are_errors(errors):
            raise UntrustedAnswer("it is no answer of GraphQL.")
        return data, errors
    if status >= 400:
        raise _refusal(body, status)
    raise Unreachable("The address answered HTTP %d, and no GraphQL." % status)


def _are_errors(errors: Any) -> bool:
    """Whether errors have the shape that GraphQL gives them."""
    return isinstance(errors, list) and all(
        isinstance(one, dict)
        and isinstance(one.get("message"), str)
        and isinstance(one.get("path") or [], list)
        and isinstance(one.get("extensions") or {}, dict)
        for one in errors
    )


def _refusal(body: bytes, status: int) -> FoldAtlasError:
    """The error of a file that is refused, or of a proxy: one sentence, or an answer of GraphQL."""
    try:
        errors = json.loads(body)["errors"]
        if not errors or not _are_errors(errors):
            raise ValueError
        return FoldAtlasError.from_error(errors[0])
    except (ValueError, KeyError, TypeError, RecursionError):
        text = plain_text(body.decode("utf-8", "replace")[:300]).strip()
        extensions = {"code": "HTTP_%d" % status, "retryable": status in (429, 502, 503, 504)}
        return FoldAtlasError(text or "HTTP %d" % status, extensions)
