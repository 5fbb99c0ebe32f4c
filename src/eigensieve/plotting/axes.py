"""The base of all displays: the axes they draw on, and names that do not overlap."""

from abc import ABC, abstractmethod
from inspect import signature
from itertools import product
from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted

from eigensieve._extras import require
from eigensieve._types import BoolArray, FloatArray, JsonDict

Axes = Any
"""Of matplotlib, which is not imported for its types."""

_NAME = 24  # characters of a name that are drawn
_DISTANCES = (0, 8, 13, 20, 30, 42, 56, 72, 90)  # of a name from its feature, in points


def names_apart(ax: Axes, names: list[str], places: FloatArray, inside: BoolArray) -> list[Any]:
    """Write each name where it meets no other and stays in the axes: on its place, or beside it with a line."""
    Text = require("matplotlib.text", extra="plot").Text
    ax.figure.draw_without_rendering()  # the layout decides where the axes are
    renderer = ax.figure.canvas.get_renderer()
    frame = ax.get_window_extent()
    kept: list[Any] = []
    taken: list[Any] = []
    for name, place, in_ellipse in zip(names, places, inside, strict=True):
        text = ax.annotate(
            name if len(name) <= _NAME else f"{name[: _NAME - 1]}…",
            place,
            xytext=(0, 0),
            textcoords="offset points",
            ha="center",
            va="center",
            fontsize=8,
            parse_math=False,  # a name is text: a dollar sign in it must not be interpreted
            bbox={"facecolor": "white", "alpha": 0.65, "edgecolor": "none", "pad": 0.4},
            arrowprops={"arrowstyle": "-", "color": "0.6", "linewidth": 0.6, "shrinkA": 0, "shrinkB": 0},
        )
        for distance, angle in product(_DISTANCES if in_ellipse else _DISTANCES[1:], range(90, 450, 30)):
            text.set_position((1.6 * distance * np.cos(np.radians(angle)), distance * np.sin(np.radians(angle))))
            text.update_positions(renderer)
            box = Text.get_window_extent(text, renderer)  # of the name alone: the annotation's own includes the line
            if frame.contains(box.x0, box.y0) and frame.contains(box.x1, box.y1) and not box.count_overlaps(taken):
                taken.append(box)
                kept.append(text)
                break
        else:
            text.remove()
    return kept


class Display(ABC):
    """A picture that has been drawn on the axes `ax_`, in the figure `figure_`."""

    ax_: Axes

    @property
    def figure_(self) -> Any:
        return self.ax_.figure

    def plot(self, ax: Axes = None, **options: Any) -> Self:
        """Draw.

        Parameters
        ----------
        ax : matplotlib Axes, default=None
            Where to draw; None makes a figure.
        **options
            The options that the class lists; where it lists none, those of the function of matplotlib that draws:
            ``imshow`` for images, ``barh`` for bars, ``plot`` for lines.
        """
        if ax is None:  # the layout makes room for all labels
            ax = require("matplotlib.pyplot", extra="plot").subplots(layout="constrained", figsize=self._size())[1]
        self.ax_ = ax
        self._draw(ax, **options)
        return self

    def _size(self) -> tuple[float, float] | None:
        """Width and height of a new figure in inches; None for those of matplotlib."""
        return None

    @abstractmethod
    def _draw(self, *args: Any, **options: Any) -> None:
        """Draw on these axes, with the options of `plot`."""


class ModelDisplay(Display):
    """A picture of one fitted model."""

    @classmethod
    def from_estimator(cls, estimator: BaseEstimator, *, ax: Axes = None, **kwargs: Any) -> Self:
        """Draw a fitted estimator.

        Parameters
        ----------
        estimator : estimator
            Fitted.
        ax : matplotlib Axes, default=None
            Where to draw; None makes a figure.
        **kwargs
            Parameters of this class, in place of those that the estimator gives; all others are for :meth:`plot`.
        """
        check_is_fitted(estimator)
        own = {name: kwargs.pop(name) for name in signature(cls).parameters if name in kwargs}
        return cls(**{**cls._parameters_of(estimator), **own}).plot(ax, **kwargs)

    @staticmethod
    @abstractmethod
    def _parameters_of(estimator: BaseEstimator) -> JsonDict:
        """Return the parameters of the display of a fitted estimator."""
