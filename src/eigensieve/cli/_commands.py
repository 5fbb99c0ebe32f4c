"""All commands, registered by importing them; the order is that of ``eigensieve --help``."""

from eigensieve.cli import _demo

__all__ = ["_demo"]
