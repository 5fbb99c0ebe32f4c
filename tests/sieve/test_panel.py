"""How few would do: the share of the structure that picks show, and the smallest number that is enough."""

from dataclasses import replace

import numpy as np
import pytest

from eigensieve import SieveSelector
from eigensieve.evidence import share_shown
from eigensieve.sieve import samples
from eigensieve.sieve.panel import fewest, growing_panels
from eigensieve.sieve.settings import SETTINGS
from reference import sieve as naive
from support.backends import FEW

RELEVANT = 12
CODES = np.arange(90) % 3


@pytest.fixture(scope="module")
def planted() -> np.ndarray:
    rng = np.random.default_rng(0)
    X = rng.standard_normal((90, 120))
    X[np.abs(X) < 0.2] = 0.0
    X[:, :RELEVANT] += rng.normal(0, 2.0, (3, RELEVANT))[CODES]
    return X


def test_share_is_that_of_the_naive_transcription() -> None:
    rng = np.random.default_rng(1)
    Q = np.linalg.qr(rng.standard_normal((50, 3)))[0]
    for points in (rng.standard_normal((50, 4)), Q + 0.1 * rng.standard_normal((50, 3)), Q[:, :1]):
        assert share_shown(points, Q) == pytest.approx(naive.share_shown(points, Q), abs=1e-6)


def test_points_that_are_the_structure_show_all_of_it() -> None:
    Q = np.eye(3)[CODES] - 1 / 3
    assert share_shown(Q, Q) == pytest.approx(1.0)


def test_equal_samples_show_nothing_in_whatever_order_they_come() -> None:
    Q = np.eye(3)[np.sort(CODES)] - 1 / 3
    assert growing_panels(np.zeros((90, 1)), Q)[1][0] < 0.2


def test_the_smallest_size_with_95_percent_of_the_most() -> None:
    sizes = np.array([1, 2, 3, 4, 5])
    assert fewest(sizes, np.array([0.1, 0.75, 0.77, 0.8, 0.7])) == 3
    assert fewest(sizes[:0], np.empty(0)) == 0


@pytest.mark.parametrize("backend", FEW)
def test_every_backend_finds_few_features_that_show_the_structure(planted: np.ndarray, backend: str) -> None:
    model = SieveSelector("fewest", random_state=0).fit(FEW[backend](planted))
    sizes, shown = model.structure_shown_.T
    assert 1 < model.support_.sum() < RELEVANT
    assert not model.support_[RELEVANT:].any()
    assert model.support_.sum() == sizes[np.argmax(shown >= 0.95 * shown.max())]
    Z = naive.standardise(planted).T[:, model.selection_order_]
    for size, share in zip(sizes.astype(int), shown, strict=True):
        if size <= Z.shape[1]:
            expected = naive.share_shown(Z[:, :size], model.embedding_)
            # the search is one in single precision: of two that are equally near it may take the other
            assert share == pytest.approx(expected, abs=0.02)


def test_what_is_known_takes_the_place_of_the_structure(planted: np.ndarray) -> None:
    batches = np.arange(90) // 3 % 2
    shifted = planted + np.outer(batches, np.where(np.arange(120) >= 60, 6.0, 0.0))
    for y in (None, CODES):
        model = SieveSelector("fewest", random_state=0).fit(shifted, y, batches=batches)
        assert 1 < model.support_.sum() < RELEVANT
        assert not model.support_[RELEVANT:].any()


def test_landmarks_tell_how_few_of_many_samples_would_do(planted: np.ndarray, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(samples, "SETTINGS", replace(SETTINGS, landmarks=60))
    model = SieveSelector("fewest", random_state=0).fit(planted)
    assert 1 < model.support_.sum() < RELEVANT
    assert not model.support_[RELEVANT:].any()
    assert model.structure_shown_[:, 1].max() > 0.8


def test_copies_make_the_panel_at_most_twice_as_large(planted: np.ndarray) -> None:
    plain = SieveSelector("fewest", random_state=0).fit(planted)
    copied = SieveSelector("fewest", random_state=0).fit(np.hstack([planted, planted[:, :RELEVANT]]))
    assert copied.support_.sum() <= 2 * plain.support_.sum()
