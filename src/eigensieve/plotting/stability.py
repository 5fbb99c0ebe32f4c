"""StabilityDisplay: how often the features were selected over subsamples."""

from typing import Any

import numpy as np

from eigensieve.evidence import Stability
from eigensieve.plotting.axes import Display, axes_or_new


class StabilityDisplay(Display):
    """The most frequently selected features and their selection frequencies.

    Parameters
    ----------
    stability : Stability
        From :func:`eigensieve.selection_stability`.

    Attributes
    ----------
    ax_ : matplotlib Axes
    figure_ : matplotlib Figure
    bars_ : matplotlib BarContainer
    """

    def __init__(self, stability: Stability) -> None:
        self.stability = stability

    @classmethod
    def from_stability(cls, stability: Stability, *, ax: Any = None, **kwargs: Any) -> "StabilityDisplay":
        """Draw the frequencies.

        Parameters
        ----------
        stability : Stability
            From :func:`eigensieve.selection_stability`.
        ax : matplotlib Axes, default=None
            Where to draw; None makes a figure.
        **kwargs
            For :meth:`plot`.

        Returns
        -------
        display : StabilityDisplay
        """
        return cls(stability).plot(ax=ax, **kwargs)

    def plot(self, *, ax: Any = None, max_features: int = 40, threshold: float = 0.6) -> "StabilityDisplay":
        """Draw one bar per feature, most frequent first.

        Parameters
        ----------
        ax : matplotlib Axes, default=None
            Where to draw; None makes a figure.
        max_features : int, default=40
            Bars to draw at most.
        threshold : float, default=0.6
            Frequency from which a feature counts as stable; drawn as a line.

        Returns
        -------
        display : StabilityDisplay
        """
        frequencies = self.stability.frequencies
        order = np.lexsort((np.arange(len(frequencies)), -frequencies))[:max_features]
        names = self.stability.feature_names
        labels = [str(i) if names is None else str(names[i]) for i in order]
        ax = self.ax_ = axes_or_new(ax, layout="constrained")
        colors = np.where(frequencies[order] >= threshold, "C0", "0.75")
        self.bars_ = ax.bar(range(len(order)), frequencies[order], color=colors)
        ax.axhline(threshold, color="black", linewidth=0.8, linestyle="--")
        ax.set_xticks(range(len(order)), labels, rotation=90, fontsize="x-small")
        for label in ax.get_xticklabels():
            label.set_parse_math(False)  # a name is text: a dollar sign in it must not be interpreted
        ax.set_ylim(0, 1)
        ax.set_xlabel("feature")
        ax.set_ylabel(f"selected on a fraction of {len(self.stability.selections)} subsamples")
        return self
