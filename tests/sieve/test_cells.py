"""The embedding of cells: it finds the types, and looks only at the genes that it may look at."""

import numpy as np
import pytest

from eigensieve.data import as_data
from eigensieve.sieve import cell_embedding, cells, joint_scores


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
    cells = cell_embedding(data, np.ones(60, dtype=bool), np.ones(60))
    assert cells.Q.shape == (n_cells, min(15, n_cells // 10))
    assert cells.P.shape == (n_cells, 2)  # one per 50 genes, but two
    between = np.eye(4)[types] - 0.25
    for view, least in ((cells.Q, 0.9), (cells.P, 0.6)):  # two directions show two of three differences
        np.testing.assert_allclose(view.T @ view, np.eye(view.shape[1]), atol=1e-8)
        np.testing.assert_allclose(view.sum(axis=0), 0.0, atol=1e-8)
        assert np.linalg.norm(view.T @ between) ** 2 / np.linalg.norm(between) ** 2 > least


def test_directions_of_no_length_are_left_out() -> None:
    """Four types and nothing else: three directions, however many are asked for."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((4, 500))[np.arange(80) % 4]
    cells = cell_embedding(as_data(X).standardized("center"), np.ones(500, dtype=bool), np.ones(500))
    assert cells.P.shape == (80, 3)


@pytest.mark.parametrize(("n_cells", "n_genes", "expected"), [(40, 800, 10), (80, 350, 7), (80, 800, 15)])
def test_directions_are_as_many_as_cells_and_genes_can_show(n_cells: int, n_genes: int, expected: int) -> None:
    X, _ = typed(n_cells, n_genes)
    data = as_data(X).standardized("center")
    assert cell_embedding(data, np.ones(n_genes, dtype=bool), np.ones(n_genes)).P.shape[1] == expected


def test_joint_scores_are_shares_of_the_largest() -> None:
    found = joint_scores(np.array([0.2, 0.1, -0.02]), np.array([0.0, 0.6, 0.3]))
    np.testing.assert_allclose(found, [1.0, 1.5, 0.4], rtol=1e-12)
    np.testing.assert_array_equal(joint_scores(np.zeros(2), np.zeros(2)), [0.0, 0.0])


def test_genes_that_may_have_no_weight_have_no_influence() -> None:
    X, _ = typed(100)
    usable = np.arange(60) < 40
    other = X.copy()
    other[:, 40:] = typed(100, seed=1)[0][:, 40:]
    found = [cell_embedding(as_data(Z).standardized("center"), usable, np.ones(60)).Q for Z in (X, other)]
    np.testing.assert_allclose(found[0], found[1], atol=1e-10)


def test_rounds_take_the_genes_that_vary_most(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cells, "KEPT", 30)
    X, _ = typed(100)
    spread = np.where(np.arange(60) < 30, 2.0, 1.0)
    other = X.copy()
    other[:, 30:] = typed(100, seed=1)[0][:, 30:]
    everything = np.ones(60, dtype=bool)
    found = [cell_embedding(as_data(Z).standardized("center"), everything, spread).Q for Z in (X, other)]
    np.testing.assert_allclose(found[0], found[1], atol=1e-10)
