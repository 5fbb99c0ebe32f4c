"""Files in, files out: tables in the formats people have, read into one shape and written back in theirs."""

from eigensieve.datasets.readers.content import FORMATS
from eigensieve.datasets.readers.reading import read_table
from eigensieve.datasets.readers.table import DataError, Table
from eigensieve.datasets.readers.writing import write_table

__all__ = ["FORMATS", "DataError", "Table", "read_table", "write_table"]
