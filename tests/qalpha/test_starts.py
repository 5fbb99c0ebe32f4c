"""Several starts: the best is kept, and what the others reached is told."""

import numpy as np
import pytest

from eigensieve import FeatureMap, KernelQAlphaSelector, QAlphaSelector
from eigensieve.datasets import make_two_solutions


@pytest.fixture
def X() -> np.ndarray:
    """A sum of two solutions: starts end in different maxima."""
    return make_two_solutions(random_state=0).X


def test_the_first_start_is_that_of_the_eigenvectors_and_the_best_is_kept(X):
    one = QAlphaSelector(3, 2).fit(X)
    several = QAlphaSelector(3, 2, solver_options={"n_init": 6}, random_state=0).fit(X)
    assert one.start_objectives_.tolist() == [one.objective_]
    assert several.start_objectives_.shape == (6,)
    assert several.start_objectives_[0] == one.objective_
    assert several.objective_ == pytest.approx(several.start_objectives_.max(), rel=5e-5)


def test_every_start_is_the_search_from_there(X):
    """The starts of one generator, one by one, as own starts."""
    several = QAlphaSelector(
        3, 2, solver_options={"init": "random", "n_init": 3}, random_state=np.random.default_rng(4)
    ).fit(X)
    rng = np.random.default_rng(4)
    alone = [
        QAlphaSelector(3, 2, solver_options={"init": rng.standard_normal((150, 2))}).fit(X).objective_ for _ in range(3)
    ]
    np.testing.assert_allclose(several.start_objectives_, alone, rtol=1e-12)


def test_the_map_and_the_kernel_have_several_starts_too(X):
    mapped = FeatureMap(6, solver_options={"n_init": 3}, random_state=0).fit(X)
    assert mapped.start_objectives_.shape == (2, 3)
    assert (mapped.objectives_ >= mapped.start_objectives_.max(axis=1) * (1 - 5e-5)).all()
    kernel = KernelQAlphaSelector(6, solver_options={"n_init": 3}, random_state=0).fit(X)
    assert kernel.start_objectives_.shape == (3,)
    assert kernel.start_objectives_[0] == KernelQAlphaSelector(6).fit(X).objective_


def test_the_map_and_the_kernel_start_at_random_if_asked_to(X):
    for kind in (FeatureMap, KernelQAlphaSelector):
        one, other = (kind(6, solver_options={"init": "random"}, random_state=seed).fit(X) for seed in (0, 1))
        assert not np.array_equal(one.weights_, other.weights_)
        again = kind(6, solver_options={"init": "random"}, random_state=0).fit(X)
        np.testing.assert_array_equal(again.weights_, one.weights_)
        three = kind(6, solver_options={"init": "random", "n_init": 3}, random_state=0).fit(X)
        first = np.ravel(three.start_objectives_)[0]
        assert first == pytest.approx(np.ravel(one.start_objectives_)[0], rel=1e-12)


def test_labels_have_one_start(X):
    y = make_two_solutions(random_state=0).y[:, 0]
    assert QAlphaSelector(3, solver_options={"n_init": 5}).fit(X, y).start_objectives_.shape == (1,)
    assert FeatureMap(3, solver_options={"n_init": 5}).fit(X, y).start_objectives_.shape == (2, 1)


def test_a_start_that_leads_nowhere_is_no_error_if_another_leads_on():
    """Two equal features of three samples: a start orthogonal to them leads nowhere, one near them to the maximum."""
    m, start = np.array([1.0, -1.0, 0.0]), np.array([[1.0], [1.0], [-2.0]])
    model = QAlphaSelector(
        1, 1, criterion="gap", solver_options={"init": start, "n_init": 8}, random_state=0, solver="basic"
    )
    model.fit(np.column_stack([m, m]))
    assert np.isnan(model.start_objectives_[0]) and np.isfinite(model.start_objectives_[1:]).any()
    assert model.objective_ == pytest.approx(2.0)  # A = (w1 + w2) mm' with |m| = 1
