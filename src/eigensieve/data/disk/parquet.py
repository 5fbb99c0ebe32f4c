"""Parquet files: stored by columns, so that some features are read without touching the others."""

from pathlib import Path

import numpy as np

from eigensieve._extras import require
from eigensieve._types import Array
from eigensieve.data.disk.sources import Source, Watch


class ParquetSource(Source):
    """A Parquet file whose columns are the features, all numeric."""

    def __init__(self, path: Path) -> None:
        parquet, arrow = require("pyarrow.parquet", extra="disk"), require("pyarrow", extra="disk")
        try:
            self.file = parquet.ParquetFile(path)
            self.names = self.file.schema_arrow.names
        except (arrow.ArrowException, OSError, UnicodeDecodeError) as error:
            raise ValueError(
                f"{path} cannot be read as Parquet: {error}. It may be truncated; write it again."
            ) from error
        schema = self.file.schema_arrow
        types = arrow.types
        wrong = [
            f"{field.name!r} ({field.type})"
            for field in schema
            if not (types.is_floating(field.type) or types.is_integer(field.type) or types.is_boolean(field.type))
        ]
        if wrong:
            raise ValueError(
                f"All columns of {path} must be numeric. Got {', '.join(wrong[:5])}"
                f"{f' and {len(wrong) - 5} more' if len(wrong) > 5 else ''} instead; drop or encode them first."
            )
        single = all(field.type == arrow.float32() for field in schema)
        shape = (self.file.metadata.num_rows, len(schema))
        super().__init__(str(path), shape, np.float32 if single else np.float64)
        self.feature_names = np.asarray(self.names, dtype=object)
        self.watch = Watch(path)

    def columns(self, start: int, stop: int, buffer: Array | None = None) -> Array:
        count = stop - start
        flat = np.empty(self.shape[0] * count, self.dtype) if buffer is None else buffer[: self.shape[0] * count]
        out = flat.reshape((self.shape[0], count), order="F")
        table = self.file.read(columns=self.names[start:stop], use_threads=False)
        for position, column in enumerate(table.columns):
            out[:, position] = column.to_numpy(zero_copy_only=False)
        return out
