"""Report: the page of one fitted selector, for notebooks and files."""

import os
from typing import Any

from sklearn.base import BaseEstimator

from eigensieve._files import staged
from eigensieve._types import MatrixLike
from eigensieve.report.rendering import render, render_fragment
from eigensieve.report.summary import summarize


class Report:
    """A page about a fitted selector.

    In a notebook it shows itself; :meth:`save` writes the whole interactive page as one HTML file.

    Parameters
    ----------
    model : estimator
        A fitted selector of eigensieve.
    X : array-like, sparse matrix, or stored or distributed data, of shape (n_samples, n_features)
        The data it was fitted on, in any form that `fit` takes.
    **details
        As for :func:`summarize`: `feature_names`, `sample_ids`, `labels`, `title`, `stability`...

    Attributes
    ----------
    summary : dict
        Everything on the page as plain JSON values.

    Examples
    --------
    >>> import numpy as np
    >>> from eigensieve import QAlphaSelector
    >>> from eigensieve.report import Report
    >>> X = np.random.default_rng(0).standard_normal((60, 200))
    >>> X[:30, :8] += 3.0
    >>> report = Report(QAlphaSelector(8).fit(X), X)
    >>> report.summary["counts"]["selected"]
    8
    """

    def __init__(self, model: BaseEstimator, X: MatrixLike, **details: Any) -> None:
        self.summary = summarize(model, X, **details)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the page; the file appears whole or not at all.

        Parameters
        ----------
        path : str or path
            Where to write. An existing file is replaced.
        """
        with staged(path) as file:
            file.write_text(render(self.summary), encoding="utf-8")

    def _repr_html_(self) -> str:
        return render_fragment(self.summary)

    def __repr__(self) -> str:
        counts = self.summary["counts"]
        return f"<Report: {counts['selected']} of {counts['features']} features, {counts['samples']} samples>"
