"""What the workers need, imported and compiled once: they are forks of a process that has it."""

import pickle
import subprocess
import sys
import tempfile
import warnings
from pathlib import Path

import anndata  # noqa: F401
import h5py  # noqa: F401
import numpy as np
import polars  # noqa: F401  only imported: the threads that its first use starts would not survive a fork
import zarr  # noqa: F401

import eigensieve.cli.app
import eigensieve.data
from eigensieve.tables import hdf5, read_table
from fuzz import checkpoints, fits, interruptions, models, readers, relations, tampering  # noqa: F401
from fuzz.targets import CLASSIFIERS, REGRESSORS, SELECTORS, TRANSFORMERS, draw
from fuzz.worker import attempt

warnings.simplefilter("ignore")


def survey_by_fork() -> None:
    """Let the survey of HDF5 files run in forks of a small process, which is started when the first file comes."""
    hdf5.look_through = _Surveyor()


class _Surveyor:
    def __init__(self) -> None:
        self._server: subprocess.Popen[bytes] | None = None

    def __call__(self, path: Path, size: int, allowed: float) -> str | None:
        if self._server is None:
            command = [sys.executable, str(Path(__file__).with_name("survey_server.py")), str(hdf5._SURVEY)]
            self._server = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        assert self._server.stdin is not None and self._server.stdout is not None
        pickle.dump((str(path), size, allowed), self._server.stdin)
        self._server.stdin.flush()
        found: str | None = pickle.load(self._server.stdout)
        return found


def _compile() -> None:
    """Have the compiled loops ready, which takes long the first time."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "x.csv"
        path.write_text("a,b\n1,2\n3,4\n")
        assert read_table(path).X.sum() == 10
        np.save(Path(folder) / "x.npy", np.eye(3))
        eigensieve.data.open_data(Path(folder) / "x.npy").stats()
    for target in (*SELECTORS, *CLASSIFIERS, *REGRESSORS, *TRANSFORMERS):
        for number in range(6):
            attempt(fits, draw(target, 0, number))


_compile()
readers.sound()
