"""A few labels: the embedding is anchored on the labelled rows and free elsewhere."""

import numpy as np
import pytest

from eigensieve import QAlphaSelector
from eigensieve.datasets import make_two_solutions
from eigensieve.qalpha.knowledge.anchored import ANCHOR
from reference import supervised as naive


def few(n_labels, seed):
    data = make_two_solutions(random_state=seed)
    y = np.full(150, -1)
    for cluster in range(3):
        members = np.flatnonzero(data.y[:, 1] == cluster)
        chosen = np.random.default_rng(seed).choice(members, n_labels // 3, replace=False)
        y[chosen] = cluster
    return data, y


def test_the_embedding_is_the_indicators_on_labelled_rows():
    data, y = few(30, 0)
    model = QAlphaSelector(1, solver_options={"tol": 1e-6}).fit(data.X, y)
    Q = model.embedding_
    share = ANCHOR + (1 - ANCHOR) * 0.2
    np.testing.assert_allclose(Q.T @ Q, np.eye(2), atol=1e-10)
    known = y != -1
    C = naive.centred_indicators(y[known])
    np.testing.assert_allclose(C @ (C.T @ Q[known]), Q[known], atol=1e-10)
    assert np.sum(Q[known] ** 2) == pytest.approx(2 * share)


def test_the_result_is_a_local_maximum_of_the_dense_criterion():
    data, y = few(30, 1)
    model = QAlphaSelector(1, solver_options={"max_iter": 1000, "tol": 1e-7}).fit(data.X, y)
    known, share = y != -1, ANCHOR + (1 - ANCHOR) * 0.2
    C = naive.centred_indicators(y[known])
    turn = (C.T @ model.embedding_[known]) / np.sqrt(share)  # the result is rotated to its eigenvectors
    U = model.embedding_[~known] @ turn.T / np.sqrt(1 - share)
    value, Q = naive.anchored_value(data.X, y, model.weights_, U, share)
    assert model.objective_ == pytest.approx(value, rel=1e-6)
    M = naive.unit_rows(data.X)
    G = (M @ M.T) * (M @ Q @ Q.T @ M.T)
    assert naive.leading(G)[1] == pytest.approx(value, rel=1e-5)
    rng = np.random.default_rng(0)
    for _ in range(20):
        moved = np.linalg.qr(U + 1e-2 * rng.standard_normal(U.shape))[0]
        left, _, right = np.linalg.svd(moved.T @ U)
        assert naive.anchored_value(data.X, y, model.weights_, moved @ left @ right, share)[0] <= value * (1 + 1e-7)


def test_the_criterion_never_falls():
    data, y = few(15, 2)
    history = QAlphaSelector(1, solver_options={"tol": 1e-6}).fit(data.X, y).objective_history_
    assert (np.diff(history) >= 0).all()


def test_fifteen_labels_of_150_steer_to_the_labelled_solution():
    found = 0
    for seed in range(5):
        data, y = few(15, seed)
        top = QAlphaSelector(6).fit(data.X, y).support_
        found += data.solutions[top, 1].mean()
        assert data.solutions[QAlphaSelector(6).fit(data.X).support_, 1].mean() < 0.7
    assert found / 5 > 0.85


def test_all_but_one_label_is_close_to_all_labels():
    data = make_two_solutions(random_state=3)
    y = data.y[:, 1].copy()
    full = QAlphaSelector(1, solver_options={"tol": 1e-6}).fit(data.X, y).weights_
    y[0] = -1
    np.testing.assert_allclose(QAlphaSelector(1, solver_options={"tol": 1e-6}).fit(data.X, y).weights_, full, atol=0.05)


def test_one_label_a_class_is_enough():
    data, y = few(3, 4)
    assert np.isfinite(QAlphaSelector(6).fit(data.X, y).weights_).all()
