"""When a mean counts as structure."""

import numpy as np
import pytest

from eigensieve.data import as_data
from eigensieve.datasets import make_class_scaleup, make_gene_expression
from eigensieve.estimators.qalpha_selector import QAlphaSelector
from eigensieve.estimators.sieve_selector import SieveSelector
from eigensieve.sieve.start import zero_is_meaningful
from support.backends import FEW


@pytest.fixture
def noise() -> np.ndarray:
    return np.random.default_rng(5).standard_normal((50, 300))


@pytest.mark.parametrize("backend", FEW)
@pytest.mark.parametrize(("share", "expected"), [(0.0, False), (0.1, True), (0.3, True), (0.6, False), (1.0, False)])
def test_most_features_must_lie_about_zero_and_some_not(
    noise: np.ndarray, backend: str, share: float, expected: bool
) -> None:
    noise[:, : round(share * 300)] += 3.0
    assert zero_is_meaningful(as_data(FEW[backend](noise)).stats()) is expected


def test_centred_and_constant_features_say_nothing(noise: np.ndarray) -> None:
    X = noise + 3.0 * (np.arange(300) < 30)
    assert not zero_is_meaningful(as_data(X - X.mean(axis=0)).stats())
    assert zero_is_meaningful(as_data(np.hstack([X, np.full((50, 400), 9.0)])).stats())


def test_counts_are_centred() -> None:
    counts = np.random.default_rng(0).poisson(np.geomspace(0.02, 3, 400), (80, 400)).astype(float)
    assert not zero_is_meaningful(as_data(counts).stats())


@pytest.mark.parametrize("fraction", [0.72, 0.99])
def test_gene_model_is_no_worse_than_uncentred_q_alpha(fraction: float) -> None:
    sieved, plain = [], []
    for seed in range(300, 304):
        made = make_gene_expression(irrelevant_fraction=fraction, random_state=seed)
        count = int(made.relevant.sum())
        sieved.append(made.relevant[SieveSelector(count).fit(made.X).support_].mean())
        plain.append(made.relevant[QAlphaSelector(count, 2, normalize="unit").fit(made.X).selection_order_].mean())
    assert np.mean(sieved) >= np.mean(plain) - 0.05


def test_features_scattered_about_other_places_are_centred() -> None:
    assert not any(zero_is_meaningful(as_data(make_class_scaleup(c, random_state=7).X).stats()) for c in (2, 3, 5))
