"""eigensieve: find the few features that matter in wide data, with or without labels."""

__version__ = "0.1.0"
