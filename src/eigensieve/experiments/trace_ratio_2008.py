"""The experiments of nie-2008: 1-NN accuracy against the number of features, and subset scores (Figures 2 to 4).

``python -m eigensieve.experiments.trace_ratio_2008 FOLDER`` writes the results file, the table and the figures there.

The paper's protocol: 30 training samples per class (5 for the faces), the rest for testing, Euclidean 1-NN on the
selected features, 20 random splits. F-FS and S-FS are the Fisher score at feature and subset level, F-LS and S-LS the
Laplacian score. The paper does not say how features were scaled, so raw values and values scaled to [0, 1] are both
run. With scaling to unit variance, both levels of the Fisher score would be the same.
"""

import argparse
import json
from pathlib import Path
from typing import Any

import numpy as np

from eigensieve._progress import Progress, progress_for, silent
from eigensieve._types import Array
from eigensieve.data import as_data
from eigensieve.experiments.common import complete_set
from eigensieve.graphs import knn_graph
from eigensieve.traceratio import FisherPair, GraphPair, LaplacianPair, diagonals, feature_ranking, trace_ratio_path

UCI = ("vehicle", "ionosphere", "heart_statlog", "german_numeric", "crx", "australian")
FACES = ("ORL_32x32", "UMIST")
METHODS = ("F-FS", "S-FS", "F-LS", "S-LS")
SCALINGS = ("none", "range")


def run(
    n_splits: int = 20,
    data_sets: tuple[str, ...] = UCI + FACES,
    scalings: tuple[str, ...] = SCALINGS,
    progress: Progress = silent,
) -> dict[str, Any]:
    """Run the experiment and return plain results, ready for JSON."""
    results: dict[str, Any] = {"n_splits": n_splits, "curves": []}
    for name in data_sets:
        X, y = complete_set(name, np.nanmedian)
        for scaling in scalings:
            progress(f"{name}, scaling {scaling}")
            results["curves"].append(_curves(name, X, y, scaling, n_splits))
    return results


def table(results: dict[str, Any]) -> str:
    """Return as text how often, and by how much, the subset level beats the feature level.

    In each split, only sizes at which the two levels select different features count.
    """
    lines = [
        "| data | scaling | score | accuracy, feature level | subset level | subset better / equal / worse "
        "| mean difference where they differ |",
        "|---|---|---|---|---|---|---|",
    ]
    totals: dict[str, list[Array]] = {}
    for curve in results["curves"]:
        for score, (feature, subset) in {"Fisher": METHODS[:2], "Laplacian": METHODS[2:]}.items():
            first, second = (np.array(curve["accuracy"][method]) for method in (feature, subset))
            differ = np.array(curve["differ"][score])
            gain = (second - first)[differ]
            totals.setdefault(f"{score}, scaling {curve['scaling']}", []).append(gain)
            lines.append(
                f"| {curve['data']} | {curve['scaling']} | {score} | {first.mean():.4f} | {second.mean():.4f} "
                f"| {_shares(gain)} | {_mean(gain)} |"
            )
    for kind, gains in totals.items():
        gain = np.concatenate(gains)
        lines.append(f"| all | {kind.split()[-1]} | {kind.split(',')[0]} | | | {_shares(gain)} | {_mean(gain)} |")
    return "\n".join(lines)


def draw(results: dict[str, Any], folder: Path) -> list[Path]:
    """Draw the accuracy curves (one figure per scaling) and the subset scores; return the files."""
    from eigensieve._extras import require

    plt = require("matplotlib.pyplot", extra="plot")
    files = []
    for scaling in dict.fromkeys(curve["scaling"] for curve in results["curves"]):
        curves = [curve for curve in results["curves"] if curve["scaling"] == scaling]
        for what, label in (("accuracy", "1-NN accuracy"), ("subset_score", "subset-level score")):
            figure, axes = plt.subplots(
                (len(curves) + 3) // 4, 4, figsize=(15, 3.4 * ((len(curves) + 3) // 4)), squeeze=False
            )
            for ax, curve in zip(axes.flat, curves, strict=False):
                _draw_curve(ax, curve, what)
                ax.set(title=curve["data"], xlabel="number of features", ylabel=label)
            for ax in axes.flat[len(curves) :]:
                ax.set_axis_off()
            axes.flat[0].legend(fontsize=8)
            figure.suptitle(f"{label}, mean of {results['n_splits']} splits, scaling: {scaling}")
            figure.tight_layout()
            files.append(folder / f"trace_ratio_2008_{what}_{scaling}.png")
            figure.savefig(files[-1], dpi=110)
            plt.close(figure)
    return files


def _draw_curve(ax: Any, curve: dict[str, Any], what: str) -> None:
    styles = {"F-FS": ("C0", "--"), "S-FS": ("C0", "-"), "F-LS": ("C3", "--"), "S-LS": ("C3", "-")}
    for method, (color, line) in styles.items():
        values = np.array(curve[what][method]).mean(axis=0)
        ax.plot(curve["sizes"], values, line, color=color, label=method, linewidth=1.3)
    if what == "subset_score":
        ax.set_yscale("log")
    if curve["sizes"][-1] > 100:
        ax.set_xscale("log")


def _curves(name: str, X: Array, y: Array, scaling: str, n_splits: int) -> dict[str, Any]:
    """Return accuracy and subset score of every method per split, for one data set."""
    if scaling == "range":
        spread = np.ptp(X, axis=0)
        X = (X - X.min(axis=0)) / np.where(spread > 0, spread, 1.0)
    n = X.shape[1]
    sizes = np.arange(1, n + 1) if n <= 50 else np.unique(np.geomspace(1, n, 40).round().astype(int))
    accuracy: dict[str, list[Any]] = {method: [] for method in METHODS}
    scores: dict[str, list[Any]] = {method: [] for method in METHODS}
    differ: dict[str, list[Any]] = {"Fisher": [], "Laplacian": []}
    rng = np.random.default_rng(0)
    for _ in range(n_splits):
        train = _split(y, 5 if name in FACES else 30, rng)
        Z, labels = X[train], y[train]
        pairs: dict[str, GraphPair] = {"Fisher": FisherPair(labels), "Laplacian": LaplacianPair(knn_graph(Z, 5))}
        for (kind, pair), (feature, subset) in zip(pairs.items(), (METHODS[:2], METHODS[2:]), strict=True):
            b, e = diagonals(as_data(Z), pair)
            path = trace_ratio_path(b, e)
            ranking = feature_ranking(b, e)
            usable = np.minimum(sizes, len(path.scores))
            chosen = {feature: [ranking[:m] for m in usable], subset: [path.subset(m) for m in usable]}
            differ[kind].append([set(p) != set(s) for p, s in zip(chosen[feature], chosen[subset], strict=True)])
            scores[feature].append(path.feature_level_scores[usable - 1].tolist())
            scores[subset].append(path.scores[usable - 1].tolist())
            for method, subsets in chosen.items():
                accuracy[method].append([_nearest_accuracy(X, y, train, s) for s in subsets])
    return {
        "data": name,
        "scaling": scaling,
        "sizes": sizes.tolist(),
        "accuracy": accuracy,
        "subset_score": scores,
        "differ": differ,
    }


def _split(y: Array, per_class: int, rng: np.random.Generator) -> Array:
    """Return the mask of `per_class` random training samples per class."""
    train = np.zeros(len(y), dtype=bool)
    for c in np.unique(y):
        train[rng.choice(np.flatnonzero(y == c), per_class, replace=False)] = True
    return train


def _nearest_accuracy(X: Array, y: Array, train: Array, features: Array) -> float:
    """Return the accuracy of the Euclidean 1-nearest-neighbour classifier on the given features."""
    Z = X[:, features]
    Z = Z - Z[train].mean(axis=0)
    known, asked = Z[train], Z[~train]
    squared = (known**2).sum(axis=1) - 2 * asked @ known.T
    return float(np.mean(y[train][squared.argmin(axis=1)] == y[~train]))


def _shares(gain: Array) -> str:
    if not len(gain):
        return "the same features always"
    return " / ".join(f"{100 * np.mean(part):.0f} %" for part in (gain > 0, gain == 0, gain < 0))


def _mean(gain: Array) -> str:
    return f"{100 * gain.mean():+.2f} points" if len(gain) else "0"


def main() -> None:
    parser = argparse.ArgumentParser(description="The experiments of nie-2008.")
    parser.add_argument("folder", type=Path, help="where results, table and figures are written")
    parser.add_argument("--splits", type=int, default=20)
    options = parser.parse_args()
    options.folder.mkdir(parents=True, exist_ok=True)
    results = run(options.splits, progress=progress_for("trace_ratio_2008", 2))
    (options.folder / "trace_ratio_2008.json").write_text(json.dumps(results))
    text = table(results)
    (options.folder / "trace_ratio_2008.md").write_text(text + "\n")
    print(text)
    for file in draw(results, options.folder):
        print(file)


if __name__ == "__main__":
    main()
