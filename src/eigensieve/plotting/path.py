"""The path of the trace ratio as a picture: optimal score against number of features."""

from dataclasses import KW_ONLY, dataclass

import numpy as np

from eigensieve._types import JsonDict
from eigensieve.estimators import TraceRatioSelector
from eigensieve.plotting.axes import Axes, ModelDisplay
from eigensieve.traceratio import TraceRatioPath


@dataclass(eq=False, repr=False)
class TraceRatioPathDisplay(ModelDisplay):
    """Score of the best subset against its size, beside the score of the feature-level ranking.

    Create it with :meth:`from_estimator`, or from a path; draw it (again) with :meth:`plot`.

    Parameters
    ----------
    path : TraceRatioPath
        From ``TraceRatioSelector.path()``.
    n_selected : int or None, default=None
        Size to mark; None marks the size ``path.choose()`` gives.

    Other Parameters
    ----------------
    log : bool, default=True
        Option of :meth:`plot`: logarithmic sizes, and logarithmic scores where they span more than a decade. Sizes with
        an infinite score are left out and named at the axis.

    Attributes
    ----------
    ax_, figure_ : matplotlib Axes and Figure
    line_ : matplotlib Line2D
        Optimal scores.
    feature_level_line_ : matplotlib Line2D
        Scores of the feature-level ranking.
    mark_ : matplotlib Line2D
        The marked size.
    """

    path: TraceRatioPath
    _: KW_ONLY
    n_selected: int | None = None

    @staticmethod
    def _parameters_of(estimator: TraceRatioSelector) -> JsonDict:
        return {"path": estimator.path(), "n_selected": int(estimator.support_.sum())}

    def _draw(self, ax: Axes, *, log: bool = True) -> None:
        path = self.path
        size = path.choose() if self.n_selected is None else self.n_selected
        finite = np.isfinite(path.scores)
        sizes = path.n_features[finite]
        (self.line_,) = ax.plot(sizes, path.scores[finite], label="best subset")
        (self.feature_level_line_,) = ax.plot(
            path.n_features, path.feature_level_scores, "--", label="best features one at a time", linewidth=1.0
        )
        height = path.scores[size - 1]
        inside = np.isfinite(height)
        (self.mark_,) = ax.plot([size] if inside else [], [height] if inside else [], "o", label=f"{size} selected")
        if log:
            ax.set_xscale("log")
            ax.xaxis.set_major_formatter("{x:,.0f}")
            # Within one decade a logarithmic axis only makes the labels harder to read.
            if path.scores[finite].max(initial=0.0) > 10 * path.scores[finite].min(initial=np.inf):
                ax.set_yscale("log")
        infinite = int(np.count_nonzero(~finite))
        note = f" (infinite up to {infinite})" if infinite else ""
        ax.set(xlabel=f"number of features{note}", ylabel="trace ratio of the subset")
        ax.legend()
