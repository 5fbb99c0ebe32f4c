"""Missing values: no evidence, in scores, nulls and picks."""

import warnings

import numpy as np
import pytest
from scipy.sparse import csr_array

from eigensieve import QAlphaSelector, SieveSelector, TraceRatioSelector, fisher_score, laplacian_score, select_genes
from eigensieve.data import as_data, share_present, without_gaps
from eigensieve.evidence import null_agreement
from eigensieve.evidence.exchange import products_of_copies
from support.backends import BACKENDS, DASK, ON_DISK


def gapped(rate: float = 0.3, q: int = 60, n: int = 40, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    y = np.arange(q) % 3
    X = rng.standard_normal((q, n)) + 5.0
    X[:, :6] += rng.normal(0, 3, (3, 6))[y]
    X[rng.random(X.shape) < rate] = np.nan
    return X, y


def test_a_gap_holds_the_mean_of_the_values_that_are_there() -> None:
    X, _ = gapped()
    X[:, 7] = np.nan
    found = without_gaps(as_data(X))
    filled = found.take(slice(None))
    others = np.delete(np.arange(40), 7)
    np.testing.assert_allclose(filled.mean(axis=0)[others], np.nanmean(X[:, others], axis=0), rtol=1e-12)
    assert (filled[:, 7] == 0).all()
    np.testing.assert_array_equal(share_present(found), (~np.isnan(X)).mean(axis=0))
    assert np.isnan(X).any()  # the user's array is left alone


def test_gaps_in_the_largest_numbers_and_the_smallest() -> None:
    """Their sums overflow or vanish; found by the fuzzer."""
    X, y = gapped()
    plain = TraceRatioSelector(6).fit(X, y).scores_
    for unit in (2.0**1015, 2.0**-1000):
        np.testing.assert_allclose(TraceRatioSelector(6).fit(X * unit, y).scores_, plain, rtol=1e-9)


def test_a_gap_holds_the_mean_of_its_batch() -> None:
    X, _ = gapped()
    batches = np.arange(60) % 4
    span = (batches[:, None] == np.arange(3)).astype(float)
    filled = without_gaps(without_gaps(as_data(X)), span).take(slice(None))
    for batch in range(4):
        here = batches == batch
        means = np.broadcast_to(np.nanmean(X[here], axis=0), X[here].shape)
        np.testing.assert_allclose(filled[here], np.where(np.isnan(X[here]), means, X[here]), rtol=1e-10)


def test_weights_are_agreements_over_the_values_that_are_there() -> None:
    X, y = gapped()
    model = SieveSelector(5).fit(X, y)
    T = (y[:, None] == np.arange(3)) - 1 / 3
    T = np.linalg.svd(T, full_matrices=False)[0][:, :2]
    for i in range(X.shape[1]):
        m = X[:, i] - np.nanmean(X[:, i])
        there = np.flatnonzero(~np.isnan(m))
        m = m / np.sqrt(np.nansum(m**2))
        pairs = sum(m[s] * m[t] * (T[s] @ T[t]) for s in there for t in there if s != t)
        assert model.weights_[i] == pytest.approx(len(there) / 60 * pairs, abs=1e-10)


def test_copies_keep_the_pattern_of_gaps() -> None:
    """Two values trade places: their two orders give the same score, whatever stands in the other samples."""
    rng = np.random.default_rng(0)
    m = np.zeros((30, 1))
    m[[4, 9], 0] = np.sqrt(0.5), -np.sqrt(0.5)
    V = rng.standard_normal((30, 3))
    present = np.zeros((30, 1), dtype=bool)
    present[[4, 9]] = True
    scores = null_agreement(m, V, 40, rng, present=present)
    np.testing.assert_allclose(scores, -(V[4] @ V[9]), rtol=1e-10)


@pytest.mark.parametrize("size", [5, 100])
def test_turned_copies_are_orders_of_the_values(size: int) -> None:
    """m'V over random orders has mean 0 and covariance V'V / (q - 1) for centred V and m of unit norm."""
    rng = np.random.default_rng(0)
    m, V = rng.standard_normal(size), rng.standard_normal((size, 2))
    m, V = (m - m.mean()) / np.linalg.norm(m - m.mean()), V - V.mean(axis=0)
    sums = np.hstack([products_of_copies(m, V, size + 1, rng) for _ in range(4_000 // size)])
    np.testing.assert_allclose(np.cov(sums[:2]), V.T @ V / (size - 1), atol=0.1)
    np.testing.assert_allclose(sums[2].mean(), np.sum(V**2) / size, rtol=0.05)
    one = products_of_copies((np.arange(size) == 3).astype(float), V, size, rng)  # each copy finds one sample
    rows = np.abs(one[:2].T[:, None] - V).sum(axis=2).argmin(axis=1)
    np.testing.assert_allclose(one, np.vstack([V[rows].T, np.sum(V[rows] ** 2, axis=1)]), atol=1e-12)


@pytest.mark.parametrize("labelled", [False, True])
def test_gaps_that_follow_the_classes_are_no_discoveries(labelled: bool) -> None:
    """Noise that is missing more often in one class, beside features that show the classes."""
    false = []
    for seed in range(20 if labelled else 4):
        rng = np.random.default_rng(seed)
        y = np.arange(90) % 3
        X = rng.gamma(1.0, size=(90, 150))
        X[:, :20] += rng.normal(0, 3, (3, 20))[y]
        X[:, 20:][(rng.random((90, 130)) < 0.7) & (y == 0)[:, None]] = np.nan
        found = SieveSelector("auto").fit(X, y if labelled else None).get_support(indices=True)
        assert np.count_nonzero(found < 20) >= 15
        false.append(np.mean(found >= 20))
    assert np.mean(false) <= 0.1 + 2.0 * np.std(false) / np.sqrt(len(false))


def test_numbers_and_their_squares() -> None:
    rng = np.random.default_rng(1)
    X = rng.standard_normal((150, 80))
    y = X[:, 0] + X[:, 1] ** 2
    X[rng.random(X.shape) < 0.2] = np.nan
    assert {0, 1} <= set(SieveSelector("auto").fit(X, y).get_support(indices=True))
    assert set(SieveSelector(2).fit(X, y).selection_order_) == {0, 1}


def test_nothing_missing_changes_nothing_and_nothing_there_is_never_selected() -> None:
    X, _ = gapped(0.0)
    whole = SieveSelector("auto").fit(X)
    more = SieveSelector("auto").fit(np.column_stack([X, np.full(60, np.nan)]))
    assert not more.support_[-1]
    assert more.weights_[-1] == 0.0
    np.testing.assert_allclose(more.weights_[:-1], whole.weights_, atol=1e-9)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        kept = SieveSelector(5, keep=[40]).fit(np.column_stack([X, np.full(60, np.nan)]))
    assert kept.selection_order_[0] == 40
    few = SieveSelector(39).fit(np.column_stack([X[:, :39], np.full(60, np.nan)]))
    assert not few.support_[-1]


def test_fisher_and_laplacian_scores() -> None:
    """The scatters of the centred values with 0 in every gap."""
    X, y = gapped()
    Z = np.nan_to_num(X - np.nanmean(X, axis=0))
    np.testing.assert_allclose(fisher_score(X, y), fisher_score(Z, y), rtol=1e-8)
    graph = csr_array(np.ones((60, 60)) - np.eye(60))
    np.testing.assert_allclose(laplacian_score(X, graph=graph), laplacian_score(Z, graph=graph), rtol=1e-8)
    scaled = TraceRatioSelector(5, scale=True).fit(X, y)
    there = (~np.isnan(X)).sum(axis=0)
    np.testing.assert_allclose(scaled.scale_, np.nanstd(X, axis=0), rtol=1e-10)
    np.testing.assert_allclose(scaled.between_scatter_ + scaled.within_scatter_, there, rtol=1e-8)


def test_selected_columns_keep_their_gaps() -> None:
    X, y = gapped()
    model = SieveSelector(4).fit(X, y)
    np.testing.assert_array_equal(model.transform(X), X[:, model.support_])


def test_what_is_refused() -> None:
    X, _ = gapped()
    with pytest.raises(ValueError, match="SieveSelector and TraceRatioSelector do"):
        QAlphaSelector(3).fit(X)
    for kind in ("csr", *ON_DISK, *DASK):
        with pytest.raises(ValueError, match="only in a dense array or data frame in memory; load stored"):
            SieveSelector(3).fit(BACKENDS[kind](X))
    X[0, 0] = np.inf
    with pytest.raises(ValueError, match="infinity"):
        SieveSelector(3).fit(X)


def test_genes_with_gaps() -> None:
    anndata = pytest.importorskip("anndata")
    X, _ = gapped()
    found = select_genes(anndata.AnnData(X), 6, inplace=False)
    assert set(np.flatnonzero(found["highly_variable"])) == set(range(6))
    counts = anndata.AnnData(np.where(np.isnan(X), np.nan, np.round(np.abs(X))))
    with pytest.raises(ValueError, match="write 0 where nothing was counted"):
        select_genes(counts, 6)
