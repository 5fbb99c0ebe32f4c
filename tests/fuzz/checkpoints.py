"""Damaged checkpoint folders and stability files: each is refused with CheckpointError, or changes nothing."""

import tempfile
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.feature_selection import VarianceThreshold

from eigensieve import CheckpointError, QAlphaSelector, selection_stability
from fuzz.reader_damage import damaged_binary

Spec = dict[str, Any]

SOLVERS = ("auto", "ritz")
STABILITY = "stability"


def draw(rng: np.random.Generator, target: str) -> Spec:
    kinds = (*SOLVERS, STABILITY)
    return {"of": kinds[int(rng.integers(len(kinds)))], "seed": int(rng.integers(2**31))}


def _data() -> np.ndarray:
    X = np.random.default_rng(0).standard_normal((20, 15))
    X[:10, :4] += 2.0
    return X


def _run(of: str, place: Path) -> np.ndarray:
    """Run with a checkpoint folder, and return the result."""
    if of == STABILITY:
        return selection_stability(
            VarianceThreshold(1.0), _data(), n_subsamples=3, results=place / "runs.npz"
        ).selections
    return np.asarray(QAlphaSelector(4, 2, solver=of).fit(_data(), checkpoint=place).weights_)


@cache
def _sound(of: str) -> tuple[dict[str, bytes], np.ndarray]:
    with tempfile.TemporaryDirectory() as folder:
        found = _run(of, Path(folder))
        files = {str(path.relative_to(folder)): path.read_bytes() for path in Path(folder).rglob("*") if path.is_file()}
    return files, found


def check(spec: Spec) -> str:
    files, expected = _sound(spec["of"])
    rng = np.random.default_rng(spec["seed"])
    hit = sorted(files)[int(rng.integers(len(files)))]
    with tempfile.TemporaryDirectory() as folder:
        for name, content in files.items():
            (Path(folder) / name).parent.mkdir(parents=True, exist_ok=True)
            (Path(folder) / name).write_bytes(damaged_binary(rng, content) if name == hit else content)
        try:
            found = _run(spec["of"], Path(folder))
        except CheckpointError as error:
            return f"refused: {error}".replace(folder, "")
    np.testing.assert_array_equal(found, expected, "another result without an error")
    return "the same result"
