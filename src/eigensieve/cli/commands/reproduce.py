"""``eigensieve reproduce``: the papers' experiments, run again beside the printed figures."""

import base64
import html
import os
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from eigensieve._files import staged
from eigensieve.cli.console import Console
from eigensieve.cli.errors import InputProblem, OutputProblem, UsageProblem, explain_os_error
from eigensieve.cli.options import PrintOptions

if TYPE_CHECKING:
    from eigensieve.experiments import Experiment, Results
    from eigensieve.report import Section

EXAMPLES = (
    "eigensieve reproduce --list",
    "eigensieve reproduce weston --quick",
    "eigensieve reproduce --results reproduced --data ../shared/data",
)


@dataclass(frozen=True, kw_only=True)
class RunOptions:
    """What to run, and where its results are."""

    names: Annotated[
        list[str] | None, typer.Argument(metavar="[NAME]...", help="Experiments to run; all if you name none.")
    ] = None
    quick: Annotated[bool, typer.Option("--quick", help="Do a few runs of each, about two minutes for all.")] = False
    only_list: Annotated[bool, typer.Option("--list", help="List the experiments and stop.")] = False
    results: Annotated[
        str, typer.Option("--results", help="Folder of the raw results. Runs in it are not repeated.")
    ] = "reproduced"
    data: Annotated[
        str | None, typer.Option("--data", help="Folder of the real data sets (default: EIGENSIEVE_DATA).")
    ] = None
    page: Annotated[
        str | None,
        typer.Option("--page", help="Write a page of all results so far here; figures go to images/ beside it."),
    ] = None
    report: Annotated[
        str | None,
        typer.Option("--report", "-r", help="Write one HTML file here (default: reproduced.html beside the results)."),
    ] = None


def reproduce_papers(running: RunOptions, printing: PrintOptions) -> None:
    """Run the papers' experiments: tables beside the printed figures, and a verdict per claim.

    Raw results, the page and the figures are kept in a folder. An interrupted run continues where it stopped.
    """
    from eigensieve.experiments import (
        EXPERIMENTS,
        VERDICTS,
        load_results,
        run_experiment,
        section,
        verdict_rows,
        write_page,
    )

    console = Console(printing)
    chosen = _chosen(running.names or [], EXPERIMENTS)
    if running.only_list:
        console.table("Experiments", ["name", "paper", "section"], [[e.name, e.paper, e.section] for e in chosen])
        console.document({"experiments": [experiment.name for experiment in chosen]})
        return
    _use_data(running.data)
    folder = Path(running.results)
    page = Path(running.page) if running.page else folder / "reproduced.md"
    report = Path(running.report) if running.report else folder / "reproduced.html"
    try:
        for experiment in chosen:
            with console.working(experiment.title) as progress:
                results = run_experiment(experiment, folder, quick=running.quick, progress=progress)
            console.text(section(experiment, results) + "\n")
        with console.working("Drawing the page"):
            everything = [(each, load_results(each, folder)) for each in EXPERIMENTS.values()]
            _write_report(everything, write_page(everything, page), report)
    except OSError as error:
        raise OutputProblem(explain_os_error(error, error.filename or folder, "writing")) from error
    verdicts = verdict_rows([(each, load_results(each, folder)) for each in chosen])
    console.table("Verdicts", list(VERDICTS), verdicts)
    console.text(f"Page: {page.resolve()}")
    console.text(f"Report: {report.resolve()}")
    console.document(
        {
            "claims": [dict(zip(VERDICTS, row, strict=True)) for row in verdicts],
            "page": str(page.resolve()),
            "report": str(report.resolve()),
        }
    )


def _write_report(everything: "list[tuple[Experiment, Results]]", pictures: dict[str, Path], file: Path) -> None:
    """Write tables, figures and verdicts as one HTML page."""
    from eigensieve.experiments import VERDICTS, verdict_rows
    from eigensieve.report import Section, sheet

    sections = [Section("Verdicts", VERDICTS, verdict_rows(everything))]
    for experiment, results in everything:
        if results.rows:
            sections += _sections(experiment, results, pictures.get(experiment.name))
    facts = ["A check holds if the printed figure lies within one standard deviation of ours, or if ours is better."]
    with staged(file) as path:
        path.write_text(sheet("The papers, reproduced", facts, sections), encoding="utf-8")


def _sections(experiment: "Experiment", results: "Results", picture: Path | None) -> "list[Section]":
    """An experiment's part of the report: text and figure, its tables, its checks."""
    from eigensieve.experiments import CHECKS, check_rows, paragraphs, read_markdown
    from eigensieve.report import Section

    image = ""
    if picture is not None:
        coded = base64.b64encode(picture.read_bytes()).decode("ascii")
        image = (
            f"<img alt='{html.escape(experiment.title)}' style='max-width:100%' src='data:image/png;base64,{coded}'>"
        )
    text = " ".join(paragraphs(experiment, results)).replace("`", "")
    tables = [
        Section(f"{experiment.title}: results", heads, rows) for heads, rows in read_markdown(experiment.table(results))
    ]
    checks = Section(f"{experiment.title}: checks", CHECKS, check_rows(experiment, results))
    return [Section(experiment.title, text=text, picture=image), *tables, checks]


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
