"""Fitting a method on samples, once and on random halves."""

from typing import Any

import numpy as np

from eigensieve.cli.console import Console
from eigensieve.cli.errors import UsageProblem, input_errors
from eigensieve.cli.methods import Method
from eigensieve.cli.prepare import Samples


def fit(
    estimator: Any,
    method: Method,
    params: dict[str, Any],
    samples: Samples,
    extra: dict[str, Any],
    console: Console,
    source: str,
) -> None:
    """Fit the estimator; what it says about the data becomes an input problem, about a parameter a usage problem."""
    from sklearn.utils._param_validation import InvalidParameterError

    y = samples.labels if method.uses_label(params) else None
    with console.working(f"Fitting {type(estimator).__name__}"), input_errors(source):
        try:
            estimator.fit(samples.X, y, **extra)
        except InvalidParameterError as error:
            raise UsageProblem(str(error)) from error
    estimator.feature_names_in_ = np.array(list(samples.features), dtype=object)


def stability_frequencies(
    estimator: Any,
    method: Method,
    params: dict[str, Any],
    samples: Samples,
    extra: dict[str, Any],
    repeats: int,
    seed: int | None,
    console: Console,
) -> Any:
    """How often each feature is selected on random halves of the samples, the number of features kept fixed.

    Labels, side data and pairs steer the repetitions as they steered the fit.
    """
    if not repeats:
        return None
    from sklearn.base import clone

    from eigensieve.evidence import selection_stability

    n_samples = samples.X.shape[0]
    count = int(estimator.get_support().sum())
    if n_samples < 8 or not count:
        raise UsageProblem("--stability needs at least 8 samples and a selected feature. Drop it.")
    again = clone(estimator).set_params(n_features_to_select=count)
    if "verbose" in again.get_params():
        again.set_params(verbose=0)
    with console.working("Stability") as show, input_errors("a random half of the samples"):
        return selection_stability(
            again,
            samples.X,
            samples.labels if method.uses_label(params) else None,
            fit_params=lambda half: _restricted(extra, half, n_samples),
            n_subsamples=repeats,
            random_state=0 if seed is None else seed,
            progress=show,
        ).frequencies


def _restricted(extra: dict[str, Any], rows: Any, n_samples: int) -> dict[str, Any]:
    """Side information for some of the samples: pairs keep those with both samples among them."""
    place = np.full(n_samples, -1)
    place[rows] = np.arange(len(rows))
    kept = {}
    for key, value in extra.items():
        if not key.endswith("_link"):
            kept[key] = value
            continue
        pairs = place[value]
        pairs = pairs[(pairs >= 0).all(axis=1)]
        if len(pairs):
            kept[key] = pairs
    return kept
