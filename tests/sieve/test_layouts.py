"""Layouts: weighted features and scale against the transcription, on every kind of data."""

import numpy as np
import pytest

from eigensieve import SieveSelector
from eigensieve.data import as_data
from eigensieve.operators import principal_axes
from eigensieve.sieve import compared_samples, pose
from eigensieve.sieve.layouts import relative_variances, weighted_layout
from eigensieve.sieve.settings import SETTINGS
from reference import sieve as naive
from support.backends import FEW, tolerance


def _data(q: int, n: int, seed: int = 1) -> np.ndarray:
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((q, n))
    X[:, : n // 2] += 3.0 * (np.arange(q) % 3 == 0)[:, None]
    return np.where(np.abs(X) < 0.2, 0.0, X)


@pytest.mark.parametrize("backend", FEW)
def test_points_are_those_of_the_transcription(backend: str) -> None:
    X = _data(45, 60)
    weights = np.random.default_rng(0).uniform(0.2, 1.0, 60)
    samples = compared_samples(as_data(FEW[backend](X)).standardized("center"))
    found = weighted_layout(samples, weights)
    expected = naive.layout(naive.standardise(X), weights)
    close = {"atol": tolerance(backend, double=1e-6, single=1e-3)}
    np.testing.assert_allclose(found.points @ found.points.T, expected @ expected.T, **close)
    np.testing.assert_allclose(np.asarray(found.places()), found.points, **close)


@pytest.mark.parametrize(("q", "n"), [(400, 90), (400, 900), (700, 300)])
def test_iterated_axes_are_the_eigenvectors(q: int, n: int) -> None:
    """Above 300 samples the leading eigenvectors are found without the others."""
    X = _data(q, n)
    X[:, ::3] += 4.0 * (np.arange(q) % 5 == 0)[:, None]
    data = as_data(X).standardized("center")
    values, vectors = principal_axes(data, np.ones(n), 20)
    M = naive.standardise(X)
    expected, basis = np.linalg.eigh(M.T @ M)
    np.testing.assert_allclose(values[:2], expected[::-1][:2], rtol=1e-4)
    np.testing.assert_allclose(values[:20], expected[::-1][:20], rtol=0.15)  # those of noise
    assert np.linalg.svd(vectors[:, :2].T @ basis[:, ::-1][:, :2], compute_uv=False).min() > 0.999


@pytest.mark.parametrize(("q", "n"), [(400, 90), (400, 900)])
def test_iterated_axes_do_not_depend_on_the_order(q: int, n: int) -> None:
    X, rng = _data(q, n), np.random.default_rng(3)
    rows, columns = rng.permutation(q), rng.permutation(n)
    found, vectors = principal_axes(as_data(X).standardized("center"), np.ones(n), 20)
    other, moved = principal_axes(as_data(X[np.ix_(rows, columns)]).standardized("center"), np.ones(n), 20)
    np.testing.assert_allclose(found, other, rtol=1e-3)
    back = np.empty_like(moved)
    back[rows] = moved
    np.testing.assert_allclose((vectors * found) @ vectors.T, (back * other) @ back.T, atol=2e-3 * found[0])


def test_scale_counts_in_wide_data_alone_unless_told() -> None:
    rng = np.random.default_rng(0)
    for n, wide in ((100, False), (400, True)):
        X = rng.standard_normal((30, n)) * rng.uniform(0.1, 3.0, n)
        raw, usable, share = as_data(X), np.ones(n, dtype=bool), np.ones(n)
        assert (relative_variances(raw.stats(), usable, share, "auto") is not None) == wide
        assert relative_variances(raw.stats(), usable, share, False) is None
        variances = relative_variances(raw.stats(), usable, share, True)
        np.testing.assert_allclose(variances, X.var(axis=0) / X.var(axis=0).max(), rtol=1e-9)
        weights = pose(raw, usable, use_scale=True).rounds._first_weights(usable)
        expected = naive.capped_variances(X, SETTINGS.cap)
        np.testing.assert_allclose(weights / weights.max(), expected / expected.max(), rtol=1e-9)
        assert SieveSelector(5).fit(X).scale_used_ == wide
        assert SieveSelector(5, use_scale=True).fit(X).scale_used_


def test_features_that_vary_more_decide_in_wide_data() -> None:
    """Two structures: one in ten features that vary much, one in forty that hardly vary."""
    rng = np.random.default_rng(0)
    X = 0.2 * rng.standard_normal((40, 500))
    loud, faint = np.arange(40) % 2, np.arange(40) // 2 % 2
    X[:, :10] += 6.0 * loud[:, None] + rng.standard_normal((40, 10))
    X[:, 10:50] += 0.5 * faint[:, None]
    told = {use: SieveSelector(10, use_scale=use).fit(X).selection_order_ for use in ("auto", False)}
    assert (told["auto"] < 10).all()
    assert (told[False] >= 10).any()


def test_an_offset_changes_nothing() -> None:
    X = _data(50, 80)
    plain = SieveSelector(10).fit(X)
    moved = SieveSelector(10).fit(X + np.random.default_rng(0).normal(0.0, 10.0, 80))
    np.testing.assert_array_equal(plain.selection_order_, moved.selection_order_)
    np.testing.assert_allclose(plain.weights_, moved.weights_, atol=1e-8)
