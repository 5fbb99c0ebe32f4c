"""Fetch public sets by name, check their digests, and store them as NAME.npz.

``python -m benchmarks.quality.fetch --to FOLDER [NAME ...]``. The files stay with their owners: sources.tsv holds the
addresses and digests only.
"""

import argparse
import csv
import hashlib
import os
from pathlib import Path
from urllib.request import urlopen

import numpy as np
from scipy.sparse import csr_matrix, issparse

from .data import part_of
from .readers import READERS

SOURCES = Path(__file__).with_name("sources.tsv")
_ADDRESS = "https://raw.githubusercontent.com/{repository}/{commit}/{path}"
_MOST, _LEAST = 3_000, 3  # samples of a set, samples of a class


def sources(file: Path = SOURCES) -> dict[str, dict[str, str]]:
    """The rows of the catalogue by name."""
    with file.open(newline="", encoding="utf-8") as stream:
        return {row["name"]: row for row in csv.DictReader(stream, delimiter="\t")}


def fetch(row: dict[str, str], folder: Path, address: str = _ADDRESS) -> Path:
    """Fetch one set, unless the folder has it; the file is written whole or not at all.

    Raises
    ------
    ValueError
        When a file is not the one that was catalogued.
    """
    target = folder / f"{row['name']}.npz"
    if target.exists():
        return target
    files = []
    for path, digest in zip(row["path"].split(";"), row["sha256"].split(";"), strict=True):
        place = address.format(repository=row["repository"], commit=row["commit"], path=path.replace(" ", "%20"))
        with urlopen(place) as stream:
            files.append(stream.read())
        found = hashlib.sha256(files[-1]).hexdigest()
        if found != digest:
            raise ValueError(f"'{place}' is not the file that was catalogued: sha256 {found} in place of {digest}.")
    X, y = clean(*READERS[row["reader"]](files, row["argument"]))
    stored = {"X": X} if not issparse(X) else {}
    if issparse(X):
        stored = {"X_data": X.data, "X_indices": X.indices, "X_indptr": X.indptr, "X_shape": np.array(X.shape)}
    part = folder / f"{row['name']}.part.npz"
    np.savez_compressed(part, y=y, kind=row["kind"], units=row["units"], source=row["repository"], **stored)
    os.replace(part, target)
    return target


def clean(X: np.ndarray | csr_matrix, y: np.ndarray) -> tuple[np.ndarray | csr_matrix, np.ndarray]:
    """Leave out samples without a class, classes of fewer than 3 and constant columns; at most 3,000 samples.

    Missing values are filled in by the mean of their column.
    """
    X, y = _large_classes(X[y != ""], y[y != ""])
    if len(y) > _MOST:
        rows = np.sort(np.random.default_rng(0).permutation(len(y))[:_MOST])
        X, y = _large_classes(X[rows], y[rows])
    if issparse(X):
        mean, square = (np.asarray(part.mean(axis=0)).ravel() for part in (X, X.multiply(X)))
        X = X[:, square - mean**2 > 1e-12 * np.maximum(square, 1e-300)].astype(np.float32)
    else:
        X = np.where(np.isfinite(X), X, np.nan)
        X = X[:, ~np.isnan(X).all(axis=0)]
        X = np.where(np.isnan(X), np.nanmean(X, axis=0), X).astype(np.float32)
        X = X[:, (X[:1] != X).any(axis=0) & (X.std(axis=0) > 0)]
    return X, np.unique(y, return_inverse=True)[1]


def _large_classes(X, y):
    words, sizes = np.unique(y, return_counts=True)
    keep = np.isin(y, words[sizes >= _LEAST])
    return X[keep], y[keep]


def main() -> None:
    catalogue = sources()
    parser = argparse.ArgumentParser(prog="python -m benchmarks.quality.fetch", description=__doc__)
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"all if none is named: {', '.join(catalogue)}")
    parser.add_argument(
        "--part", choices=["reported", "chosen-on"], help="only sets on which nothing was chosen, or was"
    )
    parser.add_argument("--to", type=Path, required=True, help="folder for the files")
    arguments = parser.parse_args()
    unknown = set(arguments.names) - set(catalogue)
    if unknown:
        parser.error(f"Not in the catalogue: {', '.join(sorted(unknown))}.")
    arguments.to.mkdir(parents=True, exist_ok=True)
    for name in arguments.names or catalogue:
        if arguments.part in (None, part_of(name)):
            print(fetch(catalogue[name], arguments.to), flush=True)


if __name__ == "__main__":
    main()
