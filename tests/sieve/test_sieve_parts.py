"""The sieve's parts against their naive transcription and against mathematics."""

import numpy as np
import pytest

from eigensieve.amount._agreement import agreement
from eigensieve.data import as_data
from eigensieve.sieve._embedding import N_NEIGHBORS, SMOOTHING, graph_embedding
from eigensieve.sieve._pick import POWER, RIDGE, pick
from eigensieve.sieve._rounds import _Rounds, sieve
from eigensieve.sieve._start import screened
from reference import sieve as naive
from support.backends import FEW, tolerance


@pytest.fixture
def clustered() -> np.ndarray:
    rng = np.random.default_rng(3)
    X = rng.standard_normal((45, 80))
    X[:, :10] += rng.normal(0, 2.5, (3, 10))[np.arange(45) % 3]
    X[np.abs(X) < 0.3] = 0.0
    return X


@pytest.mark.parametrize("backend", FEW)
def test_agreement_equals_the_sum_over_pairs_of_different_samples(clustered: np.ndarray, backend: str) -> None:
    V = np.linalg.qr(np.random.default_rng(0).standard_normal((45, 3)))[0]
    data = as_data(FEW[backend](clustered)).standardized("center")
    expected = naive.agreement(naive.standardise(clustered), V)
    np.testing.assert_allclose(agreement(data, V), expected, atol=tolerance(backend, double=1e-10, single=1e-5))


def test_agreement_of_a_single_extreme_sample_is_nothing() -> None:
    """A feature with one outlier explains that sample and no pair of samples."""
    X = np.zeros((40, 1))
    X[7] = 1.0
    V = np.zeros((40, 1))
    V[7] = 1.0
    m = naive.standardise(X)
    assert (m @ V).item() ** 2 > 0.97
    assert abs(agreement(as_data(X).standardized("center"), V)[0]) < 1e-12


def test_embedding_equals_the_naive_one(clustered: np.ndarray) -> None:
    points = clustered[:, :12]
    Q = graph_embedding(points, 4)
    expected = naive.embedding(points, 4, N_NEIGHBORS, SMOOTHING)[0]
    np.testing.assert_allclose(Q @ Q.T, expected @ expected.T, atol=1e-8)
    np.testing.assert_allclose(Q.sum(axis=0), 0.0, atol=1e-10)


def test_embedding_by_lanczos_equals_the_dense_one() -> None:
    rng = np.random.default_rng(0)
    points = rng.standard_normal((420, 5)) + 6.0 * rng.standard_normal((6, 5))[np.arange(420) % 6]
    Q = graph_embedding(points, 5)
    expected = naive.embedding(points, 5, N_NEIGHBORS, SMOOTHING)[0]
    np.testing.assert_allclose(Q @ Q.T, expected @ expected.T, atol=1e-3)


@pytest.mark.parametrize("centered", [True, False])
@pytest.mark.parametrize("backend", FEW)
def test_rounds_equal_the_naive_ones(clustered: np.ndarray, backend: str, centered: bool) -> None:
    if "float32" in backend:
        pytest.skip("neighbours at nearly equal distance may swap in single precision")
    data = as_data(FEW[backend](clustered)).standardized("center" if centered else "unit")
    usable = np.ones(80, dtype=bool)
    result = _Rounds(data, usable, 3, 3, centered).run(np.ones(80), "equal")
    M = naive.standardise(clustered, centered)
    expected = naive.rounds(M, np.ones(80), 3, 3, N_NEIGHBORS, SMOOTHING, centered)
    np.testing.assert_allclose(result.scores, expected, atol=1e-8)


@pytest.mark.parametrize("count", [5, 60])
def test_pick_equals_the_naive_one(clustered: np.ndarray, count: int) -> None:
    """Also for more features than samples, where a plain projection has nothing left to judge by."""
    data = as_data(clustered).standardized("center")
    scores = np.random.default_rng(1).random(80)
    order = pick(data, scores, np.arange(80), count)
    assert order.tolist() == naive.pick(naive.standardise(clustered), scores**POWER, count, RIDGE)


def test_pick_leaves_copies_for_later() -> None:
    rng = np.random.default_rng(0)
    X = rng.standard_normal((50, 6))
    X = np.hstack([X[:, :1]] * 5 + [X[:, 1:]])
    order = pick(as_data(X).standardized("center"), np.full(10, 0.5), np.arange(10), 10)
    assert set(order[:6]) >= {5, 6, 7, 8, 9}


def test_screen_equals_halving_by_squared_correlations(clustered: np.ndarray) -> None:
    M = naive.standardise(clustered)
    kept = np.arange(80)
    for size in (40, 20):
        scores = ((M[kept] @ M[kept].T) ** 2).sum(axis=1)
        kept = np.sort(kept[np.argsort(-scores)[:size]])
    data = as_data(clustered).standardized("center")
    np.testing.assert_array_equal(screened(data, np.ones(80, dtype=bool), keep=20), kept)


def test_screen_by_passes_equals_the_screen_in_memory(clustered: np.ndarray, monkeypatch: pytest.MonkeyPatch) -> None:
    data = as_data(clustered).standardized("center")
    usable = np.ones(80, dtype=bool)
    expected = screened(data, usable, keep=20)
    monkeypatch.setattr("eigensieve.sieve._start._IN_MEMORY", 0)
    np.testing.assert_array_equal(screened(data, usable, keep=20), expected)


def test_features_outside_the_mask_influence_nothing(clustered: np.ndarray) -> None:
    usable = np.arange(80) % 4 > 0
    other = clustered.copy()
    other[:, ~usable] = np.random.default_rng(9).standard_normal((45, 20)) * 50
    first = sieve(as_data(clustered).standardized("center"), usable, 3)
    second = sieve(as_data(other).standardized("center"), usable, 3)
    np.testing.assert_allclose(first.scores[usable], second.scores[usable], atol=1e-8)
    assert first.start == second.start
