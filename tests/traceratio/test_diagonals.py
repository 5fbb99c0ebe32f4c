"""Scatters of every pair of graphs, on every backend, against the dense matrices of the paper."""

import numpy as np
import pytest
from scipy.sparse import csr_array, random_array
from sklearn.feature_selection import f_classif

from eigensieve.data import as_data
from eigensieve.traceratio import FisherPair, GivenPair, LaplacianPair, diagonals, semi_supervised_pair
from eigensieve.traceratio.pairs import MixedPair
from reference import trace_ratio as reference
from support.backends import BACKENDS, tolerance


@pytest.fixture
def problem():
    rng = np.random.default_rng(3)
    X = rng.standard_normal((40, 300)) * 10.0 ** rng.uniform(-2, 2, 300)
    X[rng.random(X.shape) < 0.3] = 0.0
    y = np.arange(40) % 4
    return X, y, reference.heat_graph(X, 4)


def random_graph(n, seed):
    A = random_array((n, n), density=0.1, random_state=np.random.default_rng(seed))
    return csr_array(A + A.T)


def pairs(y, A):
    """Every kind of pair, and the dense within and between weights it stands for."""
    n = len(y)
    fisher = reference.fisher_graphs(y)
    laplacian = (A, reference.laplacian_between(A))
    some = np.where(np.arange(n) % 3 == 0, -1, y)
    labelled = some >= 0
    on_labelled = [np.zeros((n, n)), np.zeros((n, n))]
    for dense, small in zip(on_labelled, reference.fisher_graphs(y[labelled]), strict=True):
        dense[np.ix_(labelled, labelled)] = small
    mixed = [0.7 / labelled.sum() * f + 0.3 / A.sum() * g for f, g in zip(on_labelled, laplacian, strict=True)]
    first, second = random_graph(n, 1), random_graph(n, 2)
    yield "fisher", FisherPair(y), fisher
    yield "fisher-some", FisherPair(some), on_labelled
    yield "laplacian", LaplacianPair(csr_array(A)), laplacian
    yield "given", GivenPair(first, second), (first.toarray(), second.toarray())
    yield "semi", semi_supervised_pair(some, csr_array(A), 0.3), mixed


@pytest.mark.parametrize("backend", BACKENDS)
def test_equal_the_dense_matrices_of_the_paper(problem, backend):
    X, y, A = problem
    for name, pair, (A_w, A_b) in pairs(y, A):
        data = as_data(BACKENDS[backend](X))
        b, e = diagonals(data, pair)
        expected_b, expected_e = reference.diagonals(X, A_w, A_b)
        rtol = tolerance(backend, double=1e-10, single=1e-4)
        np.testing.assert_allclose(e, expected_e, rtol=rtol, err_msg=name)
        np.testing.assert_allclose(b, expected_b, rtol=rtol, atol=rtol * np.abs(expected_e).max(), err_msg=name)


def test_exact_scatters_equal_the_fast_ones(problem):
    X, y, A = problem
    for name, pair, _ in pairs(y, A):
        b, e = diagonals(as_data(X), pair)
        exact_b, exact_e = pair.exact(X)
        np.testing.assert_allclose(b, exact_b, rtol=1e-9, err_msg=name)
        np.testing.assert_allclose(e, exact_e, rtol=1e-9, err_msg=name)


def test_fisher_ratio_is_the_f_test():
    rng = np.random.default_rng(0)
    X, y = rng.standard_normal((50, 20)), np.arange(50) % 3
    b, e = diagonals(as_data(X), FisherPair(y))
    np.testing.assert_allclose(b / e * (50 - 3) / (3 - 1), f_classif(X, y)[0], rtol=1e-10)


@pytest.mark.parametrize("backend", BACKENDS)
def test_zero_scatter_is_exactly_zero(backend):
    # Class means like 0.1 are not representable: a difference of sums would leave rounding behind.
    y = np.repeat([0, 1, 2], [3, 7, 11])
    rng = np.random.default_rng(0)
    separated = np.array([0.1, 0.7, 1e4])[y]
    X = np.column_stack([separated, np.full(21, 0.1), rng.standard_normal(21), np.zeros(21), separated * 1e-6])
    components = csr_array((y[:, None] == y[None, :]).astype(float) - np.eye(21))
    data = as_data(BACKENDS[backend](X))
    for pair in (FisherPair(y), LaplacianPair(components), GivenPair(components, random_graph(21, 0))):
        b, e = diagonals(data, pair)
        assert e[0] == 0 and b[0] > 0 and e[4] == 0 and b[4] > 0
        assert b[1] == e[1] == b[3] == e[3] == 0
        assert e[2] > 0


def test_nearly_separated_features_keep_their_digits():
    y = np.repeat([0, 1], 50)
    rng = np.random.default_rng(1)
    X = y[:, None] * 1e7 + rng.standard_normal((100, 4))
    _, e = diagonals(as_data(X), FisherPair(y))
    expected = sum(((X[y == c] - X[y == c].mean(axis=0)) ** 2).sum(axis=0) for c in (0, 1))
    np.testing.assert_allclose(e, expected, rtol=1e-8)


def test_shifting_a_feature_changes_nothing(problem):
    X, y, A = problem
    for name, pair, _ in pairs(y, A):
        plain, shifted = diagonals(as_data(X), pair), diagonals(as_data(X + 1e3), pair)
        for first, second in zip(plain, shifted, strict=True):
            np.testing.assert_allclose(first, second, rtol=1e-6, atol=1e-8, err_msg=name)


def test_more_classes_than_fit_in_one_product():
    rng = np.random.default_rng(2)
    y = np.repeat(np.arange(70), 2)
    X = rng.standard_normal((140, 5))
    b, e = diagonals(as_data(X), FisherPair(y))
    expected_b, expected_e = reference.diagonals(X, *reference.fisher_graphs(y))
    np.testing.assert_allclose(b, expected_b, rtol=1e-10)
    np.testing.assert_allclose(e, expected_e, rtol=1e-10)


def test_a_mixture_of_one_part_is_that_part(problem):
    X, y, _ = problem
    alone, mixed = FisherPair(y), MixedPair([(2.0, FisherPair(y))])
    for first, second in zip(diagonals(as_data(X), alone), diagonals(as_data(X), mixed), strict=True):
        np.testing.assert_allclose(2.0 * first, second, rtol=1e-13)
