"""When the features' scale counts, and what it does then."""

import numpy as np
import pytest
from scipy.stats import spearmanr

from eigensieve import SieveSelector
from eigensieve.data import as_data
from eigensieve.sieve.embedding import N_NEIGHBORS, SMOOTHING
from eigensieve.sieve.rounds import _Rounds
from eigensieve.sieve.scale import Prior, scale_prior
from reference import sieve as naive
from support.backends import FEW, tolerance

N_SAMPLES, N_FEATURES, N_RELEVANT = 40, 600, 150


def one_unit(seed: int = 0) -> np.ndarray:
    """Noise of the same deviation in all features; clusters shift some of them, which then vary more."""
    rng = np.random.default_rng(seed)
    X = 5.0 + rng.standard_normal((N_SAMPLES, N_FEATURES))
    X[:, :N_RELEVANT] += rng.normal(0, 2.0, (3, N_RELEVANT))[np.arange(N_SAMPLES) % 3]
    return X


def in_units(X: np.ndarray, spread: float, seed: int = 1) -> np.ndarray:
    """Give every feature a deviation of its own, whatever it shows."""
    return X / X.std(axis=0) * np.exp(np.random.default_rng(seed).normal(0, spread, X.shape[1]))


def prior_of(X: np.ndarray, use: bool | str = "auto") -> Prior | None:
    raw = as_data(X)
    usable = ~raw.stats().constant
    return scale_prior(raw, usable, np.ones(X.shape[1]), use)  # type: ignore[arg-type]


def holds(X: np.ndarray) -> bool:
    prior = prior_of(X)
    assert prior is not None
    usable = np.ones(X.shape[1], dtype=bool)
    return _Rounds(as_data(X).standardized("center"), usable, 3, True, prior=prior).factors is not None


@pytest.mark.parametrize("backend", FEW)
def test_factors_equal_the_naive_ones(backend: str) -> None:
    X = in_units(one_unit(), 0.5)
    raw = as_data(FEW[backend](X))
    prior = scale_prior(raw, np.ones(N_FEATURES, dtype=bool), np.ones(N_FEATURES), "auto")
    assert prior is not None and not prior.certain
    expected = naive.prior(X)
    np.testing.assert_allclose(prior.factors, expected, rtol=tolerance(backend, double=1e-9, single=1e-4))


def test_rounds_with_a_prior_equal_the_naive_ones() -> None:
    X = one_unit()
    factors = naive.prior(X)
    data, usable = as_data(X).standardized("center"), np.ones(N_FEATURES, dtype=bool)
    result = _Rounds(data, usable, 3, True, prior=Prior(factors, certain=True)).run(factors, "equal", 3)
    expected = naive.rounds(naive.standardise(X), factors, 3, 3, N_NEIGHBORS, SMOOTHING, True, factors)
    np.testing.assert_allclose(result.scores, expected, atol=1e-8)


def test_the_decision_is_that_of_the_rank_correlation() -> None:
    """Scale counts when it goes with what features share, by scipy's rank correlation, and not otherwise."""
    for X in (one_unit(), in_units(one_unit(), 0.3), in_units(one_unit(), 0.8), in_units(one_unit(2), 0.8, 5)):
        correlation = spearmanr(naive.shared(naive.standardise(X)), X.var(axis=0)).statistic
        assert holds(X) == (abs(correlation) > 4 / np.sqrt(N_FEATURES))


def test_scale_counts_in_one_unit_and_not_in_many() -> None:
    assert SieveSelector(10).fit(one_unit()).scale_used_
    for spread in (0.8, 3.0):  # within a factor of 30, and beyond
        X = in_units(one_unit(), spread)
        model, without = SieveSelector(10).fit(X), SieveSelector(10, use_scale=False).fit(X)
        assert not model.scale_used_ and not without.scale_used_
        np.testing.assert_array_equal(model.selection_order_, without.selection_order_)


def test_arbitrary_units_pass_for_one_unit_by_chance_only() -> None:
    """Four standard deviations: 6 in 100,000 by the normal law."""
    assert sum(holds(in_units(one_unit(), 0.8, seed)) for seed in range(60)) == 0


def test_the_unit_that_all_features_share_does_not_matter() -> None:
    X = one_unit()
    model, other = SieveSelector(10).fit(X), SieveSelector(10).fit(X * 1e-6)
    assert model.scale_used_ and other.scale_used_
    np.testing.assert_array_equal(model.selection_order_, other.selection_order_)


@pytest.mark.parametrize(
    ("X", "why"),
    [
        (one_unit()[:, :300], "fewer than 10 features per sample"),
        (np.where(one_unit() < 5.4, 0.0, one_unit()), "mostly zeros"),
        (in_units(one_unit(), 3.0), "deviations of many sizes"),
    ],
)
def test_scale_is_no_evidence(X: np.ndarray, why: str) -> None:
    assert prior_of(X) is None, why
    assert prior_of(X, use=False) is None
    told = prior_of(X, use=True)
    assert told is not None and told.certain
    vary = X.std(axis=0) > 0
    np.testing.assert_allclose(told.factors[vary], naive.prior(X[:, vary]))


def test_one_may_say_so() -> None:
    X = in_units(one_unit(), 3.0)
    assert SieveSelector(10, use_scale=True).fit(X).scale_used_
    assert not SieveSelector(10, use_scale=False).fit(one_unit()).scale_used_


@pytest.mark.parametrize("seed", range(3))
def test_scale_chooses_between_two_structures(seed: int) -> None:
    """Many quiet features show one structure, fewer loud ones another: in one unit the loud ones are meant."""
    rng = np.random.default_rng(seed)
    X = 0.1 * (rng.standard_normal((60, 2000)) + rng.normal(0, 0.7, (2, 2000))[np.arange(60) // 3 % 2])
    X[:, :300] = rng.standard_normal((60, 300)) + rng.normal(0, 1.0, (3, 300))[np.arange(60) % 3]
    auto, ignoring = SieveSelector(40).fit(X), SieveSelector(40, use_scale=False).fit(X)
    assert auto.scale_used_ and np.mean(auto.selection_order_ < 300) > 0.9
    assert np.mean(ignoring.selection_order_ < 300) < 0.8


def test_labels_leave_scale_aside() -> None:
    model = SieveSelector(10).fit(one_unit(), np.arange(N_SAMPLES) % 3)
    assert not model.scale_used_


def test_unwanted_variation_is_no_scale() -> None:
    """A feature that varies between batches only counts as one that hardly varies."""
    X = one_unit()
    batches = np.arange(N_SAMPLES) // 3 % 2
    X[:, -20:] += 50.0 * batches[:, None]
    model = SieveSelector(10).fit(X, batches=batches)
    assert model.scale_used_ and (model.selection_order_ < N_RELEVANT).all()


def test_noise_is_not_selected() -> None:
    rng = np.random.default_rng(0)
    X = rng.standard_normal((30, 900)) * np.exp(rng.normal(0, 0.5, 900))
    with pytest.warns(UserWarning, match="Nothing is selected"):
        assert not SieveSelector(random_state=0).fit(X).support_.any()


@pytest.mark.parametrize("exponent", [60, 100])
def test_scale_of_any_range_may_be_used(exponent: int) -> None:
    """Squares of the smallest deviations vanish; the features keep a little weight."""
    X = one_unit()[:, :100] * np.where(np.arange(100) < 95, 10.0**-exponent, 1.0)
    model = SieveSelector(5, use_scale=True).fit(X)
    assert model.scale_used_ and np.isfinite(model.weights_).all() and len(model.selection_order_) == 5
