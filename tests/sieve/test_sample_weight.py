"""Weights of samples: whole numbers are the same as samples that are repeated, and copies are no evidence."""

import numpy as np
import pytest
from scipy.sparse import csr_array
from tests.support.backends import FEW, tolerance

from eigensieve import SieveSelector
from eigensieve.data import as_data, first_of_equals, weighted_standard, weighted_stats
from eigensieve.graphs import leading_eigenvectors

rng = np.random.default_rng(0)
KIND = np.arange(60) % 3
X = rng.standard_normal((60, 50))
X[:, :10] += rng.normal(0, 2.5, (3, 10))[KIND]
WEIGHTS = rng.integers(0, 4, 60)
REPEATED = np.repeat(np.arange(60), WEIGHTS)
GAPS = np.where(rng.random(X.shape) < 0.2, np.nan, X)
COUNTS = rng.poisson(0.4 * np.exp(X / 2)).astype(float)

KNOWN = {
    "nothing": {},
    "classes": {"y": KIND},
    "numbers": {"y": X[:, 0] + X[:, 1] ** 2},
    "some labels": {"y": np.where(np.arange(60) % 2, KIND, -1)},
    "times": {
        "y": np.array(
            list(zip(np.arange(60) % 4 > 0, np.round(np.exp(X[:, 0]), 1) + 0.1, strict=True)),
            dtype=[("event", bool), ("time", float)],
        )
    },
    "batches": {"batches": np.arange(60) // 3 % 2},
    "classes and batches": {"y": KIND, "batches": np.arange(60) // 3 % 2},
    "donors": {"y": KIND, "groups": np.arange(60) // 4},
}


@pytest.mark.filterwarnings("ignore:SieveSelector found no feature")
@pytest.mark.parametrize("values", [X, GAPS, COUNTS], ids=["values", "gaps", "counts"])
@pytest.mark.parametrize("known", KNOWN)
@pytest.mark.parametrize("count", ["auto", "fewest", 8])
def test_whole_weights_are_repeated_samples(values: np.ndarray, known: str, count: object) -> None:
    given = KNOWN[known]
    weighted = SieveSelector(count).fit(values, sample_weight=WEIGHTS, **given)
    repeated = SieveSelector(count).fit(values[REPEATED], **{key: value[REPEATED] for key, value in given.items()})
    np.testing.assert_allclose(weighted.weights_, repeated.weights_, atol=1e-10)
    np.testing.assert_array_equal(weighted.selection_order_, repeated.selection_order_)
    np.testing.assert_allclose(np.abs(weighted.embedding_[REPEATED]), np.abs(repeated.embedding_), atol=1e-6)


@pytest.mark.parametrize("known", ["nothing", "classes"])
def test_only_ratios_count_and_copies_are_harmless(known: str) -> None:
    plain = SieveSelector(8).fit(X, **KNOWN[known])
    for other in (
        SieveSelector(8).fit(X, sample_weight=np.full(60, 0.3), **KNOWN[known]),
        SieveSelector(8).fit(np.repeat(X, 3, axis=0), **{k: np.repeat(v, 3) for k, v in KNOWN[known].items()}),
    ):
        np.testing.assert_array_equal(plain.selection_order_, other.selection_order_)
        np.testing.assert_allclose(plain.weights_, other.weights_, atol=1e-12)


@pytest.mark.parametrize("known", ["nothing", "classes"])
def test_weight_zero_leaves_a_sample_out(known: str) -> None:
    seen = np.arange(60) > 7
    left_out = SieveSelector(8).fit(X, sample_weight=seen, **KNOWN[known])
    without = SieveSelector(8).fit(X[seen], **{key: value[seen] for key, value in KNOWN[known].items()})
    np.testing.assert_allclose(left_out.weights_, without.weights_, atol=1e-12)
    assert left_out.embedding_.shape[0] == 60
    assert not left_out.embedding_[~seen].any()


def test_weights_are_weighted_agreements() -> None:
    """u_i over pairs of different samples, each pair counted with the product of its weights."""
    w = np.random.default_rng(2).uniform(0.2, 3.0, 60)
    found = SieveSelector(5).fit(X, KIND, sample_weight=w).weights_
    w = w / w.mean()
    T = (KIND[:, None] == np.arange(3)).astype(float)
    T -= np.average(T, axis=0, weights=w)
    vectors = np.linalg.svd(np.sqrt(w)[:, None] * T, full_matrices=False)[0][:, :2]
    for i in range(10):
        m = X[:, i] - np.average(X[:, i], weights=w)
        m *= np.sqrt(w) / np.sqrt(w @ m**2)
        pairs = (vectors @ vectors.T) * (1 - np.eye(60))
        assert found[i] == pytest.approx(m @ pairs @ m, abs=1e-10)


def test_statistics_are_weighted() -> None:
    w = np.random.default_rng(1).uniform(0.1, 2.0, 60)
    w /= w.mean()
    raw = as_data(X + 1e4)
    stats = weighted_stats(raw, w)
    mean = np.average(X, axis=0, weights=w)
    np.testing.assert_allclose(stats.mean, mean + 1e4, rtol=1e-12)
    np.testing.assert_allclose(stats.centered_norm, np.sqrt(w @ (X - mean) ** 2), rtol=1e-9)
    data = weighted_standard(raw, stats, w)
    Z = np.sqrt(w)[:, None] * (X - mean) / stats.centered_norm
    V = rng.standard_normal((60, 3))
    np.testing.assert_allclose(data.take(slice(None)), Z, atol=1e-10)
    np.testing.assert_allclose(data.project(V), Z.T @ V, atol=1e-9)
    np.testing.assert_allclose(data.combine(Z.T @ V), Z @ (Z.T @ V), atol=1e-8)
    np.testing.assert_allclose(data.gram(np.arange(50.0)), (Z * np.arange(50.0)) @ Z.T, atol=1e-8)
    found = np.concatenate(data.map_blocks(lambda block: block.quadratic(csr_array(V @ V.T))))
    np.testing.assert_allclose(found, np.einsum("ti,ts,si->i", Z, V @ V.T, Z), atol=1e-9)
    rows = np.array([1, 4, 30])
    np.testing.assert_allclose(data.samples(rows).take([2, 3]), Z[rows][:, [2, 3]], atol=1e-10)


def test_nodes_of_a_graph_with_mass() -> None:
    """A node of mass 3 is the same as three nodes with the same neighbours."""
    A = np.triu(rng.random((12, 12)) < 0.5, 1).astype(float)
    A += A.T
    mass = np.array([1.0, 2, 3, 1, 1, 2, 1, 1, 3, 1, 1, 2])
    weighted = csr_array(mass[:, None] * A * mass)
    values, vectors = leading_eigenvectors(weighted, 4, smoothing=0.3, start=A, mass=mass)
    each = np.repeat(np.arange(12), mass.astype(int))
    repeated = csr_array(A[np.ix_(each, each)])
    expected, basis = leading_eigenvectors(repeated, 4, smoothing=0.3, start=A[each])
    np.testing.assert_allclose(values, expected, atol=1e-10)
    spread = (vectors / np.sqrt(mass)[:, None])[each]
    np.testing.assert_allclose(spread @ spread.T, basis @ basis.T, atol=1e-8)


@pytest.mark.parametrize("backend", FEW)
def test_every_storage(backend: str) -> None:
    w = np.random.default_rng(1).uniform(0.5, 2.0, 60)
    values = np.maximum(X, 0.0)
    for known in ("nothing", "classes"):
        whole = SieveSelector(6, use_profiles=False).fit(values, sample_weight=w, **KNOWN[known])
        stored = SieveSelector(6, use_profiles=False).fit(FEW[backend](values), sample_weight=w, **KNOWN[known])
        np.testing.assert_allclose(stored.weights_, whole.weights_, atol=100 * tolerance(backend))


def test_many_samples_are_compared_by_landmarks() -> None:
    local = np.random.default_rng(5)
    kind = np.arange(2300) % 3
    many = local.standard_normal((2300, 30)).astype(np.float32)
    many[:, :6] += local.normal(0, 2.5, (3, 6))[kind]
    w = local.integers(1, 4, 2300)
    each = np.repeat(np.arange(2300), w)
    weighted, repeated = SieveSelector(6).fit(many, sample_weight=w), SieveSelector(6).fit(many[each])
    np.testing.assert_array_equal(weighted.selection_order_, repeated.selection_order_)
    assert np.count_nonzero(weighted.selection_order_ < 6) >= 5


def test_samples_that_coincide() -> None:
    rows = np.array([0, 1, 0, 2, 1, 3])
    for values in (X[rows], csr_array(COUNTS[rows])):
        np.testing.assert_array_equal(first_of_equals(as_data(values)), [0, 1, 0, 3, 1, 5])
    near = X[rows].copy()
    near[2, 0] += 1e-12
    np.testing.assert_array_equal(first_of_equals(as_data(near)), [0, 1, 2, 3, 1, 5])


def test_what_is_refused() -> None:
    for wrong in ([-1.0, *np.ones(59)], [np.nan, *np.ones(59)], np.zeros(60)):
        with pytest.raises(ValueError, match="'sample_weight' parameter of SieveSelector"):
            SieveSelector(3).fit(X, sample_weight=wrong)
    with pytest.raises(ValueError, match="minimum of 4 is required"):
        SieveSelector(3).fit(X, sample_weight=np.arange(60) < 3)
    with pytest.raises(ValueError, match=r"must hold one value per sample \(60\). Got shape \(2,\)"):
        SieveSelector(3).fit(X, sample_weight=[1, 2])
    with pytest.raises(ValueError, match=r"parameter of SieveSelector\.fit must hold numbers"):
        SieveSelector(3).fit(X, sample_weight=["heavy"] * 60)


def test_what_samples_of_weight_zero_leave_is_checked() -> None:
    first = np.arange(60) < 20
    with pytest.raises(ValueError, match="y of SieveSelector must vary on the samples with a positive sample_weight"):
        SieveSelector(3).fit(X, np.where(first, "a", "b"), sample_weight=first)
    with pytest.raises(ValueError, match=r"at least 3 groups, such as donors: .* Got 2"):
        SieveSelector(3).fit(X, groups=np.arange(60) // 10, sample_weight=first)
