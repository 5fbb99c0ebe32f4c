"""Several samples of the same donor: pairs of different donors count, and whole donors trade places."""

import numpy as np
import pytest
from scipy.sparse import csr_array
from tests.support.backends import FEW, tolerance

from eigensieve import SieveSelector, selection_stability
from eigensieve.data import as_data
from eigensieve.evidence import Exchange, agreement, null_agreement
from eigensieve.graphs import nearest_donors


def given(seed: int, per: int = 10, n_donors: int = 30, signal: int = 0, n: int = 200) -> tuple:
    """Every donor has its own value of every feature; its samples differ little. Three kinds of donors."""
    rng = np.random.default_rng(seed)
    groups = np.repeat(np.arange(n_donors), per)
    kinds = np.arange(n_donors) % 3
    values = rng.standard_normal((n_donors, n))
    values[:, :signal] += 2.0 * rng.standard_normal((3, signal))[kinds]
    return values[groups] + 0.3 * rng.standard_normal((len(groups), n)), kinds[groups], groups


@pytest.mark.parametrize("sizes", [(2, 1, 3, 4, 2), (40, 60)])
@pytest.mark.parametrize("sparse", [False, True])
def test_agreement_is_over_pairs_of_different_donors(sizes: tuple, sparse: bool) -> None:
    rng = np.random.default_rng(0)
    donors = rng.permutation(np.repeat(np.arange(len(sizes)), sizes))
    X, V = rng.standard_normal((len(donors), 5)), rng.standard_normal((len(donors), 3))
    X[X < 0] = 0.0
    data = as_data(csr_array(X) if sparse else X).standardized("center")
    Z = (X - X.mean(axis=0)) / np.linalg.norm(X - X.mean(axis=0), axis=0)
    apart = (V @ V.T) * (donors[:, None] != donors)
    np.testing.assert_allclose(agreement(data, V, donors), np.einsum("si,st,ti->i", Z, apart, Z), atol=1e-10)


@pytest.mark.parametrize("sizes", [(2, 1, 3, 4, 2), (12, 18)])
def test_null_scores_are_those_of_the_copies(sizes: tuple) -> None:
    rng = np.random.default_rng(0)
    donors = rng.permutation(np.repeat(np.arange(len(sizes)), sizes))
    Z, V = rng.standard_normal((len(donors), 6)), rng.standard_normal((len(donors), 2))
    exchange = Exchange(donors=donors)
    scores = null_agreement(Z, V, 7, np.random.default_rng(1), exchange)
    for k, copy in enumerate(exchange.copies(V, 7, np.random.default_rng(1)).transpose(1, 0, 2)):
        apart = (copy @ copy.T) * (donors[:, None] != donors)
        np.testing.assert_allclose(scores[:, k], np.einsum("si,st,ti->i", Z, apart, Z), rtol=1e-8)


def test_means_trade_places_between_donors_and_the_rest_within() -> None:
    rng = np.random.default_rng(0)
    donors, batches = np.repeat([0, 1, 2, 3], [1, 2, 3, 4]), np.repeat([0, 1, 0, 1], [1, 2, 3, 4])
    V = rng.standard_normal((10, 2))
    means = np.array([V[donors == g].mean(axis=0) for g in range(4)])
    rest = V - means[donors]
    copies = Exchange(batches, donors).copies(V, 50, rng)
    swapped = 0
    for copy in copies.transpose(1, 0, 2):
        now = np.array([copy[donors == g].mean(axis=0) for g in range(4)])
        swapped += not np.allclose(now, means)
        for pair in ([0, 2], [1, 3]):  # within batches
            np.testing.assert_allclose(np.sort(now[pair], axis=0), np.sort(means[pair], axis=0), atol=1e-12)
        for g in range(4):
            left = copy[donors == g] - now[g]
            np.testing.assert_allclose(np.sort(left, axis=0), np.sort(rest[donors == g], axis=0), atol=1e-12)
    assert swapped > 20


def test_samples_without_label_stay() -> None:
    rng = np.random.default_rng(0)
    V, moving = rng.standard_normal((12, 2)), np.arange(12) < 8
    copies = Exchange(donors=np.repeat(np.arange(4), 3), moving=moving).copies(V, 20, rng)
    assert (copies[8:] == V[8:, None]).all()
    assert not np.allclose(copies[:8], V[:8, None])


def test_nearest_donors() -> None:
    X = np.array([[0.0], [0.1], [1.0], [1.2], [3.0], [10.0]])
    donors = np.array(["a", "a", "b", "b", "c", "d"])
    np.testing.assert_array_equal(nearest_donors(X, donors, 2), [[2, 4], [2, 4], [1, 4], [1, 4], [3, 1], [4, 3]])
    few = nearest_donors(X, np.array([0, 0, 0, 1, 1, 1]), 4)
    np.testing.assert_array_equal(few[0], [3, 4, 5, -1])


@pytest.mark.parametrize("labelled", [False, True])
def test_one_sample_per_donor_is_the_same_as_no_groups(labelled: bool) -> None:
    X, y, _ = given(0, per=1, n_donors=60, signal=20)
    known = {"y": y} if labelled else {}
    for count in ("auto", "fewest", 8):
        plain = SieveSelector(count).fit(X, **known)
        grouped = SieveSelector(count).fit(X, groups=[f"donor {i}" for i in range(60)], **known)
        np.testing.assert_array_equal(plain.selection_order_, grouped.selection_order_)
        np.testing.assert_array_equal(plain.weights_, grouped.weights_)


@pytest.mark.filterwarnings("ignore:SieveSelector found no feature")
@pytest.mark.parametrize("per", [5, 20])
def test_donors_are_no_structure(per: int) -> None:
    X, _, groups = given(0, per)
    assert SieveSelector("auto").fit(X).support_.mean() > 0.8
    assert not SieveSelector("auto").fit(X, groups=groups).support_.any()


@pytest.mark.filterwarnings("ignore:SieveSelector found no feature")
def test_kinds_of_donors_are_structure() -> None:
    false = []
    for seed in range(4):
        X, y, groups = given(seed, signal=40)
        for known in ({}, {"y": y}):
            found = SieveSelector("auto").fit(X, groups=groups, **known).get_support(indices=True)
            assert np.count_nonzero(found < 40) >= 15
            false.append(np.mean(found >= 40))
    assert np.mean(false) <= 0.15
    assert np.mean(SieveSelector(20).fit(X, groups=groups).selection_order_ < 40) >= 0.95


def test_labels_that_vary_within_donors() -> None:
    """Treated and untreated samples of each donor: donors' own levels do not hide the effect."""
    rng = np.random.default_rng(3)
    groups, y = np.repeat(np.arange(15), 8), np.tile([0, 1], 60)
    X = 3.0 * rng.standard_normal((15, 120))[groups] + rng.standard_normal((120, 120))
    X[:, :10] += 2.0 * y[:, None]
    found = SieveSelector("auto").fit(X, y, groups=groups).get_support(indices=True)
    assert set(range(10)) <= set(found)
    assert np.mean(found >= 10) <= 0.3


@pytest.mark.parametrize("backend", FEW)
def test_every_storage(backend: str) -> None:
    X, y, groups = given(0, per=4, n_donors=12, signal=10, n=40)
    X = np.maximum(X, 0.0)
    for known in ({}, {"y": y}):
        whole = SieveSelector(6).fit(X, groups=groups, **known)
        stored = SieveSelector(6).fit(FEW[backend](X), groups=groups, **known)
        np.testing.assert_allclose(stored.weights_, whole.weights_, atol=100 * tolerance(backend))


def test_gaps_and_donors_together() -> None:
    X, y, groups = given(0, signal=30)
    X[np.random.default_rng(0).random(X.shape) < 0.2] = np.nan
    found = SieveSelector("auto").fit(X, y, groups=groups).get_support(indices=True)
    assert np.count_nonzero(found < 30) >= 15
    assert np.mean(found >= 30) <= 0.25


def test_stability_takes_whole_donors() -> None:
    X, _, groups = given(0, per=4, n_donors=12, signal=10, n=30)
    seen = []

    class Recorder(SieveSelector):
        def fit(self, X, y=None, *, groups=None):
            seen.append(np.unique(groups, return_counts=True))
            return super().fit(X, y, groups=groups)

    selection_stability(Recorder(5), X, groups=groups, n_subsamples=3)
    for donors, counts in seen:
        assert len(donors) == 6
        assert (counts == 4).all()


def test_what_is_refused() -> None:
    X, _, groups = given(0, per=4, n_donors=12)
    with pytest.raises(ValueError, match="at least 3 groups"):
        SieveSelector(3).fit(X, groups=groups % 2)
    with pytest.raises(ValueError, match="name the group of every sample"):
        SieveSelector(3).fit(X, groups=[None, *groups[1:]])
    with pytest.raises(ValueError, match="parameter of selection_stability"):
        selection_stability(SieveSelector(3), X, groups=groups[1:])
