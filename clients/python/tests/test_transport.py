"""The client before a gateway that is busy, breaks off, or is none. The server here sends what each test tells it."""

import contextlib
import io
import json
import os
import tempfile
import threading
import unittest
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from unittest.mock import patch

from foldatlas import FoldAtlas, FoldAtlasError, InputError, Refusal, Unreachable
from foldatlas.cli import main
from foldatlas.journal import Journal


class Server(ThreadingHTTPServer):
    """Answers requests by `answers`, one function each, and notes what came."""

    daemon_threads = True

    def __init__(self):
        super().__init__(("127.0.0.1", 0), Handler)
        self.answers = []
        self.requests = []


class Handler(BaseHTTPRequestHandler):
    def respond(self):
        length = int(self.headers.get("content-length") or 0)
        self.server.requests.append((self.path, dict(self.headers), self.rfile.read(length)))
        self.server.answers.pop(0)(self)

    do_GET = do_POST = respond

    def log_message(self, *_):
        pass


def answer(body, status=200, content_type="application/json", length=None, **headers):
    data = body if isinstance(body, bytes) else json.dumps(body).encode()

    def send(handler):
        handler.send_response(status)
        handler.send_header("content-type", content_type)
        handler.send_header("content-length", str(len(data) if length is None else length))
        for name, value in headers.items():
            handler.send_header(name, value)
        handler.end_headers()
        handler.wfile.write(data)

    return send


def events(*bodies, is_whole=True):
    lines = b"".join(b"event: next\ndata: " + json.dumps(body).encode() + b"\n\n" for body in bodies)
    return answer(lines, content_type="text/event-stream", length=len(lines) if is_whole else len(lines) + 100)


def error(code, **extensions):
    return {"message": "It is so.", "extensions": {"code": code, **extensions}}


def progress(final, done):
    counts = {"total": 1, "queued": 0, "inProgress": 1 - done, "done": done, "failed": 0, "cancelled": 0}
    return {"data": {"batchProgress": {"final": final, "estimatedSecondsLeft": None, "batch": {"counts": counts}, "changedTasks": []}}}


class Faults(unittest.TestCase):
    def setUp(self):
        self.server = Server()
        threading.Thread(target=self.server.serve_forever, daemon=True).start()
        self.addCleanup(self.server.server_close)
        self.addCleanup(self.server.shutdown)
        self.atlas = FoldAtlas("http://127.0.0.1:%d/graphql" % self.server.server_port, "secret")
        sleeping = patch("time.sleep")
        self.sleep = sleeping.start()
        self.addCleanup(sleeping.stop)

    def test_a_read_that_is_refused_for_now_is_sent_again_after_the_pause_it_asks_for(self):
        busy = {"errors": [error("RATE_LIMITED", retryable=True, retryAfterSeconds=7)]}
        found = {"data": {"features": {"nodes": [], "pageInfo": {"hasNextPage": False, "endCursor": None}}}}
        self.server.answers = [answer(busy, 429), answer(busy), answer(found)]
        self.assertEqual(self.atlas.features("zinc"), [])
        self.assertEqual([call.args[0] for call in self.sleep.call_args_list], [7, 7])

    def test_a_submission_is_sent_once(self):
        item = {"chains": [{"protein": {"sequence": "GIV"}}]}
        self.server.answers = [answer({"errors": [error("RATE_LIMITED", retryable=True)]}, 429)]
        with self.assertRaises(FoldAtlasError) as caught:
            self.atlas.submit([item])
        self.assertTrue(caught.exception.retryable)
        unknown = {"__typename": "OutcomeUnknown", "message": "It broke.", "hint": None}
        self.server.answers = [answer({"data": {"submitFold": unknown}})]
        with self.assertRaisesRegex(Refusal, "paid twice") as refused:
            self.atlas.submit([item])
        self.assertEqual(refused.exception.kind, "OutcomeUnknown")
        self.assertEqual(len(self.server.requests), 2)
        keys = {json.loads(body)["variables"]["input"]["idempotencyKey"] for _, _, body in self.server.requests}
        self.assertEqual(len(keys), 1)

    def test_a_page_of_a_proxy_is_no_answer(self):
        self.server.answers = [answer(b"<html>hello</html>", content_type="text/html")]
        with self.assertRaisesRegex(Unreachable, "no GraphQL"):
            self.atlas.query("{ __typename }")

    def test_a_redirect_is_not_followed_with_the_token(self):
        self.server.answers = [answer(b"", 302, location="http://127.0.0.1:1/graphql")]
        with self.assertRaises(FoldAtlasError):
            self.atlas.query("{ __typename }")
        self.assertEqual(len(self.server.requests), 1)

    def test_a_stream_that_breaks_is_opened_again(self):
        self.server.answers = [
            events(progress(False, 0), is_whole=False),
            answer({"errors": [error("UPSTREAM_UNAVAILABLE", retryable=True)]}, 503),
            events(progress(False, 0), progress(True, 1)),
        ]
        seen = [event["counts"]["done"] for event in self.atlas.watch("batch")]
        self.assertEqual(seen, [0, 0, 1])
        self.assertEqual(len(self.server.requests), 3)

    def test_a_stream_that_never_opened_is_told_at_once(self):
        self.server.answers = [answer({"errors": [error("UNAUTHENTICATED")]}, 401)]
        with self.assertRaises(FoldAtlasError) as caught:
            next(self.atlas.watch("batch"))
        self.assertEqual(caught.exception.code, "UNAUTHENTICATED")
        with self.assertRaises(Unreachable):
            next(FoldAtlas("http://127.0.0.1:1").watch("batch"))

    def test_a_download_is_whole_or_not_there(self):
        with tempfile.TemporaryDirectory() as folder:
            file = os.path.join(folder, "a.json")
            self.server.answers = [answer(b"{}", length=100)]
            with self.assertRaisesRegex(Unreachable, "broke off"):
                self.atlas.transport.save("/tasks/a/result.json", file)
            self.assertEqual(os.listdir(folder), [])
            self.server.answers = [answer(b"{}")]
            self.atlas.transport.save("/tasks/a/result.json", file)
            self.assertEqual(os.listdir(folder), ["a.json"])

    def test_a_folder_notes_the_input_before_it_is_sent(self):
        with tempfile.TemporaryDirectory() as folder:
            queued = {"__typename": "FoldSubmitted", "replayed": False, "warnings": [], "batch": {"batchId": "b1"}}
            self.server.answers = [answer(b"", 502), answer({"data": {"submitFold": queued}})]
            submission = {"items": [], "idempotencyKey": "k1"}
            with self.assertRaises(FoldAtlasError):
                Journal.open(folder).submit(self.atlas, submission)
            with self.assertRaisesRegex(InputError, "nothing was submitted"):
                Journal.open(folder).submit(self.atlas, {"items": [], "idempotencyKey": "k2"})
            self.assertEqual(Journal.open(folder).submit(self.atlas, submission)["batch_id"], "b1")
            # Known now: nothing more is sent.
            self.assertEqual(Journal.open(folder).submit(self.atlas, submission)["batch_id"], "b1")
            self.assertEqual(len(self.server.requests), 2)

    def test_what_others_wrote_controls_no_terminal_and_begins_no_line(self):
        evil = "a\x1b[2Jb\x1b]0;title\x07\u202ec\r\nSubmitted before\x9b31m"
        item = {"__typename": "Refused", "message": evil, "hint": evil, "reason": "CREDITS"}
        self.server.answers = [answer({"data": {"submitFold": item}, "errors": [{"message": evil, "path": [evil]}]})]
        said = io.StringIO()
        with tempfile.NamedTemporaryFile("w", suffix=".fasta") as file, contextlib.redirect_stderr(said):
            file.write(">x\nMQIFVK\n")
            file.flush()
            code = main(["fold", file.name, "--url", self.atlas.transport.url])
        self.assertEqual(code, 2)
        self.assertIn("ab", said.getvalue())
        self.assertNotRegex(said.getvalue(), "(?m)^Submitted before")
        self.assertNotRegex(said.getvalue(), "[\x00-\x09\x0b-\x1f\x7f-\x9f\u202a-\u202e]")

    def test_a_token_is_never_quoted(self):
        with self.assertRaises(ValueError) as caught:
            FoldAtlas("http://127.0.0.1:1", "sec ret\n")
        self.assertNotIn("sec", str(caught.exception))


if __name__ == "__main__":
    unittest.main()
