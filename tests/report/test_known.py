"""What the page says about labels, batches, side data and pairs that led to the selection."""

import json

import numpy as np
import pytest

from eigensieve import QAlphaSelector, SieveSelector
from eigensieve.report import Report, render, summarize
from reference import sieve as naive

N_SAMPLES = 60
KIND = np.arange(N_SAMPLES) % 3
BATCH = np.arange(N_SAMPLES) // 3 % 2
NAMES = np.array(["a", "b", "c"])[KIND]


@pytest.fixture(scope="module")
def X():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((N_SAMPLES, 40))
    X[:, :6] += rng.normal(0, 3, (3, 6))[KIND]
    X[:, 20:30] += 4 * BATCH[:, None]
    return X


def cards(summary):
    return {card["label"]: card for card in summary["trust"]}


def test_labels_are_told_and_take_the_place_of_clusters(X):
    model = SieveSelector(6).fit(X, NAMES)
    summary = summarize(model, X, labels=NAMES, known={"y": NAMES, "y_name": "kind"})
    assert json.loads(json.dumps(summary, allow_nan=False)) == summary
    assert summary["used"]["sentences"] == ["used the labels of column 'kind': 3 classes"]
    assert summary["source"]["labels_used"] and summary["counts"]["directions"] == 0
    card = cards(summary)["What the selection used"]
    assert card["value"] == "labels" and "has not seen" in card["text"]
    assert "Do the groups match the labels?" not in cards(summary)  # the labels would be compared with themselves
    samples = summary["samples"]
    assert samples["grouped_by"] == "label" and samples["cluster"] == KIND.tolist()
    assert "principal components" in samples["axes"]
    text = summary["method"]["text"]
    assert "follows the classes" in text and "The selection used the labels of column 'kind': 3 classes." in text
    assert "nearest-neighbour graph" not in text and "were embedded" not in text
    assert any("Wolf" in entry for entry in summary["method"]["citations"])
    page = render(summary)
    assert "without labels" not in page and "not used for the selection" not in page
    assert "Used the labels of column &#x27;kind&#x27;: 3 classes" in page


def test_a_model_tells_by_itself_that_it_used_labels(X):
    model = SieveSelector(6).fit(X, NAMES)
    assert Report(model, X, labels=NAMES).summary["used"]["labels"]["classes"] == 3
    unseen = summarize(model, X)
    assert unseen["source"]["labels_used"] and unseen["used"]["labels"] is None
    assert "follows the labels" in unseen["method"]["text"] and "steered" in unseen["method"]["text"]


def test_labels_that_were_ignored_are_only_shown(X):
    model = SieveSelector(6, supervision="ignore").fit(X, NAMES, batches=BATCH)
    summary = summarize(model, X, labels=NAMES, known={"y": NAMES, "batches": BATCH}, source={"labels": "kind"})
    assert summary["used"]["labels"] is None and not summary["source"]["labels_used"]
    assert summary["used"]["sentences"] == ["removed the differences between 2 batches"]
    assert cards(summary)["What the selection used"]["state"] == "none" and "Do the groups match the labels?" in cards(
        summary
    )
    assert summary["samples"]["grouped_by"] == "cluster" and "nearest-neighbour graph" in summary["method"]["text"]
    assert "Labels: kind (not used for the selection)" in render(summary)


def test_a_few_labels_and_numbers(X):
    few = np.where(np.arange(N_SAMPLES) < 12, KIND, -1)
    summary = summarize(SieveSelector(6).fit(X, few), X, known={"y": few})
    assert summary["used"]["sentences"] == ["used the labels: 3 classes, known for 12 of 60 samples"]
    assert "guessed by kernel ridge regression" in summary["method"]["text"]
    dose = X[:, 0] + 0.5
    summary = summarize(SieveSelector(2).fit(X, dose), X, labels=dose, known={"y": dose, "y_name": "dose"})
    assert summary["used"]["sentences"] == ["used the numbers of column 'dose' as target"]
    assert "follows the target" in summary["method"]["text"] and "squares" in summary["method"]["text"]
    assert summary["samples"]["label"] is None and summary["samples"]["n_clusters"] == 1


def test_samples_without_label_are_called_so(X):
    words = np.where(np.arange(N_SAMPLES) < 30, NAMES, "")
    summary = summarize(QAlphaSelector(6, n_clusters=3).fit(X), X, labels=words)
    assert summary["samples"]["label_names"] == ["a", "b", "c", "no label"]


def test_side_data_and_pairs(X):
    rng = np.random.default_rng(1)
    side = rng.standard_normal((25, 40))
    side[:, 20:30] += 4 * rng.standard_normal((25, 1))
    must, cannot = [[0, 3], [6, 9]], [[0, 1]]
    known = {"side": side, "must_link": must, "cannot_link": cannot}
    model = SieveSelector(6, n_directions=1).fit(X, **known)
    summary = summarize(model, X, known=known)
    assert summary["used"]["sentences"] == [
        "projected out 2 directions in which 25 side samples vary and 2 must-link pairs differ",
        "used 1 cannot-link pair",
    ]
    assert cards(summary)["What the selection used"]["value"] == "side data, must-link pairs, cannot-link pairs"
    assert any("Side Data" in entry for entry in summary["method"]["citations"])


def test_the_papers_selector_tells_its_own_use(X):
    known = {"y": NAMES, "side": X[:10], "cannot_link": [[0, 1], [3, 4]]}
    model = QAlphaSelector(6).fit(X, NAMES, side=X[:10], cannot_link=[[0, 1], [3, 4]])
    assert summarize(model, X, known=known)["used"]["sentences"] == [
        "used the labels: 3 classes",
        "lowered the weight of features that vary in 10 side samples",
        "used 2 cannot-link pairs",
    ]


def test_a_selection_that_knew_nothing_has_no_card(X):
    summary = summarize(SieveSelector(6).fit(X), X)
    assert summary["used"]["sentences"] == [] and "What the selection used" not in cards(summary)


@pytest.mark.parametrize("labelled", [False, True])
def test_constraints_are_compared_with_the_free_panel(X, labelled):
    y = NAMES if labelled else None
    groups = np.where(np.arange(40) < 6, 0, np.arange(40))
    model = SieveSelector(4, keep=[35], feature_groups=groups, feature_costs=np.ones(40), max_cost=4).fit(X, y)
    card = cards(summarize(model, X, labels=NAMES))["What do the constraints cost?"]
    free = SieveSelector(4).fit(X, y)
    Z = X - X.mean(axis=0)
    Z /= np.linalg.norm(Z, axis=0)
    R2 = [naive.share_shown(Z[:, panel], model.embedding_) for panel in (model.selection_order_, free.selection_order_)]
    assert card["value"] == f"R² {R2[0]:.2f}, not {R2[1]:.2f}" and R2[0] < R2[1]
    assert "1 feature kept, at most 1 per group, a cost of 4 of 4" in card["text"]
    others = len(set(free.selection_order_) - set(model.selection_order_))
    assert f"; {others} of them " in card["text"]
    assert ("show the labels" in card["text"]) == labelled


def test_scores_below_zero_are_told_where_one_is_selected(X):
    """Scores of unrelated features scatter around zero: many are negative, and only selected ones matter."""
    model = SieveSelector(6).fit(X, NAMES)
    assert np.mean(model.weights_ < 0) > 0.2
    assert "Below zero" not in cards(summarize(model, X, known={"y": NAMES}, draw_map=False))
    all_of_them = SieveSelector(40).fit(X, NAMES)
    card = cards(summarize(all_of_them, X, known={"y": NAMES}, draw_map=False))["Below zero"]
    assert card["state"] == "warn" and card["value"] == f"{np.sum(all_of_them.weights_ < 0)} features"


def test_negative_weights_of_the_papers_method_are_judged(X):
    model = QAlphaSelector(6).fit(X)
    for share, state in ((0.0, "good"), (0.1, "note"), (0.5, "warn")):
        model.negative_weight_fraction_ = share
        card = cards(summarize(model, X, draw_map=False))["Does the method suit the data?"]
        assert card["state"] == state and card["value"] == f"{100 * share:g} % negative"
