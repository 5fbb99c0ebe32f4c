"""Operators against matrices formed as the papers write them."""

import numpy as np
import pytest

from eigensieve import check_symmetric_operator
from eigensieve.data import as_data
from eigensieve.operators import Affinity, StandardAffinity, SymmetricOperator
from eigensieve.qalpha import Problem, ProblemGram
from reference import qalpha as naive
from support.backends import FEW, tolerance
from support.variants import VARIANT_IDS, VARIANTS, Variant


@pytest.mark.parametrize("variant", VARIANTS, ids=VARIANT_IDS)
@pytest.mark.parametrize("backend", FEW)
def test_feature_gram_is_symmetric_and_equals_the_formed_matrix(variant: Variant, backend: str) -> None:
    X = variant.example(seed=0, n_samples=14, n_features=18)
    X[:, 4] = 2.0
    L = naive.terms(naive.standardise(X, variant.normalize), variant.spectrum)
    Q = np.linalg.qr(np.random.default_rng(0).standard_normal((14, 3)))[0]
    view = as_data(FEW[backend](X)).standardized(variant.normalize)
    operator = ProblemGram(Problem(variant.affinity(view), 3, variant.tau, np.ones(18, dtype=bool)), Q)
    scale = 0.5 if variant.criterion == "gap" else 1.0
    expected, tight = scale * naive.gram(L, Q, variant.criterion), tolerance(backend, double=1e-10)
    check_symmetric_operator(operator, expected, rtol=tight)
    by_products = SymmetricOperator.to_dense(operator)
    np.testing.assert_allclose(by_products, expected, atol=tight * np.abs(expected).max())


class SampleAffinity(SymmetricOperator):
    """L(w) for fixed weights."""

    def __init__(self, affinity: Affinity, weights: np.ndarray) -> None:
        super().__init__(affinity.n_samples)
        self.affinity = affinity
        self.weights = weights

    def matvec(self, vector: np.ndarray) -> np.ndarray:
        return self.affinity.apply(self.weights, vector[:, None])[:, 0]


@pytest.mark.parametrize("variant", VARIANTS[::2], ids=VARIANT_IDS[::2])
@pytest.mark.parametrize("backend", FEW)
def test_sample_affinity_equals_the_weighted_sum(variant: Variant, backend: str) -> None:
    X = variant.example(seed=1, n_samples=14, n_features=18)
    L = naive.terms(naive.standardise(X, variant.normalize), variant.spectrum)
    weights = np.random.default_rng(1).standard_normal(18)
    view = as_data(FEW[backend](X)).standardized(variant.normalize)
    operator = SampleAffinity(variant.affinity(view), weights)
    check_symmetric_operator(operator, np.tensordot(weights, L, 1), rtol=tolerance(backend, double=1e-10))


@pytest.mark.parametrize("variant", VARIANTS[::2], ids=VARIANT_IDS[::2])
def test_frobenius_gradient_with_many_groups_of_samples(variant: Variant) -> None:
    """More samples than fit one group: the matrix is applied piece by piece."""
    X = variant.example(seed=2, n_samples=300, n_features=9)
    L = naive.terms(naive.standardise(X, variant.normalize), variant.spectrum)
    weights = np.arange(1.0, 10.0)
    view = as_data(X).standardized(variant.normalize)
    expected = np.einsum("itu,tu->i", L, np.tensordot(weights, L, 1))
    np.testing.assert_allclose(variant.affinity(view).frobenius(weights), expected, rtol=1e-9)


def test_formula_of_the_standard_gram() -> None:
    """G_ij = (m_i'm_j) m_i'QQ'm_j, written out."""
    rng = np.random.default_rng(3)
    M = naive.standardise(rng.standard_normal((9, 7)), "center")
    Q = np.linalg.qr(rng.standard_normal((9, 2)))[0]
    expected = (M @ M.T) * (M @ Q @ Q.T @ M.T)
    operator = ProblemGram(Problem(StandardAffinity(as_data(M.T.copy())), 2, 0.0, np.ones(7, dtype=bool)), Q)
    np.testing.assert_allclose(operator.to_dense(), expected, atol=1e-14)
    np.testing.assert_allclose(SymmetricOperator.to_dense(operator), expected, atol=1e-14)


class Skewed(SymmetricOperator):
    """Not symmetric, to see the check fail."""

    def matvec(self, vector: np.ndarray) -> np.ndarray:
        return np.cumsum(vector)


class Doubled(SymmetricOperator):
    """Twice the identity, to see the comparison fail."""

    def matvec(self, vector: np.ndarray) -> np.ndarray:
        return 2 * vector


def test_check_reports_what_is_wrong() -> None:
    with pytest.raises(AssertionError, match="Skewed is not symmetric"):
        check_symmetric_operator(Skewed(5))
    with pytest.raises(AssertionError, match="disagrees with the given matrix"):
        check_symmetric_operator(Doubled(5), np.eye(5))
    check_symmetric_operator(Doubled(5), 2 * np.eye(5))
