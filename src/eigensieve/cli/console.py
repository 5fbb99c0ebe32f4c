"""What the commands print: for people on a terminal, for pipes, for scripts."""

import contextlib
import io
import json
import re
import sys
import warnings
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from eigensieve.cli.errors import one_line

_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069]")
_PIPE_WIDTH = 120
_VERBOSE_LINE = re.compile(r"^\[[^\]]+\]\s+[\d.]+s\s+")


def printable(text: object) -> str:
    """Names come from files: what would steer a terminal is shown as a replacement character."""
    return _CONTROL.sub("\ufffd", str(text))


class Console:
    """Print results on standard output and progress on standard error.

    Parameters
    ----------
    quiet : bool
        Print nothing but errors and what was asked for as data.
    as_json : bool
        Print one JSON document instead of tables.
    stdout_is_data : bool
        A table goes to standard output: everything for people goes to standard error.
    """

    def __init__(self, *, quiet: bool = False, as_json: bool = False, stdout_is_data: bool = False) -> None:
        from rich.console import Console as RichConsole

        self.quiet = quiet
        self.as_json = as_json
        out = sys.stderr if stdout_is_data else sys.stdout
        self._out = RichConsole(file=out, width=None if out.isatty() else _PIPE_WIDTH, highlight=False)
        # The stream is taken now: during a fit sys.stderr is where the estimator's own lines are caught.
        self._err = RichConsole(file=sys.stderr, highlight=False)

    @property
    def for_people(self) -> bool:
        return not (self.quiet or self.as_json)

    def text(self, message: str = "", style: str | None = None) -> None:
        """Print a line for people."""
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

        table = Table(title=Text(title), title_justify="left", box=box.SIMPLE_HEAD, title_style="bold", pad_edge=False)
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

    def document(self, content: dict[str, Any]) -> None:
        """Print the JSON document for scripts."""
        if self.as_json:
            print(json.dumps(content, ensure_ascii=False, allow_nan=False, default=_plain))

    @contextlib.contextmanager
    def working(self, what: str) -> Iterator[Callable[[str], None]]:
        """Show `what` is going on: a spinner with the estimator's progress on a terminal, nothing in a pipe.

        Yields a function that changes the text.
        """
        if not (self.for_people and self._err.is_terminal):
            with _warnings_as_notes(self):
                yield lambda message: None
            return
        from rich.progress import Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

        columns = (SpinnerColumn(), TextColumn("{task.description}", markup=False), TimeElapsedColumn())
        with Progress(*columns, console=self._err, transient=True) as bar:
            task = bar.add_task(what)

            def show(message: str) -> None:
                bar.update(task, description=f"{what}: {printable(message)}")

            catcher = _LineCatcher(show)
            with contextlib.redirect_stderr(catcher), _warnings_as_notes(self):
                yield show

    @property
    def verbosity(self) -> int:
        """The estimators' `verbose`: their lines are caught and shown beside the spinner."""
        return 2 if self.for_people and self._err.is_terminal else 0


class _LineCatcher(io.TextIOBase):
    """Hand on what an estimator prints with ``verbose``, without its name and clock."""

    def __init__(self, show: Callable[[str], None]) -> None:
        self.show = show
        self.rest = ""

    def write(self, text: str) -> int:
        *lines, self.rest = (self.rest + text).split("\n")
        for line in lines:
            if line.strip():
                self.show(_VERBOSE_LINE.sub("", line))
        return len(text)


@contextlib.contextmanager
def _warnings_as_notes(console: Console) -> Iterator[None]:
    """Print each warning meant for users once, as a note; deprecations in libraries are not theirs."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        yield
    seen = set()
    for warning in caught:
        message = one_line(str(warning.message))
        ours = issubclass(warning.category, UserWarning) and not issubclass(warning.category, DeprecationWarning)
        if ours and message not in seen:
            seen.add(message)
            console.note(message)


def _plain(value: Any) -> Any:
    """Numpy scalars and arrays in JSON."""
    if hasattr(value, "tolist"):
        return value.tolist()
    raise TypeError(f"{type(value).__name__} is not JSON")
