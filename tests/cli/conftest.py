"""A small table on disk, and the command line run in this process or in one of its own."""

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from eigensieve.cli.app import run

N_SAMPLES, N_FEATURES, N_RELEVANT = 40, 60, 6


def write_csv(path: Path, X: np.ndarray, names: list[str], *, delimiter: str = ",") -> None:
    labels = ["a" if i < len(X) // 2 else "b" for i in range(len(X))]
    lines = [delimiter.join(["sample", "tissue", *names])]
    lines += [
        delimiter.join([f"s{i}", label, *(f"{value:.6g}" for value in row)])
        for i, (row, label) in enumerate(zip(X, labels, strict=True))
    ]
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")


@pytest.fixture(scope="session")
def values() -> np.ndarray:
    rng = np.random.default_rng(0)
    X = rng.standard_normal((N_SAMPLES, N_FEATURES))
    X[: N_SAMPLES // 2, :N_RELEVANT] += 3
    return X


@pytest.fixture
def table(values: np.ndarray, tmp_path: Path) -> Path:
    """A CSV with sample names, the label 'tissue' and the features g0, g1...; g0 to g5 tell the labels apart."""
    path = tmp_path / "table.csv"
    write_csv(path, values, [f"g{i}" for i in range(N_FEATURES)])
    return path


@pytest.fixture
def cli(capsys: pytest.CaptureFixture[str]) -> Callable[..., tuple[int, str, str]]:
    """Run a command line in this process: exit code, standard output, standard error."""

    def call(*arguments: object) -> tuple[int, str, str]:
        capsys.readouterr()
        code = run([str(argument) for argument in arguments])
        out, err = capsys.readouterr()
        return int(code), out, err

    return call


def program(*arguments: object, **options: object) -> "subprocess.Popen[bytes]":
    """Start the command line as a process of its own."""
    environment = {**os.environ, "NUMBA_NUM_THREADS": "1", "OMP_NUM_THREADS": "1"}
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    return subprocess.Popen(
        [sys.executable, "-m", "eigensieve", *map(str, arguments)],
        env=environment,
        **{**pipes, **options},
    )
