"""The server: only its own page is answered, no name leads out of the folder, and there is one run at a time."""

import asyncio
import io
import json
import shlex
import subprocess
import sys
import time

import pytest

from app.conftest import HOST, TOKEN, csv_bytes
from eigensieve.app.command import Refused, options, outputs, safe_name, select_command

BASE = f"/{TOKEN}"


def put(client, name="genes.csv", content=None):
    return client.put(f"{BASE}/table", params={"name": name}, content=csv_bytes() if content is None else content)


def finished(client):
    """The state of the selection once it has ended."""
    deadline = time.monotonic() + 120
    while True:
        state = client.get(f"{BASE}/selection").json()["selection"]
        if state["state"] != "running":
            return state
        assert time.monotonic() < deadline
        time.sleep(0.1)


# ---- who is answered


@pytest.mark.parametrize(
    "path", ["/", "/selection", "/other/selection", "/a-secre/selection", "//selection", f"{BASE}x/"]
)
def test_without_the_token_there_is_nothing(client, path):
    assert client.get(path).status_code == 404
    assert client.put("/table", content=b"x").status_code == 404


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ({"origin": "http://evil.example"}, 403),
        ({"origin": "null"}, 403),
        ({"origin": "http://127.0.0.1:9999"}, 403),
        ({"origin": f"https://{HOST}"}, 403),
        ({"sec-fetch-site": "cross-site"}, 403),
        ({"sec-fetch-site": "same-site"}, 403),
        ({"host": "evil.example:8000"}, 421),
        ({"host": "127.0.0.1:9999"}, 421),
        ({"host": "127.0.0.1.evil.example:8000"}, 421),
        ({"origin": f"http://{HOST}", "sec-fetch-site": "same-origin"}, 200),
        ({}, 200),
    ],
)
def test_other_origins_are_refused_even_with_the_token(client, headers, status):
    answers = [client.get(f"{BASE}/{path}", headers=headers) for path in ("", "selection")]
    assert [answer.status_code for answer in answers] == [status] * 2
    for answer in answers:
        assert "access-control-allow-origin" not in answer.headers
    if status != 200:
        assert put_with(client, headers).status_code == status
        assert client.get(f"{BASE}/selection").json()["table"] is None


def put_with(client, headers):
    return client.put(f"{BASE}/table?name=a.csv", content=b"a,b\n1,2\n", headers=headers)


def test_the_page_runs_its_own_script_only_and_tells_nobody_its_address(client):
    answer = client.get(f"{BASE}/")
    policy = answer.headers["content-security-policy"]
    assert "default-src 'none'" in policy and "script-src 'self'" in policy and "unsafe" not in policy
    assert answer.headers["referrer-policy"] == "no-referrer" and answer.headers["cache-control"] == "no-store"
    assert "<script>" not in answer.text and "style=" not in answer.text
    for name in ("app.js", "app.css", "report.css"):
        assert client.get(f"{BASE}/{name}").status_code == 200


# ---- names and paths


@pytest.mark.parametrize(
    ("name", "kept"),
    [
        ("genes.csv", "genes.csv"),
        ("../../etc/passwd", "passwd"),
        ("..\\..\\windows\\a.csv", "a.csv"),
        ("/etc/shadow", "shadow"),
        ("..", "table.csv"),
        ("", "table.csv"),
        ("--output=x.csv", "output_x.csv"),
        (".hidden.csv", "hidden.csv"),
        ("a\0b\n.csv", "a_b_.csv"),
        ("Größe (2).csv", "Größe (2).csv"),
        ("$(rm -rf).csv", "_(rm -rf).csv"),
    ],
)
def test_only_the_last_part_of_a_name_is_kept_and_only_harmless_characters(client, name, kept):
    assert safe_name(name) == kept
    assert put(client, name).json() == {"table": kept}


def test_a_long_name_keeps_its_ending():
    assert safe_name("ä" * 500 + ".csv.gz").endswith("ä.csv.gz")
    assert len(safe_name("ä" * 500 + ".csv.gz").encode()) <= 150


def test_no_file_comes_from_outside_its_folder(make_client):
    client, workspace = make_client()
    put(client)
    (workspace.folder / "other.txt").write_text("secret")
    roles = [
        "other.txt",
        "..%2fother.txt",
        "../other.txt",
        "%2e%2e/other.txt",
        "/etc/passwd",
        "output",
        "table",
        "report%00",
    ]
    for role in roles:
        assert client.get(f"{BASE}/files/{role}").status_code == 404
    assert client.get(f"{BASE}/../../etc/passwd").status_code == 404


def test_every_choice_is_one_argument_and_unknown_ones_are_refused(client):
    assert options({"label": "--output=/tmp/x", "batch": ""}, {"label": "--label", "batch": "--batch"}) == [
        "--label=--output=/tmp/x"
    ]
    assert select_command("a.csv", {"n_features": "5"})[:3] == ["select", "a.csv", "--n-features=5"]
    assert set(outputs("x.tar.gz")) == {"output", "weights", "model", "report"}
    put(client)
    for choices in ({"output": "/tmp/x"}, {"label": 3}, {"label": "x" * 2000}, {"label": "a\0b"}, [], "x", None):
        answer = client.post(f"{BASE}/look", content=json.dumps(choices))
        assert answer.status_code == 400 and "choice" in answer.json()["error"]
    assert client.post(f"{BASE}/look", content=b"{").status_code == 400
    assert client.post(f"{BASE}/look", content=b" " * 100_000).status_code == 413


def test_a_table_named_like_a_module_is_not_run(make_client):
    client, workspace = make_client()
    put(client)
    for name in ("json.py", "numpy.py", "typer.py"):
        (workspace.table.parent / name).write_text("raise SystemExit('imported')")
    assert client.post(f"{BASE}/look", json={}).status_code == 200


# ---- sizes


def test_a_table_above_the_limit_is_refused_and_leaves_nothing(make_client):
    client, workspace = make_client(max_bytes=10_000)
    assert put(client, content=b"x" * 10_001).status_code == 413

    def endless():  # without an announced length
        for _ in range(100):
            yield b"x" * 1_000

    answer = put(client, content=endless())
    assert answer.status_code == 413 and "larger than" in answer.json()["error"]
    assert client.put(f"{BASE}/table?name=a", content=b"x", headers={"content-length": "-5"}).status_code == 413
    assert list(workspace.folder.iterdir()) == [] and client.get(f"{BASE}/selection").json()["table"] is None
    assert put(client, content=csv_bytes()[:9_000]).status_code == 200


def test_an_upload_that_breaks_off_leaves_nothing(make_client):
    client, workspace = make_client()

    async def broken():
        yield b"a,b\n"
        raise ConnectionError("the browser has gone")

    with pytest.raises((ConnectionError, Refused)):
        client.portal.call(workspace.receive, "a.csv", None, broken())
    assert list(workspace.folder.iterdir()) == [] and workspace.table is None
    assert put(client).status_code == 200  # the next table is taken


def test_two_uploads_at_once_are_refused(make_client):
    client, workspace = make_client()
    answers = []

    async def slow():
        yield b"a,b\n"
        try:
            await workspace.receive("b.csv", None, slow())
        except Refused as error:
            answers.append(error.status)
        yield b"1,2\n"

    assert client.portal.call(workspace.receive, "a.csv", None, slow()) == "a.csv"
    assert answers == [409] and workspace.table.read_bytes() == b"a,b\n1,2\n"


def test_a_full_disk_is_told(make_client, monkeypatch):
    client, workspace = make_client()

    class Full(io.BytesIO):
        def write(self, part):
            raise OSError(28, "No space left on device")

    monkeypatch.setattr("pathlib.Path.open", lambda *_: Full())
    answer = put(client)
    assert answer.status_code == 507 and "No space left" in answer.json()["error"]
    assert list(workspace.folder.iterdir()) == []


# ---- looking and selecting


def test_a_look_tells_how_the_table_is_understood(client):
    assert client.post(f"{BASE}/look", json={}).status_code == 409  # no table yet
    put(client)
    found = client.post(f"{BASE}/look", json={"label": "tissue", "batch": "run"}).json()
    assert (found["samples"], found["features"], found["samples_in"]) == (40, 30, "rows")
    assert found["preview"]["features"] == [f"g{i}" for i in range(6)]
    assert found["preview"]["samples"] == [f"s{i}" for i in range(6)] and found["preview"]["label"] == ["a"] * 6
    assert {"sample", "tissue", "run", "g0", "g29"} <= set(found["preview"]["columns"])
    wrong = client.post(f"{BASE}/look", json={"label": "nothing"})
    assert wrong.status_code == 422 and "nothing" in wrong.json()["error"]


def test_the_orientation_can_be_corrected(client):
    put(client, content=b"gene,s0,s1,s2,s3\nx,1,2,3,5\ny,4,5,6,1\nz,7,1,8,2\n")
    for samples, shape in (("columns", (4, 3)), ("rows", (3, 4))):
        found = client.post(f"{BASE}/look", json={"samples": samples}).json()
        assert found["samples_in"] == samples and (found["samples"], found["features"]) == shape


def test_a_selection_writes_what_the_command_line_writes(client, tmp_path):
    put(client)
    client.post(f"{BASE}/selection", json={"label": "tissue", "batch": "run", "n_features": "6", "stability": "2"})
    state = finished(client)
    assert state["state"] == "done", state
    assert state["selected"] == 6 and set(state["names"]) == {f"g{i}" for i in range(6)}
    program, *arguments = shlex.split(state["command"])
    assert program == "eigensieve" and state["progress"].startswith("[")
    (tmp_path / "genes.csv").write_bytes(csv_bytes())
    subprocess.run([sys.executable, "-m", "eigensieve", *arguments, "--quiet"], cwd=tmp_path, check=True)
    for role, name in state["files"].items():
        answer = client.get(f"{BASE}/files/{role}?save=1")
        assert answer.status_code == 200 and f"filename*=utf-8''{name}" in answer.headers["content-disposition"]
        if role in ("output", "weights"):
            assert answer.content == (tmp_path / name).read_bytes()
        else:
            assert (tmp_path / name).exists()
    report = client.get(f"{BASE}/files/report")
    assert report.headers["content-security-policy"].startswith("sandbox allow-scripts")
    assert "content-disposition" not in report.headers and "6 of 30 features selected" in report.text


def test_two_runs_at_once_are_refused_and_a_stopped_one_writes_nothing(make_client):
    client, workspace = make_client()
    put(client, content=csv_bytes(300, 300))
    choices = {"n_features": "10", "stability": "500"}
    assert client.post(f"{BASE}/selection", json=choices).json()["selection"]["state"] == "running"
    second = client.post(f"{BASE}/selection", json=choices)
    assert second.status_code == 409 and "Stop it first" in second.json()["error"]
    assert put(client).status_code == 409
    assert client.get(f"{BASE}/files/output").status_code == 404
    stopped = client.delete(f"{BASE}/selection").json()["selection"]
    assert stopped["state"] == "stopped" and stopped["files"] == {}
    assert [path.name for path in workspace.table.parent.iterdir() if not path.name.startswith(".")] == ["genes.csv"]
    program = workspace.selection._process
    deadline = time.monotonic() + 20
    while program.returncode is None and time.monotonic() < deadline:
        time.sleep(0.05)
    assert program.returncode is not None  # the process is gone, not only forgotten
    client.post(f"{BASE}/selection", json={"n_features": "2"})
    assert finished(client)["state"] == "done"


def test_a_selection_that_fails_says_why(client):
    put(client, content=b"a,b\n1,2\n1,2\n1,2\n")
    client.post(f"{BASE}/selection", json={})
    state = finished(client)
    assert state["state"] == "failed" and state["error"] and state["files"] == {}


def test_a_new_table_replaces_the_one_before(make_client):
    client, workspace = make_client()
    put(client)
    put(client, "other.csv")
    assert [path.name for path in workspace.folder.rglob("*.csv")] == ["other.csv"]
    assert client.get(f"{BASE}/selection").json() == {"table": "other.csv", "selection": None}


def test_a_table_that_comes_while_another_is_looked_at_is_the_one_that_is_told(make_client):
    client, workspace = make_client()
    put(client)

    async def table():
        yield b"a,b,c\n1,2,3\n4,6,5\n7,8,10\n"

    class Earlier:
        async def stop(self):
            await workspace.receive("other.csv", None, table())

        kill = staticmethod(lambda: None)

    workspace._look = Earlier()
    assert client.post(f"{BASE}/look", json={}).json()["features"] == 3


def test_a_look_that_the_end_of_the_server_breaks_off_is_an_answer(make_client):
    client, workspace = make_client()
    put(client)

    async def broken_off():
        looking = asyncio.create_task(workspace.look({}))
        await asyncio.sleep(0.1)
        looking.cancel()
        with pytest.raises(Refused, match="has ended"):
            await looking

    client.portal.call(broken_off)
