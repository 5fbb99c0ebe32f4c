"""Options that several commands share, so that they read the same everywhere."""

from typing import Annotated, Any

import typer

from eigensieve.cli.errors import UsageProblem
from eigensieve.cli.methods import METHODS

Force = Annotated[bool, typer.Option("--force", "-f", help="Replace files that exist.")]
Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="Print nothing but errors.")]
AsJson = Annotated[bool, typer.Option("--json", help="Print one JSON document, for scripts.")]
Seed = Annotated[int | None, typer.Option("--seed", help="Seed of everything random.", show_default=False)]


def complete_method(incomplete: str) -> list[tuple[str, str]]:
    """Shell completion of method names."""
    return [(name, method.summary) for name, method in METHODS.items() if name.startswith(incomplete)]


def count_or_auto(text: str | None, flag: str) -> Any:
    """Parse ``auto``, a whole number, or a fraction below 1."""
    if text is None or text == "auto":
        return text
    try:
        number = float(text)
    except ValueError:
        number = -1.0
    if number >= 1 and number == int(number):
        return int(number)
    if 0 < number < 1 and flag == "--n-features":
        return number
    fraction = ", or a fraction between 0 and 1" if flag == "--n-features" else ""
    raise UsageProblem(f"{flag} must be 'auto' or a whole number of at least 1{fraction}. Got '{text}' instead.")


Input = Annotated[str, typer.Argument(metavar="INPUT", help="A table, a 10x folder, or - for standard input.")]
Label = Annotated[str | None, typer.Option("--label", "-l", metavar="COLUMN", help="Column with the samples' labels.")]
Ident = Annotated[str | None, typer.Option("--id", metavar="COLUMN", help="Column with the samples' names.")]
Orientation = Annotated[str, typer.Option("--samples", help="Samples are in rows or in columns; auto detects it.")]
Format = Annotated[
    str | None, typer.Option("--format", help="Format of the input when its name does not tell (csv, npy, h5ad, ...).")
]
Missing = Annotated[
    str,
    typer.Option("--missing", help="Missing values: error, mean, median, drop-features or drop-samples."),
]
