"""Tables of means over sets, and the verdicts on the targets."""

from collections.abc import Iterable

import numpy as np

from .choosers import CHOOSERS
from .scoring import METRICS

HVG = ("seurat", "cell_ranger", "seurat_v3", "pearson")
KEY = ", batches"
NO_KEY = ("triku", "random", "all")  # these know no batches


def means(rows: list[dict], sets: Iterable[str], chooser: str, metric: str) -> float:
    """Return the mean over the sets of the mean over the numbers of genes."""
    by_set = [
        [row[metric] for row in rows if row["set"] == name and row["chooser"] == chooser and metric in row]
        for name in sets
    ]
    values = [np.mean(some) for some in by_set if some]
    return float(np.mean(values)) if values else float("nan")


def with_key(rows: list[dict]) -> list[dict]:
    """Return the rows as users would have them: with the batch key where a set has batches, else without."""
    batched = {row["set"] for row in rows if row["chooser"].endswith(KEY)}
    kept = [row for row in rows if row["chooser"].endswith(KEY) or row["set"] not in batched]
    plain = [row for row in rows if row["set"] in batched and row["chooser"] in NO_KEY]
    return [row | {"chooser": row["chooser"].removesuffix(KEY)} for row in [*kept, *plain]]


def shared_sets(rows: list[dict], sets: Iterable[str]) -> list[str]:
    """Return the sets on which ours and every flavour have results."""
    done = {(row["set"], row["chooser"]) for row in rows if "nmi" in row}
    return [name for name in sets if all((name, chooser) in done for chooser in ("eigensieve", *HVG))]


def table(rows: list[dict], sets: Iterable[str]) -> str:
    """Return one line per chooser, one column per metric."""
    sets = list(sets)
    lines = ["| genes | " + " | ".join(METRICS) + " |", "|---" * (len(METRICS) + 1) + "|"]
    for chooser in CHOOSERS:
        figures = [means(rows, sets, chooser, metric) for metric in METRICS]
        if not np.isnan(figures[0]):
            cells = " | ".join("" if np.isnan(figure) else f"{figure:.3f}" for figure in figures)
            lines.append(f"| {chooser} | {cells} |")
    return "\n".join(lines)


def by_set(rows: list[dict], sets: Iterable[str], metrics: tuple[str, str] = ("nmi", "ari")) -> str:
    """Return one line per set, one column per chooser."""
    choosers = [chooser for chooser in CHOOSERS if any(row["chooser"] == chooser for row in rows)]
    lines = [f"| set ({' / '.join(metrics)}) | " + " | ".join(choosers) + " |", "|---" * (len(choosers) + 1) + "|"]
    for name in sets:
        cells = [
            " / ".join(f"{means(rows, [name], chooser, metric):.2f}" for metric in metrics) for chooser in choosers
        ]
        lines.append(f"| {name} | " + " | ".join(cells) + " |")
    return "\n".join(lines)


def verdicts(rows: list[dict], sets: Iterable[str]) -> str:
    """Say how far ours is ahead of the best flavour of highly variable genes, per metric."""
    sets, lines = list(sets), []
    for metric, wanted in (("nmi", 0.03), ("ari", 0.03), ("rare", 0.0), ("mixing", 0.0)):
        best = max(HVG, key=lambda flavor: means(rows, sets, flavor, metric))
        lines.append(_verdict(metric, rows, sets, "eigensieve", best, wanted))
    return "\n".join(lines)


def _verdict(metric: str, rows: list[dict], sets: list[str], ours: str, best: str, wanted: float) -> str:
    mine, other = means(rows, sets, ours, metric), means(rows, sets, best, metric)
    word = "ok  " if mine - other >= wanted else "MISS"
    return f"{word} {metric}: {ours} {mine:.3f}, {best} {other:.3f}, lead {mine - other:+.3f} (wanted {wanted:+.2f})"
