"""Refined elements: the gradient against differences, and what refining may and may not change."""

import numpy as np
import pytest
from sklearn.datasets import make_classification
from sklearn.svm import SVC

from eigensieve import ElementSelectedSVC
from eigensieve.elements import RBF, Column, ElementExpansion, MaskedKernel, refine_values
from eigensieve.elements.kernel import LINEAR, POLY
from eigensieve.elements.refine import _Matching

KERNELS = {
    "rbf": MaskedKernel(RBF, gamma=0.3),
    "poly": MaskedKernel(POLY, gamma=0.3, degree=3, coef0=1.0),
    "linear": MaskedKernel(LINEAR),
}
COLUMNS = [Column(2, 1.0, [4]), Column(0, 2.0, [1, 3, 0]), Column(7, 2.0, [5, 2])]


def problem(kernel, outputs=2):
    rng = np.random.default_rng(0)
    X, B = rng.normal(size=(60, 6)), rng.normal(size=(9, 6))
    shape = ElementExpansion.build(kernel, B, COLUMNS, np.zeros((3, 1)), np.zeros(1))
    return X, B, shape, rng.normal(size=(60, outputs))


@pytest.mark.parametrize("name", list(KERNELS))
def test_gradient_equals_differences(name):
    X, _, shape, targets = problem(KERNELS[name])
    matching = _Matching(shape, X, targets, ridge=1e-3)
    gradient = matching.value_and_gradient(shape.values)[1]
    for e in range(shape.n_elements):
        step = np.zeros(shape.n_elements)
        step[e] = 1e-5
        above, below = (matching.value_and_gradient(shape.values + sign * step)[0] for sign in (1, -1))
        assert gradient[e] == pytest.approx((above - below) / 2e-5, rel=1e-5, abs=1e-8)


@pytest.mark.parametrize("name", list(KERNELS))
def test_refining_lowers_the_distance_and_moves_chosen_entries_only(name):
    X, B, shape, targets = problem(KERNELS[name])
    refined = refine_values(KERNELS[name], X, B, COLUMNS, targets, 1e-3)
    chosen = np.zeros(B.shape, dtype=bool)
    for column in COLUMNS:
        chosen[column.basis, column.features] = True
    np.testing.assert_array_equal(refined[~chosen], B[~chosen])
    matching = _Matching(shape, X, targets, ridge=1e-3)
    moved = ElementExpansion.build(KERNELS[name], refined, COLUMNS, np.zeros((3, 1)), np.zeros(1))
    before, after = (matching.value_and_gradient(one.values)[0] for one in (shape, moved))
    assert after <= before + 1e-12
    if name == "rbf":
        assert after < before


@pytest.mark.filterwarnings("ignore:.* elements were found:UserWarning")  # a linear machine needs few
@pytest.mark.parametrize("kernel", ["rbf", "poly", "linear"])
def test_refined_estimator_matches_better_and_predicts_what_it_stores(kernel):
    X, y = make_classification(n_samples=300, n_informative=6, random_state=0)
    svc = SVC(C=10, kernel=kernel, coef0=1.0).fit(X, y)
    plain = ElementSelectedSVC(svc, n_elements=30, random_state=0).fit(X, y)
    model = ElementSelectedSVC(svc, n_elements=30, refine=True, random_state=0).fit(X, y)
    np.testing.assert_array_equal(model.mask_.toarray(), plain.mask_.toarray())
    full = svc.decision_function(X)

    def distance(one):
        return float(((one.decision_function(X) - full) ** 2).mean())

    assert distance(model) <= distance(plain) * (1 + 1e-6)
    by_hand = np.full(len(X), model.intercept_[0])
    for j in np.flatnonzero(model.dual_coef_[0]):
        features = model.mask_[:, [j]].nonzero()[0]
        b, factor = model.support_vectors_[j, features], model.widths_[j]
        if kernel == "rbf":
            value = np.exp(-svc._gamma * factor * ((X[:, features] - b) ** 2).sum(axis=1))
        else:
            value = X[:, features] @ b
            value = value if kernel == "linear" else (svc._gamma * factor * value + 1.0) ** 3
        by_hand += model.dual_coef_[0, j] * value
    np.testing.assert_allclose(model.decision_function(X), by_hand, atol=1e-4 * np.abs(full).max())
