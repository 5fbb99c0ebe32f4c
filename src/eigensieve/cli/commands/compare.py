"""``eigensieve compare``: several selectors on the user's own labelled data."""

import warnings
from collections.abc import Callable
from dataclasses import dataclass
from itertools import product
from typing import Annotated, Any

import numpy as np
import typer

from eigensieve._types import Array, IntArray, JsonDict, MatrixLike
from eigensieve._words import counted
from eigensieve.cli.console import Console
from eigensieve.cli.errors import InputProblem, UsageProblem, input_errors
from eigensieve.cli.options import SEEDS, Force, LabelledOptions, PrintOptions, Report, Seed, option
from eigensieve.cli.outputs import Outputs, check_frame_name, save_frame
from eigensieve.cli.reading import Samples, dense, is_number_target, read_labelled
from eigensieve.cli.selection import Fitting
from eigensieve.data import as_data

EXAMPLES = (
    "eigensieve compare genes.csv --label tissue",
    "eigensieve compare genes.csv --label tissue --methods sieve,sieve-labels,f-test --n-features 20,50 -o table.csv",
)

Chooser = Callable[[Any, Array, Array | None, int, int], IntArray]
"""Training samples, their labels, their batches, how many, a seed -> columns."""


def _with(name: str, **params: Any) -> Chooser:
    def choose(X: MatrixLike, y: Array, batches: Array | None, count: int, seed: int) -> IntArray:
        fitting = Fitting(name, {"n_features_to_select": count, **params})
        if "seed" in fitting.method.options:
            fitting.params["random_state"] = seed
        known = {"batches": batches} if batches is not None and "batch" in fitting.method.knows else {}
        return fitting.estimator().fit(X, y if fitting.uses_label else None, **known).get_support(indices=True)

    return choose


def _f_test(X: MatrixLike, y: Array, batches: Array | None, count: int, seed: int) -> IntArray:
    from sklearn.feature_selection import f_classif, f_regression

    with np.errstate(all="ignore"):
        values = (f_regression if y.dtype.kind == "f" else f_classif)(X, y)[0]
    return np.argsort(-np.nan_to_num(values), kind="stable")[:count]


def _sieve_labels(X: MatrixLike, y: Array, batches: Array | None, count: int, seed: int) -> IntArray:
    supervision = "numbers" if y.dtype.kind == "f" else "classes"
    return _with("sieve", supervision=supervision)(X, y, batches, count, seed)


CHOOSERS: dict[str, tuple[Chooser, str]] = {
    "sieve": (_with("sieve", supervision="ignore"), "no labels"),
    "qalpha": (_with("qalpha", supervision="ignore"), "no labels"),
    "laplacian": (_with("trace-ratio", score="laplacian", scale=True), "no labels"),
    "variance": (
        lambda X, y, b, count, s: np.argsort(-as_data(X).stats().centered_norm, kind="stable")[:count],
        "no labels",
    ),
    "random": (
        lambda X, y, b, count, s: np.random.default_rng(s).choice(X.shape[1], count, replace=False),
        "no labels",
    ),
    "sieve-labels": (_sieve_labels, "labels"),
    "qalpha-labels": (_with("qalpha"), "labels"),
    "f-test": (_f_test, "labels"),
}
"""Every selector of the comparison, and whether it sees the training labels.

The best subset by the Fisher score is not here. On standardised features it is the one of the F-test.
"""
_NEEDS_CLASSES = "qalpha-labels"


@dataclass(frozen=True, kw_only=True)
class CompareOptions:
    methods: str | None = option(
        "--methods", help=f"Comma separated, from: {', '.join(CHOOSERS)}.", show_default="all but qalpha-labels"
    )
    n_features: str | None = option(
        "--n-features", "-n", help="Numbers of features, comma separated.", show_default="depends on the table"
    )
    folds: int = option("--folds", min=2, help="Folds of the cross-validation.", default=5)
    seed: Seed = 0

    def wanted(self, *, numbers: bool) -> list[str]:
        """The selectors by name. Those that need classes are not there for a label that is a quantity."""
        if self.methods is None:
            return [name for name in CHOOSERS if name != _NEEDS_CLASSES]
        wanted = [name.strip() for name in self.methods.split(",") if name.strip()]
        if not wanted or any(name not in CHOOSERS for name in wanted):
            raise UsageProblem(f"--methods knows {', '.join(CHOOSERS)}. Got '{self.methods}' instead.")
        if numbers and _NEEDS_CLASSES in wanted:
            raise InputProblem(
                f"--methods {_NEEDS_CLASSES} needs classes, and the label is a quantity. Use f-test, or other labels."
            )
        return wanted

    def counts(self, n_features: int) -> list[int]:
        """The numbers of features, smallest first: as given, or 10 and 50, or a quarter and half of a small table."""
        if self.n_features is None:
            return [10, 50] if n_features > 100 else sorted({max(1, n_features // 4), max(1, n_features // 2)})
        try:
            counts = sorted({int(part) for part in self.n_features.split(",")})
        except ValueError:
            counts = []
        if not counts or counts[0] < 1:
            raise UsageProblem(f"--n-features must be whole numbers, comma separated. Got '{self.n_features}' instead.")
        return counts


def compare_selectors(
    reading: LabelledOptions,
    options: CompareOptions,
    printing: PrintOptions,
    output: Annotated[
        str | None, typer.Option("--output", "-o", help="Write a table here: one row per selector, number and fold.")
    ] = None,
    report: Report = None,
    force: Force = False,
) -> None:
    """Compare selectors on labelled data by cross-validation.

    Features are chosen on the training folds only. The 1-NN accuracy is measured on the samples held out. NMI says how
    well k-means on the chosen features finds the classes again, on the training folds. For a label that is a quantity,
    R2 of 5 nearest neighbours is measured on the samples held out. With --batch the sieve removes differences between
    batches.
    """
    options.wanted(numbers=False), options.counts(1)  # refuse bad requests before anything is read
    check_frame_name(output)
    console = Console(printing, output, report)
    with Outputs(output, report, inputs=(reading.source, reading.sheet), force=force) as outputs:
        samples = read_labelled(reading, console)
        task = _task(samples, options, reading.source)
        rows = _run(samples, task, options, console, reading.source)
        means = [_mean(rows, name, count) for name in task.methods for count in task.counts]
        title, titles, lines, right = _table(means, task)
        columns = {key: [row[key] for row in rows] for key in rows[0]}
        outputs.write("table", output, lambda path: save_frame(columns, path), suffix=".csv")
        outputs.write_text("report", report, lambda: _page(reading, samples, task, titles, lines))
    console.table(title, titles, lines, right)
    console.text(_explained(task))
    console.finish({"command": "compare", "results": means}, outputs.written)


@dataclass(frozen=True)
class _Task:
    methods: list[str]
    counts: list[int]
    y: Array  # class numbers, or floats for a quantity

    @property
    def numbers(self) -> bool:
        return self.y.dtype.kind == "f"


def _task(samples: Samples, options: CompareOptions, source: str) -> _Task:
    assert samples.labels is not None
    with input_errors(source):
        numbers = is_number_target(samples.labels)
    counts = options.counts(samples.X.shape[1])
    labels = samples.labels.astype(str) if samples.labels.dtype == object else samples.labels
    y = labels.astype(np.float64) if numbers else np.unique(labels, return_inverse=True)[1]
    n_features = samples.X.shape[1]
    if counts[-1] > n_features:
        raise InputProblem(
            f"'{source}' has {n_features:,} features, fewer than --n-features {counts[-1]}. Ask for fewer."
        )
    fewest = int(np.bincount(y).min()) if not numbers else options.folds
    if fewest < options.folds:
        raise InputProblem(
            f"The smallest class of '{source}' has {counted(fewest, 'sample')}; --folds {options.folds} needs as many "
            "of every class. Use fewer folds."
        )
    return _Task(options.wanted(numbers=numbers), counts, y)


def _page(reading: LabelledOptions, samples: Samples, task: _Task, titles: list[str], lines: list[list[str]]) -> str:
    from eigensieve.report import Section, sheet

    label = f"Label: {reading.label} ({'a quantity' if task.numbers else f'{len(np.unique(task.y))} classes'})"
    facts = samples.facts(reading.source, label)
    return sheet("Selectors compared", facts, [Section("Means over the folds", titles, lines, _explained(task))])


def _explained(task: _Task) -> str:
    """The columns of the table, for people."""
    measures = (
        "R2: how much of the number the 5 nearest training samples predict (1 is all of it)."
        if task.numbers
        else "1-NN: share of held-out samples with the label of the nearest training sample. NMI: how well k-means on "
        "the training samples finds the classes (1 is all of them)."
    )
    return f"Selected on the training samples, so many features as the number in a head. {measures}"


def _run(samples: Samples, task: _Task, options: CompareOptions, console: Console, source: str) -> list[JsonDict]:
    """Choose and score, for every fold, selector and number of features."""
    from sklearn.model_selection import GroupKFold, KFold, StratifiedGroupKFold, StratifiedKFold

    y, seed = task.y, options.seed or 0
    kinds = (KFold, StratifiedKFold) if samples.apart.get("donor") is None else (GroupKFold, StratifiedGroupKFold)
    splitter = kinds[not task.numbers](options.folds, shuffle=True, random_state=seed)
    folds = splitter.split(np.zeros(len(y)), y, samples.apart.get("donor"))
    rows = []
    with console.working("Comparing", source) as show:
        for (fold, (train, test)), name, count in product(enumerate(folds), task.methods, task.counts):
            show(f"fold {fold + 1} of {options.folds}, {name}, {count} features")
            batches = samples.apart["batch"][train] if "batch" in samples.apart else None
            columns = CHOOSERS[name][0](samples.X[train], y[train], batches, count, (seed + fold) % SEEDS)
            scores = _scores(samples.X, y, train, test, columns, seed)
            rows.append({"method": name, "features": count, "fold": fold + 1, **scores})
    return rows


def _scores(X: MatrixLike, y: Array, train: IntArray, test: IntArray, columns: IntArray, seed: int) -> dict[str, float]:
    from sklearn.cluster import KMeans
    from sklearn.exceptions import ConvergenceWarning
    from sklearn.metrics import normalized_mutual_info_score
    from sklearn.neighbors import KNeighborsClassifier, KNeighborsRegressor
    from sklearn.preprocessing import StandardScaler

    Z = dense(X[:, columns])
    Z = StandardScaler().fit(Z[train]).transform(Z)
    if y.dtype.kind == "f":
        return {"r2": float(KNeighborsRegressor(5).fit(Z[train], y[train]).score(Z[test], y[test]))}
    accuracy = KNeighborsClassifier(1).fit(Z[train], y[train]).score(Z[test], y[test])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)  # fewer distinct points than classes: the NMI shows it
        found = KMeans(len(np.unique(y)), n_init=5, random_state=seed).fit_predict(Z[train])
    return {"accuracy_1nn": float(accuracy), "nmi": float(normalized_mutual_info_score(y[train], found))}


def _mean(rows: list[JsonDict], name: str, count: int) -> JsonDict:
    mine = [row for row in rows if row["method"] == name and row["features"] == count]
    mean: JsonDict = {"method": name, "sees": CHOOSERS[name][1], "features": count}
    for key in [key for key in ("accuracy_1nn", "r2", "nmi") if key in mine[0]]:
        values = [row[key] for row in mine]
        mean[key] = float(np.mean(values))
        if key != "nmi":
            mean[f"{key}_sd"] = float(np.std(values))
    return mean


def _table(means: list[JsonDict], task: _Task) -> tuple[str, list[str], list[list[str]], list[str]]:
    """Title, columns, rows and the columns of numbers; one row per selector, whose means come one after another."""
    counts = task.counts
    main, heading = ("r2", "R2") if task.numbers else ("accuracy_1nn", "1-NN")
    groups = [] if task.numbers else [f"NMI, {count}" for count in counts]
    titles = ["selector", "sees", *(f"{heading}, {count}" for count in counts), *groups]
    lines = []
    for start in range(0, len(means), len(counts)):
        mine = means[start : start + len(counts)]
        cells = [f"{mean[main]:.3f} ± {mean[f'{main}_sd']:.3f}" for mean in mine]
        cells += [f"{mean['nmi']:.3f}" for mean in mine if "nmi" in mean]
        lines.append([mine[0]["method"], mine[0]["sees"], *cells])
    return "Selectors on this data (mean over the folds)", titles, lines, titles[2:]
