"""The scores of integration, against naive forms of their definitions."""

from pathlib import Path

import numpy as np
import pytest
from sklearn.linear_model import LinearRegression
from sklearn.metrics import normalized_mutual_info_score

ROOT = Path(__file__).parents[1]


@pytest.fixture(autouse=True)
def _benchmarks(monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("scanpy")
    monkeypatch.syspath_prepend(str(ROOT))


def test_variance_between_batches_is_that_of_regression_on_the_batches() -> None:
    from benchmarks.single_cell.atlas import explained_by_batches

    rng = np.random.default_rng(0)
    b = rng.integers(0, 3, 60)
    P = rng.standard_normal((60, 4)) * [4.0, 2.0, 1.0, 0.5] + b[:, None]
    ones = np.eye(3)[b]
    shares = [LinearRegression().fit(ones, column).score(ones, column) for column in P.T]
    assert explained_by_batches(P, b) == pytest.approx(np.average(shares, weights=P.var(axis=0)))


def test_neighbours_that_are_equally_far_weigh_the_same() -> None:
    from benchmarks.single_cell.atlas import lisi

    kinds = np.repeat([[0] * 45 + [1] * 45, [0] * 90, [0] * 60 + [1] * 30], 2, axis=0)
    found = lisi(np.ones(kinds.shape), kinds)
    np.testing.assert_allclose(found, np.repeat([2.0, 1.0, 1.0 / ((2 / 3) ** 2 + (1 / 3) ** 2)], 2))


def test_lisi_has_the_perplexity_asked_for() -> None:
    from benchmarks.single_cell.atlas import lisi

    distances = np.sort(np.random.default_rng(1).exponential(size=(5, 90)), axis=1)
    # Each neighbour is a kind of its own, so the index is that of the weights. Naive search of the width by a grid.
    found = lisi(distances, np.tile(np.arange(90), (5, 1)))
    for row, index in zip(distances, found, strict=True):
        widths = np.logspace(-4, 4, 40_001)
        weights = np.exp(-widths[:, None] * row**2)
        weights /= weights.sum(axis=1, keepdims=True)
        entropy = -np.sum(weights * np.log(np.maximum(weights, 1e-300)), axis=1)
        best = weights[np.abs(entropy - np.log(30)).argmin()]
        assert index == pytest.approx(1.0 / np.sum(best**2), rel=1e-3)


def test_the_share_of_the_largest_connected_part() -> None:
    from benchmarks.single_cell.atlas import graph_connectivity

    near = np.array([[1], [0], [3], [2], [5], [4]])
    assert graph_connectivity(near, np.array([0, 0, 0, 0, 1, 1])) == pytest.approx((0.5 + 1.0) / 2)


def test_the_statistic_is_that_of_anderson_and_darling() -> None:
    from benchmarks.single_cell.atlas import anderson_darling

    rng = np.random.default_rng(2)
    kinds = rng.integers(0, 3, (6, 30))
    members = kinds[:, :, None] == np.arange(3)
    members[:, ::7] = False  # values without sample
    for row, value in zip(members, anderson_darling(members), strict=True):
        assert value == pytest.approx(_plain(row))


def _plain(row: np.ndarray) -> float:
    row = row[row.any(axis=1)]
    n, total = row.sum(axis=0), len(row)
    value = 0.0
    for k in range(row.shape[1]):
        for j in range(1, total):
            value += (total * row[:j, k].sum() - j * n[k]) ** 2 / (j * (total - j)) / n[k]
    return value / total


def test_mixed_batches_have_even_p_values_and_parted_ones_none() -> None:
    from benchmarks.single_cell.atlas import cell_mixing, neighbours

    rng = np.random.default_rng(3)
    P, b = rng.standard_normal((200, 3)), np.arange(200) % 2
    assert cell_mixing(neighbours(P, 60)[1], b) == pytest.approx(0.5, abs=0.06)
    assert cell_mixing(neighbours(P + 50.0 * b[:, None], 60)[1], b) == 0.0


def test_balanced_nmi_does_not_see_how_many_cells_a_type_has() -> None:
    from benchmarks.single_cell.atlas import balanced_nmi

    rng = np.random.default_rng(4)
    y = np.repeat(np.arange(4), 25)
    found = np.where(rng.random(100) < 0.8, y, rng.integers(0, 4, 100))
    assert balanced_nmi(y, found) == pytest.approx(normalized_mutual_info_score(y, found))
    more = np.concatenate([np.arange(100), np.flatnonzero(y == 0), np.flatnonzero(y == 0)])
    assert balanced_nmi(y[more], found[more]) == pytest.approx(balanced_nmi(y, found))


def test_isolated_types_are_those_of_the_fewest_batches() -> None:
    from benchmarks.single_cell.atlas import isolated_f1, isolated_silhouette, isolated_types

    y, b = np.array([0, 0, 1, 1, 2, 2]), np.array([0, 1, 0, 1, 1, 1])
    assert isolated_types(y, b).tolist() == [2]
    assert isolated_f1(y, b, [np.array([0, 0, 0, 0, 0, 1]), np.array([0, 0, 0, 0, 0, 0])]) == pytest.approx(2 / 3)
    P = np.array([[0.0], [0.0], [0.0], [0.0], [9.0], [9.0]])
    assert isolated_silhouette(P, y, b) == pytest.approx(1.0)


def test_the_density_factor_is_even_on_a_circle_and_differs_beside_a_crowd() -> None:
    from benchmarks.single_cell.atlas import density_factor, density_kept

    angles = np.linspace(0, 2 * np.pi, 200, endpoint=False)
    circle = np.column_stack([np.cos(angles), np.sin(angles)])
    np.testing.assert_allclose(density_factor(circle), 1.0 / 1.1, rtol=1e-6)
    rng = np.random.default_rng(5)
    crowd = np.vstack([rng.standard_normal((150, 2)) * 0.1, [[3.0, 3.0]]])
    assert density_factor(crowd)[-1] > 5.0 > density_factor(crowd)[:-1].mean()
    b = np.zeros(200, dtype=int)
    assert density_kept(3.0 * circle, {0: circle}, b) == pytest.approx(1.0)


def test_unseen_cells_are_farther_away() -> None:
    from benchmarks.single_cell.atlas import unseen_apart

    reference = np.random.default_rng(6).standard_normal((50, 2))
    query = np.vstack([reference[:5], reference[:5] + 100.0])
    assert unseen_apart(reference, query, np.arange(10) >= 5) == 1.0
