"""Runs of an experiment and the file that keeps them, one line of JSON per run."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

from eigensieve._files import staged
from eigensieve.data import one_blas_thread
from eigensieve.datasets import list_real
from experiments.frame import Experiment, Results

_DIGITS = 6


def results_file(experiment: Experiment, folder: Path) -> Path:
    """Return where the raw results of an experiment are kept."""
    return folder / f"{experiment.name}.jsonl"


def load_results(experiment: Experiment, folder: Path) -> Results:
    """Read the runs that are there. A last line that was cut off by an interruption does not count."""
    file = results_file(experiment, folder)
    return Results(json.loads(line) for line in _whole_lines(file))


def run_experiment(
    experiment: Experiment, folder: Path, *, quick: bool = False, progress: Callable[[str], object] = lambda line: None
) -> Results:
    """Run the missing parts of the experiment's results file, and return all results.

    Parameters
    ----------
    experiment : Experiment
    folder : Path
        Where the results file is; it is made if it is not there. To start anew, delete the file.
    quick : bool, default=False
        Only the experiment's quick runs.
    progress : callable
        Gets a line before every run.

    Notes
    -----
    Cases whose data set is not in the data folder are left out; :func:`missing_data` names them.
    """
    folder.mkdir(parents=True, exist_ok=True)
    done = {(row["case"], row["run"]) for row in load_results(experiment, folder).rows}
    absent = missing_data(experiment)
    plan = experiment.quick if quick else experiment.runs
    missing = [
        (case, number)
        for number in range(max(plan.values()))  # first runs first: an interrupted experiment has seen every case
        for case, count in plan.items()
        if case not in absent and number < count and (case, number) not in done
    ]
    file = results_file(experiment, folder)
    _drop_torn_line(file)
    for i, (case, number) in enumerate(missing, start=1):
        progress(f"{experiment.name}, {case}, run {number + 1} ({i} of {len(missing)})")
        with one_blas_thread():  # several threads round differently, which may turn over a sample at a boundary
            row = {"case": case, "run": number, **experiment.run(case, number)}
        with file.open("a", encoding="utf-8") as lines:
            lines.write(json.dumps(_rounded(row), allow_nan=False) + "\n")
    return load_results(experiment, folder)


def missing_data(experiment: Experiment) -> dict[str, str]:
    """Return the cases that cannot run, and the data set that each lacks."""
    if not experiment.data:
        return {}
    try:
        there = set(list_real())
    except FileNotFoundError:
        there = set()
    return {case: name for case, name in experiment.data.items() if name not in there}


def _whole_lines(file: Path) -> list[str]:
    if not file.exists():
        return []
    return [line for line in file.read_text(encoding="utf-8").splitlines(keepends=True) if line.endswith("\n")]


def _drop_torn_line(file: Path) -> None:
    lines = "".join(_whole_lines(file))
    if file.exists() and len(lines.encode()) < file.stat().st_size:
        with staged(file) as path:
            path.write_text(lines, encoding="utf-8")


def _rounded(value: Any) -> Any:
    """Return numbers with six digits: results files stay small, and equal on machines that round differently."""
    if isinstance(value, dict):
        return {key: _rounded(entry) for key, entry in value.items()}
    if isinstance(value, (list, tuple)):
        return [_rounded(entry) for entry in value]
    if hasattr(value, "tolist"):
        return _rounded(value.tolist())
    return float(f"{value:.{_DIGITS}g}") if isinstance(value, float) else value
