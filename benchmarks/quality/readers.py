"""Files of public repositories as X (samples x features) and y (words).

A reader takes the files' bytes and an argument of its own. R files need the package ``rdata``.
"""

import gzip
import io

import numpy as np
import pandas as pd
import scipy.io
from scipy.sparse import csr_matrix, issparse

Pair = tuple[np.ndarray | csr_matrix, np.ndarray]


def genes(files: list[bytes], argument: str) -> Pair:
    """A table of genes x samples behind tabs; the classes are the head of the columns."""
    head, *rows = [line.rstrip("\r").split("\t") for line in files[0].decode("latin1").split("\n") if line.strip()]
    y = np.array([word.strip() for word in head[1:]])
    X = [[float(cell) if cell.strip() else np.nan for cell in row[1 : len(y) + 1]] for row in rows]
    return np.array(X).T, y


def matlab(files: list[bytes], argument: str) -> Pair:
    """Variables X and Y of a MATLAB file."""
    stored = scipy.io.loadmat(io.BytesIO(files[0]))
    X = stored["X"]
    return (X.tocsr() if issparse(X) else np.asarray(X, dtype=float)), stored["Y"].ravel().astype(str)


def series(files: list[bytes], argument: str) -> Pair:
    """Time series: after ``@data``, channels of numbers and the class, parted by colons."""
    X, y = [], []
    for text in files:
        lines = [line.strip() for line in text.decode().split("\n")]
        start = next(i for i, line in enumerate(lines) if line.lower().startswith("@data"))
        for line in filter(None, lines[start + 1 :]):
            *channels, label = line.split(":")
            X.append([float(value) for channel in channels for value in channel.split(",")])
            y.append(label)
    return np.array(X), np.array(y)


def otus(files: list[bytes], argument: str) -> Pair:
    """A table of taxa x samples, and a table of samples with the column Var."""
    table = pd.read_csv(io.BytesIO(files[0]), sep="\t", index_col=0).select_dtypes("number")
    task = pd.read_csv(io.BytesIO(files[1]), sep="\t", dtype=str)  # an index column would be read as numbers
    task = task.set_index(task.columns[0])
    samples = [name for name in task.index if name in table.columns]
    return table[samples].to_numpy(dtype=float).T, task.loc[samples, "Var"].to_numpy()


def counts(files: list[bytes], argument: str) -> Pair:
    """Zipped CSV tables of genes x cells and of cells; the argument names columns of the latter."""
    table, cells = (pd.read_csv(io.BytesIO(gzip.decompress(file)), index_col=0) for file in files)
    y = cells.loc[table.columns, argument.split(",")].astype(str).agg("_".join, axis=1)
    return csr_matrix(table.to_numpy(dtype=np.float32).T), y.to_numpy()


def r_pair(files: list[bytes], argument: str) -> Pair:
    """An R object: a list with samples x features and classes, or two objects. The argument says where.

    ``"golub:x:y"`` is the list golub with x and y; ``":brain.x:brain.y"`` are two objects. ``"'"`` behind the first
    says that it is features x samples.
    """
    name, x, y = argument.split(":")
    stored = _r(files[0])
    stored = stored[name] if name else stored
    X = _numbers(stored[x.rstrip("'")])
    return (X.T if x.endswith("'") else X), np.asarray(stored[y]).ravel().astype(str)


def expression_set(files: list[bytes], argument: str) -> Pair:
    """Bioconductor's ExpressionSet; the argument names the column of the samples' table."""
    found = next(value for value in _r(files[0]).values() if hasattr(value, "assayData"))
    assays = found.assayData
    if not isinstance(assays, dict):
        places = [assays.frame, *assays.maps]
        assays = next(place for place in places if isinstance(place, dict) and "exprs" in place)
    y = found.phenoData.data[argument].astype(str)
    return _numbers(assays["exprs"]).T, y.where(~y.isin(["nan", "<NA>", "NA"]), "").str.strip().to_numpy()


READERS = {
    "genes": genes,
    "matlab": matlab,
    "series": series,
    "otus": otus,
    "counts": counts,
    "r_pair": r_pair,
    "expression_set": expression_set,
}


def _r(file: bytes) -> dict:
    import warnings

    import rdata

    with warnings.catch_warnings():
        # Classes of packages that are not here become plain objects, and each is told.
        warnings.simplefilter("ignore")
        return rdata.conversion.convert(rdata.parser.parse_data(file))


def _numbers(values: object) -> np.ndarray:
    return np.asarray(getattr(values, "values", values), dtype=float)
