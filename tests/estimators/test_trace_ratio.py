"""TraceRatioSelector and the score functions, as a scikit-learn user meets them."""

import pickle
import warnings

import numpy as np
import pytest
from scipy.sparse import csr_array, csr_matrix
from sklearn.base import clone
from sklearn.compose import ColumnTransformer
from sklearn.datasets import load_wine
from sklearn.feature_selection import SelectKBest, f_classif
from sklearn.model_selection import GridSearchCV, StratifiedKFold
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import parametrize_with_checks

from eigensieve import TraceRatioSelector, fisher_score, laplacian_score, select_kernels
from eigensieve.datasets import list_real, load_real
from eigensieve.estimators import trace_ratio
from eigensieve.graphs import knn_graph
from eigensieve.traceratio import best_subset
from reference import trace_ratio as reference
from support.backends import IN_MEMORY

pytestmark = [
    pytest.mark.filterwarnings("ignore:The features of X have unlike scales"),
]


@parametrize_with_checks(
    [
        TraceRatioSelector(),
        TraceRatioSelector(1, level="feature"),
        TraceRatioSelector("auto", score="laplacian"),
        TraceRatioSelector(1, score="semi-supervised"),
    ]
)
@pytest.mark.filterwarnings("ignore:TraceRatioSelector.n_features_to_select", "ignore:No feature has any within")
def test_scikit_learn_checks(estimator, check):
    check(estimator)


@pytest.fixture(scope="module")
def wine():
    return load_wine(return_X_y=True)


@pytest.mark.parametrize("backend", IN_MEMORY)
@pytest.mark.parametrize("score", ["fisher", "laplacian", "semi-supervised"])
def test_every_backend_selects_the_same(wine, backend, score):
    X, y = wine
    labels = np.where(np.arange(len(y)) % 2, y, -1) if score == "semi-supervised" else y
    expected = TraceRatioSelector(5, score=score).fit(X, labels)
    found = TraceRatioSelector(5, score=score).fit(IN_MEMORY[backend](X), labels)
    assert found.get_support(indices=True).tolist() == expected.get_support(indices=True).tolist()
    assert found.subset_score_ == pytest.approx(expected.subset_score_, rel=1e-4)


def test_learned_attributes_are_what_they_say(wine):
    X, y = wine
    selector = TraceRatioSelector(4).fit(X, y)
    b, e = reference.diagonals(X, *reference.fisher_graphs(y))
    np.testing.assert_allclose(selector.scores_, b / e, rtol=1e-8)
    np.testing.assert_allclose(selector.between_scatter_, b, rtol=1e-8)
    np.testing.assert_allclose(selector.within_scatter_, e, rtol=1e-8)
    chosen = selector.get_support(indices=True)
    assert selector.subset_score_ == pytest.approx(b[chosen].sum() / e[chosen].sum())
    assert selector.subset_score_ == pytest.approx(reference.brute_force(b, e)[4])
    assert set(selector.selection_order_) == set(chosen)
    assert selector.history_[-1] == selector.subset_score_ and (np.diff(selector.history_) > 0).all()
    assert selector.n_iter_ >= 1 and selector.support_.sum() == 4
    assert selector.transform(X).shape == (178, 4)
    level = TraceRatioSelector(4, level="feature").fit(X, y)
    assert np.argsort(level.ranking_).tolist() == np.argsort(-level.scores_, kind="stable").tolist()
    assert level.subset_score_ <= selector.subset_score_ and level.n_iter_ == 0


def test_path_agrees_with_fits_and_gives_the_automatic_size(wine):
    X, y = wine
    path = TraceRatioSelector(1).fit(X, y).path()
    for m in range(1, 14):
        selector = TraceRatioSelector(m).fit(X, y)
        assert path.scores[m - 1] == pytest.approx(selector.subset_score_, rel=1e-12)
        assert path.subset(m).tolist() == selector.get_support(indices=True).tolist()
    assert TraceRatioSelector("auto").fit(X, y).support_.sum() == path.choose()


def test_score_is_an_option_and_a_method(wine):
    X, y = wine
    selector = TraceRatioSelector(3, score="laplacian").fit(X)
    assert selector.get_params()["score"] == "laplacian"
    assert "score='laplacian'" in repr(selector)
    assert clone(selector).get_params()["score"] == "laplacian"
    assert selector.score(X) == pytest.approx(selector.subset_score_, rel=1e-12)
    restored = pickle.loads(pickle.dumps(selector))
    assert restored.get_params() == selector.get_params()
    assert restored.set_params(score="fisher").fit(X, y).score(X, y) == pytest.approx(restored.subset_score_)
    held_out = TraceRatioSelector(3).fit(X[::2], y[::2]).score(X[1::2], y[1::2])
    assert 0 < held_out < np.inf


def test_graphs_of_ones_own(wine):
    X, y = wine
    graph = knn_graph(X, 5)
    built = TraceRatioSelector(3, score="laplacian").fit(X)
    given = TraceRatioSelector(3, score="laplacian", within=graph).fit(X)
    reused = TraceRatioSelector(3, within=csr_matrix(built.graph_)).fit(X)
    assert built.subset_score_ == given.subset_score_ == reused.subset_score_
    within, _ = reference.fisher_graphs(y)
    other = csr_array((y[:, None] != y[None, :]).astype(float))
    both = TraceRatioSelector(3, within=csr_array(within), between=other).fit(X)
    b, e = reference.diagonals(X, within, other.toarray())
    np.testing.assert_allclose(both.scores_, b / e, rtol=1e-8)
    assert both.subset_score_ == pytest.approx(reference.brute_force(b, e)[3])


def test_semi_supervised_runs_from_fisher_to_laplacian(wine):
    X, y = wine
    some = np.where(np.arange(len(y)) % 3 == 0, -1, y)
    labelled = some >= 0
    ends = [TraceRatioSelector(3, score="semi-supervised", laplacian_weight=w).fit(X, some) for w in (0.0, 1.0)]
    np.testing.assert_allclose(ends[0].scores_, fisher_score(X[labelled], y[labelled]), rtol=1e-8)
    np.testing.assert_allclose(ends[1].scores_, laplacian_score(X), rtol=1e-8)
    reused = TraceRatioSelector(3, score="semi-supervised", laplacian_weight=1.0, within=ends[0].graph_)
    np.testing.assert_allclose(reused.fit(X, some).scores_, ends[1].scores_, rtol=1e-8)


def test_the_graph_is_built_once_and_not_at_all_when_given(wine, monkeypatch):
    X, _ = wine
    built = []
    monkeypatch.setattr(trace_ratio, "knn_graph", lambda *a, **k: built.append(1) or knn_graph(X, 5))
    graph = TraceRatioSelector(3, score="laplacian").fit(X).graph_
    assert built == [1]
    for level in ("subset", "feature"):
        TraceRatioSelector(3, score="laplacian", level=level, within=graph).fit(X)
    assert built == [1]


def test_scores_work_with_select_k_best(wine):
    X, y = wine
    classes, samples = 3, len(y)
    np.testing.assert_allclose(fisher_score(X, y) * (samples - classes) / (classes - 1), f_classif(X, y)[0], rtol=1e-9)
    chosen = SelectKBest(fisher_score, k=4).fit(X, y).get_support()
    np.testing.assert_array_equal(chosen, TraceRatioSelector(4, level="feature").fit(X, y).support_)
    chosen = SelectKBest(laplacian_score, k=4).fit(X).get_support()
    np.testing.assert_array_equal(chosen, TraceRatioSelector(4, score="laplacian", level="feature").fit(X).support_)
    A = reference.heat_graph(X, 5)
    b, e = reference.diagonals(X, A, reference.laplacian_between(A))
    np.testing.assert_allclose(laplacian_score(X, graph=A), b / e, rtol=1e-8)


def test_constants_copies_and_order(wine):
    X, y = wine
    X = np.column_stack([np.full(len(y), 3.0), X[:, 6], X[:, 6], X[:, 6], X[:, 7], np.zeros(len(y))])
    for kind in (np.asarray, np.float32, csr_matrix):
        data = kind(X)
        assert TraceRatioSelector(2).fit(data, y).get_support(indices=True).tolist() == [1, 2]
        assert np.isnan(TraceRatioSelector(2).fit(data, y).scores_[[0, 5]]).all()
        assert SelectKBest(fisher_score, k=4).fit(data, y).get_support().tolist() == [0, 1, 1, 1, 1, 0]


def test_more_features_than_usable_selects_all_usable_with_a_warning(wine):
    X, y = wine
    X = np.column_stack([X[:, :3], np.ones(len(y))])
    with pytest.warns(UserWarning, match="only 3 of 4 vary"):
        selector = TraceRatioSelector(4).fit(X, y)
    assert selector.get_support().tolist() == [True, True, True, False]
    with pytest.raises(ValueError, match="no feature that varies"):
        TraceRatioSelector(1).fit(np.ones((10, 3)), np.arange(10) % 2)


def test_no_within_scatter_ranks_by_between_scatter_with_a_warning():
    y = np.repeat([0, 1], 5)
    X = np.column_stack([y * 1.0, y * 3.0, y * 2.0])
    with pytest.warns(UserWarning, match="No feature has any within scatter"):
        selector = TraceRatioSelector(2).fit(X, y)
    assert selector.subset_score_ == np.inf
    assert np.argsort(selector.ranking_).tolist() == [1, 2, 0]
    assert selector.get_support().tolist() == [False, True, True]


def test_disconnected_graph_is_fine_and_lonely_samples_have_no_weight():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((12, 4))
    blocks = np.zeros((12, 12))
    blocks[:5, :5] = blocks[5:10, 5:10] = 1.0
    np.fill_diagonal(blocks, 0)
    first = TraceRatioSelector(2, score="laplacian", within=csr_array(blocks)).fit(X)
    X[10:] = 1e6  # the two samples without edges
    second = TraceRatioSelector(2, score="laplacian", within=csr_array(blocks)).fit(X)
    np.testing.assert_allclose(first.scores_, second.scores_, rtol=1e-6)


@pytest.mark.parametrize(
    ("options", "labels", "message"),
    [
        ({}, None, "requires y to be passed"),
        ({"score": "semi-supervised"}, None, "requires y to be passed"),
        ({}, np.zeros(20), "at least 2 classes"),
        ({"score": "semi-supervised"}, np.full(20, -1), "at least 2 classes"),
        ({}, np.linspace(0, 1, 20), "Unknown label type"),
        ({}, np.arange(19) % 2, "inconsistent numbers of samples"),
        ({"score": "laplacian", "n_neighbors": 20}, None, "'n_neighbors' parameter of TraceRatioSelector"),
        ({"within": -np.eye(20)}, None, "'within' graph must have non-negative weights"),
        ({"within": np.triu(np.ones((20, 20)))}, None, "'within' graph must be symmetric"),
        (
            {"within": np.ones((20, 20)), "between": np.ones((3, 3))},
            None,
            "'between' graph must have one row",
        ),
        ({"between": np.ones((20, 20))}, np.arange(20) % 2, "'between' parameter of TraceRatioSelector"),
        ({"n_features_to_select": 0}, np.arange(20) % 2, "'n_features_to_select' parameter"),
        ({"score": "chi2"}, np.arange(20) % 2, "'score' parameter"),
        ({"level": "both"}, np.arange(20) % 2, "'level' parameter"),
        ({"bandwidth": -1.0}, np.arange(20) % 2, "'bandwidth' parameter"),
    ],
)
def test_bad_input_is_refused_with_the_reason(options, labels, message):
    X = np.random.default_rng(0).standard_normal((20, 6))
    with pytest.raises(ValueError, match=message):
        TraceRatioSelector(**{"n_features_to_select": 2, **options}).fit(X, labels)


def test_infinity_is_refused():
    X = np.random.default_rng(0).standard_normal((20, 6))
    X[3, 2] = np.inf
    for score in ("fisher", "laplacian"):
        with pytest.raises(ValueError, match="infinity"):
            TraceRatioSelector(2, score=score).fit(X, np.arange(20) % 2)
    with pytest.raises(ValueError, match="infinity"):
        laplacian_score(X)


def test_nan_in_a_sparse_matrix_is_refused():
    X = np.random.default_rng(0).standard_normal((20, 6))
    X[3, 2] = np.nan
    with pytest.raises(ValueError, match="is sparse and contains NaN"):
        TraceRatioSelector(2).fit(csr_array(X), np.arange(20) % 2)


def test_pipeline_search_columns_and_frames(wine):
    pd = pytest.importorskip("pandas")
    pytest.importorskip("polars")
    X, y = wine
    frame = pd.DataFrame(X, columns=load_wine().feature_names)
    pipeline = make_pipeline(TraceRatioSelector(3), KNeighborsClassifier())
    search = GridSearchCV(
        pipeline,
        {
            "traceratioselector__n_features_to_select": [2, 5],
            "traceratioselector__score": ["fisher", "laplacian"],
        },
        cv=3,
    ).fit(frame, y)
    assert search.best_score_ > 0.7
    folds = StratifiedKFold(3)
    alone = GridSearchCV(TraceRatioSelector(3), {"level": ["subset", "feature"]}, cv=folds).fit(frame, y)
    assert np.isfinite(alone.best_score_)
    columns = ColumnTransformer([("pick", TraceRatioSelector(2), list(frame.columns[:6]))]).fit(frame, y)
    assert columns.transform(frame).shape == (178, 2)
    for container in ("pandas", "polars"):
        selector = TraceRatioSelector(2).set_output(transform=container).fit(frame, y)
        assert list(selector.transform(frame).columns) == list(selector.get_feature_names_out())
        assert set(selector.get_feature_names_out()) <= set(selector.feature_names_in_)


def test_an_interrupted_fit_leaves_the_selector_as_it_was(wine, monkeypatch):
    X, y = wine
    selector = TraceRatioSelector(3).fit(X, y)
    before = selector.support_.copy()

    def interrupt(*args):
        raise KeyboardInterrupt

    monkeypatch.setattr("eigensieve.traceratio.diagonals", interrupt)
    with pytest.raises(KeyboardInterrupt):
        selector.fit(X[::2], y[::2])
    np.testing.assert_array_equal(selector.support_, before)


def test_verbose_prints_progress(wine, capsys):
    TraceRatioSelector(3, score="laplacian", verbose=2).fit(wine[0])
    printed = capsys.readouterr().err
    assert "neighbours of 178 samples" in printed and "scatter of 13 features" in printed


def real_sets():
    try:
        return list_real()
    except FileNotFoundError:
        return []


@pytest.mark.skipif(not real_sets(), reason="no folder with real data sets (EIGENSIEVE_DATA)")
@pytest.mark.parametrize("name", real_sets())
def test_few_steps_on_real_data(name):
    bunch = load_real(name)
    X, y = bunch.data, bunch.target
    if not hasattr(X, "tocsr"):
        X = X[:, ~np.isnan(X).any(axis=0)]
    rows = np.arange(X.shape[0])[:: max(1, X.shape[0] // 1500)]
    X = X[rows]
    options = [{"score": "laplacian"}]
    if y is not None and y.dtype.kind in "iu":
        y = y[rows]
        options.append({"score": "fisher"})
    for option in options:
        selector = TraceRatioSelector(1, **option).fit(X, y)
        b, e = selector.between_scatter_, selector.within_scatter_
        n = int(((b > 0) | (e > 0)).sum())
        for m in np.unique(np.geomspace(1, n, 12).astype(int)):
            result = best_subset(b, e, m)
            assert result.n_iter <= 7  # one more than the six that nearly all sets need
            assert len(result.subset) == m
            assert all(np.diff(result.history) > 0)


@pytest.mark.parametrize("score", ["fisher", "laplacian", "semi-supervised"])
def test_scaling_is_that_of_a_standard_scaler(score):
    X, y = load_wine(return_X_y=True)
    scaled = StandardScaler().fit_transform(X)
    other = StandardScaler().fit(X).transform(X[::2])
    ours, peers = TraceRatioSelector(4, score=score, scale=True), TraceRatioSelector(4, score=score)
    np.testing.assert_array_equal(ours.fit(X, y).support_, peers.fit(scaled, y).support_)
    np.testing.assert_allclose(ours.subset_score_, peers.subset_score_, rtol=1e-9)
    np.testing.assert_allclose(ours.score(X[::2], y[::2]), peers.score(other, y[::2]), rtol=1e-9)
    sparse = TraceRatioSelector(4, score=score, scale=True).fit(csr_array(X), y)
    np.testing.assert_allclose(sparse.subset_score_, peers.subset_score_, rtol=1e-9)


def test_unlike_scales_are_said_and_scaling_is_offered():
    X, y = load_wine(return_X_y=True)
    with pytest.warns(UserWarning, match=r"column 12 varies 38. times as much.*scale=True"):
        TraceRatioSelector(3).fit(X, y)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        TraceRatioSelector(3, scale=True).fit(X, y)
        TraceRatioSelector(3, level="feature").fit(X, y)  # ratios of single features have no unit


def test_the_graphs_of_the_fisher_score_are_a_given_pair(wine):
    """Equation (11): the between graph is negative within classes, the scatters are those of the labels."""
    X, y = wine
    together = (y[:, None] == y) / np.bincount(y)[y]
    given = TraceRatioSelector(4, within=together, between=1 / len(y) - together).fit(X)
    labelled = TraceRatioSelector(4).fit(X, y)
    np.testing.assert_allclose(given.between_scatter_, labelled.between_scatter_, rtol=1e-8)
    np.testing.assert_allclose(given.within_scatter_, labelled.within_scatter_, rtol=1e-8)
    np.testing.assert_array_equal(given.support_, labelled.support_)
    with pytest.raises(ValueError, match=r"'between' graph must give no feature a negative scatter.*13 of 13 columns"):
        TraceRatioSelector(4, within=together, between=together - 1 / len(y)).fit(X)


def test_edges_without_bandwidth_weigh_one(wine):
    X, _ = wine
    graph = TraceRatioSelector(3, score="laplacian", bandwidth=None).fit(X).graph_
    assert set(graph.data) == {1.0}
    np.testing.assert_array_equal(laplacian_score(X, bandwidth=None), laplacian_score(X, graph=graph))


def test_kernels_are_selected_by_the_trace_ratio_of_their_spaces(wine):
    """One linear kernel per feature is the selection of features; all subsets are compared."""
    X, y = wine
    Z = (X - X.mean(axis=0)) / X.std(axis=0)
    kernels = [np.outer(column, column) for column in Z.T]
    chosen = select_kernels(kernels, 4, y)
    features = TraceRatioSelector(4).fit(Z, y)
    assert chosen.subset.tolist() == features.get_support(indices=True).tolist()
    assert chosen.score == pytest.approx(features.subset_score_, rel=1e-9)
    few = [np.exp(-gamma * np.sum((Z[:, None] - Z) ** 2, axis=2)) for gamma in (1e-3, 1e-2, 0.1, 1.0)]
    L_w, L_b = (reference.laplacian(A) for A in reference.fisher_graphs(y))
    b, e = (np.array([np.trace(L @ K) for K in few]) for L in (L_b, L_w))
    best = reference.brute_force(b, e)
    for m in (1, 2, 3):
        assert select_kernels(few, m, y).score == pytest.approx(best[m], rel=1e-8)


@pytest.mark.parametrize("wrong", [-np.eye(178), np.eye(5)])
def test_a_matrix_that_is_no_kernel_is_refused(wine, wrong):
    with pytest.raises(ValueError, match=r"'kernels' parameter of select_kernels must hold .* at place 1"):
        select_kernels([np.eye(178), wrong], 1, wine[1])
