"""Simulated single cells: the counts have the moments that the model gives them."""

import numpy as np
import pytest

from eigensieve.datasets import make_single_cells


def test_shapes_types_and_the_same_seed() -> None:
    one, two = (make_single_cells(120, 300, n_batches=2, random_state=3) for _ in range(2))
    np.testing.assert_array_equal(one.X.toarray(), two.X.toarray())
    assert one.X.shape == (120, 300) and one.X.dtype == np.float32
    assert one.y.shape == one.batches.shape == one.position.shape == (120,)
    assert one.relevant.shape == (300,) and one.relevant.dtype == bool
    assert (one.X.data == np.round(one.X.data)).all()
    assert (make_single_cells(120, 300, n_batches=2, random_state=4).X != one.X).nnz > 0


def test_library_sizes_and_group_shares_are_as_asked() -> None:
    cells = make_single_cells(
        4_000, 50, group_shares=(6, 3, 1), depth=500, depth_spread=0.3, dispersion=0.0, random_state=0
    )
    sizes = np.asarray(cells.X.sum(axis=1)).reshape(-1)
    # log of a Poisson draw about 500: variance 0.3^2 + 1/500
    assert np.median(sizes) == pytest.approx(500, rel=0.03)
    assert np.std(np.log(sizes)) == pytest.approx(np.hypot(0.3, 500**-0.5), rel=0.05)
    np.testing.assert_allclose(np.bincount(cells.y) / 4_000, [0.6, 0.3, 0.1], atol=0.03)


@pytest.mark.parametrize("dispersion", [0.0, 0.5])
def test_counts_of_like_cells_have_the_variance_of_the_model(dispersion: float) -> None:
    """Variance m + dispersion m^2, for cells of one type and one library size."""
    cells = make_single_cells(
        3_000, 40, group_shares=(1,), depth=4_000, depth_spread=0.0, dispersion=dispersion, random_state=1
    )
    X = cells.X.toarray().astype(np.float64)
    mean, variance = X.mean(axis=0), X.var(axis=0)
    high = mean > 5
    np.testing.assert_allclose(variance[high], (mean + dispersion * mean**2)[high], rtol=0.2)


def test_only_markers_differ_between_groups_and_only_batches_change_the_rest() -> None:
    settings = {"group_shares": (1, 1), "depth_spread": 0.0, "marker_strength": 2.0, "depth": 20_000, "dispersion": 0.0}
    cells = make_single_cells(2_000, 200, random_state=2, **settings)
    X = cells.X.toarray().astype(np.float64)
    X /= X[:, ~cells.relevant].sum(axis=1, keepdims=True)
    one, two = X[cells.y == 0].mean(axis=0), X[cells.y == 1].mean(axis=0)
    seen = (one + two) > 1e-4
    change = np.abs(np.log(two[seen] / one[seen]))
    assert change[~cells.relevant[seen]].max() < 0.25
    assert np.median(change[cells.relevant[seen]]) > 0.5
    batched = make_single_cells(2_000, 200, random_state=2, n_batches=2, batch_strength=1.0, **settings)
    B = batched.X.toarray().astype(np.float64)
    one, two = B[batched.batches == 0].mean(axis=0), B[batched.batches == 1].mean(axis=0)
    seen = (one + two > 1.0) & ~batched.relevant
    assert np.std(np.log(two[seen] / one[seen])) == pytest.approx(2**0.5, rel=0.3)  # of two factors exp(N(0, 1))


def test_branches_leave_from_one_state() -> None:
    cells = make_single_cells(
        3_000, 300, group_shares=(1, 1), structure="branches", marker_strength=1.5, depth=20_000, random_state=5
    )
    X = np.log1p(cells.X.toarray())
    assert cells.position.min() >= 0 and cells.position.max() <= 1

    def apart(of: np.ndarray) -> float:
        one, two = (X[of & (cells.y == branch)].mean(axis=0) for branch in (0, 1))
        return float(np.linalg.norm(one - two))

    assert apart(cells.position > 0.8) > 3 * apart(cells.position < 0.2)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"n_cells": 0}, "'n_cells' .* at least 1"),
        ({"group_shares": (0.5, 0.0)}, "'group_shares' .* one positive number per type"),
        ({"structure": "tree"}, "'structure' .* 'groups' or 'branches'. Got 'tree'"),
        ({"marker_share": 1.5}, "'marker_share' .* between 0 and 1"),
        ({"depth": 0}, "'depth' .* at least 1"),
        ({"dispersion": -0.1}, "'dispersion' .* at least 0"),
    ],
)
def test_wrong_input_is_refused(settings: dict, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        make_single_cells(**settings)
