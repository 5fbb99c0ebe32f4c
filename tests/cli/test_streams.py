"""Inputs that can be read only once, outputs that are closed, and outputs that are inputs."""

import json
import os
import shutil
import subprocess
import sys
import threading

import numpy as np
import pytest

from .conftest import program

pytestmark = pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="there are no named pipes")
SELECT = ("--label", "tissue", "-n", 6, "--json")


def names(out):
    return json.loads(out)["names"]


@pytest.fixture
def chosen(cli, table):
    return names(cli("select", table, *SELECT)[1])


@pytest.mark.parametrize("name", ["pipe", "pipe.csv"])
def test_a_named_pipe_is_read_once(cli, table, tmp_path, chosen, name):
    pipe = tmp_path / name
    os.mkfifo(pipe)
    writer = threading.Thread(target=lambda: pipe.write_bytes(table.read_bytes()))
    writer.start()
    code, out, err = cli("select", pipe, *SELECT)
    writer.join()
    assert code == 0 and names(out) == chosen, err


@pytest.mark.parametrize("content", ["plain", "gz", "parquet"])
def test_process_substitution(table, tmp_path, chosen, content):
    import gzip

    import pandas

    source = tmp_path / "stored"
    if content == "parquet":
        pandas.read_csv(table).to_parquet(source)
    else:
        source.write_bytes(table.read_bytes() if content == "plain" else gzip.compress(table.read_bytes()))
    reading, writing = os.pipe()
    with open(writing, "wb") as file:
        file.write(source.read_bytes())
    done = program("select", f"/dev/fd/{reading}", *SELECT, pass_fds=(reading,))
    out, err = done.communicate()
    os.close(reading)
    assert done.returncode == 0 and names(out) == chosen, err


@pytest.mark.parametrize("way", ["pipe", "file"])
def test_dev_stdin(table, chosen, way):
    with table.open("rb") as file:
        done = program("select", "/dev/stdin", *SELECT, stdin=subprocess.PIPE if way == "pipe" else file)
        out, err = done.communicate(table.read_bytes() if way == "pipe" else None)
    assert done.returncode == 0 and names(out) == chosen, err


def test_pairs_and_side_data_from_pipes(cli, table, tmp_path):
    pairs = tmp_path / "pairs"
    pairs.write_text("s0,s39,cannot\ns1,s2,must\n")
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    writer = threading.Thread(target=lambda: pipe.write_bytes(pairs.read_bytes()))
    writer.start()
    code, out, err = cli("select", table, "--pairs", pipe, "-n", 6, "--json")
    writer.join()
    assert code == 0 and names(out) == names(cli("select", table, "--pairs", pairs, "-n", 6, "--json")[1]), err


@pytest.mark.parametrize("device", ["/dev/zero", "/dev/null"])
def test_devices_are_refused(cli, device):
    code, _, err = cli("inspect", device)
    assert code == 3 and f"'{device}' is a device" in err and "Name a file" in err


@pytest.mark.parametrize(
    ("options", "code", "message"),
    [
        (["-o", "out.csv"], 0, b""),
        (["-o", "-"], 4, b"Standard output is closed"),
        (["--json"], 4, b"Standard output is closed"),
    ],
)
def test_closed_standard_output(table, tmp_path, options, code, message):
    command = [sys.executable, "-m", "eigensieve", "select", str(table), "--label", "tissue", "-n", "6", *options]
    done = subprocess.run(["sh", "-c", '"$@" >&-', "sh", *command], cwd=tmp_path, capture_output=True, check=False)
    assert done.returncode == code and message in done.stderr and b"Traceback" not in done.stderr, done.stderr
    if code == 0:
        assert (tmp_path / "out.csv").read_text().startswith("sample,g0,g1,g2,g3,g4,g5,tissue\n")


def test_closed_standard_error_and_input(table, tmp_path):
    command = [sys.executable, "-m", "eigensieve", "select", "missing.csv"]
    done = subprocess.run(["sh", "-c", '"$@" 2>&-', "sh", *command], cwd=tmp_path, capture_output=True, check=False)
    assert (done.returncode, done.stdout) == (3, b"")
    command = [sys.executable, "-m", "eigensieve", "select", "-"]
    done = subprocess.run(["sh", "-c", '"$@" <&-', "sh", *command], cwd=tmp_path, capture_output=True, check=False)
    assert done.returncode == 3 and b"is empty" in done.stderr


def test_an_input_is_never_replaced(cli, table, tmp_path):
    content = table.read_bytes()
    link = tmp_path / "link.csv"
    link.symlink_to(table)
    side = tmp_path / "side.csv"
    shutil.copy(table, side)
    for place, more in ((table, ()), (link, ()), (side, ("--side", side, "--drop", "tissue"))):
        code, _, err = cli("select", table, "-n", 3, *more, "-o", place, "--force")
        assert code == 4 and "would replace the input" in err and "Name another file" in err, err
    model = tmp_path / "m.skops"
    assert cli("select", table, "-n", 3, "-m", model)[0] == 0
    assert cli("apply", model, table, "-o", table, "-f")[0] == 4
    for command in (("map", table), ("compare", table, "--label", "tissue"), ("compress", table, "--label", "tissue")):
        assert cli(*command, "--report", table, "-f")[0] == 4
    assert table.read_bytes() == content == side.read_bytes()


def test_the_files_of_a_folder_are_never_replaced(cli, tmp_path):
    from scipy.io import mmwrite
    from scipy.sparse import csc_matrix

    folder = tmp_path / "cells"
    folder.mkdir()
    mmwrite(folder / "matrix.mtx", csc_matrix(np.random.default_rng(0).poisson(1.0, (30, 40))))
    (folder / "features.tsv").write_text("".join(f"e{i}\tg{i}\n" for i in range(30)))
    (folder / "barcodes.tsv").write_text("".join(f"c{i}\n" for i in range(40)))
    for place in (folder, folder / "matrix.mtx"):
        code, _, err = cli("select", folder, "-n", 3, "-o", place, "-f")
        assert code == 4 and "would replace the input" in err, err


def test_compress_repeats_itself_without_a_seed(cli, table):
    options = ("--label", "tissue", "--no-compare", "--json")
    runs = [json.loads(cli("compress", table, *options)[1]) for _ in range(2)]
    assert [run["elements"] for run in runs] == [runs[0]["elements"]] * 2
    assert runs[0]["small_accuracy"] == runs[1]["small_accuracy"]
