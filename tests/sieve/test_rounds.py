"""The rounds as a whole: the transcription, starts, narrow data, and data in any order."""

import numpy as np
import pytest

from eigensieve import SieveSelector
from eigensieve.data import as_data
from eigensieve.datasets import make_planted_clusters
from eigensieve.sieve import pose
from eigensieve.sieve.settings import SETTINGS
from reference import sieve as naive
from support.backends import FEW, tolerance


def _clusters(q: int, n: int, relevant: int, seed: int = 0) -> np.ndarray:
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((q, n))
    X[:, :relevant] += rng.normal(0, 2.5, (3, relevant))[np.arange(q) % 3]
    return np.where(np.abs(X) < 0.1, 0.0, X)


@pytest.mark.parametrize("backend", FEW)
def test_the_sieve_is_that_of_the_transcription(backend: str) -> None:
    X = _clusters(48, 60, 30)
    M = naive.standardise(X)
    T = naive.rounds(M, np.ones(60), SETTINGS.rounds, SETTINGS.neighbors, SETTINGS.steps, SETTINGS.smoothing)
    model = SieveSelector(12).fit(FEW[backend](X))
    V = model.embedding_
    assert np.sum(T * (V @ V.T)) > 0.999 * np.linalg.norm(T) * np.linalg.norm(V.T @ V)
    scores = naive.agreement_with(M, T)
    np.testing.assert_allclose(model.weights_, scores, atol=tolerance(backend, double=2e-3, single=5e-3))
    expected = naive.pick(M, model.weights_, naive.beyond_noise(model.weights_, V, SETTINGS.noise), 12)
    if "float32" not in backend:
        np.testing.assert_array_equal(model.selection_order_, expected)


def test_a_few_features_among_many_are_found_from_screened_ones() -> None:
    """No eigenvalue of all features stands out, and columns have arbitrary means."""
    precision = []
    for seed in range(3):
        made = make_planted_clusters(200, 5_000, 20, random_state=seed)
        X = made.X + np.random.default_rng(seed).normal(0.0, 10.0, 5_000)
        precision.append(made.relevant[SieveSelector(20).fit(X).selection_order_].mean())
    assert np.mean(precision) >= 0.86


@pytest.mark.parametrize("shape", [(211, 9), (80, 200), (400, 60)])
def test_the_order_of_samples_and_features_does_not_matter(shape: tuple[int, int]) -> None:
    q, n = shape
    rng = np.random.default_rng(1)
    X = rng.standard_normal(shape)
    X[:, : n // 3] += np.outer(np.arange(q) % 2, rng.uniform(3.0, 4.0, n // 3))
    plain = SieveSelector(n // 3).fit(X)
    assert set(plain.selection_order_.tolist()) == set(range(n // 3))
    for _ in range(4):
        rows, columns = rng.permutation(q), rng.permutation(n)
        other = SieveSelector(n // 3).fit(X[np.ix_(rows, columns)])
        assert set(columns[other.selection_order_].tolist()) == set(range(n // 3))
        np.testing.assert_allclose(other.weights_, plain.weights_[columns], atol=5e-3)


def test_noise_in_narrow_data_weighs_about_nothing() -> None:
    """Two groups that differ in three of nine features, in a dozen orders of the rows and with several seeds."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((211, 9))
    X[:, :3] += np.outer(np.arange(211) % 2, [3.0, 3.0, 3.0])
    for seed in range(12):
        order = np.random.default_rng(seed).permutation(211)
        model = SieveSelector(3).fit(X[order])
        assert set(model.selection_order_.tolist()) == {0, 1, 2}
        assert np.abs(model.weights_[3:]).max() < 0.1 < model.weights_[:3].min()
    supports = [SieveSelector(random_state=seed).fit(X).support_ for seed in range(4)]
    for support in supports:
        np.testing.assert_array_equal(support, np.arange(9) < 3)


@pytest.mark.filterwarnings("ignore:SieveSelector found no feature")
@pytest.mark.parametrize("shape", [(60, 9), (60, 300), (100, 1_500)])
def test_noise_selects_nothing(shape: tuple[int, int]) -> None:
    for seed in range(5):
        X = np.random.default_rng(seed).standard_normal(shape)
        assert SieveSelector().fit(X).support_.sum() <= 1


def test_every_run_gives_the_same() -> None:
    X = _clusters(60, 100, 12)
    first, second = SieveSelector().fit(X), SieveSelector().fit(X)
    np.testing.assert_array_equal(first.selection_order_, second.selection_order_)
    np.testing.assert_array_equal(first.p_values_, second.p_values_)


def test_single_precision_selects_the_same() -> None:
    X = _clusters(60, 100, 12)
    double, single = SieveSelector(12).fit(X), SieveSelector(12).fit(X.astype(np.float32))
    np.testing.assert_array_equal(double.support_, single.support_)


def test_separated_pairs_add_to_the_scores() -> None:
    X = _clusters(60, 40, 12)
    usable = np.ones(40, dtype=bool)
    pairs = np.array([[0, 1], [3, 4], [6, 8]])
    plain = pose(as_data(X), usable)
    told = pose(as_data(X), usable, cannot=pairs)
    V = plain.rounds.structure(usable)[0]
    M, C = naive.standardise(X), np.zeros((60, 60))
    C[pairs[:, 0], pairs[:, 1]] = C[pairs[:, 1], pairs[:, 0]] = -1.0
    np.testing.assert_allclose(told.rounds.scores(V) - plain.rounds.scores(V), [m @ C @ m for m in M], atol=1e-12)
