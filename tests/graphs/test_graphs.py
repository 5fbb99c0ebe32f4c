"""Sample graphs: neighbours, weights, checks of given graphs, the normalised spectrum."""

import sys
from types import SimpleNamespace

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.sparse.csgraph import connected_components

from eigensieve.graphs import check_graph, degrees, knn_graph, leading_eigenvectors, local_graph, nearest
from reference import sieve as sieve_reference
from reference import trace_ratio as reference
from support.backends import IN_MEMORY, repeated


@pytest.fixture
def X():
    return np.random.default_rng(0).standard_normal((60, 25))


@pytest.mark.parametrize("backend", IN_MEMORY)
@pytest.mark.parametrize("n_features", [3, 25])
def test_heat_graph_equals_the_transcription(X, backend, n_features):
    X = X[:, :n_features]
    graph = knn_graph(IN_MEMORY[backend](X), 4)
    np.testing.assert_allclose(graph.toarray(), reference.heat_graph(X, 4), atol=1e-5)
    fixed = knn_graph(IN_MEMORY[backend](X), 4, bandwidth=7.0)
    np.testing.assert_allclose(fixed.toarray(), reference.heat_graph(X, 4, 7.0), atol=1e-5)


def test_binary_graph_is_symmetric_sparse_and_without_loops(X):
    graph = knn_graph(X, 5, bandwidth=None)
    assert sp.issparse(graph) and graph.format == "csr"
    assert set(graph.data) == {1.0}
    assert abs(graph - graph.T).max() == 0
    assert (graph.diagonal() == 0).all()
    assert (degrees(graph) >= 5).all() and graph.nnz <= 2 * 5 * 60


@pytest.mark.parametrize(("n_neighbors", "n_around"), [(1, 1), (5, 10), (59, 100)])
def test_local_graph_equals_the_transcription(X, n_neighbors, n_around):
    X[:20] *= 0.1  # far denser than the others
    graph = local_graph(X, n_neighbors, n_around)
    np.testing.assert_array_equal(graph.toarray(), sieve_reference.local_neighbours(X, n_neighbors, n_around))
    assert graph.format == "csr" and (graph.diagonal() == 0).all()


def test_local_graph_does_not_depend_on_where_and_how_large_the_points_are(X):
    expected = local_graph(X, 5).toarray()
    for moved in (X + 1e6, 1e-9 * X, 1e9 * X):
        np.testing.assert_array_equal(local_graph(moved, 5).toarray(), expected)


def test_local_graph_makes_samples_in_sparse_surroundings_neighbours_of_others():
    """By plain distance all choose the dense centre. Relative distances spread the choice."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((200, 50)) * rng.uniform(0.2, 1.0, (200, 1))
    plain, local = degrees(knn_graph(X, 5, bandwidth=None)), degrees(local_graph(X, 5))
    assert local.max() < 0.5 * plain.max()


@pytest.mark.parametrize("n_distinct", [1, 2, 12])
def test_local_graph_of_exact_copies_joins_copies(n_distinct):
    X = np.random.default_rng(0).standard_normal((n_distinct, 4))[np.arange(36) % n_distinct]
    rows, columns = local_graph(X, 2).nonzero()
    np.testing.assert_array_equal(X[rows], X[columns])


class FakeDescent:
    """Answers as pynndescent does, without its minute of compilation: itself first, -1 for nothing found.

    The real one is run, and compared with exact neighbours, by benchmarks/trace_ratio_large.py.
    """

    def __init__(self, X, n_neighbors, metric, random_state):
        assert metric == "euclidean"
        distances = np.linalg.norm(X[:, None, :] - X[None, :, :], axis=2)
        nearest = np.argsort(distances, axis=1, kind="stable")[:, :n_neighbors]
        found = np.take_along_axis(distances, nearest, axis=1)
        nearest[0, 5:], found[0, 5:] = -1, np.inf
        self.neighbor_graph = nearest, found


def test_approximate_neighbours_leave_out_oneself_and_what_was_not_found(X, monkeypatch):
    monkeypatch.setitem(sys.modules, "pynndescent", SimpleNamespace(NNDescent=FakeDescent))
    X = np.vstack([X, X[5:6], X[5:6]])  # copies: the first sample of distance zero is not always oneself
    exact = knn_graph(X, 5, bandwidth=None, method="exact")
    approximate = knn_graph(X, 5, bandwidth=None, method="approximate")
    assert (approximate.diagonal() == 0).all()
    assert abs(exact - approximate).sum() <= 2  # the one edge that was not found
    assert np.isfinite(knn_graph(X, 5, method="approximate").data).all()


def test_auto_is_approximate_above_the_limit_only(X, monkeypatch):
    asked = []
    monkeypatch.setattr(nearest, "EXACT_LIMIT", 59)
    monkeypatch.setattr(
        nearest,
        "_approximate_neighbours",
        lambda X, k, random_state: asked.append(k) or nearest._exact_neighbours(X, k),
    )
    monkeypatch.setattr(nearest, "find_spec", lambda name: object())
    knn_graph(X, 5)
    assert asked == [5]
    knn_graph(X[:59], 5)
    assert asked == [5]


def test_auto_without_pynndescent_warns_and_stays_exact(X, monkeypatch):
    monkeypatch.setattr(nearest, "EXACT_LIMIT", 10)
    monkeypatch.setattr(nearest, "find_spec", lambda name: None)
    with pytest.warns(UserWarning, match=r"eigensieve\[neighbors\]"):
        graph = knn_graph(X, 5)
    assert abs(graph - knn_graph(X, 5, method="exact")).max() == 0


def test_approximate_without_pynndescent_names_the_extra(X, monkeypatch):
    monkeypatch.setitem(sys.modules, "pynndescent", None)
    with pytest.raises(ImportError, match=r"eigensieve\[neighbors\]"):
        knn_graph(X, 5, method="approximate")


def test_copies_of_one_sample_get_full_weight():
    graph = knn_graph(np.zeros((8, 3)), 2)
    assert set(graph.data) == {1.0}


def test_too_many_neighbours_and_vanishing_bandwidth_are_refused(X):
    with pytest.raises(ValueError, match=r"'n_neighbors' parameter of knn_graph must be smaller.*60 samples"):
        knn_graph(X, 60)
    with pytest.raises(ValueError, match="'bandwidth' parameter"):
        knn_graph(X, 5, bandwidth=1e-9)


@pytest.mark.parametrize(
    ("graph", "message"),
    [
        (np.ones((3, 4)), "one row and one column per sample"),
        (np.array([[0, 1.0, 0], [0, 0, 0], [0, 0, 0]]), "must be symmetric"),
        (-np.ones((3, 3)), "non-negative"),
        (np.full((3, 3), np.nan), "finite"),
        (np.zeros((3, 3)), "at least one edge"),
        ("graph", "matrix of numbers"),
    ],
)
def test_bad_graphs_are_refused_by_name(graph, message):
    with pytest.raises(ValueError, match=f"The 'within' graph must .*{message}|{message}"):
        check_graph(graph, 3, name="within")


@pytest.mark.parametrize("kind", [np.asarray, sp.csr_matrix, sp.csc_array, sp.coo_matrix, sp.lil_matrix])
def test_good_graphs_of_any_kind_are_taken(kind):
    A = np.array([[0, 2.0, 0], [2.0, 0, 0], [0, 0, 1.0]])
    np.testing.assert_array_equal(check_graph(kind(A), 3).toarray(), A)


@pytest.mark.parametrize("kind", [sp.csr_matrix, sp.csr_array, sp.csc_array])
def test_a_graph_with_repeated_edges_is_summed_and_left_alone(kind):
    A = np.array([[0, 2.0, 0], [2.0, 0, 3.0], [0, 3.0, 1.0]])
    given = repeated(kind(A))
    before = [array.copy() for array in (given.data, given.indices, given.indptr)]
    found = check_graph(given, 3)
    np.testing.assert_array_equal(found.toarray(), A)
    assert found.nnz == 5
    for array, old in zip((given.data, given.indices, given.indptr), before, strict=True):
        np.testing.assert_array_equal(array, old)


@pytest.mark.parametrize("n_samples", [40, 300])
def test_leading_eigenvectors_equal_the_dense_ones(n_samples):
    points = np.random.default_rng(2).standard_normal((n_samples, 6))
    graph = knn_graph(points, 5)
    values, vectors = leading_eigenvectors(graph, 4, smoothing=0.0, start=points)
    d = graph.toarray().sum(axis=1)
    N = graph.toarray() / np.sqrt(np.outer(d, d))
    dense = np.linalg.eigvalsh(N)[::-1]
    np.testing.assert_allclose(values, dense[1:5], atol=1e-8)
    np.testing.assert_allclose(N @ vectors, vectors * values, atol=1e-6)
    np.testing.assert_allclose(vectors.T @ vectors, np.eye(4), atol=1e-10)
    np.testing.assert_allclose(np.sqrt(d) @ vectors, 0, atol=1e-8)
    again = leading_eigenvectors(graph, 4, smoothing=0.0, start=points)[1]
    np.testing.assert_array_equal(vectors, again)


def test_components_are_told_apart_by_eigenvectors_of_value_one():
    rng = np.random.default_rng(3)
    X = np.vstack([rng.standard_normal((50, 3)) + 100 * c for c in range(3)])
    graph = knn_graph(X, 5)
    assert connected_components(graph)[0] == 3
    values, vectors = leading_eigenvectors(graph, 3, smoothing=0.0, start=X)
    np.testing.assert_allclose(values[:2], 1.0, atol=1e-10)
    assert values[2] < 1 - 1e-4
    scaled = vectors[:, :2] / np.sqrt(degrees(graph))[:, None]
    for c in range(3):
        assert np.ptp(scaled[50 * c : 50 * c + 50], axis=0).max() < 1e-6


@pytest.mark.parametrize("n_samples", [90, 420])
def test_smoothing_mixes_in_the_complete_graph(n_samples):
    points = np.random.default_rng(2).standard_normal((n_samples, 6))
    graph = knn_graph(points, 5)
    values, vectors = leading_eigenvectors(graph, 4, smoothing=0.3, start=points)
    W = graph.toarray()
    c = 0.3 * W.sum(axis=1).mean()
    d = W.sum(axis=1) + c
    N = (W + c / n_samples) / np.sqrt(np.outer(d, d))
    np.testing.assert_allclose(values, np.linalg.eigvalsh(N)[::-1][1:5], atol=1e-6)
    np.testing.assert_allclose(N @ vectors, vectors * values, atol=1e-3)


def test_lonely_samples_are_held_by_smoothing():
    A = sp.csr_array(np.array([[0, 1.0, 0], [1.0, 0, 0], [0, 0, 0]]))
    values, vectors = leading_eigenvectors(A, 2, smoothing=0.3, start=np.eye(3))
    assert np.isfinite(vectors).all() and values[0] < 1


@pytest.mark.parametrize("n_features", [3, 25])
@pytest.mark.parametrize("storage", [np.asarray, sp.csr_array])
def test_a_large_offset_changes_no_neighbour(n_features, storage):
    """Distances do not depend on it; squares of 1e8 leave no digit of them."""
    near = np.round(np.random.default_rng(3).standard_normal((8, n_features)), 3)
    graph = knn_graph(storage(near + 1e8), 5)
    np.testing.assert_allclose(graph.toarray(), reference.heat_graph(near, 5), atol=1e-5)
