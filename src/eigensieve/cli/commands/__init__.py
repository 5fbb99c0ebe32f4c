"""The commands, one file each. Importing this room registers them in the order of ``eigensieve --help``.

Read ``select`` first; the others follow its shape: check the request, read, work, write, show.
A new command is a new file here with a function under ``@command``, and a line below.
"""

# isort: off
from eigensieve.cli.commands import select
from eigensieve.cli.commands import inspect
from eigensieve.cli.commands import apply
from eigensieve.cli.commands import compare
from eigensieve.cli.commands import map
from eigensieve.cli.commands import compress
from eigensieve.cli.commands import demo
# isort: on

__all__ = ["apply", "compare", "compress", "demo", "inspect", "map", "select"]
