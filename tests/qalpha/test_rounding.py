"""Searches whose criterion is only rounding end, and say so where nothing can be found."""

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning

from eigensieve import KernelQAlphaSelector, QAlphaSelector


def test_a_criterion_that_no_weights_raise_above_zero_is_refused():
    """Four features in a plane without the classes: the gap is -|L(w)|^2, and some w has L(w) = 0 (three numbers)."""
    y = np.repeat([0, 1], 4)
    plane = np.array([[1, -1, 0, 0, 0, 0, 0, 0], [0, 0, 0, 0, 1, -1, 0, 0]]).T / np.sqrt(2)
    angles = np.array([0.1, 0.9, 1.7, 2.6])
    X = plane @ np.array([np.cos(angles), np.sin(angles)])
    with pytest.raises(ValueError, match="criterion is at most zero"):
        QAlphaSelector(2, criterion="gap", normalize="center").fit(X, y)


PAPERS = ["basic", "power", "ritz"]


@pytest.mark.parametrize("solver", PAPERS)
def test_a_start_from_which_only_rounding_leads_on_is_refused(solver):
    """The start is orthogonal to two equal features: the gap is -(w1 + w2)^2 |m|^4, and w = (1, -1) has no affinity."""
    m = np.array([1.0, -1, 0, 0, 0, 0])
    start = np.array([[0, 0, 1.0, -1, 0, 0]]).T
    with pytest.raises(ValueError, match="criterion is at most zero"):
        QAlphaSelector(1, 1, criterion="gap", solver=solver, solver_options={"init": start}).fit(
            np.column_stack([m, m])
        )


@pytest.mark.parametrize("solver", PAPERS)
@pytest.mark.parametrize("spectrum", ["standard", "laplacian"])
def test_features_that_do_not_vary_are_not_the_best_where_the_gap_is_negative(solver, spectrum):
    """From this start the gap is below zero for all weights, and zero for weights on the constant features alone."""
    X = np.random.default_rng(3).standard_normal((12, 8))
    start = np.linalg.qr(np.random.default_rng(4).standard_normal((12, 1)))[0]
    settings = {"criterion": "gap", "solver": solver, "spectrum": spectrum}
    settings["solver_options"] = {"init": start, "tol": 1e-10}
    alone = QAlphaSelector(2, 1, **settings).fit(X)
    assert QAlphaSelector(2, 1, **{**settings, "solver": "basic"}).fit(X).objective_history_[0] < 0
    beside = QAlphaSelector(2, 1, **settings).fit(np.hstack([X, np.ones((12, 2))]))
    np.testing.assert_allclose(beside.weights_, np.append(alone.weights_, [0, 0]), atol=1e-6)


@pytest.mark.parametrize("size", [1e-15, 1e-8, 1.0, 1e8, 1e15])
def test_the_size_of_a_kernel_changes_nothing(size):
    """Powers up to the twelfth of the values occur in the search."""
    X = np.random.default_rng(0).standard_normal((12, 9))
    X[:6, :3] += 3
    small, large = (KernelQAlphaSelector(3, kernel="linear", normalize="none").fit(c * X) for c in (1.0, size))
    np.testing.assert_allclose(large.weights_, small.weights_, rtol=1e-6, atol=1e-9)
    np.testing.assert_allclose(large.objective_, size**4 * small.objective_, rtol=1e-6)


def test_a_kernel_without_likeness_is_refused():
    with pytest.raises(ValueError, match="must find some features alike"):
        KernelQAlphaSelector(2, kernel="precomputed").fit(np.eye(5))


def test_a_kernel_in_which_rounding_alone_tells_the_classes_apart_is_refused():
    """With an offset of 1e8 the squared correlations with the classes are 1e-16: no digit of them is left."""
    X = 1e8 + np.random.default_rng(0).standard_normal((12, 6))
    y = np.repeat([0, 1], 6)
    with pytest.raises(ValueError, match="must find some feature like the classes"):
        KernelQAlphaSelector(2, normalize="unit").fit(X, y)
    assert KernelQAlphaSelector(2, normalize="center").fit(X, y).get_support().sum() == 2
    assert KernelQAlphaSelector(2, normalize="unit").fit(X - 1e8, y).get_support().sum() == 2


def test_weights_that_wander_are_said_to_do_so_and_the_best_are_kept():
    rng = np.random.default_rng(1296052571)
    X = rng.standard_normal((27, 4))
    X[:13, :2] += 4.0
    y = np.random.default_rng(1296052572).integers(0, 3, 27)
    with pytest.warns(ConvergenceWarning, match="do not settle"):
        model = QAlphaSelector(2, criterion="blocks").fit(X + 1.0, y)
    assert not model.converged_
    assert model.objective_ == model.objective_history_.max()


@pytest.mark.parametrize("seed", [19, 60, 140])
@pytest.mark.parametrize("spectrum", ["laplacian", "standard"])
def test_single_precision_ends_in_the_same_maximum(spectrum, seed):
    """A start of exact eigenvectors leaves a residual of rounding only, which must not choose the way."""
    X = np.random.default_rng(seed).standard_normal((62, 105)).astype(np.float32)
    X[:31, :5] += 3
    double, single = (QAlphaSelector(5, spectrum=spectrum).fit(X.astype(kind)) for kind in (np.float64, np.float32))
    assert single.objective_ == pytest.approx(double.objective_, rel=1e-4)
    assert single.weights_ @ double.weights_ > 0.9999
