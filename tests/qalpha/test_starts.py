"""Several starts: the best is kept, and what the others reached is told."""

import numpy as np
import pytest

from eigensieve import FeatureMap, KernelQAlphaSelector, QAlphaSelector
from eigensieve.data import as_data
from eigensieve.datasets import make_two_solutions
from eigensieve.qalpha import SolveSettings, solve, solving
from eigensieve.qalpha.starts import Climb
from reference import qalpha as naive
from support.backends import FEW, tolerance
from support.variants import VARIANTS, Variant


@pytest.fixture
def X() -> np.ndarray:
    """A sum of two solutions: starts end in different maxima."""
    return make_two_solutions(random_state=0).X


def test_the_first_start_is_that_of_the_eigenvectors_and_the_best_is_kept(X):
    one = QAlphaSelector(3, 2).fit(X)
    several = QAlphaSelector(3, 2, solver_options={"n_init": 6}, random_state=0).fit(X)
    assert one.start_objectives_.tolist() == [one.objective_] and one.starts_finished_.tolist() == [True]
    assert several.start_objectives_.shape == several.starts_finished_.shape == (6,)
    assert several.start_objectives_[0] == one.objective_ and several.starts_finished_[0]
    assert several.objective_ == pytest.approx(several.start_objectives_.max(), rel=5e-5)


@pytest.mark.parametrize("criterion", ["energy", "gap"])
@pytest.mark.parametrize("seed", range(6))
def test_the_best_is_as_good_as_that_of_whole_searches(criterion, seed):
    """From the same starts, on two solutions with different values. Two searches at most are followed to the end."""
    X = make_two_solutions(random_state=seed).X
    draws, options = np.random.default_rng(seed), {"init": "random", "n_init": 8}
    alone = [
        QAlphaSelector(3, 2, criterion=criterion, solver_options={"init": draws.standard_normal((150, 2))}).fit(X)
        for _ in range(8)
    ]
    whole = np.array([model.objective_ for model in alone])
    several = QAlphaSelector(
        3, 2, criterion=criterion, solver_options=options, random_state=np.random.default_rng(seed)
    ).fit(X)
    reached, finished = several.start_objectives_, several.starts_finished_
    assert reached[0] == pytest.approx(whole[0], rel=1e-12)
    assert several.objective_ >= whole.max() * (1 - 1e-3)
    assert (reached <= several.objective_ * (1 + 5e-5)).all()
    assert finished[0] and len({*reached[finished]}) <= 2 and not {*reached[~finished]} & {*reached[finished]}


@pytest.mark.parametrize("spectrum", ["standard", "laplacian"])
@pytest.mark.parametrize("backend", FEW)
def test_a_step_of_all_starts_is_the_naive_power_step_of_each(spectrum, backend):
    variant = Variant(spectrum, "energy")
    X = variant.example(seed=2)
    X[:, 5] = 0.5
    problem = variant.problem(as_data(FEW[backend](X)), 3)
    starts = np.linalg.qr(np.random.default_rng(0).standard_normal((4, 30, 3)))[0]
    climb = Climb(problem, starts, None, None)
    first = problem.n_passes
    for _ in range(3):
        climb._move()
    assert problem.n_passes == first + 3
    L = naive.terms(naive.standardise(X, variant.normalize), spectrum)
    weights = problem.affinity.data.collect(climb.W @ np.eye(5))[:, 1:]
    for number, Q in enumerate(starts):
        w = np.where(np.abs(L).sum(axis=(1, 2)) > 0, 1.0, 0.0)
        w /= np.linalg.norm(w)
        for _ in range(3):
            Y = np.tensordot(w, L, 1) @ Q
            w = np.einsum("iab,ac,bc->i", L, Y, Q)
            w, Q = w / np.linalg.norm(w), np.linalg.qr(Y)[0]
        rtol = tolerance(backend, double=1e-9, single=2e-3)
        np.testing.assert_allclose(climb.energies[number], np.sum((np.tensordot(w, L, 1) @ Q) ** 2), rtol=rtol)
        found = weights[:, number] / np.linalg.norm(weights[:, number])
        np.testing.assert_allclose(found, w, atol=tolerance(backend, double=1e-9, single=2e-4))


def test_a_start_on_the_way_of_another_stops():
    """Turned embeddings span the same space: both are one start. Noise has a maximum for every other start."""
    variant = VARIANTS[0]
    X = np.random.default_rng(0).standard_normal((40, 300))
    problem = variant.problem(as_data(X), 2)
    Q = np.linalg.qr(np.random.default_rng(1).standard_normal((3, 40, 2)))[0]
    turn = np.linalg.qr(np.random.default_rng(2).standard_normal((2, 2)))[0]
    climb = Climb(problem, np.stack([Q[0], Q[1], Q[0] @ turn, Q[2]]), None, None)
    agree, _ = climb._move()
    assert agree[1, 3] == pytest.approx(1.0) and (agree[[1, 1, 2], [2, 4, 4]] < 0.9).all()
    climb.run(SolveSettings())
    assert climb.leader[2] == climb.leader[0] and len({*climb.leader[[0, 1, 3]]}) == 3


def test_all_starts_share_a_pass():
    variant = VARIANTS[0]
    X = np.random.default_rng(0).standard_normal((40, 300))
    problem = variant.problem(as_data(X), 2)
    known = solve(problem, SolveSettings())
    passes = {}
    for count in (2, 12):
        first = problem.n_passes
        Q = np.linalg.qr(np.random.default_rng(1).standard_normal((count, 40, 2)))[0]
        climb = Climb(problem, Q, known, None).run(SolveSettings())
        passes[count] = problem.n_passes - first
        assert passes[count] == 1 + climb.step  # and one to begin
    assert passes[12] <= 33


def test_more_starts_than_climb_at_once(X, monkeypatch):
    """Groups of starts, and a start of more directions than the data has."""
    monkeypatch.setattr(solving, "_COLUMNS", 5)
    several = QAlphaSelector(3, 2, solver_options={"n_init": 6}, random_state=0).fit(X)
    assert np.isfinite(several.start_objectives_).all()
    assert several.objective_ == pytest.approx(several.start_objectives_.max(), rel=5e-5)
    copies = np.repeat(np.random.default_rng(0).standard_normal((20, 2)), 6, axis=1)  # rank 2
    model = QAlphaSelector(3, 4, solver_options={"n_init": 4}, random_state=0).fit(copies)
    assert model.objective_ == pytest.approx(QAlphaSelector(3, 4).fit(copies).objective_, rel=1e-4)


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
