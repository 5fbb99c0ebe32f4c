"""ElementSelectedSVC: what a user sees."""

import pickle
import warnings

import numpy as np
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.datasets import make_blobs, make_classification
from sklearn.exceptions import ConvergenceWarning, NotFittedError
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC
from sklearn.utils.estimator_checks import parametrize_with_checks

from eigensieve import ElementSelectedSVC, ReducedSetSVC
from eigensieve.elements.expansion import summed_in_single_bound
from reference.elements import algorithm_one, brute_force_greedy, masked_kernel

# Easy problems need fewer elements than the budget. The tests of that warning ask for it by name.
pytestmark = pytest.mark.filterwarnings("ignore:.* elements were found:UserWarning")

KERNELS = {
    "rbf": SVC(C=5, gamma=0.1),
    "poly": SVC(C=1, kernel="poly", degree=2, gamma=0.1, coef0=1.0),
    "linear": SVC(C=1, kernel="linear"),
}


@parametrize_with_checks([ElementSelectedSVC(random_state=0), ElementSelectedSVC(match="decision", random_state=0)])
@pytest.mark.filterwarnings("ignore:n_elements=200 is more")
def test_scikit_learn_checks(estimator, check):
    check(estimator)


@pytest.fixture(scope="module")
def data():
    X, y = make_classification(
        n_samples=400, n_features=12, n_informative=6, n_redundant=2, class_sep=1.2, random_state=0
    )
    return StandardScaler().fit_transform(X), y


@pytest.fixture(scope="module")
def three_classes():
    X, y = make_blobs(n_samples=240, n_features=6, centers=3, cluster_std=2.0, random_state=1)
    return StandardScaler().fit_transform(X), np.array(["ash", "elm", "oak"])[y]


def naive_columns(model, X):
    """The masked kernel's columns by basis vector, from the public attributes alone."""
    svc, B, M = model.estimator_, model.support_vectors_, model.mask_.toarray().astype(bool)
    return {
        j: masked_kernel(X, B[[j]], M[:, [j]], svc.kernel, svc._gamma * model.widths_[j], svc.degree, svc.coef0)
        for j in np.flatnonzero(M.any(axis=0))
    }


def naive_decision(model, X):
    """Equation 5."""
    total = model.intercept_ + sum(column * model.dual_coef_[:, j] for j, column in naive_columns(model, X).items())
    return total[:, 0] if total.shape[1] == 1 else total


@pytest.mark.parametrize("kernel", list(KERNELS))
@pytest.mark.parametrize("shape", ["element", "feature", "basis", "joint", "prototypes"])
def test_decision_is_the_masked_expansion_for_every_shape(data, kernel, shape):
    X, y = data
    svc = KERNELS[kernel]
    n_elements = {"feature": 1200, "basis": 120}.get(shape, 60)
    model = ElementSelectedSVC(svc, n_elements=n_elements, shape=shape, match="decision", random_state=0).fit(X, y)
    np.testing.assert_allclose(model.decision_function(X), naive_decision(model, X), atol=1e-5)
    assert model.mask_.nnz == model.n_elements_ <= n_elements
    assert model.path_[-1] <= model.path_[0] <= 1 + 1e-12
    assert model.score(X, y) > (0.6 if shape == "prototypes" else 0.7)


def test_masks_have_the_shapes_they_are_named_after(data):
    X, y = data
    svc = SVC(C=5).fit(X, y)
    n_sv = len(svc.support_)

    def mask(shape, n_elements):
        model = ElementSelectedSVC(svc, match="decision", shape=shape, n_elements=n_elements, random_state=0).fit(X, y)
        return model, model.mask_.toarray().astype(bool)

    _, M = mask("feature", 3 * n_sv)
    assert M.sum() == 3 * n_sv and (M[:, :1] == M).all()
    _, M = mask("basis", 60)
    assert M.sum() == 60 and (M[:1] == M).all()
    _, M = mask("joint", 60)
    assert M.any(axis=1).sum() >= 2 and M.any(axis=0).sum() >= 2 and np.linalg.matrix_rank(M) == 1
    model, M = mask("prototypes", 80)
    used = {tuple(np.flatnonzero(column)) for column in M.T if column.any()}
    assert used == {tuple(sorted(p)) for p in model.prototypes_}
    assert 1 <= len(used) <= 4 and all(len(p) == 8 for p in used)


@pytest.fixture
def small():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(30, 4))
    y = (X[:, 0] * X[:, 1] + 0.3 * rng.normal(size=30) > 0).astype(int)
    return X, y, SVC(gamma=0.6, C=2).fit(X, y)


def test_exact_search_equals_brute_force(small):
    X, y, svc = small
    model = ElementSelectedSVC(svc, n_elements=6, search="exact", match="decision", tol=0).fit(X, y)
    M, _, path = brute_force_greedy(X, svc.support_vectors_, svc.decision_function(X), 6, "rbf", 0.6)
    np.testing.assert_array_equal(model.mask_.toarray().astype(bool), M)
    np.testing.assert_allclose(model.path_, path, atol=1e-10)


def test_kernel_matched_by_the_exact_search_is_algorithm_one_as_printed(small):
    X, y, svc = small
    model = ElementSelectedSVC(svc, n_elements=12, search="exact", match="kernel", tol=0).fit(X, y)
    M, weights, path = algorithm_one(X, svc.support_vectors_, svc.dual_coef_[0], 12, 0.6)
    assert M.sum(axis=0).max() > 1  # some columns grew
    np.testing.assert_array_equal(model.mask_.toarray().astype(bool), M)
    np.testing.assert_allclose(model.dual_coef_[0, M.any(axis=0)], weights, rtol=1e-7)
    K = np.exp(-0.6 * ((X[:, None] - svc.support_vectors_) ** 2).sum(axis=2))
    np.testing.assert_allclose(model.path_, path / (K**2).sum(), rtol=1e-9)
    np.testing.assert_array_equal(model.intercept_, svc.intercept_)
    np.testing.assert_allclose(model.decision_function(X), naive_decision(model, X), atol=1e-5)


@pytest.mark.parametrize("kernel", list(KERNELS))
def test_kernel_matched_by_the_probabilistic_search_ends_with_least_squares(data, kernel):
    X, y = data
    model = ElementSelectedSVC(
        KERNELS[kernel], n_elements=40, search="probabilistic", match="kernel", random_state=0
    ).fit(X, y)
    design = np.hstack(list(naive_columns(model, X).values()))
    left = model.estimator_.decision_function(X) - model.decision_function(X)
    np.testing.assert_allclose(design.T @ left, 0.0, atol=1e-3)
    assert model.mask_.nnz == model.n_elements_ <= 40 and (np.diff(model.path_) <= 1e-12).all()
    assert model.score(X, y) > 0.7


@pytest.mark.parametrize(
    ("name", "value", "fix"),
    [
        ("search", "guided", "probabilistic"),
        ("shape", "basis", "element"),
        ("refine", True, "auto"),
        ("ridge", 0.1, "auto"),
    ],
)
def test_options_that_algorithm_one_does_not_have(data, name, value, fix):
    model = ElementSelectedSVC(match="kernel", **{"search": "exact", name: value})
    with pytest.raises(ValueError, match=f"'{name}' .* for match='kernel'. Got .*; set {name}='{fix}', or match='dec"):
        model.fit(*data)


def test_fitted_estimator_is_used_as_it_is(data):
    X, y = data
    svc = SVC(C=5).fit(X, y)
    for given in (svc, FrozenEstimator(svc)):
        model = ElementSelectedSVC(given, n_elements=30, random_state=0).fit(X, y)
        assert model.estimator_ is svc and model.match_ == "decision"
    frozen = clone(ElementSelectedSVC(FrozenEstimator(svc), n_elements=30)).fit(X, y)
    assert frozen.estimator_ is svc


def test_unfitted_estimator_is_not_touched_and_gives_the_same_model(data):
    X, y = data
    svc = SVC(C=5)
    model = ElementSelectedSVC(svc, match="decision", n_elements=30, random_state=0).fit(X, y)
    assert not hasattr(svc, "support_")
    other = ElementSelectedSVC(SVC(C=5).fit(X, y), n_elements=30, random_state=0).fit(X, y)
    np.testing.assert_array_equal(model.mask_.toarray(), other.mask_.toarray())


@pytest.mark.parametrize("fitted", [False, True])
def test_multiclass_one_vs_rest(three_classes, fitted):
    X, y = three_classes
    svc = SVC(C=2, decision_function_shape="ovo")
    if fitted:
        svc.fit(X, y)
    model = ElementSelectedSVC(svc, match="decision", n_elements=60, random_state=0).fit(X, y)
    assert model.decision_function(X).shape == (240, 3)
    assert model.dual_coef_.shape[0] == 3 and set(model.predict(X)) == set(y)
    assert model.score(X, y) > SVC(C=2).fit(X, y).score(X, y) - 0.05


def test_path_is_the_error_and_more_elements_never_hurt_it(data):
    X, y = data
    model = ElementSelectedSVC(SVC(C=5), match="decision", n_elements=50, random_state=0).fit(X, y)
    assert model.path_.shape == (50,)
    assert model.path_[-1] < 0.5 * model.path_[0]
    f = model.estimator_.decision_function(X)
    relative = ((model.decision_function(X) - f) ** 2).sum() / ((f - f.mean()) ** 2).sum()
    assert relative == pytest.approx(model.path_[-1], rel=0.05)  # the ridge term costs a little


def test_early_stopping_when_the_gain_dies_out(data):
    X, y = data
    full = ElementSelectedSVC(SVC(C=5), match="decision", n_elements=80, tol=0, random_state=0).fit(X, y)
    short = ElementSelectedSVC(SVC(C=5), match="decision", n_elements=80, tol=0.01, random_state=0).fit(X, y)
    assert full.n_elements_ == 80
    assert short.n_elements_ < 40
    np.testing.assert_allclose(short.path_, full.path_[: short.n_elements_])


def test_results_repeat_with_a_seed(data):
    X, y = data
    one, two = (
        ElementSelectedSVC(SVC(C=5), match="decision", n_elements=40, random_state=3).fit(X, y) for _ in range(2)
    )
    np.testing.assert_array_equal(one.decision_function(X), two.decision_function(X))


@pytest.mark.parametrize("search", ["guided", "exact"])
def test_permuting_features_permutes_the_mask(data, search):
    X, y = data
    X, y = X[:120], y[:120]
    order = np.random.default_rng(1).permutation(X.shape[1])
    kwargs = {"n_elements": 12, "match": "decision", "search": search, "random_state": 0}
    plain = ElementSelectedSVC(SVC(C=5, gamma=0.1), **kwargs).fit(X, y)
    moved = ElementSelectedSVC(SVC(C=5, gamma=0.1), **kwargs).fit(X[:, order], y)
    np.testing.assert_array_equal(moved.mask_.toarray(), plain.mask_.toarray()[order])


def test_constant_and_duplicate_features(data):
    X, y = data
    X = np.column_stack([X, np.full(len(X), 3.0), X[:, 0]])
    model = ElementSelectedSVC(SVC(C=5), match="decision", n_elements=40, random_state=0).fit(X, y)
    alone = [column for column in model.mask_.toarray().T if column.sum() == 1]
    assert not any(column[12] for column in alone)  # a constant feature alone adds nothing
    assert np.isfinite(model.decision_function(X)).all()


@pytest.mark.parametrize(
    "model",
    [
        ElementSelectedSVC(SVC(C=5), match="decision", n_elements=40, random_state=0),
        ReducedSetSVC(SVC(C=5), n_vectors=5, random_state=0),
    ],
)
def test_calibrated_threshold(data, model):
    X, y = data
    model.fit(X[:200], y[:200])
    assert model.threshold_ == 0.0
    model.calibrate(X[200:], y[200:], max_false_negative_rate=0.05)
    scores = model.decision_function(X[200:])
    positives = scores[y[200:] == 1]
    lost = (positives <= model.threshold_).sum()
    assert lost == int(np.floor(0.05 * (positives.size + 1))) - 1
    np.testing.assert_array_equal(model.predict(X[200:]), (scores > model.threshold_).astype(int))


@pytest.mark.parametrize("offset", [0.0, 30.0])
def test_tables_stay_within_their_bound(data, offset):
    X, y = data
    X = X + offset  # far from zero, single precision costs digits
    between = X[:-1] + np.random.default_rng(0).uniform(size=(len(X) - 1, 1)) * np.diff(X, axis=0)
    bounds = []
    for size in (32, 512, 8192):
        model = ElementSelectedSVC(SVC(C=5), match="decision", table_size=size, n_elements=60, random_state=0).fit(X, y)
        error = np.abs(model.decision_function(between) - naive_decision(model, between)).max()
        assert error <= model.table_error_bound_
        bounds.append(model.table_error_bound_)
    assert bounds[0] > 20 * bounds[1]
    assert bounds[2] < (2e-3 if offset else 2e-4)


@pytest.mark.parametrize("kernel", list(KERNELS))
def test_tables_for_every_kernel_and_outside_the_range(data, kernel):
    X, y = data
    svc = KERNELS[kernel]
    direct = ElementSelectedSVC(svc, match="decision", n_elements=10, random_state=0).fit(X, y)
    model = ElementSelectedSVC(svc, match="decision", n_elements=10, table_size=4096, random_state=0).fit(X, y)
    far = 3 * X
    np.testing.assert_allclose(
        model.decision_function(far), direct.decision_function(far), atol=model.table_error_bound_ + 1e-4
    )


def test_onnx_agrees(data, three_classes):
    ort = pytest.importorskip("onnxruntime")
    cases = [(KERNELS[k], "decision", *data) for k in KERNELS] + [(SVC(C=2), "decision", *three_classes)]
    cases.append((SVC(), "labels", *make_blobs(300, 8, centers=6, cluster_std=3.0, random_state=1)))
    for svc, match, X, y in cases:
        model = ElementSelectedSVC(svc, match=match, n_elements=60, random_state=0).fit(X, y)
        X32 = X.astype(np.float32)
        exact = model._expansion.decision(X32)
        bound = summed_in_single_bound(model._expansion, np.abs(X32).max(axis=0).astype(float), 1).max()
        for precision, allowed in (("double", 1e-9), ("single", bound)):
            session = ort.InferenceSession(model.to_onnx(precision=precision).SerializeToString())
            labels, decisions = session.run(None, {"X": X32})
            np.testing.assert_allclose(decisions, exact, rtol=0, atol=allowed)
            clear = np.abs(exact).min(axis=1) > 2 * allowed
            np.testing.assert_array_equal(labels[clear], model.predict(X32)[clear])
        numbers = 2 * model.n_elements_ + (1 + exact.shape[1]) * model._expansion.n_columns
        assert len(model.to_onnx().SerializeToString()) < 4 * 3 * numbers + 2000


def test_c_export_of_a_thousand_support_vectors_is_small():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(1500, 30))
    y = rng.integers(0, 2, 1500)
    svc = SVC().fit(X, y)
    assert len(svc.support_) > 1000
    source = ElementSelectedSVC(svc, match="decision", random_state=0).fit(X, y).to_c()
    assert len(source) < 30_000


def test_pickle_pipeline_and_grid_search(data):
    X, y = data
    model = ElementSelectedSVC(SVC(C=5), match="decision", n_elements=20, random_state=0).fit(X, y)
    again = pickle.loads(pickle.dumps(model))
    np.testing.assert_array_equal(again.decision_function(X), model.decision_function(X))
    pipeline = make_pipeline(StandardScaler(), ElementSelectedSVC(SVC(), match="decision", random_state=0))
    grid = {"elementselectedsvc__n_elements": [5, 40], "elementselectedsvc__estimator__C": [1.0, 5.0]}
    search = GridSearchCV(pipeline, grid, cv=2).fit(X, y)
    assert search.best_params_["elementselectedsvc__n_elements"] == 40
    assert search.best_score_ > 0.75


class TestBadInput:
    def test_unsupported_kernels_are_named(self, data):
        X, y = data
        for kernel in ("sigmoid", "precomputed"):
            with pytest.raises(
                ValueError, match=rf"'kernel' parameter .*'rbf', 'poly', 'linear'.* Got '{kernel}' instead"
            ):
                ElementSelectedSVC(SVC(kernel=kernel)).fit(X, y)
        with pytest.raises(ValueError, match="'kernel' parameter of the SVC"):
            ElementSelectedSVC(SVC(kernel=lambda A, B: A @ B.T)).fit(X, y)

    def test_other_estimators_are_refused(self, data):
        with pytest.raises(ValueError, match=r"'estimator' .* must be an SVC.* Got LogisticRegression"):
            ElementSelectedSVC(LogisticRegression()).fit(*data)
        with pytest.raises(NotFittedError, match="inside FrozenEstimator is not fitted"):
            ElementSelectedSVC(FrozenEstimator(SVC())).fit(*data)

    def test_more_elements_than_exist(self, data):
        X, y = data
        svc = SVC(C=100, kernel="linear").fit(X[:30, :2], y[:30])
        with pytest.warns(UserWarning, match=r"n_elements=5000 is more than the \d+ elements that exist \(2 features"):
            model = ElementSelectedSVC(svc, match="decision", n_elements=5000, random_state=0).fit(X[:30, :2], y[:30])
        assert model.n_elements_ <= 2 * len(svc.support_)

    def test_all_elements_can_be_used(self):
        """With every basis vector in use the columns themselves grow, up to the full mask and the full machine."""
        rng = np.random.default_rng(0)
        X = rng.normal(size=(60, 3))
        y = (X[:, 0] > 0).astype(int)
        svc = SVC(C=5, gamma=0.5).fit(X, y)
        available = 3 * len(svc.support_)
        model = ElementSelectedSVC(svc, match="decision", n_elements=available, tol=0, random_state=0).fit(X, y)
        assert model.n_elements_ > len(svc.support_)
        assert model.path_[-1] < 1e-3

    @pytest.mark.parametrize(("shape", "least"), [("basis", "12"), ("feature", r"\d+")])
    def test_too_few_elements_for_the_shape(self, data, shape, least):
        with pytest.raises(ValueError, match=rf"'n_elements' .* must be at least {least} for shape='{shape}'"):
            ElementSelectedSVC(SVC(), match="decision", n_elements=5, shape=shape).fit(*data)

    def test_class_missing_from_the_calibration_data(self, data):
        X, y = data
        model = ElementSelectedSVC(SVC(), match="decision", n_elements=20, random_state=0).fit(X, y)
        with pytest.raises(ValueError, match=r"Class .*1.* is missing from the calibration data"):
            model.calibrate(X[y == 0], y[y == 0])
        with pytest.raises(ValueError, match="labels that were not seen in fit"):
            model.calibrate(X, np.where(np.arange(len(y)) == 0, 7, y))
        with pytest.raises(ValueError, match=r"range \(0, 1\)"):
            model.calibrate(X, y, max_false_negative_rate=1.5)

    def test_three_classes_have_no_threshold(self, three_classes):
        X, y = three_classes
        model = ElementSelectedSVC(SVC(), match="decision", n_elements=20, random_state=0).fit(X, y)
        with pytest.raises(ValueError, match="two classes only"):
            model.calibrate(X, y)

    @pytest.mark.filterwarnings("ignore:X does not have valid feature names:UserWarning")  # the last fit has no names
    def test_feature_names_and_order(self, data):
        pd = pytest.importorskip("pandas")
        X, y = data
        frame = pd.DataFrame(X, columns=[f"f{i}" for i in range(12)])
        model = ElementSelectedSVC(SVC(), match="decision", n_elements=20, random_state=0).fit(frame, y)
        np.testing.assert_array_equal(model.feature_names_in_, frame.columns)
        with pytest.raises(ValueError, match="same order"):
            model.predict(frame[frame.columns[::-1]])
        with pytest.raises(ValueError, match="unseen at fit time"):
            model.predict(frame.rename(columns={"f0": "g0"}))
        svc = SVC().fit(frame, y)
        with pytest.raises(ValueError, match="same order"):
            ElementSelectedSVC(svc).fit(frame[frame.columns[::-1]], y)
        with pytest.raises(ValueError, match="features"):
            ElementSelectedSVC(svc).fit(X[:, :5], y)

    def test_sparse_input(self, data):
        X, y = data
        with pytest.raises(TypeError, match=r"Sparse data was passed.*toarray"):
            ElementSelectedSVC(SVC()).fit(sparse.csr_array(X), y)
        svc = SVC(C=5).fit(sparse.csr_matrix(X), y)  # a machine fitted on sparse data is supported
        model = ElementSelectedSVC(svc, match="decision", n_elements=30, random_state=0).fit(X, y)
        assert model.score(X, y) > 0.8

    def test_names_that_are_no_c_identifiers(self, data):
        model = ElementSelectedSVC(SVC(), match="decision", n_elements=5, random_state=0).fit(*data)
        with pytest.raises(ValueError, match="C identifier"):
            model.to_c("a b")


def test_interrupt_leaves_the_estimator_as_before(data, monkeypatch):
    def interrupted(*args, **kwargs):
        raise KeyboardInterrupt

    X, y = data
    model = ElementSelectedSVC(SVC(), match="decision", n_elements=20, random_state=0).fit(X, y)
    before = model.decision_function(X)
    monkeypatch.setattr("eigensieve.elements.select", interrupted)
    with pytest.raises(KeyboardInterrupt):
        model.set_params(n_elements=40).fit(X, y)
    np.testing.assert_array_equal(model.decision_function(X), before)
    fresh = ElementSelectedSVC(SVC(), match="decision", n_elements=20)
    with pytest.raises(KeyboardInterrupt):
        fresh.fit(X, y)
    assert not hasattr(fresh, "mask_")


def test_verbose_shows_progress(data, capsys):
    ElementSelectedSVC(SVC(), match="decision", n_elements=20, random_state=0, verbose=2).fit(*data)
    lines = capsys.readouterr().err.strip().splitlines()
    assert lines and all("elements, error" in line for line in lines)


def test_memory_holds_no_kernel_matrix():
    """Selecting needs O(samples x elements): far less than samples x support vectors."""
    import tracemalloc

    rng = np.random.default_rng(0)
    X = rng.normal(size=(4000, 10))
    y = rng.integers(0, 2, 4000)
    with pytest.warns(ConvergenceWarning):
        svc = SVC(max_iter=3000).fit(X, y)
    kernel_matrix = 8 * len(X) * len(svc.support_)
    model = ElementSelectedSVC(svc, match="decision", n_elements=20, random_state=0)
    model.fit(X, y)
    tracemalloc.start()
    model.fit(X, y)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert kernel_matrix > 60e6
    assert peak < 30e6


@pytest.mark.parametrize("match", ["decision", "labels"])
def test_an_early_stop_is_told(data, match):
    X, y = data
    with pytest.warns(UserWarning, match=r"(\d+) of n_elements=150 elements were found: nothing tried .* tol=0.01"):
        model = ElementSelectedSVC(SVC(C=5), match=match, n_elements=150, tol=0.01, random_state=0).fit(X, y)
    assert model.n_elements_ < 150
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        ElementSelectedSVC(SVC(C=5), match=match, n_elements=30, random_state=0).fit(X, y)
