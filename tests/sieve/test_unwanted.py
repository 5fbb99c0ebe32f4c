"""Unwanted variation is taken off: batches, side data, must-link pairs, against the dense formulas."""

import numpy as np
import pytest

from eigensieve.data import as_data
from eigensieve.sieve import Unwanted, clean
from support.backends import FEW, tolerance

rng = np.random.default_rng(5)
BATCHES = np.arange(40) % 3
SIDE = rng.standard_normal((30, 3)) @ rng.standard_normal((3, 60)) * 3 + rng.standard_normal((30, 60))
X = rng.standard_normal((40, 60)) + np.outer(BATCHES, rng.standard_normal(60))
X[np.abs(X) < 0.1] = 0.0
MUST = np.array([[i, i + 20] for i in range(12)])


def unit(M: np.ndarray) -> np.ndarray:
    return M / np.linalg.norm(M, axis=0)


def centred(X: np.ndarray) -> np.ndarray:
    return X - X.mean(axis=0)


@pytest.mark.parametrize("backend", FEW)
def test_batch_means_are_gone(backend: str) -> None:
    data = as_data(FEW[backend](X)).standardized("center")
    found = clean(data, np.ones(60, dtype=bool), Unwanted(batches=BATCHES))
    expected = np.array([X[b == BATCHES].mean(axis=0) for b in BATCHES])
    close = {"atol": tolerance(backend, double=1e-10, single=1e-5)}
    np.testing.assert_allclose(found.data.take(slice(None)), unit(X - expected), **close)
    assert found.directions.shape == (60, 0)
    assert found.usable.all()


@pytest.mark.parametrize("backend", FEW)
def test_the_directions_of_side_data_are_gone(backend: str) -> None:
    data = as_data(FEW[backend](X)).standardized("center")
    found = clean(data, np.ones(60, dtype=bool), Unwanted(side=as_data(FEW[backend](SIDE)), n_directions=2))
    norms = np.linalg.norm(centred(X), axis=0)
    V = np.linalg.svd(centred(SIDE) / norms)[2][:2].T
    Z = centred(X) / norms
    close = {"atol": tolerance(backend, double=1e-9, single=1e-4)}
    np.testing.assert_allclose(found.directions @ found.directions.T, V @ V.T, **close)
    np.testing.assert_allclose(found.data.take(slice(None)), unit(Z - Z @ V @ V.T), **close)


def test_the_number_of_directions_is_found() -> None:
    data, everything = as_data(X).standardized("center"), np.ones(60, dtype=bool)
    assert clean(data, everything, Unwanted(side=as_data(SIDE))).directions.shape[1] == 3
    noise = np.random.default_rng(1).standard_normal((30, 60)) * np.linalg.norm(centred(X), axis=0)
    assert clean(data, everything, Unwanted(side=as_data(noise))).directions.shape[1] == 0


@pytest.mark.parametrize(("n_side", "wanted"), [(30, 25), (30, 100), (200, 150), (1_200, 130)])
def test_as_many_directions_as_wanted_are_gone(n_side: int, wanted: int) -> None:
    rng = np.random.default_rng(2)
    X, side = rng.standard_normal((60, 300)), rng.standard_normal((n_side, 300)) * 0.98 ** np.arange(300)
    X *= np.linspace(1, 2, 300)
    data = as_data(X).standardized("center")
    found = clean(data, np.ones(300, dtype=bool), Unwanted(side=as_data(side), n_directions=wanted)).directions
    assert found.shape[1] == min(wanted, n_side - 1)
    np.testing.assert_allclose(found.T @ found, np.eye(found.shape[1]), atol=1e-9)
    S = centred(side) / np.linalg.norm(centred(X), axis=0)
    left, lengths = np.linalg.norm(S - S @ found @ found.T), np.linalg.svd(S)[1]
    assert left <= 1.01 * np.linalg.norm(lengths[wanted:]) + 1e-9 * lengths[0]


def test_as_many_directions_of_differences_as_wanted_are_gone() -> None:
    rng = np.random.default_rng(2)
    X = rng.standard_normal((80, 200))
    must = np.arange(80).reshape(40, 2)
    data, everything = as_data(X).standardized("center"), np.ones(200, dtype=bool)
    Z = centred(X) / np.linalg.norm(centred(X), axis=0)
    V = np.linalg.svd(Z[must[:, 0]] - Z[must[:, 1]])[2]
    for wanted, there in ((30, 30), (50, 40)):
        found = clean(data, everything, Unwanted(must=must, n_directions=wanted)).directions
        np.testing.assert_allclose(found @ found.T, V[:there].T @ V[:there], atol=1e-9)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_rounding_is_no_direction(dtype: type) -> None:
    rng = np.random.default_rng(3)
    side = (rng.standard_normal((40, 3)) @ rng.standard_normal((3, 60))).astype(dtype)
    data = as_data(X.astype(dtype)).standardized("center")
    found = clean(data, np.ones(60, dtype=bool), Unwanted(side=as_data(side), n_directions=30))
    assert found.directions.shape[1] == 3


@pytest.mark.parametrize("backend", ["dense", "csr", "npy", "dask-columns"])
def test_the_directions_of_linked_differences_are_gone(backend: str) -> None:
    data = as_data(FEW[backend](X)).standardized("center")
    found = clean(data, np.ones(60, dtype=bool), Unwanted(must=MUST, n_directions=2))
    Z = centred(X) / np.linalg.norm(centred(X), axis=0)
    V = np.linalg.svd(Z[MUST[:, 0]] - Z[MUST[:, 1]])[2][:2].T
    np.testing.assert_allclose(found.directions @ found.directions.T, V @ V.T, atol=1e-9)
    np.testing.assert_allclose(found.data.take(slice(None)), unit(Z - Z @ V @ V.T), atol=1e-9)


def test_all_of_it_together_is_batches_first_and_then_one_projection() -> None:
    data, everything = as_data(X).standardized("center"), np.ones(60, dtype=bool)
    found = clean(data, everything, Unwanted(BATCHES, as_data(SIDE), MUST, 2))
    Z = centred(X) / np.linalg.norm(centred(X), axis=0)
    U = Unwanted(BATCHES).span(40)
    Z = Z - U @ (U.T @ Z)
    scale = 1 / np.linalg.norm(centred(X), axis=0) / np.linalg.norm(Z, axis=0)
    Z = unit(Z)
    V = np.linalg.svd(centred(SIDE) * scale)[2][:2].T
    W = np.linalg.svd(Z[MUST[:, 0]] - Z[MUST[:, 1]])[2][:2].T
    both = np.linalg.qr(np.hstack([V, W]))[0]
    np.testing.assert_allclose(found.data.take(slice(None)), unit(Z - Z @ both @ both.T), atol=1e-9)
    np.testing.assert_allclose(found.directions.T @ found.directions, np.eye(4), atol=1e-12)
    variances = np.linalg.norm(X - np.array([X[b == BATCHES].mean(axis=0) for b in BATCHES]), axis=0) ** 2
    within = variances / np.linalg.norm(centred(X), axis=0) ** 2
    left = np.minimum(np.linalg.norm(Z - Z @ both @ both.T, axis=0) ** 2, 1.0)
    np.testing.assert_allclose(found.share, within * left, atol=1e-9)


def test_a_feature_that_is_the_batch_alone_is_no_longer_usable() -> None:
    data = as_data(np.column_stack([X, BATCHES == 1])).standardized("center")
    found = clean(data, np.ones(61, dtype=bool), Unwanted(batches=BATCHES))
    np.testing.assert_array_equal(np.flatnonzero(~found.usable), [60])


def test_what_features_share_with_a_covariate_is_gone() -> None:
    depth = np.random.default_rng(2).standard_normal((40, 1))
    data = as_data(X + depth * np.arange(60)).standardized("center")
    found = clean(data, np.ones(60, dtype=bool), Unwanted(covariates=depth)).data.take(slice(None))
    np.testing.assert_allclose((depth - depth.mean()).T @ found, 0.0, atol=1e-10)
    regressed = (
        X
        - np.column_stack([np.ones(40), depth])
        @ np.linalg.lstsq(np.column_stack([np.ones(40), depth]), X, rcond=None)[0]
    )
    np.testing.assert_allclose(found, unit(regressed), atol=1e-8)
