"""Damaged files for every reader: each is read, or refused in one line, quickly and with little memory.

Names of targets are those of the seeds. Those that begin with "open" are opened in place by ``open_data``. Some of the
others go through the command line as well, whose exit code must be a documented one.
"""

import hashlib
import io
import shutil
import tempfile
import warnings
from collections.abc import Iterator
from contextlib import redirect_stderr, redirect_stdout
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import Any

from eigensieve import open_data
from eigensieve.tables import DataError, read_table
from fuzz.reader_damage import (
    Rng,
    damaged_binary,
    damaged_gzip,
    damaged_mat,
    damaged_npy,
    damaged_text,
    damaged_zip,
)
from fuzz.reader_seeds import Files, seeds

_DAMAGE = {".gz": damaged_gzip, ".npz": damaged_zip, ".xlsx": damaged_zip, ".npy": damaged_npy, ".mat": damaged_mat}
_TEXT = (".csv", ".tsv", ".txt", ".svm", ".mtx", ".json")
_ARGUMENTS: tuple[dict[str, Any], ...] = ({}, {"label": "y"}, {"label": "y", "id": "who"}, {"samples": "columns"})
_NAMED = ("full", "comma", "zstd.feather", "uncompressed.feather")  # seeds with labels and names of samples
_NAMELESS = {".svm": 0, ".mtx": 0, ".h5ad": 1}  # formats without a column of names, or without labels either
_SHORT = Path("/dev/shm")  # files that live for milliseconds need no disk


@dataclass(frozen=True)
class Case:
    """Files to read, and how.

    Attributes
    ----------
    reader : str
        Name of the reader in the seeds.
    files : dict of bytes
        One file, or the files of a folder.
    how : dict
        Arguments of ``read_table``. The key "open" asks for ``open_data``, "inspect" for the command line as well.
    """

    reader: str
    files: Files
    how: dict[str, Any]

    def place_in(self, folder: Path) -> Path:
        """Write the files, and return the path to read."""
        if len(self.files) == 1:
            ((name, content),) = self.files.items()
            (folder / name).write_bytes(content)
            return folder / name
        for name, content in self.files.items():
            (folder / "folder" / name).parent.mkdir(parents=True, exist_ok=True)
            (folder / "folder" / name).write_bytes(content)
        first = Path(name).parts[0]  # a folder within, where there is one
        return folder / "folder" / first if len(Path(name).parts) > 1 else folder / "folder"


@cache
def sound() -> dict[str, list[Files]]:
    with tempfile.TemporaryDirectory() as folder:
        return seeds(Path(folder))


def draw(rng: Rng, target: str) -> Case:
    """Return a sound file with some damage, and a way to read it."""
    choices = sound()[target]
    files = dict(choices[int(rng.integers(len(choices)))])
    name = list(files)[int(rng.integers(len(files)))]
    files[name] = damaged(rng, name, files[name])
    usual = _NAMELESS.get(Path(name).suffix, 2) if name.startswith(_NAMED) else 0
    how = dict(_ARGUMENTS[int(rng.integers(len(_ARGUMENTS))) if rng.random() < 0.2 else usual])
    if rng.random() < 0.1:
        how["inspect"] = True
    return Case(target, files, {"open": True} if target.startswith("open ") else how)


def damaged(rng: Rng, name: str, content: bytes) -> bytes:
    """Damage that suits the kind of file."""
    ending = Path(name).suffix
    if ending in _DAMAGE:
        return _DAMAGE[ending](rng, content)
    return damaged_text(rng, content) if ending in _TEXT else damaged_binary(rng, content)


def simpler(case: Case) -> Iterator[Case]:
    """Yield cases with one file of which parts are left out, large parts first."""
    if len(case.files) > 1:
        return
    ((name, content),) = case.files.items()
    part = len(content) // 2
    while part:
        for place in range(0, len(content), part):
            yield replace(case, files={name: content[:place] + content[place + part :]})
        part //= 2


def check(case: Case) -> str:
    """Read the files; any error but the documented ones is raised."""
    with tempfile.TemporaryDirectory(dir=_SHORT if _SHORT.is_dir() else None) as folder:
        return read(case.place_in(Path(folder)), case.how)


def read(path: Path, how: dict[str, Any]) -> str:
    """Read one file or folder; return "read" or "refused" and why."""
    how = dict(how)
    if how.pop("inspect", False):
        _inspect(path, how)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        if how.get("open"):
            return _open(path)
        try:
            table = read_table(path, **how)
        except DataError as error:
            return f"refused: {error}"
    return f"read: {table.X.shape}"


def _open(path: Path) -> str:
    try:
        data = open_data(path, max_memory="50MB")
        if data.n_samples * data.n_features < 10**7:
            data.stats()
    except (ValueError, OSError) as error:
        if type(error) in (ValueError, OSError, FileNotFoundError, DataError):
            return f"refused: {error}"
        raise
    return f"read: {data.n_samples} x {data.n_features}"


def _inspect(path: Path, how: dict[str, Any]) -> None:
    """Have the command line look at the file. It ends with 0, or with 3 and one line."""
    from eigensieve.cli.app import run

    options = [part for name, value in how.items() for part in (f"--{name}", value)]
    out, err = io.TextIOWrapper(io.BytesIO()), io.StringIO()
    with redirect_stdout(out), redirect_stderr(err):
        code = run(["inspect", str(path), *options])
    said = err.getvalue()
    assert code in (0, 3), f"exit code {code}, {said[:200]}"
    assert code == 0 or said.count("\n") == 1, f"several lines: {said[:200]}"


def keep(case: Case, outcome: str, corpus: Path) -> Path:
    """Put a failure into the corpus: a folder with the files, named after reader, outcome and content."""
    digest = hashlib.sha256(b"".join(name.encode() + content for name, content in case.files.items())).hexdigest()[:10]
    how = "-".join(outcome.partition(":")[0].split()[1:2]).lower()
    place = corpus / "readers" / f"{case.reader.replace(' ', '-')}-{how}-{digest}"
    shutil.rmtree(place, ignore_errors=True)
    place.mkdir(parents=True)
    case.place_in(place)
    return place
