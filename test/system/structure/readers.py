"""Says as JSON what gemmi, Biopython, RDKit, Open Babel and DSSP read in structure files. Arguments: names of files."""

import json
import re
import subprocess
import sys
import tempfile
import warnings

import gemmi
from Bio.PDB import MMCIFParser, PDBParser
from rdkit import Chem, RDLogger

warnings.simplefilter("ignore")
RDLogger.DisableLog("rdApp.*")


def residues(chains):
    """Chains by name: their residues as [name, number], and their elements by residue."""
    return {name: [[residue, number, elements] for residue, number, elements in rows] for name, rows in chains}


def by_gemmi(path):
    structure = gemmi.read_structure(path)
    model = structure[0]
    chains = [
        (
            chain.name,
            [(one.name, one.seqid.num, [atom.element.name.upper() for atom in one]) for one in chain],
        )
        for chain in model
    ]
    kinds = {entity.name: str(entity.entity_type).split(".")[-1] for entity in structure.entities}
    links = sorted(
        [str(one.type).split(".")[-1]] + sorted("%s %s" % (end.res_id.name, end.atom_name) for end in (one.partner1, one.partner2))
        for one in structure.connections
    )
    b = [round(atom.b_iso, 2) for chain in model for one in chain for atom in one]
    return {"chains": residues(chains), "kinds": kinds, "links": links, "b": b}


def by_biopython(path):
    parser = MMCIFParser(QUIET=True) if path.endswith(".cif") else PDBParser(QUIET=True)
    model = next(iter(parser.get_structure("x", path)))
    chains = [
        (
            chain.id,
            [(one.resname.strip(), one.id[1], [atom.element.upper() for atom in one]) for one in chain],
        )
        for chain in model
    ]
    return {"chains": residues(chains)}


def by_rdkit(path):
    molecule = Chem.MolFromPDBFile(path, sanitize=False, removeHs=False) if path.endswith(".pdb") else None
    if molecule is None:
        return None
    ligands = {}
    for atom in molecule.GetAtoms():
        info = atom.GetPDBResidueInfo()
        if info.GetIsHeteroAtom():
            key = "%s %s%d" % (info.GetChainId(), info.GetResidueName().strip(), info.GetResidueNumber())
            ligands.setdefault(key, [0, 0])[0] += 1
            ligands[key][1] += sum(1 for one in atom.GetNeighbors() if one.GetPDBResidueInfo().GetIsHeteroAtom())
    return {"atoms": molecule.GetNumAtoms(), "ligands": {key: [atoms, ends // 2] for key, (atoms, ends) in ligands.items()}}


def by_open_babel(path):
    kind = "mmcif" if path.endswith(".cif") else "pdb"
    made = subprocess.run(["obabel", "-i" + kind, path, "-oxyz"], capture_output=True, text=True)
    return int(made.stdout.split("\n", 1)[0] or 0)


def by_dssp(path):
    with tempfile.NamedTemporaryFile(suffix=".dssp") as out:
        made = subprocess.run(["mkdssp", "--output-format", "dssp", path, out.name], capture_output=True, text=True)
        text = open(out.name).read()
    if made.returncode != 0:
        return made.stderr
    _, _, table = text.partition("  #  RESIDUE")
    return sum(1 for line in table.split("\n")[1:] if line and line[13] != "!")


def validate(path, dictionary):
    """What breaks a dictionary: neither tags of other dictionaries nor hints."""
    made = subprocess.run(["gemmi", "validate", "-d", dictionary, path], capture_output=True, text=True)
    lines = (made.stdout + made.stderr).split("\n")
    return [
        line
        for line in lines
        if line and not re.match(r"Note: unknown tag|Category (?:not in the dictionary|indicated as)|\t", line)
    ]


def main():
    dictionaries, files = sys.argv[1].split(":"), sys.argv[2:]
    told = {}
    for path in files:
        large = "large" in path
        told[path] = {
            "gemmi": by_gemmi(path),
            "biopython": by_biopython(path),
            "rdkit": by_rdkit(path),
            "openBabel": None if large else by_open_babel(path),
            "dssp": None if large else by_dssp(path),
            "faults": [fault for one in dictionaries for fault in validate(path, one)] if path.endswith(".cif") else [],
        }
    json.dump(told, sys.stdout)


main()
