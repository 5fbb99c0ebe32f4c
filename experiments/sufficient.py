"""Sufficient dimensionality reduction with side information, SDR-SI (Globerson, Chechik and Tishby, UAI 2003)."""

from dataclasses import dataclass, field

import numpy as np
import scipy.linalg
from scipy.optimize import minimize

from experiments.frame import Array

_STEPS, _FITTING, _PRECISION = 20, 100, 1e-6


def sufficient_features(main: Array, side: Array, count: int, strength: float) -> Array:
    """Return features phi(x) of the pixels that tell much about the main images and little about the side images.

    An image y is a distribution p(x|y) over its pixels x. The information in phi is the least mutual information of x
    and y among all joint distributions with the same marginals and the same means of phi per image. The features
    maximise that of the main images minus `strength` times that of the side images.

    Parameters
    ----------
    main, side : ndarray of shape (n_images, n_pixels)
        Grey values, not negative.
    count : int
        Number of features.
    strength : float
        lambda.

    Returns
    -------
    phi : ndarray of shape (n_pixels, count)
        With unit covariance over the pixels of the main images. An image's features are ``distributions(X).T @ phi``.

    Notes
    -----
    The least informative distribution has the form p(x|y) = exp(phi(x)'psi(y) + A(x)) / Z(y). The gradient with respect
    to phi is that of its likelihood, with psi and A at their optimum. The search starts from the solution for x and y
    that are almost independent: eigenvectors of the covariance of the main images' distributions minus lambda times
    that of the side images.
    """
    parts = [_Information(distributions(main)), _Information(distributions(side))]
    weight = parts[0].P.mean(axis=1)
    root = np.sqrt(weight)[:, None]

    def negative(flat: Array) -> tuple[float, Array]:
        phi = flat.reshape(len(root), count) / root
        (gain, up), (loss, down) = (part.at(phi) for part in parts)
        return strength * loss - gain, ((strength * down - up) / root).ravel()

    found = minimize(
        negative,
        (_start(parts, count, strength, root) * root).ravel(),
        jac=True,
        method="L-BFGS-B",
        options={"maxiter": _STEPS},
    )
    phi = found.x.reshape(len(root), count) / root
    phi = phi - weight @ phi
    values, vectors = np.linalg.eigh((phi * weight[:, None]).T @ phi)
    scaled: Array = phi @ (vectors / np.sqrt(np.maximum(values, 1e-12 * values[-1])))
    return scaled


def distributions(images: Array) -> Array:
    """Return p(x|y) in columns, one per image: grey values, plus 1 so that none is 0, with sum 1."""
    positive = images.T + 1.0
    return positive / positive.sum(axis=0)


@dataclass
class _Information:
    """The information that features hold about images. The last fit is where the next one starts.

    Attributes
    ----------
    P : ndarray of shape (n_pixels, n_images)
        p(x|y) in columns.
    psi, A : ndarrays of shape (n_images, n_features) and (n_pixels,)
        Parameters of the least informative distribution.
    """

    P: Array
    psi: Array = field(default_factory=lambda: np.empty(0))
    A: Array = field(default_factory=lambda: np.empty(0))

    def at(self, phi: Array) -> tuple[float, Array]:
        """Return the information in nats, and its gradient with respect to phi.

        The information stays the same under linear maps of phi, so the fit uses features of unit covariance.
        """
        P, marginal = self.P, self.P.mean(axis=1)
        if self.psi.shape != (P.shape[1], phi.shape[1]):
            self.psi, self.A = np.zeros((P.shape[1], phi.shape[1])), np.log(marginal)
        centred = phi - marginal @ phi
        factor = np.linalg.cholesky((centred * marginal[:, None]).T @ centred)
        white = scipy.linalg.solve_triangular(factor, centred.T, lower=True).T
        M = self._fit(white, marginal)
        value = float(np.mean(np.sum(P * np.log(M), axis=0)) - marginal @ np.log(marginal))
        psi = scipy.linalg.solve_triangular(factor, self.psi.T, lower=True, trans="T").T
        return value, (P - M) @ psi / P.shape[1]

    def _fit(self, phi: Array, marginal: Array) -> Array:
        """Fit psi by Newton's steps and A by scaling to the marginal, in turn; return the model."""
        products = (phi[:, :, None] * phi[:, None, :]).reshape(len(phi), -1)
        for _ in range(_FITTING):
            M = self._model(phi)
            mean, gap = phi.T @ M, (phi.T @ (self.P - M)).T
            curvature = (products.T @ M).T.reshape(-1, phi.shape[1], phi.shape[1]) - np.einsum("iy,jy->yij", mean, mean)
            step = np.linalg.solve(curvature + 1e-9 * np.eye(phi.shape[1]), gap[:, :, None])[:, :, 0]
            # shortened where it would change a probability by more than a factor e
            self.psi = self.psi + step / np.maximum(1.0, np.abs(phi @ step.T).max(axis=0))[:, None]
            self.A = self.A + np.log(marginal) - np.log(self._model(phi).mean(axis=1))
            if float(np.mean(np.sum(step * gap, axis=1))) < _PRECISION:
                break
        return self._model(phi)

    def _model(self, phi: Array) -> Array:
        logits = phi @ self.psi.T + self.A[:, None]
        M = np.exp(logits - logits.max(axis=0))
        return M / M.sum(axis=0)


def _start(parts: list[_Information], count: int, strength: float, root: Array) -> Array:
    """Return the features for pixels and images that are almost independent."""
    main, side = ((part.P - part.P.mean(axis=1, keepdims=True)) / root / np.sqrt(part.P.shape[1]) for part in parts)
    basis = np.linalg.qr(np.column_stack([main, side]))[0]
    difference = basis.T @ (main @ (main.T @ basis) - strength * (side @ (side.T @ basis)))
    leading = np.linalg.eigh((difference + difference.T) / 2)[1][:, ::-1][:, :count]
    return (basis @ leading) / root
