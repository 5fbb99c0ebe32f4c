"""The command line against polars and the fit in Python, on the same file, in the same run.

    python benchmarks/cli.py            # 200 x 20,000, and 500,000 columns
    python benchmarks/cli.py --method qalpha --repeats 5

Whole processes are timed, interpreter and imports included: one that reads the CSV with polars and fits in Python, and
``eigensieve select`` on the same file with a table and weights to write. The target is a ratio of at most 2.
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


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--method", default="sieve")
    parser.add_argument("--repeats", type=int, default=3)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        against_polars(Path(folder), options.method, options.repeats)
        very_wide(Path(folder), options.method)


if __name__ == "__main__":
    main()
