"""False discoveries on real data without structure: every feature is permuted by itself, so nothing belongs together.

All that is selected then is false. A case is some permutations of one data set; with `fdr=0.1`, at most one in ten
may select anything. A case fails if a rate of one in ten would give so many only once in 100,000 cases.
"""

import warnings
from functools import cache
from typing import Any

import numpy as np
from scipy.stats import binom
from sklearn.datasets import load_breast_cancer, load_diabetes, load_digits, load_iris, load_wine

from eigensieve import QAlphaSelector, SieveSelector

Spec = dict[str, Any]

SECONDS = 60

RUNS, FDR = 10, 0.1
_MOST = int(binom.ppf(1 - 1e-5, RUNS, FDR))
DATA = {
    "breast cancer": load_breast_cancer,
    "wine": load_wine,
    "iris": load_iris,
    "digits": load_digits,
    "diabetes": load_diabetes,
}


def draw(rng: np.random.Generator, target: str) -> Spec:
    return {
        "estimator": ("SieveSelector", "QAlphaSelector")[int(rng.integers(2))],
        "data": list(DATA)[int(rng.integers(len(DATA)))],
        "labels": bool(rng.random() < 0.5),
        "seed": int(rng.integers(2**31)),
    }


@cache
def _data(name: str) -> tuple[np.ndarray, np.ndarray]:
    found = DATA[name]()
    return found.data[:150].astype(float), found.target[:150]


def check(spec: Spec) -> str:
    X, y = _data(spec["data"])
    rng = np.random.default_rng(spec["seed"])
    cls = SieveSelector if spec["estimator"] == "SieveSelector" else QAlphaSelector
    found, classes = 0, len(np.unique(y)) < len(y) // 5
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for _ in range(RUNS):
            rows = rng.permutation(len(X))
            model = cls("auto", fdr=FDR, random_state=int(rng.integers(2**31)))
            known = {"y": y[rows]} if spec["labels"] and (classes or cls is SieveSelector) else {}
            model.fit(rng.permuted(X, axis=0), **known)
            found += bool(model.get_support().any())
    assert found <= _MOST, f"{found} of {RUNS} permutations have discoveries, at a rate of {FDR}"
    return f"{found} of {RUNS} false"
