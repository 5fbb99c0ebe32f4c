"""Exact greedy against a brute force that refits everything for every candidate."""

import numpy as np
import pytest

from eigensieve.elements import RBF, MaskedKernel, Plan, SelectionState
from eigensieve.elements.greedy import select_exact
from eigensieve.elements.kernel import LINEAR, POLY
from reference.elements import brute_force_greedy, masked_kernel, squared_error

KERNELS = {
    "rbf": MaskedKernel(RBF, gamma=0.7),
    "poly": MaskedKernel(POLY, gamma=0.5, degree=2, coef0=1.0),
    "linear": MaskedKernel(LINEAR),
}


def plan(n_elements, **settings):
    """The paper's kernel: columns use gamma itself."""
    return Plan(n_elements=n_elements, rescale=False, **settings)


def problem(seed, n_samples=25, n_features=4, n_basis=4):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n_samples, n_features))
    return X, X[:n_basis].copy(), rng.normal(size=n_basis)


def mask_of(state):
    M = np.zeros((state.X.shape[1], state.B.shape[0]), dtype=bool)
    for column in state.columns:
        M[column.features, column.basis] = True
    return M


@pytest.mark.parametrize("name", ["rbf", "poly"])
@pytest.mark.parametrize("n_outputs", [1, 6])
@pytest.mark.parametrize("seed", range(2))
def test_exact_greedy_equals_brute_force(name, n_outputs, seed):
    X, B, alpha = problem(seed, n_basis=6)
    kernel = KERNELS[name]
    K = kernel.full(X, B)
    targets = (K @ alpha)[:, None] if n_outputs == 1 else K
    state = select_exact(SelectionState(kernel, X, B, targets), plan(8))
    M, _, path = brute_force_greedy(X, B, targets, 8, name, kernel.gamma, degree=kernel.degree, coef0=kernel.coef0)
    np.testing.assert_array_equal(mask_of(state), M)
    np.testing.assert_allclose(state.path, path, atol=1e-9)


def test_columns_do_grow_in_the_brute_force_cases():
    """The comparison above covers extending a column, not only starting new ones."""
    grown = 0
    for seed in range(4):
        X, B, alpha = problem(seed)
        kernel = KERNELS["rbf"]
        targets = (kernel.full(X, B) @ alpha)[:, None]
        state = select_exact(SelectionState(kernel, X, B, targets), plan(8))
        grown += sum(len(column.features) > 1 for column in state.columns)
    assert grown > 0


def test_linear_kernel_recovers_the_linear_function_and_stops():
    """x_i b_ij for two basis vectors are collinear: after one element a feature nothing is left to gain."""
    X, B, alpha = problem(0)
    kernel = KERNELS["linear"]
    targets = (kernel.full(X, B) @ alpha)[:, None]
    state = select_exact(SelectionState(kernel, X, B, targets), plan(16))
    assert state.relative_error < 1e-20
    assert len({feature for column in state.columns for feature in column.features}) == 4
    assert state.n_elements <= 6


@pytest.mark.parametrize("name", list(KERNELS))
def test_state_agrees_with_dense_least_squares_after_any_additions(name):
    X, B, alpha = problem(3)
    kernel = KERNELS[name]
    targets = (KERNELS["rbf"].full(X, B) @ alpha)[:, None]
    state = SelectionState(kernel, X, B, targets)
    for basis, feature in [(0, 1), (2, 3), (0, 2), (1, 0), (2, 0), (0, 3)]:
        state.add_element(basis, feature)
        design = masked_kernel(X, B, mask_of(state), name, kernel.gamma, degree=kernel.degree, coef0=kernel.coef0)
        np.testing.assert_allclose(state.error, squared_error(design, targets), rtol=1e-8, atol=1e-12)
        np.testing.assert_allclose(state.path[-1], state.relative_error, rtol=1e-8, atol=1e-12)
        np.testing.assert_allclose(state.Q.T @ state.Q, np.eye(state.Q.shape[1]), atol=1e-10)


def test_a_column_in_the_span_is_refused_and_changes_nothing():
    X, B, alpha = problem(1)
    X[:, 2] = 0.5
    B = X[:4].copy()
    state = SelectionState(KERNELS["rbf"], X, B, (KERNELS["rbf"].full(X, B) @ alpha)[:, None])
    assert state.add_element(0, 1)
    error, Q = state.error, state.Q.copy()
    assert not state.add_element(1, 2)  # exp(0) = 1 everywhere: the constant is in the span already
    assert state.n_elements == 1 and state.error == error
    np.testing.assert_array_equal(state.Q, Q)


def test_copies_do_not_share_what_they_add():
    X, B, alpha = problem(2)
    state = SelectionState(KERNELS["rbf"], X, B, (KERNELS["rbf"].full(X, B) @ alpha)[:, None])
    state.add_element(0, 0)
    twin = state.copy()
    twin.add_element(1, 1)
    state.add_element(2, 2)
    assert [c.basis for c in twin.columns] == [0, 1]
    assert [c.basis for c in state.columns] == [0, 2]
    for one in (state, twin):
        np.testing.assert_allclose(one.Q.T @ one.Q, np.eye(3), atol=1e-12)
        assert one.relative_error == pytest.approx(
            squared_error(one.design(one.columns), one.targets) / one.start_error
        )


def test_tolerance_stops_early():
    X, B, alpha = problem(0, n_features=6)
    kernel = KERNELS["rbf"]
    targets = (kernel.full(X, B) @ alpha)[:, None]
    full = select_exact(SelectionState(kernel, X, B, targets), plan(15))
    short = select_exact(SelectionState(kernel, X, B, targets), plan(15, tol=0.02))
    drops = -np.diff([1.0, *full.path])
    assert short.n_elements == int(np.argmax(drops < 0.02)) + 1
    assert short.n_elements < full.n_elements
