"""The files that the pages of the documentation speak of: `genes.csv`, `cells.h5ad` and so on, all small."""

from pathlib import Path

import anndata
import numpy as np
import pandas as pd
from sklearn.datasets import load_digits


def write_page_files(folder: Path) -> None:
    """Write every file that a page reads without having written it."""
    rng = np.random.default_rng(0)
    kind, run = np.arange(60) % 3, np.arange(60) // 3 % 2
    X = rng.standard_normal((60, 40))
    X[:, :10] += rng.normal(0, 3, (3, 10))[kind]
    names = [f"gene{number}" for number in range(40)]
    samples = [f"s{number}" for number in range(60)]
    genes = pd.DataFrame(X, columns=names, index=pd.Index(samples, name="sample"))

    genes.to_csv(folder / "genes.csv")
    genes.iloc[:20].to_csv(folder / "new.csv")
    times = pd.DataFrame({"died": np.arange(60) % 2, "months": 1.0 + np.arange(60) ** 1.5}, index=genes.index)
    times.to_csv(folder / "times.csv")
    labels = {"type": np.array(["T", "B", "NK"])[kind], "run": np.array(["first", "second"])[run]}
    genes.assign(**labels).to_csv(folder / "cells.csv")
    genes.assign(patient=[f"patient {i // 3}" for i in range(60)], type=labels["type"]).to_csv(folder / "patients.csv")
    genes.assign(tissue=labels["type"]).to_csv(folder / "expression.csv.gz")
    genes.assign(eight=np.where(load_digits().target[:60] == 8, "yes", "no")).to_csv(folder / "digits.csv")
    cars = pd.DataFrame({"name": samples, "power": X[:, 0], "weight": X[:, 1], "length": X[:, 2], "doors": kind})
    cars.assign(colour=labels["run"], origin=labels["type"]).to_csv(folder / "cars.csv", index=False)

    counts = rng.poisson(np.exp(X / 2)).astype(np.float32)
    cells = anndata.AnnData(counts, obs=pd.DataFrame(labels, index=samples), var=pd.DataFrame(index=names))
    cells.write_h5ad(folder / "cells.h5ad")
    np.savez(folder / "faces.npz", X=X, y=kind)
    np.savez(folder / "one-person.npz", X=rng.standard_normal((20, 40)))
    (folder / "pairs.csv").write_text("0,3,must\n0,1,cannot\n6,9,must\n", encoding="utf-8")
    np.save(folder / "big.npy", X.astype(np.float32))
