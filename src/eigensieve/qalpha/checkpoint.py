"""Completed steps of a solve in a folder, so that an interrupted run continues where it stopped.

A step is written beside the previous one and renamed when it is complete. The folder always holds one whole step: a
crash, an interruption or a full disk costs at most the step that was being written.
"""

import json
import os
import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from eigensieve._files import PREFIX, staged
from eigensieve.data import DataMatrix
from eigensieve.qalpha.problem import Problem

_SKETCH = 8
_FORMAT = 2  # version of the arrays that a step holds


class Checkpoint:
    """The last completed step of one solve.

    Parameters
    ----------
    folder : path-like
        It is made if it does not exist.
    problem : Problem
        What is being solved. A folder with the steps of another problem is refused.
    solver : str
    """

    def __init__(self, folder: str | os.PathLike[str], problem: Problem, solver: str) -> None:
        self.folder = Path(folder)
        self.data = problem.affinity.data
        self.identity = _identity(problem, solver)

    def save(self, step: int, small: Mapping[str, Any], features: Mapping[str, Any]) -> None:
        """Write a completed step: small arrays, and arrays per feature, which may be distributed."""
        whole = self.folder / f"step-{step:06d}"
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
            with staged(whole) as partial:
                partial.mkdir()
                for name, array in features.items():
                    self.data.save_array(array, partial / f"{name}.npy")
                np.savez(partial / "small.npz", **small)
                (partial / "problem.json").write_text(json.dumps(self.identity))
        except OSError as error:
            raise OSError(
                error.errno,
                f"The checkpoint of step {step} could not be written to {self.folder}: {error.strerror or error}. "
                "Earlier checkpoints are intact: make room or name another folder, then call fit again to go on.",
            ) from error
        for older in [*self._steps(), *self.folder.glob(f"{PREFIX}*")]:  # a killed process leaves the second kind
            if older != whole:
                shutil.rmtree(older, ignore_errors=True)

    def load(self) -> tuple[dict[str, Any], dict[str, Any]] | None:
        """Return the arrays of the last completed step, or None if there is none."""
        steps = self._steps()
        if not steps:
            return None
        last = steps[-1]
        try:
            self._check(json.loads((last / "problem.json").read_text()))
            with np.load(last / "small.npz") as stored:
                small = dict(stored)
            features = {path.stem: self.data.load_array(path) for path in sorted(last.glob("*.npy"))}
        except (OSError, EOFError, KeyError, json.JSONDecodeError) as error:
            raise OSError(
                f"The checkpoint {last} cannot be read: {error}. Delete the folder {self.folder} to start afresh."
            ) from error
        return small, features

    def _steps(self) -> list[Path]:
        return sorted(self.folder.glob("step-*"))

    def _check(self, stored: dict[str, Any]) -> None:
        """Refuse another problem's steps."""
        for name, value in self.identity.items():
            known: Any = stored.get(name)
            same = np.allclose(known, value, rtol=1e-5, atol=1e-8) if name == "data" else known == value
            if not same:
                shown = "other values" if name == "data" else f"{known!r} there, {value!r} here"
                raise ValueError(
                    f"The 'checkpoint' folder {self.folder} belongs to another run: {name} differs ({shown}). "
                    "Name another folder, or delete this one to start afresh."
                )


def _identity(problem: Problem, solver: str) -> dict[str, Any]:
    """Return what must be the same for a stored step to be usable."""
    data: DataMatrix = problem.affinity.data
    stats = data.stats()
    rng = np.random.default_rng(0)
    scale = np.ones(data.n_features) if data.scale is None else data.scale
    columns = np.stack([stats.mean / np.maximum(stats.norm, 1e-300), stats.centered_norm * scale])
    sketch = [columns @ rng.choice([-1.0, 1.0], data.n_features) for _ in range(_SKETCH)]
    return {
        "format": _FORMAT,
        "n_samples": data.n_samples,
        "n_features": data.n_features,
        "precision": str(data.dtype),
        "n_clusters": problem.n_clusters,
        "spectrum": type(problem.affinity).__name__,
        "criterion": problem.tau,
        "solver": solver,
        "fixed embedding": problem.fixed_embedding is not None,
        "penalty": type(problem.penalty).__name__,
        "data": np.concatenate(sketch).tolist(),
    }
