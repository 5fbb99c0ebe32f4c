"""WeightsDisplay: the sorted weights of a fitted selector and where they were cut."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator

from eigensieve._types import BoolArray, FloatArray
from eigensieve.estimators import Findings
from eigensieve.plotting.axes import ModelDisplay, axes_or_new


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

    Attributes
    ----------
    ax_, figure_ : matplotlib Axes and Figure
    line_, points_ : matplotlib artists
        The curve, and the selected features on it.
    cut_ : matplotlib Line2D or None
        The cut, where the selected features are the largest ones.

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
    def _parameters_of(estimator: BaseEstimator) -> dict[str, Any]:
        found = Findings.of(estimator)
        shown = {"weights": found.weights, "support": found.support, "null_weight": found.null_weight}
        names = getattr(estimator, "feature_names_in_", None)
        return {**shown, "feature_names": names, "ylabel": found.weight_name}

    def plot(self, ax: Any = None, *, n_names: int = 0, line_kw: dict[str, Any] | None = None) -> Self:
        """Draw the display.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            Where to draw; None makes a figure.
        n_names : int, default=0
            How many of the largest weights carry their names.
        line_kw : dict, optional
            For the curve's ``Axes.plot``.
        """
        ax = self.ax_ = axes_or_new(ax)
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
            ax.axhline(self.null_weight, color="0.4", linestyle=":", linewidth=1, label="null")
        names = self.feature_names if self.feature_names is not None else ()
        for i in range(min(n_names, len(names))):
            # A name is text, not mathtext: a dollar sign in it must not be interpreted.
            style = {"textcoords": "offset points", "fontsize": "x-small", "parse_math": False}
            ax.annotate(str(names[order[i]]), (rank[i], shown[order[i]]), xytext=(5, 0), **style)
        ax.set(xscale="log", xlabel="rank", ylabel=self.ylabel)
        ax.legend()
        return self
