"""The fast solver: weights and embedding together, locally optimal, one pass over the data per step.

Every step maximises the criterion exactly over w in span{w, r, p} and Q in span{Q, D, R}. Here r and R are the
residuals of the two stationarity conditions, and p and D the previous directions of movement. This is LOBPCG's idea,
applied to both unknowns at once. The subspaces hold the current point, so the criterion cannot decrease. L is linear in
w, so everything that the small problem needs follows from L(b)V for the few basis weights b and basis columns V. One
fused pass gives the new ones:

    T = M_b R,  g_i = <L_i, Y Q'> (Y = L(w) Q),  r = unit (g - rho w),  then the backward products of r and w, p.
"""

from itertools import combinations_with_replacement

import numpy as np
import scipy.linalg

from eigensieve._types import FloatArray
from eigensieve.operators import ExpandStep, SpreadStep
from eigensieve.qalpha.checkpoint import Checkpoint
from eigensieve.qalpha.problem import Problem, Result, SolveSettings, Status, finish

_INNER = 60
_STALLED = 3  # steps without gain or smaller residual that end the search
_ROUNDING = 50  # times the precision of the data's type: smaller differences are rounding
_SAMPLES = 4096
_FEATURE_ARRAYS = ("B", "P", "KB")
_PROGRESS = ("history", "n_iter", "status", "stalled", "least_residual")
_SMALL_ARRAYS = ("V", "LV", "N", "K", "masses", "turn_B", "turn_V")


def solve_subspace(
    problem: Problem, Q: FloatArray, settings: SolveSettings, checkpoint: Checkpoint | None = None
) -> Result:
    """Maximise the criterion from the orthonormal embedding Q; `tol` bounds the residual |G w - rho w| / rho."""
    return _Solve(problem, Q, checkpoint).run(settings)


class _Solve:
    """State of one solve.

    B : feature array (n, 3), the basis weights w, p and r; columns not in use yet are zero.
    P : feature array (n, 3k), the projections M [Q, D, R]; columns not in use yet are zero.
    V : (q, k to 3k) = [Q, D, R], orthonormal.
    LV : (basis weights, q, columns of V), the products L(b) V.
    """

    def __init__(self, problem: Problem, Q: FloatArray, checkpoint: Checkpoint | None) -> None:
        self.problem = problem
        self.affinity = problem.affinity
        self.data = problem.affinity.data
        self.first_pass = problem.n_passes
        self.k = Q.shape[1]
        self.free = problem.fixed_embedding is None
        self.V: FloatArray = Q
        self.checkpoint = checkpoint
        self.n_iter = 0
        self.stalled = 0
        self.novel = 0  # columns of R
        self.least_residual = np.inf
        self.status: Status = "max_iter"
        self.rounding = _ROUNDING * float(np.finfo(self.data.dtype).eps)
        if not self._restore():
            self._begin()

    def _begin(self) -> None:
        """Starting weights, their projections and L(w) Q."""
        weights = self.problem.starting_weights()
        affinity = self.affinity
        full = min(3 * self.k, len(self.V)) if self.free else self.k
        sweep = self.data.sweep(self.V, SpreadStep(affinity, full), (weights, *affinity.constants))
        assert sweep.back is not None and sweep.total is not None
        self.B, self.P = sweep.state
        self.LV = affinity.gather(sweep.back, float(sweep.total[0]), self.V)[None]
        self.N: FloatArray = np.ones((1, 1))
        self.masses = sweep.total
        self.K: FloatArray = np.zeros((1, 1))
        self.KB: FloatArray = np.empty((self.problem.n_features, 0))
        if self.problem.subtracts:
            self.KB = self.problem.subtracted(weights)[:, None]
            self.K = self.data.inner(self.B, self.KB)[:1]
        self.turn_B: FloatArray = np.ones((1, 1))
        self.turn_V: FloatArray = np.eye(self.k)
        self.history = [float(np.sum(self.LV[0][:, : self.k] ** 2) - self.K[0, 0])]

    def _restore(self) -> bool:
        """Continue from the last completed step, if there is one."""
        stored = None if self.checkpoint is None else self.checkpoint.load()
        if stored is None:
            return False
        small, features = stored
        vars(self).update({name: small[name] for name in _SMALL_ARRAYS}, **features)
        self.history = small["history"].tolist()
        self.n_iter, self.stalled = int(small["n_iter"]), int(small["stalled"])
        self.least_residual = float(small["least_residual"])
        self.status = str(small["status"])  # type: ignore[assignment]  # written by _keep
        return True

    def _keep(self) -> None:
        if self.checkpoint is not None:
            small = {name: getattr(self, name) for name in (*_SMALL_ARRAYS, *_PROGRESS)}
            self.checkpoint.save(self.n_iter, small, {name: getattr(self, name) for name in _FEATURE_ARRAYS})

    def run(self, settings: SolveSettings) -> Result:
        history, tol, most, terms, floor = self.history, settings.tol, 0.0, 1.0, self.rounding
        # Gains vanish in rounding long before the weights settle: weights are only as exact as a gain's square root.
        # Rounding is that of the terms: a criterion that subtracts may be far smaller, and following noise diverges.
        while self.status == "max_iter" and self.n_iter < settings.max_iter:
            residual, terms = self._expand()
            most = max(most, terms)
            settled = abs(self.N[0, -1]) > 0.5 * float(np.sqrt(self.N[-1, -1]))  # in exact numbers w'r = 0
            if settled and not self.novel:
                self.status = "precision"  # end at the current point: the rest of its residual is rounding
                self.turn_B, self.turn_V = np.eye(len(self.N))[:, :1], np.eye(self.V.shape[1])[:, : self.k]
                break
            value = self._improve(self.N[:-1, :-1] if settled else self.N)
            gain = value - history[-1]
            if gain > 0:
                history.append(value)
            self.n_iter += 1
            moving = gain > floor**2 * abs(value) or residual < self.least_residual
            self.stalled = 0 if moving else self.stalled + 1
            self.least_residual = min(self.least_residual, residual)
            message = f"step {self.n_iter}: criterion {self.problem.unit * value:.6g}, residual {residual:.1e}"
            settings.progress(message)
            if residual <= tol and gain <= tol**2 * abs(value):
                self.status = "converged"
            elif self.stalled >= _STALLED or (gain <= 0.1 * floor * most and residual * abs(value) <= floor * most):
                self.status = "precision"
            self._keep()
        self.problem.refuse_vanishing(history[-1], terms, most, floor)
        coefficients = np.zeros(self.B.shape[1])
        coefficients[: len(self.turn_B)] = self.turn_B[:, 0]
        weights = self.data.collect(self.B @ coefficients)
        Q = self.V @ self.turn_V[:, : self.k]
        LQ = np.einsum("r,rqc->qc", self.turn_B[:, 0], self.LV) @ self.turn_V[:, : self.k]
        weights = weights / np.linalg.norm(weights)
        return finish(self.problem, weights, Q, LQ, history, self.n_iter, self.first_pass, self.status)

    def _expand(self) -> tuple[float, float]:
        """Move to the point found, and add the residual directions: the one pass of a step. Returns the residual
        |r| / |rho|, and the size of the terms whose difference rho is."""
        k, problem, affinity = self.k, self.problem, self.affinity
        turn_B, turn_V, subtracts = self.turn_B, self.turn_V, problem.subtracts
        LV = self.LV = _turned(self.LV, turn_B, turn_V)  # frees the larger one before the pass
        V: FloatArray = self.V @ turn_V
        self.V = V  # the old one is freed as well
        masses = self.masses @ turn_B
        Q, Y = V[:, :k], LV[0][:, :k]
        energy, taken = float(np.sum(Y**2)), float(turn_B[:, 0] @ self.K @ turn_B[:, 0])
        rho, terms = energy - taken, max(energy, abs(taken))
        unit = 0.5 ** float(np.frexp(terms)[1])
        R = self._residual_columns(V, Y)
        self.novel = R.shape[1]
        self.V = np.hstack([V, R])
        V, R = self.V[:, : V.shape[1]], self.V[:, V.shape[1] :]
        Q = V[:, :k]
        # M Y follows from known projections, unless Q is fixed: then Y need not lie in the span of V and R.
        rest = np.empty((len(V), 0)) if self.free else Y
        known = V.T @ Y if self.free else np.zeros((V.shape[1], k))
        novel = R.T @ Y if self.free else np.eye(k)
        inner = float(np.sum(Y * Q))
        columns = np.hstack([R, rest, affinity.companion(Y, Q)])
        dtype, old = self.P.dtype, turn_B.shape[1]
        rotate, known, novel = (small.astype(dtype) for small in (turn_V, known, novel))
        sizes = (R.shape[1], rest.shape[1], self.P.shape[1])
        step = ExpandStep(affinity, turn_B, rotate, known, novel, rho, unit, inner, *sizes, subtracts)
        sweep = self.data.sweep(columns, step, (self.B, self.P, self.KB, *affinity.constants), donate=True)
        assert sweep.back is not None and sweep.total is not None
        self.B, self.P, self.KB = sweep.state
        self.N = sweep.total[: old + 1]
        self.masses = np.append(masses, sweep.total[old + 1, 0])
        self.LV = self._products(LV, sweep.back, R, old)
        if not subtracts:
            self.K = np.zeros((old + 1, old + 1))
        else:
            kappa = problem.subtracted(self.data.collect(self.B)[:, old])
            inner_K = turn_B.T @ self.K @ turn_B
            cross = self.data.inner(self.B, kappa)[: old + 1]
            self.K = np.block([[inner_K, cross[:old, None]], [cross[None, :old], cross[old:, None]]])
            self.KB = np.column_stack([self.data.collect(self.KB), kappa])
        length = float(np.sqrt(np.maximum(0.0, self.N[old, old]))) / unit
        return length / max(abs(rho), float(np.finfo(np.float64).tiny)), terms

    def _residual_columns(self, V: FloatArray, Y: FloatArray) -> FloatArray:
        """Orthonormal columns that extend V by what L(w) Q has outside it."""
        if not self.free:
            return np.empty((len(V), 0))
        room = min(self.k, len(V) - V.shape[1])
        basis = _reorthonormalised(V)  # V's own rounding errors would grow from step to step
        outside = Y - basis @ (basis.T @ Y)
        directions, sizes, _ = np.linalg.svd(outside, full_matrices=False)
        # Rounding is no direction: from eigenvectors, float32 and float64 would set out to different maxima.
        found = directions[:, :room][:, sizes[:room] > self.rounding * float(np.linalg.norm(Y))]
        return _reorthonormalised(found - basis @ (basis.T @ found))

    def _products(self, LV: FloatArray, back: FloatArray, R: FloatArray, old: int) -> FloatArray:
        """L(b) V for the enlarged bases, from known products and this pass."""
        affinity = self.affinity
        total = self.V.shape[1]
        split = total + affinity.width
        out = np.empty((old + 1, len(self.V), total))
        out[old] = affinity.gather(back[:, :split], float(self.masses[old]), self.V)
        for j in range(old):
            start = split + j * (R.shape[1] + affinity.width)
            part = back[:, start : start + R.shape[1] + affinity.width]
            out[j, :, : total - R.shape[1]] = LV[j]
            out[j, :, total - R.shape[1] :] = affinity.gather(part, float(self.masses[j]), R)
        return out

    def _improve(self, N: FloatArray) -> float:
        """Solve the small problem: the best weights and embedding within the two subspaces. N has the inner products of
        the basis weights that are used. The last is left out where it is only rounding."""
        k = self.k
        r, _, c = self.LV.shape
        S = np.empty((r, r, c, c))  # S[a, b, i, j] = <L(b_a) v_i, L(b_b) v_j>
        for p, q in combinations_with_replacement(range(r), 2):
            S[p, q] = self.LV[p].T @ self.LV[q]
            S[q, p] = S[p, q].T
        flat = S.reshape(r * r, c * c)
        used = _whitener(N)
        white = np.vstack([used, np.zeros((r - len(used), used.shape[1]))])
        C = best = np.eye(c, k)
        value, best_a = -np.inf, np.eye(r)[:, 0]
        if self.free and self.problem.subtracts:
            # The best weights for the old embedding may have no affinity, and the next embedding would be rounding.
            C = np.linalg.eigh(S[0, 0])[1][:, ::-1][:, :k]
        for _ in range(_INNER):
            H = (flat @ (C @ C.T).ravel()).reshape(r, r) - self.K
            a = white @ np.linalg.eigh(white.T @ H @ white)[1][:, -1]
            small = (np.outer(a, a).ravel() @ flat).reshape(c, c)
            if self.free:
                C = np.linalg.eigh(small)[1][:, ::-1][:, :k]
            found = float(np.sum(small * (C @ C.T)) - a @ self.K @ a)
            done = found - value <= 1e-12 * abs(found)
            if found > value:
                value, best_a, best = found, a, C
            if done:
                break
        self._remember(best_a, best)
        return value

    def _remember(self, a: FloatArray, C: FloatArray) -> None:
        """Coefficients of the next bases: the new point, and the direction it moved in."""
        moved = a.copy()
        moved[0] = 0.0
        moved -= a * (a @ self.N @ moved)
        size = float(np.sqrt(max(0.0, float(moved @ self.N @ moved))))
        self.turn_B = np.column_stack([a, moved / size]) if size > 0 else a[:, None]
        if not self.free:
            self.turn_V = C
            return
        room = min(2 * self.k, len(C)) - self.k
        E = C.copy()
        E[: self.k] = 0.0
        self.turn_V = np.hstack([C, scipy.linalg.qr(np.hstack([C, E]), mode="economic")[0][:, self.k : self.k + room]])


def _turned(LV: FloatArray, turn_B: FloatArray, turn_V: FloatArray) -> FloatArray:
    """Return L(b) V for the turned bases B turn_B and V turn_V, some samples at a time to save memory."""
    out = np.empty((turn_B.shape[1], LV.shape[1], turn_V.shape[1]))
    for start in range(0, LV.shape[1], _SAMPLES):
        rows = slice(start, start + _SAMPLES)
        out[:, rows] = np.tensordot(turn_B.T, LV[:, rows], 1) @ turn_V
    return out


def _reorthonormalised(V: FloatArray) -> FloatArray:
    """Return an orthonormal basis of the columns of V, which are orthonormal up to small errors. V (V'V)^(-1/2) by
    Cholesky's factor is then as accurate as a QR decomposition, and several times faster."""
    factor = np.linalg.cholesky(V.T @ V)
    return np.asarray(V @ np.linalg.inv(factor).T)


def _whitener(N: FloatArray) -> FloatArray:
    """Return T with T' N T = I, leaving out directions that are null within rounding."""
    diagonal = np.sqrt(np.maximum(np.diag(N), np.finfo(np.float64).tiny))
    values, vectors = np.linalg.eigh(N / np.outer(diagonal, diagonal))
    keep = values > 1e-13 * values[-1]
    whitener: FloatArray = vectors[:, keep] / np.sqrt(values[keep]) / diagonal[:, None]
    return whitener
