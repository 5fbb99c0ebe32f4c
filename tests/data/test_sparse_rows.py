"""Compressed rows on disk: read once per pass, whatever the order of their entries and however far from zero."""

from pathlib import Path

import numpy as np
import pytest
import scipy.sparse as sp

from eigensieve import open_data
from eigensieve.data import as_data
from eigensieve.data.disk.rows import SparseRowData

anndata = pytest.importorskip("anndata")
rng = np.random.default_rng(0)
X = rng.poisson(0.7, (60, 25)).astype(float)
X[:, 3] = 0.0
V, weights = rng.standard_normal((60, 3)), rng.uniform(0, 1, 60)


def stored(values: sp.csr_matrix, folder: Path) -> SparseRowData:
    path = folder / "rows.h5ad"
    anndata.AnnData(sp.csr_matrix(values.shape)).write_h5ad(path)
    import h5py

    with h5py.File(path, "a") as file:  # anndata itself would sort the entries
        for name in ("data", "indices", "indptr"):
            del file["X"][name]
            file["X"][name] = getattr(values, name)
    data = open_data(path, max_memory=20_000)
    assert isinstance(data, SparseRowData)
    return data


def check(data: SparseRowData, dense: np.ndarray) -> None:
    Z = dense - dense.mean(axis=0)
    Z = Z / np.where(Z.any(axis=0), np.linalg.norm(Z, axis=0), 1.0)
    standard = data.standardized("center")
    before = data.n_passes
    found = standard.map_sums(V, weights, lambda here, T, energy: T @ [1.0, 2.0, 3.0] + energy)
    assert data.n_passes == before + 1
    np.testing.assert_allclose(found, Z.T @ V @ [1.0, 2.0, 3.0] + (Z**2).T @ weights, atol=1e-9)
    np.testing.assert_allclose(standard.combine(np.eye(25)[:, :4]), Z[:, :4], atol=1e-9)
    np.testing.assert_allclose(data.combine(np.ones((25, 1)))[:, 0], dense.sum(axis=1), rtol=1e-12)


def test_products_of_rows(tmp_path: Path) -> None:
    check(stored(sp.csr_matrix(X), tmp_path), X)


def test_entries_in_any_order_and_twice(tmp_path: Path) -> None:
    rows, columns = np.nonzero(X)
    order = np.lexsort((rng.random(2 * len(rows)), np.tile(rows, 2)))  # rows in order, columns not
    parts = np.concatenate([0.25 * X[rows, columns], 0.75 * X[rows, columns]])[order]
    pointers = np.concatenate([[0], np.cumsum(2 * np.count_nonzero(X, axis=1))])
    values = sp.csr_matrix((60, 25))
    values.data, values.indices, values.indptr = parts, np.tile(columns, 2)[order].astype(np.int32), pointers
    check(stored(values, tmp_path), X)


def test_columns_far_from_zero(tmp_path: Path) -> None:
    far = X.copy()
    far[:, 7] = 1e6 + X[:, 0]  # the corrections for the centre would leave 4 of 16 digits of its square
    check(stored(sp.csr_matrix(far), tmp_path), far)


def test_whole_numbers_far_from_zero_keep_their_statistics() -> None:
    far = (1e6 + X[:, :4]).astype(int)  # held in single precision, which is exact here
    stats = as_data(sp.csc_matrix(far)).stats()
    np.testing.assert_allclose(stats.mean, far.mean(axis=0), rtol=1e-15)
    np.testing.assert_allclose(stats.centered_norm[:3], np.sqrt(60) * X[:, :3].std(axis=0), rtol=1e-9)


def test_some_samples_of_sparse_data_in_memory() -> None:
    rows = np.array([0, 5, 6, 59])
    data = as_data(sp.csr_matrix(X))
    np.testing.assert_array_equal(data.raw_samples(rows, 2, 20).toarray(), X[rows, 2:20])
    np.testing.assert_array_equal(data.raw_samples(rows, 3, 4).toarray(), X[rows, 3:4])
