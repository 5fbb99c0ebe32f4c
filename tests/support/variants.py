"""THE table of Q-alpha variants: every solver test runs on each line."""

from dataclasses import dataclass

import numpy as np

from eigensieve.data import DataMatrix
from eigensieve.operators import Affinity, LaplacianAffinity, StandardAffinity
from eigensieve.qalpha import Problem


@dataclass(frozen=True)
class Variant:
    """A spectrum and a criterion."""

    spectrum: str
    criterion: str

    @property
    def name(self) -> str:
        return f"{self.spectrum}-{self.criterion}"

    @property
    def normalize(self) -> str:
        return "unit" if self.spectrum == "laplacian" else "center"

    @property
    def tau(self) -> float:
        return 0.5 if self.criterion == "gap" else 0.0

    def affinity(self, data: DataMatrix) -> Affinity:
        return LaplacianAffinity(data) if self.spectrum == "laplacian" else StandardAffinity(data)

    def problem(self, data: DataMatrix, n_clusters: int) -> Problem:
        view = data.standardized(self.normalize)
        return Problem(self.affinity(view), n_clusters, self.tau, ~data.stats().constant)

    def example(self, seed: int, n_samples: int = 30, n_features: int = 45) -> np.ndarray:
        """Clustered data with zeros in it, non-negative where the spectrum wants that."""
        rng = np.random.default_rng(seed)
        X = rng.standard_normal((n_samples, n_features))
        X[:, :9] += 2.5 * rng.standard_normal((3, 9))[rng.integers(0, 3, n_samples)]
        X[rng.random(X.shape) < 0.3] = 0.0
        return np.abs(X) if self.spectrum == "laplacian" else X


VARIANTS = [Variant(spectrum, criterion) for spectrum in ("standard", "laplacian") for criterion in ("energy", "gap")]
VARIANT_IDS = [variant.name for variant in VARIANTS]
