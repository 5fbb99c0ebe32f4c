"""From feature weights to a samples x samples matrix and back, without forming either side.

An affinity is a linear map from weights to symmetric matrices, L(w) = sum_i w_i L_i, with its adjoint, g_i = <L_i, S>.
Everything Q-alpha needs is these two maps. The spectrum (standard or Laplacian) determines the L_i.
"""

from abc import ABC, abstractmethod

import numpy as np
import scipy.linalg

from eigensieve._types import FloatArray, JsonDict
from eigensieve.data import DataMatrix, one_blas_thread
from eigensieve.operators.steps import SpreadStep

Constants = tuple[FloatArray, ...]
"""Arrays with one entry per feature."""

_EXTRA = 2  # columns beyond those wanted: they make the block method settle in fewer passes


def row_dot(U: FloatArray, V: FloatArray) -> FloatArray:
    """Return the inner products of corresponding rows."""
    return np.einsum("tc,tc->t", U, V)


class Affinity(ABC):
    """L(w) = sum_i w_i L_i for standardised data M (features x samples).

    The block methods work on a few features at a time, inside one pass over the data. `apply` and `gradient` are whole
    passes built from them.
    """

    width: int = 0  # number of extra columns that `spread` adds to each product

    plain: bool = False
    """Whether L_i = m_i m_i'. `spread` then multiplies by the weights, and `pull` multiplies projections."""

    per_feature: tuple[str, ...] = ()
    """Names of attributes with one entry per feature. Block functions get them as `constants`, cut like the data."""

    def __init__(self, data: DataMatrix) -> None:
        self.data = data
        self.n_features = data.n_features
        self.n_samples = data.n_samples

    def __getstate__(self) -> JsonDict:
        """Leave out the data and the arrays per feature: block methods that run elsewhere do not need them."""
        return {name: value for name, value in vars(self).items() if name not in ("data", *self.per_feature)}

    @property
    def constants(self) -> Constants:
        """Per-feature arrays the block methods need."""
        return ()

    def companion(self, U: FloatArray, V: FloatArray) -> FloatArray:
        """Return the extra columns (samples x e) whose projection `pull` needs."""
        return np.empty((len(U), 0))

    @abstractmethod
    def pull(self, TU: FloatArray, TV: FloatArray, extra: FloatArray, constants: Constants, inner: float) -> FloatArray:
        """Return <L_i, (UV' + VU')/2> for a block, given M_b U, M_b V, M_b companion and <U, V>."""

    @abstractmethod
    def spread(self, weights: FloatArray, T: FloatArray, constants: Constants) -> FloatArray:
        """Return the columns W_b whose backward product gives L(w) V, given T = M_b V."""

    def mass(self, weights: FloatArray, constants: Constants) -> float:
        """Return the block's part of the total weight that `gather` needs."""
        return 0.0

    def gather(self, back: FloatArray, total_weight: float, V: FloatArray) -> FloatArray:
        """Return L(w) V from the backward product of what `spread` gave."""
        return back

    def moved(self, weights: FloatArray) -> "Affinity":
        """Return the affinity for a step from these weights: another one only if the d of a Laplacian moves."""
        return self

    @abstractmethod
    def scaled(self, factor: FloatArray) -> "Affinity":
        """Return the affinity with s_i L_i in place of L_i, for positive s_i.

        The weights w are to be the leading eigenvector of S^2 G. Then w = S b, where b is the leading eigenvector of
        the symmetric matrix S G S (2004, section 3, with S = (D + lambda I)^-1/2): that of the scaled affinity.
        """

    def apply(self, weights: FloatArray, V: FloatArray) -> FloatArray:
        """Return L(w) V (samples x columns); one pass."""
        result = self.data.sweep(V, SpreadStep(self), (weights, *self.constants))
        assert result.back is not None and result.total is not None
        return self.gather(result.back, float(result.total[0]), V)

    def matrix(self, weights: FloatArray) -> FloatArray:
        """Return L(w) itself (samples x samples): for few samples; one pass."""
        return self.apply(weights, np.eye(self.n_samples))

    def gradient(self, U: FloatArray, V: FloatArray) -> FloatArray:
        """Return <L_i, (UV' + VU')/2> for every feature; one pass."""
        columns, inner = np.hstack([U, V, self.companion(U, V)]), float(np.sum(U * V))
        v, extra = slice(U.shape[1], 2 * U.shape[1]), slice(2 * U.shape[1], None)
        pulled = self.data.sweep(
            columns,
            lambda T, *constants: ((self.pull(T[:, : v.start], T[:, v], T[:, extra], constants, inner),), None, None),
            self.constants,
        )
        return self.data.collect(pulled.state[0])

    def frobenius(self, weights: FloatArray) -> FloatArray:
        """Return the gradient of |L(w)|_F^2 / 2, i.e. g_i = <L_i, L(w)>.

        Costs O(n q^2), because L(w) has full rank. The samples x samples matrix is never held: it is applied to groups
        of unit vectors, a few samples at a time.
        """
        out = np.zeros(self.n_features)
        group = max(16, min(self.n_samples, 256))
        for start in range(0, self.n_samples, group):
            unit = np.eye(self.n_samples, min(group, self.n_samples - start), -start)
            out += self.gradient(self.apply(weights, unit), unit)
        return out


class StandardAffinity(Affinity):
    """L_i = m_i m_i', so that L(w) = A = sum_i w_i m_i m_i' (2005, section 2.1)."""

    plain = True

    def scaled(self, factor: FloatArray) -> Affinity:
        return StandardAffinity(_scaled_data(self.data, factor))

    def pull(self, TU: FloatArray, TV: FloatArray, extra: FloatArray, constants: Constants, inner: float) -> FloatArray:
        return row_dot(TU, TV).astype(np.float64, copy=False)

    def spread(self, weights: FloatArray, T: FloatArray, constants: Constants) -> FloatArray:
        return weights.astype(T.dtype, copy=False)[:, None] * T

    def matrix(self, weights: FloatArray) -> FloatArray:
        return self.data.gram(weights)


class LaplacianAffinity(Affinity):
    """L_i = m_i m_i' - diag(m_i (m_i'1)) + d I (2005, section 2.2), for data that is not centred: m_i'1 would be 0.

    d is the largest degree of the equally weighted affinity divided by the sum of its weights, max diag(A1) / sum(w).
    The matrix that the search starts from is then positive semidefinite. d (`shift`) stays fixed, so that the criterion
    is one function throughout. The printed algorithm moves d in every step, and takes it from diag(A), which does not
    make the matrix semidefinite: `rule` is "fixed", "moving" (as above, in every step) or "printed". Columns that are
    left out (scale zero) have L_i = 0. `share` is the multiple of dI in every L_i, in place of 1.
    """

    width = 1
    per_feature = ("sums", "share")

    def __init__(
        self, data: DataMatrix, rule: str = "fixed", shift: float | None = None, share: FloatArray | None = None
    ) -> None:
        super().__init__(data)
        self.rule = rule
        mean = data.stats().mean
        center = 0.0 if data.center is None else data.center
        scale = 1.0 if data.scale is None else data.scale
        self.sums = (mean - center) * data.n_samples * scale
        alive = np.broadcast_to(np.asarray(scale) != 0, mean.shape)
        self.share = alive.astype(np.float64) if share is None else share * alive
        self.shift = self._shift(self.share, degrees=True) if shift is None else shift

    def _shift(self, weights: FloatArray, *, degrees: bool) -> float:
        """Return the largest degree of A(w), or the largest entry of its diagonal, divided by the total weight."""
        entries = self.data.combine((weights * self.sums)[:, None]) if degrees else np.diag(self.data.gram(weights))
        return float((entries / (float(weights @ self.share) or 1.0)).max())

    def moved(self, weights: FloatArray) -> Affinity:
        if self.rule == "fixed":
            return self
        shift = self._shift(weights, degrees=self.rule == "moving")
        return LaplacianAffinity(self.data, self.rule, shift, self.share)

    def scaled(self, factor: FloatArray) -> Affinity:
        return LaplacianAffinity(_scaled_data(self.data, factor), self.rule, self.shift, self.share * factor)

    @property
    def constants(self) -> Constants:
        return (self.sums, self.share)

    def companion(self, U: FloatArray, V: FloatArray) -> FloatArray:
        return row_dot(U, V)[:, None]

    def pull(self, TU: FloatArray, TV: FloatArray, extra: FloatArray, constants: Constants, inner: float) -> FloatArray:
        sums, share = constants
        return row_dot(TU, TV) - sums * extra[:, 0] + self.shift * inner * share

    def spread(self, weights: FloatArray, T: FloatArray, constants: Constants) -> FloatArray:
        sums = constants[0]
        return np.column_stack([weights[:, None] * T, weights * sums]).astype(T.dtype, copy=False)

    def mass(self, weights: FloatArray, constants: Constants) -> float:
        return float(weights @ constants[1])

    def gather(self, back: FloatArray, total_weight: float, V: FloatArray) -> FloatArray:
        return back[:, :-1] - back[:, -1:] * V + self.shift * total_weight * V


def _scaled_data(data: DataMatrix, factor: FloatArray) -> DataMatrix:
    """Return data whose products m_i m_i' are multiplied by the factors."""
    root = np.sqrt(factor)
    return data.rescaled(data.center, root if data.scale is None else data.scale * root, data.far)


@one_blas_thread()
def leading_eigenvectors(
    affinity: Affinity, weights: FloatArray, count: int, *, rtol: float = 1e-2, max_blocks: int = 3
) -> tuple[FloatArray, FloatArray]:
    """Return the `count` eigenvalues of L(w) largest in magnitude, and their eigenvectors.

    Block Lanczos with full orthogonalisation, one pass per block, until the residual is below `rtol` times the largest
    eigenvalue, or after `max_blocks` passes. The start is fixed, so the answer is the same on every run. With few
    samples the matrix is formed, in one pass.
    """
    q = affinity.n_samples
    width = min(q, count + _EXTRA)
    if q <= 4 * width or q <= 200:
        return _ritz(np.eye(q), affinity.matrix(weights), count)[:2]
    V = scipy.linalg.qr(np.random.default_rng(0).standard_normal((q, width)), mode="economic")[0]
    LV = np.empty((q, 0))
    for _ in range(max_blocks):
        image = affinity.apply(weights, V[:, LV.shape[1] :])
        LV = np.hstack([LV, image])
        values, vectors, images = _ritz(V, LV, count)
        residual = np.linalg.norm(images - vectors * values, axis=0).max()
        if residual <= rtol * np.abs(values).max() or V.shape[1] + width > q:
            break
        V = np.hstack([V, _orthonormal_extension(V, image)])
    return values, vectors


def _orthonormal_extension(V: FloatArray, Y: FloatArray) -> FloatArray:
    """Return orthonormal columns, as many as Y has, orthogonal to those of V and spanning what Y adds to them.

    It is done twice: the second time removes what rounding left of V, and replaces columns that Y did not determine.
    """
    for _ in range(2):
        Y = scipy.linalg.qr(Y - V @ (V.T @ Y), mode="economic")[0]
    return Y


def _ritz(V: FloatArray, LV: FloatArray, count: int) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Rayleigh-Ritz in the span of V: return values, vectors and L times the vectors."""
    small = V.T @ LV
    values, turn = np.linalg.eigh((small + small.T) / 2)
    order = np.argsort(-np.abs(values), kind="stable")[:count]
    return values[order], V @ turn[:, order], LV @ turn[:, order]
