"""The base of all displays: the axes they draw on."""

from typing import Any

from eigensieve._extras import require


def axes_or_new(ax: Any, **figure: Any) -> Any:
    """Return `ax`, or the axes of a new figure; the options are those of matplotlib's ``subplots``."""
    return require("matplotlib.pyplot", extra="plot").subplots(**figure)[1] if ax is None else ax


class Display:
    """A picture that has been drawn.

    Attributes
    ----------
    ax_ : matplotlib Axes
    figure_ : matplotlib Figure
    """

    ax_: Any

    @property
    def figure_(self) -> Any:
        return self.ax_.figure
