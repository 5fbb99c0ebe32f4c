"""What picked features are to show: where walks from the samples end."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from eigensieve.data import as_data
from eigensieve.sieve import landmarks, rounds
from eigensieve.sieve.embedding import N_NEIGHBORS, SMOOTHING
from eigensieve.sieve.walks import STEPS, same_say, shown_by_walks
from reference import sieve as naive


def _points(n_samples: int, seed: int = 0) -> np.ndarray:
    """Three clusters of very different density."""
    rng = np.random.default_rng(seed)
    group = np.arange(n_samples) % 3
    return rng.standard_normal((n_samples, 6)) * np.array([0.3, 1.0, 3.0])[group][:, None] + 20.0 * np.eye(6)[group]


@pytest.mark.parametrize("n_samples", [20, 60])
def test_walks_are_those_of_the_transcription(n_samples: int) -> None:
    points = _points(n_samples)
    V = shown_by_walks(points, n_samples - 1)
    W = naive.local_neighbours(points, N_NEIGHBORS, 10)
    np.testing.assert_allclose(V @ V.T, naive.walks(W, STEPS, SMOOTHING), atol=1e-9)


def test_a_few_eigenvectors_are_enough() -> None:
    """What further eigenvectors add is forgotten on the way."""
    points = _points(400)
    few, many = shown_by_walks(points, 40), shown_by_walks(points, 200)
    assert np.sum((few @ few.T) * (many @ many.T)) > 0.99 * np.linalg.norm(few.T @ few) * np.linalg.norm(many.T @ many)


def test_clusters_of_different_density_are_told_apart() -> None:
    group = np.arange(90) % 3
    V = shown_by_walks(_points(90), 20)
    T = V @ V.T
    same = group[:, None] == group
    assert T[same].min() > T[~same].max()


def test_a_feature_that_follows_the_first_direction_scores_1() -> None:
    V = shown_by_walks(_points(60), 15)
    assert np.linalg.eigvalsh(V @ V.T)[-1] == pytest.approx(1.0)
    np.testing.assert_allclose(V.mean(axis=0), 0.0, atol=1e-12)


def test_every_sample_has_the_same_say() -> None:
    """A row that is longer than the others does not count more."""
    Q = np.linalg.qr(np.random.default_rng(0).standard_normal((40, 3)))[0]
    far = Q.copy()
    far[0] *= 50.0
    np.testing.assert_allclose(same_say(far), same_say(Q), atol=1e-12)


def test_a_sample_of_which_nothing_is_said_stays_near_zero() -> None:
    Q = np.linalg.qr(np.random.default_rng(0).standard_normal((40, 3)))[0]
    Q[7] = 1e-14
    V = same_say(Q)
    assert np.isfinite(V).all()
    assert np.linalg.norm(V[7] - V.mean(axis=0)) < 0.5 * np.linalg.norm(V, axis=1).mean()


def test_rows_of_zeros_show_nothing() -> None:
    assert not same_say(np.zeros((10, 2))).any()


@settings(max_examples=30, deadline=None)
@given(st.integers(0, 10_000), st.integers(4, 40), st.integers(1, 30))
def test_walks_of_any_points_are_finite(seed: int, n_samples: int, n_distinct: int) -> None:
    """With exact copies among the points, too."""
    rng = np.random.default_rng(seed)
    points = rng.standard_normal((n_distinct, 3))[rng.integers(0, n_distinct, n_samples)]
    V = shown_by_walks(points, n_samples - 1)
    assert np.isfinite(V).all()
    assert np.linalg.norm(V, 2) == pytest.approx(1.0) or not V.any()


@pytest.mark.parametrize(("n_clusters", "n_columns"), [("auto", 22), (1, 2), (2, 2), (7, 7), (88, 88)])
def test_a_given_number_of_clusters_limits_the_directions(n_clusters, n_columns: int) -> None:  # type: ignore[no-untyped-def]
    X = _points(90)
    found = rounds.sieve(as_data(X).standardized("center"), np.ones(6, dtype=bool), n_clusters)
    assert found.shown is not None and found.shown.shape == (90, n_columns)


def test_of_many_samples_the_landmarks_walk(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(landmarks, "MAX_LANDMARKS", 60)
    found = rounds.sieve(as_data(_points(150)).standardized("center"), np.ones(6, dtype=bool), "auto")
    assert found.shown is not None and found.shown.shape == (60, 15)
    assert found.embedding.shape[0] == 150


def test_the_walk_follows_the_layout_that_is_shortened_by_the_noise_edge() -> None:
    rng = np.random.default_rng(1)
    X = rng.standard_normal((60, 40))
    X[:, :20] += 3.0 * (np.arange(60) % 3 == 0)[:, None]
    M, weights = naive.standardise(X), rng.uniform(0.2, 1.0, 40)
    found = rounds._Rounds(as_data(X).standardized("center"), np.ones(40, dtype=bool), 3, True).embed(weights)[2]
    values, vectors = np.linalg.eigh(M.T @ np.diag(weights) @ M)
    expected = vectors * np.sqrt(np.log(1.0 + np.maximum(values, 0.0) / naive.noise_edge(weights, 59)))
    np.testing.assert_allclose(found @ found.T, expected @ expected.T, atol=1e-6)


def test_eigenvectors_by_lanczos_make_the_same_walks() -> None:
    """Above 300 samples few eigenvectors are found without the others."""
    points = _points(360)
    V = shown_by_walks(points, 20)
    W = naive.local_neighbours(points, N_NEIGHBORS, 10)
    T = naive.walks(W, STEPS, SMOOTHING)
    assert np.sum(T * (V @ V.T)) > 0.98 * np.linalg.norm(T) * np.linalg.norm(V.T @ V)
