"""From a file to samples that can be fitted: the table, its missing values, side data."""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np

from eigensieve._types import Array, BoolArray, FloatArray, IntArray, JsonDict, MatrixLike
from eigensieve._words import counted
from eigensieve.cli.console import Console
from eigensieve.cli.errors import InputProblem, UsageProblem, in_options
from eigensieve.cli.options import SampleOptions, TableOptions
from eigensieve.data import DataMatrix, as_data
from eigensieve.tables import Table, check_choices, unknown
from eigensieve.tables import read_table as read_any

_LEFT_OUT = {"auto": 0.5, "drop-features": 0.0}
"""Share of missing values above which a feature is left out; with the other ways none is."""
_ABOUT_THE_MAIN_TABLE = ("label", "batch", "donor", "event", "time", "sheet", "id", "format", "keep", "drop")
_KEPT = "left as they are; they count neither for nor against a feature"
MISSING = ("auto", "error", "mean", "median", "drop-features", "drop-samples")


def read_table(wanted: TableOptions, console: Console) -> Table:
    try:
        check_choices(wanted.samples, wanted.format, wanted.categories, wanted.decimal, wanted.thousands)
    except ValueError as error:
        raise UsageProblem(in_options(str(error))) from error
    given = {name: value for name, value in vars(wanted).items() if name not in ("source", "missing")}
    arguments = {name: value for name, value in given.items() if value is not None}
    with console.working(f"Reading {wanted.source}", wanted.source):
        return read_any(wanted.source, **arguments)


_WHAT_TO_DO = {
    "sample names from": "--id names another column",
    "encoded": "--drop leaves one out",
    "left out column '": "--na-values, --decimal and --thousands say how to read it",
    "column '": "--drop leaves it out",
    "left out": "--categories one-hot encodes categories",
    "columns of the": "--label or --batch uses one",
    "samples in columns": "--samples rows reads it the other way",
    "the comma may mark": "--thousands , or --decimal , says it",
    "the first column, '": "--id takes it as the samples' names, --drop leaves it out",
    "no header line": "--header takes the first line as names",
    "the first line was taken for the header": "--no-header reads it as a sample",
}
"""How a note of a table begins -> the option that changes what it says."""
_YES, _NO = ("1", "1.0", "true", "yes"), ("0", "0.0", "false", "no")
_FEW = 1_000  # columns among which a label is looked for by its name
_LABEL_WORDS = ("class", "label", "target", "y", "outcome", "diagnosis", "species", "group", "response", "category")


def notes_of(table: Table) -> list[str]:
    """The table's notes, each with the option to change what it says."""
    notes = []
    for note in table.notes:
        fix = next((fix for start, fix in _WHAT_TO_DO.items() if note.startswith(start)), "")
        if "too many values" in note:
            fix = "to use one, name it with --id or --label"
        notes.append(f"{note} ({fix})" if fix else note)
    if table.label is None:
        likely = [*table.text, *(table.feature_names if len(table.feature_names) < _FEW else ())]
        for name in [name for name in likely if name.strip().lower() in _LABEL_WORDS]:
            taken = "left out" if name in table.text else "taken for a feature"
            notes.append(f"column '{name}' may be the label and was {taken} (--label {name} uses it)")
    return notes


def read_samples(wanted: SampleOptions, console: Console, *, notes: bool = False, gaps: bool = False) -> "Samples":
    """Read a table, print its notes if `notes` is set, and do with missing values what ``--missing`` says. With `gaps`,
    ``--missing auto`` leaves them as they are: the method takes them."""
    if wanted.missing not in MISSING:
        raise UsageProblem(f"--missing must be one of {', '.join(MISSING)}. Got '{wanted.missing}' instead.")
    table = read_table(wanted, console)
    for note in notes_of(table) if notes else ():
        console.note(note)
    rows, columns = (np.arange(length) for length in table.X.shape)
    apart = {role: column.values for role, column in table.apart.items()}
    samples = Samples(table, table.X, table.feature_names, table.sample_names, apart, rows, columns)
    found = _without_missing(samples, wanted.missing, wanted.source, gaps and not hasattr(table.X, "tocsr"))
    return _with_times(found) if "event" in apart else found


def read_side(source: str, reading: SampleOptions, main: "Samples", console: Console) -> MatrixLike:
    """Read side data as the main data was read, with the main data's columns in their order."""
    unused: JsonDict = {name: None for name in _ABOUT_THE_MAIN_TABLE if hasattr(reading, name)}
    wanted = replace(reading, source=source, **unused)
    side = read_samples(wanted, console)
    for sentence in side.prepared:
        console.note(f"side data: {sentence}")
    columns, absent = find_columns(side.features, main.features)
    if absent:
        raise InputProblem(
            f"The side data '{source}' lacks {absent}. It must have the same columns as the input, with values in them."
        )
    return side.X[:, columns]


@dataclass(frozen=True)
class Samples:
    table: Table  # as it was read
    X: MatrixLike
    features: Sequence[str]
    ids: list[str] | None
    apart: dict[str, Array]  # role ("label", "batch") -> its value for every sample
    rows: IntArray  # rows and columns of the table that X holds
    columns: IntArray
    prepared: list[str] = field(default_factory=list)  # sentences about changes to the values

    @property
    def labels(self) -> Array | None:
        return self.apart.get("label")

    def name_of(self, role: str) -> str | None:
        """The name of the column of labels, batches or donors; for times to an event the column of times."""
        apart = self.table.apart
        column = apart.get("time", apart.get(role)) if role == "label" else apart.get(role)
        return None if column is None else str(column.name)

    def facts(self, source: str, *more: str) -> list[str]:
        """Return sentences about the input, for the head of a page."""
        size = f"{self.X.shape[0]:,} samples, {self.X.shape[1]:,} features"
        return [f"Input: {source}", size, *more, *self.prepared]

    @cached_property
    def data(self) -> DataMatrix:
        """X as a data matrix. It remembers its column statistics, so that fit and report need not compute them."""
        return as_data(self.X)

    @property
    def has_names(self) -> bool:
        """Whether the features have names. Those that are numbered by their place have none."""
        return self.table.has_names or len(self.features) < self.table.n_features

    @property
    def shown_labels(self) -> Array | list[str] | None:
        """The labels as text, for pictures; times to an event as they are."""
        if self.labels is None or self.labels.dtype.names:
            return self.labels
        missing = unknown(self.labels)
        return ["no label" if gap else str(label) for label, gap in zip(self.labels, missing, strict=True)]

    def keep_samples(self, mask: BoolArray, sentence: str) -> "Samples":
        return replace(
            self,
            X=self.X[mask],
            ids=None if self.ids is None else [self.ids[i] for i in np.flatnonzero(mask).tolist()],
            apart={role: values[mask] for role, values in self.apart.items()},
            rows=self.rows[mask],
            prepared=[*self.prepared, sentence],
        )


def _with_times(samples: Samples) -> Samples:
    """Return the samples with (event, time) as their label, without those whose event or time is not known."""
    columns = samples.table.apart
    missing = unknown(samples.apart["event"]) | unknown(samples.apart["time"])
    if missing.any():
        samples = samples.keep_samples(~missing, f"{counted(int(missing.sum()), 'sample')} without a time left out")
    time = samples.apart["time"]
    bad = time if time.dtype.kind not in "iuf" else time[~np.isfinite(time) | (time < 0)]
    if len(bad):
        raise InputProblem(f"Column '{columns['time'].name}' (--time) must hold numbers from 0 on. Got '{bad[0]}'.")
    words = [str(cell).strip().lower() for cell in samples.apart["event"].tolist()]
    strange = [word for word in words if word not in (*_YES, *_NO)]
    if strange:
        raise InputProblem(
            f"Column '{columns['event'].name}' (--event) must hold 1 where the event was seen and 0 where it was not "
            f"(or true and false, yes and no). Got '{strange[0]}'."
        )
    event = [word in _YES for word in words]
    y = np.array(list(zip(event, time, strict=True)), dtype=[("event", bool), ("time", float)])
    return replace(samples, apart={**samples.apart, "label": y})


def check_times(event: str | None, time: str | None, label: str | None) -> None:
    if (event is None) != (time is None):
        raise UsageProblem("--event and --time go together: name both columns.")
    if event is not None and label is not None:
        raise UsageProblem("--label does nothing beside --event and --time, which are the target. Drop it, or them.")


def read_labelled(wanted: SampleOptions, console: Console) -> "Samples":
    """As :func:`read_samples`, with the notes, for commands that need a label for every sample."""
    samples = read_samples(wanted, console, notes=True)
    assert samples.labels is not None
    missing = unknown(samples.labels)
    if missing.all():
        raise InputProblem(f"No sample of '{wanted.source}' has a label. Check --label {wanted.label}.")
    if missing.any():
        samples = samples.keep_samples(~missing, f"{counted(int(missing.sum()), 'sample')} without label left out")
    labels = np.asarray(samples.labels)
    distinct = len(set(labels.tolist()))
    if distinct < 2:
        raise InputProblem(
            f"Every sample of '{wanted.source}' has the same label; there must be two classes or more, or numbers to "
            f"predict. Check --label {wanted.label}."
        )
    if distinct == len(labels) and labels.dtype.kind not in "iuf":
        raise InputProblem(
            f"Every sample of '{wanted.source}' has a label of its own, so the labels name the samples and tell no "
            f"classes. Check --label {wanted.label}."
        )
    if samples.data.stats().constant.all():
        raise InputProblem(f"No column of '{wanted.source}' varies: nothing tells samples apart. Check --samples.")
    for sentence in samples.prepared:
        console.note(sentence)
    return samples


def is_number_target(labels: Array) -> bool:
    """Whether labels are a quantity, to be predicted as a number, and not classes."""
    from eigensieve.estimators import read_target

    return read_target(labels, len(labels), "the label").kind == "numbers"


def _without_missing(samples: Samples, how: str, source: str, gaps: bool = False) -> Samples:
    bad = np.flatnonzero(~samples.data.stats().finite)
    if not len(bad):
        return samples
    block = dense(samples.X[:, bad])
    holes, infinite = ~np.isfinite(block), np.isinf(block).any(axis=0)
    if how == "error":
        raise InputProblem(
            f"'{source}' has missing or infinite values in {len(bad)} of {len(samples.features)} columns "
            f"({_some(samples, bad)}). "
            "Say what to do with them: --missing mean, median, drop-features or drop-samples."
        )
    if how == "auto" and infinite.any():
        raise InputProblem(
            f"'{source}' has infinite values in {int(infinite.sum())} columns ({_some(samples, bad[infinite])}). "
            "Check them, or use --missing median, drop-features or drop-samples."
        )
    if how == "auto" and gaps:
        what = f"{counted(int(holes.sum()), 'missing value')} in {counted(len(bad), 'feature')}"
        return replace(samples, prepared=[*samples.prepared, f"{what} {_KEPT} (--missing changes this)"])
    if how == "drop-samples":
        keep: BoolArray = np.logical_not(holes.any(axis=1))
        if not keep.any():
            raise InputProblem(
                f"Every sample of '{source}' has a missing value, so --missing drop-samples leaves nothing. "
                "Use --missing mean, median or drop-features."
            )
        return samples.keep_samples(keep, f"{counted(int((~keep).sum()), 'sample')} with missing values left out")
    drop = holes.mean(axis=0) > _LEFT_OUT.get(how, 1.0)
    if drop.any():
        samples = _without_features(samples, bad[drop], how, source)
        bad, block, holes = bad[~drop] - np.searchsorted(bad[drop], bad[~drop]), block[:, ~drop], holes[:, ~drop]
    return _filled(samples, bad, block, holes, "median" if how == "auto" else how, source) if len(bad) else samples


def _without_features(samples: Samples, bad: IntArray, how: str, source: str) -> Samples:
    kept = np.delete(np.arange(len(samples.features)), bad).tolist()
    if how == "auto":
        problem = f"Every column of '{source}' lacks most of its values. Check --na-values and --samples."
        lacking = counted(len(bad), "feature that lacks most of its", "features that lack most of their")
        sentence = f"{lacking} values left out (--missing changes this)"
    else:
        problem = (
            f"Every column of '{source}' has missing values, so --missing drop-features leaves nothing. "
            "Use --missing mean or median."
        )
        sentence = f"{counted(len(bad), 'feature')} with missing values left out"
    if not kept:
        raise InputProblem(problem)
    features, prepared = [samples.features[i] for i in kept], [*samples.prepared, sentence]
    return replace(samples, X=samples.X[:, kept], features=features, columns=samples.columns[kept], prepared=prepared)


def _filled(samples: Samples, bad: IntArray, block: FloatArray, holes: BoolArray, how: str, source: str) -> Samples:
    empty = holes.all(axis=0)
    if empty.any():
        raise InputProblem(
            f"'{source}' has columns without a single value ({_some(samples, bad[empty])}), which --missing {how} "
            "cannot fill in. Use --missing drop-features."
        )
    block = np.where(holes, np.nan, block)
    centre = np.nanmean(block, axis=0) if how == "mean" else np.nanmedian(block, axis=0)
    X = samples.X.tolil() if hasattr(samples.X, "tolil") else samples.X.copy()
    X[:, bad] = np.where(holes, centre, block)
    if hasattr(X, "tocsr"):
        X = X.tocsr()
    gaps = counted(int(holes.sum()), "missing value")
    sentence = f"{gaps} in {counted(len(bad), 'feature')} filled in with the {how}"
    return replace(samples, X=X, prepared=[*samples.prepared, sentence])


def labels_with(labels: Array, unlabelled: Any) -> Array:
    """Return the labels with `unlabelled` where one is missing; among numbers NaN stays if `unlabelled` is None."""
    missing = unknown(labels)
    if not missing.any():
        return labels
    if labels.dtype.kind == "f":
        return labels if unlabelled is None else np.where(missing, unlabelled, labels)
    marked = labels.astype(object)
    marked[missing] = unlabelled
    return marked


def dense(X: MatrixLike) -> FloatArray:
    return np.asarray(X.toarray() if hasattr(X, "toarray") else X, dtype=np.float64)


def find_columns(names: Sequence[str], wanted: Sequence[str]) -> tuple[list[int], str]:
    """Return where wanted features stand among others, and how many are not there: "2 of the 9 features ('a', 'b')"."""
    place = {str(name): i for i, name in enumerate(names)}
    absent = [str(name) for name in wanted if str(name) not in place]
    lacking = f"{len(absent)} of the {len(wanted)} features ({_listed(absent)})" if absent else ""
    return [place.get(str(name), -1) for name in wanted], lacking


def _some(samples: Samples, columns: IntArray) -> str:
    return _listed([str(samples.features[i]) for i in columns[:4].tolist()])


def _listed(names: list[str]) -> str:
    return ", ".join(map(repr, names[:3])) + (" ..." if len(names) > 3 else "")
