"""A checkpoint is used only by the run that wrote it, and only if it is whole."""

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning

from eigensieve import CheckpointError, QAlphaSelector
from eigensieve.qalpha import checkpoint

N_SAMPLES, N_FEATURES = 30, 50


def make(seed: int) -> np.ndarray:
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((N_SAMPLES, N_FEATURES))
    X[:15, :8] += 2.0
    return X


X = make(0)
HALVES = np.repeat([0, 1], 15)
TURNS = np.tile([0, 1], 15)
START = np.random.default_rng(5).standard_normal((N_SAMPLES, 2))
SIDE = np.random.default_rng(6).standard_normal((12, N_FEATURES))
PAIRS = np.array([[0, 20], [1, 25]])


def changed(X: np.ndarray, sample: int, feature: int) -> np.ndarray:
    """The same data with the last bit of one value changed."""
    other = X.copy()
    other[sample, feature] = np.nextafter(other[sample, feature], np.inf)
    return other


Run = tuple[dict[str, Any], dict[str, Any]]

# the difference, settings and fit parameters of the first run, and those of the second
OTHERS: dict[str, tuple[str, Run, Run]] = {
    "labels": ("labels", ({}, {"X": X, "y": HALVES}), ({}, {"y": TURNS})),
    "no-labels": ("labels", ({"n_clusters": 1}, {"X": X, "y": HALVES}), ({}, {"y": None})),
    "shuffled-columns": ("data", ({}, {"X": X}), ({}, {"X": X[:, ::-1].copy()})),
    "shuffled-samples": ("data", ({}, {"X": X}), ({}, {"X": X[::-1].copy()})),
    "one-bit": ("data", ({}, {"X": X}), ({}, {"X": changed(X, 17, 3)})),
    "side": ("side data", ({}, {"X": X, "side": SIDE}), ({}, {"side": changed(SIDE, 3, 1) + 1e-9 * SIDE})),
    "side-strength": ("side data", ({"strength": 1.0}, {"X": X, "side": SIDE}), ({"strength": 0.5}, {})),
    "pairs": ("pairs", ({}, {"X": X, "cannot_link": PAIRS}), ({}, {"cannot_link": PAIRS + 1})),
    "kind-of-pairs": ("pairs", ({}, {"X": X, "cannot_link": PAIRS}), ({}, {"cannot_link": None, "must_link": PAIRS})),
    "pair-strength": ("pairs", ({"strength": 1.0}, {"X": X, "cannot_link": PAIRS}), ({"strength": 0.5}, {})),
    "tol": ("tol", ({"tol": 1e-4}, {"X": X}), ({"tol": 1e-6}, {})),
    "solver": ("solver", ({"solver": "auto"}, {"X": X}), ({"solver": "ritz"}, {})),
    "start": ("start", ({"init": START}, {"X": X}), ({"init": START[::-1].copy()}, {})),
    "seed": ("start", ({"init": "random", "random_state": 0}, {"X": X}), ({"random_state": 1}, {})),
    "kind-of-start": ("start", ({"init": START}, {"X": X}), ({"init": "eigen"}, {})),
    "normalization": ("normalization", ({"normalize": "center"}, {"X": X}), ({"normalize": "unit"}, {})),
    "spectrum": ("spectrum", ({"normalize": "unit"}, {"X": X}), ({"spectrum": "laplacian"}, {})),
    "criterion": ("criterion", ({}, {"X": X}), ({"criterion": "gap"}, {})),
    "clusters": ("n_clusters", ({}, {"X": X}), ({"n_clusters": 3}, {})),
    "precision": ("precision", ({}, {"X": X}), ({}, {"X": X.astype(np.float32)})),
}


def fit(folder: Path, settings: dict[str, Any], given: dict[str, Any]) -> QAlphaSelector:
    options = {name: value for name, value in settings.items() if name in ("init", "max_iter", "tol")}
    settings = {name: value for name, value in settings.items() if name not in options}
    return QAlphaSelector(8, **{"n_clusters": 2, "solver_options": options, **settings}).fit(**given, checkpoint=folder)


@pytest.mark.parametrize("case", OTHERS)
def test_the_steps_of_another_run_are_refused(case: str, tmp_path: Path) -> None:
    differs, (settings, given), (other_settings, other_given) = OTHERS[case]
    first = fit(tmp_path, settings, given)
    with pytest.raises(CheckpointError, match=f"belongs to another run: {differs} differs"):
        fit(tmp_path, {**settings, **other_settings}, {**given, **other_given})
    again = fit(tmp_path, settings, given)
    np.testing.assert_array_equal(again.weights_, first.weights_)


def test_a_finished_fit_is_recognised_and_said_so(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    first = fit(tmp_path, {}, {"X": X})
    again = fit(tmp_path, {"verbose": 2}, {"X": X})
    assert "holds the end of this search" in capsys.readouterr().err + capsys.readouterr().out
    assert again.converged_ and again.n_iter_ == first.n_iter_
    np.testing.assert_array_equal(again.weights_, first.weights_)
    np.testing.assert_array_equal(again.embedding_, first.embedding_)


def test_more_steps_may_be_allowed_but_not_fewer(tmp_path: Path) -> None:
    whole = QAlphaSelector(8, 2, solver_options={"tol": 1e-9}).fit(X)
    with pytest.warns(ConvergenceWarning):
        fit(tmp_path, {"tol": 1e-9, "max_iter": 4}, {"X": X})
    with pytest.raises(CheckpointError, match="it holds step 4, beyond max_iter=3"):
        fit(tmp_path, {"tol": 1e-9, "max_iter": 3}, {"X": X})
    np.testing.assert_array_equal(fit(tmp_path, {"tol": 1e-9}, {"X": X}).weights_, whole.weights_)


def test_random_starts_need_a_seed_to_go_on(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="'random_state' parameter of QAlphaSelector must be a number"):
        fit(tmp_path, {"init": "random"}, {"X": X})


def _flip(path: Path, at: float) -> None:
    content = bytearray(path.read_bytes())
    content[int(at * (len(content) - 1))] ^= 4
    path.write_bytes(bytes(content))


def _swap(step: Path) -> None:
    (step / "B.npy").rename(step / "C.npy")
    (step / "P.npy").rename(step / "B.npy")
    (step / "C.npy").rename(step / "P.npy")


def _rewrite(step: Path) -> None:
    record = json.loads((step / "problem.json").read_text())
    (step / "problem.json").write_text(json.dumps({**record, "step": record["step"] + 1}))


DAMAGES: dict[str, Callable[[Path], Any]] = {
    "value": lambda step: _flip(step / "B.npy", 0.7),
    "header": lambda step: _flip(step / "P.npy", 0.0),
    "small": lambda step: _flip(step / "small.npz", 0.5),
    "record": lambda step: _flip(step / "problem.json", 0.5),
    "cut": lambda step: (step / "B.npy").write_bytes((step / "B.npy").read_bytes()[:-8]),
    "empty": lambda step: (step / "problem.json").write_text(""),
    "missing": lambda step: (step / "KB.npy").unlink(),
    "added": lambda step: shutil.copy(step / "B.npy", step / "D.npy"),
    "swapped": _swap,
    "rewritten": _rewrite,
    "list": lambda step: (step / "problem.json").write_text("[]"),
    "file": lambda step: (shutil.rmtree(step), step.write_text("")),
}


def test_a_step_that_another_process_removes_meanwhile_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Two fits share a folder: the other one writes its next step after the files of this one were compared."""
    QAlphaSelector(4, 2).fit(X, checkpoint=tmp_path)
    monkeypatch.setattr(checkpoint, "_check_files", lambda step, files: (step / "B.npy").unlink())
    with pytest.raises(CheckpointError, match="cannot be used"):
        QAlphaSelector(4, 2).fit(X, checkpoint=tmp_path)


@pytest.mark.parametrize("damage", DAMAGES)
def test_a_damaged_step_is_refused(damage: str, tmp_path: Path) -> None:
    fit(tmp_path, {}, {"X": X})
    (step,) = (tmp_path / "start-0").iterdir()
    DAMAGES[damage](step)
    with pytest.raises(CheckpointError, match=r"is damaged and cannot be used.*Delete the folder"):
        fit(tmp_path, {}, {"X": X})
