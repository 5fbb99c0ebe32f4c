"""Small machines as C: trees as nested comparisons, lines, networks and Nystroem maps as loops over arrays.

Plain single-precision code as an engineer would write it. `Built` compiles a file and says what it costs.
"""

import ctypes
import re
import subprocess
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

FLAGS = ["-O2", "-fPIC"]


Store = Callable[[str, np.ndarray], tuple[str, str]]


def exact(name: str, values: np.ndarray) -> tuple[str, str]:
    """Return a constant array in single precision; its values need no factor."""
    numbers = ", ".join(f"{np.float32(v):.9g}" for v in np.ravel(values))
    return f"static const float {name}[{np.size(values)}] = {{{numbers}}};\n", ""


def whole(name: str, values: np.ndarray) -> tuple[str, str]:
    """Return a constant array of 8 bits per number, and the factor on its values."""
    unit = float(np.abs(values).max(initial=0.0)) / 127 or 1.0
    numbers = ", ".join(str(round(float(v) / unit)) for v in np.ravel(values))
    return f"static const signed char {name}[{np.size(values)}] = {{{numbers}}};\n", f" * {unit:.9g}f"


LEVELS = 4000
"""Per standard deviation, for samples of 16 bits. The problems' samples lie within eight."""


def levels(X: np.ndarray) -> np.ndarray:
    """Return samples in 16 bits."""
    return np.floor(X * LEVELS).astype(np.int16)


def trees_to_c(model: Any, name: str, n_trees: int | None = None, *, fixed: bool = False) -> str:
    """Return boosted trees, or the first of them, as nested comparisons; `fixed` for `levels` and whole leaves."""
    top = max(float(np.abs(one[0].tree_.value).max()) for one in model.estimators_) * model.learning_rate
    unit = 30000 / top

    def leaf(value: float) -> str:
        return str(round(value * unit)) if fixed else f"{float(np.float32(value))!r}f"

    def threshold(exact: float) -> str:
        if fixed:
            return str(int(np.floor(exact * LEVELS)))
        # Rounded down: a sample in single precision is then on the same side as of the threshold itself.
        near = np.float32(exact)
        return f"{float(np.nextafter(near, np.float32(-np.inf)) if near > exact else near)!r}f"

    def branch(tree: Any, node: int) -> str:
        if tree.children_left[node] < 0:
            return leaf(model.learning_rate * tree.value[node, 0, 0])
        left, right = (branch(tree, child[node]) for child in (tree.children_left, tree.children_right))
        return f"(x[{tree.feature[node]}] <= {threshold(tree.threshold[node])} ? {left} : {right})"

    start = leaf(float(model._raw_predict_init(np.zeros((1, model.n_features_in_)))[0, 0]))
    sample, value = ("short", "int") if fixed else ("float", "float")
    lines = "\n".join(f"    sum += {branch(one[0].tree_, 0)};" for one in model.estimators_[:n_trees])
    head = f"void {name}_decision(const {sample} *x, {value} *out)\n{{\n    {value} sum = {start};\n"
    return f"{head}{lines}\n    out[0] = sum;\n}}\n"


def line_to_c(weights: np.ndarray, intercept: float, name: str, store: Store = exact) -> str:
    """Return a linear model that reads the features with a weight."""
    used = np.flatnonzero(weights)
    array, unit = store(f"{name}_w", weights[used])
    return f"""{array}static const unsigned short {name}_i[{used.size}] = {{{", ".join(map(str, used))}}};
void {name}_decision(const float *x, float *out)
{{
    float sum = 0.0f;
    int i;
    for (i = 0; i < {used.size}; i++) sum += {name}_w[i] * x[{name}_i[i]];
    out[0] = sum{unit} + {float(intercept)!r}f;
}}
"""


def network_to_c(model: Any, name: str, store: Store = exact) -> str:
    """Return a network with one hidden layer of rectified units."""
    first, second = model.coefs_
    d, h = first.shape
    (a, a_unit), (c, c_unit) = store(f"{name}_a", first.T), store(f"{name}_c", second)
    b, _ = exact(f"{name}_b", model.intercepts_[0])
    return f"""{a}{b}{c}void {name}_decision(const float *x, float *out)
{{
    float sum = 0.0f;
    int i, j;
    for (j = 0; j < {h}; j++) {{
        float unit = 0.0f;
        for (i = 0; i < {d}; i++) unit += {name}_a[j * {d} + i] * x[i];
        unit = unit{a_unit} + {name}_b[j];
        if (unit > 0.0f) sum += {name}_c[j] * unit;
    }}
    out[0] = sum{c_unit} + {float(model.intercepts_[1][0])!r}f;
}}
"""


def nystroem_to_c(model: Any, name: str, store: Store = exact) -> str:
    """Return a Nystroem map with a linear model as one expansion over its landmarks."""
    kernel, line = model[0], model[1]
    (z, unit), (w, _) = (
        store(f"{name}_z", kernel.components_),
        exact(f"{name}_w", line.coef_[0] @ kernel.normalization_),
    )
    m, d = kernel.components_.shape
    return f"""{z}{w}float expf(float);
void {name}_decision(const float *x, float *out)
{{
    float sum = {float(line.intercept_[0])!r}f;
    int i, j;
    for (j = 0; j < {m}; j++) {{
        float square = 0.0f;
        for (i = 0; i < {d}; i++) {{ float t = x[i] - {name}_z[j * {d} + i]{unit}; square += t * t; }}
        sum += {name}_w[j] * expf({-float(kernel.gamma)!r}f * square);
    }}
    out[0] = sum;
}}
"""


def m2cgen_to_c(forest: Any, n_features: int) -> str:
    """Return a forest as m2cgen writes it, in double precision, behind samples in single precision."""
    import m2cgen

    return f"""{m2cgen.export_to_c(forest, function_name="score").replace("void score(", "static void score(")}
void m_decision(const float *x, float *out)
{{
    double z[{n_features}], p[2];
    int i;
    for (i = 0; i < {n_features}; i++) z[i] = x[i];
    score(z, p);
    out[0] = (float)p[1];
}}
"""


def emlearn_to_c(forest: Any, n_features: int, kind: str) -> str:
    """Return a forest as emlearn writes it; its trees vote."""
    with np.errstate():  # it changes numpy's handling of errors for the whole process
        import emlearn

    source = emlearn.convert(forest, method="inline", dtype=kind).save(name="m")
    source = re.sub(r"^(int|static inline int) m_predict", "static int m_predict", source, flags=re.MULTILINE)
    sample = "short" if kind == "int16_t" else "float"
    return f"""{source}
void m_decision(const {sample} *x, float *out)
{{
    float p[2];
    m_predict_proba(x, {n_features}, p, 2);
    out[0] = p[1];
}}
"""


def flash(source: str, folder: Path) -> tuple[int, int]:
    """Return the bytes of code and constants, and of the stack, of one C file."""
    (folder / "size.c").write_text(source)  # static functions that nothing calls are left out
    command = [
        "gcc",
        *FLAGS,
        "-fstack-usage",
        "-mno-red-zone",
        "-w",
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
        subprocess.run(["gcc", *FLAGS, "-w", "-shared", folder / "m.c", "-o", library, "-lm"], check=True)
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
