"""From a table to what a selector can be fitted on: missing values, side data, pairs of samples."""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from eigensieve._types import Array
from eigensieve.cli.errors import InputProblem, UsageProblem

MISSING = {
    "error": "stop and say where they are",
    "mean": "fill in the column's mean",
    "median": "fill in the column's median",
    "drop-features": "leave out columns that have any",
    "drop-samples": "leave out samples that have any",
}


@dataclass(frozen=True)
class Samples:
    """What of a table goes into a fit.

    Attributes
    ----------
    X : ndarray or scipy.sparse matrix of shape (n_samples, n_features)
    features : sequence of str
    ids : list of str or None
    labels : ndarray or None
    rows, columns : ndarray of int
        Rows and columns of the table that X holds.
    prepared : list of str
        Sentences about what was changed on the way.
    """

    X: Any
    features: Sequence[str]
    ids: list[str] | None
    labels: Array | None
    rows: Array
    columns: Array
    prepared: list[str] = field(default_factory=list)

    @classmethod
    def of(cls, table: Any) -> "Samples":
        """Take everything of a table."""
        rows, columns = np.arange(table.n_samples), np.arange(table.n_features)
        return cls(table.X, table.feature_names, table.sample_names, table.label, rows, columns)

    def keep_samples(self, mask: Array, sentence: str) -> "Samples":
        """Return the samples where `mask` is true."""
        return replace(
            self,
            X=self.X[mask],
            ids=None if self.ids is None else [self.ids[i] for i in np.flatnonzero(mask).tolist()],
            labels=None if self.labels is None else self.labels[mask],
            rows=self.rows[mask],
            prepared=[*self.prepared, sentence],
        )

    def keep_features(self, mask: Array, sentence: str) -> "Samples":
        """Return the features where `mask` is true."""
        kept = np.flatnonzero(mask).tolist()
        return replace(
            self,
            X=self.X[:, kept],
            features=[self.features[i] for i in kept],
            columns=self.columns[kept],
            prepared=[*self.prepared, sentence],
        )


def handle_missing(samples: Samples, how: str, source: str) -> Samples:
    """Do with missing values what ``--missing`` says."""
    if how not in MISSING:
        raise UsageProblem(f"--missing must be one of {', '.join(MISSING)}. Got '{how}' instead.")
    bad = np.flatnonzero(~_finite_columns(samples.X))
    if not len(bad):
        return samples
    if how == "error":
        some = ", ".join(repr(samples.features[i]) for i in bad[:3]) + (" ..." if len(bad) > 3 else "")
        raise InputProblem(
            f"'{source}' has missing or infinite values in {len(bad)} of {len(samples.features)} columns "
            f"({some}). "
            "Say what to do with them: --missing mean, median, drop-features or drop-samples."
        )
    if how == "drop-features":
        keep: Any = np.ones(len(samples.features), dtype=bool)
        keep[bad] = False
        if not keep.any():
            raise InputProblem(
                f"Every column of '{source}' has missing values, so --missing drop-features leaves nothing. "
                "Use --missing mean or median."
            )
        return samples.keep_features(keep, f"{len(bad)} features with missing values left out")
    block = _dense(samples.X[:, bad])
    holes = ~np.isfinite(block)
    if how == "drop-samples":
        keep = ~holes.any(axis=1)
        if not keep.any():
            raise InputProblem(
                f"Every sample of '{source}' has a missing value, so --missing drop-samples leaves nothing. "
                "Use --missing mean, median or drop-features."
            )
        return samples.keep_samples(keep, f"{int((~keep).sum())} samples with missing values left out")
    return _fill(samples, bad, block, holes, how, source)


def _fill(samples: Samples, bad: Array, block: Array, holes: Array, how: str, source: str) -> Samples:
    empty = holes.all(axis=0)
    if empty.any():
        names = ", ".join(repr(samples.features[i]) for i in bad[empty][:3])
        raise InputProblem(
            f"'{source}' has columns without a single value ({names}), which --missing {how} cannot fill in. "
            "Use --missing drop-features."
        )
    block = np.where(holes, np.nan, block)
    centre = np.nanmean(block, axis=0) if how == "mean" else np.nanmedian(block, axis=0)
    X = samples.X.tolil() if hasattr(samples.X, "tolil") else samples.X.copy()
    X[:, bad] = np.where(holes, centre, block)
    if hasattr(X, "tocsr"):
        X = X.tocsr()
    sentence = f"{int(holes.sum())} missing values in {len(bad)} features filled in with the {how}"
    return replace(samples, X=X, prepared=[*samples.prepared, sentence])


def _finite_columns(X: Any) -> Array:
    from eigensieve.data import as_data

    return as_data(X).stats().finite


def _dense(X: Any) -> Array:
    return np.asarray(X.toarray() if hasattr(X, "toarray") else X, dtype=np.float64)


def align_side(side: Samples, main: Samples, source: str) -> Any:
    """Return the side data with the main data's columns, in their order."""
    place = {name: i for i, name in enumerate(side.features)}
    absent = [name for name in main.features if name not in place]
    if absent:
        some = ", ".join(repr(name) for name in absent[:3]) + (" ..." if len(absent) > 3 else "")
        raise InputProblem(
            f"The side data '{source}' lacks {len(absent)} of the {len(main.features)} features ({some}). "
            "It must have the same columns as the input."
        )
    return side.X[:, [place[name] for name in main.features]]


def read_pairs(path: str, samples: Samples) -> dict[str, Array]:
    """Read pairs of samples: two columns of sample names (or row numbers from 0), and optionally cannot or must."""
    import csv

    known = {name: i for i, name in enumerate(samples.ids)} if samples.ids is not None else {}
    by_row = {int(row): i for i, row in enumerate(samples.rows)}
    links: dict[str, list[tuple[int, int]]] = {"cannot": [], "must": []}
    with open(path, newline="", encoding="utf-8-sig") as file:
        sample = file.read(4096)
        file.seek(0)
        rows = csv.reader(file, delimiter="\t" if "\t" in sample else ",")
        for number, row in enumerate(rows, start=1):
            if not row:
                continue
            if len(row) not in (2, 3):
                raise InputProblem(
                    f"Line {number} of the pairs file '{path}' has {len(row)} columns. "
                    "Each line must name two samples and, optionally, 'cannot' or 'must'."
                )
            kind = row[2].strip().lower() if len(row) == 3 else "cannot"
            found = [_sample(cell.strip(), known, by_row) for cell in row[:2]]
            if kind in links and None not in found:
                links[kind].append((found[0], found[1]))  # type: ignore[arg-type]
            elif number > 1:  # the first line may be a header
                _refuse_pair(path, number, row, kind, links, found)
    if not (links["cannot"] or links["must"]):
        raise InputProblem(f"The pairs file '{path}' holds no pair of samples of the input. Check the names in it.")
    return {f"{kind}_link": np.array(pairs) for kind, pairs in links.items() if pairs}


def _sample(cell: str, known: dict[str, int], by_row: dict[int, int]) -> int | None:
    if known:
        return known.get(cell)
    return by_row.get(int(cell)) if cell.isdecimal() else None


def _refuse_pair(path: str, number: int, row: list[str], kind: str, links: object, found: list[int | None]) -> None:
    if None in found:
        unknown = row[found.index(None)].strip()
        raise InputProblem(
            f"Line {number} of the pairs file '{path}' names '{unknown}', which is no sample of the input. "
            "Use the samples' names, or row numbers from 0 when they have none."
        )
    raise InputProblem(
        f"Line {number} of the pairs file '{path}' says '{kind}'. The third column must be 'cannot' or 'must'."
    )
