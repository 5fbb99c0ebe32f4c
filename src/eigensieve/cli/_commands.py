"""All commands, registered by importing them; the order is that of ``eigensieve --help``."""

# isort: off
from eigensieve.cli import _select
from eigensieve.cli import _inspect
from eigensieve.cli import _apply
from eigensieve.cli import _compare
from eigensieve.cli import _map
from eigensieve.cli import _compress
from eigensieve.cli import _demo
# isort: on

__all__ = ["_apply", "_compare", "_compress", "_demo", "_inspect", "_map", "_select"]
