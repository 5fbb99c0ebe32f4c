"""Times to an event: the target is the score test of the null Cox model."""

import numpy as np
import pandas as pd
import polars as pl
import pytest

from eigensieve import SieveSelector, selection_stability
from eigensieve.estimators import read_target
from reference import labelled as reference
from support.backends import BACKENDS, tolerance

KIND = [("event", bool), ("time", float)]


def _times(seed: int = 0, ties: bool = False) -> tuple[np.ndarray, np.ndarray]:
    """120 samples whose hazard depends on the first three of 60 features, a third of them censored."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((120, 60))
    time = rng.exponential(np.exp(-X[:, :3] @ [1.0, -1.0, 0.8]))
    censored = rng.exponential(2.0, 120)
    observed = np.minimum(time, censored)
    y = np.array(list(zip(time <= censored, np.round(observed, 1) if ties else observed, strict=True)), dtype=KIND)
    return X, y


def _score(x: np.ndarray, y: np.ndarray) -> float:
    """Derivative of Cox's partial likelihood at 0: sum over events of x minus its mean over the samples at risk."""
    return float(sum(x[t] - x[y["time"] >= y["time"][t]].mean() for t in np.flatnonzero(y["event"])))


@pytest.mark.parametrize("ties", [False, True])
def test_the_target_is_the_score_test_of_the_null_model(ties: bool) -> None:
    X, y = _times(ties=ties)
    target = read_target(y, 120, "test")
    assert target.kind == "survival"
    found = X.T @ target.columns[:, 0]
    expected = np.array([_score(x, y) for x in X.T])
    np.testing.assert_allclose(found / np.linalg.norm(found), expected / np.linalg.norm(expected), atol=1e-10)


def test_a_frame_is_read_as_the_structured_array() -> None:
    _, y = _times()
    expected = read_target(y, 120, "test").columns
    for event in (y["event"], y["event"].astype(int)):
        frame = pd.DataFrame({"time": y["time"], "event": event})
        np.testing.assert_array_equal(read_target(frame, 120, "test").columns, expected)
        np.testing.assert_array_equal(read_target(pl.from_pandas(frame), 120, "test").columns, expected)
    with pytest.raises(ValueError, match="'event' in y of test must hold 0 and 1"):
        read_target(frame.assign(event=2), 120, "test")


def test_a_selection_by_times_is_repeated_on_halves() -> None:
    X, y = _times()
    found = selection_stability(SieveSelector(3), X, y, n_subsamples=10)
    assert set(np.argsort(-found.frequencies)[:3].tolist()) == {0, 1, 2}


def test_the_pick_has_a_ridge_of_ten() -> None:
    X, y = _times()
    Z = (X - X.mean(axis=0)) / np.linalg.norm(X - X.mean(axis=0), axis=0)
    T = read_target(y, 120, "test").basis()
    expected = reference.pick(Z, T, T, 8, ridge=10.0)
    np.testing.assert_array_equal(SieveSelector(8).fit(X, y).selection_order_, expected)


@pytest.mark.parametrize("backend", BACKENDS)
def test_every_storage_gives_the_same_features(backend: str) -> None:
    X, y = _times()
    model = SieveSelector(5, random_state=0).fit(BACKENDS[backend](X), y)
    plain = SieveSelector(5, random_state=0).fit(X, y)
    np.testing.assert_allclose(model.weights_, plain.weights_, atol=tolerance(backend))
    np.testing.assert_array_equal(model.selection_order_[:3], plain.selection_order_[:3])


def test_features_that_change_the_hazard_are_selected() -> None:
    X, y = _times()
    assert set(SieveSelector(3).fit(X, y).selection_order_.tolist()) == {0, 1, 2}
    chosen = SieveSelector().fit(X, y).support_
    assert chosen[:3].all() and chosen[3:].sum() <= 2


@pytest.mark.parametrize(
    ("y", "message"),
    [
        (np.zeros(5, dtype=[("time", float), ("event", bool)]), "event \\(bool\\) and time"),
        (np.zeros(5, dtype=KIND), "at least 2 samples with an event. Got 0"),
        (np.array([(True, -1.0)] * 5, dtype=KIND), "not negative"),
        (pd.DataFrame({"event": [1, 0, 1, 0, 1], "time": list("abcde")}), "The column 'time' in y of test must hold"),
    ],
)
def test_impossible_times_are_refused(y: np.ndarray, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        read_target(y, 5, "test")
