"""Files in, files out: tables in the formats people have, read into one shape and written back in theirs."""

from typing import TYPE_CHECKING

from eigensieve._door import open_door

if TYPE_CHECKING:
    from eigensieve.tables.content import FORMATS, format_of
    from eigensieve.tables.reading import read_table
    from eigensieve.tables.table import DataError, Table
    from eigensieve.tables.writing import write_in_place, write_table

__getattr__, __dir__, __all__ = open_door(__name__, __file__)
