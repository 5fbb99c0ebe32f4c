"""Files in, files out: tables in the formats people have, read into one shape and written back in the same format.

The package owns file formats: what an ending and the first bytes mean, how each file is parsed, and errors that name
the file, the problem and the fix. Computing with data is the task of :mod:`eigensieve.data`, whose ``open_data`` looks
file endings up here.

Read `table` first (`Table`, which every reader returns; `Request`, the settings of a reader), then `errors`, `labels`,
`files` (the one table of formats) and `reading` (`read_table`, `write_table`). Named columns: `columns`, `mixed`; text:
`delimited`, `grid`, `dialect`. Each format has a file of its own, whose first lines say how it is read.

Words
-----
label        the column with the classes of the samples, set apart from the features
id           the column with the names of the samples
batch        the column with the batches of the samples, set apart from the features, too
orientation  "rows" where the samples stand in the rows of the file, "columns" where they stand in its columns
ending       the file's suffix in lower case, without ``.gz``
"""

from eigensieve.tables.errors import DataError as DataError
from eigensieve.tables.files import FORMATS as FORMATS
from eigensieve.tables.files import format_of
from eigensieve.tables.hdf5 import check_hdf5
from eigensieve.tables.labels import unknown
from eigensieve.tables.reading import check_choices, write_in_place, written_format
from eigensieve.tables.reading import read_table as read_table
from eigensieve.tables.reading import write_table as write_table
from eigensieve.tables.table import Column, percent
from eigensieve.tables.table import Table as Table
