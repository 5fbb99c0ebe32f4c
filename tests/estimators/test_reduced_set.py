"""ReducedSetSVC and the mathematics behind it."""

import numpy as np
import pytest
from sklearn.datasets import make_classification
from sklearn.svm import SVC
from sklearn.utils.estimator_checks import parametrize_with_checks

from eigensieve import ReducedSetSVC
from eigensieve.elements import RBF, MaskedKernel, construct_vectors, refine_vectors, select_vectors
from eigensieve.elements.kernel import LINEAR, POLY
from eigensieve.elements.reduced import best_weights
from reference.elements import reduced_set_error

KERNELS = {
    "rbf": MaskedKernel(RBF, gamma=0.3),
    "poly": MaskedKernel(POLY, gamma=0.5, degree=3, coef0=1.0),
    "linear": MaskedKernel(LINEAR),
}


@parametrize_with_checks([ReducedSetSVC(n_vectors=4, max_iter=20, random_state=0)])
def test_scikit_learn_checks(estimator, check):
    check(estimator)


@pytest.fixture(scope="module")
def data():
    return make_classification(n_samples=300, n_features=8, n_informative=5, class_sep=1.2, random_state=0)


def expansion(seed=0, n=12, d=4):
    rng = np.random.default_rng(seed)
    return rng.normal(size=(n, d)), rng.normal(size=(n, 1))


def distance(kernel, B, alpha, Z):
    beta = best_weights(kernel, B, alpha, Z)
    cross = (alpha * (kernel.full(B, Z) @ beta)).sum()
    return float((alpha * (kernel.full(B, B) @ alpha)).sum() - 2 * cross + (beta * (kernel.full(Z, Z) @ beta)).sum())


def test_weights_minimise_the_distance_in_feature_space():
    B, alpha = expansion()
    Z = B[:3] + 0.1
    beta = best_weights(KERNELS["rbf"], B, alpha, Z)
    best = reduced_set_error(alpha[:, 0], B, beta[:, 0], Z, 0.3)
    for k in range(3):
        for step in (-1e-3, 1e-3):
            moved = beta[:, 0].copy()
            moved[k] += step
            assert reduced_set_error(alpha[:, 0], B, moved, Z, 0.3) > best


def test_selection_equals_brute_force_greedy():
    for seed in range(4):
        B, alpha = expansion(seed)
        kernel = KERNELS["rbf"]
        chosen = select_vectors(kernel, B, alpha, 4)
        greedy: list[int] = []
        for _ in range(4):
            left = [j for j in range(len(B)) if j not in greedy]
            greedy.append(min(left, key=lambda j: distance(kernel, B, alpha, B[[*greedy, j]])))
        np.testing.assert_array_equal(chosen, greedy)


@pytest.mark.parametrize("name", list(KERNELS))
def test_construction_beats_selection_and_refinement_beats_construction(name):
    kernel = KERNELS[name]
    B, alpha = expansion(1)
    Z, _ = construct_vectors(kernel, B, alpha, 3, n_starts=8, max_iter=200, rng=np.random.default_rng(0))
    refined, n_iter = refine_vectors(kernel, B, alpha, Z, 200)
    assert n_iter >= 1
    selected = B[select_vectors(kernel, B, alpha, 3)]
    full = distance(kernel, B, alpha, B[:1]) + 1e-9
    assert distance(kernel, B, alpha, refined) <= distance(kernel, B, alpha, Z) + 1e-9 * full
    assert distance(kernel, B, alpha, refined) < distance(kernel, B, alpha, selected) + 1e-9 * full


def test_one_constructed_vector_is_the_best_single_preimage():
    """Against a fine grid in two dimensions."""
    B, alpha = expansion(3, d=2)
    kernel = KERNELS["rbf"]
    Z, _ = construct_vectors(kernel, B, alpha, 1, n_starts=12, max_iter=500, rng=np.random.default_rng(0))
    grid = np.stack(np.meshgrid(np.linspace(-4, 4, 161), np.linspace(-4, 4, 161)), axis=-1).reshape(-1, 2)
    best = ((kernel.full(grid, B) @ alpha) ** 2).max()
    assert ((kernel.full(Z, B) @ alpha) ** 2).item() >= best * (1 - 1e-4)


def test_a_linear_machine_needs_one_vector():
    B, alpha = expansion(2)
    Z, _ = construct_vectors(KERNELS["linear"], B, alpha, 1, n_starts=1, max_iter=200, rng=np.random.default_rng(0))
    assert distance(KERNELS["linear"], B, alpha, Z) < 1e-6


def test_gradient_of_the_refinement_by_differences():
    from scipy.optimize import check_grad

    for name, kernel in KERNELS.items():
        if name == "linear":
            continue  # two linear vectors reach distance zero, where the quotient has no digits
        B, alpha = expansion(4, d=3)
        Z = B[:2] + 0.2

        def value(flat, kernel=kernel, B=B, alpha=alpha):
            return distance(kernel, B, alpha, flat.reshape(2, 3))

        def gradient(flat, kernel=kernel, B=B, alpha=alpha):
            from eigensieve.elements.reduced import _kernel_gradient

            z = flat.reshape(2, 3)
            beta = best_weights(kernel, B, alpha, z)
            own = _kernel_gradient(kernel, z, z, beta @ beta.T)
            return 2 * (own - _kernel_gradient(kernel, z, B, beta @ alpha.T)).ravel()

        scale = np.abs(gradient(Z.ravel())).max()
        assert check_grad(value, gradient, Z.ravel()) < 1e-4 * max(1.0, scale)


@pytest.mark.parametrize("method", ["construction", "selection"])
@pytest.mark.parametrize("kernel", ["rbf", "poly", "linear"])
def test_decision_is_the_expansion(data, method, kernel):
    X, y = data
    svc = SVC(kernel=kernel, gamma=0.1, degree=2, coef0=1.0)
    model = ReducedSetSVC(svc, n_vectors=12, method=method, random_state=0).fit(X, y)
    masked = MaskedKernel.from_svc(model.estimator_)
    expected = masked.full(X, model.vectors_) @ model.dual_coef_[0] + model.intercept_[0]
    np.testing.assert_allclose(model.decision_function(X), expected, atol=1e-9)
    n = 6 if (method, kernel) == ("selection", "linear") else 12  # two of the eight features are redundant: rank 6
    assert len(model.vectors_) == n
    assert model.n_numbers_ == n * 8 + n + 1
    assert model.score(X, y) > 0.75


def test_sparse_vectors_differ_from_the_centre_in_few_features(data):
    X, y = data
    model = ReducedSetSVC(SVC(C=5), n_vectors=6, n_features_per_vector=3, random_state=0).fit(X, y)
    centre = model.estimator_.support_vectors_.mean(axis=0)
    assert ((model.vectors_ != centre).sum(axis=1) <= 3).all()
    assert model.n_numbers_ == 6 * 3 + 8 + 6 + 1
    assert model.score(X, y) > 0.7


def test_multiclass(data):
    X, _ = data
    y = np.digitize(X[:, 0] + X[:, 1], [-1, 1])
    model = ReducedSetSVC(SVC(C=5), n_vectors=8, max_iter=30, random_state=0).fit(X, y)
    assert model.decision_function(X).shape == (300, 3)
    assert model.score(X, y) > 0.8


def test_bad_input(data):
    X, y = data
    with pytest.raises(ValueError, match=r"'n_features_per_vector' .* must be None for method='selection'"):
        ReducedSetSVC(SVC(), method="selection", n_features_per_vector=3).fit(X, y)
    with pytest.raises(ValueError, match="Got 'sigmoid' instead"):
        ReducedSetSVC(SVC(kernel="sigmoid")).fit(X, y)
    with pytest.warns(UserWarning, match="more than the .* support vectors that exist"):
        ReducedSetSVC(SVC(), n_vectors=5000, method="selection").fit(X, y)
