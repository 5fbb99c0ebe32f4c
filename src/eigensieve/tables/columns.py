"""Tables of named columns (text, Parquet, Feather): which hold names, labels, features or text; where samples stand."""

from collections.abc import Callable, Sequence
from typing import Literal, Protocol

import numpy as np

from eigensieve._types import BoolArray, FloatArray, IntArray
from eigensieve.tables.errors import DataError, position, refuse_duplicates
from eigensieve.tables.table import Request, Table

UNNAMED = ("", "Unnamed: 0")
"""Names that R and pandas give an index column without a name."""


class Columns(Protocol):
    """The columns of a file, as its reader found them."""

    @property
    def names(self) -> Sequence[str]: ...

    def text_columns(self) -> list[int]:
        """The columns of text, as far as a first look tells."""

    def texts(self, columns: Sequence[int]) -> list[list[str]]:
        """The cells of some columns as text."""

    def numbers(self, columns: IntArray) -> tuple[FloatArray, BoolArray]:
        """The values of those of the columns that hold numbers, and a mask of them."""

    def some_numbers(self) -> FloatArray:
        """Numbers from all over the file, without the first column."""

    def id_column(self, text_columns: list[int], taken: Sequence[int]) -> int | None:
        """The column that holds the samples' names, if one does."""

    def rows(self, rows: IntArray, names: Sequence[str]) -> FloatArray:
        """The numbers of some rows, without the first column. Errors call the rows by `names`."""

    def line(self, row: int) -> list[str]:
        """The cells of one row as text, without the first column."""


def table_of(columns: Columns, request: Request, notes: list[str]) -> Table:
    """Make a table from the columns of a file, once it is known where the samples stand."""
    text_columns = columns.text_columns()
    orientation, reasons = place_of_samples(
        request,
        column_names=columns.names,
        row_names=columns.texts([0])[0] if text_columns == [0] and request.id is None else None,
        values=columns.some_numbers,
    )
    notes += reasons
    if orientation == "columns":
        return _samples_in_columns(columns, request, notes)
    return _samples_in_rows(columns, request, text_columns, notes)


def _samples_in_rows(columns: Columns, request: Request, text_columns: list[int], notes: list[str]) -> Table:
    names = columns.names
    apart = {role: position(name, names, request.path, role) for role, name in request.named.items()}
    id_column = apart.pop("id", None)
    if id_column is None and (id_column := columns.id_column(text_columns, list(apart.values()))) is not None:
        name = names[id_column]
        nameless = name in UNNAMED or name.startswith("__index_level_")
        where = "the index column, which has no name" if nameless else f"column '{name}'"
        notes.append(f"sample names from {where}")
    taken = [*apart.values(), *([] if id_column is None else [id_column])]
    features = np.delete(np.arange(len(names)), taken)
    values, numeric = columns.numbers(features)
    text = features[~numeric].tolist()
    first = next((names[column] for column in features[numeric]), "")
    if _numbers_samples(first, values, request):
        notes.append(f"the first column, '{first}', holds distinct whole numbers and is used as a feature")
    return Table(
        X=values,
        feature_names=names if numeric.all() and not taken else [names[column] for column in features[numeric]],
        sample_names=None if id_column is None else columns.texts([id_column])[0],
        format=request.format,
        notes=notes,
        apart={role: request.column(names[place], columns.texts([place])[0]) for role, place in apart.items()},
        id_name=None if id_column is None else names[id_column],
        text=dict(zip((names[column] for column in text), columns.texts(text), strict=True)),
    )


def _numbers_samples(name: str, values: FloatArray, request: Request) -> bool:
    """Whether a first feature numbers the samples, as its name says. Numbers are never taken as names unasked."""
    if plain_word(name) not in SAMPLE_WORDS or request.unused(name) or name in request.keep or len(values) < 2:
        return False
    first = values[:, 0]
    return np.array_equal(first, np.round(first)) and len(np.unique(first)) == len(first)


def _samples_in_columns(columns: Columns, request: Request, notes: list[str]) -> Table:
    row_names = columns.texts([0])[0]
    apart = {role: position(name, row_names, request.path, role, "row") for role, name in request.apart.items()}
    rows = np.delete(np.arange(len(row_names)), list(apart.values()))
    features = [row_names[row] for row in rows]
    if not features or len(columns.names) < 2:
        raise DataError(f"'{request.path}' has no samples in columns. Check the delimiter, or read samples in rows.")
    refuse_duplicates(features, request.path, "feature")
    return Table(
        X=columns.rows(rows, features).T,
        feature_names=features,
        sample_names=list(columns.names[1:]),
        format=request.format,
        orientation="columns",
        notes=notes,
        apart={role: request.column(row_names[row], columns.line(row)) for role, row in apart.items()},
        id_name=columns.names[0],
    )


_FEATURES = """gene genes geneid genename genesymbol symbol hgncsymbol ensembl ensemblid ensemblgeneid entrez entrezid
transcript transcriptid probe probeid probeset probesetid idref feature features featureid featurename protein proteinid
proteingroup peptide metabolite compound mz cpg cpgid snp rsid otu otuid asv taxon marker mirna variable"""
_SAMPLES = """sample samples sampleid samplename patient patientid subject subjectid case caseid cell cellid cellname
barcode barcodes donor donorid individual participant participantid specimen observation id index"""

FEATURE_WORDS = frozenset(_FEATURES.split())
"""Usual names of a first column of feature names, in lower case letters and digits only."""
SAMPLE_WORDS = frozenset(_SAMPLES.split())


def place_of_samples(
    request: Request, *, column_names: Sequence[str], row_names: list[str] | None, values: Callable[[], FloatArray]
) -> tuple[Literal["rows", "columns"], list[str]]:
    """Say whether samples stand in rows or in columns, with a note of the reason where "columns" was found out.

    The request says where they stand ("auto" to find out), and names the label and the id. `row_names` is the first
    column where it is the only one of text. `values` returns some of the numbers, rows x columns.
    """
    if request.samples != "auto":
        return request.samples, []
    if row_names is None or len(column_names) < 2 or any(name in column_names for name in request.named.values()):
        return "rows", []
    if request.known_samples:
        in_columns, in_rows = (len(request.known_samples.intersection(names)) for names in (column_names, row_names))
        if in_columns > in_rows:
            return "columns", ["samples in columns: their names are those of the sample sheet"]
        if in_rows:
            return "rows", []
    for role, name in request.named.items():
        if name in row_names:
            return "columns", [f"samples in columns: the {role} is the name of a row"]
    word = plain_word(column_names[0])
    if word in FEATURE_WORDS:
        return "columns", [f"samples in columns: the first column is called '{column_names[0]}'"]
    if word in SAMPLE_WORDS or len(row_names) <= 2 * (len(column_names) - 1):
        return "rows", []
    finite = np.where(np.isfinite(found := values()), found, np.nan)
    between_rows, between_columns = _spread_of_means(finite, 1), _spread_of_means(finite, 0)
    if between_rows > 0.2 and between_rows > 3 * between_columns:
        return "columns", [
            f"samples in columns: {len(row_names):,} named rows differ in level far more than "
            f"{len(column_names) - 1:,} columns do"
        ]
    return "rows", []


def plain_word(name: str) -> str:
    """A name in lower case letters and digits only, to be found among :data:`FEATURE_WORDS` and `SAMPLE_WORDS`."""
    return "".join(character for character in name.lower() if character.isalnum())


def _spread_of_means(values: FloatArray, axis: int) -> float:
    """Fraction of the variance that lies between the means along an axis, over the entries that are not NaN.

    Features differ in level and scale far more than samples do, so the larger fraction tells where the features are.
    """
    known = ~np.isnan(values)
    total = float(np.nanvar(values)) if known.any() else 0.0
    count = known.sum(axis=axis)
    means = np.nansum(values, axis=axis)[count > 0] / count[count > 0]
    return float(np.var(means)) / total if total else 0.0
