"""Pairs of samples that belong apart or together: G - lambda B, never formed."""

import numpy as np
import pytest
import scipy.sparse as sp

from eigensieve import QAlphaSelector
from eigensieve.data import as_data
from eigensieve.datasets import make_two_solutions
from eigensieve.qalpha import PairPenalty, read_pairs
from eigensieve.qalpha.knowledge.checks import Pairs
from reference import pairs as naive
from reference.supervised import leading, unit_rows


def second_solution_pairs(data, n_pairs, seed):
    rng = np.random.default_rng(seed)
    pairs = rng.integers(0, 150, (6 * n_pairs, 2))
    pairs = pairs[pairs[:, 0] != pairs[:, 1]]
    same = data.y[pairs[:, 0], 1] == data.y[pairs[:, 1], 1]
    return pairs[~same][:n_pairs], pairs[same][:n_pairs]


@pytest.mark.parametrize("backend", [np.asarray, sp.csr_array])
def test_the_penalty_is_the_dense_matrix(backend):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((20, 50))
    cannot, must = np.array([[0, 3], [1, 7], [2, 19]]), np.array([[4, 5], [6, 8]])
    dense = naive.pair_matrix(unit_rows(X), cannot, must, 0.7)
    scale = np.linspace(0.5, 2, 50)
    for factor in (None, scale):
        penalty = PairPenalty(as_data(backend(X)).standardized("center"), Pairs(cannot, must), 0.7, factor)
        expected = dense if factor is None else dense * np.outer(scale, scale)
        w = rng.standard_normal(50)
        np.testing.assert_allclose(penalty.product(w), expected @ w, atol=1e-10)


def test_weights_are_the_leading_eigenvector_of_g_minus_lambda_b():
    data = make_two_solutions(random_state=0)
    cannot, must = second_solution_pairs(data, 60, 0)
    pairs = read_pairs(cannot, must, 150, "Owner")
    model = QAlphaSelector(1, n_clusters=2, solver_options={"max_iter": 2000, "tol": 1e-9}).fit(
        data.X, cannot_link=cannot, must_link=must
    )
    M, Q = unit_rows(data.X), model.embedding_
    G = (M @ M.T) * (M @ Q @ Q.T @ M.T) - naive.pair_matrix(M, pairs.cannot, pairs.must, 2.0)
    weights, value = leading(G)
    np.testing.assert_allclose(model.weights_, weights, atol=1e-6)
    assert model.objective_ == pytest.approx(value, rel=1e-8)


@pytest.mark.parametrize("solver", ["basic", "power"])
def test_the_papers_solvers_subtract_the_same(solver):
    data = make_two_solutions(random_state=0)
    cannot, _ = second_solution_pairs(data, 60, 0)
    fast = QAlphaSelector(1, n_clusters=2, solver_options={"max_iter": 2000, "tol": 1e-6}).fit(
        data.X, cannot_link=cannot
    )
    slow = QAlphaSelector(1, n_clusters=2, solver_options={"max_iter": 2000, "tol": 1e-4}, solver=solver).fit(
        data.X, cannot_link=cannot
    )
    assert slow.objective_ == pytest.approx(fast.objective_, rel=1e-4)


def test_pairs_steer_to_the_solution_they_are_about():
    served = {"none": 0.0, "cannot": 0.0, "both": 0.0}
    for seed in range(3):
        data = make_two_solutions(random_state=seed)
        cannot, must = second_solution_pairs(data, 300, seed)
        known = {"none": {}, "cannot": {"cannot_link": cannot}, "both": {"cannot_link": cannot, "must_link": must}}
        for name, pairs in known.items():
            served[name] += data.solutions[QAlphaSelector(6).fit(data.X, **pairs).support_, 1].mean() / 3
    assert served["none"] < 0.6
    assert served["cannot"] > 0.8
    assert served["both"] > 0.8


def test_order_direction_and_repetition_of_pairs_do_not_matter():
    data = make_two_solutions(random_state=1)
    cannot, _ = second_solution_pairs(data, 40, 0)
    weights = QAlphaSelector(1).fit(data.X, cannot_link=cannot).weights_
    again = np.vstack([cannot[::-1, ::-1], cannot])
    np.testing.assert_allclose(QAlphaSelector(1).fit(data.X, cannot_link=again).weights_, weights, atol=1e-10)


def test_pairs_without_strength_change_nothing():
    data = make_two_solutions(random_state=1)
    cannot, _ = second_solution_pairs(data, 40, 0)
    plain = QAlphaSelector(1).fit(data.X).weights_
    weak = QAlphaSelector(1, strength=1e-12).fit(data.X, cannot_link=cannot).weights_
    np.testing.assert_allclose(weak, plain, atol=1e-5)


def test_a_million_pairs_need_no_more_than_a_number_each():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((3000, 12))
    X[:1500, :5] += 2.0
    pairs = np.column_stack([rng.integers(0, 1500, 1_000_000), rng.integers(1500, 3000, 1_000_000)])
    model = QAlphaSelector(5, strength=0.025).fit(X, cannot_link=pairs)
    assert model.get_support(indices=True).tolist() == [0, 1, 2, 3, 4]


@pytest.mark.parametrize(
    ("pairs", "match"),
    [
        ({"cannot_link": [[0, 150]]}, "'cannot_link' parameter of QAlphaSelector.fit must hold indices from 0 to 149"),
        ({"must_link": [[-1, 3]]}, "indices from -1 to 3 instead"),
        ({"cannot_link": [[4, 4]]}, "sample 4 with itself"),
        ({"cannot_link": [0, 1]}, r"shape \(n_pairs, 2\)"),
        ({"cannot_link": [[0.5, 1.0]]}, "integer indices"),
        ({"cannot_link": [], "must_link": []}, "are empty"),
        ({"cannot_link": [[0, 1]], "must_link": [[1, 0]]}, "contradict each other: samples 0 and 1"),
        ({"cannot_link": [[0, 2]], "must_link": [[0, 1], [1, 2]]}, "directly or through others"),
    ],
)
def test_bad_pairs(pairs, match):
    with pytest.raises(ValueError, match=match):
        QAlphaSelector(1).fit(make_two_solutions(random_state=0).X, **pairs)
