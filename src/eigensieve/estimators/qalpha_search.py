"""The search of QAlphaSelector on all features, and on parts of them for the automatic number of features."""

import os
from typing import Any

import numpy as np

from eigensieve._progress import Progress, silent
from eigensieve._types import Array
from eigensieve.data import DataMatrix
from eigensieve.evidence import MAX_CLUSTERS, Discoveries, count_clusters, discover, follow, permuted_excess
from eigensieve.operators import Affinity, StandardAffinity, leading_eigenvectors
from eigensieve.qalpha import (
    TAU,
    Knowledge,
    Problem,
    Result,
    SolveSettings,
    class_span,
    solve_steered,
    spectrum_affinity,
)

_FOLD_TOL = 1e-2  # features are only compared with this embedding: it need not be precise


class Search:
    """Q-alpha with the settings of an estimator, on any part of the features.

    Parameters
    ----------
    settings : QAlphaSelector
        Its parameters, checked already.
    raw : DataMatrix
    usable : ndarray of bool of shape (n_features,)
        Features that vary.
    normalize : {"center", "unit", "none"}
    knowledge : Knowledge
    rng : Generator
    """

    def __init__(
        self,
        settings: Any,
        raw: DataMatrix,
        usable: Array,
        normalize: str,
        knowledge: Knowledge,
        rng: np.random.Generator,
    ) -> None:
        self.settings = settings
        self.raw = raw
        self.usable = usable
        self.normalize = normalize
        self.knowledge = knowledge
        self.rng = rng
        self.data = raw.standardized(normalize)
        # It depends on the marginals alone, and permuting does not change these: the folds may share it.
        self.excess = permuted_excess(raw.standardized("center"), usable) if self._counts_clusters else 1.0

    def solve(
        self,
        active: Array,
        *,
        tol: float | None = None,
        progress: Progress = silent,
        checkpoint: str | os.PathLike[str] | None = None,
    ) -> Result:
        """Find weights and embedding from the active features. The others are not read."""
        settings = self.settings
        data = self.data if active is self.usable else self.data.restricted(active)
        affinity = spectrum_affinity(data, settings.spectrum)
        k, init = self._clusters_and_start(affinity, active)
        how = SolveSettings(
            solver=settings.solver,
            init=init,
            n_init=settings.n_init,
            max_iter=settings.max_iter,
            tol=settings.tol if tol is None else tol,
            rng=self.rng,
            checkpoint=checkpoint,
            progress=progress,
        )
        return solve_steered(Problem(affinity, k, TAU[settings.criterion], active), self.knowledge, how)

    def discover(self, progress: Progress) -> Discoveries:
        """Find the features that follow the structure; see :mod:`eigensieve.evidence.discoveries`.

        A feature that takes no part gets the weight m_i' Q diag(lambda) Q' m_i, up to a factor. Features are therefore
        compared with Q diag(lambda)^(1/2). If all samples have labels, features are compared with the labels: no
        feature took part in these.
        """
        centered = self.raw.standardized("center")
        limits: Any = {"fdr": self.settings.fdr, "rng": self.rng}
        if self.follows_labels:
            assert self.knowledge.labels is not None
            return follow([centered], self.usable, class_span(self.knowledge.labels.codes), **limits)

        def fit(active: Array) -> Array:
            result = self.solve(active, tol=max(_FOLD_TOL, self.settings.tol))
            return result.embedding * np.sqrt(np.abs(result.eigenvalues))

        return discover(centered, self.usable, fit, progress=progress, **limits)

    @property
    def n_passes(self) -> int:
        """Times the data was read so far."""
        return self.raw.n_passes

    @property
    def follows_labels(self) -> bool:
        """Whether features are compared with the labels themselves."""
        labels = self.knowledge.labels
        return labels is not None and labels.complete

    @property
    def _counts_clusters(self) -> bool:
        given = self.settings.n_clusters != "auto" or isinstance(self.settings.init, np.ndarray)
        return not given and self.knowledge.labels is None

    def _clusters_and_start(self, affinity: Affinity, active: Array) -> tuple[int, str | Array]:
        """Return k and the start. Eigenvectors that were computed to find k serve again as the start."""
        settings, labels, n_samples = self.settings, self.knowledge.labels, affinity.n_samples
        if labels is not None:
            return len(labels.classes) - 1, "eigen"
        if settings.n_clusters != "auto":
            return int(settings.n_clusters), settings.init
        if isinstance(settings.init, np.ndarray):
            return settings.init.shape[1], settings.init
        count = min(MAX_CLUSTERS, n_samples)
        plain = StandardAffinity(affinity.data)
        values, vectors = leading_eigenvectors(plain, active.astype(np.float64), count)
        n_active = int(np.count_nonzero(active))
        if self.normalize == "none":
            values = values * (n_active / np.sum(affinity.data.stats().norm[active] ** 2))
        k = count_clusters(values, n_active, n_samples, centered=self.normalize == "center", excess=self.excess)
        reuse = settings.init == "eigen" and settings.spectrum == "standard" and self.knowledge.scale is None
        return k, vectors[:, :k] if reuse else settings.init
