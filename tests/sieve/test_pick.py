"""The pick: both gains against their transcriptions, and every constraint."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from eigensieve import SieveSelector
from eigensieve.sieve import Constraints, Panel
from eigensieve.sieve.pick import Alignment, Residual, pick
from eigensieve.sieve.structure import normalize_rows
from reference import labelled as reference
from reference import sieve as naive
from support.backends import BACKENDS


def _problem(seed: int = 0, n: int = 40) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Standardised features, half of which follow a structure V, and their scores."""
    rng = np.random.default_rng(seed)
    V = normalize_rows(rng.standard_normal((30, 3)))
    X = 0.2 * rng.standard_normal((30, n))
    X[:, : n // 2] += V @ rng.standard_normal((3, n // 2)) * 3
    Z = naive.standardise(X).T
    return Z, V, naive.agreement(Z.T, V)


def _grow(Z: np.ndarray, scores: np.ndarray, count: int, constraints: Constraints, share: np.ndarray | None = None):
    n = Z.shape[1]
    gain = Alignment(Z, scores, np.ones(n) if share is None else share)
    return pick(Panel(constraints, np.arange(n)), gain, count)


@settings(max_examples=20, deadline=None)
@given(st.integers(0, 1_000), st.integers(1, 12), st.booleans())
def test_alignment_is_that_of_the_transcription(seed: int, count: int, shared: bool) -> None:
    Z, _, scores = _problem(seed)
    share = np.random.default_rng(seed).uniform(0.3, 1.0, 40) if shared else None
    expected = naive.pick(Z.T, scores, list(range(40)), count, share)
    np.testing.assert_array_equal(_grow(Z, scores, count, Constraints(), share), expected)


@settings(max_examples=20, deadline=None)
@given(st.integers(0, 1_000), st.integers(1, 8), st.sampled_from([0.0, 0.5]), st.sampled_from([1.0, 10.0]))
def test_residuals_are_those_of_the_transcription(seed: int, count: int, squares: float, ridge: float) -> None:
    Z, _, _ = _problem(seed)
    T, Y = reference.class_basis(np.arange(30) % 3), reference.class_columns(np.arange(30) % 3)
    u = np.maximum(reference.agreement(Z, T), 0.0)
    if squares:
        u = u + squares * np.maximum(reference.agreement(reference.squares(Z), T), 0.0)
    found = pick(Panel(Constraints(), np.arange(40)), Residual(Z, u, 3.0 * Y, squares, ridge=ridge), count)
    gains = Residual(Z, u, 3.0 * Y, squares, ridge=ridge)
    for place, feature in enumerate(reference.pick(Z, T, Y, count, squares, ridge)):
        if gains.values().max() <= 1e-12:  # nothing left to explain: the order of the features decides
            break
        assert found[place] == feature
        gains.take(feature)


def test_features_that_are_kept_lead_and_are_complemented() -> None:
    Z, _, scores = _problem()
    order = _grow(Z, scores, 8, Constraints(keep=np.array([35, 3])))
    assert order[:2].tolist() == [35, 3]
    assert order.tolist() == naive.pick(Z.T, scores, list(range(40)), 8, keep=(35, 3))


def test_groups_hold_no_more_than_allowed_and_are_filled_by_the_best() -> None:
    Z, _, scores = _problem()
    groups = np.arange(40) % 5
    order = _grow(Z, scores, 40, Constraints(groups=groups, max_per_group=2))
    assert len(order) == 10
    assert np.bincount(groups[order]).max() == 2
    free = _grow(Z, scores, 40, Constraints())
    assert order[0] == free[0]


@settings(max_examples=20, deadline=None)
@given(st.integers(0, 1_000), st.floats(0.5, 30.0))
def test_costs_never_exceed_the_budget(seed: int, budget: float) -> None:
    Z, _, scores = _problem(seed)
    costs = np.random.default_rng(seed).uniform(0.5, 5.0, 40)
    order = _grow(Z, scores, 40, Constraints(costs=costs, max_cost=budget))
    assert costs[order].sum() <= budget * (1 + 1e-9)
    left = np.delete(np.arange(40), order)
    assert not len(left) or costs[order].sum() + costs[left].min() > budget


def test_equal_costs_pick_as_no_costs() -> None:
    Z, _, scores = _problem()
    plain = _grow(Z, scores, 6, Constraints())
    np.testing.assert_array_equal(_grow(Z, scores, 40, Constraints(costs=np.full(40, 2.0), max_cost=12.0)), plain)


NAMES = [f"g{i}" for i in range(60)]


def _frame(seed: int = 0) -> tuple[pd.DataFrame, np.ndarray]:
    rng = np.random.default_rng(seed)
    y = np.arange(60) % 3
    X = rng.standard_normal((60, 60))
    X[:, :12] += rng.normal(0, 2.5, (3, 12))[y]
    return pd.DataFrame(X, columns=NAMES), y


@pytest.mark.parametrize("labelled", [False, True])
@pytest.mark.parametrize("count", [8, "auto", "fewest"])
def test_the_selector_keeps_and_excludes(labelled: bool, count: int | str) -> None:
    X, y = _frame()
    target = y if labelled else None
    free = SieveSelector(8).fit(X, target).selection_order_
    gone = free[:2]
    model = SieveSelector(count, keep=["g50", "g3"], exclude=gone).fit(X, target)
    assert model.selection_order_[:2].tolist() == [50, 3]
    assert not model.support_[gone].any()
    assert model.p_values_ is None or (model.p_values_[[50, 3, *gone]] == 1.0).all()
    mask = np.isin(np.arange(60), gone)
    same = SieveSelector(count, keep=[50, 3], exclude=mask).fit(X, target)
    np.testing.assert_array_equal(same.selection_order_, model.selection_order_)


def test_excluded_features_still_show_the_structure() -> None:
    X, _ = _frame()
    plain, without = SieveSelector(8).fit(X), SieveSelector(8, exclude=range(6)).fit(X)
    np.testing.assert_allclose(without.weights_, plain.weights_)


@pytest.mark.parametrize("labelled", [False, True])
def test_the_selector_respects_groups_and_costs(labelled: bool) -> None:
    X, y = _frame()
    target = y if labelled else None
    groups = [f"pathway {i % 6}" for i in range(60)]
    assert np.bincount(np.arange(60)[SieveSelector(1.0, feature_groups=groups).fit(X, target).support_] % 6).max() == 1
    costs = np.where(np.arange(60) % 2, 1.0, 3.0)
    for count in (20, "auto"):
        model = SieveSelector(count, feature_costs=costs, max_cost=7.0).fit(X, target)
        assert 0 < costs[model.support_].sum() <= 7.0


@pytest.mark.parametrize("count", [6, "auto", "fewest"])
@pytest.mark.parametrize("labelled", [False, True])
@pytest.mark.parametrize("backend", BACKENDS)
def test_every_storage_gives_the_same_panel(backend: str, labelled: bool, count: int | str) -> None:
    frame, y = _frame()
    X, target = frame.to_numpy()[:, :24], y if labelled else None
    groups, costs = np.arange(24) // 2, np.where(np.arange(24) % 2, 1.0, 1.5)
    limits = {"keep": [20, 3], "exclude": [0], "feature_groups": groups, "feature_costs": costs, "max_cost": 7.0}
    model = SieveSelector(count, random_state=0, **limits).fit(BACKENDS[backend](X), target)
    chosen = model.selection_order_
    assert chosen[:2].tolist() == [20, 3] and 0 not in chosen
    assert np.bincount(groups[chosen]).max() == 1 and costs[chosen].sum() <= 7.0
    expected = SieveSelector(count, random_state=0, **limits).fit(X, target)
    if "float32" not in backend:
        np.testing.assert_array_equal(chosen, expected.selection_order_)


@pytest.mark.parametrize("labelled", [False, True])
def test_the_false_discovery_rate_is_over_what_may_be_chosen(labelled: bool) -> None:
    """Benjamini and Hochberg's rule with labels, Benjamini and Yekutieli's without, among 38 of 60 features."""
    X, y = _frame()
    X.iloc[:, :12] = X.iloc[:, :12] * 0.3 + np.random.default_rng(1).standard_normal((60, 12))
    model = SieveSelector(keep=[0, 30], exclude=range(40, 60)).fit(X, y if labelled else None)
    may = np.setdiff1d(np.arange(40), [0, 30])
    p, n = np.sort(model.p_values_[may]), len(may)
    rate = 0.1 if labelled else 0.1 / np.sum(1.0 / np.arange(1, n + 1))
    count = max((r for r in range(1, n + 1) if p[r - 1] <= rate * r / n), default=0)
    assert model.support_[may].sum() == count > 0
    assert model.support_.sum() == count + 2


def test_a_budget_in_place_of_a_number_goes_to_what_follows_the_structure() -> None:
    X, _ = _frame()
    costs = np.ones(60)
    found = SieveSelector(feature_costs=costs, max_cost=40.0).fit(X)
    np.testing.assert_array_equal(found.support_, SieveSelector().fit(X).support_)
    spent = SieveSelector(1.0, feature_costs=costs, max_cost=40.0).fit(X)
    assert spent.support_.sum() == 40
    np.testing.assert_array_equal(spent.selection_order_[:8], SieveSelector(8).fit(X).selection_order_)


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"keep": ["nobody"]}, "must name columns of X. Got 'nobody'"),
        ({"exclude": [60]}, "column numbers below 60. Got 60"),
        ({"keep": [True, False]}, "one entry per feature \\(60\\) if it is a mask. Got 2 entries"),
        ({"keep": [1], "exclude": ["g1"]}, "must not share features with 'exclude'. Got feature 'g1'"),
        ({"keep": list(range(9))}, "9 features for n_features_to_select=8 instead; raise the number"),
        ({"feature_groups": ["a"] * 60, "keep": [0, 1]}, "more than max_per_group=1 features of one group"),
        ({"feature_groups": ["a"]}, "one label per feature"),
        ({"max_cost": 3.0}, "must be None without feature_costs"),
        ({"max_per_group": 2}, "must be 1 without feature_groups. Got 2 instead; give one label per feature"),
        ({"feature_costs": np.zeros(60), "max_cost": 3.0}, "positive numbers. Got 0 for feature 'g0'"),
        ({"feature_costs": np.ones(60), "max_cost": 1.0, "keep": [0, 1]}, "must cover the features in 'keep'"),
        ({"feature_costs": np.full(60, 2.0), "max_cost": 1.0}, "cheapest feature, which costs 2. Got 1"),
        ({"feature_costs": ["dear"] * 60}, "'feature_costs' parameter of SieveSelector must hold numbers"),
        ({"exclude": range(60)}, "'exclude' parameter of SieveSelector must leave a feature that varies"),
    ],
)
def test_impossible_constraints_are_refused(parameters: dict, message: str) -> None:
    X, _ = _frame()
    with pytest.raises(ValueError, match=message):
        SieveSelector(8, **parameters).fit(X)
    if parameters.get("keep") == ["nobody"]:
        with pytest.raises(ValueError, match="has no column names"):
            SieveSelector(8, **parameters).fit(X.to_numpy())


@pytest.mark.parametrize(
    ("parameters", "left"), [({"exclude": range(3, 60)}, 3), ({"feature_groups": np.arange(60) % 2}, 2)]
)
def test_fewer_than_asked_for_are_announced(parameters: dict, left: int) -> None:
    X, _ = _frame()
    with pytest.warns(UserWarning, match=f"asks for 8 features, and the constraints leave {left}"):
        assert SieveSelector(8, **parameters).fit(X).support_.sum() == left


@pytest.mark.filterwarnings("error")
def test_keeping_every_feature_leaves_nothing_to_find() -> None:
    X, _ = _frame()
    assert SieveSelector(keep=range(60)).fit(X).support_.all()


@pytest.mark.parametrize("missing", [None, np.nan])
def test_features_without_group_are_free(missing: object) -> None:
    X, _ = _frame()
    free = SieveSelector(8).fit(X)
    found = SieveSelector(8, feature_groups=[missing] * 58 + ["a", "a"]).fit(X)
    np.testing.assert_array_equal(found.selection_order_, free.selection_order_)


def test_a_series_is_read_by_the_names_of_the_features() -> None:
    X, _ = _frame()
    costs = pd.Series(np.linspace(1, 5, 60), index=X.columns)
    groups = pd.Series(np.arange(60) // 3, index=X.columns)
    kept = pd.Series(np.arange(60) == 50, index=X.columns)
    models = [
        SieveSelector(8, keep=kept[order], feature_costs=costs[order], max_cost=15.0, feature_groups=groups[order])
        for order in (X.columns, X.columns[::-1])
    ]
    first, again = (model.fit(X) for model in models)
    np.testing.assert_array_equal(first.selection_order_, again.selection_order_)
    assert first.selection_order_[0] == 50 and costs.to_numpy()[first.support_].sum() <= 15.0
