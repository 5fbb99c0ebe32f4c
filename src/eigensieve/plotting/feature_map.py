"""The topographical map as a picture: one ellipse per feature (2004, Fig. 2)."""

from dataclasses import KW_ONLY, dataclass
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator

from eigensieve._errors import wrong_parameter
from eigensieve._extras import require
from eigensieve._types import BoolArray, FloatArray, JsonDict
from eigensieve.plotting.axes import Axes, ModelDisplay, names_apart

_SMALLEST = 0.006  # share of the axes' range: irrelevant features stay visible as dots
_LARGEST = 0.13
_MANY = 60  # ellipses of more features than this are smaller


@dataclass(eq=False, repr=False)
class FeatureMapDisplay(ModelDisplay):
    """Draw features at their coordinates in two rounds, as ellipses whose axes are their relevance.

    Parameters
    ----------
    coordinates : ndarray of shape (n_features, n_rounds)
        Directions in radians.
    relevance : ndarray of shape (n_features, n_rounds)
        Relevance of each feature in each round.
    feature_names : list of str
        Names of the features.
    overlaps : ndarray of shape (n_rounds,), optional
        How much of each round's structure an earlier round shows already, from 0 to 1.
    same_structure : ndarray of bool of shape (n_rounds,), optional
        Rounds that show nothing new; the picture says so.

    Other Parameters
    ----------------
    rounds : tuple of 2 ints, default=(0, 1)
        Option of :meth:`plot`: the rounds on the two axes, from 0.
    n_labels : int, default=20
        Option of :meth:`plot`: how many features carry their names, the most relevant first.

    Attributes
    ----------
    ax_, figure_ : matplotlib Axes and Figure
    ellipses_ : list of matplotlib Ellipse
        One per feature, in column order.
    names_ : list of matplotlib Annotation
        The names drawn. None overlaps another; a name without room is left out.
    """

    coordinates: FloatArray
    relevance: FloatArray
    feature_names: list[str]
    _: KW_ONLY
    overlaps: FloatArray | None = None
    same_structure: BoolArray | None = None

    def _size(self) -> tuple[float, float]:
        return 6.4, 6.0

    @staticmethod
    def _parameters_of(estimator: BaseEstimator) -> JsonDict:
        names = ("coordinates", "relevance", "overlaps", "same_structure")
        return {**{name: getattr(estimator, f"{name}_") for name in names}, "feature_names": estimator._names()}

    def _draw(self, ax: Axes, *, rounds: tuple[int, int] = (0, 1), n_labels: int = 20) -> None:
        available = self.relevance.shape[1]
        if len(rounds) != 2 or not all(0 <= number < available for number in rounds):
            must = f"be two numbers from 0 to {available - 1} (the map has {available} rounds)"
            raise wrong_parameter("rounds", "plot", must, repr(rounds))
        places = self.coordinates[:, list(rounds)]
        shares = self._shares(list(rounds))
        # An ellipse at c whose width is the share s of the range (-h, h) ends at |c| + s h. It must not exceed h.
        half = 1.02 * max(0.4, float((np.abs(places) / (1 - shares)).max()))
        sizes = 2 * half * shares
        self.ellipses_ = self._draw_ellipses(ax, places, sizes)
        ax.set(xlim=(-half, half), ylim=(-half, half), aspect="equal", title=self._title(rounds))
        for axis, number, size in ((ax.xaxis, rounds[0] + 1, "width"), (ax.yaxis, rounds[1] + 1, "height")):
            axis.set_label_text(f"direction in round {number} (radians); {size}: relevance in round {number}")
        order = np.argsort(-shares.sum(axis=1), kind="stable")[:n_labels]
        large = shares[order].sum(axis=1) > 6 * _SMALLEST
        self.names_ = names_apart(ax, [self.feature_names[i] for i in order], places[order], inside=large)

    def _title(self, rounds: tuple[int, int]) -> str:
        """Say which of the drawn rounds show nothing new."""
        if self.same_structure is None or self.overlaps is None:
            return ""
        return "\n".join(
            f"Round {number + 1} shows nothing new: it groups the samples\nas an earlier round does "
            f"(overlap {self.overlaps[number]:.2f} of 1)"
            for number in sorted(set(rounds))
            if self.same_structure[number]
        )

    def _shares(self, rounds: list[int]) -> FloatArray:
        """Widths and heights as shares of the axes' range; the most relevant feature of a round has the largest."""
        shown = np.maximum(self.relevance[:, rounds], 0.0)
        relative = shown / np.maximum(shown.max(axis=0), np.finfo(np.float64).tiny)
        return np.maximum(_SMALLEST, _LARGEST * relative) * min(1.0, np.cbrt(_MANY / len(shown)))

    def _draw_ellipses(self, ax: Axes, places: FloatArray, sizes: FloatArray) -> list[Any]:
        """Draw large ellipses first, so that they hide no small ones."""
        Ellipse = require("matplotlib.patches", extra="plot").Ellipse
        style = {"facecolor": "C0", "alpha": 0.35, "edgecolor": "C0", "linewidth": 0.8}
        ellipses = [Ellipse(tuple(place), *size, **style) for place, size in zip(places, sizes, strict=True)]
        for i in np.argsort(-sizes.prod(axis=1), kind="stable"):
            ax.add_patch(ellipses[i])
        return ellipses
