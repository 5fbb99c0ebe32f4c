"""Where the samples stand in a table with named rows: in its rows, or, as in many gene tables, in its columns."""

from collections.abc import Callable, Sequence
from typing import Literal

import numpy as np

from eigensieve.tables.table import Request

_FEATURES = """gene genes geneid genename genesymbol symbol hgncsymbol ensembl ensemblid ensemblgeneid entrez entrezid
transcript transcriptid probe probeid probeset probesetid idref feature features featureid featurename protein proteinid
proteingroup peptide metabolite compound mz cpg cpgid snp rsid otu otuid asv taxon marker mirna variable"""
_SAMPLES = """sample samples sampleid samplename patient patientid subject subjectid case caseid cell cellid cellname
barcode barcodes donor donorid individual participant participantid specimen observation id index"""

FEATURE_WORDS = frozenset(_FEATURES.split())
"""What a first column of feature names is usually called, in lower case letters and digits only."""
SAMPLE_WORDS = frozenset(_SAMPLES.split())


def place_of_samples(
    request: Request, *, column_names: Sequence[str], row_names: list[str] | None, values: Callable[[], np.ndarray]
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
    between_rows, between_columns = _spread_of_means(values())
    if between_rows > 0.2 and between_rows > 3 * between_columns:
        return "columns", [
            f"samples in columns: {len(row_names):,} named rows differ in level far more than "
            f"{len(column_names) - 1:,} columns do"
        ]
    return "rows", []


def plain_word(name: str) -> str:
    """A name in lower case letters and digits only, to be found among :data:`FEATURE_WORDS` and `SAMPLE_WORDS`."""
    return "".join(character for character in name.lower() if character.isalnum())


def _spread_of_means(values: np.ndarray) -> tuple[float, float]:
    """Fractions of the variance that lie between the means of rows and between the means of columns.

    Features differ in level and scale far more than samples do, so the larger of the two tells where the features are.
    """
    finite = np.where(np.isfinite(values), values, np.nan)
    total = float(np.nanvar(finite)) if np.isfinite(finite).any() else 0.0
    if total == 0.0:
        return 0.0, 0.0
    with np.errstate(invalid="ignore"):
        rows, columns = _means(finite, 1), _means(finite, 0)
    return float(np.var(rows)) / total, float(np.var(columns)) / total


def _means(values: np.ndarray, axis: int) -> np.ndarray:
    """Means along an axis over finite entries, only where there are any."""
    known = np.isfinite(values)
    count = known.sum(axis=axis)
    sums = np.where(known, values, 0.0).sum(axis=axis)
    return sums[count > 0] / count[count > 0]
