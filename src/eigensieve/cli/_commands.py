"""All commands, registered by importing them; the order is that of ``eigensieve --help``."""

# isort: off
from eigensieve.cli import _select
from eigensieve.cli import _inspect
from eigensieve.cli import _apply
from eigensieve.cli import _demo
# isort: on

__all__ = ["_apply", "_demo", "_inspect", "_select"]
