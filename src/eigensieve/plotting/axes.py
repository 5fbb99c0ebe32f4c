"""The base of all displays: the axes they draw on."""

from abc import ABC, abstractmethod
from inspect import signature
from typing import Any, Self

from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted

from eigensieve._extras import require


def axes_or_new(ax: Any, **figure: Any) -> Any:
    """Return `ax`, or the axes of a new figure; the options are those of matplotlib's ``subplots``."""
    return require("matplotlib.pyplot", extra="plot").subplots(**figure)[1] if ax is None else ax


class Display:
    """A picture that has been drawn on the axes `ax_`, in the figure `figure_`."""

    ax_: Any

    @property
    def figure_(self) -> Any:
        return self.ax_.figure


class ModelDisplay(Display, ABC):
    """A picture of one fitted model."""

    @classmethod
    def from_estimator(cls, estimator: BaseEstimator, *, ax: Any = None, **kwargs: Any) -> Self:
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
        display: Any = cls(**{**cls._parameters_of(estimator), **own})
        drawn: Self = display.plot(ax=ax, **kwargs)
        return drawn

    @staticmethod
    @abstractmethod
    def _parameters_of(estimator: BaseEstimator) -> dict[str, Any]:
        """Return the parameters of the display of a fitted estimator."""


class PlainDisplay(Display, ABC):
    """A picture whose options are those of one function of matplotlib."""

    def plot(self, ax: Any = None, **kwargs: Any) -> Self:
        """Draw.

        Parameters
        ----------
        ax : matplotlib Axes, default=None
            Where to draw; None makes a figure.
        **kwargs
            For the function of matplotlib that draws: ``imshow`` for images, ``barh`` for bars, ``plot`` for lines.
        """
        self.ax_ = axes_or_new(ax)
        self._draw(self.ax_, **kwargs)
        return self

    @abstractmethod
    def _draw(self, ax: Any, **kwargs: Any) -> None:
        """Draw on these axes."""
