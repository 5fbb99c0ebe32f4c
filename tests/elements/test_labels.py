"""Elements that match the labels: the gains, the fit of the weights and the refinement, against plain references."""

import numpy as np
import pytest
from scipy.optimize import approx_fprime, minimize
from sklearn.datasets import make_blobs
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import log_loss

from eigensieve.elements import (
    BUMP,
    LOGISTIC,
    SQUARED,
    FullExpansion,
    Goal,
    MaskedKernel,
    Plan,
    as_columns,
    fit_labels,
    held_out_size,
    labels,
    penalised,
)
from eigensieve.elements._guided_numba import sums_in_bins
from eigensieve.elements._labels_numba import best_bump, grow, moments_of, most_promising, pick, single_gains, terms_of
from eigensieve.elements.guided import FeatureBins
from eigensieve.elements.kernel import LINEAR
from eigensieve.elements.labels import KEPT, SHARPNESS, LabelSearch, bump_tables, most_telling
from eigensieve.elements.penalised import PenalisedFit, refine_penalised

KERNEL = MaskedKernel(BUMP, gamma=0.2)


def bump(z):
    """The kernel by its formula."""
    return np.maximum(0.0, 1.0 - z / 4.0) ** 4


def classes(targets, ridge=1.0):
    return Goal(LOGISTIC, targets, ridge)


def ring(n=400, d=6, seed=0):
    """Class 1 inside a circle of two of the features."""
    X = np.random.default_rng(seed).normal(size=(n, d))
    return X, (X[:, 1] ** 2 + X[:, 4] ** 2 < 1.5).astype(float)[:, None]


def machine(X, targets, n_elements=24, refine=False, **options):
    plan = Plan(n_elements=n_elements, **options)
    return fit_labels(KERNEL, X, classes(targets), plan, np.random.default_rng(0), refine=refine)


def gains_by_formula(values, sums, total, ridge):
    """Return the gain of one bump with the given values in the bins; `sums` as in `best_bump`."""
    outside = values**2 @ sums[-2] - (values @ sums[-1]) ** 2 / total
    return ((sums[:-2] @ values) ** 2).sum() / (max(outside, 0.0) + ridge)


@pytest.mark.parametrize("outputs", [1, 2, 4])
@pytest.mark.parametrize(("deviation", "joined"), [(1.5, 1), (5.0, 2), (12.0, 4)])
def test_gains_equal_the_formula(outputs, deviation, joined):
    rng = np.random.default_rng(0)
    sums, total, ridge = rng.normal(size=(outputs + 2, 32)).astype(np.float32), 200.0, 0.5
    sums[outputs:] = np.abs(sums[outputs:])
    tables, seen_as_one = bump_tables(np.array([[0.5 / deviation**2]]))
    assert seen_as_one == joined
    work = np.empty((outputs + 3, 32), np.float32)
    gain, place = best_bump(tables[0, 0], joined, sums, outputs, np.float32(total), np.float32(ridge), work)
    wide = sums.astype(np.float64).reshape(outputs + 2, -1, joined).sum(axis=2)
    middles = joined * (np.arange(32 // joined) + 0.5)
    bumps = bump(0.5 * ((middles[:, None] - middles) / deviation) ** 2)
    expected = [gains_by_formula(bump, wide, total, ridge) for bump in bumps]
    best = int(np.argmax(expected))
    assert gain == pytest.approx(expected[best], rel=1e-4)
    top = 0.0
    if 0 < best < len(expected) - 1:
        bend, slope, _ = np.polyfit([-1, 0, 1], expected[best - 1 : best + 2], 2)
        top = -slope / (2 * bend)
    assert place == pytest.approx(middles[best] + joined * top, abs=0.01)


def binned(X):
    """Return the bins of X over its range, as the search has them: codes, lower ends, steps, order and edges."""
    low, step = X.min(axis=0), np.ptp(X, axis=0) / 32
    codes = np.minimum((X - low) / step, 31).astype(int)
    bins = FeatureBins(np.ascontiguousarray(X.T), low, step)
    return codes, low, step, bins.order, bins.edges


def naive_sums(codes, gradient, curvature, parent):
    """Return the sums of the terms over the samples in each bin of one feature."""
    terms = np.vstack([gradient * parent, curvature * parent**2, curvature * parent])
    return np.stack([terms[:, codes == b].sum(axis=1) for b in range(32)], axis=1)


@pytest.mark.parametrize("outputs", [1, 2, 5])
def test_sums_in_bins_equal_plain_ones(outputs):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(700, 3))
    codes, _, _, order, edges = binned(X)
    gradient, curvature = rng.normal(size=(outputs, 700)), rng.uniform(size=700)
    parent = bump(X[:, 0] ** 2)
    terms = np.zeros((-(-(outputs + 2) // 4), 700, 4), np.float32)
    terms_of(*(a.astype(np.float32) for a in (gradient, curvature, parent)), terms)
    for i in range(3):
        sums = np.empty((4 * len(terms), 32), np.float32)
        sums_in_bins(order[i], edges[i], terms, sums)
        expected = naive_sums(codes[:, i], gradient, curvature, parent)
        np.testing.assert_allclose(sums[: outputs + 2], expected, atol=1e-4)


@pytest.mark.parametrize("outputs", [1, 3])
def test_growing_takes_the_best_feature_each_time(outputs):
    """Against all bumps on all features, with plain sums: the same features and centres, and gains as good."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(500, 9))
    codes, low, step, order, edges = binned(X)
    gradient, curvature = rng.normal(size=(outputs, 500)), rng.uniform(0.1, 1, size=500)
    gradient += np.exp(-(X[:, 2] ** 2) - (X[:, 5] - 1) ** 2 - X[:, 7] ** 2)
    gammas, ridge = np.array([2.0, 0.4]), 1.0
    tables, joined = bump_tables(np.outer(gammas, step**2))
    g, h, rows = gradient.astype(np.float32), curvature.astype(np.float32), np.ascontiguousarray(X.T, np.float32)
    gains, places = np.empty((2, 9), np.float32), np.empty((2, 9), np.float32)
    single_gains(order, edges, tables, joined, np.arange(9), g, h, np.float32(ridge), gains, places)

    def scores(parent, width):
        work = np.empty((outputs + 3, 32), np.float32)
        found = []
        for i in range(9):
            sums = naive_sums(codes[:, i], gradient, curvature, parent).astype(np.float32)
            table, bins = tables[width, i], joined[width, i]
            found.append(best_bump(table, bins, sums, outputs, np.float32(curvature.sum()), np.float32(ridge), work))
        return np.array(found).T

    for width in range(2):
        expected = scores(np.ones(500), width)
        np.testing.assert_allclose(gains[width], expected[0], rtol=0.01)
    widths = np.array([0, 1])
    features, centres = np.full((2, 4), 2), np.zeros((2, 4))
    lengths, moments = np.ones(2, np.int64), np.empty((9, 4), np.float32)
    moments_of(rows, moments)
    grow(
        order, edges, tables, joined, low, step, rows, moments, gammas, g, h, np.float32(ridge), np.arange(8), 9,
        widths, features, centres, lengths,
    )  # fmt: skip
    np.testing.assert_array_equal(lengths, [4, 4])
    for s in range(2):
        distance, among = np.zeros(500), np.arange(8)  # the last feature is not tried
        for k in range(1, 4):
            distance += gammas[s] * (X[:, features[s, k - 1]] - centres[s, k - 1]) ** 2
            found, where = scores(bump(distance), s)
            found[features[s, :k]] = 0.0
            best = among[np.argmax(found[among])]
            assert features[s, k] == best
            assert centres[s, k] == pytest.approx(low[best] + step[best] * where[best], abs=0.1 * step[best])


def test_growing_ends_where_no_feature_is_left():
    X = np.random.default_rng(0).normal(size=(60, 2))
    _, low, step, order, edges = binned(X)
    tables, joined = bump_tables(np.outer([1.0], step**2))
    features, centres, lengths = np.full((1, 4), 1), np.zeros((1, 4)), np.ones(1, np.int64)
    rows, moments = np.ascontiguousarray(X.T, np.float32), np.empty((2, 4), np.float32)
    moments_of(rows, moments)
    grow(
        order, edges, tables, joined, low, step, rows, moments, np.ones(1), rows[:1], np.ones(60, np.float32),
        np.float32(1), np.arange(2), 6, np.array([0]), features, centres, lengths,
    )  # fmt: skip
    assert lengths[0] == 2 and features[0, 1] == 0


@pytest.mark.parametrize("outputs", [1, 3])
def test_columns_are_picked_by_what_each_gains_beside_those_picked_before(outputs):
    """Against the drop of the ridge-penalised square, solved anew for every candidate."""
    rng = np.random.default_rng(0)
    C, G = rng.normal(size=(8, 40)), rng.normal(size=(outputs, 40))
    C[5] = C[2] + 0.01 * rng.normal(size=40)  # a near copy
    G += 0.7 * C[2] + 0.4 * C[6]
    lengths, ridge = np.array([1, 2, 1, 4, 1, 1, 2, 1]), 0.5

    def gain(rows):
        A = C[rows] @ C[rows].T + ridge * np.eye(len(rows))
        return float((np.linalg.solve(A, C[rows] @ G.T) * (C[rows] @ G.T)).sum())

    expected: list[int] = []
    while True:
        before, room = gain(expected) if expected else 0.0, 5 - lengths[expected].sum()
        gains = [gain([*expected, c]) - before if c not in expected and lengths[c] <= room else 0.0 for c in range(8)]
        if max(gains) <= 0.02 * (gain(expected[:1]) if expected else 0.0):
            break
        expected.append(int(np.argmax(gains)))
    found = pick(C @ C.T, C @ G.T, lengths, ridge, 5, 8, 0.0, 0.02)
    assert list(found) == expected and len({2, 5} & set(expected)) == 1
    assert list(pick(C @ C.T, C @ G.T, lengths, ridge, 5, 2, 0.0, 0.02)) == expected[:2]
    assert pick(C @ C.T, C @ G.T, lengths, ridge, 5, 8, 1e9, 0.02).size == 0


@pytest.mark.parametrize("outputs", [1, 3])
def test_the_most_promising_features_go_with_the_gradient_in_values_or_squares(outputs):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(400, 30)) * np.geomspace(1e-3, 1e3, 30) + 0.1
    parent = rng.uniform(size=400)
    gradient = rng.normal(size=(outputs, 400)) + X[:, 3] / X[:, 3].std() + (X[:, 20] / X[:, 20].std()) ** 2
    gradient -= gradient.mean(axis=1, keepdims=True)
    rows, moments = np.ascontiguousarray(X.T, np.float32), np.empty((30, 4), np.float32)
    moments_of(rows, moments)
    among, known = np.arange(1, 30), np.array([4])
    kept = most_promising(rows, moments, gradient.astype(np.float32), parent.astype(np.float32), among, known, 5)
    scores = sum((gradient * parent @ ((Z - Z.mean(axis=0)) / Z.std(axis=0))) ** 2 for Z in (X, X**2)).sum(axis=0)
    scores[[0, 4]] = -1
    np.testing.assert_array_equal(kept, np.sort(np.argsort(-scores)[:5]))
    assert {3, 20} <= set(kept)


@pytest.mark.parametrize("n_classes", [2, 3])
def test_refitted_machine_is_that_of_logistic_regression(n_classes):
    rng = np.random.default_rng(0)
    K = rng.normal(size=(200, 5))
    y = (K @ rng.normal(size=(5, n_classes)) + rng.normal(size=(200, n_classes))).argmax(axis=1)
    targets = (y[:, None] == np.arange(n_classes)).astype(float)
    fit = PenalisedFit(classes(targets[:, 1:] if n_classes == 2 else targets, ridge=2.0))
    fit.add(K[:, :3].T)
    fit.refit(2)
    fit.add(K[:, 3:].T)
    fit.refit(60)
    peer = LogisticRegression(C=0.5, tol=1e-12, max_iter=5000).fit(K, y)
    # The same shift of all classes' weights changes the ridge term alone and converges last.
    np.testing.assert_allclose(fit.weights[1:].T, peer.coef_, atol=1e-5 if n_classes == 2 else 2e-4)
    expected = peer.predict_proba(K)[:, -fit.scores.shape[1] :]
    np.testing.assert_allclose(LOGISTIC.mean(fit.scores), expected, atol=1e-5)
    assert fit.goal.total(fit.scores) == pytest.approx(200 * log_loss(y, peer.predict_proba(K)), abs=1e-3)


def test_thin_weights_are_those_that_count_and_are_fitted_best():
    """Class k is that of the largest column k, so the weights of a column on other classes count less."""
    rng = np.random.default_rng(0)
    K = rng.normal(size=(300, 6))
    y = (4 * K[:, :5] + rng.normal(size=(300, 5))).argmax(axis=1)
    goal = classes((y[:, None] == np.arange(5)).astype(float), ridge=2.0)
    fit = PenalisedFit(goal)
    fit.add(K.T)
    fit.refit(10)
    fit.thin(6)
    fit.refit(40)
    kept = fit.weights[1:] != 0
    np.testing.assert_array_equal(kept[:5], np.eye(5, dtype=bool))
    assert kept[5].sum() == 1  # noise, but every column keeps a weight

    def loss(flat):
        weights = np.zeros((6, 5))
        weights[kept] = flat[5:]
        scores = K @ weights + flat[:5]
        return (np.log(np.exp(scores).sum(axis=1)) - scores[np.arange(300), y]).sum() + (flat[5:] ** 2).sum()

    best = minimize(loss, np.zeros(11), tol=1e-10)
    assert loss(np.concatenate([fit.weights[0], fit.weights[1:][kept]])) == pytest.approx(best.fun, rel=1e-6)


def test_many_classes_share_columns_with_few_weights_each():
    X, y = make_blobs(n_samples=400, n_features=6, centers=8, cluster_std=2.0, random_state=0)
    targets = (y[:, None] == np.arange(8)).astype(float)
    for refine in (False, True):
        found, _ = machine(X, targets, n_elements=40, refine=refine)
        per_column = np.count_nonzero(found.weights, axis=1)
        assert found.is_thin and per_column.min() >= 1 and per_column.sum() == 3 * found.n_columns
        assert (found.decision(X).argmax(axis=1) == y).mean() > 0.9


def test_separable_labels_do_not_break_the_fit():
    X = np.linspace(-1, 1, 40)[:, None]
    fit = PenalisedFit(classes((X > 0).astype(float), ridge=1e-6))
    fit.add(X.T)
    for _ in range(30):
        fit.refit(1)
    assert np.isfinite(fit.weights).all() and fit.relative_loss < 0.01


def test_the_search_finds_the_features_that_count_together():
    X, targets = ring()
    found, path = machine(X, targets)
    heavy = np.repeat(np.abs(found.weights[:, 0]), found.lengths) > np.abs(found.weights).max() / 2
    assert set(found.features[heavy]) <= {1, 4} and (found.lengths > 1).any()
    assert len(path) == found.n_elements <= 24
    X_new, new = ring(seed=1)
    assert ((found.decision(X_new) > 0) == new).mean() > 0.93
    assert np.unique(found.factors).size <= 5


def test_the_path_is_the_loss_as_a_share_of_what_a_constant_leaves():
    X, targets = ring()
    search = LabelSearch(KERNEL, X, classes(targets), Plan(n_elements=24), np.random.default_rng(0))
    for grown in search.rounds(16):
        expected = classes(targets).total(grown.placed(grown.expansion()).decision(X)) / search.fit.start
        assert grown.path[-1] == pytest.approx(expected, rel=1e-5)


@pytest.mark.parametrize("n_classes", [2, 6])
def test_many_elements_are_the_mean_of_machines_with_mixtures_of_their_own(n_classes, monkeypatch):
    monkeypatch.setattr(labels, "PART", 20)
    monkeypatch.setattr(labels, "OVER", 8)
    X, y = make_blobs(n_samples=300, n_features=6, centers=n_classes, cluster_std=4.0, random_state=0)
    targets = (y[:, None] == np.arange(n_classes)).astype(float)[:, int(n_classes == 2) :]
    rng = np.random.default_rng(0)
    parts = [fit_labels(KERNEL, X, classes(targets), Plan(n_elements=n), rng, refine=True) for n in (22, 22, 23)]
    found, path = machine(X, targets, n_elements=67, refine=True)
    expected = np.mean([one.decision(X) for one, _ in parts], axis=0)
    np.testing.assert_allclose(found.decision(X), expected, atol=1e-12)
    assert found.n_elements == len(path) == 67 and path == [loss for _, part in parts for loss in part]


def test_single_features():
    X, targets = ring()
    found, _ = machine(X, targets, grown_to=1)
    assert (found.lengths == 1).all()


def test_more_elements_lower_the_loss():
    X, targets = ring()
    _, path = machine(X, targets, n_elements=60)
    steps = np.unique(path)[::-1]
    np.testing.assert_array_equal(steps, [value for k, value in enumerate(path) if k == 0 or value != path[k - 1]])


def test_refinement_follows_the_gradient(monkeypatch):
    X, y = ring(n=120)
    targets = np.column_stack([y, 1 - y])
    start, _ = machine(X, targets, n_elements=7)
    seen = {}

    def checked(function, at, **_):
        at = at + 0.05 * np.random.default_rng(0).normal(size=at.size)
        value, gradient = function(at)
        # Single precision: wide central differences.
        ahead, behind = (approx_fprime(at, lambda flat: function(flat)[0], step) for step in (0.01, -0.01))
        np.testing.assert_allclose(gradient, (ahead + behind) / 2, rtol=0.01, atol=0.02)
        seen["value"] = value
        return minimize(function, at, jac=True, method="L-BFGS-B", options={"maxiter": 0})

    monkeypatch.setattr(penalised, "minimize", checked)
    refine_penalised(start, X.T.astype(np.float32), classes(targets), 1)
    assert np.isfinite(seen["value"])


def test_refinement_lowers_the_penalised_loss_and_keeps_few_widths():
    X, targets = ring()
    plain, _ = machine(X, targets)
    refined, _ = machine(X, targets, refine=True)

    def loss(one):
        return classes(targets).total(one.decision(X), one.weights)

    assert loss(refined) < loss(plain)
    assert np.unique(refined.factors).size <= np.unique(plain.factors).size


def test_noise_asks_for_few_elements_and_structure_for_more():
    X, targets = ring(n=600)
    noise = np.random.default_rng(0).permutation(targets)
    plan = Plan(n_elements=100)
    sizes = [held_out_size(KERNEL, X, classes(t), plan, np.random.default_rng(0)) for t in (targets, noise)]
    assert sizes[1] < 10 < sizes[0]


def test_constant_features_are_never_read():
    X, targets = ring()
    X[:, [0, 2]] = 3.0
    found, _ = machine(X, targets)
    assert set(found.features) <= {1, 3, 4, 5}
    flat = LabelSearch(KERNEL, np.ones((10, 2)), classes(targets[:10]), Plan(n_elements=4), np.random.default_rng(0))
    assert list(flat.rounds(4)) == [] and flat.expansion().decision(np.ones((3, 2))).shape == (3, 1)


def test_features_of_any_scale_are_cut_into_bins():
    X, targets = ring()
    X = np.column_stack([X, 1e-200 * X[:, :1], 1e-13 * X[:, 1:2], 1e10 * X[:, 2:3]])
    found, _ = machine(X, targets)
    assert 6 not in found.features and np.isfinite(found.decision(X)).all()


def test_as_columns_keeps_every_element():
    X, targets = ring()
    found, _ = machine(X, targets)
    basis, columns = as_columns(found)
    assert [i for column in columns for i in column.features] == list(found.features)
    owners = [column.basis for column in columns for _ in column.features]
    np.testing.assert_array_equal(basis[owners, found.features], found.values)


@pytest.mark.parametrize("n_outputs", [1, 3])
def test_mixtures_lie_between_two_samples_as_do_their_targets(n_outputs):
    rng = np.random.default_rng(0)
    X, targets = rng.normal(size=(2, 4)), rng.uniform(size=(2, n_outputs))
    search = LabelSearch(KERNEL, X, classes(targets), Plan(n_elements=4), rng, 50)
    mixed, found = search.X.T + search.middle, search.goal.targets
    np.testing.assert_allclose(mixed[:2], X, atol=1e-6)
    np.testing.assert_array_equal(found[:2], targets)
    assert len(mixed) == len(found) == 52
    share = (mixed[2:] - X[1]) @ (X[0] - X[1]) / ((X[0] - X[1]) ** 2).sum()
    assert share.min() > -1e-6 and share.max() < 1 + 1e-6 and share.std() > 0.2
    np.testing.assert_allclose(mixed[2:], X[1] + np.outer(share, X[0] - X[1]), atol=1e-5)
    np.testing.assert_allclose(found[2:], targets[1] + np.outer(share, targets[0] - targets[1]), atol=1e-5)


@pytest.mark.parametrize("n_outputs", [1, 3])
def test_a_full_machine_gives_half_of_the_targets_of_mixtures(n_outputs):
    rng = np.random.default_rng(0)
    X, slope, targets = rng.normal(size=(9, 4)), rng.normal(size=(4, n_outputs)), rng.uniform(size=(9, n_outputs))
    full = FullExpansion(MaskedKernel(LINEAR), slope.T, np.eye(n_outputs), np.zeros(n_outputs))
    alone, helped = (
        LabelSearch(KERNEL, X, classes(targets), Plan(n_elements=4), np.random.default_rng(1), 50, one)
        for one in (None, full)
    )
    odds = np.exp(SHARPNESS * (helped.X.T + helped.middle) @ slope)
    expected = odds / (1 + odds) if n_outputs == 1 else odds / odds.sum(axis=1, keepdims=True)
    told = 2 * helped.goal.targets[9:] - alone.goal.targets[9:]
    np.testing.assert_allclose(told, expected[9:], rtol=1e-4)


def test_numbers_are_not_mixed():
    X, _ = ring(n=60)
    goal, rng = Goal(SQUARED, X[:, :1], 1.0), np.random.default_rng(0)
    _, path = fit_labels(KERNEL, X, goal, Plan(n_elements=9), rng, refine=False)
    alone = LabelSearch(KERNEL, X, goal, Plan(n_elements=9), np.random.default_rng(0))
    for _ in alone.rounds(16):
        pass
    assert path == alone.path


def test_of_very_many_features_those_that_tell_something_are_read():
    """A straight line in feature 7 and a parabola in feature 3000 have larger correlations than noise."""
    X = np.random.default_rng(0).normal(size=(300, 4000)) * np.geomspace(1e-6, 1e6, 4000)
    line, parabola = X[:, 7] / X[:, 7].std(), X[:, 3000] / X[:, 3000].std()
    targets = (line + parabola**2 > 1).astype(float)[:, None]
    seen = most_telling(X, classes(targets))
    assert seen.size == KEPT and {7, 3000} <= set(seen)
    correlations = [[abs(np.corrcoef(term, targets[:, 0])[0, 1]) for term in (x, (x - x.mean()) ** 2)] for x in X.T]
    worth = (np.array(correlations) ** 2).sum(axis=1)
    np.testing.assert_array_equal(seen, np.sort(np.argsort(-worth)[:KEPT]))
    np.testing.assert_array_equal(most_telling(X[:, :20], classes(targets)), np.arange(20))
