"""Tables of means over sets, and the verdicts on what was to be reached."""

from collections.abc import Iterable

import numpy as np

from .choosers import CHOOSERS, WITH_BATCHES
from .data import load
from .scoring import METRICS

HVG = ("seurat", "cell_ranger", "seurat_v3", "pearson")


def means(rows: list[dict], sets: Iterable[str], chooser: str, metric: str, paired: str | None = None) -> float:
    """Return the mean over the sets of the mean over the numbers of genes."""
    by_set = [
        [row[metric] for row in rows if row["set"] == name and row["chooser"] == chooser and metric in row]
        for name in sets
    ]
    values = [np.mean(some) for some in by_set if some]
    return float(np.mean(values)) if values else float("nan")


def table(rows: list[dict], sets: Iterable[str]) -> str:
    """Return one line per chooser, one column per metric."""
    sets = list(sets)
    lines = ["| genes | " + " | ".join(METRICS) + " |", "|---" * (len(METRICS) + 1) + "|"]
    for chooser in [*CHOOSERS, *WITH_BATCHES]:
        figures = [means(rows, sets, chooser, metric) for metric in METRICS]
        if not np.isnan(figures[0]):
            cells = " | ".join("" if np.isnan(figure) else f"{figure:.3f}" for figure in figures)
            lines.append(f"| {chooser} | {cells} |")
    return "\n".join(lines)


def verdicts(rows: list[dict], sets: Iterable[str]) -> str:
    """Say how far ours is ahead of the best flavour of highly variable genes."""
    sets, lines = list(sets), []
    for metric, wanted in (("nmi", 0.03), ("ari", 0.03), ("rare", 0.0)):
        best = max(HVG, key=lambda flavor: means(rows, sets, flavor, metric))
        lines.append(_verdict(metric, rows, sets, "eigensieve", best, wanted))
    batched = [name for name in sets if load(name).batches is not None]
    best = max(HVG, key=lambda flavor: means(rows, batched, f"{flavor}, batches", "mixing"))
    for metric in ("mixing", "nmi", "ari"):
        wanted = 0.0 if metric == "mixing" else 0.03
        best = max((f"{flavor}, batches" for flavor in HVG), key=lambda flavor: means(rows, batched, flavor, metric))
        lines.append(_verdict(metric, rows, batched, "eigensieve, batches", best, wanted))
    return "\n".join(lines)


def _verdict(metric: str, rows: list[dict], sets: list[str], ours: str, best: str, wanted: float) -> str:
    mine, other = means(rows, sets, ours, metric), means(rows, sets, best, metric)
    word = "ok  " if mine - other >= wanted else "MISS"
    return f"{word} {metric}: {ours} {mine:.3f}, {best} {other:.3f}, lead {mine - other:+.3f} (wanted {wanted:+.2f})"
