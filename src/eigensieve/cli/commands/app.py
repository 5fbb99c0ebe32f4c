"""``eigensieve app``: a page in the browser, for those who do not use a shell."""

from typing import Annotated

import typer

from eigensieve._files import signals_held
from eigensieve.cli.errors import UsageProblem

EXAMPLES = ("eigensieve app", "eigensieve app --port 8080 --no-browser")


def open_app(
    port: Annotated[int, typer.Option("--port", min=0, max=65535, help="Port of the page; 0 takes a free one.")] = 0,
    browser: Annotated[bool, typer.Option("--browser/--no-browser", help="Whether to open the browser.")] = True,
) -> None:
    """Open a page in the browser: drop a table, choose how many, watch, read the report, download.

    The page is served to this computer only, at an address that holds a secret. Nothing leaves the computer. Ctrl-C
    ends it and removes its files.
    """
    with signals_held():  # a library that is imported may drop what a signal raises, and the page would wait for ever
        from eigensieve.app import serve
    try:
        serve(port, open_browser=browser)
    except OSError as error:
        raise UsageProblem(f"Port {port} cannot be used ({error.strerror}). Drop --port, or name another.") from error
