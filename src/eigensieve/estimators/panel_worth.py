"""score_panel: the worth of a panel from any source, beside the sieve's pick and beside random panels."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from numbers import Integral
from typing import Any, Literal

import numpy as np

import eigensieve.evidence as evidence
from eigensieve._errors import wrong_parameter
from eigensieve._progress import Progress, progress_for, silent
from eigensieve._types import Array, FloatArray, IntArray, MatrixLike, OneEach, RandomState
from eigensieve.data import DataMatrix
from eigensieve.estimators.base import check_data, generator
from eigensieve.estimators.constraints import as_indices
from eigensieve.estimators.knowledge import Known
from eigensieve.estimators.sieve_selector import SieveSelector
from eigensieve.estimators.target import event_and_time
from eigensieve.sieve import Constraints, Found, Problem, Target, Unwanted, pose

_NEXT = 3
_LEAST, _MOST = 10, 1_000  # samples that are compared
_Picks = dict[tuple[int, bytes], IntArray]  # number of features and those that are kept -> features picked


def score_panel(
    X: MatrixLike,
    features: OneEach | Mapping[str, OneEach],
    y: OneEach = None,
    *,
    batches: OneEach = None,
    groups: OneEach = None,
    supervision: Literal["auto", "classes", "numbers", "ignore"] = "auto",
    n_random: int = 199,
    random_state: RandomState = 0,
    verbose: int = 0,
) -> evidence.PanelScore | evidence.PanelComparison:
    """Score a panel of features from any source: how much of the structure of the samples, or of y, does it show?

    The score stands beside that of the best panel of the same size (the sieve's pick) and beside those of random
    panels of the same size.

    Parameters
    ----------
    X : array-like, sparse matrix, or stored or distributed data, of shape (n_samples, n_features)
        All features, at least 10 samples. NaN in a dense array or data frame in memory marks a missing value.
    features : array-like or dict
        The panel: names, indices or a mask. A dict of panels gives a comparison.
    y : array-like of shape (n_samples,) or (n_samples, n_targets), optional
        Classes, numbers, or (event, time) as a structured array, as in :meth:`SieveSelector.fit`. Samples without y do
        not count. Without y, panels are measured by the structure that the sieve finds with all features.
    batches : array-like of shape (n_samples,), optional
        The batch of each sample. Differences between batches are removed first.
    groups : array-like of shape (n_samples,), optional
        The donor of each sample. No sample is predicted from others of its group, and standard errors are over groups.
    supervision : {"auto", "classes", "numbers", "ignore"}, default="auto"
        How y is used, as in :class:`SieveSelector`.
    n_random : int, default=199
        How many random panels are drawn from the features that vary.
    random_state : int, RandomState, Generator or None, default=0
        For the random panels.
    verbose : int, default=0
        1 prints progress, at most twice a second; 2 prints every step.

    Returns
    -------
    score : PanelScore or PanelComparison
        A comparison for a dict.

    See Also
    --------
    SieveSelector : Makes a panel, also around features to keep.
    eigensieve.plotting.PanelScoresDisplay : The picture.

    Notes
    -----
    Each sample's row of the structure V, or of y, is predicted by E, the mean of its 5 nearest others on the panel.
    The score is

        R2 = 1 - sum (V - E diag(b))^2 / sum V^2,

    where b_j >= 0 fits column j best; of times to an event it is the concordance. With groups, the nearest samples of
    other groups tell. With y, the sieve picks for a sample without its fold: there are 5 folds, alike in y, that keep
    groups together. Without y it picks on the same samples.

    The p-value is (1 + random panels that score as much) / (1 + `n_random`). It holds for panels that were not chosen
    on these samples.

    Of more than 1,000 samples, 1,000 are compared. They are drawn from the landmarks that :class:`SieveSelector`
    compares if there are more than 2,000. This bounds the time: it hardly grows with more samples.

    Examples
    --------
    >>> import numpy as np
    >>> from eigensieve import score_panel
    >>> rng = np.random.default_rng(0)
    >>> X = rng.standard_normal((90, 300))
    >>> X[:, :12] += rng.normal(0, 3, (3, 12))[np.arange(90) % 3]
    >>> score = score_panel(X, [5, 8, 10, 200])
    >>> score.p_value
    0.005
    >>> bool(200 in score.adds_nothing)
    True
    """
    if not isinstance(n_random, Integral) or n_random < 1:
        raise wrong_parameter("n_random", "score_panel", "be an int of at least 1", repr(n_random))
    panels = features if isinstance(features, Mapping) else {None: features}
    if not panels:
        raise wrong_parameter("features", "score_panel", "hold at least 1 panel", "an empty dict")
    progress = progress_for("score_panel", verbose)
    model = SieveSelector(supervision=supervision, verbose=verbose)
    model._validate_params()
    raw = check_data(model, X, y, min_samples=_LEAST)
    columns = {name: _columns(model, panel, name) for name, panel in panels.items()}
    problem = model._problem(raw, Known(y, batches=batches, groups=groups), merged=False)[0]
    seed = int(generator(random_state).integers(2**32))
    wanted = list(columns.values())
    shared = _Comparison(raw, problem, problem.found(progress), y, wanted, int(n_random), seed, progress)
    names = getattr(model, "feature_names_in_", np.arange(raw.n_features))
    scored = {name: shared.score(panel, names, "" if name is None else f"{name}: ") for name, panel in columns.items()}
    if not isinstance(features, Mapping):
        return scored[None][0]
    leader = max(scored.values(), key=lambda found: found[0].score)[1]
    less = {str(name): leader - parts for name, (_, parts) in scored.items()}
    behind = {name: (float(parts.sum()), shared.scorer.error(parts)) for name, parts in less.items()}
    return evidence.PanelComparison({str(name): score for name, (score, _) in scored.items()}, behind)


def _columns(model: SieveSelector, panel: Any, name: Any) -> IntArray:
    """Return the columns of a panel; refuse one without features."""
    parameter = "features" if name is None else f"features[{name!r}]"
    names = getattr(model, "feature_names_in_", None)
    columns = as_indices(panel, model.n_features_in_, names, parameter, "score_panel")
    if not len(columns):
        raise wrong_parameter(parameter, "score_panel", "name at least 1 feature", "none", "leave this panel out")
    return columns


@dataclass(frozen=True)
class _Comparison:
    """The parts that all panels share: one structure or y, the same folds, random panels and picks by size.

    Samples are compared in an order that follows their values, and random panels are drawn from features in the order
    of their scores. So the order in which both were given does not matter.
    """

    raw: DataMatrix
    problem: Problem
    found: Found
    y: Any
    panels: list[IntArray]
    n_random: int
    seed: int
    progress: Progress
    random_scores: dict[int, FloatArray] = field(default_factory=dict)

    @cached_property
    def compared(self) -> IntArray:
        """The compared samples among all."""
        rows = self.problem.samples.rows
        return np.arange(self.raw.n_samples) if rows is None else rows

    @cached_property
    def rows(self) -> IntArray:
        """At most 1,000 compared samples with known y, as places among these, in an order that follows their values."""
        values = self.problem.samples.data.combine(self.found.scores[:, None])[:, 0]
        rows = np.argsort(values, kind="stable")[np.random.default_rng(0).permutation(len(values))]
        if self.problem.target is None:
            return rows[:_MOST]
        rows = rows[self.problem.target.known[self.compared[rows]]]
        if len(rows) < _LEAST:
            raise ValueError(f"score_panel needs at least {_LEAST} samples with y. Got {len(rows)}; leave y out.")
        return rows[:_MOST]

    @cached_property
    def ranked(self) -> IntArray:
        """All features, best first, constant ones last. What they share with the structure breaks ties."""
        shared = np.square(self.problem.cleaned.data.project(self.found.embedding)).sum(axis=1)
        return np.lexsort((-shared, -self.found.scores, ~self.problem.usable))

    @cached_property
    def scorer(self) -> evidence.Scorer:
        here, target, donors = self.compared[self.rows], self.problem.target, self.problem.samples.donors
        donors = None if donors is None else np.unique(donors[self.rows], return_inverse=True)[1]
        if target is None:
            return evidence.Scorer(self.found.structure[self.rows], groups=donors)
        later = None
        if target.kind == "survival":
            y = np.asarray(event_and_time(self.y, "score_panel"))
            event, time = (y[name][here] for name in y.dtype.names or ())
            later = evidence.outlived(event, time.astype(np.float64))
        return evidence.Scorer(_centred(target, self.problem.cleaned.batches, here), later, donors)

    @cached_property
    def folds(self) -> IntArray:
        """The fold in which each sample is held out when features are picked."""
        target, here = self.problem.target, self.compared[self.rows]
        assert target is not None
        folds = evidence.deal_folds(
            target.columns[here, 0] if target.codes is None else target.codes[here], self.scorer.groups
        )
        if any(not np.ptp(target.columns[here[folds != fold]], axis=0).any() for fold in np.unique(folds)):
            raise ValueError(
                "score_panel holds out parts of the samples, or of the groups, in turn, and y must vary on the others. "
                "Give more samples or groups with other values of y, or leave y out."
            )
        return folds

    @cached_property
    def held_out(self) -> list[_Picks]:
        """Features picked without the samples of each fold."""
        target, batches = self.problem.target, self.problem.batches
        donors = self.problem.samples.donors
        assert target is not None
        few = self.raw if self.problem.samples.rows is None else self.raw.samples(self.compared)
        picked = []
        for fold in range(int(self.folds.max()) + 1):
            self.progress(f"picking features without part {fold + 1} of the samples")
            held = self.rows[self.folds == fold]
            if donors is not None:
                held = np.flatnonzero(np.isin(donors, donors[held]))
            train = np.setdiff1d(np.arange(len(self.compared)), held)
            part, here = few.samples(train), self.compared[train]
            columns = target.columns[here]
            known = replace(target, columns=columns[:, columns.any(axis=0)], known=target.known[here])
            unwanted = Unwanted(None if batches is None else batches[here])
            others = None if donors is None else donors[train]
            problem = pose(part, ~part.stats().constant, known, unwanted, donors=others)
            picked.append(self.picks(problem, problem.found(silent)))
        return picked

    @cached_property
    def picked(self) -> _Picks:
        """Features picked on all samples."""
        self.progress("picking features")
        return self.picks(self.problem, self.found)

    def picks(self, problem: Problem, found: Found) -> _Picks:
        """Return the best panels of all sizes, and every panel with three more features."""
        picks: _Picks = {}
        for panel in self.panels:
            for count, keep in ((len(panel), panel[:0]), (len(panel) + _NEXT, panel)):
                if (count, keep.tobytes()) not in picks:
                    free = problem.with_constraints(Constraints(keep))
                    picks[count, keep.tobytes()] = free.pick(found, np.flatnonzero(problem.usable), count)
        return picks

    def shown(self, count: int, keep: IntArray) -> float:
        """Return what the picked features show; with y, on samples held out."""
        key = count, keep.tobytes()
        if self.problem.target is None:
            return float(self.scorer.shown(self.points(self.picked[key])).sum())
        predicted = np.empty_like(self.scorer.columns)
        for fold, picks in enumerate(self.held_out):
            predicted[self.folds == fold] = self.scorer.predicted(self.points(picks[key]))[self.folds == fold]
        return float(self.scorer.parts(predicted).sum())

    def points(self, panel: IntArray) -> FloatArray:
        """Return a panel's features on the samples, in the order of their scores."""
        ordered = self.ranked[np.isin(self.ranked, panel)]
        return np.asarray(self.problem.standing(ordered)[self.rows])

    def at_random(self, size: int, start: str) -> FloatArray:
        """Return the scores of random panels; they depend on the size alone."""
        if size not in self.random_scores:
            rng, usable = np.random.default_rng([self.seed, size]), self.ranked[: np.count_nonzero(self.problem.usable)]
            panels = evidence.random_panels(usable, size, self.n_random, rng)
            scores: list[float] = []
            for points in evidence.taken(self.problem.standing, panels, self.rows):
                self.progress(f"{start}random panel {len(scores) + 1} of {len(panels)}")
                scores.append(float(self.scorer.shown(points).sum()))
            self.random_scores[size] = np.array(scores)
        return self.random_scores[size]

    def score(self, panel: IntArray, names: Array, start: str) -> tuple[evidence.PanelScore, FloatArray]:
        """Return the worth of a panel, and the parts of its score."""
        size, scorer = len(panel), self.scorer
        parts = scorer.shown(self.points(panel))
        draws = self.at_random(size, start)
        self.progress(f"{start}looking for features that add nothing")
        order = self.problem.with_constraints(Constraints()).pick(self.found, panel[self.problem.usable[panel]], size)
        order = np.concatenate([order, panel[~np.isin(panel, order)]])
        out = evidence.superfluous(scorer, self.problem.standing(order)[self.rows])
        score = evidence.PanelScore(
            features=names[panel],
            measure="structure" if self.problem.target is None else self.problem.target.kind,
            score=float(parts.sum()),
            standard_error=scorer.error(parts),
            best_score=self.shown(size, panel[:0]),
            best_features=names[self.picked[size, b""]],
            random_scores=draws,
            p_value=evidence.chance(float(parts.sum()), draws),
            adds_nothing=names[order[out]],
            next_features=names[self.picked[size + _NEXT, panel.tobytes()][size:]],
            next_score=self.shown(size + _NEXT, panel),
        )
        return score, parts


def _centred(target: Target, batches: FloatArray, here: IntArray) -> FloatArray:
    """Return the columns of y without their means and the batches; classes count alike."""
    V, U = target.columns[here], batches[here]
    V, U = V - V.mean(axis=0), U - U.mean(axis=0)
    V = V - U @ np.linalg.lstsq(U, V)[0]
    return V / np.maximum(np.linalg.norm(V, axis=0), 1e-9) if target.kind == "classes" else V
