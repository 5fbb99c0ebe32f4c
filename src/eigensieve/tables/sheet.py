"""Sample sheets: labels and batches that stand in another file than the numbers, or in the head of a GEO file."""

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path

from eigensieve.tables.errors import DataError, listed
from eigensieve.tables.table import Request, Table


@dataclass(frozen=True)
class Sheet:
    """What is known about samples."""

    name: str  # what notes and errors call it
    columns: dict[str, list[str]]  # cells by the name of their column. One column holds the names of the samples.

    @cached_property
    def sample_names(self) -> frozenset[str]:
        """All cells that could be the name of a sample."""
        return frozenset(cell for cells in self.columns.values() for cell in cells if cell)

    def rows(self, samples: Sequence[str], path: str | Path) -> dict[str, int]:
        """Sample -> row of the sheet, by the column that names most samples of the table."""
        wanted = set(samples)
        key = max(self.columns, key=lambda name: len(wanted.intersection(self.columns[name])))
        found = [cell for cell in self.columns[key] if cell in wanted]
        if not found:
            raise DataError(
                f"No sample of '{path}' is in {self.name}: the table has {listed(list(samples), 3)}. "
                "Check the names in both, and which column or row of the table has them (id, samples)."
            )
        twice = [name for name, count in Counter(found).items() if count > 1]
        if twice:
            raise DataError(f"{self.name} has several rows for {listed(twice, 3)}. Leave one row for every sample.")
        return {name: row for row, name in enumerate(self.columns[key]) if name}


def read_with(sheet: Sheet, request: Request, read: Callable[[Request], Table]) -> Table:
    """Read a table, by `read`, whose labels and batches may stand in a sheet. The table has what the sheet lacks."""
    ours = {role: name for role, name in request.apart.items() if name in sheet.columns}
    rest = {role: name for role, name in request.apart.items() if role not in ours}
    known = request.known_samples | sheet.sample_names
    try:
        table = read(replace(request, apart=rest, known_samples=known))
    except DataError as error:
        if any(f"column '{name}'" in str(error) or f"row '{name}'" in str(error) for name in rest.values()):
            raise DataError(f"{error} The columns of {sheet.name} are {listed(list(sheet.columns))}.") from error
        raise
    samples = table.sample_names
    if samples is None:
        raise DataError(
            f"'{request.path}' has no sample names to look up in {sheet.name}. Name their column as the id."
        )
    for name in ours.values():
        if name in table.text or name in table.feature_names:
            raise DataError(f"'{request.path}' and {sheet.name} both have a column '{name}'. Rename one of them.")
    rows = sheet.rows(samples, request.path)
    _note(table, sheet, rows, ours)
    places = [rows.get(sample) for sample in samples]
    found = {
        role: request.column(name, ["" if row is None else sheet.columns[name][row] for row in places])
        for role, name in ours.items()
    }
    return replace(table, apart=table.apart | found)


def _note(table: Table, sheet: Sheet, rows: dict[str, int], used: dict[str, str]) -> None:
    samples = set(table.sample_names or ())
    extra, missing = [name for name in rows if name not in samples], [name for name in samples if name not in rows]
    if extra:
        table.notes.append(f"{sheet.name} has {len(extra):,} samples that the table lacks: {listed(extra, 3)}")
    if missing:
        table.notes.append(f"{sheet.name} lacks {len(missing):,} samples of the table: {listed(sorted(missing), 3)}")
    if not used:
        counts = {name: len({cells[row] for row in rows.values()}) for name, cells in sheet.columns.items()}
        offered = [f"'{name}' ({count:,} values)" for name, count in counts.items() if 1 < count < len(rows)]
        table.notes.append(f"columns of {sheet.name} that may be labels: {', '.join(offered[:12]) or 'none'}")
