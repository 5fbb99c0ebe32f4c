"""Files in, files out: tables in the formats people have, read into one shape and written back in the same format.

The package owns file formats: what an ending and the first bytes mean, how each file is parsed, and errors that name
the file, the problem and the fix. Computing with data is the task of :mod:`eigensieve.data`, whose ``open_data`` looks
file endings up here.

Reading order
-------------
table        `Table`, which every reader returns; `Request`, the settings of a reader; labels and batches from a sheet
errors       `DataError`: the file, the problem, the fix; how much memory a file may take
labels       which texts mean "missing"; labels of samples, from texts to classes or numbers
files        the one table of formats (endings, first bytes, reader, writer), and the bytes of a file, a pipe or
             standard input
reading      `read_table` and `write_table`: look the format up, call its reader or writer
columns      named columns of text, Parquet and Feather: which are names, labels, features; where the samples stand
delimited    CSV and TSV: find the lines, then the header, then parse; and back, in the layout they came in
grid         the lines of a text file and their cells (`_delimited_numba`)
dialect      how a text file is laid out: delimiter, decimal mark, whether there is a header
columnar     Parquet and Feather
excel        Excel workbooks
mixed        columns that are no numbers: left out, encoded, kept or dropped; dates as numbers
arrays       tables around one bare matrix; .npy and .npz
matlab, matrix_market  .mat; .mtx and 10x folders
hdf5         .h5ad; HDF5 files are looked through by another process (`_hdf5_survey`) before they are opened
svmlight     svmlight text

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
