"""Readers of files: what they make of each form, what they leave out with a warning, and what they refuse."""

import inspect
import json
import unittest

from foldatlas import AsyncFoldAtlas, FoldAtlas, InputError, Table, chain, notebook, parse_input, read_input
from foldatlas.cli import make_parser, price_text
from foldatlas.report import translate_issue
from foldatlas.saver import file_names
from foldatlas.submission import make_submission, submission_key
from foldatlas.text import count_of


def chains(text, name="input"):
    (item,) = parse_input(text, name).items
    return item["chains"]


class FileNames(unittest.TestCase):
    # The gateway has the same rule, and the same cases in test/folding/ranking.test.ts.
    def test_every_system_takes_them(self):
        for name, file in [
            ("蛋白一", "蛋白一"),
            ("белок №1", "белок_1"),
            ("cafe\u0301", "caf\u00e9"),
            ("प्रोटीन", "प्रोटीन"),
            ("..\\α/β", "_α_β"),
            ("😀\ud83d", "_"),
            ("con.pdb", "con_.pdb"),
            ("あ" * 90, "あ" * 80),
            ("a" * 79 + "𠮷", "a" * 79),
            ("COM¹", "COM¹_"),
            ("foldatlas", "foldatlas-2"),
        ]:
            task = {"taskId": "b-00000", "name": name, "inputIndex": 0, "repeatIndex": 0}
            self.assertEqual(file_names([task]), {"b-00000": file})
        for first, second, file in (("straße", "STRASSE", "STRASSE-2"), ("s", "ſ", "ſ-2"), ("Σ", "ς", "ς-2")):
            tasks = [{"taskId": "b-0000%d" % n, "name": name, "inputIndex": n, "repeatIndex": 0} for n, name in enumerate((first, second))]
            self.assertEqual(file_names(tasks), {"b-00000": first, "b-00001": file})


AF3 = {"dialect": "alphafold3", "version": 2, "modelSeeds": [1], "sequences": [{"protein": {"id": "A", "sequence": "GIV"}}]}
SERVED = {"dialect": "alphafoldserver", "version": 1, "sequences": [{"proteinChain": {"sequence": "GIV", "count": 1}}]}
NIX = {"sequences": [{"proteinChain": {"sequence": "GIV", "count": 1}}], "covalent_bonds": []}


class ItemNames(unittest.TestCase):
    #: The name of the file, its text, and the names of its items.
    TABLE = (
        ("design.json", json.dumps(AF3), ["design"]),
        ("design.json", json.dumps({**AF3, "name": "job"}), ["job"]),
        ("jobs.json", json.dumps([SERVED]), ["jobs"]),
        ("jobs.json", json.dumps([SERVED, {**SERVED, "name": "second"}, SERVED]), ["jobs_1", "second", "jobs_3"]),
        ("jobs.json", json.dumps([NIX]), ["jobs"]),
        ("jobs.json", json.dumps([{**NIX, "name": "first"}, NIX]), ["first", "jobs_2"]),
        ("dir.d/my.design.yaml", "sequences: [{ protein: { id: A, sequence: GIV } }]\n", ["my.design"]),
        ("boltz.fasta", ">A|protein|\nGIV\n>B|ccd\nATP\n", ["boltz"]),
        ("boltz.fasta", ">A|protein|empty\nGIV\n", ["boltz"]),
        ("chai.fasta", ">protein|name=A\nGIV\n>ligand|name=B\nCCO\n", ["chai"]),
        ("chai.fasta", ">protein|name=insulin\nGIV\n", ["insulin"]),
        ("plain.fasta", ">a\nGIV\n>b|protein\nGIV\n", ["a", "b"]),
        ("plain.fasta", ">\nGIV\n", ["plain"]),
        ("plain.fasta", ">\nGIV\n>b\nGIV\n", ["plain_1", "b"]),
        ("table.csv", "sequence\nGIV\n", ["table"]),
        ("table.tsv", "name\tsequence\na\tGIV\n\tGIV\n", ["a", "table_2"]),
        ("-", ">A|protein|\nGIV\n>B|ccd\nATP\n", ["input"]),
        ("x" * 300 + ".fa", ">\nGIV\n", ["x" * 200]),
        ("own.yaml", "items: [{ chains: [{ protein: { sequence: GIV } }] }]\n", [None]),
    )

    def test_an_item_is_called_as_in_its_file_else_as_its_file(self):
        for file, text, names in self.TABLE:
            with self.subTest(file[:20], text=text):
                self.assertEqual([item.get("name") for item in parse_input(text, file).items], names)
        with self.assertRaisesRegex(InputError, "no UTF-8"):
            parse_input(">\nGIV\n", "\udcff.fa")


class Fasta(unittest.TestCase):
    def test_a_record_is_an_item_and_a_colon_stands_between_chains(self):
        made = parse_input("\ufeff>sp|P01308|INS_HUMAN Insulin\nGIVEQ\nCC*\n>dimer\nGIV:FVN\n>\nGIV\n")
        self.assertEqual(
            made.items,
            [
                {"name": "sp|P01308|INS_HUMAN Insulin", "chains": [{"protein": {"sequence": "GIVEQCC"}}]},
                {"name": "dimer", "chains": [{"protein": {"sequence": "GIV"}}, {"protein": {"sequence": "FVN"}}]},
                {"name": "input_3", "chains": [{"protein": {"sequence": "GIV"}}]},
            ],
        )

    def test_the_header_may_end_with_kinds(self):
        self.assertEqual(chains(">aptamer|rna\nACGU\n"), [{"rna": {"sequence": "ACGU"}}])
        self.assertEqual(
            chains(">site|protein:dna:ccd\nGIV:ACGT:ATP\n"),
            [{"protein": {"sequence": "GIV"}}, {"dna": {"sequence": "ACGT"}}, {"ligand": {"ccd": ["ATP"]}}],
        )
        with self.assertRaisesRegex(InputError, r"record 1 \(site\): it has 3 chains and 2 kinds"):
            parse_input(">site|protein:dna\nGIV:ACGT:ACGT\n")

    def test_files_of_boltz_and_chai_are_one_complex(self):
        made = parse_input(">A|protein|./a.a3m\rGIV\r>B|CCD\rATP\r>C|rna\rGGGAAACCC\r>D|smiles\rC[C@H](N)C(=O)O\r")
        self.assertEqual(
            made.items,
            [
                {
                    "name": "input",
                    "chains": [
                        {"protein": {"ids": ["A"], "sequence": "GIV"}},
                        {"ligand": {"ids": ["B"], "ccd": ["ATP"]}},
                        {"rna": {"ids": ["C"], "sequence": "GGGAAACCC"}},
                        {"ligand": {"ids": ["D"], "smiles": "C[C@H](N)C(=O)O"}},
                    ]
                }
            ],
        )
        self.assertEqual(
            made.warnings,
            [
                "The 4 records are read as the chains of one complex, as Boltz does.",
                "record 1 (A): the alignment `./a.a3m` left out; the service makes its own.",
            ],
        )
        made = parse_input(">protein|name=first\nGIV\n>ligand|name=second\nCCO\n")
        self.assertEqual(
            made.items, [{"name": "input", "chains": [{"protein": {"sequence": "GIV"}}, {"ligand": {"smiles": "CCO"}}]}]
        )
        self.assertIn("as Chai does", made.warnings[0])
        with self.assertRaisesRegex(InputError, "same chain id"):
            parse_input(">A|protein|\nGIV\n>A|rna\nACGU\n")
        with self.assertRaisesRegex(InputError, "glycan"):
            parse_input(">protein|name=a\nGIV\n>glycan|name=b\nNAG(4-1 NAG)\n")

    def test_a_residue_by_its_code_is_refused_with_how_to_write_it(self):
        for text in (">protein|name=a\nAAK(SEP)GG\n", ">a\nMK[MSE]T\n", ">a|rna\nAC(5MC)G\n"):
            with self.assertRaisesRegex(InputError, r"record 1 \(a\): .(SEP|MSE|5MC). is a residue by its code.*ccd: (SEP|MSE|5MC) "):
                parse_input(text)
        self.assertEqual(parse_input(">a|protein:smiles\nGIV:C(CC)[Na]\n").items[0]["chains"][1], {"ligand": {"smiles": "C(CC)[Na]"}})

    def test_a_ligand_alone_is_refused(self):
        for text in (">lead|smiles\nCCO\n", ">target\nGIV\n>lead|ccd\nATP\n"):
            with self.assertRaisesRegex(InputError, r"record \d \(lead\): it is a ligand alone"):
                parse_input(text)

    def test_records_that_may_be_items_or_one_complex_are_refused_with_both_ways_to_write_them(self):
        for text, complex_of, items_of in (
            (">apt1|rna\nACGU\n>apt2|rna\nGGGG\n", ">apt1|rna|", ">item_apt1|rna"),
            (">A|protein\nGIV\n>B|DNA\nACGT\n", ">A|protein|", ">item_A|protein"),
            (">A|protein some words\nGIV\n>B|protein\nGIV\n", ">A|protein|", ">item_A|protein"),
            (">protein|insulin\nGIV\n>rna|aptamer\nACGU\n", ">protein|name=insulin", ">insulin|protein"),
        ):
            with self.subTest(text), self.assertRaisesRegex(InputError, "2 records may be the chains of one complex") as caught:
                parse_input(text)
            self.assertIn("`%s`" % complex_of, str(caught.exception))
            self.assertIn("`%s`" % items_of, str(caught.exception))
        for text, count, chains_of_first in (
            (">apt1|rna|\nACGU\n>apt2|rna|\nGGGG\n", 1, 2),
            (">item_apt1|rna\nACGU\n>item_apt2|rna\nGGGG\n", 2, 1),
            (">protein|name=insulin\nGIV\n>rna|name=aptamer\nACGU\n", 1, 2),
            (">insulin|protein\nGIV\n>aptamer|rna\nACGU\n", 2, 1),
            (">apt1|rna\nACGU\n>aptamer2|rna\nGGGG\n", 2, 1),
            (">apt1|rna\nACGU\n", 1, 1),
            (">A|rna|\nACGU\n", 1, 1),
            (">A|protein\nGIV\n>L|ccd\nATP\n", 1, 2),
        ):
            with self.subTest(text):
                made = parse_input(text)
                self.assertEqual((len(made.items), len(made.items[0]["chains"])), (count, chains_of_first))
        self.assertEqual(parse_input(">rna|aptamer\nACGU\n").items, [{"name": "aptamer", "chains": [{"rna": {"sequence": "ACGU"}}]}])

    def test_a_file_of_nucleotides_is_not_read_as_proteins(self):
        for name in ("x.fna", "x.FFN", "x.frn"):
            with self.assertRaisesRegex(InputError, r"^record 1 \(a\): .*`>a\|dna`"):
                parse_input(">a\nACGT\n", name)
            self.assertEqual(parse_input(">a|dna\nACGT\n", name).items[0]["chains"], [{"dna": {"sequence": "ACGT"}}])

    def test_a_kind_that_would_not_be_read_is_refused(self):
        for text, said in (
            (">screen|rna|from the screen\nACGU\n>second\nGIV\n", "has `rna`"),
            (">1D66_1|Chain A|DNA (19-MER)|synthetic\nCCGGAGGACAG\n", "has `dna`"),
            (">site|protein:rnaa\nGIV:ACGU\n", "has `protein`"),
            (">x|protein:ligand\nGIV:ATP\n", "has `protein`"),
            (">lead|ligand\nCCO\n", "has `ligand`"),
            (">A|protein|./a.a3m\nGIV\n>second\nGIV\n", "header of Boltz"),
            (">rna|name=A\nACGU\n>second\nGIV\n", "header of Chai"),
        ):
            with self.subTest(text), self.assertRaisesRegex(InputError, r"^record 1 \(.*\): .*" + said):
                parse_input(text)
        for head in ("sp|P24928|RPB1_HUMAN DNA-directed RNA polymerase", "x|RNA polymerase", "1ABC_1|Chain A|Protein|Homo sapiens", "a|gene:TP53"):
            self.assertEqual(parse_input(">%s\nGIV\n" % head).items, [{"name": head, "chains": [{"protein": {"sequence": "GIV"}}]}])

    def test_empty_chains_and_stops_inside_stay_for_the_gateway_to_refuse(self):
        self.assertEqual(chains(">a\nGIV::FVN\n")[1], {"protein": {"sequence": ""}})
        self.assertEqual(chains(">a\nGI*V\n"), [{"protein": {"sequence": "GI*V"}}])


class Tables(unittest.TestCase):
    def test_records_lines_and_columns_are_the_places_of_chains(self):
        kinds = ">A|protein\nGIV\n\n>B|ccd\nATP\n"
        rows = "name,kind,value\na,protein,GIV\nb,protein,GIV\na,ccd,ZN\n"
        for text, name, path, place in (
            ("\n\r\n>a\nGIV\nEQ\n>b\nGIV:FVN\n", "x.fasta", "items.1.chains.1.protein.sequence", "record 2 (b), chain 2"),
            (">a\rGIV\r>b\rG1V\r", "x.fasta", "items.1.chains.0.protein.sequence", "record 2 (b)"),
            (kinds, "x.fasta", "items.0.chains.1.ligand.ccd", "record 2 (B)"),
            ("name,sequence,smiles\na,GIV:FVN,CCO\n\nb,GIV,\n", "x.csv", "items.1.chains.0.protein.sequence", "line 4, column sequence"),
            ("name,sequence,smiles\na,GIV:FVN,CCO\n", "x.csv", "items.0.chains.2.ligand.smiles", "line 2, column smiles"),
            ("name,sequence\na,\nb,GIV\n", "x.csv", "items.0.chains", "line 2"),
            (rows, "x.csv", "items.0.chains.1.ligand.ccd.0", "line 4, column value"),
            (rows, "x.csv", "items.1", "line 3"),
        ):
            with self.subTest(text):
                issue = {"path": path, "code": "BAD_LETTER", "message": '"1" at position 3 (0-based) is wrong.', "hint": None}
                told = translate_issue(issue, parse_input(text, name))
                self.assertEqual((told["path"], told["message"]), (place, '"1" at position 4 is wrong.'))

    def test_a_megabyte_of_chains_is_read_in_linear_time(self):
        last = "items.0.chains.99999.protein.sequence"
        for text, place in ((">a\n" + "G:" * 99999 + "G\n", "record 1 (a), chain 100000"), (">protein|name=\nG\n" * 100000, "record 100000")):
            self.assertEqual(parse_input(text, "x.fasta").places[last], place)

    def test_no_cell_is_dropped_and_no_ligand_is_cut_or_joined(self):
        (item,) = parse_input(">x|protein:smiles\nMK*\nTA*:CC(=O)N*\n").items
        self.assertEqual([list(one.values())[0] for one in item["chains"]], [{"sequence": "MK*TA"}, {"smiles": "CC(=O)N*"}])
        made = parse_input(">A|protein\nGIV\n>B|ccd\nATP MG\n").items[0]["chains"]
        self.assertEqual(made[1], {"ligand": {"ids": ["B"], "ccd": ["ATP", "MG"]}})
        for text, name, said in (
            (">A|protein\nGIV\n>B|smiles\nCCO\nCCN\n", "x.fasta", r"record 2 \(B\): a SMILES has no white space"),
            (">protein|name=a\nGIV\n>ligand|name=b\nCCO CCN\n", "x.fasta", "a SMILES has no white space"),
            ("name,kind,sequence\na,dna,ACGT\n", "x.csv", "line 1: the columns are name, kind, sequence"),
            ("name,kind,value,ccd\na,protein,GIV,ATP\n", "x.csv", "line 1: the columns are name, kind, value, ccd"),
            ("name,value,protein\na,ATP,GIV\n", "x.csv", "line 1: the columns are name, value, protein"),
            ("name,kind,value\na,protein,GIV\n,ccd,ATP\n", "x.csv", "line 3, column name: there is no name"),
        ):
            with self.subTest(text), self.assertRaisesRegex(InputError, said):
                parse_input(text, name)

    def test_a_table_of_colabfold_is_read_and_one_with_semicolons_is_told(self):
        made = parse_input("id,sequence\nx,GIV:FVN\n", "a.csv")
        self.assertEqual(
            made.items, [{"name": "x", "chains": [{"protein": {"sequence": "GIV"}}, {"protein": {"sequence": "FVN"}}]}]
        )
        with self.assertRaisesRegex(InputError, "column id: this is not understood"):
            parse_input("id,name,sequence\nx,y,GIV\n", "a.csv")
        with self.assertRaisesRegex(InputError, "semicolons"):
            parse_input("name;sequence\nx;GIV\n", "a.csv")

    def test_a_row_is_an_item(self):
        made = parse_input("name,sequence,smiles\na,GIV:FVN,CC(=O)O\nb,GIV,\n", "x.csv")
        self.assertEqual(made.items[0]["chains"][2], {"ligand": {"smiles": "CC(=O)O"}})
        self.assertEqual(len(made.items[1]["chains"]), 1)

    def test_a_row_may_be_a_chain(self):
        made = parse_input("name\tkind\tvalue\na\tprotein\tGIV\na\tccd\tZN\nb\trna\tACGU\n", "x.tsv")
        self.assertEqual([item["name"] for item in made.items], ["a", "b"])
        self.assertEqual(made.items[0]["chains"], [{"protein": {"sequence": "GIV"}}, {"ligand": {"ccd": ["ZN"]}}])

    def test_columns_and_cells_that_mean_nothing_are_refused(self):
        with self.assertRaisesRegex(InputError, "heavy_chain"):
            parse_input("name,heavy_chain\na,GIV\n", "x.csv")
        with self.assertRaisesRegex(InputError, "^line 2: "):
            parse_input("name,sequence\na,GIV,FVN\n", "x.csv")
        for word in ("NA", "nan", "NaN", "N/A", "NULL", "None", "<NA>"):
            for column in ("protein_2", "dna", "ccd", "smiles"):
                with self.subTest(word, column=column), self.assertRaisesRegex(InputError, "^line 3, column %s: %s stands for no value" % (column, word)):
                    parse_input("name,sequence,%s\na,GIV,\nb,GIV,%s\n" % (column, word), "x.csv")
        self.assertEqual(parse_input("name,kind,value\na,protein,GIV\na,ccd,NA\n", "x.csv").items[0]["chains"][1], {"ligand": {"ccd": ["NA"]}})
        with self.assertRaisesRegex(InputError, "^line 3: a row that begins with #"):
            parse_input("name,sequence\na,GIV\n#b,GIV\n", "x.csv")
        with self.assertRaisesRegex(InputError, "kind of chain"):
            parse_input("name,kind,value\na,antibody,GIV\n", "x.csv")


class Documents(unittest.TestCase):
    def test_our_own_form_is_the_input_of_submit_fold(self):
        made = parse_input("label: first\nrepeat: 2\nitems:\n  - name: a\n    chains:\n      - protein: { sequence: GIV }\n")
        self.assertEqual(made.options, {"label": "first", "repeat": 2})
        self.assertEqual(made.items, [{"name": "a", "chains": [{"protein": {"sequence": "GIV"}}]}])

    def test_a_key_that_stands_twice_is_refused(self):
        for text in ('{"items": [], "items": []}', "items: []\nitems: []\n"):
            with self.assertRaisesRegex(InputError, "stands twice"):
                parse_input(text)

    def test_text_without_items_is_refused_with_an_example(self):
        for text in ("hello\n", "[1", '{"proteins": []}', ""):
            with self.assertRaises(InputError):
                parse_input(text)


ALPHAFOLD = {
    "name": "complex",
    "modelSeeds": [1, 2],
    "sequences": [
        {"protein": {"id": ["A", "B"], "sequence": "GIV", "modifications": [{"ptmType": "SEP", "ptmPosition": 2}], "unpairedMsa": ">x\nGIV"}},
        {"rna": {"id": "R", "sequence": "ACGU", "modifications": [{"modificationType": "2MG", "basePosition": 1}]}},
        {"ligand": {"id": "L", "ccdCodes": ["ATP"]}},
        {"ligand": {"id": "M", "smiles": "CCO"}},
    ],
    "dialect": "alphafold3",
    "version": 2,
}


class AlphaFold(unittest.TestCase):
    def test_positions_become_0_based_and_what_has_no_counterpart_is_named(self):
        made = parse_input(json.dumps(ALPHAFOLD), "job.json")
        self.assertEqual(
            made.items,
            [
                {
                    "name": "complex",
                    "chains": [
                        {"protein": {"ids": ["A", "B"], "sequence": "GIV", "modifications": [{"ccd": "SEP", "position": 1}]}},
                        {"rna": {"ids": ["R"], "sequence": "ACGU", "modifications": [{"ccd": "2MG", "position": 0}]}},
                        {"ligand": {"ids": ["L"], "ccd": ["ATP"]}},
                        {"ligand": {"ids": ["M"], "smiles": "CCO"}},
                    ],
                }
            ],
        )
        self.assertEqual(len(made.warnings), 2)
        self.assertIn("complex: `modelSeeds` left out", made.warnings[0])
        self.assertIn("complex: `sequences[0].protein.unpairedMsa` left out", made.warnings[1])

    def test_bonds_keep_the_names_of_their_atoms(self):
        made = parse_input(json.dumps({**ALPHAFOLD, "bondedAtomPairs": [[["A", 2, "CG1"], ["L", 1, "C1"]]]}))
        (bond,) = made.items[0]["covalentBonds"]
        self.assertEqual(
            bond,
            {
                **{"chainId1": "A", "residueIndex1": 1, "atomName1": "CG1"},
                **{"chainId2": "L", "residueIndex2": 0, "atomName2": "C1"},
            },
        )

    def test_what_changes_the_molecule_is_refused(self):
        bonds = {**ALPHAFOLD, "bondedAtomPairs": [[["A", 1, "CA"]]]}
        for job, said in (
            (bonds, r"bondedAtomPairs\[0\]: .* the two atoms of a bond"),
            ({**ALPHAFOLD, "userCCD": "data_X"}, "SMILES"),
            ({**ALPHAFOLD, "new": 1}, "`new`"),
        ):
            with self.assertRaisesRegex(InputError, said):
                parse_input(json.dumps(job))

    def test_jobs_of_the_server_are_items(self):
        job = {
            "name": "served",
            "modelSeeds": [],
            "sequences": [{"proteinChain": {"sequence": "GIV", "count": 2}}, {"ion": {"ion": "MG", "count": 1}}],
            "dialect": "alphafoldserver",
            "version": 1,
        }
        made = parse_input(json.dumps([job, {**job, "name": "other"}]))
        self.assertEqual([item["name"] for item in made.items], ["served", "other"])
        self.assertEqual(
            made.items[0]["chains"],
            [{"protein": {"sequence": "GIV"}}, {"protein": {"sequence": "GIV"}}, {"ligand": {"ccd": ["MG"]}}],
        )


BOLTZ = """version: 1
sequences:
  - protein: { id: [A, B], sequence: GIV, msa: ./a.a3m }
  - dna: { id: D, sequence: ACGT }
  - ligand: { id: L, ccd: "017" }
constraints:
  - pocket: { binder: L, contacts: [[A, 3]], max_distance: 6 }
"""


class Boltz(unittest.TestCase):
    def test_it_is_one_item_named_by_its_file(self):
        made = parse_input(BOLTZ, "design.yaml")
        (item,) = made.items
        self.assertEqual(item["name"], "design")
        self.assertEqual(item["chains"][0], {"protein": {"ids": ["A", "B"], "sequence": "GIV"}})
        self.assertEqual(item["chains"][2], {"ligand": {"ids": ["L"], "ccd": ["017"]}})
        self.assertEqual(item["pocket"], {"binderChainId": "L", "contacts": [{"chainId": "A", "residueIndex": 2}]})
        self.assertEqual(len(made.warnings), 2)

    def test_codes_that_yaml_reads_as_numbers_are_refused(self):
        with self.assertRaisesRegex(InputError, "Quote it"):
            parse_input(BOLTZ.replace('"017"', "017"), "design.yaml")

    def test_what_changes_the_molecule_is_refused(self):
        for change, said in (("msa: ./a.a3m", "cyclic: true"), ("max_distance: 6", "other: 1")):
            with self.assertRaises(InputError):
                parse_input(BOLTZ.replace(change, said), "design.yaml")

    def test_bonds_keep_the_names_of_their_atoms(self):
        made = parse_input(BOLTZ + "  - bond: { atom1: [A, 1, CA], atom2: [L, 1, C1] }\n", "design.yaml")
        self.assertEqual(
            made.items[0]["covalentBonds"],
            [
                {
                    **{"chainId1": "A", "residueIndex1": 0, "atomName1": "CA"},
                    **{"chainId2": "L", "residueIndex2": 0, "atomName2": "C1"},
                }
            ],
        )


class WrittenNumbers(unittest.TestCase):
    def test_a_whole_number_that_yaml_reads_as_another_one_is_refused_with_its_place(self):
        boltz = "sequences:\n  - protein: { id: A, sequence: GIVEQCCTSICSLYQ, modifications: [{ position: %s, ccd: SEP }] }\n"
        own = "repeat: %s\nitems: [{ chains: [{ protein: { sequence: GIV } }] }]\n"
        for written, read in (("010", 8), ("011", 9), ("0x0A", 10), ("0b11", 3), ("1_0", 10), ("1:30", 90), ("+010", 8)):
            for form, place in ((boltz, "sequences[0].protein.modifications[0].position"), (own, "repeat")):
                with self.subTest(written, place=place), self.assertRaises(InputError) as caught:
                    parse_input(form % written, "x.yaml")
                self.assertEqual(str(caught.exception).split(" Write")[0], "%s: this is written `%s`, which YAML reads as %d." % (place, written, read))
        for written in ("08", "0o10"):
            with self.assertRaisesRegex(InputError, 'not the text "%s"' % written):
                parse_input(boltz % written, "x.yaml")
        for written in ("10", "+10"):
            self.assertEqual(parse_input(boltz % written, "x.yaml").items[0]["chains"][0]["protein"]["modifications"][0]["position"], 9)
        with self.assertRaisesRegex(InputError, r"position: this is written `010`"):
            parse_input('{"sequences": [{"protein": {"id": "A", "sequence": "GIV", "modifications": [{"ccd": "SEP", "position": 010}]}}]}', "x.json")


class Protenix(unittest.TestCase):
    def test_the_assembly_that_a_job_was_made_from_changes_nothing(self):
        job = '[{"sequences": [{"rnaSequence": {"sequence": "ACCA", "count": 1}}], "modelSeeds": [], "assembly_id": "1", "name": "9gmw_2"}]'
        made = parse_input(job, "x.json")
        self.assertEqual(made.items, [{"name": "9gmw_2", "chains": [{"rna": {"sequence": "ACCA"}}]}])
        self.assertEqual(made.warnings, [])


class LeftOut(unittest.TestCase):
    def test_whatever_of_a_file_is_not_handed_on_is_named(self):
        def protein(**more):
            return {"protein": {"id": "A", "sequence": "GIV", **more}}

        def alphafold(**more):
            return {**ALPHAFOLD, "modelSeeds": [], "sequences": [protein(**more)]}

        def served(**more):
            return [{"name": "s", "sequences": [{"proteinChain": {"sequence": "GIV", "count": 1, **more}}], "dialect": "alphafoldserver", "version": 1}]

        def boltz(protein_more=None, **more):
            return {"sequences": [protein(**(protein_more or {})), {"ligand": {"id": "L", "ccd": "ATP"}}], **more}

        pocket = {"binder": "L", "contacts": [["A", 1]]}
        for document, named in (
            (alphafold(unpairedMsa=""), "sequences[0].protein.unpairedMsa"),
            (alphafold(pairedMsaPath="a.a3m"), "sequences[0].protein.pairedMsaPath"),
            (alphafold(templates=[]), "sequences[0].protein.templates"),
            (served(useStructureTemplate=False), "[0].sequences[0].proteinChain.useStructureTemplate"),
            (served(maxTemplateDate="2020-01-01"), "[0].sequences[0].proteinChain.maxTemplateDate"),
            (boltz({"msa": "empty"}), "sequences[0].protein.msa"),
            (boltz({"msa": "a.a3m"}), "sequences[0].protein.msa"),
            (boltz(templates=[{"cif": "a.cif"}]), "templates"),
            (boltz(properties=[{"affinity": {"binder": "L"}}]), "properties"),
            (boltz(constraints=[{"pocket": {**pocket, "max_distance": 6}}]), "constraints[0].pocket.max_distance"),
            (boltz(constraints=[{"pocket": {**pocket, "force": False}}]), "constraints[0].pocket.force"),
        ):
            with self.subTest(named):
                (warning,) = parse_input(json.dumps(document), "file.json").warnings
                self.assertIn("`%s` left out" % named, warning)
        nix = [{"name": "x", "sequences": [{"proteinChain": {"sequence": "GIV", "count": 1, "unpairedMsaPath": "a.a3m", "templatesPath": "a.hhr"}}]}]
        self.assertEqual(
            parse_input(json.dumps(nix), "file.json").warnings,
            [
                "x: `[0].sequences[0].proteinChain.unpairedMsaPath` left out; the service makes its own.",
                "x: `[0].sequences[0].proteinChain.templatesPath` left out; the service takes none.",
            ],
        )
        for document in (alphafold(), served(), boltz(), alphafold(description="mine")):
            self.assertEqual(parse_input(json.dumps(document), "file.json").warnings, [])
        for document, said in (
            ({**ALPHAFOLD, "userCCDPath": "a.cif"}, "component of its own"),
            (served(glycans=[{"residues": "NAG", "position": 1}]), "glycans"),
            (boltz({"cyclic": True}), "cyclic"),
            (boltz(constraints=[{"contact": {"token1": ["A", 1], "token2": ["L", 1]}}]), "contact"),
            (boltz(constraints=[{"pocket": pocket}, {"pocket": pocket}]), "one pocket"),
        ):
            with self.subTest(said), self.assertRaisesRegex(InputError, said):
                parse_input(json.dumps(document), "file.json")


class Keys(unittest.TestCase):
    def test_the_key_is_that_of_the_content(self):
        items = [{"name": "a", "chains": [{"protein": {"sequence": "GIV", "ids": ["A"]}}]}]
        turned = [{"chains": [{"protein": {"ids": ["A"], "sequence": "GIV"}}], "name": "a"}]
        self.assertEqual(submission_key({"items": items}), submission_key({"items": turned}))
        self.assertNotEqual(submission_key({"items": items}), submission_key({"items": items}, "again"))
        self.assertNotEqual(submission_key({"items": items}), submission_key({"items": items, "repeat": 2}))

    def test_a_key_in_the_file_wins_unless_it_is_to_be_paid_again(self):
        made = parse_input('{"idempotencyKey": "mine", "items": [{"chains": []}]}')
        self.assertEqual(make_submission(made, {})["idempotencyKey"], "mine")
        self.assertNotEqual(make_submission(made, {}, "again")["idempotencyKey"], "mine")
        self.assertEqual(make_submission(made, {}, "", "other")["idempotencyKey"], "other")

    def test_whom_to_notify_is_no_part_of_the_key(self) -> None:
        items = [{"chains": [{"protein": {"sequence": "MKV"}}]}]
        notified = make_submission(items, {"notify": {"url": "https://hooks.example.org/"}})
        self.assertEqual(notified["notify"], {"url": "https://hooks.example.org/"})
        self.assertEqual(notified["idempotencyKey"], make_submission(items, {})["idempotencyKey"])


class Arguments(unittest.TestCase):
    def test_none_leaves_out_every_optional_argument(self):
        public = [chain, parse_input, read_input, Table.__init__, notebook.plddt, notebook.features, notebook.pae, notebook.structure]
        for one in (FoldAtlas, AsyncFoldAtlas):
            public += [function for name, function in inspect.getmembers(one, inspect.isfunction) if name == "__init__" or name[0] != "_"]
        optional = 0
        for function in public:
            for name, parameter in inspect.signature(function).parameters.items():
                if parameter.default is not inspect.Parameter.empty:
                    optional += 1
                    self.assertIsNone(parameter.default, (function, name))
        self.assertGreater(optional, 30)
        self.assertEqual(FoldAtlas(None, None, None).transport.timeout, 270)
        self.assertEqual(make_submission([], {"label": None}, None, None), make_submission([], {}))
        self.assertEqual(parse_input(">a\nGIV\n", None).items, parse_input(">a\nGIV\n").items)
        self.assertEqual(Table(["a"], None), [])
        self.assertIn("<title>pLDDT</title>", notebook.plddt([90], None).text)
        self.assertIn("<title>predicted aligned error</title>", notebook.pae({"values": [[1]], "step": 1}, None, None).text)

    def test_a_count_is_a_whole_number_from_1(self):
        atlas = FoldAtlas("http://127.0.0.1:9")
        for value, shown in ((0, "the number 0"), (-1, "the number -1"), (True, "true"), ("3", 'the text "3"'), (2.0, "the number 2.0")):
            for name, call in (
                ("first", lambda: atlas.batches(value)),
                ("first", lambda: atlas.features(first=value)),
                ("first", lambda: atlas.similar("GIV", value)),
                ("best", lambda: atlas.results("b", "folder", value)),
            ):
                with self.subTest(name, value=value), self.assertRaisesRegex(InputError, "^%s: this must be a whole number from 1, not %s" % (name, shown)):
                    call()
        for words, said in (
            (("rank", "b", "--best", "0"), "--best: must be a whole number from 1, not 0"),
            (("results", "b", "--best", "1.5"), "--best: must be a whole number from 1, not 1.5"),
            (("batches", "--first", "-1"), "--first: must be a whole number from 1, not -1"),
            (("rank", "b", "--min-iptm", "nan"), "--min-iptm: must be a number from 0 to 1, not nan"),
            (("rank", "b", "--min-ipsae", "2"), "--min-ipsae: must be a number from 0 to 1, not 2"),
        ):
            with self.subTest(words), self.assertRaisesRegex(Exception, said):
                make_parser().parse_args(words)
        self.assertEqual(make_parser().parse_args(["rank", "b", "--min-iptm", "0.75"]).min_iptm, 0.75)


class Cells(unittest.TestCase):
    def test_readers_of_tables_find_every_row_with_its_text(self):
        import csv

        texts = ['"P01308', 'P69905"', 'a "b" c', '"', "it's", "", "A-B", "-5", "+1.5e-3"]
        text = Table(["id", "n"], [{"id": one, "n": number} for number, one in enumerate(texts)]).to_tsv()
        rows = list(csv.reader(text.splitlines(), delimiter="\t"))
        self.assertEqual(rows[1:], [[one, str(number)] for number, one in enumerate(texts)])

    def test_no_cell_is_a_formula(self):
        for formula in ("=1+1", "+SUM(A1)", "-A1", "@x", " =1+1", "\t=1", "\uff1d1+1", '="x"'):
            (cell,) = Table(["id"], [{"id": formula}]).to_tsv().splitlines()[1:]
            self.assertRegex(cell, "^\"?'", formula)


class Words(unittest.TestCase):
    def test_numbers_have_four_decimals_at_most(self):
        row = {"a": 0.123456, "b": 0.5, "c": -0.00001, "d": 80.0, "e": {"A-B": 0.99999, "A-C": 0.0}, "f": None, "g": 7, "h": "-0.123456"}
        self.assertEqual(Table(list(row), [row]).to_tsv().splitlines()[1].split("\t"), ["0.1235", "0.5", "0", "80", "A-B:1 A-C:0", "", "7", "-0.123456"])

    def test_one_is_singular(self):
        self.assertEqual([count_of(n, "task") for n in (0, 1, 2, 2000)], ["0 tasks", "1 task", "2 tasks", "2,000 tasks"])
        check = {"taskCount": 1, "totalLength": 1, "batchCount": 1}
        self.assertRegex(price_text(check), "^1 task, 1 residue or nucleotide in all, in 1 batch[.]")
        check = {"taskCount": 2001, "totalLength": 4002, "batchCount": 2}
        self.assertRegex(price_text(check), "^2,001 tasks, 4,002 residues and nucleotides in all, in 2 batches[.]")
        with self.assertRaisesRegex(InputError, "it has 3 chains and 2 kinds"):
            parse_input(">site|protein:dna\nG:A:C\n")
        with self.assertRaisesRegex(InputError, "it has 1 chain and 2 kinds"):
            parse_input(">site|protein:dna\nG\n")


class ManyMistakes(unittest.TestCase):
    def test_a_quote_that_stays_open_hides_no_mistake_before_it(self):
        with self.assertRaises(InputError) as caught:
            parse_input('name,kind,value\na,x,GIV\nb,protein,"GIV\n', "x.csv")
        self.assertEqual([line.split(":")[0] for line in caught.exception.issues], ["line 2, column kind", "line 3"])

    def test_items_that_a_script_changes_have_places_still(self):
        made = parse_input("name,sequence\na,GIV\nb,GIV\n", "x.csv")
        made.files = [("x.csv", 0), ("y.csv", 1)]
        made.items = [{"chains": item["chains"]} for item in made.items]
        issue = {"path": "items.1", "code": "IDENTICAL_ITEM", "message": "Item 1 is the same as item 0.", "hint": None}
        told = translate_issue(issue, made)
        self.assertEqual((told["path"], told["message"]), ("y.csv: line 3", "This is the same as line 2."))

    def test_the_first_are_told_and_the_rest_is_counted(self):
        for text, name in (
            (">a|rna:dna\nG\n" * 60_000, "x.fasta"),
            ("name,kind,value\n" + "a,x,GIVEQ\n" * 60_000, "x.csv"),
            ("name\tsequence\n" + "a\tGIVEQ\tx\n" * 60_000, "x.tsv"),
        ):
            with self.subTest(name), self.assertRaises(InputError) as caught:
                parse_input(text, name)
            first, *lines = str(caught.exception).split("\n")
            self.assertEqual((first, len(lines)), ("There are 60,000 mistakes, of which the first 10 are told; nothing was sent.", 10))
            self.assertRegex(lines[9], "^(record 10 |line 11)")


if __name__ == "__main__":
    unittest.main()
