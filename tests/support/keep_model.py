"""Keep a model file of this version: ``python -m support.keep_model`` (in the folder ``tests``), before each release.

The file holds a Pipeline with every kind of nested object, the samples that it is tried on, and what it makes of them.
"""

import warnings
from pathlib import Path

import numpy as np
from sklearn.datasets import make_classification
from sklearn.pipeline import make_pipeline

import eigensieve
from eigensieve import ElementSelectedSVC, QAlphaSelector, RejectionCascade, save_model

KEPT = Path(__file__).parents[1] / "corpus" / "models"


def keep(folder: Path) -> Path:
    """Write the file and return its path."""
    X, y = make_classification(n_samples=80, n_features=8, n_informative=5, random_state=0)
    rejector = ElementSelectedSVC(n_elements=20, table_size=16, random_state=0)
    model = make_pipeline(QAlphaSelector(6), RejectionCascade(rejector, random_state=0))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model.fit(X, y)
    path = folder / f"{eigensieve.__version__}.skops"
    rejected = model[-1].rejector_.decision_function(model[:-1].transform(X[:10]))
    about = {
        "X": X[:10].tolist(),
        "decisions": rejected.tolist(),
        "classes": np.asarray(model.predict(X[:10])).tolist(),
    }
    save_model(model, path, about=about)
    return path


if __name__ == "__main__":
    KEPT.mkdir(exist_ok=True)
    print(keep(KEPT))
