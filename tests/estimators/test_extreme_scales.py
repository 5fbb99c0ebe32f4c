"""Scales that cannot be squared, and means that are many deviations from zero: the answers do not depend on either."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.base import clone

from eigensieve import (
    ElementSelectedSVC,
    FeatureMap,
    KernelQAlphaSelector,
    QAlphaSelector,
    SieveSelector,
    TraceRatioSelector,
    fisher_score,
    laplacian_score,
)
from eigensieve.data import as_data, rescaled_extremes

RELEVANT = 10
LABELS = np.repeat([0, 1], 20)


@pytest.fixture(scope="module")
def P() -> np.ndarray:
    P = np.random.default_rng(0).standard_normal((40, 60))
    P[:20, :RELEVANT] += 3.0
    return P


SELECTORS: dict[str, Any] = {
    "sieve": SieveSelector(RELEVANT, random_state=0),
    "q-alpha": QAlphaSelector(RELEVANT, 1),
    "q-alpha-gap": QAlphaSelector(RELEVANT, 1, criterion="gap"),
    "q-alpha-laplacian": QAlphaSelector(RELEVANT, 1, spectrum="laplacian"),
    "map": FeatureMap(RELEVANT, 1, 1),
    "kernel": KernelQAlphaSelector(RELEVANT, 1, kernel="linear"),
}
SCALES = {
    "tiny": np.full(60, -1060),
    "small": np.full(60, -600),
    "huge": np.full(60, 1000),
    "mixed": np.random.default_rng(1).integers(-1000, 1000, 60),
}


@pytest.mark.parametrize("scale", SCALES)
@pytest.mark.parametrize("storage", [np.asarray, sp.csr_matrix], ids=["dense", "csr"])
@pytest.mark.parametrize("selector", SELECTORS)
def test_the_scale_of_a_feature_changes_nothing(P: np.ndarray, selector: str, storage: Any, scale: str) -> None:
    plain = SELECTORS[selector].fit(P).weights_.copy()
    found = SELECTORS[selector].fit(storage(np.ldexp(P, SCALES[scale])))
    assert found.get_support().sum() == RELEVANT
    # 2^-1060 leaves about 14 bits of a number
    np.testing.assert_allclose(found.weights_, plain, atol=1e-2 if scale == "tiny" else 1e-6)


def test_single_precision(P: np.ndarray) -> None:
    plain = QAlphaSelector(RELEVANT, 1).fit(P).weights_
    for exponent in (-110, 110):
        X = np.ldexp(P.astype(np.float32), exponent)
        np.testing.assert_allclose(QAlphaSelector(RELEVANT, 1).fit(X).weights_, plain, atol=1e-4)


@pytest.mark.parametrize("storage", [np.asarray, sp.csr_matrix, sp.csc_array], ids=["dense", "csr", "csc"])
def test_a_mean_far_from_zero_changes_nothing(P: np.ndarray, storage: Any) -> None:
    X = storage(1e4 + 1e-4 * P)
    for selector in (
        QAlphaSelector(RELEVANT, 1, solver_options={"tol": 1e-7}),
        SieveSelector(RELEVANT, random_state=0),
    ):
        plain = selector.fit(100 + P).weights_.copy()  # for the sieve, zero has a meaning in P itself
        np.testing.assert_allclose(selector.fit(X).weights_, plain, atol=1e-5)
    np.testing.assert_allclose(laplacian_score(X), laplacian_score(P), rtol=1e-4)
    np.testing.assert_allclose(fisher_score(X, LABELS), fisher_score(P, LABELS), rtol=1e-4)


@pytest.mark.parametrize("exponent", [-1060, -600, 1000])
@pytest.mark.parametrize("storage", [np.asarray, sp.csr_matrix], ids=["dense", "csr"])
def test_trace_ratios_are_ratios(P: np.ndarray, storage: Any, exponent: int) -> None:
    X = storage(np.ldexp(P, exponent))
    rtol = 1e-2 if exponent == -1060 else 1e-9
    np.testing.assert_allclose(laplacian_score(X), laplacian_score(P), rtol=rtol)
    np.testing.assert_allclose(fisher_score(X, LABELS), fisher_score(P, LABELS), rtol=rtol)
    plain = TraceRatioSelector(RELEVANT).fit(P, LABELS).get_support()
    np.testing.assert_array_equal(TraceRatioSelector(RELEVANT).fit(X, LABELS).get_support(), plain)


@pytest.mark.parametrize("exponent", [0, -600, 1000])
@pytest.mark.parametrize("storage", [np.asarray, sp.csr_matrix], ids=["dense", "csr"])
def test_columns_that_do_not_vary_have_no_fisher_score_and_hide_no_extremes(
    P: np.ndarray, storage: Any, exponent: int
) -> None:
    X = np.ldexp(P, exponent)
    X[:, 3], X[:, 7] = 0.0, X[0, 7]
    expected = fisher_score(P, LABELS)
    expected[[3, 7]] = np.nan
    np.testing.assert_allclose(fisher_score(storage(X), LABELS), expected, rtol=1e-9)


def test_scatters_that_cannot_be_compared_are_refused(P: np.ndarray) -> None:
    with pytest.raises(ValueError, match=r"deviations range from .* cannot be compared in float64 by fisher_score"):
        fisher_score(np.ldexp(P, SCALES["mixed"]), LABELS)
    with pytest.raises(
        ValueError, match=r"deviations range from .* cannot be compared in float64 by TraceRatioSelector"
    ):
        TraceRatioSelector(RELEVANT).fit(np.ldexp(P, SCALES["mixed"]), LABELS)


@pytest.mark.parametrize("exponent", [-1000, 1000])
def test_without_normalisation_extreme_scales_are_refused(P: np.ndarray, exponent: int) -> None:
    for selector in (QAlphaSelector, FeatureMap, KernelQAlphaSelector):
        with pytest.raises(ValueError, match=r"'normalize' parameter of .* must not be 'none' for features below"):
            selector(RELEVANT, n_clusters=1, normalize="none").fit(np.ldexp(P, exponent))


def test_a_kernel_that_overflows_is_refused(P: np.ndarray) -> None:
    with pytest.raises(ValueError, match="Got a kernel that gives features of size"):
        KernelQAlphaSelector(RELEVANT, 1, kernel="poly", kernel_params={"degree": 9}, normalize="none").fit(1e10 * P)
    K = P.T @ P
    with pytest.raises(ValueError, match="must hold kernel values that can be multiplied"):
        KernelQAlphaSelector(RELEVANT, 1, kernel="precomputed").fit(np.ldexp(K, 900))


@pytest.mark.parametrize("selector", [QAlphaSelector(RELEVANT, 1), SieveSelector(RELEVANT, random_state=0)])
@pytest.mark.parametrize("storage", [np.asarray, sp.csr_matrix], ids=["dense", "csr"])
def test_side_data_are_in_the_units_of_the_data(P: np.ndarray, selector: Any, storage: Any) -> None:
    side = np.random.default_rng(3).standard_normal((15, 60)) * np.linspace(0.1, 3.0, 60)
    side[:8, 5:9] += 20.0  # a direction that the sieve takes out
    plain = clone(selector).fit(P, side=side).weights_
    exponents = SCALES["mixed"]
    found = clone(selector).fit(storage(np.ldexp(P, exponents)), side=storage(np.ldexp(side, exponents)))
    np.testing.assert_allclose(found.weights_, plain, atol=1e-6)
    assert np.abs(clone(selector).fit(P).weights_ - plain).max() > 0.01


def test_side_data_in_other_units_are_refused_by_the_sieve(P: np.ndarray) -> None:
    side = np.random.default_rng(3).standard_normal((15, 60))
    side[:, 7] *= 1e120
    with pytest.raises(ValueError, match=r"'side' parameter of fit must have the units of X\. In feature 7"):
        SieveSelector(RELEVANT).fit(P, side=side)


def test_stored_data_of_extreme_scale_is_refused(P: np.ndarray, tmp_path: Path) -> None:
    np.save(tmp_path / "X.npy", np.ldexp(P, np.where(np.arange(60) == 7, -1000, 0)))
    with pytest.raises(
        ValueError, match=r"1 of 60 columns whose values are too large or vary too little.*: 7\. Rescale"
    ):
        QAlphaSelector(RELEVANT, 1).fit(np.load(tmp_path / "X.npy", mmap_mode="r"))


def test_kernel_machines_ask_for_a_scale(P: np.ndarray) -> None:
    for exponent in (-1000, 100, 1000):
        with pytest.raises(ValueError, match="Input X has values of magnitude up to"):
            ElementSelectedSVC().fit(np.ldexp(P, exponent), LABELS)


def test_powers_of_two_change_no_digit(P: np.ndarray) -> None:
    X = np.ldexp(P, SCALES["mixed"])
    for storage in (np.asarray, sp.csr_matrix):
        raw = as_data(storage(X))
        data = rescaled_extremes(raw, raw.stats().extreme(raw.dtype))
        assert data is not None and data.shared.exponents is not None
        back = np.ldexp(data.take(np.arange(60)), -data.shared.exponents)
        np.testing.assert_array_equal(back, X)
    raw = as_data(P)
    assert not raw.stats().extreme(raw.dtype).any()
