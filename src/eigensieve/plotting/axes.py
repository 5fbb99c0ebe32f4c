"""The base of all displays: the axes they draw on."""

from abc import ABC, abstractmethod
from typing import Any, Self

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

        Returns
        -------
        self : object
        """
        self.ax_ = axes_or_new(ax)
        self._draw(self.ax_, **kwargs)
        return self

    @abstractmethod
    def _draw(self, ax: Any, **kwargs: Any) -> None:
        """Draw on these axes."""
