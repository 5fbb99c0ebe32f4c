"""The command line: select, inspect, apply, map, compress, compare, demo."""

import sys


def main() -> None:
    """Run the command line; the entry point of the ``eigensieve`` script."""
    try:
        from eigensieve.cli.app import run
    except ImportError as error:
        package = (error.name or "").partition(".")[0]
        if package not in {"typer", "rich"}:
            raise
        sys.exit(f"error: The command line needs '{package}'. Add it with: pip install \"eigensieve[cli]\"")
    sys.exit(run(sys.argv[1:]))


__all__ = ["main"]
