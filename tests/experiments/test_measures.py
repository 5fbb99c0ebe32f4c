"""The measures and the papers' rival methods, against mathematics, brute force and peer libraries."""

import numpy as np
import pytest
from scipy.optimize import minimize
from scipy.special import logsumexp
from scipy.stats import ks_2samp, pearsonr
from sklearn.datasets import make_classification
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.svm import SVC

from eigensieve.datasets import make_weston_linear
from experiments import element_selection, gene_outcomes, sufficient, uci_side_data, weston
from experiments.face_features import Faces, haar, precision_index, tuned
from experiments.frame import Results
from experiments.gene_shaving import shaved_features
from experiments.masked_svm import MaskedSVM, squared_hinge
from experiments.oriented import directions
from experiments.radius_margin import _smallest_ball, radius_margin_scales


def test_pair_accuracy_is_the_mean_of_two_rates():
    y, clusters = np.array([0, 0, 1, 1, 1]), np.array([0, 1, 1, 1, 1])
    pairs = [(a, b) for a in range(5) for b in range(a + 1, 5)]
    same = [clusters[a] == clusters[b] for a, b in pairs if y[a] == y[b]]
    different = [clusters[a] != clusters[b] for a, b in pairs if y[a] != y[b]]
    assert uci_side_data.pair_accuracy(y, clusters) == pytest.approx((np.mean(same) + np.mean(different)) / 2)


@pytest.mark.parametrize("label", gene_outcomes.READINGS)
def test_readings_of_gene_outcomes_rank_all_genes(label):
    X, y = np.random.default_rng(0).normal(size=(20, 30)), np.repeat([-1, 1], 10)
    assert sorted(gene_outcomes._q_alpha(X, y, **gene_outcomes.READINGS[label])) == list(range(30))


def test_the_table_of_uci_sets_has_a_row_for_sets_without_printed_figures():
    row = {"case": "glass", "run": 0, **dict.fromkeys(uci_side_data.METHODS, 0.5)}
    lines = uci_side_data.table(Results([row])).splitlines()
    assert len(lines) == 3 and lines[2].startswith("| glass | ours | 0.500 |")


def test_filters_equal_scipy():
    X, y, _ = make_weston_linear(30, 12, random_state=0)
    expected = [ks_2samp(column[y > 0], column[y < 0]).statistic for column in X.T]
    np.testing.assert_allclose(weston._kolmogorov_smirnov(X, y), expected)
    correlation = np.array([abs(pearsonr(column, y)[0]) for column in X.T])
    ours = weston._pearson(X, y)
    np.testing.assert_allclose(ours / ours.max(), correlation / correlation.max())


def test_precision_index_is_one_for_clusters_and_zero_for_chance():
    y = np.repeat(np.arange(4), 25)
    rng = np.random.default_rng(0)
    assert precision_index(np.eye(4)[y] + 0.01 * rng.normal(size=(100, 4)), y) == pytest.approx(1.0)
    assert precision_index(rng.normal(size=(100, 4)), y) == pytest.approx(0.0, abs=0.03)


def test_haar_sees_edges_and_no_constants():
    image = np.zeros((1, 16, 16))
    assert not haar(image + 7.0).any()
    image[:, :, 8:] = 1.0  # dark on the left: only left - right responds
    windows = [((16 - side) // max(2, side // 2) + 1) ** 2 for side in (2, 4, 8, 16)]
    parts = np.split(haar(image)[0], np.cumsum(np.repeat(windows, 3))[:-1])
    assert parts[9] == pytest.approx([-2.0]) and parts[10] == parts[11] == pytest.approx([0.0])
    assert all(not part.any() for part in parts[1::3] + parts[2::3])


def test_smallest_ball():
    points = np.random.default_rng(0).normal(size=(20, 3))

    def radius(center):
        return np.max(np.sum((points - center) ** 2, axis=1))

    expected = min(minimize(radius, start, method="Nelder-Mead").fun for start in points[:3])
    center, squared = _smallest_ball(points @ points.T)
    assert center.sum() == pytest.approx(1.0)
    assert squared == pytest.approx(expected, rel=0.03)


@pytest.mark.parametrize("degree", [1, 2])
def test_radius_margin_finds_the_features_of_a_separable_problem(degree):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 20))
    y = np.where(X[:, 4] + X[:, 7] > 0, 1, -1) if degree == 1 else np.where(X[:, 4] * X[:, 7] > 0, 1, -1)
    scores = radius_margin_scales(X, y, 2, degree=degree)
    assert set(np.argsort(-scores)[:2]) == {4, 7}


def test_quadratic_elimination_drops_what_changes_the_norm_least():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(80, 12))
    y = np.where(X[:, 4] * X[:, 7] > 0, 1, -1)
    assert weston.quadratic_elimination(X, y, 2).tolist() == [4, 7]
    machine = SVC(kernel="poly", degree=2, coef0=1.0, gamma=1 / 12).fit(X, y)
    S, dual = machine.support_vectors_, machine.dual_coef_[0]

    def squared_norm(columns):
        return dual @ (1.0 + S[:, columns] @ S[:, columns].T / 12) ** 2 @ dual

    changes = [abs(squared_norm(range(12)) - squared_norm([j for j in range(12) if j != i])) for i in range(12)]
    assert set(range(12)) - set(weston.quadratic_elimination(X, y, 11)) == {int(np.argmin(changes))}


def test_gene_shaving_finds_groups_that_vary_together():
    rng = np.random.default_rng(0)
    hidden = rng.normal(size=(40, 2))
    Z = 0.3 * rng.normal(size=(40, 120))
    Z[:, :30] += 2 * hidden[:, :1] * rng.choice([-1, 1], 30)
    Z[:, 30:50] += hidden[:, 1:]
    features = shaved_features(Z - Z.mean(axis=0), 2, rng)
    for i in range(2):
        assert abs(np.corrcoef(features[:, i], hidden[:, i])[0, 1]) > 0.95


def test_signal_to_noise_and_elimination_rank_a_clear_feature_first():
    rng = np.random.default_rng(0)
    y = np.repeat([-1, 1], 15)
    Z = rng.normal(size=(30, 50))
    Z[:, 33] += 4 * y
    assert gene_outcomes._signal_to_noise(Z, y)[0] == 33
    ranking = gene_outcomes._recursive_elimination(Z, y)
    assert ranking[0] == 33 and sorted(ranking) == list(range(50))


def test_sizes_and_rankings_of_a_fold_do_not_see_the_sample_left_out(monkeypatch):
    rng = np.random.default_rng(0)
    y = np.repeat([-1, 1], 8)
    Z = rng.normal(size=(16, 40))
    Z[:, 5] += 6 * y
    monkeypatch.setattr(gene_outcomes, "SIZES", (1, 10))
    seen = []

    def ranking(training, labels):
        seen.append(len(labels))
        return np.argsort(-np.abs(training.T @ labels), kind="stable")

    monkeypatch.setattr(gene_outcomes, "RANKINGS", {"SNR": ranking})
    assert gene_outcomes._nested(Z, y) == {"samples": 16, "SNR": 0}
    assert seen == [15] * 16


def test_oriented_and_constrained_pca_avoid_the_side_datas_direction():
    rng = np.random.default_rng(0)
    scales = np.array([10.0, 3.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0])
    main, side = rng.normal(size=(300, 8)) * scales, rng.normal(size=(300, 8)) * np.array([10.0, *[0.1] * 7])
    found = directions(main, side)
    assert abs(found["PCA"][0, 0]) > 0.99
    for method in ("CPCA", "OPCA"):
        first = found[method][:, 0] / np.linalg.norm(found[method][:, 0])
        assert abs(first[1]) > 0.95


def _one_person(rng, light, n_images=12, n_pixels=40):
    """Images of one person: the first half of the pixels shows the person, the second half the light."""
    pixels = np.full((n_images, n_pixels), 100.0)
    pixels[:, :20] *= np.exp(rng.normal(size=20) * 0.5)
    return pixels * np.exp(rng.normal(size=(n_images, 1)) * light) * np.exp(0.02 * rng.normal(size=pixels.shape))


def test_information_of_features_against_convex_optimisation():
    rng = np.random.default_rng(0)
    P = sufficient.distributions(rng.uniform(0, 255, (5, 12)))
    phi = rng.normal(size=(12, 2))
    marginal = P.mean(axis=1)

    def negative_likelihood(flat):  # of the exponential family whose best member is the least informative one
        logits = phi @ flat[:10].reshape(2, 5) + flat[10:, None]
        return -np.mean(np.sum(P * (logits - logsumexp(logits, axis=0)), axis=0))

    expected = -minimize(negative_likelihood, np.zeros(22), tol=1e-12).fun - marginal @ np.log(marginal)
    value, gradient = sufficient._Information(P).at(phi)
    assert value == pytest.approx(expected, rel=1e-4)
    direction = rng.normal(size=phi.shape)
    ahead, behind = (sufficient._Information(P).at(phi + h * direction)[0] for h in (1e-3, -1e-3))
    assert np.sum(gradient * direction) == pytest.approx((ahead - behind) / 2e-3, rel=1e-2)


def test_sufficient_features_tell_persons_apart_whatever_the_light():
    rng = np.random.default_rng(0)
    light = 0.6 * (np.arange(40) >= 20)
    images = np.concatenate([_one_person(rng, light) for _ in range(4)])
    side, y = _one_person(rng, light), np.repeat(np.arange(4), 12)
    scores = {}
    for strength in (0.0, 3.0):
        phi = sufficient.sufficient_features(images, side, 1, strength)
        scores[strength] = precision_index(sufficient.distributions(images).T @ phi, y)
    assert scores[3.0] > 0.6 and scores[0.0] < 0.1


def test_break_even_and_rejection_by_counting():
    y = np.array([0] * 50 + [1] * 50)
    scores = np.concatenate([np.arange(50.0), np.arange(25.5, 75.0)])  # 24 negatives above the lowest positive
    found = element_selection._measures(scores, y)
    assert found["rejection"] == pytest.approx(27 / 50)  # one positive in 50 may be lost: threshold 26.5
    assert found["break-even"] == pytest.approx(0.24, abs=0.011)


def _squared_hinge_loss(point, K, signs):
    slack = np.maximum(0.0, 1.0 - signs[:, 0] * (K @ point[:-1] + point[-1]))
    return np.mean(slack**2) + 1e-6 * np.sum(point[:-1] ** 2)


def test_the_svm_of_masked_columns_is_the_minimum():
    rng = np.random.default_rng(0)
    K = np.exp(-(rng.normal(size=(90, 5)) ** 2))
    signs = np.where(K[:, [0]] + 0.3 * rng.normal(size=(90, 1)) > 0.6, 1.0, -1.0)
    weights, intercept, inside = squared_hinge(K, signs)
    point = np.concatenate([weights[:, 0], intercept])
    expected = minimize(_squared_hinge_loss, np.zeros(6), args=(K, signs), tol=1e-12)
    assert _squared_hinge_loss(point, K, signs) == pytest.approx(expected.fun, rel=1e-7)
    assert set(inside) == set(np.flatnonzero(signs[:, 0] * (K @ point[:-1] + point[-1]) < 1))


def test_a_mask_is_found_while_the_svm_is_trained():
    X, y = make_classification(300, 8, n_informative=4, n_redundant=0, random_state=0)
    model = MaskedSVM(25, 0.5).fit(X[:200], y[:200], np.random.default_rng(0))
    assert sum(len(column.features) for column in model.columns) == 25
    K = np.array([rbf_kernel(X[:, c.features], X[[c.basis]][:, c.features], gamma=0.5)[:, 0] for c in model.columns]).T
    expected = K @ model.weights[:, 0] + model.intercept
    np.testing.assert_allclose(model.decision_function(X), expected, atol=1e-6)
    point, signs = np.concatenate([model.weights[:, 0], model.intercept]), np.where(y == 1, 1.0, -1.0)[:200, None]
    best = minimize(_squared_hinge_loss, point, args=(K[:200], signs))
    assert _squared_hinge_loss(point, K[:200], signs) == pytest.approx(best.fun, rel=1e-4)
    assert np.mean((model.decision_function(X[200:]) > 0) == y[200:]) > 0.75


def test_moved_faces_are_the_same_images_elsewhere():
    images = np.random.default_rng(0).uniform(size=(6, 20, 18))
    faces = Faces.of(images, np.repeat([0, 1, 2], 2))
    moved = faces.moved(2, np.random.default_rng(0))
    for one, other in zip(images, moved.images, strict=True):
        np.testing.assert_array_equal(np.sort(one, axis=None), np.sort(other, axis=None))
    assert moved.wavelets.shape == faces.wavelets.shape and faces.by_wavelets().pixels is faces.wavelets


def test_settings_are_chosen_on_the_training_persons():
    rng = np.random.default_rng(0)
    y = np.repeat(np.arange(4), 10)
    pixels = rng.normal(size=(40, 2))
    pixels[y < 2, 0] += 20 * y[y < 2]  # the first column tells the training persons apart
    pixels[y >= 2, 1] += 20 * y[y >= 2]  # the second the test persons
    faces = Faces(pixels, pixels, pixels, y)

    def family(faces, persons):
        main = np.isin(faces.y, persons[:-1])
        return {("column", str(i)): lambda i=i: faces.pixels[main][:, [i]] for i in range(2)}

    found = tuned(faces, np.array([0, 1, 9]), np.array([2, 3, 9]), (family,))
    assert found["column"][1] == "0" and found["column"][0] < 0.2
