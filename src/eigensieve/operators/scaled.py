"""An affinity whose features are scaled: the symmetric form of a generalised eigenproblem."""

from eigensieve._types import Array
from eigensieve.operators.affinity import Affinity


class ScaledAffinity(Affinity):
    """L(b) = sum_i b_i s_i L_i of another affinity: the same map for the weights w = S b.

    The weights w are to be the leading eigenvector of S^2 G. Then w = S b, where b is the leading eigenvector of the
    symmetric matrix S G S (2004, section 3, with S = (D + lambda I)^-1/2). The solver sees a problem of the usual kind.

    Parameters
    ----------
    base : Affinity
        The affinity of the data, with any spectrum.
    scale : ndarray of shape (n_features,)
        The positive numbers s_i.
    """

    per_feature = ("scale",)

    def __init__(self, base: Affinity, scale: Array) -> None:
        super().__init__(base.data)
        self.base = base
        self.scale = scale
        self.width = base.width

    @property
    def constants(self) -> tuple[Array, ...]:
        return (self.scale, *self.base.constants)

    def companion(self, U: Array, V: Array) -> Array:
        return self.base.companion(U, V)

    def pull(self, TU: Array, TV: Array, extra: Array, constants: tuple[Array, ...], inner: float) -> Array:
        scaled: Array = constants[0] * self.base.pull(TU, TV, extra, constants[1:], inner)
        return scaled

    def spread(self, weights: Array, T: Array, constants: tuple[Array, ...]) -> Array:
        return self.base.spread(constants[0] * weights, T, constants[1:])

    def mass(self, weights: Array, constants: tuple[Array, ...]) -> float:
        return self.base.mass(constants[0] * weights, constants[1:])

    def gather(self, back: Array, total_weight: float, V: Array) -> Array:
        return self.base.gather(back, total_weight, V)
