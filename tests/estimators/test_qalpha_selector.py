"""QAlphaSelector faces scikit-learn: contract, composition, names, reproducibility."""

import warnings

import numpy as np
import pandas as pd
import polars as pl
import pytest
import scipy.sparse as sp
from sklearn.base import clone
from sklearn.cluster import KMeans
from sklearn.compose import ColumnTransformer
from sklearn.exceptions import ConvergenceWarning, NotFittedError
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.utils.estimator_checks import parametrize_with_checks

from eigensieve import QAlphaSelector, SieveSelector
from eigensieve.datasets import make_planted_clusters
from eigensieve.evidence import Discoveries
from reference import qalpha as naive
from support.backends import FEW, IN_MEMORY, tolerance

pytestmark = [
    pytest.mark.filterwarnings("ignore:No features were selected"),
    pytest.mark.filterwarnings("ignore:QAlphaSelector found no feature"),
    pytest.mark.filterwarnings("ignore:QAlphaSelector stopped"),
]

RELEVANT = 8


@pytest.fixture
def planted() -> np.ndarray:
    rng = np.random.default_rng(0)
    X = rng.standard_normal((60, 120))
    X[:30, :RELEVANT] += 3.0
    return X


@pytest.mark.filterwarnings("ignore:QAlphaSelector found no feature")
@parametrize_with_checks(
    [
        QAlphaSelector(),
        QAlphaSelector(1, 2, criterion="gap"),
        QAlphaSelector(0.5, spectrum="laplacian"),
        QAlphaSelector(solver="basic", solver_options={"init": "random"}, random_state=0),
    ]
)
def test_scikit_learn_contract(estimator, check) -> None:
    check(estimator)


@pytest.mark.parametrize("backend", FEW)
@pytest.mark.parametrize(
    ("spectrum", "criterion"), [("standard", "energy"), ("standard", "gap"), ("laplacian", "energy")]
)
def test_weights_equal_the_naive_reference(planted: np.ndarray, backend: str, spectrum: str, criterion: str) -> None:
    X = np.where(np.abs(planted) < 0.3, 0.0, planted)[15:45, :60]
    X = np.abs(X) if spectrum == "laplacian" else X
    normalize = "unit" if spectrum == "laplacian" else "center"
    L = naive.terms(naive.standardise(X, normalize), spectrum)
    alpha, _, _ = naive.basic(L, naive.start(L, 2), criterion, max_iter=3000)
    single = "float32" in backend
    model = QAlphaSelector(
        RELEVANT,
        2,
        spectrum=spectrum,
        criterion=criterion,
        solver_options={"max_iter": 3000, "tol": 1e-5 if single else 1e-8},
    ).fit(FEW[backend](X))
    np.testing.assert_allclose(model.weights_, alpha, atol=tolerance(backend, double=1e-6, single=1e-3))


def test_finds_the_planted_features_and_how_many(planted: np.ndarray) -> None:
    model = QAlphaSelector(random_state=1).fit(planted)
    assert model.support_[:RELEVANT].all() and model.support_.sum() <= RELEVANT + 1
    assert model.n_clusters_ == 2
    assert model.converged_
    assert model.sparsity_gap_ > 5
    assert 0 <= model.negative_weight_fraction_ < 1
    assert set(model.ranking_[:RELEVANT]) == set(range(1, RELEVANT + 1))
    assert model.embedding_.shape == (60, 2)
    assert len(model.eigenvalues_) == 2
    labels = KMeans(2, n_init=5, random_state=0).fit_predict(model.embedding_[:, :1])
    assert len(set(labels[:30])) == 1 and len(set(labels[30:])) == 1


@pytest.mark.parametrize("backend", FEW)
def test_auto_finds_the_planted_features_on_every_backend(planted: np.ndarray, backend: str) -> None:
    X = np.where(np.abs(planted) < 0.3, 0.0, planted)
    model = QAlphaSelector(random_state=0).fit(FEW[backend](X))
    assert model.support_[:RELEVANT].all() and model.support_.sum() <= RELEVANT + 2
    assert (model.p_values_[:RELEVANT] < 1e-3).all() and model.p_values_.shape == (120,)


def test_auto_on_noise_selects_nothing_and_says_so() -> None:
    """A false selection in at most one draw in ten is promised: 10 of 30 would be a surprise of one in two thousand."""
    false = 0
    for seed in range(30):
        X = np.random.default_rng(seed).standard_normal((30, 60))
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            model = QAlphaSelector(random_state=seed).fit(X)
        false += bool(model.support_.any())
        told = any("follows the others' structure at fdr=0.1" in str(warning.message) for warning in caught)
        assert told == (not model.support_.any())
        assert np.isfinite(model.sparsity_gap_)
    assert false < 10


@pytest.mark.parametrize(
    "settings",
    [
        {"criterion": "gap"},
        {"normalize": "unit"},
        {"normalize": "none"},
        {"solver": "ritz"},
        {"solver_options": {"init": "random", "n_init": 2}},
    ],
)
def test_auto_with_every_setting(planted: np.ndarray, settings: dict) -> None:
    model = QAlphaSelector(random_state=0, **settings).fit(planted)
    assert model.support_[:RELEVANT].sum() >= RELEVANT - 1 and model.support_.sum() <= RELEVANT + 3


def test_auto_finds_nothing_where_the_method_finds_nothing(planted: np.ndarray) -> None:
    """The Laplacian's leading vectors are of single samples here, which no other feature sets apart."""
    with pytest.warns(UserWarning, match="found no feature"):
        model = QAlphaSelector(spectrum="laplacian", random_state=0).fit(np.abs(planted))
    assert model.p_values_.shape == (120,) and not model.support_.any()


def test_auto_follows_labels_pairs_and_few_labels(planted: np.ndarray) -> None:
    """The labels are of another, weaker structure than the planted one."""
    y = np.arange(60) % 2
    X = planted.copy()
    X[:, 20:24] += 1.5 * y[:, None]
    labelled = QAlphaSelector(random_state=0).fit(X, y)
    assert labelled.support_[20:24].all() and labelled.support_[:RELEVANT].sum() <= 1
    with pytest.warns(UserWarning, match="follows the labels"):
        QAlphaSelector(random_state=0).fit(X[:, 30:40], y)
    pairs = np.array([(i, i + 1) for i in range(0, 60, 2)])
    for known in ({"y": np.where(np.arange(60) < 40, y, -1)}, {"cannot_link": pairs}, {"side": X[:, ::-1]}):
        model = QAlphaSelector(random_state=0).fit(X, known.pop("y", None), **known)
        assert model.p_values_.min() > 0 and model.support_[24:].sum() <= 4


@pytest.mark.parametrize("n_features", [60, 1_400])
@pytest.mark.parametrize(
    ("module", "selector"),
    [("qalpha.search", QAlphaSelector("auto", 3)), ("sieve.problem", SieveSelector())],
    ids=["QAlphaSelector", "SieveSelector"],
)
def test_fits_of_the_folds_see_nothing_of_the_fold(
    monkeypatch: pytest.MonkeyPatch, module: str, selector: QAlphaSelector | SieveSelector, n_features: int
) -> None:
    """A fold's features replaced by others: its embedding stays as it was."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((25, n_features))
    X[:, ::10] += 2.0 * rng.standard_normal((25, 1))
    fold = np.arange(n_features) % 5 == 0
    changed = np.where(fold, rng.standard_normal(X.shape), X)
    seen = []

    def once(data, usable, fit, **_):
        seen.append(fit(usable & ~fold))
        return Discoveries(np.ones(n_features), ~fold)

    monkeypatch.setattr(f"eigensieve.{module}.discover", once)
    for values in (X, changed):
        clone(selector).set_params(random_state=0).fit(values)
    np.testing.assert_allclose(seen[0] @ seen[0].T, seen[1] @ seen[1].T, atol=1e-10 * np.sum(seen[0] ** 2))


def test_a_stricter_rate_selects_no_more(planted: np.ndarray) -> None:
    weak = planted - 1.8 * (np.arange(60) < 30)[:, None] * (np.arange(120) < RELEVANT)
    loose, strict = (QAlphaSelector(fdr=fdr, random_state=0).fit(weak) for fdr in (0.5, 0.01))
    np.testing.assert_array_equal(loose.p_values_, strict.p_values_)
    assert strict.support_.sum() < loose.support_.sum()
    assert not (strict.support_ & ~loose.support_).any()
    assert QAlphaSelector(3).fit(weak).p_values_ is None


@pytest.mark.parametrize("n_clusters", [2, 3, 4, 5, 6])
def test_number_of_clusters_is_found(n_clusters: int) -> None:
    made = make_planted_clusters(120, 300, 60, n_clusters=n_clusters, center_scale=2.0, random_state=n_clusters)
    assert QAlphaSelector(60).fit(made.X).n_clusters_ == n_clusters


def test_rare_values_are_no_clusters() -> None:
    """Independent columns that are zero but for one or two samples: the light-tailed edge would find ten."""
    rng = np.random.default_rng(0)
    X = (rng.random((80, 1_500)) < 0.015).astype(float)
    assert QAlphaSelector(10).fit(X).n_clusters_ == 2


def test_sparsity_gap_and_negative_fraction_by_hand(planted: np.ndarray) -> None:
    model = QAlphaSelector(5, 2, criterion="gap").fit(planted)
    chosen = model.weights_[model.support_].mean()
    rest = model.weights_[~model.support_].mean()
    assert model.sparsity_gap_ == pytest.approx(chosen / rest if rest > 0 else np.inf)
    assert model.negative_weight_fraction_ == np.mean(model.weights_ < 0)


@pytest.mark.parametrize(("wanted", "count"), [(7, 7), (0.25, 30), (1.0, 120), (1, 1), (1e-9, 1)])
def test_number_and_fraction_of_features(planted: np.ndarray, wanted: float, count: int) -> None:
    assert QAlphaSelector(wanted).fit_transform(planted).shape == (60, count)


def test_transform_keeps_kind_type_and_order(planted: np.ndarray) -> None:
    model = QAlphaSelector(4).fit(planted)
    columns = np.flatnonzero(model.ranking_ <= 4)
    np.testing.assert_array_equal(model.transform(planted), planted[:, columns])
    assert model.transform(planted.astype(np.float32)).dtype == np.float32
    sparse = model.transform(sp.csr_matrix(planted))
    assert sp.issparse(sparse)
    np.testing.assert_array_equal(sparse.toarray(), planted[:, columns])
    restored = model.inverse_transform(model.transform(planted))
    np.testing.assert_array_equal(restored[:, columns], planted[:, columns])
    assert np.count_nonzero(np.delete(restored, columns, axis=1)) == 0


@pytest.mark.parametrize("library", ["pandas", "polars"])
def test_names_are_carried_through(planted: np.ndarray, library: str) -> None:
    names = [f"gene {i}" for i in range(planted.shape[1])]
    frame = pd.DataFrame(planted, columns=names) if library == "pandas" else pl.DataFrame(planted, schema=names)
    model = QAlphaSelector(3).set_output(transform=library).fit(frame)
    expected = [names[i] for i in np.flatnonzero(model.support_)]
    assert list(model.get_feature_names_out()) == expected
    assert list(model.transform(frame).columns) == expected
    assert list(model.feature_names_in_) == names


def test_pipeline_grid_search_and_column_transformer(planted: np.ndarray) -> None:
    y = np.repeat(["a", "b"], 30)
    pipeline = make_pipeline(QAlphaSelector(4), LogisticRegression())
    search = GridSearchCV(pipeline, {"qalphaselector__n_features_to_select": [2, 6]}, cv=3).fit(planted, y)
    assert search.best_score_ > 0.9
    columns = ColumnTransformer([("left", QAlphaSelector(2), list(range(40))), ("rest", "drop", list(range(40, 120)))])
    assert columns.fit_transform(planted).shape == (60, 2)


def test_clone_and_repeat_give_the_same(planted: np.ndarray) -> None:
    model = QAlphaSelector(5, 3, solver_options={"init": "random", "n_init": 3}, random_state=7)
    first, second = clone(model).fit(planted), clone(model).fit(planted)
    np.testing.assert_array_equal(first.weights_, second.weights_)
    np.testing.assert_array_equal(first.ranking_, second.ranking_)


def test_default_start_needs_no_seed(planted: np.ndarray) -> None:
    np.testing.assert_array_equal(QAlphaSelector().fit(planted).weights_, QAlphaSelector().fit(planted).weights_)


def test_own_start(planted: np.ndarray) -> None:
    Q = np.linalg.qr(np.random.default_rng(1).standard_normal((60, 3)))[0]
    model = QAlphaSelector(5, solver_options={"init": Q}).fit(planted)
    assert model.n_clusters_ == 3


def test_warns_when_stopped_early(planted: np.ndarray) -> None:
    with pytest.warns(ConvergenceWarning, match="raise max_iter or tol in solver_options"):
        model = QAlphaSelector(solver_options={"max_iter": 1, "tol": 1e-10}).fit(planted)
    assert not model.converged_


def test_progress_goes_to_standard_error(planted: np.ndarray, capsys: pytest.CaptureFixture[str]) -> None:
    QAlphaSelector(verbose=2).fit(planted)
    captured = capsys.readouterr()
    assert captured.out == ""
    assert "[QAlphaSelector]" in captured.err and "criterion" in captured.err and "passes" in captured.err
    QAlphaSelector().fit(planted)
    assert capsys.readouterr().err == ""


def test_interrupt_leaves_no_half_fitted_estimator(planted: np.ndarray, monkeypatch: pytest.MonkeyPatch) -> None:
    import eigensieve.qalpha.search as module

    def interrupt(*args: object, **kwargs: object) -> None:
        raise KeyboardInterrupt

    fitted = QAlphaSelector(3).fit(planted)
    before = dict(vars(fitted))
    monkeypatch.setattr(module, "solve_steered", interrupt)
    fresh = QAlphaSelector(3)
    with pytest.raises(KeyboardInterrupt):
        fresh.fit(planted)
    with pytest.raises(NotFittedError):
        fresh.transform(planted)
    assert not [name for name in vars(fresh) if name.endswith("_")]
    with pytest.raises(KeyboardInterrupt):
        fitted.fit(planted[:, :50])
    assert vars(fitted).keys() == before.keys()
    assert fitted.n_features_in_ == 120


def test_input_is_never_changed(planted: np.ndarray) -> None:
    for backend in IN_MEMORY.values():
        X = backend(planted.copy())
        dense = X.toarray() if sp.issparse(X) else X.copy()
        QAlphaSelector(3).fit(X)
        np.testing.assert_array_equal(X.toarray() if sp.issparse(X) else X, dense)
