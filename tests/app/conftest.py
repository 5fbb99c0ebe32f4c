"""A table as bytes, an application with its client, and the page served for a real browser."""

import os
import re
import subprocess
import sys
import warnings
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

from report.conftest import browser  # noqa: F401

pytest.importorskip("starlette", reason="the page needs starlette and uvicorn")
pytest.importorskip("uvicorn", reason="the page needs starlette and uvicorn")

TOKEN = "a-secret"
HOST = "127.0.0.1:8000"


def csv_bytes(n_samples: int = 40, n_features: int = 30) -> bytes:
    """Two tissues that g0 to g5 tell apart, in two runs."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((n_samples, n_features))
    X[: n_samples // 2, :6] += 3
    lines = [",".join(["sample", "tissue", "run", *(f"g{i}" for i in range(n_features))])]
    for i, row in enumerate(X):
        tissue = "a" if i < n_samples // 2 else "b"
        lines.append(",".join([f"s{i}", tissue, f"r{i % 2}", *(f"{value:.6g}" for value in row)]))
    return ("\n".join(lines) + "\n").encode()


@pytest.fixture
def make_client() -> Iterator[Any]:
    """Return clients of applications of their own; each is closed at the end, which removes its files."""
    from eigensieve.app import Workspace, make_app

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # newer versions of starlette would like another client than httpx
        from starlette.testclient import TestClient

    opened = []

    def make(**options: Any) -> tuple[Any, Workspace]:
        workspace = Workspace(**options)
        client = TestClient(make_app(workspace, TOKEN, {HOST}), base_url=f"http://{HOST}")
        client.__enter__()
        opened.append((client, workspace))
        return client, workspace

    yield make
    for client, workspace in opened:
        client.__exit__(None, None, None)
        assert not workspace.folder.exists()


@pytest.fixture
def client(make_client: Any) -> Any:
    return make_client()[0]


@pytest.fixture(scope="session")
def address() -> Iterator[str]:
    """The page, served by ``eigensieve app`` as users start it."""
    command = [sys.executable, "-m", "eigensieve", "app", "--no-browser"]
    environment = {**os.environ, "NUMBA_NUM_THREADS": "1", "OMP_NUM_THREADS": "1"}
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=environment)
    assert process.stdout is not None
    line = process.stdout.readline()
    found = re.search(r"http://127\.0\.0\.1:\d+/[\w-]{30,}/", line)
    assert found, line
    yield found.group()
    process.send_signal(2)
    assert process.wait(20) == 0
    process.stdout.close()
