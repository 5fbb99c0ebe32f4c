"""StabilityDisplay: how often the features were selected over subsamples."""

from dataclasses import dataclass
from typing import Any, Self

import numpy as np

from eigensieve.evidence import STABLE, Stability
from eigensieve.plotting.axes import Display, axes_or_new


@dataclass(eq=False, repr=False)
class StabilityDisplay(Display):
    """How often the most frequently selected features were selected, and which of them count as stable.

    Parameters
    ----------
    stability : Stability
        From :func:`eigensieve.selection_stability`.

    Attributes
    ----------
    ax_, figure_ : matplotlib Axes and Figure
    bars_ : matplotlib BarContainer
    line_ : matplotlib Line2D
        The threshold.
    """

    stability: Stability

    @classmethod
    def from_stability(cls, stability: Stability, *, ax: Any = None, **kwargs: Any) -> Self:
        """Draw the frequencies.

        Parameters
        ----------
        stability : Stability
            From :func:`eigensieve.selection_stability`.
        ax : matplotlib Axes, default=None
            Where to draw; None makes a figure.
        **kwargs
            For :meth:`plot`.
        """
        return cls(stability).plot(ax=ax, **kwargs)

    def plot(self, *, ax: Any = None, max_features: int = 40, threshold: float = STABLE) -> Self:
        """Draw one bar per feature, most frequent first.

        Parameters
        ----------
        ax : matplotlib Axes, default=None
            Where to draw; None makes a figure.
        max_features : int, default=40
            Bars to draw at most.
        threshold : float, default=0.8
            Fraction of the subsamples from which a feature counts as stable, as in :meth:`Stability.stable`.
        """
        frequencies = self.stability.frequencies
        order = np.lexsort((np.arange(len(frequencies)), -frequencies))[:max_features]
        names = self.stability.feature_names
        labels = [str(i) if names is None else str(names[i]) for i in order]
        ax = self.ax_ = axes_or_new(ax, layout="constrained")
        n_stable = len(self.stability.stable(threshold))
        colors = np.where(frequencies[order] >= threshold, "C0", "0.75")
        self.bars_ = ax.bar(range(len(order)), frequencies[order], color=colors, label=f"stable: {n_stable} features")
        name = f"threshold: {100 * threshold:.3g} % of the subsamples"
        self.line_ = ax.axhline(threshold, color="black", linewidth=0.8, linestyle="--", label=name)
        ax.set_xticks(range(len(order)), labels, rotation=90, fontsize="x-small")
        for label in ax.get_xticklabels():
            label.set_parse_math(False)  # a name is text: a dollar sign in it must not be interpreted
        ax.set(ylim=(0, 1), xlabel="feature", ylabel=f"fraction of {len(self.stability.selections)} subsamples")
        ax.legend(loc="lower left", bbox_to_anchor=(0, 1), ncols=2, frameon=False)
        return self
