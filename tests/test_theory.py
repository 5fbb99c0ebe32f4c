"""The papers' theory helpers reproduce the printed figures, or say where the print is wrong."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from eigensieve.datasets import make_class_scaleup, make_planted_clusters
from eigensieve.theory import (
    expected_irrelevant_weight_bound,
    expected_triple_product,
    irrelevant_weight_bound,
    leading_eigenvalue_estimate,
    norm_tail_bound,
    positivity_probability,
    sparsity_gap,
    trace_bound,
    triple_product,
    two_block_sparsity_gap,
    wishart_moment,
)


def q_alpha(M, k, n_steps=20):
    """Leading eigenvector of G and its eigenvalue, alternating as the papers' power-embedded method does."""
    Q = np.linalg.eigh(M.T @ M)[1][:, ::-1][:, :k]
    for _ in range(n_steps):
        P = M @ Q
        values, vectors = np.linalg.eigh((M @ M.T) * (P @ P.T))
        alpha = vectors[:, -1] * np.sign(vectors[:, -1].sum())
        Q = np.linalg.qr((M.T * alpha) @ P)[0]
    return alpha, values[-1]


def centred_unit(X):
    M = X.T - X.T.mean(axis=1, keepdims=True)
    return M / np.linalg.norm(M, axis=1, keepdims=True)


class TestSparsityGap:
    def test_ratio_of_means(self):
        assert sparsity_gap([4.0, 2.0, 1.0, 0.0], [True, True, False, False]) == 6.0

    def test_common_sign_does_not_matter(self):
        assert sparsity_gap([-4.0, -2.0, -1.0, 0.0], [True, True, False, False]) == 6.0

    def test_infinite_when_nothing_is_left_for_the_others(self):
        assert sparsity_gap([1.0, 0.0, 0.0], [True, False, False]) == np.inf
        assert sparsity_gap([1.0, -0.1, 0.0], [True, False, False]) == np.inf

    @pytest.mark.parametrize("relevant", [[True, True], [False, False]])
    def test_both_groups_needed(self, relevant):
        with pytest.raises(ValueError, match="at least one feature and leave one out"):
            sparsity_gap([1.0, 2.0], relevant)

    @pytest.mark.parametrize("relevant", [[0, 1], [True], [[True, False]]])
    def test_split_must_be_a_mask(self, relevant):
        with pytest.raises(ValueError, match="bool array with one entry for each weight"):
            sparsity_gap([1.0, 2.0], relevant)

    @pytest.mark.parametrize(("n_classes", "expected"), [(2, 38), (5, 15)])
    def test_class_scaleup_of_2005(self, n_classes, expected):
        gaps = []
        for seed in range(5):
            X, _, relevant = make_class_scaleup(n_classes, random_state=seed)
            alpha, _ = q_alpha(centred_unit(X), n_classes)
            gaps.append(sparsity_gap(alpha, relevant))
        assert np.mean(gaps) == pytest.approx(expected, rel=0.35)


class TestTwoBlockGap:
    @pytest.mark.parametrize(("fraction", "printed"), [(0.2, 2.6), (1.0, 5.1)])
    def test_printed_figures(self, fraction, printed):
        assert round(two_block_sparsity_gap(fraction), 1) == printed

    @given(st.floats(0.001, 1.0))
    def test_printed_formula(self, p):
        printed = (61 * p - 10 + np.sqrt(3321 * p**2 - 820 * p + 100)) / (20 * p)
        assert two_block_sparsity_gap(p) == pytest.approx(printed, rel=1e-8)

    @given(st.floats(1e-12, 1.0), st.floats(0.01, 1.0), st.floats(0.01, 1.0))
    def test_is_the_eigenvector_of_the_two_by_two_matrix(self, p, mu_a, mu_b):
        gap = two_block_sparsity_gap(p, relevant_mean=mu_a, irrelevant_mean=mu_b)
        top = p * mu_a * gap + (1 - p) * mu_b
        bottom = p * mu_b * gap + (1 - p) * mu_b
        assert top / bottom == pytest.approx(gap, rel=1e-9)
        assert gap >= 1 - 1e-12 or mu_a < mu_b

    def test_agrees_with_a_random_block_matrix(self):
        rng = np.random.default_rng(0)
        n, n_relevant = 1000, 200
        G = np.full((n, n), 1 / 6)
        G[:n_relevant, :n_relevant] = 0.85
        S = np.tril(rng.normal(scale=np.sqrt(2) / 6, size=(n, n)))
        G += S + np.tril(S, -1).T
        alpha = np.linalg.eigh(G)[1][:, -1]
        gap = sparsity_gap(alpha, np.arange(n) < n_relevant)
        assert gap == pytest.approx(two_block_sparsity_gap(0.2), rel=0.03)

    @pytest.mark.parametrize("fraction", [0.0, -0.1, 1.1, np.nan])
    def test_fraction_out_of_range(self, fraction):
        with pytest.raises(ValueError, match="above 0 and at most 1"):
            two_block_sparsity_gap(fraction)

    def test_means_must_be_positive(self):
        with pytest.raises(ValueError, match="must be positive"):
            two_block_sparsity_gap(0.5, irrelevant_mean=0.0)


class TestIrrelevantWeightBound:
    @pytest.mark.parametrize("seed", range(3))
    def test_holds_for_fitted_weights(self, seed):
        X, _, relevant = make_planted_clusters(60, 120, 15, random_state=seed)
        M = centred_unit(X)
        alpha, eigenvalue = q_alpha(M, 3)
        bound = irrelevant_weight_bound(M[~relevant].T, eigenvalue)
        assert alpha[~relevant].sum() <= bound
        gamma = np.linalg.eigvalsh(M[~relevant] @ M[~relevant].T)
        assert bound == pytest.approx(np.sqrt((gamma**2).sum() / eigenvalue), rel=1e-10)

    def test_wide_and_tall_agree(self):
        X = np.random.default_rng(0).normal(size=(7, 20))
        assert irrelevant_weight_bound(X, 2.0) == pytest.approx(irrelevant_weight_bound(X.T, 2.0))

    @pytest.mark.parametrize(("n_irrelevant", "n_samples"), [(500, 100), (300, 300), (100, 500)])
    def test_expectation_under_noise(self, n_irrelevant, n_samples):
        X = np.random.default_rng(1).normal(size=(n_samples, n_irrelevant))
        M = centred_unit(X)
        bound = irrelevant_weight_bound(M.T, 4.0)
        assert bound == pytest.approx(expected_irrelevant_weight_bound(n_irrelevant, n_samples - 1, 4.0), rel=0.01)

    def test_bad_input(self):
        with pytest.raises(ValueError, match=r"'X_irrelevant' .* 2D array"):
            irrelevant_weight_bound([1.0, 2.0], 1.0)
        with pytest.raises(ValueError, match=r"'eigenvalue' parameter of .* must be positive. Got 0.0"):
            irrelevant_weight_bound([[1.0, 2.0]], 0.0)
        with pytest.raises(ValueError, match="at least 1"):
            expected_irrelevant_weight_bound(3, 0, 1.0)


class TestPositivity:
    def test_passes_99_percent_a_little_above_20_features(self):
        # the papers: above 0.99 for n > 20; 20,000 draws put it at 0.97 for n = 20 and 0.997 for n = 30
        assert positivity_probability(20, n_draws=1000, random_state=0) > 0.95
        assert positivity_probability(30, n_draws=1000, random_state=0) > 0.99

    def test_grows_with_the_number_of_features(self):
        few, some, many = (positivity_probability(n, n_draws=500, random_state=0) for n in (3, 10, 30))
        assert few < some < many

    def test_weak_mean_needs_far_more_features_than_printed(self):
        # mu = 0.1, sigma = 1: the papers say above 0.99 from n = 500
        assert positivity_probability(500, mean=0.1, deviation=1.0, n_draws=5, random_state=0) == 0.0
        assert positivity_probability(2500, mean=0.1, deviation=1.0, n_draws=2, random_state=0) == 1.0

    def test_one_and_two_features(self):
        assert positivity_probability(1, n_draws=3, random_state=0) == 1.0
        # two features: positive exactly when the one off-diagonal entry is, with probability Phi(mu / sigma)
        probability = positivity_probability(2, mean=1.0, deviation=1.0, n_draws=3000, random_state=0)
        assert probability == pytest.approx(0.8413, abs=0.03)

    def test_same_seed_same_answer(self):
        assert positivity_probability(8, n_draws=50, random_state=5) == positivity_probability(
            8, n_draws=50, random_state=5
        )

    def test_bad_sizes(self):
        with pytest.raises(ValueError, match=r"must be at least 1. Got 0"):
            positivity_probability(0)


def test_triple_product_has_its_minimum_and_its_mean():
    """Propositions 7 to 9 of the 2005 paper."""
    a, b = np.array([1.0, 0.0]), np.array([0.5, np.sqrt(0.75)])
    c = np.array([0.5, -np.sqrt(0.75)])
    assert triple_product(a, b, c) == pytest.approx(-1 / 8)
    assert triple_product(a, a, a) == pytest.approx(1.0)
    rng = np.random.default_rng(0)
    a, b = (vector / np.linalg.norm(vector) for vector in rng.normal(size=(2, 6)))
    frames = np.linalg.qr(rng.normal(size=(20_000, 6, 3)))[0]
    values = [triple_product(a, b, C) for C in frames]
    assert min(values) >= -1 / 8
    assert np.mean(values) == pytest.approx(expected_triple_product(a @ b, 6, 3), abs=4 * np.std(values) / np.sqrt(2e4))
    with pytest.raises(ValueError, match="between 1 and n_samples"):
        expected_triple_product(0.5, 3, 4)


class TestWishartMoments:
    @given(st.integers(1, 50), st.integers(1, 50))
    def test_first_three_by_hand(self, n, q):
        c = n / q
        expected = [1, 1 + c, 1 + 3 * c + c**2]
        assert [wishart_moment(order, n, q) for order in (1, 2, 3)] == pytest.approx(expected)

    def test_square_case_counts_catalan_numbers(self):
        assert [wishart_moment(order, 7, 7) for order in range(1, 7)] == pytest.approx([1, 2, 5, 14, 42, 132])

    def test_simulated(self):
        M = np.random.default_rng(0).normal(size=(400, 1000))
        values = np.linalg.eigvalsh(M @ M.T / 1000)
        for order in (2, 3, 4, 5):
            assert np.mean(values**order) == pytest.approx(wishart_moment(order, 400, 1000), rel=0.03)

    def test_bad_order(self):
        with pytest.raises(ValueError, match="at least 1"):
            wishart_moment(0, 3, 4)


class TestLeadingEigenvalue:
    def test_close_to_simulated_ones(self):
        rng = np.random.default_rng(0)
        errors = []
        for _ in range(20):
            G = np.tril(rng.normal(0.5, 1.0, size=(300, 300)))
            G += np.tril(G, -1).T
            errors.append(np.linalg.eigvalsh(G)[-1] - leading_eigenvalue_estimate(G))
        assert abs(np.mean(errors)) < 0.1  # the eigenvalue is about 152, the mean row sum about 150

    def test_exact_for_a_constant_matrix(self):
        assert leading_eigenvalue_estimate(np.full((5, 5), 2.0)) == pytest.approx(10.0)

    @pytest.mark.parametrize("G", [np.ones(3), np.ones((2, 3)), -np.ones((2, 2))])
    def test_bad_matrices(self, G):
        with pytest.raises(ValueError, match="square matrix with entries of positive mean"):
            leading_eigenvalue_estimate(G)


class TestBoundedEntries:
    def test_uniform_entries_behave_like_normal_ones(self):
        normal, uniform = (
            positivity_probability(20, entries=kind, n_draws=1000, random_state=0) for kind in ("normal", "uniform")
        )
        assert uniform == pytest.approx(normal, abs=0.03)
        # two features: positive if the off-diagonal entry is; uniform on 0.5 +- sqrt(3)
        probability = positivity_probability(2, mean=0.5, deviation=1.0, entries="uniform", n_draws=3000)
        assert probability == pytest.approx((0.5 + np.sqrt(3)) / (2 * np.sqrt(3)), abs=0.03)
        with pytest.raises(ValueError, match="'normal' or 'uniform'"):
            positivity_probability(3, entries="odd")

    def test_norm_tail_bounds_the_simulated_share(self):
        squares = np.sum(np.random.default_rng(0).uniform(-1, 1, size=(20_000, 30)) ** 2, axis=1)
        for t in (10.5, 12.0, 14.0):
            assert np.mean(squares >= t) <= norm_tail_bound(t, 30, largest=1.0, second_moment=1 / 3) < 1
        assert norm_tail_bound(12.0, 30, largest=1.0, second_moment=1 / 3) == pytest.approx(np.exp(-8 / 30))
        assert norm_tail_bound(1.0, 30, largest=1.0, second_moment=1 / 3) == 1.0
        with pytest.raises(ValueError, match="'second_moment'"):
            norm_tail_bound(1.0, 3, largest=1.0, second_moment=2.0)


class TestTraceBound:
    def test_bounds_the_complexity_of_the_weighted_kernel(self):
        X, _, _ = make_planted_clusters(60, 120, 15, random_state=0)
        M = centred_unit(X)
        alpha, _ = q_alpha(M, 3)
        alpha = np.abs(alpha)
        K = (M.T * alpha) @ M
        assert np.trace(K) == pytest.approx(alpha.sum())
        signs = np.random.default_rng(0).choice([-1.0, 1.0], size=(5000, 60))
        complexity = np.mean(np.sqrt(np.sum((signs @ K) * signs, axis=1))) / 60
        assert 0.8 * trace_bound(alpha, 60) < complexity <= trace_bound(alpha, 60)

    def test_even_weights_give_the_largest_bound(self):
        assert trace_bound(np.full(16, 0.25), 10, radius=3.0) == pytest.approx(3.0 * 16**0.25 / 10)
        assert trace_bound([1.0, 0.0], 10) == pytest.approx(0.1)
        with pytest.raises(ValueError, match="'n_samples'"):
            trace_bound([1.0], 0)
