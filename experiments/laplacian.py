"""The Laplacian spectrum measured: does it find the relevant features of non-negative data?"""

from typing import Any

import numpy as np

from eigensieve.estimators import QAlphaSelector
from experiments.common import markdown, panels, precision, shifted
from experiments.frame import Array, Check, Claim, Experiment, Reading, Results, mean_and_error, statement

KINDS = ("uniform", "gamma", "counts", "binary")
_CLASSES, _PER_CLASS, _RELEVANT, _FEATURES = 3, 40, 10, 100
_COMPARED, _MOVING, _PRINTED = ("Laplacian", "standard, centred"), "Laplacian, moving d", "Laplacian, as printed"
_COLUMNS = ("Laplacian", _MOVING, _PRINTED, "standard, unit", "standard, centred")
_LAPLACIAN: dict[str, Any] = {"spectrum": "laplacian"}
METHODS: dict[str, dict[str, Any]] = {
    "Laplacian": _LAPLACIAN,
    _MOVING: {**_LAPLACIAN, "solver": "power", "solver_options": {"shift": "moving", "max_iter": 2000}},
    _PRINTED: {**_LAPLACIAN, "solver": "power", "solver_options": {"shift": "printed", "max_iter": 2000}},
    "standard, unit": {"normalize": "unit"},
    "standard, centred": {"normalize": "center"},
    "Laplacian, k = 2": {**_LAPLACIAN, "n_clusters": 2},
    "Laplacian, k = 6": {**_LAPLACIAN, "n_clusters": 6},
    "Laplacian, random start": {**_LAPLACIAN, "solver_options": {"init": "random"}, "random_state": 0},
    "Laplacian, gap": {**_LAPLACIAN, "criterion": "gap"},
}


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
        name: precision(QAlphaSelector(1, **{"n_clusters": _CLASSES, **settings}).fit(X).weights_, relevant)
        for name, settings in METHODS.items()
    }


def table(results: Results) -> str:
    """Return the precision per kind of data and spectrum."""
    rows = [
        [kind, *(mean_and_error(results.values(kind, name), 2) for name in _COLUMNS), f"{_RELEVANT / _FEATURES:.2f}"]
        for kind in results.having(KINDS)
    ]
    return markdown(["data", *_COLUMNS, "chance"], rows)


def _as_good(results: Results) -> list[Check]:
    means = {kind: [results.values(kind, name).mean() for name in _COMPARED] for kind in results.having(KINDS)}
    return [
        statement(kind, f"measured: standard, centred {standard:.2f}", f"{laplacian:.2f}", laplacian >= standard)
        for kind, (laplacian, standard) in means.items()
    ]


def conclude(results: Results) -> str:
    """Return the conclusion."""
    found = [[results.values(kind, name).mean() for kind in results.having(KINDS)] for name in (*_COMPARED, _PRINTED)]
    laplacian, standard, printed = (f"{min(values):.2f} to {max(values):.2f}" for values in found)
    return (
        f"The papers print no experiment with the Laplacian. On four kinds of data its precision is {laplacian}, "
        f"with d as printed {printed}; chance is 0.10, and the standard spectrum of centred features gives {standard}."
    )


def open_choices(results: Results) -> list[Reading]:
    """Return the precision with d fixed, moved, and as printed, and with another k, start and criterion."""
    names = {
        _COMPARED[0]: "d of the start, from degrees, fixed; k = 3 (judged)",
        _MOVING: "d from degrees, moved in every step",
        _PRINTED: "d from diag(A), moved in every step (as printed)",
        **{name: name.removeprefix("Laplacian, ") for name in METHODS if name not in _COLUMNS},
    }
    found = []
    for kind in results.having(KINDS):
        standard = results.values(kind, _COMPARED[1]).mean()
        for key, name in names.items():
            values = results.values(kind, key)
            against = f"nothing; standard, centred gives {standard:.2f}"
            found.append(
                Reading(
                    f"d, k, start, criterion, {kind}",
                    name,
                    mean_and_error(values, 2),
                    against,
                    values.mean() >= standard,
                )
            )
    return found


def draw(results: Results) -> Any:
    """Draw the precisions as bars."""
    picture, (ax,) = panels(["precision of the 10 largest weights (chance 0.1)"], width=6)
    kinds = results.having(KINDS)
    for i, name in enumerate(_COLUMNS):
        values = [results.values(kind, name) for kind in kinds]
        means, spreads = [v.mean() for v in values], [v.std() for v in values]
        ax.bar(np.arange(len(kinds)) + 0.16 * i, means, 0.15, yerr=spreads, label=name)
    ax.set_xticks(np.arange(len(kinds)) + 0.32, kinds)
    ax.legend(fontsize=6)
    return picture


EXPERIMENT = Experiment.of(
    __name__,
    name="laplacian",
    title="The Laplacian spectrum",
    paper="wolf-shashua 2003 and 2005",
    section="the Laplacian in place of the affinity (2003: section 3; 2005: section 3)",
    protocol="Non-negative data of four kinds, 3 classes of 40 samples, 10 relevant features of 100; the irrelevant "
    "ones are permuted over the samples, and columns are shifted upwards by constants. Precision of the 10 largest "
    "weights, k = 3.",
    runs=dict.fromkeys(KINDS, 20),
    quick=dict.fromkeys(KINDS, 3),
    claims=(Claim("The Laplacian can take the place of the affinity.", _as_good, "no experiment is printed"),),
)
