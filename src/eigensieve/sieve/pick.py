"""The pick: features one by one, each by its gain beside those picked before, within the user's constraints."""

from dataclasses import dataclass, field

import numpy as np

from eigensieve._types import BoolArray, FloatArray, IntArray
from eigensieve.data import squares_of
from eigensieve.sieve.settings import SETTINGS


class Alignment:
    """Without labels: how similar the affinity of the panel is to the structure.

    The worth of a panel S is <K_S, T> / |K_S|, the alignment of K_S = sum_{i in S} m_i m_i' with T = V V' without its
    diagonal, up to a constant. With the scores a_i = m_i'Tm_i and b_i = sum_{j in S} (m_i'm_j)^2, a further feature
    makes it (sum_{j in S} a_j + a_i) / sqrt(|K_S|^2 + 2 b_i + 1): wanted are large a_i and small b_i.

    `share` is s_i, the part of a feature's variance that is not unwanted. Feature i counts s_i in K_S, and all are
    taken to share the rest: |K_S|^2 = sum_ij s_i s_j (m_i'm_j)^2 + (sum_i (1 - s_i))^2. `energy` is |m_i|^2, below 1
    where values are missing.
    """

    def __init__(self, Z: FloatArray, scores: FloatArray, share: FloatArray, energy: FloatArray | float = 1.0) -> None:
        self.Z, self.share, self.unwanted = Z, share, 1.0 - share
        self.a = share * scores
        self.own = (share * energy) ** 2 + self.unwanted**2
        self.b = np.zeros(Z.shape[1])
        self.inner = self.squared = 0.0

    @property
    def now(self) -> float:
        """The worth of the panel as it is."""
        return self.inner / np.sqrt(self.squared) if self.squared > 0 else 0.0

    def values(self) -> FloatArray:
        """Return the worth of the panel with each further feature added; larger is better."""
        return np.asarray((self.inner + self.a) / np.sqrt(self.squared + 2.0 * self.b + self.own))

    def take(self, column: int) -> None:
        """Add a feature to the panel."""
        self.inner += float(self.a[column])
        self.squared += float(2.0 * self.b[column] + self.own[column])
        correlations = np.square((self.Z[:, column] @ self.Z).astype(np.float64))
        self.b += self.share[column] * self.share * correlations + self.unwanted[column] * self.unwanted


class Residual:
    """With labels: a feature's own agreement with the target times its agreement with the part not explained yet.

    The worth of a further feature is max(u_i, 0) e_i. The columns of the target, such as one per class, are scaled to
    length 1: Y. With L = Y - P(P'P + rI)^-1 P'Y, what a ridge regression on the picked features P leaves of them,
    e_i = sum_c max(m_i'(l_c l_c' - diag(l_c l_c'))m_i, 0). The squares of the features, those of Z by default, count
    with the factor `square_share` in e_i and in P.
    """

    now = 0.0

    def __init__(
        self,
        Z: FloatArray,
        scores: FloatArray,
        target: FloatArray,
        square_share: float = 0.0,
        squares: FloatArray | None = None,
        ridge: float = 1.0,
    ) -> None:
        self.ridge = ridge
        self.quality = np.maximum(scores, 0.0)
        self.views: list[tuple[FloatArray, float]] = [(Z.astype(np.float64, copy=False), 1.0)]
        if square_share:
            self.views.append((squares_of(Z) if squares is None else squares, square_share))
        self.energies = [np.square(view) for view, _ in self.views]
        lengths = np.linalg.norm(target, axis=0)
        self.left = target / np.where(lengths > 1e-7 * lengths.max(), lengths, np.inf)
        self.basis = np.empty((0, len(Z)))

    def values(self) -> FloatArray:
        total, own = np.zeros(len(self.quality)), self.left**2
        for (view, share), energy in zip(self.views, self.energies, strict=True):
            total += share * np.maximum((view.T @ self.left) ** 2 - energy.T @ own, 0.0).sum(axis=1)
        return self.quality * total

    def take(self, column: int) -> None:
        # With A = PP' / r + I the target left is A^-1 T. A new column p changes A^-1 by A^-1 pp' A^-1 / (1 + p'A^-1 p).
        for view, share in self.views:
            p = np.sqrt(share / self.ridge) * view[:, column]
            solved = p - self.basis.T @ (self.basis @ p)
            pivot = 1.0 + float(p @ solved)
            self.left -= np.outer(solved, p @ self.left) / pivot
            self.basis = np.vstack([self.basis, solved / np.sqrt(pivot)])


Gain = Alignment | Residual


@dataclass(frozen=True)
class Constraints:
    """What the user demands of a panel."""

    # features that are in the panel from the start
    keep: IntArray = field(default_factory=lambda: np.empty(0, dtype=np.intp))
    excluded: BoolArray | None = None  # features that are never picked
    groups: IntArray | None = None  # the group of every feature
    max_per_group: int = 1  # most features of one group; those that are kept count
    costs: FloatArray | None = None  # one per feature
    max_cost: float = np.inf  # most that the panel may cost

    def free(self, usable: BoolArray) -> BoolArray:
        """Return which of the usable features may be chosen and are not kept in any case."""
        free = usable.copy()
        free[self.keep] = False
        return free if self.excluded is None else free & ~self.excluded


class Panel:
    """A growing panel that knows which of the considered features may still join it."""

    def __init__(self, constraints: Constraints, features: IntArray) -> None:
        self.constraints, self.features = constraints, features
        self.left = np.ones(len(features), dtype=bool)
        self.order: list[int] = []
        self.spent = 0.0
        self.counts = np.zeros(0 if constraints.groups is None else int(constraints.groups.max()) + 1, dtype=np.intp)

    def open(self, places: slice | int = slice(None)) -> BoolArray:
        """Return which of the considered features may join."""
        demands, may, features = self.constraints, self.left[places], self.features[places]
        if demands.groups is not None:
            may = may & (self.counts[demands.groups[features]] < demands.max_per_group)
        if demands.costs is not None:
            may = may & (self.spent + demands.costs[features] <= demands.max_cost * (1.0 + 1e-12))
        return may

    def add(self, position: int) -> None:
        feature = int(self.features[position])
        self.order.append(feature)
        self.left[position] = False
        if self.constraints.groups is not None:
            self.counts[self.constraints.groups[feature]] += 1
        if self.constraints.costs is not None:
            self.spent += float(self.constraints.costs[feature])

    def worth(self, gain: Gain) -> FloatArray:
        """Return the gain of every feature, per cost where features have costs."""
        values = gain.values()
        if self.constraints.costs is None:
            return values
        more = values - gain.now
        costs = np.maximum(self.constraints.costs[self.features[: len(more)]], np.finfo(np.float64).tiny)
        return np.where(more > 0, more / costs, more * costs)

    def fill(self, count: int) -> None:
        """Add features in their order until there are `count`, or no other may join. One that may not never will."""
        demands, positions = self.constraints, np.flatnonzero(self.open())
        if demands.groups is None and demands.costs is None:
            self.order.extend(self.features[positions[: max(0, count - len(self.order))]].tolist())
            return
        for position in positions.tolist():
            if len(self.order) < count and self.open(position):
                self.add(position)


def pick(panel: Panel, gain: Gain, count: int, first: BoolArray | None = None) -> IntArray:
    """Grow the panel to `count` features and return them in order, the kept ones first. The gain is of the panel's
    first features, in the order of their scores; those in `first` come before the others. The rest follow in their
    order."""
    for feature in panel.constraints.keep:
        position = int(np.flatnonzero(panel.features == feature)[0])
        panel.add(position)
        gain.take(position)
    considered = len(gain.values())
    while len(panel.order) < min(count, SETTINGS.picks):
        may = panel.open()[:considered]
        if not may.any():
            break
        among = may if first is None or not (may & first).any() else may & first
        position = int(np.where(among, panel.worth(gain), -np.inf).argmax())
        panel.add(position)
        gain.take(position)
    panel.fill(count)
    return np.array(panel.order, dtype=np.intp)


def candidates_in_order(scores: FloatArray, candidates: IntArray, constraints: Constraints) -> IntArray:
    """Return the kept features, then the candidates that are not excluded by decreasing score."""
    allowed = candidates if constraints.excluded is None else candidates[~constraints.excluded[candidates]]
    allowed = allowed[~np.isin(allowed, constraints.keep)]
    return np.concatenate([constraints.keep, allowed[np.lexsort((allowed, -scores[allowed]))]]).astype(np.intp)


def n_considered(count: int, constraints: Constraints) -> int:
    """Return how many features the gain is computed for."""
    return len(constraints.keep) + max(10 * min(count, SETTINGS.picks), SETTINGS.shortlist)
