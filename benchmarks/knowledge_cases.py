"""Cases made for ``knowledge.py``: unwanted variation, pairs, and false discoveries of the automatic number."""

import argparse
import warnings
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from scipy.optimize import linear_sum_assignment
from scipy.stats import binomtest, rankdata
from sklearn.cluster import KMeans

from eigensieve import QAlphaSelector, SieveSelector
from eigensieve.data import as_data
from eigensieve.datasets import load_real, make_planted_clusters, make_two_solutions
from eigensieve.sieve.unwanted import Unwanted, clean
from knowledge_peers import best_by_f, load, standard, top

COUNT = 100

Clustered = dict[str, list[np.ndarray]]
"""Per way to select: which samples k-means puts right, on the columns as they are and on the cleaned ones."""


def well_clustered(X: np.ndarray, y: np.ndarray) -> np.ndarray:
    """Tell which samples' k-means cluster is their class, under the best matching."""
    k = int(y.max()) + 1
    table = np.zeros((k, k))
    labels = KMeans(k, n_init=5, random_state=0).fit_predict(X)
    np.add.at(table, (labels, y), 1)
    return linear_sum_assignment(-table)[1][labels] == y


def clustering_accuracy(X: np.ndarray, y: np.ndarray) -> float:
    return float(well_clustered(X, y).mean())


def order_of(X: np.ndarray, y: np.ndarray | None = None, count: int = COUNT, **known: Any) -> np.ndarray:
    return SieveSelector(count, random_state=0).fit(X, y, **known).selection_order_


def without_means(X: np.ndarray, groups: np.ndarray) -> np.ndarray:
    X = np.array(X, dtype=float)
    for group in np.unique(groups):
        X[groups == group] -= X[groups == group].mean(axis=0)
    return X


# ---- unwanted variation


def variable_within_batches(X: np.ndarray, batches: np.ndarray) -> np.ndarray:
    """Highly variable genes with a batch key: variance above that of genes with a like mean, ranked per batch."""
    ranks = []
    for batch in np.unique(batches):
        mean, spread = X[batches == batch].mean(axis=0), np.log(X[batches == batch].var(axis=0) + 1e-9)
        bins = (rankdata(mean) * 20 / (len(mean) + 1)).astype(int)
        centers = np.array([np.median(spread[bins == b]) if (bins == b).any() else 0.0 for b in range(20)])
        ranks.append(rankdata(-(spread - centers[bins])))
    return top(-np.median(ranks, axis=0), COUNT)


def batch_case(X: np.ndarray, y: np.ndarray, batches: np.ndarray) -> Clustered:
    C = without_means(X, batches)
    orders = {
        "sieve with batches": order_of(X, batches=batches),
        "sieve without them": order_of(X),
        "batch means removed + sieve": order_of(C),
        "variance ratio within / all": top(C.var(axis=0) / np.maximum(X.var(axis=0), 1e-12), COUNT),
        "HVG within batches": variable_within_batches(X, batches),
        "knows y: sieve with batches": order_of(X, y, batches=batches),
        "knows y: regress-out + F-test": best_by_f(standard(C), y, COUNT),
    }
    return _clustered(orders, X, C, y)


def shifted(X: np.ndarray, y: np.ndarray, seed: int) -> Clustered:
    """Two batches, drawn by chance; one of them is shifted in 30 % of the genes."""
    rng = np.random.default_rng(seed)
    batches = rng.permutation(len(y)) % 2
    shift = (rng.random(X.shape[1]) < 0.3) * rng.normal(0, 2, X.shape[1]) * X.std(axis=0)
    return batch_case(X + np.outer(batches, shift), y, batches)


def face_case(X: np.ndarray, y: np.ndarray, seed: int, *, centred: bool) -> Clustered:
    """Half of the persons, drawn by chance, are the data; the others under all lights are the side data."""
    persons = np.random.default_rng(seed).permutation(y.max() + 1)
    here = np.isin(y, persons[: len(persons) // 2])
    A, side = X[here], without_means(X[~here], y[~here]) if centred else X[~here]
    who = np.unique(y[here], return_inverse=True)[1]
    found = clean(as_data(A).standardized("center"), A.std(axis=0) > 0, Unwanted(side=as_data(side)))
    C = np.asarray(found.data.take(np.arange(A.shape[1])))
    ratio = side.var(axis=0) / np.maximum(A.var(axis=0), 1e-12)
    orders = {
        "sieve with side data": order_of(A, side=side),
        "sieve without": order_of(A),
        "variance ratio data / side": top(-ratio, COUNT),
        "knows who: sieve with side data": order_of(A, who, side=side),
        "knows who: F-test on cleaned columns": best_by_f(standard(C), who, COUNT),
    }
    return _clustered(orders, A, C, who)


def _clustered(orders: dict[str, np.ndarray], X: np.ndarray, C: np.ndarray, y: np.ndarray) -> Clustered:
    return {name: [well_clustered(standard(data[:, order]), y) for data in (X, C)] for name, order in orders.items()}


def show(title: str, draws: list[Clustered]) -> None:
    """Print the mean over draws with its standard error, the single draws, and a test over samples.

    The draws are shifts of the same samples. Whether a difference says anything beyond these samples is what McNemar's
    test tells: of the samples that only one of two ways puts right, half should be each one's. It compares with the
    sieve, or with the sieve that knows y, each on its better columns. p is the median over draws.
    """
    print(f"\n{title}, {len(draws)} draws\n")
    print("| selection | columns as they are | cleaned columns | draws, the better of both | samples apart, p |")
    print("|---|---|---|---|---|")
    for name in draws[0]:
        values = np.array([[right.mean() for right in draw[name]] for draw in draws])
        errors = values.std(axis=0, ddof=1) / np.sqrt(len(values)) if len(values) > 1 else np.full(2, np.nan)
        cells = [f"{mean:.3f} ± {error:.3f}" for mean, error in zip(values.mean(axis=0), errors, strict=True)]
        singles = " ".join(f"{value:.3f}" for value in values.max(axis=1))
        sieve = next(n for n in draws[0] if n.startswith("knows") == name.startswith("knows"))
        apart = "" if name == sieve else _apart(draws, name, sieve)
        print(f"| {name} | {cells[0]} | {cells[1]} | {singles} | {apart} |", flush=True)


def _apart(draws: list[Clustered], name: str, sieve: str) -> str:
    found = []
    for draw in draws:
        theirs, ours = (max(draw[n], key=np.mean) for n in (name, sieve))
        lost, won = int((theirs & ~ours).sum()), int((ours & ~theirs).sum())
        found.append((won - lost, binomtest(won, won + lost).pvalue if won + lost else 1.0))
    difference, p = np.median(found, axis=0)
    return f"{difference:+.0f}, {p:.2g}"


def unwanted(args: argparse.Namespace) -> None:
    """k-means accuracy on 100 features."""
    seeds = range(5) if args.part == "choose" else range(100, 105)
    for name in ("pollen", "mESC_buettner"):
        X, y = load(name, args.cap)
        show(f"{name} with a shift in 30 % of the genes", [shifted(X, y, seed) for seed in seeds])
    bunch = load_real("stemcells_mint")
    y = np.unique(bunch.target, return_inverse=True)[1]
    show("stemcells_mint, four studies", [batch_case(bunch.data.astype(float), y, bunch.batch)])
    for name in ("warpPIE10P", "Yale_32x32"):
        bunch = load_real(name)
        X, y = bunch.data.astype(float), np.unique(bunch.target, return_inverse=True)[1]
        for centred, kind in ((True, "each person's mean taken off"), (False, "as it is")):
            show(f"{name}, side data {kind}", [face_case(X, y, seed, centred=centred) for seed in seeds])
    bunch = load_real("bladderbatch")
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        order_of(bunch.data.astype(float), bunch.target, batches=bunch.batch)
    print("\nbladderbatch: " + (" / ".join(str(w.message) for w in caught) or "no warning"))


# ---- pairs


def _linked(y: np.ndarray, count: int, rng: np.random.Generator) -> dict[str, np.ndarray]:
    """Draw as many pairs of samples of one cluster, and as many of two."""
    chosen = np.array([rng.choice(len(y), 2, replace=False) for _ in range(40 * count)])
    same = y[chosen[:, 0]] == y[chosen[:, 1]]
    return {"must_link": chosen[same][:count], "cannot_link": chosen[~same][:count]}


def _two_planted(seed: int) -> tuple[np.ndarray, np.ndarray, np.ndarray, int]:
    """Two independent clusterings of 150 samples, 15 features each, among 470 of noise; the first is stronger."""
    rng = np.random.default_rng(seed)
    first, second = rng.permutation(150) % 3, rng.permutation(150) % 3
    X = rng.standard_normal((150, 500))
    X[:, :15] += rng.normal(0, 1.5, (3, 15))[first]
    X[:, 15:30] += rng.normal(0, 1.2, (3, 15))[second]
    return X, second, np.isin(np.arange(500), np.arange(15, 30)), 15


def _two_solutions(seed: int) -> tuple[np.ndarray, np.ndarray, np.ndarray, int]:
    made = make_two_solutions(random_state=seed)
    return made.X, made.y[:, 1], np.isin(np.arange(made.X.shape[1]), np.arange(3, 6)), 3


def pairs(args: argparse.Namespace) -> None:
    """Share of the picks that carry the weaker of two clusterings, which the pairs mean."""
    forms = {
        "no pairs": (),
        "must-link": ("must_link",),
        "cannot-link": ("cannot_link",),
        "both": ("must_link", "cannot_link"),
    }
    for title, make in {"make_two_solutions": _two_solutions, "15 + 15 of 500 features": _two_planted}.items():
        print(f"\n{title}, {args.draws} draws: precision of the picks | k-means accuracy on them\n")
        print("| selector | pairs of each kind | " + " | ".join(forms) + " |\n|---|---|" + "---|" * len(forms))
        for name, selector in {"SieveSelector": SieveSelector, "QAlphaSelector": QAlphaSelector}.items():
            for n_pairs in (5, 10, 20, 50):
                cells = []
                for kinds in forms.values():
                    draws = []
                    for seed in range(args.draws):
                        X, y, wanted, count = make(seed + (0 if args.part == "choose" else 100))
                        linked = _linked(y, n_pairs, np.random.default_rng(seed))
                        model = selector(count, 3, random_state=0).fit(X, **{kind: linked[kind] for kind in kinds})
                        draws.append((wanted[model.support_].mean(), clustering_accuracy(X[:, model.support_], y)))
                    cells.append(" / ".join(f"{value:.2f}" for value in np.mean(draws, axis=0)))
                print(f"| {name} | {n_pairs} | " + " | ".join(cells) + " |", flush=True)


# ---- false discoveries

Draw = tuple[np.ndarray, dict[str, Any], np.ndarray]
"""X, the knowledge, and which features are relevant."""


def _classes(rng: np.random.Generator, strength: float) -> Draw:
    made = make_planted_clusters(100, 500, 25, center_scale=strength, random_state=rng)
    return made.X, {"y": made.y}, made.relevant


def _numbers(rng: np.random.Generator, strength: float) -> Draw:
    """Ten features follow y, ten its square, among 480 of noise."""
    y, X = rng.standard_normal(100), rng.standard_normal((100, 500))
    X[:, :10] += 0.6 * strength * y[:, None]
    X[:, 10:20] += 0.6 * strength * (y[:, None] ** 2 - 1)
    return X, {"y": y}, np.arange(500) < 20


def _batched(rng: np.random.Generator, strength: float, *, labelled: bool) -> Draw:
    """Clusters in 25 features; two batches that share something with the clusters shift 30 % of all features."""
    X, known, relevant = _classes(rng, strength)
    batches = (rng.random(100) < np.where(known["y"] == 0, 0.8, 0.4)).astype(int)
    X = X + np.outer(batches, (rng.random(500) < 0.3) * rng.normal(0, 2, 500))
    return X, {**(known if labelled else {}), "batches": batches}, relevant


def _few(rng: np.random.Generator, strength: float) -> Draw:
    X, known, relevant = _classes(rng, strength)
    y = known["y"].copy()
    for c in np.unique(y):
        hidden = rng.permutation(np.flatnonzero(y == c))[8:]
        y[hidden] = -1
    return X, {"y": y}, relevant


KNOWLEDGE: dict[str, Callable[[np.random.Generator, float], Draw]] = {
    "classes": _classes,
    "numbers": _numbers,
    "batches": lambda rng, strength: _batched(rng, strength, labelled=False),
    "classes and batches": lambda rng, strength: _batched(rng, strength, labelled=True),
    "8 labels per class": _few,
}


def _selected(X: np.ndarray, known: dict[str, Any], seed: int) -> np.ndarray:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return SieveSelector(random_state=seed).fit(X, **known).support_


def _shuffled(known: dict[str, Any], rng: np.random.Generator) -> dict[str, Any]:
    """Labels in random order: among the labelled samples, within batches."""
    y = np.array(known["y"])
    groups = np.asarray(known.get("batches", np.zeros(len(y))))
    for group in np.unique(groups):
        here = np.flatnonzero((groups == group) & (y != -1))
        y[here] = rng.permutation(y[here])
    return {**known, "y": y}


def _null_draws(args: argparse.Namespace, seed: int) -> Iterator[tuple[str, list[int]]]:
    for name, make in KNOWLEDGE.items():
        counts = []
        for draw in range(args.draws):
            rng = np.random.default_rng([seed, draw])
            X, known, _ = make(rng, 1.5)
            if "y" not in known:
                break
            counts.append(int(_selected(X, _shuffled(known, rng), draw).sum()))
        if counts:
            yield name, counts
    for name in ("stemcells_mint", "colon_alon"):
        X, y = load(name, args.cap)
        rng = np.random.default_rng(seed)
        yield name, [int(_selected(X, {"y": rng.permutation(y)}, draw).sum()) for draw in range(args.draws)]


def auto(args: argparse.Namespace) -> None:
    """False discovery rate and power at fdr=0.1; then labels in random order."""
    seed = 0 if args.part == "choose" else 1_000
    print(f"\nFalse discovery rate / power / mean number selected, {args.draws} draws, fdr = 0.1\n")
    strengths = (0.5, 1.0, 1.5)
    print("| known | " + " | ".join(f"strength {s}" for s in strengths) + " |\n|---|" + "---|" * len(strengths))
    for name, make in KNOWLEDGE.items():
        cells = []
        for strength in strengths:
            rows = []
            for draw in range(args.draws):
                X, known, relevant = make(np.random.default_rng([seed, draw]), strength)
                support = _selected(X, known, draw)
                false = int((support & ~relevant).sum())
                rows.append((false / max(1, support.sum()), support[relevant].mean(), support.sum()))
            rate, power, number = np.mean(rows, axis=0)
            cells.append(f"{rate:.3f} / {power:.2f} / {number:.1f}")
        print(f"| {name} | " + " | ".join(cells) + " |", flush=True)
    print(f"\nLabels in random order, {args.draws} draws\n")
    print("| known | share of draws that select anything | numbers |\n|---|---|---|")
    for name, counts in _null_draws(args, seed):
        some = [count for count in counts if count]
        print(f"| {name} | {len(some) / len(counts):.2f} | {', '.join(map(str, some)) or 'none'} |", flush=True)
