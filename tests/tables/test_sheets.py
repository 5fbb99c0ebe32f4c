"""Labels that stand elsewhere: sample sheets, and the head of GEO series matrices. Comments in text tables."""

import gzip

import numpy as np
import pandas as pd
import pytest

from eigensieve.tables import DataError, read_table, write_table

GENES = "Gene,s1,s2,s3,s4\nTP53,1,2,3,4\nMYC,5,6,7,8\nKRAS,9,8,7,5\n"
SHEET = "patient,tissue,run,age\ns3,lung,1,50\ns1,liver,2,41\nx9,skin,1,33\ns2,lung,2,62\n"
MATRIX = np.array([[1, 5, 9], [2, 6, 8], [3, 7, 7], [4, 8, 5]])


def put(folder, name, text):
    (folder / name).write_text(text)
    return folder / name


@pytest.fixture
def genes(tmp_path):
    return put(tmp_path, "genes.csv", GENES)


@pytest.fixture
def sheet(tmp_path):
    return put(tmp_path, "samples.csv", SHEET)


def test_labels_and_batches_come_from_the_sheet_by_name(genes, sheet):
    table = read_table(genes, label="tissue", batch="run", sheet=put(sheet.parent, "all.csv", SHEET + "s4,skin,1,70\n"))
    assert table.orientation == "columns" and table.sample_names == ["s1", "s2", "s3", "s4"]
    np.testing.assert_array_equal(table.X, MATRIX)
    assert table.label.tolist() == ["liver", "lung", "lung", "skin"] and table.label_name == "tissue"
    assert table.batch.tolist() == [2, 2, 1, 1] and table.batch_name == "run"
    assert any(note.endswith("has 1 samples that the table lacks: 'x9'") for note in table.notes)


def test_samples_that_the_sheet_lacks_have_no_label_and_are_told(genes, sheet):
    table = read_table(genes, label="age", sheet=sheet)
    np.testing.assert_array_equal(table.label, [41, 62, 50, np.nan])
    assert any(note.endswith("lacks 1 samples of the table: 's4'") for note in table.notes)
    assert "1 of 4 samples have no label" in table.notes
    with pytest.raises(DataError, match="1 of 4 samples have no batch in column 'run'"):
        read_table(genes, batch="run", sheet=sheet)


@pytest.mark.parametrize("kind", ["csv", "tsv", "csv.gz", "xlsx"])
def test_formats_of_sheets(genes, sheet, tmp_path, kind):
    frame, path = pd.read_csv(sheet), tmp_path / f"again.{kind}"
    if kind == "xlsx":
        pytest.importorskip("openpyxl", reason="Excel files need openpyxl")
        frame.to_excel(path, index=False)
    else:
        frame.to_csv(path, index=False, sep="\t" if kind == "tsv" else ",")
    assert read_table(genes, label="tissue", sheet=path).label.tolist() == ["liver", "lung", "lung", ""]
    frame.to_parquet(tmp_path / "s.parquet")
    with pytest.raises(DataError, match="must be a CSV, TSV or Excel file"):
        read_table(genes, label="tissue", sheet=tmp_path / "s.parquet")


def test_the_sheet_tells_where_the_samples_stand(sheet, tmp_path):
    """No word and no level helps here: the first column is called 'n', and there are few rows."""
    path = put(tmp_path, "t.csv", "n,s1,s2,s3\na,1,2,3\nb,4,5,6\n")
    assert read_table(path).orientation == "rows"
    table = read_table(path, sheet=sheet)
    assert table.orientation == "columns" and table.feature_names == ["a", "b"]
    assert "samples in columns: their names are those of the sample sheet" in table.notes
    rows = put(tmp_path, "r.csv", "Gene,a,b\ns1,1,2\ns2,3,4\ns3,5,6\n")
    assert read_table(rows, sheet=sheet).orientation == "rows"


def test_columns_that_may_be_labels_are_offered(genes, sheet):
    notes = read_table(genes, sheet=sheet).notes
    assert any("that may be labels: 'tissue' (3 values), 'run' (2 values)" in note for note in notes)


@pytest.mark.parametrize(
    ("table", "sheet", "how", "message"),
    [
        (
            GENES,
            "patient,tissue\nS-1,lung\nS-2,liver\n",
            {"label": "tissue"},
            "No sample of .* the table has 's1', 's2'",
        ),
        (GENES, SHEET + "s1,skin,1,5\n", {"label": "tissue"}, "has several rows for 's1'. Leave one row"),
        (GENES, SHEET, {"label": "tisue"}, "no label row 'tisue'.*columns of the sheet .* are 'patient', 'tissue'"),
        ("a,tissue\n1,2\n3,4\n", SHEET, {"label": "tissue"}, "has no sample names to look up in the sheet"),
        ("id,a,tissue\ns1,2,3\ns2,3,4\n", SHEET, {"label": "tissue"}, "both have a column 'tissue'. Rename"),
        (GENES, "", {"label": "tissue"}, "is empty"),
    ],
)
def test_sheets_that_do_not_fit(tmp_path, table, sheet, how, message):
    path, other = put(tmp_path, "t.csv", table), put(tmp_path, "s.csv", sheet)
    with pytest.raises(DataError, match=message) as raised:
        read_table(path, sheet=other, **how)
    assert "\n" not in str(raised.value)


def test_sheets_of_other_formats(sheet, tmp_path):
    anndata = pytest.importorskip("anndata", reason=".h5ad files need anndata")
    obs = pd.DataFrame(index=["s1", "s2", "s3"])
    anndata.AnnData(np.eye(3), obs=obs).write_h5ad(tmp_path / "x.h5ad")
    assert read_table(tmp_path / "x.h5ad", label="age", sheet=sheet).label.tolist() == [41, 62, 50]


GEO = """!Series_title\t"Livers and lungs"
!Series_geo_accession\t"GSE1"
!Series_summary\t"A line with ""quotes"", and\ta tab"

!Sample_title\t"liver, first"\t"lung, first"\t"liver, second"
!Sample_geo_accession\t"GSM1"\t"GSM2"\t"GSM3"
!Sample_characteristics_ch1\t"tissue: liver"\t"tissue: lung"\t"tissue: liver"
!Sample_characteristics_ch1\t"age: 41"\t""\t"age: 50"
!Sample_characteristics_ch1\t"untreated"\t"untreated"\t"treated"
!series_matrix_table_begin
"ID_REF"\t"GSM1"\t"GSM2"\t"GSM3"
"1007_s_at"\t1.5\t2\t3
"1053_at"\t4\t\t6
!series_matrix_table_end
"""


@pytest.mark.parametrize("name", ["GSE1_series_matrix.txt", "GSE1_series_matrix.txt.gz"])
def test_geo_series_matrices(tmp_path, name):
    path = tmp_path / name
    path.write_bytes(gzip.compress(GEO.encode()) if name.endswith(".gz") else GEO.encode())
    table = read_table(path)
    assert table.orientation == "columns" and table.sample_names == ["GSM1", "GSM2", "GSM3"]
    assert table.feature_names == ["1007_s_at", "1053_at"] and table.label is None
    np.testing.assert_array_equal(table.X, [[1.5, 4], [2, np.nan], [3, 6]])
    offered = next(note for note in table.notes if "may be labels" in note)
    assert "'tissue' (2 values)" in offered and "'characteristics_ch1' (2 values)" in offered
    assert read_table(path, label="tissue").label.tolist() == ["liver", "lung", "liver"]
    np.testing.assert_array_equal(read_table(path, label="age").label, [41, np.nan, 50])
    assert read_table(path, label="title").label.tolist() == ["liver, first", "lung, first", "liver, second"]
    few = read_table(path, label="tissue", batch="characteristics_ch1")
    write_table(tmp_path / "few.csv", few, columns=[1])
    again = read_table(tmp_path / "few.csv", label="tissue", batch="characteristics_ch1")
    assert again.feature_names == ["1053_at"] and again.label.tolist() == few.label.tolist()


def test_a_sheet_beside_a_geo_series_matrix(tmp_path):
    path = put(tmp_path, "g.txt", GEO)
    other = put(tmp_path, "s.csv", "gsm,outcome\nGSM2,good\nGSM1,bad\nGSM3,good\n")
    table = read_table(path, label="outcome", batch="tissue", sheet=other)
    assert table.label.tolist() == ["bad", "good", "good"] and table.batch.tolist() == ["liver", "lung", "liver"]


def test_a_geo_series_matrix_without_numbers(tmp_path):
    head = GEO.partition('"1007_s_at"')[0]
    path = put(tmp_path, "g.txt", head + "!series_matrix_table_end\n")
    with pytest.raises(DataError, match="without numbers: they are in supplementary files"):
        read_table(path)


@pytest.mark.parametrize("mark", ["#", "//", "%"])
def test_comments_are_passed_over_when_asked(tmp_path, mark):
    text = f'{mark} made by "someone\na,b,c\n{mark} another one, with commas, and, more\n1,2,3\n4,5,6\n'
    path = put(tmp_path, "t.csv", text)
    with pytest.raises(DataError, match=f"Line 1 looks like a comment: '{mark} made by.*--comment '{mark}'"):
        read_table(path)
    table = read_table(path, comment=mark)
    assert table.feature_names == ["a", "b", "c"]
    np.testing.assert_array_equal(table.X, [[1, 2, 3], [4, 5, 6]])


def test_a_comment_that_stands_further_below_is_named(tmp_path):
    path = put(tmp_path, "t.csv", "a,b,c\n1,2,3\n!end of the first part\n4,5,6\n")
    with pytest.raises(DataError, match=r"data row 2 has 1 cells .* Line 3 looks like a comment: '!end of"):
        read_table(path)


def test_comments_are_no_option_of_binary_formats(tmp_path):
    np.save(tmp_path / "x.npy", np.eye(3))
    with pytest.raises(DataError, match="Leave out header and comment"):
        read_table(tmp_path / "x.npy", comment="#")
