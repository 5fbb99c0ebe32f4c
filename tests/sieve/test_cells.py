"""The embedding of cells: it finds the types, and looks only at the genes that it may look at."""

import numpy as np
import pytest

from eigensieve.data import as_data
from eigensieve.sieve import cell_embedding, cells


def typed(n_cells: int, n_genes: int = 60, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """Four types of cells that differ in the first 24 genes, standardised."""
    rng = np.random.default_rng(seed)
    types = np.arange(n_cells) % 4
    X = rng.standard_normal((n_cells, n_genes))
    X[:, :24] += rng.normal(0.0, 2.0, (4, 24))[types]
    X -= X.mean(axis=0)
    return X / np.linalg.norm(X, axis=0), types


@pytest.mark.parametrize("n_cells", [40, 300, 2_100])
def test_the_types_are_directions_of_the_embedding(n_cells: int) -> None:
    X, types = typed(n_cells)
    data = as_data(X).standardized("center")
    Q = cell_embedding(data, np.ones(60, dtype=bool), np.ones(60))
    assert Q.shape == (n_cells, min(20, max(2, min(n_cells, 2_000) // 20)))
    np.testing.assert_allclose(Q.T @ Q, np.eye(Q.shape[1]), atol=1e-8)
    np.testing.assert_allclose(Q.sum(axis=0), 0.0, atol=1e-8)
    between = np.eye(4)[types] - 0.25
    explained = np.linalg.norm(Q.T @ between) ** 2 / np.linalg.norm(between) ** 2
    assert explained > (0.6 if n_cells == 40 else 0.9)  # two eigenvectors show two of three differences


def test_genes_that_may_have_no_weight_have_no_influence() -> None:
    X, _ = typed(100)
    usable = np.arange(60) < 40
    other = X.copy()
    other[:, 40:] = typed(100, seed=1)[0][:, 40:]
    found = [cell_embedding(as_data(Z).standardized("center"), usable, np.ones(60)) for Z in (X, other)]
    np.testing.assert_allclose(found[0], found[1], atol=1e-10)


def test_rounds_take_the_genes_that_vary_most(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cells, "KEPT", 30)
    X, _ = typed(100)
    spread = np.where(np.arange(60) < 30, 2.0, 1.0)
    other = X.copy()
    other[:, 30:] = typed(100, seed=1)[0][:, 30:]
    everything = np.ones(60, dtype=bool)
    found = [cell_embedding(as_data(Z).standardized("center"), everything, spread) for Z in (X, other)]
    np.testing.assert_allclose(found[0], found[1], atol=1e-10)
