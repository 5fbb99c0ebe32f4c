"""The Laplacian spectrum measured: does it find the relevant features of non-negative data?"""

from typing import Any

import numpy as np

from eigensieve.estimators import QAlphaSelector
from experiments.common import markdown, panels, precision, shifted
from experiments.frame import Array, Check, Claim, Experiment, Results, mean_and_error, statement

KINDS = ("uniform", "gamma", "counts", "binary")
METHODS = {
    "Laplacian": {"spectrum": "laplacian"},
    "standard, unit": {"normalize": "unit"},
    "standard, centred": {"normalize": "center"},
}
_CLASSES, _PER_CLASS, _RELEVANT, _FEATURES = 3, 40, 10, 100


def _draw_data(kind: str, rng: np.random.Generator) -> tuple[Array, Array]:
    """Return non-negative data with 3 classes and 10 relevant features of 100.

    Irrelevant features are made like relevant ones and then permuted over the samples, so single features look alike.
    """
    y = np.repeat(np.arange(_CLASSES), _PER_CLASS)
    level = rng.uniform(0.1, 1.0, size=(_CLASSES, _FEATURES))[y]
    if kind == "uniform":
        X = level + rng.uniform(0, 0.5, size=level.shape)
    elif kind == "gamma":
        X = rng.gamma(4.0, level)
    elif kind == "counts":
        X = rng.poisson(10 * level).astype(float)
    else:
        X = (rng.random(level.shape) < level).astype(float)
    for column in X.T[_RELEVANT:]:
        rng.shuffle(column)
    return X, np.arange(_FEATURES) < _RELEVANT


def run(case: str, number: int) -> dict[str, Any]:
    """Return the precision of each spectrum on one draw of a kind of data."""
    X, relevant = _draw_data(case, np.random.default_rng([number, KINDS.index(case)]))
    X = shifted(X, number, low=0.0)  # upwards, because the affinities must stay non-negative
    return {
        name: precision(QAlphaSelector(1, n_clusters=_CLASSES, **settings).fit(X).weights_, relevant)  # type: ignore[arg-type]
        for name, settings in METHODS.items()
    }


def table(results: Results) -> str:
    """Return the precision per kind of data and spectrum."""
    rows = [
        [kind, *(mean_and_error(results.values(kind, name), 2) for name in METHODS), f"{_RELEVANT / _FEATURES:.2f}"]
        for kind in results.having(KINDS)
    ]
    return markdown(["data", *METHODS, "chance"], rows)


def _as_good(results: Results) -> list[Check]:
    means = {kind: [results.values(kind, name).mean() for name in METHODS] for kind in results.having(KINDS)}
    return [
        statement(kind, f"measured: standard, centred {standard:.2f}", f"{laplacian:.2f}", laplacian >= standard)
        for kind, (laplacian, _, standard) in means.items()
    ]


def conclude(results: Results) -> str:
    """Return the conclusion."""
    found = [[results.values(kind, name).mean() for kind in results.having(KINDS)] for name in METHODS]
    laplacian, _, standard = (f"{min(values):.2f} to {max(values):.2f}" for values in found)
    return (
        f"The papers print no experiment with the Laplacian. On four kinds of data its precision is {laplacian}, "
        f"chance is 0.10, and the standard spectrum of centred features gives {standard}."
    )


def draw(results: Results) -> Any:
    """Draw the precisions as bars."""
    picture, (ax,) = panels(["precision of the 10 largest weights (chance 0.1)"], width=6)
    kinds = results.having(KINDS)
    for i, name in enumerate(METHODS):
        values = [results.values(kind, name) for kind in kinds]
        means, spreads = [v.mean() for v in values], [v.std() for v in values]
        ax.bar(np.arange(len(kinds)) + 0.27 * i, means, 0.25, yerr=spreads, label=name)
    ax.set_xticks(np.arange(len(kinds)) + 0.27, kinds)
    ax.legend(fontsize=6)
    return picture


EXPERIMENT = Experiment(
    name="laplacian",
    title="The Laplacian spectrum",
    paper="wolf-shashua 2003 and 2005",
    section="the Laplacian in place of the affinity (2003: section 3; 2005: section 3)",
    protocol="Non-negative data of four kinds, 3 classes of 40 samples, 10 relevant features of 100; the irrelevant "
    "ones are permuted over the samples, and columns are shifted upwards by constants. Precision of the 10 largest "
    "weights, k = 3.",
    runs=dict.fromkeys(KINDS, 20),
    quick=dict.fromkeys(KINDS, 3),
    run=run,
    conclusion=conclude,
    table=table,
    draw=draw,
    claims=(Claim("The Laplacian can take the place of the affinity.", _as_good, "no experiment is printed"),),
)
