"""The pictures: mean ranks, with bars over what paired tests do not tell apart, and ranks by number of features."""

from pathlib import Path

import numpy as np
from scipy.stats import rankdata

from .data import part_of
from .report import holm, paired_p, table
from .scoring import METRICS
from .selectors import Selector


def draw(rows: list[dict], selectors: dict[str, Selector], folder: Path, counts: tuple[int, ...]) -> list[Path]:
    """Draw both pictures for accuracy and NMI on the sets on which nothing was chosen; return the files, if any."""
    rows = [row for row in rows if part_of(row["data"]) != "chosen-on" and not selectors[row["selector"]].supervised]
    if not rows:
        return []
    folder.mkdir(parents=True, exist_ok=True)
    files = []
    for metric in ("accuracy", "nmi"):
        files.append(folder / f"critical_difference_{metric}.svg")
        critical_difference(rows, metric, files[-1])
        files.append(folder / f"mean_rank_{metric}.svg")
        _by_count(rows, metric, counts, files[-1])
    return files


def cliques(means: np.ndarray, level: float = 0.05) -> list[tuple[int, int]]:
    """Return runs (first, last) of columns, ordered by rank, that no pairwise test tells apart (Wilcoxon, Holm).

    Runs inside a longer run are left out.
    """
    k = means.shape[1]
    pairs = [(i, j) for i in range(k) for j in range(i + 1, k)]
    adjusted = holm(np.array([paired_p(means[:, i], means[:, j]) for i, j in pairs]))
    apart = {pair for pair, p in zip(pairs, adjusted, strict=True) if p < level}
    runs: list[tuple[int, int]] = []
    for i in range(k):
        j = i
        while j + 1 < k and not any((a, j + 1) in apart for a in range(i, j + 1)):
            j += 1
        if j > i and not any(first <= i and j <= last for first, last in runs):
            runs.append((i, j))
    return runs


def critical_difference(rows: list[dict], metric: str, file: Path) -> None:
    """Draw mean ranks on a line. A bar joins selectors that the paired tests do not tell apart.

    A selector that has not done every set is left out.
    """
    data, names, means = table(rows, metric)
    done = ~np.isnan(means).any(axis=0)
    names, means = [name for name, whole in zip(names, done, strict=True) if whole], means[:, done]
    ranks = rankdata(-means, axis=1).mean(axis=0)
    order = np.argsort(ranks)
    runs = cliques(means[:, order])
    ranks, names = ranks[order], [names[j] for j in order]
    plt = _pyplot()
    half = (len(names) + 1) // 2
    fig, ax = plt.subplots(figsize=(8, 1.2 + 0.28 * half + 0.12 * len(runs)), layout="constrained")
    low, high = ranks.min() - 0.6, ranks.max() + 0.6
    ax.set_xlim(low, high)
    depth = 0.35 * len(runs) + 0.6
    for i, (rank, name) in enumerate(zip(ranks, names, strict=True)):
        left = i < half
        row = depth + (i if left else len(names) - 1 - i)
        edge = low if left else high
        ax.plot([rank, rank, edge], [0, row, row], color="black", linewidth=0.8)
        text = f"{name} {rank:.2f}" if left else f"{rank:.2f} {name}"
        ax.text(edge, row - 0.08, text, ha="left" if left else "right", va="bottom", fontsize=8)
    for level, (first, last) in enumerate(runs):
        ax.plot([ranks[first] - 0.03, ranks[last] + 0.03], [0.3 + 0.35 * level] * 2, color="tab:red", linewidth=3)
    ax.set_ylim(depth + half, -0.2)
    ax.xaxis.tick_top()
    ax.spines[["left", "right", "bottom"]].set_visible(False)
    ax.set_yticks([])
    ax.set_title(
        f"mean rank by {METRICS[metric]} on {len(data)} sets; red: not told apart (Wilcoxon, Holm, 5 %)", fontsize=9
    )
    fig.savefig(file)
    plt.close(fig)


def _by_count(rows: list[dict], metric: str, counts: tuple[int, ...], file: Path) -> None:
    plt = _pyplot()
    fig, ax = plt.subplots(figsize=(7, 4.5), layout="constrained")
    ax.set_prop_cycle(color=plt.get_cmap("tab20").colors)
    tables = [table(rows, metric, (count,)) for count in counts]
    lines = np.array([rankdata(-means, axis=1, nan_policy="omit").mean(axis=0) for _, _, means in tables])
    for name, line in zip(tables[0][1], lines.T, strict=True):
        if np.isnan(line).any():
            continue
        ax.plot(counts, line, "o-", label=name, linewidth=3 if name.startswith("sieve") else 1)
    ax.set_xscale("log")
    ax.set_xticks(counts, [str(c) for c in counts])
    ax.minorticks_off()
    ax.invert_yaxis()
    ax.set_xlabel("features chosen")
    ax.set_ylabel(f"mean rank by {METRICS[metric]}")
    ax.legend(fontsize=8, loc="center left", bbox_to_anchor=(1.0, 0.5))
    fig.savefig(file)
    plt.close(fig)


def _pyplot():
    import matplotlib

    matplotlib.use("Agg")
    matplotlib.rcParams["svg.hashsalt"] = "eigensieve"  # the same file on every run
    import matplotlib.pyplot as plt

    return plt
