"""The command line against polars and the fit in Python, on the same file, in the same run.

    python benchmarks/cli.py            # 200 x 20,000, 500,000 columns, and 20,000 columns in every format
    python benchmarks/cli.py --method qalpha --repeats 5
    python benchmarks/cli.py --formats  # the formats alone

Whole processes are timed, interpreter and imports included: one that reads the CSV with polars and fits in Python, and
``eigensieve select`` on the same file with a table and weights to write. The target is a ratio of at most 2.

Then ``read_table`` is timed beside the library that owns the format. Both end with the same in memory: a matrix of
numbers, the features' names where the file has them, and the number of missing values. The target is a ratio of at
most 3.
"""

import argparse
import json
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

MOST_IN_EXCEL = 2_000
"""Columns of the workbook: openpyxl takes minutes for more."""

PEER = """
import json, sys, time
start = time.perf_counter()
import polars
read = time.perf_counter()
frame = polars.read_csv(sys.argv[1])
X = frame.drop("sample").to_numpy()
fit = time.perf_counter()
from eigensieve.cli.selection import Fitting
Fitting(sys.argv[2], {"n_features_to_select": 40}).estimator().fit(X)
end = time.perf_counter()
print(json.dumps({"import polars": read - start, "read": fit - read, "fit": end - fit}))
"""


def write_table(path: Path, n_samples: int, n_features: int, n_relevant: int) -> None:
    """Write planted data: three clusters, and the first features show them."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((n_samples, n_features), dtype=np.float32)
    X[:, :n_relevant] += rng.normal(0, 1.5, (3, n_relevant))[np.arange(n_samples) % 3]
    with path.open("w", encoding="ascii") as file:
        file.write("sample," + ",".join(f"gene{i}" for i in range(n_features)) + "\n")
        for i, row in enumerate(X):
            file.write(f"s{i}," + ",".join(np.char.mod("%.5f", row)) + "\n")


def timed(command: list[str]) -> tuple[float, str]:
    """Run a command and return its wall time and output; stop when it fails."""
    start = time.perf_counter()
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    elapsed = time.perf_counter() - start
    if done.returncode:
        sys.exit(f"{' '.join(command[:4])} failed: {done.stderr}")
    return elapsed, done.stdout


def against_polars(folder: Path, method: str, repeats: int) -> None:
    """Compare, in turn, both ways from the file to the features."""
    table = folder / "table.csv"
    write_table(table, 200, 20_000, 20)
    ours = [sys.executable, "-m", "eigensieve", "select", str(table), "--method", method, "-n", "40", "--force"]
    ours += ["-o", str(folder / "out.csv"), "-w", str(folder / "weights.csv"), "--quiet"]
    theirs = [sys.executable, "-c", PEER, str(table), method]
    timed(ours), timed(theirs)  # compiled kernels are cached on disk from here on
    cli, peer, parts = [], [], []
    for _ in range(repeats):
        peer_time, output = timed(theirs)
        peer.append(peer_time)
        parts.append(json.loads(output))
        cli.append(timed(ours)[0])
    size = table.stat().st_size / 1e6
    print(f"200 x 20,000 CSV ({size:.0f} MB), method {method}, median of {repeats} runs in turn")
    for key in parts[0]:
        print(f"  {key:14} {statistics.median(part[key] for part in parts):7.2f} s")
    print(f"  polars + fit   {statistics.median(peer):7.2f} s   whole process")
    print(f"  eigensieve     {statistics.median(cli):7.2f} s   whole process, table and weights written")
    print(f"  ratio          {statistics.median(cli) / statistics.median(peer):7.2f}     (target: at most 2)")


def very_wide(folder: Path, method: str) -> None:
    """A CSV with 500,000 columns goes through."""
    table = folder / "wide.csv"
    write_table(table, 50, 500_000, 5_000)
    command = [sys.executable, "-m", "eigensieve", "select", str(table), "--method", method, "-n", "40", "--json"]
    elapsed, output = timed([*command, "-r", str(folder / "wide.html"), "-m", str(folder / "wide.skops")])
    found = sum(int(name.removeprefix("gene")) < 5_000 for name in json.loads(output)["names"])
    peak = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1e6
    page = (folder / "wide.html").stat().st_size / 1e6
    print(
        f"50 x 500,000 CSV ({table.stat().st_size / 1e6:.0f} MB): {elapsed:.1f} s with report and model, {peak:.1f} GB"
    )
    print(f"  report {page:.1f} MB; {found} of the 40 selected are among the 5,000 planted")


OWN = {
    ".csv": "polars; t = polars.read_csv(path); X, names = t.drop('').to_numpy(), t.columns[1:]",
    ".parquet": "pandas; t = pandas.read_parquet(path); X, names = t.to_numpy(), list(t.columns)",
    ".feather": "pandas; t = pandas.read_feather(path).set_index('index'); X, names = t.to_numpy(), list(t.columns)",
    ".npy": "numpy; X, names = numpy.load(path), None",
    ".npz": "numpy; f = numpy.load(path); X, names = f['X'], f['feature_names'].tolist()",
    ".mat": "scipy.io; X, names = scipy.io.loadmat(path)['X'], None",
    ".svm": "sklearn.datasets; (X, y), names = sklearn.datasets.load_svmlight_file(path), None",
    ".mtx": "scipy.io; X, names = scipy.io.mmread(path).tocsr(), None",
    ".h5ad": "anndata; t = anndata.read_h5ad(path); X, names = t.X, list(t.var_names)",
    ".xlsx": "pandas; t = pandas.read_excel(path, index_col=0); X, names = t.to_numpy(), list(t.columns)",
}
"""Reading in the library that owns the format."""
MISSING = "; import numpy; gaps = int(numpy.isnan(X.data if hasattr(X, 'tocsr') else X).sum())"


def write_formats(folder: Path, X: np.ndarray) -> list[Path]:
    """Write the samples in every format."""
    import anndata
    import pandas
    from scipy.io import mmwrite, savemat
    from scipy.sparse import coo_matrix
    from sklearn.datasets import dump_svmlight_file

    names = [f"gene{i}" for i in range(X.shape[1])]
    frame = pandas.DataFrame(X, columns=names, index=[f"s{i}" for i in range(len(X))])
    places = {ending: folder / f"wide{ending}" for ending in OWN}
    frame.to_csv(places[".csv"])
    frame.to_parquet(places[".parquet"])
    frame.reset_index().to_feather(places[".feather"])
    np.save(places[".npy"], X)
    np.savez(places[".npz"], X=X, feature_names=np.array(names))
    savemat(places[".mat"], {"X": X})
    dump_svmlight_file(X, np.zeros(len(X)), str(places[".svm"]), zero_based=False)
    mmwrite(places[".mtx"], coo_matrix(X))
    anndata.AnnData(frame).write_h5ad(places[".h5ad"])
    frame.iloc[:, :MOST_IN_EXCEL].to_excel(places[".xlsx"])
    return list(places.values())


def every_format(folder: Path, repeats: int, n_features: int = 20_000) -> None:
    """Read a wide table in every format: as a whole process, and once more in a process that has read it before."""
    X = np.random.default_rng(0).standard_normal((57, n_features)).round(5)
    print(f"57 x {n_features:,} in every format, median of {repeats} in turn (Excel: {MOST_IN_EXCEL:,} columns)")
    print(f"  {'':8} {'':10}   {'whole process':^29}   {'read again':^29}")
    for path in write_formats(folder, X):
        codes = ["from eigensieve.tables import read_table; read_table(path)", f"import {OWN[path.suffix]}{MISSING}"]
        starts: list[list[float]] = [[], []]
        again: list[list[float]] = [[], []]
        for repeat in range(repeats + 1):
            for which, code in enumerate(codes):
                process, _ = timed([sys.executable, "-c", f"path = {str(path)!r}; {code}"])
                start = time.perf_counter()
                exec(code, {"path": str(path)})
                if repeat:  # the first one imports, and compiles
                    starts[which].append(process)
                    again[which].append(time.perf_counter() - start)
        figures = [
            f"{ours:7.3f} s {own:7.3f} s {ours / own:8.2f}x"
            for ours, own in (map(statistics.median, both) for both in (starts, again))
        ]
        print(f"  {path.suffix:8} {path.stat().st_size / 1e6:7.1f} MB   {figures[0]}   {figures[1]}", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--method", default="sieve")
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--formats", action="store_true", help="only the formats")
    parser.add_argument("--columns", type=int, default=20_000, help="columns of the formats")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        if not options.formats:
            against_polars(Path(folder), options.method, options.repeats)
            very_wide(Path(folder), options.method)
        every_format(Path(folder), options.repeats, options.columns)


if __name__ == "__main__":
    main()
