"""Tables from a results file: means, costs, and paired tests over the data sets."""

import warnings
from collections import defaultdict
from pathlib import Path

import numpy as np
from scipy.stats import wilcoxon

from .data import is_wide_expression, part_of
from .scoring import METRICS
from .selectors import Selector

HEADLINE = (50, 100, 200)
"""Numbers of features the headline means are taken over."""

EVEN = 0.6
"""Largest share of a class in sets that are shown apart. Beyond it, one large cluster has a high accuracy."""


def table(rows: list[dict], metric: str, counts: tuple[int, ...] = HEADLINE) -> tuple[list[str], list[str], np.ndarray]:
    """Return data names, selector names and the mean over counts and seeds (data x selectors); NaN where not done.

    Sets that have no more features than the least count are left out.
    """
    values: dict[tuple, list[float]] = defaultdict(list)
    narrow = {row["data"]: 0 for row in rows}
    for row in rows:
        if row["count"] in counts and metric in row:
            values[row["data"], row["selector"]].append(row[metric])
            narrow[row["data"]] += row.get("chosen") == row["count"]
    data = [name for name, found in narrow.items() if found]
    selectors = list(dict.fromkeys(row["selector"] for row in rows))
    means = np.array([[np.mean(values[d, s]) if values[d, s] else np.nan for s in selectors] for d in data])
    return data, selectors, means.reshape(len(data), len(selectors))


def holm(p_values: np.ndarray) -> np.ndarray:
    """Holm's adjusted p-values, in the order given."""
    order = np.argsort(p_values)
    steps = p_values[order] * np.arange(len(p_values), 0, -1)
    adjusted = np.empty(len(p_values))
    adjusted[order] = np.minimum(1.0, np.maximum.accumulate(steps))
    return adjusted


def paired_p(ours: np.ndarray, theirs: np.ndarray) -> float:
    """P-value of Wilcoxon's signed-rank test over the sets that both have done."""
    both = ~np.isnan(ours) & ~np.isnan(theirs)
    lead = (ours - theirs)[both]
    return float(wilcoxon(lead).pvalue) if np.count_nonzero(lead) else 1.0


def markdown(rows: list[dict], selectors: dict[str, Selector], ours: str) -> str:
    """One section per part: means, costs and tests, who falls below random features, then every set."""
    parts = {part: [row for row in rows if part_of(row["data"]) == part] for part in ("reported", "files", "chosen-on")}
    parts = {part: some for part, some in parts.items() if some}
    lines = []
    with warnings.catch_warnings():  # means of a selector that has done no set are NaN, and shown as such
        warnings.simplefilter("ignore", RuntimeWarning)
        if {"reported", "files"} <= set(parts):
            lines += ["## reported and files", "", *_overview(parts["reported"] + parts["files"], selectors, ours), ""]
        for part, some in parts.items():
            lines += [f"## {part}", "", *_overview(some, selectors, ours), "", *_by_count(some), ""]
            lines += [*_every_set(some), ""]
    return "\n".join(lines)


def _overview(rows, selectors, ours):
    """Means over all sets and over two kinds of them, and who falls below random features."""
    lines = [*_means(rows, selectors, ours), ""]
    groups = {
        f"Sets without a class of more than {EVEN:.0%} of the samples": lambda row: (
            row.get("largest_class", 1.0) <= EVEN
        ),
        "Wide expression (bulk expression or methylation, at least 10 features per sample)": is_wide_expression,
    }
    for title, belongs in groups.items():
        some = [row for row in rows if belongs(row)]
        if some and table(some, "accuracy")[0]:
            lines += [f"{title}:", "", *_means(some, selectors, ours), ""]
    return lines + _losses(rows, selectors)


def _means(rows, selectors, ours):
    data, names, accuracy = table(rows, "accuracy")
    per = {metric: table(rows, metric)[2] for metric in (*METRICS, "seconds", "megabytes")}
    mine = names.index(ours)
    others = [j for j, name in enumerate(names) if name != ours]
    p = {m: dict(zip(others, holm(np.array([paired_p(per[m][:, mine], per[m][:, j]) for j in others])), strict=True))
         for m in ("accuracy", "nmi")}  # fmt: skip
    counts = ", ".join(str(count) for count in HEADLINE if any(row["count"] == count for row in rows))
    lines = [f"{len(data)} sets, features: {counts}. p: Wilcoxon's test over the sets, Holm's correction."]
    lines += ["", "| | " + " | ".join(METRICS.values()) + " | lead, accuracy | p | lead, NMI | p | s | MB | sets |"]
    lines += ["|---" * (len(METRICS) + 8) + "|"]
    for j in np.argsort(-np.nanmean(accuracy, axis=0)):
        cells = [f"{np.nanmean(per[metric][:, j]):.3f}" for metric in METRICS]
        for metric in ("accuracy", "nmi"):
            lead = np.nanmean(per[metric][:, mine] - per[metric][:, j])
            cells += ["", ""] if j == mine else [f"{lead:+.3f}", f"{p[metric][j]:.3f}"]
        cells += [f"{np.nanmean(per['seconds'][:, j]):.2f}", f"{np.nanmean(per['megabytes'][:, j]):.0f}"]
        note = " (labels)" if selectors[names[j]].supervised else ""
        lines.append(f"| {names[j]}{note} | " + " | ".join(cells) + f" | {np.sum(~np.isnan(accuracy[:, j]))} |")
    peers = [j for j in others if not (selectors[names[j]].supervised or names[j].startswith("sieve"))]
    for metric in ("accuracy", "nmi") if peers else ():
        leads = [np.nanmean(per[metric][:, mine] - per[metric][:, j]) for j in peers]
        chances = [paired_p(per[metric][:, mine], per[metric][:, j]) for j in peers]
        least, worst = int(np.argmin(leads)), int(np.argmax(chances))
        lines += ["", f"{METRICS[metric]}: smallest lead {leads[least]:+.3f} ({names[peers[least]]}), largest p before "
                  f"correction {chances[worst]:.4f} ({names[peers[worst]]})."]  # fmt: skip
    return lines


def _by_count(rows):
    counts = sorted({row["count"] for row in rows})
    names = table(rows, "accuracy", tuple(counts))[1]
    lines = ["| features | " + " | ".join(names) + " |", "|---" * (len(names) + 1) + "|"]
    for count in counts:
        pairs = zip(
            *(np.nanmean(table(rows, metric, (count,))[2], axis=0) for metric in ("accuracy", "nmi")), strict=True
        )
        lines.append(f"| {count} | " + " | ".join(f"{a:.3f} / {b:.3f}" for a, b in pairs) + " |")
    return lines


def _losses(rows, selectors):
    """For every selector, the sets on which it is more than 0.05 below random features."""
    data, names, accuracy = table(rows, "accuracy")
    if "random" not in names:
        return []
    lines = ["More than 0.05 below random features in accuracy:", ""]
    for j, name in enumerate(names):
        lead = accuracy[:, j] - accuracy[:, names.index("random")]
        below = [f"{_title(data[i])} ({lead[i]:+.2f})" for i in np.argsort(lead) if lead[i] < -0.05]
        if name != "random":
            note = " (labels)" if selectors[name].supervised else ""
            lines.append(f"- {name}{note}: {len(below)} of {len(data)}{': ' if below else ''}{', '.join(below)}.")
    return lines


def _every_set(rows):
    data, names, accuracy = table(rows, "accuracy")
    nmi = table(rows, "nmi")[2]
    lines = ["| data | " + " | ".join(names) + " |", "|---" * (len(names) + 1) + "|"]
    for i, name in enumerate(data):
        cells = ["-" if np.isnan(a) else f"{a:.2f} / {b:.2f}" for a, b in zip(accuracy[i], nmi[i], strict=True)]
        lines.append(f"| {_title(name)} | " + " | ".join(cells) + " |")
    return lines


def _title(name: str) -> str:
    """A set's name; of a file, its name without folder and ending."""
    return Path(name).stem if name.endswith(".npz") else name
