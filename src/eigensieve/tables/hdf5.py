"""HDF5 files: they are looked through in another process before they are opened. AnnData files (.h5ad)."""

import math
import subprocess
import sys
import time
from pathlib import Path

import numpy as np

from eigensieve._extras import require
from eigensieve.tables.arrays import as_matrix
from eigensieve.tables.errors import DataError, allowance, claim, damaged, parsing, position
from eigensieve.tables.table import Request, Table, make_unique

_SURVEY = Path(__file__).with_name("_hdf5_survey.py")
_SECONDS = 60.0
_SETTLED = 2.0  # seconds since the last change of a file from which its times tell one content from another
_passed: dict[tuple[int, ...], float] = {}
"""Files in which nothing was found, by device, number, size and times; with the memory that they were allowed."""


def check_hdf5(path: Path, *, in_place: bool = False) -> None:
    """Refuse an HDF5 file that is damaged, points to other files, or announces more than it may take in memory.

    With `in_place` the arrays stay in the file, so they may be larger than the memory. A file that has not changed
    since it was found sound is not looked through again.
    """
    state = path.stat()
    size, settled = state.st_size, time.time() - max(state.st_mtime, state.st_ctime) > _SETTLED
    allowed = math.inf if in_place else allowance(size)
    version = (state.st_dev, state.st_ino, size, state.st_mtime_ns, state.st_ctime_ns)
    if version in _passed and _passed[version] <= allowed:
        return
    problem = look_through(path, size, allowed)
    if problem is None or problem.startswith("DAMAGED"):
        raise damaged(path, "an HDF5 file") from (None if problem is None else OSError(problem))
    if problem.startswith("ANNOUNCED"):
        claim(float(problem.split()[1]), path, size)
    if problem:
        raise DataError(f"'{path}' was not read: {problem}.")
    if settled:
        _passed[version] = allowed


def look_through(path: Path, size: int, allowed: float) -> str | None:
    """Return the answer of the survey: empty where all is well; None where it crashed or did not end."""
    command = [sys.executable, "-P", str(_SURVEY), str(path), str(size), str(allowed)]
    try:
        done = subprocess.run(command, capture_output=True, timeout=_SECONDS + size / 10**7, check=False)
    except subprocess.TimeoutExpired:
        return None
    if done.returncode > 0:
        raise RuntimeError(f"The check of '{path}' did not start: {done.stderr.decode(errors='replace')[-300:]}")
    return done.stdout.decode("utf-8", "replace") if done.returncode == 0 else None


def read_h5ad(path: Path, request: Request) -> Table:
    """Read an .h5ad file: `X`, names of variables and observations; label, id and batch are columns of ``obs``."""
    if request.samples == "columns":
        raise DataError(f"'{path}' has samples in rows: .h5ad files always do. Leave it at rows or auto.")
    anndata = require("anndata", extra="anndata")
    check_hdf5(path)
    with parsing(path, "an .h5ad file"):
        stored = anndata.read_h5ad(path)
    if stored.X is None:
        raise DataError(f"'{path}' has no X. Store the matrix to select from in X.")
    columns = [str(name) for name in stored.obs.columns]
    for role, name in request.named.items():
        position(name, columns, path, role)
    notes: list[str] = []
    identity = stored.obs_names if request.id is None else stored.obs[request.id]
    return Table(
        X=as_matrix(stored.X, path),
        feature_names=make_unique([str(name) for name in stored.var_names], notes),
        sample_names=[str(name) for name in identity],
        format=request.format,
        notes=notes,
        apart={
            role: request.column(name, [str(entry) for entry in stored.obs[name]])
            for role, name in request.apart.items()
        },
        id_name=request.id,
        details={"anndata": stored},
    )


def write_h5ad(path: Path, table: Table) -> None:
    """Write an .h5ad file; one that was read as .h5ad keeps all its annotations for the chosen variables."""
    anndata = require("anndata", extra="anndata")
    stored = table.details.get("anndata")
    if stored is not None:
        columns = table.details.get("columns", np.arange(stored.n_vars))
        chosen = stored[:, columns].copy()
        chosen.var_names = list(table.feature_names)
    else:
        pandas = require("pandas", extra="cli")
        obs = pandas.DataFrame(index=pandas.Index(table.sample_names_or_numbers))
        for name, values in table.columns_apart.items():
            obs[name] = values
        chosen = anndata.AnnData(table.X, obs=obs, var=pandas.DataFrame(index=list(table.feature_names)))
    chosen.write_h5ad(path)
