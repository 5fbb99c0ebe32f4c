"""Small machines as C: trees as nested comparisons, lines, networks and Nystroem maps as loops over arrays.

Plain single-precision code as an engineer would write it. `Built` compiles a file and says what it costs.
"""

import ctypes
import re
import subprocess
import time
from pathlib import Path
from typing import Any

import numpy as np

FLAGS = ["-O2", "-fPIC"]


def array(name: str, values: np.ndarray) -> str:
    """Return a constant array in single precision."""
    numbers = ", ".join(f"{np.float32(v):.9g}" for v in np.ravel(values))
    return f"static const float {name}[{np.size(values)}] = {{{numbers}}};\n"


def trees_to_c(model: Any, name: str, n_trees: int | None = None) -> str:
    """Return boosted trees, or the first of them, as nested comparisons."""

    def branch(tree: Any, node: int) -> str:
        if tree.children_left[node] < 0:
            return f"{float(np.float32(model.learning_rate * tree.value[node, 0, 0]))!r}f"
        left, right = (branch(tree, child[node]) for child in (tree.children_left, tree.children_right))
        # Rounded down: a sample in single precision is then on the same side as of the threshold itself.
        threshold = np.float32(tree.threshold[node])
        if threshold > tree.threshold[node]:
            threshold = np.nextafter(threshold, np.float32(-np.inf))
        return f"(x[{tree.feature[node]}] <= {float(threshold)!r}f ? {left} : {right})"

    start = float(model._raw_predict_init(np.zeros((1, model.n_features_in_)))[0, 0])
    lines = "\n".join(f"    sum += {branch(one[0].tree_, 0)};" for one in model.estimators_[:n_trees])
    head = f"void {name}_decision(const float *x, float *out)\n{{\n    float sum = {start!r}f;\n"
    return f"{head}{lines}\n    out[0] = sum;\n}}\n"


def line_to_c(weights: np.ndarray, intercept: float, name: str) -> str:
    """Return a linear model that reads the features with a weight."""
    used = np.flatnonzero(weights)
    return (
        array(f"{name}_w", weights[used])
        + f"static const unsigned short {name}_i[{used.size}] = {{{', '.join(map(str, used))}}};\n"
        + f"void {name}_decision(const float *x, float *out)\n{{\n    float sum = {float(intercept)!r}f;\n    int i;\n"
        + f"    for (i = 0; i < {used.size}; i++) sum += {name}_w[i] * x[{name}_i[i]];\n    out[0] = sum;\n}}\n"
    )


def network_to_c(model: Any, name: str) -> str:
    """Return a network with one hidden layer of rectified units."""
    first, second = model.coefs_
    d, h = first.shape
    return (
        array(f"{name}_a", first.T) + array(f"{name}_b", model.intercepts_[0]) + array(f"{name}_c", second)
        + f"""void {name}_decision(const float *x, float *out)
{{
    float sum = {float(model.intercepts_[1][0])!r}f;
    int i, j;
    for (j = 0; j < {h}; j++) {{
        float unit = {name}_b[j];
        for (i = 0; i < {d}; i++) unit += {name}_a[j * {d} + i] * x[i];
        if (unit > 0.0f) sum += {name}_c[j] * unit;
    }}
    out[0] = sum;
}}
"""
    )  # fmt: skip


def nystroem_to_c(model: Any, name: str) -> str:
    """Return a Nystroem map with a linear model as one expansion over its landmarks."""
    kernel, line = model[0], model[1]
    weights = line.coef_[0] @ kernel.normalization_
    m, d = kernel.components_.shape
    return (
        array(f"{name}_z", kernel.components_) + array(f"{name}_w", weights)
        + f"""float expf(float);
void {name}_decision(const float *x, float *out)
{{
    float sum = {float(line.intercept_[0])!r}f;
    int i, j;
    for (j = 0; j < {m}; j++) {{
        float square = 0.0f;
        for (i = 0; i < {d}; i++) {{ float t = x[i] - {name}_z[j * {d} + i]; square += t * t; }}
        sum += {name}_w[j] * expf({-float(kernel.gamma)!r}f * square);
    }}
    out[0] = sum;
}}
"""
    )  # fmt: skip


def flash(source: str, folder: Path) -> tuple[int, int]:
    """Return the bytes of code and constants, and of the stack, of one C file."""
    (folder / "size.c").write_text(source)
    command = [
        "gcc",
        *FLAGS,
        "-fstack-usage",
        "-mno-red-zone",
        "-fno-asynchronous-unwind-tables",
        "-c",
        "size.c",
        "-o",
        "size.o",
    ]
    subprocess.run(command, check=True, cwd=folder)
    text, data, bss = subprocess.run(
        ["size", "size.o"], check=True, cwd=folder, capture_output=True, text=True
    ).stdout.splitlines()[1].split()[:3]  # fmt: skip
    stack = [
        int(line.split("\t")[1]) for line in (folder / "size.su").read_text().splitlines() if "_predict" not in line
    ]
    return int(text) + int(data) + int(bss), sum(stack)


class Built:
    """One machine in C, and its costs.

    Parameters
    ----------
    source : str
        With a function ``m_decision``.
    folder : Path
    sample, value : type
        C types of features and decision values.
    """

    made = 0

    def __init__(self, source: str, folder: Path, sample: type = ctypes.c_float, value: type = ctypes.c_float) -> None:
        self.bytes, self.stack = flash(source, folder)
        x, out = (re.sub("^c_", "", kind.__name__).replace("ubyte", "unsigned char") for kind in (sample, value))
        loop = (
            f"\nvoid m_all(const {x} *X, int n, int d, {out} *out)\n"
            f"{{\n    int t;\n    for (t = 0; t < n; t++) m_decision(X + (long)t * d, out + t);\n}}\n"
        )
        Built.made += 1
        library = folder / f"m{Built.made}.so"
        (folder / "m.c").write_text(source + loop)
        subprocess.run(["gcc", *FLAGS, "-shared", folder / "m.c", "-o", library, "-lm"], check=True)
        self.run = ctypes.CDLL(str(library)).m_all
        self.sample, self.value = sample, value

    def scores(self, X: np.ndarray) -> tuple[np.ndarray, float]:
        """Return the decision values of samples, and nanoseconds per sample."""
        X = np.ascontiguousarray(X, dtype=np.dtype(self.sample))
        out = np.empty(len(X), np.dtype(self.value))
        pointers = X.ctypes.data_as(ctypes.c_void_p), out.ctypes.data_as(ctypes.c_void_p)
        begin = time.perf_counter()
        self.run(pointers[0], len(X), X.shape[1], pointers[1])
        return out, 1e9 * (time.perf_counter() - begin) / len(X)
