"""The data contract, wherever the data lives: products, statistics and views against plain numpy."""

import numpy as np
import pytest
import scipy.sparse as sp

from eigensieve.data import as_data
from eigensieve.data.stats import NORMALIZATIONS
from reference.qalpha import standardise
from support.backends import BACKENDS, passes_of_a_sweep, tolerance


@pytest.fixture
def X() -> np.ndarray:
    rng = np.random.default_rng(0)
    X = rng.standard_normal((11, 150)) * (rng.random((11, 150)) < 0.4)
    X[:, 7] = 0.1
    X[:, 8] = 0.0
    return X


@pytest.mark.parametrize("normalize", NORMALIZATIONS)
@pytest.mark.parametrize("backend", BACKENDS)
def test_products(X: np.ndarray, backend: str, normalize: str) -> None:
    rng = np.random.default_rng(1)
    M = standardise(X, normalize)
    view = as_data(BACKENDS[backend](X)).standardized(normalize)
    V, W, w = rng.standard_normal((11, 3)), rng.standard_normal((150, 4)), rng.standard_normal(150)
    S = rng.standard_normal((11, 11))
    S = S + S.T
    atol = tolerance(backend, double=1e-12, single=1e-4)
    np.testing.assert_allclose(view.project(V), M @ V, atol=atol)
    np.testing.assert_allclose(view.combine(W), M.T @ W, atol=atol)
    np.testing.assert_allclose(view.gram(w), M.T * w @ M, atol=atol)
    energy = np.concatenate(view.map_blocks(lambda block: block.quadratic(sp.csr_array(S))))
    np.testing.assert_allclose(energy, np.einsum("it,tu,iu->i", M, S, M), atol=atol)
    np.testing.assert_allclose(view.take([9, 2, 7]), M[[9, 2, 7]].T, atol=atol)
    np.testing.assert_allclose(np.hstack(view.map_blocks(lambda block: block.toarray())), M.T, atol=atol)


@pytest.mark.parametrize("backend", BACKENDS)
def test_statistics(X: np.ndarray, backend: str) -> None:
    stats = as_data(BACKENDS[backend](X)).stats()
    atol = tolerance(backend, double=1e-12, single=1e-6)
    np.testing.assert_allclose(stats.mean, X.mean(axis=0), atol=atol)
    np.testing.assert_allclose(stats.centered_norm, np.sqrt(11 * X.var(axis=0)), atol=atol)
    np.testing.assert_allclose(stats.norm, np.linalg.norm(X, axis=0), atol=atol)
    assert stats.finite.all()
    assert list(np.flatnonzero(stats.constant)) == [7, 8]


@pytest.mark.parametrize("backend", BACKENDS)
def test_statistics_find_every_bad_column(X: np.ndarray, backend: str) -> None:
    X[3, 5] = np.nan
    X[2, 149] = -np.inf
    stats = as_data(BACKENDS[backend](X)).stats()
    assert list(np.flatnonzero(~stats.finite)) == [5, 149]


@pytest.mark.parametrize("make", [np.asarray, sp.csc_array], ids=["dense", "sparse"])
def test_statistics_from_tiny_to_huge(make) -> None:
    base = np.random.default_rng(2).standard_normal((20, 3))
    scales = np.array([1e-300, 1.0, 1e300])
    data = as_data(make(base * scales))
    expected = standardise(base, "center").T
    np.testing.assert_allclose(data.standardized("center").take([0, 1, 2]), expected, rtol=1e-10, atol=1e-12)


@pytest.mark.parametrize("backend", BACKENDS)
def test_sweep_is_forward_function_backward(X: np.ndarray, backend: str) -> None:
    M = standardise(X, "center")
    view = as_data(BACKENDS[backend](X)).standardized("center")
    V = np.random.default_rng(3).standard_normal((11, 2))
    scale = np.arange(150.0)
    before = view.n_passes
    sweep = view.sweep(V, lambda T, s: ((T * s[:, None], s + 1), T, np.array([s.sum()])), (scale,))
    assert view.n_passes == before + passes_of_a_sweep(backend)
    atol = tolerance(backend, double=1e-10, single=2e-3)
    new, moved = (view.collect(array) for array in sweep.state)
    np.testing.assert_allclose(new, (M @ V) * scale[:, None], atol=atol)
    np.testing.assert_array_equal(moved, scale + 1)
    np.testing.assert_allclose(sweep.back, M.T @ (M @ V), atol=atol)
    np.testing.assert_allclose(sweep.total, [scale.sum()])


@pytest.mark.parametrize("kind", [np.uint8, np.int64, np.bool_])
def test_integer_and_boolean_data_give_the_same_products(kind: type) -> None:
    X = np.random.default_rng(4).integers(0, 2, (8, 30)).astype(kind)
    V = np.eye(8, 2)
    expected = as_data(X.astype(np.float64)).standardized("center").project(V)
    for made in (X, sp.csr_array(X.astype(np.int8))):
        np.testing.assert_allclose(as_data(made).standardized("center").project(V), expected, atol=1e-14)


def test_floating_types_are_kept_and_nothing_is_copied() -> None:
    X = np.zeros((4, 6), dtype=np.float32)
    assert as_data(X).dtype == np.float32
    assert np.shares_memory(as_data(X).X, X)
    S = sp.csc_array(np.eye(4, 6))
    assert np.shares_memory(as_data(S).values, S.data)


def test_results_do_not_depend_on_the_number_of_threads() -> None:
    from threadpoolctl import threadpool_limits

    X = np.random.default_rng(5).standard_normal((50, 30_000)).astype(np.float32)
    V = np.eye(50, 4)
    with threadpool_limits(1):
        one = as_data(X).standardized("center").combine(as_data(X).standardized("center").project(V))
    with threadpool_limits(2):
        many = as_data(X).standardized("center").combine(as_data(X).standardized("center").project(V))
    np.testing.assert_array_equal(one, many)


def test_a_column_of_rounding_noise_counts_as_constant() -> None:
    X = np.random.default_rng(6).standard_normal((50, 2))
    X[:, 0] = 1e6
    X[::2, 0] = np.nextafter(1e6, 2e6)
    assert list(as_data(X).stats().constant) == [True, False]


def test_sparse_input_with_repeated_entries_is_left_alone() -> None:
    rows, columns, values = [0, 0, 1], [1, 1, 0], [1.0, 2.0, 5.0]
    S = sp.csc_array(sp.coo_array((values, (rows, columns)), shape=(3, 2)))
    raw = sp.csc_array((np.array([5.0, 1.0, 2.0]), np.array([1, 0, 0]), np.array([0, 1, 3])), shape=(3, 2))
    np.testing.assert_allclose(as_data(raw).take([0, 1]), S.toarray())
    assert raw.nnz == 3


def test_other_things_are_refused_with_the_fix() -> None:
    with pytest.raises(TypeError, match="numpy array or a scipy sparse matrix"):
        as_data([[1, 2], [3, 4]])
    with pytest.raises(TypeError, match=r"Got 2 dimension\(s\) of type object"):
        as_data(np.array([["a", 1.0]], dtype=object))
    with pytest.raises(ValueError, match="normalize must be one of"):
        as_data(np.eye(3)).standardized("standard")
