"""Faces as pixels and Haar wavelets, the methods that embed them, and the precision index of their neighbours."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache, partial
from typing import Any

import numpy as np

from eigensieve.datasets import load_real
from eigensieve.estimators import QAlphaSelector
from eigensieve.qalpha import SIDE_STRENGTH
from experiments.common import standardised
from experiments.frame import Array
from experiments.oriented import directions
from experiments.sufficient import distributions, sufficient_features

WITH, WITHOUT, ALL, SUFFICIENT = "Q-alpha SI", "Q-alpha, no side data", "all wavelets", "SDR-SI"
PERSONS = 5
STRENGTHS = (0.01, 0.1, 1.0)
POWERS = (0.5, 1.0)
DIMENSIONS = (2, 5, 10, 20, 40)
_RIDGES = (1e-3, 0.1, 1.0)
SUFFICIENT_STRENGTHS, SUFFICIENT_DIMENSIONS = (1.0, 3.0), (5, 10)

Makers = dict[tuple[str, str], Callable[[], Array]]
"""Method and setting -> what makes the images in its space."""


def haar(images: Array) -> Array:
    """Return Haar wavelet responses at several scales: left - right, top - bottom, and diagonal, over windows.

    Parameters
    ----------
    images : ndarray of shape (n_images, height, width)

    Returns
    -------
    responses : ndarray of shape (n_images, n_wavelets)
        Windows of 2, 4, 8 and 16 pixels that overlap by half (those of 2 pixels do not overlap); grey values of the
        positive part minus those of the negative part.
    """
    sums = np.zeros((len(images), images.shape[1] + 1, images.shape[2] + 1))
    sums[:, 1:, 1:] = images.cumsum(axis=1).cumsum(axis=2)
    responses = []
    for side in (2, 4, 8, 16):
        half, stride = side // 2, max(2, side // 2)
        tops = np.arange(0, images.shape[1] - side + 1, stride)
        lefts = np.arange(0, images.shape[2] - side + 1, stride)
        corner = [[sums[:, (tops + i)[:, None], lefts + j] for j in (0, half, side)] for i in (0, half, side)]
        quarter = [
            [corner[i + 1][j + 1] - corner[i][j + 1] - corner[i + 1][j] + corner[i][j] for j in range(2)]
            for i in range(2)
        ]
        (a, b), (c, d) = quarter
        for response in (a + c - b - d, a + b - c - d, a + d - b - c):
            responses.append(response.reshape(len(images), -1) / half**2)
    return np.concatenate(responses, axis=1)


def precision_index(Z: Array, y: Array) -> float:
    """Return the mean purity of the k nearest neighbours, k = 1 to the size of a class minus 1.

    It is 0 for random neighbours and 1 if all neighbours are of the same class.
    """
    squared = (Z**2).sum(axis=1)
    distances = squared[:, None] + squared - 2 * Z @ Z.T
    np.fill_diagonal(distances, np.inf)
    largest_k = int(np.bincount(y).min()) - 1
    same = y[np.argsort(distances, axis=1, kind="stable")[:, :largest_k]] == y[:, None]
    purity = np.mean(np.cumsum(same, axis=1) / np.arange(1, largest_k + 1))
    chance = np.mean(np.bincount(y)[y] - 1) / (len(y) - 1)
    return float((purity - chance) / (1 - chance))


@dataclass(frozen=True)
class Faces:
    """Images of persons.

    Attributes
    ----------
    images : ndarray of shape (n_images, height, width)
    pixels, wavelets : ndarrays of shape (n_images, ...)
        The values that PCA and its variants see, and those that Q-alpha sees.
    y : ndarray of shape (n_images,)
    """

    images: Array
    pixels: Array
    wavelets: Array
    y: Array

    @staticmethod
    def of(images: Array, y: Array) -> "Faces":
        """Return faces with pixels and wavelets of the images."""
        return Faces(images, images.reshape(len(images), -1), haar(images), y)

    def moved(self, most: int, rng: np.random.Generator) -> "Faces":
        """Return every image moved at random by up to `most` pixels, down and to the right; edges wrap around."""
        steps = rng.integers(-most, most + 1, size=(len(self.images), 2))
        pairs = zip(self.images, steps, strict=True)
        return Faces.of(np.array([np.roll(image, tuple(step), axis=(0, 1)) for image, step in pairs]), self.y)

    def by_wavelets(self) -> "Faces":
        """Return faces whose wavelets take the place of the pixels."""
        return Faces(self.images, self.wavelets, self.wavelets, self.y)


@cache
def load_faces(name: str) -> Faces:
    """Return a real set of faces."""
    bunch = load_real(name)
    images = np.asarray(bunch.data, dtype=float).reshape(-1, *bunch.image_shape, order=bunch.image_order)
    return Faces.of(images, np.unique(bunch.target, return_inverse=True)[1])


def wavelet_weights(faces: Faces, persons: Array, strength: float | None, **others: Any) -> Array:
    """Return alpha; the last person is the side data, which a strength of None ignores. `others` are settings."""
    main, side = np.isin(faces.y, persons[:-1]), faces.y == persons[-1]
    settings: dict[str, Any] = {"n_clusters": PERSONS, "normalize": "center", **others}
    if strength is None:
        model = QAlphaSelector(1, **settings).fit(faces.wavelets[main])
    else:
        model = QAlphaSelector(1, **settings, strength=SIDE_STRENGTH / strength)
        model.fit(faces.wavelets[main], side=faces.wavelets[side])
    return np.maximum(model.weights_, 0.0)


def setting(strength: float, power: float) -> str:
    """Return the name of a setting of Q-alpha with side data."""
    return f"lambda {strength}, power {power}"


def selecting(faces: Faces, persons: Array, **settings: Any) -> Makers:
    """Return the embeddings of Q-alpha with and without side data, and of all wavelets."""
    Z = standardised(faces.wavelets[np.isin(faces.y, persons[:-1])])
    weights = cache(partial(wavelet_weights, faces, persons, **settings))
    makers: Makers = {(ALL, ""): lambda: Z}

    def weighted(strength: float | None, power: float) -> Array:
        return np.asarray(Z * weights(strength) ** power)

    for power in POWERS:
        makers[WITHOUT, f"power {power}"] = partial(weighted, None, power)
        for strength in STRENGTHS:
            makers[WITH, setting(strength, power)] = partial(weighted, strength, power)
    return makers


def combining(faces: Faces, persons: Array, removed: int | None = None, ridges: tuple[float, ...] = _RIDGES) -> Makers:
    """Return the embeddings of PCA and its variants; `removed` is the number of directions that CPCA takes out."""
    main, side = np.isin(faces.y, persons[:-1]), faces.y == persons[-1]
    both = faces.pixels[main | side]
    # the directions live in the span of the samples, which is far smaller than the space of pixels
    span = np.linalg.svd(both - both.mean(axis=0), full_matrices=False)[2][: len(both) - 1].T
    own = faces.pixels[main] @ span
    makers: Makers = {}
    for ridge in ridges:
        for method, W in directions(own, faces.pixels[side] @ span, ridge, removed).items():
            for d in DIMENSIONS:
                name = f"{d} dimensions" + (f", ridge {ridge}" if method == "OPCA" else "")
                makers[method, name] = partial(np.matmul, own, W[:, :d])
    return makers


def informing(faces: Faces, persons: Array) -> Makers:
    """Return the embeddings of SDR-SI."""
    main, side = faces.pixels[np.isin(faces.y, persons[:-1])], faces.pixels[faces.y == persons[-1]]

    def embedded(strength: float, d: int) -> Array:
        return distributions(main).T @ sufficient_features(main, side, d, strength)

    return {
        (SUFFICIENT, f"lambda {strength}, {d} dimensions"): partial(embedded, strength, d)
        for strength in SUFFICIENT_STRENGTHS
        for d in SUFFICIENT_DIMENSIONS
    }


def tuned(
    faces: Faces, training: Array, test: Array, families: tuple[Callable[[Faces, Array], Makers], ...]
) -> dict[str, tuple[float, str]]:
    """Return the precision index per method on the test persons, and its setting, the best on the training persons."""
    best: dict[str, tuple[float, str]] = {}
    for (method, name), index in indices(faces, training, families).items():
        best[method] = max(best.get(method, (-np.inf, "")), (index, name))
    wanted = {(method, name) for method, (_, name) in best.items()}
    found = indices(faces, test, families, wanted)
    return {method: (found[method, name], name) for method, name in wanted}


def indices(
    faces: Faces,
    persons: Array,
    families: tuple[Callable[[Faces, Array], Makers], ...],
    wanted: set[tuple[str, str]] | None = None,
) -> dict[tuple[str, str], float]:
    """Return the precision index per method and setting; of all of them, or of those that are wanted."""
    main = np.isin(faces.y, persons[:-1])
    labels = np.unique(faces.y[main], return_inverse=True)[1]
    makers = {key: make for family in families for key, make in family(faces, persons).items()}
    return {key: precision_index(make(), labels) for key, make in makers.items() if wanted is None or key in wanted}
