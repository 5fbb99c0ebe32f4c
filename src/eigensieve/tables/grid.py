"""The lines of a delimited text file: where they are, what its columns are called, and how its cells are parsed."""

import re
from codecs import getincrementaldecoder
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from os import cpu_count

import numpy as np

from eigensieve._types import BoolArray, ByteArray, FloatArray, IntArray
from eigensieve.tables.columns import UNNAMED
from eigensieve.tables.dialect import DELIMITERS, Dialect, detect, find_header, has_commas
from eigensieve.tables.errors import PER_TEXT, DataError, claim, damaged, refuse_duplicates, too_large
from eigensieve.tables.files import Content
from eigensieve.tables.table import NumberedNames, Request

BLOCK_BYTES = 2**23
"""Text that one thread parses at a time."""
SCANNED_BYTES = 2**24
"""Text checked for its encoding at a time."""
SAMPLED_BYTES = 2**16
"""Text that the layout is worked out from, where four lines are no longer than that."""

COMMENT = re.compile(rb"#|!|%|//|;;")
"""How comments begin in many files. They are passed over only where the caller says so."""
SAMPLED_CELLS = 200_000
"""Cells looked at to tell numbers from text and rows from columns."""
FEW_COLUMNS = 8
"""Up to so many columns of text are read one by one."""


@dataclass(frozen=True)
class Grid:
    """The lines of a delimited file, found but not yet parsed; see :class:`~eigensieve.tables.columns.Columns`."""

    request: Request
    text: ByteArray  # the whole file
    begins: IntArray  # first and last-plus-one byte of each data line
    ends: IntArray
    names: Sequence[str]  # column names
    dialect: Dialect
    remark: str = ""  # what ragged lines may come from, for the error about them

    def text_columns(self) -> list[int]:
        sampled = max(1, min(5, SAMPLED_CELLS // len(self.names), len(self.begins)))
        _, odd = self._parsed(np.arange(len(self.names)), np.arange(sampled))
        columns, counts = np.unique(odd[:, 1], return_counts=True)
        return columns[counts == sampled].tolist()

    def numbers(self, columns: IntArray) -> tuple[FloatArray, BoolArray]:
        values, odd = self._parsed(columns)
        numeric = ~np.isin(columns, odd[:, 1])
        return values if numeric.all() else values[:, numeric], numeric

    def some_numbers(self) -> FloatArray:
        n_columns, n_lines = len(self.names) - 1, len(self.begins)
        columns = np.unique(np.linspace(1, n_columns, min(n_columns, 500)).astype(int))
        n_rows = max(2, min(n_lines, SAMPLED_CELLS // len(columns)))
        return self._numbers(columns, np.unique(np.linspace(0, n_lines - 1, n_rows).astype(int)))[0]

    def id_column(self, text_columns: list[int], taken: Sequence[int]) -> int | None:
        if 0 in taken or (text_columns[:1] != [0] and self.names[0] not in UNNAMED):
            return None
        first = self.texts([0])[0]
        # text that repeats and numbers with commas are properties of the samples, not names
        return 0 if len(set(first)) == len(first) and not all(map(has_commas, first)) else None

    def rows(self, rows: IntArray, names: Sequence[str]) -> FloatArray:
        grid = replace(self, begins=self.begins[rows], ends=self.ends[rows])
        values, odd = grid._parsed(np.arange(1, len(self.names)))
        if len(odd):
            row, _, first, last = odd[0]
            raise DataError(
                f"'{self.request.path}' has text in the row of feature '{names[row]}': '{self._decode(first, last)}'. "
                "Remove or encode it, name it as the label, or read samples in rows."
            )
        return values

    def line(self, row: int) -> list[str]:
        return self._line(row)[1:]

    def _line(self, row: int) -> list[str]:
        return self.dialect.cells(self.text[self.begins[row] : self.ends[row]].tobytes())

    def _decode(self, first: int, last: int) -> str:
        """The text between two bytes, with doubled quotes made single."""
        raw = self.text[first:last].tobytes().decode(self.dialect.encoding)
        return raw.strip().replace('""', '"')

    def texts(self, columns: Sequence[int]) -> list[list[str]]:
        claim(float(PER_TEXT * len(columns) * len(self.begins)), self.request.path, self.request.size)
        if len(columns) > FEW_COLUMNS:  # each column alone would read the lines once more
            lines = [self._line(row) for row in range(len(self.begins))]
            return [[line[column].strip() if column < len(line) else "" for line in lines] for column in columns]
        from eigensieve.tables._delimited_numba import locate_column

        lines_and_mark = self.text, self.begins, self.ends, ord(self.dialect.delimiter)
        cells = [zip(*locate_column(*lines_and_mark, column), strict=True) for column in columns]
        return [[self._decode(first, last) if first >= 0 else "" for first, last in column] for column in cells]

    def _parsed(self, columns: IntArray, rows: IntArray | None = None) -> tuple[FloatArray, IntArray]:
        """As :meth:`_numbers`. The caller's own words for missing values and thousands marks are read, too."""
        values, odd = self._numbers(columns, rows)
        if not len(odd) or not (self.request.na_values or self.request.thousands):
            return values, odd
        place = {int(column): target for target, column in enumerate(columns)}
        missing, kept = {word.strip() for word in self.request.na_values}, np.ones(len(odd), dtype=bool)
        for cell, (row, column, first, last) in enumerate(odd.tolist()):
            text = self._decode(first, last)
            if self.request.thousands is not None:
                text = text.replace(self.request.thousands, "")
            if text in missing or self.dialect.is_number(text):
                number = float("nan") if text in missing else float(text.replace(self.dialect.decimal, "."))
                values[row, place[column]] = number
                kept[cell] = False
        return values, odd[kept]

    def _numbers(self, columns: IntArray, rows: IntArray | None = None) -> tuple[FloatArray, IntArray]:
        """Parse `columns` of `rows` (all lines by default). Return values, and the cells that are text.

        A cell of text is four numbers: row, column, first and last-plus-one byte.
        """
        from eigensieve.tables._delimited_numba import DIGITS, TEXT

        begins = self.begins if rows is None else self.begins[rows]
        ends = self.ends if rows is None else self.ends[rows]
        targets = np.full(len(self.names), -1, dtype=np.int64)
        targets[columns] = np.arange(len(columns))
        length = int((ends - begins).sum())
        if len(columns) and len(begins) * len(self.names) > length + len(begins):
            # some line is too short: counting the cells finds it, without room for their values
            self._block(begins, ends, np.full(len(self.names), -1), np.empty((len(begins), 0)), 0)
        claim(8.0 * len(begins) * len(columns), self.request.path, self.request.size)
        values = np.empty((len(begins), len(columns)))
        average = max(1, int(ends[-1] - begins[0]) // len(begins))
        step = max(1, BLOCK_BYTES // average)
        blocks = [slice(start, start + step) for start in range(0, len(begins), step)]
        with ThreadPoolExecutor(cpu_count()) as threads:
            odd = list(
                threads.map(
                    lambda block: self._block(begins[block], ends[block], targets, values[block], block.start), blocks
                )
            )
        cells = np.concatenate(odd)
        # whole numbers that lost digits: as floats, different ones are the same
        for column in np.unique(cells[cells[:, 4] == DIGITS, 1]) if rows is None else ():
            here = values[:, targets[column]]
            if not self.request.unused(self.names[column]) and np.all(np.isnan(here) | (here == np.trunc(here))):
                raise too_large(self.request.path, f" in column '{self.names[column]}'")
        return values, cells[cells[:, 4] == TEXT, :4]

    def _block(self, begins: IntArray, ends: IntArray, targets: IntArray, values: FloatArray, offset: int) -> IntArray:
        from eigensieve.tables._delimited_numba import DIGITS, LONG, NUMBER, parse_rows

        cells = np.empty(len(begins), dtype=np.int64)
        odd = np.empty((1024, 5), dtype=np.int64)
        marks = ord(self.dialect.delimiter), ord(self.dialect.decimal)
        n_odd = parse_rows(self.text, begins, ends, *marks, targets, values, cells, odd)
        if n_odd > len(odd):
            claim(40.0 * n_odd, self.request.path, self.request.size)
            odd = np.empty((n_odd, 5), dtype=np.int64)
            parse_rows(self.text, begins, ends, *marks, targets, values, cells, odd)
        wrong = np.flatnonzero(cells != len(self.names))
        if len(wrong):
            row = int(wrong[0])
            raise DataError(
                f"'{self.request.path}' is ragged: data row {offset + row + 1} has {cells[row]:,} cells where "
                f"{len(self.names):,} are expected. "
                + (self.remark or "Check that row for a missing, extra or unquoted delimiter.")
            )
        odd = odd[:n_odd]
        for place in np.flatnonzero(odd[:, 4] == LONG):
            row, column, first, last, _ = odd[place]
            text = self._decode(first, last).replace(self.dialect.decimal, ".")
            number = values[row, targets[column]] = float(text)
            # a whole number that no float can hold is not a measurement
            digits = text.lstrip("+-0")
            exact = not digits.isdecimal() or (np.isfinite(number) and int(abs(number)) == int(digits))
            odd[place, 4] = NUMBER if exact else DIGITS
        odd[:, 0] += offset
        return odd[odd[:, 4] != NUMBER]


def find_grid(content: Content, request: Request, notes: list[str]) -> Grid:
    """Find the lines and the header of a delimited file."""
    from eigensieve.tables._delimited_numba import find_lines

    path = request.path
    if content[:2] in (b"\xff\xfe", b"\xfe\xff"):
        try:
            content = content[:].decode("utf-16").encode("utf-8")
        except UnicodeDecodeError as error:
            raise damaged(path, "UTF-16 text") from error
    if content.find(b"\n") < 0 <= content.find(b"\r"):  # as old Macs wrote lines
        content = content[:].replace(b"\r", b"\n")
    if request.comment:
        mark = re.escape(request.comment.encode())
        content = re.sub(rb"(?m)^(\xef\xbb\xbf)?" + mark + rb"[^\n]*\n?", b"", content[:])
    if b"\0" in content[:4096]:
        raise DataError(f"'{path}' is not a text table. Give it the file ending of its real format.")
    start = 3 if content[:3] == b"\xef\xbb\xbf" else 0
    text = np.frombuffer(content, dtype=np.uint8)
    begins: IntArray = np.empty(0, dtype=np.int64)
    ends: IntArray = begins
    count = find_lines(text, start, begins, ends)
    if count == 0:
        raise DataError(f"'{path}' is empty. Check that it was written completely.")
    claim(16.0 * count, path, request.size)
    begins, ends = np.empty(count, dtype=np.int64), np.empty(count, dtype=np.int64)
    find_lines(text, start, begins, ends)
    # the layout is worked out from four lines, and from more while they are short
    within = int(np.searchsorted(ends, begins[0] + SAMPLED_BYTES))
    lines = [text[begins[row] : ends[row]].tobytes() for row in range(min(len(begins), max(4, min(within, 100))))]
    widest = max(line.count(mark.encode()) for line in lines for mark in DELIMITERS)
    claim(PER_TEXT * (len(begins) + 4.0 * widest), path, request.size)
    dialect, assumed = detect(lines, request, _encoding(content))
    notes += assumed
    if dialect.encoding != "utf-8":
        notes.append("the text is not UTF-8 and was read as Latin-1")
    header, *body = (dialect.cells(line) for line in lines)
    named, assumed = find_header(dialect, header, body, request)
    dialect = replace(dialect, header=named)
    notes += assumed
    header, ends, trimmed = _without_empty_end(header, body, text, begins, ends, dialect)
    if trimmed:
        notes.append("the last column was left out: it is empty and has no name, as where lines end in a delimiter")
    remark = comment_among(lines, dialect.encoding)
    if not named and header:
        names = NumberedNames(len(header))
        return Grid(request, text, begins, ends, names, dialect, remark)
    if len(begins) == 1:
        raise DataError(f"'{path}' has no samples. Check that it holds data rows below its header.")
    header = [name.strip() for name in header]
    if len(header) == len(body[0]) - trimmed - 1:
        header = ["", *header]
    refuse_duplicates(header, path, "column")
    return Grid(request, text, begins[1:], ends[1:], header, dialect, remark)


def comment_among(lines: list[bytes], encoding: str) -> str:
    """A sentence about the first line that looks like a comment; empty without one."""
    for number, line in enumerate(lines, start=1):
        found = COMMENT.match(line)
        if found:
            mark, start = found[0].decode(), line[:40].decode(encoding, "replace").split("\t")[0]
            return (
                f"Line {number} looks like a comment: '{start}'. Skip such lines (comment='{mark}', on the command "
                f"line --comment '{mark}')."
            )
    return ""


def _without_empty_end(
    header: list[str], body: list[list[str]], text: ByteArray, begins: IntArray, ends: IntArray, dialect: Dialect
) -> tuple[list[str], IntArray, bool]:
    """The first line's cells and the ends of all lines, without a last cell that is empty in every line.

    The first line may lack that cell, if it is a header. The third value says whether there was such a cell.
    """
    from eigensieve.tables._delimited_numba import locate_column

    width = len(body[0]) if body else 0
    short = dialect.header and len(header) == width - 1
    if width < 2 or any(row[-1:] != [""] for row in (body if short else [header, *body])):
        return header, ends, False
    first = 1 if short else 0
    places, _ = locate_column(text, begins[first:], ends[first:], ord(dialect.delimiter), width - 1)
    if not np.array_equal(places, ends[first:]):
        return header, ends, False
    return header[: width - 1], np.concatenate([ends[:first], ends[first:] - 1]), True


def _encoding(content: Content) -> str:
    """UTF-8 where the whole text is valid UTF-8, else Latin-1, in which every byte is valid."""
    decoder = getincrementaldecoder("utf-8")()
    try:
        for start in range(0, len(content), SCANNED_BYTES):
            decoder.decode(content[start : start + SCANNED_BYTES])
        decoder.decode(b"", final=True)
    except UnicodeDecodeError:
        return "latin-1"
    return "utf-8"
