"""All commands, registered by importing them; the order is that of ``eigensieve --help``."""

# isort: off
from eigensieve.cli import select
from eigensieve.cli import inspect
from eigensieve.cli import apply
from eigensieve.cli import compare
from eigensieve.cli import map
from eigensieve.cli import compress
from eigensieve.cli import demo
# isort: on

__all__ = ["apply", "compare", "compress", "demo", "inspect", "map", "select"]
