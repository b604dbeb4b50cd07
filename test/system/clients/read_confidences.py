"""Reckons ipSAE and LIS from the files of a fold as programs for AlphaFold 3 read them, with nothing but the standard library.

A line of an atom is a token of its own in a ligand or a modified residue; a standard residue is one, by its CA or C1'. Prints JSON.
"""

import json
import os
import sys

STANDARD = set("ALA ARG ASN ASP CYS GLN GLU GLY HIS ILE LEU LYS MET PHE PRO SER THR TRP TYR VAL DA DC DT DG A C U G".split())
folder = sys.argv[1]
with open(os.path.join(folder, "confidences.json")) as file:
    confidences = json.load(file)
with open(os.path.join(folder, "summary_confidences.json")) as file:
    summary = json.load(file)

items, residues, tokens, atoms = [], [], 0, 0
with open(os.path.join(folder, "structure.cif")) as file:
    for line in file:
        if line.startswith("_atom_site."):
            items.append(line.split(".")[1].strip())
        if not line.startswith(("ATOM", "HETATM")):
            continue
        atom = dict(zip(items, line.split()))
        name, component = atom["label_atom_id"].strip('"'), atom["label_comp_id"]
        is_residue = atom["label_seq_id"] != "." and name in ("CA", "C1'")
        assert confidences["atom_chain_ids"][atoms] == atom["auth_asym_id"]
        assert abs(confidences["atom_plddts"][atoms] - float(atom["B_iso_or_equiv"])) < 0.011
        if is_residue:
            assert confidences["token_chain_ids"][tokens] == atom["auth_asym_id"]
            assert confidences["token_res_ids"][tokens] == int(atom["label_seq_id"])
            residues.append((atom["auth_asym_id"], component in ("DA", "DC", "DT", "DG", "A", "C", "U", "G"), tokens))
        if is_residue or component not in STANDARD or atom["label_seq_id"] == ".":
            tokens += 1
        atoms += 1

pae = confidences["pae"]
assert (len(pae), len(pae[0])) == (tokens, tokens) and len(confidences["atom_plddts"]) == atoms
chains = sorted({chain for chain, _, _ in residues})
scores = {}
for a in chains:
    for b in chains:
        if a == b:
            continue
        least = 2.0 if any(nucleic for chain, nucleic, _ in residues if chain in (a, b)) else 1.0
        best, near_all = 0.0, []
        for chain, _, row in residues:
            errors = [pae[row][column] for other, _, column in residues if chain == a and other == b]
            near_all += [(12 - error) / 12 for error in errors if error < 12]
            near = [error for error in errors if error < 10]
            if near:
                d0 = max(least, 1.24 * (len(near) - 15) ** (1 / 3) - 1.8) if len(near) > 26 else least
                best = max(best, sum(1 / (1 + (error / d0) ** 2) for error in near) / len(near))
        scores[a + b] = {"ipsae": best, "lis": sum(near_all) / len(near_all) if near_all else 0.0}
print(json.dumps({"scores": scores, "iptm": summary["chain_pair_iptm"][0][1]}))
