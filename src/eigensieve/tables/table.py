"""A table of samples as the readers hand it over, and sample sheets: labels and batches from another file."""

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Literal, NamedTuple, overload

import numpy as np
from scipy.sparse import csr_matrix

from eigensieve._types import Array, BoolArray, FloatArray, IntArray, JsonDict, Raw
from eigensieve.tables.errors import DataError, listed, refuse_duplicates, too_large
from eigensieve.tables.labels import as_labels, gaps, unknown

Samples = Literal["auto", "rows", "columns"]
Categories = Literal["error", "leave-out", "one-hot"]
Matrix = FloatArray | csr_matrix


@dataclass(frozen=True)
class Request:
    """What to read from a file, as the caller of :func:`~eigensieve.tables.read_table` asked for it."""

    path: str | Path  # what errors call the file
    # role ("label", "batch") -> name of the column that has it. These columns are never features.
    apart: dict[str, str] = field(default_factory=dict)
    id: str | None = None  # name of the column with the samples' names
    samples: Samples = "auto"  # where the samples stand in the file
    ending: str = ""  # the file's ending where it tells the format; empty otherwise
    format: str = ""  # name of the file's format
    # columns of text are refused, left out with a note, or encoded as columns of 0 and 1
    categories: Categories = "error"
    keep: tuple[str, ...] = ()  # columns to use, all others being left out
    drop: tuple[str, ...] = ()  # columns to leave out
    na_values: tuple[str, ...] = ()  # cells that mean "missing", besides the usual ones
    # marks in the numbers of a text file. None finds the decimal mark, and knows no thousands mark.
    decimal: str | None = None
    thousands: str | None = None
    header: bool | None = None  # whether the first line of a text file names the columns. None finds out.
    comment: str | None = None  # lines of a text file that begin with it are passed over
    # names of samples that are known from elsewhere. They tell where the samples stand.
    known_samples: frozenset[str] = frozenset()
    size: int = 0  # bytes of the file as it was handed in, still compressed
    named: dict[str, str] = field(init=False)  # the names that the caller gave, by role: those of `apart`, and "id"

    def __post_init__(self) -> None:
        object.__setattr__(self, "named", self.apart if self.id is None else {"id": self.id, **self.apart})

    def unused(self, name: str) -> bool:
        """Whether the caller asked to leave this column out."""
        return name in self.drop or (bool(self.keep) and name not in self.keep)

    def column(self, name: str, cells: Sequence[str]) -> "Column":
        """The labels or batches that the cells of a column stand for."""
        return Column(name, as_labels(cells, self.na_values, self.path))

    def check_roles(self) -> None:
        """Refuse one column in two roles."""
        roles: dict[str, str] = {}
        for role, name in self.named.items():
            if name in roles:
                raise DataError(
                    f"'{self.path}': column '{name}' cannot be {roles[name]} and {role} at once. Name two columns."
                )
            roles[name] = role


class NumberedNames(Sequence[str]):
    """The names "x0", "x1", ... of features that have none in their file. They are made when asked for."""

    def __init__(self, count: int) -> None:
        self._numbers = range(count)

    def __len__(self) -> int:
        return len(self._numbers)

    @overload
    def __getitem__(self, index: int) -> str: ...
    @overload
    def __getitem__(self, index: slice) -> list[str]: ...
    def __getitem__(self, index: int | slice) -> str | list[str]:
        if isinstance(index, slice):
            return [f"x{number}" for number in self._numbers[index]]
        return f"x{self._numbers[index]}"


class Column(NamedTuple):
    """A column that is set apart from the features: labels, batches."""

    name: str
    values: Array


@dataclass(frozen=True)
class Table:
    """Samples read from a file.

    Parameters
    ----------
    X : ndarray or scipy.sparse.csr_matrix of shape (n_samples, n_features)
        Numbers; NaN where a value is missing.
    feature_names : sequence of str
        One name per feature; "x0", "x1", ... where the file has none.
    sample_names : list of str or None
        Names of the samples: the id column, row names, barcodes.
    format : str
        Name of the file's format, one of :data:`~eigensieve.tables.FORMATS`.
    orientation : {"rows", "columns"}
        Where the samples stood in the file. `X` always has them in rows.
    notes : list of str
        What was assumed or noticed: missing values, detected orientation, renamed features.
    apart : dict of Column
        Role ("label", "batch") -> name and values of the column asked for: numbers where every value is one (NaN where
        it is missing), strings otherwise.
    id_name : str or None
        Name of the column of sample names; of feature names where samples stand in columns.
    text : dict of list of str
        Columns of the file that are no numbers, by name. They are not among the features.
    details : dict
        What writing the same format again needs: a CSV's delimiter, unused labels, an AnnData object.

    Attributes
    ----------
    label, batch : ndarray or None
        The values of `apart`.
    label_name, batch_name : str or None
        The names of `apart`.
    """

    X: Matrix
    feature_names: Sequence[str]
    sample_names: list[str] | None
    format: str
    orientation: Literal["rows", "columns"] = "rows"
    notes: list[str] = field(default_factory=list)
    apart: dict[str, Column] = field(default_factory=dict)
    id_name: str | None = None
    text: dict[str, list[str]] = field(default_factory=dict)
    details: JsonDict = field(default_factory=dict)

    @property
    def label(self) -> Array | None:
        """The samples' labels."""
        return None if (column := self.apart.get("label")) is None else column.values

    @property
    def label_name(self) -> str | None:
        """The name of the label column."""
        return None if (column := self.apart.get("label")) is None else column.name

    @property
    def batch(self) -> Array | None:
        """The samples' batches."""
        return None if (column := self.apart.get("batch")) is None else column.values

    @property
    def batch_name(self) -> str | None:
        """The name of the batch column."""
        return None if (column := self.apart.get("batch")) is None else column.name

    @property
    def columns_apart(self) -> dict[str, Array]:
        """Labels and batches by the names of their columns."""
        return {column.name: column.values for column in self.apart.values()}

    @property
    def n_samples(self) -> int:
        """Number of samples."""
        return int(self.X.shape[0])

    @property
    def n_features(self) -> int:
        """Number of features."""
        return int(self.X.shape[1])

    @property
    def dense(self) -> FloatArray:
        """`X` as a dense array."""
        return self.X if isinstance(self.X, np.ndarray) else self.X.toarray()

    @property
    def stored(self) -> Raw:
        """`X` as it stood in the file: transposed where samples stood in columns."""
        return self.X if self.orientation == "rows" else self.X.T

    @property
    def sample_names_or_numbers(self) -> list[str]:
        """Names of the samples; "s0", "s1", ... where they have none."""
        return self.sample_names or [f"s{row}" for row in range(self.n_samples)]

    @property
    def has_names(self) -> bool:
        """Whether the file names its features."""
        return not isinstance(self.feature_names, NumberedNames)

    def set_apart(self, role: str, name: str) -> "Table":
        """Return the table with the column `name` in a role such as "label" or "batch" and no longer a feature; the
        table itself without such a column."""
        if name in self.text:
            text = {other: cells for other, cells in self.text.items() if other != name}
            column = Column(name, np.array(self.text[name], dtype=str))
            return replace(self, text=text, apart={**self.apart, role: column})
        if name not in self.feature_names:
            return self
        place = self.feature_names.index(name)
        values = self.take(np.array([place])).dense[:, 0]
        whole = bool(np.all(np.abs(values) < 2**53) and np.all(values == np.round(values)))
        column = Column(name, values.astype(np.int64) if whole else values)
        rest = self.take(np.delete(np.arange(self.n_features), place))
        return replace(rest, apart={**self.apart, role: column})

    def take(self, columns: IntArray | BoolArray) -> "Table":
        """Return the table with some of its features.

        Parameters
        ----------
        columns : ndarray of int or of bool
            Positions of the features, in the order wanted; or a mask.
        """
        positions: Array = np.asarray(columns)
        if positions.dtype == bool:
            positions = np.flatnonzero(positions)
        return replace(
            self,
            X=self.X[:, positions],
            feature_names=[self.feature_names[int(position)] for position in positions],
            details={**self.details, "columns": self.details.get("columns", np.arange(self.n_features))[positions]},
        )


def checked(table: Table, path: str | Path) -> Table:
    """Refuse tables no selection can work on, and note missing values."""
    if table.n_samples == 0:
        raise DataError(f"'{path}' has no samples. Check that it holds data rows below its header.")
    if table.n_features == 0:
        text = f" Its columns of text are {listed(list(table.text))}." if table.text else ""
        raise DataError(f"'{path}' has no numeric features.{text} Check the delimiter, and the label and id columns.")
    if table.has_names and len(set(table.feature_names)) < table.n_features:
        refuse_duplicates(table.feature_names, path, "feature")
    values = table.X if isinstance(table.X, np.ndarray) else table.X.data
    if values.dtype.kind == "f":
        rows = max(1, 2**22 // max(1, int(np.prod(values.shape[1:]))))
        missing = sum(int(np.isnan(values[i : i + rows]).sum()) for i in range(0, len(values), rows))
        if missing:
            total = table.n_samples * table.n_features
            table.notes.append(f"{missing:,} of {total:,} values are missing ({percent(missing / total)})")
    unlabelled = 0 if table.label is None else int(unknown(table.label).sum())
    if table.label is not None and unlabelled:
        words = sorted(gaps(table.label.tolist()) - {""}) if table.label.dtype.kind == "U" else []
        taken = f" ({listed(words)})" if words else ""
        table.notes.append(f"{unlabelled:,} of {table.n_samples:,} samples have no label{taken}")
    without_batch = 0 if table.batch is None else int(unknown(table.batch).sum())
    if without_batch:
        raise DataError(
            f"'{path}': {without_batch:,} of {table.n_samples:,} samples have no batch in column '{table.batch_name}'. "
            "Fill it in, or give those samples a batch of their own."
        )
    return table


def as_floats(values: Array, path: str | Path = "the table") -> FloatArray:
    """Numbers of any kind as float32 (kept) or float64 (everything else).

    Whole numbers that no float can hold are refused: as floats, different identifiers would become one value.
    """
    if values.dtype in (np.float32, np.float64):
        return values
    floats = values.astype(np.float64)
    if values.dtype.kind in "iu" and values.dtype.itemsize == 8 and values.size:
        large = np.abs(floats) >= 2.0**53
        top = 2.0**63 if values.dtype.kind == "i" else 2.0**64  # larger ones would not fit back
        if not np.array_equal(np.where(floats[large] < top, floats[large], 0.0).astype(values.dtype), values[large]):
            raise too_large(path)
    return floats


def make_unique(names: Sequence[str], notes: list[str]) -> list[str]:
    """Number repeated names ("TBCE", "TBCE-1"), as single-cell tools do for gene symbols, and note it."""
    taken = set(names)
    seen: Counter[str] = Counter()
    unique = []
    for name in names:
        new = name
        while seen[name] and new in taken:
            new = f"{name}-{seen[name]}"
            seen[name] += new in taken
        seen[name] += 1
        taken.add(new)
        unique.append(new)
    renamed = sum(old != new for old, new in zip(names, unique, strict=True))
    if renamed:
        notes.append(f"{renamed:,} repeated feature names were numbered ('-1', '-2', ...)")
    return unique


def percent(share: float) -> str:
    """A share in percent, with two digits that count."""
    return f"{100 * share:.0f} %" if share >= 0.1 else f"{100 * share:.2g} %"


@dataclass(frozen=True)
class Sheet:
    """Facts about samples, such as labels and batches, that stand apart from the table."""

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
