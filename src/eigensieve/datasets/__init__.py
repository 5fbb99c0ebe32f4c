"""Data sets: the papers' synthetic generators, real-data access, file readers."""

from eigensieve.datasets.real import list_real, load_real, real_data_folder

__all__ = ["list_real", "load_real", "real_data_folder"]
