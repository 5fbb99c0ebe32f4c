"""Genes for integration: the metrics of the 2025 benchmark on sets with batches, for every way to choose genes.

``python -m benchmarks.single_cell.integration --data NAME.npz ... --results FILE`` prints the means over the sets. Each
file holds counts (X, or the parts of a CSR matrix), y and batch. Flavours and ours are told the batches. ``--harmony``
integrates the components by harmonypy; without it they are left as they are. Mapping and unseen types: genes and
components come from all batches but the smallest, which is projected onto them. For unseen types the most frequent type
of that batch is left out of the others.
"""

import argparse
import json
from pathlib import Path

import numpy as np
from sklearn.cluster import KMeans
from sklearn.metrics import adjusted_rand_score, f1_score, normalized_mutual_info_score
from sklearn.neighbors import NearestNeighbors

from . import atlas
from .choosers import CHOOSERS, WITH_BATCHES
from .data import Cells, normalized, read
from .run import COUNTS, counts_for
from .scoring import components, leiden_clusters, majority, pca, scaled

BATCHES = ("batch_pcr", "ilisi", "connectivity", "cms")
BIOLOGY = ("clisi", "bnmi", "isolated_f1", "isolated_asw", "ldf_diff")
CLUSTERS = ("nmi", "ari", "leiden_nmi", "leiden_ari", "coarse_nmi", "coarse_ari")
MAPPING = ("mapped_f1", "mapped_lisi", "unseen")
_RESOLUTIONS = (0.2, 0.5, 1.0, 1.5, 2.0)
_WIDE, _NARROW = 90, 15  # neighbours for LISI, for graphs
_DIMENSIONS = 10  # components of local densities


def part_of(cells: Cells, rows: np.ndarray) -> Cells:
    """Some of the cells, log-normalised anew; one batch alone is no batch."""
    counts, b = cells.counts[rows], cells.batches[rows]
    several = len(np.unique(b)) > 1
    return Cells(cells.name, counts, normalized(counts), True, cells.labels[rows], b if several else None)


def choose(cells: Cells, chooser: str, count: int) -> np.ndarray:
    keyed = WITH_BATCHES.get(f"{chooser}, batches") if cells.batches is not None else None
    return (keyed or CHOOSERS[chooser])(cells, count, 0)


def integrated(P: np.ndarray, b: np.ndarray) -> np.ndarray:
    """Components with the batches moved onto one another by Harmony."""
    import harmonypy
    import pandas as pd

    return harmonypy.run_harmony(
        P, pd.DataFrame({"batch": b.astype(str)}), ["batch"], random_state=0, verbose=False
    ).Z_corr.T


def integration_scores(cells: Cells, genes: np.ndarray, plain: dict, harmony: bool) -> dict[str, float]:
    """Score the components of the chosen genes. `plain` is what `references` found."""
    y, b = cells.labels, cells.batches
    P = components(cells, genes)
    P = integrated(P, b) if harmony else P
    distances, near = atlas.neighbours(P, _WIDE)
    graph = near[:, :_NARROW]
    clusterings = [leiden_clusters(graph, 0, resolution) for resolution in _RESOLUTIONS]
    means = KMeans(int(y.max()) + 1, n_init=10, random_state=0).fit_predict(P)
    scores = {
        "batch_pcr": max(0.0, 1.0 - atlas.explained_by_batches(P, b) / plain["pcr"]),
        "ilisi": atlas.scaled_lisi(distances, near, b, mixed=True),
        "connectivity": atlas.graph_connectivity(graph, y),
        "cms": atlas.cell_mixing(near, b),
        "clisi": atlas.scaled_lisi(distances, near, y, mixed=False),
        "bnmi": max(atlas.balanced_nmi(y, found) for found in clusterings),
        "isolated_f1": atlas.isolated_f1(y, b, clusterings),
        "isolated_asw": atlas.isolated_silhouette(P, y, b),
        "ldf_diff": atlas.density_kept(P[:, :_DIMENSIONS], plain["batches"], b),
    }
    for name, found in (("", means), ("leiden_", clusterings[2]), ("coarse_", clusterings[1])):
        scores[f"{name}nmi"] = normalized_mutual_info_score(y, found)
        scores[f"{name}ari"] = adjusted_rand_score(y, found)
    return {name: float(value) for name, value in scores.items()}


def references(cells: Cells) -> dict:
    """What choices are compared with: all genes, of all cells and of each batch alone."""
    every = np.arange(cells.counts.shape[1])
    alone = {
        int(batch): components(part_of(cells, cells.batches == batch), every)[:, :_DIMENSIONS]
        for batch in np.unique(cells.batches)
    }
    return {"pcr": atlas.explained_by_batches(components(cells, every), cells.batches), "batches": alone}


def mapping_scores(cells: Cells, chooser: str, count: int) -> dict[str, float]:
    """Project the smallest batch onto the others, with all types, and without its most frequent type."""
    query = cells.batches == np.bincount(cells.batches).argmin()
    P, Q, reference = _projected(cells, ~query, query, chooser, count)
    near = NearestNeighbors(n_neighbors=min(_NARROW, len(P))).fit(P).kneighbors(Q, return_distance=False)
    guessed = majority(reference.labels[near])
    both, side = np.vstack([P, Q]), np.repeat([0, 1], [len(P), len(Q)])
    distances, around = atlas.neighbours(both, _WIDE)
    frequent = np.bincount(cells.labels[query]).argmax()
    P, Q, _ = _projected(cells, ~query & (cells.labels != frequent), query, chooser, count)
    return {
        "mapped_f1": float(f1_score(cells.labels[query], guessed, average="macro")),
        "mapped_lisi": atlas.scaled_lisi(distances, around, side, mixed=True),
        "unseen": atlas.unseen_apart(P, Q, cells.labels[query] == frequent),
    }


def _projected(cells: Cells, rows: np.ndarray, query: np.ndarray, chooser: str, count: int) -> tuple:
    reference, other = part_of(cells, rows), part_of(cells, query)
    genes = choose(reference, chooser, count)
    A, B = (scaled(some, genes) for some in (reference, other))  # each by itself, as batches shift genes
    found = pca(A)
    return found.transform(A), found.transform(B), reference


def run(path: Path, files: list[Path], choosers: list[str], counts: list[int], harmony: bool) -> list[dict]:
    """Add what the results file lacks, and return its rows."""
    rows = [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []
    done = {(row["set"], row["chooser"], row["count"], row["harmony"]) for row in rows}
    for file in files:
        cells = read(file)
        plain = references(cells)
        for count in counts_for(cells.counts.shape[1], counts):
            for chooser in choosers:
                if (cells.name, chooser, count, harmony) in done:
                    continue
                row = {"set": cells.name, "chooser": chooser, "count": count, "harmony": harmony}
                row |= integration_scores(cells, choose(cells, chooser, count), plain, harmony)
                if not harmony:
                    row |= mapping_scores(cells, chooser, count)
                rows.append(row)
                with path.open("a") as stream:
                    stream.write(json.dumps(row) + "\n")
                print(f"{cells.name} {chooser} {count} bnmi {row['bnmi']:.3f} ilisi {row['ilisi']:.3f}", flush=True)
    return rows


def table(rows: list[dict], metrics: tuple[str, ...]) -> str:
    """One line per chooser: means over numbers of genes, then over sets."""
    lines = ["| genes | " + " | ".join(metrics) + " |", "|---" * (len(metrics) + 1) + "|"]
    sets = list(dict.fromkeys(row["set"] for row in rows))
    for chooser in dict.fromkeys(row["chooser"] for row in rows):
        cells = []
        for metric in metrics:
            by_set = [[row[metric] for row in rows if (row["set"], row["chooser"]) == (name, chooser)] for name in sets]
            cells.append(f"{np.mean([np.mean(some) for some in by_set if some]):.3f}")
        lines.append(f"| {chooser} | " + " | ".join(cells) + " |")
    return "\n".join(lines)


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.single_cell.integration", description=__doc__)
    parser.add_argument("--data", nargs="+", type=Path, required=True, help="NAME.npz with X, y and batch")
    parser.add_argument("--results", type=Path, required=True, help="results file (JSON lines), resumed when it exists")
    parser.add_argument("--choosers", nargs="+", choices=CHOOSERS, default=list(CHOOSERS))
    parser.add_argument("--counts", nargs="+", type=int, default=list(COUNTS), help="numbers of genes")
    parser.add_argument("--harmony", action="store_true", help="integrate by harmonypy")
    arguments = parser.parse_args()
    rows = run(arguments.results, arguments.data, arguments.choosers, arguments.counts, arguments.harmony)
    rows = [row for row in rows if row["harmony"] == arguments.harmony and row["chooser"] in arguments.choosers]
    groups = (BATCHES, BIOLOGY, CLUSTERS) if arguments.harmony else (BATCHES, BIOLOGY, CLUSTERS, MAPPING)
    print(f"\n{len({row['set'] for row in rows})} sets\n\n" + "\n\n".join(table(rows, group) for group in groups))


if __name__ == "__main__":
    main()
