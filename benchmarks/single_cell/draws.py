"""Real sets through the noise: the choosers on random 80 % of the cells, several draws, several seeds of k-means.

``python -m benchmarks.single_cell.draws --half report`` prints the means over the sets, and how far ours is ahead,
paired over the sets, with standard errors over the sets. ``--data NAME.npz`` adds sets. No batch key is used without
``--batches``.
"""

import argparse
import json
from pathlib import Path

import numpy as np

from eigensieve import SieveSelector

from .choosers import CHOOSERS, WITH_BATCHES, Chooser
from .data import REAL, Cells, chosen_on, load, normalized, read
from .run import COUNTS, counts_for
from .scoring import score

SHARE, MOST = 0.8, 2_000  # of the cells in one draw
METRICS = ("nmi", "ari", "leiden_nmi", "leiden_ari", "transfer")


def plain_sieve(cells: Cells, count: int, seed: int) -> np.ndarray:
    """Choose by the sieve for any data, on standardised logarithms."""
    Z = np.asarray(cells.log.todense(), dtype=np.float64)
    deviation = Z.std(axis=0)
    Z = (Z - Z.mean(axis=0)) / np.where(deviation > 0, deviation, 1.0)
    return np.asarray(SieveSelector(count, random_state=seed).fit(Z).selection_order_)


ALL: dict[str, Chooser] = CHOOSERS | {"sieve": plain_sieve}


def drawn(cells: Cells, draw: int, keyed: bool) -> Cells:
    """Return a random part of the cells, log-normalised anew where the set does not come as logarithms."""
    n_cells = len(cells.labels)
    rows = np.sort(np.random.default_rng([draw, 77]).permutation(n_cells)[: min(MOST, round(SHARE * n_cells))])
    counts = cells.counts[rows]
    log = cells.log[rows] if cells.as_given else normalized(counts)
    labels = np.unique(cells.labels[rows], return_inverse=True)[1].reshape(-1)
    batches = cells.batches[rows] if keyed and cells.batches is not None else None
    return Cells(cells.name, counts, log, cells.are_counts, labels, batches)


def measure(path: Path, sets: list[str | Path], choosers: list[str], arguments: argparse.Namespace) -> list[dict]:
    """Add what the results file lacks, one row per set, draw and chooser: means over numbers of genes and seeds."""
    rows = [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []
    done = {(row["set"], row["draw"], row["chooser"]) for row in rows}
    for given in sets:
        whole = load(given) if isinstance(given, str) else read(given)
        name = whole.name
        for draw in range(arguments.draws):
            cells = drawn(whole, draw, arguments.batches)
            for chooser in choosers:
                if (name, draw, chooser) in done:
                    continue
                choose = (cells.batches is not None and WITH_BATCHES.get(f"{chooser}, batches")) or ALL[chooser]
                found = [
                    score(cells, genes, seed)
                    for count in counts_for(cells.counts.shape[1], arguments.counts)
                    for genes in [choose(cells, count, draw)]
                    for seed in range(arguments.seeds)
                ]
                row = {"set": name, "draw": draw, "chooser": chooser}
                row |= {metric: float(np.mean([some[metric] for some in found])) for metric in METRICS}
                rows.append(row)
                with path.open("a") as stream:
                    stream.write(json.dumps(row) + "\n")
                print(f"{name} draw {draw} {chooser} nmi {row['nmi']:.3f} ari {row['ari']:.3f}")
    return rows


def by_set(rows: list[dict], sets: list[str], chooser: str, metric: str) -> np.ndarray:
    """Return the mean over the draws, per set."""
    return np.array(
        [np.mean([row[metric] for row in rows if (row["set"], row["chooser"]) == (name, chooser)]) for name in sets]
    )


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.single_cell.draws", description=__doc__)
    parser.add_argument("--results", type=Path, required=True, help="results file (JSON lines), resumed when it exists")
    parser.add_argument("--half", choices=["choose", "report"], default="report")
    parser.add_argument("--sets", nargs="+", choices=REAL, help="instead of a half")
    parser.add_argument("--data", nargs="+", type=Path, default=[], help="more sets, NAME.npz: X, y, batch and base")
    parser.add_argument("--batches", action="store_true", help="name the batches to the choosers that can be told")
    parser.add_argument("--counts", nargs="+", type=int, default=list(COUNTS), help="numbers of genes")
    parser.add_argument("--choosers", nargs="+", choices=ALL, default=[name for name in ALL if name != "triku"])
    parser.add_argument("--draws", type=int, default=5)
    parser.add_argument("--seeds", type=int, default=2)
    arguments = parser.parse_args()
    named = arguments.sets or [name for name in REAL if chosen_on(name) == (arguments.half == "choose")]
    rows = measure(arguments.results, [*named, *arguments.data], arguments.choosers, arguments)
    sets = [*named, *(file.stem for file in arguments.data)]
    print("\n| genes | " + " | ".join(METRICS) + " |\n" + "|---" * (len(METRICS) + 1) + "|")
    for chooser in arguments.choosers:
        print(f"| {chooser} | " + " | ".join(f"{by_set(rows, sets, chooser, m).mean():.3f}" for m in METRICS) + " |")
    for chooser in arguments.choosers:
        if chooser != "eigensieve" and "eigensieve" in arguments.choosers and len(sets) > 1:
            leads = [by_set(rows, sets, "eigensieve", m) - by_set(rows, sets, chooser, m) for m in METRICS]
            error = np.sqrt(len(sets))
            print(f"lead over {chooser}: " + ", ".join(f"{d.mean():+.3f} ({d.std(ddof=1) / error:.3f})" for d in leads))


if __name__ == "__main__":
    main()
