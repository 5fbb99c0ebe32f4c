"""Every other format: what it can hold comes back, what it cannot is refused in one line."""

import gzip
import io
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from scipy.io import mmwrite, savemat
from scipy.sparse import csc_matrix, csr_matrix, issparse, random_array, save_npz

from eigensieve.tables import FORMATS, Column, DataError, Table, format_of, read_table, write_table
from eigensieve.tables.files import ALL

X = np.round(np.random.default_rng(0).normal(size=(6, 5)), 3)
S = csr_matrix(random_array((6, 5), density=0.5, random_state=np.random.default_rng(1), format="csr"))
NAMES = ["a", "b<c>", "d,e", "\N{DNA DOUBLE HELIX}", "f"]
IDS = [f"s{row}" for row in range(6)]
LABEL = np.array(["u", "v", "u", "v", "u", "v"])
FULL = Table(
    X=X, feature_names=NAMES, sample_names=IDS, format="csv", apart={"label": Column("y", LABEL)}, id_name="who"
)
SUFFIX = {
    "csv": ".csv",
    "parquet": ".parquet",
    "feather": ".feather",
    "xlsx": ".xlsx",
    "npy": ".npy",
    "npz": ".npz",
    "mat": ".mat",
    "svmlight": ".svm",
    "mtx": ".mtx",
    "h5ad": ".h5ad",
}
NAMED = ["csv", "parquet", "feather", "xlsx", "npz", "mat", "h5ad"]
"""Formats that keep names of features, samples and labels."""


def dense(matrix):
    return matrix.toarray() if issparse(matrix) else matrix


def arguments(format):
    if format == "h5ad":
        return {"label": "y"}
    return {"label": "y", "id": "who"} if format in NAMED else {}


def test_every_format_is_tried_here():
    assert set(SUFFIX) == set(FORMATS)


@pytest.mark.parametrize("format", FORMATS)
def test_round_trip_of_chosen_features(format, tmp_path):
    path = tmp_path / f"t{SUFFIX[format]}"
    write_table(path, FULL if format != "svmlight" else replace(FULL, apart={"label": Column("y", np.arange(6))}))
    table = read_table(path, **arguments(format))
    assert table.format == format
    np.testing.assert_array_equal(dense(table.X), X)
    chosen = [3, 0]
    out = tmp_path / f"out{SUFFIX[format]}"
    write_table(out, table, chosen)
    again = read_table(out, **arguments(format))
    np.testing.assert_array_equal(dense(again.X), X[:, chosen])
    if format in NAMED:
        assert list(again.feature_names) == [NAMES[3], NAMES[0]]
        assert again.sample_names == IDS
        assert again.label.tolist() == LABEL.tolist()


@pytest.mark.parametrize("format", ["npz", "mat", "svmlight", "mtx", "h5ad"])
def test_sparse_stays_sparse(format, tmp_path):
    path, out = tmp_path / f"t{SUFFIX[format]}", tmp_path / f"out{SUFFIX[format]}"
    write_table(path, replace(FULL, X=S, apart={}))
    table = read_table(path)
    assert issparse(table.X) and table.X.format == "csr"
    np.testing.assert_allclose(table.X.toarray(), S.toarray(), rtol=1e-15)
    write_table(out, table, [4, 1, 2])
    again = read_table(out)
    assert issparse(again.X)
    np.testing.assert_allclose(again.X.toarray(), S.toarray()[:, [4, 1, 2]], rtol=1e-15)


@pytest.mark.parametrize("format", ["parquet", "feather", "npy", "npz", "h5ad"])
def test_float32_is_kept(format, tmp_path):
    path = tmp_path / f"t{SUFFIX[format]}"
    write_table(path, replace(FULL, X=X.astype(np.float32)))
    assert read_table(path, **arguments(format)).X.dtype == np.float32


@pytest.mark.parametrize("format", ["npy", "npz", "mat", "mtx", "parquet", "feather"])
def test_samples_in_columns_go_back_to_columns(format, tmp_path):
    path, out = tmp_path / f"t{SUFFIX[format]}", tmp_path / f"out{SUFFIX[format]}"
    write_table(path, replace(FULL, orientation="columns", id_name="gene", apart={}))
    table = read_table(path, samples="columns")
    assert table.orientation == "columns"
    np.testing.assert_array_equal(dense(table.X), X)
    write_table(out, table, [1, 0])
    np.testing.assert_array_equal(dense(read_table(out, samples="columns").X), X[:, [1, 0]])
    if format not in ("npy", "mtx"):
        table = read_table(out)
        assert table.orientation == "columns" and "samples in columns" in table.notes[0]


@pytest.mark.parametrize("format", ["parquet", "feather", "npy", "npz", "mat", "mtx", "h5ad", "svmlight"])
def test_damaged_file(format, tmp_path):
    path = tmp_path / f"t{SUFFIX[format]}"
    write_table(path, FULL if format != "svmlight" else replace(FULL, apart={}))
    whole = path.read_bytes()
    for broken in (whole[: len(whole) // 2], b"\x01garbage" * 20):
        path.write_bytes(broken if format != "svmlight" else b"1 3:0.5 2:x\n")
        with pytest.raises(DataError, match="is damaged or not") as raised:
            read_table(path)
        assert "\n" not in str(raised.value) and str(path) in str(raised.value)


@pytest.mark.parametrize("format", FORMATS)
def test_unknown_label(format, tmp_path):
    path = tmp_path / f"t{SUFFIX[format]}"
    write_table(path, replace(FULL, apart={}))
    with pytest.raises(DataError, match=r"has no label .*'nope'"):
        read_table(path, label="nope")
    with pytest.raises(DataError, match=r"has no id .*'nope'"):
        read_table(path, id="nope")


@pytest.mark.parametrize("format", ["parquet", "npy", "npz", "mat", "svmlight", "mtx", "h5ad", "feather"])
def test_standard_input_and_output(format, tmp_path, monkeypatch, capfdbinary):
    path = tmp_path / f"t{SUFFIX[format]}"
    write_table(path, FULL if format != "svmlight" else replace(FULL, apart={}))
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(path.read_bytes())))
    told = {"format": "svmlight"} if format == "svmlight" else {}
    table = read_table("-", **arguments(format), **told)
    np.testing.assert_array_equal(dense(table.X), X)
    write_table("-", table, [2])
    out = tmp_path / f"out{SUFFIX[format]}"
    out.write_bytes(capfdbinary.readouterr().out)
    np.testing.assert_array_equal(dense(read_table(out, **arguments(format)).X), X[:, [2]])


class TestColumnar:
    def test_data_frame_index_text_and_missing(self, tmp_path):
        pandas = pytest.importorskip("pandas")
        frame = pandas.DataFrame(
            {"a": [1, 2, 3], "b": [True, False, True], "c": [0.5, None, 2.5]}, index=["x", "y", "z"]
        )
        frame.to_parquet(tmp_path / "t.parquet")
        table = read_table(tmp_path / "t.parquet")
        assert table.sample_names == ["x", "y", "z"] and table.feature_names == ["a", "b", "c"]
        np.testing.assert_array_equal(table.X, [[1, 1, 0.5], [2, 0, np.nan], [3, 1, 2.5]])
        assert "1 of 9 values are missing (11 %)" in table.notes

    def test_text_column_is_named(self, tmp_path):
        pandas = pytest.importorskip("pandas")
        frame = pandas.DataFrame({"a": [1, 2], "when": pandas.to_datetime(["2020-01-01", "2020-01-02"])})
        frame["kind"] = pandas.Categorical(["u", "v"])
        frame.to_feather(tmp_path / "t.feather")
        with pytest.raises(DataError, match="text in 1 numeric column: 'kind'"):
            read_table(tmp_path / "t.feather")
        frame.drop(columns="when").to_feather(tmp_path / "t.feather")
        assert read_table(tmp_path / "t.feather", label="kind").label.tolist() == ["u", "v"]

    @pytest.mark.parametrize("suffix", [".parquet", ".feather"])
    def test_wide_tables(self, tmp_path, suffix):
        """22,285 columns took minutes when Arrow was asked for the list of all names once per column."""
        pandas = pytest.importorskip("pandas")
        values = np.random.default_rng(0).normal(size=(57, 22_285))
        frame = pandas.DataFrame(values, columns=[f"g{i}" for i in range(values.shape[1])])
        frame.to_parquet(tmp_path / "t.parquet") if suffix == ".parquet" else frame.to_feather(tmp_path / "t.feather")
        table = read_table(tmp_path / f"t{suffix}")
        np.testing.assert_array_equal(table.X, values)
        assert table.feature_names == list(frame.columns)

    def test_many_columns_of_text_are_read_in_one_go(self, tmp_path):
        names = [f"t{i}" for i in range(5_000)]
        lines = [",".join(names) + ",a"] + [
            ",".join(f"w{(row + i) % 3}" for i in range(5_000)) + f",{row}" for row in range(9)
        ]
        (tmp_path / "t.csv").write_text("\n".join(lines))
        table = read_table(tmp_path / "t.csv", categories="leave-out")
        assert table.feature_names == ["a"] and list(table.text) == names
        assert table.text["t4"] == [f"w{(row + 4) % 3}" for row in range(9)]

    @pytest.mark.parametrize("metadata", [b"{", b"[1]", b'{"index_columns": 5}'])
    def test_damaged_notes_of_pandas(self, tmp_path, metadata):
        import pyarrow as pa
        from pyarrow import parquet

        path = tmp_path / "t.parquet"
        parquet.write_table(
            pa.table({"a": [1.0, 2.0], "n": ["x", "y"]}).replace_schema_metadata({"pandas": metadata}), path
        )
        with pytest.raises(
            DataError, match=r"t\.parquet' has damaged notes of pandas about its index\. Name the column"
        ):
            read_table(path)
        assert read_table(path, id="n").sample_names == ["x", "y"]

    def test_genes_in_rows(self, tmp_path):
        pandas = pytest.importorskip("pandas")
        frame = pandas.DataFrame({"Gene Symbol": ["g1", "g2", "grp"], "s1": [1.0, 2.0, 0.0], "s2": [3.0, 4.0, 1.0]})
        frame.to_parquet(tmp_path / "t.parquet", index=False)
        table = read_table(tmp_path / "t.parquet")
        assert table.orientation == "columns" and table.sample_names == ["s1", "s2"]
        table = read_table(tmp_path / "t.parquet", label="grp")
        assert table.label.tolist() == [0, 1] and table.feature_names == ["g1", "g2"]

    def test_no_rows(self, tmp_path):
        pandas = pytest.importorskip("pandas")
        pandas.DataFrame({"a": np.empty(0)}).to_parquet(tmp_path / "t.parquet")
        with pytest.raises(DataError, match="has no samples"):
            read_table(tmp_path / "t.parquet")


class TestArrays:
    def test_csr_parts_and_extra_arrays(self, tmp_path):
        np.savez(
            tmp_path / "t.npz",
            X_data=S.data,
            X_indices=S.indices,
            X_indptr=S.indptr,
            X_shape=np.array(S.shape),
            format=np.array("csr"),
            y=LABEL,
            batch=np.arange(6),
        )
        table = read_table(tmp_path / "t.npz", label="y")
        np.testing.assert_array_equal(table.X.toarray(), S.toarray())
        assert table.label.tolist() == LABEL.tolist()
        write_table(tmp_path / "out.npz", table, [1])
        with np.load(tmp_path / "out.npz") as out:
            assert out["batch"].tolist() == list(range(6)) and out["feature_names"].tolist() == ["x1"]

    @pytest.mark.parametrize("matrix", [S, csc_matrix(S)])
    def test_what_scipy_saves(self, tmp_path, matrix):
        save_npz(tmp_path / "t.npz", matrix)
        np.testing.assert_array_equal(read_table(tmp_path / "t.npz").X.toarray(), S.toarray())

    def test_only_matrix_is_taken_and_several_refused(self, tmp_path):
        np.savez(tmp_path / "t.npz", values=X, y=np.arange(6))
        np.testing.assert_array_equal(read_table(tmp_path / "t.npz").X, X)
        np.savez(tmp_path / "t.npz", one=X, two=X)
        with pytest.raises(DataError, match=r"several matrices: 'one', 'two'. Call the one to read 'X'"):
            read_table(tmp_path / "t.npz")
        np.savez(tmp_path / "t.npz", y=np.arange(6))
        with pytest.raises(DataError, match="no matrix of numbers"):
            read_table(tmp_path / "t.npz")

    def test_integers_become_floats(self, tmp_path):
        np.save(tmp_path / "t.npy", np.arange(6).reshape(2, 3))
        assert read_table(tmp_path / "t.npy").X.dtype == np.float64

    @pytest.mark.parametrize("array", [np.arange(3.0), np.array([["a", "b"]]), np.zeros((2, 2, 2))])
    def test_not_a_matrix(self, tmp_path, array):
        np.save(tmp_path / "t.npy", array)
        with pytest.raises(DataError, match=r"not a matrix of numbers. Store a samples x features matrix"):
            read_table(tmp_path / "t.npy")

    def test_pickles_are_never_loaded(self, tmp_path):
        np.save(tmp_path / "t.npy", np.array([[{}]], dtype=object))
        np.savez(tmp_path / "t.npz", X=np.array([[{}]], dtype=object))
        for name in ("t.npy", "t.npz"):
            with pytest.raises(DataError, match="without pickled objects"):
                read_table(tmp_path / name)

    def test_lengths_must_fit(self, tmp_path):
        np.savez(tmp_path / "t.npz", X=X, y=np.arange(4))
        with pytest.raises(DataError, match=r"array 'y' has shape \(4,\) where \(6,\) is needed"):
            read_table(tmp_path / "t.npz", label="y")
        np.savez(tmp_path / "t.npz", X=X, feature_names=np.array(["a"]))
        with pytest.raises(DataError, match=r"1 feature_names for 5 features. Say where the samples stand"):
            read_table(tmp_path / "t.npz")
        np.savez(tmp_path / "t.npz", X=X, feature_names=np.array(["a", "b", "a", "c", "d"]))
        with pytest.raises(DataError, match="duplicate feature names: 'a'"):
            read_table(tmp_path / "t.npz")

    def test_wrong_ending(self, tmp_path):
        np.savez(tmp_path / "t", X=X)
        (tmp_path / "t.npz").rename(tmp_path / "t.npy")
        with pytest.raises(DataError, match=r"an .npz archive. Give it the ending .npz"):
            read_table(tmp_path / "t.npy")

    @pytest.mark.parametrize("indices", [[0, 9], [-1, 0]])
    def test_broken_sparse_parts(self, tmp_path, indices):
        np.savez(
            tmp_path / "t.npz",
            X_data=np.ones(2),
            X_indices=np.array(indices),
            X_indptr=np.array([0, 1, 2]),
            X_shape=np.array([2, 3]),
        )
        with pytest.raises(DataError, match="is damaged or not a sparse matrix"):
            read_table(tmp_path / "t.npz")


class TestMatlab:
    def test_label_cells_and_the_only_matrix(self, tmp_path):
        kinds = np.array(["u", "vv"] * 3, dtype=object)
        savemat(tmp_path / "t.mat", {"fea": X, "gnd": np.arange(6).reshape(-1, 1), "kind": kinds})
        table = read_table(tmp_path / "t.mat", label="gnd")
        np.testing.assert_array_equal(table.X, X)
        assert table.label.tolist() == list(range(6))
        assert read_table(tmp_path / "t.mat", label="kind").label.tolist() == kinds.tolist()
        with pytest.raises(DataError, match=r"no label variable 'nope'"):
            read_table(tmp_path / "t.mat", label="nope")

    def test_version_7_3(self, tmp_path):
        h5py = pytest.importorskip("h5py")
        with h5py.File(tmp_path / "t.mat", "w") as file:
            file["X"] = X.T
            file["y"] = np.arange(6.0)[None, :]
            group = file.create_group("unused")
            group["data"] = 1
        table = read_table(tmp_path / "t.mat", label="y")
        np.testing.assert_array_equal(table.X, X)
        assert table.label.tolist() == list(range(6))

    def test_version_7_3_sparse(self, tmp_path):
        h5py = pytest.importorskip("h5py")
        C = csc_matrix(S)
        with h5py.File(tmp_path / "t.mat", "w") as file:
            group = file.create_group("X")
            group.attrs["MATLAB_sparse"] = 6
            group["data"], group["ir"], group["jc"] = C.data, C.indices, C.indptr
        np.testing.assert_array_equal(read_table(tmp_path / "t.mat").X.toarray(), S.toarray())


class TestSvmlight:
    text = b"1 1:0.5 3:2\n-1 2:1.5\n"

    @pytest.mark.parametrize("name", ["t.svm", "t.libsvm", "t.svmlight.gz"])
    def test_labels_only_when_asked(self, tmp_path, name):
        (tmp_path / name).write_bytes(gzip.compress(self.text) if name.endswith("gz") else self.text)
        table = read_table(tmp_path / name)
        assert table.label is None
        np.testing.assert_array_equal(table.X.toarray(), [[0.5, 0, 2], [0, 1.5, 0]])
        assert read_table(tmp_path / name, label="label").label.tolist() == [1, -1]
        out = tmp_path / f"out_{name}"
        write_table(out, table, [2, 1])
        assert read_table(out, label="label").label.tolist() == [1, -1]

    def test_refusals(self, tmp_path):
        (tmp_path / "t.svm").write_bytes(self.text)
        with pytest.raises(DataError, match="allows nothing else"):
            read_table(tmp_path / "t.svm", samples="columns")


class TestMatrixMarket:
    @pytest.fixture(params=["plain", "gz"])
    def folder(self, request, tmp_path):
        """A 10x folder with counts of 5 genes in 6 cells, two of the genes with the same symbol."""
        path = tmp_path / "run"
        path.mkdir()
        counts = csr_matrix((S.toarray() * 10).round())
        mmwrite(path / "matrix.mtx", counts.T, field="integer")
        symbols = ["TBCE", "ACTB", "TBCE", "CD3E", "CD4"]
        lines = "".join(f"ENSG{i}\t{symbol}\tGene Expression\n" for i, symbol in enumerate(symbols))
        first = "features.tsv" if request.param == "gz" else "genes.tsv"
        (path / first).write_text(lines)
        (path / "barcodes.tsv").write_text("".join(f"AAAC-{i}\n" for i in range(6)))
        if request.param == "gz":
            for file in list(path.iterdir()):
                file.with_name(file.name + ".gz").write_bytes(gzip.compress(file.read_bytes()))
                file.unlink()
        return path, counts

    def test_10x_folder(self, folder, tmp_path):
        path, counts = folder
        table = read_table(path)
        np.testing.assert_array_equal(table.X.toarray(), counts.toarray())
        assert list(table.feature_names) == ["TBCE", "ACTB", "TBCE-1", "CD3E", "CD4"]
        assert table.sample_names == [f"AAAC-{i}" for i in range(6)]
        assert table.notes == ["1 repeated feature names were numbered ('-1', '-2', ...)"]
        write_table(tmp_path / "chosen", table, [2, 3])
        again = read_table(tmp_path / "chosen")
        np.testing.assert_array_equal(again.X.toarray(), counts.toarray()[:, [2, 3]])
        features = gzip.decompress((tmp_path / "chosen" / "features.tsv.gz").read_bytes()).decode()
        assert features.splitlines()[0] == "ENSG2\tTBCE\tGene Expression"

    def test_replacing_a_folder(self, folder, tmp_path):
        table = read_table(folder[0])
        write_table(tmp_path / "chosen", table, [0])
        with pytest.raises(DataError, match="exists already"):
            write_table(tmp_path / "chosen", table, [1, 2])
        write_table(tmp_path / "chosen", table, [1, 2], force=True)
        assert read_table(tmp_path / "chosen").n_features == 2
        assert {entry.name for entry in tmp_path.iterdir()} == {"run", "chosen"}

    def test_counts_that_disagree(self, folder):
        path, _ = folder
        next(path.glob("barcodes*")).unlink()
        with pytest.raises(DataError, match=r"has no barcodes.tsv"):
            read_table(path)
        (path / "barcodes.tsv").write_text("one\n")
        with pytest.raises(DataError, match=r"5 x 6 but there are 5 features and 1 barcodes"):
            read_table(path)

    def test_folder_cannot_go_to_standard_output(self, folder):
        with pytest.raises(DataError, match="cannot go to standard output"):
            write_table("-", read_table(folder[0]))

    def test_dense_and_compressed(self, tmp_path):
        buffer = io.BytesIO()
        mmwrite(buffer, X)
        (tmp_path / "t.mtx.gz").write_bytes(gzip.compress(buffer.getvalue()))
        np.testing.assert_array_equal(read_table(tmp_path / "t.mtx.gz").X, X)


class TestH5ad:
    def test_annotations_are_kept(self, tmp_path):
        anndata = pytest.importorskip("anndata")
        pandas = pytest.importorskip("pandas")
        stored = anndata.AnnData(
            csc_matrix(S),
            obs=pandas.DataFrame({"kind": pandas.Categorical(LABEL), "age": range(6)}, index=IDS),
            var=pandas.DataFrame({"length": range(5)}, index=["g0", "g1", "g2", "g3", "g4"]),
            layers={"raw": S},
        )
        stored.write_h5ad(tmp_path / "t.h5ad")
        table = read_table(tmp_path / "t.h5ad", label="kind")
        assert table.label.tolist() == LABEL.tolist() and table.sample_names == IDS
        write_table(tmp_path / "out.h5ad", table, [4, 0])
        again = anndata.read_h5ad(tmp_path / "out.h5ad")
        assert again.var["length"].tolist() == [4, 0] and again.obs["age"].tolist() == list(range(6))
        np.testing.assert_array_equal(again.layers["raw"].toarray(), S.toarray()[:, [4, 0]])

    def test_refusals(self, tmp_path):
        anndata = pytest.importorskip("anndata")
        anndata.AnnData(X).write_h5ad(tmp_path / "t.h5ad")
        with pytest.raises(DataError, match="always do"):
            read_table(tmp_path / "t.h5ad", samples="columns")


def test_missing_package_names_the_extra(tmp_path, monkeypatch):
    write_table(tmp_path / "t.parquet", FULL)
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with pytest.raises(ImportError, match=r'pip install "eigensieve\[cli\]"'):
        read_table(tmp_path / "t.parquet")


@pytest.mark.parametrize(
    ("name", "in_place", "message"),
    [
        ("a.zarr", False, r"unsupported file ending. Use one of .csv, .* Open it with eigensieve.open_data"),
        ("a.csv", True, r"unsupported file ending. Use one of .parquet, .* Read it into memory with .*read_table"),
        ("a.xyz", True, r"unsupported file ending. Use one of .parquet, .*\.zarr\.$"),
    ],
)
def test_a_file_for_the_other_function_is_sent_there(name, in_place, message):
    with pytest.raises(DataError, match=message):
        format_of(Path(name), in_place=in_place)


def test_endings_and_first_bytes_mean_one_format_each():
    starts = [(magic, format.member) for format in ALL for magic in format.magic]
    for entries in ([ending for format in ALL for ending in format.endings], starts):
        assert len(set(entries)) == len(entries)


def test_a_workbook_on_standard_input(tmp_path, monkeypatch):
    pytest.importorskip("openpyxl", reason="Excel files need openpyxl")
    (tmp_path / "t.csv").write_text("a,b\n1.5,3\n2,4\n")
    write_table(tmp_path / "t.xlsx", read_table(tmp_path / "t.csv"))
    content = (tmp_path / "t.xlsx").read_bytes()
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(content)))
    table = read_table("-")
    assert table.format == "xlsx" and list(table.feature_names) == ["a", "b"]
    np.testing.assert_array_equal(table.X, [[1.5, 3], [2, 4]])
    # half of one is a zip file that tells nothing
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(content[: len(content) // 2])))
    with pytest.raises(DataError, match="'standard input' is damaged"):
        read_table("-")


def test_numbered_names_are_a_sequence():
    from eigensieve.tables.table import NumberedNames

    names = NumberedNames(10_000_000)
    assert len(names) == 10_000_000 and names[-1] == "x9999999" and names[1:3] == ["x1", "x2"]
    assert list(NumberedNames(3)) == ["x0", "x1", "x2"] and "x2" in NumberedNames(3)
