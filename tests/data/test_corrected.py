"""Data with a low-rank part taken off: the same as taking it off a dense array, on every backend."""

import numpy as np
import pytest
from scipy.sparse import csr_array

from eigensieve.data import as_data, corrected_data, without_feature_directions, without_sample_directions
from eigensieve.data.adjusted import AdjustedData
from support.backends import BACKENDS, tolerance

rng = np.random.default_rng(0)
X = rng.standard_normal((24, 40)) * rng.uniform(0.5, 3.0, 40) + rng.standard_normal(40)
X[np.abs(X) < 0.4] = 0.0
U = np.linalg.qr(rng.standard_normal((24, 3)))[0]
U = np.linalg.qr(U - U.mean(axis=0))[0]
V = np.linalg.qr(rng.standard_normal((40, 2)))[0]


def unit(M: np.ndarray) -> np.ndarray:
    return M / np.linalg.norm(M, axis=0)


def dense() -> np.ndarray:
    """Both corrections by hand: standardise, take the sample directions off, then the feature directions."""
    Z = unit(X - X.mean(axis=0))
    Z = unit(Z - U @ (U.T @ Z))
    return unit(Z - (Z @ V) @ V.T)


@pytest.mark.parametrize("backend", BACKENDS)
def test_every_product_is_that_of_the_corrected_matrix(backend: str) -> None:
    expected = dense()
    data = as_data(BACKENDS[backend](X)).standardized("center")
    data = without_feature_directions(corrected_data(data, data.project(U), U)[0], V)[0]
    assert isinstance(data, AdjustedData)
    close = {"atol": tolerance(backend, double=1e-10, single=2e-5), "rtol": 1e-5}
    W, w = rng.standard_normal((40, 3)), rng.uniform(0, 1, 40)
    np.testing.assert_allclose(data.take(slice(None)), expected, **close)
    np.testing.assert_allclose(data.take([3, 1]), expected[:, [3, 1]], **close)
    np.testing.assert_allclose(data.project(U), expected.T @ U, **close)
    np.testing.assert_allclose(data.combine(W), expected @ W, **close)
    np.testing.assert_allclose(data.gram(w), (expected * w) @ expected.T, **close)
    S = rng.standard_normal((24, 24))
    S += S.T
    for name, want in {
        "forward": (expected.T @ U),
        "quadratic": np.einsum("ti,ts,si->i", expected, S, expected),
        "squares": (expected**2).T @ np.arange(24.0),
    }.items():
        argument = {"forward": U, "quadratic": csr_array(S), "squares": np.arange(24.0)}[name]
        found = np.concatenate(data.map_blocks(_Ask(name, argument)))
        np.testing.assert_allclose(found, want, atol=100 * close["atol"], rtol=1e-5)
    found = data.map_sums(U, np.arange(24.0), lambda here, T, energy: T[:, 0] + 2.0 * energy + np.arange(40)[here])
    want = expected.T @ U[:, 0] + 2.0 * (expected**2).T @ np.arange(24.0) + np.arange(40)
    np.testing.assert_allclose(found, want, atol=100 * close["atol"], rtol=1e-5)


@pytest.mark.parametrize("backend", BACKENDS)
def test_sample_directions_are_taken_off_without_a_pass_for_the_norms(backend: str) -> None:
    Z = unit(X - X.mean(axis=0))
    rest = Z - U @ (U.T @ Z)
    stored = as_data(BACKENDS[backend](np.column_stack([X, np.full(24, 2.0), 5.0 * U[:, 1] + 1.0])))
    data = stored.standardized("center")
    found, left = without_sample_directions(data, U, ~stored.stats().constant)
    close = tolerance(backend, double=1e-10, single=2e-5)
    nothing = np.zeros((24, 2))  # a constant column, and one that is nothing but a direction
    np.testing.assert_allclose(found.take(slice(None)), np.column_stack([unit(rest), nothing]), atol=close)
    np.testing.assert_allclose(left, [*np.sum(rest**2, axis=0), 0.0, 0.0], atol=close)


class _Ask:
    """A method of a block, as a function that can travel to a worker."""

    def __init__(self, name: str, argument: np.ndarray) -> None:
        self.name, self.argument = name, argument

    def __call__(self, block: object) -> np.ndarray:
        return getattr(block, self.name)(self.argument)


@pytest.mark.parametrize("backend", ["dense", "csr", "npy", "dask-both"])
def test_a_sweep_sums_what_the_corrected_blocks_give(backend: str) -> None:
    expected = dense()
    data = as_data(BACKENDS[backend](X)).standardized("center")
    data = without_feature_directions(corrected_data(data, data.project(U), U)[0], V)[0]
    w = rng.uniform(0, 1, 40)
    found = data.sweep(U, _step, (w,))
    T = expected.T @ U
    np.testing.assert_allclose(data.collect(found.state[0]), T, atol=1e-10)
    np.testing.assert_allclose(found.back, expected @ (w[:, None] * T), atol=1e-10)
    np.testing.assert_allclose(found.total, T.T @ T, atol=1e-10)


def _step(T: np.ndarray, w: np.ndarray) -> tuple[tuple[np.ndarray, ...], np.ndarray, np.ndarray]:
    return (T,), w[:, None] * T, (T.T @ T).astype(np.float64)


def test_blocks_add_and_show_the_same() -> None:
    from eigensieve.data import BackwardSum

    expected = dense()
    data = as_data(X).standardized("center")
    data = without_feature_directions(corrected_data(data, data.project(U), U)[0], V)[0]
    block, W, total = data.block(5, 15), rng.standard_normal((10, 2)), BackwardSum()
    block.add_back(W, *total.room(24, 2))
    np.testing.assert_allclose(total.result(), expected[:, 5:15] @ W, atol=1e-12)
    np.testing.assert_allclose(block.back(W), expected[:, 5:15] @ W, atol=1e-12)
    np.testing.assert_allclose(block.gram(W[:, 0]), (expected[:, 5:15] * W[:, 0]) @ expected[:, 5:15].T, atol=1e-12)
    np.testing.assert_allclose(block.toarray(), expected[:, 5:15], atol=1e-12)


def test_a_feature_that_is_explained_away_becomes_zero() -> None:
    data = as_data(np.column_stack([X[:, :5], 7.0 * U[:, 0] + 2.0])).standardized("center")
    left = corrected_data(data, data.project(U[:, :1]), U[:, :1])[0].take(slice(None))
    np.testing.assert_allclose(np.linalg.norm(left, axis=0), [1, 1, 1, 1, 1, 0], atol=1e-12)


def test_restricting_leaves_only_the_active_features() -> None:
    data = corrected_data(as_data(X).standardized("center"), V, X[:, :2])[0]
    active = np.arange(40) < 7
    np.testing.assert_array_equal(data.restricted(active).take(slice(None)), data.take(slice(None)) * active)
