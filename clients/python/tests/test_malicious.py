"""A gateway that lies, or whose service does. Nothing is written outside the folder, nothing grows without end, nothing reaches a terminal
that controls it, and whatever comes ends in a sentence."""

import contextlib
import gzip
import io
import json
import os
import tempfile
import threading
import unittest
from unittest.mock import patch

from foldatlas import FoldAtlas, FoldAtlasError, InputError, chain, documents
from foldatlas import trust
from foldatlas.answers import SHAPES
from foldatlas.cli import main
from foldatlas.saver import file_names

from .servers import Server, answer, error, events, pages, progress, task

ODD_NAMES = ["../../escaped", "/etc/passwd", "..", ".", "", "a/b", "a\\b", "C:\\x", "a:b", "CON", "nul.txt", "a\0b", "a" * 5000, "a.", "a ", "-rf"]
ODD_NAMES += ["\x1b[2J", "\u202egpj.exe", "caf\u00e9", "cafe\u0301", "foldatlas", "manifest", "COM\u00b9", "%2e%2e%2f", "~root", "$(id)", "\ud800"]
ODD_IDS = [*ODD_NAMES[:8], "a\0b", "a" * 201, "a ", "-rf", "\x1b[2J", "\u202ea", "caf\u00e9", "%2e%2e", "~", "$(id)", None, 1, True, [], {}]
ODD_HASHES = [*ODD_IDS, "0" * 31, "0" * 33, "g" * 32, "A" * 32, "\u0661" * 32]
WRONG = [None, True, 0, -1, 10**30, 1.5, "", "x", "\x1b[2J", [], [None], ["x"], {}, {"x": 1}, [[]]]

PROTEIN = {
    **{"hash": "0" * 32, "accession": "P01308", "source": "uniprotkb", "name": "Insulin", "organism": None, "gene": "INS", "length": 110},
    **{"ptm": 0.5, "plddt": {"mean": 80.5}},
    "cluster": {"representativeHash": "1" * 32, "name": "Insulins", "size": 2, "percentCharacterized": 50.0},
}
FEATURE = {"index": 3, "label": "helix"}
SHORT = {key: PROTEIN[key] for key in ("hash", "accession", "length", "ptm", "plddt")}
PAIR = {"a": "A", "b": "B", "ipsae": 0.5, "ipsaeMax": 0.6, "pDockQ": None, "pDockQ2": None, "lis": None, "meanPae": 1.0, "minPae": 0.5}
SCORES = {"iptm": 0.5, "ptm": 0.6, "meanPlddt": 80.0, "chainPairs": [PAIR]}
ISSUE = {"path": "items.0", "code": "BAD_LETTER", "message": "It is wrong.", "hint": None}
QUEUED = {"__typename": "FoldSubmitted", "replayed": False, "warnings": [ISSUE], "batch": {"batchId": "b1"}}
REFUSED = {"__typename": "Refused", "message": "No.", "hint": "Wait.", "reason": "CREDITS", "retryable": True, "retryAfterSeconds": 5}
PAGE = {"hasNextPage": False, "endCursor": None}
ITEMS = [{"chains": [chain("protein", "GIVE")]}]

COUNTS = {"total": 1, "queued": 0, "inProgress": 0, "done": 1, "failed": 0, "cancelled": 0}
CHECKED = {"checkFold": {"ok": True, "taskCount": 1, "totalLength": 4, "issues": [], "warnings": []}}
#: A right answer to each document, and what asks for it.
ANSWERS = {
    documents.LOOKUP: [
        ({"lookup": [{"requested": "P01308", "status": "FOUND", "problem": None, "protein": PROTEIN}]}, lambda atlas, _: atlas.lookup(["P01308"]).to_tsv())
    ],
    documents.PROTEINS: [
        (
            {"proteins": [{**PROTEIN, "sequence": "GIV", "features": [{"value": 1.5, "feature": FEATURE}]}]},
            lambda atlas, _: atlas.proteins(["0" * 32]).to_tsv(),
        )
    ],
    documents.SIMILAR: [
        (
            {"similarProteins": {"restrictedCount": 0, "warnings": [], "hits": [{"score": 0.9, "protein": SHORT, "cluster": PROTEIN["cluster"]}]}},
            lambda atlas, _: atlas.similar("GIV").to_tsv(),
        )
    ],
    documents.FEATURES: [
        ({"features": {"nodes": [{**FEATURE, "description": "d"}], "pageInfo": PAGE}}, lambda atlas, _: atlas.features("helix").to_tsv())
    ],
    documents.CHECK: [
        ({"checkFold": {"ok": True, "taskCount": 1, "totalLength": 4, "issues": [ISSUE], "warnings": []}}, lambda atlas, _: atlas.check(ITEMS))
    ],
    documents.SUBMIT: [
        ({"submitFold": QUEUED}, lambda atlas, _: atlas.send({"items": ITEMS})),
        ({"submitFold": REFUSED}, lambda atlas, _: atlas.send({"items": ITEMS})),
    ],
    documents.COUNTS: [({"batch": {"counts": COUNTS}}, lambda atlas, _: atlas._counts("b1", atlas.transport.read))],
    documents.BATCHES: [
        (
            {"myBatches": {"pageInfo": PAGE, "nodes": [{"batchId": "b1", "label": "a", "submittedAt": "2026-01-01T00:00:00Z", "status": "DONE", "counts": COUNTS}]}},
            lambda atlas, _: atlas.batches().to_tsv(),
        )
    ],
    documents.TASKS: [(pages([task("b1-00000", name="a")])["data"], lambda atlas, _: file_names(atlas.tasks("b1")))],
    documents.RANK: [
        (
            pages([{"taskId": "b1-00000", "name": "a", "repeatIndex": 0, "status": "DONE", "error": None, "scores": SCORES}])["data"],
            lambda atlas, _: atlas.rank("b1").to_tsv(),
        )
    ],
    documents.PLDDT: [({"task": {"result": {"plddt": {"values": [1.0, None]}}}}, lambda atlas, _: atlas.plddt("b1-00000"))],
    documents.PAE: [
        ({"task": {"result": {"pae": {"size": 1, "block": {"step": 1, "values": [[0.5]]}}}}}, lambda atlas, _: atlas.pae("b1-00000"))
    ],
    documents.WATCH: [
        (progress(True, 1, [{"taskId": "b1-00000", "name": "a", "status": "FAILED", "error": {"message": "x"}}])["data"], lambda atlas, _: list(atlas.watch("b1")))
    ],
}


def places(value, path=()):
    yield path
    children = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, child in children:
        yield from places(child, (*path, key))


def replaced(value, path, new):
    if not path:
        return new
    made = dict(value) if isinstance(value, dict) else list(value)
    made[path[0]] = replaced(value[path[0]], path[1:], new)
    return made


def without(value, path):
    made = dict(value)
    if len(path) == 1:
        del made[path[0]]
        return made
    return replaced(value, path[:-1], without(_at(value, path[:-1]), path[-1:]))


def _at(value, path):
    for key in path:
        value = value[key]
    return value


class Malicious(unittest.TestCase):
    def setUp(self):
        self.server = Server()
        threading.Thread(target=self.server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True).start()
        self.addCleanup(self.server.server_close)
        self.addCleanup(self.server.shutdown)
        self.atlas = FoldAtlas("http://127.0.0.1:%d/graphql" % self.server.server_port, "secret")
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        # A file written beside the folder is found below the one around it.
        self.around = folder.name
        self.folder = os.path.join(folder.name, "a", "b", "out")
        os.makedirs(self.folder)
        # A gateway that says nothing is not waited for.
        for waiting in (patch("time.sleep"), patch("foldatlas.trust.AWAY_SECONDS", 0)):
            waiting.start()
            self.addCleanup(waiting.stop)

    def written(self):
        return sorted(os.path.relpath(os.path.join(where, name), self.folder) for where, _, names in os.walk(self.around) for name in names)

    def assert_inside(self):
        for name in self.written():
            self.assertNotIn(os.sep, name)

    # Files

    def test_a_hash_that_is_none_is_no_file_name(self):
        for value in ODD_HASHES:
            row = {"requested": "P01308", "status": "FOUND", "problem": None, "protein": {**PROTEIN, "hash": value}}
            self.server.answers = [answer({"data": {"lookup": [row]}})]
            self.server.respond_always = answer(b"ATOM", content_type="chemical/x-pdb")
            with self.subTest(value), self.assertRaises(FoldAtlasError):
                self.atlas.structures(["P01308"], self.folder)
            self.assertEqual(self.written(), [])
        self.assertEqual(len(self.server.requests), len(ODD_HASHES))

    def test_an_id_that_is_none_is_no_file_name(self):
        for value in ODD_IDS:
            for answers in (
                [answer(pages([task(value)]))],
                [answer(pages([task("b1-00000", "QUEUED")])), events(progress(False, 0, [{"taskId": value, "name": None, "status": "DONE", "error": None}]))],
                [answer(pages([task("b1-00000", "QUEUED")])), events(progress(True, 0)), answer(pages([task(value)]))],
            ):
                self.server.answers = answers
                self.server.respond_always = answer(b"{}")
                with self.subTest(value), self.assertRaises(FoldAtlasError):
                    list(self.atlas.results("b1", self.folder))
                self.assertEqual(set(self.written()) - {"foldatlas.json"}, set())

    def test_a_task_that_the_first_list_had_not_gets_a_name_by_the_same_rule(self):
        late = task("b1-00001", name="../late", index=1)
        shown = {"taskId": "b1-00001", "name": "../late", "status": "DONE", "error": None}
        self.server.answers = [
            *(answer(pages([task("b1-00000", "FAILED", "a")])), events(progress(True, 1, [shown]))),
            *(answer(pages([task("b1-00000", "FAILED", "a"), late])), answer(b"{}"), answer(b"x", content_type="chemical/x-mmcif")),
            answer(b"x", content_type="text/tab-separated-values"),
        ]
        last = list(self.atlas.results("b1", self.folder))[-1]
        self.assertEqual(last["saved"], 1)
        self.assertEqual(self.written(), ["_late.cif", "_late.json", "foldatlas.json", "scores.tsv"])

    def test_names_of_items_are_plain_file_names_and_never_the_same_file(self):
        names = [*ODD_NAMES[:-1], "A", "a", "stra\u00dfe", "STRASSE", "\u017f", "S", "s", None]
        tasks = [task("b1-%05d" % index, "DONE", name, index) for index, name in enumerate(names)]
        self.server.answers = [answer(pages(tasks)), events(progress(True, 1)), answer(pages(tasks))]

        def send_file(handler):
            kinds = {"json": "application/json", "cif": "chemical/x-mmcif", "tsv": "text/tab-separated-values"}
            answer(handler.path.encode(), content_type=kinds[handler.path.rpartition(".")[2]])(handler)

        self.server.respond_always = send_file
        last = list(self.atlas.results("b1", self.folder))[-1]
        self.assertEqual((last["saved"], last["missing"]), (len(names), []))
        self.assert_inside()
        written = self.written()
        self.assertEqual(len(written), 2 * len(names) + 2)
        self.assertEqual(len({name.casefold() for name in written}), len(written))
        for name in written:
            self.assertRegex(name, r"^[^\x00-\x1f\x7f/\\:*?\"<>|. -][^\x00-\x1f\x7f/\\:*?\"<>| ]*$")
            self.assertNotRegex(name, r"(?i)^(con|prn|aux|nul|com[\d\u00b9\u00b2\u00b3]|lpt\d)\.")
            self.assertLess(len(name.encode()), 256)

    def test_links_in_the_way_are_replaced_and_not_followed(self):
        outside = os.path.join(self.around, "outside")
        with open(outside, "w", encoding="utf-8") as file:
            file.write("mine")
        from foldatlas.transport import part_name

        file = os.path.join(self.folder, "a.json")
        for link in (part_name(file), os.path.join(self.folder, "gone.json")):
            os.symlink(outside if link != file else outside + "-gone", link)
        os.symlink(os.path.join(self.around, "nothing"), file)
        self.server.answers = [answer(b"{}")]
        self.atlas.transport.save("/tasks/a/result.json", file)
        with open(outside, encoding="utf-8") as kept:
            self.assertEqual(kept.read(), "mine")
        self.assertFalse(os.path.islink(file))
        self.assertFalse(os.path.exists(os.path.join(self.around, "nothing")))

    def test_only_a_whole_file_of_the_right_kind_is_saved(self):
        file = os.path.join(self.folder, "a.json")
        for send in (
            answer(b"<html>", content_type="text/html"),
            answer(b"{}", content_type="chemical/x-mmcif"),
            answer(gzip.compress(b"0" * 10_000_000), Content_Encoding="gzip"),
            answer(b"{}", length=100),
            answer(b"", 204),
            answer(b"{}", 206),
            answer(b"", 302, location="file:///etc/passwd"),
            answer(b"", 307, location="http://127.0.0.1:1/steal"),
            answer(b"\xff" * 5_000_000, 500),
            answer({"errors": 7}, 500),
            answer({"errors": [{"message": {}}]}, 500),
        ):
            self.server.answers = [send]
            with self.assertRaises(FoldAtlasError) as caught:
                self.atlas.transport.save("/tasks/a/result.json", file)
            self.assertLess(len(str(caught.exception)), 500)
            self.assertEqual(self.written(), [])
        self.assertEqual(len(self.server.requests), 11)

    # Answers that never end

    def endless(self, content_type, part, first=b""):
        def send(handler):
            handler.send_response(200)
            handler.send_header("content-type", content_type)
            handler.end_headers()
            handler.wfile.write(first)
            while True:
                handler.wfile.write(part)

        return send

    def test_downloads_answers_and_events_without_end_are_cut_off(self):
        file = os.path.join(self.folder, "a.json")
        with patch("foldatlas.transport.MAX_FILE_BYTES", 3_000_000), patch("foldatlas.transport.MAX_EVENT_BYTES", 3_000_000):
            self.server.answers = [self.endless("application/json", b"0" * 65536)]
            with self.assertRaisesRegex(FoldAtlasError, "more than 3000000 bytes"):
                self.atlas.transport.save("/tasks/a/result.json", file)
            self.assertEqual(self.written(), [])
            self.server.answers = [self.endless("text/event-stream", b"0" * 65536, b"data: ")]
            with self.assertRaisesRegex(FoldAtlasError, "more than 3000000 bytes"):
                next(self.atlas.watch("b1"))
        for limit, ask in (("MAX_ANSWER_BYTES", lambda: self.atlas.query("{ a }")), ("MAX_OWN_ANSWER_BYTES", lambda: self.atlas.tasks("b1"))):
            self.server.answers = [self.endless("application/json", b" " * 65536)]
            with patch("foldatlas.transport." + limit, 3_000_000), self.assertRaisesRegex(FoldAtlasError, "more than 3000000 bytes"):
                ask()

    def test_a_body_in_drops_ends(self):
        now = [0.0]

        class Drops:
            headers = {}

            def read1(self, _):
                now[0] += 50
                return b"0"

        with patch("time.monotonic", lambda: now[0]), self.assertRaisesRegex(FoldAtlasError, "does not end"):
            for _ in trust.read_chunks(Drops(), 10**9):
                pass

    def test_pages_without_end_are_cut_off(self):
        count = iter(range(10**9))

        def fresh(size):
            return lambda handler: answer(pages([task("b1-%05d" % next(count)) for _ in range(size)], True, "c"))(handler)

        for send in (fresh(1000), fresh(1), fresh(0), answer(pages([task("b1-00000")], True, "c"))):
            self.server.requests.clear()
            self.server.respond_always = send
            with self.assertRaises(FoldAtlasError):
                self.atlas.tasks("b1")
            self.assertLess(len(self.server.requests), 2003)
        page = {"nodes": [], "pageInfo": {"hasNextPage": True, "endCursor": "c"}}
        self.server.respond_always = answer({"data": {"features": page}})
        with self.assertRaisesRegex(FoldAtlasError, "followed by another"):
            self.atlas.features("helix")
        for size, values in ((10**9, [[1.0]]), (0, []), (3, []), (3, [[1.0]] * 9)):
            block = {"step": 1, "values": values}
            self.server.respond_always = answer({"data": {"task": {"result": {"pae": {"size": size, "block": block}}}}})
            with self.subTest(size), self.assertRaises(FoldAtlasError):
                self.atlas.pae("b1-00000")

    def test_lists_of_other_lengths_than_asked_for_are_refused(self):
        for found in ([], [None, None], [None] * 1000):
            self.server.answers = [answer({"data": {"lookup": found}}), answer({"data": {"proteins": found}})]
            with self.assertRaises(FoldAtlasError):
                self.atlas.lookup(["P01308"])
            with self.assertRaises(FoldAtlasError):
                self.atlas.proteins(["0" * 32])

    # Shapes

    def test_answers_to_every_document_have_their_shapes(self):
        self.assertEqual(set(ANSWERS), set(SHAPES))
        tried = 0
        for document, cases in ANSWERS.items():
            for data, ask in cases:
                for path in places(data):
                    made = [replaced(data, path, value) for value in WRONG]
                    if path and isinstance(path[-1], str):
                        made.append(without(data, path))
                    for wrong in made:
                        tried += 1
                        self.server.answers = []
                        body = {"data": wrong}
                        self.server.respond_always = events(body) if document is documents.WATCH else answer(body)
                        with self.subTest(document[:20], path=path, wrong=wrong):
                            with contextlib.suppress(FoldAtlasError, InputError):
                                ask(self.atlas, None)
        self.assertGreater(tried, 2500)

    def test_errors_of_any_shape_are_a_sentence(self):
        good = error("X")
        for wrong in ([7], 7, "x", [None], [{}], [{"message": 7}], [{**good, "path": 7}], [{**good, "extensions": 7}], [[good]], {"0": good}):
            for status in (200, 400, 503):
                self.server.respond_always = answer({"data": None, "errors": wrong}, status)
                for ask in (self.atlas.tasks, self.atlas.query, lambda text: list(self.atlas.watch(text))):
                    with self.subTest(wrong, status=status), self.assertRaises(FoldAtlasError):
                        ask("b1")
        for extensions in ({"code": 7}, {"code": []}, {"retryAfterSeconds": "x", "retryable": True}, {"retryAfterSeconds": -5, "retryable": True}, {"retryAfterSeconds": 1e300, "retryable": True}):
            self.server.respond_always = answer({"data": None, "errors": [{"message": "x", "extensions": extensions}]})
            with self.subTest(extensions), self.assertRaises(FoldAtlasError):
                self.atlas.tasks("b1")
        for path in (["batch", "tasks", "nodes", 7], ["batch", "tasks", "nodes", "x"], ["batch", "tasks", "nodes", -1]):
            self.server.respond_always = answer({**pages([task("b1-00000")]), "errors": [{"message": "x", "path": path}]})
            with self.subTest(path), self.assertRaises(FoldAtlasError):
                self.atlas.tasks("b1")
        for body in (b"", b"[" * 100_000, b"null", b"7", b'"x"', b"[]", b"\xff\xfe", b'{"data": 7}', b'{"data": []}'):
            self.server.respond_always = answer(body)
            with self.subTest(body[:10]), self.assertRaises(FoldAtlasError):
                self.atlas.tasks("b1")

    # The terminal

    def test_nothing_that_is_printed_controls_a_terminal(self):
        evil = "a\x1b[2J\x1b]0;t\x07\u202eb\x9b31m\ud800\r\nOK"
        shown = {"taskId": "b1-00000", "name": evil, "status": "FAILED", "error": {"message": evil}}
        failed = {**task("b1-00000", "FAILED", evil), "error": {"message": evil}}
        row = {"requested": evil, "status": evil, "problem": {"message": evil}, "protein": {**PROTEIN, "name": evil}}
        queued = {**QUEUED, "warnings": [{**ISSUE, "path": evil, "message": evil, "hint": evil}]}
        wrong = {"message": evil, "path": [evil], "extensions": {"code": evil}}
        with open(os.path.join(self.folder, "in.fasta"), "w", encoding="utf-8") as file:
            file.write(">a\nGIV\n")
        for words, answers in (
            (["lookup", "-"], [answer({"data": {"lookup": [row]}})]),
            (["results", "b1", "--out", self.folder], [answer(pages([failed])), events(progress(True, 1, [shown])), answer(pages([failed])), answer({"errors": [wrong]}, 500)]),
            (["watch", "b1"], [events(progress(True, 1, [shown]))]),
            (["watch", "b1"], [answer({"errors": [wrong]})]),
            (["fold", os.path.join(self.folder, "in.fasta")], [answer({"data": CHECKED}), answer({"data": {"submitFold": queued}})]),
            (["check", os.path.join(self.folder, "in.fasta")], [answer({"data": {"checkFold": {**CHECKED["checkFold"], "ok": False, "issues": queued["warnings"], "warnings": queued["warnings"]}}})]),
            (["batches"], [answer({"data": {"myBatches": {"pageInfo": PAGE, "nodes": [{"batchId": "b1", "label": evil, "submittedAt": evil, "status": evil, "counts": None}]}}, "errors": [{**wrong, "path": ["myBatches", "nodes", 0]}]})]),
            (["rank", "b1"], [answer(pages([{**failed, "scores": None}]))]),
            (["query", os.path.join(self.folder, "in.fasta")], [answer({"data": {"x": evil}, "errors": [wrong]})]),
            (["query", os.path.join(self.folder, "in.fasta")], [answer(evil.encode("utf-8", "replace"), 500, "text/plain")]),
        ):
            self.server.answers = answers
            err, out = io.StringIO(), io.TextIOWrapper(io.BytesIO(), encoding="utf-8")
            out.isatty = lambda: True
            stdin = io.TextIOWrapper(io.BytesIO(b"P01308\n"))
            with self.subTest(words), contextlib.redirect_stderr(err), contextlib.redirect_stdout(out), patch("sys.stdin", stdin):
                code = main([*words, "--url", self.atlas.transport.url])
                out.flush()
                said = err.getvalue() + out.buffer.getvalue().decode()
                self.assertIn(code, (0, 1, 2, 65))
                self.assertNotRegex(said, "[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\ud800-\udfff]")
                self.assertNotRegex(said, "(?m)^OK")

    def test_the_token_goes_to_no_other_address(self):
        other = Server()
        threading.Thread(target=other.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True).start()
        self.addCleanup(other.server_close)
        self.addCleanup(other.shutdown)
        other.respond_always = answer({"data": {}})
        for status in (301, 302, 303, 307, 308):
            for location in ("http://127.0.0.1:%d/" % other.server_port, "file:///etc/passwd", "ftp://127.0.0.1/", "//127.0.0.1:%d" % other.server_port):
                self.server.answers = [answer(b"", status, location=location)] * 3
                for ask in (lambda: self.atlas.query("{ a }"), lambda: self.atlas.transport.save("/a.json", os.path.join(self.folder, "a.json")), lambda: next(self.atlas.watch("b1"))):
                    with self.subTest(status, location=location), self.assertRaises(FoldAtlasError):
                        ask()
        self.assertEqual((other.requests, self.written()), ([], []))


if __name__ == "__main__":
    unittest.main()
