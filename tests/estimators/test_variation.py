"""The cleaning transformer: what it takes off is gone, on every kind of data, and for new samples too."""

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from sklearn.pipeline import make_pipeline
from sklearn.utils.estimator_checks import parametrize_with_checks

from eigensieve import SieveSelector, UnwantedVariationRemover
from support.backends import FEW, tolerance

rng = np.random.default_rng(0)
LIGHT = rng.standard_normal((2, 30))
X = rng.standard_normal((50, 30)) + 4.0 * rng.standard_normal((50, 2)) @ LIGHT
SIDE = 4.0 * rng.standard_normal((40, 2)) @ LIGHT + 0.5 * rng.standard_normal((40, 30))


@parametrize_with_checks([UnwantedVariationRemover()])
def test_scikit_learn_contract(estimator, check) -> None:
    check(estimator)


@pytest.mark.parametrize("backend", FEW)
def test_side_directions_are_taken_off(backend: str) -> None:
    found = UnwantedVariationRemover(n_directions=2).fit(FEW[backend](X), side=SIDE)
    mean, deviation = X.mean(axis=0), X.std(axis=0)
    V = np.linalg.svd((SIDE - SIDE.mean(axis=0)) / deviation)[2][:2].T
    Z = (X - mean) / deviation
    expected = (Z - Z @ V @ V.T) * deviation + mean
    cleaned = found.transform(FEW[backend](X))
    np.testing.assert_allclose(cleaned, expected, atol=tolerance(backend, double=1e-9, single=1e-3))


def test_the_number_is_found_and_new_samples_are_cleaned_alike() -> None:
    found = UnwantedVariationRemover().fit(X[:30], side=SIDE)
    assert found.n_directions_ == 2
    both = found.transform(X)
    np.testing.assert_allclose(found.transform(X[30:]), both[30:], atol=1e-12)
    assert both[30:].var() < 0.3 * X[30:].var()


def test_batch_means_agree_afterwards_and_new_samples_need_no_batch() -> None:
    batches = np.array(["a", "b", "c"])[np.arange(50) % 3]
    shifted = X + np.outer(batches == "b", 5.0 * rng.standard_normal(30))
    found = UnwantedVariationRemover().fit(shifted, batches=batches)
    cleaned = found.transform(shifted)
    means = [cleaned[batches == b].mean(axis=0) for b in "abc"]
    np.testing.assert_allclose(means[0], means[1], atol=1e-9)
    np.testing.assert_allclose(means[0], means[2], atol=1e-9)
    assert found.transform(shifted[:4]).shape == (4, 30)


def test_linked_samples_differ_less() -> None:
    pairs = np.column_stack([np.arange(0, 24), np.arange(24, 48)])
    twins = X.copy()
    twins[24:48] = twins[:24] + 3.0 * rng.standard_normal((24, 1)) @ LIGHT[:1] + 0.1 * rng.standard_normal((24, 30))
    cleaned = UnwantedVariationRemover().fit_transform(twins, must_link=pairs)
    before = np.linalg.norm(twins[:24] - twins[24:48])
    assert np.linalg.norm(cleaned[:24] - cleaned[24:48]) < 0.2 * before


def test_nothing_known_leaves_the_data_as_it_is() -> None:
    np.testing.assert_allclose(UnwantedVariationRemover().fit_transform(X), X, atol=1e-12)
    np.testing.assert_allclose(UnwantedVariationRemover().fit_transform(sp.csr_array(X)), X, atol=1e-12)


def test_it_goes_before_a_selector() -> None:
    model = make_pipeline(UnwantedVariationRemover().fit(X, side=SIDE), SieveSelector(5))
    assert model.fit(X).transform(X).shape == (50, 5)


@pytest.mark.parametrize(
    ("known", "message"),
    [
        ({"side": SIDE[:, :4]}, "same columns as X"),
        ({"side": pd.DataFrame(SIDE).assign(site="a")}, r"Input side has 1 of 31 columns.*'site' \(\w+\)"),
        ({"batches": [1, 2]}, r"one value per sample \(50\). Got shape \(2,\)"),
        ({"batches": [None] * 50}, "must name the batch of every sample"),
        ({"batches": [float("nan")] + ["a", "b"] * 25}, r"one value per sample \(50\)"),
        ({"batches": [float("nan"), "a"] * 25}, "must name the batch of every sample"),
        ({"batches": pd.Series([pd.NA, "a"] * 25, dtype="string")}, "must name the batch of every sample"),
        ({"batches": np.zeros((50, 2))}, r"'batches' .* must hold one value per sample \(50\). Got shape \(50, 2\)"),
        ({"must_link": [[0, 77]]}, "indices from 0 to 49"),
    ],
)
def test_bad_input_is_named(known: dict[str, object], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        UnwantedVariationRemover().fit(X, **known)


@pytest.mark.parametrize("size", [1e-200, 1e200])
def test_values_of_extreme_size_are_refused(size: float) -> None:
    X = np.random.default_rng(0).standard_normal((12, 3))
    remover = UnwantedVariationRemover().fit(X, batches=np.arange(12) % 2)
    wide = X * [1.0, size, 1.0]
    for refused in (lambda: remover.transform(wide), lambda: remover.fit(wide, batches=np.arange(12) % 2)):
        with pytest.raises(ValueError, match=r"extreme size in column 1.*Scale the features first"):
            refused()
