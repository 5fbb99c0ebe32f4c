"""One function that reads a table from any supported file."""

import io
from os import PathLike
from pathlib import Path

from eigensieve.tables.content import (
    FORMATS,
    STDIN,
    check_readable,
    format_of,
    format_of_stream,
    read_content,
    read_stdin,
)
from eigensieve.tables.table import DataError, Samples, Table, checked


def read_table(
    path: str | PathLike[str],
    *,
    label: str | None = None,
    id: str | None = None,
    samples: Samples = "auto",
    format: str | None = None,
) -> Table:
    """Read a table of samples.

    Parameters
    ----------
    path : str or path-like
        The format follows from the file's ending: .csv, .tsv, .tab, .txt (also with .gz), .parquet, .pq,
        .feather, .arrow, .npy, .npz, .mat, .svm, .svmlight, .libsvm (also .gz), .mtx (also .gz), .h5ad; or
        a folder with matrix.mtx, features.tsv and barcodes.tsv (10x). ``-`` reads standard input, whose
        format is recognised from its first bytes; text is taken for CSV or TSV.
    label : str, optional
        Name of the label column: a column, the name of a row when samples are in columns, an array of an
        .npz or .mat file, a column of ``obs`` in .h5ad, "label" in svmlight.
    id : str, optional
        Name of the column with the samples' names. A first column of distinct texts is taken without asking.
    samples : {"auto", "rows", "columns"}, default="auto"
        Where the samples stand. "auto" takes rows, unless a text table has named rows that the label, the
        name of the first column or the values show to be features; the table's notes say so.
    format : str, optional
        One of :data:`~eigensieve.tables.FORMATS`, to overrule the file's ending.

    Returns
    -------
    table : Table

    Raises
    ------
    DataError
        When the file is missing, empty, damaged, ragged, of unknown kind, has duplicate names, text among
        its numbers, no such label, or no samples. The message is one line that names the file, the problem
        and the fix.
    """
    if samples not in ("auto", "rows", "columns"):
        raise ValueError(
            f"The 'samples' parameter of read_table must be 'auto', 'rows' or 'columns'. Got {samples!r} instead."
        )
    if format is not None and format not in FORMATS:
        raise ValueError(
            f"The 'format' parameter of read_table must be one of {', '.join(FORMATS)}. Got {format!r} instead."
        )
    if str(path) == STDIN:
        return checked(_from_stdin(format, label, id, samples), "standard input")
    file = Path(path)
    check_readable(file)
    return checked(_from_file(file, format, label, id, samples), path=file)


def _from_file(path: Path, format: str | None, label: str | None, id: str | None, samples: Samples) -> Table:
    if path.is_dir():
        from eigensieve.tables.matrix_market import read_10x

        return read_10x(path, label=label, id=id, samples=samples)
    ending = ""
    if format is None:
        format, ending = format_of(path)
    if format in ("parquet", "feather"):
        from eigensieve.tables.columnar import read_columnar

        return read_columnar(path, format, label=label, id=id, samples=samples)
    if format == "mat":
        from eigensieve.tables.matlab import read_mat

        return read_mat(path, label=label, id=id, samples=samples)
    if format == "h5ad":
        from eigensieve.tables.h5ad import read_h5ad

        return read_h5ad(path, label=label, id=id, samples=samples)
    return _from_stream(path, path, format, ending, label, id, samples)


def _from_stdin(format: str | None, label: str | None, id: str | None, samples: Samples) -> Table:
    content = read_stdin()
    format = format or format_of_stream(content)
    if format in ("parquet", "feather", "mat", "h5ad"):
        import tempfile

        # their libraries want a file they can seek in
        with tempfile.TemporaryDirectory() as folder:
            file = Path(folder) / f"stdin.{format}"
            file.write_bytes(content)
            try:
                return _from_file(file, format, label, id, samples)
            except DataError as error:
                raise DataError(str(error).replace(str(file), "standard input")) from error
    return _from_stream(content, "standard input", format, "", label, id, samples)


def _from_stream(
    content: Path | bytes,
    path: str | Path,
    format: str,
    ending: str,
    label: str | None,
    id: str | None,
    samples: Samples,
) -> Table:
    """Read the formats whose parsers take bytes as well as files."""
    if format == "csv":
        from eigensieve.tables.delimited import read_delimited

        text = read_content(content) if isinstance(content, Path) else content
        return read_delimited(text, path, ending, label=label, id=id, samples=samples)
    source = content if isinstance(content, Path) else io.BytesIO(content)
    if format == "npy":
        from eigensieve.tables.arrays import read_npy

        return read_npy(source, path, label=label, id=id, samples=samples)
    if format == "npz":
        from eigensieve.tables.arrays import read_npz

        return read_npz(source, path, label=label, id=id, samples=samples)
    if format == "svmlight":
        from eigensieve.tables.svmlight import read_svmlight

        return read_svmlight(source, path, label=label, id=id, samples=samples)
    from eigensieve.tables.matrix_market import read_mtx

    return read_mtx(source, path, label=label, id=id, samples=samples)
