"""A list of rows that can become a pandas.DataFrame or tab-separated text."""

from __future__ import annotations

from typing import Any, Dict, List, Optional, Sequence

from .text import table_cell

Row = Dict[str, Any]


class Table(List[Row]):
    """Rows as dicts with the same keys, in the order asked for; what is missing is None."""

    def __init__(self, columns: Sequence[str], rows: Optional[Sequence[Row]] = None) -> None:
        super().__init__(rows or ())
        self.columns = list(columns)

    def to_dataframe(self) -> Any:
        """The same as a pandas.DataFrame. Needs pandas: `pip install foldatlas[pandas]`."""
        try:
            import pandas
        except ImportError as error:
            raise ImportError("to_dataframe needs pandas: pip install pandas") from error
        return pandas.DataFrame(list(self), columns=self.columns)

    def to_tsv(self) -> str:
        """The same as tab-separated text with a line of headings."""
        lines = [self.columns] + [[table_cell(row.get(name)) for name in self.columns] for row in self]
        return "".join("\t".join(line) + "\n" for line in lines)
