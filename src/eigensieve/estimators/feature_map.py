"""FeatureMap: the topographical map of all relevant feature subsets, and a selector that covers them."""

from dataclasses import KW_ONLY, dataclass
from importlib import import_module
from typing import Any, Literal, Self

import numpy as np
from sklearn.utils.validation import check_is_fitted

from eigensieve._extras import require
from eigensieve._sklearn import whole_fit
from eigensieve._types import BoolArray, FloatArray, IntArray, MatrixLike, OneEach
from eigensieve.estimators.base import AT_LEAST_ONE, POSITIVE, check_data, features_by_weight, progress_of, warn_user
from eigensieve.estimators.knowledge import Known, read_side_variances
from eigensieve.estimators.qalpha_base import BaseQAlpha, two_level_cut
from eigensieve.operators import StandardAffinity
from eigensieve.qalpha import SAME_STRUCTURE, SIDE_STRENGTH, TAU, Problem, Round, check_start, map_rounds, overlaps


@dataclass(eq=False, repr=False)
class FeatureMap(BaseQAlpha):
    """Find several different groups of relevant features, one per round of Q-alpha, and map all features by them.

    The first round is Q-alpha. Every further round is Q-alpha with the squares of all earlier weights in the place of
    the side data's variances. This leads the round to features that no earlier round chose. In each round a feature has
    a magnitude (its weight) and a coordinate (its direction in the frame of G's two leading eigenvectors). With two
    rounds every feature is an ellipse in the plane (:meth:`plot`). As a selector the map takes the best features of
    every round, so that several dimensions of the data are covered.

    Parameters
    ----------
    n_features_to_select : int, float or "auto", default="auto"
        How many features to keep in all: a number or a fraction, taken from the rounds in turn, or ``"auto"``.
        ``"auto"`` takes the upper level of the weights of each round.
    n_rounds : int, default=2
        Number of solutions to look for.
    n_clusters : int, default=2
        k, the number of leading eigenvectors whose energy is maximised in a round. Small on purpose: a larger k lets
        one round mix two solutions.
    round_strength : float, default=0.5
        lambda in (D + lambda I)^-1 G, relative to the largest squared weight of a round: the smaller, the more earlier
        rounds are avoided. Very small values favour features that are relevant to nothing.
    strength : float, default=1.0
        How much side data counts. Their variances, in units of the variances of X, are multiplied by
        10 * strength * round_strength and added to D.
    criterion : {"energy", "gap"}, default="energy"
        As in :class:`QAlphaSelector`. With labels the embedding of every round is the span of the class indicators, so
        that the rounds find different groups of features that tell the classes apart.
    solver_options : dict or None, default=None
        As in :class:`QAlphaSelector`, for every round; ``"init"`` is "eigen" or "random".
    normalize, supervision, random_state, verbose
        As in :class:`QAlphaSelector`.

    Attributes
    ----------
    weights_ : ndarray of shape (n_features, n_rounds)
        Weight of every feature in every round, the leading eigenvector of (D + lambda I)^-1 G: low for features that
        earlier rounds chose. Unit columns.
    relevance_ : ndarray of shape (n_features, n_rounds)
        The leading eigenvector of G for the round's solution: high for all features that serve it, even if
        chosen before. Unit columns.
    coordinates_ : ndarray of shape (n_features, n_rounds)
        Direction of every feature in the frame of G's two leading eigenvectors, in radians; 0 for constant features.
    embeddings_ : ndarray of shape (n_rounds, n_samples, n_clusters)
        Q of every round; with labels, the span of the class indicators.
    objectives_ : ndarray of shape (n_rounds,)
        Criterion of every round.
    start_objectives_, starts_finished_ : ndarrays of shape (n_rounds, n_init)
        As in :class:`QAlphaSelector`, for every round. With labels there is one start.
    overlaps_ : ndarray of shape (n_rounds,)
        How much of a round's embedding an earlier round shows already: mean squared canonical correlation with the
        nearest one. 0 for the first round, 1 for the same structure again.
    same_structure_ : ndarray of bool of shape (n_rounds,)
        Rounds with an overlap above 0.8. Without labels a warning says so.
    n_iter_ : int
        Steps of the solver in all rounds.
    converged_ : bool
        False when `max_iter` ended the search of a round (a ConvergenceWarning says so too).
    rounds_ : ndarray of int of shape (n_features,)
        The round in which a selected feature was taken, from 0; -1 for the others.
    ranking_ : ndarray of int of shape (n_features,)
        Rank of every feature, 1 for the best, as in scikit-learn's RFE: in the order in which
        they are taken from the rounds in turn.
    selection_order_, support_, n_features_in_, feature_names_in_
        As in :class:`QAlphaSelector`.

    References
    ----------
    A. Shashua and L. Wolf, "Kernel Feature Selection with Side Data using a Spectral Approach", ECCV 2004, section 4.

    Examples
    --------
    >>> from eigensieve import FeatureMap
    >>> from eigensieve.datasets import make_two_solutions
    >>> data = make_two_solutions(random_state=0)
    >>> fitted = FeatureMap(n_features_to_select=9).fit(data.X)
    >>> sorted(data.feature_names[i] for i in fitted.get_support(indices=True))
    ['1', '1A', '2', '2B', '3', '3C', 'A', 'B', 'C']
    """

    n_rounds: int = 2
    n_clusters: int = 2
    _: KW_ONLY
    round_strength: float = 0.5
    criterion: Literal["energy", "gap"] = "energy"

    _parameter_constraints = {
        **BaseQAlpha._parameter_constraints,
        "n_rounds": [AT_LEAST_ONE],
        "round_strength": [POSITIVE],
    }

    @whole_fit
    def fit(self, X: MatrixLike, y: OneEach = None, *, side: MatrixLike = None) -> Self:
        """Find the rounds.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            Samples in rows.
        y, side : optional
            As in :meth:`QAlphaSelector.fit`. They count in every round.
        """
        raw = check_data(self, X, y)
        usable = self._check_some_vary(raw)
        count = self._count(usable)
        self._check_range(raw)
        check_start(type(self).__name__, self.n_clusters, "eigen", raw.n_samples)
        labels = self._read_knowledge(raw, Known(y)).labels
        variances = None
        if side is not None:
            variances = read_side_variances(self, raw, side) * (self.round_strength * self.strength / SIDE_STRENGTH)
        affinity = StandardAffinity(raw.standardized(self._normalization))
        rounds = map_rounds(
            Problem(affinity, int(self.n_clusters), TAU[self.criterion], usable),
            self._settings(progress_of(self)),
            n_rounds=self.n_rounds,
            strength=self.round_strength,
            side_variances=variances,
            labels=labels,
        )
        self._learn(rounds, usable, count, labelled=labels is not None)
        return self

    def _learn(self, rounds: list[Round], usable: BoolArray, count: int | None, *, labelled: bool) -> None:
        weights = np.column_stack([each.result.weights for each in rounds])
        orders = [features_by_weight(column, usable) for column in weights.T]
        wanted = None if count is not None else [two_level_cut(column[usable]) for column in weights.T]
        order, taken = _take_in_turn(orders, wanted)
        self._learn_selection(order, order[: int(np.count_nonzero(taken >= 0)) if count is None else count])
        self.weights_ = weights
        self.relevance_ = np.column_stack([each.relevance for each in rounds])
        self.coordinates_ = np.where(usable[:, None], np.column_stack([each.coordinates for each in rounds]), 0.0)
        self.embeddings_ = np.stack([each.result.embedding for each in rounds])
        self.objectives_ = np.array([each.result.objective for each in rounds])
        self.start_objectives_ = np.array([each.result.start_objectives for each in rounds])
        self.starts_finished_ = np.array([each.result.starts_finished for each in rounds])
        self.overlaps_ = overlaps(self.embeddings_)
        self.same_structure_ = self.overlaps_ > SAME_STRUCTURE
        self.n_iter_ = sum(each.result.n_iter for each in rounds)
        self.converged_ = all(each.result.converged for each in rounds)
        self.rounds_ = np.where(self.support_, taken, -1)
        again = np.flatnonzero(self.same_structure_)
        if len(again) and not labelled:
            worst = again[self.overlaps_[again].argmax()]
            warn_user(
                f"FeatureMap found no other structure: round {worst + 1} groups the samples as an earlier round does "
                f"(overlap {self.overlaps_[worst]:.2f} of 1). Its features repeat the earlier ones. Use fewer rounds."
            )
        late = [number for number, each in enumerate(rounds, 1) if not each.result.converged]
        if late:
            self._warn_not_converged(f"round {', '.join(map(str, late))} ")

    def to_frame(self) -> Any:
        """Return the map as a pandas DataFrame: one row per feature, with weight, relevance and coordinate per round.

        Returns
        -------
        frame : pandas.DataFrame
            Indexed by feature name; columns ``weight_1``, ``relevance_1``, ``coordinate_1``, ``weight_2``, ... and
            ``selected``.
        """
        check_is_fitted(self)
        columns: dict[str, FloatArray | BoolArray] = {}
        for number in range(self.weights_.shape[1]):
            columns[f"weight_{number + 1}"] = self.weights_[:, number]
            columns[f"relevance_{number + 1}"] = self.relevance_[:, number]
            columns[f"coordinate_{number + 1}"] = self.coordinates_[:, number]
        columns["selected"] = self.support_
        frame: Any = require("pandas", extra="plot").DataFrame(columns, index=self._names())
        frame.index.name = "feature"
        return frame

    def plot(self, *, rounds: tuple[int, int] = (0, 1), n_labels: int = 20, ax: Any = None) -> Any:
        """Draw every feature as an ellipse at its coordinates, with its relevance in the two rounds as axes.

        Parameters
        ----------
        rounds : tuple of 2 ints, default=(0, 1)
            The rounds on the horizontal and the vertical axis.
        n_labels : int, default=20
            How many of the largest ellipses carry the feature's name.
        ax : matplotlib Axes, optional
            Where to draw; a new figure by default.

        Returns
        -------
        display : FeatureMapDisplay
            With attributes `ax_` and `figure_`.
        """
        # Imported by name: drawing stands above the estimators, and they must not depend on it.
        display = import_module("eigensieve.plotting.feature_map").FeatureMapDisplay
        return display.from_estimator(self, rounds=rounds, n_labels=n_labels, ax=ax)

    def _names(self) -> list[str]:
        names = getattr(self, "feature_names_in_", None)
        return [f"x{i}" for i in range(self.n_features_in_)] if names is None else [str(name) for name in names]


def _take_in_turn(orders: list[IntArray], wanted: list[int] | None) -> tuple[IntArray, IntArray]:
    """Merge the orders of the rounds: they choose in turn, each its best feature that is not taken yet.

    `wanted` says how far each round may go down its own order. All other features follow in the order of the first
    round. Returns all features in the order in which they are taken, and the round that took each; -1 where none did.
    """
    taken = np.full(len(orders[0]), -1)
    order: list[int] = []
    waiting = [iter(mine[: None if wanted is None else wanted[number]]) for number, mine in enumerate(orders)]
    found = True
    while found:
        found = False
        for number, mine in enumerate(waiting):
            feature = next((int(i) for i in mine if taken[i] < 0), None)
            if feature is not None:
                taken[feature] = number
                order.append(feature)
                found = True
    return np.append(np.array(order, dtype=np.intp), orders[0][taken[orders[0]] < 0]), taken
