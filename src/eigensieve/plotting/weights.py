"""WeightsDisplay: the sorted weights of a fitted selector and where they were cut."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from sklearn.base import BaseEstimator

from eigensieve._types import BoolArray, FloatArray, JsonDict
from eigensieve.estimators import Findings
from eigensieve.plotting.axes import Axes, ModelDisplay, names_apart


@dataclass(eq=False, repr=False, kw_only=True)
class WeightsDisplay(ModelDisplay):
    """Weights of all features, largest first, with the selected ones marked.

    Make it with :meth:`from_estimator`; call :meth:`plot` to draw it again.

    Parameters
    ----------
    weights : ndarray of shape (n_features,)
        Weights (or scores) in any order.
    support : ndarray of bool of shape (n_features,)
        The selected features.
    feature_names : sequence of str, optional
        Names for the largest weights.
    null_weight : float, optional
        A level that features without structure hardly reach; drawn as a line.
    ylabel : str, default="weight"
        Text at the vertical axis.

    Other Parameters
    ----------------
    n_names : int, default=0
        Option of :meth:`plot`: how many of the largest weights carry their names.
    line_kw : dict, optional
        Option of :meth:`plot`: for the curve's ``Axes.plot``.

    Attributes
    ----------
    ax_, figure_ : matplotlib Axes and Figure
    line_, points_ : matplotlib artists
        The curve, and the selected features on it.
    cut_ : matplotlib Line2D or None
        The cut, where the selected features are the largest ones.
    names_ : list of matplotlib Annotation
        The names drawn. None overlaps another; a name without room is left out.

    Examples
    --------
    >>> import numpy as np
    >>> from eigensieve import QAlphaSelector
    >>> from eigensieve.plotting import WeightsDisplay
    >>> X = np.random.default_rng(0).standard_normal((60, 200))
    >>> X[:30, :8] += 3.0
    >>> display = WeightsDisplay.from_estimator(QAlphaSelector().fit(X))  # doctest: +SKIP
    """

    weights: FloatArray
    support: BoolArray
    feature_names: Sequence[str] | None = None
    null_weight: float | None = None
    ylabel: str = "weight"

    @staticmethod
    def _parameters_of(estimator: BaseEstimator) -> JsonDict:
        found = Findings.of(estimator)
        shown = {"weights": found.weights, "support": found.support, "null_weight": found.null_weight}
        names = getattr(estimator, "feature_names_in_", None)
        return {**shown, "feature_names": names, "ylabel": found.weight_name}

    def _draw(self, ax: Axes, *, n_names: int = 0, line_kw: JsonDict | None = None) -> None:
        finite = np.isfinite(self.weights)
        shown = np.where(finite, self.weights, self.weights[finite].max() if finite.any() else 0.0)
        order = np.argsort(-shown, kind="stable")
        rank = np.arange(1, len(order) + 1)
        chosen = self.support[order]
        (self.line_,) = ax.plot(rank, shown[order], **{"color": "0.6", "linewidth": 1.2, **(line_kw or {})})
        self.points_ = ax.scatter(rank[chosen], shown[order][chosen], s=14, color="#0a6b63", zorder=3, label="selected")
        count = int(chosen.sum())
        self.cut_ = None
        if 0 < count < len(order) and chosen[:count].all():
            self.cut_ = ax.axvline(count + 0.5, color="#d9480f", linestyle="--", linewidth=1, label=f"cut at {count}")
        if self.null_weight is not None:
            ax.axhline(self.null_weight, color="0.4", linestyle=":", linewidth=1, label="hardly reached by chance")
        names = self.feature_names if self.feature_names is not None else ()
        ax.set(xscale="log", xlabel="rank", ylabel=self.ylabel)
        ax.xaxis.set_major_formatter("{x:,.0f}")
        ax.legend()
        named = range(min(n_names, len(names)))
        places = np.column_stack([rank, shown[order]])[: len(named)]
        self.names_ = names_apart(ax, [str(names[order[i]]) for i in named], places, np.zeros(len(named), dtype=bool))
