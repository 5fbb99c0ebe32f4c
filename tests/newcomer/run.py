"""Do a newcomer's tasks with the wheel alone: an empty environment, another folder, no source tree on the path.

``python run.py eigensieve-*.whl`` makes the environment, does the tasks, prints a table, and fails if one task fails.
Nothing here imports eigensieve. pip installs what the wheel asks for; uv does the same faster where it is installed.
"""

import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import real_files

HERE = Path(__file__).parent
EXTRAS = "cli,plot,models,disk,anndata,excel"


@dataclass
class Newcomer:
    """Someone with a wheel, an environment and a folder of files."""

    wheel: Path
    home: Path

    @property
    def python_path(self) -> Path:
        return self.home / "env/bin/python"

    @property
    def files(self) -> Path:
        return self.home / "files"

    def shell(self, line: str, code: int = 0, says: str = "") -> str:
        """Run a line of bash in which ``eigensieve`` is the command."""
        command = self.python_path.with_name("eigensieve")
        return self.run("bash", "-c", f'eigensieve() {{ "{command}" "$@"; }}; {line}', code=code, says=says)

    def run(self, *command: object, code: int = 0, says: str = "") -> str:
        """Run a command in the folder of files; it must end with `code` and print what matches `says`."""
        environment = {key: value for key, value in os.environ.items() if not key.startswith("PYTHON")}
        environment |= {"COLUMNS": "200", "EIGENSIEVE_DATA": str(self.home / "data")}
        done = subprocess.run(
            [str(part) for part in command], cwd=self.files, env=environment, capture_output=True, text=True
        )
        text = done.stdout + done.stderr
        if done.returncode != code:
            raise AssertionError(f"exit code {done.returncode}, not {code}: {text.strip()[-300:]}")
        if "Traceback" in text:
            raise AssertionError(f"a traceback: {text.strip()[-300:]}")
        if says and not re.search(says, text, re.I | re.S):
            raise AssertionError(f"does not say {says!r}: {text.strip()[-300:]}")
        return text

    def cli(self, *options: object, code: int = 0, says: str = "") -> str:
        return self.run(self.python_path.with_name("eigensieve"), *options, code=code, says=says)

    def python(self, lines: str, code: int = 0, says: str = "") -> str:
        return self.run(self.python_path, "-c", lines, code=code, says=says)

    def install(self, wanted: object) -> None:
        if uv := shutil.which("uv"):
            self.run(uv, "pip", "install", "--quiet", "--python", self.python_path, wanted)
        else:
            self.run(self.python_path, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", wanted)

    def report(self, name: str) -> None:
        """The report exists, is one page, and loads nothing from elsewhere."""
        page = (self.files / name).read_text(encoding="utf-8")
        if "</html>" not in page or re.search(r'(src|href)="https?://', page):
            raise AssertionError(f"{name} is not one whole page")


def install_the_core(me: Newcomer) -> None:
    me.install(me.wheel)
    me.python("import eigensieve; print(eigensieve.__file__)", says=re.escape(str(me.home)))
    me.run(me.python_path, HERE / "files.py")


def command_line_without_its_extra(me: Newcomer) -> None:
    me.cli("select", "genes.csv", code=6, says=r"pip install \"eigensieve\[cli\]\"")
    me.run(me.python_path, "-m", "eigensieve", code=6, says="pip install")


def parquet_without_its_extra(me: Newcomer) -> None:
    lines = (
        "from eigensieve.tables import read_table\ntry: read_table('table.parquet')\nexcept ImportError as e: print(e)"
    )
    me.python(lines, says=r"pip install \"eigensieve\[")


def readme_lines(me: Newcomer) -> None:
    """The README's own Python, taken from the wheel's metadata, as PyPI shows it."""
    readme = me.python("from importlib.metadata import metadata; print(metadata('eigensieve').get_payload())")
    blocks = re.findall(r"```python\n(.*?)```", readme, re.S)
    names = re.findall(r"'([^']+)'", me.python("\n".join(blocks)))
    assert len(names) == 30 and "mean radius" in names, f"30 names are not printed: {names}"


def help_and_version(me: Newcomer) -> None:
    me.install(f"eigensieve[{EXTRAS}]")  # as the errors say; the wheel is there, so no release is needed
    me.cli("--help", says="select.*inspect.*compare.*demo")
    me.cli("--version", says=r"\d+\.\d+")


def as_a_module(me: Newcomer) -> None:
    me.run(me.python_path, "-m", "eigensieve", "select", "--help", says="--n-features")


def demo(me: Newcomer) -> None:
    me.cli("demo", "--output", "demo.html", says="30 without labels: 30 of them")
    me.report("demo.html")


def cars(me: Newcomer) -> None:
    me.cli("inspect", "cars.csv", says="Name.*Origin|Origin.*Name")
    me.cli("select", "cars.csv", "-n", "3", "-o", "cars-few.csv", "--report", "cars.html", says="--")
    me.cli("select", "cars.csv", "-n", "4", "--categories", "one-hot", "-o", "cars-hot.csv")
    me.report("cars.html")


def european(me: Newcomer) -> None:
    me.cli("select", "european.csv", "-n", "8", "-o", "european-few.csv")
    header = (me.files / "european-few.csv").read_text().splitlines()[0]
    chosen = {int(name) for name in re.findall(r"g(\d+)", header)}
    assert len(chosen & set(range(8))) >= 6, f"the 8 planted columns are not found: {header}"


def excel_and_parquet(me: Newcomer) -> None:
    me.python("import pandas as pd; t = pd.read_csv('genes.csv'); t.to_excel('g.xlsx'); t.to_parquet('g.parquet')")
    me.cli("select", "g.xlsx", "-n", "5", "-o", "few.xlsx")
    me.cli("select", "g.parquet", "-n", "5", "-o", "few.parquet")


def single_cells(me: Newcomer) -> None:
    me.python(
        "import anndata, numpy as np; r = np.random.default_rng(0); k = np.arange(150) % 3\n"
        "X = r.poisson(1 + 4 * (np.arange(80)[None] // 10 == k[:, None])).astype('float32')\n"
        "anndata.AnnData(X).write_h5ad('cells.h5ad')"
    )
    me.cli("select", "cells.h5ad", "-n", "20", "-o", "few.h5ad", "--report", "cells.html")
    me.report("cells.html")


def labels_and_batches(me: Newcomer) -> None:
    me.cli(
        "select", "labelled.csv", "--label", "tissue", "--drop", "day", "-n", "5", "-o", "l.csv", "--report", "l.html"
    )
    me.cli(
        "select", "labelled.csv", "--batch", "day", "--drop", "tissue", "-n", "5", "-o", "b.csv", "--report", "b.html"
    )
    me.report("l.html")
    me.report("b.html")


def compare_numbers(me: Newcomer) -> None:
    me.cli("compare", "regression.csv", "--label", "yield", "--folds", "3", "--report", "compare.html")
    me.report("compare.html")


def compress_to_c(me: Newcomer) -> None:
    me.cli(
        "compress", "classes.csv", "--label", "side", "-e", "40", "--c", "svm.c", "--report", "c.html", "-m", "c.skops"
    )
    me.report("c.html")
    me.python("from eigensieve import load_model; print(type(load_model('c.skops')).__name__)")
    if shutil.which("cc"):
        me.run("cc", "-O2", "-c", "svm.c", "-o", "svm.o")


def feature_map(me: Newcomer) -> None:
    me.cli("map", "genes.csv", "--report", "map.html")
    me.report("map.html")


def grid_search(me: Newcomer) -> None:
    me.python(
        "import numpy as np\nfrom sklearn.model_selection import GridSearchCV\nfrom sklearn.pipeline import Pipeline\n"
        "from sklearn.svm import SVC\nfrom sklearn.datasets import load_wine\nfrom eigensieve import SieveSelector\n"
        "X, y = load_wine(return_X_y=True); p = Pipeline([('few', SieveSelector()), ('svm', SVC())])\n"
        "g = GridSearchCV(p, {'few__n_features_to_select': [2, 5, 13]}, cv=3)\n"
        "assert np.isfinite(g.fit(X, y).cv_results_['mean_test_score']).all(); print(g.best_params_)"
    )


def frames(me: Newcomer) -> None:
    me.python(
        "import pandas as pd, polars as pl\nfrom eigensieve import SieveSelector\n"
        "t = pd.read_csv('genes.csv', index_col=0)\ns = SieveSelector(5).fit(t)\n"
        "assert set(s.get_feature_names_out()) <= set(t.columns)\n"
        "out = s.set_output(transform='pandas').transform(t); assert list(out.index) == list(t.index)\n"
        "u = pl.from_pandas(t); v = SieveSelector(5).fit(u)\n"
        "assert list(v.get_feature_names_out()) == list(s.get_feature_names_out())"
    )


def save_and_load(me: Newcomer) -> None:
    me.cli("select", "genes.csv", "-n", "5", "-o", "g.csv", "-m", "g.skops")
    me.cli("apply", "g.skops", "genes.csv", "-o", "again.csv")
    assert (me.files / "g.csv").read_text() == (me.files / "again.csv").read_text(), (
        "apply keeps other columns than select"
    )


def noise(me: Newcomer) -> None:
    me.cli("select", "noise.csv", "-o", "nothing.csv", "--report", "noise.html", says="no feature|nothing|none|0 of")


def wrong_files(me: Newcomer) -> None:
    me.cli("select", "missing.csv", "-o", "x.csv", code=3, says="missing.csv")
    me.cli("select", "empty.csv", "-o", "x.csv", code=3, says="empty.csv")
    me.cli("select", "text.csv", "-o", "x.csv", code=3, says="text.csv")
    me.cli("select", "genes.csv", "--no-such-option", code=2, says="no-such-option")
    assert not (me.files / "x.csv").exists(), "a failed run left a file"


TASKS: list[tuple[str, Callable[[Newcomer], None]]] = [
    ("install the wheel", install_the_core),
    ("the command line without its extra", command_line_without_its_extra),
    ("parquet without its extra", parquet_without_its_extra),
    ("the README's Python", readme_lines),
    ("--help and --version", help_and_version),
    ("python -m eigensieve", as_a_module),
    ("demo and its report", demo),
    ("cars.csv as it is", cars),
    ("a European CSV", european),
    ("Excel and Parquet", excel_and_parquet),
    ("single cells (.h5ad)", single_cells),
    ("labels, batches", labels_and_batches),
    ("compare on a number to predict", compare_numbers),
    ("compress, C, load", compress_to_c),
    ("map and its report", feature_map),
    ("GridSearchCV over sizes", grid_search),
    ("pandas and polars names", frames),
    ("save, load, apply", save_and_load),
    ("noise: nothing, and says so", noise),
    ("wrong files and options", wrong_files),
    *real_files.TASKS,
]


def main(wheel: str) -> int:
    failures = 0
    with tempfile.TemporaryDirectory(prefix="newcomer-") as folder:
        me = Newcomer(Path(wheel).resolve(), Path(folder))
        (me.home / "files").mkdir()
        subprocess.run([sys.executable, "-m", "venv", str(me.home / "env")], check=True)
        for title, task in TASKS:
            start = time.perf_counter()
            try:
                task(me)
                outcome = "ends well"
            except (AssertionError, OSError) as error:
                failures += 1
                outcome = f"FAILS: {error}"
            print(f"{title:36} {time.perf_counter() - start:6.1f} s  {outcome}", flush=True)
    print(f"{len(TASKS) - failures} of {len(TASKS)} tasks end well")
    return int(failures > 0)


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1]))
