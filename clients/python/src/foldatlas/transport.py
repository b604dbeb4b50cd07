"""Sends documents to the gateway over HTTP and reads answers, event streams and files."""

from __future__ import annotations

import http.client
import json
import os
import time
import urllib.error
import urllib.parse
import urllib.request
from typing import Any, Dict, Iterator, List, Mapping, Optional, Tuple

from .errors import FoldAtlasError, Unreachable

DEFAULT_URL = "http://127.0.0.1:4000/graphql"
#: How often a read is sent while the gateway or the service refuses it for now.
MAX_TRIES = 5
DEFAULT_PAUSE_SECONDS = 5.0
MAX_PAUSE_SECONDS = 60.0
#: The gateway sends a sign of life every 12 seconds.
STREAM_TIMEOUT_SECONDS = 60.0
FILE_CHUNK_BYTES = 256 * 1024
#: Files that are downloaded at the same time.
DOWNLOADS_AT_ONCE = 4

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

    def __init__(self, url: Optional[str] = None, token: Optional[str] = None, timeout: float = 120.0) -> None:
        given = url or os.environ.get("FOLDATLAS_URL") or DEFAULT_URL
        parts = urllib.parse.urlsplit(given)
        if parts.scheme not in ("http", "https") or not parts.netloc:
            raise ValueError("%r is no http(s) address." % given)
        base = given.rstrip("/")
        self.base = base[: -len("/graphql")] if base.endswith("/graphql") else base
        self.url = self.base + "/graphql"
        self.token = read_token(token if token is not None else os.environ.get("FOLDATLAS_TOKEN", ""))
        self.timeout = timeout
        self._opener = urllib.request.build_opener(_NoRedirect)

    def ask(self, document: str, variables: Mapping[str, Any], operation: Optional[str] = None) -> Answer:
        """Data and errors of one operation. It is sent once."""
        accept = "application/graphql-response+json, application/json"
        with self._post(document, variables, operation, accept, self.timeout) as response:
            return _read_answer(response.read(), response.status)

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
                yield _read_answer(response.read(), response.status)
                return
            try:
                for line in response:
                    if line.startswith(b"data: {"):
                        answer = json.loads(line[len(b"data: ") :])
                        yield answer.get("data"), answer.get("errors") or []
            except (OSError, http.client.HTTPException) as error:
                raise Unreachable("The stream broke off: %s" % error) from error

    def save(self, path: str, file: str) -> None:
        """Downloads a file of the gateway, such as /tasks/{id}/result.json, whole or not at all."""
        part = file + ".part"
        try:
            with self._open(self.base + path, None, {}, self.timeout) as response, open(part, "wb") as out:
                while True:
                    chunk = response.read(FILE_CHUNK_BYTES)
                    if not chunk:
                        break
                    out.write(chunk)
                expected = response.headers.get("content-length")
                if expected is not None and out.tell() != int(expected):
                    raise Unreachable("The download broke off after %d of %s bytes." % (out.tell(), expected))
            os.replace(part, file)
        except urllib.error.HTTPError as refused:
            raise _refusal(refused.read(), refused.code) from None
        except http.client.HTTPException as error:
            raise Unreachable("The download broke off: %s" % error) from error
        finally:
            if os.path.exists(part):
                os.remove(part)

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
        except (OSError, http.client.HTTPException) as error:
            reason = getattr(error, "reason", error)
            raise Unreachable("%s cannot be reached: %s" % (self.base, reason)) from error


def read_token(text: str) -> Optional[str]:
    """A token as it can stand in a header; None for an empty one. Never quotes it."""
    token = text.strip()
    if not token:
        return None
    if not all("!" <= char <= "~" for char in token):
        raise ValueError("A token is one word of ASCII letters, digits and signs.")
    return token


def _pause(seconds: List[Optional[float]]) -> float:
    asked = [DEFAULT_PAUSE_SECONDS if one is None else float(one) for one in seconds]
    return min(max(asked), MAX_PAUSE_SECONDS)


def _read_answer(body: bytes, status: int) -> Answer:
    try:
        answer = json.loads(body)
    except ValueError:
        answer = None
    if isinstance(answer, dict) and ("data" in answer or "errors" in answer):
        return answer.get("data"), answer.get("errors") or []
    if status >= 400:
        raise _refusal(body, status)
    raise Unreachable("The address answered HTTP %d, and no GraphQL." % status)


def _refusal(body: bytes, status: int) -> FoldAtlasError:
    """The error of a file that is refused, or of a proxy: one sentence, or an answer of GraphQL."""
    try:
        return FoldAtlasError.from_error(json.loads(body)["errors"][0])
    except (ValueError, KeyError, IndexError, TypeError):
        text = body.decode("utf-8", "replace").strip()[:300]
        extensions = {"code": "HTTP_%d" % status, "retryable": status in (429, 502, 503, 504)}
        return FoldAtlasError(text or "HTTP %d" % status, extensions)
