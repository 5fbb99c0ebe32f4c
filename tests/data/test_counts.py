"""Counts: told from other data, and their logarithms at one library size, the same on every backend."""

from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp

from eigensieve.data import as_data, kind_of_values, log_counts
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
    assert kind_of_values(X) == "counts"
    found, depth = log_counts(X)
    np.testing.assert_allclose(depth[totals > 0], np.log(totals[totals > 0] / size), atol=1e-5)
    np.testing.assert_allclose(found.take(slice(None)), expected, atol=tolerance(backend, double=1e-12, single=1e-6))
    np.testing.assert_allclose(found.stats().mean, expected.mean(axis=0), atol=tolerance(backend, single=1e-5))


@pytest.mark.parametrize("layout", [sp.csr_matrix, sp.csc_matrix, sp.coo_matrix])
def test_counts_stay_as_they_are(layout: Any) -> None:
    X = layout(COUNTS.astype(np.float32))
    assert kind_of_values(X) == "counts"
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
    assert kind_of_values(stored) == "counts"
    np.testing.assert_allclose(log_counts(stored)[0].take(slice(None)), log_counts(COUNTS)[0].take(slice(None)))


def test_sparse_data_that_was_handed_in_keeps_its_counts() -> None:
    X = as_data(sp.csr_matrix(COUNTS.astype(np.float32)))
    log_counts(X)
    np.testing.assert_array_equal(X.take(slice(None)), COUNTS)


@pytest.mark.parametrize(
    ("X", "kind"),
    [
        (COUNTS * 31.3, "amounts"),
        (sp.csr_matrix(COUNTS * 31.3), "amounts"),
        (COUNTS / 2, "logarithms"),
        (np.log1p(COUNTS), "logarithms"),
        (np.zeros((3, 4)), "logarithms"),
        (COUNTS - 1, "signed"),
        (np.where(COUNTS > 1, np.nan, COUNTS), "counts"),
    ],
)
def test_kinds_are_told_by_sign_wholeness_and_size(X: Any, kind: str) -> None:
    assert kind_of_values(X) == kind
    assert kind_of_values(as_data(X)) == kind


def test_nothing_counted_at_all_stays_zero() -> None:
    assert not log_counts(np.zeros((3, 4)))[0].take(slice(None)).any()
