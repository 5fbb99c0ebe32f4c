"""The command line: it reads tables, calls the estimators, and writes files. It owns no algorithm.

Read ``app`` and ``errors`` first (how a function becomes a command, how an error becomes an exit code), then
``commands/select``, the longest walk, and the files it uses in this order: ``options``, ``reading``, ``knowledge``,
``methods``, ``selection``, ``outputs``, ``console``.

Words: *settings* are frozen dataclasses whose fields are options; *samples* are what a fit receives; a *selection* is a
fitted method with its samples; a *place* is where an output goes, a path or ``-`` for standard output.
"""

import signal
import sys

from eigensieve._files import signals_held
from eigensieve.cli.errors import ExitCode


def main() -> None:
    """Run the command line; the entry point of the ``eigensieve`` script."""
    try:
        with signals_held():  # compiled code turns what a signal raises into an ImportError, and libraries drop those
            from eigensieve.cli.app import run
    except KeyboardInterrupt:  # it came during the imports, before there was anything to write
        signal.signal(signal.SIGINT, signal.SIG_IGN)  # a second one must not disturb the ending
        print("error: Interrupted. Nothing was written; run the command again to start over.", file=sys.stderr)
        sys.exit(ExitCode.INTERRUPTED)
    except ImportError as error:
        package = (error.name or "").partition(".")[0]
        if package not in {"typer", "rich"}:
            raise
        print(
            f"error: The command line needs '{package}'. Add it with: pip install \"eigensieve[cli]\"", file=sys.stderr
        )
        sys.exit(ExitCode.MISSING_PACKAGE)
    sys.exit(run(sys.argv[1:]))
