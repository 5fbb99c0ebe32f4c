"""The first line: names that are numbers, and samples."""

import numpy as np
import pytest

from eigensieve.tables import DataError, read_table


def put(folder, text):
    path = folder / "t.csv"
    path.write_text(text)
    return path


@pytest.mark.parametrize(
    "lines",
    [
        ["sample,400,402,404,tissue", "s0,.1,.2,.3,a", "s1,.9,.8,.7,b"],
        ["sample,404,400,402", "s0,.1,.2,.3", "s1,.9,.8,.7"],  # a word that names samples, numbers in any order
        ["spectrum,400,402,404", "u,.1,.2,.3", "v,.2,.3,.4"],  # numbers of another size
        ["who,9,8,7,6,5,4", "u,1,2,3,4,5,6", "v,1,20,3,4,5,6"],  # many numbers in order, others below
        [",400,402,404", "0,.1,.2,.3", "1,.9,.8,.7"],  # DataFrame.to_csv
        ["400,402,404", "s0,.1,.2,.3", "s1,.9,.8,.7"],  # write.table of R
    ],
)
def test_numbers_as_names(tmp_path, lines):
    table = read_table(put(tmp_path, "\n".join(lines)), categories="leave-out")
    names = [name for name in lines[0].split(",") if name.isdecimal()]
    assert list(table.feature_names) == names and table.n_samples == 2
    assert table.sample_names == [line.split(",")[0] for line in lines[1:]]
    assert table.notes[0] == "the first line was taken for the header, although it holds numbers"


def test_a_named_column_shows_the_header(tmp_path):
    path = put(tmp_path, "who,404,400,tissue\nu,.1,.2,a\nv,.9,.8,b\n")
    assert list(read_table(path, categories="leave-out").feature_names) == ["x1", "x2"]
    table = read_table(path, label="tissue")
    assert list(table.feature_names) == ["404", "400"] and table.label.tolist() == ["a", "b"]


@pytest.mark.parametrize(
    "lines",
    [
        ["s0,5.1,3.5,1.4,.2", "s1,4.9,3,1.4,.2", "s2,4.7,3.2,1.3,.2"],  # falling numbers, by nature
        ["s0,5,3,4,1", "s1,4,3,1,2"],
        ["5.1,3.5,1.4,.2,setosa", "4.9,3,1.4,.2,setosa", "7,3.2,4.7,1.4,versicolor"],
        ["s0,1,2,3,4,5,6,7", "s1,2,4,6,8,9,11,14", "s2,1,3,4,6,7,8,9"],  # growth: every line rises
        ["a,1,2", "b,30,40"],
        [",1,1,2", "4,5,6,7"],  # the first value is missing
        ["s0,400,402,404,a", "s1,1,2,3,a", "s2,1,2,3,a"],  # the same text below
    ],
)
def test_a_sample_stays_a_sample(tmp_path, lines):
    table = read_table(put(tmp_path, "\n".join(lines)), categories="leave-out")
    assert table.n_samples == len(lines)
    assert table.notes[0] == "no header line: columns are named x0, x1, ..."


def test_random_samples_with_names_stay_samples(tmp_path):
    rng = np.random.default_rng(0)
    headers = 0
    for _ in range(200):
        rows = rng.normal(10, 3, size=(12, 5)).round(2).tolist()
        text = "\n".join(",".join([f"s{i}", *map(str, row)]) for i, row in enumerate(rows))
        headers += read_table(put(tmp_path, text), samples="rows").n_samples != 12
    assert headers == 0


def test_the_caller_may_say_it(tmp_path):
    path = put(tmp_path, "400,402\n.1,.2\n.3,.5\n")
    assert read_table(path).n_samples == 3
    table = read_table(path, header=True)
    assert list(table.feature_names) == ["400", "402"] and table.notes == []
    np.testing.assert_array_equal(table.X, [[0.1, 0.2], [0.3, 0.5]])
    table = read_table(put(tmp_path, "0,1,2\n5,6,7\n"), header=False)
    assert list(table.feature_names) == ["x0", "x1", "x2"] and table.notes == ["columns are named x0, x1, ..."]
    np.testing.assert_array_equal(table.X, [[0, 1, 2], [5, 6, 7]])
    np.save(tmp_path / "x.npy", np.eye(3))
    with pytest.raises(DataError, match="is no text table"):
        read_table(tmp_path / "x.npy", header=True)
