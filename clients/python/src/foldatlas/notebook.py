"""Tables, plots and structures for notebooks, with nothing but Python's standard library and without a network.

Jupyter shows the result of a cell, and exports to HTML keep it; `print(result)` writes a table as text, and
`result.save("plot.svg")` keeps a plot. `pip install 'foldatlas[notebook]'` brings Jupyter along.
"""

import json
import re
from base64 import b64encode
from html import escape
from importlib.resources import files

# 90 and more, 70 to 90, 50 to 70, below 50: the colours that structure viewers use for pLDDT.
BANDS = ((90, "#0053d6"), (70, "#65cbf3"), (50, "#ffdb13"), (0, "#ff7d45"))


class Svg:
    """A drawing. `parts` are SVG elements."""

    def __init__(self, width, height, title, parts):
        head = '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %d %d" width="%d" role="img" color="#767c88" font-family="sans-serif" font-size="11">'
        self.title = title
        self.text = "".join([head % (width, height, width), "<title>%s</title>" % escape(title), *parts, "</svg>"])

    def _repr_html_(self):
        data = b64encode(self.text.encode("utf-8")).decode("ascii")
        return '<img alt="%s" src="data:image/svg+xml;base64,%s">' % (escape(self.title), data)

    def save(self, path):
        """Writes the drawing to a file."""
        with open(path, "w", encoding="utf-8") as file:
            file.write(self.text)


def _rect(x, y, width, height, fill, title=""):
    box = '<rect x="%.2f" y="%.2f" width="%.2f" height="%.2f" fill="%s">' % (x, y, width, height, fill)
    return box + ("<title>%s</title>" % escape(title) if title else "") + "</rect>"


def _text(x, y, text, anchor="start"):
    return '<text x="%.1f" y="%.1f" text-anchor="%s" fill="currentColor">%s</text>' % (x, y, anchor, escape(str(text)))


class Table:
    """Rows as a table, a gap as a dash, a score with three digits."""

    def __init__(self, rows, columns):
        def cell(value):
            return "–" if value is None else "%.3f" % value if isinstance(value, float) else str(value)

        self.columns, self.cells = columns, [[cell(row[key]) for key in columns] for row in rows]

    def _repr_html_(self):
        head = "".join("<th>%s</th>" % escape(name) for name in self.columns)
        body = "".join("<tr>%s</tr>" % "".join("<td>%s</td>" % escape(cell) for cell in row) for row in self.cells)
        return "<table><tr>%s</tr>%s</table>" % (head, body)

    def __str__(self):
        lines = [list(self.columns)] + self.cells
        widths = [max(map(len, column)) for column in zip(*lines)]
        return "\n".join("  ".join(text.ljust(width) for text, width in zip(line, widths)).rstrip() for line in lines)

    # IPython in a terminal shows no HTML.
    __repr__ = __str__


def plddt(values, title=None):
    """Confidence of each residue, 0 to 100, in the usual four colours; None is a gap."""
    width, height, left = 760, 160, 34
    step = (width - left) / max(1, len(values))
    parts = [_text(left - 4, height - 20 - level * 1.2 + 4, level, "end") for level in (0, 50, 70, 90)]
    for i, value in enumerate(values):
        if value is not None:
            colour = next(fill for least, fill in BANDS if value >= least)
            parts.append(_rect(left + i * step, height - 20 - value * 1.2, step, value * 1.2, colour, "%d: %.1f" % (i, value)))
    ends = [_text(left, height - 4, 0), _text(width, height - 4, "residue %d" % (len(values) - 1), "end")]
    return Svg(width, height, title or "pLDDT", parts + ends)


def features(length, activations, title=None):
    """Where features are active: one line for each of the `features` of a protein, selected with regions."""
    left, width, line = 300, 760, 18
    scale = (width - left) / max(1, length)
    parts = []
    for row, found in enumerate(activations):
        y = row * line
        parts += [_text(0, y + 12, found["feature"]["label"][:46]), _rect(left, y + 8, width - left, 1, "#999")]
        for region in found["regions"] or []:
            start, end = region["start"], region["end"]
            tip = "residues %d to %d" % (start, end - 1)
            parts.append(_rect(left + start * scale, y + 3, max(2, (end - start) * scale), 11, "#2a7f62", tip))
    return Svg(width, max(line, line * len(activations)), title or "features", parts)


def pae(block, chains=None, title=None):
    """A `block` of the predicted aligned error, dark where it is small; white lines between chains."""
    rows, side, left = block["values"], 360, 20
    cell = side / max(1, len(rows))
    parts = []
    for y, row in enumerate(rows):
        for x, value in enumerate(row):
            if value is not None:
                light = 25 + 70 * min(value, 30) / 30
                tip = "%.1f Å" % value
                parts.append(_rect(left + x * cell, y * cell, cell + 0.2, cell + 0.2, "hsl(150 40%% %.0f%%)" % light, tip))
    for chain in chains or ():
        at = chain["tokenStart"] / block["step"] * cell
        parts += [_rect(left + at - 0.75, 0, 1.5, side, "#fff"), _rect(left, at - 0.75, side, 1.5, "#fff")]
        parts.append(_text(left + at + 2, side + 14, chain["id"]))
    # A last chain of few tokens has its name beside the block.
    return Svg(left + side + 30, side + 20, title or "predicted aligned error", parts)


class View:
    """A page of its own inside the notebook, which may run its script and nothing else."""

    def __init__(self, title, page, height):
        self.title, self.text, self.height = title, page, height

    def _repr_html_(self):
        frame = '<iframe title="%s" sandbox="allow-scripts" style="width:100%%;height:%dpx;border:0" srcdoc="%s"></iframe>'
        return frame % (escape(self.title), self.height, escape(self.text))

    def save(self, path):
        """Writes the page to a file, which a browser opens."""
        with open(path, "w", encoding="utf-8") as file:
            file.write(self.text)


def structure(result, title=None):
    """A structure in 3D, coloured by pLDDT, beside its aligned error: what is pointed at in one is marked in the other.

    `result` is a fold or a protein with `structure(format: MMCIF) { text }`, or PDB, and for the error with
    `chains { id tokenStart }` and `pae { block(maxPoints: 10000) { step values } }`. Drag turns it.
    """
    if result is None or result["structure"] is None:
        raise ValueError("There is no structure here: the task has no result, or the protein none.")
    title = title or "structure"
    starts = {one["id"]: one["tokenStart"] for one in result.get("chains") or []}
    block = (result.get("pae") or {}).get("block")
    data = {"atoms": _atoms(result["structure"]["text"], starts), "pae": block, "bands": BANDS, "title": title}
    # No text can end the script.
    text = json.dumps(data, separators=(",", ":")).replace("<", "\\u003c")
    page = files(__package__).joinpath("notebook.html").read_text(encoding="utf-8")
    return View(title, page.replace("{{DATA}}", text), 430)


_CIF_VALUE = re.compile(r"""'(?:[^']|'(?=\S))*'|"(?:[^"]|"(?=\S))*"|\S+""")


def _read_atoms(text):
    """Residue, name, record, place and pLDDT of each atom of a PDB or mmCIF file."""
    columns = []
    for line in text.splitlines():
        if line.startswith("_atom_site."):
            columns.append(line[len("_atom_site.") :].strip())
        elif not line.startswith(("ATOM ", "HETATM")):
            continue
        elif columns:
            values = [one[1:-1] if one[0] in "'\"" and len(one) > 1 else one for one in _CIF_VALUE.findall(line)]
            row = dict(zip(columns, values))
            residue = (row["auth_asym_id"], row["auth_seq_id"], row["auth_comp_id"])
            place = [float(row["Cartn_" + axis]) for axis in "xyz"]
            yield residue, row["auth_atom_id"], row["group_PDB"], place, float(row["B_iso_or_equiv"])
        else:
            residue = (line[21], line[22:27].strip(), line[17:20].strip())
            place = [float(line[at : at + 8]) for at in (30, 38, 46)]
            yield residue, line[12:16].strip(), line[:6].strip(), place, float(line[60:66])


def _atoms(text, starts):
    """What is drawn of a file: one atom for each residue of a chain, and all of a ligand, each with its token."""
    residues = {}
    for residue, name, record, place, plddt in _read_atoms(text):
        residues.setdefault(residue, {}).setdefault(name, (record == "ATOM", [round(one, 1) for one in place], plddt))
    atoms, counts = [], {}
    for (chain, number, name), found in residues.items():
        token = starts.get(chain, 0) + counts.setdefault(chain, 0)
        counts[chain] += 1
        is_peptide = {"N", "CA", "C"} <= set(found)
        is_nucleotide = "C4'" in found and found["C4'"][0]
        trace = "CA" if is_peptide else "C4'" if is_nucleotide else None
        for atom, (_, place, plddt) in found.items():
            if trace in (None, atom):
                label = "%s %s%s" % (chain, name, number)
                atoms.append({"at": place, "plddt": plddt, "chain": chain, "token": token, "label": label, "trace": trace is not None})
    return atoms
