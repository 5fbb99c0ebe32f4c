"""StabilityDisplay: how often the features were selected over subsamples."""

from dataclasses import dataclass
from typing import Any, Self

import numpy as np

from eigensieve.evidence import STABLE, Stability
from eigensieve.plotting.axes import Axes, Display


@dataclass(eq=False, repr=False)
class StabilityDisplay(Display):
    """How often the most frequently selected features were selected, and which of them count as stable.

    Parameters
    ----------
    stability : Stability
        From :func:`eigensieve.selection_stability`.

    Other Parameters
    ----------------
    max_features : int, default=40
        Option of :meth:`plot`: bars to draw at most, the most frequent first.
    threshold : float, default=0.8
        Option of :meth:`plot`: fraction of the subsamples from which a feature counts as stable, as in
        :meth:`Stability.stable`.

    Attributes
    ----------
    ax_, figure_ : matplotlib Axes and Figure
    bars_ : matplotlib BarContainer
    line_ : matplotlib Line2D
        The threshold.
    """

    stability: Stability

    @classmethod
    def from_stability(cls, stability: Stability, *, ax: Axes = None, **options: Any) -> Self:
        """Draw the frequencies.

        Parameters
        ----------
        stability : Stability
            From :func:`eigensieve.selection_stability`.
        ax : matplotlib Axes, default=None
            Where to draw; None makes a figure.
        **options
            For :meth:`plot`.
        """
        return cls(stability).plot(ax, **options)

    def _draw(self, ax: Axes, *, max_features: int = 40, threshold: float = STABLE) -> None:
        frequencies = self.stability.frequencies
        order = np.lexsort((np.arange(len(frequencies)), -frequencies))[:max_features]
        names = self.stability.feature_names
        labels = [str(i) if names is None else str(names[i]) for i in order]
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
