"""The worth of a panel: the measures beside naive ones, folds, standard errors, p-values."""

import numpy as np
import pytest

from eigensieve.evidence import Scorer, chance, deal_folds, outlived, random_panels, superfluous, taken
from reference import worth as naive


@pytest.fixture
def rng() -> np.random.Generator:
    return np.random.default_rng(0)


def survival(rng: np.random.Generator, risk: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Events and times, with ties among the times."""
    return rng.random(len(risk)) < 0.7, np.ceil(4 * rng.exponential(np.exp(-risk)))


@pytest.mark.parametrize("noise", [0.3, 1.0, 10.0])
@pytest.mark.parametrize("groups", [None, 12, 3])
def test_r2_is_the_naive_one(rng: np.random.Generator, noise: float, groups: int | None) -> None:
    V = rng.standard_normal((60, 3))
    V -= V.mean(axis=0)
    points = V[:, :2] + noise * rng.standard_normal((60, 2))
    donors = None if groups is None else rng.integers(0, groups, 60)
    expected = naive.r2(naive.told(points, V, np.arange(60) if donors is None else donors), V)
    assert Scorer(V, groups=donors).shown(points).sum() == pytest.approx(expected, abs=1e-10)


def test_fewer_than_five_samples_of_other_groups_tell_alone() -> None:
    V, groups = np.arange(10.0)[:, None], np.array([0] * 8 + [1] * 2)
    told = Scorer(V, groups=groups).predicted(V)
    assert told[:, 0].tolist() == [8.5] * 8 + [5.0] * 2


def test_concordance_is_the_naive_one(rng: np.random.Generator) -> None:
    points, alone = rng.standard_normal((50, 2)), np.arange(50)
    event, time = survival(rng, points[:, 0])
    residuals = rng.standard_normal((50, 1)).round()
    scorer = Scorer(residuals, outlived(event, time))
    expected = naive.concordance(naive.told(points, residuals, alone)[:, 0], event, time)
    assert scorer.shown(points).sum() == pytest.approx(expected)
    assert scorer.nothing.sum() == pytest.approx(0.5)


def test_the_standard_error_is_the_spread_over_new_samples() -> None:
    """Of R2, and of concordance, over 300 data sets: the root of the mean estimated variance."""
    for kind in ("r2", "concordance"):
        scores, errors = [], []
        for seed in range(300):
            rng = np.random.default_rng(seed)
            x = rng.standard_normal((80, 1))
            V = x + rng.standard_normal((80, 1))
            later = None
            if kind == "concordance":
                later = outlived(np.ones(80, dtype=bool), rng.exponential(np.exp(-x[:, 0])))
            scorer = Scorer(V - V.mean(), later)
            parts = scorer.shown(x)
            scores.append(parts.sum())
            errors.append(scorer.error(parts) ** 2)
        assert np.sqrt(np.mean(errors)) == pytest.approx(np.std(scores), rel=0.2)


def test_errors_over_groups_count_a_group_once(rng: np.random.Generator) -> None:
    parts = rng.standard_normal(20)
    alone = Scorer(parts[:, None]).error(parts)
    again = Scorer(parts[:, None], None, np.arange(20)).error(parts)
    fivefold = Scorer(np.ones((100, 1)), None, np.repeat(np.arange(20), 5)).error(np.repeat(parts, 5) / 5)
    assert alone == pytest.approx(1.3 * np.sqrt(20) * parts.std(ddof=1))
    assert again == pytest.approx(alone) and fivefold == pytest.approx(alone)


def test_folds_are_alike_and_keep_groups_together(rng: np.random.Generator) -> None:
    codes = rng.permutation(np.repeat([0.0, 1.0], [70, 30]))
    folds = deal_folds(codes, None)
    assert [(np.sum(folds == k), codes[folds == k].sum()) for k in range(5)] == [(20, 6.0)] * 5
    groups = rng.integers(0, 12, 100)
    folds = deal_folds(codes, groups)
    assert all(len(set(folds[groups == group])) == 1 for group in range(12)) and set(folds) == set(range(5))
    assert set(deal_folds(codes, np.arange(100) % 3)) == {0, 1, 2}


def test_the_p_value_counts_draws_that_score_as_much() -> None:
    assert chance(0.5, np.array([0.1, 0.5, 0.6])) == 3 / 4
    assert chance(0.7, np.zeros(199)) == 1 / 200


def test_panels_are_read_as_they_were_drawn(rng: np.random.Generator, monkeypatch: pytest.MonkeyPatch) -> None:
    from eigensieve.data import as_data
    from eigensieve.evidence import worth

    X, ranked = rng.standard_normal((20, 30)), rng.permutation(30)[:25]
    panels = random_panels(ranked, 4, 9, rng)
    assert all(len(set(panel)) == 4 and set(panel) <= set(ranked) for panel in panels)
    monkeypatch.setattr(worth, "_TAKEN", 3 * 4 * 20)
    rows = rng.permutation(20)[:15]
    found = list(taken(as_data(X).take, panels, rows))
    assert all((points == X[rows][:, panel]).all() for points, panel in zip(found, panels, strict=True))
    assert random_panels(ranked, 40, 1, rng)[0].shape == (25,)


def test_noise_and_copies_are_superfluous(rng: np.random.Generator) -> None:
    V = np.eye(3)[np.arange(60) % 3] - 1 / 3
    Z = np.hstack([V[:, :2], V[:, :2], rng.standard_normal((60, 4))]) + 0.05 * rng.standard_normal((60, 8))
    assert superfluous(Scorer(V), Z) == [7, 6, 5, 4, 3, 2]
    assert superfluous(Scorer(V), Z[:, [4, 0, 5, 1]]) == [2, 0]  # wherever it stands
    assert superfluous(Scorer(V), rng.standard_normal((60, 3))) == [2, 1, 0]
