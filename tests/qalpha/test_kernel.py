"""Kernel Q-alpha: a factor of V in place of the mapped features."""

from dataclasses import replace

import numpy as np
import pytest

from eigensieve import QAlphaSelector
from eigensieve.data import as_data
from eigensieve.operators import StandardAffinity
from eigensieve.qalpha import KernelSettings, Problem, SolveSettings, map_features, solve
from reference import kernel as naive
from reference import qalpha as plain
from reference.supervised import unit_rows


def features(seed=0, q=40, n=50):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((q, n))
    X[: q // 2, :8] += 2.0
    return X


def dense_kernel(M, kernel, settings):
    if kernel == "linear":
        return M @ M.T
    if kernel == "poly":
        return (settings.gamma * (M @ M.T) + settings.coef0) ** settings.degree
    if kernel == "rbf":
        return np.exp(-settings.gamma * np.sum((M[:, None] - M[None]) ** 2, axis=2))
    parts = np.split(M, range(settings.section_size, M.shape[1], settings.section_size), axis=1)
    return sum((part @ part.T) ** settings.degree for part in parts)


SETTINGS = KernelSettings(degree=2, coef0=0.5, gamma=0.7, section_size=6, normalize="none")


def mapped(X, **settings):
    return map_features(as_data(X), replace(SETTINGS, **settings), None, np.random.default_rng(0))


@pytest.mark.parametrize("n_components", [None, 50])
@pytest.mark.parametrize("kernel", ["linear", "poly", "rbf", "sections"])
def test_kernels_are_the_formulas(kernel, n_components):
    """Mapped features have the kernel as inner products; Nystroem's approximation from all columns is exact."""
    M = unit_rows(features())
    V = dense_kernel(M, kernel, SETTINGS)
    phi, _ = mapped(M.T, kernel=kernel, n_components=n_components)
    np.testing.assert_allclose(phi @ phi.T, V, atol=1e-10)
    unit, _ = mapped(features(), kernel=kernel, n_components=n_components, normalize="center")
    size = np.sqrt(np.diag(V))
    np.testing.assert_allclose(unit @ unit.T, V / np.outer(size, size), atol=1e-10)


def test_a_feature_of_any_scale_is_like_its_copy():
    """The Gaussian kernel of two features is 1 if they are equal, and 0 if they are far apart."""
    X = np.random.default_rng(3).standard_normal((17, 60)) * np.logspace(2, 130, 60)
    phi, _ = mapped(np.hstack([X, X]), kernel="rbf", normalize="none", gamma=1.0)
    np.testing.assert_allclose(phi @ phi.T, np.tile(np.eye(60), (2, 2)), atol=1e-12)


def test_a_callable_gets_features_in_rows():
    M = unit_rows(features())
    phi, _ = mapped(M.T, kernel=lambda A, B: (A @ B.T) ** 3)
    np.testing.assert_allclose(phi @ phi.T, (M @ M.T) ** 3, atol=1e-12)


@pytest.mark.parametrize("kernel", ["linear", "poly", "rbf", "sections"])
def test_weights_match_the_corrected_algorithm(kernel):
    V = dense_kernel(unit_rows(features()), kernel, SETTINGS)
    weights, value, _ = naive.kernel_q_alpha(V, naive.eigen_start(V, 2))
    phi, _ = mapped(V, kernel="precomputed")
    np.testing.assert_allclose(phi @ phi.T, V, atol=1e-10)
    problem = Problem(StandardAffinity(as_data(np.ascontiguousarray(phi.T))), 2, 0.0, np.ones(50, dtype=bool))
    result = solve(problem, SolveSettings(tol=1e-9, max_iter=3000))
    assert result.objective == pytest.approx(value, rel=1e-7)
    np.testing.assert_allclose(result.weights, weights, atol=1e-4)


def test_the_printed_update_would_not_move():
    """E R^-1 spans the same columns as E, so that G would keep its column space: the reason for the correction."""
    V = dense_kernel(unit_rows(features()), "poly", SETTINGS)
    E = naive.eigen_start(V, 2)
    moved = naive.kernel_q_alpha(V, E, n_steps=1)[2]
    stays = E @ np.linalg.inv(np.linalg.cholesky(E.T @ V @ E).T)
    angle = lambda A, B: np.linalg.svd(np.linalg.qr(A)[0].T @ np.linalg.qr(B)[0])[1].min()  # noqa: E731
    assert angle(E, stays) == pytest.approx(1.0)
    assert angle(E, moved) < 0.999


@pytest.mark.parametrize("sections", [1, 3])
def test_the_laplacian_of_a_kernel_is_that_of_the_products_of_samples(sections):
    """Kernels that are powers have coordinates; on these `QAlphaSelector` is Q-alpha with the kernel's Laplacian."""
    M = unit_rows(np.abs(features(q=12, n=9)))
    parts = np.split(M, sections, axis=1)
    products = np.hstack([np.einsum("it,iu->itu", part, part).reshape(9, -1) for part in parts])
    settings = replace(SETTINGS, gamma=1.0, coef0=0.0, section_size=12 // sections)
    V = dense_kernel(M, "sections", settings)
    np.testing.assert_allclose(products @ products.T, V, atol=1e-12)
    L = plain.terms(plain.standardise(products.T, "unit"), "laplacian")
    alpha, _, history = plain.basic(L, plain.start(L, 2), "energy")
    options = {"tol": 1e-9, "max_iter": 3000}
    model = QAlphaSelector(3, 2, spectrum="laplacian", solver_options=options).fit(products.T)
    np.testing.assert_allclose(model.weights_, alpha, atol=1e-6)
    assert model.objective_ == pytest.approx(history[-1], rel=1e-8)


@pytest.mark.parametrize("n_components", [1, 10, 30, 50])
def test_nystroem_reports_its_error_exactly(n_components):
    V = dense_kernel(unit_rows(features()), "rbf", SETTINGS)
    phi, error = mapped(V, kernel="precomputed", n_components=n_components)
    left_out = V - phi @ phi.T
    assert phi.shape[1] <= n_components
    assert error == pytest.approx(np.trace(left_out) / np.trace(V), abs=1e-9)
    values = np.linalg.eigvalsh(left_out)
    assert values.min() > -1e-9
    assert values.max() <= error * np.trace(V) + 1e-9
    exact, approximate = np.linalg.eigvalsh(V), np.linalg.eigvalsh(phi @ phi.T)
    assert np.abs(exact - approximate).max() <= error * np.trace(V) + 1e-9


def test_nystroem_is_exact_for_a_kernel_of_low_rank():
    phi, error = mapped(features(q=6, n=60), kernel="linear", normalize="center", n_components=20)
    assert error < 1e-10
    assert phi.shape[1] <= 8


@pytest.mark.parametrize("n_components", [None, 10])
def test_an_indefinite_kernel_is_refused(n_components):
    V = np.random.default_rng(0).standard_normal((30, 30))
    V = V + V.T
    np.fill_diagonal(V, 1.0)
    with pytest.raises(ValueError, match="must be positive semidefinite"):
        mapped(V, kernel="precomputed", n_components=n_components)


def test_an_asymmetric_kernel_is_refused():
    with pytest.raises(ValueError, match="must be symmetric"):
        mapped(np.array([[1.0, 0.5], [0.0, 1.0]]), kernel="precomputed")
