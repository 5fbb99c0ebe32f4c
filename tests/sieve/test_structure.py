"""The structure: where random walks along the local graph end."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from eigensieve.sieve.settings import SETTINGS
from eigensieve.sieve.structure import normalize_rows, walks
from reference import sieve as naive


def _points(n_samples: int, seed: int = 0) -> np.ndarray:
    """Three clusters of very different density."""
    rng = np.random.default_rng(seed)
    group = np.arange(n_samples) % 3
    return rng.standard_normal((n_samples, 6)) * np.array([0.3, 1.0, 3.0])[group][:, None] + 20.0 * np.eye(6)[group]


def _naive(points: np.ndarray, balance: float = 1.0) -> np.ndarray:
    W = naive.local_neighbours(points, SETTINGS.neighbors, SETTINGS.around)
    return naive.walks(W, SETTINGS.steps, SETTINGS.smoothing, balance)


@pytest.mark.parametrize(("balance", "alike"), [(1.0, 0.98), (SETTINGS.balance, 0.93)])
@pytest.mark.parametrize("n_samples", [60, 160, 360])
def test_walks_are_those_of_the_transcription(n_samples: int, balance: float, alike: float) -> None:
    """The transcription uses all eigenvectors. The leading ones are enough, also when found by subspace iteration.

    A lower power lets the directions left out count more.
    """
    points = _points(n_samples)
    V, T = walks(points, balance), _naive(points, balance)
    assert np.sum(T * (V @ V.T)) > alike * np.linalg.norm(T) * np.linalg.norm(V.T @ V)


def test_clusters_of_different_density_are_told_apart() -> None:
    group = np.arange(90) % 3
    V = walks(_points(90))
    same = group[:, None] == group
    assert (V @ V.T)[same].min() > (V @ V.T)[~same].max()


def test_a_feature_that_follows_the_first_direction_scores_1() -> None:
    V = walks(_points(60))
    assert np.linalg.eigvalsh(V @ V.T)[-1] == pytest.approx(1.0)
    np.testing.assert_allclose(V.mean(axis=0), 0.0, atol=1e-12)


def test_a_longer_row_does_not_count_more() -> None:
    Q = np.linalg.qr(np.random.default_rng(0).standard_normal((40, 3)))[0]
    far = Q.copy()
    far[0] *= 50.0
    np.testing.assert_allclose(normalize_rows(far), normalize_rows(Q), atol=1e-12)


def test_a_row_near_zero_stays_near_zero() -> None:
    Q = np.linalg.qr(np.random.default_rng(0).standard_normal((40, 3)))[0]
    Q[7] = 1e-14
    V = normalize_rows(Q)
    assert np.isfinite(V).all()
    assert np.linalg.norm(V[7] - V.mean(axis=0)) < 0.5 * np.linalg.norm(V, axis=1).mean()
    assert not normalize_rows(np.zeros((10, 2))).any()


@settings(max_examples=30, deadline=None)
@given(st.integers(0, 10_000), st.integers(4, 40), st.integers(1, 30))
def test_walks_of_any_points_are_finite(seed: int, n_samples: int, n_distinct: int) -> None:
    """With exact copies among the points, too."""
    rng = np.random.default_rng(seed)
    points = rng.standard_normal((n_distinct, 3))[rng.integers(0, n_distinct, n_samples)]
    V = walks(points)
    assert np.isfinite(V).all()
    assert np.linalg.norm(V, 2) == pytest.approx(1.0) or not V.any()
