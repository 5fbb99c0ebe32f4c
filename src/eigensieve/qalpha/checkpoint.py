"""Completed steps of a solve in a folder, so that an interrupted run continues where it stopped.

A step is written beside the previous one and renamed when it is complete: a crash, an interruption or a full disk costs
at most one step. A step has checksums and is used only for the same data, knowledge and settings. A solve that begins
with the folder of a finished one ends at once, with the same result.
"""

import hashlib
import json
import os
import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import joblib
import numpy as np

from eigensieve._files import PREFIX, CheckpointError, staged
from eigensieve._types import FloatArray
from eigensieve.data import fingerprint
from eigensieve.qalpha.problem import Problem, SolveSettings

_FORMAT = 5  # version of the arrays that a step holds
_RECORD = "problem.json"
_SMALL = "small.npz"
_LONGEST = 30  # characters of a value that a message shows; digests have more


class Checkpoint:
    """The last completed step of one solve, in a folder. The steps of another problem are refused. `start` is the start
    of the search, if it does not follow from the problem: it was given, or drawn at random."""

    def __init__(
        self, folder: str | os.PathLike[str], problem: Problem, settings: SolveSettings, start: FloatArray | None
    ) -> None:
        self.folder = Path(folder)
        self.data = problem.affinity.data
        self.max_iter = settings.max_iter
        self.progress = settings.progress
        self.identity = _identity(problem, settings, start)

    def save(self, step: int, small: Mapping[str, Any], features: Mapping[str, Any]) -> None:
        """Write a completed step: small arrays, and arrays per feature, which may be distributed."""
        whole = self.folder / f"step-{step:06d}"
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
            with staged(whole) as partial:
                partial.mkdir()
                for name, array in features.items():
                    self.data.save_array(array, partial / f"{name}.npy")
                np.savez(partial / _SMALL, **small)
                files = {path.name: _checksum(path) for path in sorted(partial.iterdir())}
                record = {**self.identity, "step": step, "files": files}
                (partial / _RECORD).write_text(json.dumps({**record, "checksum": _of_text(record)}))
        except OSError as error:
            raise OSError(
                error.errno,
                f"The checkpoint of step {step} could not be written to {self.folder}: {error.strerror or error}. "
                "Earlier checkpoints are intact: make room or name another folder, then call fit again to go on.",
            ) from error
        for older in [*self._steps(), *self.folder.glob(f"{PREFIX}*")]:  # killed processes leave hidden folders
            if older != whole:
                shutil.rmtree(older, ignore_errors=True)

    def load(self) -> tuple[dict[str, Any], dict[str, Any]] | None:
        """Return the arrays of the last completed step, or None if there is none."""
        steps = self._steps()
        if not steps:
            return None
        last = steps[-1]
        try:
            record = _read_record(last)
            self._check(record)
            _check_files(last, record["files"])
            with np.load(last / _SMALL, allow_pickle=False) as stored:
                small = dict(stored)
            arrays = [last / name for name in record["files"] if name.endswith(".npy")]
            features = {path.stem: self.data.load_array(path) for path in arrays}
        except CheckpointError:
            raise
        except Exception as error:  # a damaged file may raise anything
            raise CheckpointError(
                f"The checkpoint {last} is damaged and cannot be used: {error}. "
                f"Delete the folder {self.folder} to start afresh."
            ) from error
        finished = str(small.get("status")) != "max_iter"
        self.progress(
            f"{last} holds {'the end of this search' if finished else 'a step: the search goes on from there'}"
        )
        return small, features

    def _steps(self) -> list[Path]:
        return sorted(self.folder.glob("step-*"))

    def _check(self, record: dict[str, Any]) -> None:
        """Refuse another problem's steps."""
        for name, value in self.identity.items():
            known: Any = record.get(name)
            if known == value:
                continue
            shown = "other values" if len(str(value)) > _LONGEST else f"{known!r} there, {value!r} here"
            raise CheckpointError(
                f"The 'checkpoint' folder {self.folder} belongs to another run: {name} differs ({shown}). "
                "Name another folder, or delete this one to start afresh."
            )
        if record["step"] > self.max_iter:
            raise CheckpointError(
                f"The 'checkpoint' folder {self.folder} belongs to another run: it holds step {record['step']}, beyond "
                f"max_iter={self.max_iter}. Name another folder, raise max_iter, or delete this one to start afresh."
            )


def _identity(problem: Problem, settings: SolveSettings, start: FloatArray | None) -> dict[str, Any]:
    """Return what must be the same for a stored step to be usable: everything that the result depends on."""
    affinity, penalty = problem.affinity, problem.penalty
    data = affinity.data
    return {
        "format": _FORMAT,
        "n_samples": data.n_samples,
        "n_features": data.n_features,
        "precision": str(data.dtype),
        "n_clusters": problem.n_clusters,
        "spectrum": type(affinity).__name__,
        "criterion": problem.tau,
        "solver": (settings.solver if settings.shift == "fixed" else f"{settings.solver}, d {settings.shift}"),
        "tol": settings.tol,
        "data": fingerprint(data),
        "side data": joblib.hash(problem.scale),
        "normalization": joblib.hash((data.center, data.scale)),
        "usable features": joblib.hash(problem.usable),
        "labels": joblib.hash(problem.fixed_embedding),
        "pairs": joblib.hash(None if penalty is None else penalty.parts),
        "start": joblib.hash((start, problem.initial_weights)),
    }


def _checksum(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _of_text(record: dict[str, Any]) -> str:
    return hashlib.sha256(json.dumps(record, sort_keys=True).encode()).hexdigest()


def _read_record(step: Path) -> dict[str, Any]:
    record = json.loads((step / _RECORD).read_text())
    if not isinstance(record, dict):
        raise ValueError(f"{_RECORD} is not a record")
    if record.get("format") == _FORMAT and record.pop("checksum", None) != _of_text(record):
        raise ValueError(f"{_RECORD} does not match its checksum")
    return record


def _check_files(step: Path, files: dict[str, str]) -> None:
    """Raise when a file of a step is missing, added or changed."""
    there = sorted(path.name for path in step.iterdir() if path.name != _RECORD)
    if there != sorted(files):
        raise ValueError(f"it should hold {', '.join(sorted(files))}, and holds {', '.join(there)}")
    for name, checksum in files.items():
        if _checksum(step / name) != checksum:
            raise ValueError(f"{name} does not match its checksum")
