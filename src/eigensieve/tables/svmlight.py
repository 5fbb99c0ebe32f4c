"""svmlight / libsvm text files."""

import io
import re
from pathlib import Path

import numpy as np
from scipy.sparse import csr_matrix

from eigensieve.tables.errors import PER_FEATURE, DataError, claim, damaged, parsing, too_large
from eigensieve.tables.files import Source, open_for_writing, read_content
from eigensieve.tables.table import Column, NumberedNames, Request, Table

_UNDERSCORE = re.compile(rb"^[^#\n_]*_", re.MULTILINE)
"""An underscore outside of a comment."""
_LONG = re.compile(rb":[+-]?([0-9]{16,})(?![0-9.eE])")
LABEL = "label"
"""Name of the format's target column."""


def read_svmlight(source: Source, request: Request) -> Table:
    """Read a svmlight file.

    Every line begins with a target. It becomes the table's label when the caller asks for "label". Otherwise it is kept
    aside and written again with the chosen features.
    """
    from sklearn.datasets import load_svmlight_file

    path, label = request.path, "label" in request.apart
    for role, name in request.named.items():
        if role != "label":
            raise DataError(f"'{path}' has no {role} column '{name}': the svmlight format has none. Leave it out.")
        if name != LABEL:
            raise DataError(f"'{path}' has no label column '{name}'. In svmlight files it is called '{LABEL}'.")
    if request.samples == "columns":
        raise DataError(f"'{path}' has samples in rows: the svmlight format allows nothing else. Leave it at rows.")
    content = read_content(source)[:]
    if _UNDERSCORE.search(content):
        raise damaged(path, "a svmlight file")  # the parser takes 1_0 for 10
    numbers = (found[1] for found in _LONG.finditer(content))
    if not all(len(digits) <= 300 and int(digits) == int(float(digits)) for digits in numbers):
        raise too_large(path)
    with parsing(path, "a svmlight file"):
        X, y = load_svmlight_file(io.BytesIO(content))
    claim(PER_FEATURE * X.shape[1], path, request.size)
    if label and np.any(np.abs(y) >= 2**53):
        raise too_large(path, " among its labels")
    target = y.astype(np.int64) if np.all(y == np.round(y)) and np.all(np.abs(y) < 2**53) else y
    return Table(
        X=csr_matrix(X),
        feature_names=NumberedNames(X.shape[1]),
        sample_names=None,
        format=request.format,
        apart={"label": Column(LABEL, target)} if label else {},
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
    with open_for_writing(path) as file:
        dump_svmlight_file(table.X, target, file, zero_based=False)
