"""The search on all features, and on parts of them to find how many features follow the structure."""

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Literal

import numpy as np

from eigensieve._progress import Progress, silent
from eigensieve._types import BoolArray, FloatArray
from eigensieve.data import DataMatrix, Orders, value_orders
from eigensieve.evidence import MAX_CLUSTERS, Discoveries, count_clusters, discover, follow, permuted_excess
from eigensieve.operators import Affinity, StandardAffinity, leading_eigenvectors
from eigensieve.qalpha.knowledge.labels import class_span
from eigensieve.qalpha.knowledge.steered import Knowledge, solve_steered
from eigensieve.qalpha.problem import TAU, Problem, Result, SolveSettings, spectrum_affinity

_FOLD_TOL = 1e-2  # features are only compared with this embedding: it need not be precise


@dataclass(frozen=True, eq=False)
class Search:
    """Q-alpha on any part of the features, with the parameters of an estimator."""

    raw: DataMatrix
    usable: BoolArray  # features that vary
    normalize: str
    knowledge: Knowledge
    settings: SolveSettings  # with an `rng`
    n_clusters: int | Literal["auto"] = "auto"
    spectrum: str = "standard"
    criterion: str = "energy"

    @cached_property
    def data(self) -> DataMatrix:
        return self.raw.standardized(self.normalize)

    @cached_property
    def orders(self) -> Orders:
        """The orders of samples and features in which random draws are made."""
        return value_orders(self.raw)

    @cached_property
    def excess(self) -> float:
        """Depends on the marginals alone, which permuting does not change: the folds share it."""
        return permuted_excess(self.raw.standardized("center"), self.usable, self.orders)

    @property
    def follows_labels(self) -> bool:
        """Whether features are compared with the labels themselves."""
        labels = self.knowledge.labels
        return labels is not None and labels.complete

    def solve(self, active: BoolArray, settings: SolveSettings | None = None) -> Result:
        """Find weights and embedding from the active features. The others are not read."""
        data = self.data if active is self.usable else self.data.restricted(active)
        affinity = spectrum_affinity(data, self.spectrum, self.settings.shift)
        k, init = self._clusters_and_start(affinity, active)
        settings = replace(self.settings if settings is None else settings, init=init)
        return solve_steered(Problem(affinity, k, TAU[self.criterion], active), self.knowledge, settings)

    def discover(self, fdr: float, progress: Progress) -> Discoveries:
        """Find the features that follow the structure; see :mod:`eigensieve.evidence.discoveries`.

        A feature that takes no part gets the weight m_i' Q diag(lambda) Q' m_i, up to a factor, so features are
        compared with Q diag(lambda)^(1/2). If all samples have labels, features are compared with these.
        """
        centered = self.raw.standardized("center")
        limits: Any = {"fdr": fdr, "rng": self.settings.rng, "orders": self.orders}
        if self.follows_labels:
            assert self.knowledge.labels is not None
            return follow([centered], self.usable, class_span(self.knowledge.labels.codes), **limits)
        rough = replace(self.settings, tol=max(_FOLD_TOL, self.settings.tol), checkpoint=None, progress=silent)

        def fit(active: BoolArray) -> FloatArray:
            result = self.solve(active, rough)
            return result.embedding * np.sqrt(np.abs(result.eigenvalues))

        return discover(centered, self.usable, fit, progress=progress, **limits)

    def _clusters_and_start(self, affinity: Affinity, active: BoolArray) -> tuple[int, str | FloatArray]:
        """Return k and the start. Eigenvectors that were computed to find k serve again as the start."""
        labels, n_samples, init = self.knowledge.labels, affinity.n_samples, self.settings.init
        if labels is not None:
            return len(labels.classes) - 1, "eigen"
        if self.n_clusters != "auto":
            return int(self.n_clusters), init
        if isinstance(init, np.ndarray):
            return init.shape[1], init
        plain = StandardAffinity(affinity.data)
        values, vectors = leading_eigenvectors(plain, active.astype(np.float64), min(MAX_CLUSTERS, n_samples))
        n_active = int(np.count_nonzero(active))
        if self.normalize == "none":
            values = values * (n_active / np.sum(affinity.data.stats().norm[active] ** 2))
        k = count_clusters(values, n_active, n_samples, centered=self.normalize == "center", excess=self.excess)
        reuse = init == "eigen" and self.spectrum == "standard" and self.knowledge.scale is None
        return k, vectors[:, :k] if reuse else init
