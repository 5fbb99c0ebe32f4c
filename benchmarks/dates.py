"""Dates as numbers beside dates as categories: the cars of vega_datasets (406 x 9, ``pip install vega_datasets``).

    python benchmarks/dates.py

The miles per gallon are predicted from features that the sieve chose with them, on the training folds alone. `Year`
holds dates. It is one number (as the command line reads it), or one column per year (as categories are), or left out.
The table has R2 on the samples held out: means and standard errors of ten times five folds.
"""

import tempfile
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from sklearn.linear_model import LinearRegression
from sklearn.model_selection import RepeatedKFold, cross_val_score
from sklearn.neighbors import KNeighborsRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from eigensieve import SieveSelector
from eigensieve.tables import read_table

COUNTS = (2, 3, 4, 5)
TARGET = "Miles_per_Gallon"


def forms(cars: pd.DataFrame) -> dict[str, tuple[Any, Any]]:
    """Return values and target for every way to read `Year`."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "cars.csv"
        cars.to_csv(path, index=False)
        read = read_table(path, label=TARGET, categories="leave-out")  # leaves out names and origins, which are text
        left_out = read_table(path, label=TARGET, categories="leave-out", drop=["Year"])
    year = list(read.feature_names).index("Year")
    hot = (read.X[:, [year]] == np.unique(read.X[:, year])).astype(float)
    target = np.asarray(read.label, dtype=np.float64)
    values = {"a number": read.X, "a column per year": np.hstack([left_out.X, hot]), "left out": left_out.X}
    return {form: (X, target) for form, X in values.items()}


def main() -> None:
    from vega_datasets import data

    folds = RepeatedKFold(n_splits=5, n_repeats=10, random_state=0)
    print(f"{'model':20} {'Year':18} " + " ".join(f"{count:>2} features  " for count in COUNTS))
    for model in (LinearRegression(), KNeighborsRegressor(5)):
        for form, (X, y) in forms(data.cars().dropna()).items():
            cells = []
            for count in COUNTS:
                line = make_pipeline(SieveSelector(count, supervision="numbers"), StandardScaler(), model)
                scores = cross_val_score(line, X, y, cv=folds, scoring="r2", error_score="raise")
                cells.append(f"{scores.mean():.3f} ± {scores.std() / np.sqrt(len(scores)):.3f}")
            print(f"{type(model).__name__:20} {form:18} " + " ".join(cells), flush=True)


if __name__ == "__main__":
    main()
