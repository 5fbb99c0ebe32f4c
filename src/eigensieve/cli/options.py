"""Settings that several commands share. Each field is one option, declared here once."""

from dataclasses import dataclass, field
from typing import Annotated

import typer

Seed = Annotated[int | None, typer.Option("--seed", help="Seed of everything random.", show_default=False)]
Force = Annotated[bool, typer.Option("--force", "-f", help="Replace files that exist.")]
SafeNames = Annotated[
    bool, typer.Option("--safe-names", help="In .csv and .tsv: an apostrophe before names a spreadsheet would compute.")
]
Model = Annotated[str | None, typer.Option("--model", "-m", help="The fitted model (.skops).")]


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


@dataclass(frozen=True, kw_only=True)
class SampleOptions(TableOptions):
    """Which table to read, and what to do with its missing values before a fit."""

    missing: Annotated[
        str, typer.Option("--missing", help="Missing values: error, mean, median, drop-features or drop-samples.")
    ] = "error"


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
