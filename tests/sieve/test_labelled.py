"""Selection with a target against the dense transcription, on every kind of data."""

import numpy as np
import pytest

from eigensieve import SieveSelector
from eigensieve.data import SquaredData, as_data
from eigensieve.estimators import read_target, shared_with_batches
from eigensieve.sieve import Unwanted, pose
from eigensieve.sieve.labelled import fit_target, guessed_target
from eigensieve.sieve.rounds import separation
from reference import labelled as reference
from support.backends import FEW, tolerance

rng = np.random.default_rng(3)
CODES = np.arange(45) % 3
X = rng.standard_normal((45, 60))
X[:, :6] += rng.normal(0, 1.5, (3, 6))[CODES]
X[np.abs(X) < 0.1] = 0.0
X[:, 30] = X[:, 0] + 0.05 * rng.standard_normal(45)  # a near-copy
NUMBERS = X[:, 2] ** 2 + X[:, 3] + 0.2 * rng.standard_normal(45)


@pytest.mark.parametrize("backend", FEW)
def test_picks_with_classes_are_those_of_the_transcription(backend: str) -> None:
    Z, T = reference.standardised(X), reference.class_basis(CODES)
    found = SieveSelector(10).fit(FEW[backend](X), CODES)
    np.testing.assert_allclose(found.weights_, reference.agreement(Z, T), atol=tolerance(backend, double=1e-9))
    if "float32" not in backend:
        np.testing.assert_array_equal(found.selection_order_, reference.pick(Z, T, reference.class_columns(CODES), 10))


@pytest.mark.parametrize("backend", ["dense", "csr", "npy", "dask-columns"])
def test_picks_with_numbers_are_those_of_the_transcription(backend: str) -> None:
    Z = reference.standardised(X)
    T = reference.standardised(NUMBERS[:, None])
    found = SieveSelector(8).fit(FEW[backend](X), NUMBERS)
    np.testing.assert_array_equal(found.selection_order_, reference.pick(Z, T, T, 8, 0.5))
    assert {2, 3} <= set(found.selection_order_[:3])


def _wide(samples: int = 40) -> tuple[np.ndarray, np.ndarray]:
    """Ten features per sample with deviations from 0.1 to 10, a few of which follow three unequal classes."""
    rng = np.random.default_rng(5)
    codes = np.repeat([0, 1, 2], [samples // 2, samples // 4, samples - samples // 2 - samples // 4])
    wide = rng.standard_normal((samples, 10 * samples))
    wide[:, :30] += rng.normal(0, 1.0, (3, 30))[codes]
    return wide * 10.0 ** rng.uniform(-1, 1, 10 * samples), codes


def test_deviations_count_in_wide_data_up_to_their_quantile() -> None:
    X, codes = _wide()
    deviations = np.sqrt(np.minimum(X.var(axis=0), np.quantile(X.var(axis=0), 0.99)))
    Z, T, Y = reference.standardised(X), reference.class_basis(codes), reference.class_columns(codes)
    found = SieveSelector(12).fit(X, codes)
    np.testing.assert_array_equal(found.selection_order_, reference.pick(Z, T, Y, 12, scale=deviations))
    np.testing.assert_allclose(found.weights_, reference.agreement(Z, T), atol=1e-9)
    assert found.scale_used_
    plain = SieveSelector(12, use_scale=False).fit(X, codes)
    np.testing.assert_array_equal(plain.selection_order_, reference.pick(Z, T, Y, 12))
    narrow = SieveSelector(12).fit(X[:, 1:], codes)
    assert not narrow.scale_used_
    forced = SieveSelector(12, use_scale=True).fit(X[:, 1:], codes)
    np.testing.assert_array_equal(forced.selection_order_, reference.pick(Z[:, 1:], T, Y, 12, scale=deviations[1:]))


def test_deviations_do_not_move_p_values_or_what_is_found() -> None:
    X, codes = _wide()
    scaled, plain = (SieveSelector(use_scale=use).fit(X, codes) for use in (True, False))
    np.testing.assert_array_equal(scaled.p_values_, plain.p_values_)
    np.testing.assert_array_equal(scaled.support_, plain.support_)


@pytest.mark.parametrize("weighted", [False, True])
def test_the_pick_explains_each_class_without_its_batches(weighted: bool) -> None:
    """One column per class: centred, orthogonal to the batches, and rows multiplied by the roots of the weights."""
    batches = np.repeat([0, 1, 2], 15)
    weights = np.random.default_rng(0).uniform(0.5, 2.0, 45) if weighted else None
    problem = pose(
        as_data(X), np.ones(60, dtype=bool), read_target(CODES, 45, "test"), Unwanted(batches), weights=weights
    )
    r = np.ones((45, 1)) if weights is None else np.sqrt(weights)[:, None]
    indicators = (CODES[:, None] == np.arange(3)).astype(float) * r
    U = np.linalg.qr((batches[:, None] == np.arange(3)) * r)[0]
    np.testing.assert_allclose(problem.fitted.columns, indicators - U @ (U.T @ indicators), atol=1e-12)


def test_squares_are_what_the_feature_does_not_say() -> None:
    Z = reference.standardised(np.column_stack([X, X[:, 0] > 0, np.ones(45)]))
    found = SquaredData(as_data(Z)).take(slice(None))
    np.testing.assert_allclose(found, reference.squares(Z), atol=1e-10)
    assert not found[:, -2:].any(), "two values have no square of their own, and a constant has none"


@pytest.mark.parametrize("backend", FEW)
def test_guesses_are_those_of_the_transcription(backend: str) -> None:
    known = np.arange(45) < 12
    target = read_target(np.where(known, CODES, -1), 45, "test")
    data = as_data(FEW[backend](X)).standardized("center")
    T = guessed_target(data, np.ones(60, dtype=bool), target)
    expected = reference.guessed(reference.standardised(X), np.flatnonzero(known), CODES)
    np.testing.assert_allclose(T @ T.T, expected @ expected.T, atol=tolerance(backend, double=1e-9, single=1e-3))


def test_labels_of_shuffled_samples_guess_nothing_better(monkeypatch: pytest.MonkeyPatch) -> None:
    """More labelled samples than a fit takes: a fixed draw of them stands for all."""
    monkeypatch.setattr("eigensieve.sieve.labelled._MOST_LABELLED", 9)
    target = read_target(np.where(np.arange(45) < 30, CODES, -1), 45, "test")
    T = guessed_target(as_data(X).standardized("center"), np.ones(60, dtype=bool), target)
    assert T.shape[0] == 45
    assert np.isfinite(T).all()


def test_a_target_without_its_batches_is_orthogonal_to_them() -> None:
    batches = np.repeat([0, 1, 2], 15)
    span = Unwanted(batches).span(45)
    data = as_data(X).standardized("center")
    fit = fit_target(data, np.ones(60, dtype=bool), read_target(CODES, 45, "test"), batches=span)
    np.testing.assert_allclose(span.T @ fit.target, 0.0, atol=1e-12)
    np.testing.assert_allclose(fit.target.T @ fit.target, np.eye(2), atol=1e-12)


def test_what_labels_share_with_batches() -> None:
    target = read_target(CODES, 45, "test")
    assert shared_with_batches(target, Unwanted(CODES).span(45)) == pytest.approx((1.0, 1.0))
    assert shared_with_batches(target, Unwanted(np.repeat([0, 1, 2], 15)).span(45)) == pytest.approx(
        (0.0, 0.0), abs=1e-12
    )
    one = Unwanted((CODES == 1).astype(int)).span(45)
    smallest, largest = shared_with_batches(target, one)
    assert smallest == 0.0
    assert largest == pytest.approx(1.0)


def test_one_batch_shares_nothing_with_labels() -> None:
    y = np.arange(12) % 3
    X = np.random.default_rng(0).standard_normal((12, 20))
    plain = SieveSelector(5, random_state=0).fit(X, y)
    one = SieveSelector(5, random_state=0).fit(X, y, batches=np.zeros(12))
    np.testing.assert_array_equal(one.support_, plain.support_)


def test_labelled_samples_without_any_variation_guess_the_mean() -> None:
    X = np.zeros((9, 3))
    X[:, 0] = [0, 0, 0, 0, 1, -1, 2, -2, 0]
    fitted = SieveSelector(1).fit(X, [0, 0, 1, 1, -1, -1, -1, -1, -1])
    assert fitted.support_.tolist() == [True, False, False]


def test_separation_is_a_quadratic_form() -> None:
    pairs = np.array([[0, 1], [3, 4], [4, 9]])
    C = np.zeros((45, 45))
    for a, b in pairs:
        C[a, b] = C[b, a] = 1.0
    B = -C / np.linalg.eigvalsh(C)[-1]
    Z = reference.standardised(X)
    found = separation(as_data(X).standardized("center"), pairs)
    np.testing.assert_allclose(found, np.einsum("ti,ts,si->i", Z, B, Z), atol=1e-12)
