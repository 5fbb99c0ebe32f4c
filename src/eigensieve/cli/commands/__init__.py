"""The commands, one file each: a function whose docstring is the help, and its examples.

Read ``select`` first; the others follow its shape: check the request, read, work, write, show.
A new command is a new file here and a line in the table below.
"""

from collections.abc import Callable

from eigensieve.cli.commands import app, apply, compare, compress, demo, inspect, map, score, select

COMMANDS: dict[str, tuple[Callable[..., None], tuple[str, ...]]] = {
    "select": (select.select_features, select.EXAMPLES),
    "inspect": (inspect.inspect_table, inspect.EXAMPLES),
    "apply": (apply.apply_model, apply.EXAMPLES),
    "compare": (compare.compare_selectors, compare.EXAMPLES),
    "score": (score.score_panels, score.EXAMPLES),
    "map": (map.map_features, map.EXAMPLES),
    "compress": (compress.compress_svm, compress.EXAMPLES),
    "app": (app.open_app, app.EXAMPLES),
    "demo": (demo.run_demo, demo.EXAMPLES),
}
"""Name -> function and examples, in the order of ``eigensieve --help``."""

__all__ = ["COMMANDS"]
