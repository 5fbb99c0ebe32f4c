"""Settings that several commands share. Each field is one option, declared here once."""

from dataclasses import dataclass, field
from typing import Annotated, Any

import typer

SEEDS = 2**32
"""How many seeds there are."""


def option(*flags: str, default: Any = None, **details: Any) -> Any:
    """Return a field of a settings class that is an option of the command line; `details` are those of typer."""
    return field(default=default, metadata={"option": typer.Option(default, *flags, **details)})


def _reading(flag: str, text: str, **details: Any) -> Any:
    return option(flag, help=text, rich_help_panel="Columns and cells", **details)


Seed = Annotated[
    int | None, typer.Option("--seed", min=0, max=SEEDS - 1, help="Seed of all random numbers.", show_default=False)
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


@dataclass(frozen=True, kw_only=True)
class TableOptions:
    source: Annotated[str, typer.Argument(metavar="INPUT", help="A table, a 10x folder, or - for standard input.")]
    label: str | None = option("--label", "-l", metavar="COLUMN", help="Column with the samples' labels.")
    batch: str | None = option("--batch", metavar="COLUMN", help="Column with the samples' batches; never a feature.")
    donor: str | None = option(
        "--donors", metavar="COLUMN", help="Column with the samples' donors, if they gave several."
    )
    id: str | None = option("--id", metavar="COLUMN", help="Column with the samples' names.")
    sheet: str | None = option(
        "--sheet",
        metavar="FILE",
        help="Table of the samples, by name; the columns of --label, --batch, --donors and others may be in it.",
    )
    samples: str = option(
        "--samples", help="Where the samples are: rows, columns, or auto to detect it.", default="auto"
    )
    format: str | None = option(
        "--format", help="Format of the input (csv, npy, h5ad, ...), if its name does not tell."
    )
    categories: str = _reading(
        "--categories", "What to do with text: leave-out, one-hot or error.", default="leave-out"
    )
    keep: list[str] | None = _reading("--keep", "Use only this column; repeat for more.", metavar="COLUMN")
    drop: list[str] | None = _reading("--drop", "Do not use this column; repeat for more.", metavar="COLUMN")
    na_values: list[str] | None = _reading(
        "--na-values", "Text or number that means missing, such as -999; repeat for more.", metavar="TEXT"
    )
    decimal: str | None = _reading("--decimal", "Decimal mark of a text file (detected).", metavar="MARK")
    thousands: str | None = _reading("--thousands", "Thousands mark of a text file.", metavar="MARK")
    header: bool | None = _reading(
        "--header/--no-header", "Whether the first line of a text file names the columns (detected)."
    )
    comment: str | None = _reading("--comment", "Skip lines of a text file that begin with this.", metavar="MARK")


@dataclass(frozen=True, kw_only=True)
class SampleOptions(TableOptions):
    missing: str = option(
        "--missing",
        help="What to do with missing values: auto (sieve and trace-ratio leave them; for others, leave out "
        "features that lack most values, fill the rest with the median), error, mean, median, drop-features or "
        "drop-samples.",
        default="auto",
    )


@dataclass(frozen=True, kw_only=True)
class TargetOptions(SampleOptions):
    event: str | None = option(
        "--event", metavar="COLUMN", help="Column with 1 where the event was seen, else 0; with --time."
    )
    time: str | None = option("--time", metavar="COLUMN", help="Column with the time to the event or last look.")


@dataclass(frozen=True, kw_only=True)
class LabelledOptions(SampleOptions):
    label: Annotated[
        str, typer.Option("--label", "-l", metavar="COLUMN", help="Column with the classes, or the number to predict.")
    ] = field()  # no default: the one of the class above is not inherited


@dataclass(frozen=True, kw_only=True)
class PrintOptions:
    quiet: bool = option("--quiet", "-q", help="Print nothing but errors.", default=False)
    as_json: bool = option("--json", help="Print one JSON document, for scripts.", default=False)
    lines: bool = option(
        "--progress", help="Print progress as plain lines on standard error, for logs and programs.", default=False
    )
