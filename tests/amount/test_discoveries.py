"""The calibration: p-values, the step-up rule, the noise edge."""

import numpy as np
import pytest

from eigensieve.amount._discoveries import copies_for, discover, step_up, tail_shares
from eigensieve.amount._edge import count_spikes, weighted_noise_edge
from eigensieve.data import as_data


def test_tail_shares_count_the_null_scores_that_reach_a_score() -> None:
    null = np.array([0.0, 1.0, 2.0, 3.0])
    np.testing.assert_allclose(tail_shares(np.array([-1.0, 2.0, 5.0]), null), [5 / 5, 3 / 5, 1 / 5])


def test_step_up_is_benjamini_and_hochberg() -> None:
    p = np.array([0.04, 0.001, 0.9, 0.03, 0.004, 0.5])
    usable = np.array([True, True, True, True, True, False])
    # thresholds 0.02, 0.04, 0.06, 0.08, 0.10 for the sorted 0.001, 0.004, 0.03, 0.04, 0.9
    np.testing.assert_array_equal(step_up(p, usable, 0.1), [True, True, False, True, True, False])


def test_a_lone_feature_is_not_a_structure() -> None:
    p = np.array([1e-6, 0.5, 0.9])
    assert not step_up(p, np.ones(3, dtype=bool), 0.1).any()


def test_p_values_of_independent_features_are_uniform() -> None:
    """Whatever embedding is fitted to the other features, here the most adaptive one there is: a few of them."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((40, 600))
    data = as_data(X).standardized("center")
    usable = np.ones(600, dtype=bool)

    def fit(active: np.ndarray) -> np.ndarray:
        return np.linalg.qr(data.take(np.flatnonzero(active)[:3]))[0]

    found = discover(data, usable, fit, fdr=0.1, rng=np.random.default_rng(1))
    assert found.p_values.min() > 0
    quantiles = np.quantile(found.p_values, [0.1, 0.25, 0.5, 0.75, 0.9])
    np.testing.assert_allclose(quantiles, [0.1, 0.25, 0.5, 0.75, 0.9], atol=0.06)


def test_features_of_a_shared_structure_are_found_and_no_others() -> None:
    rng = np.random.default_rng(0)
    X = rng.standard_normal((60, 200))
    X[:, :10] += 3.0 * np.sign(rng.standard_normal(60))[:, None]
    data = as_data(X).standardized("center")

    def fit(active: np.ndarray) -> np.ndarray:
        A = data.gram(active.astype(float))
        return np.linalg.eigh(A)[1][:, -1:]

    found = discover(data, np.ones(200, dtype=bool), fit, fdr=0.1, rng=np.random.default_rng(1))
    assert found.selected[:10].all()
    assert found.count <= 12


def test_the_fit_never_sees_the_fold_it_is_judged_by() -> None:
    data = as_data(np.random.default_rng(0).standard_normal((20, 30))).standardized("center")
    seen = []

    def fit(active: np.ndarray) -> np.ndarray:
        seen.append(active.copy())
        return np.linalg.qr(np.random.default_rng(len(seen)).standard_normal((20, 2)))[0]

    usable = np.arange(30) > 2
    discover(data, usable, fit, fdr=0.1, rng=np.random.default_rng(0))
    left_out = np.array([usable & ~active for active in seen])
    np.testing.assert_array_equal(left_out.sum(axis=0), usable.astype(int))


def test_few_features_get_more_copies() -> None:
    assert copies_for(10) == 200
    assert copies_for(1_000) == 20
    assert copies_for(100_000) == 10


@pytest.mark.parametrize(("n", "d"), [(400, 100), (100, 400), (5_000, 60)])
def test_noise_edge_of_equal_weights_is_marchenko_and_pastur(n: int, d: int) -> None:
    edge = weighted_noise_edge(np.full(n, 0.7), d) / (1 + d ** (-2 / 3))
    assert edge == pytest.approx(0.7 * (1 + np.sqrt(n / d)) ** 2, rel=1e-3)


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
