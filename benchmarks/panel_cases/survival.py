"""Times to an event: panels by the sieve, univariate Cox and Coxnet, judged by concordance on left-out samples.

Needs scikit-survival. Each chooser sees the training part: the sieve as it is, the others standardised. One ridge Cox
model, the same for all, is fitted on its first 5, 10 and 20 features (3 where there are fewer than 20). Its risks are
compared with the left-out times. Five folds, repeated. "Coxnet alone" is the elastic net's own prediction, with the
penalty chosen by inner folds.
"""

import os
import warnings
from collections.abc import Callable

import numpy as np
from joblib import Parallel, delayed
from scipy.stats import wilcoxon
from sklearn.model_selection import RepeatedStratifiedKFold, StratifiedKFold

from eigensieve import SieveSelector
from panel_cases.survival_data import CHOOSE, KIND, REPORT, available, load

RIDGE = 10.0
JOBS = int(os.environ.get("JOBS", "1"))
REPEATS = 3
FITTED = 40  # univariate models are fitted for the features with the largest score tests


def sieve(X: np.ndarray, y: np.ndarray, count: int) -> np.ndarray:
    return SieveSelector(count).fit(X, y).selection_order_


def univariate(X: np.ndarray, y: np.ndarray, count: int) -> np.ndarray:
    """Features by the log-likelihood of a Cox model of their own (a ridge of 1 keeps rare features finite)."""
    from sksurv.linear_model import CoxPHSurvivalAnalysis
    from sksurv.linear_model.coxph import CoxPHOptimizer

    first = np.argsort(-_score_tests(X, y), kind="stable")[:FITTED]
    fits = []
    for feature in first:
        column = X[:, [feature]]
        model = CoxPHSurvivalAnalysis(alpha=1.0).fit(column, y)
        order = np.argsort(-y["time"], kind="stable")
        loss = CoxPHOptimizer(column[order], y["event"][order], y["time"][order], np.zeros(1), "breslow")
        fits.append(loss.nlog_likelihood(model.coef_))
    return first[np.argsort(fits, kind="stable")[:count]]


def _score_tests(X: np.ndarray, y: np.ndarray) -> np.ndarray:
    """Chi-square of the score test of every feature."""
    order = np.argsort(-y["time"], kind="stable")
    X, time, event = X[order], y["time"][order], y["event"][order]
    last = np.searchsorted(-time, -time, side="right") - 1  # ties are at risk together
    size = (last + 1.0)[:, None]
    mean, square = np.cumsum(X, axis=0)[last] / size, np.cumsum(X**2, axis=0)[last] / size
    score = np.sum((X - mean)[event], axis=0)
    return score**2 / np.maximum(np.sum((square - mean**2)[event], axis=0), 1e-12)


def coxnet(X: np.ndarray, y: np.ndarray, count: int) -> np.ndarray:
    """Features in the order in which they enter the path of the lasso."""
    coefficients = _path(X, y).coef_
    entered = np.where(coefficients != 0, np.arange(coefficients.shape[1]), coefficients.shape[1]).min(axis=1)
    return np.lexsort((-np.abs(coefficients).max(axis=1), entered))[:count]


def _path(X: np.ndarray, y: np.ndarray, alphas: np.ndarray | None = None, l1_ratio: float = 1.0) -> object:
    from sksurv.linear_model import CoxnetSurvivalAnalysis

    return CoxnetSurvivalAnalysis(alphas=alphas, l1_ratio=l1_ratio, alpha_min_ratio=0.05, max_iter=10_000).fit(X, y)


CHOOSERS: dict[str, Callable[[np.ndarray, np.ndarray, int], np.ndarray]] = {
    "sieve": sieve,
    "univariate Cox": univariate,
    "Coxnet": coxnet,
}


def concordance(y: np.ndarray, risk: np.ndarray) -> float:
    from sksurv.metrics import concordance_index_censored

    return float(concordance_index_censored(y["event"], y["time"], risk)[0])


def ridge_risk(X: np.ndarray, y: np.ndarray, new: np.ndarray) -> np.ndarray:
    from sksurv.linear_model import CoxPHSurvivalAnalysis

    return np.asarray(CoxPHSurvivalAnalysis(alpha=RIDGE).fit(X, y).predict(new))


def coxnet_alone(X: np.ndarray, y: np.ndarray, new: np.ndarray) -> np.ndarray:
    """The risks by an elastic net whose penalty has the largest mean concordance on inner folds."""
    path = _path(X, y, l1_ratio=0.9)
    alphas, scores = path.alphas_, []
    for train, test in StratifiedKFold(5, shuffle=True, random_state=0).split(X, y["event"]):
        inner = _path(X[train], y[train], alphas, 0.9)
        scores.append([concordance(y[test], inner.predict(X[test], alpha=alpha)) for alpha in alphas])
    return np.asarray(path.predict(new, alpha=alphas[int(np.mean(scores, axis=0).argmax())]))


def one_fold(name: str, train: np.ndarray, test: np.ndarray, *, alone: bool) -> dict[tuple[str, int], float]:
    warnings.simplefilter("ignore")
    X, y = load(name)
    mean, scale = X[train].mean(axis=0), X[train].std(axis=0)
    varies = scale > 0
    own_units, X = X[:, varies], (X[:, varies] - mean[varies]) / scale[varies]
    sizes = (5, 10, 20) if X.shape[1] >= 20 else (3,)
    found = {}
    for chooser, choose in CHOOSERS.items():
        order = choose((own_units if choose is sieve else X)[train], y[train], max(sizes))
        for size in sizes:
            few = order[:size]
            risk = ridge_risk(X[np.ix_(train, few)], y[train], X[np.ix_(test, few)])
            found[chooser, size] = concordance(y[test], risk)
    if alone:
        found["Coxnet alone", 0] = concordance(y[test], coxnet_alone(X[train], y[train], X[test]))
    return found


def folds(name: str) -> list[tuple[np.ndarray, np.ndarray]]:
    X, y = load(name)
    return list(RepeatedStratifiedKFold(n_splits=5, n_repeats=REPEATS, random_state=0).split(X, y["event"]))


def table(names: tuple[str, ...], *, alone: bool) -> dict[str, dict[str, float]]:
    """Print one row per set: mean concordance over folds and sizes. Return the rows."""
    columns = [*CHOOSERS, *(["Coxnet alone"] if alone else [])]
    print(f"| set | samples x features, events | {' | '.join(columns)} |\n|{'---|' * (len(columns) + 2)}")
    rows, sizes = {}, {}
    for name in available(names):
        X, y = load(name)
        found = Parallel(n_jobs=JOBS)(delayed(one_fold)(name, *parts, alone=alone) for parts in folds(name))
        cells = {key: float(np.mean([fold[key] for fold in found])) for key in found[0]}
        sizes[name] = cells
        rows[name] = {c: float(np.mean([v for (who, _), v in cells.items() if who == c])) for c in columns}
        shape = f"{len(X):,} x {X.shape[1]:,}, {int(y['event'].sum()):,}"
        print(f"| {name} | {shape} | {' | '.join(f'{rows[name][c]:.3f}' for c in columns)} |", flush=True)
    means = {c: float(np.mean([row[c] for row in rows.values()])) for c in columns}
    print(f"| mean | | {' | '.join(f'{means[c]:.3f}' for c in columns)} |\n")
    for size in (3, 5, 10, 20):
        here = [cells for cells in sizes.values() if ("sieve", size) in cells]
        line = ", ".join(f"{c} {np.mean([cells[c, size] for cells in here]):.3f}" for c in CHOOSERS)
        print(f"- {size} features, {len(here)} sets: {line}")
    first = next(iter(CHOOSERS))
    for other in columns[1:]:
        gains = np.array([row[first] - row[other] for row in rows.values()])
        p = wilcoxon(gains).pvalue if len(gains) > 4 else float("nan")
        better = int((gains > 0).sum())
        print(f"- {first} over {other}: {gains.mean():+.4f}, better on {better} of {len(gains)}, p {p:.3f}")
    return rows


def noise(draws: int = 1_000) -> float:
    """The share of draws of pure noise (normal, heavy-tailed and rare binary) in which anything is selected."""
    hits = 0
    for seed in range(draws):
        rng = np.random.default_rng(seed)
        X = rng.standard_normal((80, 300))
        X[:, ::3], X[:, 1::3] = rng.standard_t(2, (80, 100)), rng.random((80, 100)) < 0.1
        time, censored = rng.exponential(1.0, 80), rng.exponential(1.0, 80)
        y = np.array(list(zip(time <= censored, np.minimum(time, censored), strict=True)), dtype=KIND)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            hits += bool(SieveSelector(random_state=seed).fit(X, y).support_.any())
    return hits / draws


def main() -> None:
    choosing = bool(os.environ.get("EIGENSIEVE_SURVIVAL_CHOOSE"))
    table(CHOOSE if choosing else REPORT, alone=not choosing)
    print(f"\nPure noise: something is selected in {noise():.3f} of 1,000 draws, at fdr=0.1.")
