"""HDF5 files are looked through in another process before they are opened in this one."""

import math
import subprocess
import sys
from pathlib import Path

from eigensieve.tables.errors import DataError, damaged
from eigensieve.tables.limits import allowance, claim

_SURVEY = Path(__file__).with_name("_hdf5_survey.py")
_SECONDS = 60.0


def check_hdf5(path: Path, *, in_place: bool = False) -> None:
    """Refuse an HDF5 file that is damaged, points to other files, or announces more than it may take in memory.

    With `in_place` the arrays stay in the file, so they may be larger than the memory.
    """
    size = path.stat().st_size
    problem = look_through(path, size, math.inf if in_place else allowance(size))
    if problem is None or problem.startswith("DAMAGED"):
        raise damaged(path, "an HDF5 file") from (None if problem is None else OSError(problem))
    if problem.startswith("ANNOUNCED"):
        claim(float(problem.split()[1]), path, size)
    if problem:
        raise DataError(f"'{path}' was not read: {problem}.")


def look_through(path: Path, size: int, allowed: float) -> str | None:
    """What the survey says: nothing where all is well; None where it crashed or did not end."""
    command = [sys.executable, "-P", str(_SURVEY), str(path), str(size), str(allowed)]
    try:
        done = subprocess.run(command, capture_output=True, timeout=_SECONDS + size / 10**7, check=False)
    except subprocess.TimeoutExpired:
        return None
    if done.returncode > 0:
        raise RuntimeError(f"The check of '{path}' did not start: {done.stderr.decode(errors='replace')[-300:]}")
    return done.stdout.decode("utf-8", "replace") if done.returncode == 0 else None
