"""``eigensieve reproduce``: the papers' experiments, run again beside the printed figures."""

import os
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from eigensieve.cli.console import Console
from eigensieve.cli.errors import InputProblem, OutputProblem, UsageProblem, explain_os_error
from eigensieve.cli.options import Force, PrintOptions, Report
from eigensieve.cli.outputs import Outputs

if TYPE_CHECKING:
    from eigensieve.experiments import Experiment, Results

EXAMPLES = (
    "eigensieve reproduce --list",
    "eigensieve reproduce weston --quick",
    "eigensieve reproduce --results reproduced --data ../shared/data",
)

_FIELDS = ["experiment", "claim", "verdict"]


@dataclass(frozen=True, kw_only=True)
class RunOptions:
    """What to run, and where its results are."""

    names: Annotated[list[str] | None, typer.Argument(metavar="[NAME]...", help="Experiments; all if none.")] = None
    quick: Annotated[bool, typer.Option("--quick", help="A few runs of each, about two minutes for all.")] = False
    only_list: Annotated[bool, typer.Option("--list", help="List the experiments and stop.")] = False
    results: Annotated[
        str, typer.Option("--results", help="Folder of the raw results. Runs that are there are not repeated.")
    ] = "reproduced"
    data: Annotated[
        str | None, typer.Option("--data", help="Folder of the real data sets (default: EIGENSIEVE_DATA).")
    ] = None
    page: Annotated[
        str | None,
        typer.Option("--page", help="The page of all results so far; figures go to images/ beside it."),
    ] = None


def reproduce_papers(running: RunOptions, printing: PrintOptions, report: Report = None, force: Force = False) -> None:
    """Run the papers' experiments: tables beside the printed figures, and a verdict per claim.

    Raw results, the page and the figures are kept in a folder. An interrupted run continues where it stopped.
    """
    from eigensieve.experiments import EXPERIMENTS, load_results, run_experiment, section, verdict_rows, write_page

    console = Console(printing)
    chosen = _chosen(running.names or [], EXPERIMENTS)
    if running.only_list:
        console.table("Experiments", ["name", "paper", "section"], [[e.name, e.paper, e.section] for e in chosen])
        console.document({"experiments": [experiment.name for experiment in chosen]})
        return
    outputs = Outputs(force=force)
    outputs.check(report)
    _use_data(running.data)
    folder = Path(running.results)
    page = Path(running.page) if running.page else folder / "reproduced.md"
    try:
        for experiment in chosen:
            with console.working(experiment.title) as progress:
                results = run_experiment(experiment, folder, quick=running.quick, progress=progress)
            console.text(section(experiment, results) + "\n")
        with console.working("Drawing the page"):
            write_page([(each, load_results(each, folder)) for each in EXPERIMENTS.values()], page)
    except OSError as error:
        raise OutputProblem(explain_os_error(error, error.filename or folder, "writing")) from error
    found = [(each, load_results(each, folder)) for each in chosen]
    verdicts = verdict_rows(found)
    if report is not None:
        with outputs:
            html = _page(found, verdicts)
            outputs.write("report", report, lambda path: path.write_text(html, encoding="utf-8"))
            outputs.commit()
    console.table("Verdicts", _FIELDS, verdicts)
    console.text(f"Page: {page.resolve()}")
    console.places(outputs.written)
    claims = [dict(zip(_FIELDS, row, strict=True)) for row in verdicts]
    console.document({"claims": claims, "page": str(page.resolve()), "outputs": outputs.written})


def _page(found: "list[tuple[Experiment, Results]]", verdicts: list[list[str]]) -> str:
    """Return the HTML report: the verdicts, then per experiment its printed figures beside ours."""
    from eigensieve.report import Section, sheet

    sections = [Section("Verdicts", _FIELDS, verdicts)]
    for experiment, results in found:
        checks = [
            [claim.text, check.where, check.printed, check.ours, "yes" if check.holds else "no"]
            for claim in experiment.claims
            for check in claim.checks(results)
        ]
        text = f"{experiment.paper}, {experiment.section}. {experiment.protocol}"
        sections.append(Section(experiment.title, ["claim", "where", "printed", "ours", "holds"], checks, text))
    return sheet("The papers' experiments, run again", [experiment.name for experiment, _ in found], sections)


def _chosen(names: list[str], known: "dict[str, Experiment]") -> "list[Experiment]":
    unknown = [name for name in names if name not in known]
    if unknown:
        raise UsageProblem(f"There is no experiment '{unknown[0]}'. Choose from: {', '.join(known)}.")
    return [known[name] for name in names] if names else list(known.values())


def _use_data(folder: str | None) -> None:
    from eigensieve.datasets import DATA_VARIABLE

    if folder is None:
        return
    if not Path(folder).is_dir():
        raise InputProblem(f"'{folder}' is not a folder. Name the folder that holds the NAME.npz files.")
    os.environ[DATA_VARIABLE] = folder
