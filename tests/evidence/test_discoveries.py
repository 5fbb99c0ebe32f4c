"""The calibration: null scores, p-values, the step-up rule within folds, the noise edge."""

import numpy as np
import pytest

from eigensieve.data import as_data, value_orders
from eigensieve.evidence import (
    agreement,
    count_clusters,
    count_spikes,
    discover,
    follow,
    null_agreement,
    permuted_excess,
    step_up,
    weighted_noise_edge,
)
from eigensieve.evidence.noise_edges import equal_noise_edge
from eigensieve.evidence.scores import NullSample, tail_shares
from reference import sieve as naive
from support.backends import FEW


def centred(X: np.ndarray):
    return as_data(X).standardized("center")


def test_null_scores_are_those_of_permuted_features() -> None:
    rng = np.random.default_rng(0)
    V = np.linalg.qr(rng.standard_normal((45, 3)))[0]
    data = centred(rng.standard_normal((45, 30)))
    Z = data.take(np.arange(30))
    null = null_agreement(Z, V, 4, np.random.default_rng(5))
    order = np.random.default_rng(5)
    for copy in range(4):
        permuted = np.empty_like(Z)
        permuted[order.permutation(45)] = Z
        np.testing.assert_allclose(null[:, copy], naive.agreement(permuted.T, V), atol=1e-12)


def test_null_scores_have_mean_minus_the_diagonals_share() -> None:
    """Over all permutations E |V'm|^2 = k / (q - 1) and E sum_t m_t^2 h_t = k / q for centred orthonormal V."""
    X = np.random.default_rng(1).lognormal(size=(45, 60))
    data = centred(X)
    V = np.linalg.qr(X[:, :3] - X[:, :3].mean(axis=0))[0]
    null = null_agreement(data.take(np.arange(60)), V, 400, np.random.default_rng(0))
    assert null.mean() == pytest.approx(3 / 44 - 3 / 45, abs=1.5e-3)


def test_tail_shares_count_the_null_scores_that_reach_a_score() -> None:
    null = np.array([0.0, 1.0, 2.0, 3.0])
    np.testing.assert_allclose(tail_shares(np.array([-1.0, 2.0, 5.0]), null), [5 / 5, 3 / 5, 1 / 5])


def test_step_up_is_benjamini_and_hochberg() -> None:
    p = np.array([0.04, 0.001, 0.9, 0.03, 0.004])
    # thresholds 0.02, 0.04, 0.06, 0.08, 0.10 for the sorted 0.001, 0.004, 0.03, 0.04, 0.9
    np.testing.assert_array_equal(step_up(p, 0.1), [True, True, False, True, True])
    assert not step_up(np.array([0.5, 0.03]), 0.04).any()


def test_nothing_can_look_at_features_outside_the_restriction() -> None:
    rng = np.random.default_rng(0)
    X, active = rng.standard_normal((20, 12)) + 5.0, np.arange(12) % 3 > 0
    changed = np.where(active, X, rng.standard_normal((20, 12)))
    V = rng.standard_normal((20, 2))
    for kind in ("center", "unit", "none"):
        first, second = (as_data(values).standardized(kind).restricted(active) for values in (X, changed))
        assert not first.project(V)[~active].any()
        np.testing.assert_array_equal(first.gram(np.ones(12)), second.gram(np.ones(12)))


def greedy(data, active: np.ndarray) -> np.ndarray:
    """The most adaptive fit there is: the two active features that are most alike."""
    inside = np.flatnonzero(active)
    Z = data.take(inside)
    alike = np.abs(np.corrcoef(Z.T))
    np.fill_diagonal(alike, 0.0)
    return np.linalg.qr(Z[:, np.unravel_index(alike.argmax(), alike.shape)])[0]


def test_p_values_of_independent_features_are_uniform_whatever_is_fitted_to_the_others() -> None:
    data = centred(np.random.default_rng(0).standard_normal((40, 600)))
    found = discover(data, np.ones(600, dtype=bool), lambda a: greedy(data, a), fdr=0.1, rng=np.random.default_rng(1))
    assert found.p_values.min() > 0
    shares = [0.1, 0.25, 0.5, 0.75, 0.9]
    # Four standard deviations of a quantile of 600 uniform values.
    np.testing.assert_allclose(np.quantile(found.p_values, shares), shares, atol=4 * np.sqrt(0.25 / 600))


@pytest.mark.parametrize("kind", ["normal", "heavy", "binary"])
def test_false_selections_on_noise_are_as_rare_as_promised(kind: str) -> None:
    """At most one draw in ten: of 100 draws more than 22 would be a surprise of one in five thousand."""
    false = 0
    for seed in range(100):
        rng = np.random.default_rng(seed)
        X = rng.standard_t(2, (25, 60)) if kind == "heavy" else rng.standard_normal((25, 60))
        X = (X > 1.2).astype(float) if kind == "binary" else X
        data = centred(X)
        usable = ~data.stats().constant
        found = discover(data, usable, lambda a, data=data: greedy(data, a), fdr=0.1, rng=rng)
        false += bool(found.selected.any())
    assert false <= 22


def test_copies_of_noise_are_a_structure_and_a_lone_feature_is_not() -> None:
    rng = np.random.default_rng(0)
    X = rng.standard_normal((50, 40))
    X[:, :6] = X[:, :1] + 0.1 * X[:, :6]
    data = centred(X)
    found = discover(data, np.ones(40, dtype=bool), lambda a: greedy(data, a), fdr=0.1, rng=rng)
    assert found.selected[:6].all() and found.count <= 7
    only_one = np.linalg.qr(X[:, 10:12])[0]
    lone = discover(data, np.arange(40) > 10, lambda a: only_one, fdr=1e-3, rng=rng)
    assert lone.p_values.argmin() == 11 and not lone.selected.any()


@pytest.mark.parametrize("backend", FEW)
def test_every_backend_finds_the_features_of_a_shared_structure(backend: str) -> None:
    rng = np.random.default_rng(0)
    X = rng.standard_normal((60, 200))
    X[:, :10] += 3.0 * np.sign(rng.standard_normal(60))[:, None]
    X[np.abs(X) < 0.3] = 0.0
    data = as_data(FEW[backend](X)).standardized("center")

    def fit(active: np.ndarray) -> np.ndarray:
        return np.linalg.eigh(data.restricted(active).gram(np.ones(200)))[1][:, -1:]

    found = discover(data, np.ones(200, dtype=bool), fit, fdr=0.1, rng=np.random.default_rng(1))
    assert found.selected[:10].all()
    assert found.count <= 12


def test_the_fit_never_sees_the_fold_it_is_judged_by() -> None:
    data = centred(np.random.default_rng(0).standard_normal((20, 30)))
    seen = []

    def fit(active: np.ndarray) -> np.ndarray:
        seen.append(active.copy())
        return np.linalg.qr(np.random.default_rng(len(seen)).standard_normal((20, 2)))[0]

    usable = np.arange(30) > 2
    found = discover(data, usable, fit, fdr=0.1, rng=np.random.default_rng(0))
    left_out = np.array([usable & ~active for active in seen])
    np.testing.assert_array_equal(left_out.sum(axis=0), usable.astype(int))
    assert (found.p_values[:3] == 1).all()


def test_a_given_embedding_is_followed_by_all_features_at_once() -> None:
    rng = np.random.default_rng(0)
    y = np.arange(40) % 2 - 0.5
    X = rng.standard_normal((40, 80))
    X[:, 3] += 4.0 * y
    found = follow([centred(X)], np.ones(80, dtype=bool), y[:, None], fdr=0.1, rng=rng)
    assert found.selected[3] and found.p_values.argmin() == 3
    nothing = follow([centred(X)], np.ones(80, dtype=bool), np.ones((40, 1)), fdr=0.1, rng=rng)
    assert (nothing.p_values == 1).all()


def test_values_that_tie_with_their_copies_are_not_told_apart_by_rounding() -> None:
    """One sample of 12 differs: a copy that picks the same sample scores the same."""
    X = np.zeros((12, 40))
    X[np.arange(40) % 12, np.arange(40)] = 1.0
    for dtype in (np.float32, np.float64):
        data = centred(X.astype(dtype))
        V = np.linalg.qr(np.random.default_rng(0).standard_normal((12, 2)))[0]
        p = NullSample(data, [np.arange(40)]).p_values(V, 0, np.random.default_rng(1))
        scores = agreement(data, V - V.mean(axis=0))
        best = np.isclose(scores, scores.max(), atol=1e-6)
        assert p[best] == pytest.approx(np.full(best.sum(), 1 / 12), rel=0.2)


def test_few_features_get_more_copies_and_many_samples_fewer_features() -> None:
    rng = np.random.default_rng(0)
    few = NullSample(centred(rng.standard_normal((10, 6))), [np.arange(3), np.arange(3, 6)])
    assert [part.shape for part in few.samples] == [(10, 3), (10, 3)]
    assert len(few.scores(rng.standard_normal((10, 2)), 1, rng)) == 3 * 1_000
    many = NullSample(centred(rng.standard_normal((2**19, 12), dtype=np.float32)), [np.arange(12)])
    assert many.samples[0].shape == (2**19, 8)


@pytest.mark.parametrize(("n", "d"), [(400, 100), (100, 400), (5_000, 60)])
def test_noise_edge_of_equal_weights_is_marchenko_and_pastur(n: int, d: int) -> None:
    edge = weighted_noise_edge(np.full(n, 0.7), d) / (1 + d ** (-2 / 3))
    assert edge == pytest.approx(0.7 * (1 + np.sqrt(n / d)) ** 2, rel=1e-3)


def test_noise_is_beyond_its_edge_as_seldom_as_its_fluctuation_says() -> None:
    """Two standard deviations above the edge: Tracy and Widom's law gives about one draw in a hundred."""
    rng = np.random.default_rng(0)
    beyond = 0
    for _ in range(200):
        M = rng.standard_normal((150, 60))
        M /= np.linalg.norm(M, axis=1, keepdims=True)
        beyond += np.linalg.norm(M, 2) ** 2 > equal_noise_edge(150, 60)
    assert beyond <= 8


def test_noise_edge_of_unequal_weights_holds_noise_and_little_more() -> None:
    rng = np.random.default_rng(0)
    weights = rng.gamma(0.5, 1.0, 2_000)
    M = rng.standard_normal((2_000, 120))
    M /= np.linalg.norm(M, axis=1, keepdims=True)
    largest = np.linalg.eigvalsh((M.T * weights) @ M)[-1]
    edge = weighted_noise_edge(weights, 120)
    assert largest < edge < 1.15 * largest


def test_spikes_are_counted_above_the_edge() -> None:
    edge = weighted_noise_edge(np.ones(50), 20)
    assert count_spikes(np.array([3 * edge, 1.01 * edge, 0.99 * edge]), np.ones(50), 20) == 2


def test_permuted_light_tails_reach_no_further_than_the_edge() -> None:
    X = np.random.default_rng(0).standard_normal((80, 900))
    assert permuted_excess(centred(X), np.ones(900, dtype=bool), value_orders(as_data(X))) < 1.1


def test_permuted_rare_values_reach_further() -> None:
    """Columns with one non-zero fall on samples like balls into bins: the fullest bin is the largest eigenvalue."""
    rng = np.random.default_rng(0)
    q, n = 100, 2_000
    X = np.zeros((q, n))
    X[rng.integers(0, q, n), np.arange(n)] = 1.0
    excess = permuted_excess(centred(X), np.ones(n, dtype=bool), value_orders(as_data(X)))
    fullest = np.mean([max(np.bincount(rng.integers(0, q, n)).max() for _ in range(3)) for _ in range(50)])
    assert excess == pytest.approx((fullest - n / q) / (2 * np.sqrt(n / q) + 1), rel=0.2)
    values = np.linalg.eigvalsh(centred(X).gram(np.ones(n)))
    assert count_spikes(values, np.ones(n), q - 1) > 0
    assert count_spikes(values, np.ones(n), q - 1, excess) == 0
    assert count_clusters(values, n, q, centered=True, excess=excess) == 2


def test_dependence_does_not_raise_the_excess() -> None:
    rng = np.random.default_rng(0)
    X = rng.standard_normal((80, 400)) + 2.0 * rng.standard_normal((80, 1))
    assert permuted_excess(centred(X), np.ones(400, dtype=bool), value_orders(as_data(X))) < 1.1
    assert count_clusters(np.linalg.eigvalsh(centred(X).gram(np.ones(400))), 400, 80, centered=True) == 2


def test_no_feature_is_left_out_below_the_p_value_of_one_that_is_kept() -> None:
    """30 of 6,000 features follow a group. Folds get few of them or many, and all are judged by one threshold."""
    rng = np.random.default_rng(5)
    X = rng.standard_normal((60, 6_000))
    group = np.repeat([-1.0, 1.0], 30)
    X[:, :30] += np.linspace(0.7, 2.0, 30) * group[:, None]
    found = discover(centred(X), np.ones(6_000, dtype=bool), lambda active: group[:, None] / 60**0.5, fdr=0.1, rng=rng)
    kept = found.selected
    assert found.p_values[kept].max() < found.p_values[~kept].min()
    assert kept[15:30].all()
    assert kept[30:].sum() <= 2


def test_selection_is_benjamini_and_yekutieli() -> None:
    """scipy adjusts p-values under any dependence."""
    from scipy.stats import false_discovery_control

    rng = np.random.default_rng(6)
    X = rng.standard_normal((50, 300))
    group = np.repeat([-1.0, 1.0], 25)
    X[:, :40] += np.linspace(0.1, 1.5, 40) * group[:, None]
    found = discover(centred(X), np.arange(300) > 0, lambda active: group[:, None] / 50**0.5, fdr=0.1, rng=rng)
    adjusted = false_discovery_control(found.p_values[1:], method="by")
    np.testing.assert_array_equal(found.selected[1:], adjusted <= 0.1)
    assert 5 < found.count < 40
