"""Settings that several commands share. Each field is one option, declared here once."""

from dataclasses import dataclass, field
from typing import Annotated, Any

import typer

from eigensieve.cli.errors import UsageProblem

SEEDS = 2**32
"""How many seeds there are."""


def _checked_seed(seed: int | None) -> int | None:
    if seed is not None and not 0 <= seed < SEEDS:
        raise UsageProblem(f"--seed must be a whole number from 0 to {SEEDS - 1}. Got {seed} instead.")
    return seed


def option(*flags: str, default: Any = None, **details: Any) -> Any:
    """Return a field of a settings class that is an option of the command line; `details` are those of typer."""
    return field(default=default, metadata={"option": typer.Option(default, *flags, **details)})


Seed = Annotated[
    int | None, typer.Option("--seed", help="Seed of all random numbers.", show_default=False, callback=_checked_seed)
]
Force = Annotated[bool, typer.Option("--force", "-f", help="Replace files that exist.")]
Report = Annotated[str | None, typer.Option("--report", "-r", help="Write a self-contained HTML report here.")]
SafeNames = Annotated[
    bool,
    typer.Option(
        "--safe-names", help="In .csv and .tsv, put an apostrophe before names that a spreadsheet would compute."
    ),
]
Model = Annotated[str | None, typer.Option("--model", "-m", help="Write the fitted model here (.skops).")]


def _column(flag: str, text: str, metavar: str | None = None) -> Any:
    return typer.Option(flag, help=text, metavar=metavar, rich_help_panel="Columns and cells")


@dataclass(frozen=True, kw_only=True)
class TableOptions:
    """Which table to read, and how."""

    source: Annotated[str, typer.Argument(metavar="INPUT", help="A table, a 10x folder, or - for standard input.")]
    label: Annotated[
        str | None, typer.Option("--label", "-l", metavar="COLUMN", help="Column with the samples' labels.")
    ] = None
    batch: Annotated[
        str | None, typer.Option("--batch", metavar="COLUMN", help="Column with the samples' batches; never a feature.")
    ] = None
    donors: Annotated[
        str | None,
        typer.Option("--donors", metavar="COLUMN", help="Column with the samples' donors, if they gave several."),
    ] = None
    ident: Annotated[str | None, typer.Option("--id", metavar="COLUMN", help="Column with the samples' names.")] = None
    sheet: Annotated[
        str | None,
        typer.Option(
            "--sheet",
            metavar="FILE",
            help="Table of the samples, by name; the columns of --label, --batch, --donors and others may be in it.",
        ),
    ] = None
    orientation: Annotated[
        str, typer.Option("--samples", help="Where the samples are: rows, columns, or auto to detect it.")
    ] = "auto"
    form: Annotated[
        str | None,
        typer.Option("--format", help="Format of the input (csv, npy, h5ad, ...), if its name does not tell."),
    ] = None
    categories: Annotated[str, _column("--categories", "What to do with text: leave-out, one-hot or error.")] = (
        "leave-out"
    )
    keep: Annotated[list[str] | None, _column("--keep", "Use only this column; repeat for more.", "COLUMN")] = None
    drop: Annotated[list[str] | None, _column("--drop", "Do not use this column; repeat for more.", "COLUMN")] = None
    na_values: Annotated[
        list[str] | None,
        _column("--na-values", "Text or number that means missing, such as -999; repeat for more.", "TEXT"),
    ] = None
    decimal: Annotated[str | None, _column("--decimal", "Decimal mark of a text file (detected).", "MARK")] = None
    thousands: Annotated[str | None, _column("--thousands", "Thousands mark of a text file.", "MARK")] = None
    header: Annotated[
        bool | None,
        _column("--header/--no-header", "Whether the first line of a text file names the columns (detected)."),
    ] = None
    comment: Annotated[str | None, _column("--comment", "Skip lines of a text file that begin with this.", "MARK")] = (
        None
    )

    @property
    def roles(self) -> dict[str, str | None]:
        """The columns that are set apart from the features."""
        return {"label": self.label, "batch": self.batch, "donors": self.donors}

    @property
    def inputs(self) -> tuple[str | None, ...]:
        """The files that are read."""
        return self.source, self.sheet


@dataclass(frozen=True, kw_only=True)
class SampleOptions(TableOptions):
    """Which table to read, and what to do with its missing values before a fit."""

    missing: Annotated[
        str,
        typer.Option(
            "--missing",
            help="What to do with missing values: auto (no evidence for sieve and trace-ratio; for others, leave out "
            "features that lack most values, fill the rest with the median), error, mean, median, drop-features or "
            "drop-samples.",
        ),
    ] = "auto"


@dataclass(frozen=True, kw_only=True)
class TargetOptions(SampleOptions):
    """The same for commands that take times to an event in place of labels."""

    event: Annotated[
        str | None,
        typer.Option("--event", metavar="COLUMN", help="Column with 1 where the event was seen, else 0; with --time."),
    ] = None
    time: Annotated[
        str | None, typer.Option("--time", metavar="COLUMN", help="Column with the time to the event or last look.")
    ] = None

    @property
    def roles(self) -> dict[str, str | None]:
        return {**super().roles, "event": self.event, "time": self.time}


@dataclass(frozen=True, kw_only=True)
class LabelledOptions(SampleOptions):
    """The same for commands that need labels."""

    label: Annotated[
        str, typer.Option("--label", "-l", metavar="COLUMN", help="Column with the classes, or the number to predict.")
    ] = field()  # no default: the one of the class above is not inherited


@dataclass(frozen=True, kw_only=True)
class PrintOptions:
    """What to print."""

    quiet: bool = option("--quiet", "-q", help="Print nothing but errors.", default=False)
    as_json: bool = option("--json", help="Print one JSON document, for scripts.", default=False)
    lines: bool = option(
        "--progress", help="Print progress as plain lines on standard error, for logs and programs.", default=False
    )
