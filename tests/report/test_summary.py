"""The plain dict: its numbers are those of the data, and it is small and JSON whatever the size."""

import base64
import json

import numpy as np
import pandas as pd
import polars as pl
import pytest
from scipy import sparse

from eigensieve import QAlphaSelector, SieveSelector, TraceRatioSelector
from eigensieve.evidence import Stability
from eigensieve.report import Limits, render, summarize


def unpack(text, shape):
    return np.frombuffer(base64.b64decode(text), dtype=np.uint8).reshape(shape)


def test_the_summary_is_plain_json(summary):
    assert json.loads(json.dumps(summary, allow_nan=False)) == summary


def test_features_come_selected_first_with_their_weights(summary, selection):
    features, model = summary["features"], selection["model"]
    assert features["selected"][:12] == [1] * 12 and sum(features["selected"]) == 12
    expected = [selection["names"][i] for i in model.selection_order_[:12]]
    assert features["names"][:12] == expected
    np.testing.assert_allclose(features["weight"][:12], model.weights_[model.selection_order_[:12]], rtol=1e-4)
    assert features["rank"][:12] == list(range(1, 13))
    assert features["rest"]["count"] == 0


def test_redundancy_is_the_correlation_of_the_chosen(summary, selection):
    redundancy = summary["redundancy"]
    columns = [selection["names"].index(summary["features"]["names"][i]) for i in redundancy["features"]]
    R = np.corrcoef(selection["X"][:, columns], rowvar=False)
    shown = unpack(redundancy["r"], R.shape) / 127.5 - 1
    np.testing.assert_allclose(shown, R, atol=0.005)
    assert redundancy["effective"] == pytest.approx(144 / (R**2).sum())
    assert redundancy["n_copies"] == int(np.sum(np.triu(np.abs(R) >= 0.9, 1)))


def test_effective_number_is_one_for_copies_and_m_for_orthogonal():
    rng = np.random.default_rng(1)
    Q = np.linalg.qr(rng.standard_normal((40, 41)))[0]
    Q = np.linalg.qr(Q - Q.mean(axis=0))[0][:, :5]
    for X, effective in ((np.repeat(Q[:, :1], 4, axis=1), 1.0), (Q, 5.0)):
        model = QAlphaSelector(X.shape[1], n_clusters=2).fit(X)
        assert summarize(model, X)["redundancy"]["effective"] == pytest.approx(effective, rel=1e-6)


def test_heat_map_holds_standardised_values_in_cluster_order(summary, selection):
    heat, names = summary["heat"], summary["features"]["names"]
    assert heat["clusters"] == sorted(heat["clusters"])
    columns = [selection["names"].index(names[i]) for i in heat["features"]]
    rows = [summary["samples"]["index"][i] for i in heat["samples"]]
    X = selection["X"]
    Z = (X - X.mean(axis=0)) / X.std(axis=0, ddof=1)
    expected = np.clip(Z[np.ix_(rows, columns)], -2.5, 2.5)
    shown = (unpack(heat["values"], expected.shape) / 127.5 - 1) * 2.5
    np.testing.assert_allclose(shown, expected, atol=0.012)


def test_clusters_of_well_separated_samples_are_the_labels(summary):
    samples = summary["samples"]
    clusters = np.array(samples["cluster"])
    assert len(set(clusters[:30])) == 1 and len(set(clusters[30:])) == 1 and clusters[0] != clusters[-1]
    card = next(card for card in summary["trust"] if card["label"] == "Do the groups match the labels?")
    assert card["value"] == "1.00"


def test_curve_is_the_sorted_weights_with_the_cut(summary, selection):
    curve = summary["curve"]
    ordered = np.sort(selection["model"].weights_)[::-1]
    np.testing.assert_allclose(curve["weight"], ordered[np.array(curve["rank"]) - 1], rtol=1e-4, atol=1e-9)
    assert curve["cut"] == 12 and curve["total"] == 300


def test_sparse_input_gives_the_same_summary(selection):
    X = np.abs(selection["X"]) * (np.abs(selection["X"]) > 1)
    model = QAlphaSelector(10, n_clusters=2).fit(X)
    dense, thin = summarize(model, X), summarize(model, sparse.csr_array(X))
    dense.pop("created"), thin.pop("created")
    assert dense["heat"] == thin["heat"] and dense["redundancy"] == thin["redundancy"]


def test_trust_names_what_was_not_measured(summary):
    states = {card["label"]: card["state"] for card in summary["trust"]}
    assert "Search" not in states  # it converged: nothing to act on
    assert states["Selected again?"] == "none" and states["Better than chance?"] == "none"
    assert states["Do they repeat each other?"] in {"good", "note"}


def test_stability_is_shown_when_given(selection):
    frequency = np.zeros(300)
    frequency[:12] = 0.9
    summary = summarize(selection["model"], selection["X"], stability=frequency)
    card = next(card for card in summary["trust"] if card["label"] == "Selected again?")
    assert card["value"] == "90 %" and card["state"] == "good"
    assert summary["features"]["stability"][:12] == [0.9] * 12


def test_the_result_of_selection_stability_is_taken_as_it_is(selection):
    found = Stability(np.arange(3 * 300).reshape(3, 300) % 5 < 2)
    plain = summarize(selection["model"], selection["X"], stability=found.frequencies, draw_map=False)
    assert summarize(selection["model"], selection["X"], stability=found, draw_map=False)["trust"] == plain["trust"]


@pytest.mark.parametrize("kind", [pd.DataFrame, pl.from_numpy, np.ndarray.tolist, sparse.coo_array])
def test_data_of_any_kind_that_fit_takes_gives_the_same_summary(selection, kind):
    def comparable(X):
        model = QAlphaSelector(12, n_clusters=2).fit(X)
        found = summarize(model, X, feature_names=selection["names"], draw_map=False)
        return {name: found[name] for name in ("counts", "features", "redundancy", "heat")}

    found, expected = comparable(kind(selection["X"])), comparable(selection["X"])
    assert found["counts"] == expected["counts"] and found["heat"]["values"] == expected["heat"]["values"]
    assert found["features"]["names"] == expected["features"]["names"]


@pytest.mark.parametrize(
    ("change", "details", "message"),
    [
        (lambda X: np.c_[X, X], {}, "X has 600 features, but QAlphaSelector is expecting 300"),
        (lambda X: X[:, :50], {}, "X has 50 features"),
        (lambda X: X[:30], {}, r"fitted on, with 60 samples\. Got 30 samples"),
        (lambda X: X, {"labels": ["a"] * 59}, r"labels must hold one entry per sample, shape \(60,\)"),
        (lambda X: X, {"sample_ids": ["a"] * 61}, r"sample_ids must hold one entry per sample.*\(61,\)"),
        (lambda X: X, {"stability": np.ones(12)}, r"stability must hold one entry per column of X, shape \(300,\)"),
        (lambda X: X, {"stability": Stability(np.ones((4, 50)))}, "stability must hold"),
    ],
)
def test_what_does_not_fit_the_model_is_refused_by_name(selection, change, details, message):
    with pytest.raises(ValueError, match=message):
        summarize(selection["model"], change(selection["X"]), **details)


def test_the_samples_of_a_graph_are_those_of_the_report(selection):
    model = TraceRatioSelector(5, score="laplacian").fit(selection["X"])
    with pytest.raises(ValueError, match="with 60 samples"):
        summarize(model, selection["X"][:30])


def test_ids_and_labels_of_a_frame_are_taken_by_place(selection):
    where = np.arange(60)[::-1]
    details = {"sample_ids": pd.Series([f"s{i}" for i in range(60)], index=where)}
    details["labels"] = pd.Series(selection["labels"], index=where)
    shown = summarize(selection["model"], selection["X"], draw_map=False, **details)["samples"]
    assert shown["id"] == [f"s{i}" for i in range(60)]
    assert shown["label"] == [1] * 30 + [0] * 30


def test_what_exceeds_the_limits_is_summarised(selection):
    limits = Limits(features=50, heat_features=5, heat_samples=20, samples=30, redundancy_features=4, map_features=9)
    summary = summarize(selection["model"], selection["X"], limits=limits)
    rest = summary["features"]["rest"]
    weights = np.sort(selection["model"].weights_)[::-1][50:]
    assert rest["count"] == 250 and rest["selected"] == 0
    assert rest["largest"] == pytest.approx(weights.max()) and rest["mean"] == pytest.approx(weights.mean())
    assert len(summary["heat"]["features"]) == 5 and summary["heat"]["of_features"] == 12
    assert len(summary["samples"]["x"]) == 30 and summary["samples"]["total"] == 60
    assert all(i < 50 for i in summary["curve"]["feature"])


def test_fifty_thousand_features_stay_under_five_megabytes():
    rng = np.random.default_rng(2)
    X = rng.standard_normal((40, 50_000)).astype(np.float32)
    X[:20, :40] += 3
    names = [f"a_rather_long_feature_name_{i:06d}_on_chromosome_{i % 23}" for i in range(50_000)]
    model = QAlphaSelector(40, n_clusters=2).fit(X)
    summary = summarize(model, X, feature_names=names)
    page = render(summary)
    assert len(page.encode()) < 5_000_000
    assert summary["features"]["rest"]["count"] + len(summary["features"]["names"]) == 50_000


def test_names_of_another_length_are_refused(selection):
    with pytest.raises(ValueError, match=r"one name per column of X \(300\)"):
        summarize(selection["model"], selection["X"], feature_names=["a"])


def test_an_empty_selection_is_reported_as_such():
    X = np.random.default_rng(3).standard_normal((20, 30))
    model = QAlphaSelector(3).fit(X)
    model.support_ = np.zeros(30, dtype=bool)
    summary = summarize(model, X)
    assert summary["counts"]["selected"] == 0 and summary["curve"]["cut"] is None
    assert "0 of 30 features selected" in render(summary)


def test_the_map_is_that_of_the_best_features(summary, selection):
    from eigensieve import FeatureMap

    fitted = FeatureMap().fit(selection["X"][:, np.argsort(selection["model"].ranking_)])
    drawn = summary["map"]
    assert drawn["feature"] == list(range(300))
    np.testing.assert_allclose(drawn["rx"], np.abs(fitted.weights_[:, 0]), atol=2e-3)


def test_calibrated_selectors_show_null_quantiles():
    from eigensieve import SieveSelector

    rng = np.random.default_rng(0)
    X = rng.standard_normal((90, 100))
    X[:, :12] += rng.normal(0, 3, (3, 12))[np.arange(90) % 3]
    model = SieveSelector(random_state=0).fit(X)
    summary = summarize(model, X)
    card = next(card for card in summary["trust"] if card["label"] == "Better than chance?")
    assert card["state"] in {"good", "note"}
    chosen = np.flatnonzero(summary["features"]["selected"])
    np.testing.assert_allclose(
        [summary["features"]["null"][i] for i in chosen],
        1 - model.p_values_[model.selection_order_[: len(chosen)]],
        rtol=1e-3,
    )
    assert summary["curve"]["null"] == pytest.approx(model.null_quantile_)


def test_scores_without_an_embedding_and_with_infinities(selection):
    from eigensieve import TraceRatioSelector

    X = selection["X"][:, :20].copy()
    y = np.repeat([0, 1], 30)
    X[:, 3] = y  # no scatter within the classes: its score is infinite
    summary = summarize(TraceRatioSelector(4).fit(X, y), X, labels=y)
    assert summary["source"]["weight_name"] == "score"
    features = summary["features"]
    assert features["names"][0] == "feature 3" and features["weight"][0] == max(features["weight"])
    assert "principal components" in summary["samples"]["axes"] and summary["samples"]["n_clusters"] == 1
    assert "the trace ratio criterion" in summary["method"]["text"]
    render(summary)


def test_null_quantiles_are_rounded_down(selection):
    """0.99998 is not 100 %: a card or a cell that says so is wrong."""
    model = QAlphaSelector(random_state=0).fit(selection["X"])
    model.p_values_ = np.full(300, 2e-5)
    shown = summarize(model, selection["X"], draw_map=False)
    assert set(shown["features"]["null"]) == {0.9999}
    card = next(card for card in shown["trust"] if card["label"] == "Better than chance?")
    assert card["value"] == "≥ 99.99 %"


def test_directions_are_not_announced_as_clusters(selection):
    shown = summarize(selection["model"], selection["X"], draw_map=False)
    assert shown["counts"]["directions"] == 2
    page = render(shown)
    assert "2 directions of the samples" in page and "2 clusters" not in page
    assert "embedded in 2 directions" in shown["method"]["text"]


def test_how_few_would_do_is_drawn_from_the_model(selection):
    assert summarize(selection["model"], selection["X"], draw_map=False)["panel"] is None
    model = SieveSelector("fewest", random_state=0).fit(selection["X"])
    summary = summarize(model, selection["X"], draw_map=False)
    np.testing.assert_array_equal(summary["panel"]["size"], model.structure_shown_[:, 0])
    np.testing.assert_allclose(summary["panel"]["shown"], model.structure_shown_[:, 1], rtol=1e-3)
    assert summary["panel"]["taken"] == model.support_.sum() == summary["counts"]["selected"]
    card = next(card for card in summary["trust"] if card["label"] == "How few would do")
    assert card["value"] == f"{model.support_.sum()} features"
    assert not any(card["label"] == "Is the cut clear?" for card in summary["trust"])
    assert "95 %" in summary["method"]["text"]
    assert "Features were centred" in summary["method"]["text"]


def test_the_methods_say_that_scale_counted():
    rng = np.random.default_rng(0)
    X = 5 + rng.standard_normal((30, 400))
    X[:, :100] += rng.normal(0, 3, (3, 100))[np.arange(30) % 3]
    for use, said in ((True, True), (False, False), ("auto", True)):
        model = SieveSelector(12, use_scale=use).fit(X)
        text = summarize(model, X, draw_map=False)["method"]["text"]
        assert ("99 % quantile of the variances" in text) == said == model.scale_used_
        assert ("gave more weight to features that vary more" in text) == said
        assert ("units do not matter" in text) != said


def test_the_methods_say_that_profiles_were_compared():
    rng = np.random.default_rng(0)
    rates = np.full((60, 80), 0.2)
    for k in range(3):
        rates[k::3, 10 * k : 10 * k + 10] = 2.0
    X = rng.poisson(rates).astype(float)
    for use in (True, False, "auto"):
        model = SieveSelector(12, use_profiles=use).fit(X)
        text = summarize(model, X, draw_map=False)["method"]["text"]
        compared = model.scored_by_ == "profiles"
        assert compared == (use is not False)
        assert ("whose profiles have the smallest angles" in text) == compared
        assert ("compared samples by their profiles" in text) == compared
        assert ("weighted by their scores" in text) != compared


@pytest.mark.parametrize(
    ("weights", "state", "words"),
    [
        ([9, 8, 7, 2, 1, 1, 1, 1], "good", "separates two clearly different levels"),
        ([9, 8, 7, 6, 1, 1, 1, 1], "note", "fall off gradually"),
        ([9, 9, 9, 9, 9, 1, 1, 1], "note", "but 2 that were left out weigh as much as the weakest selected one"),
        ([9, 9, 7, 8, 1, 1, 1, 1], "note", "but one that was left out weighs as much as the weakest selected one"),
        ([9, 8, 7, 7, 7, 7, 7, 7], "warn", "treat the cut as arbitrary"),
    ],
)
def test_a_clear_cut_has_a_step_at_the_cut(weights, state, words):
    X = np.random.default_rng(0).standard_normal((30, 8))
    model = QAlphaSelector(3).fit(X)
    model.weights_ = np.array(weights, dtype=float)
    model.support_ = np.arange(8) < 3
    model.sparsity_gap_ = float(model.weights_[:3].mean() / model.weights_[3:].mean())
    (card,) = [card for card in summarize(model, X, draw_map=False)["trust"] if card["label"] == "Is the cut clear?"]
    assert card["state"] == state and words in card["text"]


def test_one_is_told_in_the_singular():
    X = np.random.default_rng(0).standard_normal((30, 8))
    X[:, 7] = 1.0
    model = QAlphaSelector(1).fit(X)
    summary = summarize(model, X, draw_map=False)
    cards = {card["label"]: card["text"] for card in summary["trust"]}
    assert "1 of 8 features was" in summary["method"]["text"]
    assert cards["Do they repeat each other?"] == "One feature alone has no copies."
    assert "1 constant feature left out" in render(summary)


def test_a_search_that_did_not_settle_is_told(selection):
    with pytest.warns(UserWarning, match="max_iter"):
        model = QAlphaSelector(12, n_clusters=2, solver_options={"max_iter": 1, "tol": 1e-12}).fit(selection["X"])
    (card,) = [card for card in summarize(model, selection["X"], draw_map=False)["trust"] if card["label"] == "Search"]
    assert card["state"] == "warn" and "max_iter" in card["text"]


def test_the_tree_of_the_heat_map_is_average_linkage(selection, summary):
    from scipy.cluster.hierarchy import linkage
    from scipy.spatial.distance import squareform

    heat = summary["heat"]
    columns = [selection["names"].index(summary["features"]["names"][i]) for i in heat["features"]]
    distance = 1 - np.corrcoef(selection["X"][:, columns], rowvar=False)
    np.fill_diagonal(distance, 0)
    expected = linkage(squareform(distance, checks=False), "average")
    tree = np.array(heat["tree"])
    np.testing.assert_allclose(np.sort(tree[:, 4]), np.sort(expected[:, 2]), atol=1e-4)
    # neighbours in the picture: every merge joins a run of columns, so the two nearest stand side by side
    nearest = tree[tree[:, 4].argmin()]
    assert abs(nearest[0] - nearest[1]) == 1
    i, j = np.unravel_index(np.argmin(distance + 3 * np.eye(12)), distance.shape)
    assert {int(nearest[0]), int(nearest[1])} == {int(i), int(j)}


def test_a_number_to_predict_orders_and_colours_the_samples():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((50, 20))
    dose = X[:, 0] + 0.1 * rng.standard_normal(50)
    labels = [str(value) for value in dose]
    labels[7], known = "no label", np.where(np.arange(50) == 7, np.nan, dose)
    model = SieveSelector(3).fit(X, known)
    shown = summarize(model, X, labels=labels, known={"y": known, "y_name": "dose"}, draw_map=False)
    samples, heat = shown["samples"], shown["heat"]
    assert samples["target_name"] == "dose" and samples["grouped_by"] == "target" and samples["label"] is None
    assert samples["target"][7] is None
    np.testing.assert_allclose(np.delete(np.array(samples["target"], float), 7), np.delete(dose, 7), rtol=1e-3)
    ordered = [value for value in heat["target"] if value is not None]
    assert ordered == sorted(ordered) and heat["target"][-1] is None
    card = next(card for card in shown["trust"] if card["label"] == "What the selection used")
    assert card["value"] == "a number to predict"


def test_numbers_beside_an_unsupervised_selection_are_colours_too(selection):
    ages = np.linspace(20, 80, 60)
    shown = summarize(selection["model"], selection["X"], labels=ages, draw_map=False)
    np.testing.assert_allclose(shown["samples"]["target"], ages, rtol=1e-3)
    assert shown["samples"]["grouped_by"] == "cluster" and shown["heat"]["clusters"] == sorted(
        shown["heat"]["clusters"]
    )
