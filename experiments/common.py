"""What several experiments share: data without missing values, rankings, tables and curves."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import matplotlib.pyplot as plt
import numpy as np

from eigensieve.datasets import load_real
from experiments.frame import Array


def largest(scores: Array, count: int) -> Array:
    """Return the indices of the largest scores, largest first; of equal scores the first come first."""
    return np.argsort(-scores, kind="stable")[:count]


def precision(scores: Array, relevant: Array) -> float:
    """Return the share of relevant features among the largest scores, as many as there are relevant ones."""
    return float(relevant[largest(scores, int(relevant.sum()))].mean())


def complete_set(name: str, fill: Callable[..., Array]) -> tuple[Array, Array]:
    """Return the features and the classes (0, 1, ...) of a real set. Features without any value are left out.

    Parameters
    ----------
    name : str
    fill : callable
        Gives the value that replaces the missing ones, per column; `numpy.nanmean` or `numpy.nanmedian`.
    """
    bunch = load_real(name)
    X = np.asarray(bunch.data, dtype=np.float64)
    X = X[:, ~np.isnan(X).all(axis=0)]
    missing = np.isnan(X)
    if missing.any():
        X = np.where(missing, fill(X, axis=0), X)
    return X, np.unique(bunch.target, return_inverse=True)[1]


def shifted(X: Array, seed: int, low: float = -3.0) -> Array:
    """Return columns shifted by constants between `low` and 3 of their standard deviations.

    Irrelevant features that are drawn with mean 0 would otherwise be given away by their means.
    """
    rng = np.random.default_rng([seed, 39])
    return X + rng.uniform(low, 3.0, X.shape[1]) * X.std(axis=0)


def standardised(X: Array) -> Array:
    """Return centred features of unit variance; constant features become 0."""
    deviation = X.std(axis=0)
    return (X - X.mean(axis=0)) / np.where(deviation > 0, deviation, np.inf)


def share_that_holds(weights: Array, energy: float = 0.9) -> float:
    """Return the share of the weights, largest first, that holds this share of the sum of their squares."""
    sums = np.cumsum(np.sort(weights**2)[::-1])
    return float(np.searchsorted(sums, energy * sums[-1]) + 1) / len(weights)


def markdown(header: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """Return a table in Markdown."""
    lines = ["| " + " | ".join(header) + " |", "|" + "---|" * len(header)]
    return "\n".join(lines + ["| " + " | ".join(row) + " |" for row in rows])


def mean(values: Array, digits: int = 2) -> str:
    """Return the mean as text; '-' for no values."""
    return f"{np.mean(values):.{digits}f}" if len(values) else "-"


def panels(titles: Sequence[str], width: float = 4.2) -> tuple[Any, list[Any]]:
    """Return a matplotlib figure and its axes, at most four side by side."""
    columns = min(4, len(titles))
    rows = -(-len(titles) // columns)
    picture, axes = plt.subplots(rows, columns, figsize=(width * columns, 3.3 * rows), squeeze=False)
    for ax in axes.flat[len(titles) :]:
        ax.set_axis_off()
    for ax, title in zip(axes.flat, titles, strict=False):
        ax.set_title(title, fontsize=9)
    picture.set_layout_engine("tight")
    return picture, list(axes.flat)


def draw_curves(ax: Any, x: Sequence[float] | Array, curves: Mapping[str, Sequence[Array]], **labels: Any) -> None:
    """Draw named curves: per point the mean over the runs, with the standard deviation as a band.

    Parameters
    ----------
    ax : matplotlib axes
    x : sequence of float
    curves : mapping of str to sequence of arrays
        Per curve and point the values of the runs. Points without values are left out.
    **labels
        For ``ax.set``.
    """
    for name, values in curves.items():
        points = [(place, np.mean(runs), np.std(runs)) for place, runs in zip(x, values, strict=True) if len(runs)]
        if points:
            places, mean, spread = np.array(points).T
            (line,) = ax.plot(places, mean, marker=".", label=name, linewidth=1.2)
            ax.fill_between(places, mean - spread, mean + spread, alpha=0.12, color=line.get_color())
    if ax.lines:  # an empty axis cannot have a logarithmic scale
        ax.set(**labels)
        ax.legend(fontsize=6)
