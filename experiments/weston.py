"""The two problems of Weston et al.: SVM test error on features chosen by filters, wrappers and Q-alpha."""

from collections.abc import Callable
from functools import partial
from itertools import product
from typing import Any

import numpy as np
from sklearn.feature_selection import RFE, f_classif
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

from eigensieve.datasets import make_weston_linear, make_weston_nonlinear
from eigensieve.estimators import FeatureMap, QAlphaSelector
from experiments.common import draw_curves, largest, markdown, mean, panels, standardised
from experiments.frame import Array, Check, Claim, Experiment, Reading, Results, mean_and_error, no_worse
from experiments.radius_margin import radius_margin_scales

LINEAR, NONLINEAR = "linear", "non-linear"
SIZES = {LINEAR: (20, 30, 50, 100), NONLINEAR: (30, 50, 100)}
CHOSEN = {LINEAR: 4, NONLINEAR: 2}
COUNTS = {LINEAR: (2, 4, 6), NONLINEAR: (2, 4)}
NORMALIZATIONS = ("center", "unit", "none")
READINGS: dict[str, dict[str, Any]] = {
    "k = 1": {"n_clusters": 1},
    "k = 2": {"n_clusters": 2},
    "k = 4": {"n_clusters": 4},
    "random start": {"solver_options": {"init": "random"}, "random_state": 0},
}
"""Of Q-alpha without labels, which judged counts clusters and starts from leading eigenvectors."""

_WEIGHTED = "center, all features times sqrt(alpha)"
_OPEN = {LINEAR: "linear, 100, readings", NONLINEAR: "non-linear, 100, readings"}
_TEST_POINTS, _RUNS = 500, 30
_RELEVANT = {LINEAR: 6, NONLINEAR: 2}
_UNSUPERVISED, _BLOCKS, _SPAN, _WRAPPER = "Q-alpha, no labels", "Q-alpha, blocks", "Q-alpha, span", "radius-margin"


def _pearson(X: Array, y: Array) -> Array:
    return np.abs(standardised(X).T @ (y - y.mean()))


def _fisher(X: Array, y: Array) -> Array:
    """Fisher's criterion (mu_+ - mu_-)^2 / (var_+ + var_-)."""
    one, other = X[y > 0], X[y < 0]
    return (one.mean(axis=0) - other.mean(axis=0)) ** 2 / (one.var(axis=0) + other.var(axis=0))


def _kolmogorov_smirnov(X: Array, y: Array) -> Array:
    """Return the largest distance between the two classes' distribution functions, per feature."""
    steps = np.where(y > 0, 1 / np.sum(y > 0), -1 / np.sum(y < 0))
    return np.abs(np.cumsum(steps[np.argsort(X, axis=0)], axis=0)).max(axis=0)


def _weights(X: Array, y: Array, **settings: Any) -> Array:
    classes = (y > 0).astype(int)  # -1 would mean a sample without label
    return QAlphaSelector(1, **{"normalize": "center", **settings}).fit(X, classes).weights_


def _svm(problem: str) -> SVC:
    return SVC(kernel="linear") if problem == LINEAR else SVC(kernel="poly", degree=2, coef0=1.0)


def quadratic_elimination(X: Array, y: Array, count: int) -> Array:
    """Return the features that RFE keeps with an SVM of degree 2 (Guyon et al., 2002).

    A tenth of the features is dropped per step: those without which |w|^2, at the same dual coefficients d, changes
    least. With inner products B and the scale p, leaving out x changes d'(1 + B)^2 d by 2 p (dx)'(1 + B)(dx) -
    p^2 (d'x^2)^2.
    """
    left = np.arange(X.shape[1])
    while len(left) > count:
        scale = 1.0 / len(left)
        base = 1.0 + scale * X[:, left] @ X[:, left].T
        machine = SVC(kernel="precomputed").fit(base**2, y)
        dual, own = machine.dual_coef_[0], X[np.ix_(machine.support_, left)]
        weighted = dual[:, None] * own
        inner = base[np.ix_(machine.support_, machine.support_)]
        change = 2 * scale * np.sum(weighted * (inner @ weighted), axis=0) - (scale * dual @ own**2) ** 2
        kept = max(count, len(left) - max(1, len(left) // 10))
        left = left[np.sort(largest(np.abs(change), kept))]
    return left


def _choices(problem: str) -> dict[str, Callable[[Array, Array], Array]]:
    """From training data to the chosen features. The first and the last are limits."""
    count = CHOSEN[problem]

    def best(score: Callable[[Array, Array], Array]) -> Callable[[Array, Array], Array]:
        return lambda X, y: largest(score(X, y), count)

    choices = {
        "SVM, all features": lambda X, y: np.arange(X.shape[1]),
        "Pearson": best(_pearson),
        "F-test": best(lambda X, y: f_classif(X, y)[0]),
        "Fisher": best(_fisher),
        "Kolmogorov-Smirnov": best(_kolmogorov_smirnov),
        _WRAPPER: best(lambda X, y: radius_margin_scales(standardised(X), y, count, degree=1 + (problem != LINEAR))),
        _UNSUPERVISED: best(lambda X, y: _weights(X, y, supervision="ignore")),
        _BLOCKS: best(lambda X, y: _weights(X, y, criterion="blocks")),
        _SPAN: best(_weights),
        "FeatureMap, 2 rounds": lambda X, y: (
            FeatureMap(count, round_strength=0.1, normalize="center")
            .fit(X, (y > 0).astype(int))
            .get_support(indices=True)
        ),
        "the relevant features": lambda X, y: np.arange(_RELEVANT[problem]),
    }
    if problem == LINEAR:
        choices["RFE"] = lambda X, y: np.flatnonzero(
            RFE(SVC(kernel="linear"), n_features_to_select=count, step=0.1).fit(standardised(X), y).support_
        )
    else:
        choices["RFE"] = lambda X, y: quadratic_elimination(standardised(X), y, count)
    return choices


def run(case: str, number: int) -> dict[str, Any]:
    """Return the test error per method for one draw; the case is the problem and the number of training points."""
    problem, size, *open_choices = case.split(", ")
    make = make_weston_linear if problem == LINEAR else make_weston_nonlinear
    rng = np.random.default_rng([number, int(size)])
    train, test = make(int(size), random_state=rng), make(_TEST_POINTS, random_state=rng)

    def error(chosen: Array) -> float:
        model = make_pipeline(StandardScaler(), _svm(problem)).fit(train.X[:, chosen], train.y)
        return 1.0 - float(model.score(test.X[:, chosen], test.y))

    if not open_choices:
        return {name: error(choose(train.X, train.y)) for name, choose in _choices(problem).items()}
    found = {}
    for normalize in NORMALIZATIONS:
        for name, settings in ((_BLOCKS, {"criterion": "blocks"}), (_UNSUPERVISED, {"supervision": "ignore"})):
            weights = _weights(train.X, train.y, normalize=normalize, **settings)
            for count in COUNTS[problem]:
                found[f"{name}, {normalize}, {count}"] = error(largest(weights, count))
            if normalize == "center":
                scale = np.sqrt(np.maximum(weights, 0)) / train.X.std(axis=0)
                machine = _svm(problem).fit(train.X * scale, train.y)
                found[f"{name}, {_WEIGHTED}"] = 1.0 - float(machine.score(test.X * scale, test.y))
    for reading, settings in READINGS.items():
        chosen = largest(_weights(train.X, train.y, supervision="ignore", **settings), CHOSEN[problem])
        found[f"{_UNSUPERVISED}, center, {CHOSEN[problem]}, {reading}"] = error(chosen)
    return found


def _case(problem: str, size: int) -> str:
    return f"{problem}, {size}"


def table(results: Results) -> str:
    """Return the mean errors, one line per method."""
    cases = results.having(_case(problem, size) for problem in SIZES for size in SIZES[problem])
    methods = dict.fromkeys(method for problem in SIZES for method in _choices(problem))
    rows = []
    for method in methods:
        values = [results.values(case, method) for case in cases]
        rows.append([method, *(f"{found.mean():.3f}" if len(found) else "-" for found in values)])
    return markdown(["test error at", *cases], rows)


def _against(problem: str, method: str, other: str, results: Results) -> list[Check]:
    """The papers' curves have no numbers: the other method is measured here, on the same draws."""
    return [
        check
        for size in SIZES[problem]
        for check in no_worse(
            f"{size} points",
            results.values(_case(problem, size), method),
            results.values(_case(problem, size), other),
            other,
        )
    ]


def conclude(results: Results) -> str:
    """Return the conclusion."""
    at = {name: mean(results.values(_case(LINEAR, 100), name), 3) for name in (_BLOCKS, _WRAPPER, _UNSUPERVISED)}
    bent = {name: mean(results.values(_case(NONLINEAR, 100), name), 3) for name in (_BLOCKS, _WRAPPER, _UNSUPERVISED)}
    least = {key: _lowest(results, *key) for key in product(_OPEN, (_BLOCKS, _UNSUPERVISED))}
    return (
        f"Non-linear problem: the printed class blocks do as well as the wrapper at every size ({bent[_BLOCKS]} and "
        f"{bent[_WRAPPER]} at 100 points). Linear problem: they do not ({at[_BLOCKS]} and {at[_WRAPPER]}; the lowest "
        f"of all readings: {least[LINEAR, _BLOCKS]}). Without labels the errors are {at[_UNSUPERVISED]} (linear) and "
        f"{bent[_UNSUPERVISED]} (non-linear); the lowest: {least[LINEAR, _UNSUPERVISED]} and "
        f"{least[NONLINEAR, _UNSUPERVISED]}."
    )


def _lowest(results: Results, problem: str, method: str) -> str:
    """Return the lowest mean error of a method over all readings of a problem."""
    found = [results.values(_OPEN[problem], f"{method}, {name}") for name in _names(problem)]
    return min((mean(errors, 3) for errors in found if len(errors)), default="-")


def _names(problem: str) -> list[str]:
    """Return the names of all readings of a problem; a method may lack some."""
    names = [f"{normalize}, {count}" for normalize, count in product(NORMALIZATIONS, COUNTS[problem])]
    return [*names, _WEIGHTED, *(f"center, {CHOSEN[problem]}, {reading}" for reading in READINGS)]


def open_choices(results: Results) -> list[Reading]:
    """Return the errors per normalisation, number of features, weighting, k and start, beside the wrapper's."""
    found = []
    for (problem, case), method in product(_OPEN.items(), (_BLOCKS, _UNSUPERVISED)):
        wrapper = results.values(_case(problem, 100), _WRAPPER)
        choice = f"{problem}, 100 points, {method}: `normalize`, features chosen, weighting, k, start"
        for name in _names(problem):
            errors = results.values(case, f"{method}, {name}")
            label = name + (" (judged)" if name == f"center, {CHOSEN[problem]}" else "")
            for check in no_worse("", errors, wrapper[: len(errors)], _WRAPPER):
                found.append(Reading(choice, label, mean_and_error(errors), f"as {check.against}", check.holds))
    return found


def draw(results: Results) -> Any:
    """Draw the errors against the number of training points, one panel per problem."""
    picture, axes = panels(list(SIZES), width=6)
    for ax, (problem, sizes) in zip(axes, SIZES.items(), strict=True):
        curves = {
            method: [results.values(_case(problem, size), method) for size in sizes] for method in _choices(problem)
        }
        draw_curves(ax, sizes, curves, xlabel="training points", ylabel="test error")
    return picture


_CASES = [_case(problem, size) for problem in SIZES for size in SIZES[problem]]

EXPERIMENT = Experiment.of(
    __name__,
    name="weston",
    title="Weston's linear and non-linear problems",
    paper="wolf-shashua 2003 and 2005",
    section="2005: section 6, Fig. 3a; 2003: Fig. 2a",
    protocol="An SVM (linear; of degree 2 for the non-linear problem) is trained on 4 chosen features (2 for the "
    "non-linear problem); its error on 500 test points is averaged over 30 draws. Q-alpha centres the features.",
    stand_in="the papers' curves have no numbers, so Q-alpha is compared with the wrapper as measured here. "
    "`FeatureMap` and the label span (`span`) are this library's; they are shown and decide nothing.",
    runs=dict.fromkeys([*_CASES, *_OPEN.values()], _RUNS),
    quick={_case(NONLINEAR, 50): 3, _case(LINEAR, 50): 3, _OPEN[LINEAR]: 2},
    claims=(
        Claim(
            "Linear: Q-alpha with labels closely agrees with the wrapper.", partial(_against, LINEAR, _BLOCKS, _WRAPPER)
        ),
        Claim(
            "Linear: without labels Q-alpha does not fall much behind.",
            partial(_against, LINEAR, _UNSUPERVISED, _WRAPPER),
        ),
        Claim("Non-linear: similar results, with labels.", partial(_against, NONLINEAR, _BLOCKS, _WRAPPER)),
        Claim("Non-linear: similar results, without labels.", partial(_against, NONLINEAR, _UNSUPERVISED, _WRAPPER)),
    ),
)
