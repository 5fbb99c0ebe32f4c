"""PanelScoresDisplay: panels beside the best and beside random panels of their sizes."""

from dataclasses import dataclass
from typing import Self

import numpy as np

from eigensieve.evidence import PanelComparison, PanelScore
from eigensieve.plotting.axes import Axes, Display


@dataclass(eq=False, repr=False)
class PanelScoresDisplay(Display):
    """The score of every panel, beside the sieve's pick of as many features and beside random panels.

    One row per panel, the panel that shows most on top.

    Parameters
    ----------
    scores : PanelScore or PanelComparison
        From :func:`eigensieve.score_panel`.

    Attributes
    ----------
    ax_, figure_ : matplotlib Axes and Figure
    panels_ : matplotlib ErrorbarContainer
        The panels, with two standard errors to both sides.
    best_, random_ : matplotlib PathCollection
    """

    scores: PanelScore | PanelComparison

    @classmethod
    def from_scores(cls, scores: PanelScore | PanelComparison, *, ax: Axes = None) -> Self:
        """Draw the scores of panels.

        Parameters
        ----------
        scores : PanelScore or PanelComparison
            From :func:`eigensieve.score_panel`.
        ax : matplotlib Axes, default=None
            Where to draw; None makes a figure.
        """
        return cls(scores).plot(ax)

    @property
    def _panels(self) -> dict[str, PanelScore]:
        return dict(self.scores.scores) if isinstance(self.scores, PanelComparison) else {"panel": self.scores}

    def _size(self) -> tuple[float, float]:
        return 7.2, 1.6 + 0.5 * len(self._panels)

    def _draw(self, ax: Axes) -> None:
        rows = sorted(self._panels.items(), key=lambda item: item[1].score)
        found, places = [score for _, score in rows], np.arange(len(rows))
        draws = np.concatenate([score.random_scores for score in found])
        heights = np.repeat(places, [len(score.random_scores) for score in found])
        # Deterministic, and even over the height of a row: no seed changes the picture.
        spread = 0.5 * ((np.arange(len(draws)) * 0.618034) % 1.0 - 0.5)
        self.random_ = ax.scatter(draws, heights + spread, s=6, color="0.75", label="random panels")
        best = [score.best_score for score in found]
        self.best_ = ax.scatter(best, places, marker="D", facecolors="none", edgecolors="C1", label="the sieve's pick")
        values, errors = [score.score for score in found], [2.0 * score.standard_error for score in found]
        self.panels_ = ax.errorbar(values, places, xerr=errors, fmt="o", color="C0", label="panel ± 2 standard errors")
        names = [f"{name} ({len(score.features)} features)" for name, score in rows]
        ax.set_yticks(places, names)
        for label in ax.get_yticklabels():
            label.set_parse_math(False)  # a name is text: a dollar sign in it must not be interpreted
        measure = found[0].measure
        title = "concordance" if measure == "survival" else f"share of the {measure} shown (R2)"
        ax.set(xlabel=title, ylim=(-0.6, len(rows) - 0.4))
        ax.legend(loc="lower right", bbox_to_anchor=(1, 1), ncols=3, frameon=False, fontsize="small")
