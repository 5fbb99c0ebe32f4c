"""The command line: it reads tables, calls the estimators, and writes files. It owns no algorithm.

Read in this order:

- ``app``: how a function becomes a command, and how an error becomes an exit code
- ``errors``: the kinds of problems, with their exit codes
- ``commands/``: one file per command; ``select`` is the longest walk
- ``options``: the options that several commands share, as settings objects
- ``reading``: from a file to samples that can be fitted (missing values, side data, times to an event)
- ``knowledge``: constraints on features and pairs of samples, from names and files
- ``methods``: the selectors by their names on the command line
- ``selection``: fitting a method, and what came of it (tables, figures, report)
- ``machines``: the machines that ``compress`` makes, and other small machines beside them
- ``outputs``: files that appear all together or not at all
- ``console``: the printed text, for people, pipes and scripts

Words: *settings* are frozen dataclasses whose fields are options; *samples* are what a fit receives; a *selection* is a
fitted method with its samples; a *place* is where an output goes, a path or ``-`` for standard output.
"""

import sys

from eigensieve.cli.errors import ExitCode


def main() -> None:
    """Run the command line; the entry point of the ``eigensieve`` script."""
    try:
        from eigensieve.cli.app import run
    except ImportError as error:
        package = (error.name or "").partition(".")[0]
        if package not in {"typer", "rich"}:
            raise
        print(
            f"error: The command line needs '{package}'. Add it with: pip install \"eigensieve[cli]\"", file=sys.stderr
        )
        sys.exit(ExitCode.MISSING_PACKAGE)
    sys.exit(run(sys.argv[1:]))
