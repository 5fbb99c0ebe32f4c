"""Stability over subsamples: the counts, the same for any number of jobs, resumable, drawn."""

from pathlib import Path
from typing import Any

import anndata
import dask.dataframe as dd
import numpy as np
import pandas as pd
import polars as pl
import pytest
import scipy.sparse as sp
from sklearn.feature_selection import SelectKBest, VarianceThreshold

from eigensieve import CheckpointError, QAlphaSelector, open_data, selection_stability
from eigensieve.evidence import Stability

X = np.random.default_rng(0).standard_normal((40, 12)) * np.linspace(0.9, 1.1, 12)


def test_frequencies_are_counts_over_the_subsamples() -> None:
    result = selection_stability(VarianceThreshold(1.0), X, n_subsamples=8, random_state=3)
    expected = np.zeros(12)
    for run in range(8):
        rows = np.random.default_rng([3, run]).permutation(40)[:20]
        expected += X[rows].var(axis=0) > 1.0
    np.testing.assert_allclose(result.frequencies, expected / 8)


def test_any_number_of_jobs_gives_the_same() -> None:
    one = selection_stability(VarianceThreshold(1.0), X, n_subsamples=6)
    two = selection_stability(VarianceThreshold(1.0), X, n_subsamples=6, n_jobs=2)
    np.testing.assert_array_equal(one.selections, two.selections)


def test_an_interrupted_run_goes_on(tmp_path: Path) -> None:
    class Stops(VarianceThreshold):
        calls = 0

        def fit(self, X, y=None):
            Stops.calls += 1
            if Stops.calls == 4:
                raise KeyboardInterrupt
            return super().fit(X, y)

    file = tmp_path / "runs.npz"
    with pytest.raises(KeyboardInterrupt):
        selection_stability(Stops(1.0), X, n_subsamples=6, results=file)
    resumed = selection_stability(Stops(1.0), X, n_subsamples=6, results=file)
    assert Stops.calls == 4 + 3
    np.testing.assert_array_equal(
        resumed.selections, selection_stability(VarianceThreshold(1.0), X, n_subsamples=6).selections
    )


class TakesMore(SelectKBest):
    def fit(self, X, y=None, more=None):
        return super().fit(X, y)


HALVES = np.repeat([0, 1], 20)
OTHERS = {
    "parameter": {"selector": TakesMore(k=5)},
    "class": {"selector": SelectKBest(k=3), "fit_params": None},
    "last-value": {"X": np.vstack([X[:-1], X[-1:] + 1e-12])},
    "columns": {"X": X[:, ::-1]},
    "labels": {"y": np.tile([0, 1], 20)},
    "fit_params": {"fit_params": lambda rows: {"more": rows + 1}},
    "fraction": {"fraction": 0.6},
    "random_state": {"random_state": 1},
}


@pytest.mark.parametrize("other", OTHERS)
def test_a_file_of_another_run_is_refused(other: str, tmp_path: Path) -> None:
    file = tmp_path / "runs.npz"
    run = {"selector": TakesMore(k=3), "X": X, "y": HALVES, "n_subsamples": 2, "results": file}
    run["fit_params"] = lambda rows: {"more": rows}
    first = selection_stability(**run)
    with pytest.raises(CheckpointError, match="same selector, data and settings"):
        selection_stability(**{**run, **OTHERS[other]})
    np.testing.assert_array_equal(selection_stability(**run).selections, first.selections)


@pytest.mark.parametrize("at", [0.05, 0.3, 0.6, 0.95])
def test_a_damaged_file_is_refused(at: float, tmp_path: Path) -> None:
    file = tmp_path / "runs.npz"
    selection_stability(VarianceThreshold(1.0), X, n_subsamples=2, results=file)
    content = file.read_bytes()
    file.write_bytes(content[: int(at * len(content))])
    with pytest.raises(CheckpointError, match="is damaged"):
        selection_stability(VarianceThreshold(1.0), X, n_subsamples=2, results=file)


@pytest.mark.parametrize(("name", "value"), [("fraction", 1.0), ("n_subsamples", 0)])
def test_bad_settings_are_named(name: str, value: float) -> None:
    with pytest.raises(ValueError, match=f"'{name}' parameter of selection_stability"):
        selection_stability(SelectKBest(), X, **{name: value})


@pytest.mark.parametrize(
    "kind",
    [np.ndarray.tolist, sp.coo_array, sp.csc_matrix, sp.lil_array, pd.DataFrame, pl.from_numpy, anndata.AnnData],
    ids=lambda kind: kind.__name__,
)
def test_data_of_any_kind_gives_the_same(kind: Any) -> None:
    expected = selection_stability(QAlphaSelector(4, n_clusters=2), X, n_subsamples=3)
    found = selection_stability(QAlphaSelector(4, n_clusters=2), kind(X), n_subsamples=3)
    np.testing.assert_array_equal(found.selections, expected.selections)


@pytest.mark.parametrize("kind", ["pandas", "polars", "anndata", "file"])
def test_features_keep_their_names(kind: str, tmp_path: Path) -> None:
    names = [f"g{i}" for i in range(12)]
    frame = pd.DataFrame(X, columns=names)
    frame.to_parquet(tmp_path / "x.parquet")
    data = {
        "pandas": lambda: frame,
        "polars": lambda: pl.from_pandas(frame),
        "anndata": lambda: anndata.AnnData(X, var=pd.DataFrame(index=names)),
        "file": lambda: open_data(tmp_path / "x.parquet"),
    }[kind]()
    found = selection_stability(QAlphaSelector(4, n_clusters=2), data, n_subsamples=2)
    assert found.feature_names.tolist() == names


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"y": [0, 1] * 19}, r"'y' parameter .* one label per sample of X \(40\)\. Got 38"),
        ({"y": np.arange(41)}, "Got 41 instead"),
        ({"X": X[0]}, r"'X' parameter .* Got shape \(12,\)"),
        ({"X": dd.from_pandas(pd.DataFrame(X), npartitions=2)}, "lengths=True"),
        ({"random_state": None, "results": "runs.npz"}, "'random_state' parameter .* must be a number"),
    ],
)
def test_what_cannot_be_cut_into_subsamples_is_refused(changed: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        selection_stability(**{"selector": VarianceThreshold(1.0), "X": X} | changed)
    assert not Path("runs.npz").exists()


def test_without_a_seed_the_subsamples_are_drawn_anew() -> None:
    runs = [selection_stability(VarianceThreshold(1.0), X, n_subsamples=20, random_state=None) for _ in range(2)]
    assert (runs[0].selections != runs[1].selections).any()
    for make in (np.random.RandomState, np.random.default_rng):
        states = [make(5), make(5)]
        runs = [selection_stability(VarianceThreshold(1.0), X, n_subsamples=3, random_state=state) for state in states]
        np.testing.assert_array_equal(runs[0].selections, runs[1].selections)


def test_stable_features_come_most_frequent_first() -> None:
    selections = np.array([[1, 0, 1], [1, 0, 1], [1, 1, 0]], dtype=bool)
    assert Stability(selections).stable(0.5).tolist() == [0, 2]


def test_picture() -> None:
    pytest.importorskip("matplotlib").use("Agg")
    from eigensieve.plotting import StabilityDisplay

    selections = np.array([[1, 0, 1], [1, 0, 1], [1, 1, 0]], dtype=bool)
    display = StabilityDisplay.from_stability(Stability(selections, np.array(["a", "b", "c"])))
    assert [bar.get_height() for bar in display.bars_] == pytest.approx([1, 2 / 3, 1 / 3])
    assert [label.get_text() for label in display.ax_.get_xticklabels()] == ["a", "c", "b"]


def test_labels_and_what_else_belongs_to_the_samples_are_cut_with_them() -> None:
    class Recorder(VarianceThreshold):
        seen: list = []

        def fit(self, X, y=None, extra=None):
            Recorder.seen.append((X, y, extra))
            return super().fit(X)

    said = []
    result = selection_stability(
        Recorder(1.0), X, np.arange(40), fit_params=lambda rows: {"extra": rows}, n_subsamples=3, progress=said.append
    )
    for values, y, rows in Recorder.seen:
        np.testing.assert_array_equal(y, rows)
        np.testing.assert_array_equal(values, X[rows])
    assert said == ["1 of 3 subsamples", "2 of 3 subsamples", "3 of 3 subsamples"]
    plain = selection_stability(VarianceThreshold(1.0), X, n_subsamples=3)
    np.testing.assert_array_equal(result.selections, plain.selections)
