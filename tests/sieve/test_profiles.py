"""Profiles of counts and texts: the naive transcription, when they are used, and what they find."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.sparse import csr_array
from sklearn.feature_extraction.text import TfidfTransformer

from eigensieve import SieveSelector
from eigensieve.data import as_data, logarithms
from eigensieve.sieve import compared_samples
from eigensieve.sieve.layouts import Layout, rarities, sample_profiles, typical_value
from eigensieve.sieve.settings import SETTINGS
from support.backends import BACKENDS

N_TOPIC = 20


def words(
    n_samples: int = 90, n_features: int = 300, seed: int = 0, often: float = 1.5
) -> tuple[np.ndarray, np.ndarray]:
    """Counts of words in texts of three topics and very different lengths; the first 60 words belong to the topics."""
    rng = np.random.default_rng(seed)
    topic = np.arange(n_samples) % 3
    rates = np.full((n_samples, n_features), 0.15)
    for k in range(3):
        rates[topic == k, k * N_TOPIC : (k + 1) * N_TOPIC] = often
    return rng.poisson(rates * rng.choice([0.3, 1.0, 4.0], n_samples)[:, None]).astype(np.float64), topic


def naive_profiles(X: np.ndarray) -> np.ndarray:
    """Profiles as the page describes them, with plain loops over the features."""
    q, n = X.shape
    typical = [np.sum(x**2) / np.sum(x) for x in X.T if x.any()]
    G = np.log(1.0 + X / np.median(typical))
    for i in range(n):
        if G[:, i].any():
            share = np.sum(G[:, i]) ** 2 / (q * np.sum(G[:, i] ** 2))
            G[:, i] *= 1.0 + np.log(1.0 / share)
    lengths = np.sqrt(np.sum(G**2, axis=1, keepdims=True))
    F = np.where(lengths > 0, G / np.where(lengths > 0, lengths, 1.0), 0.0)
    return F - F.mean(axis=0)


def layout(X) -> Layout:
    raw = as_data(X)
    usable = ~raw.stats().constant
    found = sample_profiles(raw, usable, True)
    assert found is not None
    return found.layout(compared_samples(raw.standardized("center")), usable)


def test_products_are_those_of_the_transcription() -> None:
    X, _ = words()
    found = layout(X)
    F = naive_profiles(X)
    expected = np.linalg.eigvalsh(F @ F.T)[::-1]
    np.testing.assert_allclose(found.eigenvalues, np.maximum(expected, 0.0)[: len(found.eigenvalues)], atol=1e-10)
    F /= np.linalg.norm(F, axis=1, keepdims=True)
    np.testing.assert_allclose(found.points @ found.points.T, F @ F.T, atol=1e-6)


@pytest.mark.parametrize("backend", BACKENDS)
def test_the_storage_does_not_matter(backend: str) -> None:
    X, _ = words()
    plain, other = layout(X), layout(BACKENDS[backend](X))
    np.testing.assert_allclose(other.eigenvalues, plain.eigenvalues, rtol=1e-4, atol=1e-6)
    np.testing.assert_allclose(other.points @ other.points.T, plain.points @ plain.points.T, atol=1e-3)


def test_rarity_is_the_inverse_document_frequency_of_scikit_learn() -> None:
    """For words that occur or do not, and idf = 1 + log(q / df)."""
    X = (words()[0] > 0).astype(np.float64)
    idf = TfidfTransformer(smooth_idf=False).fit(csr_array(X)).idf_
    np.testing.assert_allclose(rarities(as_data(X).stats()), idf)


def test_the_typical_value_of_zeros_and_equal_values_is_that_value() -> None:
    X = 7.5 * (words()[0] > 0)
    assert typical_value(as_data(X).stats()) == pytest.approx(7.5)
    assert typical_value(as_data(np.zeros((5, 3))).stats()) == 1.0


@settings(max_examples=10, deadline=None)
@given(st.integers(0, 1_000), st.floats(1e-3, 1e3))
def test_the_unit_of_the_data_does_not_matter(seed: int, unit: float) -> None:
    X, _ = words(seed=seed)
    np.testing.assert_allclose(layout(X).eigenvalues, layout(unit * X).eigenvalues, rtol=1e-9, atol=1e-12)


def test_long_and_short_texts_of_a_topic_lie_together() -> None:
    """Standardised words put long texts together, whatever they are about; profiles do not."""
    X, topic = words()
    model = SieveSelector(30).fit(X)
    assert model.scored_by_ == "profiles"
    assert (model.selection_order_ < 3 * N_TOPIC).all()
    assert _nearest_centre(model.embedding_, topic) > 0.9


def test_the_data_decides() -> None:
    X, _ = words()
    rng = np.random.default_rng(1)
    yes = {"counts": X, "there or not": (X > 0).astype(float), "tf-idf": TfidfTransformer().fit_transform(X).toarray()}
    no = {
        "negative values": np.where(rng.random(X.shape) < 0.01, -1.0, X),
        "few zeros": X + (rng.random(X.shape) < 0.6),
        "every feature in a unit of its own": X * 10.0 ** rng.uniform(-3, 3, X.shape[1]),
    }
    for name, data in yes.items():
        raw = as_data(data)
        assert sample_profiles(raw, ~raw.stats().constant, "auto") is not None, name
        assert sample_profiles(raw, ~raw.stats().constant, False) is None, name
    for name, data in no.items():
        raw = as_data(data)
        assert sample_profiles(raw, ~raw.stats().constant, "auto") is None, name


def test_it_can_be_told() -> None:
    X, topic = words()
    assert SieveSelector(10, use_profiles=True).fit(X + 0.5).scored_by_ == "profiles"
    for options in ({"use_profiles": False}, {"use_scale": True}):
        assert SieveSelector(10, **options).fit(X).scored_by_ == "features"
    assert SieveSelector(10).fit(X, topic).scored_by_ == "labels"
    assert SieveSelector(10).fit(X, batches=np.arange(90) % 2).scored_by_ == "features"
    with pytest.raises(ValueError, match=r"negative values\. Leave use_profiles out"):
        SieveSelector(10, use_profiles=True).fit(X - 1.0)
    with pytest.raises(ValueError, match="columns of extreme scale"):
        SieveSelector(10, use_profiles=True).fit(X * np.where(np.arange(300) == 7, 1e200, 1.0))
    with pytest.raises(ValueError, match="does not go with batches"):
        SieveSelector(10, use_profiles=True).fit(X, batches=np.arange(90) % 2)


def test_the_automatic_number_goes_with_profiles() -> None:
    X, _ = words(often=2.5)
    for count in ("auto", "fewest"):
        model = SieveSelector(count, random_state=0).fit(X)
        assert model.scored_by_ == "profiles" and model.support_.sum() >= 3
        assert np.mean(model.selection_order_ < 3 * N_TOPIC) > 0.85


def test_pairs_that_cannot_be_linked_count_beside_profiles() -> None:
    X, topic = words()
    pairs = np.array([(s, t) for s in range(9) for t in range(s) if topic[s] != topic[t]])
    model = SieveSelector(20).fit(X, cannot_link=pairs)
    assert model.scored_by_ == "profiles" and (model.selection_order_ < 3 * N_TOPIC).all()


def test_samples_without_any_value_are_allowed() -> None:
    X, _ = words()
    X[[3, 50]] = 0.0
    model = SieveSelector(30).fit(X)
    assert model.scored_by_ == "profiles" and np.isfinite(model.weights_).all()
    assert np.mean(model.selection_order_ < 3 * N_TOPIC) > 0.9


@pytest.mark.parametrize("q", [4, 5, 7])
def test_few_samples(q: int) -> None:
    X, _ = words(q, 40, often=3.0)
    model = SieveSelector(5, use_profiles=True).fit(X)
    assert model.scored_by_ == "profiles" and len(model.selection_order_) == 5 and model.embedding_.shape[0] == q


@pytest.mark.parametrize("sparse", [False, True])
def test_many_samples_are_placed_among_landmarks(sparse: bool) -> None:
    """2,600 texts: those that are no landmarks lie with their topic, too, and passes over the data are counted."""
    X, topic = words(2_600, 120)
    model = SieveSelector(20).fit(csr_array(X) if sparse else X)
    assert model.scored_by_ == "profiles" and len(model.embedding_) == 2_600 > SETTINGS.landmarks
    np.testing.assert_allclose(model.embedding_.mean(axis=0), 0.0, atol=1e-12)
    assert _nearest_centre(model.embedding_, topic) > 0.9
    assert (model.selection_order_ < 3 * N_TOPIC).all()


def _nearest_centre(V: np.ndarray, topic: np.ndarray) -> float:
    """The share of the samples whose nearest centre is that of their own topic."""
    centres = np.array([V[topic == k].mean(axis=0) for k in range(3)])
    return float(np.mean(np.argmin(np.linalg.norm(V[:, None] - centres, axis=2), axis=1) == topic))


def test_squares_of_logarithms_make_the_lengths_of_profiles() -> None:
    X, _ = words(40, 60)
    raw = as_data(X)
    unit = np.full(40, 1.0 / typical_value(raw.stats()))
    found = logarithms(raw, unit, squared=True).combine(np.ones((60, 1)))
    np.testing.assert_allclose(found[:, 0], np.sum(np.log1p(X * unit[:, None]) ** 2, axis=1))
