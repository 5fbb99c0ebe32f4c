"""Kernel Q-alpha: a factor of V in place of the mapped features."""

from dataclasses import replace

import numpy as np
import pytest

from eigensieve import KernelQAlphaSelector, QAlphaSelector
from eigensieve.data import as_data
from eigensieve.operators import StandardAffinity
from eigensieve.qalpha.mercer import (
    ComputedKernel,
    GivenKernel,
    KernelSettings,
    exact_factor,
    kernel_function,
    nystroem_factor,
)
from eigensieve.qalpha.problem import Problem, SolveSettings
from eigensieve.qalpha.solving import solve
from reference import kernel as naive
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


SETTINGS = KernelSettings(degree=2, coef0=0.5, gamma=0.7, section_size=6)


@pytest.mark.parametrize("kernel", ["linear", "poly", "rbf", "sections"])
def test_kernels_are_the_formulas(kernel):
    X = features()
    data = as_data(X).standardized("center")
    computed = ComputedKernel(data, kernel_function(replace(SETTINGS, kernel=kernel)))
    V = dense_kernel(unit_rows(X), kernel, SETTINGS)
    np.testing.assert_allclose(computed.columns(np.arange(50)), V, atol=1e-12)
    np.testing.assert_allclose(computed.columns(np.array([3, 40])), V[:, [3, 40]], atol=1e-12)
    np.testing.assert_allclose(computed.diagonal(), np.diag(V), atol=1e-12)


def test_a_callable_gets_features_in_rows():
    X = features()
    data = as_data(X).standardized("center")
    given = ComputedKernel(data, kernel_function(replace(SETTINGS, kernel=lambda A, B: (A @ B.T) ** 3)))
    M = unit_rows(X)
    np.testing.assert_allclose(given.columns(np.arange(50)), (M @ M.T) ** 3, atol=1e-12)


@pytest.mark.parametrize("kernel", ["linear", "poly", "rbf", "sections"])
def test_weights_match_the_corrected_algorithm(kernel):
    V = dense_kernel(unit_rows(features()), kernel, SETTINGS)
    weights, value, _ = naive.kernel_q_alpha(V, naive.eigen_start(V, 2))
    phi = exact_factor(GivenKernel(V)).phi
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


@pytest.mark.parametrize("n_components", [1, 10, 30, 50])
def test_nystroem_reports_its_error_exactly(n_components):
    V = dense_kernel(unit_rows(features()), "rbf", SETTINGS)
    factor = nystroem_factor(GivenKernel(V), n_components, np.random.default_rng(0))
    left_out = V - factor.phi @ factor.phi.T
    assert factor.phi.shape[1] <= n_components
    assert factor.error == pytest.approx(np.trace(left_out) / np.trace(V), abs=1e-9)
    values = np.linalg.eigvalsh(left_out)
    assert values.min() > -1e-9
    assert values.max() <= factor.error * np.trace(V) + 1e-9
    exact, approximate = np.linalg.eigvalsh(V), np.linalg.eigvalsh(factor.phi @ factor.phi.T)
    assert np.abs(exact - approximate).max() <= factor.error * np.trace(V) + 1e-9


def test_nystroem_is_exact_for_a_kernel_of_low_rank():
    X = features(q=6, n=60)
    kernel = ComputedKernel(as_data(X).standardized("center"), kernel_function(replace(SETTINGS, kernel="linear")))
    factor = nystroem_factor(kernel, 20, np.random.default_rng(0))
    assert factor.error < 1e-10
    assert factor.phi.shape[1] <= 8


def test_an_indefinite_kernel_is_refused():
    rng = np.random.default_rng(0)
    V = rng.standard_normal((30, 30))
    V = V + V.T
    np.fill_diagonal(V, 1.0)
    with pytest.raises(ValueError, match="must be positive semidefinite"):
        exact_factor(GivenKernel(V))
    with pytest.raises(ValueError, match="must be positive semidefinite"):
        nystroem_factor(GivenKernel(V), 10, rng)


def test_an_asymmetric_kernel_is_refused():
    with pytest.raises(ValueError, match="must be symmetric"):
        exact_factor(GivenKernel(np.array([[1.0, 0.5], [0.0, 1.0]])))


def test_the_laplacian_of_the_linear_kernel_is_that_of_the_data():
    X = np.abs(np.random.default_rng(0).standard_normal((20, 15)))
    settings = {"n_clusters": 2, "spectrum": "laplacian", "tol": 1e-9, "max_iter": 3000}
    mapped = KernelQAlphaSelector(3, kernel="linear", **settings).fit(X)
    plain = QAlphaSelector(3, **settings).fit(X)
    np.testing.assert_allclose(mapped.weights_, plain.weights_, atol=1e-7)
    assert mapped.objective_ == pytest.approx(plain.objective_, rel=1e-9)


@pytest.mark.parametrize("options", [{"kernel": "poly"}, {"kernel": "poly", "degree": 3}, {"kernel": "sections"}])
def test_the_laplacian_of_powers_is_that_of_the_products_of_samples(options):
    X = np.abs(np.random.default_rng(1).standard_normal((12, 9)))
    M = X / np.linalg.norm(X, axis=0)
    parts = [M[:8], M[8:]] if options["kernel"] == "sections" else [M]
    spell = {2: "ti,ui->tui", 3: "ti,ui,vi->tuvi"}[options.get("degree", 2)]
    products = np.vstack([np.einsum(spell, *[part] * options.get("degree", 2)).reshape(-1, 9) for part in parts])
    settings = {"n_clusters": 2, "spectrum": "laplacian", "tol": 1e-9, "max_iter": 3000}
    model = KernelQAlphaSelector(3, **options, **settings).fit(X)
    plain = QAlphaSelector(3, normalize="unit", **settings).fit(products)
    np.testing.assert_allclose(model.weights_, plain.weights_, atol=1e-7)
    V = sum((part.T @ part) ** options.get("degree", 2) for part in parts)
    size = np.sqrt(np.diag(V))
    np.testing.assert_allclose(model.mapped_features_ @ model.mapped_features_.T, V / np.outer(size, size), atol=1e-12)
    values, vectors = np.linalg.eigh(model.G_)
    np.testing.assert_allclose(np.abs(vectors[:, -1]), np.abs(model.weights_), atol=1e-6)
    assert values[-1] == pytest.approx(model.objective_, rel=1e-8)


@pytest.mark.parametrize("options", [{"kernel": "rbf"}, {"coef0": 1.0}, {"n_components": 5}, {"kernel": np.dot}])
def test_kernels_without_coordinates_have_no_laplacian(options):
    with pytest.raises(ValueError, match="must be 'standard', unless the kernel has coordinates"):
        KernelQAlphaSelector(3, spectrum="laplacian", **options).fit(np.eye(6) + 1.0)
