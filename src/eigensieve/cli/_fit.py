"""Fitting a method on samples, once and on random halves."""

from typing import Any

import numpy as np

from eigensieve.cli._console import Console
from eigensieve.cli._errors import UsageProblem, input_errors
from eigensieve.cli._methods import Method
from eigensieve.cli._prepare import Samples


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
    repeats: int,
    seed: int | None,
    console: Console,
) -> Any:
    """How often each feature is selected on random halves of the samples, with the number of features kept fixed."""
    if not repeats:
        return None
    from sklearn.base import clone

    count = int(estimator.get_support().sum())
    rng = np.random.default_rng(seed)
    n_samples = samples.X.shape[0]
    if n_samples < 6:
        raise UsageProblem(f"--stability needs at least 6 samples; there are {n_samples}. Drop it.")
    hits = np.zeros(samples.X.shape[1])
    varying = count
    with console.working("Stability") as show:
        for repeat in range(repeats):
            show(f"random half {repeat + 1} of {repeats}")
            half = np.sort(rng.choice(n_samples, n_samples // 2, replace=False))
            again = clone(estimator).set_params(n_features_to_select=varying)
            if "verbose" in again.get_params():
                again.set_params(verbose=0)
            y = samples.labels[half] if samples.labels is not None and method.uses_label(params) else None
            with input_errors("a random half of the samples"):
                again.fit(samples.X[half], y)
            hits += again.get_support()
    return hits / repeats
