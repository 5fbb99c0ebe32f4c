"""What a selection produced, and the ways to show it."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from eigensieve.cli.console import Console
from eigensieve.cli.prepare import Samples
from eigensieve.plotting import null_quantiles


@dataclass(frozen=True)
class Run:
    """What a selection produced, and the ways to show it."""

    source: str
    method: str
    table: Any
    samples: Samples
    estimator: Any
    labels_used: bool
    frequency: Any

    @property
    def suffix(self) -> str:
        """Suffix for standard output, which takes the input's own format."""
        return f".{self.table.format}"

    def chosen_table(self) -> Any:
        """The selected columns of the input, in its own order and values."""
        return self.table.take(self.samples.columns[self.estimator.get_support()])

    def weights(self) -> Any:
        """Weights or scores of all features."""
        return self.estimator.weights_ if hasattr(self.estimator, "weights_") else self.estimator.scores_

    def weights_table(self) -> dict[str, Any]:
        """All features, best first."""
        order = self.estimator.ranking_
        null = null_quantiles(self.estimator)
        columns = {
            "feature": [str(self.samples.features[i]) for i in order],
            "weight": np.asarray(self.weights(), dtype=np.float64)[order],
            "rank": np.arange(1, len(order) + 1),
            "selected": self.estimator.get_support()[order],
            "null_quantile": [None] * len(order) if null is None else null[order],
        }
        if self.frequency is not None:
            columns["selection_frequency"] = self.frequency[order]
        return columns

    def diagnostics(self) -> dict[str, Any]:
        """The figures that say how far to trust the selection."""
        names = {
            "converged_": "converged",
            "n_iter_": "steps",
            "n_passes_": "data_passes",
            "n_clusters_": "clusters",
            "objective_": "criterion",
            "sparsity_gap_": "sparsity_gap",
            "negative_weight_fraction_": "negative_weight_fraction",
            "subset_score_": "subset_score",
        }
        found = {new: getattr(self.estimator, old) for old, new in names.items() if hasattr(self.estimator, old)}
        if self.frequency is not None:
            found["stability"] = float(np.mean(self.frequency[self.estimator.get_support()]))
        return {key: _json_number(value) for key, value in found.items()}

    def document(self, written: dict[str, str]) -> dict[str, Any]:
        """Everything as plain JSON."""
        from eigensieve import __version__
        from eigensieve.estimators import selected_features

        return {
            "eigensieve": __version__,
            "command": "select",
            "input": {
                "name": self.source,
                "format": self.table.format,
                "samples": int(self.samples.X.shape[0]),
                "features": int(self.samples.X.shape[1]),
                "notes": [*self.table.notes, *self.samples.prepared],
            },
            "method": self.method,
            "labels_used": self.labels_used and self.samples.labels is not None,
            "diagnostics": self.diagnostics(),
            **selected_features(self.estimator),
            "outputs": written,
        }

    def show(self, console: Console, top: int, written: dict[str, str]) -> None:
        """Print the outcome for people, or as JSON."""
        support = self.estimator.get_support()
        n_samples, n_features = self.samples.X.shape
        console.text(
            f"{int(support.sum()):,} of {n_features:,} features selected from {n_samples:,} samples "
            f"with {type(self.estimator).__name__}"
        )
        for sentence in self.samples.prepared:
            console.text(sentence)
        figures = ", ".join(f"{key.replace('_', ' ')} {_shown(v)}" for key, v in self.diagnostics().items())
        if figures:
            console.text(figures)
        if support.any():
            self._show_best(console, top)
        for role, place in written.items():
            if place != "-":
                console.text(f"{role}: {place}")
        console.document(self.document(written))

    def _show_best(self, console: Console, top: int) -> None:
        columns = self.weights_table()
        rows = [i for i, chosen in enumerate(columns["selected"]) if chosen][:top]
        shown = [key for key in columns if key != "selected" and columns[key][0] is not None]
        console.table(
            f"Best {len(rows)} selected features" if len(rows) < sum(columns["selected"]) else "Selected features",
            [key.replace("_", " ") for key in shown],
            [[_shown(columns[key][i]) for key in shown] for i in rows],
            right=["weight", "rank", "null quantile", "selection frequency"],
        )


def _shown(value: Any) -> str:
    if isinstance(value, bool | np.bool_):
        return "yes" if value else "no"
    return f"{value:.4g}" if isinstance(value, float | np.floating) else str(value)


def _json_number(value: Any) -> Any:
    if isinstance(value, bool | np.bool_):
        return bool(value)
    number = float(value)
    if not np.isfinite(number):
        return None
    return int(number) if number == int(number) and not isinstance(value, float | np.floating) else number
