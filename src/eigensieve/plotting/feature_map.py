"""The topographical map as a picture: one ellipse per feature (2004, Fig. 2)."""

from typing import Any

import numpy as np

from eigensieve._extras import require
from eigensieve._types import Array
from eigensieve.plotting.axes import Display, axes_or_new

_SMALLEST = 0.006  # share of the axes' range: irrelevant features stay visible as dots
_LARGEST = 0.13


class FeatureMapDisplay(Display):
    """Draw features at their coordinates in two rounds, as ellipses whose axes are their relevance.

    Parameters
    ----------
    coordinates : ndarray of shape (n_features, n_rounds)
        Directions in radians.
    relevance : ndarray of shape (n_features, n_rounds)
        Relevance of each feature in each round.
    feature_names : list of str
        Names of the features.

    Attributes
    ----------
    ax_ : matplotlib Axes
    figure_ : matplotlib Figure
    ellipses_ : list of matplotlib Ellipse
        One per feature, in column order.
    """

    def __init__(self, coordinates: Array, relevance: Array, feature_names: list[str]) -> None:
        self.coordinates = coordinates
        self.relevance = relevance
        self.feature_names = feature_names

    @classmethod
    def from_estimator(cls, feature_map: Any, **options: Any) -> "FeatureMapDisplay":
        """Draw a fitted :class:`~eigensieve.FeatureMap`.

        Parameters
        ----------
        feature_map : FeatureMap
            Fitted.
        **options
            For :meth:`plot`.

        Returns
        -------
        display : FeatureMapDisplay
        """
        display: FeatureMapDisplay = feature_map.plot(**options)
        return display

    def plot(self, *, rounds: tuple[int, int] = (0, 1), n_labels: int = 20, ax: Any = None) -> "FeatureMapDisplay":
        """Draw.

        Parameters
        ----------
        rounds : tuple of 2 ints, default=(0, 1)
            The rounds on the two axes, from 0.
        n_labels : int, default=20
            How many features carry their names, the most relevant first.
        ax : matplotlib Axes, default=None
            Where to draw; None makes a figure.

        Returns
        -------
        self : FeatureMapDisplay
        """
        x, y = self._rounds(rounds)
        ax = self.ax_ = axes_or_new(ax, figsize=(6.4, 6.0), layout="constrained")
        limit = 1.05 * max(0.4, float(np.abs(self.coordinates[:, [x, y]]).max()))
        sizes = self._sizes(2 * limit, x, y)
        self.ellipses_ = self._draw(ax, x, y, sizes)
        self._label(ax, x, y, sizes, n_labels)
        ax.set(xlim=(-limit, limit), ylim=(-limit, limit), aspect="equal")
        ax.set_xlabel(f"direction in round {x + 1} (radians); width: relevance in round {x + 1}")
        ax.set_ylabel(f"direction in round {y + 1} (radians); height: relevance in round {y + 1}")
        return self

    def _rounds(self, rounds: tuple[int, int]) -> tuple[int, int]:
        available = self.relevance.shape[1]
        if len(rounds) != 2 or not all(0 <= number < available for number in rounds):
            raise ValueError(
                f"The 'rounds' parameter of plot must be two numbers from 0 to {available - 1} (the map has "
                f"{available} rounds). Got {rounds!r} instead."
            )
        return rounds

    def _sizes(self, extent: float, x: int, y: int) -> Array:
        """Widths and heights: values relative to the largest of the round, negative ones as zero."""
        shown = np.maximum(self.relevance[:, [x, y]], 0.0)
        relative = shown / np.maximum(shown.max(axis=0), np.finfo(np.float64).tiny)
        return extent * np.maximum(_SMALLEST, _LARGEST * relative)

    def _draw(self, ax: Any, x: int, y: int, sizes: Array) -> list[Any]:
        Ellipse = require("matplotlib.patches", extra="plot").Ellipse
        ellipses = []
        area = sizes.prod(axis=1)
        for i in np.argsort(-area, kind="stable"):
            place = (self.coordinates[i, x], self.coordinates[i, y])
            ellipse = Ellipse(place, *sizes[i], facecolor="C0", alpha=0.35, edgecolor="C0", linewidth=0.8)
            ellipses.append((i, ax.add_patch(ellipse)))
        return [ellipse for _, ellipse in sorted(ellipses, key=lambda pair: pair[0])]

    def _label(self, ax: Any, x: int, y: int, sizes: Array, n_labels: int) -> None:
        smallest = sizes.sum(axis=1).min()
        for i in np.argsort(-sizes.sum(axis=1), kind="stable")[:n_labels]:
            place = (self.coordinates[i, x], self.coordinates[i, y])
            large = sizes[i].sum() > 3 * smallest
            style = {"fontsize": 9} if large else {"fontsize": 7, "color": "0.5", "xytext": (0, 6)}
            ax.annotate(
                self.feature_names[i],
                place,
                textcoords="offset points",
                ha="center",
                va="center",
                parse_math=False,  # a name is text: a dollar sign in it must not be interpreted
                **({"xytext": (0, 0)} | style),
            )
