"""Labels: the span of the class indicators, and the papers' class blocks."""

import numpy as np
import pytest

from eigensieve import QAlphaSelector, check_symmetric_operator
from eigensieve.data import as_data
from eigensieve.operators import StandardAffinity
from eigensieve.qalpha import read_labels
from eigensieve.qalpha.class_blocks import BlockGram, _arrange
from eigensieve.qalpha.knowledge.labels import class_span
from reference import supervised as naive


def labelled(seed=0, n_classes=3, q=45, n=60):
    rng = np.random.default_rng(seed)
    y = np.arange(q) % n_classes
    X = rng.standard_normal((q, n))
    X[:, :8] += 2.0 * rng.standard_normal((n_classes, 8))[y]
    return X, y


@pytest.mark.parametrize("n_classes", [2, 3, 7])
def test_span_is_the_leading_eigenvector_of_the_dense_matrix(n_classes):
    X, y = labelled(n_classes=n_classes)
    weights, value = naive.span_weights(X, y)
    model = QAlphaSelector(1, solver_options={"max_iter": 1000, "tol": 1e-9}).fit(X, y)
    np.testing.assert_allclose(model.weights_, weights, atol=1e-7)
    assert model.objective_ == pytest.approx(value, rel=1e-10)
    assert model.n_clusters_ == n_classes - 1


@pytest.mark.parametrize("solver", ["basic", "power", "ritz"])
def test_all_solvers_agree_on_a_fixed_embedding(solver):
    X, y = labelled()
    fast = QAlphaSelector(1, solver_options={"max_iter": 1000, "tol": 1e-8}).fit(X, y)
    slow = QAlphaSelector(1, solver_options={"tol": 1e-8}, solver=solver).fit(X, y)
    np.testing.assert_allclose(slow.weights_, fast.weights_, atol=1e-6)


def test_names_and_order_of_classes_do_not_matter():
    X, y = labelled()
    weights = QAlphaSelector(1).fit(X, y).weights_
    for other in (
        np.array(["b", "c", "a"])[y],
        10 * y - 5,
        y.astype(float),
        np.array(["x", "yy", "z"], dtype=object)[y],
    ):
        np.testing.assert_allclose(QAlphaSelector(1).fit(X, other).weights_, weights, atol=1e-9)


def test_two_classes_of_any_size_span_the_same_kind_of_direction():
    for small in (2, 10, 50):
        codes = (np.arange(100) < small).astype(int)
        Q = class_span(codes)
        assert Q.shape == (100, 1)
        between = small * (100 - small) / 100
        assert abs(Q[0, 0] * np.sqrt(between) - (1 - small / 100) * np.sign(Q[0, 0])) < 1e-12


def test_explained_share_is_the_anova_r_squared():
    X, y = labelled()
    Q = class_span(y)
    M = naive.unit_rows(X)
    explained = np.sum((M @ Q) ** 2, axis=1)
    between = sum(np.sum(y == c) * (X[y == c].mean(0) - X.mean(0)) ** 2 for c in np.unique(y))
    np.testing.assert_allclose(explained, between / np.sum((X - X.mean(0)) ** 2, axis=0), atol=1e-12)


def test_unlabelled_marks_in_arrays_of_objects():
    labels = read_labels(np.array(["a", -1, "b", "a"], dtype=object), 4, "Owner")
    assert labels.codes.tolist() == [0, -1, 1, 0]
    assert labels.classes.tolist() == ["a", "b"]
    assert not labels.complete


@pytest.mark.parametrize("gap", [None, float("nan")])
def test_gaps_in_a_list_of_words_are_no_class(gap):
    labels = read_labels(["a", gap, "b", "a"], 4, "Owner")
    assert labels.codes.tolist() == [0, -1, 1, 0]


def test_block_operator_is_the_dense_matrix():
    X, y = labelled(q=24, n=15)
    M = naive.unit_rows(X, center=False)
    affinity = StandardAffinity(as_data(X).standardized("unit"))
    Q, rows, columns, signs = _arrange(y)
    blocks = {}
    for g in range(3):
        for h in range(3):
            here = rows[np.argmax(y == g)] & columns[np.argmax(y == h)]
            blocks[g, h] = Q[np.ix_(y == h, here)]
    dense = naive.block_gram(M, y, blocks, 0.5)
    check_symmetric_operator(BlockGram(affinity, Q, rows, signs), dense)


def test_blocks_match_the_transcription():
    rng = np.random.default_rng(0)
    y = np.repeat([0, 1], 20)
    X = np.abs(rng.standard_normal((40, 30)))
    X[:20, :4] += 4.0
    X[20:, 4:8] += 4.0
    weights, value = naive.block_weights(X, y)
    model = QAlphaSelector(1, criterion="blocks", solver_options={"max_iter": 500, "tol": 1e-10}).fit(X, y)
    np.testing.assert_allclose(model.weights_, weights, atol=1e-5)
    assert model.objective_ == pytest.approx(value, rel=1e-6)


def test_ignore_is_the_unsupervised_answer():
    X, y = labelled()
    ignored = QAlphaSelector(1, supervision="ignore").fit(X, y)
    np.testing.assert_array_equal(ignored.weights_, QAlphaSelector(1).fit(X).weights_)
    assert np.abs(ignored.weights_ - QAlphaSelector(1).fit(X, y).weights_).max() > 1e-3
