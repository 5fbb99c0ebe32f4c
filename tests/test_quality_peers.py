"""The peers of the benchmark of selectors, against naive forms of their formulas."""

from pathlib import Path

import numpy as np
import pytest
from scipy.linalg import eigh
from scipy.spatial.distance import cdist
from scipy.stats import kstest

ROOT = Path(__file__).parents[1]


@pytest.fixture(autouse=True)
def _benchmarks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(ROOT))


def _groups(n: int = 60, features: int = 40, informative: int = 6) -> tuple[np.ndarray, np.ndarray]:
    """Two groups that differ in the first features."""
    rng = np.random.default_rng(0)
    y = np.arange(n) % 2
    X = rng.standard_normal((n, features))
    X[:, :informative] += 4.0 * y[:, None]
    return X - X.mean(axis=0), y


def test_greedy_columns_rebuild_most_at_every_step() -> None:
    from benchmarks.quality.peers import greedy_columns

    A = np.random.default_rng(1).standard_normal((12, 8)) @ np.diag(np.arange(1.0, 9.0))
    A -= A.mean(axis=0)
    chosen: list[int] = []
    for _ in range(5):
        left = {j: _not_rebuilt(A, [*chosen, j]) for j in range(8) if j not in chosen}
        chosen.append(min(left, key=left.__getitem__))
    np.testing.assert_array_equal(greedy_columns(A + 3.0, 2, 5, 0, None), chosen)


def _not_rebuilt(A: np.ndarray, columns: list[int]) -> float:
    Q = np.linalg.qr(A[:, columns])[0]
    return float(np.sum((A - Q @ (Q.T @ A)) ** 2))


def test_greedy_columns_go_on_when_all_is_rebuilt() -> None:
    from benchmarks.quality.peers import greedy_columns

    A = np.random.default_rng(2).standard_normal((5, 20))
    A[:, 7] = 1.0
    order = greedy_columns(A, 2, 20, 0, None)
    assert sorted(order) == list(range(20))
    assert order[-1] == 7


def test_leverage_is_that_of_the_leading_singular_vectors() -> None:
    from benchmarks.quality.peers import leverage

    A = np.random.default_rng(3).standard_normal((10, 15))
    centred = A - A.mean(axis=0)
    vectors = eigh(centred.T @ centred)[1][:, -3:]
    np.testing.assert_array_equal(leverage(A, 3, 15, 0, None), np.argsort(-np.sum(vectors**2, axis=1)))


def test_principal_features_are_one_of_each_group_of_copies() -> None:
    from benchmarks.quality.peers import principal_features

    rng = np.random.default_rng(4)
    X = np.repeat(rng.standard_normal((30, 3)), 4, axis=1) + 1e-3 * rng.standard_normal((30, 12))
    assert sorted(principal_features(X, 2, 3, 0, None) // 4) == [0, 1, 2]
    assert len(set(principal_features(X, 2, 12, 0, None))) == 12


def test_facility_location_is_the_plain_greedy_choice() -> None:
    from benchmarks.quality.peers import facility_location

    A = np.random.default_rng(5).standard_normal((9, 11))
    A -= A.mean(axis=0)
    likeness = np.abs(A.T @ A)
    chosen: list[int] = []
    for _ in range(6):
        covered = {j: likeness[[*chosen, j]].max(axis=0).sum() for j in range(11) if j not in chosen}
        chosen.append(max(covered, key=covered.__getitem__))
    np.testing.assert_array_equal(facility_location(A, 2, 6, 0, None), chosen)


def test_farthest_points_are_farthest() -> None:
    from benchmarks.quality.peers import farthest_points

    A = np.random.default_rng(6).standard_normal((7, 12))
    A -= A.mean(axis=0)
    gaps = cdist(A.T, A.T)
    chosen = [int(np.argmax(np.linalg.norm(A, axis=0)))]
    while len(chosen) < 12:
        nearest = gaps[:, chosen].min(axis=1)
        nearest[chosen] = -1.0
        chosen.append(int(np.argmax(nearest)))
    np.testing.assert_array_equal(farthest_points(A, 2, 12, 0, None), chosen)


def test_regression_through_samples_is_that_through_features() -> None:
    from benchmarks.quality.peers.sparse import _ridge

    rng = np.random.default_rng(7)
    A, F = rng.standard_normal((6, 9)), rng.standard_normal((6, 2))
    weights, lengths = rng.random(6) + 0.5, rng.random(9) + 0.5
    rows, coefficients = _ridge(A, F, weights, lengths, 0.7)
    want = np.linalg.solve(A.T @ (weights[:, None] * A) + 0.7 * np.diag(1 / lengths), A.T @ (weights[:, None] * F))
    np.testing.assert_allclose(coefficients, want)
    np.testing.assert_allclose(rows @ F, A @ want)


def test_inverse_iteration_finds_the_least_eigenvectors() -> None:
    from benchmarks.quality.peers.sparse import _least_eigenvectors, _local_scatter

    rng = np.random.default_rng(8)
    A, inverse = rng.standard_normal((20, 6)), np.array([0.1, 0.2, 1.0, 2.0, 8.0, 16.0])
    L = _local_scatter(A, 1.0)
    np.testing.assert_allclose(L @ np.ones(20), 0.0, atol=1e-12)
    W = _least_eigenvectors(A, L, 0.5, inverse, rng.standard_normal((6, 2)), steps=500)
    want = eigh(A.T @ L @ A + 0.5 * np.diag(1 / inverse))[1][:, :2]
    np.testing.assert_allclose(W @ W.T, want @ want.T, atol=1e-6)


def test_distances_from_normal_are_scipys() -> None:
    from benchmarks.quality.peers.influence import ks_distances

    Z = np.random.default_rng(9).standard_exponential((40, 3))
    want = [np.sqrt(40) * kstest(column, "norm").statistic for column in Z.T]
    np.testing.assert_allclose(ks_distances(Z), want)


@pytest.mark.parametrize(("name", "least"), [("ndfs", 4), ("rufs", 4), ("influential", 6), ("greedy_columns", 1)])
def test_features_that_differ_between_groups_come_first(name: str, least: int) -> None:
    """Those that avoid copies need not take all."""
    from benchmarks.quality import peers

    X, _ = _groups()
    order = getattr(peers, name)(X, 2, 6, 0, None)
    assert order[0] < 6
    assert np.sum(np.asarray(order[:6]) < 6) >= least


@pytest.mark.parametrize("name", ["concrete_autoencoder", "ls_cae", "dufs"])
def test_deep_peers_order_all_features(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("torch")
    from benchmarks.quality.peers import deep

    monkeypatch.setattr(deep, "_EPOCHS", 3)
    monkeypatch.setattr(deep, "_TRIES", 2)
    monkeypatch.setattr(deep, "_GATE_EPOCHS", 5)
    X, _ = _groups()
    assert sorted(getattr(deep, name)(X, 2, 4, 0, None)) == list(range(40))
