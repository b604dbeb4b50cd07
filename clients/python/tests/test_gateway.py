"""The client and its command line over a gateway that serves the sandbox, at FOLDATLAS_TEST_URL."""

import asyncio
import json
import os
import signal
import subprocess
import sys
import tempfile
import time
import unittest
import uuid

from foldatlas import AlreadySubmitted, AsyncFoldAtlas, FoldAtlas, FoldAtlasError, InputError, chain, parse_input, read_input
from foldatlas.report import describe_issue

from .test_shapes import ALPHAFOLD, BOLTZ, PROTENIX, SERVER

URL = os.environ.get("FOLDATLAS_TEST_URL", "")
INSULIN = "12e9c9e4e2835c302e8ba615115edda3"
CHAIN_A = "GIVEQCCTSICSLYQLENYCN"
CHAIN_B = "FVNQHLCGSHLVEALYLVCGERGFFYTPKT"
#: The sandbox runs out of memory on more than 2,048 tokens, as the service may.
TOO_LONG = "G" * 2049
SOURCE = os.path.join(os.path.dirname(__file__), "..", "src")


def token():
    """A caller of its own for each test: nobody sees another's batches."""
    return "python-%s" % uuid.uuid4().hex


def items(*names):
    return [{"name": name, "chains": [chain("protein", CHAIN_A), chain("protein", CHAIN_B)]} for name in names]


@unittest.skipUnless(URL, "FOLDATLAS_TEST_URL names no gateway")
class Library(unittest.TestCase):
    def setUp(self):
        self.atlas = FoldAtlas(URL, token())
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = os.path.join(folder.name, "results")

    def test_looks_up_any_number_in_order_with_gaps(self):
        rows = self.atlas.lookup(["P01308", "0" * 32, "P01308", "insulin?", ">mine\n" + CHAIN_A])
        self.assertEqual(
            [row["status"] for row in rows],
            ["FOUND", "NOT_IN_ATLAS", "FOUND", "NOT_AN_IDENTIFIER", rows[4]["status"]],
        )
        self.assertEqual(rows[0]["hash"], INSULIN)
        self.assertEqual(rows[0], rows[2])
        self.assertEqual(rows[4]["requested"], ">mine")
        many = self.atlas.lookup("no. %d" % n for n in range(1001))
        self.assertEqual(many[1000]["requested"], "no. 1000")
        self.assertTrue(many[1000]["problem"].startswith("It "))
        self.assertEqual(many.to_tsv().count("\n"), 1002)

    def test_reads_proteins_features_and_similar_ones(self):
        found, missing = self.atlas.proteins([INSULIN, "0" * 32])
        self.assertEqual((found["name"], found["length"], len(found["features"])), ("Insulin", 110, 10))
        self.assertEqual((missing["hash"], missing["name"], missing["features"]), ("0" * 32, None, None))
        self.assertEqual([row["index"] for row in self.atlas.features(indices=[7, 3])], [7, 3])
        self.assertEqual(len(self.atlas.features(first=1200)), 1200)
        self.assertEqual(self.atlas.similar(found["sequence"], first=1)[0]["hash"], INSULIN)

    def test_saves_structures_and_says_where_there_is_none(self):
        rows = self.atlas.structures(["P01308", "0" * 32], self.folder, "mmcif")
        self.assertTrue(rows[0]["file"].endswith(INSULIN + ".cif"))
        with open(rows[0]["file"], encoding="utf-8") as file:
            self.assertTrue(file.read().startswith("data_"))
        self.assertIsNone(rows[1]["file"])

    def test_checks_before_it_costs(self):
        check = self.atlas.check([{"chains": [chain("protein", "GIV1")]}])
        self.assertFalse(check["ok"])
        with self.assertRaisesRegex(InputError, r"items\[0\]\.chains\[0\]\.protein\.sequence"):
            self.atlas.submit([{"chains": [chain("protein", "GIV1")]}])

    def test_says_what_is_wrong_by_the_places_and_counts_of_the_file(self):
        protein = {"id": "A", "sequence": CHAIN_A, "modifications": [{"ptmType": "SEP", "ptmPosition": 10}]}
        job = {"name": "j", "modelSeeds": [1], "dialect": "alphafold3", "version": 2}
        job["sequences"] = [{"ligand": {"id": "L", "ccdCodes": ["ATP"]}}, {"protein": protein}]
        boltz = "sequences:\n  - protein: { id: A, sequence: %s, modifications: [{ position: 99, ccd: SEP }] }\n" % CHAIN_A

        def found(document, key="issues"):
            made = parse_input(document if isinstance(document, str) else json.dumps(document), "design.yaml")
            return [(one["path"], one["message"], one["hint"]) for one in self.atlas.check(made)[key]]

        ((path, message, hint),) = found(job, "warnings")
        self.assertEqual(path, "sequences[1].protein.modifications[0].ptmPosition")
        self.assertEqual(message, "SEP is no modification of residue 10, which is I.")
        self.assertIn("counts from 1", hint)
        ((path, message, _),) = found(boltz)
        self.assertEqual(path, "sequences[0].protein.modifications[0].position")
        self.assertEqual(message, "Position 99 is outside the chain, which has 21. Positions count from 1.")
        self.assertEqual(found({**job, "bondedAtomPairs": [[["A", 6, "SG"], ["L", 1, "PG"]]]}), [])
        job["sequences"].append({"ligand": {"id": "M", "ccdCodes": ["ZZ9"]}})
        bonded = {**job, "bondedAtomPairs": [[["A", 6, "SG"], ["M", 1, "PA"]], [["A", 22, "N"], ["B", 1, "CA"]]]}
        issues = dict((path, (message, hint)) for path, message, hint in found(bonded))
        self.assertEqual(
            sorted(issues),
            ["bondedAtomPairs[0][1][2]", "bondedAtomPairs[1][0][1]", "bondedAtomPairs[1][1][0]", "bondedAtomPairs[1][1][2]"],
        )
        self.assertIn("our own form", issues["bondedAtomPairs[0][1][2]"][1])
        self.assertEqual(issues["bondedAtomPairs[1][0][1]"][0], "Position 22 is outside the chain, which has 21. Positions count from 1.")
        with self.assertRaises(InputError) as caught:
            self.atlas.submit(parse_input(json.dumps(bonded)))
        self.assertIn("\nbondedAtomPairs[1][0][1]: Position 22 is outside", str(caught.exception))
        self.assertNotRegex(str(caught.exception), r"items\.0|atomIndex|0-based")

    def test_reads_what_each_program_writes(self):
        for document in (ALPHAFOLD, SERVER, PROTENIX, BOLTZ):
            check = self.atlas.check(parse_input(json.dumps(document), "file.json"))
            self.assertEqual([one for one in check["issues"] if one["code"] != "UNKNOWN_ATOM"], [])

    def test_folds_once_however_often_it_is_run(self):
        made = [{**item, "includePae": True} for item in items("a", "b")]
        ranked = self.atlas.fold(made, self.folder, label="python", repeat=2)
        self.assertEqual([row["rank"] for row in ranked], [1, 2, 3, 4])
        files = sorted(os.listdir(self.folder))
        self.assertEqual(
            files,
            sorted([*("%s_%d.%s" % (n, r, e) for n in "ab" for r in (0, 1) for e in ("json", "cif")), "foldatlas.json", "scores.tsv"]),
        )
        again = self.atlas.fold(made, self.folder, label="python", repeat=2)
        self.assertEqual(again, ranked)
        self.assertEqual(self.atlas.submit(made, label="python", repeat=2), self.atlas.submit(made, label="python", repeat=2))
        with self.assertRaisesRegex(InputError, "another submission"):
            self.atlas.fold(items("c"), self.folder)
        task = ranked[0]["task_id"]
        pae = self.atlas.pae(task)
        tokens = len(CHAIN_A) + len(CHAIN_B)
        self.assertEqual([len(pae)] + sorted({len(row) for row in pae}), [tokens, tokens])
        self.assertGreaterEqual(len(self.atlas.plddt(task)), tokens)

    def test_pays_for_the_same_under_another_label_or_key_only_when_told_to(self):
        made = items("a")
        first = self.atlas.submit(made)
        self.assertEqual(self.atlas.submit(made), first)
        for call in (
            lambda **more: self.atlas.submit(made, label="other", **more),
            lambda **more: self.atlas.submit(made, key="mine %s" % more, **more),
            lambda **more: self.atlas.submit_all(made, label="other", **more),
            lambda **more: self.atlas.fold(made, self.folder, label="other", **more),
        ):
            with self.assertRaisesRegex(AlreadySubmitted, "Nothing was sent(.|\n)*is batch %s" % first):
                call()
            self.assertEqual(len(self.atlas.batches()), 1)
        second = self.atlas.submit(made, label="other", again="second")
        self.assertEqual(self.atlas.submit(made, label="other", again="second"), second)
        self.assertEqual([one["batch_id"] for one in self.atlas.batches()], [second, first])

    def test_ranks_by_interfaces_as_the_table_does(self):
        sticky = "MAVILFWCVALIMFAVWLICAVFILMWVCA"
        made = [
            {"name": "d%d" % cut, "includePae": True, "chains": [chain("protein", sticky, ["A", "B"]), chain("protein", sticky[:cut], ["C"])]}
            for cut in (8, 30)
        ]
        self.atlas.fold(made, self.folder)
        with open(os.path.join(self.folder, "scores.tsv"), encoding="utf-8") as file:
            head, *lines = [line.rstrip("\n").split("\t") for line in file]
        table = {row["name"]: row for row in (dict(zip(head, line)) for line in lines)}
        ranked = self.atlas.rank(table["d8"]["task_id"].rsplit("-", 1)[0], order_by="IPSAE")
        self.assertEqual([row["ipsae"] for row in ranked], sorted((row["ipsae"] for row in ranked), reverse=True))
        for row in ranked:
            expected = table[row["name"]]
            for name in ("ipsae", "ipsae_min", "pdockq", "pdockq2", "lis", "mean_pae", "min_pae"):
                self.assertAlmostEqual(row[name], float(expected[name]), places=4)
            self.assertEqual(row["interface"], expected["interface"])
            rounded = " ".join("%s:%s" % (pair, float("%.4f" % score)) for pair, score in row["interfaces"].items())
            self.assertEqual(rounded.replace(":0.0 ", ":0 "), expected["interfaces"])
        self.assertEqual(len(self.atlas.rank(table["d8"]["task_id"].rsplit("-", 1)[0], min_ipsae=ranked[0]["ipsae"])), 1)

    def test_submits_what_failed_again(self):
        long = {"name": "long", "chains": [chain("protein", TOO_LONG)]}
        self.atlas.fold([*items("good"), long], self.folder)
        batch = self.atlas.retry_failed(self.folder)
        self.assertEqual([task["name"] for task in self.atlas.tasks(batch)], ["long"])
        self.assertEqual(self.atlas.retry_failed(self.folder), batch)

    def test_tells_a_batch_that_is_not_there(self):
        nowhere = str(uuid.uuid4())
        for read in (self.atlas.tasks, self.atlas.rank, lambda batch: list(self.atlas.results(batch, self.folder))):
            with self.assertRaisesRegex(FoldAtlasError, "There is no batch"):
                read(nowhere)

    def test_works_with_asyncio(self):
        async def run():
            atlas = AsyncFoldAtlas(URL, token())
            rows, batch = await asyncio.gather(atlas.lookup(["P01308"]), atlas.submit(items("async")))
            events = [event async for event in atlas.results(batch, self.folder)]
            return rows, events

        rows, events = asyncio.run(run())
        self.assertEqual(rows[0]["hash"], INSULIN)
        self.assertEqual((events[-1]["saved"], events[-1]["missing"]), (1, []))


def alphafold(bonds=(), **protein):
    entries = [{"protein": {"id": "A", "sequence": CHAIN_A, **protein}}, {"ligand": {"id": "L", "ccdCodes": ["ATP"]}}]
    return json.dumps({"name": "j", "modelSeeds": [], "dialect": "alphafold3", "version": 2, "sequences": entries, "bondedAtomPairs": list(bonds)})


def served(**protein):
    entries = [{"proteinChain": {"sequence": CHAIN_A, "count": 1}}, {"proteinChain": {"sequence": CHAIN_A, "count": 1, **protein}}]
    return json.dumps([{"name": "s", "dialect": "alphafoldserver", "version": 1, "sequences": entries}])


def protenix(**bond):
    ends = {"entity1": 1, "copy1": 1, "position1": 1, "atom1": "N", "entity2": 2, "copy2": 1, "position2": 1, "atom2": "PG", **bond}
    entries = [{"proteinChain": {"sequence": CHAIN_A, "count": 2}}, {"ligand": {"ligand": "CCD_ATP", "count": 1}}]
    return json.dumps([{"name": "n", "sequences": entries, "covalent_bonds": [ends]}])


def boltz(constraints=(), ccd="ATP", **protein):
    entries = [{"protein": {"id": "A", "sequence": CHAIN_A, **protein}}, {"ligand": {"id": "L", "ccd": ccd}}]
    return json.dumps({"sequences": entries, "constraints": list(constraints)})


def own(*chains_of_items, **more):
    return json.dumps({**more, "items": [{"chains": [{"protein": {"sequence": one, "ids": ["ABC"[place]]}} for place, one in enumerate(chains)]} for chains in chains_of_items]})


def modified(position, code="ptmType", place="ptmPosition"):
    return {"modifications": [{code: "SEP", place: position}]}


#: A file, and how the only line about it begins: with the place as the file counts, and what is wrong there.
PLACES = [
    ("a.fasta", ">a\nGIV\n>b\nG1V\n", 'record 2 (b): "1" at position 2 is not'),
    ("a.fasta", "\n\n>a\nGIV:G1V\n", 'record 1 (a), chain 2: "1" at position 2 is not'),
    ("a.fasta", ">\r\nGIV\r\n>\r\n\r\nGIV1\r\n", 'record 2: "1" at position 4 is not'),
    ("a.fasta", ">a|protein:dna\nGIV\n", "record 1 (a): it has 1 chain and 2 kinds."),
    ("a.fasta", ">a|protein:ccd\nGIV:??\n", 'record 1 (a), chain 2: "??" is not a chemical component code.'),
    ("a.fasta", ">A|protein|\nGIV\n>B|smiles\nC(\n", "record 2 (B): This is not a SMILES string"),
    ("a.fasta", ">A|protein|\nGIV\n>B|ccd\nATP MG\n", "record 2 (B): This ligand has 2 components (ATP, MG)"),
    ("a.fasta", ">A|protein|\nGIV\n>A|rna\nACGU\n", "record 2 (A): record 1 (A) has the same chain id."),
    ("a.fasta", ">protein|name=x\nGIV\n>ligand|name=y\nC(\n", "record 2 (y): This is not a SMILES string"),
    ("a.fasta", ">x\nGIV\n>y\nGIVE\n>z\nGIV\n", "record 3 (z): This is the same as record 1 (x). Both are"),
    ("a.fasta", ">x\nGIV\n>x\nGIVE\n", 'record 2 (x): Record 1 (x) is called "x" too.'),
    ("a.fasta", ">x\n\n", "record 1 (x): The sequence is empty."),
    ("a.fasta", ">%s\nG1V\n" % ("n" * 60), 'record 1 (%s…): "1" at position 2' % ("n" * 40)),
    ("a.csv", "name,sequence\na,GIV\nb,G1V\n", 'line 3, column sequence: "1" at position 2 is not'),
    ("a.csv", "name,sequence,rna\na,GIV,ACG!\n", 'line 2, column rna: "!" at position 4 is not'),
    ("a.csv", "name,sequence\na,GIV:G1V\n", 'line 2, column sequence, chain 2: "1" at position 2'),
    ("a.csv", 'name,protein,smiles_2\n"a\nb",GIV,\n\nc,GIV,C(\n', "line 5, column smiles_2: This is not a SMILES string"),
    ("a.csv", "name,kind,value\na,protein,GIV\na,ccd,??\n", 'line 3, column value: "??" is not a chemical'),
    ("a.csv", "name,kind,value\na,x,GIV\n", "line 2, column kind: x is no kind of chain"),
    ("a.csv", "name,kind,value\n,rna,GIV\n", "line 2, column name: there is no name."),
    ("a.csv", "name,sequence\na,GIV,x\n", "line 2: there are more cells"),
    ("a.csv", "name,colour\na,GIV\n", "line 1, column colour: this is not understood."),
    ("a.csv", "name,rna,rna\na,G,G\n", "line 1, column rna: this stands twice."),
    ("a.csv", 'name,sequence\na,"GIV\n', "line 2: a quote is opened and never closed."),
    ("a.tsv", "name\tsequence\na\tGIV\na\tGIVE\n", 'line 3: Line 2 is called "a" too.'),
    ("a.tsv", "name\tsequence\na\tGIV\nb\tGIV\n", "line 3: This is the same as line 2."),
    ("a.tsv", "name\tsequence\na\t\n", "line 2: The item has no chains."),
    ("a.json", alphafold(sequence="G1V"), 'sequences[0].protein.sequence: "1" at position 2 is not'),
    ("a.json", alphafold(**modified(99)), "sequences[0].protein.modifications[0].ptmPosition: Position 99 is outside the chain, which has 21. Positions count from 1."),
    ("a.json", alphafold(**modified(10)), "sequences[0].protein.modifications[0].ptmPosition: SEP is no modification of residue 10, which is I."),
    ("a.json", alphafold(**modified("9")), "sequences[0].protein.modifications[0].ptmPosition: this must be a whole number from 1"),
    ("a.json", alphafold([[["A", 6, "QQ"], ["L", 1, "PG"]]]), 'bondedAtomPairs[0][0][2]: CYS has no heavy atom "QQ".'),
    ("a.json", alphafold([[["A", 22, "N"], ["L", 1, "PG"]]]), "bondedAtomPairs[0][0][1]: Position 22 is outside the chain"),
    ("a.json", alphafold(id="L"), 'sequences[1].ligand.id: The chain id "L" is taken by sequences[0].protein.id.'),
    ("a.json", alphafold(id=["A", "L"]), 'sequences[1].ligand.id: The chain id "L" is taken by sequences[0].protein.id[1].'),
    ("a.json", served(**modified(99)), "[0].sequences[1].proteinChain.modifications[0].ptmPosition: Position 99 is outside"),
    ("a.json", served(sequence="G1V"), '[0].sequences[1].proteinChain.sequence: "1" at position 2'),
    ("a.json", protenix(position1=99), "[0].covalent_bonds[0].position1: Position 99 is outside"),
    ("a.json", protenix(entity1=9), "[0].covalent_bonds[0].entity1: there is no entity 9"),
    ("a.json", protenix(), "[0].sequences[0].proteinChain.count: 2 copies of 21"),
    ("a.yaml", boltz(sequence="G1V"), 'sequences[0].protein.sequence: "1" at position 2'),
    ("a.yaml", boltz(**modified(99, "ccd", "position")), "sequences[0].protein.modifications[0].position: Position 99 is outside"),
    ("a.yaml", boltz(ccd="??"), 'sequences[1].ligand.ccd: "??" is not a chemical component code.'),
    ("a.yaml", boltz(ccd=["ATP", "??"]), 'sequences[1].ligand.ccd[1]: "??" is not a chemical component code.'),
    ("a.yaml", boltz([{"pocket": {"binder": "L", "contacts": [["A", 1], ["A", 99]]}}]), "constraints[0].pocket.contacts[1][1]: Position 99 is outside"),
    ("a.yaml", own(["GIV"], ["GIV", "G1V"]), 'items[1].chains[1].protein.sequence: "1" at position 1 (0-based)'),
    ("a.yaml", own(["GIV"], ["GIV"]), "items[1]: This is the same as items[0]."),
    ("a.yaml", own(["GIV"], [7]), "items[1].chains[0].protein.sequence: this must be a text"),
    ("a.yaml", own(["GIV"], repeat=0), "repeat: `repeat` is 0."),
    ("a.json", json.dumps(json.loads(own(["GIV"], ["GIV", "G1V"]))["items"]), '[1].chains[1].protein.sequence: "1" at position 1 (0-based)'),
]


@unittest.skipUnless(URL, "FOLDATLAS_TEST_URL names no gateway")
class Places(unittest.TestCase):
    def lines(self, made):
        check = FoldAtlas(URL, token()).check(made)
        return [describe_issue(one) for one in check["issues"] or check["warnings"]]

    def test_a_mistake_is_named_by_the_place_in_its_file(self):
        for name, text, begin in PLACES:
            with self.subTest(name, begin=begin):
                try:
                    lines = self.lines(parse_input(text, name))
                except InputError as error:
                    lines = str(error).split("\n")
                self.assertEqual([line[: len(begin)] for line in lines if line.startswith(begin)], [begin], lines)
                self.assertNotRegex("\n".join(lines), r"\b(items|chains)\.\d")

    def test_a_list_from_python_has_the_paths_of_its_items(self):
        (line,) = self.lines([{"chains": [chain("protein", "GIV"), chain("protein", "G1V")]}])
        self.assertTrue(line.startswith('items[0].chains[1].protein.sequence: "1" at position 1 (0-based)'), line)
        with self.assertRaisesRegex(InputError, r"^items\[0\]\.chains\[0\]\.protein\.sequence: this must be a text"):
            self.lines([{"chains": [{"protein": {"sequence": 7}}]}])

    def test_several_files_are_named_and_their_items_by_the_names_that_they_get(self):
        with tempfile.TemporaryDirectory() as folder:
            for name, text in (("a.fasta", ">x\nGIV\n"), ("b.csv", "name,sequence\nx,GIV\ny,G1V\n"), ("c.yaml", own(["GIV", "GIVE"], ["G1V"]))):
                with open(os.path.join(folder, name), "w", encoding="utf-8") as file:
                    file.write(text)
            made = read_input(folder)
            self.assertEqual(
                [line.split(" is not")[0] for line in self.lines(made)],
                [
                    '%s: line 3, column sequence: "1" at position 2' % os.path.join(folder, "b.csv"),
                    '%s: items[1].chains[0].protein.sequence: "1" at position 1 (0-based)' % os.path.join(folder, "c.yaml"),
                ],
            )
            made.items = [{**item, "chains": [chain("protein", "GIVE" if item["name"] == "b_y" else "GIV")]} for item in made.items[:3]]
            self.assertIn(
                "%s: line 2: This is the same as item a." % os.path.join(folder, "b.csv"),
                [line.split(" Both")[0] for line in self.lines(made)],
            )


@unittest.skipUnless(URL, "FOLDATLAS_TEST_URL names no gateway")
class CommandLine(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name
        self.token = token()

    def start(self, *words, url=URL, **options):
        env = {**os.environ, "PYTHONPATH": os.path.abspath(SOURCE), "FOLDATLAS_URL": url, "FOLDATLAS_TOKEN": self.token, "PYTHONUTF8": "1"}
        pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
        return subprocess.Popen([sys.executable, "-m", "foldatlas", *words], env=env, cwd=self.folder, text=True, **pipes, **options)

    def run_command(self, *words, stdin="", **options):
        process = self.start(*words, **options)
        out, err = process.communicate(stdin, timeout=90)
        return process.returncode, out, err

    def write(self, name, text):
        with open(os.path.join(self.folder, name), "w", encoding="utf-8") as file:
            file.write(text)

    def test_lookup_writes_a_line_for_each_identifier(self):
        code, out, err = self.run_command("lookup", "-", stdin="P01308, ACTA_HUMAN # two\n>mine\n\n%s\n\nMALWMRLLPL\n\ninsulin?\n" % CHAIN_A)
        lines = [line.split("\t") for line in out.splitlines()]
        self.assertEqual([line[0] for line in lines], ["requested", "P01308", "ACTA_HUMAN", ">mine", "MALWMRLLPL", "insulin?"])
        self.assertEqual(code, 0)
        self.assertIn("5 looked up: ", err)
        _, out, _ = self.run_command("lookup", "-", "--ndjson", stdin="P01308")
        self.assertEqual(json.loads(out)["hash"], INSULIN)

    def test_lookup_takes_identifiers_and_files_as_words(self):
        self.write("ids.txt", "ACTA_HUMAN\n")
        self.write("P69905", "P68871 # a file, whatever it is called\n")
        code, out, _ = self.run_command("lookup", "P01308", "P12345.2", "ids.txt", "insulin?,INS_HUMAN", "P69905")
        asked = [line.split("\t")[0] for line in out.splitlines()[1:]]
        self.assertEqual((code, asked), (0, ["P01308", "P12345.2", "ACTA_HUMAN", "insulin?", "INS_HUMAN", "P68871"]))
        for word in ("missing.txt", "missing/ids", self.folder):
            code, out, err = self.run_command("lookup", word)
            self.assertEqual((code, out), (64, ""), err)

    def test_lookup_ends_when_its_reader_has_enough(self):
        process = self.start("lookup", "-")
        process.stdin.write("P01308\n" * 3000)
        process.stdin.close()
        self.assertTrue(process.stdout.readline().startswith("requested\t"))
        process.stdout.close()
        self.assertEqual(process.wait(timeout=60), 0)
        self.assertNotIn("Traceback", process.stderr.read())
        process.stderr.close()

    def test_mistakes_end_with_a_sentence_and_their_code(self):
        self.write("empty.fasta", "")
        self.write("bad.fasta", ">a\nGIV1\n")
        with open(os.path.join(self.folder, "ids.txt"), "wb") as file:
            file.write("P01308\n".encode("utf-16"))
        for words, code, said in (
            (("fold", "missing.fasta"), 64, "missing.fasta"),
            (("fold", "empty.fasta"), 65, "is empty"),
            (("fold", "bad.fasta"), 65, 'record 1 (a): "1" at position 4 is not a letter'),
            (("fold", "bad.fasta", "--repeat", "0"), 64, "1 to 2000"),
            (("lookup", "ids.txt"), 65, "UTF-8"),
            (("lookup", "-", "--url", "ftp://x"), 64, "no http(s) address"),
            (("query", "-", "--variables", "[1]"), 64, "must be an object"),
            (("results", str(uuid.uuid4())), 2, "There is no batch"),
            (("nothing",), 64, "invalid choice"),
            ((), 64, "usage"),
        ):
            with self.subTest(words):
                found, out, err = self.run_command(*words)
                self.assertEqual((found, out), (code, ""))
                self.assertIn(said, err)
                self.assertNotIn("Traceback", err)
        code, _, err = self.run_command("lookup", "-", url="http://127.0.0.1:1", stdin="P01308")
        self.assertEqual(code, 2)

    def test_fold_submits_once_saves_all_and_goes_on(self):
        self.write("d.csv", "name,sequence\nfirst,%s:%s\nsecond,%s\n" % (CHAIN_A, CHAIN_B, CHAIN_A))
        code, out, err = self.run_command("fold", "d.csv", "--watch", "--out", "results", "--label", "round 1")
        self.assertEqual(code, 0, err)
        batch = out.strip()
        self.assertEqual(len(os.listdir(os.path.join(self.folder, "results"))), 6)
        os.remove(os.path.join(self.folder, "results", "first.cif"))
        code, out, err = self.run_command("fold", "d.csv", "--watch", "--out", "results", "--label", "round 1")
        self.assertEqual((code, out.strip()), (0, batch))
        self.assertIn("nothing is paid again", err)
        self.assertTrue(os.path.exists(os.path.join(self.folder, "results", "first.cif")))
        code, out, _ = self.run_command("fold", "d.csv", "--out", "results", "--label", "round 2")
        self.assertEqual((code, out), (65, ""))
        code, out, _ = self.run_command("results", batch, "--out", "other")
        self.assertEqual(code, 0)
        code, _, _ = self.run_command("results", batch, "--out", "results")
        self.assertEqual(code, 0)

    def test_fold_shows_the_warnings_of_the_check_once_and_before_the_price(self):
        self.write("d.fasta", ">odd\nACGTACGTACGT\n>same\n%s\n>same\n%s\n" % (CHAIN_A, CHAIN_A))
        code, _, checked = self.run_command("check", "d.fasta")
        self.assertEqual(code, 0, checked)
        warnings = [line for line in checked.splitlines() if line.startswith("warning: ")]
        self.assertGreaterEqual(len(warnings), 3)
        code, _, err = self.run_command("fold", "d.fasta")
        lines = err.splitlines()
        self.assertEqual(code, 0, err)
        self.assertEqual(lines[: len(warnings)], warnings)
        self.assertIn(" tasks, ", lines[len(warnings)])
        self.assertEqual(err.count("warning: "), len(warnings))

    def test_fold_pays_for_the_same_input_under_another_label_only_when_told_to(self):
        self.write("d.fasta", ">a\n%s\n" % CHAIN_A)

        def batches():
            return [line.split("\t")[0] for line in self.run_command("batches")[1].splitlines()[1:]]

        _, first, err = self.run_command("fold", "d.fasta")
        self.assertNotIn("warning", err)
        first = first.strip()
        for words in ((), ("--out", "results"), ("--out", "results", "--watch")):
            code, out, err = self.run_command("fold", "d.fasta", *words)
            self.assertEqual((code, out.strip()), (0, first), err)
            self.assertNotIn("warning", err)
        for words in (("fold", "d.fasta", "--label", "other"), ("fold", "d.fasta", "--label", "other", "--out", "new")):
            code, out, err = self.run_command(*words)
            self.assertEqual((code, out), (3, ""), err)
            self.assertIn("Nothing was sent", err)
            self.assertIn("--again", err)
            warning = next(line for line in err.splitlines() if line.startswith("warning: "))
            self.assertRegex(warning, "^warning: The same input was sent at .* and is batch %s\\." % first)
            _, _, checked = self.run_command("check", "d.fasta", "--label", "other")
            self.assertIn(warning, checked.splitlines())
        self.assertEqual(batches(), [first])
        for words in (("--again", "x"), ("--again", "x", "--out", "new"), ("--again", "x", "--out", "new")):
            code, second, err = self.run_command("fold", "d.fasta", "--label", "other", *words)
            self.assertEqual(code, 0, err)
        self.assertEqual(batches(), [second.strip(), first])

    @unittest.skipUnless(os.name == "posix", "needs a terminal")
    def test_fold_asks_at_a_terminal_whether_the_same_is_paid_for_again(self):
        import fcntl
        import pty
        import termios

        self.write("d.fasta", ">a\n%s\n" % CHAIN_A)
        self.run_command("fold", "d.fasta")
        for typed, expected in (("\n", 3), ("n\n", 3), ("\x03", 3), ("\x04", 3), ("y\n", 0)):
            main, other = pty.openpty()
            with self.subTest(typed):
                command = [sys.executable, "-m", "foldatlas", "fold", "d.fasta", "--label", "other"]
                env = {**os.environ, "PYTHONPATH": os.path.abspath(SOURCE), "FOLDATLAS_URL": URL, "FOLDATLAS_TOKEN": self.token}
                process = subprocess.Popen(command, env=env, cwd=self.folder, stdin=other, stdout=subprocess.PIPE, stderr=other, start_new_session=True,
                                           preexec_fn=lambda: fcntl.ioctl(0, termios.TIOCSCTTY, 0))
                os.close(other)
                shown = b""
                while b"[y/N] " not in shown:
                    shown += os.read(main, 1024)
                self.assertIn(b"warning: The same input was sent", shown)
                os.write(main, typed.encode())
                out, _ = process.communicate(timeout=60)
                self.assertEqual((process.returncode, bool(out)), (expected, expected == 0))
            os.close(main)

    def test_a_folder_is_checked_folded_ranked_and_saved(self):
        os.mkdir(os.path.join(self.folder, "designs"))
        for number, tail in enumerate(("", "G", "1")):
            self.write("designs/d%d.fasta" % number, ">x\n%s:%s%s\n" % (CHAIN_A, CHAIN_B, tail))
        for words in (("check", "designs"), ("fold", "--check", "designs"), ("fold", "designs")):
            code, _, err = self.run_command(*words)
            self.assertEqual(code, 65, err)
            self.assertIn(os.path.join("designs", "d2.fasta") + ": record 1 (x), chain 2: ", err)
        _, out, _ = self.run_command("batches")
        self.assertEqual(len(out.splitlines()), 1)
        self.write("designs/d2.fasta", ">x\n%s:%sGG\n" % (CHAIN_A, CHAIN_B))
        code, out, err = self.run_command("check", "designs")
        self.assertEqual((code, out[:38]), (0, "3 tasks, 156 residues and nucleotides "), err)
        code, first, err = self.run_command("fold", "designs", "--pae", "--watch", "--out", "results")
        self.assertEqual(code, 0, err)
        code, second, err = self.run_command("fold", "designs/d0.fasta", "--label", "other", "--watch", "--out", "other")
        self.assertEqual(code, 0, err)
        _, out, _ = self.run_command("batches")
        self.assertEqual([line.split("\t")[0] for line in out.splitlines()[1:]], [second.strip(), first.strip()])
        code, out, err = self.run_command("rank", "results", second.strip(), "--by", "plddt")
        rows = [line.split("\t") for line in out.splitlines()]
        self.assertEqual([row[0] for row in rows[1:]], ["1", "2", "3", "4"], err)
        values = [float(row[6]) for row in rows[1:]]
        self.assertEqual(values, sorted(values, reverse=True))
        code, out, err = self.run_command("results", first.strip(), "--best", "1", "--by", "ipsae", "--out", "best")
        self.assertEqual((code, len(os.listdir(os.path.join(self.folder, "best")))), (0, 4), err)

    def test_a_mended_file_follows_one_that_was_refused(self):
        self.write("t.fasta", ">a\nGIV1\n")
        code, out, err = self.run_command("fold", "t.fasta", "--out", "t1")
        self.assertEqual((code, out), (65, ""))
        self.write("t.fasta", ">a\nGIVE\n")
        code, out, err = self.run_command("fold", "t.fasta", "--out", "t1")
        self.assertEqual(code, 0, err)
        self.assertTrue(out.strip())

    def test_fold_lists_what_failed(self):
        self.write("d.fasta", ">too long\n%s\n>good\n%s\n" % (TOO_LONG, CHAIN_A))
        code, out, err = self.run_command("fold", "d.fasta", "--watch", "--out", "results")
        self.assertEqual(code, 1)
        self.assertIn("without a result: too_long: FAILED", err)
        code, _, _ = self.run_command("watch", out.strip())
        self.assertEqual(code, 1)

    def test_an_interrupted_run_says_how_to_go_on(self):
        self.write("d.fasta", "".join(">d%d\n%s\n" % (n, CHAIN_A + "G" * n) for n in range(40)))
        process = self.start("fold", "d.fasta", "--watch", "--out", "results")
        process.stdout.readline()
        process.stderr.readline()
        process.send_signal(signal.SIGINT)
        _, err = process.communicate(timeout=60)
        if process.returncode != 0:  # the sandbox may have been faster
            self.assertEqual(process.returncode, 130, err)
            self.assertIn("Take it up with: foldatlas results ", err)
        code, _, err = self.run_command("fold", "d.fasta", "--watch", "--out", "results")
        self.assertEqual(code, 0, err)
        self.assertEqual(len(os.listdir(os.path.join(self.folder, "results"))), 82)

    def test_query_prints_json_and_streams_lines(self):
        code, out, _ = self.run_command("query", "-", stdin="{ limits { maxTasks } }")
        self.assertEqual((code, json.loads(out)), (0, {"data": {"limits": {"maxTasks": 2000}}}))
        code, out, err = self.run_command("query", "-", stdin="{ nothing }")
        self.assertEqual(code, 1)
        self.assertIn("errors", json.loads(out))
        self.assertIn("nothing", err)
        batch = FoldAtlas(URL, self.token).submit(items("streamed"))
        document = "subscription ($id: ID!) { batchProgress(batchId: $id) { final } }"
        code, out, _ = self.run_command("query", "-", "--variables", json.dumps({"id": batch}), stdin=document)
        self.assertEqual(code, 0)
        self.assertTrue(json.loads(out.splitlines()[-1])["data"]["batchProgress"]["final"])


if __name__ == "__main__":
    unittest.main()
