"""The search for nearest neighbours against all distances in double precision."""

import numpy as np
import pytest
from sklearn.neighbors import NearestNeighbors

from eigensieve.graphs import nearest as module
from eigensieve.graphs import nearest_among
from eigensieve.graphs.nearest import nearest, smallest_first


@pytest.fixture(params=["few", "many"])
def search(request, monkeypatch):
    """`nearest`, once as few points are searched and once as many are, by compiled loops."""
    if request.param == "many":
        monkeypatch.setattr(module, "_COMPILED", 0)
    return nearest


def all_distances(X: np.ndarray) -> np.ndarray:
    distances = np.linalg.norm(X[:, None, :].astype(np.float64) - X[None, :, :], axis=2)
    np.fill_diagonal(distances, np.inf)
    return distances


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("shape", [(120, 30), (700, 25), (40, 300), (9, 20), (300, 2)])
def test_equals_the_search_through_all_pairs(shape: tuple[int, int], dtype: type, search) -> None:
    X = np.random.default_rng(0).standard_normal(shape).astype(dtype)
    neighbours, distances = search(X, X, 5)
    expected = all_distances(X)
    np.testing.assert_array_equal(neighbours, np.argsort(expected, axis=1, kind="stable")[:, :5])
    np.testing.assert_allclose(distances, np.sort(expected, axis=1)[:, :5], rtol=1e-12)


def test_other_points_are_searched_as_scikit_learn_does(search) -> None:
    rng = np.random.default_rng(5)
    points, targets = rng.standard_normal((600, 12)), rng.standard_normal((80, 12)) + 3.0
    expected = NearestNeighbors(n_neighbors=4, algorithm="brute").fit(targets).kneighbors(points)
    neighbours, distances = search(points, targets, 4)
    np.testing.assert_array_equal(neighbours, expected[1])
    np.testing.assert_allclose(distances, expected[0], rtol=1e-10)
    np.testing.assert_array_equal(nearest_among(points, targets, 4), expected[1])
    assert search(points, targets, 80)[0].shape == (600, 80)
    assert search(points[:0], targets, 4)[0].shape == (0, 4)


def test_divisors_divide_the_squared_distances(search) -> None:
    rng = np.random.default_rng(6)
    X, divisors = rng.standard_normal((300, 15)), rng.uniform(1e-3, 1e3, 300)
    expected = all_distances(X) / np.sqrt(divisors)
    neighbours, distances = search(X, X, 5, divisors)
    np.testing.assert_array_equal(neighbours, np.argsort(expected, axis=1)[:, :5])
    np.testing.assert_allclose(distances, np.sort(expected, axis=1)[:, :5], rtol=1e-12)


def test_differences_far_below_single_precision_are_seen(search) -> None:
    """Samples that a screen in single precision cannot tell apart are compared with all others."""
    rng = np.random.default_rng(1)
    X = np.repeat(rng.standard_normal((3, 20)), 30, axis=0) + 1e-9 * rng.standard_normal((90, 20))
    neighbours, distances = search(X, X, 4)
    expected = all_distances(X)
    np.testing.assert_allclose(distances, np.sort(expected, axis=1)[:, :4], rtol=1e-5)
    assert (np.take_along_axis(expected, neighbours, axis=1) <= np.sort(expected, axis=1)[:, 3:4] * (1 + 1e-5)).all()


def test_copies_come_in_order_of_position(search) -> None:
    X = np.random.default_rng(2).standard_normal((40, 20))
    X[[3, 8, 30]] = X[20]
    neighbours, distances = search(X, X, 3)
    assert list(neighbours[20]) == [3, 8, 30]
    assert list(neighbours[8]) == [3, 20, 30]
    np.testing.assert_array_equal(distances[20], 0.0)


def test_a_common_offset_a_large_scale_and_a_constant_do_no_harm(search) -> None:
    X = np.random.default_rng(3).standard_normal((60, 20))
    expected = search(X, X, 5)[0]
    for moved in (X + 1e7, 1e200 * X, 1e-200 * X):
        np.testing.assert_array_equal(search(moved, moved, 5)[0], expected)
    ones = np.ones((10, 20))
    neighbours, distances = search(ones, ones, 2)
    np.testing.assert_array_equal(distances, 0.0)
    assert list(neighbours[0]) == [1, 2]


def test_equal_distances_come_in_order_of_position_where_a_partition_would_take_any() -> None:
    """Samples on a small grid: most distances stand several times, also at the edge of the neighbours."""
    X = np.random.default_rng(4).integers(0, 2, (150, 20)).astype(float)
    squared = np.rint(all_distances(X) ** 2)
    np.testing.assert_array_equal(smallest_first(squared, 6), np.argsort(squared, axis=1, kind="stable")[:, :6])
