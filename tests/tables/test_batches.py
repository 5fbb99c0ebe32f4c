"""Batches are a column set apart like the label, read and written in every format that has names."""

import numpy as np
import pytest

from eigensieve.tables import DataError, Table, read_table, unknown, write_table

TEXT = "sample,a,b,kind,run\ns0,1,2,x,first\ns1,3,4,y,second\ns2,5,7,x,second\n"


@pytest.fixture
def table(tmp_path) -> Table:
    path = tmp_path / "table.csv"
    path.write_text(TEXT)
    return read_table(path, label="kind", batch="run")


def test_the_batch_is_no_feature(table):
    assert list(table.feature_names) == ["a", "b"] and table.batch_name == "run"
    assert table.batch.tolist() == ["first", "second", "second"] and table.label.tolist() == ["x", "y", "x"]


@pytest.mark.parametrize("suffix", [".csv", ".tsv.gz", ".parquet", ".feather", ".npz", ".mat", ".h5ad"])
def test_every_format_with_names_keeps_it(table, tmp_path, suffix):
    if suffix == ".h5ad":
        pytest.importorskip("anndata", reason=".h5ad needs anndata")
    path = tmp_path / f"again{suffix}"
    write_table(path, table.take(np.array([1])))
    again = read_table(path, label="kind", batch="run")
    assert list(again.feature_names) == ["b"] and np.ravel(again.X).tolist() == [2, 4, 7]
    assert again.batch.tolist() == ["first", "second", "second"] and again.label.tolist() == ["x", "y", "x"]
    write_table(tmp_path / f"third{suffix}", again)
    assert read_table(tmp_path / f"third{suffix}", batch="run", label="kind").batch.tolist() == again.batch.tolist()


@pytest.mark.parametrize("suffix", [".npy", ".mtx", ".svm"])
def test_formats_without_names_refuse_it(table, tmp_path, suffix):
    path = tmp_path / f"bare{suffix}"
    write_table(path, table)
    with pytest.raises(DataError, match="no batch column 'run'"):
        read_table(path, batch="run")


@pytest.mark.parametrize("suffix", [".csv", ".parquet"])
def test_a_row_of_batches_where_samples_are_columns(tmp_path, suffix):
    import pandas as pd

    turned = pd.DataFrame({"gene": ["run", "a", "b"], "s0": [1.0, 2, 3], "s1": [2.0, 4, 5], "s2": [2.0, 1, 1]})
    path = tmp_path / f"turned{suffix}"
    turned.to_csv(path, index=False) if suffix == ".csv" else turned.to_parquet(path, index=False)
    table = read_table(path, batch="run")
    assert table.orientation == "columns" and "the batch is the name of a row" in table.notes[0]
    assert table.batch.tolist() == [1, 2, 2] and list(table.feature_names) == ["a", "b"]


def test_one_column_has_one_role(tmp_path):
    path = tmp_path / "table.csv"
    path.write_text(TEXT)
    with pytest.raises(DataError, match="column 'run' cannot be label and batch at once"):
        read_table(path, label="run", batch="run")


def test_every_sample_needs_a_batch(tmp_path):
    path = tmp_path / "table.csv"
    path.write_text(TEXT.replace("first", "NA"))
    with pytest.raises(DataError, match="1 of 3 samples have no batch in column 'run'"):
        read_table(path, label="kind", batch="run")


def test_unknown_labels():
    assert unknown(np.array([1.0, np.nan])).tolist() == [False, True]
    words = ["x", "", "NA", "nan", "None", "?", "N/A", "null", "-", "."]
    assert unknown(np.array(words)).tolist() == [False, *[True] * 9]
    assert not unknown(np.array(["+", "-", "+"])).any()
    assert not unknown(np.array(["none", "mild", "severe"])).any()
    assert unknown(np.array(["none", "1", "2.5"])).tolist() == [True, False, False]
    assert not unknown(np.array([1, -1])).any()
