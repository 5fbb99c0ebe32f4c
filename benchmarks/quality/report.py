"""Tables and pictures from a results file: means, wins over random, mean ranks and critical differences."""

from collections import defaultdict
from pathlib import Path

import numpy as np
from scipy.stats import rankdata, studentized_range

from .scoring import METRICS
from .selectors import SELECTORS

HEADLINE = (50, 100, 200)
"""Numbers of features the headline means are taken over."""


def table(rows: list[dict], metric: str, counts: tuple[int, ...] = HEADLINE) -> tuple[list[str], list[str], np.ndarray]:
    """Return data names, selector names and the mean over counts and seeds (data x selectors); NaN where not done."""
    values: dict[tuple, list[float]] = defaultdict(list)
    for row in rows:
        if row["count"] in counts and metric in row:
            values[row["data"], row["selector"]].append(row[metric])
    data = list(dict.fromkeys(row["data"] for row in rows))
    selectors = [name for name in SELECTORS if any((d, name) in values for d in data)]
    means = np.array([[np.mean(values[d, s]) if values[d, s] else np.nan for s in selectors] for d in data])
    return data, selectors, means


def markdown(rows: list[dict], counts: tuple[int, ...] = HEADLINE) -> str:
    """The means of every selector, then accuracy / NMI on every data set."""
    data, selectors, accuracy = table(rows, "accuracy", counts)
    lines = [f"Mean over {len(data)} data sets and {', '.join(map(str, counts))} features.", ""]
    lines += ["| selector | accuracy | NMI | ARI | 1-NN | sets done |", "|---|---|---|---|---|---|"]
    per_metric = {metric: table(rows, metric, counts)[2] for metric in METRICS}
    complete = ~np.isnan(accuracy).any(axis=0)
    for j in np.argsort(-np.nanmean(accuracy, axis=0)):
        cells = " | ".join(f"{np.nanmean(per_metric[metric][:, j]):.3f}" for metric in METRICS)
        star = "" if complete[j] else " (not comparable)"
        lines.append(f"| {selectors[j]}{star} | {cells} | {np.count_nonzero(~np.isnan(accuracy[:, j]))} |")
    lines += ["", "Accuracy / NMI on every data set.", ""]
    lines += ["| data | " + " | ".join(selectors) + " |", "|---" * (len(selectors) + 1) + "|"]
    for i, name in enumerate(data):
        cells = [
            "-" if np.isnan(a) else f"{a:.2f} / {b:.2f}" for a, b in zip(accuracy[i], per_metric["nmi"][i], strict=True)
        ]
        lines.append(f"| {name} | " + " | ".join(cells) + " |")
    return "\n".join(lines) + "\n"


def verdicts(rows: list[dict], ours: str) -> str:
    """Margins over the peers and the number of sets on which we beat the mean of random draws."""
    lines = []
    _, selectors, accuracy = table(rows, "accuracy")
    nmi = table(rows, "nmi")[2]
    if ours not in selectors:
        return ""
    me = selectors.index(ours)
    for j, name in enumerate(selectors):
        both = ~np.isnan(accuracy[:, j])
        if name in (ours, "sieve", "sieve-k") or SELECTORS[name].supervised or not both.any():
            continue
        a = np.mean(accuracy[both, me] - accuracy[both, j])
        b = np.mean(nmi[both, me] - nmi[both, j])
        wins = np.count_nonzero(accuracy[both, me] > accuracy[both, j])
        wins_nmi = np.count_nonzero(nmi[both, me] > nmi[both, j])
        lines.append(
            f"{ours} - {name}: accuracy {a:+.3f}, NMI {b:+.3f}; better on {wins} / {wins_nmi} of {both.sum()} sets"
        )
    return "\n".join(lines) + "\n"


def critical_difference(n_selectors: int, n_data: int, level: float = 0.05) -> float:
    """Nemenyi's critical difference of mean ranks: q sqrt(k (k + 1) / (6 N))."""
    q = studentized_range.ppf(1.0 - level, n_selectors, np.inf) / np.sqrt(2.0)
    return float(q * np.sqrt(n_selectors * (n_selectors + 1) / (6.0 * n_data)))


def _ranks_by_count(rows: list[dict], metric: str, counts: tuple[int, ...], names: list[str]) -> dict[str, list[float]]:
    """Mean rank at every count, among those of `names` that were run on all data sets at all counts."""
    tables = [table(rows, metric, (count,)) for count in counts]
    present = [dict(zip(selectors, values.T, strict=True)) for _, selectors, values in tables]
    complete = [n for n in names if all(n in columns and not np.isnan(columns[n]).any() for columns in present)]
    ranks = [rankdata([-columns[n] for n in complete], axis=0).mean(axis=1) for columns in present]
    return {name: [float(rank[j]) for rank in ranks] for j, name in enumerate(complete)}


def draw(rows: list[dict], folder: Path, counts: tuple[int, ...]) -> list[Path]:
    """Draw mean rank against number of features, and the critical-difference diagram; return the files."""
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    folder.mkdir(parents=True, exist_ok=True)
    files = []
    for metric in ("accuracy", "nmi"):
        data, selectors, means = table(rows, metric)
        fair = [
            j for j, name in enumerate(selectors) if not SELECTORS[name].supervised and not np.isnan(means[:, j]).any()
        ]
        names = [selectors[j] for j in fair]
        ranks = rankdata(-means[:, fair], axis=1).mean(axis=0)
        fig, ax = plt.subplots(figsize=(7, 0.32 * len(names) + 1.2), layout="constrained")
        order = np.argsort(ranks)
        ax.plot(ranks[order], range(len(order)), "o", color="black")
        ax.set_yticks(range(len(order)), [names[j] for j in order])
        ax.invert_yaxis()
        width = critical_difference(len(names), len(data))
        ax.axvspan(ranks.min(), ranks.min() + width, color="0.9", zorder=0)
        ax.set_xlabel(f"mean rank by {metric} on {len(data)} sets; grey: not different from the best ({width:.1f})")
        files.append(folder / f"critical_difference_{metric}.png")
        fig.savefig(files[-1], dpi=120)
        plt.close(fig)

        fig, ax = plt.subplots(figsize=(7, 4.5), layout="constrained")
        lines = _ranks_by_count(rows, metric, counts, names)
        ax.set_prop_cycle(color=plt.get_cmap("tab20").colors)
        for name, line in lines.items():
            ax.plot(counts, line, "o-", label=name, linewidth=3 if name.startswith("sieve") else 1)
        ax.set_xscale("log")
        ax.set_xticks(counts, [str(c) for c in counts])
        ax.invert_yaxis()
        ax.set_xlabel("features chosen")
        ax.set_ylabel(f"mean rank by {metric}")
        ax.legend(fontsize=8, loc="center left", bbox_to_anchor=(1.0, 0.5))
        files.append(folder / f"mean_rank_{metric}.png")
        fig.savefig(files[-1], dpi=120)
        plt.close(fig)
    return files
