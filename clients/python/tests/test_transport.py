"""The client before a gateway that is busy, breaks off, or is none. The server here sends what each test tells it."""

import contextlib
import io
import itertools
import json
import os
import pkgutil
import subprocess
import sys
import tempfile
import threading
import unittest
from unittest.mock import patch

from foldatlas import FoldAtlas, FoldAtlasError, InputError, Refusal, Unreachable, chain
from foldatlas.cli import main
from foldatlas.journal import Journal
from foldatlas.submission import make_submission

from .servers import Server, answer, error, events, pages, progress, task


class OverServer(unittest.TestCase):
    def setUp(self):
        self.server = Server()
        threading.Thread(target=self.server.serve_forever, daemon=True).start()
        self.addCleanup(self.server.server_close)
        self.addCleanup(self.server.shutdown)
        self.atlas = FoldAtlas("http://127.0.0.1:%d/graphql" % self.server.server_port, "secret")
        sleeping = patch("time.sleep")
        self.sleep = sleeping.start()
        self.addCleanup(sleeping.stop)


class Faults(OverServer):
    def test_a_read_that_is_refused_for_now_is_sent_again_after_the_pause_it_asks_for(self):
        busy = {"errors": [error("RATE_LIMITED", retryable=True, retryAfterSeconds=7)]}
        found = {"data": {"features": {"nodes": [], "pageInfo": {"hasNextPage": False, "endCursor": None}}}}
        self.server.answers = [answer(busy, 429), answer(busy), answer(found)]
        self.assertEqual(self.atlas.features("zinc"), [])
        self.assertEqual([call.args[0] for call in self.sleep.call_args_list], [7, 7])

    def test_a_submission_is_sent_once(self):
        item = {"chains": [{"protein": {"sequence": "GIV"}}]}
        checked = answer({"data": {"checkFold": CHECKED}})
        self.server.answers = [checked, answer({"errors": [error("RATE_LIMITED", retryable=True)]}, 429)]
        with self.assertRaises(FoldAtlasError) as caught:
            self.atlas.submit([item])
        self.assertTrue(caught.exception.retryable)
        unknown = {"__typename": "OutcomeUnknown", "message": "It broke.", "hint": None}
        self.server.answers = [checked, answer({"data": {"submitFold": unknown}})]
        with self.assertRaisesRegex(Refusal, "paid twice") as refused:
            self.atlas.submit([item])
        self.assertEqual(refused.exception.kind, "OutcomeUnknown")
        self.assertEqual(len(self.server.requests), 4)
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
            with self.assertRaisesRegex(InputError, "not known. Run that one again"):
                Journal.open(folder).submit(self.atlas, {"items": [], "idempotencyKey": "k2"})
            self.assertEqual(Journal.open(folder).submit(self.atlas, submission)["batch_ids"], ["b1"])
            # Known now: nothing more is sent.
            self.assertEqual(Journal.open(folder).submit(self.atlas, submission)["batch_ids"], ["b1"])
            self.assertEqual(len(self.server.requests), 2)

    def test_what_others_wrote_controls_no_terminal_and_begins_no_line(self):
        evil = "a\x1b[2Jb\x1b]0;title\x07\u202ec\r\nSubmitted before\x9b31m"
        item = {"__typename": "Refused", "message": evil, "hint": evil, "reason": "CREDITS"}
        self.server.answers = [answer({"data": {"checkFold": CHECKED}}), answer({"data": {"submitFold": item}, "errors": [{"message": evil, "path": [evil]}]})]
        said = io.StringIO()
        with tempfile.NamedTemporaryFile("w", suffix=".fasta") as file, contextlib.redirect_stderr(said):
            file.write(">x\nMQIFVK\n")
            file.flush()
            code = main(["fold", file.name, "--url", self.atlas.transport.url])
        self.assertEqual(code, 2)
        self.assertIn("ab", said.getvalue())
        self.assertNotRegex(said.getvalue(), "(?m)^Submitted before")
        self.assertNotRegex(said.getvalue(), "[\x00-\x09\x0b-\x1f\x7f-\x9f\u202a-\u202e]")

    def test_files_and_pipes_get_utf_8_whatever_the_code_page_is(self):
        self.server.answers = [answer({"data": {"label": "β-strand – 龍"}})]
        words = [sys.executable, "-m", "foldatlas", "query", "-", "--url", self.atlas.transport.url]
        env = {**os.environ, "PYTHONPATH": os.path.join(os.path.dirname(__file__), "..", "src"), "PYTHONUTF8": "0", "PYTHONIOENCODING": "cp1252"}
        ran = subprocess.run(words, input=b"{ label }", env=env, capture_output=True, check=True)
        self.assertIn("β-strand – 龍", ran.stdout.decode("utf-8"))

    def test_a_query_keeps_the_data_beside_its_errors(self):
        data = {"a": {"name": "Insulin"}, "b": None}
        wrong = {"message": "It is none.", "path": ["b"], "extensions": {"code": "BAD_USER_INPUT"}}
        self.server.answers = [answer({"data": data, "errors": [wrong, {**wrong, "message": "Nor this."}]})]
        with self.assertRaisesRegex(FoldAtlasError, "It is none") as caught:
            self.atlas.query("{ a b }")
        self.assertEqual((caught.exception.data, caught.exception.code), (data, "BAD_USER_INPUT"))
        self.assertEqual([one["message"] for one in caught.exception.errors], ["It is none.", "Nor this."])
        self.server.answers = [answer({"errors": [wrong]}, 400)]
        with self.assertRaises(FoldAtlasError) as caught:
            self.atlas.query("{ a b }")
        self.assertIsNone(caught.exception.data)

    def test_one_text_is_one_identifier(self):
        row = {"requested": "P01308", "status": "NO_SUCH_ENTRY", "problem": None, "protein": None}
        self.server.answers = [answer({"data": {"lookup": [row]}}), answer({"data": {"proteins": [None]}})]
        self.assertEqual(len(self.atlas.lookup("P01308")), 1)
        self.assertEqual(len(self.atlas.proteins("0" * 32)), 1)
        self.assertEqual([list(json.loads(body)["variables"].values()) for _, _, body in self.server.requests], [[["P01308"]], [["0" * 32]]])

    def test_a_token_is_never_quoted(self):
        with self.assertRaises(ValueError) as caught:
            FoldAtlas("http://127.0.0.1:1", "sec ret\n")
        self.assertNotIn("sec", str(caught.exception))


class Away(OverServer):
    """The gateway is away: `clock` passes by what is slept."""

    def setUp(self):
        super().setUp()
        self.clock = 0.0
        self.sleep.side_effect = self.pass_time
        clock = patch("time.monotonic", lambda: self.clock)
        clock.start()
        self.addCleanup(clock.stop)
        self.said = []
        self.atlas.transport.say = self.said.append

    def pass_time(self, seconds):
        self.clock += seconds

    def test_results_wait_four_minutes_for_a_gateway_that_is_away(self):
        away = FoldAtlas("http://127.0.0.1:1")
        with tempfile.TemporaryDirectory() as folder, self.assertRaises(Unreachable):
            next(away.results("b1", folder))
        self.assertTrue(240 <= self.clock < 260, self.clock)
        with self.assertRaises(Unreachable):
            away.lookup(["P01308"])
        with self.assertRaises(Unreachable):
            away.tasks("b1")
        self.assertLess(self.clock, 260)

    def test_results_go_on_when_the_gateway_comes_back(self):
        gone = answer(b"", 502)
        cif, tsv = (answer(b"x", content_type=kind) for kind in ("chemical/x-mmcif", "text/tab-separated-values"))
        self.server.answers = [
            *(gone, gone, answer(pages([task("b1-00000", "QUEUED", "a")]))),
            *(gone, events(progress(False, 0), is_whole=False), gone, events(progress(True, 1))),
            *(gone, answer(pages([task("b1-00000", "DONE", "a")]))),
            *(gone, answer({}), answer(b"", 503), cif, gone, tsv),
        ]
        with tempfile.TemporaryDirectory() as folder:
            last = list(self.atlas.results("b1", folder))[-1]
            self.assertEqual((last["saved"], last["missing"]), (1, []))
            self.assertEqual(sorted(os.listdir(folder)), ["a.cif", "a.json", "foldatlas.json", "scores.tsv"])
        self.assertIn("Waiting for it, up to 4 minutes", self.said[0])

    def test_files_do_not_wait_four_minutes_each(self):
        tasks = [task("b1-%05d" % index, "DONE", "t%d" % index, index) for index in range(40)]
        self.server.answers = [answer(pages(tasks)), events(progress(True, 1)), answer(pages(tasks))]
        self.server.respond_always = answer(b"", 502)
        with tempfile.TemporaryDirectory() as folder:
            last = list(self.atlas.results("b1", folder))[-1]
        self.assertEqual(len(last["missing"]), 41)
        self.assertLess(self.clock, 400)

    def test_an_answer_that_will_not_change_is_told_at_once(self):
        self.server.answers = [answer({"data": {"batch": None}})]
        with tempfile.TemporaryDirectory() as folder, self.assertRaisesRegex(FoldAtlasError, "There is no batch"):
            next(self.atlas.results("b1", folder))
        self.assertEqual(self.clock, 0)


class Killed(BaseException):
    """The process ends here."""


CHECKED = {"ok": True, "issues": [], "warnings": [], "taskCount": 1, "totalLength": 3}


class Gateway:
    """Keys and what was paid for them, as a gateway with its ledger has them."""

    def __init__(self):
        self.paid = {}
        self.dies_after_paying = False

    def submit(self, handler):
        asked = json.loads(handler.body)
        submission = asked["variables"]["input"]
        if "checkFold" in asked["query"]:
            count = len(submission["items"])
            answer({"data": {"checkFold": {**CHECKED, "taskCount": count, "totalLength": 4 * count}}})(handler)
            return
        key, sequence = submission["idempotencyKey"], submission["items"][0]["chains"][0]["protein"]["sequence"]
        if not sequence.isalpha():
            issue = {"path": "items.0", "code": "BAD_LETTER", "message": "It is wrong.", "hint": None}
            ended = {"__typename": "InvalidInput", "message": "It cannot be used.", "hint": None, "issues": [issue]}
        else:
            is_replay = key in self.paid
            self.paid.setdefault(key, sequence)
            if self.dies_after_paying:
                self.dies_after_paying = False
                handler.wfile.close()
                return
            batch = {"batchId": "batch-%d" % list(self.paid).index(key)}
            ended = {"__typename": "FoldSubmitted", "replayed": is_replay, "warnings": [], "batch": batch}
        answer({"data": {"submitFold": ended}})(handler)


def submission_of(sequence):
    return make_submission([{"chains": [chain("protein", sequence)]}], {})


class Journals(OverServer):
    """What a folder says after each answer, and after an end at any moment."""

    def setUp(self):
        super().setUp()
        self.gateway = Gateway()
        self.server.respond_always = self.gateway.submit
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name

    def submit(self, sequence, atlas=None):
        return Journal.open(self.folder).submit(atlas or self.atlas, submission_of(sequence))["batch_ids"][0]

    def test_a_mended_input_follows_one_that_was_certainly_not_queued(self):
        refused = {"__typename": "Refused", "message": "No credits.", "hint": None, "reason": "CREDITS", "retryable": False, "retryAfterSeconds": None}
        for refuse in (
            self.gateway.submit,  # a digit in the sequence
            answer({"data": {"submitFold": refused}}),
            answer({"data": None, "errors": [error("BAD_USER_INPUT")]}, 400),
            answer({"data": None, "errors": [error("UNAUTHENTICATED")]}, 401),
            answer(b"<html>", 413, "text/html"),
        ):
            self.server.answers = [refuse]
            with self.assertRaises((InputError, FoldAtlasError)):
                self.submit("GIV1")
            self.assertEqual(os.listdir(self.folder), [])
        with self.assertRaises(Unreachable):
            self.submit("GIV1", FoldAtlas("http://127.0.0.1:1"))
        self.assertEqual(self.submit("GIVE"), "batch-0")

    def test_an_input_whose_outcome_is_unknown_stays(self):
        unknown = {"__typename": "OutcomeUnknown", "message": "It broke.", "hint": None}
        for number, broken in enumerate(
            (
                answer(b"", 502),
                answer(b"", 408),
                answer(b"{}", length=100),
                answer({"data": {"submitFold": unknown}}),
                answer({"data": None, "errors": [error("INTERNAL_SERVER_ERROR")]}, 500),
                answer({"data": {"submitFold": {"__typename": "FoldSubmitted", "batch": {"batchId": "../x"}}}}),
                lambda handler: handler.wfile.close(),
            )
        ):
            self.folder = os.path.join(self.folder, str(number))
            sequence = "GIV" + "E" * number
            self.server.answers = [broken]
            with self.assertRaises(FoldAtlasError):
                self.submit(sequence)
            sent = len(self.server.requests)
            with self.assertRaisesRegex(InputError, "whether it was queued is not known. Run that one again"):
                self.submit("MENDED")
            # This refusal is certain, but says nothing about the try before.
            self.server.answers = [answer({"data": None, "errors": [error("UNAUTHENTICATED")]}, 401)]
            with self.assertRaises(FoldAtlasError):
                self.submit(sequence)
            with self.assertRaisesRegex(InputError, "not known"):
                self.submit("MENDED")
            self.assertEqual(len(self.server.requests), sent + 1)
            self.assertEqual(self.submit(sequence), "batch-%d" % number)

    def test_whenever_it_is_killed_nothing_is_paid_twice(self):
        calls = ("os.replace", "os.fsync", "os.remove", "os.makedirs", "builtins.open", "urllib.request.OpenerDirector.open")
        ends = 0
        for name in calls:
            for moment in range(8):
                for is_after in (False, True):
                    with self.subTest(name, moment=moment, is_after=is_after), tempfile.TemporaryDirectory() as folder:
                        self.folder = os.path.join(folder, "out")
                        self.gateway.paid.clear()
                        ends += self.is_killed(name, moment, is_after)
                        self.assertEqual(self.submit("GIVE"), "batch-0")
                        self.assertEqual(self.submit("GIVE"), "batch-0")
                        self.assertEqual(list(self.gateway.paid.values()), ["GIVE"])
                        self.assertEqual(os.listdir(self.folder), ["foldatlas.json"])
        self.assertGreater(ends, 12)

    def is_killed(self, name, moment, is_after):
        """Runs a submission that ends at the nth call of a function, before or after what it does."""
        owner, _, attribute = name.rpartition(".")
        owner = pkgutil.resolve_name(owner)
        original, count = getattr(owner, attribute), itertools.count()

        def call(*given, **named):
            is_moment = next(count) == moment
            if is_moment and not is_after:
                raise Killed
            result = original(*given, **named)
            if is_moment:
                raise Killed
            return result

        with patch.object(owner, attribute, call):
            try:
                self.submit("GIVE")
            except Killed:
                return True
        return False

    def test_a_process_that_is_killed_while_it_waits_for_the_answer_goes_on_with_the_same_key(self):
        is_paid, is_over = threading.Event(), threading.Event()
        self.addCleanup(is_over.set)

        def pay_and_hang(handler):
            submission = json.loads(handler.body)["variables"]["input"]
            self.gateway.paid[submission["idempotencyKey"]] = "GIVE"
            is_paid.set()
            is_over.wait()

        self.server.answers = [pay_and_hang]
        with open(os.path.join(self.folder, "in.fasta"), "w", encoding="utf-8") as file:
            file.write(">a\nGIVE\n")
        source = os.path.join(os.path.dirname(__file__), "..", "src")
        words = [sys.executable, "-m", "foldatlas", "fold", "in.fasta", "--out", "out", "--url", self.atlas.transport.url]
        run = {"cwd": self.folder, "env": {**os.environ, "PYTHONPATH": os.path.abspath(source)}, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
        with subprocess.Popen(words, **run) as process:
            is_paid.wait()
            process.kill()
        with open(os.path.join(self.folder, "mended.fasta"), "w", encoding="utf-8") as file:
            file.write(">a\nGIVEE\n")
        mended = subprocess.run([*words[:4], "mended.fasta", *words[5:]], **run, check=False)
        self.assertEqual(mended.returncode, 65, mended.stderr)
        again = subprocess.run(words, **run, check=False)
        self.assertEqual((again.returncode, again.stdout), (0, b"batch-0\n"), again.stderr)
        self.assertEqual(len(self.gateway.paid), 1)

    def test_a_gateway_that_dies_after_paying_is_asked_for_the_same_key(self):
        self.gateway.dies_after_paying = True
        with self.assertRaises(Unreachable):
            self.submit("GIVE")
        self.assertEqual(self.submit("GIVE"), "batch-0")
        self.assertEqual(len(self.gateway.paid), 1)

    def test_a_journal_that_is_none_is_a_sentence(self):
        for text in ("", "[]", "1", "null", '"x"', '{"batches": 1}', '{"batches": ["../x"]}', '{"batches": [1]}', '{"submission": []}', '{"submission": {}}', "{" * 5000, '{"submission": {"idempotencyKey": 1}}', '{"submission": {"idempotencyKey": "k", "items": 1}}'):
            with open(os.path.join(self.folder, "foldatlas.json"), "w", encoding="utf-8") as file:
                file.write(text)
            with self.subTest(text[:20]), self.assertRaisesRegex(InputError, "cannot be read"):
                self.submit("GIVE")


if __name__ == "__main__":
    unittest.main()
