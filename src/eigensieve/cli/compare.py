"""``eigensieve compare``: several selectors on the user's own labelled data."""

from collections.abc import Callable
from typing import Annotated, Any

import numpy as np
import typer

from eigensieve._types import Array
from eigensieve.cli.app import app
from eigensieve.cli.console import Console
from eigensieve.cli.errors import InputProblem, UsageProblem, input_errors
from eigensieve.cli.methods import METHODS, build
from eigensieve.cli.options import AsJson, Force, Format, Ident, Input, Missing, Orientation, Quiet, Seed
from eigensieve.cli.outputs import Outputs
from eigensieve.cli.prepare import Samples, handle_missing
from eigensieve.cli.tables import check_frame_name, load_table, save_frame

Chooser = Callable[[Any, Array, int, int], Array]
"""Training samples, their labels, how many, a seed -> columns."""


def _with(name: str, **params: Any) -> Chooser:
    """A chooser that fits one of our methods."""

    def choose(X: Any, y: Array, count: int, seed: int) -> Array:
        given = {"n_features_to_select": count, **params}
        if "seed" in METHODS[name].options:
            given["random_state"] = seed
        return np.flatnonzero(
            build(name, given, 0).fit(X, y if METHODS[name].uses_label(given) else None).get_support()
        )

    return choose


def _variance(X: Any, y: Array, count: int, seed: int) -> Array:
    from eigensieve.data import as_data

    return np.argsort(-as_data(X).stats().centered_norm, kind="stable")[:count]


def _f_test(X: Any, y: Array, count: int, seed: int) -> Array:
    from sklearn.feature_selection import f_classif

    with np.errstate(all="ignore"):
        return np.argsort(-np.nan_to_num(f_classif(X, y)[0]), kind="stable")[:count]


def _random(X: Any, y: Array, count: int, seed: int) -> Array:
    return np.random.default_rng(seed).choice(X.shape[1], count, replace=False)


CHOOSERS: dict[str, tuple[Chooser, str]] = {
    "sieve": (_with("sieve"), "no labels"),
    "qalpha": (_with("qalpha", supervision="ignore"), "no labels"),
    "laplacian": (_with("trace-ratio", score="laplacian"), "no labels"),
    "variance": (_variance, "no labels"),
    "random": (_random, "no labels"),
    "qalpha-labels": (_with("qalpha"), "labels"),
    "fisher": (_with("trace-ratio", score="fisher"), "labels"),
    "f-test": (_f_test, "labels"),
}
"""Every selector of the comparison, and whether it sees the training labels."""


@app.command(
    epilog="[bold]Examples[/bold]\n\neigensieve compare genes.csv --label tissue\n\n"
    "eigensieve compare genes.csv --label tissue --methods sieve,variance,f-test --n-features 20,50 -o table.csv",
)
def compare(
    source: Input,
    label: Annotated[str, typer.Option("--label", "-l", metavar="COLUMN", help="Column with the classes.")],
    methods: Annotated[
        str, typer.Option("--methods", help=f"Comma separated, of: {', '.join(CHOOSERS)}.")
    ] = "sieve,qalpha,laplacian,variance,random,fisher,f-test",
    n_features: Annotated[
        str, typer.Option("--n-features", "-n", help="Numbers of features, comma separated.")
    ] = "10,50",
    folds: Annotated[int, typer.Option("--folds", min=2, help="Folds of the cross-validation.")] = 5,
    output: Annotated[
        str | None, typer.Option("--output", "-o", help="Table: one row a selector, number and fold.")
    ] = None,
    ident: Ident = None,
    orientation: Orientation = "auto",
    form: Format = None,
    missing: Missing = "error",
    seed: Seed = 0,
    force: Force = False,
    quiet: Quiet = False,
    as_json: AsJson = False,
) -> None:
    """Compare selectors on labelled data by cross-validation.

    Features are chosen on the training folds only. 1-NN accuracy: on the samples held out. NMI: how well k-means on the
    chosen features finds the classes again, on the training folds.
    """
    wanted = _wanted(methods)
    counts = _counts(n_features)
    check_frame_name(output)
    if as_json and output == "-":
        raise UsageProblem("--json prints to standard output. Name a file for the table with -o.")
    console = Console(quiet=quiet, as_json=as_json, stdout_is_data=output == "-")
    with Outputs(force=force) as outputs:
        outputs.check(output)
        with console.working(f"Reading {source}"):
            table = load_table(source, label=label, ident=ident, samples=orientation, form=form)
        samples = handle_missing(Samples.of(table), missing, source)
        _check_sizes(samples, counts, folds, source)
        rows = _run(samples, wanted, counts, folds, seed or 0, console, source)
        columns = {key: [row[key] for row in rows] for key in rows[0]}
        if output is not None:
            outputs.write("table", output, lambda path: save_frame(columns, path), suffix=".csv")
        outputs.commit()
    _show(rows, wanted, counts, console, outputs.written)


def _wanted(methods: str) -> list[str]:
    wanted = [name.strip() for name in methods.split(",") if name.strip()]
    unknown = [name for name in wanted if name not in CHOOSERS]
    if unknown or not wanted:
        raise UsageProblem(f"--methods knows {', '.join(CHOOSERS)}. Got '{methods}' instead.")
    return wanted


def _counts(text: str) -> list[int]:
    try:
        counts = sorted({int(part) for part in text.split(",")})
    except ValueError:
        counts = []
    if not counts or counts[0] < 1:
        raise UsageProblem(f"--n-features must be whole numbers, comma separated. Got '{text}' instead.")
    return counts


def _check_sizes(samples: Samples, counts: list[int], folds: int, source: str) -> None:
    if counts[-1] > samples.X.shape[1]:
        raise InputProblem(
            f"'{source}' has {samples.X.shape[1]:,} features, fewer than --n-features {counts[-1]}. Ask for fewer."
        )
    values, sizes = np.unique(np.asarray(samples.labels), return_counts=True)
    if len(values) < 2 or sizes.min() < folds:
        raise InputProblem(
            f"The smallest class of '{source}' has {int(sizes.min())} samples and there are {len(values)} classes; "
            f"--folds {folds} needs as many samples of each of two classes. Use fewer folds."
        )


def _run(
    samples: Samples, wanted: list[str], counts: list[int], folds: int, seed: int, console: Console, source: str
) -> list[dict[str, Any]]:
    """Choose and score, for every fold, selector and number of features."""
    from sklearn.model_selection import StratifiedKFold

    y = np.unique(np.asarray(samples.labels), return_inverse=True)[1]
    splits = StratifiedKFold(folds, shuffle=True, random_state=seed).split(np.zeros(len(y)), y)
    rows = []
    with console.working("Comparing") as show, input_errors(source):
        for fold, (train, test) in enumerate(splits):
            for name in wanted:
                for count in counts:
                    show(f"fold {fold + 1} of {folds}, {name}, {count} features")
                    columns = CHOOSERS[name][0](samples.X[train], y[train], count, seed + fold)
                    accuracy, nmi = _scores(samples.X, y, train, test, columns, seed)
                    rows.append(
                        {"method": name, "features": count, "fold": fold + 1, "accuracy_1nn": accuracy, "nmi": nmi}
                    )
    return rows


def _scores(X: Any, y: Array, train: Array, test: Array, columns: Array, seed: int) -> tuple[float, float]:
    from sklearn.cluster import KMeans
    from sklearn.metrics import normalized_mutual_info_score
    from sklearn.neighbors import KNeighborsClassifier
    from sklearn.preprocessing import StandardScaler

    Z = X[:, columns]
    Z = np.asarray(Z.toarray() if hasattr(Z, "toarray") else Z, dtype=np.float64)
    Z = StandardScaler().fit(Z[train]).transform(Z)
    accuracy = KNeighborsClassifier(1).fit(Z[train], y[train]).score(Z[test], y[test])
    found = KMeans(len(np.unique(y)), n_init=5, random_state=seed).fit_predict(Z[train])
    return float(accuracy), float(normalized_mutual_info_score(y[train], found))


def _show(
    rows: list[dict[str, Any]], wanted: list[str], counts: list[int], console: Console, written: dict[str, str]
) -> None:
    means: list[dict[str, Any]] = []
    for name in wanted:
        for count in counts:
            mine = [row for row in rows if row["method"] == name and row["features"] == count]
            means.append(
                {
                    "method": name,
                    "sees": CHOOSERS[name][1],
                    "features": count,
                    "accuracy_1nn": float(np.mean([row["accuracy_1nn"] for row in mine])),
                    "accuracy_1nn_sd": float(np.std([row["accuracy_1nn"] for row in mine])),
                    "nmi": float(np.mean([row["nmi"] for row in mine])),
                }
            )
    by = {(row["method"], row["features"]): row for row in means}
    titles = ["selector", "sees", *(f"1-NN, {count}" for count in counts), *(f"NMI, {count}" for count in counts)]
    lines = [
        [
            name,
            CHOOSERS[name][1],
            *(f"{by[name, c]['accuracy_1nn']:.3f} ± {by[name, c]['accuracy_1nn_sd']:.3f}" for c in counts),
            *(f"{by[name, c]['nmi']:.3f}" for c in counts),
        ]
        for name in wanted
    ]
    console.table("Selectors on this data (mean over the folds)", titles, lines, right=titles[2:])
    for place in written.values():
        if place != "-":
            console.text(f"table: {place}")
    console.document({"command": "compare", "results": means, "outputs": written})
