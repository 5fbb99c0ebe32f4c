"""The compiled predictors against the plain evaluation of the same expansion."""

import numpy as np
import pytest

from eigensieve.elements import RBF, ElementExpansion, MaskedKernel, TablePredictor, TiledPredictor
from eigensieve.elements.kernel import LINEAR, POLY

N_FEATURES = 7
KERNELS = {
    "rbf": MaskedKernel(RBF, 0.3, 1, 0.0),
    "poly": MaskedKernel(POLY, 0.2, 3, 0.5),
    "linear": MaskedKernel(LINEAR, 1.0, 1, 0.0),
}


def expansion_for(kernel: MaskedKernel, n_outputs: int) -> ElementExpansion:
    """Columns of one, three, two and all features, with widths of their own."""
    rng = np.random.default_rng(3)
    members = [[4], [0, 2, 6], [1, 4], list(range(N_FEATURES))]
    starts = np.concatenate([[0], np.cumsum([len(m) for m in members])]).astype(np.int64)
    features = np.concatenate(members).astype(np.int64)
    return ElementExpansion(
        kernel,
        N_FEATURES,
        starts,
        features,
        rng.normal(size=features.size),
        rng.uniform(0.5, 2.0, size=len(members)),
        rng.normal(size=(len(members), n_outputs)),
        rng.normal(size=n_outputs),
    )


def by_definition(expansion: ElementExpansion, X: np.ndarray) -> np.ndarray:
    """f(x) = c + sum_j beta_j k(x, z_j), column by column as it is written."""
    kernel = expansion.kernel
    out = np.tile(expansion.intercept, (len(X), 1))
    for j, factor in enumerate(expansion.factors):
        part = slice(expansion.starts[j], expansion.starts[j + 1])
        x, z = X[:, expansion.features[part]], expansion.values[part]
        if kernel.kind == RBF:
            column = np.exp(-kernel.gamma * factor * ((x - z) ** 2).sum(axis=1))
        elif kernel.kind == LINEAR:
            column = factor * (x @ z)
        else:
            column = (kernel.gamma * factor * (x @ z) + kernel.coef0) ** kernel.degree
        out += column[:, None] * expansion.weights[j]
    return out


@pytest.mark.parametrize("n_samples", [1, 95, 96, 97, 250])
@pytest.mark.parametrize("n_outputs", [1, 3])
@pytest.mark.parametrize("name", list(KERNELS))
def test_tiles_of_any_number_of_samples(name, n_outputs, n_samples):
    expansion = expansion_for(KERNELS[name], n_outputs)
    X = np.random.default_rng(n_samples).normal(size=(n_samples, N_FEATURES))
    expected = by_definition(expansion, X)
    np.testing.assert_allclose(TiledPredictor(expansion, np.float64).decision(X), expected, rtol=1e-10, atol=1e-12)
    single = TiledPredictor(expansion, np.float32)
    np.testing.assert_allclose(single.decision(X), expected, rtol=2e-5, atol=2e-5)
    np.testing.assert_allclose(single.decision(np.asfortranarray(X)), single.decision(X), rtol=0)


@pytest.mark.parametrize("name", list(KERNELS))
def test_a_sample_does_not_depend_on_its_neighbours(name):
    expansion = expansion_for(KERNELS[name], 1)
    X = np.random.default_rng(0).normal(size=(200, N_FEATURES))
    for predictor in (
        TiledPredictor(expansion, np.float32),
        TablePredictor.build(expansion, X.min(axis=0), X.max(axis=0), 64, np.float32),
    ):
        whole = predictor.decision(X)
        alone = np.concatenate([predictor.decision(X[t : t + 1]) for t in range(len(X))])
        np.testing.assert_allclose(alone, whole, rtol=1e-12, atol=1e-12)
