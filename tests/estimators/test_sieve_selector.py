"""SieveSelector in scikit-learn's tools, and on planted data."""

import warnings

import numpy as np
import pandas as pd
import polars as pl
import pytest
import scipy.sparse as sp
from sklearn.base import clone
from sklearn.cluster import KMeans
from sklearn.compose import ColumnTransformer
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.utils.estimator_checks import parametrize_with_checks

from eigensieve import SieveSelector
from support.backends import FEW

pytestmark = [
    pytest.mark.filterwarnings("ignore:No features were selected"),
    pytest.mark.filterwarnings("ignore:SieveSelector found no feature"),
]

RELEVANT = 10


@pytest.fixture(scope="module")
def planted() -> np.ndarray:
    rng = np.random.default_rng(0)
    X = rng.standard_normal((60, 150))
    X[:, :RELEVANT] += rng.normal(0, 3.0, (3, RELEVANT))[np.arange(60) % 3]
    return X


@pytest.mark.filterwarnings("ignore:SieveSelector found no feature")
@parametrize_with_checks([SieveSelector(0.5), SieveSelector()])
def test_scikit_learn_contract(estimator, check) -> None:
    check(estimator)


def test_a_fraction_of_one_takes_every_feature_that_varies() -> None:
    X = np.random.default_rng(0).standard_normal((20, 8))
    assert sorted(SieveSelector(1.0).fit(X).selection_order_) == list(range(8))


@pytest.mark.parametrize("backend", FEW)
def test_every_backend_finds_the_planted_features(planted: np.ndarray, backend: str) -> None:
    X = np.where(np.abs(planted) < 0.3, 0.0, planted)
    model = SieveSelector(RELEVANT).fit(FEW[backend](X))
    assert np.count_nonzero(model.selection_order_ < RELEVANT) >= RELEVANT - 1
    np.testing.assert_array_equal(np.sort(model.selection_order_), model.get_support(indices=True))


def test_auto_finds_most_planted_features() -> None:
    """Mean over draws: at least 0.85 of the planted features, and few others."""
    power, false = [], []
    for seed in range(6):
        rng = np.random.default_rng(seed)
        X = rng.standard_normal((60, 150))
        X[:, :RELEVANT] += rng.normal(0, 3.0, (3, RELEVANT))[np.arange(60) % 3]
        model = SieveSelector().fit(X)
        power.append(model.support_[:RELEVANT].mean())
        false.append(model.support_[RELEVANT:].sum() / max(1, model.support_.sum()))
        assert np.median(model.weights_[RELEVANT:]) < model.null_quantile_ < np.median(model.weights_[:RELEVANT])
    assert np.mean(power) >= 0.85
    assert np.mean(false) <= 0.1


def test_words_on_noise_select_nothing_and_say_so() -> None:
    """A false selection in at most one draw in ten is promised: 7 of 20 would be a surprise of one in four hundred."""
    false = 0
    for seed in range(20):
        X = np.random.default_rng(seed).standard_normal((30, 40))
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            model = SieveSelector("auto" if seed % 2 else "fewest", random_state=seed).fit(X)
        false += bool(model.support_.any())
        told = any("found no feature" in str(warning.message) for warning in caught)
        assert told == (not model.support_.any())
        assert len(model.ranking_) == 40
    assert false < 7


def test_many_noise_features_and_few_samples() -> None:
    """20 of 10,000: too weak for the spectrum of all features, found after the screen."""
    rng = np.random.default_rng(5)
    X = rng.standard_normal((200, 10_000)).astype(np.float32)
    X[:, :20] += rng.normal(0, 1.5, (3, 20))[rng.integers(0, 3, 200)]
    assert np.mean(SieveSelector(20).fit(X).selection_order_ < 20) >= 0.8


def test_no_better_feature_is_left_out_of_many() -> None:
    """20,000 columns, 30 of them follow the groups of the samples."""
    X = np.random.default_rng(0).standard_normal((100, 20_000))
    X[:, :30] += np.linspace(0.5, 1.5, 30) * np.repeat([-1.0, 1.0], 50)[:, None]
    model = SieveSelector(random_state=0).fit(X)
    kept = model.support_
    assert kept[:30].sum() >= 27
    assert kept[30:].sum() <= 3
    assert model.p_values_[kept].max() < model.p_values_[~kept].min()


def test_learned_attributes_agree(planted: np.ndarray) -> None:
    model = SieveSelector(7).fit(planted)
    assert model.n_features_in_ == 150 and model.p_values_ is None and model.scored_by_ == "features"
    assert model.embedding_.shape[0] == 60
    np.testing.assert_allclose(model.embedding_.mean(axis=0), 0.0, atol=1e-12)
    assert np.linalg.norm(model.embedding_, 2) == pytest.approx(1.0)
    order = np.argsort(model.ranking_)
    assert sorted(model.ranking_.tolist()) == list(range(1, 151))
    np.testing.assert_array_equal(order[:7], model.selection_order_)
    assert np.all(np.diff(model.weights_[order[7:]]) <= 0)


def test_scale_and_sign_of_features_do_not_matter(planted: np.ndarray) -> None:
    moved = planted * np.random.default_rng(2).choice([-3.0, 0.01, 40.0], 150)
    plain, other = SieveSelector(12).fit(planted), SieveSelector(12).fit(moved)
    np.testing.assert_array_equal(plain.selection_order_, other.selection_order_)


def test_shift_of_features_does_not_matter(planted: np.ndarray) -> None:
    rng = np.random.default_rng(2)
    first, second = (SieveSelector(12).fit(planted + rng.normal(0, 5, 150)) for _ in range(2))
    np.testing.assert_array_equal(first.selection_order_, second.selection_order_)


def test_automatic_choice_never_takes_a_mean_for_structure() -> None:
    X = np.random.default_rng(0).standard_normal((60, 200))
    X[:, :10] += 4.0
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = SieveSelector(random_state=0).fit(X)
    assert model.support_[:10].sum() <= 1


def test_order_of_features_and_samples_does_not_matter(planted: np.ndarray) -> None:
    rng = np.random.default_rng(2)
    columns, rows = rng.permutation(150), rng.permutation(60)
    plain = SieveSelector(12).fit(planted)
    shuffled = SieveSelector(12).fit(planted[np.ix_(rows, columns)])
    np.testing.assert_array_equal(columns[shuffled.selection_order_], plain.selection_order_)
    np.testing.assert_allclose(shuffled.weights_, plain.weights_[columns], atol=1e-6)


def test_few_features_in_any_order_of_samples() -> None:
    """Two groups that differ in three of nine features: these are found, and noise weighs about nothing."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((211, 9))
    X[::2, :3] += 4.0
    plain = SieveSelector(3).fit(X)
    np.testing.assert_array_equal(plain.get_support(indices=True), [0, 1, 2])
    assert plain.weights_[:3].min() > 0.7 and np.abs(plain.weights_[3:]).max() < 0.03
    for _ in range(12):
        model = SieveSelector(3).fit(X[rng.permutation(211)])
        np.testing.assert_allclose(model.weights_, plain.weights_, atol=1e-12)
    for seed in range(3):
        np.testing.assert_array_equal(SieveSelector(random_state=seed).fit(X).get_support(indices=True), [0, 1, 2])


def test_constant_features_are_never_chosen(planted: np.ndarray) -> None:
    X = np.hstack([np.full((60, 3), 7.0), planted])
    model = SieveSelector(150).fit(X)
    assert not model.support_[:3].any()
    assert (model.weights_[:3] == 0).all()
    with pytest.warns(UserWarning, match="only 150 of 153 vary"):
        assert SieveSelector(151).fit(X).support_.sum() == 150


def test_copies_of_a_feature_wait_for_the_others(planted: np.ndarray) -> None:
    X = np.hstack([np.repeat(planted[:, :1], 20, axis=1), planted[:, 1:]])
    first = SieveSelector(12).fit(X).selection_order_
    assert np.count_nonzero(first < 20) <= 6


def test_the_seed_matters_to_the_automatic_count_alone(planted: np.ndarray) -> None:
    first, second = (SieveSelector(5, random_state=seed).fit(planted) for seed in (0, 1))
    np.testing.assert_array_equal(first.weights_, second.weights_)
    again = [SieveSelector(random_state=4).fit(planted).p_values_ for _ in range(2)]
    np.testing.assert_array_equal(*again)


def test_composition(planted: np.ndarray) -> None:
    y = np.arange(60) % 3
    pipeline = make_pipeline(SieveSelector(5), LogisticRegression())
    search = GridSearchCV(pipeline, {"sieveselector__n_features_to_select": [2, 8]}, cv=2).fit(planted, y)
    assert search.best_score_ > 0.9
    frame = pd.DataFrame(planted[:, :20], columns=[f"g{i}" for i in range(20)])
    out = SieveSelector(3).set_output(transform="pandas").fit_transform(frame)
    assert list(out.columns) == [f"g{i}" for i in sorted(int(c[1:]) for c in out.columns)]
    assert isinstance(SieveSelector(3).set_output(transform="polars").fit_transform(frame), pl.DataFrame)
    columns = ColumnTransformer([("sieve", SieveSelector(3), frame.columns.tolist())])
    assert columns.fit_transform(frame).shape == (60, 3)
    assert clone(SieveSelector(4, fdr=0.2)).fdr == 0.2
    assert make_pipeline(SieveSelector(5), KMeans(3, n_init=1)).fit_predict(sp.csr_matrix(planted)).shape == (60,)


def test_an_interrupted_fit_leaves_the_selector_as_it_was(planted: np.ndarray, monkeypatch: pytest.MonkeyPatch) -> None:
    model = SieveSelector(5)

    def stop(*args: object, **kwargs: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("eigensieve.sieve.problem.pick", stop)
    with pytest.raises(KeyboardInterrupt):
        model.fit(planted)
    with pytest.raises(NotFittedError):
        model.transform(planted)
    assert not hasattr(model, "n_features_in_")


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"fdr": 0.0}, "'fdr' parameter of SieveSelector"),
    ],
)
def test_bad_settings_are_named(planted: np.ndarray, settings: dict, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        SieveSelector(**{"n_features_to_select": 5, **settings}).fit(planted)


def test_progress_is_printed(planted: np.ndarray, capsys: pytest.CaptureFixture[str]) -> None:
    SieveSelector(random_state=0, verbose=2).fit(planted)
    assert "calibrating, fold 5 of 5" in capsys.readouterr().err
