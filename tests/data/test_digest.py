"""Fingerprints: the same for every backend, and another one as soon as a value, or the place of a value, changes."""

import numpy as np
import pytest

from eigensieve.data import as_data, fingerprint, row_digests, value_orders
from support.backends import BACKENDS

WORD = 2**64
R = 0x9E3779B97F4A7C15


@pytest.fixture(scope="module")
def X() -> np.ndarray:
    rng = np.random.default_rng(0)
    X = rng.standard_normal((30, 45)).astype(np.float32).astype(np.float64)
    X[rng.random(X.shape) < 0.3] = 0.0
    X[3, 4] = -0.0
    return X


def naive(column: np.ndarray) -> int:
    """The sum of h(x_t) r^t, with MurmurHash3's finaliser for h, in Python's own integers."""
    total = 0
    for t, x in enumerate(column):
        h = int(np.float64(x + 0.0).view(np.uint64))
        h = (h ^ (h >> 33)) * 0xFF51AFD7ED558CCD % WORD
        h = (h ^ (h >> 33)) * 0xC4CEB9FE1A85EC53 % WORD
        total += (h ^ (h >> 33)) * pow(R, t, WORD)
    return total % WORD


def test_the_formula(X: np.ndarray) -> None:
    assert as_data(X).column_digests().tolist() == [naive(column) for column in X.T]


@pytest.mark.parametrize("backend", BACKENDS)
def test_every_backend_gives_the_same(X: np.ndarray, backend: str) -> None:
    assert fingerprint(as_data(BACKENDS[backend](X))) == fingerprint(as_data(X))


@pytest.mark.parametrize("backend", BACKENDS)
def test_samples_have_the_sums_of_their_mixed_levels_on_every_backend(X: np.ndarray, backend: str) -> None:
    data = as_data(BACKENDS[backend](X))
    stats, values = data.stats(), np.asarray(data.take(slice(None)), dtype=np.float64)
    levels = np.rint((values - stats.mean) * (8.1377 / stats.centered_norm * np.sqrt(len(X))))
    expected = [sum(naive(np.array([level])) for level in row) % WORD for row in levels]
    assert row_digests(data).tolist() == expected


def test_any_change_shows(X: np.ndarray) -> None:
    swapped = X.copy()
    swapped[[0, 1], 7] = swapped[[1, 0], 7]
    bit = X.copy()
    bit[29, 44] = np.nextafter(bit[29, 44], np.inf)
    counts = np.arange(12.0).reshape(3, 4)
    others = [X, X[::-1], X[:, ::-1], swapped, bit, X[:-1], X[:, :-1], counts, counts.reshape(4, 3), counts[[1, 0, 2]]]
    assert len({fingerprint(as_data(np.ascontiguousarray(other))) for other in others}) == len(others)


@pytest.mark.parametrize("backend", BACKENDS)
def test_orders_move_with_samples_and_features(backend: str) -> None:
    """Also where rows and columns hold the same values in other places, as in tables of zeros and ones."""
    rng = np.random.default_rng(3)
    for X in (
        rng.standard_normal((30, 20)).astype(np.float32).astype(float),
        (rng.random((40, 25)) < 0.4).astype(float),
    ):
        rows, columns = rng.permutation(len(X)), rng.permutation(X.shape[1])
        first, other = value_orders(as_data(X)), value_orders(as_data(BACKENDS[backend](X[rows][:, columns])))
        np.testing.assert_array_equal(rows[other.samples], first.samples)
        np.testing.assert_array_equal(columns[other.features], first.features)
        np.testing.assert_array_equal(first.samples[first.ranks()], np.arange(len(X)))


def test_orders_stay_in_other_units_and_beside_constants() -> None:
    rng = np.random.default_rng(4)
    for X in (rng.standard_normal((30, 20)), rng.poisson(2.0, (40, 25)).astype(float)):
        first = value_orders(as_data(X))
        moved = X * 10.0 ** rng.uniform(-3, 3, X.shape[1]) + rng.uniform(-5, 5, X.shape[1])
        for other in (moved, np.insert(X, 7, 3.0, axis=1), X.astype(np.float32)):
            orders = value_orders(as_data(other))
            features = orders.features[orders.features != 7] if other.shape[1] > X.shape[1] else orders.features
            places = features - (features > 7) if other.shape[1] > X.shape[1] else features
            np.testing.assert_array_equal(orders.samples, first.samples)
            np.testing.assert_array_equal(places, first.features)
