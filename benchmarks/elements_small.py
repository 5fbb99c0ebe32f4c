"""Machines of 1, 4 and 16 kB of flash: elements beside what a firmware engineer would take. One table per size.

Elements, boosted trees, forests as emlearn and m2cgen write them, lines, networks, Nystroem maps, ProtoNN and Bonsai.
All files are compiled by the same ``gcc -O2``. Bytes are code and constants, stack is what a call needs, both as the
compiler says (the mathematical library is not counted). Each family takes the largest machine that fits: elements by
their number, trees of 4 leaves by their number, networks by hidden units, lines by features of largest F, Nystroem maps
by landmarks, ProtoNN and Bonsai by entries of their projection. "16 bits" and "8 bits": elements take features in 8
bits, trees in 16; the others keep their constants in 8 bits and compute in floating point.

Elements are capped at `MOST`, which was chosen on `CHOSEN_ON` by area and time. Beyond 1 kB they then take less flash
than there is.

Times are of one sample after the other, machines in turn, on mixtures of two test samples, as many as stay in the
cache. They are drawn anew every time: of samples that are timed again, be it three thousand of them, the branch
predictor of a present processor knows the ways through the trees by heart. The column "again" is on the test samples
themselves, which are timed again and again.

Areas under the ROC are means over problems on which no setting was chosen; "level" counts those on which the area is
not below that of the trees by more than 0.0005. Trees have the better of the rates 0.1 and 0.3 on `CHOSEN_ON`. m2cgen
does not know scikit-learn's boosted trees. Needs emlearn and m2cgen (requirements-peers.txt), except for "pair", which
makes elements and boosted trees in floating point only.

Run: python benchmarks/elements_small.py results.jsonl [pair] reported|fresh|gathered|PROBLEM ... (continues from the
file)
"""

import ctypes
import json
import sys
import tempfile
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.ensemble import GradientBoostingClassifier, RandomForestClassifier
from sklearn.feature_selection import f_classif
from sklearn.kernel_approximation import Nystroem
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import roc_auc_score
from sklearn.neural_network import MLPClassifier
from sklearn.pipeline import make_pipeline

from eigensieve import ElementSelectedSVC
from elements_exports import (
    Built,
    emlearn_to_c,
    exact,
    flash,
    levels,
    line_to_c,
    m2cgen_to_c,
    network_to_c,
    nystroem_to_c,
    trees_to_c,
    whole,
)
from elements_papers import Bonsai, ProtoNN, bonsai_to_c, protonn_to_c
from elements_problems import FRESH, GATHERED, REPORTED, Split, split

USUAL = 0
"""No budget: 200 elements, 60 trees."""
SIZES = (USUAL, 1024, 4096, 16384)
MOST = {USUAL: 200, 1024: 42, 4096: 240, 16384: 1000}
REPEATS = 7
MIXED = 2**18
"""Numbers in the samples that are timed: 1 MB."""
TREES = {"max_leaf_nodes": 4, "max_depth": None, "learning_rate": 0.3, "random_state": 0}
STORES = {"": exact, ", 8 bits": whole}
PAPERS = {1024: (3, 6, 1), 4096: (6, 12, 2), 16384: (10, 20, 3)}
"""Projected features, prototypes, depth."""
Machine = tuple[str, np.ndarray, type, type]
"""Source, test samples, types of features and of the decision value."""


def largest(make: Callable[[int], str], budget: int, folder: Path, guess: int, top: int) -> str | None:
    """Return the source of the largest machine that fits; None if not even one of count 1 does."""
    if budget == USUAL:
        return make(guess)
    low, high, best = 0, top + 1, None
    count = min(max(1, guess), top)
    for _ in range(16):
        source = make(count)
        size = flash(source, folder)[0]
        if size <= budget:
            low, best = count, source
        else:
            high = count
        if high - low <= max(1, count // 25):
            break
        # In proportion, and never beyond the remaining size.
        count = min(max(int(0.99 * count * budget / size), low + 1), high - 1)
    return best


def floats(source: str | None, data: Split) -> Machine | None:
    """Return a machine on features in single precision."""
    return source and (source, data.X_test, ctypes.c_float, ctypes.c_float)


def elements(data: Split, budget: int, folder: Path, *, pair: bool) -> Iterator[tuple[str, Machine | None]]:
    """Yield the largest elements that fit."""
    for precision, per_element in (("single", 14),) if pair else (("single", 14), ("int8", 11)):
        kept: dict[str, Any] = {}

        def make(count: int, precision: str = precision, kept: dict = kept) -> str:
            model = ElementSelectedSVC(n_elements=count, random_state=0).fit(data.X, data.y)
            source = model.to_c("m", precision=precision)
            kept[source] = model
            return source

        source = largest(make, budget, folder, (budget - 300) // per_element if budget else 200, MOST[budget])
        if precision == "single":
            yield "elements", floats(source, data)
        else:
            samples = None if source is None else kept[source].to_levels(data.X_test)
            yield "elements, 8 bits", source and (source, samples, ctypes.c_ubyte, ctypes.c_long)


def boosted(data: Split) -> GradientBoostingClassifier:
    """Return more boosted trees than any size takes."""
    wide = 200 if data.X.shape[1] > 700 else None
    return GradientBoostingClassifier(n_estimators=max(SIZES) // 80, max_features=wide, **TREES).fit(data.X, data.y)


def trees(
    data: Split, model: GradientBoostingClassifier, budget: int, folder: Path, *, pair: bool
) -> Iterator[tuple[str, Machine | None]]:
    """Yield the first of many boosted trees that fit, and forests of 8 leaves per tree."""
    d = data.X.shape[1]
    count, whole_samples = len(model.estimators_), levels(data.X_test)
    guess = budget // 120 or 60
    yield "trees", floats(largest(lambda k: trees_to_c(model, "m", k), budget, folder, guess, count), data)
    if pair:
        return
    source = largest(lambda k: trees_to_c(model, "m", k, fixed=True), budget, folder, guess, count)
    yield "trees, 16 bits", source and (source, whole_samples, ctypes.c_short, ctypes.c_int)
    if budget == USUAL:
        return
    for label, samples, to_c in (
        ("forest, m2cgen", data.X, m2cgen_to_c),
        ("forest, emlearn", data.X, lambda forest, d: emlearn_to_c(forest, d, "float")),
        ("forest, emlearn, 16 bits", levels(data.X), lambda forest, d: emlearn_to_c(forest, d, "int16_t")),
    ):

        def export(count: int, samples: np.ndarray = samples, to_c: Callable = to_c) -> str:
            return to_c(RandomForestClassifier(count, max_leaf_nodes=8, random_state=0).fit(samples, data.y), d)

        source = largest(export, budget, folder, budget // 300, budget // 100)
        if "16" in label:
            yield label, source and (source, whole_samples, ctypes.c_short, ctypes.c_float)
        else:
            yield label, floats(source, data)


def others(data: Split, budget: int, folder: Path) -> Iterator[tuple[str, Machine | None]]:
    """Yield the largest line, network, Nystroem map, ProtoNN and Bonsai that fit, in both ways to store constants."""
    X, y, d = data.X, data.y, data.X.shape[1]
    with np.errstate(all="ignore"):
        order = np.argsort(-np.nan_to_num(f_classif(X, y)[0]), kind="stable")
    projected, prototypes, depth = PAPERS[budget]

    def line(count: int, store: Callable) -> str:
        model = LogisticRegression(C=0.1, max_iter=300).fit(X[:, order[:count]], y)
        weights = np.zeros(d)
        weights[order[:count]] = model.coef_[0]
        return line_to_c(weights, model.intercept_[0], "m", store)

    def network(count: int, store: Callable) -> str:
        return network_to_c(MLPClassifier((count,), alpha=0.1, max_iter=200, random_state=0).fit(X, y), "m", store)

    def landmarks(count: int, store: Callable) -> str:
        maps = Nystroem(gamma=1.0 / (d * X.var()), n_components=count, random_state=0)
        return nystroem_to_c(make_pipeline(maps, LogisticRegression(C=10, max_iter=300)).fit(X, y), "m", store)

    def protonn(count: int, store: Callable) -> str:
        return protonn_to_c(ProtoNN(X, y, projected, prototypes).fit(X, y, count), "m", store)

    def bonsai(count: int, store: Callable) -> str:
        return bonsai_to_c(Bonsai(X, y, projected, depth).fit(X, y, count), "m", store)

    for suffix, store in STORES.items():
        each = 1 if suffix else 4
        rows = max(0, (budget - 350) // (each * (d + 2)))
        papers = max(1, (budget - 700 - 40 * each * projected) // (each + 2))
        for label, make, guess, top in (
            ("logistic regression", line, (budget - 200) // (each + 2), d),
            ("network", network, rows, rows),
            ("Nystroem", landmarks, rows, min(rows, len(y))),
            ("ProtoNN", protonn, papers, d * projected),
            ("Bonsai", bonsai, papers, d * projected),
        ):
            source = largest(lambda k, m=make, s=store: m(k, s), budget, folder, guess, top) if top else None
            yield label + suffix, floats(source, data)


def mixed(samples: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Return new mixtures of two samples, as many as are timed."""
    count = min(3000, max(64, MIXED // samples.shape[1]))
    one, other = samples[rng.integers(len(samples), size=(2, count))].astype(float)
    share = rng.uniform(size=(count, 1))
    return share * one + (1.0 - share) * other


def run(data: Split, model: GradientBoostingClassifier, budget: int, *, pair: bool) -> dict[str, list[float]]:
    """Return area, bytes, stack and nanoseconds of each machine of one size, on mixtures and on the test samples."""
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary)
        made = {
            label: (Built(machine[0], folder, *machine[2:]), machine[1])
            for family in (elements(data, budget, folder, pair=pair), trees(data, model, budget, folder, pair=pair))
            for label, machine in family
            if machine is not None
        }
        for label, machine in others(data, budget, folder) if budget and not pair else ():
            if machine is not None:
                made[label] = Built(machine[0], folder), machine[1]
        times: dict[str, list[tuple[float, float]]] = {label: [] for label in made}
        areas, rng = {}, np.random.default_rng(0)
        for _ in range(REPEATS):
            for label, (built, samples) in made.items():
                scores, took = built.scores(samples)
                times[label].append((built.scores(mixed(samples, rng))[1], took))
                areas[label] = float(roc_auc_score(data.y_test, scores))
    return {
        label: [areas[label], b.bytes, b.stack, *np.min(times[label], axis=0).tolist()]
        for label, (b, _) in made.items()
    }


def table(found: list[dict[str, list[float]]]) -> None:
    """Print the means of one size; problems on which a family does not fit are left out of its row."""
    print(
        f"{'':26s}{'fits':>5s}{'area':>9s}{'trees':>9s}{'error':>8s}{'level':>7s}{'bytes':>8s}{'stack':>7s}{'ns':>7s}"
        f"{'/trees':>8s}{'again':>8s}"
    )
    for label in max(found, key=len):
        base = "trees, 16 bits" if "bits" in label else "trees"
        rows = [(one[label], one[base]) for one in found if label in one and base in one]
        ours, theirs = (np.array(part) for part in zip(*rows, strict=True))
        area, size, stack = ours[:, :3].mean(axis=0)
        other = theirs[:, 0].mean()
        error = float((ours[:, 0] - theirs[:, 0]).std() / np.sqrt(len(rows)))
        level = int((ours[:, 0] > theirs[:, 0] - 0.0005).sum())
        ratio, again = np.median(ours[:, 3:] / theirs[:, 3:], axis=0)
        print(
            f"{label:26s}{len(rows):5d}{area:9.4f}{other:9.4f}{error:8.4f}{level:7d}{size:8.0f}{stack:7.0f}"
            f"{np.median(ours[:, 3]):7.0f}{ratio:8.2f}{again:8.2f}"
        )


def main() -> None:
    """Measure what the file does not hold yet, and print one table per size."""
    warnings.simplefilter("ignore")
    results = Path(sys.argv[1])
    groups = {"reported": list(REPORTED), "fresh": list(FRESH), "gathered": list(GATHERED)}
    pair = "pair" in sys.argv
    problems = [p for word in sys.argv[2:] if word != "pair" for p in groups.get(word, [word])]
    known = [json.loads(line) for line in results.read_text().splitlines()] if results.exists() else []
    done = {(one["problem"], one["budget"]): one["machines"] for one in known}
    for problem in problems:
        missing = [budget for budget in SIZES if (problem, budget) not in done]
        if missing:
            data = split(problem, 0)
            model = boosted(data)
            for budget in missing:
                done[problem, budget] = run(data, model, budget, pair=pair)
                record = {"problem": problem, "budget": budget, "machines": done[problem, budget]}
                with results.open("a") as file:
                    file.write(json.dumps(record) + "\n")
    for budget in SIZES:
        size = f"{budget // 1024} kB" if budget else "200 elements, 60 trees"
        print(f"\n{size}, {len(problems)} problems")
        table([done[problem, budget] for problem in problems])


if __name__ == "__main__":
    main()
