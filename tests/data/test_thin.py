"""Compiled products with few columns, and compiled statistics, against the plain ones."""

import numpy as np
import pytest
from scipy.sparse import csr_array
from scipy.sparse import random as sparse_random

from eigensieve.data import as_data, dense
from eigensieve.data.dense import (
    _any_moments,
    contiguous_rows,
    dense_moments,
    left_product,
    right_product,
    weighted_moments,
)


@pytest.fixture(autouse=True)
def any_size(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(dense, "_ENTRIES", 1)
    monkeypatch.setattr(dense, "_COMPILED_DATA", 1)


def views(dtype: type) -> list[np.ndarray]:
    """Blocks as they come: whole, a range of columns, a transposed range, every other column."""
    X = np.random.default_rng(0).standard_normal((23, 2600)).astype(dtype)
    return [
        X[:, :1501].copy(),
        X[:, 7:2222],
        np.asfortranarray(X)[:, 3:1100],
        X.T[5:900].T,
        X[:, ::2],
        X[:1],
        X[:6, :3],
    ]


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("few", [1, 2, 3, 4, 5, 7, 10, 21])
def test_products_are_the_plain_ones(few: int, dtype: type) -> None:
    rng = np.random.default_rng(few)
    rtol = 1e-12 if dtype == np.float64 else 2e-5
    for Z in views(dtype):
        left, right = (rng.standard_normal((few, size)).astype(dtype) for size in Z.shape)
        wanted = left.astype(float) @ Z, Z @ right.astype(float).T
        for found, exact in zip((left_product(left, Z), right_product(Z, right)), wanted, strict=True):
            np.testing.assert_allclose(found, exact, rtol=0, atol=rtol * np.abs(exact).max())


def test_copies_of_a_column_get_the_same_projections() -> None:
    column = np.random.default_rng(0).standard_normal((201, 1)).astype(np.float32)
    Z = np.repeat(column, 1037, axis=1)
    found = left_product(np.random.default_rng(1).standard_normal((2, 201)).astype(np.float32), Z)
    np.testing.assert_array_equal(found, np.repeat(found[:, :1], 1037, axis=1))


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_statistics_are_the_plain_ones(dtype: type) -> None:
    for Z in views(dtype):
        Z = Z.copy()
        Z[:, 1] = 3.25
        Z[:, -1] = 0.0
        for found, wanted in zip(dense_moments(Z), _any_moments(Z), strict=True):
            np.testing.assert_allclose(found, wanted, rtol=1e-12, atol=1e-13)


@pytest.mark.parametrize("odd", [np.nan, np.inf, -np.inf, 1e200, 1e-200])
def test_odd_values_are_found_wherever_they_are(odd: float) -> None:
    for place in ((0, 0), (22, 0), (22, 1400), (11, 1030)):
        Z = np.random.default_rng(0).standard_normal((23, 1401))
        Z[place] = odd
        if abs(odd) < 1:
            Z[:, place[1]] = odd * np.arange(1, 24)
        for found, wanted in zip(dense_moments(Z), _any_moments(Z), strict=True):
            np.testing.assert_array_equal(found, wanted)


def test_what_the_loops_cannot_take_is_left_to_numpy() -> None:
    X = np.ones((8, 8))
    assert contiguous_rows(X) is not None
    for other in (X[:, ::-1], X[::-1], X[:, ::2], X.astype(int), np.broadcast_to(X[:1], (8, 8))):
        assert contiguous_rows(other) is None


@pytest.mark.parametrize("normalize", ["center", "unit"])
def test_gram_of_a_block_as_stored(normalize: str) -> None:
    X = np.random.default_rng(0).standard_normal((12, 300)) + 0.5
    weights = np.random.default_rng(1).standard_normal(300)
    data = as_data(X).standardized(normalize)
    assert data.block(0, 300).scale is not None  # used as stored
    Z = X - X.mean(axis=0) if normalize == "center" else X
    Z = Z / np.linalg.norm(Z, axis=0)
    np.testing.assert_allclose(data.gram(weights), (Z * weights) @ Z.T, atol=1e-12)


@pytest.mark.parametrize("normalize", ["center", "unit"])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_quadratic_forms_are_the_plain_ones(normalize: str, dtype: type) -> None:
    rng = np.random.default_rng(5)
    for Z in views(dtype):
        X = Z + dtype(0.5)
        data = as_data(X).standardized(normalize)
        block = data.block(0, X.shape[1])
        M = np.asarray(data.take(slice(None)), dtype=float)
        weights = rng.uniform(size=len(X))
        S = rng.standard_normal((len(X), len(X)))
        S = S + S.T
        exact = np.einsum("ti,ts,si->i", M, S, M), weights @ M**2
        for found, wanted in zip((block.quadratic(csr_array(S)), block.squares(weights)), exact, strict=True):
            atol = (1e-12 if dtype == np.float64 else 2e-5) * np.abs(wanted).max(initial=1e-300)
            np.testing.assert_allclose(found, wanted, rtol=0, atol=atol)
    columns = np.repeat(rng.standard_normal((31, 1)).astype(dtype), 1037, axis=1)
    block = as_data(columns).standardized(normalize).block(0, 1037)
    found = block.squares(np.arange(31.0))
    np.testing.assert_allclose(found, found[0], rtol=1e-14)


def test_taking_features_leaves_the_data_as_it_was() -> None:
    X = np.random.default_rng(6).standard_normal((9, 40)) + 3.0
    before = X.copy()
    data = as_data(X).standardized("center")
    for indices in (slice(None), slice(2, 7), np.arange(40), [3, 1], np.ones(40, dtype=bool)):
        np.testing.assert_allclose(np.linalg.norm(data.take(indices), axis=0), 1.0)
    np.testing.assert_array_equal(X, before)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_weighted_sums_of_values_and_squares(dtype: type) -> None:
    weights = np.random.default_rng(2).standard_normal(23)
    for Z in views(dtype):
        exact = Z.astype(float)
        few = weights[: len(Z)]
        for compiled in (True, False):
            values, squares = weighted_moments(few, Z, compiled)
            np.testing.assert_allclose(values, few @ exact, rtol=1e-6, atol=1e-6)
            np.testing.assert_allclose(squares, few @ exact**2, rtol=1e-6, atol=1e-6)


def test_small_and_large_data_give_the_same_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    """Numpy's forms for small data, the compiled loops for large: every product of a block, both ways."""
    rng = np.random.default_rng(3)
    X = rng.standard_normal((31, 90)) + rng.standard_normal(90)
    S = sparse_random(31, 31, density=0.2, random_state=rng, format="csr")
    S = S + S.T
    V, W, weights = rng.standard_normal((31, 3)), rng.standard_normal((90, 3)), rng.random(31)
    found = []
    for least in (1, 1 << 21):
        monkeypatch.setattr(dense, "_COMPILED_DATA", least)
        data = as_data(X)
        block = data.standardized("center").block(0, 90)
        assert block.scale is not None  # used as stored
        found.append((block.forward(V), block.back(W), block.quadratic(S), block.squares(weights)))
    Z = (X - X.mean(axis=0)) / np.linalg.norm(X - X.mean(axis=0), axis=0)
    wanted = (Z.T @ V, Z @ W, np.diag(Z.T @ S.toarray() @ Z), weights @ Z**2)
    for one in found:
        for have, exact in zip(one, wanted, strict=True):
            np.testing.assert_allclose(have, exact, rtol=1e-9, atol=1e-12)
