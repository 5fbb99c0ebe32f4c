"""What the user knows reaches SieveSelector: alone and together, on every kind of data, in scikit-learn's ways."""

import warnings

import numpy as np
import pandas as pd
import pytest
import sklearn
from sklearn.cluster import KMeans
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import adjusted_rand_score
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import make_pipeline

from eigensieve import SieveSelector
from eigensieve.datasets import make_two_solutions
from support.backends import FEW, ON_DISK

RELEVANT = 8
rng = np.random.default_rng(7)
CODES = np.arange(60) % 3
BATCHES = np.array(["x", "y"])[(np.arange(60) // 3) % 2]
X = rng.standard_normal((60, 90))
X[:, :RELEVANT] += 2.5 * rng.permuted(np.tile([1.0, 0.0, -1.0], (RELEVANT, 1)), axis=1).T[CODES]
SHIFTED = X + np.outer(BATCHES == "y", np.where(np.arange(90) >= 45, 6.0, 0.0))
LIGHT = rng.standard_normal((2, 90)) * (np.arange(90) >= 30)
LIT = X + 4.0 * rng.standard_normal((60, 2)) @ LIGHT
SIDE = 4.0 * rng.standard_normal((40, 2)) @ LIGHT + rng.standard_normal((40, 90))


def hits(selector: SieveSelector) -> int:
    return int(np.count_nonzero(selector.selection_order_ < RELEVANT))


def test_labels_are_used_and_can_be_ignored() -> None:
    noise = np.random.default_rng(0).permutation(CODES)
    plain = SieveSelector(RELEVANT).fit(X)
    assert not plain.supervised_
    labelled = SieveSelector(RELEVANT).fit(X, CODES)
    assert labelled.supervised_
    assert labelled.scored_by_ == "labels"
    assert labelled.embedding_.shape[1] == 2
    assert hits(labelled) == RELEVANT
    ignored = SieveSelector(RELEVANT, supervision="ignore").fit(X, noise)
    np.testing.assert_array_equal(ignored.selection_order_, plain.selection_order_)
    assert not ignored.supervised_


def test_two_classes_named_minus_one_and_one_are_two_classes() -> None:
    signs = np.where(CODES == 0, 1, -1)
    np.testing.assert_array_equal(
        SieveSelector(5).fit(X, signs).selection_order_, SieveSelector(5).fit(X, CODES == 0).selection_order_
    )


def test_classes_with_one_sample_are_accepted() -> None:
    y = CODES.copy()
    y[0] = 9
    assert hits(SieveSelector(5).fit(X, y)) == 5


def test_a_few_labels_find_what_all_of_them_do() -> None:
    few = np.where(np.arange(60) < 9, CODES, -1)
    selector = SieveSelector(6).fit(X, few)
    assert hits(selector) == 6
    assert selector.embedding_.shape[0] == 60
    names = np.where(few < 0, None, np.array(["a", "b", "c"], dtype=object)[few])
    np.testing.assert_array_equal(SieveSelector(6).fit(X, names).selection_order_, selector.selection_order_)


def test_several_targets_at_once() -> None:
    targets = np.column_stack([X[:, 1] + 0.1 * rng.standard_normal(60), X[:, 50] + 0.1 * rng.standard_normal(60)])
    assert set(SieveSelector(2).fit(X, targets).selection_order_) == {1, 50}


def test_batches_are_not_structure() -> None:
    misled = SieveSelector(RELEVANT, random_state=0).fit(SHIFTED)
    told = SieveSelector(RELEVANT, random_state=0).fit(SHIFTED, batches=BATCHES)
    assert hits(misled) < RELEVANT
    assert hits(told) == RELEVANT


def test_side_data_is_taken_off() -> None:
    assert hits(SieveSelector(RELEVANT).fit(LIT)) == 0
    told = SieveSelector(RELEVANT).fit(LIT, side=SIDE)
    assert hits(told) == RELEVANT
    assert told.n_directions_ == 2
    assert SieveSelector(RELEVANT, n_directions=1).fit(LIT, side=SIDE).n_directions_ == 1


def test_linked_pairs_take_off_what_they_differ_in() -> None:
    pairs = [(i, i + 3) for i in range(54)]
    assert hits(SieveSelector(RELEVANT).fit(LIT, must_link=pairs)) == RELEVANT


def test_cannot_link_pairs_choose_between_two_structures() -> None:
    """Two clusterings are equally valid; pairs of samples that belong apart say which one is meant, in most draws."""
    ahead = []
    for seed in range(4):
        made = make_two_solutions(random_state=seed)
        X, (first, second) = made.X, made.y.T
        for wanted, other in ((first, second), (second, first)):
            pairs = [(i, j) for i in range(len(X)) for j in range(i) if wanted[i] != wanted[j] and other[i] == other[j]]
            chosen = np.random.default_rng(0).permutation(pairs)[:40]
            selector = SieveSelector(3, random_state=0).fit(X, cannot_link=chosen)
            Z = X[:, selector.selection_order_]
            found = KMeans(len(np.unique(wanted)), n_init=10, random_state=0).fit_predict(
                (Z - Z.mean(axis=0)) / Z.std(axis=0)
            )
            ahead.append(adjusted_rand_score(wanted, found) - adjusted_rand_score(other, found))
    assert np.sum(np.array(ahead) > 0.2) >= 7
    assert np.mean(ahead) > 0.5


KNOWN = {
    "classes": {"y": CODES},
    "few labels": {"y": np.where(np.arange(60) < 15, CODES, -1)},
    "numbers": {"y": X[:, 3] + 0.3 * X[:, 4] ** 2},
    "batches": {"batches": BATCHES},
    "side": {"side": SIDE},
    "linked": {"must_link": [(0, 3), (1, 4), (2, 5), (6, 9)]},
    "apart": {"cannot_link": [(0, 1), (3, 4), (6, 8)]},
    "all": {
        "y": CODES,
        "batches": BATCHES,
        "side": SIDE,
        "must_link": [(0, 3), (1, 4)],
        "cannot_link": [(0, 1), (3, 4)],
    },
}


@pytest.mark.parametrize("backend", [*FEW, "h5ad-csr-rows"])
@pytest.mark.parametrize("what", KNOWN)
def test_every_backend_gives_the_same(what: str, backend: str) -> None:
    sparse = np.where(np.abs(X) < 0.3, 0.0, X)
    plain = SieveSelector(6).fit(sparse, **KNOWN[what])
    stored = {**FEW, **ON_DISK}[backend](sparse)
    found = SieveSelector(6).fit(stored, **KNOWN[what])
    np.testing.assert_allclose(found.weights_, plain.weights_, atol=2e-3 if "float32" in backend else 1e-7)
    if "float32" not in backend:
        np.testing.assert_array_equal(found.selection_order_, plain.selection_order_)


@pytest.mark.parametrize("what", KNOWN)
def test_the_automatic_number_works_with_all_of_it(what: str) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        found = SieveSelector(random_state=0).fit(X, **KNOWN[what])
        again = SieveSelector(random_state=0).fit(X, **KNOWN[what])
    np.testing.assert_array_equal(found.support_, again.support_)
    assert found.p_values_ is not None
    assert np.count_nonzero(found.support_[RELEVANT:]) <= 3


def test_shuffled_labels_select_nothing() -> None:
    """At a false discovery rate of 0.05 any selection at all is false: it may come in a draw out of twenty."""
    drawn = np.random.default_rng(11)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        any_selected = [
            SieveSelector(fdr=0.05, random_state=i).fit(X, drawn.permutation(CODES)).support_.any() for i in range(20)
        ]
    assert np.count_nonzero(any_selected) <= 4  # binomial(20, 0.05): more has probability 0.003


def test_a_batch_that_is_the_class_is_refused_and_a_near_one_is_named() -> None:
    with pytest.raises(ValueError, match="coincides with y"):
        SieveSelector(3).fit(X, CODES == 0, batches=CODES == 0)
    with pytest.warns(UserWarning, match="confounded"):
        SieveSelector(3).fit(X, CODES, batches=CODES == 0)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        SieveSelector(3).fit(X, CODES, batches=BATCHES)


def test_a_pipeline_passes_labels_on() -> None:
    model = make_pipeline(SieveSelector(5), LogisticRegression())
    assert cross_val_score(model, X, CODES, cv=3).mean() > 0.9
    search = GridSearchCV(model, {"sieveselector__supervision": ["auto", "ignore"]}, cv=3).fit(X, CODES)
    assert set(search.cv_results_["param_sieveselector__supervision"]) == {"auto", "ignore"}
    frame = pd.DataFrame(X, columns=[f"g{i}" for i in range(90)])
    chosen = SieveSelector(4).set_output(transform="pandas").fit_transform(frame, CODES)
    assert set(chosen.columns) <= {f"g{i}" for i in range(RELEVANT)}


def test_batches_are_routed_and_sliced_by_cross_validation() -> None:
    with sklearn.config_context(enable_metadata_routing=True):
        selector = SieveSelector(5).set_fit_request(batches=True)
        scores = cross_val_score(
            make_pipeline(selector, LogisticRegression()), SHIFTED, CODES, cv=3, params={"batches": BATCHES}
        )
    assert scores.mean() > 0.9


@pytest.mark.parametrize(
    ("known", "message"),
    [
        ({"batches": BATCHES[:5]}, r"'batches' .* must hold one value per sample \(60\). Got shape \(5,\)"),
        ({"batches": np.where(np.arange(60) < 3, None, BATCHES)}, "must name the batch of every sample"),
        ({"side": SIDE[:, :5]}, "same columns as X"),
        (
            {"side": np.where(SIDE > 1, np.nan, SIDE)},
            "does not accept missing values or infinity in side",
        ),
        ({"must_link": [(0, 99)]}, "indices from 0 to 59"),
        ({"must_link": [(0, 1)], "cannot_link": [(0, 1)]}, "contradict each other"),
        ({"y": np.zeros(60)}, "at least 2 classes"),
        ({"y": CODES[:7]}, "inconsistent numbers of samples"),
        ({"y": [f"sample {i}" for i in range(60)]}, "60 samples of 60 classes"),
        ({"y": np.arange(60) % 3, "must_link": [(0, 1)]}, "contradicts y: samples 0 and 1 have different labels"),
        ({"y": np.arange(60) % 3, "cannot_link": [(0, 3)]}, "contradicts y: samples 0 and 3 have the same label"),
        ({"batches": np.arange(60)}, "batches of several samples each"),
    ],
)
def test_bad_knowledge_is_named(known: dict[str, object], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        SieveSelector(3).fit(X, **known)
