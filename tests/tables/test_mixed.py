"""Tables as people have them: text, dates and categories among the numbers, marks in the numbers, Excel."""

import re
import zipfile

import numpy as np
import pandas as pd
import pytest
import scipy.io
import scipy.sparse

from eigensieve.tables import DataError, read_table, unknown, write_table

FRAME = pd.DataFrame(
    {
        "name": [f"car {i % 10}" for i in range(12)],
        "mpg": [18.5, np.nan, *np.arange(10.0)],
        "year": pd.date_range("1970-01-01", periods=12),
        "origin": ["USA", "Japan", None, "USA"] * 3,
        "doors": [2, 4] * 6,
    }
)


@pytest.fixture(params=["csv", "parquet", "feather", "xlsx"])
def path(request, tmp_path):
    if request.param == "xlsx":
        pytest.importorskip("openpyxl", reason="Excel files need openpyxl")
    place = tmp_path / f"cars.{request.param}"
    write = {"csv": FRAME.to_csv, "xlsx": FRAME.to_excel, "parquet": FRAME.to_parquet, "feather": FRAME.to_feather}
    write[request.param](place, **({"index": False} if request.param in ("csv", "xlsx") else {}))
    return place


def test_text_is_left_out_with_a_note(path):
    table = read_table(path, categories="leave-out")
    assert list(table.feature_names) == ["mpg", "doors", "year"]
    np.testing.assert_array_equal(table.X[:, :2], FRAME[["mpg", "doors"]].to_numpy())
    assert "left out 2 columns of text: 'name', 'origin'" in table.notes
    assert list(table.text) == ["name", "origin"]


def test_dates_are_days_since_the_first(path):
    table = read_table(path, categories="leave-out")
    np.testing.assert_array_equal(table.X[:, 2], np.arange(12))
    assert "column 'year' holds dates and is used as a number: days since 1970-01-01" in table.notes


@pytest.mark.parametrize(
    ("cells", "numbers"),
    [
        (["1970-01-01", "1982-01-01", "", "1971-01-01"], [1970, 1982, np.nan, 1971]),
        (["2024-02-28", "2024-03-01", "NA"], [0, 2, np.nan]),
        (["2024-02-28T12:00:00Z", "2024-02-28 18:00"], [0, 0.25]),
        (["28.02.2023", "1.3.2023"], [0, 1]),
        (["28/02/2023", "1/3/2023"], [0, 1]),  # no month 28: the day comes first
        (["2/28/2023", "3/1/2023"], [0, 1]),  # no month 28: the month comes first
        (["2024/01/01", "2025/01/01"], [2024, 2025]),
        (["1/3/2023", "2/4/2023"], None),  # January or March?
        (["2023-02-30", "2023-02-01"], None),
        (["2023-02-20", "soon"], None),
    ],
)
def test_forms_of_dates(tmp_path, cells, numbers):
    (tmp_path / "t.csv").write_text("\n".join(["a,when", *(f"{row},{cell}" for row, cell in enumerate(cells))]))
    table = read_table(tmp_path / "t.csv", categories="leave-out")
    if numbers is None:
        assert list(table.text) == ["when"]
    else:
        np.testing.assert_array_equal(table.X[:, 1], numbers)


def test_categories_are_encoded_as_pandas_does_it(path):
    table = read_table(path, categories="one-hot")
    assert list(table.feature_names) == ["mpg", "doors", "year", "origin=Japan", "origin=USA"]
    np.testing.assert_array_equal(table.X[:, 3:], pd.get_dummies(FRAME["origin"]).to_numpy(float))
    assert any(note.startswith("left out 1 column of text with too many values") for note in table.notes)


def test_text_is_refused_unless_asked_for(path):
    with pytest.raises(DataError, match="text in 2 numeric columns"):
        read_table(path)


def test_keep_and_drop(path):
    assert list(read_table(path, categories="leave-out", keep=["doors"]).feature_names) == ["doors"]
    dropped = read_table(path, categories="one-hot", drop=["mpg", "year", "name"])
    assert list(dropped.feature_names) == ["doors", "origin=Japan", "origin=USA"]
    assert not any("left out" in note for note in dropped.notes)
    with pytest.raises(DataError, match=r"no column 'door' to drop\. Did you mean 'doors'\?"):
        read_table(path, categories="leave-out", drop=["door"])
    with pytest.raises(DataError, match=r"no column 'door' to keep\. Did you mean 'doors'\?"):
        read_table(path, categories="leave-out", keep=["door"])


def test_columns_are_kept_in_every_format(tmp_path):
    X = np.arange(12.0).reshape(3, 4)
    np.savez(tmp_path / "x.npz", X=X, feature_names=np.array(list("abcd")))
    table = read_table(tmp_path / "x.npz", drop=["b"])
    np.testing.assert_array_equal(table.X, X[:, [0, 2, 3]])
    np.testing.assert_array_equal(table.take(np.array([1])).details["columns"], [2])


def test_words_for_missing_values_and_marks_in_numbers(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text('a;b;c\n1.234,5;unknown;-999\n2.000;"3,5";7\n1,5;4;8\n')
    table = read_table(path, na_values=["unknown", "-999"], thousands=".")
    np.testing.assert_array_equal(table.X, [[1234.5, np.nan, np.nan], [2000, 3.5, 7], [1.5, 4, 8]])
    path.write_text('a,b\n"1,234.5",2\n"12,000",3\n')
    np.testing.assert_array_equal(read_table(path, thousands=",").X, [[1234.5, 2], [12000, 3]])
    path.write_text('a,b\n"1,5",2\n"2,25",3\n')
    np.testing.assert_array_equal(read_table(path, decimal=",").X, [[1.5, 2], [2.25, 3]])
    with pytest.raises(ValueError, match="must differ"):
        read_table(path, decimal=",", thousands=",")


GAPS = pd.DataFrame(
    {
        "a": [1.0, -999, 3, 4],
        "b": [2.0, 5, -999, 1],
        "y": [0, 1, -999, 0],
        "k": ["u", "unknown", "v", "?"],
        "c": ["p", "p", "unknown", "q"],
    }
)


@pytest.mark.parametrize("kind", ["csv", "xlsx", "parquet", "feather", "h5ad"])
def test_one_rule_for_missing_cells(tmp_path, kind):
    path = tmp_path / f"t.{kind}"
    if kind == "h5ad":
        anndata = pytest.importorskip("anndata", reason=".h5ad files need anndata")
        obs = GAPS[["y", "k"]].set_index(pd.Index(list("wxyz")))
        anndata.AnnData(GAPS[["a", "b"]].to_numpy(), obs=obs).write_h5ad(path)
    elif kind == "xlsx":
        pytest.importorskip("openpyxl", reason="Excel files need openpyxl")
        GAPS.to_excel(path, index=False)
    else:
        getattr(GAPS, f"to_{kind}")(path, **({"index": False} if kind == "csv" else {}))
    how = {"na_values": ["-999", "unknown"], "categories": "one-hot"}
    table = read_table(path, label="y", **how)
    np.testing.assert_array_equal(table.X[:, :2], [[1, 2], [np.nan, 5], [3, np.nan], [4, 1]])
    np.testing.assert_array_equal(table.label, [0, 1, np.nan, 0])
    table = read_table(path, label="k", **how)
    assert unknown(table.label).tolist() == [False, True, False, True]
    assert "2 of 4 samples have no label ('?')" in table.notes
    if kind != "h5ad":
        assert "c=q" in table.feature_names and "c=unknown" not in table.feature_names


@pytest.mark.parametrize("kind", ["npy", "npz", "mat", "sparse.npz"])
def test_numbers_for_missing_values_in_arrays(tmp_path, kind):
    X, y = GAPS[["a", "b"]].to_numpy(np.float32), GAPS["y"].to_numpy()
    path = tmp_path / f"t.{kind}"
    if kind == "npy":
        np.save(path, X)
    elif kind == "mat":
        scipy.io.savemat(path, {"X": X, "y": y, "k": GAPS["k"].to_numpy(object)})
    elif kind == "npz":
        np.savez(path, X=X, y=y, k=GAPS["k"].to_numpy(str))
    else:
        scipy.sparse.save_npz(path, scipy.sparse.csr_matrix(X))
    table = read_table(path, na_values=["-999"], label="y" if kind in ("npz", "mat") else None)
    np.testing.assert_array_equal(table.dense, np.where(X == -999, np.nan, X))
    if table.label is not None:
        np.testing.assert_array_equal(table.label, [0, 1, np.nan, 0])
        table = read_table(path, na_values=["unknown"], label="k")
        assert unknown(table.label).tolist() == [False, True, False, True]
    if kind == "sparse.npz":
        with pytest.raises(DataError, match="0 cannot mean missing"):
            read_table(path, na_values=["0"])


def test_usual_words_may_be_named_as_well(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("a,b\n1,NA\n2,3\n")
    np.testing.assert_array_equal(read_table(path, na_values=["NA", "true"]).X, [[1, np.nan], [2, 3]])


def test_a_number_column_with_stray_words_names_them(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("a,b\n1,2\n2,unknown\n3,4\n4,5\n")
    table = read_table(path, categories="leave-out")
    assert "left out column 'b', which holds numbers and text: 'unknown'" in table.notes


@pytest.mark.parametrize("kind", ["csv", "xlsx"])
def test_numbers_with_commas_are_told_apart_from_text(tmp_path, kind):
    path = tmp_path / f"t.{kind}"
    frame = pd.DataFrame({"a": ["1,5", "2,25", "3,125"], "b": [2.5, 3.5, 4.5], "c": ["x", "y", "x"]})
    if kind == "xlsx":
        pytest.importorskip("openpyxl", reason="Excel files need openpyxl")
    frame.to_csv(path, index=False) if kind == "csv" else frame.to_excel(path, index=False)
    table = read_table(path, categories="leave-out", samples="rows", id="c")
    assert table.notes[1:] == []
    assert table.notes[0] == "left out column 'a', whose numbers have commas: '1,5', '2,25', '3,125'"
    with pytest.raises(DataError, match=r"such as '1,5' in data row 1\)\. If its comma marks decimals .*--decimal"):
        read_table(path, id="c")
    if kind == "xlsx":
        table = read_table(path, id="c", decimal=",")
        np.testing.assert_array_equal(table.X, [[1.5, 2.5], [2.25, 3.5], [3.125, 4.5]])


def test_a_table_of_text_alone_says_so(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("a,b\nx,y\nx,z\n")
    with pytest.raises(DataError, match=r"no numeric features\. Its columns of text are 'a', 'b'"):
        read_table(path, categories="leave-out")


def test_excel_columns_named_by_numbers(tmp_path):
    pytest.importorskip("openpyxl", reason="Excel files need openpyxl")
    frame = pd.DataFrame(np.arange(6.0).reshape(2, 3) / 10, index=["u", "v"], columns=[400, 402, 404])
    frame.to_excel(tmp_path / "t.xlsx")
    table = read_table(tmp_path / "t.xlsx")
    assert list(table.feature_names) == ["400", "402", "404"] and table.sample_names == ["u", "v"]
    np.testing.assert_array_equal(table.X, frame.to_numpy())
    assert read_table(tmp_path / "t.xlsx", header=False, categories="leave-out").n_samples == 3


def test_excel_sheets_and_damage(tmp_path):
    pytest.importorskip("openpyxl", reason="Excel files need openpyxl")
    path = tmp_path / "two.xlsx"
    with pd.ExcelWriter(path) as writer:
        FRAME[["mpg", "doors"]].to_excel(writer, sheet_name="cars", index=False)
        FRAME.to_excel(writer, sheet_name="all")
    table = read_table(path)
    np.testing.assert_array_equal(table.X, FRAME[["mpg", "doors"]].to_numpy())
    assert "read from the first sheet, 'cars'; the others are 'all'" in table.notes
    write_table(tmp_path / "out.xlsx", table)
    pd.testing.assert_frame_equal(pd.read_excel(tmp_path / "out.xlsx"), FRAME[["mpg", "doors"]], check_dtype=False)
    (tmp_path / "bad.xlsx").write_bytes(b"PK nothing")
    with pytest.raises(DataError, match="damaged or not an Excel workbook"):
        read_table(tmp_path / "bad.xlsx")


def rewritten(path, change):
    """The workbook with every sheet's XML changed."""
    with zipfile.ZipFile(path) as archive:
        members = {name: archive.read(name) for name in archive.namelist()}
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in members.items():
            archive.writestr(name, change(content) if "worksheets/" in name else content)


def test_workbooks_that_announce_more_than_they_may_hold(tmp_path, monkeypatch):
    pytest.importorskip("openpyxl", reason="Excel files need openpyxl")
    path = tmp_path / "x.xlsx"
    FRAME[["mpg", "doors"]].to_excel(path, index=False)
    # an extent of 17 billion cells around twelve rows: the cells that are there count
    rewritten(path, lambda xml: re.sub(rb'<dimension ref="[^"]*"', b'<dimension ref="A1:XFD1048576"', xml))
    np.testing.assert_array_equal(read_table(path).X, FRAME[["mpg", "doors"]].to_numpy())
    # one cell at the far right of every row
    far = b"".join(b'<row r="%d"><c r="XFD%d"><v>1</v></c></row>' % (row, row) for row in range(20, 120))
    rewritten(path, lambda xml: xml.replace(b"</sheetData>", far + b"</sheetData>"))
    monkeypatch.setenv("EIGENSIEVE_READ_GB", "0.05")
    with pytest.raises(DataError, match=r"announces .* MB of contents .* EIGENSIEVE_READ_GB"):
        read_table(path)
    # a megabyte of blanks in a file of some kilobytes, refused before anything is unpacked
    rewritten(path, lambda xml: xml.replace(b"</sheetData>", b" " * 1_000_000 + b"</sheetData>"))
    monkeypatch.setenv("EIGENSIEVE_READ_GB", "0.001")
    monkeypatch.setattr("openpyxl.load_workbook", None)
    with pytest.raises(DataError, match=r"announces 1 MB of contents"):
        read_table(path)


def test_names_that_look_like_formulas_stay_names_in_workbooks(tmp_path):
    pytest.importorskip("openpyxl", reason="Excel files need openpyxl")
    frame = pd.DataFrame({"=1+1": [1.0, 2.0, 4.0], "=A1": [0.5, 0.25, 1.0], "b": [1.0, 3.0, 2.0]})
    frame.to_csv(tmp_path / "t.csv", index=False)
    write_table(tmp_path / "t.xlsx", read_table(tmp_path / "t.csv"))
    again = read_table(tmp_path / "t.xlsx")
    assert list(again.feature_names) == list(frame.columns)
    np.testing.assert_array_equal(again.X, frame.to_numpy())


@pytest.mark.parametrize("kind", ["csv", "parquet"])
def test_dropped_identifiers_may_be_of_any_size(tmp_path, kind):
    frame = pd.DataFrame({"key": [2**53 + 1, 2**53 + 3, 2**60 + 1], "a": [1.0, 2.0, 4.0], "b": [3.0, 1.0, 2.0]})
    path = tmp_path / f"t.{kind}"
    frame.to_csv(path, index=False) if kind == "csv" else frame.to_parquet(path)
    with pytest.raises(DataError, match=r"above 2\^53 in column 'key'.* drop it"):
        read_table(path)
    for chosen in ({"drop": ["key"]}, {"keep": ["a", "b"]}):
        table = read_table(path, **chosen)
        assert list(table.feature_names) == ["a", "b"]
        np.testing.assert_array_equal(table.X, frame[["a", "b"]].to_numpy())
