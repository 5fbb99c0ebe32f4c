"""Public sets by name: files are read as they are written, checked by their digest, and cleaned."""

import gzip
import hashlib
import io
import re
from pathlib import Path

import numpy as np
import pytest
import scipy.io

ROOT = Path(__file__).parents[1]


@pytest.fixture(autouse=True)
def _benchmarks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(ROOT))


def test_the_catalogue_has_readers_addresses_and_digests() -> None:
    from benchmarks.quality.fetch import sources
    from benchmarks.quality.readers import READERS

    rows = sources()
    assert len(rows) > 80
    for row in rows.values():
        assert row["reader"] in READERS and row["units"] in ("same", "mixed") and row["kind"]
        assert re.fullmatch(r"[0-9a-f]{40}", row["commit"])
        digests = row["sha256"].split(";")
        assert len(digests) == len(row["path"].split(";"))
        assert all(re.fullmatch(r"[0-9a-f]{64}", digest) for digest in digests)


def test_every_second_gathered_set_by_name_was_chosen_on() -> None:
    from benchmarks.quality.data import part_of
    from benchmarks.quality.fetch import sources

    page = (ROOT / "docs/measured/fresh-sets.md").read_text()
    names = sorted(re.findall(r"^\| (\S+) \| \d+ x \d+", page, re.MULTILINE), key=str.lower)
    assert len(names) == 165 and set(sources()) <= set(names)
    assert {part_of(name) for name in names[::2]} == {"chosen-on"}
    assert {part_of(f"folder/{name}.npz") for name in names[1::2]} == {"reported"}
    assert [part_of(name) for name in ("BA", "USPS", "mine.npz")] == ["reported", "chosen-on", "files"]


def test_text_files_are_read() -> None:
    from benchmarks.quality.readers import counts, genes, otus, series

    X, y = genes([b"GENES\ta\tb\r\ng1\t1\t2\ng2\t\t4\n"], "")
    np.testing.assert_array_equal(X, [[1, np.nan], [2, 4]])
    assert y.tolist() == ["a", "b"]
    X, y = series([b"# note\n@data\n1,2:3,4:up\n", b"@data\n5,6:7,8:down\n"], "")
    np.testing.assert_array_equal(X, [[1, 2, 3, 4], [5, 6, 7, 8]])
    assert y.tolist() == ["up", "down"]
    X, y = otus([b"#OTU\ts1\ts2\ts3\nA\t1\t0\t5\nB\t2\t3\t6\n", b"#SampleID\tVar\ns2\til\ns1\twell\n"], "")
    np.testing.assert_array_equal(X, [[0, 3], [1, 2]])
    assert y.tolist() == ["il", "well"]
    # names that look like numbers keep their zeros
    X, y = otus([b"#OTU\t7.510\t7.51\nA\t1\t2\n", b"#SampleID\tVar\n7.51\til\n7.510\twell\n"], "")
    np.testing.assert_array_equal(X, [[2], [1]])
    files = [gzip.compress(text) for text in (b",c1,c2\ng1,1,0\ng2,0,7\n", b",line,dose\nc2,L,2\nc1,K,1\n")]
    X, y = counts(files, "line,dose")
    np.testing.assert_array_equal(X.toarray(), [[1, 0], [0, 7]])
    assert y.tolist() == ["K_1", "L_2"]


def test_matlab_files_are_read() -> None:
    from benchmarks.quality.readers import matlab

    stream = io.BytesIO()
    scipy.io.savemat(stream, {"X": np.eye(3), "Y": np.array([[1], [2], [1]])})
    X, y = matlab([stream.getvalue()], "")
    np.testing.assert_array_equal(X, np.eye(3))
    assert y.tolist() == ["1", "2", "1"]


def test_sets_are_cleaned() -> None:
    from benchmarks.quality.fetch import clean

    X = np.array([[1.0, 5.0, np.nan], [2.0, 5.0, 4.0], [3.0, 5.0, 8.0], [9.0, 1.0, 1.0], [9.0, 2.0, 2.0]])
    X = np.vstack([X, X[:3] + 1.0, [[0.0, 0.0, 0.0]]])
    y = np.array(["a", "a", "a", "b", "b", "c", "c", "c", ""])
    cleaned, labels = clean(X, y)
    assert labels.tolist() == [0, 0, 0, 1, 1, 1]
    # Classes below three samples go first, so the mean of the last column is that of a and c: 4, 8, 5, 9.
    np.testing.assert_allclose(cleaned[:, 2], [6.5, 4, 8, 6.5, 5, 9])
    big, labels = clean(np.random.default_rng(0).standard_normal((4000, 2)), np.arange(4000).astype(str).astype("<U1"))
    assert len(big) == len(labels) == 3000


def test_a_file_with_another_digest_is_refused(tmp_path: Path) -> None:
    from benchmarks.quality.fetch import fetch

    text = b"GENES\ta\ta\ta\tb\tb\tb\ng1\t1\t2\t3\t4\t5\t6\n"
    (tmp_path / "table.txt").write_bytes(text)
    address = tmp_path.as_uri() + "/{path}"
    row = {"name": "own", "kind": "expression", "units": "same", "repository": "a/b", "commit": "0" * 40}
    row |= {"path": "table.txt", "reader": "genes", "argument": "", "sha256": "0" * 64}
    with pytest.raises(ValueError, match="is not the file that was catalogued"):
        fetch(row, tmp_path, address)
    assert not list(tmp_path.glob("*.npz"))
    row["sha256"] = hashlib.sha256(text).hexdigest()
    with np.load(fetch(row, tmp_path, address), allow_pickle=False) as stored:
        np.testing.assert_array_equal(stored["X"].ravel(), [1, 2, 3, 4, 5, 6])
        np.testing.assert_array_equal(stored["y"], [0, 0, 0, 1, 1, 1])
        assert stored["kind"] == "expression"
