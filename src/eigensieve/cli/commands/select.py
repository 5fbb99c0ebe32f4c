"""``eigensieve select``: from a table to its few features."""

import json
from dataclasses import dataclass, replace
from typing import Annotated, Any

import typer

from eigensieve._types import JsonDict
from eigensieve.cli import options
from eigensieve.cli import outputs as saving
from eigensieve.cli.console import Console
from eigensieve.cli.errors import UsageProblem, input_errors
from eigensieve.cli.knowledge import NAMED, TABLES, read_pairs, with_constraints
from eigensieve.cli.methods import DEFAULT_METHOD, METHODS
from eigensieve.cli.reading import Samples, check_times, read_samples, read_side
from eigensieve.cli.selection import Fitting, Selection, count_or_auto

EXAMPLES = (
    "eigensieve select genes.csv -o chosen.csv --report report.html",
    "eigensieve select genes.tsv.gz --label tissue --batch run --n-features 40 --weights weights.csv",
    "eigensieve select cells.h5ad --model cells.skops --json > result.json",
    "cat genes.csv | eigensieve select - -o - > chosen.csv",
)

_HOW_MANY = (
    "How many features: auto (all that are not noise), fewest (sieve: the fewest that show the same structure), a "
    "number, or a fraction of all."
)
_MANY = 200  # more features than a person looks through
_LEAST_TO_HALVE = 8  # samples of which halves are selected from
_SUMMARIES = {name: method.summary for name, method in METHODS.items()}
_METHODS = "; ".join(f"{name} ({summary})" for name, summary in _SUMMARIES.items())


def _method(flag: str, text: str, *more: str, **details: Any) -> Any:
    return options.option(flag, *more, help=text, rich_help_panel="Method", **details)


def _side(flag: str, text: str) -> Any:
    return options.option(flag, help=text, rich_help_panel="What you know")


def _limits(flag: str, text: str, **details: Any) -> Any:
    names = " Names separated by commas, or a file of names." if flag in NAMED.values() else ""
    return options.option(flag, help=f"sieve: {text}{names}", rich_help_panel="Constraints", **details)


@dataclass(frozen=True, kw_only=True)
class FitOptions:
    method: str = _method(
        "--method", f"{_METHODS}.", autocompletion=lambda: [*_SUMMARIES.items()], default=DEFAULT_METHOD
    )
    n_features: str | None = _method("--n-features", _HOW_MANY, "-n")
    clusters: str | None = _method("--clusters", "qalpha: how many clusters of samples: auto or a number.", "-k")
    fdr: float | None = _method("--fdr", "sieve, qalpha: share of false selections to allow with -n auto or fewest.")
    criterion: str | None = _method("--criterion", "qalpha: what to maximise: energy, gap or, with labels, blocks.")
    spectrum: str | None = _method("--spectrum", "qalpha: which spectrum: standard or laplacian.")
    normalize: str | None = _method("--normalize", "qalpha: how to scale features: auto, center, unit or none.")
    supervision: str | None = _method("--supervision", "How labels are used: auto, classes, numbers (sieve) or ignore.")
    use_scale: bool | None = _method(
        "--use-scale/--ignore-scale", "sieve: whether features that vary more count more; by default, the data decides."
    )
    use_profiles: bool | None = _method(
        "--use-profiles/--ignore-profiles",
        "sieve: whether samples are compared by profiles, for counts and texts; by default, the data decides.",
    )
    score: str | None = _method("--score", "trace-ratio: fisher, laplacian or semi-supervised.")
    level: str | None = _method("--level", "trace-ratio: best subset, or best features one by one: subset or feature.")
    neighbors: int | None = _method("--neighbors", "trace-ratio: number of neighbours per sample.")
    scale: bool = _method("--scale", "trace-ratio: divide features by their standard deviation.", default=False)
    side: str | None = _side("--side", "sieve, qalpha: file of samples that vary in unwanted ways.")
    unwanted: str | None = _side(
        "--unwanted", "sieve: how many directions of --side and of must pairs to remove: auto or a number."
    )
    pairs: str | None = _side("--pairs", "sieve, qalpha: file with lines 'sample,sample[,cannot|must]'.")
    strength: float | None = _side("--strength", "qalpha: how much --side and --pairs count; 1 is usual.")
    must_keep: str | None = _limits(
        "--must-keep", "Features that are selected in any case; the others complement them."
    )
    exclude: str | None = _limits("--exclude", "Features that are never selected.")
    groups: str | None = _limits("--groups", "File with lines 'feature,group': at most one feature per group.")
    max_per_group: int | None = _limits("--max-per-group", "Most features of one group, with --groups.", min=1)
    costs: str | None = _limits("--costs", "File with lines 'feature,cost': best value for the money.")
    max_cost: float | None = _limits("--max-cost", "Most that the selected features may cost together.", min=0)
    stability: int = options.option(
        "--stability", min=0, help="Repeat the selection on this many random halves of the samples.", default=0
    )
    seed: options.Seed = None

    def fitting(self, reading: options.TargetOptions) -> Fitting:
        """The method with its parameters. Options that do not go together are refused before anything is read."""
        label, others = reading.label, {"method", "side", "pairs", "stability"}
        given = {key: value for key, value in vars(self).items() if key not in others}
        given["scale"] = self.scale or None
        words = METHODS[self.method].words if self.method in METHODS else ("auto",)
        given["n_features"] = count_or_auto(self.n_features, "--n-features", words=words)
        given["clusters"] = count_or_auto(self.clusters, "--clusters")
        given["unwanted"] = count_or_auto(self.unwanted, "--unwanted")
        fitting = Fitting.of_options(self.method, given)
        for flag, needs in (("max_cost", "costs"), ("max_per_group", "groups")):
            if given[flag] is not None and given[needs] is None:
                raise UsageProblem(
                    f"--{flag.replace('_', '-')} does nothing without --{needs}. Drop it, or give --{needs}."
                )
        if label is None and fitting.method.needs_label(fitting.params):
            raise UsageProblem(
                f"--method {self.method} needs labels here. Name their column with --label, or use --score laplacian."
            )
        if label is None and self.supervision not in (None, "auto", "ignore"):
            raise UsageProblem(f"--supervision {self.supervision} needs labels. Name their column with --label.")
        known = {"batch": reading.batch, "donors": reading.donor, "event": reading.event}
        for name, value in (known | {"side": self.side, "pairs": self.pairs}).items():
            if value is not None and name not in fitting.method.knows:
                raise UsageProblem(
                    f"--{name} does nothing with --method {self.method}. Drop it, or use --method {DEFAULT_METHOD}."
                )
        if self.unwanted is not None and self.side is None and self.pairs is None:
            raise UsageProblem("--unwanted does nothing without --side or --pairs. Drop it, or give one of them.")
        return fitting


@dataclass(frozen=True, kw_only=True)
class WriteOptions:
    output: str | None = options.option(
        "--output", "-o", help="Write the selected columns here; the ending gives the format (- for stdout)."
    )
    weights: str | None = options.option(
        "--weights", "-w", help="Write all features here: weight, rank, selected, null quantile."
    )
    model: options.Model = None
    report: options.Report = None
    selected: str | None = options.option("--selected", help="Write the selected features here, as plain JSON.")
    safe_names: options.SafeNames = False
    force: options.Force = False


def select_features(
    reading: options.TargetOptions,
    fit: FitOptions,
    writing: WriteOptions,
    printing: options.PrintOptions,
    top: Annotated[int, typer.Option("--top", min=0, help="How many features to print.")] = 20,
) -> None:
    """Select the features that matter from a table of samples.

    Reads CSV and TSV (also .gz), Excel, Parquet, Feather, .npy, .npz, .mat, svmlight, Matrix Market, 10x folders and
    .h5ad. Labels, batches, side data and pairs of samples are used where you give them. The columns of --label,
    --batch and --donors are never features.
    """
    check_times(reading.event, reading.time, reading.label)
    fitting = fit.fitting(reading)
    saving.check_table_name(writing.output, reading.source)
    saving.check_frame_name(writing.weights)
    places = (writing.output, writing.weights, writing.model, writing.report, writing.selected)
    inputs = (reading.source, reading.sheet, fit.side, fit.pairs, fit.must_keep, fit.exclude, fit.groups, fit.costs)
    console = Console(printing, *places)
    with saving.Outputs(*places, inputs=inputs, force=writing.force) as outputs:
        samples = read_samples(reading, console, notes=True, gaps=fitting.method.gaps)
        selection = _selection(fitting, samples, reading, fit, console)
        _write(selection, writing, outputs, console)
    _show(selection, console, top, outputs.written)


def _selection(
    fitting: Fitting, samples: Samples, reading: options.SampleOptions, options: FitOptions, console: Console
) -> Selection:
    """Read side data and pairs, fit, and repeat the fit on random halves where asked."""
    extra: JsonDict = {} if samples.apart.get("batch") is None else {"batches": samples.apart.get("batch")}
    if samples.apart.get("donor") is not None:
        extra["groups"] = samples.apart.get("donor")
    if options.side is not None:
        extra["side"] = read_side(options.side, reading, samples, console)
    if options.pairs is not None:
        with input_errors(options.pairs):
            extra |= read_pairs(options.pairs, samples)
    if not fitting.params.keys().isdisjoint((*NAMED, *TABLES)):
        fitting = replace(fitting, params=with_constraints(fitting.params, samples))
    n_samples = samples.X.shape[0]
    if options.stability and n_samples < _LEAST_TO_HALVE:
        raise UsageProblem(
            f"--stability needs at least {_LEAST_TO_HALVE} samples, and '{reading.source}' has {n_samples}. Drop it."
        )
    with console.fitting(f"Fitting {fitting.method.estimator}", reading.source):
        estimator = fitting.fit(samples, extra)
    frequency, count = None, int(estimator.support_.sum())
    if options.stability and not count:
        console.note("--stability was not measured: nothing is selected, so there is nothing to select again.")
    elif options.stability:
        with console.working("Stability", "a random half of the samples") as progress:
            frequency = fitting.frequencies(samples, extra, count, options.stability, progress)
    return Selection(reading.source, fitting, samples, estimator, frequency, extra)


def _write(selection: Selection, wanted: WriteOptions, outputs: saving.Outputs, console: Console) -> None:
    table, safe = selection.samples.table, wanted.safe_names
    if wanted.output is not None and not selection.support.any():
        console.note("No table was written: nothing is selected. --n-features N takes the best N all the same.")
    else:
        outputs.write(
            "table",
            wanted.output,
            lambda path: saving.save_table(table.take(selection.samples.columns[selection.support]), path, safe=safe),
            suffix=saving.own_suffix(table),
        )
    outputs.write(
        "weights",
        wanted.weights,
        lambda path: saving.save_frame(selection.weights_table(), path, safe=safe),
        suffix=".csv",
    )
    outputs.write_text(
        "selected",
        wanted.selected,
        lambda: json.dumps(selection.chosen(), ensure_ascii=False, indent=1) + "\n",
        suffix=".json",
    )
    about = {
        "input": selection.source,
        "prepared": selection.samples.prepared,
        "used": selection.used,
        "columns": {role: column.name for role, column in table.apart.items()},
    }
    model = selection.estimator
    outputs.write("model", wanted.model, lambda path: saving.save_model(model, path, **about), suffix=".skops")
    outputs.write_text("report", wanted.report, lambda: _page(selection, console), suffix=".html")


def _page(selection: Selection, console: Console) -> str:
    with console.working("Drawing the report"):
        return selection.report()


def _show(selection: Selection, console: Console, top: int, written: dict[str, str]) -> None:
    for sentence in selection.sentences:
        console.text(sentence)
    if selection.support.any():
        console.table(*selection.best(top), right=["weight", "rank", "above chance", "selected again"])
    fitting = selection.fitting
    asked = fitting.params.get("n_features_to_select", "auto")
    if asked == "auto" and "fewest" in fitting.method.words and int(selection.support.sum()) > _MANY:
        console.text(
            "These are all that are not noise. --n-features fewest takes the fewest that show the same structure."
        )
    console.finish(selection.document(), written)
