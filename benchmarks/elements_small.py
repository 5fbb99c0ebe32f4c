"""Machines of 1, 4 and 16 kB in C: elements, boosted trees, lines, networks, Nystroem maps. One table per size.

All files are compiled by the same ``gcc -O2``. Bytes are code and constants, stack is what a call needs, both as the
compiler says. Each family takes the largest machine that fits: elements by their number, trees of 4 leaves by their
number, networks by hidden units, lines by features of largest F, Nystroem maps by landmarks. Times are of one sample
after the other, taken in turn. Areas under the ROC are means over `REPORTED`, on which no setting was chosen; "ahead"
counts the problems on which the area is not below that of the trees by more than 0.0005. Trees have the better of the
rates 0.1 and 0.3 on `CHOSEN_ON`. m2cgen, if it is installed, writes a random forest; it does not know scikit-learn's
boosted trees.

Run: python benchmarks/elements_small.py [number of splits] [problem ...]
"""

import ctypes
import sys
import tempfile
import time
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
from sklearn.svm import SVC

from eigensieve import ElementSelectedSVC
from elements_exports import Built, flash, line_to_c, network_to_c, nystroem_to_c, trees_to_c
from elements_problems import REPORTED, Split, split

SIZES = (1024, 4096, 16384)
REPEATS = 7
TREES = {"max_leaf_nodes": 4, "max_depth": None, "learning_rate": 0.3, "random_state": 0}


def largest(make: Callable[[int], str], budget: int, folder: Path, guess: int, top: int) -> tuple[str | None, int]:
    """Return the source of the largest machine that fits, and its count; None if not even one of count 1 does."""
    low, high, best = 0, top + 1, None
    count = min(max(1, guess), top)
    for _ in range(12):
        source = make(count)
        if flash(source, folder)[0] <= budget:
            low, best = count, source
        else:
            high = count
        if high - low <= max(1, count // 25):
            break
        count = (low + high) // 2 if high <= top else min(2 * count, top)
        if count in (low, high):
            break
    return best, low


def elements(data: Split, svc: SVC, budget: int, folder: Path, precision: str) -> tuple[str | None, Any]:
    """Return the largest elements that fit, by a few fits, and the model."""
    kept: dict[int, Any] = {}

    def make(count: int) -> str:
        model = ElementSelectedSVC(svc, match="labels", n_elements=count, random_state=0)
        kept[count] = model.fit(data.X, data.y)
        return model.to_c("m", precision=precision)

    source, count = largest(make, budget, folder, budget // (30 if precision == "single" else 12), 1200)
    return source, kept.get(count)


def trees(data: Split, budget: int, folder: Path) -> Iterator[tuple[str, str | None]]:
    """Yield the first of many boosted trees that fit, and a forest of 8 leaves per tree as m2cgen writes it."""
    wide = 200 if data.X.shape[1] > 700 else None
    model = GradientBoostingClassifier(n_estimators=max(20, budget // 90), max_features=wide, **TREES)
    model.fit(data.X, data.y)
    made = largest(lambda k: trees_to_c(model, "m", k), budget, folder, budget // 120, len(model.estimators_))
    yield "trees of 4 leaves", made[0]
    try:
        import m2cgen
    except ImportError:
        return
    forest = RandomForestClassifier(max(10, budget // 250), max_leaf_nodes=8, random_state=0).fit(data.X, data.y)
    everything = forest.estimators_

    def export(count: int) -> str:
        forest.estimators_, forest.n_estimators = everything[:count], count
        return m2cgen.export_to_c(forest, function_name="score") + _ADAPTER.replace("FEATURES", str(data.X.shape[1]))

    yield "forest, m2cgen", largest(export, budget, folder, budget // 400, len(everything))[0]


_ADAPTER = """
void m_decision(const float *x, float *out)
{
    double z[FEATURES], p[2];
    int i;
    for (i = 0; i < FEATURES; i++) z[i] = x[i];
    score(z, p);
    out[0] = (float)p[1];
}
"""


def others(data: Split, svc: SVC, budget: int, folder: Path) -> Iterator[tuple[str, str | None]]:
    """Yield the largest line, network and Nystroem map that fit."""
    d = data.X.shape[1]
    with np.errstate(all="ignore"):
        order = np.argsort(-np.nan_to_num(f_classif(data.X, data.y)[0]), kind="stable")

    def line(count: int) -> str:
        model = LogisticRegression(C=0.1, max_iter=300).fit(data.X[:, order[:count]], data.y)
        weights = np.zeros(d)
        weights[order[:count]] = model.coef_[0]
        return line_to_c(weights, model.intercept_[0], "m")

    def network(count: int) -> str:
        return network_to_c(MLPClassifier((count,), alpha=0.1, max_iter=200, random_state=0).fit(data.X, data.y), "m")

    def landmarks(count: int) -> str:
        maps = Nystroem(gamma=svc._gamma, n_components=count, random_state=0)
        return nystroem_to_c(make_pipeline(maps, LogisticRegression(C=10, max_iter=300)).fit(data.X, data.y), "m")

    yield "logistic regression", largest(line, budget, folder, min(d, budget // 7), d)[0]
    top = max(0, (budget - 200) // (4 * (d + 2)))
    yield "network", largest(network, budget, folder, top, top)[0] if top else None
    top = min(top, len(data.y))
    yield "Nystroem", largest(landmarks, budget, folder, top, top)[0] if top else None


def machines(data: Split, budget: int, folder: Path) -> dict[str, tuple[Built, np.ndarray]]:
    """Return the machines of one size in C, each with the test samples as it takes them."""
    svc = SVC(C=10).fit(data.X, data.y)
    sources: dict[str, str | None] = {}
    sources["elements"], _ = elements(data, svc, budget, folder, "single")
    whole, model = elements(data, svc, budget, folder, "int8")
    sources |= dict(trees(data, budget, folder)) | dict(others(data, svc, budget, folder))
    made = {name: (Built(source, folder), data.X_test) for name, source in sources.items() if source is not None}
    if whole is not None:
        made["elements, int8"] = (Built(whole, folder, ctypes.c_ubyte, ctypes.c_long), model.to_levels(data.X_test))
    return made


NAMES = (
    "elements",
    "elements, int8",
    "trees of 4 leaves",
    "forest, m2cgen",
    "logistic regression",
    "network",
    "Nystroem",
)


def run(name: str, seed: int, budget: int) -> dict[str, list[float]]:
    """Return area, bytes, stack and nanoseconds of each machine on one split."""
    data = split(name, seed)
    with tempfile.TemporaryDirectory() as folder:
        made = machines(data, budget, Path(folder))
        times: dict[str, list[float]] = {label: [] for label in made}
        areas = {}
        for _ in range(REPEATS):
            for label, (built, samples) in made.items():
                scores, took = built.scores(samples)
                times[label].append(took)
                areas[label] = roc_auc_score(data.y_test, scores)
    return {
        label: [areas[label], built.bytes, built.stack, float(np.median(times[label]))]
        for label, (built, _) in made.items()
    }


def main() -> None:
    """Print one table per size."""
    warnings.simplefilter("ignore")
    splits = int(sys.argv[1]) if len(sys.argv) > 1 else 1
    problems = sys.argv[2:] or list(REPORTED)
    begin = time.perf_counter()
    for budget in SIZES:
        found = {p: [run(p, seed, budget) for seed in range(splits)] for p in problems}
        print(f"\n{budget // 1024} kB, {len(problems)} problems, {splits} splits ({time.perf_counter() - begin:.0f} s)")
        print(
            f"{'':22s}{'problems':>9s}{'area':>9s}{'trees':>9s}{'ahead':>7s}{'bytes':>8s}{'stack':>8s}{'ns':>8s}{'/trees':>8s}"
        )
        for label in NAMES:
            rows, base = [], []
            for runs in found.values():
                if all(label in one and NAMES[2] in one for one in runs):
                    rows.append(np.mean([one[label] for one in runs], axis=0))
                    base.append(np.mean([one[NAMES[2]] for one in runs], axis=0))
            if not rows:
                print(f"{label:22s}{0:9d}  does not fit")
                continue
            ours, theirs = np.array(rows), np.array(base)
            area, size, stack, _ = ours.mean(axis=0)
            ahead = int((ours[:, 0] > theirs[:, 0] - 0.0005).sum())
            ratio = float(np.median(ours[:, 3] / theirs[:, 3]))
            print(
                f"{label:22s}{len(rows):9d}{area:9.4f}{theirs[:, 0].mean():9.4f}{ahead:7d}{size:8.0f}{stack:8.0f}"
                f"{np.median(ours[:, 3]):8.0f}{ratio:8.2f}",
                flush=True,
            )


if __name__ == "__main__":
    main()
