"""The path holds the optimum of every size, falls as the paper proves, and gives a size."""

import numpy as np
import pytest

from eigensieve.traceratio import best_subset, trace_ratio_path


def diagonals_of(kind, n, seed):
    rng = np.random.default_rng(seed)
    if kind == "spread":  # scales over many orders of magnitude
        e = rng.lognormal(sigma=3.0, size=n)
        return e * rng.gamma(1.0, size=n), e
    if kind == "counts":  # many exact ties, features without within scatter, features without any
        return rng.poisson(1.0, n).astype(float), rng.poisson(2.0, n).astype(float)
    if kind == "equal":
        return np.full(n, 2.0), np.full(n, 3.0)
    return rng.exponential(size=n), 0.1 + rng.exponential(size=n)


@pytest.mark.parametrize("kind", ["plain", "spread", "counts", "equal"])
@pytest.mark.parametrize("n", [1, 2, 3, 50, 400])
def test_every_size_equals_its_own_solve(kind, n):
    b, e = diagonals_of(kind, n, seed=n)
    b[0], e[0] = 1.0, 1.0
    path = trace_ratio_path(b, e)
    for m in path.n_features:
        alone = best_subset(b, e, m)
        assert path.scores[m - 1] == pytest.approx(alone.score, rel=1e-12)
        assert path.subset(m).tolist() == alone.subset.tolist()


@pytest.mark.parametrize("kind", ["plain", "spread", "counts", "equal"])
def test_optimum_falls_with_size_and_is_never_below_the_feature_level(kind):
    b, e = diagonals_of(kind, 3000, seed=1)
    path = trace_ratio_path(b, e)
    finite = np.isfinite(path.scores)
    assert (np.diff(path.scores[finite]) <= 0).all()  # Theorem 2
    assert not finite[: np.argmax(finite)].any() and finite[np.argmax(finite) :].all()
    level = path.feature_level_scores
    assert (path.scores[finite] >= level[finite] * (1 - 1e-12)).all()
    assert path.scores[-1] == pytest.approx(b.sum() / e.sum(), rel=1e-12)
    if kind == "spread":
        assert (path.scores > 1.01 * level).any()


def test_size_by_smallest_acceptable_score():
    path = trace_ratio_path(np.array([4.0, 3.0, 1.0]), np.ones(3))
    np.testing.assert_allclose(path.scores, [4.0, 3.5, 8 / 3])
    assert path.choose(min_score=3.5) == 2
    assert path.choose(min_score=0.0) == 3
    assert path.choose(min_score=99.0) == 1


@pytest.mark.parametrize("n_good", [3, 10, 40])
def test_knee_is_where_the_planted_features_end(n_good):
    rng = np.random.default_rng(n_good)
    e = rng.uniform(0.9, 1.1, 500)
    b = e * 0.02 * rng.chisquare(1, 500)
    b[:n_good] += 2.0
    assert trace_ratio_path(b, e).choose() == n_good


def test_knee_of_a_curve_without_one_keeps_everything():
    assert trace_ratio_path(np.ones(5), np.ones(5)).choose() == 5
    assert trace_ratio_path(np.ones(2), np.ones(2)).choose() == 2
    assert trace_ratio_path(np.ones(4), np.zeros(4)).choose() == 4


def test_bad_sizes_and_empty_paths_are_refused():
    path = trace_ratio_path(np.ones(3), np.ones(3))
    for m in (0, 4):
        with pytest.raises(ValueError, match=f"between 1 and 3, the number of usable features. Got {m}"):
            path.subset(m)
    with pytest.raises(ValueError, match="No feature has any scatter"):
        trace_ratio_path(np.zeros(3), np.zeros(3))
