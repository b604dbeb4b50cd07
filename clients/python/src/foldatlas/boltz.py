"""Reads Boltz' input YAML (version 1)."""

from __future__ import annotations

from .alphafold import read_atom
from .draft import POLYMERS, TAKES_NONE, Atom, Draft, read_modifications
from .shapes import Node, check_version


def read_boltz(document: Node, name: str) -> Draft:
    draft = Draft(name, document.place)
    top = document.fields(("version", "sequences", "constraints", "templates", "properties"))
    check_version(top.find("version"), 1)
    draft.leave_out(top.find_filled(("templates",)), TAKES_NONE)
    draft.leave_out(top.find_filled(("properties",)), "the service predicts no affinity")
    for entry in top.require("sequences").items(1):
        kind, value = entry.only_field()
        kind = kind.lower()
        if kind == "ligand":
            fields = value.fields(("id", "smiles", "ccd"))
            ids = fields.require("id").text_or_texts()
            codes, smiles = fields.find("ccd"), fields.find("smiles")
            draft.ligand(value, ids, codes and codes.text_or_texts(), smiles and smiles.text(), codes or smiles)
            continue
        if kind not in POLYMERS:
            entry.fail("`%s` is no kind of chain that is read: use protein, rna, dna or ligand." % kind)
        fields = value.fields(("id", "sequence", "msa", "modifications", "cyclic"))
        ids = fields.require("id").text_or_texts()
        cyclic = fields.find("cyclic")
        if cyclic is not None and cyclic.boolean():
            draft.refuse("chain %s is cyclic" % "/".join(ids))
        draft.leave_out(fields.find_all(("msa",)))
        modifications = read_modifications(fields.find("modifications"), "ccd", "position")
        draft.polymer(kind, value, ids, fields.require("sequence"), modifications)
    constraints = top.find("constraints")
    for entry in constraints.items() if constraints else []:
        _read_constraint(draft, entry)
    return draft


def _read_constraint(draft: Draft, entry: Node) -> None:
    kind, value = entry.only_field()
    if kind == "bond":
        bond = value.fields(("atom1", "atom2"))
        draft.bond(value.place, [read_atom(bond.require("atom1")), read_atom(bond.require("atom2"))])
    elif kind == "pocket":
        pocket = value.fields(("binder", "contacts", "max_distance", "force"))
        contacts = []
        for contact in pocket.require("contacts").items(1):
            chain, residue = contact.exactly(2, "chain and position of a residue")
            if isinstance(residue.value, str):
                residue.fail("this names an atom. Name residues by their position.")
            contacts.append(Atom(chain.text(), residue.integer(1), 0, (chain.place, residue.place, residue.place)))
        binder = pocket.require("binder")
        draft.set_pocket(value, binder.text(), binder.place, contacts)
        draft.leave_out(pocket.find_all(("max_distance", "force")), TAKES_NONE)
    else:
        entry.fail("this service has no constraint of kind `%s`. Take it out if the fold is right without it." % kind)
