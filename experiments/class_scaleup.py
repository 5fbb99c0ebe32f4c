"""More and more classes: how far the relevant weights stand out (2003, Fig. 2b; 2005, Fig. 3b)."""

from collections.abc import Callable
from typing import Any

import numpy as np

from eigensieve.datasets import make_class_scaleup
from eigensieve.estimators import QAlphaSelector
from eigensieve.theory import sparsity_gap
from experiments.common import draw_curves, largest, markdown, panels
from experiments.frame import Array, Check, Claim, Experiment, Results, figure, statement

CLASSES = tuple(range(2, 11))
CHOICES: dict[str, Callable[[int], int]] = {
    "k = nc": lambda nc: nc,
    "k = nc + 2": lambda nc: nc + 2,
    "k = max(1, nc - 2)": lambda nc: max(1, nc - 2),
}
_SAME, _MORE, _FEWER = CHOICES
_RUNS = {"2003": 50, "2005": 20}


def run(case: str, number: int) -> dict[str, Any]:
    """Return the sparsity gap and the share of relevant features found, per choice of k, for one draw."""
    design, nc = case.split(", ")
    data = make_class_scaleup(int(nc), design=design, random_state=np.random.default_rng([number, int(nc)]))  # type: ignore[arg-type]
    found = {}
    for name, k_of in CHOICES.items():
        weights = QAlphaSelector(1, n_clusters=k_of(int(nc))).fit(data.X).weights_
        count = int(data.relevant.sum())
        found[f"gap, {name}"] = min(sparsity_gap(weights, data.relevant), 1e3)
        found[f"found, {name}"] = float(data.relevant[largest(weights, count)].mean())
    return found


def _gap(results: Results, nc: int, choice: str) -> Array:
    return results.values(f"2005, {nc}", f"gap, {choice}")


def _ratio(results: Results, nc: int, choice: str) -> float:
    """The score of 2003: probability that a relevant feature is chosen over that of an irrelevant one.

    If no irrelevant feature was ever chosen, half a choice is counted.
    """
    found = results.values(f"2003, {nc}", f"found, {choice}")
    if not len(found):
        return np.nan
    wrong = max((1 - found.mean()) * 3, 0.5 / len(found)) / 70
    return float(found.mean() / wrong)


def table(results: Results) -> str:
    """Return the score of each design per number of classes and choice of k."""
    rows = [["2003", name, *(f"{_ratio(results, nc, name):.1f}" for nc in CLASSES)] for name in CHOICES]
    for name in CHOICES:
        cells = [
            f"{gap.mean():.1f} ({np.percentile(gap, 25):.1f} to {np.percentile(gap, 75):.1f})" if len(gap) else "-"
            for gap in (_gap(results, nc, name) for nc in CLASSES)
        ]
        rows.append(["2005", name, *cells])
    return markdown(["design", "k", *(f"{nc} classes" for nc in CLASSES)], rows).replace("nan", "-")


def _well(results: Results) -> list[Check]:
    return [
        check
        for nc in CLASSES[:5]
        for check in figure(f"{nc} classes", 5.0, _gap(results, nc, _SAME), "higher", digits=1)
    ]


def _best(classes: tuple[int, ...], wanted: str, measure: Callable[[Array], float], what: str, sign: int) -> Any:
    """Checks that one choice of k has the largest (or, with sign -1, the smallest) mean or spread of the gap."""

    def checks(results: Results) -> list[Check]:
        found = []
        for nc in classes:
            gaps = {name: _gap(results, nc, name) for name in CHOICES}
            if all(len(gap) for gap in gaps.values()):
                values = {name: float(measure(gap)) for name, gap in gaps.items()}
                ours = ", ".join(f"{name}: {value:.1f}" for name, value in values.items())
                best = max(values, key=lambda name: sign * values[name])
                found.append(statement(f"{nc} classes", f"{wanted} has the {what}", ours, best == wanted))
        return found

    return checks


def _until_five(results: Results) -> list[Check]:
    if not results.having([f"2003, {nc}" for nc in (2, 5)]):
        return []
    ratios = {nc: _ratio(results, nc, _SAME) for nc in CLASSES if results.count(f"2003, {nc}")}
    return [
        statement(f"{nc} classes", "high (above 10)", f"{ratio:.1f}", ratio > 10)
        for nc, ratio in ratios.items()
        if nc <= 5
    ]


def _falls(results: Results) -> list[Check]:
    at_five = _ratio(results, 5, _SAME)
    return [
        statement(
            f"{nc} classes", "a sharp fall after 5 (below half)", f"{ratio:.1f} of {at_five:.1f}", 2 * ratio < at_five
        )
        for nc, ratio in ((nc, _ratio(results, nc, _SAME)) for nc in (6, 7, 8))
        if not np.isnan(ratio + at_five)
    ]


def draw(results: Results) -> Any:
    """Draw both figures."""
    picture, axes = panels(["2003: ratio of probabilities", "2005: sparsity gap"], width=6)
    ratios = {
        name: [np.array([_ratio(results, nc, name)] * results.count(f"2003, {nc}")) for nc in CLASSES]
        for name in CHOICES
    }
    draw_curves(axes[0], CLASSES, ratios, xlabel="classes", yscale="log")
    gaps = {name: [_gap(results, nc, name) for nc in CLASSES] for name in CHOICES}
    draw_curves(axes[1], CLASSES, gaps, xlabel="classes")
    return picture


EXPERIMENT = Experiment(
    name="class-scaleup",
    title="More and more classes",
    paper="wolf-shashua 2003 and 2005",
    section="2003: section 6, Fig. 2b; 2005: section 6, Fig. 3b",
    protocol="Clusters in 3 (2003) or 5 (2005) features stand beside 70 or 120 features that were permuted over the "
    "samples; the number of classes grows. The score is the ratio of the probabilities of being chosen (2003, 50 "
    "draws) or of the mean weights (2005, 20 draws), for three choices of k.",
    runs={f"{design}, {nc}": count for design, count in _RUNS.items() for nc in CLASSES},
    quick={f"{design}, {nc}": 4 for design in ("2005", "2003") for nc in (2, 4, 5, 6, 8)},
    run=run,
    table=table,
    draw=draw,
    claims=(
        Claim("2005: good performance up to 6 classes, with a gap of 5 or more (k = nc).", _well),
        Claim("2005: k = nc is best for few classes.", _best((2, 3, 4), _SAME, np.mean, "largest mean", 1)),
        Claim(
            "2005: k = nc - 2 is best on average for many classes.",
            _best((7, 8, 9, 10), _FEWER, np.mean, "largest mean", 1),
        ),
        Claim("2005: k = nc + 2 has a smaller variance.", _best(CLASSES, _MORE, np.std, "smallest spread", -1)),
        Claim("2005: k = nc - 2 has the largest variance.", _best(CLASSES, _FEWER, np.std, "largest spread", 1)),
        Claim("2003: the algorithm performs well until 5 classes.", _until_five),
        Claim("2003: performance falls sharply after 5 classes.", _falls),
    ),
)
