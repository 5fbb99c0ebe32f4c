"""score_panel: panels from any source, beside the best and beside random ones."""

import numpy as np
import pandas as pd
import pytest

from eigensieve import SieveSelector, score_panel
from eigensieve.sieve import samples
from eigensieve.sieve.settings import SETTINGS
from reference import sieve as naive
from support.backends import BACKENDS, FEW, tolerance

RELEVANT, FEATURES, SAMPLES = 12, 120, 90
CODES = np.arange(SAMPLES) % 3
PANEL = [0, 1, 2, 3, 100, 101]


@pytest.fixture(scope="module")
def X() -> np.ndarray:
    rng = np.random.default_rng(0)
    X = rng.standard_normal((SAMPLES, FEATURES))
    X[np.abs(X) < 0.2] = 0.0
    X[:, :RELEVANT] += rng.normal(0, 2.0, (3, RELEVANT))[CODES]
    return X


@pytest.fixture(scope="module")
def targets(X: np.ndarray) -> dict[str, np.ndarray | None]:
    rng = np.random.default_rng(1)
    risk = X[:, :4].sum(axis=1) / 2
    survival = list(zip(rng.random(SAMPLES) < 0.8, rng.exponential(np.exp(-risk)), strict=True))
    return {
        "structure": None,
        "classes": np.array(["a", "b", "c"])[CODES],
        "numbers": risk + 0.3 * rng.standard_normal(SAMPLES),
        "several": np.column_stack([CODES, risk]),
        "survival": np.array(survival, dtype=[("event", bool), ("time", float)]),
    }


KINDS = ("structure", "classes", "numbers", "several", "survival")


def test_the_score_is_the_naive_share_of_the_structure(X):
    model = SieveSelector(6).fit(X)
    Z = naive.standardise(X).T
    score = score_panel(X, PANEL, n_random=9)
    assert score.measure == "structure"
    assert score.score == pytest.approx(naive.share_shown(Z[:, PANEL], model.embedding_), abs=1e-6)
    assert set(score.best_features) == set(model.selection_order_)
    picked = naive.share_shown(Z[:, model.selection_order_], model.embedding_)
    assert score.best_score == pytest.approx(picked, abs=1e-6)
    more = SieveSelector(9, keep=PANEL).fit(X).selection_order_
    assert score.next_features.tolist() == more[6:].tolist()
    assert score.next_score == pytest.approx(naive.share_shown(Z[:, more], model.embedding_), abs=1e-6)


@pytest.mark.parametrize("kind", KINDS)
def test_true_panels_show_more_than_random_ones_and_noise_adds_nothing(X, targets, kind):
    score = score_panel(X, PANEL, targets[kind])
    assert score.measure == kind
    assert score.p_value <= 0.05
    more = score_panel(X, [*PANEL, 102, 103, 104, 105], targets[kind], n_random=9)
    assert len(set(range(100, 106)) & set(more.adds_nothing)) >= 5
    assert len(score.next_features) == 3 and not set(score.next_features) & set(PANEL)
    assert score.best_score > np.quantile(score.random_scores, 0.9)
    noise = score_panel(X, range(100, 106), targets[kind])
    assert noise.p_value > 0.05 and noise.score < score.score
    assert noise.best_score == score.best_score


def test_the_p_value_of_random_panels_is_uniform(X, targets):
    rng = np.random.default_rng(2)
    for kind in ("structure", "numbers"):
        panels = {str(i): rng.choice(FEATURES, 5, replace=False) for i in range(150)}
        found = score_panel(X, panels, targets[kind], n_random=99)
        p_values = np.array([score.p_value for score in found.scores.values()])
        for level in (0.1, 0.3, 0.5, 0.8):
            slack = 3 * np.sqrt(level * (1 - level) / 150) + 0.02  # three standard deviations of a binomial
            assert np.mean(p_values <= level) < level + slack
            if kind == "structure":  # many panels show exactly nothing of y: ties make p-values larger
                assert np.mean(p_values <= level) > level - slack


def test_with_y_the_best_panel_is_picked_without_the_samples_held_out():
    rng = np.random.default_rng(3)
    X, y = rng.standard_normal((40, 2000)), np.arange(40) % 2
    score = score_panel(X, range(10), y, n_random=9)
    chosen = score_panel(X, score.best_features, y, n_random=9)
    assert chosen.score > 0.5  # it was chosen on these samples
    assert score.best_score < 0.2 and score.next_score < 0.2


@pytest.mark.parametrize("kind", KINDS)
def test_the_order_of_samples_and_features_does_not_matter(X, targets, kind):
    rng = np.random.default_rng(4)
    rows, columns = rng.permutation(SAMPLES), rng.permutation(FEATURES)
    y, groups = targets[kind], rng.integers(0, 30, SAMPLES)
    first = score_panel(X, PANEL, y, groups=groups, n_random=19)
    places = np.argsort(columns)[PANEL]
    again = score_panel(X[rows][:, columns], places, None if y is None else y[rows], groups=groups[rows], n_random=19)
    for name in ("score", "standard_error", "best_score", "p_value", "next_score", "random_scores"):
        assert getattr(again, name) == pytest.approx(getattr(first, name), abs=1e-8), name
    for name in ("best_features", "adds_nothing", "next_features"):
        assert columns[getattr(again, name)].tolist() == getattr(first, name).tolist(), name


@pytest.mark.parametrize("backend", BACKENDS)
def test_every_backend_gives_the_same_score(X, targets, backend):
    y = targets["classes"] if backend in FEW else None
    expected = score_panel(X, PANEL, y, n_random=9)
    found = score_panel(BACKENDS[backend](X), PANEL, y, n_random=9)
    atol = tolerance(backend, single=0.02)  # of two that are equally near, another one may be taken
    assert found.score == pytest.approx(expected.score, abs=atol)
    assert found.best_score == pytest.approx(expected.best_score, abs=atol)


def test_landmarks_stand_for_many_samples(X, targets, monkeypatch):
    from dataclasses import replace

    monkeypatch.setattr(samples, "SETTINGS", replace(SETTINGS, landmarks=60))
    for kind in KINDS:
        score = score_panel(X, PANEL, targets[kind], n_random=19)
        assert np.median(score.random_scores) + 0.1 < score.score <= score.best_score + 0.1


def test_of_many_samples_some_tell_each_other(X, targets, monkeypatch):
    from eigensieve.estimators import panel_worth

    donors = np.arange(SAMPLES) // 3
    whole = {kind: score_panel(X, PANEL, targets[kind], groups=donors, n_random=9) for kind in KINDS}
    monkeypatch.setattr(panel_worth, "_MOST", 60)
    for kind in KINDS:
        score = score_panel(X, PANEL, targets[kind], groups=donors, n_random=9)
        assert score.score == pytest.approx(whole[kind].score, abs=0.3) and score.score != whole[kind].score
        assert score.best_score == pytest.approx(whole[kind].best_score, abs=0.3)


def test_names_masks_and_indices_are_one_panel(X):
    frame = pd.DataFrame(X, columns=[f"g{i}" for i in range(FEATURES)])
    names = [f"g{i}" for i in PANEL]
    found = score_panel(
        frame, {"names": names, "mask": np.isin(np.arange(FEATURES), PANEL), "indices": PANEL}, n_random=9
    )
    assert len({score.score for score in found.scores.values()}) == 1
    assert found.best == ["names", "mask", "indices"]
    assert all(score.features.tolist() == names for score in found.scores.values())


@pytest.mark.parametrize(
    ("panel", "message"),
    [
        (["g1", "gene"], "The 'features' parameter of score_panel must name columns of X. Got 'gene'"),
        ({"vendor": ["gene"]}, r"The 'features\['vendor'\]' parameter of score_panel .* Got 'gene'"),
        ([], "must name at least 1 feature"),
        (np.zeros(FEATURES, dtype=bool), "must name at least 1 feature"),
        ([FEATURES], "must hold column numbers below 120. Got 120"),
        ({}, "must hold at least 1 panel"),
    ],
)
def test_panels_that_cannot_be_are_refused(X, panel, message):
    frame = pd.DataFrame(X, columns=[f"g{i}" for i in range(FEATURES)])
    with pytest.raises(ValueError, match=message):
        score_panel(frame, panel)


@pytest.mark.parametrize(
    ("more", "message"),
    [
        ({"n_random": 0}, "'n_random' parameter of score_panel must be an int of at least 1"),
        ({"groups": np.zeros(SAMPLES)}, "must name at least 3 groups"),
        ({"groups": [None] * SAMPLES}, "'groups' parameter .* must name the group of every sample"),
        ({"y": np.where(np.arange(SAMPLES) < 5, CODES, -1)}, "needs at least 10 samples with y. Got 5"),
        ({"y": CODES == 0, "groups": np.where(CODES == 0, 0, 1 + np.arange(SAMPLES) % 2)}, "y must vary on the others"),
    ],
)
def test_what_cannot_be_measured_is_refused(X, more, message):
    with pytest.raises(ValueError, match=message):
        score_panel(X, PANEL, **more)


def test_the_whole_table_is_no_better_than_itself(X, targets):
    for kind in KINDS:
        score = score_panel(X, range(FEATURES), targets[kind], n_random=9)
        assert score.p_value == 1.0
        assert score.best_score == pytest.approx(score.score) and score.random_scores == pytest.approx(score.score)
        assert len(score.next_features) == 0 and score.next_score == pytest.approx(score.score)


def test_one_feature_and_a_constant_one(X):
    wide = np.hstack([X, np.zeros((SAMPLES, 1))])
    one = score_panel(wide, [1], CODES)
    assert one.p_value < 0.2 and one.adds_nothing.tolist() == []
    both = score_panel(wide, [1, FEATURES], CODES, n_random=9)
    assert both.score == one.score and both.adds_nothing.tolist() == [FEATURES]
    assert score_panel(wide, [FEATURES], CODES, n_random=9).p_value == 1.0


def test_differences_between_batches_do_not_count(X):
    batches = np.arange(SAMPLES) // 3 % 2
    shifted = X + np.outer(batches, np.where(np.arange(FEATURES) >= 60, 6.0, 0.0))
    for y in (None, CODES):
        true = score_panel(shifted, PANEL[:4], y, batches=batches, n_random=99)
        other = score_panel(shifted, range(60, 66), y, batches=batches, n_random=99)
        assert true.p_value <= 0.05 < other.p_value


def test_samples_of_one_group_do_not_tell_each_other():
    """Ten near copies per donor: without groups noise tells y, because it tells the donor."""
    rng = np.random.default_rng(5)
    donors = np.repeat(np.arange(20), 10)
    X = rng.standard_normal((20, 60))[donors] + 0.05 * rng.standard_normal((200, 60))
    y = rng.standard_normal(20)[donors]
    assert score_panel(X, range(5), y, n_random=9).score > 0.9
    score = score_panel(X, range(5), y, groups=donors, n_random=9)
    assert score.score < 0.2 and score.best_score < 0.5
    alone = score_panel(X, range(5), y, groups=np.arange(200), n_random=9)
    assert alone.score == score_panel(X, range(5), y, n_random=9).score


def test_samples_without_y_do_not_count(X):
    y = CODES.astype(float)
    y[60:] = np.nan
    score = score_panel(X, PANEL, y, n_random=19, supervision="classes")
    assert score.p_value == 0.05 and score.measure == "classes"
    assert score_panel(X, PANEL, CODES, supervision="ignore", n_random=9).measure == "structure"
    assert score_panel(X, PANEL, CODES, supervision="numbers", n_random=9).measure == "numbers"


def test_panels_are_compared_on_the_same_samples(X):
    found = score_panel(X, {"good": range(RELEVANT), "mixed": PANEL, "noise": range(60, 70)})
    assert found.best == ["good"] and found.behind["good"] == (0.0, 0.0)
    assert found.behind["noise"][0] == pytest.approx(found.scores["good"].score - found.scores["noise"].score)
    alone = score_panel(X, PANEL)
    assert repr(alone) == repr(found.scores["mixed"])
    frame = found.to_frame()
    assert frame.index.tolist() == ["good", "mixed", "noise"] and frame["n_features"].tolist() == [12, 6, 10]
    assert alone.to_frame()["score"].tolist() == [alone.score]
    assert "100, 101" in frame.loc["mixed", "adds_nothing"] or "101, 100" in frame.loc["mixed", "adds_nothing"]
    assert repr(found).startswith("PanelComparison(best: good)") and "structure, 6 features; best" in repr(alone)


def test_times_in_a_frame_are_those_of_the_structured_array(X, targets):
    y = targets["survival"]
    frame = pd.DataFrame({"time": y["time"], "event": y["event"].astype(int)})
    assert repr(score_panel(X, PANEL, frame, n_random=9)) == repr(score_panel(X, PANEL, y, n_random=9))


def test_random_panels_follow_the_seed(X):
    first, again, other = (score_panel(X, PANEL, n_random=9, random_state=seed) for seed in (1, 1, 2))
    assert (first.random_scores == again.random_scores).all() and (first.random_scores != other.random_scores).any()
    rng = np.random.default_rng(1)
    assert len(score_panel(X, PANEL, n_random=9, random_state=rng).random_scores) == 9


def test_progress_names_the_panel(X, capsys):
    score_panel(X, {"vendor": PANEL}, CODES, n_random=3, verbose=2)
    err = capsys.readouterr().err
    assert "[score_panel]" in err and "vendor: random panel 3 of 3" in err and "without part 5" in err


def test_missing_values_are_no_evidence(X, targets):
    gaps = np.where(np.random.default_rng(6).random(X.shape) < 0.1, np.nan, X)
    for kind in KINDS:
        score = score_panel(gaps, PANEL, targets[kind], n_random=19)
        assert np.median(score.random_scores) + 0.05 < score.score
    complete = score_panel(np.where(np.arange(FEATURES) == 119, np.nan, X), PANEL, n_random=9)
    assert complete.score == pytest.approx(score_panel(X, PANEL, n_random=9).score, abs=0.1)
