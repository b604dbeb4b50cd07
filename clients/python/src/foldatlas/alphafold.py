"""Reads AlphaFold 3's input JSON (dialect alphafold3, version 1 to 4) and jobs of the AlphaFold Server."""

from __future__ import annotations

import re
from typing import Optional, Sequence

from .draft import MAX_COPIES, OWN_SEEDS, POLYMERS, TAKES_NONE, Atom, Draft, read_modifications
from .shapes import Node, check_version

#: Keys by which a file is one of AlphaFold 3; no other format has them.
ALPHAFOLD_KEYS = ("modelSeeds", "dialect", "bondedAtomPairs", "userCCD", "userCCDPath")
NEWEST_VERSION = 4
_TOP = ("name", "sequences", "version", *ALPHAFOLD_KEYS)
_TEMPLATES = ("useStructureTemplate", "maxTemplateDate")
_ALIGNMENTS = ("unpairedMsa", "unpairedMsaPath", "pairedMsa", "pairedMsaPath")


def modification_names(kind: str) -> Sequence[str]:
    """What AlphaFold calls the code and the position of a modification."""
    return ("ptmType", "ptmPosition") if kind == "protein" else ("modificationType", "basePosition")


def read_alphafold(document: Node, name: str) -> Draft:
    top = document.fields(_TOP)
    check_version(top.find("version"), NEWEST_VERSION)
    given = top.find("name")
    draft = Draft(given.text() if given else name, document.place)
    dialect = top.find("dialect")
    if dialect is not None and dialect.text() != "alphafold3":
        dialect.fail('this must be "alphafold3", or "alphafoldserver" for a list of jobs.')
    if top.find_filled(("userCCD", "userCCDPath")):
        draft.refuse("it has a chemical component of its own", "Give the ligand as SMILES.")
    seeds = top.find("modelSeeds")
    if seeds is not None and seeds.items():
        draft.leave_out([seeds], OWN_SEEDS)
    for entry in top.require("sequences").items(1):
        kind, value = entry.only_field()
        if kind == "ligand":
            fields = value.fields(("id", "ccdCodes", "smiles", "description"))
            ids = fields.require("id").text_or_texts()
            codes, smiles = fields.find("ccdCodes"), fields.find("smiles")
            draft.ligand(value, ids, codes and codes.texts(), smiles and smiles.text(), codes or smiles)
            continue
        if kind not in POLYMERS:
            entry.fail("`%s` is no kind of chain that is read: use protein, rna, dna or ligand." % kind)
        fields = value.fields(("id", "sequence", "modifications", "description", "templates", *_ALIGNMENTS))
        ids = fields.require("id").text_or_texts()
        draft.leave_out(fields.find_all(_ALIGNMENTS))
        draft.leave_out(fields.find_all(("templates",)), TAKES_NONE)
        modifications = read_modifications(fields.find("modifications"), *modification_names(kind))
        draft.polymer(kind, value, ids, fields.require("sequence"), modifications)
    for pair in _items(top.find("bondedAtomPairs")):
        draft.bond(pair.place, [read_atom(atom) for atom in pair.exactly(2, "the two atoms of a bond")])
    return draft


def read_atom(node: Node) -> Atom:
    """An atom as a list of chain, 1-based residue and name. The gateway makes an index of the name."""
    chain, residue, name = node.exactly(3, "chain, residue and name of an atom")
    return Atom(chain.text(), residue.integer(1), name.text(), (chain.place, residue.place, name.place))


def _items(node: Optional[Node]) -> Sequence[Node]:
    return [] if node is None else node.items()


def read_server_job(job: Node, name: str) -> Draft:
    top = job.fields(("name", "modelSeeds", "sequences", "dialect", "version"))
    check_version(top.find("version"), 1)
    given = top.find("name")
    draft = Draft(given.text() if given else name, job.place)
    draft.leave_out(top.find_filled(("modelSeeds",)), OWN_SEEDS)
    kinds = {"proteinChain": "protein", "rnaSequence": "rna", "dnaSequence": "dna"}
    for entry in top.require("sequences").items(1):
        kind, value = entry.only_field()
        if kind in ("ligand", "ion"):
            fields = value.fields(("count", kind))
            code = fields.require(kind)
            for _ in range(read_count(fields.find("count"))):
                draft.ligand(value, None, [re.sub(r"^CCD_", "", code.text())], None, code)
            continue
        if kind not in kinds:
            entry.fail("`%s` is no kind of chain that is read: use %s, ligand or ion." % (kind, ", ".join(kinds)))
        own = (*_TEMPLATES, "glycans") if kind == "proteinChain" else ()
        fields = value.fields(("count", "sequence", "modifications", *own))
        if fields.find_filled(("glycans",)):
            draft.refuse("it has glycans", "Write the item in our own form, with components and bonds.")
        draft.leave_out(fields.find_all(_TEMPLATES), TAKES_NONE)
        modifications = read_modifications(fields.find("modifications"), *modification_names(kinds[kind]))
        for _ in range(read_count(fields.find("count"))):
            draft.polymer(kinds[kind], value, None, fields.require("sequence"), modifications)
    return draft


def read_count(node: Optional[Node]) -> int:
    return 1 if node is None else node.integer(1, MAX_COPIES)
