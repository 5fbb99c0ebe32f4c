"""``eigensieve compare``: several selectors on the user's own labelled data."""

from collections.abc import Callable
from dataclasses import dataclass
from itertools import product
from typing import Annotated, Any

import numpy as np
import typer

from eigensieve._types import Array
from eigensieve.cli.console import Console
from eigensieve.cli.errors import InputProblem, UsageProblem
from eigensieve.cli.options import Force, LabelledOptions, PrintOptions, Seed
from eigensieve.cli.outputs import Outputs, check_frame_name, save_frame
from eigensieve.cli.reading import Samples, dense, read_samples
from eigensieve.cli.selection import Fitting

EXAMPLES = (
    "eigensieve compare genes.csv --label tissue",
    "eigensieve compare genes.csv --label tissue --methods sieve,sieve-labels,f-test --n-features 20,50 -o table.csv",
)

Chooser = Callable[[Any, Array, Array | None, int, int], Array]
"""Training samples, their labels, their batches, how many, a seed -> columns."""


def _with(name: str, **params: Any) -> Chooser:
    """A chooser that fits one of our methods."""

    def choose(X: Any, y: Array, batches: Array | None, count: int, seed: int) -> Array:
        fitting = Fitting(name, {"n_features_to_select": count, **params})
        if "seed" in fitting.method.options:
            fitting.params["random_state"] = seed
        known = {"batches": batches} if batches is not None and "batch" in fitting.method.knows else {}
        return fitting.estimator().fit(X, y if fitting.uses_label else None, **known).get_support(indices=True)

    return choose


def _variance(X: Any, y: Array, batches: Array | None, count: int, seed: int) -> Array:
    from eigensieve.data import as_data

    return np.argsort(-as_data(X).stats().centered_norm, kind="stable")[:count]


def _f_test(X: Any, y: Array, batches: Array | None, count: int, seed: int) -> Array:
    from sklearn.feature_selection import f_classif

    with np.errstate(all="ignore"):
        return np.argsort(-np.nan_to_num(f_classif(X, y)[0]), kind="stable")[:count]


def _random(X: Any, y: Array, batches: Array | None, count: int, seed: int) -> Array:
    return np.random.default_rng(seed).choice(X.shape[1], count, replace=False)


CHOOSERS: dict[str, tuple[Chooser, str]] = {
    "sieve": (_with("sieve", supervision="ignore"), "no labels"),
    "qalpha": (_with("qalpha", supervision="ignore"), "no labels"),
    "laplacian": (_with("trace-ratio", score="laplacian"), "no labels"),
    "variance": (_variance, "no labels"),
    "random": (_random, "no labels"),
    "sieve-labels": (_with("sieve", supervision="classes"), "labels"),
    "qalpha-labels": (_with("qalpha"), "labels"),
    "fisher": (_with("trace-ratio", score="fisher"), "labels"),
    "f-test": (_f_test, "labels"),
}
"""Every selector of the comparison, and whether it sees the training labels."""


@dataclass(frozen=True, kw_only=True)
class CompareOptions:
    """What to compare."""

    methods: Annotated[str, typer.Option("--methods", help=f"Comma separated, of: {', '.join(CHOOSERS)}.")] = (
        "sieve,qalpha,laplacian,variance,random,sieve-labels,fisher,f-test"
    )
    n_features: Annotated[str, typer.Option("--n-features", "-n", help="Numbers of features, comma separated.")] = (
        "10,50"
    )
    folds: Annotated[int, typer.Option("--folds", min=2, help="Folds of the cross-validation.")] = 5
    seed: Seed = 0

    @property
    def wanted(self) -> list[str]:
        """The selectors by name."""
        wanted = [name.strip() for name in self.methods.split(",") if name.strip()]
        if not wanted or any(name not in CHOOSERS for name in wanted):
            raise UsageProblem(f"--methods knows {', '.join(CHOOSERS)}. Got '{self.methods}' instead.")
        return wanted

    @property
    def counts(self) -> list[int]:
        """The numbers of features, smallest first."""
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
        str | None, typer.Option("--output", "-o", help="Table: one row per selector, number and fold.")
    ] = None,
    force: Force = False,
) -> None:
    """Compare selectors on labelled data by cross-validation.

    Features are chosen on the training folds only. 1-NN accuracy: on the samples held out. NMI: how well k-means on the
    chosen features finds the classes again, on the training folds. With --batch the sieve takes differences between
    batches off.
    """
    wanted, counts = options.wanted, options.counts
    check_frame_name(output)
    console = Console(printing, output)
    with Outputs(force=force) as outputs:
        outputs.check(output)
        samples = read_samples(reading, console)
        _check_sizes(samples, counts[-1], options.folds, reading.source)
        rows = _run(samples, options, console, reading.source)
        if output is not None:
            columns = {key: [row[key] for row in rows] for key in rows[0]}
            outputs.write("table", output, lambda path: save_frame(columns, path), suffix=".csv")
        outputs.commit()
    means = [_mean(rows, name, count) for name in wanted for count in counts]
    console.table(*_table(means, counts))
    console.places(outputs.written)
    console.document({"command": "compare", "results": means, "outputs": outputs.written})


def _check_sizes(samples: Samples, count: int, folds: int, source: str) -> None:
    n_features = samples.X.shape[1]
    if count > n_features:
        raise InputProblem(f"'{source}' has {n_features:,} features, fewer than --n-features {count}. Ask for fewer.")
    values, sizes = np.unique(np.asarray(samples.labels), return_counts=True)
    if len(values) < 2 or sizes.min() < folds:
        raise InputProblem(
            f"The smallest class of '{source}' has {int(sizes.min())} samples and there are {len(values)} classes; "
            f"--folds {folds} needs as many samples of each of two classes. Use fewer folds."
        )


def _run(samples: Samples, options: CompareOptions, console: Console, source: str) -> list[dict[str, Any]]:
    """Choose and score, for every fold, selector and number of features."""
    from sklearn.model_selection import StratifiedKFold

    y = np.unique(np.asarray(samples.labels), return_inverse=True)[1]
    seed = options.seed or 0
    folds = StratifiedKFold(options.folds, shuffle=True, random_state=seed).split(np.zeros(len(y)), y)
    rows = []
    with console.working("Comparing", source) as show:
        for (fold, (train, test)), name, count in product(enumerate(folds), options.wanted, options.counts):
            show(f"fold {fold + 1} of {options.folds}, {name}, {count} features")
            batches = None if samples.batches is None else samples.batches[train]
            columns = CHOOSERS[name][0](samples.X[train], y[train], batches, count, seed + fold)
            accuracy, nmi = _scores(samples.X, y, train, test, columns, seed)
            rows.append({"method": name, "features": count, "fold": fold + 1, "accuracy_1nn": accuracy, "nmi": nmi})
    return rows


def _scores(X: Any, y: Array, train: Array, test: Array, columns: Array, seed: int) -> tuple[float, float]:
    from sklearn.cluster import KMeans
    from sklearn.metrics import normalized_mutual_info_score
    from sklearn.neighbors import KNeighborsClassifier
    from sklearn.preprocessing import StandardScaler

    Z = dense(X[:, columns])
    Z = StandardScaler().fit(Z[train]).transform(Z)
    accuracy = KNeighborsClassifier(1).fit(Z[train], y[train]).score(Z[test], y[test])
    found = KMeans(len(np.unique(y)), n_init=5, random_state=seed).fit_predict(Z[train])
    return float(accuracy), float(normalized_mutual_info_score(y[train], found))


def _mean(rows: list[dict[str, Any]], name: str, count: int) -> dict[str, Any]:
    """Means of one selector over the folds."""
    mine = [row for row in rows if row["method"] == name and row["features"] == count]
    accuracies = [row["accuracy_1nn"] for row in mine]
    return {
        "method": name,
        "sees": CHOOSERS[name][1],
        "features": count,
        "accuracy_1nn": float(np.mean(accuracies)),
        "accuracy_1nn_sd": float(np.std(accuracies)),
        "nmi": float(np.mean([row["nmi"] for row in mine])),
    }


def _table(means: list[dict[str, Any]], counts: list[int]) -> tuple[str, list[str], list[list[str]], list[str]]:
    """Title, columns, rows and the columns of numbers; one row per selector, whose means come one after another."""
    titles = ["selector", "sees", *(f"1-NN, {count}" for count in counts), *(f"NMI, {count}" for count in counts)]
    lines = []
    for start in range(0, len(means), len(counts)):
        mine = means[start : start + len(counts)]
        accuracies = [f"{mean['accuracy_1nn']:.3f} ± {mean['accuracy_1nn_sd']:.3f}" for mean in mine]
        lines.append([mine[0]["method"], mine[0]["sees"], *accuracies, *(f"{mean['nmi']:.3f}" for mean in mine)])
    return "Selectors on this data (mean over the folds)", titles, lines, titles[2:]
