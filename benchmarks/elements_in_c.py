"""Small machines outside Python: the exported elements against the exported trees and against our Python.

The trees are written as nested comparisons, the usual way. All files are compiled by the same command. Their times are
taken in turn in one process, one sample at a time, so that all meet the same load; the ratios are what counts. The
second table says what whole numbers cost (area under the ROC, stated errors), and how large the files are.

Run: python benchmarks/elements_in_c.py
"""

import ctypes
import subprocess
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.ensemble import GradientBoostingClassifier
from sklearn.metrics import roc_auc_score

from elements_small import REPORTED, Split, machines, size, split

REPEATS = 15


def trees_to_c(model: GradientBoostingClassifier, name: str) -> str:
    """Return boosted trees as nested comparisons in single precision."""

    def branch(tree: object, node: int) -> str:
        if tree.children_left[node] < 0:
            return f"{float(np.float32(model.learning_rate * tree.value[node, 0, 0]))!r}f"
        left, right = (branch(tree, child[node]) for child in (tree.children_left, tree.children_right))
        # Rounded down: a sample in single precision is then on the same side as of the threshold itself.
        threshold = np.float32(tree.threshold[node])
        if threshold > tree.threshold[node]:
            threshold = np.nextafter(threshold, np.float32(-np.inf))
        return f"(x[{tree.feature[node]}] <= {float(threshold)!r}f ? {left} : {right})"

    start = float(model._raw_predict_init(np.zeros((1, model.n_features_in_)))[0, 0])
    lines = "\n".join(f"    sum += {branch(one[0].tree_, 0)};" for one in model.estimators_)
    head = f"void {name}_decision(const float *x, float *out)\n{{\n    float sum = {start!r}f;\n"
    return f"{head}{lines}\n    out[0] = sum;\n}}\n"


def compiled(source: str, name: str, folder: Path) -> ctypes.CDLL:
    """Compile with a loop over samples and return the library."""
    loop = (
        f"\nvoid {name}_all(const float *X, int n, int d, float *out)\n"
        f"{{\n    int t;\n    for (t = 0; t < n; t++) {name}_decision(X + (long)t * d, out + t);\n}}\n"
    )
    (folder / f"{name}.c").write_text(source + loop)
    library = folder / f"{name}.so"
    subprocess.run(["gcc", "-O3", "-fPIC", "-shared", str(folder / f"{name}.c"), "-o", str(library)], check=True)
    return ctypes.CDLL(str(library))


def compare(data: Split, ours: Any, trees: Any, folder: Path, tag: str) -> dict[str, float]:
    """Return nanoseconds per sample of both in C, of our Python for one sample, and the C files' errors."""
    X = np.ascontiguousarray(data.X_test[:1000], dtype=np.float32)
    n, d = X.shape
    times: dict[str, list[float]] = {"elements": [], "trees": [], "python": []}
    libraries = {"elements": compiled(ours.to_c("e" + tag), "e" + tag, folder)}
    libraries["trees"] = compiled(trees_to_c(trees, "t" + tag), "t" + tag, folder)
    out = {name: np.empty(n, np.float32) for name in libraries}
    pointer = ctypes.POINTER(ctypes.c_float)
    for _ in range(REPEATS):
        for name, library in libraries.items():
            run = library[f"{name[0]}{tag}_all"]
            start = time.perf_counter()
            run(X.ctypes.data_as(pointer), n, d, out[name].ctypes.data_as(pointer))
            times[name].append((time.perf_counter() - start) / n)
        start = time.perf_counter()
        for t in range(20):
            ours._decisions(X[t : t + 1])
        times["python"].append((time.perf_counter() - start) / 20)
    found = {name: 1e9 * float(np.median(values)) for name, values in times.items()}
    found["error"] = float(np.abs(out["elements"] - ours._expansion.decision(X)[:, 0]).max())
    found["trees' error"] = float(np.abs(out["trees"] - trees.decision_function(X)).max())
    return found


def whole_numbers(data: Split, ours: Any) -> list[float]:
    """Return areas in Python and with whole numbers, stated errors, largest error seen, and bytes of the ONNX file."""
    exact = ours.decision_function(data.X_test)
    cells = [roc_auc_score(data.y_test, exact)]
    for precision in ("int8", "int16"):
        fixed = ours.fixed_point(precision)
        found = fixed.unit * fixed.decision(fixed.levels(data.X_test))[:, 0]
        cells += [roc_auc_score(data.y_test, found), fixed.error_bound, fixed.input_error_bound]
        cells.append(float(np.abs(found - exact).max()))
    return [*cells, float(size(ours, data.X.shape[1])[0]), float(len(ours.to_onnx().SerializeToString()))]


def main() -> None:
    """Print one line per problem and the median ratios."""
    heads = ("elements", "trees", "ratio", "python", "error", "trees' error")
    print(f"{'ns per sample':14s}" + "".join(f"{head:>13s}" for head in heads))
    ratios, others = [], []
    with tempfile.TemporaryDirectory() as folder:
        for k, name in enumerate(REPORTED):
            data = split(name, 0)
            ours, trees = machines(data, ("200 elements, labels", "60 trees of 4 leaves"))
            others.append(whole_numbers(data, ours))
            r = compare(data, ours, trees, Path(folder), str(k))
            ratios.append((r["elements"] / r["trees"], r["python"] / r["elements"]))
            cells = (f"{r['elements']:.0f}", f"{r['trees']:.0f}", f"{ratios[-1][0]:.2f}", f"{r['python']:.0f}")
            cells += (f"{r['error']:.1e}", f"{r[heads[5]]:.1e}")
            print(f"{name:14s}" + "".join(f"{cell:>13s}" for cell in cells), flush=True)
    ours, python = np.median(ratios, axis=0)
    print(f"medians: elements take {ours:.2f} of the trees' time; Python takes {python:.0f} times ours in C per sample")
    levels = ("area", "bound", "rounding", "seen")
    heads = ("area", *(f"int{bits} {what}" for bits in (8, 16) for what in levels), "numbers", "ONNX bytes")
    print(f"\n{'':14s}" + "".join(f"{head:>15s}" for head in heads))
    for name, row in zip(REPORTED, others, strict=True):
        print(f"{name:14s}" + "".join(f"{cell:15.4f}" if cell < 1000 else f"{cell:15.0f}" for cell in row))


if __name__ == "__main__":
    main()
