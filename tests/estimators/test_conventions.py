"""What scikit-learn's users expect of every selector: ranks, sizes, missing labels, pairs in a cross-validation."""

import warnings
from pathlib import Path

import numpy as np
import pytest
from scipy.sparse import csr_array
from sklearn.base import BaseEstimator, TransformerMixin, clone
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV, KFold, cross_val_predict, cross_val_score
from sklearn.pipeline import Pipeline

import eigensieve
from eigensieve import FeatureMap, KernelQAlphaSelector, QAlphaSelector, SieveSelector, TraceRatioSelector
from eigensieve.estimators import ESTIMATORS

pytestmark = [
    pytest.mark.filterwarnings("ignore:The group numbers given to"),
]

SELECTORS = [
    SieveSelector(4),
    QAlphaSelector(4),
    QAlphaSelector("auto", random_state=0),
    KernelQAlphaSelector(4),
    FeatureMap(4),
    TraceRatioSelector(4),
    TraceRatioSelector(4, level="feature"),
]
Y = np.arange(60) % 2
RAISE = {cross_val_score: {"error_score": "raise"}}


@pytest.fixture
def X() -> np.ndarray:
    values = np.random.default_rng(0).standard_normal((60, 12))
    values[:, :5] += 4.0 * Y[:, None]
    values[:, 7] = 3.0
    return values


@pytest.mark.parametrize("selector", SELECTORS, ids=repr)
def test_ranks_are_those_of_rfe(selector, X) -> None:
    model = selector.fit(X, Y)
    assert sorted(model.ranking_) == list(range(1, 13))
    np.testing.assert_array_equal(model.ranking_[model.selection_order_], np.arange(1, model.support_.sum() + 1))
    assert set(model.selection_order_) == set(model.get_support(indices=True))
    assert model.ranking_[7] == 12


@pytest.mark.parametrize("selector", [type(s)(20) for s in SELECTORS if s.n_features_to_select == 4][:5], ids=repr)
def test_a_number_above_what_varies_selects_what_varies(selector, X) -> None:
    with pytest.warns(UserWarning, match=r"only 11 of 12 vary|the 11 usable"):
        model = selector.fit(X, Y)
    np.testing.assert_array_equal(model.support_, np.arange(12) != 7)


@pytest.mark.parametrize("layout", [np.asarray, csr_array])
@pytest.mark.parametrize(
    "selector",
    [SieveSelector(), QAlphaSelector(), KernelQAlphaSelector(), FeatureMap(), TraceRatioSelector()],
    ids=repr,
)
def test_a_search_over_sizes_has_a_score_for_every_size(selector, layout, X) -> None:
    X[:, 8] = np.arange(60) == 3  # constant wherever sample 3 is held out
    steps = Pipeline([("few", selector), ("classes", LogisticRegression())])
    search = GridSearchCV(steps, {"few__n_features_to_select": [3, 11, 12]}, cv=KFold(3))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        search.fit(layout(X), Y)
    assert np.isfinite(search.cv_results_["mean_test_score"]).all()


@pytest.mark.parametrize("unknown", [None, np.nan, -1])
@pytest.mark.parametrize("selector", [QAlphaSelector(4), FeatureMap(4), TraceRatioSelector(4, score="semi-supervised")])
def test_none_and_nan_mean_unlabelled(selector, unknown, X) -> None:
    y = np.where(np.arange(60) < 12, Y, -1)
    by_number = selector.fit(X, y).get_support()
    some = np.array([value if value >= 0 else unknown for value in y.tolist()], dtype=object)
    np.testing.assert_array_equal(selector.fit(X, some).get_support(), by_number)
    words = np.array([["no", "yes"][value] if value >= 0 else unknown for value in y.tolist()], dtype=object)
    np.testing.assert_array_equal(selector.fit(X, words).get_support(), by_number)


def test_fisher_says_what_to_do_about_missing_labels(X) -> None:
    with pytest.raises(ValueError, match=r"NaN or None for 2 of 60.*sample 0.*Leave these samples out, or use score="):
        TraceRatioSelector(4).fit(X, np.where(np.arange(60) < 2, np.nan, Y))


def test_minus_one_and_one_are_two_classes(X) -> None:
    signs = 2 * Y - 1
    for model in (QAlphaSelector(4), FeatureMap(4), TraceRatioSelector(4, score="semi-supervised")):
        np.testing.assert_array_equal(model.fit(X, signs).get_support(), model.fit(X, Y).get_support())
        model.fit(X, signs.astype(object))


def test_group_numbers_are_pairs(X) -> None:
    groups = np.full(60, -1)
    groups[[0, 2, 4, 1, 3]] = [0, 0, 0, 1, 1]
    together = [(0, 2), (0, 4), (2, 4), (1, 3)]
    apart = [(x, y) for x in (0, 2, 4) for y in (1, 3)]
    pairs = QAlphaSelector(4, 2).fit(X, must_link=together, cannot_link=apart)
    grouped = QAlphaSelector(4, 2).fit(X, must_link=groups, cannot_link=groups)
    np.testing.assert_allclose(grouped.weights_, pairs.weights_, rtol=1e-10)


@pytest.mark.parametrize("selector", [QAlphaSelector(4, 2), SieveSelector(4), KernelQAlphaSelector(4, 2)], ids=repr)
def test_cross_validation_slices_group_numbers_and_refuses_pairs(selector, X) -> None:
    groups = np.where(np.arange(60) < 20, Y, -1)
    steps = Pipeline([("few", selector.set_params(supervision="ignore")), ("classes", LogisticRegression())])
    scores = cross_val_score(steps, X, Y, cv=KFold(3), params={"few__cannot_link": groups})
    assert np.isfinite(scores).all()
    # pairs of the first samples, too: they exist in every fold, and would be others there
    for pairs in ([[0, 59]], [[0, 1], [2, 3]], [[0, 1]] * 60):
        params = {"few__cannot_link": np.array(pairs)}
        for validate in (cross_val_score, cross_val_predict):
            with pytest.raises(ValueError, match="one group number per sample instead"):
                validate(steps, X, Y, cv=KFold(3), params=params, **RAISE.get(validate, {}))
    steps.fit(X, Y, few__cannot_link=np.array([[0, 1], [2, 3]]))


class Twins(BaseEstimator, TransformerMixin):
    """Makes pairs of the samples that it is given: in a fold they are the fold's."""

    def fit(self, X, y=None):
        self.model_ = SieveSelector(4, supervision="ignore").fit(X, must_link=[[0, 1]])
        return self

    def transform(self, X):
        return self.model_.transform(X)


def test_pairs_made_within_a_fold_are_used(X) -> None:
    steps = Pipeline([("few", Twins()), ("classes", LogisticRegression())])
    assert np.isfinite(cross_val_score(steps, X, Y, cv=KFold(3), error_score="raise")).all()


def test_group_numbers_that_pair_nothing_are_noted(X) -> None:
    with pytest.warns(UserWarning, match="pair no two of the 60 samples"):
        QAlphaSelector(4).fit(X, must_link=np.arange(60))


DRAWING = [
    QAlphaSelector("auto", solver_options={"init": "random"}),
    KernelQAlphaSelector(4, n_components=6, solver_options={"n_init": 2}),
    FeatureMap(4, solver_options={"n_init": 2}),
    SieveSelector(),
    TraceRatioSelector(4),
    eigensieve.ElementSelectedSVC(n_elements=8),
    eigensieve.ElementSelectedSVR(n_elements=8),
    eigensieve.ReducedSetSVC(n_vectors=3),
    eigensieve.RejectionCascade(),
]


@pytest.mark.filterwarnings("ignore::UserWarning")
@pytest.mark.parametrize("estimator", DRAWING, ids=lambda each: type(each).__name__)
def test_a_generator_is_a_random_state(estimator, X) -> None:
    """It is drawn from: the same seed gives the same model."""
    first, second = (clone(estimator).set_params(random_state=np.random.default_rng(3)).fit(X, Y) for _ in range(2))
    for name in ("weights_", "support_", "dual_coef_", "threshold_"):
        if hasattr(first, name):
            np.testing.assert_array_equal(getattr(first, name), getattr(second, name))


@pytest.mark.parametrize("name", sorted(ESTIMATORS))
def test_the_html_form_links_to_our_own_page(name) -> None:
    """Sphinx makes a page of that name for every class that docs/api.md lists."""
    link = getattr(eigensieve, name)()._get_doc_link()
    assert link == f"https://eigensieve.github.io/eigensieve/generated/eigensieve.{name}.html"
    assert f"   {name}\n" in (Path(__file__).parents[2] / "docs" / "api.md").read_text()


@pytest.mark.filterwarnings("ignore:FeatureMap found no other structure")
@pytest.mark.parametrize("selector", [SieveSelector, QAlphaSelector, KernelQAlphaSelector, FeatureMap])
def test_supervision_means_the_same_everywhere(selector, X) -> None:
    """By default labels are used if they are there, "classes" takes them as such, and "ignore" leaves them out."""
    labels = np.random.default_rng(1).integers(0, 2, 60)
    default = selector(4).get_params()["supervision"]
    assert default == "auto"
    ignored, used = selector(4, supervision="ignore").fit(X, labels), selector(4).fit(X, labels)
    np.testing.assert_array_equal(ignored.weights_, selector(4).fit(X).weights_)
    assert np.abs(used.weights_ - ignored.weights_).max() > 1e-3
    classes = selector(4, supervision="classes").fit(X, labels)
    np.testing.assert_array_equal(classes.weights_, used.weights_)
    np.testing.assert_array_equal(selector(4, supervision="classes").fit(X).weights_, ignored.weights_)
    many = np.arange(60) // 2  # numbers to the sieve, and refused by those that take classes alone
    if selector is SieveSelector:
        numbers = selector(4, supervision="numbers").fit(X, many)
        np.testing.assert_array_equal(selector(4).fit(X, many).weights_, numbers.weights_)
        return
    with pytest.raises(ValueError, match=r"Got whole numbers of 30 values instead. Use supervision='classes' if"):
        selector(4).fit(X, many)
    with pytest.raises(ValueError, match=r"'auto', 'classes' or 'ignore'. Got 'numbers' instead; use SieveSelector"):
        selector(4, supervision="numbers").fit(X, many)
