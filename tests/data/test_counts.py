"""Counts: told from other data, and their logarithms at one library size, the same on every backend."""

from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp

from eigensieve.data import are_counts, as_data, log_counts
from support.backends import BACKENDS, dask_array, h5ad, repeated, tolerance

rng = np.random.default_rng(0)
COUNTS = rng.poisson(0.7, (20, 30)).astype(float)
COUNTS[4] = 0.0  # a cell in which nothing was seen


@pytest.mark.parametrize("backend", [name for name in BACKENDS if name != "dask-frame"])
def test_logarithms_are_those_of_the_formula(backend: str) -> None:
    totals = COUNTS.sum(axis=1)
    size = np.median(totals[totals > 0])
    expected = np.log(1 + COUNTS * np.where(totals > 0, size / np.maximum(totals, 1), 1.0)[:, None])
    X = BACKENDS[backend](COUNTS)
    assert are_counts(X)
    found, depth = log_counts(X)
    np.testing.assert_allclose(depth[totals > 0], np.log(totals[totals > 0] / size), atol=1e-5)
    np.testing.assert_allclose(found.take(slice(None)), expected, atol=tolerance(backend, double=1e-12, single=1e-6))
    np.testing.assert_allclose(found.stats().mean, expected.mean(axis=0), atol=tolerance(backend, single=1e-5))


@pytest.mark.parametrize("layout", [sp.csr_matrix, sp.csc_matrix, sp.coo_matrix])
def test_counts_stay_as_they_are(layout: Any) -> None:
    X = layout(COUNTS.astype(np.float32))
    assert are_counts(X)
    log_counts(X)
    np.testing.assert_array_equal(as_data(X).take(slice(None)), COUNTS)


@pytest.mark.parametrize(
    "stored",
    [
        repeated(sp.csr_matrix(COUNTS)),
        repeated(sp.csc_matrix(COUNTS)),
        h5ad(repeated(sp.csc_matrix(COUNTS))),
        dask_array(repeated(sp.csr_matrix(COUNTS)), 2, 2),
    ],
    ids=["csr", "csc", "h5ad", "dask"],
)
def test_counts_stored_in_parts_count_as_their_sums(stored: Any) -> None:
    assert are_counts(stored)
    np.testing.assert_allclose(log_counts(stored)[0].take(slice(None)), log_counts(COUNTS)[0].take(slice(None)))


def test_sparse_data_that_was_handed_in_keeps_its_counts() -> None:
    X = as_data(sp.csr_matrix(COUNTS.astype(np.float32)))
    log_counts(X)
    np.testing.assert_array_equal(X.take(slice(None)), COUNTS)


@pytest.mark.parametrize("X", [COUNTS - 1, COUNTS / 2, np.zeros((3, 4)), np.log1p(COUNTS)])
def test_other_data_is_not_taken_for_counts(X: np.ndarray) -> None:
    assert not are_counts(X)
    assert not are_counts(as_data(X))


def test_nothing_counted_at_all_stays_zero() -> None:
    assert not log_counts(np.zeros((3, 4)))[0].take(slice(None)).any()
