"""Deep selectors, trained for their papers' whole schedule. They need PyTorch.

Columns are standardised or raw as given, and centred. All run on the processor: minutes per data set.
"""

import math

import numpy as np
import torch
from torch import nn
from torch.nn import functional

_EPOCHS, _TRIES = 300, 5  # concrete autoencoder: doubled until the choice is settled, this many times
_WARM, _COLD = 10.0, 0.01
_SETTLED = 0.998
_GATE_EPOCHS, _GATE_RATE, _GATE_NOISE = 3_000, 0.3, 0.5


def concrete_autoencoder(X, n_clusters, count, seed, y):
    """Concrete autoencoder (Balin, Abid and Zou 2019).

    Selection layer at temperatures from 10 to 0.01, a hidden layer of 3/2 of the features chosen, Adam with rate
    0.001, 300 epochs, doubled up to five times until the mean largest probability is above 0.998.
    """
    return _concrete(X, count, seed, lambda chosen: 0.0)


def ls_cae(X, n_clusters, count, seed, y):
    """LS-CAE (Shaham, Lindenbaum, Svirsky and Kluger 2022): concrete autoencoder plus the Laplacian score.

    Both losses are divided by their own size, so that they count alike. The schedule is that of the autoencoder.
    """
    return _concrete(X, count, seed, lambda chosen: -_smoothness(chosen))


def dufs(X, n_clusters, count, seed, y):
    """DUFS (Lindenbaum, Shaham, Peterfreund, Svirsky, Casey and Kluger 2021), the form without a parameter.

    Stochastic gates, 3,000 epochs of gradient descent on the smoothness of the gated features over their own graph,
    divided by the expected number of open gates.
    """
    data, generator = _tensor(X), torch.Generator().manual_seed(seed)
    centre = torch.full((data.shape[1],), 0.5, requires_grad=True)
    descent = torch.optim.SGD([centre], lr=_GATE_RATE)
    for _ in range(_GATE_EPOCHS):
        noise = _GATE_NOISE * torch.randn(data.shape[1], generator=generator)
        gated = data * (centre + noise).clamp(0.0, 1.0)
        open_gates = (0.5 + 0.5 * torch.erf(centre / (_GATE_NOISE * math.sqrt(2.0)))).sum()
        loss = -data.shape[1] * _smoothness(gated) / (open_gates + 1e-6)
        descent.zero_grad()
        loss.backward()
        descent.step()
    return np.argsort(-centre.detach().numpy(), kind="stable")


def _tensor(X: np.ndarray) -> torch.Tensor:
    A = X - X.mean(axis=0)
    return torch.as_tensor(A / max(1e-300, A.std()), dtype=torch.float32)


def _smoothness(values: torch.Tensor) -> torch.Tensor:
    """Tr(V' P^2 V) / n, P the random walk on a Gaussian graph of the rows of V."""
    gaps = torch.cdist(values, values) ** 2
    width = gaps.detach().median().clamp_min(1e-12)
    walk = functional.normalize(torch.exp(-gaps / width), p=1, dim=1)
    return (values * (walk @ (walk @ values))).sum() / len(values)


def _concrete(X, count, seed, extra):
    data, generator = _tensor(X), torch.Generator().manual_seed(seed)
    torch.manual_seed(seed)
    epochs = _EPOCHS
    for _ in range(_TRIES):
        logits, settled = _train(data, min(count, data.shape[1]), epochs, generator, extra)
        if settled:
            break
        epochs *= 2
    share = torch.softmax(logits, dim=1).numpy()
    chosen = list(dict.fromkeys(share.argmax(axis=1).tolist()))
    rest = [j for j in np.argsort(-share.max(axis=0), kind="stable").tolist() if j not in set(chosen)]
    return np.array(chosen + rest)


def _train(data, count, epochs, generator, extra):
    logits = torch.empty(count, data.shape[1])
    nn.init.xavier_normal_(logits)
    logits.requires_grad_(True)
    hidden = max(1, 3 * count // 2)
    decoder = nn.Sequential(
        nn.Linear(count, hidden), nn.LeakyReLU(0.2), nn.Dropout(0.1), nn.Linear(hidden, data.shape[1])
    )
    descent = torch.optim.Adam([logits, *decoder.parameters()], lr=1e-3)
    size = max(len(data) // 256, 16)
    for epoch in range(epochs):
        heat = _WARM * (_COLD / _WARM) ** (epoch / max(1, epochs - 1))
        for rows in torch.randperm(len(data), generator=generator).split(size):
            noise = torch.rand(logits.shape, generator=generator).clamp(1e-7, 1 - 1e-7)
            chosen = data[rows] @ torch.softmax((logits - torch.log(-torch.log(noise))) / heat, dim=1).T
            loss = functional.mse_loss(decoder(chosen), data[rows])
            other = extra(chosen)
            if torch.is_tensor(other):
                loss = loss / loss.detach().clamp_min(1e-12) + other / other.detach().abs().clamp_min(1e-12)
            descent.zero_grad()
            loss.backward()
            descent.step()
    final = logits.detach()
    return final, bool(torch.softmax(final, dim=1).max(dim=1).values.mean() > _SETTLED)
