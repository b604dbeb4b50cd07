"""Reads jobs of Protenix: a list like that of the AlphaFold Server, with bonds and pockets between its entities."""

from __future__ import annotations

import itertools
import re
from dataclasses import dataclass
from typing import Iterator, List, Optional, Sequence, Tuple, Union

from .alphafold import modification_names, read_count
from .draft import OWN_SEEDS, TAKES_NONE, Atom, Draft, read_modifications
from .shapes import Fields, Node
from .text import count_of

KINDS = {"proteinChain": "protein", "rnaSequence": "rna", "dnaSequence": "dna"}
#: The kinds of entities that only Protenix and the AlphaFold Server have.
SERVER_KINDS = (*KINDS, "ion")
_ALIGNMENTS = ("msa", "pairedMsaPath", "unpairedMsaPath")
#: What the atoms of a bond are called: now, and in files of earlier versions.
_ENDS = (("entity1", "copy1", "position1", "atom1"), ("entity2", "copy2", "position2", "atom2"))
_OLD_ENDS = tuple(tuple("%s_%s" % (side, key) for key in ("entity", "copy", "position", "atom")) for side in ("left", "right"))


@dataclass
class _Entity:
    kind: str
    value: Node
    fields: Fields
    ids: List[str]


def read_protenix(job: Node, name: str) -> Draft:
    # `assembly_id` says which assembly of a PDB entry Protenix made the job from.
    top = job.fields(("name", "modelSeeds", "sequences", "covalent_bonds", "constraint", "assembly_id"))
    given = top.find("name")
    draft = Draft(given.text() if given else name, job.place)
    draft.leave_out(top.find_filled(("modelSeeds",)), OWN_SEEDS)
    bonds, constraint = top.find("covalent_bonds"), top.find("constraint")
    entities = [_read_entity(entry) for entry in top.require("sequences").items(1)]
    is_named = bool((bonds and bonds.value) or (constraint and constraint.value))
    _name_chains(entities)
    for entity in entities:
        _add_entity(draft, entity, is_named)
    for bond in bonds.items() if bonds else []:
        _add_bond(draft, entities, bond)
    if constraint is not None:
        _add_pocket(draft, entities, constraint)
    return draft


def _read_entity(entry: Node) -> _Entity:
    kind, value = entry.only_field()
    if kind in ("ligand", "ion"):
        fields = value.fields(("id", "count", kind))
    elif kind in KINDS:
        fields = value.fields(("id", "count", "sequence", "modifications", "templatesPath", *_ALIGNMENTS))
    else:
        entry.fail("`%s` is no kind of entity that is read: use %s, ligand or ion." % (kind, ", ".join(KINDS)))
    given = fields.find("id")
    ids = given.text_or_texts() if given else []
    count = read_count(fields.find("count")) if fields.find("count") or not ids else len(ids)
    if given is not None and len(ids) != count:
        given.fail("it names %s, and `count` is %d." % (count_of(len(ids), "chain"), count))
    return _Entity(kind, value, fields, ids or [""] * count)


def _name_chains(entities: Sequence[_Entity]) -> None:
    """Gives a name to each chain without one: A to Z, then AA, BA and so on."""
    taken = {one for entity in entities for one in entity.ids}
    free = (name for name in _chain_names() if name not in taken)
    for entity in entities:
        entity.ids = [one or next(free) for one in entity.ids]


def _chain_names() -> Iterator[str]:
    for number in itertools.count():
        name = ""
        while number >= 0:
            name, number = name + chr(ord("A") + number % 26), number // 26 - 1
        yield name


def _add_entity(draft: Draft, entity: _Entity, is_named: bool) -> None:
    kind, value, fields = entity.kind, entity.value, entity.fields
    is_named = is_named or fields.find("id") is not None
    groups: Sequence[Optional[List[str]]] = [entity.ids] if is_named else [None] * len(entity.ids)
    for ids in groups:
        if kind in KINDS:
            modifications = read_modifications(fields.find("modifications"), *modification_names(KINDS[kind]))
            draft.polymer(KINDS[kind], value, ids, fields.require("sequence"), modifications)
            continue
        given = fields.require(kind)
        text = given.text()
        if text.startswith("FILE_"):
            given.fail("a molecule in a file of its own is not read. Give its SMILES.")
        is_code = kind == "ion" or text.startswith("CCD_")
        codes = re.sub(r"^CCD_", "", text).split("_") if is_code else None
        draft.ligand(value, ids, codes, None if is_code else text, given)
    draft.leave_out(fields.find_filled(_ALIGNMENTS))
    draft.leave_out(fields.find_filled(("templatesPath",)), TAKES_NONE)


def _ordinal(node: Node) -> int:
    """A number from 1, which Protenix also writes as a text."""
    if isinstance(node.value, str) and re.fullmatch(r"[1-9]\d{0,8}", node.value, re.ASCII):
        return int(node.value)
    return node.integer(1)


def _entity_at(entities: Sequence[_Entity], node: Node) -> _Entity:
    number = _ordinal(node)
    if number > len(entities):
        node.fail("there is no entity %d: `sequences` has %d, which count from 1." % (number, len(entities)))
    return entities[number - 1]


def _chain_at(entity: _Entity, copy: Node) -> str:
    number = _ordinal(copy)
    if number > len(entity.ids):
        copy.fail("there is no copy %d: the entity has %d, which count from 1." % (number, len(entity.ids)))
    return entity.ids[number - 1]


def _add_bond(draft: Draft, entities: Sequence[_Entity], bond: Node) -> None:
    is_old = isinstance(bond.value, dict) and any(str(key).startswith(("left_", "right_")) for key in bond.value)
    ends = _OLD_ENDS if is_old else _ENDS
    fields = bond.fields([key for end in ends for key in end])
    sides: List[List[Atom]] = []
    for entity_key, copy_key, position_key, atom_key in ends:
        entity_node, copy = fields.require(entity_key), fields.find(copy_key)
        entity = _entity_at(entities, entity_node)
        chains = entity.ids if copy is None else [_chain_at(entity, copy)]
        position, atom = fields.require(position_key), fields.require(atom_key)
        residue, name = _ordinal(position), _atom(atom, entity)
        places = ((copy or entity_node).place, position.place, atom.place)
        sides.append([Atom(chain, residue, name, places) for chain in chains])
    copies = [fields.find(end[1]) for end in ends]
    if (copies[0] is None) != (copies[1] is None) or len(sides[0]) != len(sides[1]):
        bond.fail("give the copy of both atoms, or of neither where both entities have as many copies.")
    for pair in zip(*sides):
        draft.bond(bond.place, pair)


def _atom(node: Node, entity: _Entity) -> Union[str, int]:
    """A name, or in a SMILES the index of an atom from 0."""
    is_smiles = entity.kind == "ligand" and not entity.fields.require("ligand").text().startswith("CCD_")
    if is_smiles and isinstance(node.value, str) and re.fullmatch(r"\d{1,6}", node.value, re.ASCII):
        return int(node.value)
    return node.integer(0) if is_smiles and isinstance(node.value, int) else node.text()


def _add_pocket(draft: Draft, entities: Sequence[_Entity], constraint: Node) -> None:
    found = constraint.fields(("pocket", "contact"))
    if found.find_filled(("contact",)):
        found.require("contact").fail("this service has no contacts. Take them out if the fold is right without them.")
    pocket = found.find("pocket")
    if pocket is None:
        return
    fields = pocket.fields(("binder_chain", "contact_residues", "max_distance"))
    binder, binder_place = _chain(entities, fields.require("binder_chain"), ())
    contacts = []
    for residue in fields.require("contact_residues").items(1):
        chain, place = _chain(entities, residue, ("position",))
        position = residue.fields(("entity", "copy", "position")).require("position")
        contacts.append(Atom(chain, _ordinal(position), 0, (place, position.place, position.place)))
    draft.set_pocket(pocket, binder, binder_place, contacts)
    draft.leave_out(fields.find_all(("max_distance",)), TAKES_NONE)


def _chain(entities: Sequence[_Entity], node: Node, more: Sequence[str]) -> Tuple[str, str]:
    fields = node.fields(("entity", "copy", *more))
    copy = fields.require("copy")
    return _chain_at(_entity_at(entities, fields.require("entity")), copy), copy.place
