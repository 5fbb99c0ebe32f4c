"""Settings that several commands share. Each field is one option, declared here once."""

from dataclasses import dataclass, field
from typing import Annotated, Any

import typer

Seed = Annotated[int | None, typer.Option("--seed", help="Seed of everything random.", show_default=False)]
Force = Annotated[bool, typer.Option("--force", "-f", help="Replace files that exist.")]
Report = Annotated[str | None, typer.Option("--report", "-r", help="A self-contained HTML report.")]
SafeNames = Annotated[
    bool, typer.Option("--safe-names", help="In .csv and .tsv: an apostrophe before names a spreadsheet would compute.")
]
Model = Annotated[str | None, typer.Option("--model", "-m", help="The fitted model (.skops).")]


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
    ident: Annotated[str | None, typer.Option("--id", metavar="COLUMN", help="Column with the samples' names.")] = None
    orientation: Annotated[
        str, typer.Option("--samples", help="Samples are in rows or in columns; auto detects it.")
    ] = "auto"
    form: Annotated[
        str | None,
        typer.Option("--format", help="Format of the input when its name does not tell (csv, npy, h5ad, ...)."),
    ] = None
    categories: Annotated[str, _column("--categories", "Columns of text: leave-out, one-hot or error.")] = "leave-out"
    keep: Annotated[list[str] | None, _column("--keep", "Use only this column; repeat for more.", "COLUMN")] = None
    drop: Annotated[list[str] | None, _column("--drop", "Do not use this column; repeat for more.", "COLUMN")] = None
    na_values: Annotated[
        list[str] | None, _column("--na-values", "A cell that means missing, such as -999; repeat for more.", "TEXT")
    ] = None
    decimal: Annotated[str | None, _column("--decimal", "Decimal mark of a text file; found by itself.", "MARK")] = None
    thousands: Annotated[str | None, _column("--thousands", "Thousands mark of a text file.", "MARK")] = None


@dataclass(frozen=True, kw_only=True)
class SampleOptions(TableOptions):
    """Which table to read, and what to do with its missing values before a fit."""

    missing: Annotated[
        str,
        typer.Option(
            "--missing",
            help="Missing values: auto (drop features without most values, then median), error, mean, median, "
            "drop-features or drop-samples.",
        ),
    ] = "auto"


@dataclass(frozen=True, kw_only=True)
class LabelledOptions(SampleOptions):
    """The same for commands that need labels."""

    label: Annotated[str, typer.Option("--label", "-l", metavar="COLUMN", help="Column with the classes.")] = (
        field()  # no default: the one of the class above is not inherited
    )


@dataclass(frozen=True, kw_only=True)
class PrintOptions:
    """What to print."""

    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="Print nothing but errors.")] = False
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON document, for scripts.")] = False
