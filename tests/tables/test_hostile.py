"""Files made to crash, to fill the memory or to be misread: each is refused in one line, or read for what it says."""

import bz2
import gzip
import io
import os
import struct
import sys
import zipfile
import zlib

import numpy as np
import pytest
from scipy.io import mmread, mmwrite, savemat
from scipy.sparse import csc_matrix, random_array

from eigensieve.tables import DataError, read_table
from eigensieve.tables.labels import as_labels

LIMIT = "EIGENSIEVE_READ_GB"


def refused(path, match, **how):
    with pytest.raises(DataError, match=match) as caught:
        read_table(path, **how)
    assert str(path) in str(caught.value) and "\n" not in str(caught.value)


def written(path, content):
    path.write_bytes(content)
    return path


# -- announced sizes ---------------------------------------------------------------------------------


def npy(dtype, shape, content=b""):
    out = io.BytesIO()
    np.lib.format.write_array_header_1_0(out, {"descr": dtype, "fortran_order": False, "shape": shape})
    return out.getvalue() + content


def unallocated(path, name="X"):
    import h5py

    with h5py.File(path, "w") as file:
        file.create_dataset(name, shape=(25_000, 25_000), dtype="f8", chunks=(100, 100))
    return path.read_bytes()


def bzip2_member(path):
    with zipfile.ZipFile(path, "w", zipfile.ZIP_BZIP2) as archive:
        archive.writestr("X.npy", npy("<f8", (1000, 1000), bytes(8_000_000)))
    assert bz2 and path.stat().st_size < 3000
    return path.read_bytes()


def zeros_feather(path):
    import pyarrow as pa
    from pyarrow import feather

    column = np.zeros(20_000_000)
    feather.write_feather(pa.table({"a": column, "b": column}), path, compression="zstd", chunksize=len(column))
    return path.read_bytes()


def deep_mat(path):
    """One variable of zeros that unpacks to a thousand times its size."""
    body = (
        struct.pack("<4I", 6, 8, 6, 0)
        + struct.pack("<4I", 5, 8, 13_000, 20_000)
        + struct.pack("<I4s", (1 << 16) | 1, b"X")
    )
    numbers = bytes(260_000_000)
    matrix = struct.pack("<2I", 14, len(body) + 8 + len(numbers)) + body + struct.pack("<2I", 2, len(numbers)) + numbers
    packed = zlib.compress(matrix, 1)
    return b"MATLAB 5.0 MAT-file".ljust(124) + b"\x00\x01IM" + struct.pack("<2I", 15, len(packed)) + packed


BOMBS = {
    "dense.mtx": b"%%MatrixMarket matrix array real general\n25000 25000\n1\n2\n",
    "tall.mtx": b"%%MatrixMarket matrix coordinate real general\n600000000 1 1\n1 1 1\n",
    "wide.mtx": b"%%MatrixMarket matrix coordinate real general\n1 600000000 1\n1 1 1\n",
    "x.svm": b"1 2000000000:1\n",
    "x.npy": npy("<f8", (25_000, 25_000)),
    "empty.npy": npy("<U0", (10**12,)),
    "x.npz": bzip2_member,
    "x.mat": deep_mat,
    "x.feather": zeros_feather,
    "hdf5.mat": unallocated,
    "x.h5ad": unallocated,
    "blank.csv.gz": gzip.compress(b"a,b\n1,2\n") + gzip.compress(b"\n" * 2**20) * 260,
    "wide.csv.gz": gzip.compress(b"a," * 1_000_000, 1),
    "text.csv.gz": gzip.compress(b"a,b\n" + b"u,v\n" * 3_000_000, 1),
}


@pytest.mark.parametrize("name", BOMBS)
def test_a_small_file_that_asks_for_much_is_refused(name, tmp_path):
    path = tmp_path / name
    content = BOMBS[name](path) if callable(BOMBS[name]) else BOMBS[name]
    refused(written(path, content), "announces|damaged|duplicate|text in")
    assert len(content) < 1_500_000


def test_the_limit_is_raised_by_the_variable_that_the_message_names(tmp_path, monkeypatch):
    path = written(tmp_path / "x.svm", b"1 5000000:1\n")
    refused(path, f"announces 320 MB .* 250 MB are allowed.* set {LIMIT}=1")
    monkeypatch.setenv(LIMIT, "1")
    assert read_table(path).X.shape == (1, 5_000_000)
    monkeypatch.setenv(LIMIT, "much")
    with pytest.raises(DataError, match=f"{LIMIT} must be a number of gigabytes"):
        read_table(path)


def test_what_does_not_fit_into_memory_says_so(tmp_path, monkeypatch):
    monkeypatch.setattr("eigensieve.tables.errors._available", lambda: 10_000)
    np.save(tmp_path / "x.npy", np.zeros((100, 100)))
    refused(tmp_path / "x.npy", r"needs 0.0 GB of memory, and 0.0 GB are free.*open_data")


def test_out_of_memory_in_a_reader_says_so(tmp_path, monkeypatch):
    def fail(*args, **kwargs):
        raise MemoryError

    monkeypatch.setattr("eigensieve.tables.arrays._array", fail)
    np.save(tmp_path / "x.npy", np.zeros((2, 2)))
    refused(tmp_path / "x.npy", "does not fit into memory")


def test_a_long_label_does_not_fill_the_memory(tmp_path):
    lines = ["y,a", "x" * 90_000 + ",1", *(f"u,{i}" for i in range(15_000))]
    refused(written(tmp_path / "x.csv", "\n".join(lines).encode()), "label of 90,000 characters", label="y")


def test_a_long_header_takes_no_quadratic_time(tmp_path):
    """200,000 digits took an hour with a pattern in which two parts can share the digits."""
    path = written(tmp_path / "x.csv", b"a,b\n" + b"1" * 100_000 + b"x," + b"2" * 100_000 + b"\n3,4\n")
    refused(path, "text in|no samples|ragged|above 2")


def test_ragged_lines_are_found_without_room_for_all_cells(tmp_path):
    path = written(tmp_path / "x.csv", ",".join(f"c{i}" for i in range(30_000)).encode() + b"\n" + b"1\n" * 30_000)
    refused(path, "ragged: data row 1 has 1 cells where 30,000")


# -- foreign parsers ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "text",
    [
        b"%%MatrixMarket matrix coordinate real general\n2 2 1\n1 1 \x00\n",
        b"%%MatrixMarket matrix array real general\n1 2\n1E2E-1\n-1.05E-\n",
        b"%%MatrixMarket matrix coordinate real general\n2 2 1\n3 1 5\n",
        b"%%MatrixMarket matrix coordinate real general\n2 2 1\n0 1 5\n",
        b"%%MatrixMarket matrix coordinate real general\n2 2 2\n1 1 5\n",
        b"%%MatrixMarket matrix coordinate real general\n2 2 1\n1 1 5\n1 2 6\n",
        b"%%MatrixMarket matrix coordinate complex general\n2 2 1\n1 1 5 0\n",
    ],
)
@pytest.mark.parametrize("how", ["file", "folder", "stdin"])
def test_damaged_matrix_market_files(text, how, tmp_path, monkeypatch):
    if how == "stdin":
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(text)))
        with pytest.raises(DataError, match="standard input"):
            read_table("-")
        return
    path = written(tmp_path / "matrix.mtx", text)
    written(tmp_path / "barcodes.tsv", b"a\nb\n")
    written(tmp_path / "features.tsv", b"a\nb\n")
    refused(path if how == "file" else tmp_path, "damaged or not|announces")


@pytest.mark.parametrize("symmetry", ["general", "symmetric", "skew-symmetric"])
@pytest.mark.parametrize("sparse", [True, False])
@pytest.mark.parametrize("field", ["real", "integer", "pattern"])
def test_matrix_market_files_are_read_as_scipy_reads_them(symmetry, sparse, field, tmp_path):
    if field == "pattern" and (not sparse or symmetry == "skew-symmetric"):
        pytest.skip("there is no such file")
    rng = np.random.default_rng(0)
    S = random_array(
        (6, 6), density=0.5, random_state=rng, data_sampler=lambda size: rng.integers(1, 9, size) / 1.0
    ).toarray()
    X = {"general": S, "symmetric": S + S.T, "skew-symmetric": S - S.T}[symmetry]
    X = (X != 0).astype(float) if field == "pattern" else X if field == "integer" else X / 3
    mmwrite(tmp_path / "x.mtx", csc_matrix(X) if sparse else X, field=field, symmetry=symmetry, precision=17)
    found, expected = read_table(tmp_path / "x.mtx").X, mmread(tmp_path / "x.mtx")
    np.testing.assert_array_equal(found.toarray() if sparse else found, expected.toarray() if sparse else expected)


@pytest.mark.parametrize("compressed", [True, False])
def test_matlab_files_are_read_as_scipy_wrote_them(compressed, tmp_path):
    X = np.random.default_rng(0).normal(size=(3, 4))
    extra = {"struct": {"a": 1}, "cells": np.array(["u", 2.0], dtype=object), "z": X + 1j, "flag": X > 0}
    names = np.array(["a", "bc", "\u03b1", "d"], dtype=object)
    kinds = {dtype: np.abs(50 * X).astype(dtype) for dtype in ("f4", "i1", "u1", "i2", "u2", "i4", "u4", "i8", "u8")}
    for value in [X, csc_matrix(X * (X > 0)), *kinds.values()]:
        savemat(tmp_path / "x.mat", {"X": value, "feature_names": names, **extra}, do_compression=compressed)
        table = read_table(tmp_path / "x.mat")
        dense = value.toarray() if hasattr(value, "toarray") else value
        np.testing.assert_array_equal(table.dense, dense.astype(float))
        assert table.feature_names == ["a", "bc", "\u03b1", "d"]


def test_sparse_matrices_with_bad_indices(tmp_path):
    import h5py

    out = io.BytesIO()
    savemat(out, {"X": csc_matrix(np.eye(3))})
    indices = np.arange(3, dtype="<i4").tobytes()
    assert indices in out.getvalue()
    refused(written(tmp_path / "x.mat", out.getvalue().replace(indices, b"\x00\x00\x00\x7f" * 3)), "damaged")
    with h5py.File(tmp_path / "y.mat", "w") as file:
        group = file.create_group("X")
        group.attrs["MATLAB_sparse"] = 3
        group["data"], group["ir"], group["jc"] = np.ones(3), [0, 1, 2**30], [0, 1, 2, 3]
    refused(tmp_path / "y.mat", "damaged")


def test_feather_with_places_beyond_its_texts(tmp_path):
    import pyarrow as pa
    from pyarrow import feather

    feather.write_feather(
        pa.table({"n": ["ab", "cd", "ef"], "x": [1.0, 2.0, 3.0]}), tmp_path / "x.feather", "uncompressed"
    )
    content = (tmp_path / "x.feather").read_bytes()
    places = np.array([0, 2, 4, 6], dtype="<i4").tobytes()
    assert places in content
    broken = np.array([0, 2**30, 4, 6], dtype="<i4").tobytes()
    refused(written(tmp_path / "x.feather", content.replace(places, broken)), "damaged or not a Feather file")


def test_feather_of_version_1_says_so(tmp_path):
    """No such file can be written without a warning of pyarrow's: these are the bytes that one begins and ends with."""
    refused(written(tmp_path / "x.feather", b"FEA1\0\0\0\0" + bytes(64) + b"FEA1"), "old version 1.*version 2")


@pytest.mark.parametrize("compression", ["zstd", "lz4", "uncompressed"])
def test_the_unpacked_size_of_feather(compression, tmp_path):
    import pyarrow as pa
    from pyarrow import feather

    from eigensieve.tables.columnar import unpacked_size

    table = pa.table(
        {"x": np.arange(5000.0), "n": pa.array(["u", "v"] * 2500).dictionary_encode(), "i": [1, None] * 2500}
    )
    feather.write_feather(table, tmp_path / "x.feather", compression=compression, chunksize=2000)
    found = unpacked_size((tmp_path / "x.feather").read_bytes(), pa)
    assert table.nbytes <= found <= 1.05 * table.nbytes + 2000


@pytest.mark.parametrize("kind", ["link", "storage", "virtual"])
def test_hdf5_files_that_point_to_other_files_are_refused(kind, tmp_path):
    import h5py

    from eigensieve import open_data

    with h5py.File(tmp_path / "secret.h5", "w") as file:
        file["X"] = np.eye(4)
    for name in ("x.mat", "x.h5"):
        with h5py.File(tmp_path / name, "w") as file:
            if kind == "link":
                file["X"] = h5py.ExternalLink("secret.h5", "/X")
            elif kind == "storage":
                file.create_dataset("X", (4, 4), "f8", external=[(str(tmp_path / "secret.h5"), 0, 128)])
            else:
                layout = h5py.VirtualLayout((4, 4), "f8")
                layout[:] = h5py.VirtualSource("secret.h5", "X", (4, 4))
                file.create_virtual_dataset("X", layout)
    refused(tmp_path / "x.mat", "another file|other files")
    with pytest.raises(OSError, match=r"another file|other files"):
        open_data(tmp_path / "x.h5")


def test_an_hdf5_file_of_50_by_100_million_is_opened_or_refused_for_its_size(tmp_path):
    """A chunk that was never written is no damage, also where a row of chunks does not fit into memory."""
    import h5py

    from eigensieve import open_data
    from eigensieve.tables import check_hdf5

    with h5py.File(tmp_path / "x.h5", "w") as file:
        matrix = file.create_dataset("X", shape=(50, 10**8), dtype="f8", chunks=(50, 1000), compression="gzip")
        matrix[:, 5000:6000] = 7.0
    check_hdf5(tmp_path / "x.h5", in_place=True)
    assert open_data(tmp_path / "x.h5").shape == (50, 10**8)
    refused(written(tmp_path / "x.mat", (tmp_path / "x.h5").read_bytes()), "announces 40,000 MB")
    content = bytearray((tmp_path / "x.h5").read_bytes())
    with h5py.File(tmp_path / "x.h5") as file:
        chunk = file["X"].id.get_chunk_info(0)
    content[chunk.byte_offset + 20 : chunk.byte_offset + 40] = bytes(20)
    with pytest.raises(DataError, match="is damaged"):
        check_hdf5(written(tmp_path / "x.h5", bytes(content)), in_place=True)


def test_hdf5_files_are_looked_through_again_when_they_change(tmp_path, monkeypatch):
    import h5py

    from eigensieve.tables import hdf5

    path = tmp_path / "x.h5"
    with h5py.File(path, "w") as file:
        file["X"] = np.ones((3, 3))
    looked: list[float] = []
    look_through = hdf5.look_through
    monkeypatch.setattr(hdf5, "look_through", lambda *given: looked.append(given[2]) or look_through(*given))
    hdf5.check_hdf5(path), hdf5.check_hdf5(path)
    assert len(looked) == 2  # a file that was just written may change within one tick of its clock
    monkeypatch.setattr(hdf5, "_SETTLED", -1.0)
    hdf5.check_hdf5(path, in_place=True), hdf5.check_hdf5(path, in_place=True)
    assert looked[2:] == [np.inf]  # without a limit of memory; with one it is looked through again
    hdf5.check_hdf5(path), hdf5.check_hdf5(path)
    assert looked[3:] == looked[:1]
    content = bytearray(path.read_bytes())
    content[8:200] = bytes(192)
    with pytest.raises(DataError, match="is damaged"):
        hdf5.check_hdf5(written(path, bytes(content)))


def test_deeply_nested_hdf5_groups_are_refused(tmp_path):
    """h5py's walk through 3,000 groups, each in the one before it, takes a minute."""
    import h5py

    from eigensieve import open_data

    with h5py.File(tmp_path / "x.h5", "w") as file:
        group = file
        for _ in range(3000):
            group = group.create_group("g")
    with pytest.raises(OSError, match=r"nested more than 100 deep\. Store the matrix nearer to the top"):
        open_data(tmp_path / "x.h5")


def test_an_hdf5_check_that_crashes_or_never_ends(tmp_path, monkeypatch):
    """The real thing depends on the version of the library, so the process that dies is a stand-in."""
    script = tmp_path / "dies.py"
    script.write_text("import os; os.kill(os.getpid(), 11)")
    monkeypatch.setattr("eigensieve.tables.hdf5._SURVEY", script)
    path = written(tmp_path / "x.mat", unallocated(tmp_path / "y.h5"))
    refused(path, "damaged or not an HDF5 file")
    script.write_text("while True: pass")
    monkeypatch.setattr("eigensieve.tables.hdf5._SECONDS", 0.3)
    refused(path, "damaged or not an HDF5 file")


# -- numbers and labels -------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("texts", "classes"),
    [
        (["1_0", "10", "010", "\u0661\u0660"], 4),
        (["9007199254740993", "9007199254740992"], 2),
        (["9007199254740993", "9007199254740992", ""], 3),
        (["99999999999999999999", "99999999999999999998"], 2),
        (["0.1", "0.10000000000000000001"], 2),
        (["1", "1.0", "1e0"], 1),
        (["-1", "+1", "1"], 2),
        (["007", "7"], 2),
        (["inf", "1"], 2),
        (["1e999", "2e999"], 2),
    ],
)
def test_labels_become_one_class_only_where_they_are_equal(texts, classes):
    assert len(set(map(str, as_labels(texts)))) == classes


def test_labels_keep_their_kind():
    assert as_labels(["1", "2"]).dtype == np.int64
    assert as_labels(["1", "2.5", "NA"]).dtype == np.float64
    assert as_labels(["9007199254740993", "nan"]).tolist() == ["9007199254740993", "nan"]
    assert as_labels(["1", "b"]).dtype.kind == "U"


def test_labels_of_svmlight_are_numbers(tmp_path):
    refused(written(tmp_path / "x.svm", b"1_0 1:1\n10 1:2\n"), "damaged or not a svmlight file", label="label")
    path = written(tmp_path / "y.svm", b"9007199254740993 1:1\n9007199254740992 1:2\n")
    refused(path, r"above 2\^53 among its labels", label="label")
    assert read_table(written(tmp_path / "z.svm", b"# a_b\n1 1:1 # c_d\n"), label="label").label.tolist() == [1]


@pytest.mark.parametrize("cell", ['"1"5', '"1', '"1" "2"', "1_0", "\u0661", "--1", "+-inf"])
def test_what_is_no_number_is_text(cell, tmp_path):
    refused(written(tmp_path / "x.csv", f"a,b\n1,2\n3,{cell}".encode()), "text in 1 numeric column: 'b'")


def test_infinite_values(tmp_path):
    words = ["inf", "-inf", "+Infinity", "-Infinity", "INFINITY", '"-infinity" ']
    X = read_table(written(tmp_path / "x.csv", ("a,b\n" + "".join(f"1,{word}\n" for word in words)).encode())).X
    np.testing.assert_array_equal(X[:, 1], [np.inf, -np.inf, np.inf, -np.inf, np.inf, -np.inf])


@pytest.mark.parametrize("format", ["csv", "parquet", "npy", "npz"])
def test_identifiers_are_not_taken_for_measurements(format, tmp_path):
    import pyarrow as pa
    from pyarrow import parquet

    ids = 2**53 + np.arange(5)
    path = tmp_path / f"x.{format}"
    if format == "csv":
        path.write_text("who,a\n" + "".join(f"{number},{number % 3}\n" for number in ids))
    elif format == "parquet":
        parquet.write_table(pa.table({"who": ids, "a": ids % 3}), path)
    else:
        (np.save if format == "npy" else np.savez)(path, np.stack([ids, ids % 3], axis=1))
    refused(path, r"whole numbers above 2\^53")
    if format in ("csv", "parquet"):
        assert read_table(path, id="who").sample_names == [str(number) for number in ids]


@pytest.mark.parametrize("digits", [17, 299, 350, 5000])
def test_whole_numbers_of_any_length_are_identifiers(digits, tmp_path):
    """As floats, those above 309 digits would all be infinite."""
    numbers = [10**digits + k for k in (1, 2, 3)] if digits < 4000 else ["1" * digits] * 3
    path = written(
        tmp_path / "x.csv", ("a,b\n" + "".join(f"{number},{k}\n" for k, number in enumerate(numbers))).encode()
    )
    refused(path, r"whole numbers above 2\^53 in column 'a'")
    np.testing.assert_array_equal(read_table(path, drop=["a"]).X, [[0], [1], [2]])
    # zeros in front, and whole numbers that a float holds, are measurements
    path = written(tmp_path / "y.csv", f"a,b\n{'0' * digits}7,1\n{2**1000},2\n".encode())
    np.testing.assert_array_equal(read_table(path).X, [[7, 1], [2.0**1000, 2]])


def test_large_whole_numbers_among_measurements_are_rounded_as_usual(tmp_path):
    path = written(tmp_path / "x.csv", b"a,b\n9007199254740993,9007199254740994\n0.5,1\n")
    np.testing.assert_array_equal(read_table(path).X, [[float(2**53), float(2**53 + 2)], [0.5, 1.0]])


# -- names --------------------------------------------------------------------------------------------


@pytest.mark.skipif(sys.platform != "linux", reason="other systems have no such names")
@pytest.mark.parametrize("format", ["csv", "parquet", "feather", "npy", "npz", "mat", "svmlight", "mtx", "h5ad"])
def test_names_that_are_not_utf8(format, tmp_path):
    from eigensieve.tables import Table, write_table

    X = np.arange(12.0).reshape(4, 3)
    table = Table(X=X, feature_names=list("abc"), sample_names=None, format=format)
    ending = {"svmlight": "svm"}.get(format, format)
    path = tmp_path / os.fsdecode(b"caf\xe9." + ending.encode())
    write_table(path, table)
    np.testing.assert_array_equal(read_table(path).dense, X)


@pytest.mark.parametrize("content", [b"\xff\xfea\x00,\x00b", b"a,b\n1,2\x00\n", b'a,"b\n1,2\n' + b"x" * 200_000])
def test_damaged_text_names_the_file(content, tmp_path):
    refused(written(tmp_path / "x.csv", content), "x.csv")


def test_a_damaged_compressed_file_names_the_file(tmp_path):
    content = bytearray(gzip.compress(b"a,b\n" + b"1,2\n" * 1000))
    content[20] ^= 255
    refused(written(tmp_path / "x.csv.gz", bytes(content)), "is damaged: ")


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("x.mtx", "%%MatrixMarket matrix coordinate integer general\n2 2 2\n1 1 {}\n2 2 5\n"),
        ("x.mtx", "%%MatrixMarket matrix array integer general\n2 1\n{}\n5\n"),
        ("x.svm", "1 1:{}\n2 1:5\n"),
        ("x.csv", "a,b\n{},1\n5,2\n"),
    ],
)
def test_whole_numbers_that_no_float_holds_are_refused(tmp_path, name, content):
    path = tmp_path / name
    for number in (2**53 + 1, -(2**60) - 1):
        path.write_text(content.format(number))
        with pytest.raises(DataError, match=r"above 2\^53|damaged"):
            read_table(path)
    # a measurement, which is rounded like all others
    path.write_text(content.replace("integer", "real").format("9007199254740993.5"))
    assert abs(read_table(path).X[0, 0] - 2.0**53) <= 2


def test_sparse_parts_that_point_back_are_refused(tmp_path):
    """scipy does not look at them where the last one says that nothing is stored, and crashes later."""
    for pointers in ([0, 9, 0], [0, -1, 0], [0, 0, -5], [1, 1, 0]):
        parts = {"data": np.ones(3), "indices": np.zeros(3, dtype=int), "indptr": np.array(pointers), "shape": [2, 2]}
        np.savez(tmp_path / "x.npz", **parts, format="csr")
        with pytest.raises(DataError):
            read_table(tmp_path / "x.npz")


def test_a_text_that_ends_within_a_letter_is_read(tmp_path):
    (tmp_path / "x.csv").write_bytes(b"a,b\n1,2\n3,4\n\xef")
    with pytest.raises(DataError, match="ragged"):
        read_table(tmp_path / "x.csv")
