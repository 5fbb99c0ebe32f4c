"""svmlight / libsvm text files."""

import gzip
import io
from pathlib import Path
from typing import Any

import numpy as np
from scipy.sparse import csr_matrix

from eigensieve.tables.arrays import damaged
from eigensieve.tables.content import read_content
from eigensieve.tables.table import DataError, NumberedNames, Samples, Table

LABEL = "label"
"""What the format's target column is called here."""


def read_svmlight(
    content: Path | io.BytesIO, path: str | Path, *, label: str | None, id: str | None, samples: Samples
) -> Table:
    """Read a svmlight file.

    Every line begins with a target. It becomes the table's label only when asked for as "label"; otherwise
    it is kept aside and written again with the chosen features.
    """
    from sklearn.datasets import load_svmlight_file

    if id is not None:
        raise DataError(f"'{path}' has no id column '{id}': the svmlight format has none. Leave the id out.")
    if label not in (None, LABEL):
        raise DataError(f"'{path}' has no label column '{label}'. In svmlight files it is called '{LABEL}'.")
    if samples == "columns":
        raise DataError(f"'{path}' has samples in rows: the svmlight format allows nothing else. Leave it at rows.")
    if isinstance(content, Path):
        content = io.BytesIO(read_content(content)[:])
    try:
        X, y = load_svmlight_file(content)
    except (ValueError, IndexError, OverflowError, UnicodeDecodeError) as error:
        raise damaged(path, "a svmlight file") from error
    target = y.astype(np.int64) if np.all(y == np.round(y)) and np.all(np.abs(y) < 2**53) else y
    return Table(
        X=csr_matrix(X),
        feature_names=NumberedNames(X.shape[1]),
        sample_names=None,
        label=target if label else None,
        format="svmlight",
        label_name=label,
        details={"target": target},
    )


def write_svmlight(path: Path, table: Table) -> None:
    """Write a svmlight file; the target is the label, or the one the file came with, or 0."""
    from sklearn.datasets import dump_svmlight_file

    target = table.details.get("target") if table.label is None else table.label
    if target is None:
        target = np.zeros(table.n_samples)
    if np.asarray(target).dtype.kind not in "fiub":
        _, target = np.unique(target, return_inverse=True)
    opener: Any = gzip.open if path.name.lower().endswith(".gz") else open
    with opener(path, "wb") as file:
        dump_svmlight_file(table.X, target, file, zero_based=False)
