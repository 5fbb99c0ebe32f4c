"""Further starts at little cost: they climb together, one pass over the data per step for all, and few go on.

A step is one power step on the weights and the embedding of every start, for the energy alone:

    T = M Y (Y = L(w) Q),  w_i <- <L_i, Y Q'>,  Q <- Y turn (orthonormal),  M Q <- T turn,  then L(w) Q.

It has a third of the columns of a step of the fast solver. A start whose weights and embedding agree with those of a
better one is on the way to the same maximum: it stops. At times the lower half of the others is given up.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np

from eigensieve._types import FloatArray, IntArray
from eigensieve.operators import SpreadStep
from eigensieve.qalpha.checkpoint import Checkpoint
from eigensieve.qalpha.problem import Problem, Result, SolveSettings

_PACE = 8  # steps between two times at which the lower half is given up
_STEPS = 32
_SAME = 0.95  # cosine of the weights, and share of each other's energy that the embeddings see: one maximum
_TINY = float(np.finfo(np.float64).tiny)
_NULL = 1e-12  # share of the largest squared length: smaller directions of L(w) Q are rounding
_FEATURE_ARRAYS = ("P", "W", "left")
_SMALL_ARRAYS = ("Q", "Y", "going", "kept", "leader", "left_Q", "number", "energies", "step")


@dataclass(frozen=True, eq=False)
class ClimbStep:
    """The block function of one step: T = M_b [Y, companions] of the starts that are `kept`, P = M_b Q of all before.
    It sums the inner products of the `known` weights and all new ones, and their masses."""

    affinity: Any
    kept: IntArray
    turns: FloatArray  # (starts, k, k)
    inner: FloatArray  # <Y, Q>
    unit: FloatArray  # factors that bring the weights near 1

    def __call__(self, T: FloatArray, P: FloatArray, known: FloatArray, *constants: FloatArray) -> Any:
        affinity, (count, k, _) = self.affinity, self.turns.shape
        weights, new, back = [known], [], []
        for j, start in enumerate(self.kept):
            TY, rest = T[:, j * k : (j + 1) * k], count * k + j * affinity.width
            extra = T[:, rest : rest + affinity.width]
            g = affinity.pull(TY, P[:, start * k : (start + 1) * k], extra, constants, self.inner[j])
            weights.append(self.unit[j] * g)
            new.append(TY @ self.turns[j].astype(T.dtype))
            back.append(affinity.spread(weights[-1], new[-1], constants))
        W = np.column_stack(weights)
        masses = np.array([[affinity.mass(w, constants)] for w in weights])
        return (np.hstack(new), W), np.hstack(back), np.hstack([W.T @ W, masses])


class Climb:
    """Starts that climb from the orthonormal embeddings Q (starts, samples, k), and look out for the result `known`.

    leader : the start on whose way each was found: itself, a better one, or -1 for the known result.
    left, left_Q, energies : weights, embeddings and energies of those that lead, where they were left; `number` says
    which they are.
    """

    def __init__(self, problem: Problem, Q: FloatArray, known: Result | None, checkpoint: Checkpoint | None) -> None:
        count, q, k = Q.shape
        self.problem, self.checkpoint, self.Q, self.step = problem, checkpoint, Q, 0
        self.known = np.zeros(problem.n_features) if known is None else known.weights
        self.known_Q = np.zeros((1, q, k)) if known is None else known.embedding[None]
        self.known_Y = self.known_Q if known is None else self.known_Q * known.eigenvalues
        self.going: IntArray = np.arange(count)
        self.kept: IntArray = np.arange(count)
        self.leader: IntArray = np.arange(count)
        self.left: FloatArray = np.empty((problem.n_features, 0))
        self.left_Q: FloatArray = np.empty((0, q, k))
        self.number: IntArray = np.empty(0, dtype=np.intp)
        self.energies: FloatArray = np.zeros(count)
        stored = None if checkpoint is None else checkpoint.load()
        if stored is not None:
            vars(self).update({name: stored[0][name] for name in _SMALL_ARRAYS}, **stored[1])
            self.left = problem.affinity.data.collect(self.left)
            return
        affinity, start = problem.affinity, problem.starting_weights()
        sweep = affinity.data.sweep(_flat(Q), SpreadStep(affinity, count * k), (start, *affinity.constants))
        assert sweep.back is not None and sweep.total is not None
        self.W, self.P = sweep.state
        Y = affinity.gather(sweep.back, float(sweep.total[0]), _flat(Q))
        self.Y: FloatArray = Y.reshape(q, count, k).transpose(1, 0, 2)

    def run(self, settings: SolveSettings) -> "Climb":
        """Climb until every start is left."""
        while len(self.going):
            self.step = int(self.step) + 1
            alike, lengths = self._move()
            leading = self._apart(alike)
            kept = leading if self.step % _PACE else leading[: (len(leading) + 1) // 2]
            if self.step >= _STEPS or (len(kept) == 1 and self.step >= _PACE):
                kept = leading[:0]
            behind = leading[len(kept) :]
            chosen = np.eye(len(lengths))[:, 1 + behind] / lengths[1 + behind]
            left = self.problem.affinity.data.collect(self.W @ chosen)
            self.left = np.hstack([self.left, left]) if len(behind) else self.left
            self.left_Q = np.concatenate([self.left_Q, self.Q[behind]])
            self.number = np.append(self.number, self.going[behind])
            self.kept, self.going, self.Q, self.Y = kept, self.going[kept], self.Q[kept], self.Y[kept]
            settings.progress(f"step {self.step} of the further starts: {len(kept)} of {len(self.leader)} go on")
            if self.checkpoint is not None:
                small = {name: getattr(self, name) for name in _SMALL_ARRAYS}
                small["status"] = "max_iter" if len(kept) else "climbed"
                self.checkpoint.save(self.step, small, {name: getattr(self, name) for name in _FEATURE_ARRAYS})
        for _ in self.leader:
            self.leader = np.where(self.leader >= 0, self.leader[self.leader], -1)
        return self

    def _move(self) -> tuple[FloatArray, FloatArray]:
        """Make one step, the one pass. Return how much the points agree, the known one first, and the lengths of the
        new weights in W."""
        affinity, Q, Y = self.problem.affinity, self.Q, self.Y
        squares = np.swapaxes(Y, 1, 2) @ Y
        sizes, vectors = np.linalg.eigh(squares)
        large = sizes > np.maximum(_NULL * sizes[:, -1:], _TINY)
        turns = vectors * np.divide(1, np.sqrt(np.abs(sizes)), out=np.zeros_like(sizes), where=large)[:, None]
        unit = 1 / np.maximum(np.sum(sizes, axis=1), _TINY)
        columns = np.hstack([_flat(Y), *(affinity.companion(*pair) for pair in zip(Y, Q, strict=True))])
        climbing = ClimbStep(affinity, self.kept, turns, np.sum(Y * Q, axis=(1, 2)), unit)
        sweep = affinity.data.sweep(columns, climbing, (self.P, self.known, *affinity.constants))
        assert sweep.back is not None and sweep.total is not None
        self.P, self.W = sweep.state
        self.Q = Y @ turns
        lengths = np.sqrt(np.maximum(np.diag(sweep.total), _TINY))
        moved = zip(np.split(sweep.back, len(Y), 1), sweep.total[1:, -1], self.Q, lengths[1:], strict=True)
        self.Y = np.stack([affinity.gather(part, mass, own) / length for part, mass, own, length in moved])
        self.energies[self.going] = np.sum(self.Y**2, axis=(1, 2))
        cosines = np.abs(sweep.total[:, :-1]) / np.outer(lengths, lengths)
        shares = _shares(np.concatenate([self.known_Q, self.Q]), np.concatenate([self.known_Y, self.Y]))
        return np.minimum(cosines, shares), lengths

    def _apart(self, alike: FloatArray) -> IntArray:
        """Return the places of those that are not on the way of the known result or of a better one, best first."""
        kept: list[int] = []
        for i in np.argsort(-self.energies[self.going], kind="stable"):
            same = next((j for j in (-1, *kept) if alike[1 + i, 1 + j] > _SAME), None)
            if same is None:
                kept.append(int(i))
            else:
                self.leader[self.going[i]] = self.going[same] if same >= 0 else -1
        return np.array(kept, dtype=np.intp)


def _flat(V: FloatArray) -> FloatArray:
    """Return the columns of all starts side by side."""
    return V.transpose(1, 0, 2).reshape(V.shape[1], -1)


def _shares(Q: FloatArray, Y: FloatArray) -> FloatArray:
    """Return how much of the energy |Q'Y|^2 of one point the embedding Q of another sees, the smaller of both ways."""
    count, _, k = Q.shape
    seen = np.sum((_flat(Q).T @ _flat(Y)).reshape(count, k, count, k) ** 2, axis=(1, 3))
    share = seen / np.maximum(np.diag(seen), _TINY)
    return np.minimum(share, share.T)
