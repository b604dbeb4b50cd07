"""Screens: files and folders as one input, several batches under one journal, and one ranking over them."""

import contextlib
import io
import itertools
import json
import os
import pkgutil
import tempfile
import threading
import unittest
from unittest.mock import patch

from foldatlas import AlreadySubmitted, FoldAtlas, FoldAtlasError, InputError, Refusal, chain, read_input
from foldatlas.cli import main
from foldatlas.journal import Journal
from foldatlas.parts import split_submission
from foldatlas.ranking import merge_rankings
from foldatlas.submission import make_submission

from .servers import Server, answer, events, pages, progress, task

BOLTZ = "sequences:\n  - protein: { id: A, sequence: GIV }\n"
CHAI = ">protein|name=A\nGIVEQ\n>protein|name=B\nFVN\n"
RESTRAINTS = "restraint_id,chainA,res_idxA,chainB,res_idxB,connection_type,confidence,min_distance_angstrom,max_distance_angstrom,comment\n"
ALPHAFOLD = {"name": "job", "modelSeeds": [1], "dialect": "alphafold3", "version": 2, "sequences": [{"protein": {"id": "A", "sequence": "GIV"}}]}
PAIRS = [{"a": "A", "b": "B", "ipsae": None, "ipsaeMax": None, "pDockQ": None, "pDockQ2": None, "lis": None, "meanPae": None, "minPae": None}]


class Folder(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name
        self.designs = os.path.join(folder.name, "designs")

    def write(self, name, text):
        path = os.path.join(self.designs, name)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)
        return path


class Files(Folder):
    #: Nothing listens there: it is not asked.
    atlas_of_none = FoldAtlas("http://127.0.0.1:9")

    def test_a_folder_is_one_screen_whose_items_are_named_by_their_files(self):
        self.write("d10.yaml", BOLTZ)
        self.write("d2.json", json.dumps(ALPHAFOLD))
        self.write("d3.fasta", ">from elsewhere\nGIV:FVN\n")
        self.write("many.fa", ">a\nGIV\n>\nGIV\n>many_b\nGIV\n")
        self.write("own.yml", "items: [{ name: x, chains: [{ protein: { sequence: GIV } }] }]\n")
        self.write(".hidden.yaml", "no")
        self.write("README.txt", "no")
        made = read_input(self.designs)
        self.assertEqual([item["name"] for item in made.items], ["d2", "d3", "d10", "many_a", "many_2", "many_b", "own"])
        self.assertEqual([os.path.basename(file) for file, _ in made.files], ["d2.json", "d3.fasta", "d10.yaml", "many.fa", "own.yml"])
        self.assertIn("%s: README.txt not read, by the ending or as a folder." % self.designs, made.warnings)
        listed = read_input([os.path.join(self.designs, "d10.yaml"), os.path.join(self.designs, "d2.json")])
        self.assertEqual([item["name"] for item in listed.items], ["d10", "d2"])

    def test_one_file_is_read_as_before(self):
        made = read_input(self.write("d.fasta", ">mine\nGIV\n"))
        self.assertEqual([item["name"] for item in made.items], ["mine"])
        self.assertEqual(read_input([made.files[0][0]]).items, made.items)

    def test_every_mistake_is_told_with_its_file(self):
        self.write("a.yaml", BOLTZ)
        bad = self.write("b.yaml", BOLTZ.replace("GIV", "017"))
        twice = self.write("A.fasta", ">x\nGIV\n")
        empty = self.write("c.json", "")
        self.write("e.csv", "name,sequence\n")
        scores = self.write("f_confidences.json", '{"ptm": 0.5}')
        broken = self.write("g.yaml", "sequences:\n\t- protein: {}\n")
        other = self.write("d.yaml", "repeat: 2\nitems: [{ chains: [{ protein: { sequence: GIV } }] }]\n")
        with self.assertRaises(InputError) as caught:
            read_input(self.designs)
        said = str(caught.exception)
        self.assertRegex(said, "^There are 7 mistakes")
        for file, sentence in ((bad, "sequences[0].protein.sequence: this must be a text"), (empty, "is empty"), (scores, "f_confidences holds no items."), (broken, "line 2, column 1: this cannot be read as YAML"), (other, "repeat must be the same")):
            self.assertEqual(said.count(file + ": "), 1, said)
            self.assertIn("%s: %s" % (file, sentence), said)
        self.assertIn("its results would have the names of those of", said)
        self.assertTrue(twice in said)

    def test_a_warning_that_many_files_share_is_told_once(self):
        for number in range(30):
            self.write("d%d.json" % number, json.dumps({**ALPHAFOLD, "name": "job %d" % number, "modelSeeds": [number]}))
        self.write("other.yaml", BOLTZ.replace("GIV", "GIV, msa: a.a3m"))
        warnings = read_input(self.designs).warnings
        first = os.path.join(self.designs, "d0.json")
        self.assertEqual([warning.split("; ")[0] for warning in warnings],
                         [first + " and 29 more: `modelSeeds` left out", os.path.join(self.designs, "other.yaml") + ": `sequences[0].protein.msa` left out"])

    def test_restraints_of_chai_are_told_by_their_lines(self):
        rows = ["%d,A,G%d,B,F1,%s,1.0,0.0,8.0,\n" % (n, n, kind) for n, kind in enumerate(["contact", "pocket", "covalent"] + ["contact"] * 4)]
        told = "restraints of Chai, which are not sent: line 2 (contact), line 3 (pocket), line 4 (covalent), line 5 (contact), line 6 (contact), and 2 more lines."
        fasta, restraints = self.write("a.fasta", CHAI), self.write("restraints.csv", RESTRAINTS + "".join(rows))
        self.write("other.csv", "name,note\n")
        warnings = read_input(fasta).warnings
        self.assertEqual(len(warnings), 2)
        self.assertEqual(warnings[1].split("these are ")[0], restraints + ": ")
        self.assertIn(told, warnings[1])
        self.assertEqual(read_input(self.write("b.yaml", BOLTZ)).warnings, [])
        for given in ([fasta, restraints], restraints, self.designs):
            with self.assertRaises(InputError) as caught:
                read_input(given)
            self.assertEqual(str(caught.exception).count("%s: these are %s" % (restraints, told)), 1)

    def test_an_alignment_is_not_a_screen_of_its_sequences(self):
        for name in ("a.a3m", "a.A2M", "a.sto", "a.stk", "a.aln"):
            with self.assertRaisesRegex(InputError, "is an alignment"):
                read_input(self.write(name, ">query\nGIVEQ\n>hit\nGIVEK\n"))

    def test_names_that_only_differ_in_case_are_told(self):
        for first, second in (("a.yaml", "A.yaml"), ("x.yaml", "x.yml"), ("s.yaml", "ſ.yaml"), ("one/d.yaml", "two/d.yaml")):
            files = [self.write(first, BOLTZ), self.write(second, BOLTZ)]
            with self.assertRaisesRegex(InputError, "Rename one"):
                read_input(files)
        self.assertIn("numbered", read_input(self.write("d.fasta", ">a\nGIV\n>A\nGIV\n")).warnings[0])

    def test_a_file_that_is_given_twice_and_a_folder_of_results_are_refused(self):
        file = self.write("a.yaml", BOLTZ)
        with self.assertRaisesRegex(InputError, "given twice"):
            read_input([self.designs, file])
        for nothing in ([], None, [None], 7, [file, None]):
            with self.assertRaisesRegex(InputError, "at least one"):
                read_input(nothing)
        for wrong in (None, [None], {"a": 1}, 7, [self.designs, 7]):
            for call in (self.atlas_of_none.lookup, self.atlas_of_none.proteins, self.atlas_of_none.rank, self.atlas_of_none.tasks):
                with self.assertRaisesRegex(InputError, r"^(ids|hashes|batches)(\[\d\])?: this must be a text"):
                    call(wrong)
        self.write("foldatlas.json", "{}")
        with self.assertRaisesRegex(InputError, "has results in it"):
            read_input(self.designs)
        self.write("none/readme.md", "")
        with self.assertRaisesRegex(InputError, "no file that is read"):
            read_input(os.path.join(self.designs, "none"))


class Parts(unittest.TestCase):
    def test_a_screen_is_split_into_batches_of_at_most_2000_tasks_with_keys_of_their_own(self):
        items = [{"name": "d%d" % n, "chains": []} for n in range(2300)]
        for repeat, sizes in ((None, [2000, 300]), (1, [2000, 300]), (2, [1000, 1000, 300]), (1500, [1] * 2300)):
            whole = make_submission(items, {"repeat": repeat})
            parts = split_submission(whole)
            self.assertEqual([len(part["items"]) for _, part in parts], sizes)
            self.assertEqual([item for _, part in parts for item in part["items"]], items)
            keys = [part["idempotencyKey"] for _, part in parts]
            self.assertEqual(len(set(keys) - {whole["idempotencyKey"]}), len(sizes))
            self.assertEqual(split_submission(whole), parts)
        small = make_submission(items[:2000], {})
        self.assertEqual(split_submission(small), [(0, small)])
        for repeat in (0, -1, 2001, True):
            self.assertEqual(len(split_submission({"items": items[:3], "repeat": repeat, "idempotencyKey": "k"})), 1)

    def test_items_without_a_name_are_told_apart_over_batches(self):
        parts = split_submission({"items": [{"chains": []}] * 2001, "idempotencyKey": "k"})
        self.assertEqual(parts[1][1]["items"], [{"chains": [], "name": "item2000"}])

    def test_rankings_are_merged_by_every_order(self):
        row = {"name": None, "iptm": None, "ipsae": None, "ptm": None, "mean_plddt": None}
        for order, key in (("IPTM", "iptm"), ("IPSAE", "ipsae"), ("PTM", "ptm"), ("PLDDT", "mean_plddt")):
            batches = [[{**row, key: value} for value in values] for values in ((0.9, 0.1, None), (0.5, 0.0), ())]
            self.assertEqual([one[key] for one in merge_rankings(batches, order)], [0.9, 0.5, 0.1, 0.0, None])
        named = [[{**row, "name": name} for name in names] for names in (("d2", "d10", None), ("d1", "d3", "e"))]
        self.assertEqual([one["name"] for one in merge_rankings(named, "NAME")], ["d1", "d2", "d3", "d10", "e", None])
        self.assertEqual([one["name"] for one in merge_rankings(named, "INDEX")], ["d2", "d10", None, "d1", "d3", "e"])


class Killed(BaseException):
    """The process ends here."""


class Gateway:
    """Keys and what was paid for them, tasks of batches, and their scores."""

    def __init__(self):
        self.paid = {}
        self.refuse_at = None
        self.checks = 0
        self.warnings = []

    def batch(self, key):
        return "batch-%d" % list(self.paid).index(key)

    def respond(self, handler):
        if not handler.body:
            kind = {"json": "application/json", "cif": "chemical/x-mmcif", "tsv": "text/tab-separated-values"}[handler.path.partition("?")[0][-4:].lstrip(".").split(".")[-1]]
            return answer(b"{}", content_type=kind)(handler)
        asked = json.loads(handler.body)
        query, variables = asked["query"], asked["variables"]
        return getattr(self, query.split("(")[0].split()[-1].lower())(handler, variables)

    def check(self, handler, variables):
        self.checks += 1
        items = variables["input"]["items"]
        issues = [
            {"path": "items.%d.chains.0.protein.sequence" % place, "code": "BAD_LETTER", "message": "It is wrong.", "hint": None}
            for place, item in enumerate(items)
            if not item["chains"][0]["protein"]["sequence"].isalpha()
        ]
        found = {"ok": not issues, "issues": issues, "warnings": self.warnings, "taskCount": len(items), "totalLength": 3 * len(items)}
        answer({"data": {"checkFold": found}})(handler)

    def submit(self, handler, variables):
        submission = variables["input"]
        key = submission["idempotencyKey"]
        if self.refuse_at == len(self.paid) and key not in self.paid:
            ended = {"__typename": "Refused", "message": "No credits.", "hint": None, "reason": "CREDITS", "retryable": False, "retryAfterSeconds": None}
        else:
            is_replay = key in self.paid
            self.paid.setdefault(key, submission["items"])
            ended = {"__typename": "FoldSubmitted", "replayed": is_replay, "warnings": [], "batch": {"batchId": self.batch(key)}}
        answer({"data": {"submitFold": ended}})(handler)

    def listed(self, batch):
        items = list(self.paid.values())[int(batch.rpartition("-")[2])]
        return [task("%s-%05d" % (batch, place), "DONE", item["name"], place) for place, item in enumerate(items)]

    def tasks(self, handler, variables):
        answer(pages(self.listed(variables["batchId"])))(handler)

    def rank(self, handler, variables):
        nodes = []
        for one in self.listed(variables["batchId"]):
            number = int("".join(filter(str.isdigit, one["name"]))) % 997
            scores = {"iptm": number / 997, "ptm": 0.5, "meanPlddt": 80.0, "chainPairs": [{**PAIRS[0], "ipsae": 1 - number / 997, "ipsaeMax": 1 - number / 997}]}
            if one["name"].startswith("single"):
                scores = {**scores, "iptm": None, "chainPairs": []}
            if one["name"].startswith("failed"):
                scores = None
            nodes.append({**{key: one[key] for key in ("taskId", "name", "repeatIndex", "status", "error")}, "scores": scores})
        last = [node for node in nodes if not (node["scores"] or {}).get("chainPairs")]
        nodes = [node for node in nodes if node not in last]
        nodes.sort(key=lambda node: -(node["scores"]["iptm"] if variables["orderBy"] == "IPTM" else node["scores"]["chainPairs"][0]["ipsaeMax"]))
        nodes += last
        answer(pages(nodes))(handler)

    def counts(self, handler, variables):
        count = len(self.listed(variables["batchId"]))
        answer({"data": {"batch": {"counts": {"total": count, "queued": 0, "inProgress": 0, "done": count, "failed": 0, "cancelled": 0}}}})(handler)

    def watch(self, handler, variables):
        body = progress(True, 1)
        count = len(self.listed(variables["batchId"]))
        body["data"]["batchProgress"]["batch"]["counts"].update(total=count, done=count, inProgress=0)
        events(body)(handler)


class Screens(Folder):
    def setUp(self):
        super().setUp()
        self.server = Server()
        threading.Thread(target=self.server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True).start()
        self.addCleanup(self.server.server_close)
        self.addCleanup(self.server.shutdown)
        self.gateway = Gateway()
        self.server.respond_always = self.gateway.respond
        self.atlas = FoldAtlas("http://127.0.0.1:%d/graphql" % self.server.server_port, "secret")
        self.out = os.path.join(self.folder, "out")
        self.items = [{"name": "d%d" % n, "chains": [chain("protein", "GIV")]} for n in range(4100)]

    def submit(self, items=None, repeat=None):
        submission = make_submission(items or self.items, {"repeat": repeat})
        return Journal.open(self.out).submit(self.atlas, submission)["batch_ids"]

    def run_command(self, *words):
        err, out = io.StringIO(), io.StringIO()
        with contextlib.redirect_stderr(err), contextlib.redirect_stdout(out):
            code = main([*words, "--url", self.atlas.transport.url])
        return code, out.getvalue(), err.getvalue()

    def test_whenever_it_is_killed_no_batch_is_paid_twice(self):
        calls = ("os.replace", "os.fsync", "os.makedirs", "builtins.open", "urllib.request.OpenerDirector.open")
        ends = 0
        for name in calls:
            for moment in range(9):
                for is_after in (False, True):
                    with self.subTest(name, moment=moment, is_after=is_after), tempfile.TemporaryDirectory() as folder:
                        self.out = os.path.join(folder, "out")
                        self.gateway.paid.clear()
                        ends += self.is_killed(name, moment, is_after)
                        self.assertEqual(self.submit(self.items[:5], 1000), ["batch-0", "batch-1", "batch-2"])
                        self.assertEqual(self.submit(self.items[:5], 1000), ["batch-0", "batch-1", "batch-2"])
                        self.assertEqual([len(items) for items in self.gateway.paid.values()], [2, 2, 1])
                        self.assertEqual(os.listdir(self.out), ["foldatlas.json"])
        self.assertGreater(ends, 40)

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
                getattr(result, "close", lambda: None)()
                raise Killed
            return result

        with patch.object(owner, attribute, call):
            try:
                self.submit(self.items[:5], 1000)
            except Killed:
                return True
        return False

    def test_a_mistake_in_the_last_batch_sends_none(self):
        wrong = [*self.items[:-1], {"name": "last", "chains": [chain("protein", "G1V")]}]
        with self.assertRaisesRegex(InputError, r"items\[4099\]\.chains\[0\]\.protein\.sequence: It is wrong"):
            self.submit(wrong)
        self.assertEqual((self.gateway.paid, os.listdir(self.out)), ({}, []))
        with self.assertRaisesRegex(InputError, r"items\[4099\]"):
            self.atlas.submit_all(wrong)
        self.assertEqual(len(self.submit()), 3)

    def test_a_batch_that_is_refused_is_sent_by_the_next_run_alone(self):
        self.gateway.refuse_at = 1
        said = []
        self.atlas.transport.say = said.append
        with self.assertRaisesRegex(Refusal, "No credits"):
            self.submit()
        self.assertIn("1 of 3 batches queued", said[0])
        self.assertEqual(Journal.open(self.out).batches, ["batch-0", None, None])
        code, _, err = self.run_command("rank", self.out)
        self.assertEqual(code, 65)
        self.assertIn("Not all batches", err)
        with self.assertRaisesRegex(InputError, "another submission"):
            self.submit(self.items[1:])
        self.gateway.refuse_at = None
        self.assertEqual(self.submit(), ["batch-0", "batch-1", "batch-2"])
        self.assertEqual(len(self.gateway.paid), 3)

    def test_a_screen_that_was_submitted_before_is_refused_unless_it_is_taken_up_or_wanted_again(self):
        self.write("d.fasta", "".join(">d%d\nGIV\n" % n for n in range(2001)))
        made = read_input(os.path.join(self.designs, "d.fasta"))
        file = os.path.join(self.designs, "d.fasta")
        for code_of_warning in ("ALREADY_SUBMITTED", "EARLIER_OUTCOME_UNKNOWN"):
            self.gateway.warnings = [{"path": "", "code": code_of_warning, "message": "The same input was sent.", "hint": None}]
            code, out, err = self.run_command("fold", file, "--out", self.out)
            self.assertEqual((code, out, self.gateway.paid), (3, "", {}))
            self.assertIn("warning: The same input was sent.\n", err)
            for items in (made, made.items[:1]):
                for call in (self.atlas.submit_all, lambda items: self.atlas.fold(items, self.out), self.atlas.submit):
                    if items is made and call == self.atlas.submit:
                        continue
                    with self.assertRaises(AlreadySubmitted) as caught:
                        call(items)
                    self.assertEqual((caught.exception.issues, self.gateway.paid), (["The same input was sent."], {}))
                    self.assertRegex(str(caught.exception), 'again="second"(.|\n)*The same input was sent')
            self.assertEqual(os.listdir(self.out), [])
        self.gateway.refuse_at = 0
        code, _, err = self.run_command("fold", file, "--out", self.out, "--again", "x")
        self.assertEqual((code, os.listdir(self.out)), (2, []), err)
        self.gateway.refuse_at = 1
        self.gateway.warnings = []
        code, _, _ = self.run_command("fold", file, "--out", self.out)
        self.assertEqual((code, len(self.gateway.paid)), (2, 1))
        self.gateway.warnings = [{"path": "", "code": "ALREADY_SUBMITTED", "message": "The same input was sent.", "hint": None}]
        self.gateway.refuse_at = None
        code, out, _ = self.run_command("fold", file, "--out", self.out)
        self.assertEqual((code, out, len(self.gateway.paid)), (0, "batch-0\nbatch-1\n", 2))
        for again in ("second", "second", "third"):
            self.atlas.submit(made.items[:1], again=again)
        self.assertEqual(len(self.gateway.paid), 4)

    def test_a_journal_that_was_refused_on_its_second_try_stays(self):
        self.server.answers = [lambda handler: self.gateway.respond(handler), answer(b"", 502)]
        with self.assertRaises(FoldAtlasError):
            self.atlas.fold(self.items[:1], self.out)
        self.gateway.warnings = [{"path": "", "code": "EARLIER_OUTCOME_UNKNOWN", "message": "It was sent.", "hint": None}]
        with self.assertRaises(AlreadySubmitted):
            self.atlas.fold(self.items[:1], self.out)
        self.assertEqual(os.listdir(self.out), ["foldatlas.json"])

    def test_more_than_a_batch_is_no_single_submission(self):
        with self.assertRaisesRegex(InputError, "3 batches"):
            self.atlas.submit(self.items)
        self.assertEqual(self.atlas.submit_all(self.items), self.atlas.submit_all(self.items))
        self.assertEqual(len(self.gateway.paid), 3)

    def test_the_shell_checks_folds_ranks_and_saves_the_best_over_all_batches(self):
        for n in range(2005):
            self.write("d%d.fasta" % n, ">x\n%s\n" % ("G1V" if n == 2003 else "GIV"))
        wrong = os.path.join(self.designs, "d2003.fasta")
        for words in (("check", self.designs), ("fold", "--check", self.designs), ("fold", self.designs, "--out", self.out)):
            code, out, err = self.run_command(*words)
            self.assertEqual(code, 65, err)
            self.assertIn("%s: record 1 (x): It is wrong." % wrong, err)
        self.assertEqual(self.gateway.paid, {})
        self.write("d2003.fasta", ">x\nGIV\n")
        code, out, err = self.run_command("check", self.designs)
        self.assertEqual(code, 0, err)
        self.assertRegex(out, "^2,005 tasks, 6,015 residues and nucleotides in all, in 2 batches")
        code, out, err = self.run_command("fold", self.designs, "--out", self.out)
        self.assertEqual((code, out), (0, "batch-0\nbatch-1\n"), err)
        self.assertIn("2,005 tasks", err)
        checks = self.gateway.checks
        code, out, err = self.run_command("fold", self.designs, "--out", self.out)
        self.assertEqual((code, out), (0, "batch-0\nbatch-1\n"), err)
        self.assertIn("nothing is paid again", err)
        self.assertEqual((self.gateway.checks, len(self.gateway.paid)), (checks, 2))
        code, out, err = self.run_command("rank", self.out, "--by", "ipsae", "--best", "4")
        lines = [line.split("\t") for line in out.splitlines()]
        self.assertEqual([line[:2] for line in lines[1:]], [["1", "d0"], ["2", "d997"], ["3", "d1994"], ["4", "d1"]])
        code, out, err = self.run_command("results", "batch-0", "batch-1", "--best", "3", "--by", "ipsae", "--out", self.out)
        self.assertEqual(code, 0, err)
        saved = sorted(name for name in os.listdir(self.out) if name.startswith("d"))
        self.assertEqual(saved, ["d0.cif", "d0.json", "d1994.cif", "d1994.json", "d997.cif", "d997.json"])
        with open(os.path.join(self.out, "scores.tsv"), encoding="utf-8") as file:
            head, *rows = [line.rstrip("\n").split("\t") for line in file]
        self.assertEqual(len(rows), 2005)
        self.assertEqual([row[head.index("file")] for row in rows[:4]], ["d0", "d997", "d1994", ""])
        self.assertEqual({row[head.index("batch_id")] for row in rows}, {"batch-0", "batch-1"})
        code, _, err = self.run_command("watch", self.out)
        self.assertEqual(code, 0, err)
        self.assertIn("2005/2005", err)

    def test_tasks_without_the_score_that_is_asked_for_are_counted_and_stand_last_without_a_rank(self):
        def submit(*names):
            return self.atlas.submit([{"name": name, "chains": [chain("protein", "GIV")]} for name in names])

        batch, singles = submit("d1", "d2", "single1", "single2", "failed1"), submit("single1", "single2")
        for by, said, ranked in (
            ("iptm", "5 tasks: 2 ranked, 2 folded without ipTM, 1 without scores.", ["1", "2", "", "", ""]),
            ("ipsae", "5 tasks: 2 ranked, 2 folded without ipSAE, 1 without scores.", ["1", "2", "", "", ""]),
            ("ptm", "5 tasks: 4 ranked, 1 without scores.", ["1", "2", "3", "4", ""]),
            ("name", "5 tasks: 4 ranked, 1 without scores.", ["1", "2", "3", "4", ""]),
        ):
            with self.subTest(by):
                self.assertEqual(sorted(str(row["rank"] or "") for row in self.atlas.rank(batch, by)), sorted(ranked))
                code, out, err = self.run_command("rank", batch, "--by", by)
                self.assertEqual((code, sorted(line.split("\t")[0] for line in out.splitlines()[1:]), err), (1, sorted(ranked), said + "\n"))
                folder = os.path.join(self.folder, by)
                code, _, err = self.run_command("results", batch, "--best", "5", "--by", by, "--out", folder)
                self.assertIn(said, err)
                self.assertEqual(len([name for name in os.listdir(folder) if name.endswith(".cif")]), sum(one != "" for one in ranked))
        code, out, err = self.run_command("rank", singles)
        self.assertEqual((code, err), (0, "2 tasks: 0 ranked, 2 folded without ipTM, 0 without scores. Single chains have no ipTM: rank them --by ptm or plddt.\n"))

    def test_a_folder_without_a_journal_is_no_batch(self):
        self.write("d.fasta", ">a\nGIV\n")
        for folder in (self.designs, self.designs + "/", os.path.join(self.folder, "mistyped")):
            for command in ("rank", "results", "watch"):
                code, out, err = self.run_command(command, folder)
                self.assertEqual((code, out), (65, ""), err)
                self.assertIn("%s is no folder of results" % folder, err)
        self.assertEqual(self.server.requests, [])

    def test_progress_counts_the_batches_behind_the_one_that_is_followed(self):
        batches = [self.atlas.submit(self.items[n : n + 1]) for n in range(3)]
        done = {one: 0 for one in batches}

        def counts(handler, variables):
            if self.is_away:
                return answer(b"<html>", 502, "text/html")(handler)
            done[variables["batchId"]] += 1
            number = done[variables["batchId"]]
            found = {"total": 9, "queued": 9 - number, "inProgress": 0, "done": number, "failed": 0, "cancelled": 0}
            return answer({"data": {"batch": {"counts": found}}})(handler)

        def watch(handler, variables):
            self.is_away = variables["batchId"] == batches[1]
            events(progress(False, 0), progress(False, 0), progress(True, 1))(handler)

        self.gateway.counts, self.gateway.watch, self.is_away = counts, watch, False
        with patch("foldatlas.client.COUNTS_SECONDS", 0):
            seen = [event["counts"]["done"] for event in self.atlas.watch(batches)]
        # One more of the later batches is done at each look; while the gateway is away, nothing
        # is lost.
        self.assertEqual(seen, [4, 6, 9, 5, 5, 6, 2, 2, 3])

    def test_files_of_later_batches_have_names_of_their_own(self):
        first, second = self.atlas.submit(self.items[:2]), self.atlas.submit([*self.items[:1], *self.items[3:4]])
        last = list(self.atlas.results([first, second], self.out))[-1]
        self.assertEqual((last["saved"], last["missing"], last["counts"]["total"]), (4, [], 4))
        names = sorted(name for name in os.listdir(self.out) if name.endswith(".cif"))
        self.assertEqual(names, ["d0-2.cif", "d0.cif", "d1.cif", "d3.cif"])

    def test_results_never_stand_among_json_inputs(self):
        self.write("d.json", json.dumps(ALPHAFOLD))
        made = read_input(self.designs)
        with self.assertRaisesRegex(InputError, "has the inputs in it"):
            self.atlas.fold(made, self.designs)
        self.assertEqual((self.gateway.paid, os.listdir(self.designs)), ({}, ["d.json"]))

    def test_failed_items_of_all_batches_are_submitted_once_and_not_before_all_have_ended(self):
        self.submit()
        listed = self.gateway.listed
        states = {"batch-0-00003": "FAILED", "batch-2-00007": "CANCELLED", "batch-1-00000": "QUEUED"}
        self.gateway.listed = lambda batch: [{**one, "status": states.get(one["taskId"], "DONE")} for one in listed(batch)]
        with self.assertRaisesRegex(InputError, "has not ended"):
            self.atlas.retry_failed(self.out)
        del states["batch-1-00000"]
        # All items of one batch may have failed: this is its own input, which is paid for again.
        def warn(batch):
            self.gateway.warnings = [{"path": "", "code": "ALREADY_SUBMITTED", "message": "It is batch %s." % batch, "hint": None}]

        warn("batch-77")
        with self.assertRaisesRegex(AlreadySubmitted, "batch-77"):
            self.atlas.retry_failed(self.out)
        code, out, err = self.run_command("retry", self.out)
        self.assertEqual((code, out), (3, ""))
        self.assertRegex(err, "^warning: It is batch batch-77.\nNothing was sent.*--again second")
        warn("batch-1")
        self.assertEqual(self.atlas.retry_failed(self.out), ["batch-3"])
        code, out, _ = self.run_command("retry", self.out)
        self.assertEqual((code, out), (0, "batch-3\n"))
        self.assertEqual([item["name"] for item in [*self.gateway.paid.values()][3]], ["d3", "d4007"])
        warn("batch-77")
        for _ in range(2):
            self.assertEqual(self.atlas.retry_failed(self.out, "second"), ["batch-4"])


    def test_retry_says_that_it_cannot_know_what_failed_in_a_batch_that_the_ledger_lacks(self):
        self.submit(self.items[:3])
        listed = self.gateway.listed
        paid = len(self.gateway.paid)

        def list_tasks(change):
            self.gateway.listed = lambda batch: change(listed(batch))
            return self.run_command("retry", self.out)

        for change in (
            lambda tasks: [{**one, "inputIndex": None, "status": "FAILED" if n == 1 else "DONE"} for n, one in enumerate(tasks)],
            lambda tasks: tasks[1:],
            lambda tasks: [],
        ):
            code, out, err = list_tasks(change)
            self.assertEqual((code, out), (65, ""), err)
            self.assertIn("batch-0", err)
            self.assertIn("cannot be known", err)
            self.assertIn("--again", err)
            self.assertNotIn("Nothing failed", err)
        code, out, err = list_tasks(lambda tasks: [{**one, "inputIndex": None} for one in tasks])
        self.assertEqual((code, out, err), (0, "", "Nothing failed.\n"))
        self.assertEqual(len(self.gateway.paid), paid)


if __name__ == "__main__":
    unittest.main()
