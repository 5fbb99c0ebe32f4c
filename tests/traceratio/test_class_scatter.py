"""Class scatter of blocks on every backend against plain numpy."""

import numpy as np
import pytest

from eigensieve.data import as_data
from eigensieve.traceratio.pairs import class_scatter
from support.backends import BACKENDS, tolerance


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("normalize", ["none", "center", "unit"])
def test_class_scatter_equals_numpy(backend, normalize):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((30, 200)) + 5.0 * (rng.random(200) < 0.5)
    X[rng.random(X.shape) < 0.4] = 0.0
    codes = rng.integers(-1, 3, 30)
    counts = np.bincount(codes[codes >= 0]).astype(float)
    data = as_data(BACKENDS[backend](X)).standardized(normalize)
    parts = data.map_blocks(lambda block: class_scatter(block, codes, counts))
    between, total, energy = (np.concatenate(part) for part in zip(*parts, strict=True))
    Z = np.asarray(data.take(np.arange(200)), dtype=float)
    mean = Z[codes >= 0].mean(axis=0)
    means = np.array([Z[codes == c].mean(axis=0) for c in range(3)])
    rtol = tolerance(backend, double=1e-10, single=1e-5)
    np.testing.assert_allclose(total, ((Z[codes >= 0] - mean) ** 2).sum(axis=0), rtol=rtol)
    np.testing.assert_allclose(between, counts @ (means - mean) ** 2, rtol=rtol, atol=rtol * total.max())
    assert (energy >= total * (1 - 1e-12)).all()


def test_copies_of_a_column_have_bitwise_equal_scatter():
    rng = np.random.default_rng(1)
    column = rng.standard_normal((50, 1)).astype(np.float32)
    codes = np.arange(50) % 4
    counts = np.bincount(codes).astype(float)
    for X in (np.repeat(column, 333, axis=1), np.asfortranarray(np.repeat(column, 333, axis=1))):
        parts = as_data(X).map_blocks(lambda block: class_scatter(block, codes, counts))
        for part in zip(*parts, strict=True):
            assert len(set(np.concatenate(part))) == 1
