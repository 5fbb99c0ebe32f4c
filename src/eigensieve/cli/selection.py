"""Fitting a method on samples, and its results: tables, figures, the report."""

from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from eigensieve._progress import Progress
from eigensieve._types import Array, BoolArray, FloatArray, IntArray, JsonDict
from eigensieve._version import __version__
from eigensieve._words import counted
from eigensieve.cli.errors import UsageProblem
from eigensieve.cli.methods import METHODS, Method, Params
from eigensieve.cli.reading import Samples, labels_with, notes_of

_FIGURES = {
    "converged_": "converged",
    "n_iter_": "steps",
    "n_passes_": "data_passes",
    "n_clusters_": "directions",
    "n_components_": "directions",
    "objective_": "criterion",
    "sparsity_gap_": "sparsity_gap",
    "negative_weight_fraction_": "negative_weight_fraction",
    "subset_score_": "subset_score",
}
"""Attribute of an estimator -> name of a figure that says how far to trust the selection."""


_HEADS = {"null_quantile": "above chance", "selection_frequency": "selected again"}  # where it is not the column's name


def count_or_auto(text: str | None, flag: str, *, words: tuple[str, ...] = ("auto",)) -> int | float | str | None:
    """Parse one of `words`, a whole number, or, for ``--n-features``, a fraction below 1."""
    if text is None or text in words:
        return text
    try:
        number = float(text)
    except ValueError:
        number = -1.0
    if number >= 1 and number == int(number):
        return int(number)
    if 0 < number < 1 and flag == "--n-features":
        return number
    allowed = [*(f"'{word}'" for word in words), "a whole number of at least 1"]
    allowed += ["a fraction between 0 and 1"] if flag == "--n-features" else []
    raise UsageProblem(f"{flag} must be {', '.join(allowed[:-1])} or {allowed[-1]}. Got '{text}' instead.")


@dataclass(frozen=True)
class Fitting:
    name: str  # of the method
    params: Params  # parameters of the estimator; the others keep their defaults

    @classmethod
    def of_options(cls, name: str, given: JsonDict) -> "Fitting":
        """Turn command-line options, None where not given, into the estimator's parameters; refuse another method's."""
        if name not in METHODS:
            raise UsageProblem(f"There is no method '{name}'. Choose one of: {', '.join(METHODS)}.")
        options = METHODS[name].options
        params = {}
        for option, value in given.items():
            if value is None:
                continue
            if option not in options:
                owner = next(other for other, method in METHODS.items() if option in method.options)
                flag = "--" + option.replace("_", "-")
                raise UsageProblem(f"{flag} does nothing with --method {name}. Drop it, or use --method {owner}.")
            params[options[option]] = value
        return cls(name, params)

    @property
    def method(self) -> Method:
        return METHODS[self.name]

    @property
    def uses_label(self) -> bool:
        return self.method.uses_label(self.params)

    def estimator(self) -> Any:
        from eigensieve import estimators

        return getattr(estimators, self.method.estimator)(**self.params)

    def fit(self, samples: Samples, extra: JsonDict) -> Any:
        """Return the estimator, fitted; `extra` holds batches, side data and pairs."""
        X = samples.X if self.method.needs_array(self.params) else samples.data
        if samples.has_names and X is samples.data:  # for messages
            X.shared.names = np.array([str(name) for name in samples.features], dtype=object)
        estimator = self.estimator().fit(X, self.labels(samples), **extra)
        if samples.has_names:
            estimator.feature_names_in_ = np.array(list(samples.features), dtype=object)
        return estimator

    def labels(self, samples: Samples) -> Array | None:
        """The labels that the method uses, None without any."""
        if samples.labels is None or not self.uses_label:
            return None
        return samples.labels if samples.labels.dtype.names else labels_with(samples.labels, self.method.unlabelled)

    def frequencies(
        self, samples: Samples, extra: JsonDict, count: int, repeats: int, progress: Progress
    ) -> FloatArray:
        """How often each feature is selected on random halves of the samples, `count` features each time. All
        knowledge that steered the fit steers the repetitions."""
        from eigensieve.evidence import selection_stability

        n_samples = samples.X.shape[0]
        again = Fitting(self.name, self.params | {"n_features_to_select": count})
        return selection_stability(
            again.estimator(),
            samples.X,
            self.labels(samples),
            groups=extra.get("groups"),
            fit_params=lambda half: _restricted(extra, half, n_samples),
            n_subsamples=repeats,
            random_state=self.params.get("random_state", 0),
            progress=progress,
        ).frequencies


def _restricted(extra: JsonDict, rows: IntArray, n_samples: int) -> JsonDict:
    """Side information for some of the samples: a pair is kept when both its samples are."""
    place = np.full(n_samples, -1)
    place[rows] = np.arange(len(rows))
    kept = {}
    for key, value in extra.items():
        if not key.endswith("_link"):
            kept[key] = value[rows] if key in ("batches", "groups") else value
            continue
        pairs = place[value]
        pairs = pairs[(pairs >= 0).all(axis=1)]
        if len(pairs):
            kept[key] = pairs
    return kept


@dataclass(frozen=True)
class Selection:
    source: str  # name of the input
    fitting: Fitting
    samples: Samples
    estimator: Any  # fitted
    frequency: FloatArray | None  # how often each feature was selected on random halves
    extra: JsonDict = field(default_factory=dict)  # batches, side data and pairs, as they were passed to ``fit``

    @cached_property
    def used(self) -> JsonDict:
        """Labels, batches, side data and pairs that were used, as plain JSON."""
        from eigensieve.estimators import known_and_used

        return known_and_used(self.estimator, **self.known)

    @property
    def known(self) -> JsonDict:
        """The arguments of ``fit`` besides the data, and their names in the table."""
        roles = (("y_name", "label"), ("batch_name", "batch"), ("group_name", "donor"))
        names = {name: self.samples.name_of(role) for name, role in roles}
        return {"y": self.fitting.labels(self.samples), **names, **self.extra}

    @cached_property
    def found(self) -> Any:
        from eigensieve.estimators import Findings

        return Findings.of(self.estimator)

    @property
    def support(self) -> BoolArray:
        return self.found.support

    def chosen(self) -> JsonDict:
        from eigensieve.estimators import selected_features

        chosen = selected_features(self.estimator)
        return chosen | {"names": [str(self.samples.features[i]) for i in chosen["selected"]]}

    def weights_table(self) -> JsonDict:
        found = self.found
        order, null = found.order, found.null_quantiles
        columns = {
            "feature": [str(self.samples.features[i]) for i in order],
            "weight": found.weights[order],
            "rank": found.ranks[order],
            "selected": found.support[order],
            "null_quantile": [None] * len(order) if null is None else null[order],
        }
        if self.frequency is not None:
            columns["selection_frequency"] = self.frequency[order]
        return columns

    def figures(self) -> JsonDict:
        """The figures that say how far to trust the selection."""
        found = {name: getattr(self.estimator, key) for key, name in _FIGURES.items() if hasattr(self.estimator, key)}
        if getattr(self.estimator, "supervised_", False):  # labels took the place of the embedding
            found.pop("directions", None)
        if self.frequency is not None:
            found["stability"] = float(np.mean(self.frequency[self.support]))
        return {name: _json_number(value) for name, value in found.items()}

    @property
    def sentences(self) -> list[str]:
        """Sentences about the selection, the knowledge used, and how far to trust it."""
        figures, (n_samples, n_features) = self.figures(), self.samples.X.shape
        sentences = [
            f"{int(self.support.sum()):,} of {n_features:,} features selected from {n_samples:,} samples "
            f"with {type(self.estimator).__name__}",
            *self.samples.prepared,
            *self.used["sentences"],
        ]
        if self.samples.labels is not None and not self.fitting.uses_label:
            sentences.append(f"did not use the labels of column '{self.samples.name_of('label')}'")
        if figures.get("converged") is False:
            sentences.append("the search ended before it settled: the last features chosen may be others")
        if "stability" in figures:
            share = f"{100 * figures['stability']:.0f} %"
            sentences.append(f"on random halves of the samples, a selected feature was selected again {share} of times")
        return sentences

    def best(self, top: int) -> tuple[str, list[str], list[list[str]]]:
        """The best selected features as a table to print: title, columns, rows."""
        columns = self.weights_table()
        rows = [i for i, chosen in enumerate(columns["selected"]) if chosen][:top]
        shown = [key for key in columns if key != "selected" and columns[key][0] is not None]
        all_shown = len(rows) == sum(columns["selected"])
        return (
            "Selected features" if all_shown else f"Best {counted(len(rows), 'selected feature')}",
            [_HEADS.get(key, key) for key in shown],
            [
                [f"{v:.4g}" if isinstance(v := columns[k][i], float | np.floating) else str(v) for k in shown]
                for i in rows
            ],
        )

    @property
    def notes(self) -> list[str]:
        return [*notes_of(self.samples.table), *self.samples.prepared]

    def document(self) -> JsonDict:
        return {
            "eigensieve": __version__,
            "command": "select",
            "input": {
                "name": self.source,
                "format": self.samples.table.format,
                "samples": int(self.samples.X.shape[0]),
                "features": int(self.samples.X.shape[1]),
                "notes": self.notes,
            },
            "method": self.fitting.name,
            "labels_used": self.used["labels"] is not None,
            "used": self.used,
            "diagnostics": self.figures(),
            **self.chosen(),
        }

    def report(self) -> str:
        return report_page(
            self.estimator,
            self.samples.data,
            feature_names=[str(name) for name in self.samples.features],
            sample_ids=self.samples.ids,
            labels=self.samples.shown_labels,
            stability=self.frequency,
            title=f"Features of {Path(self.source).name}" if self.source != "-" else "Selected features",
            source={
                "name": self.source,
                "prepared": self.notes,
                "labels": self.samples.name_of("label"),
                "labels_used": self.used["labels"] is not None,
            },
            known=self.known,
        )


def report_page(model: Any, data: Any, **details: Any) -> str:
    """Return the page about a fitted model; `details` goes to :func:`eigensieve.report.summarize`."""
    from eigensieve.report import render, summarize

    return render(summarize(model, data, **details))


def _json_number(value: Any) -> Any:
    if isinstance(value, bool | np.bool_):
        return bool(value)
    number = float(value)
    if not np.isfinite(number):
        return None
    return int(number) if number == int(number) and not isinstance(value, float | np.floating) else number
