"""Classes that show in features only together, or in their spread, and data where labels alone are better."""

import numpy as np
import pytest

from eigensieve import SieveSelector
from eigensieve.data import as_data
from eigensieve.estimators import read_target
from eigensieve.sieve.interactions import Interactions, read_interactions
from reference import labelled as reference
from support.backends import FEW


def _placed(relevant: np.ndarray, n_noise: int, rng: np.random.Generator) -> tuple[np.ndarray, set[int]]:
    """Put relevant columns at random places among noise, so that ties by position gain nothing."""
    X = np.hstack([relevant, rng.standard_normal((len(relevant), n_noise))])
    places = rng.permutation(X.shape[1])
    mixed = np.empty_like(X)
    mixed[:, places] = X
    return mixed, set(places[: relevant.shape[1]].tolist())


def exclusive_or(seed: int = 0) -> tuple[np.ndarray, np.ndarray, set[int]]:
    rng = np.random.default_rng(seed)
    pair = rng.standard_normal((200, 2))
    X, where = _placed(pair, 48, rng)
    return X, (pair[:, 0] * pair[:, 1] > 0).astype(int), where


def test_products_follow_their_formula() -> None:
    X, y, _ = exclusive_or()
    X, y = X[:40, :6], y[:40]
    Z, T = reference.standardised(X), reference.class_basis(y)
    found = Interactions.of(X, T, y).products()
    expected = np.empty((6, 6))
    squares = reference.squares(Z)
    for i in range(6):
        for j in range(6):
            p = Z[:, i] * Z[:, j] if i != j else squares[:, i]
            different = sum(p[s] * p[t] * (T[s] @ T[t]) for s in range(40) for t in range(40) if s != t)
            expected[i, j] = different / np.sum((p - p.mean()) ** 2)
    np.testing.assert_allclose(found, expected, atol=1e-10)


@pytest.mark.parametrize("backend", ["dense", "csr", "dask-columns"])
def test_an_exclusive_or_is_found(backend: str) -> None:
    X, y, where = exclusive_or()
    found = SieveSelector(5).fit(FEW[backend](X), y)
    assert found.scored_by_ == "products"
    assert set(found.selection_order_[:2].tolist()) == where


def test_the_automatic_number_has_the_exclusive_or_and_little_else() -> None:
    X, y, where = exclusive_or()
    found = SieveSelector(random_state=0).fit(X, y)
    assert where <= set(found.selection_order_.tolist())
    assert found.support_.sum() <= 4
    assert all(found.p_values_[feature] <= 1 / 21 for feature in where)
    np.testing.assert_array_equal(found.support_, SieveSelector(random_state=0).fit(X, y).support_)


@pytest.mark.filterwarnings("ignore:SieveSelector found no feature")
@pytest.mark.parametrize(("fdr", "p_value"), [(0.1, 1 / 21), (0.02, 1 / 100), (0.001, 1 / 1000)])
def test_products_keep_to_the_false_discovery_rate(fdr: float, p_value: float) -> None:
    X, y, where = exclusive_or()
    found = SieveSelector(fdr=fdr, random_state=0).fit(X, y)
    pair = sorted(where)
    np.testing.assert_allclose(found.p_values_[pair], p_value)
    np.testing.assert_array_equal(found.support_[pair], p_value <= fdr / 2)


def test_a_difference_in_spread_is_found() -> None:
    rng = np.random.default_rng(1)
    y = np.arange(200) % 2
    X, where = _placed(rng.standard_normal((200, 3)) * np.where(y, 3.0, 1.0)[:, None], 47, rng)
    found = SieveSelector(3).fit(X, y)
    assert found.scored_by_ == "products"
    assert set(found.selection_order_.tolist()) == where


def test_words_that_show_one_by_one_are_picked_by_labels() -> None:
    rng = np.random.default_rng(3)
    y = np.arange(120) % 3
    rates = np.full((3, 150), 0.05)
    rates[y[:30] % 3, np.arange(30)] = 1.5
    X = rng.poisson(rates[y]).astype(float)
    varying = np.flatnonzero(X.std(axis=0) > 0)
    found = SieveSelector(10).fit(X, y)
    Z = reference.standardised(X[:, varying])
    expected = reference.pick(Z, reference.class_basis(y), reference.class_columns(y), 10)
    assert found.scored_by_ == "labels"
    np.testing.assert_array_equal(found.selection_order_, varying[expected])


def test_noise_is_left_to_the_labels() -> None:
    for seed in range(5):
        rng = np.random.default_rng(seed)
        assert SieveSelector(5).fit(rng.standard_normal((80, 40)), np.arange(80) % 2).scored_by_ == "labels"


def test_data_too_wide_for_all_pairs_are_left_to_the_labels() -> None:
    X, y, _ = exclusive_or()
    wide = np.hstack([X, np.random.default_rng(0).standard_normal((200, 900))])
    T = read_target(y, 200, "test").basis()
    for data, possible in ((X, True), (wide, False)):
        view = as_data(data).standardized("center")
        assert (
            read_interactions(view, np.ones(data.shape[1], dtype=bool), T, y, np.arange(200)) is not None
        ) == possible
