"""CSV and TSV: every layout people have, exact numbers, one-line errors."""

import gzip
import io
import sys

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from eigensieve.tables import DataError, read_table, write_table


def put(tmp_path, text, name="t.csv"):
    path = tmp_path / name
    data = text if isinstance(text, bytes) else text.encode()
    path.write_bytes(gzip.compress(data) if name.endswith(".gz") else data)
    return path


class TestLayouts:
    def test_plain(self, tmp_path):
        table = read_table(put(tmp_path, "a,b,c\n1,2,3\n4,5.5,-6e2\n"))
        np.testing.assert_array_equal(table.X, [[1, 2, 3], [4, 5.5, -600]])
        assert table.feature_names == ["a", "b", "c"]
        assert table.sample_names is None and table.label is None
        assert table.format == "csv" and table.orientation == "rows" and table.notes == []

    @pytest.mark.parametrize("delimiter", [",", "\t", ";", "|", " "])
    def test_delimiter_is_detected(self, tmp_path, delimiter):
        table = read_table(put(tmp_path, "a,b\n1,2\n3,4\n".replace(",", delimiter)))
        np.testing.assert_array_equal(table.X, [[1, 2], [3, 4]])

    @pytest.mark.parametrize("name", ["t.tsv", "t.tsv.gz", "t.tab"])
    def test_tabs(self, tmp_path, name):
        table = read_table(put(tmp_path, "a, b\tc\n1\t2\n", name))
        assert table.feature_names == ["a, b", "c"]

    def test_decimal_comma(self, tmp_path):
        table = read_table(put(tmp_path, "a;b\n1,5;2\n-3,25e1;4\n"))
        np.testing.assert_array_equal(table.X, [[1.5, 2], [-32.5, 4]])
        assert table.notes == ["decimal comma: '1,5' is 1.5"]

    @pytest.mark.parametrize("delimiter", ["\t", ";"])
    def test_commas_that_may_mark_thousands(self, tmp_path, delimiter):
        text = "reads\tumis\n556\t423\n1,539\t1,615\n598\t564\n2,900\t1,270\n".replace("\t", delimiter)
        path = put(tmp_path, text, "t.txt")
        table = read_table(path, thousands=",")
        np.testing.assert_array_equal(table.X, [[556, 423], [1539, 1615], [598, 564], [2900, 1270]])
        assert table.notes == []
        table = read_table(path)
        np.testing.assert_array_equal(table.X, [[556, 423], [1.539, 1.615], [598, 564], [2.9, 1.27]])
        assert table.notes == ["the comma may mark decimals or thousands: '1,539' was read as 1.539"]
        assert read_table(path, decimal=",").notes == []
        # one number settles it: two commas mark thousands, and no group has two digits
        assert read_table(put(tmp_path, text + f"0,25{delimiter}1\n", "t.txt")).notes == [
            "decimal comma: '0,25' is 0.25"
        ]
        with pytest.raises(DataError, match="text in 2 numeric columns"):
            read_table(put(tmp_path, text + f"1,539,000{delimiter}1\n", "t.txt"))

    def test_points_that_mark_thousands(self, tmp_path):
        table = read_table(put(tmp_path, "a;b\n1.234;2\n12.000.000;3\n"), thousands=".")
        np.testing.assert_array_equal(table.X, [[1234, 2], [12_000_000, 3]])

    def test_a_list_in_a_cell_is_no_decimal_comma(self, tmp_path):
        table = read_table(put(tmp_path, "a\tb\tk\n1.5\t2.5\t1,2\n3.5\t1.5\tx\n"), categories="leave-out")
        np.testing.assert_array_equal(table.X, [[1.5, 2.5], [3.5, 1.5]])

    def test_id_label_and_order_of_features(self, tmp_path):
        path = put(tmp_path, "a,class,b,name\n1,x,2,s1\n3,y,4,s2\n")
        table = read_table(path, label="class", id="name")
        np.testing.assert_array_equal(table.X, [[1, 2], [3, 4]])
        assert table.label.tolist() == ["x", "y"] and table.sample_names == ["s1", "s2"]
        assert (table.label_name, table.id_name) == ("class", "name")

    def test_first_text_column_becomes_the_names(self, tmp_path):
        table = read_table(put(tmp_path, "who,a\nann,1\nbob,2\n"))
        assert table.sample_names == ["ann", "bob"] and table.feature_names == ["a"]
        assert table.notes == ["sample names from column 'who'"]

    @pytest.mark.parametrize("header", ['"",a,b', ",a,b", "Unnamed: 0,a,b", "a,b"])
    def test_index_without_a_name(self, tmp_path, header):
        table = read_table(put(tmp_path, f"{header}\n0,5,6\n1,7,8\n"))
        assert table.feature_names == ["a", "b"] and table.sample_names == ["0", "1"]

    @pytest.mark.parametrize(
        "text", ["a,b,c\n1,2,3,\n4,5,6,\n", "a,b,c,\r\n1,2,3,\r\n4,5,6,\r\n", "1.0,2,3,\n4,5,6,\n"]
    )
    @pytest.mark.parametrize("delimiter", [",", "\t", " "])
    def test_delimiter_at_the_end_of_lines(self, tmp_path, text, delimiter):
        table = read_table(put(tmp_path, text.replace(",", delimiter), "t.txt"))
        assert list(table.feature_names) == (["a", "b", "c"] if "a" in text else ["x0", "x1", "x2"])
        assert table.sample_names is None and table.notes[-1].startswith("the last column was left out")
        np.testing.assert_array_equal(table.X, [[1, 2, 3], [4, 5, 6]])

    def test_a_last_column_with_one_value_stays(self, tmp_path):
        rows = [f"r{i},{i},{i * i}," for i in range(150)]
        table = read_table(put(tmp_path, "\n".join(["a,b,c", *rows, "last,1,2,3"])), samples="rows")
        assert table.feature_names == ["a", "b", "c"] and table.sample_names[-1] == "last"
        np.testing.assert_array_equal(table.X[-1], [1, 2, 3])
        table = read_table(put(tmp_path, "a,b,c\n1,2,\n4,5,\n"))
        assert table.feature_names == ["a", "b", "c"] and np.isnan(table.X[:, 2]).all()

    def test_numbers_that_name_samples_are_noted(self, tmp_path):
        note = "the first column, 'Sample ID', holds distinct whole numbers and is used as a feature"
        path = put(tmp_path, "Sample ID,a\n7,1\n3,2\n")
        assert read_table(path).notes == [note]
        assert read_table(path, id="Sample ID").notes == []
        assert read_table(path, keep=["Sample ID"]).notes == ["1 of 2 columns of numbers are used, as asked"]
        for text in ("Sample ID,a\n7,1\n7,2\n", "Sample ID,a\n.5,1\n7,2\n", "dose,a\n1,1\n2,2\n"):
            assert read_table(put(tmp_path, text)).notes == []

    def test_numeric_labels_stay_numbers(self, tmp_path):
        path = put(tmp_path, "y,z,a\n0,0.5,1\n1,1.5,2\n")
        assert read_table(path, label="y").label.dtype == np.int64
        assert read_table(path, label="z").label.dtype == np.float64

    def test_missing_labels_are_noted(self, tmp_path):
        path = put(tmp_path, "y,k,a\n0,u,1\n,v,2\n1,NA,3\n")
        table = read_table(path, label="y", id="k")
        np.testing.assert_array_equal(table.label, [0, np.nan, 1])
        assert table.notes == ["1 of 3 samples have no label"]
        table = read_table(path, label="k")
        assert table.label.tolist() == ["u", "v", "NA"] and "1 of 3 samples have no label ('NA')" in table.notes

    def test_quote_inside_a_cell_is_just_a_character(self, tmp_path):
        table = read_table(put(tmp_path, 'pipe 5",b\n1,2\n3,4\n'))
        assert table.feature_names == ['pipe 5"', "b"] and table.n_samples == 2

    def test_quotes_newlines_and_emoji(self, tmp_path):
        text = '"the ""id""","a,b","<script>","\N{DNA DOUBLE HELIX}"\n"line\nbreak","1","2.5",3\n"x",4,5,6\n'
        table = read_table(put(tmp_path, text))
        assert table.id_name == 'the "id"'
        assert table.feature_names == ["a,b", "<script>", "\N{DNA DOUBLE HELIX}"]
        assert table.sample_names == ["line\nbreak", "x"]
        np.testing.assert_array_equal(table.X, [[1, 2.5, 3], [4, 5, 6]])

    def test_windows_line_ends_blank_lines_and_byte_order_mark(self, tmp_path):
        table = read_table(put(tmp_path, b"\xef\xbb\xbfa,b\r\n1,2\r\n\r\n  \r\n3,4\r\n\r\n"))
        assert table.feature_names == ["a", "b"]
        np.testing.assert_array_equal(table.X, [[1, 2], [3, 4]])

    def test_old_mac_line_ends(self, tmp_path):
        table = read_table(put(tmp_path, b"a,b\r1,2\r3,4\r"))
        assert table.feature_names == ["a", "b"]
        np.testing.assert_array_equal(table.X, [[1, 2], [3, 4]])

    def test_utf16_and_latin1(self, tmp_path):
        table = read_table(put(tmp_path, "a\tµ\n1\t2\n".encode("utf-16"), "u.txt"))
        assert table.feature_names == ["a", "µ"]
        table = read_table(put(tmp_path, "a,µ\n1,2\n".encode("latin-1"), "l.csv"))
        assert table.feature_names == ["a", "µ"]
        assert "Latin-1" in table.notes[0]

    def test_no_header(self, tmp_path):
        table = read_table(put(tmp_path, "1.5,2\n3,4\n"))
        assert list(table.feature_names) == ["x0", "x1"] and table.n_samples == 2
        assert "no header" in table.notes[0]

    def test_counted_columns_are_a_header(self, tmp_path):
        table = read_table(put(tmp_path, "0,1,2\n5,6,7\n"))
        assert table.feature_names == ["0", "1", "2"] and table.n_samples == 1

    def test_missing_values_stay_and_are_noted(self, tmp_path):
        table = read_table(put(tmp_path, "a,b,c,d\n1,NA,,nan\n?,N/A,NULL,None\n1,2,3,4\n"))
        assert np.isnan(table.X).sum() == 7
        assert table.notes == ["7 of 12 values are missing (58 %)"]

    def test_truth_values_and_infinity(self, tmp_path):
        table = read_table(put(tmp_path, "a,b\nTrue,inf\nfalse,-Inf\n"))
        np.testing.assert_array_equal(table.X, [[1, np.inf], [0, -np.inf]])

    def test_gzip(self, tmp_path):
        np.testing.assert_array_equal(read_table(put(tmp_path, "a,b\n1,2\n", "t.csv.gz")).X, [[1, 2]])

    def test_standard_input(self, tmp_path, monkeypatch):
        for data in (b"a,b\n1,2\n", gzip.compress(b"a\tb\n1\t2\n")):
            monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(data)))
            np.testing.assert_array_equal(read_table("-").X, [[1, 2]])

    def test_many_blocks_and_many_odd_cells(self, tmp_path, monkeypatch):
        monkeypatch.setattr("eigensieve.tables.grid.BLOCK_BYTES", 200)
        X = np.random.default_rng(0).normal(size=(60, 40))
        rows = "\n".join(",".join(map(repr, row)) for row in X.tolist())
        table = read_table(put(tmp_path, ",".join(f"f{i}" for i in range(40)) + "\n" + rows))
        np.testing.assert_array_equal(table.X, X)


class TestNumbers:
    @given(st.lists(st.floats(allow_nan=False), min_size=1, max_size=30))
    @settings(max_examples=60, deadline=None)
    def test_repr_reads_back_exactly(self, tmp_path_factory, values):
        path = put(tmp_path_factory.mktemp("n"), "a\n" + "\n".join(map(repr, values)))
        np.testing.assert_array_equal(read_table(path).X[:, 0], values)

    @given(st.lists(st.tuples(st.integers(0, 10**24), st.integers(-360, 330), st.booleans()), min_size=1, max_size=30))
    @settings(max_examples=60, deadline=None)
    def test_any_decimal_is_rounded_as_python_does(self, tmp_path_factory, parts):
        texts = [f"{'-' if minus else ''}{mantissa}e{power}" for mantissa, power, minus in parts]
        path = put(tmp_path_factory.mktemp("n"), "a\n" + "\n".join(texts))
        np.testing.assert_array_equal(read_table(path).X[:, 0], [float(text) for text in texts])

    def test_random_bit_patterns_and_halfway_cases(self, tmp_path):
        rng = np.random.default_rng(0)
        patterns = rng.integers(0, 2**63, 20_000, dtype=np.int64).view(np.float64)
        odd = rng.integers(2**52, 2**53, 5_000)
        texts = [repr(float(value)) for value in patterns if np.isfinite(value)]
        texts += [str(2 * int(value) + 1) for value in odd] + [f"{value}.5" for value in odd]
        path = put(tmp_path, "a\n" + "\n".join(texts))
        np.testing.assert_array_equal(read_table(path).X[:, 0], [float(text) for text in texts])

    @pytest.mark.parametrize("text", ["1.2.3", "--1", "1e", "e5", "0x10", "1,000", "12abc", "1 2"])
    def test_what_is_not_a_number(self, tmp_path, text):
        with pytest.raises(DataError, match="has text in 1 numeric column: 'b'"):
            read_table(put(tmp_path, f'a,b\n1,2\n3,"{text}"\n'))


class TestOrientation:
    genes = "gene,s1,s2,s3\nTP53,1,2,3\nEGFR,4,5,6\n"

    def test_first_column_called_gene(self, tmp_path):
        table = read_table(put(tmp_path, self.genes))
        np.testing.assert_array_equal(table.X, [[1, 4], [2, 5], [3, 6]])
        assert table.feature_names == ["TP53", "EGFR"] and table.sample_names == ["s1", "s2", "s3"]
        assert table.orientation == "columns"
        assert table.notes == ["samples in columns: the first column is called 'gene'"]

    def test_told_beats_detected(self, tmp_path):
        table = read_table(put(tmp_path, self.genes), samples="rows")
        assert table.sample_names == ["TP53", "EGFR"] and table.feature_names == ["s1", "s2", "s3"]
        plain = put(tmp_path, "id,a,b\nx,1,2\ny,3,4\nz,5,6\n", "p.csv")
        assert read_table(plain, samples="columns").X.shape == (2, 3)

    def test_label_in_a_row(self, tmp_path):
        table = read_table(put(tmp_path, "name,s1,s2\ntissue,liver,lung\ng1,1,2\ng2,3,4\n"), label="tissue")
        assert table.label.tolist() == ["liver", "lung"]
        np.testing.assert_array_equal(table.X, [[1, 3], [2, 4]])
        assert table.notes == ["samples in columns: the label is the name of a row"]

    def test_levels_of_genes_show_it(self, tmp_path):
        rng = np.random.default_rng(0)
        X = rng.normal(8, 3, size=(300, 1)) + rng.normal(scale=0.5, size=(300, 20))
        rows = "\n".join(f"r{i}," + ",".join(f"{v:.4f}" for v in row) for i, row in enumerate(X))
        header = "," + ",".join(f"c{i}" for i in range(20))
        table = read_table(put(tmp_path, f"{header}\n{rows}\n"))
        assert table.orientation == "columns" and table.X.shape == (20, 300)
        assert "differ in level" in table.notes[0]

    def test_tall_table_of_measurements_stays_in_rows(self, tmp_path):
        rng = np.random.default_rng(0)
        X = rng.normal([1, 50, 300, 7], [0.2, 5, 40, 1], size=(500, 4))
        rows = "\n".join(f"r{i}," + ",".join(f"{v:.4f}" for v in row) for i, row in enumerate(X))
        assert read_table(put(tmp_path, f"key,a,b,c,d\n{rows}\n")).X.shape == (500, 4)

    def test_duplicate_genes(self, tmp_path):
        with pytest.raises(DataError, match="duplicate feature names: 'TP53'"):
            read_table(put(tmp_path, "gene,s1\nTP53,1\nTP53,2\n"))

    def test_text_in_a_feature(self, tmp_path):
        with pytest.raises(DataError, match="text in the row of feature 'g2': 'oops'"):
            read_table(put(tmp_path, "gene,s1,s2\ng1,1,2\ng2,3,oops\n"))


class TestErrors:
    @pytest.mark.parametrize(
        ("text", "arguments", "message"),
        [
            ("a,b\n1,2\n3\n", {}, "is ragged: data row 2 has 1 cells where 2 are expected. Check that row"),
            ("a,b\n1,2,3\n4,5,6,7\n", {}, "is ragged: data row 2 has 4 cells where 3 are expected"),
            ("a,b,a\n1,2,3\n", {}, "duplicate column names: 'a'. Give every column a name of its own"),
            ("a,b\n1,2\n3,x\n", {}, r"text in 1 numeric column: 'b' \(such as 'x' in data row 2\). Name the label"),
            ("a,b\nu,2\nu,x\n", {}, r"text in 2 numeric columns: 'a', 'b'"),
            ("class,b\n1,2\n", {"label": "Class"}, "no label column 'Class'. Did you mean 'class'"),
            ("aa,b\n1,2\n", {"label": "zzz"}, "no label column 'zzz'. Its columns are 'aa', 'b'"),
            ("a,b\n1,2\n", {"id": "q"}, "no id column 'q'"),
            ("a,b\n1,2\n", {"id": "a", "label": "a"}, "cannot be id and label at once"),
            ("a,b\n", {}, "has no samples. Check that it holds data rows below its header"),
            ("\n \n", {}, "is empty"),
            ("", {}, "is empty. Check that it was written completely"),
            ("id\nx\ny\n", {}, "has no numeric features"),
            (b"a,b\n1,\x002\n", {}, "is not a text table"),
        ],
    )
    def test_one_line_that_names_file_problem_and_fix(self, tmp_path, text, arguments, message):
        path = put(tmp_path, text)
        with pytest.raises(DataError, match=message) as raised:
            read_table(path, **arguments)
        assert "\n" not in str(raised.value) and str(path) in str(raised.value)

    def test_missing_folder_and_permission(self, tmp_path):
        with pytest.raises(DataError, match=r"nope.csv' does not exist. Check the name"):
            read_table(tmp_path / "nope.csv")
        with pytest.raises(DataError, match=r"has no matrix.mtx"):
            read_table(tmp_path)

    @pytest.mark.parametrize("name", ["t.xls", "t", "t.parquet.gz", "t.csv.zip"])
    def test_unsupported_ending(self, tmp_path, name):
        (tmp_path / name).write_bytes(b"x")
        with pytest.raises(DataError, match=r"unsupported file ending. Use one of .csv.* --format csv\."):
            read_table(tmp_path / name)

    def test_damaged_gzip(self, tmp_path):
        (tmp_path / "t.csv.gz").write_bytes(gzip.compress(b"a,b\n1,2\n" * 100)[:-12])
        with pytest.raises(DataError, match="is damaged"):
            read_table(tmp_path / "t.csv.gz")

    def test_empty_standard_input(self, monkeypatch):
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(b"")))
        with pytest.raises(DataError, match="'standard input' is empty"):
            read_table("-")

    def test_bad_arguments(self, tmp_path):
        path = put(tmp_path, "a\n1\n")
        with pytest.raises(ValueError, match=r"'samples' .* must be one of auto, rows, columns. Got 'x'"):
            read_table(path, samples="x")
        with pytest.raises(ValueError, match=r"'format' .* must be one of csv, .* Got 'x'"):
            read_table(path, format="x")

    def test_format_overrules_the_ending(self, tmp_path):
        np.testing.assert_array_equal(read_table(put(tmp_path, "a,b\n1,2\n", "t.dat"), format="csv").X, [[1, 2]])


class TestWriting:
    def test_round_trip_with_id_and_label(self, tmp_path):
        path = put(tmp_path, 'name,"a,b",y,c,d\ns1,0.1,u,2,\ns2,1e-300,v,-3.5,7\n')
        table = read_table(path, label="y", id="name")
        write_table(tmp_path / "out.csv", table, [2, 0])
        assert (tmp_path / "out.csv").read_text() == 'name,d,"a,b",y\ns1,,0.1,u\ns2,7,1e-300,v\n'

    @pytest.mark.parametrize("name", ["out.csv", "out.tsv", "out.csv.gz"])
    def test_all_columns_read_back_exactly(self, tmp_path, name):
        X = np.random.default_rng(0).normal(size=(5, 4)) * 10.0 ** np.arange(-20, 20, 10)
        path = put(tmp_path, "a,b,c,d\n" + "\n".join(",".join(map(repr, row)) for row in X.tolist()))
        write_table(tmp_path / name, read_table(path))
        np.testing.assert_array_equal(read_table(tmp_path / name).X, X)

    def test_layout_is_kept(self, tmp_path):
        path = put(tmp_path, "a;b;c\n1,5;2;3\n")
        write_table(tmp_path / "out.csv", read_table(path), [True, False, True])
        assert (tmp_path / "out.csv").read_text() == "a;c\n1,5;3\n"
        headless = put(tmp_path, "1.5,2\n3,4\n", "h.csv")
        write_table(tmp_path / "h2.csv", read_table(headless), [1])
        assert (tmp_path / "h2.csv").read_text() == "2\n4\n"

    def test_samples_in_columns_go_back_to_columns(self, tmp_path):
        path = put(tmp_path, "gene,s1,s2\nkind,u,v\ng1,1,2\ng2,3,4\ng3,5,6\n")
        table = read_table(path, label="kind", samples="columns")
        write_table(tmp_path / "out.csv", table, [2, 0])
        assert (tmp_path / "out.csv").read_text() == "gene,s1,s2\nkind,u,v\ng3,5,6\ng1,1,2\n"

    def test_standard_output(self, tmp_path, capfdbinary):
        write_table("-", read_table(put(tmp_path, "a,b\n1,2\n")), [1])
        assert capfdbinary.readouterr().out == b"b\n2\n"

    def test_existing_file_is_kept_unless_forced(self, tmp_path):
        path = put(tmp_path, "a,b\n1,2\n")
        table = read_table(path)
        with pytest.raises(DataError, match=r"exists already. Choose another name, or replace it"):
            write_table(path, table, [0])
        assert path.read_text() == "a,b\n1,2\n"
        write_table(path, table, [0], force=True)
        assert path.read_text() == "a\n1\n"

    def test_failure_leaves_nothing_behind(self, tmp_path, monkeypatch):
        path = put(tmp_path, "a,b\n1,2\n")
        table = read_table(path)

        def full(handle):
            raise OSError(28, "No space left on device")

        monkeypatch.setattr("os.fsync", full)
        with pytest.raises(OSError, match="No space left"):
            write_table(path, table, [0], force=True)
        assert path.read_text() == "a,b\n1,2\n"
        assert [entry.name for entry in tmp_path.iterdir()] == ["t.csv"]

    def test_interruption_leaves_nothing_behind(self, tmp_path, monkeypatch):
        table = read_table(put(tmp_path, "a,b\n1,2\n"))

        def interrupted(*_):
            raise KeyboardInterrupt

        monkeypatch.setattr("eigensieve.tables.delimited._cells", interrupted)
        with pytest.raises(KeyboardInterrupt):
            write_table(tmp_path / "out.csv", table)
        assert [entry.name for entry in tmp_path.iterdir()] == ["t.csv"]

    def test_bad_places(self, tmp_path):
        table = read_table(put(tmp_path, "a,b\n1,2\n"))
        with pytest.raises(DataError, match=r"its folder does not exist. Create it first"):
            write_table(tmp_path / "no" / "out.csv", table)
        with pytest.raises(DataError, match="unsupported file ending"):
            write_table(tmp_path / "out.xls", table)
