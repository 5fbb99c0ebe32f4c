"""Profiles of counts and texts: the naive transcription, when they are used, and what they find."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.sparse import csr_array
from sklearn.feature_extraction.text import TfidfTransformer

from eigensieve import SieveSelector
from eigensieve._progress import silent
from eigensieve.data import as_data, logarithms
from eigensieve.sieve.landmarks import MAX_LANDMARKS, chosen_rows
from eigensieve.sieve.profiles import rarities, sample_profiles, typical_value
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


def embed(X, usable=None, k="auto"):  # type: ignore[no-untyped-def]
    raw = as_data(X)
    usable = ~raw.stats().constant if usable is None else usable
    found = sample_profiles(raw, usable, True)
    assert found is not None
    return found.embedding(usable, k, silent)


def test_products_are_those_of_the_transcription() -> None:
    X, _ = words()
    _, eigenvalues, _ = embed(X)
    F = naive_profiles(X)
    expected = np.linalg.eigvalsh(F @ F.T)[::-1]
    np.testing.assert_allclose(eigenvalues, np.maximum(expected, 0.0)[: len(eigenvalues)], atol=1e-10)


def test_neighbours_are_those_with_the_smallest_angles() -> None:
    """The embedding is that of a graph made by hand from the transcription."""
    from eigensieve.graphs import knn_graph, leading_eigenvectors

    X, _ = words()
    Q, _, points = embed(X)
    F = naive_profiles(X)
    F /= np.linalg.norm(F, axis=1, keepdims=True)
    vectors = leading_eigenvectors(knn_graph(F, 5, weights="binary"), Q.shape[1], smoothing=0.3)[1]
    expected = np.linalg.qr(vectors - vectors.mean(axis=0))[0]
    np.testing.assert_allclose(Q @ Q.T, expected @ expected.T, atol=1e-6)
    np.testing.assert_allclose(points @ points.T, F @ F.T, atol=1e-6)


@pytest.mark.parametrize("backend", BACKENDS)
def test_the_storage_does_not_matter(backend: str) -> None:
    X, _ = words()
    Q, values, _ = embed(X)
    other, others, _ = embed(BACKENDS[backend](X))
    assert Q.shape == other.shape
    np.testing.assert_allclose(values, others, rtol=1e-4, atol=1e-6)
    np.testing.assert_allclose(Q @ Q.T, other @ other.T, atol=1e-4)


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
    np.testing.assert_allclose(embed(X)[1], embed(unit * X)[1], rtol=1e-9, atol=1e-12)


def test_long_and_short_texts_of_a_topic_lie_together() -> None:
    """Standardised words put long texts together, whatever they are about; profiles do not."""
    X, topic = words()
    Q, _, _ = embed(X, k=3)
    model = SieveSelector(30).fit(X)
    assert model.profiles_used_ and model.start_ == "profiles"
    assert (model.selection_order_ < 3 * N_TOPIC).all()
    centres = np.array([Q[topic == k].mean(axis=0) for k in range(3)])
    nearest = np.argmin(np.linalg.norm(Q[:, None] - centres, axis=2), axis=1)
    assert np.mean(nearest == topic) > 0.9


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


def test_where_few_features_carry_the_structure_the_rounds_find_them() -> None:
    """20 of 2,000 features differ between three groups. In profiles all features count, so these show nothing of it."""
    rng = np.random.default_rng(3)
    group = rng.integers(0, 3, 200)
    rates = np.full((200, 2_000), 0.2)
    for i in range(20):
        rates[group == rng.integers(0, 3), i] = 2.0
    X = rng.poisson(rates).astype(np.float64)
    model = SieveSelector(20).fit(X)
    assert not model.profiles_used_
    assert np.mean(model.selection_order_ < 20) >= 0.95
    assert SieveSelector(20, use_profiles=True).fit(X).profiles_used_


def test_it_can_be_told() -> None:
    X, topic = words()
    assert SieveSelector(10, use_profiles=True).fit(X + 0.5).profiles_used_
    for options in ({"use_profiles": False}, {"use_scale": True}):
        assert not SieveSelector(10, **options).fit(X).profiles_used_
    assert not SieveSelector(10).fit(X, topic).profiles_used_
    assert not SieveSelector(10).fit(X, batches=np.arange(90) % 2).profiles_used_
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
        assert model.profiles_used_ and model.support_.sum() >= 3
        assert np.mean(model.selection_order_ < 3 * N_TOPIC) > 0.85


def test_pairs_that_cannot_be_linked_count_beside_profiles() -> None:
    X, topic = words()
    pairs = np.array([(s, t) for s in range(9) for t in range(s) if topic[s] != topic[t]])
    model = SieveSelector(20).fit(X, cannot_link=pairs)
    assert model.profiles_used_ and (model.selection_order_ < 3 * N_TOPIC).all()


def test_samples_without_any_value_are_allowed() -> None:
    X, _ = words()
    X[[3, 50]] = 0.0
    model = SieveSelector(30).fit(X)
    assert model.profiles_used_ and np.isfinite(model.weights_).all()
    assert np.mean(model.selection_order_ < 3 * N_TOPIC) > 0.9


@pytest.mark.parametrize("q", [4, 5, 7])
def test_few_samples(q: int) -> None:
    X, _ = words(q, 40, often=3.0)
    model = SieveSelector(5, use_profiles=True).fit(X)
    assert model.profiles_used_ and len(model.selection_order_) == 5 and model.embedding_.shape[0] == q


@pytest.mark.parametrize("sparse", [False, True])
def test_many_samples_are_placed_among_landmarks(sparse: bool) -> None:
    """2,600 texts: those that are no landmarks lie with their topic, too, and passes over the data are counted."""
    X, topic = words(2_600, 120)
    raw = as_data(csr_array(X) if sparse else X)
    usable = ~raw.stats().constant
    found = sample_profiles(raw, usable, True)
    assert found is not None
    before = raw.n_passes
    Q, _, points = found.embedding(usable, 3, silent)
    assert len(Q) == 2_600 and len(points) == MAX_LANDMARKS and raw.n_passes > before
    np.testing.assert_allclose(Q.T @ Q, np.eye(Q.shape[1]), atol=1e-9)
    np.testing.assert_allclose(Q.mean(axis=0), 0.0, atol=1e-12)
    others = np.delete(np.arange(2_600), chosen_rows(2_600))
    assert len(others) == 2_600 - MAX_LANDMARKS
    centres = np.array([Q[topic == k].mean(axis=0) for k in range(3)])
    nearest = np.argmin(np.linalg.norm(Q[:, None] - centres, axis=2), axis=1)
    assert np.mean((nearest == topic)[others]) > 0.9


def test_squares_of_logarithms_make_the_lengths_of_profiles() -> None:
    X, _ = words(40, 60)
    raw = as_data(X)
    unit = np.full(40, 1.0 / typical_value(raw.stats()))
    found = logarithms(raw, unit, squared=True).combine(np.ones((60, 1)))
    np.testing.assert_allclose(found[:, 0], np.sum(np.log1p(X * unit[:, None]) ** 2, axis=1))
