"""Tasks with files as people have them: tables of scikit-learn and of instruments, pipes, sheets, GEO.

Each task gets the `Newcomer` of ``run.py``.
"""

import json
from collections.abc import Callable
from typing import Any


def names(text: str) -> list[str]:
    """The features in a JSON document, which is one line among notes."""
    return json.loads(next(line for line in text.splitlines() if line.startswith("{")))["names"]


def wide_tables(me: Any) -> None:
    """57 samples x 22,285 features, as gene chips have them."""
    me.python(
        "import numpy as np, pandas as pd; X = np.random.default_rng(0).normal(size=(57, 22_285))\n"
        "t = pd.DataFrame(X, columns=[f'p{i}' for i in range(22_285)], index=[f's{i}' for i in range(57)])\n"
        "t.to_parquet('wide.parquet'); t.reset_index().to_feather('wide.feather')"
    )
    me.cli("inspect", "wide.parquet", says="22,285")
    me.cli("select", "wide.parquet", "-n", "20", "-o", "wide-few.parquet", says="20 of 22,285")
    me.cli("inspect", "wide.feather", says="22,285")


def geo(me: Any) -> None:
    me.cli("inspect", "GSE1_series_matrix.txt", says=r"feature names\s+column 'ID_REF'.*'tissue' \(2 values\)")
    found = me.cli("select", "GSE1_series_matrix.txt.gz", "--label", "tissue", "-n", "5", "--json")
    assert set(names(found)) == {f"{i}_at" for i in range(5)}, names(found)
    me.cli("select", "GSE1_series_matrix.txt", "-l", "tissue", "-n", "5", "-o", "geo.csv", "--report", "geo.html")
    me.report("geo.html")


def sheet(me: Any) -> None:
    me.cli("select", "turned.csv", "--sheet", "samples.csv", "-l", "tissue", "-n", "5", "-o", "turned-few.csv",
           says="used the labels of column 'tissue'")  # fmt: skip
    me.cli("inspect", "turned.csv", "--sheet", "samples.csv", "--batch", "day", says="batch")
    me.cli("select", "turned.csv", "--sheet", "samples.csv", "-l", "nope", code=3, says="'nope'.*'tissue'")


def excel_sheet(me: Any) -> None:
    me.python("import pandas as pd; pd.read_csv('samples.csv').to_excel('samples.xlsx', index=False)")
    me.cli("compare", "turned.csv", "--sheet", "samples.xlsx", "-l", "tissue", "--folds", "3", "--methods", "f-test")


def named_pipe(me: Any) -> None:
    me.shell("mkfifo pipe; cat genes.csv > pipe & eigensieve select pipe -n 5 -o pipe.csv", says="5 of 60")


def process_substitution(me: Any) -> None:
    me.shell("eigensieve select <(cat genes.csv) -n 5 -o s1.csv", says="5 of 60")
    me.shell("eigensieve select /dev/stdin -n 5 -o s2.csv < genes.csv", says="5 of 60")
    me.shell("gzip -c genes.csv | eigensieve select - -n 5 -o s3.csv", says="5 of 60")
    assert (me.files / "s1.csv").read_text() == (me.files / "s2.csv").read_text() == (me.files / "s3.csv").read_text()


def input_stays(me: Any) -> None:
    before = (me.files / "genes.csv").read_bytes()
    me.cli("select", "genes.csv", "-n", "5", "-o", "genes.csv", "-f", code=4, says="would replace the input")
    assert (me.files / "genes.csv").read_bytes() == before


def closed_output(me: Any) -> None:
    me.shell("eigensieve select genes.csv -n 5 -o closed.csv >&-")
    me.shell("eigensieve select genes.csv -n 5 --json >&-", code=4, says="Standard output is closed")


def transposed(me: Any) -> None:
    text = me.cli("inspect", "turned.csv", says=r"feature names\s+column 'Gene'")
    assert "sample names" not in text
    me.cli("select", "turned.csv", "-n", "8", "-o", "turned-8.csv", says="8 of 60")


def label_in_map(me: Any) -> None:
    me.cli("map", "labelled.csv", "-l", "tissue", "-o", "map.csv", says="used the labels of column 'tissue'")
    me.cli("map", "labelled.csv", "--drop", "tissue", "-o", "plain.csv")
    assert (me.files / "map.csv").read_text() != (me.files / "plain.csv").read_text(), "the label changes nothing"


def apply_like_select(me: Any) -> None:
    me.cli("select", "plates.csv", "-l", "tissue", "--batch", "plate", "-n", "5", "-m", "p.skops", "-o", "p.csv")
    me.cli("apply", "p.skops", "plates.csv", "-o", "p2.csv", says="5 of 60")
    assert (me.files / "p.csv").read_text() == (me.files / "p2.csv").read_text()


def model_without_names(me: Any) -> None:
    me.cli("compress", "digits.npz", "-l", "y", "-e", "60", "--no-compare", "-m", "digits.skops")
    me.python(
        "import warnings, numpy as np; warnings.simplefilter('error')\nfrom eigensieve import load_model\n"
        "print(load_model('digits.skops').predict(np.load('digits.npz')['X'][:5]))"
    )


def compare_rows(me: Any) -> None:
    me.cli("compare", "wine.csv", "-l", "cultivar", "--folds", "3", "-n", "4", "-o", "compare.csv")
    me.python(
        "import pandas as pd; t = pd.read_csv('compare.csv')\n"
        "assert len(set(t['method'])) >= 6 and 'fisher' not in set(t['method'])"
    )


def compress_again(me: Any) -> None:
    lines = [me.cli("compress", "wine.csv", "-l", "cultivar", "--no-compare", "--json") for _ in range(2)]
    first, second = (json.loads(line.splitlines()[0]) for line in lines)
    assert first["elements"] == second["elements"] and first["small_accuracy"] == second["small_accuracy"]


def dates(me: Any) -> None:
    me.cli("inspect", "cars.csv", says="column 'Year' holds dates and is used as a number: the year")
    me.cli("select", "cars.csv", "-l", "Miles_per_Gallon", "-n", "4", "-o", "cars-mpg.csv", "--report", "mpg.html")
    me.report("mpg.html")


def comments(me: Any) -> None:
    me.cli("select", "instrument.csv", code=3, says="Line 1 looks like a comment.*--comment '#'")
    me.cli("select", "instrument.csv", "--comment", "#", "-n", "5", "-o", "instrument-few.csv", says="5 of 60")


def damaged_metadata(me: Any) -> None:
    me.python(
        "import pyarrow as pa, pyarrow.parquet as pq; t = pa.table({'a': [1., 2.], 'b': [3., 5.], 'n': ['x', 'y']})\n"
        "pq.write_table(t.replace_schema_metadata({'pandas': b'{'}), 'odd.parquet')"
    )
    me.cli("inspect", "odd.parquet", code=3, says="odd.parquet.*--id")
    me.cli("inspect", "odd.parquet", "--id", "n")


def sparse_formats(me: Any) -> None:
    """A 10x folder, Matrix Market, svmlight, MATLAB."""
    me.python(
        "import numpy as np, scipy.io, pathlib; from scipy.sparse import csc_matrix\n"
        "from sklearn.datasets import dump_svmlight_file, load_digits\n"
        "X, y = load_digits(return_X_y=True); X, y = X[:200], y[:200]; f = pathlib.Path('tenx'); f.mkdir()\n"
        "scipy.io.mmwrite(f / 'matrix.mtx', csc_matrix(X.T.astype(int)))\n"
        "(f / 'features.tsv').write_text(''.join(f'e{i}\\tpixel{i}\\n' for i in range(64)))\n"
        "(f / 'barcodes.tsv').write_text(''.join(f'c{i}\\n' for i in range(200)))\n"
        "scipy.io.mmwrite('d.mtx', csc_matrix(X)); scipy.io.savemat('d.mat', {'X': X, 'y': y})\n"
        "dump_svmlight_file(X, y, 'd.svm')"
    )
    me.cli("select", "tenx", "-n", "10", "-o", "tenx-few", says="10 of 64")
    me.cli("select", "d.mtx", "-n", "10", "-o", "d-few.mtx", says="10 of 64")
    me.cli("select", "d.svm", "-l", "label", "-n", "10", "-o", "d-few.svm", says="used the labels")
    me.cli("select", "d.mat", "-l", "y", "-n", "10", "-o", "d-few.mat", says="used the labels")


def on_disk(me: Any) -> None:
    me.python(
        "import h5py, numpy as np; from eigensieve import SieveSelector, open_data\n"
        "f = h5py.File('d.h5', 'w'); f['X'] = np.load('digits.npz')['X']; f.close()\n"
        "assert SieveSelector(10).fit(open_data('d.h5')).support_.sum() == 10"
    )


def encodings(me: Any) -> None:
    text = (me.files / "genes.csv").read_text().replace("g0", "Größe", 1)
    for encoding in ("utf-8-sig", "latin-1", "utf-16"):
        (me.files / "odd.csv").write_text(text, encoding=encoding)
        assert "Größe" in names(me.cli("select", "odd.csv", "-n", "8", "--json")), encoding


def stability(me: Any) -> None:
    me.cli(
        "select", "wine.csv", "-l", "cultivar", "-n", "4", "--stability", "4", says="was selected again \\d+ % of times"
    )


TASKS: list[tuple[str, Callable[[Any], None]]] = [
    ("22,285 columns", wide_tables),
    ("a GEO series matrix", geo),
    ("a sample sheet", sheet),
    ("a sample sheet in Excel", excel_sheet),
    ("a named pipe", named_pipe),
    ("process substitution, /dev/stdin", process_substitution),
    ("the input is not replaced", input_stays),
    ("standard output closed", closed_output),
    ("genes in rows", transposed),
    ("map with labels", label_in_map),
    ("apply treats columns as select", apply_like_select),
    ("a model without names", model_without_names),
    ("compare without equal rows", compare_rows),
    ("compress twice", compress_again),
    ("dates", dates),
    ("comments in a table", comments),
    ("damaged notes of pandas", damaged_metadata),
    ("10x, Matrix Market, svmlight, MATLAB", sparse_formats),
    ("data on disk", on_disk),
    ("encodings", encodings),
    ("stability", stability),
]
