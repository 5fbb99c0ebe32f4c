"""What the workers need, imported once: they are forks of a process that has it."""

import math
import os
import tempfile
import warnings
from pathlib import Path

import anndata  # noqa: F401
import h5py  # noqa: F401
import zarr  # noqa: F401

import eigensieve.data
from eigensieve.tables import _hdf5_survey, hdf5, read_table

warnings.simplefilter("ignore")


def survey_by_fork() -> None:
    """Let the survey of HDF5 files run in a fork of the worker: like a new process, and much sooner."""
    hdf5.look_through = _look_through


def _look_through(path: Path, size: int, allowed: float) -> str | None:
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(reading)
        _hdf5_survey.limit(size)
        os.write(writing, _hdf5_survey.survey(str(path), size, allowed).encode("utf-8", "replace")[:60_000])
        os._exit(0)
    os.close(writing)
    with os.fdopen(reading, "rb") as pipe:
        said = pipe.read()
    return said.decode() if os.waitpid(child, 0)[1] == 0 else None


def _compile() -> None:
    """Have the compiled loops ready, which takes long the first time."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "x.csv"
        path.write_text("a,b\n1,2\n3,4\n")
        assert read_table(path).X.sum() == 10 and math.isfinite(1)
        np_path = Path(folder) / "x.npy"
        import numpy as np

        np.save(np_path, np.eye(3))
        eigensieve.data.open_data(np_path).stats()


_compile()
