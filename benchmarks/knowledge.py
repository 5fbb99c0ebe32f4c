"""What the sieve makes of knowledge, beside other ways to use it.

    python benchmarks/knowledge.py labels       accuracy with features selected by classes, 8 or 17 peers
    python benchmarks/knowledge.py regression   R2 with features selected by numbers
    python benchmarks/knowledge.py few          2, 5 and 10 labels per class, the other samples without label
    python benchmarks/knowledge.py unwanted     shifted batches, changing light, four studies
    python benchmarks/knowledge.py pairs        two valid clusterings, pairs say which is meant
    python benchmarks/knowledge.py auto         false discoveries of the automatic number
    python benchmarks/knowledge.py cost         time over the fit without knowledge

The labelled sets of the data folder are sorted by name. Those at even positions are for choosing, the others for
reporting; ``--part`` says which. Their order is drawn once, ``--sets`` takes the first ones. Selection sees the
training part only: the sieve as it is, peers standardised. Every table ends with the sieve's lead over each peer: mean
over sets, standard error, and the p of a paired Wilcoxon test. Time ratios are over fits of the same run.
``--cache FOLDER`` keeps finished parts.
"""

import argparse
import json
import time
import warnings
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path

import numpy as np
from scipy.stats import wilcoxon
from sklearn.datasets import load_diabetes, make_friedman1, make_friedman2, make_friedman3
from sklearn.linear_model import LogisticRegression, RidgeCV
from sklearn.model_selection import KFold, StratifiedKFold
from sklearn.neighbors import KNeighborsClassifier, KNeighborsRegressor
from sklearn.svm import SVC, SVR

from eigensieve import SieveSelector
from eigensieve.datasets import load_real
from knowledge_cases import auto, pairs, unwanted
from knowledge_packages import PACKAGE_PEERS
from knowledge_peers import CLASS_PEERS, FEW_PEERS, TARGET_PEERS, Peer, load, scaled, set_names
from measure import interleaved

OURS = "sieve"
SIZES = (5, 10, 20, 50, 100)
TARGET_SIZES = (3, 5, 10, 20)
FEW = (2, 5, 10)

SLOW = "SVM-RFE"

Scores = dict[str, list[np.ndarray]]
"""Per method, one row per set: accuracy or R2 per size."""
Times = list[dict[str, float]]
"""Per set, the seconds of the methods that were run and not read from the cache."""


def sieve(X: np.ndarray, y: np.ndarray, count: int) -> np.ndarray:
    return SieveSelector(count, random_state=0).fit(X, y).selection_order_


def classifiers(n_neighbors: int = 5) -> list:
    return [LogisticRegression(max_iter=60, tol=1e-3), SVC(), KNeighborsClassifier(n_neighbors)]


def regressors() -> list:
    return [RidgeCV(np.logspace(-1, 3, 9)), SVR(), KNeighborsRegressor(5)]


def mean_score(machines: list, A: np.ndarray, y: np.ndarray, B: np.ndarray, z: np.ndarray) -> float:
    return float(np.mean([machine.fit(A, y).score(B, z) for machine in machines]))


# ---- tables


def print_table(scores: Scores, times: Times, columns: tuple[int, ...], per: str) -> None:
    """Print one row per method: mean, score per column, the sieve's lead, its p, and time over SVM-RFE's."""
    ours = np.array(scores[OURS])
    print(f"\n{len(ours)} sets\n")
    print("| | mean | " + " | ".join(f"{column} {per}" for column in columns) + " | lead of the sieve | p | time |")
    print("|---|" + "---|" * (len(columns) + 4))
    for name, rows in scores.items():
        mean = np.mean(rows, axis=0)
        lead = ours.mean(axis=1) - np.mean(rows, axis=1)
        error = lead.std(ddof=1) / np.sqrt(len(lead)) if len(lead) > 1 else np.nan
        p = wilcoxon(lead).pvalue if np.count_nonzero(lead) else np.nan
        beside = "" if name == OURS else f"{lead.mean():+.4f} ± {error:.4f}"
        chance = "" if name == OURS else f"{p:.4f}"
        both = np.array([(row[name], row[SLOW]) for row in times if name in row and SLOW in row]).reshape(-1, 2)
        ratio = f"{both[:, 0].sum() / both[:, 1].sum():.3f}" if len(both) else ""
        cells = [f"{mean.mean():.4f}", *(f"{value:.4f}" for value in mean), beside, chance, ratio]
        print(f"| {name} | " + " | ".join(cells) + " |")


class Cache:
    """Finished results, one JSON file per set and method; without a folder nothing is kept."""

    def __init__(self, folder: Path | None) -> None:
        self.folder = folder
        if folder is not None:
            folder.mkdir(parents=True, exist_ok=True)

    def result(self, key: str, work: Callable[[], tuple[np.ndarray, float]]) -> tuple[np.ndarray, float | None]:
        """Return scores and seconds; seconds are None when the result is not of this run."""
        if self.folder is None:
            return work()
        path = self.folder / f"{key}.json".replace(" ", "_")
        if path.exists():
            return np.array(json.loads(path.read_text())), None
        scores, seconds = work()
        path.write_text(json.dumps(scores.tolist()))
        return scores, seconds


def compare(
    sets: Iterator[tuple[str, np.ndarray, np.ndarray]],
    methods: dict[str, Peer],
    splits: Callable[[np.ndarray, np.ndarray], Iterator],
    machines: Callable[[], list],
    sizes: tuple[int, ...],
    cache: Cache,
    raw: bool = False,
) -> None:
    """Run every method inside the folds of every set. The sieve sees the columns in their own units, with `raw` all
    methods do."""
    scores: Scores = {name: [] for name in methods}
    times: Times = []

    def evaluate(select: Peer, X: np.ndarray, y: np.ndarray) -> tuple[np.ndarray, float]:
        rows, total = [], 0.0
        for train, test in splits(X, y):
            A, B = scaled(X[train], X[test])
            count = min(max(sizes), int(np.count_nonzero(A.any(axis=0))))
            own_units = (X[train] - X[train].mean(axis=0)) * A.any(axis=0)
            begin = time.perf_counter()
            order = select(own_units if raw or select is sieve else A, y[train], count)
            total += time.perf_counter() - begin
            tops = [order[:size] for size in sizes]
            rows.append([mean_score(machines(), A[:, some], y[train], B[:, some], y[test]) for some in tops])
        return np.mean(rows, axis=0), total

    for name, X, y in sets:
        measured: dict[str, float | None] = {}
        for method, select in methods.items():
            result, measured[method] = cache.result(f"{name}.{method}", partial(evaluate, select, X, y))
            scores[method].append(result)
        times.append({method: took for method, took in measured.items() if took is not None})
        print(f"# {name}: " + ", ".join(f"{m} {rows[-1].mean():.3f}" for m, rows in scores.items()), flush=True)
    print_table(scores, times, sizes, "features")


# ---- labels, numbers, few labels


def labels(args: argparse.Namespace) -> None:
    names = args.names or set_names(args.part, args.cap)[: args.sets]
    peers = CLASS_PEERS | (PACKAGE_PEERS if args.peers == "all" else {})
    methods = {OURS: sieve, **peers}
    folds = StratifiedKFold(args.folds, shuffle=True, random_state=0)
    sets = ((name, *load(name, args.cap)) for name in names)
    compare(sets, methods, folds.split, classifiers, SIZES, Cache(args.cache), args.raw)


def number_sets(part: str) -> Iterator[tuple[str, np.ndarray, np.ndarray]]:
    """Friedman's three problems, planted curves with near-copies, diabetes and Boston housing.

    All but the planted one get two noisy copies of every feature, and features of noise.
    """
    seed = 0 if part == "choose" else 50
    rng = np.random.default_rng(seed)

    def extended(X: np.ndarray, y: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        Z = (X - X.mean(axis=0)) / X.std(axis=0)
        copies = [Z + 0.5 * rng.standard_normal(Z.shape) for _ in range(2)]
        return np.hstack([Z, *copies, rng.standard_normal((len(Z), 60))]), y

    for draw in (seed, seed + 1):
        yield f"friedman1-{draw}", *extended(*make_friedman1(300, 10, noise=1, random_state=draw))
        yield f"friedman2-{draw}", *extended(*make_friedman2(300, noise=50, random_state=draw))
        yield f"friedman3-{draw}", *extended(*make_friedman3(300, noise=0.1, random_state=draw))
        X = rng.standard_normal((300, 200))
        y = X[:, 0] + np.sin(2 * X[:, 1]) + 0.7 * X[:, 2] ** 2 + np.exp(0.5 * X[:, 3]) + 0.5 * X[:, 4]
        X[:, 10:60] = np.repeat(X[:, :5], 10, axis=1) + 0.4 * rng.standard_normal((300, 50))
        yield f"planted-{draw}", X, y + 0.5 * rng.standard_normal(300)
    yield "diabetes", *extended(*load_diabetes(return_X_y=True))
    boston = load_real("boston_housing")
    yield "boston", *extended(np.nan_to_num(boston.data), boston.target.astype(float))


def regression(args: argparse.Namespace) -> None:
    sets = ((name, X, (y - y.mean()) / y.std()) for name, X, y in number_sets(args.part))
    folds = KFold(args.folds, shuffle=True, random_state=0)
    compare(sets, {OURS: sieve, **TARGET_PEERS}, folds.split, regressors, TARGET_SIZES, Cache(args.cache))


def some_labels(y: np.ndarray, per_class: int) -> np.ndarray:
    """Labels of so many samples per class, -1 elsewhere."""
    rng, given = np.random.default_rng(per_class), np.full(len(y), -1)
    for c in np.unique(y):
        some = rng.permutation(np.flatnonzero(y == c))[:per_class]
        given[some] = c
    return given


def few(args: argparse.Namespace) -> None:
    """Select by all training samples of which a few are labelled; classify by those few, with 10, 30, 100 features."""
    methods = {OURS: sieve, **FEW_PEERS}
    scores: Scores = {name: [] for name in methods}
    names = set_names(args.part, args.cap)
    for name in names[: args.sets]:
        X, y = load(name, args.cap)
        train, test = next(StratifiedKFold(3, shuffle=True, random_state=0).split(X, y))
        A, B = scaled(X[train], X[test])
        for method, select in methods.items():
            row = []
            for per_class in FEW:
                given = some_labels(y[train], per_class)
                known = given >= 0
                order = select(A, given, min(100, int(np.count_nonzero(A.any(axis=0)))))
                tops = [order[:size] for size in (10, 30, 100)]
                here = [mean_score(classifiers(3), A[known][:, t], given[known], B[:, t], y[test]) for t in tops]
                row.append(np.mean(here))
            scores[method].append(np.array(row))
        print(f"# {name}: " + ", ".join(f"{m} {np.round(rows[-1], 3)}" for m, rows in scores.items()), flush=True)
    print_table(scores, [], FEW, "labels")


# ---- cost


def cost(args: argparse.Namespace) -> None:
    """Print the time of every form over the fit without knowledge: medians, taking turns in one process."""
    print(
        "\n| samples x features | " + " | ".join(_forms(np.zeros((9, 2)), np.arange(9) % 3)) + " |\n|---" + "|---" * 7
    )
    real = {name: load(name, args.cap) for name in ("TOX_171", "BASEHOCK", "pollen", "USPS")}
    rng = np.random.default_rng(0)
    planted = rng.standard_normal((1_000, 5_000)), rng.integers(0, 3, 1_000)
    for name, (X, y) in {**real, "noise": planted}.items():
        forms = _forms(X, y)
        calls = {
            form: lambda X=X, known=known: SieveSelector(100, random_state=0).fit(X, **known)
            for form, known in forms.items()
        }
        for call in calls.values():
            call()
        medians = interleaved(calls, args.repeats)
        base = medians["nothing"]
        ratios = " | ".join(f"{median / base:.2f}" for median in medians.values())
        print(f"| {name}, {X.shape[0]} x {X.shape[1]:,}, {base:.2f} s | {ratios} |", flush=True)


def _forms(X: np.ndarray, y: np.ndarray) -> dict[str, dict]:
    rng = np.random.default_rng(1)
    chosen = np.array([rng.choice(len(y), 2, replace=False) for _ in range(50)])
    same = y[chosen[:, 0]] == y[chosen[:, 1]]
    batches = np.arange(len(y)) % 2
    return {
        "nothing": {},
        "labels": {"y": y},
        "few labels": {"y": some_labels(y, 5)},
        "numbers": {"y": X[:, 0] + 0.1 * rng.standard_normal(len(y))},
        "batches": {"batches": batches},
        "side": {"side": X[: len(y) // 3]},
        "pairs": {"must_link": chosen[same], "cannot_link": chosen[~same]},
    }


PARTS = {
    "labels": labels,
    "regression": regression,
    "few": few,
    "unwanted": unwanted,
    "pairs": pairs,
    "auto": auto,
    "cost": cost,
}

if __name__ == "__main__":
    warnings.filterwarnings("ignore")
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=PARTS)
    parser.add_argument("--part", choices=["choose", "report", "all"], default="report")
    parser.add_argument("--names", nargs="+", help="sets of the data folder for labels, in place of --part")
    parser.add_argument("--peers", choices=["own", "all"], default="own", help="all: those from packages as well")
    parser.add_argument("--raw", action="store_true", help="peers see columns in their own units for labels, too")
    parser.add_argument("--folds", type=int, default=3)
    parser.add_argument("--cap", type=int, default=300, help="most samples of a set")
    parser.add_argument("--sets", type=int, default=None, help="how many sets, in the drawn order")
    parser.add_argument("--draws", type=int, default=20, help="draws of planted data")
    parser.add_argument("--repeats", type=int, default=5, help="fits of which the median time is taken")
    parser.add_argument("--cache", type=Path, default=None, help="folder for finished results")
    arguments = parser.parse_args()
    PARTS[arguments.what](arguments)
