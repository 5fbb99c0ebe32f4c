"""The version, for the build (hatchling reads this file), for users and for files that state it."""

__version__ = "0.1.0"
