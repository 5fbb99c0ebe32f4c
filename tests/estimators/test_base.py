"""What all estimators share, tested on every class of the table."""

import warnings

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.base import clone
from sklearn.datasets import make_classification
from sklearn.exceptions import ConvergenceWarning, NotFittedError

import eigensieve
from eigensieve import QAlphaSelector, TraceRatioSelector, fisher_score, laplacian_score
from eigensieve.estimators import ESTIMATORS
from eigensieve.report import texts

pytestmark = [
    pytest.mark.filterwarnings("ignore:.* elements were found"),
]

SMALL = {
    "ElementSelectedSVC": {"n_elements": 5, "random_state": 0},
    "ElementSelectedSVR": {"n_elements": 5, "random_state": 0},
    "ReducedSetSVC": {"n_vectors": 2, "random_state": 0},
    "RejectionCascade": {"random_state": 0},
    "UnwantedVariationRemover": {"n_directions": 1},
    "WeightedFeatures": {"power": 1.0},
}
LAST_STEP = {
    "ElementSelectedSVC": "eigensieve.estimators.small_machine.SmallMachine._learn_machine",
    "ElementSelectedSVR": "eigensieve.estimators.small_machine.SmallMachine._learn_machine",
    "ReducedSetSVC": "eigensieve.estimators.small_machine.SmallMachine._learn_machine",
    "RejectionCascade": "eigensieve.estimators.rejection_cascade.rejection_rates",
    "UnwantedVariationRemover": "eigensieve.estimators.variation.unwanted_directions",
    "WeightedFeatures": "eigensieve.estimators.weighted.getattr",  # of the weights, when the selector is learned
}


def small(name):
    return getattr(eigensieve, name)(**SMALL.get(name, {"n_features_to_select": 3}))


@pytest.fixture(scope="module")
def data():
    return make_classification(n_samples=80, n_features=8, n_informative=4, random_state=0)


def test_other_lists_of_estimators_name_nothing_else():
    from eigensieve.cli.methods import METHODS

    assert {method.estimator for method in METHODS.values()} <= set(ESTIMATORS)
    assert set(texts._HOW) <= set(ESTIMATORS)


@pytest.mark.parametrize("name", ESTIMATORS)
@pytest.mark.parametrize("reason", [KeyboardInterrupt, MemoryError])
def test_an_interrupted_fit_leaves_the_estimator_as_it_was(name, reason, data, monkeypatch):
    X, y = data
    model = small(name).fit(X, y)
    before = dict(vars(model))

    def stop(*args, **kwargs):
        raise reason

    step = LAST_STEP.get(name, "eigensieve.estimators.base.BaseSelector._learn_selection")
    monkeypatch.setattr(step, stop, raising=not step.endswith(".getattr"))
    with pytest.raises(reason):
        model.fit(X[:, :5], y)
    assert vars(model) == before or all(vars(model)[key] is value for key, value in before.items())
    assert set(vars(model)) == set(before) and model.n_features_in_ == 8
    fresh = small(name)
    with pytest.raises(reason):
        fresh.fit(X, y)
    assert vars(fresh) == vars(small(name))


DAYS = pd.date_range("2024-01-01", periods=80)
NO_NUMBERS = {
    "text": pd.Series(["a"] * 80),
    "category": pd.Series(pd.Categorical(list("ab") * 40)),
    "day": pd.Series(DAYS),
    "duration": pd.Series(DAYS - DAYS[0]),
    "moment": pd.Series(DAYS.tz_localize("UTC")),
    "month": pd.Series(pd.period_range("2000-01", periods=80, freq="M")),
}


@pytest.mark.parametrize("name", ESTIMATORS)
def test_columns_without_numbers_are_named(name, data):
    frame = pd.DataFrame(data[0]).add_prefix("f").assign(text="a", day=DAYS)
    with pytest.raises(ValueError, match=r"2 of 10 columns that do not hold numbers: 'text' \(\w+\), 'day' \(date"):
        small(name).fit(frame, data[1])


@pytest.mark.parametrize("score", [laplacian_score, fisher_score])
def test_scores_name_columns_without_numbers(score, data):
    with pytest.raises(ValueError, match="'text'"):
        score(pd.DataFrame(data[0]).add_prefix("f").assign(text="a"), data[1])


@pytest.mark.parametrize("kind", NO_NUMBERS)
def test_columns_of_every_kind_without_numbers_are_named(kind, data):
    frame = pd.DataFrame(data[0]).add_prefix("f").assign(**{kind: NO_NUMBERS[kind]})
    with pytest.raises(ValueError, match=f"columns that do not hold numbers: '{kind}'"):
        QAlphaSelector(3).fit(frame)
    if kind != "month":  # polars has no periods
        with pytest.raises(ValueError, match=f"columns that do not hold numbers: '{kind}'"):
            QAlphaSelector(3).fit(pl.from_pandas(frame))


def test_columns_of_numbers_of_any_type_are_taken(data):
    X = data[0].copy()
    X[:, :3] = np.round(X[:, :3])
    X[:, 3] = X[:, 3] > 0
    frame = pd.DataFrame(X).add_prefix("f").astype({"f0": "Int64", "f1": object, "f2": "Float32", "f3": "boolean"})
    for given in (frame, pl.from_pandas(frame.astype({"f1": int}))):
        np.testing.assert_allclose(QAlphaSelector(3).fit(given).weights_, QAlphaSelector(3).fit(X).weights_)


@pytest.mark.parametrize("name", ESTIMATORS)
def test_parameters_survive_cloning_and_fitting(name, data):
    model = small(name)
    params = model.get_params(deep=False)
    model.fit(*data)
    assert model.get_params(deep=False) == params == clone(model).get_params(deep=False)
    assert set(params) == set(type(model)._parameter_constraints)


def test_a_selector_that_is_not_fitted_says_so():
    for name in ESTIMATORS:
        if hasattr(getattr(eigensieve, name), "get_support"):
            with pytest.raises(NotFittedError):
                small(name).get_support()


@pytest.mark.parametrize(
    ("model", "category"),
    [
        (QAlphaSelector(2, 2, solver_options={"max_iter": 1, "tol": 0}), ConvergenceWarning),
        (TraceRatioSelector(20), UserWarning),
    ],
)
def test_a_warning_points_at_the_line_of_the_user(model, category, data):
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        model.fit(*data)
    assert [(warning.category, warning.filename) for warning in caught] == [(category, __file__)]


def test_trace_ratio_reads_labels_as_its_score_says():
    X = np.random.default_rng(0).standard_normal((20, 6))
    y = np.where(np.arange(20) % 2, -1, 3)
    TraceRatioSelector(2).fit(X, y)  # -1 is a class for Fisher's score
    with pytest.raises(ValueError, match=r"at least 2 classes .*-1 mark a sample without label.*'laplacian'"):
        TraceRatioSelector(2, score="semi-supervised").fit(X, y)
    y[0] = 7
    TraceRatioSelector(2).fit(X, y)  # one sample may be a class of its own
