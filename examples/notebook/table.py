# A notebook as a script; editors show every "# %%" as a cell. It needs a gateway: `npm start` in the repository, then
#   FOLDATLAS_TOKEN=sandbox python3 examples/notebook/table.py
# %% Paste identifiers: hashes, accessions and entry names mixed, in any number; empty lines do not matter.
import foldatlas

PASTED = """
P01308
HBA_HUMAN
00000000000000000000000000000000
6077c452d1dc6151040b2b179e2294c7
P01308
insulin?
"""


def text(value):
    """A gap as a dash, a score with three digits."""
    return "–" if value is None else "%.3f" % value if isinstance(value, float) else str(value)


def show(rows, columns):
    """Prints rows as a table; in a notebook, pandas.DataFrame(rows) is nicer."""
    cells = [columns] + [[text(row[key]) for key in columns] for row in rows]
    widths = [max(map(len, column)) for column in zip(*cells)]
    for line in cells:
        print("  ".join(cell.ljust(width) for cell, width in zip(line, widths)).rstrip())


# %% A table in the same order, with gaps.
proteins = foldatlas.lookup(PASTED.split())
show(proteins, ["requested", "name", "organism", "length", "plddt", "cluster_size", "problem"])

# %% Fold insulin's two chains with and without zinc, each twice. The key makes it safe to run this cell again.
CHAINS = [
    {"protein": {"ids": ["A"], "sequence": "GIVEQCCTSICSLYQLENYCN"}},
    {"protein": {"ids": ["B"], "sequence": "FVNQHLCGSHLVEALYLVCGERGFFYTPKT"}},
]
ZINC = [{"ligand": {"ids": ["Z"], "ccd": ["ZN"]}}]
items = [{"name": "without zinc", "chains": CHAINS}, {"name": "with zinc", "chains": CHAINS + ZINC}]
batch_id = foldatlas.submit(items, key="insulin-and-zinc-1", repeat=2, label="insulin and zinc")

# %% Wait for it, without asking again and again.
for counts in foldatlas.watch(batch_id):
    print("%(done)d of %(total)d done, %(inProgress)d running" % counts)

# %% Rank by ipTM; what has none comes last.
ranked = sorted(foldatlas.scores(batch_id), key=lambda row: -1 if row["iptm"] is None else row["iptm"], reverse=True)
show(ranked, ["name", "repeatIndex", "state", "iptm", "ptm", "plddt", "error"])
