"""The pick by alignment: a set of features that shows the structure as a whole."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from eigensieve import SieveSelector
from eigensieve.data import as_data
from eigensieve.evidence import agreement, agreement_p_values
from eigensieve.sieve.showing import COPY, NOISE_RATE, WEAK, pick_showing
from eigensieve.sieve.walks import same_say
from reference import sieve as naive
from support.backends import FEW


def _embedding(q: int, c: int, seed: int) -> np.ndarray:
    Q = np.random.default_rng(seed).standard_normal((q, c))
    return np.linalg.qr(Q - Q.mean(axis=0))[0]


def _shown(q: int, c: int, seed: int) -> np.ndarray:
    return same_say(_embedding(q, c, seed))


def _features(Q: np.ndarray, n: int, seed: int, noise: float = 0.1) -> np.ndarray:
    """The first half of the features follows Q, the others are noise."""
    rng = np.random.default_rng(seed)
    X = noise * rng.standard_normal((len(Q), n))
    X[:, : n // 2] += Q @ rng.standard_normal((Q.shape[1], n // 2))
    return X


def _alignment(M: np.ndarray, chosen: list, T: np.ndarray) -> float:
    K = M[chosen].T @ M[chosen]
    return float(np.sum(K * T) / np.linalg.norm(K))


@pytest.mark.parametrize("count", [1, 8, 30])
@pytest.mark.parametrize("centered", [True, False])
def test_picks_are_those_of_the_transcription(count: int, centered: bool) -> None:
    """A mean counts as evidence against noise, and not in the alignment."""
    X = _features(_embedding(40, 3, 0), 60, 1) + (0.0 if centered else 0.05)
    V, M = _shown(40, 3, 0), naive.standardise(X)
    evidence = V if centered else np.column_stack([np.full(40, 40**-0.5), V])
    scores = naive.agreement(naive.standardise(X, centered), evidence)
    left = naive.beyond_noise(scores, evidence, NOISE_RATE)
    expected = naive.pick_showing(M, naive.agreement(M, V), left, count, COPY, WEAK)
    data = as_data(X).standardized("center" if centered else "unit")
    order = pick_showing(data, V, V, scores, np.arange(60), count, centered=centered)
    assert len(expected) == min(count, len(left)) > 0
    assert order[: len(expected)].tolist() == expected


def test_shares_and_pairs_count() -> None:
    """A share makes a feature worth less, but says nothing of whether it is noise."""
    X = _features(_embedding(40, 3, 0), 60, 1)
    V, M, rng = _shown(40, 3, 0), naive.standardise(X), np.random.default_rng(2)
    share, apart = rng.uniform(0.3, 1.0, 60), rng.uniform(0.0, 0.2, 60)
    a = naive.agreement(M, V) + apart
    expected = naive.pick_showing(M, a, naive.beyond_noise(a, V, NOISE_RATE), 10, COPY, WEAK, share)
    order = pick_showing(as_data(X).standardized("center"), V, V, a, np.arange(60), 10, share=share, apart=apart)
    assert order.tolist() == expected


@pytest.mark.parametrize("backend", FEW)
def test_picks_do_not_depend_on_the_storage(backend: str) -> None:
    X = _features(_embedding(40, 3, 0), 60, 1)
    V = _shown(40, 3, 0)
    scores = agreement(as_data(X).standardized("center"), V)
    orders = [
        pick_showing(as_data(form).standardized("center"), V, V, scores, np.arange(60), 25)
        for form in (X, FEW[backend](X))
    ]
    np.testing.assert_array_equal(*orders)


@settings(max_examples=25, deadline=None)
@given(st.integers(0, 10_000), st.integers(1, 4), st.integers(2, 12))
def test_the_whole_set_shows_more_than_the_best_scores_do(seed: int, c: int, count: int) -> None:
    """Greedy picks are aligned with the structure at least nearly as well as the features of the largest scores."""
    Q = _embedding(30, c, seed)
    X = _features(Q, 60, seed + 1, 0.3)
    V, M = same_say(Q), naive.standardise(X)
    T = V @ V.T
    np.fill_diagonal(T, 0.0)
    a = naive.agreement(M, V)
    order = pick_showing(as_data(X).standardized("center"), V, V, a, np.arange(60), count)
    assert len(set(order)) == count
    assert _alignment(M, order.tolist(), T) >= 0.97 * _alignment(M, np.argsort(-a)[:count].tolist(), T)


def test_copies_come_after_the_others_and_before_noise() -> None:
    rng = np.random.default_rng(3)
    X = rng.standard_normal((60, 40))
    X[:, :20] += rng.permuted(np.tile([[-2.0], [0.0], [2.0]], 20), axis=0)[np.arange(60) % 3]
    X[:, 20:25] = X[:, :1]
    order = SieveSelector(40).fit(X).selection_order_
    copies = {0, 20, 21, 22, 23, 24}
    assert sum(i in copies for i in order[:20]) == 1
    assert set(order[:25]) == set(range(25))


def test_weak_features_wait_even_for_copies_of_strong_ones() -> None:
    """Most of the features 20 to 39 pass the test against noise, and say little. Alignment would prefer them."""
    Q = _embedding(400, 2, 0)
    rng = np.random.default_rng(4)
    X = rng.standard_normal((400, 40))
    X[:, 0] += 40.0 * Q[:, 0]
    X[:, 1:20] = X[:, :1] + 0.1 * rng.standard_normal((400, 19))
    X[:, 20:] += 5.0 * Q[:, 1:]
    V = same_say(Q * [1.0, 0.8])
    scores = agreement(as_data(X).standardized("center"), V)
    assert scores[:20].min() > 10 * scores[20:].max()
    passing = naive.beyond_noise(scores, V, NOISE_RATE)
    assert len(passing) > 30
    without = naive.pick_showing(naive.standardise(X), scores, passing, 20, COPY, 0.0)
    assert set(without) - set(range(20))
    order = pick_showing(as_data(X).standardized("center"), V, V, scores, np.arange(40), 40)
    assert set(order[:20]) == set(range(20))


def test_features_that_contradict_the_structure_are_picked_all_the_same() -> None:
    """With a mean as evidence a feature may pass the test against noise and still have a_i below 0."""
    rng = np.random.default_rng(5)
    X = rng.standard_normal((60, 12)) + 3.0
    V = _shown(60, 2, 0)
    order = pick_showing(as_data(X).standardized("unit"), V, V, np.ones(12), np.arange(12), 12, centered=False)
    assert sorted(order) == list(range(12))


def test_features_that_may_be_noise_follow_by_score() -> None:
    Q = _embedding(80, 2, 0)
    X = np.random.default_rng(7).standard_normal((80, 200))
    X[:, :10] = _features(Q, 20, 1)[:, :10]
    V = same_say(Q)
    scores = agreement(as_data(X).standardized("center"), V)
    passing = naive.beyond_noise(scores, V, NOISE_RATE)
    order = pick_showing(as_data(X).standardized("center"), V, V, scores, np.arange(200), 200)
    rest = order[len(passing) :]
    assert set(passing) >= set(range(10))
    np.testing.assert_array_equal(rest, rest[np.argsort(-scores[rest], kind="stable")])


@pytest.mark.parametrize("c", [1, 3, 8])
def test_p_values_of_noise_are_those_of_chance(c: int) -> None:
    """20,000 independent features: a rate of 5 % and of 1 % within half of it, where the approximation is worst."""
    V = _shown(100, c, 0)
    Z = np.random.default_rng(1).standard_normal((100, 20_000))
    p_values = agreement_p_values(agreement(as_data(Z).standardized("center"), V), V)
    for level in (0.05, 0.01):
        assert 0.5 * level < np.mean(p_values < level) < 1.5 * level


def test_no_features_are_picked_where_none_are_wanted() -> None:
    data = as_data(_features(_embedding(40, 3, 0), 60, 1)).standardized("center")
    assert pick_showing(data, *2 * [_shown(40, 3, 0)], np.ones(60), np.arange(60), 0).shape == (0,)


def test_a_feature_that_follows_either_the_embedding_or_the_walks_is_not_noise() -> None:
    """Features 0 to 9 follow Q and 10 to 19 follow V: all come before those that follow neither, whatever the score."""
    Q, V = _embedding(80, 2, 0), _shown(80, 3, 1)
    X = np.random.default_rng(7).standard_normal((80, 60))
    X[:, :10] = _features(Q, 20, 1)[:, :10]
    X[:, 10:20] = _features(V, 20, 2, noise=0.02)[:, :10]
    M, scores = naive.standardise(X), np.arange(60.0)
    passing = {*naive.beyond_noise(naive.agreement(M, Q), Q, NOISE_RATE)}
    passing |= {*naive.beyond_noise(naive.agreement(M, V), V, NOISE_RATE)}
    order = pick_showing(as_data(X).standardized("center"), V, Q, scores, np.arange(60), 60)
    assert passing >= set(range(20))
    assert set(order[: len(passing)]) == passing
    assert order[len(passing) :].tolist() == sorted(set(range(60)) - passing, reverse=True)
