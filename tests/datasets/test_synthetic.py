"""The papers' generators: structure and moments as their definitions say."""

import numpy as np
import pytest

from eigensieve.datasets import (
    make_class_scaleup,
    make_gene_expression,
    make_hidden_signs,
    make_planted_clusters,
    make_two_solutions,
    make_weston_linear,
    make_weston_nonlinear,
)

GENERATORS = [
    make_class_scaleup,
    make_gene_expression,
    make_hidden_signs,
    make_planted_clusters,
    make_two_solutions,
    make_weston_linear,
    make_weston_nonlinear,
]


@pytest.mark.parametrize("generator", GENERATORS)
def test_same_seed_same_data_and_shapes_agree(generator):
    one, two = generator(random_state=3), generator(random_state=3)
    np.testing.assert_array_equal(one.X, two.X)
    np.testing.assert_array_equal(one.y, two.y)
    assert not np.array_equal(one.X, generator(random_state=4).X)
    assert one.relevant.shape == (one.X.shape[1],) and one.relevant.dtype == bool
    assert len(one.y) == len(one.X)


@pytest.mark.parametrize("generator", GENERATORS)
def test_generator_object_advances(generator):
    rng = np.random.default_rng(0)
    assert not np.array_equal(generator(random_state=rng).X, generator(random_state=rng).X)


class TestPlantedClusters:
    def test_moments(self):
        X, y, relevant = make_planted_clusters(3000, 400, 100, random_state=0)
        assert relevant.sum() == 100
        assert np.bincount(y).tolist() == [1000, 1000, 1000]
        noise = X[:, ~relevant]
        assert abs(noise.mean()) < 0.01 and abs(noise.var() - 1) < 0.01
        centers = np.array([X[y == c][:, relevant].mean(axis=0) for c in range(3)])
        within = X[:, relevant] - centers[y]
        assert abs(within.var() - 1) < 0.01
        # 300 centres N(0, 1.5^2): the deviation's own standard error is 1.5 / sqrt(600)
        assert abs(centers.std() - 1.5) < 4 * 1.5 / np.sqrt(600)

    def test_relevant_features_are_scattered(self):
        relevant = make_planted_clusters(10, 1000, 500, random_state=0).relevant
        assert 200 < relevant[:500].sum() < 300

    def test_float32(self):
        X = make_planted_clusters(20, 50, 5, dtype=np.float32, random_state=0).X
        assert X.dtype == np.float32

    def test_blocks_differ_and_have_unit_variance(self, monkeypatch):
        monkeypatch.setattr("eigensieve.datasets.synthetic.BLOCK_SIZE", 1000)
        X = make_planted_clusters(50, 1000, 0, random_state=0).X
        correlation = np.corrcoef(X) - np.eye(50)
        assert np.abs(correlation).max() < 6 / np.sqrt(1000)

    @pytest.mark.parametrize(
        ("arguments", "message"),
        [
            ({"n_relevant": 11, "n_features": 10}, "'n_relevant' .* between 0 and 10. Got 11"),
            ({"n_clusters": 0}, "'n_clusters' .* at least 1. Got 0"),
            ({"n_samples": 0}, "'n_samples' .* at least 1. Got 0"),
        ],
    )
    def test_bad_sizes(self, arguments, message):
        with pytest.raises(ValueError, match=message):
            make_planted_clusters(**arguments)


class TestWeston:
    def test_linear_moments(self):
        X, y, relevant = make_weston_linear(20000, 10, random_state=0)
        assert relevant.tolist() == [True] * 6 + [False] * 4
        assert set(y) == {-1, 1} and abs(y.mean()) < 0.03
        signed = (y[:, None] * X)[:, :6].mean(axis=0)
        np.testing.assert_allclose(signed, [0.7, 1.4, 2.1, 0.3, 0.6, 0.9], atol=0.05)
        # E x^2 = 1 + p i^2 with p the probability that the feature is switched on
        second = (X[:, :6] ** 2).mean(axis=0)
        np.testing.assert_allclose(second, 1 + np.array([0.7, 2.8, 6.3, 0.3, 1.2, 2.7]), rtol=0.05)
        np.testing.assert_allclose(X[:, 6:].std(axis=0), 20, rtol=0.03)

    def test_linear_switches_one_group_at_a_time(self):
        X = make_weston_linear(20000, 6, random_state=1).X
        # x_3 and x_6 are never both on: E[x_3 x_6] = 0 although each has a positive signed mean
        assert abs((X[:, 2] * X[:, 5]).mean()) < 0.1
        assert (X[:, 1] * X[:, 2]).mean() == pytest.approx(0.7 * 6, abs=0.2)

    def test_nonlinear_moments(self):
        X, y, relevant = make_weston_nonlinear(40000, 4, random_state=0)
        assert relevant.tolist() == [True, True, False, False]
        for label, center in ((-1, np.array([0.75, 3.0])), (1, np.array([-3.0, 3.0]))):
            Z = X[y == label][:, :2]
            np.testing.assert_allclose(Z.mean(axis=0), 0, atol=0.1)
            np.testing.assert_allclose(Z.T @ Z / len(Z), np.eye(2) + np.outer(center, center), atol=0.25)

    def test_too_few_features(self):
        with pytest.raises(ValueError, match=r"'n_features' parameter of make_weston_linear .* at least 6"):
            make_weston_linear(10, 5)


class TestClassScaleup:
    @pytest.mark.parametrize(("n_classes", "n_samples"), [(2, 60), (7, 63), (10, 60)])
    def test_design_of_2005(self, n_classes, n_samples):
        X, y, relevant = make_class_scaleup(n_classes, random_state=0)
        assert X.shape == (n_samples, 125)
        assert relevant.sum() == 5 and relevant[:5].all()
        assert np.bincount(y).size == n_classes

    def test_variances_and_centers_of_2005(self):
        within, centers = [], []
        for seed in range(200):
            X, y, relevant = make_class_scaleup(2, random_state=seed)
            for c in range(2):
                Z = X[y == c][:, relevant]
                within.append(Z.var(axis=0, ddof=1))
                centers.append(Z.mean(axis=0))
        assert np.mean(within) == pytest.approx(0.01, rel=0.05)
        # uniform in [-1, 1]: variance 1/3
        assert np.var(centers) == pytest.approx(1 / 3, rel=0.1)
        assert np.abs(centers).max() < 1.2

    def test_design_of_2003(self):
        X, y, relevant = make_class_scaleup(4, design="2003", random_state=0)
        assert X.shape == (80, 73)
        assert relevant.sum() == 3
        residual = np.concatenate([X[y == c][:, :3] - X[y == c][:, :3].mean(axis=0) for c in range(4)])
        assert residual.var() == pytest.approx(19 / 20, rel=0.2)

    def test_irrelevant_features_have_the_same_marginals_but_no_agreement(self):
        between, relevant_between = [], []
        for seed in range(50):
            X, y, relevant = make_class_scaleup(3, random_state=seed)
            means = np.array([X[y == c].mean(axis=0) for c in range(3)])
            explained = means.var(axis=0) / X.var(axis=0)
            relevant_between.append(explained[relevant].mean())
            between.append(explained[~relevant].mean())
        assert np.mean(relevant_between) > 0.8
        # (k - 1) / (q - 1) is expected of a random labelling
        assert np.mean(between) == pytest.approx(2 / 59, rel=0.1)

    def test_unknown_design(self):
        with pytest.raises(ValueError, match=r"'design' .* must be '2003' or '2005'. Got '2004'"):
            make_class_scaleup(design="2004")


class TestHiddenSigns:
    def test_shape_and_sections(self):
        X, y, relevant = make_hidden_signs(1e-12, random_state=0)
        assert X.shape == (120, 60) and relevant.sum() == 12
        assert np.bincount(y).tolist() == [40, 40, 40]
        # without spread a relevant feature is constant up to sign within each section
        sections = X[:, relevant].reshape(15, 8, 12)
        np.testing.assert_allclose(sections, sections[:, :1].repeat(8, axis=1), atol=1e-4)

    def test_signs_hide_the_correlation_and_squares_keep_it(self):
        products, squares = [], []
        for seed in range(200):
            X, _, _ = make_hidden_signs(0.005, random_state=seed)
            a, b = X[:, 0], X[:, 1]
            products.append(a @ b / np.sqrt(a @ a * (b @ b)))
            squares.append(np.mean(a**2) + np.mean(b**2))
        assert abs(np.mean(products)) < 0.1
        # uniform centres (variance 1/12, three of them: 2/36 kept) plus the mean of [lambda, 2 lambda]
        assert np.mean(squares) / 2 == pytest.approx(1 / 18 + 0.0075, rel=0.1)

    def test_shuffle_spreads_the_clusters_over_the_sections(self):
        y = make_hidden_signs(0.02, shuffle=True, random_state=0).y
        assert np.bincount(y).tolist() == [40, 40, 40]
        assert (np.diff(y) != 0).sum() > 40

    def test_last_section_may_be_shorter(self):
        assert make_hidden_signs(0.02, n_samples=61, section=8, random_state=0).X.shape == (61, 60)


class TestGeneExpression:
    def test_default_sizes(self):
        X, y, relevant = make_gene_expression(random_state=0)
        assert X.shape == (72, 600)
        assert np.bincount(y).tolist() == [25, 47]
        assert relevant.sum() == 168
        assert make_gene_expression(irrelevant_fraction=0.99, random_state=0).relevant.sum() == 6

    def test_moments(self):
        X, y, relevant = make_gene_expression(
            400, n_class_a=3000, n_class_b=3000, irrelevant_fraction=0.5, spread=0.1, random_state=0
        )
        np.testing.assert_allclose(X[:, ~relevant].std(axis=0), 0.1, rtol=0.1)
        for c in range(2):
            Z = X[y == c][:, relevant]
            mean, deviation = Z.mean(axis=0), Z.std(axis=0)
            np.testing.assert_allclose(deviation, 0.1 * np.abs(mean), rtol=0.1)
            assert np.abs(mean).max() < 1.5 * 555 * 1.01
            # uniform in [-1.5 d, 1.5 d]: deviation 1.5 d / sqrt(3)
            assert mean.std() == pytest.approx(1.5 * 555 / np.sqrt(3), rel=0.15)

    def test_bad_fraction(self):
        with pytest.raises(ValueError, match=r"'irrelevant_fraction' .* between 0 and 1. Got 2"):
            make_gene_expression(irrelevant_fraction=2)


class TestTwoSolutions:
    def test_structure(self):
        data = make_two_solutions(random_state=0)
        X, y = data.X, data.y
        assert X.shape == (150, 20) and y.shape == (150, 2)
        np.testing.assert_allclose(X[:, 6:9], X[:, 0:3] + X[:, 3:6])
        for column in range(9, 20):
            np.testing.assert_array_equal(np.sort(X[:, column]), np.sort(X[:, 0]))
            assert abs(np.corrcoef(X[:, column], X[:, 0])[0, 1]) < 0.35
        assert data.relevant.sum() == 9
        assert data.solutions.sum(axis=0).tolist() == [6, 6]
        assert data.feature_names[:9] == ["1", "2", "3", "A", "B", "C", "1A", "2B", "3C"]
        assert len(data.feature_names) == 20

    def test_both_labellings_are_balanced_and_carried_by_their_features(self):
        data = make_two_solutions(noise_scale=0.01, second_scale=0.5, random_state=0)
        assert [np.bincount(column).tolist() for column in data.y.T] == [[50] * 3] * 2
        np.testing.assert_array_equal(data.X[:, :3].argmax(axis=1), data.y[:, 0])
        np.testing.assert_array_equal(data.X[:, 3:6].argmax(axis=1), data.y[:, 1])
        assert data.X[:, 3:6].max() == pytest.approx(0.5, abs=0.03)
