"""Printed text: for people on a terminal, for pipes, for scripts."""

import contextlib
import json
import re
import sys
import warnings
from collections.abc import Iterator, Sequence

from eigensieve._progress import Printer, Progress, progress_to, silent
from eigensieve._types import JsonDict
from eigensieve.cli.errors import OutputProblem, UsageProblem, in_options, input_errors, one_line
from eigensieve.cli.options import PrintOptions

_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069\ud800-\udfff]")
_PIPE_WIDTH = 120


def printable(text: object) -> str:
    """Strip control characters; names come from files and may hold some."""
    return _CONTROL.sub("\ufffd", str(text))


CLOSED: set[str] = set()
"""The standard streams that the caller closed (``>&-``)."""


class Console:
    """Print results on standard output, notes and progress on standard error. When one of the command's outputs goes to
    standard output, everything for people goes to standard error. Two cannot go there."""

    def __init__(self, printing: PrintOptions, *places: str | None) -> None:
        from rich.console import Console as RichConsole

        if printing.as_json and "-" in places:
            raise UsageProblem("--json prints to standard output, so no other output can be '-'. Name a file for it.")
        if "stdout" in CLOSED and (printing.as_json or "-" in places):
            raise OutputProblem("Standard output is closed, and a result goes there. Name a file for it with --output.")
        if places.count("-") > 1:
            raise UsageProblem("Two outputs cannot both go to standard output ('-'). Name a file for one of them.")
        self.quiet = printing.quiet
        self.as_json = printing.as_json
        self.lines = printing.lines
        out = sys.stderr if "-" in places else sys.stdout
        self._out = RichConsole(file=out, width=None if out.isatty() else _PIPE_WIDTH, highlight=False)
        self._err = RichConsole(file=sys.stderr, highlight=False)

    @property
    def for_people(self) -> bool:
        return not (self.quiet or self.as_json)

    def text(self, message: str = "", style: str | None = None) -> None:
        if self.for_people:
            self._out.print(printable(message), style=style, markup=False, soft_wrap=not self._out.is_terminal)

    def note(self, message: str) -> None:
        """Print a remark on standard error, so that it never mixes with data."""
        if not self.quiet:
            self._err.print(f"note: {printable(message)}", markup=False, soft_wrap=True)

    def table(
        self, title: str, columns: Sequence[str], rows: Sequence[Sequence[object]], right: Sequence[str] = ()
    ) -> None:
        """Print a table that fits the terminal; `right` names the columns of numbers."""
        if not self.for_people:
            return
        from rich import box
        from rich.table import Table
        from rich.text import Text

        self._out.print(Text(printable(title), style="bold"))
        table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
        table.show_header = any(columns)
        numeric = set(right)
        for column in columns:
            table.add_column(
                Text(column),
                justify="right" if column in numeric else "left",
                no_wrap=column in numeric,
                overflow="fold",
            )
        for row in rows:
            table.add_row(*(Text(printable(cell)) for cell in row))
        self._out.print(table)

    def finish(self, document: JsonDict, written: dict[str, str] | None = None) -> None:
        """Print where each output went; or, for scripts, the JSON document."""
        for role, place in (written or {}).items():
            if place != "-":
                self.text(f"{role}: {place}")
        if self.as_json:
            content = document if written is None else document | {"outputs": written}
            text = json.dumps(content, ensure_ascii=False, allow_nan=False, default=lambda value: value.tolist())
            # bytes of a file name that are not UTF-8 become JSON escapes, which can be turned back
            print(text.encode("utf-8", "backslashreplace").decode("utf-8"))

    @contextlib.contextmanager
    def working(self, what: str, about: str | None = None) -> Iterator[Progress]:
        """Show `what` is going on: a spinner on a terminal, lines with ``--progress``. Warnings become notes. With
        `about`, the data's name, errors about the data become input problems. The progress that is yielded shows a line
        beside the spinner."""
        problems = contextlib.nullcontext() if about is None else input_errors(about)
        with _warnings_as_notes(self), problems:
            if self.lines:
                printer = Printer(printable(what), 1)
                printer("started")
                yield lambda message: printer(printable(message))
                return
            if not (self.for_people and self._err.is_terminal):
                yield silent
                return
            from rich.progress import Progress as Bar
            from rich.progress import SpinnerColumn, TextColumn, TimeElapsedColumn

            columns = (SpinnerColumn(), TextColumn("{task.description}", markup=False), TimeElapsedColumn())
            with Bar(*columns, console=self._err, transient=True) as bar:
                task = bar.add_task(printable(what))
                yield lambda message: bar.update(task, description=printable(f"{what}: {message}"))

    @contextlib.contextmanager
    def fitting(self, what: str, about: str) -> Iterator[None]:
        """As :meth:`working`, and the estimators fitted inside tell their progress beside the spinner."""
        with self.working(what, about) as progress, progress_to(progress):
            yield


@contextlib.contextmanager
def _warnings_as_notes(console: Console) -> Iterator[None]:
    """Print each warning once, as a note. Deprecations in libraries are left out: users cannot fix them."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        yield
    seen = set()
    for warning in caught:
        message = one_line(str(warning.message))
        ours = issubclass(warning.category, UserWarning) and not issubclass(warning.category, DeprecationWarning)
        if ours and message not in seen:
            seen.add(message)
            console.note(in_options(message))
