"""The best subset is the best subset: brute force, the paper's theorems, ties and zero scatter."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from eigensieve.data import as_data
from eigensieve.traceratio import (
    FisherPair,
    LaplacianPair,
    best_subset,
    diagonals,
    feature_ranking,
    feature_scores,
    feature_subset,
    usable_features,
)
from eigensieve.traceratio.dinkelbach import merge_close, top
from reference import trace_ratio as reference


def small_problem(seed):
    """Data, labels and heat graph of a problem with 2 to 12 features of different scales."""
    rng = np.random.default_rng(seed)
    n, q = int(rng.integers(2, 13)), int(rng.integers(8, 25))
    y = rng.integers(0, 3, q)
    y[:3] = [0, 1, 2]
    X = rng.standard_normal((q, n)) + y[:, None] * rng.exponential(1.0, n) * (rng.random(n) < 0.5)
    return X * 10.0 ** rng.uniform(-1, 1, n), y, reference.heat_graph(X, 3)


def pair_and_diagonals(seed, kind):
    X, y, A = small_problem(seed)
    if kind == "fisher":
        return X, FisherPair(y), reference.diagonals(X, *reference.fisher_graphs(y))
    return X, LaplacianPair(A_csr(A)), reference.diagonals(X, A, reference.laplacian_between(A))


def A_csr(A):
    from scipy.sparse import csr_array

    return csr_array(A)


@pytest.mark.parametrize("kind", ["fisher", "laplacian"])
def test_equals_brute_force_over_all_subsets_for_every_size(kind):
    for seed in range(200):
        X, pair, (b, e) = pair_and_diagonals(seed, kind)
        best = reference.brute_force(b, e)
        ours = diagonals(as_data(X), pair)
        for m in range(1, X.shape[1] + 1):
            result = best_subset(*ours, m)
            assert len(result.subset) == m
            assert result.score == pytest.approx(best[m], rel=1e-10)
            # The subset itself attains that score, in the reference's own diagonals.
            chosen = result.subset
            assert b[chosen].sum() / e[chosen].sum() == pytest.approx(best[m], rel=1e-10)


@pytest.mark.parametrize("seed", range(20))
def test_lambda_rises_and_the_printed_algorithm_agrees(seed):
    rng = np.random.default_rng(seed)
    n = 300
    e = rng.lognormal(sigma=2.0, size=n)
    b = e * rng.gamma(1.0, size=n)
    for m in (1, 7, 70, 299):
        result = best_subset(b, e, m)
        chosen, lambdas = reference.table_2(b, e, m, list(range(m)))
        assert result.subset.tolist() == chosen
        assert result.score == pytest.approx(lambdas[-1], rel=1e-12)
        assert all(np.diff(result.history) > 0)
        assert result.n_iter <= 7


diagonal = st.lists(st.integers(0, 5), min_size=1, max_size=9)


@settings(max_examples=150, deadline=None)
@given(diagonal, diagonal)
def test_small_integers_with_ties_and_zeros_equal_brute_force(first, second):
    n = min(len(first), len(second))
    b, e = np.array(first[:n], dtype=float), np.array(second[:n], dtype=float)
    usable = usable_features(b, e)
    if not usable.any():
        with pytest.raises(ValueError, match="usable"):
            best_subset(b, e, 1)
        return
    best = reference.brute_force(b[usable], e[usable])
    for m in range(1, int(usable.sum()) + 1):
        result = best_subset(b, e, m)
        assert result.score == pytest.approx(best[m], rel=1e-13)
        assert usable[result.subset].all()
        assert set(result.ranking[:m]) == set(result.subset)
        assert sorted(result.ranking) == list(range(n))
        assert result.score >= feature_subset(b, e, m).score or np.isinf(result.score)


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 10_000), st.floats(1e-6, 1e6))
def test_permuting_and_rescaling_the_features_changes_nothing_else(seed, factor):
    rng = np.random.default_rng(seed)
    b, e = rng.random(30), rng.random(30)
    order = rng.permutation(30)
    plain, moved = best_subset(b, e, 8), best_subset(factor * b[order], factor * e[order], 8)
    assert set(order[moved.subset]) == set(plain.subset)
    assert moved.score == pytest.approx(plain.score, rel=1e-12)


def test_features_without_any_scatter_are_never_chosen_and_free_ones_always_first():
    b = np.array([0.0, 3.0, 0.001, 50.0, 9.0, 0.0])
    e = np.array([0.0, 0.0, 0.0, 1.0, 1.0, 2.0])
    assert best_subset(b, e, 1).subset.tolist() == [1]  # the largest between scatter of the free ones
    assert best_subset(b, e, 2).score == np.inf
    assert best_subset(b, e, 3).subset.tolist() == [1, 2, 3]
    assert best_subset(b, e, 5).subset.tolist() == [1, 2, 3, 4, 5]
    assert best_subset(b, e, 5).ranking[-1] == 0
    with pytest.raises(ValueError, match="between 1 and 5, the number of usable features"):
        best_subset(b, e, 6)
    with pytest.raises(ValueError, match="Got 6"):
        feature_subset(b, e, 6)


def test_ties_go_to_the_earlier_column():
    b, e = np.ones(6), np.full(6, 2.0)
    assert best_subset(b, e, 3).subset.tolist() == [0, 1, 2]
    assert feature_subset(b, e, 3).subset.tolist() == [0, 1, 2]
    noisy = b * (1 + 1e-15 * np.arange(6))
    assert best_subset(noisy, e, 3).subset.tolist() == [0, 1, 2]
    assert feature_ranking(noisy, e).tolist() == list(range(6))


def test_top_takes_exactly_m_and_breaks_ties_by_column():
    scores = np.array([1.0, 3.0, 1.0, 2.0, 1.0])
    assert [top(scores, m).tolist() for m in (1, 3, 4, 5)] == [[1], [0, 1, 3], [0, 1, 2, 3], [0, 1, 2, 3, 4]]


def test_merge_close_joins_rounding_and_nothing_else():
    values = np.array([2.0, 0.0, 1.0 + 1e-15, np.inf, 1.0, 1e-300])
    assert merge_close(values).tolist() == [2.0, 0.0, 1.0, np.inf, 1.0, 1e-300]
    assert merge_close(np.zeros(0)).shape == (0,)


def test_feature_scores_of_zero_scatter():
    scores = feature_scores(np.array([1.0, 0.0, 0.0, 4.0]), np.array([0.0, 0.0, 1.0, 2.0]))
    np.testing.assert_array_equal(scores, [np.inf, np.nan, 0.0, 2.0])
