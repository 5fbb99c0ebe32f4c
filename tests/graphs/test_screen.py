"""The screened search against all distances in double precision."""

import numpy as np
import pytest

from eigensieve.graphs.screen import gram_neighbours, screened_neighbours


def all_distances(X: np.ndarray) -> np.ndarray:
    distances = np.linalg.norm(X[:, None, :].astype(np.float64) - X[None, :, :], axis=2)
    np.fill_diagonal(distances, np.inf)
    return distances


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("search", [screened_neighbours, gram_neighbours])
@pytest.mark.parametrize("shape", [(120, 30), (700, 25), (40, 300), (9, 20)])
def test_equals_the_search_through_all_pairs(shape: tuple[int, int], dtype: type, search) -> None:  # type: ignore[no-untyped-def]
    X = np.random.default_rng(0).standard_normal(shape).astype(dtype)
    neighbours, distances = search(X, 5)
    expected = all_distances(X)
    np.testing.assert_array_equal(neighbours, np.argsort(expected, axis=1, kind="stable")[:, :5])
    np.testing.assert_allclose(distances, np.sort(expected, axis=1)[:, :5], rtol=1e-12)


def test_differences_far_below_single_precision_are_seen() -> None:
    """Samples that a screen in single precision cannot tell apart are searched again."""
    rng = np.random.default_rng(1)
    X = np.repeat(rng.standard_normal((3, 20)), 30, axis=0) + 1e-9 * rng.standard_normal((90, 20))
    neighbours, distances = screened_neighbours(X, 4)
    expected = all_distances(X)
    np.testing.assert_allclose(distances, np.sort(expected, axis=1)[:, :4], rtol=1e-5)
    assert (np.take_along_axis(expected, neighbours, axis=1) <= np.sort(expected, axis=1)[:, 3:4] * (1 + 1e-5)).all()


def test_copies_come_in_order_of_position() -> None:
    X = np.random.default_rng(2).standard_normal((40, 20))
    X[[3, 8, 30]] = X[20]
    neighbours, distances = screened_neighbours(X, 3)
    assert list(neighbours[20]) == [3, 8, 30]
    assert list(neighbours[8]) == [3, 20, 30]
    np.testing.assert_array_equal(distances[20], 0.0)


def test_a_common_offset_and_a_constant_do_no_harm() -> None:
    X = np.random.default_rng(3).standard_normal((60, 20))
    np.testing.assert_array_equal(screened_neighbours(X + 1e7, 5)[0], screened_neighbours(X, 5)[0])
    neighbours, distances = screened_neighbours(np.ones((10, 20)), 2)
    np.testing.assert_array_equal(distances, 0.0)
    assert list(neighbours[0]) == [1, 2]


def test_equal_distances_come_in_order_of_position_where_a_partition_would_take_any() -> None:
    """Samples on a small grid: most distances stand several times, also at the edge of the neighbours."""
    X = np.random.default_rng(4).integers(0, 2, (150, 20)).astype(float)
    _, distances = gram_neighbours(X, 6)
    squared = np.rint(all_distances(X - X.mean(axis=0)) ** 2)
    order = np.argsort(np.rint(distances**2), axis=1, kind="stable")
    np.testing.assert_array_equal(np.rint(distances**2), np.sort(squared, axis=1)[:, :6])
    np.testing.assert_array_equal(order, np.arange(6)[None, :].repeat(150, axis=0))
    from eigensieve.graphs.screen import _smallest_first

    np.testing.assert_array_equal(_smallest_first(squared, 6), np.argsort(squared, axis=1, kind="stable")[:, :6])
