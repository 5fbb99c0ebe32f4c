"""Two small machines from their papers, short and in numpy: ProtoNN and Bonsai (both ICML 2017), for two classes.

Both project the sample, z = W x, with a W of which few entries are not zero. With the sign s of the class as -1 or 1:

    ProtoNN    f(x) = c + sum_j a_j exp(-gamma |z - b_j|^2)
    Bonsai     f(x) = c + sum over nodes k of  I_k(z) (w_k' z) tanh(sigma v_k' z)
               with I_k the product of (1 +- tanh(sharp theta' z)) / 2 on the path to the node

Everything is trained together by L-BFGS on the mean logistic loss, first with all of W, then with its largest entries
alone (the papers take gradient steps and threshold after each). The start of W is that of the leading directions of
partial least squares; the prototypes start at samples.
"""

from collections.abc import Callable

import numpy as np
from scipy.optimize import minimize
from scipy.special import expit

STEPS = (40, 80)
"""Of L-BFGS, before and after W is made sparse."""
DECAY = 1e-3
SIGMA, SHARP = 1.0, 1.0

Parts = list[np.ndarray]


def directions(X: np.ndarray, s: np.ndarray, count: int, rng: np.random.Generator) -> np.ndarray:
    """Return directions that tell the classes apart, each on what the earlier ones leave; unit variance along each."""
    left, found = X.copy(), []
    target = s - s.mean()
    for _ in range(count):
        w = left.T @ target
        if np.linalg.norm(w) < 1e-9:
            w = rng.normal(size=X.shape[1])
        t = left @ (w / np.linalg.norm(w))
        left -= np.outer(t, t @ left) / max(t @ t, 1e-12)
        target = target - t * (t @ target) / max(t @ t, 1e-12)
        found.append(w / np.linalg.norm(w) / max(t.std(), 1e-6))
    return np.array(found)


class Paper:
    """The training that both machines share; `parts` holds W first."""

    parts: Parts

    def forward(
        self, Z: np.ndarray, parts: Parts
    ) -> tuple[np.ndarray, Callable[[np.ndarray], tuple[np.ndarray, Parts]]]:
        """Return f, and a function from df to (dZ, gradients of the parts after W)."""
        raise NotImplementedError

    def fit(self, X: np.ndarray, y: np.ndarray, n_kept: int) -> "Paper":
        """Fit with at most `n_kept` entries of W."""
        s = 2.0 * y - 1.0
        kept = np.ones(self.parts[0].shape, dtype=bool)
        for steps in STEPS:
            shapes = [p.shape for p in self.parts]
            cuts = np.cumsum([p.size for p in self.parts])[:-1]

            def value(
                flat: np.ndarray, kept: np.ndarray = kept, shapes: list = shapes, cuts: np.ndarray = cuts
            ) -> tuple:
                parts = [p.reshape(shape) for p, shape in zip(np.split(flat, cuts), shapes, strict=True)]
                W = parts[0] * kept
                f, back = self.forward(X @ W.T, parts)
                loss = np.logaddexp(0.0, -s * f).mean() + DECAY * sum((p**2).sum() for p in parts) / 2
                dZ, rest = back(-s * expit(-s * f) / len(s))
                gradients = [(dZ.T @ X) * kept, *rest]
                return loss, np.concatenate([(g + DECAY * p).ravel() for g, p in zip(gradients, parts, strict=True)])

            start = np.concatenate([p.ravel() for p in self.parts])
            flat = minimize(value, start, jac=True, method="L-BFGS-B", options={"maxiter": steps}).x
            self.parts = [p.reshape(shape) for p, shape in zip(np.split(flat, cuts), shapes, strict=True)]
            if n_kept < kept.sum():
                least = np.sort(np.abs(self.parts[0] * kept), axis=None)[-n_kept]
                kept = np.abs(self.parts[0]) >= least
            self.parts[0] = self.parts[0] * kept
        return self

    def decision(self, X: np.ndarray) -> np.ndarray:
        """Return f."""
        return self.forward(X @ self.parts[0].T, self.parts)[0]


class ProtoNN(Paper):
    """Prototypes in the projected space."""

    def __init__(self, X: np.ndarray, y: np.ndarray, n_projected: int, n_prototypes: int, seed: int = 0) -> None:
        rng = np.random.default_rng(seed)
        W = directions(X, 2.0 * y - 1.0, n_projected, rng)
        rows = np.concatenate([rng.choice(np.flatnonzero(y == k), n_prototypes // 2) for k in (0, 1)])
        Z = X @ W.T
        self.gamma = 1.0 / (2.0 * np.median(((Z[rows][:, None] - Z[rows]) ** 2).sum(axis=2)) + 1e-9) * 2.5
        self.parts = [W, Z[rows], 2.0 * y[rows] - 1.0, np.zeros(1)]

    def forward(self, Z: np.ndarray, parts: Parts) -> tuple:
        _, B, a, c = parts
        apart = Z[:, None, :] - B
        K = np.exp(-self.gamma * (apart**2).sum(axis=2))

        def back(df: np.ndarray) -> tuple[np.ndarray, Parts]:
            pull = (df[:, None] * K * a)[:, :, None] * (-2.0 * self.gamma * apart)
            return pull.sum(axis=1), [-pull.sum(axis=0), K.T @ df, np.array([df.sum()])]

        return K @ a + c[0], back


class Bonsai(Paper):
    """A shallow tree whose nodes all predict."""

    def __init__(self, X: np.ndarray, y: np.ndarray, n_projected: int, depth: int, seed: int = 0) -> None:
        rng = np.random.default_rng(seed)
        self.n_inner = 2**depth - 1
        nodes = 2 ** (depth + 1) - 1
        W = directions(X, 2.0 * y - 1.0, n_projected, rng)
        small = 0.3 * rng.normal(size=(2, nodes, n_projected))
        small[0, 0, 0] = small[1, 0, 0] = 1.0
        self.parts = [W, rng.normal(size=(self.n_inner, n_projected)), small[0], small[1], np.zeros(1)]

    def forward(self, Z: np.ndarray, parts: Parts) -> tuple:
        _, theta, w, v, c = parts
        turn = np.tanh(SHARP * Z @ theta.T)
        line, gate = Z @ w.T, np.tanh(SIGMA * Z @ v.T)
        reach = np.ones((len(Z), len(w)))
        for k in range(self.n_inner):
            reach[:, 2 * k + 1] = reach[:, k] * (1.0 + turn[:, k]) / 2
            reach[:, 2 * k + 2] = reach[:, k] * (1.0 - turn[:, k]) / 2

        def back(df: np.ndarray) -> tuple[np.ndarray, Parts]:
            d_reach, d_turn = df[:, None] * line * gate, np.zeros(turn.shape)
            for k in reversed(range(self.n_inner)):
                left, right = d_reach[:, 2 * k + 1], d_reach[:, 2 * k + 2]
                d_reach[:, k] += left * (1.0 + turn[:, k]) / 2 + right * (1.0 - turn[:, k]) / 2
                d_turn[:, k] = (left - right) * reach[:, k] / 2
            d_turn *= SHARP * (1.0 - turn**2)
            d_line = df[:, None] * reach * gate
            d_gate = df[:, None] * reach * line * SIGMA * (1.0 - gate**2)
            dZ = d_turn @ theta + d_line @ w + d_gate @ v
            return dZ, [d_turn.T @ Z, d_line.T @ Z, d_gate.T @ Z, np.array([df.sum()])]

        return (reach * line * gate).sum(axis=1) + c[0], back


def projection_to_c(W: np.ndarray, name: str, array: Callable[..., str]) -> tuple[str, str]:
    """Return arrays and loops for z = W x that read the entries that are not zero."""
    used = [np.flatnonzero(row) for row in W]
    starts = np.cumsum([0, *(len(u) for u in used)])
    places = ", ".join(str(i) for u in used for i in u)
    values, unit = array(f"{name}_p", np.concatenate([row[u] for row, u in zip(W, used, strict=True)]))
    arrays = (
        values
        + f"static const unsigned short {name}_i[] = {{{places}}};\n"
        + f"static const unsigned short {name}_s[] = {{{', '.join(map(str, starts))}}};\n"
    )
    loops = f"""    float z[{len(W)}];
    int i, j, k;
    for (j = 0; j < {len(W)}; j++) {{
        float t = 0.0f;
        for (i = {name}_s[j]; i < {name}_s[j + 1]; i++) t += {name}_p[i] * x[{name}_i[i]];
        z[j] = t{unit};
    }}
"""
    return arrays, loops


def protonn_to_c(model: ProtoNN, name: str, array: Callable[..., str]) -> str:
    """Return the machine as C. `array` writes an array and returns it with the factor on its values."""
    W, B, a, c = model.parts
    arrays, loops = projection_to_c(W, name, array)
    b, b_unit = array(f"{name}_b", B)
    labels, a_unit = array(f"{name}_a", a)
    return f"""{arrays}{b}{labels}float expf(float);
void {name}_decision(const float *x, float *out)
{{
{loops}    float sum = 0.0f;
    for (j = 0; j < {len(B)}; j++) {{
        float square = 0.0f;
        for (k = 0; k < {W.shape[0]}; k++) {{
            float t = z[k] - {name}_b[j * {W.shape[0]} + k]{b_unit};
            square += t * t;
        }}
        sum += {name}_a[j] * expf({float(-model.gamma)!r}f * square);
    }}
    out[0] = sum{a_unit} + {float(c[0])!r}f;
}}
"""


def bonsai_to_c(model: Bonsai, name: str, array: Callable[..., str]) -> str:
    """Return the machine as C."""
    W, theta, w, v, c = model.parts
    arrays, loops = projection_to_c(W, name, array)
    (t, t_unit), (u, u_unit), (g, g_unit) = (array(f"{name}_{k}", p) for k, p in (("t", theta), ("w", w), ("v", v)))
    p, nodes = W.shape[0], len(w)
    return f"""{arrays}{t}{u}{g}float tanhf(float);
void {name}_decision(const float *x, float *out)
{{
{loops}    float reach[{nodes}], sum = {float(c[0])!r}f;
    reach[0] = 1.0f;
    for (j = 0; j < {nodes}; j++) {{
        float turn = 0.0f, line = 0.0f, gate = 0.0f;
        for (k = 0; k < {p}; k++) {{
            line += {name}_w[j * {p} + k] * z[k];
            gate += {name}_v[j * {p} + k] * z[k];
            if (j < {model.n_inner}) turn += {name}_t[j * {p} + k] * z[k];
        }}
        sum += reach[j] * line{u_unit} * tanhf({SIGMA}f * gate{g_unit});
        if (j < {model.n_inner}) {{
            turn = tanhf({SHARP}f * turn{t_unit});
            reach[2 * j + 1] = reach[j] * (1.0f + turn) / 2;
            reach[2 * j + 2] = reach[j] * (1.0f - turn) / 2;
        }}
    }}
    out[0] = sum;
}}
"""
