"""Wrong shapes in files: whatever stands in the place of a value, the reader says a sentence with that place, or reads the same molecule."""

import copy
import json
import re
import unittest

from foldatlas import InputError, parse_input
from foldatlas.submission import make_submission

ALPHAFOLD = {
    "name": "complex",
    "modelSeeds": [1],
    "sequences": [
        {"protein": {"id": ["A", "B"], "sequence": "GIVEQ", "modifications": [{"ptmType": "SEP", "ptmPosition": 2}]}},
        {"dna": {"id": "D", "sequence": "ACGT", "modifications": [{"modificationType": "6OG", "basePosition": 3}]}},
        {"ligand": {"id": "L", "ccdCodes": ["ATP", "MG"]}},
        {"ligand": {"id": "M", "smiles": "CCO"}},
    ],
    "bondedAtomPairs": [[["A", 2, "SG"], ["L", 1, "C1"]]],
    "dialect": "alphafold3",
    "version": 2,
}
SERVER = [
    {
        "name": "served",
        "modelSeeds": ["7"],
        "sequences": [
            {"proteinChain": {"sequence": "GIVEQ", "count": 2, "modifications": [{"ptmType": "CCD_SEP", "ptmPosition": 2}]}},
            {"rnaSequence": {"sequence": "ACGU", "count": 1, "modifications": [{"modificationType": "CCD_2MG", "basePosition": 1}]}},
            {"ligand": {"ligand": "CCD_ATP", "count": 1}},
            {"ion": {"ion": "MG", "count": 3}},
        ],
        "dialect": "alphafoldserver",
        "version": 1,
    }
]
PROTENIX = [
    {
        "name": "nix",
        "sequences": [
            {"proteinChain": {"sequence": "GIVEQ", "count": 2, "modifications": [{"ptmType": "CCD_SEP", "ptmPosition": 2}]}},
            {"ligand": {"ligand": "CCD_NAG_BMA", "count": 2}},
            {"ligand": {"ligand": "CCO", "count": 1}},
            {"ion": {"ion": "MG", "count": 1}},
        ],
        "covalent_bonds": [
            {"entity1": "1", "copy1": 1, "position1": "3", "atom1": "ND2", "entity2": 2, "copy2": 2, "position2": 1, "atom2": "C1"},
            {"entity1": 1, "position1": 1, "atom1": "N", "entity2": 2, "position2": 2, "atom2": "C1"},
        ],
        "constraint": {
            "pocket": {
                "binder_chain": {"entity": 3, "copy": 1},
                "contact_residues": [{"entity": 1, "copy": 2, "position": 4}],
            }
        },
    }
]
BOLTZ = {
    "version": 1,
    "sequences": [
        {"protein": {"id": ["A", "B"], "sequence": "GIVEQ", "msa": "empty", "modifications": [{"position": 2, "ccd": "SEP"}], "cyclic": False}},
        {"ligand": {"id": "L", "ccd": "ATP"}},
        {"ligand": {"id": ["M"], "smiles": "CCO"}},
    ],
    "constraints": [
        {"bond": {"atom1": ["A", 2, "SG"], "atom2": ["L", 1, "C1"]}},
        {"pocket": {"binder": "L", "contacts": [["A", 3], ["B", 4]], "max_distance": 6.0, "force": True}},
    ],
}
OWN = {
    "label": "round",
    "repeat": 2,
    "model": "m",
    "items": [
        {
            "name": "own",
            "chains": [
                {"protein": {"ids": ["A", "B"], "sequence": "GIVEQ", "modifications": [{"position": 1, "ccd": "SEP"}]}},
                {"ligand": {"ids": ["L"], "ccd": ["ATP"]}},
                {"ligand": {"smiles": "CCO"}},
            ],
            "covalentBonds": [
                {"chainId1": "A", "residueIndex1": 1, "atomName1": "SG", "chainId2": "L", "residueIndex2": 0, "atomIndex2": 4}
            ],
            "pocket": {"binderChainId": "L", "contacts": [{"chainId": "A", "residueIndex": 3}]},
            "distogramConditioning": [{"chainId": "A", "distogram": [[1, 2], [2, 1]]}],
            "includePae": True,
        }
    ],
}
DOCUMENTS = {"AlphaFold 3": ALPHAFOLD, "AlphaFold Server": SERVER, "Protenix": PROTENIX, "Boltz": BOLTZ, "own": OWN}

WRONG = [None, True, False, 0, -1, 1, 7, 2.5, 1e3, 10**30, "", "X", "2", "NO", [], [None], ["X"], ["X", "Y"], [1], [[]], [["X"]], {}]
WRONG += [{"X": "Y"}, [{"X": 1}], {"protein": {}}, "\ud800"]

#: What says nothing about the molecule: it is left out, with a warning where it matters.
IMMATERIAL = re.compile(r"modelSeeds|msa$|version|max_distance|force|description")


def nodes(value, path=()):
    yield path
    children = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, child in children:
        yield from nodes(child, (*path, key))


def at(document, path):
    for key in path:
        document = document[key]
    return document


def replaced(document, path, value):
    made = copy.deepcopy(document)
    if not path:
        return value
    at(made, path[:-1])[path[-1]] = value
    return made


def place(path):
    return "".join("[%d]" % key if isinstance(key, int) else "." + key for key in path).lstrip(".")


def result(document):
    made = parse_input(json.dumps(document), "file.json")
    return {"items": made.items, "options": made.options}


def kind(path, value):
    """What a value is: where one or several texts may stand, both are the same, and numbers of Protenix may be texts."""
    if isinstance(value, list):
        # Their members are tried one by one as well.
        return "list" if not all(isinstance(one, str) for one in value) or path[-1] not in ("id", "ccd") else "text"
    if isinstance(value, str) and re.match(r"(entity|copy|position)\d?$", str(path[-1])) and value.isdigit():
        return "int"
    return {str: "text", dict: "object"}.get(type(value), type(value).__name__)


def strip(value):
    """Without what is null, false or empty."""
    if isinstance(value, dict):
        stripped = {key: strip(one) for key, one in value.items()}
        return {key: one for key, one in stripped.items() if one not in (None, False, [], {})}
    return [strip(one) for one in value] if isinstance(value, list) else value


class WrongShapes(unittest.TestCase):
    def assert_same_molecule(self, document, path, value):
        """What was read has a value of the same kind, or is what the file says without it."""
        old, found = at(document, path), result(replaced(document, path, value))
        if IMMATERIAL.search(place(path)):
            self.assertEqual(found, result(document))
        elif path and isinstance(path[-1], str) and value in (None, False, [], {}) and type(value) is not int:
            without = copy.deepcopy(document)
            del at(without, path[:-1])[path[-1]]
            try:
                self.assertEqual(strip(found), strip(result(without)))
            except InputError:  # it must be there, and the gateway refuses an empty one
                self.assertEqual(kind(path, value), kind(path, old), found)
        else:
            self.assertEqual(kind(path, value), kind(path, old), found)

    def test_each_is_a_sentence_with_its_place_or_the_same_molecule(self):
        refused = read = 0
        for name, document in DOCUMENTS.items():
            result(document)
            for path in nodes(document):
                for value in WRONG:
                    with self.subTest(name, path=place(path), value=value):
                        try:
                            parse_input(json.dumps(replaced(document, path, value)), "file.json")
                        except InputError as error:
                            refused += 1
                            for said in error.issues or [str(error)]:
                                self.assertLess(len(said), 400)
                                if path and name != "own":
                                    self.assert_names_the_place(said, path, value)
                            continue
                        read += 1
                        self.assert_same_molecule(document, path, value)
        self.assertGreater(refused, 3000)
        self.assertGreater(read, 200)

    def assert_names_the_place(self, said, path, value):
        """The place stands before the colon: of the value, or of what is around it or refers to it."""
        if path[-1] in ("dialect", "sequences", "covalent_bonds"):
            return  # by these a format is known, and another one may complain of anything
        head = said.split(": ", 1)[0]
        whole = place(path)
        is_related = head.startswith(whole) or whole.startswith(head)
        is_of_references = re.match(r"(\[0\]\.)?(covalent_bonds|constraint|bondedAtomPairs|constraints)", head)
        is_of_format = "holds no items" in said or "it has `" in said or head in ("file", "complex")
        self.assertTrue(is_related or is_of_references or is_of_format, (said, whole, value))

    def test_an_unknown_key_is_never_dropped(self):
        for name, document in DOCUMENTS.items():
            for path in nodes(document):
                if isinstance(at(document, path), dict):
                    changed = copy.deepcopy(document)
                    at(changed, path)["surprise"] = 1
                    with self.subTest(name, path=place(path)), self.assertRaises(InputError):
                        parse_input(json.dumps(changed), "file.json")

    def test_another_value_is_another_fold_or_is_named_in_a_warning(self):
        others = {str: ["W", "ZN", "CCN", "9", "L"], int: [1, 3, 9], float: [9.5], bool: [True, False]}
        more = {
            "Boltz": ("sequences", 0, "protein", "msa"),
            "AlphaFold 3": ("sequences", 0, "protein", "unpairedMsa"),
            "AlphaFold Server": (0, "sequences", 0, "proteinChain", "maxTemplateDate"),
            "Protenix": (0, "sequences", 0, "proteinChain", "unpairedMsaPath"),
        }
        tried = 0
        for name, document in DOCUMENTS.items():
            if name in more:
                document = replaced(document, more[name], "a.a3m")
            before = result(document)
            for path in nodes(document):
                value = at(document, path)
                if isinstance(value, (dict, list)) or path[-1] in ("version", "description"):
                    continue
                for other in others[type(value)]:
                    if other == value or self.mistakes(replaced(document, path, other)):
                        continue
                    tried += 1
                    made = parse_input(json.dumps(replaced(document, path, other)), "file.json")
                    named = place(path[:-1] if isinstance(path[-1], int) else path)
                    is_named = any("`%s`" % named in warning for warning in made.warnings)
                    is_other = {"items": made.items, "options": made.options} != before
                    self.assertTrue(is_named or is_other, (name, place(path), other, made.warnings))
        self.assertGreater(tried, 150)

    def test_mistakes_in_several_places_are_all_told_once_and_no_more_than_ten(self):
        wrong = [7, {"X": 1}]
        for name, document in DOCUMENTS.items():
            # By the dialect a format is known: a wrong one ends the reading.
            leaves = [path for path in nodes(document) if not isinstance(at(document, path), (dict, list)) and path[-1] != "dialect"]
            for value in wrong:
                for first, second in zip(leaves, leaves[3:]):
                    with self.subTest(name, first=place(first), second=place(second), value=value):
                        alone = [self.mistakes(replaced(document, path, value)) for path in (first, second)]
                        both = self.mistakes(replaced(replaced(document, first, value), second, value))
                        self.assertLessEqual(set(both), {line for lines in alone for line in lines})
                        if all(len(lines) == 1 and "this must be" in lines[0] for lines in alone):
                            self.assertEqual(len(both), 2)
        job = {"name": "x", "modelSeeds": [1], "sequences": [{"protein": {"id": 7, "sequence": 1}}]}
        self.assertEqual([line.split(":")[0] for line in self.mistakes([job, job])],
                         ["[%d].sequences[0].protein.%s" % (n, key) for n in (0, 1) for key in ("id", "sequence")])
        many = self.mistakes([{"chains": [{"protein": {"sequence": 1}}]}] * 1000)
        self.assertEqual((len(many), many[9].split(":")[0]), (10, "[9].chains[0].protein.sequence"))
        self.assertEqual(len(self.mistakes([job] * 1000)), 10)
        for text, name in (("name,kind,value\n" + "a,x,G\n" * 1000, "x.csv"), (("".join(">r%d|rna:dna\nG\n" % n for n in range(1000))), "x.fasta")):
            with self.assertRaises(InputError) as caught:
                parse_input(text, name)
            self.assertEqual(len(caught.exception.issues), 10)
            self.assertIn("There are 1,000 mistakes, of which the first 10 are told", str(caught.exception))

    def mistakes(self, document):
        try:
            parse_input(json.dumps(document), "file.json")
            return []
        except InputError as error:
            return error.issues or [str(error)]

    def test_the_same_shapes_from_python_are_refused_before_they_are_sent(self):
        for items in (None, 7, "GIV", {"chains": []}, [["GIV"]], [{"chains": {}}], [{"chains": [{"ligand": {"ccd": "ATP"}}]}], [None]):
            with self.subTest(items), self.assertRaises(InputError):
                make_submission(items, {})


class Examples(unittest.TestCase):
    def refuse(self, text, said, name="file.json"):
        with self.assertRaises(InputError) as caught:
            parse_input(text, name)
        self.assertIn(said, str(caught.exception))

    def test_codes_of_alphafold_are_a_list(self):
        job = replaced(ALPHAFOLD, ("sequences", 2, "ligand", "ccdCodes"), "ATP")
        self.refuse(json.dumps(job), 'sequences[2].ligand.ccdCodes: this must be a list, not the text "ATP".')

    def test_words_that_yaml_reads_as_something_else_are_to_be_quoted(self):
        own = "items:\n  - name: %s\n    chains:\n      - protein: { sequence: GIV }\n      - ligand: { ccd: [%s] }\n"
        for name, code in (("a", "017"), ("a", "NO"), ("a", "1e3"), ("a", "1_0"), ("a", "12:30"), ("a", "~"), ("007", "ATP"), ("2024-01-01", "ATP")):
            with self.subTest(name=name, code=code):
                if code == "1e3":  # a text in YAML
                    self.assertEqual(parse_input(own % (name, code), "x.yaml").items[0]["chains"][1], {"ligand": {"ccd": ["1e3"]}})
                    continue
                place_of = "items[0].name" if name != "a" else "items[0].chains[1].ligand.ccd[0]"
                self.refuse(own % (name, code), place_of + ": this must be a text", "x.yaml")
                self.refuse(own % (name, code), "Quote it", "x.yaml")
        boltz = "sequences:\n  - protein: { id: A, sequence: GIV }\n  - ligand: { id: B, %s }\n"
        for given in ("ccd: 017", "ccd: ON", "smiles: [Na+]", "smiles: 1", "ccd: NULL"):
            with self.subTest(given):
                self.refuse(boltz % given, "sequences[1].ligand", "x.yaml")

    def test_yaml_with_traps_is_a_sentence(self):
        for text, said in (
            ("a: &x [1]\nb: *x\n", "anchors are not read"),
            ("items:\n  - &a {name: b}\n  - <<: *a\n", "anchors are not read"),
            ("items: []\nitems: []\n", "stands twice"),
            ("items: []\n1: 2\n", "a key must be a text"),
            ("? [a]\n: 1\n", "a key must be a text"),
            ("NO: 1\n", "a key must be a text"),
            ("a: 2024-99-99\n", "cannot be read"),
            ("a: !!int x\n", "cannot be read"),
            ("a: !!map [1]\n", "a mapping is expected"),
            ("a: !!python/object:os.system x\n", "cannot be read"),
            ("a: [\n", "cannot be read"),
            ("a: 1\nb: [Na+].[Cl-]\n", "x.yaml, line 2, column 9: this cannot be read as YAML: expected"),
            ("a: 1\n---\nb: 2\n", "cannot be read"),
            ("[" * 5000, "nested too deeply"),
            ('{"a":' * 5000, "nested too deeply"),
            ("a: " + "[" * 2000 + "\n", "cannot be read"),
            ('{"items": [1,]', "cannot be read as JSON"),
            ('{"items": NaN}', "no number of JSON"),
            ('{"items": %s}' % ("1" * 5000), "no number of JSON"),
        ):
            with self.subTest(text[:40]):
                self.refuse(text, said, "x.yaml")

    def test_files_in_other_encodings_are_a_sentence(self):
        import gzip
        import os
        import tempfile

        from foldatlas import read_input

        with tempfile.TemporaryDirectory() as folder:
            for number, (data, said) in enumerate(
                (
                    ("\ufeff>a\nGIV\n".encode("utf-16"), "UTF-8"),
                    (">a\nGIV\n".encode("utf-16-le"), "UTF-16"),
                    (">caf\u00e9\nGIV\n".encode("latin-1"), "UTF-8"),
                    (b"\x89PNG\r\n\x1a\n\0\0", "UTF-8"),
                    (gzip.compress(b">a\nGIV\n"), "Unpack it"),
                    (b"PK\x03\x04\x14\0", "save the sheet as CSV"),
                    (b"", "is empty"),
                )
            ):
                file = os.path.join(folder, "%d.fasta" % number)
                with open(file, "wb") as out:
                    out.write(data)
                with self.subTest(data), self.assertRaisesRegex(InputError, said):
                    read_input(file)
            file = os.path.join(folder, "crlf.json")
            with open(file, "wb") as out:
                out.write(b"\xef\xbb\xbf" + json.dumps(ALPHAFOLD, indent=1).replace("\n", "\r\n").encode())
            self.assertEqual(read_input(file).items, parse_input(json.dumps(ALPHAFOLD)).items)

    def test_tables_with_traps_are_a_sentence(self):
        self.refuse('name,sequence\na,"%s\n' % ("G" * 200_000), "cannot be read as a table", "x.csv")
        self.refuse("name,kind,value\na,,GIV\n", "line 2, column kind: an empty cell is no kind", "x.csv")
        self.refuse("name,kind,value\na\n", "line 2", "x.csv")
        self.refuse('name,sequence\na,GIV\n\nb,"GIV\nc,GIV\nd,GIV\n', "line 4: a quote is opened and never closed", "x.csv")
        self.refuse('name,sequence\na,"GIV\nb,"GIV"\n', "line 2: this cannot be read as a table", "x.csv")
        self.refuse('name,"sequence\na,GIV\n', "line 1: a quote", "x.csv")
        self.refuse('name,sequence\n"a\nb",GIV,x\n\nc,GIV,x\n', "line 2: there are more cells than the table has columns.\nline 5: there are", "x.csv")
        self.assertEqual(parse_input('name\tsequence\n5" b\tGIV\n', "x.tsv").items[0]["name"], '5" b')

    def test_text_before_the_first_header_of_fasta_is_a_sentence(self):
        for text, name in (("GIVEQ\n", "-"), ("GIVEQ", "x.fasta"), ("; a comment\n>a\nGIV\n", "x.txt"), ("GIV\nEQC*\n>b\nGIV\n", "x.fa"), ("GIV:FVN", "-"), ("a: 1", "x.faa")):
            with self.subTest(text):
                self.refuse(text, "before the first header", name)
        self.refuse(">a|protein:dna\nG\n>b|ccd\nATP\n>c\nGIV\n", "There are 2 mistakes", "x.fasta")

    def test_a_version_that_is_not_read_is_a_sentence(self):
        for document, newest, said in ((ALPHAFOLD, 4, "versions 1 to 4 are"), (SERVER[0], 1, "version 1 is"), (BOLTZ, 1, "version 1 is")):
            for version in (newest, None):
                self.assertTrue(parse_input(json.dumps({**document, "version": version})).items)
            for version in (0, newest + 1, 9, 10**30, -1, "1", 1.0, True, [1], {}):
                with self.subTest(said, version=version):
                    self.refuse(json.dumps({**document, "version": version}), "version: %s read, not " % said)

    def test_protenix_names_its_copies_and_counts_from_1(self):
        (item,) = parse_input(json.dumps(PROTENIX)).items
        self.assertEqual([one for chain in item["chains"] for value in chain.values() for one in value["ids"]], list("ABCDEF"))
        self.assertEqual(item["chains"][1], {"ligand": {"ids": ["C", "D"], "ccd": ["NAG", "BMA"]}})
        self.assertEqual(item["chains"][2], {"ligand": {"ids": ["E"], "smiles": "CCO"}})
        bonds = [[bond[key] for key in ("chainId1", "residueIndex1", "chainId2", "residueIndex2")] for bond in item["covalentBonds"]]
        self.assertEqual(bonds, [["A", 2, "D", 0], ["A", 0, "C", 1], ["B", 0, "D", 1]])
        self.assertEqual(item["pocket"], {"binderChainId": "E", "contacts": [{"chainId": "B", "residueIndex": 3}]})
        for path, value, said in (
            ((0, "covalent_bonds", 0, "entity1"), 5, "[0].covalent_bonds[0].entity1: there is no entity 5"),
            ((0, "covalent_bonds", 0, "copy1"), 3, "[0].covalent_bonds[0].copy1: there is no copy 3"),
            ((0, "sequences", 2, "ligand", "ligand"), "FILE_a.sdf", "[0].sequences[2].ligand.ligand: a molecule in a file"),
            ((0, "sequences", 0, "proteinChain", "count"), 10**9, "[0].sequences[0].proteinChain.count: this must be"),
            ((0, "constraint", "contact"), [{"entity1": 1}], "no contacts"),
        ):
            with self.subTest(said):
                self.refuse(json.dumps(replaced(PROTENIX, path, value)), said)
        old = {"left_entity": 1, "left_copy": 1, "left_position": 2, "left_atom": "SG", "right_entity": 3, "right_copy": 1}
        job = replaced(PROTENIX, (0, "covalent_bonds"), [{**old, "right_position": 1, "right_atom": "0"}])
        (bond,) = parse_input(json.dumps(job)).items[0]["covalentBonds"]
        self.assertEqual((bond["chainId1"], bond["residueIndex1"], bond["chainId2"], bond["atomIndex2"]), ("A", 1, "E", 0))

    def test_places_lead_back_to_the_file(self):
        made = parse_input(json.dumps(PROTENIX))
        self.assertEqual(made.places["items.0.chains.0.protein.modifications.0.position"], "[0].sequences[0].proteinChain.modifications[0].ptmPosition")
        self.assertEqual(made.places["items.0.covalentBonds.0.atomName2"], "[0].covalent_bonds[0].atom2")
        made = parse_input(json.dumps(ALPHAFOLD))
        self.assertEqual(made.places["items.0.covalentBonds.0.residueIndex1"], "bondedAtomPairs[0][0][1]")
        self.assertEqual(made.places["items.0.chains.2.ligand.ccd"], "sequences[2].ligand.ccdCodes")


if __name__ == "__main__":
    unittest.main()
