"""Client for FoldAtlas: look up proteins, fold complexes, rank results.

    from foldatlas import FoldAtlas, read_input

    atlas = FoldAtlas()
    atlas.lookup(["P01308", "ACTA_HUMAN"]).to_dataframe()
    atlas.fold(read_input("designs.fasta"), "results")
"""

from .aio import AsyncFoldAtlas
from .client import FoldAtlas
from .errors import AlreadySubmitted, FoldAtlasError, InputError, Refusal, Unreachable
from .fold_input import FoldInput, chain
from .inputs import parse_input
from .screen import read_input
from .table import Table

__version__ = "1.0.0"
__all__ = [
    "AlreadySubmitted",
    "AsyncFoldAtlas",
    "FoldAtlas",
    "FoldAtlasError",
    "FoldInput",
    "InputError",
    "Refusal",
    "Table",
    "Unreachable",
    "chain",
    "parse_input",
    "read_input",
]
