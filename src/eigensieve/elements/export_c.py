"""A masked expansion as one C file that needs nothing but a compiler.

Hand-written, because no exporter knows masked columns: m2cgen writes every value of every support vector (146,539
numbers for the faces of docs/measured/elements.md, where 200 elements store 268).

The features that the elements read are copied out first. Columns of equal length stand side by side, so that sums,
kernel and weights are loops over columns without branches. A compiler with vector units evaluates several at once.
"""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from eigensieve._types import Array, FloatArray, IntArray
from eigensieve.elements.expansion import ElementExpansion, summed_in_single_bound
from eigensieve.elements.kernel import LINEAR, RBF

LANES = 8
"""Partial sums over columns; columns are padded to a multiple with weights of zero."""
VECTOR = 4
"""Compilers compute several columns at once only in loops over a multiple of so many."""

_DOUBLE_EXP = """
/* exp(x) - 1 for x <= 0: 2^n e^f with |f| <= ln(2)/2, Taylor series for e^f; error under 1e-15. NaN gives NaN. */
static double {name}_expm1(double x)
{{
    static const double inverse[13] = {{1.0, 1.0, 1.0 / 2, 1.0 / 3, 1.0 / 4, 1.0 / 5, 1.0 / 6, 1.0 / 7,
                                       1.0 / 8, 1.0 / 9, 1.0 / 10, 1.0 / 11, 1.0 / 12}};
    double f, sum = 1.0, scale = 1.0, half = 0.5;
    long n;
    int k;
    if (!(x > -708.0)) return x < 0.0 ? -1.0 : x; /* a cast of NaN to an integer is undefined */
    n = (long)(0.5 - x * 1.4426950408889634074);
    f = (x + n * 6.93147180369123816490e-01) + n * 1.90821492927058770002e-10;
    for (k = 12; k > 0; k--) sum = 1.0 + f * inverse[k] * sum;
    for (; n > 0; n >>= 1, half *= half)
        if (n & 1) scale *= half;
    return sum * scale - 1.0;
}}
"""

_SINGLE_RBF = """
    /* exp - 1 of minus the sum, as 2^n 2^f - 1 with |f| <= 1/2. At most 2^-126 is reached, by infinity too. */
    for (c = 0; c < {padded}; c++) {{
        float p = {name}_gammas[c] * k[c];
        power.f[c] = p < 126.0f ? p : 126.0f;
    }}
    for (c = 0; c < {padded}; c++) {{
        int n = (int)(power.f[c] + 0.5f);
        float f = (float)n - power.f[c];
        k[c] = (((((1.546144746e-04f * f + 1.339086735e-03f) * f + 9.618056670e-03f) * f + 5.550357104e-02f) * f
                 + 2.402265092e-01f) * f + 6.931471880e-01f) * f;
        power.i[c] = (127 - n) << 23;
    }}
    for (c = 0; c < {padded}; c++) k[c] = power.f[c] * k[c] + (power.f[c] - 1.0f);
"""

_STANDARDISING = """
void {name}_decision(const {real} *x, {real} *decision)
{{
    {real} z[{n_features}];
    int i;
    for (i = 0; i < {n_features}; i++) z[i] = (x[i] - {name}_mean[i]) / {name}_scale[i];
    {name}_standardised(z, decision);
}}
"""

HEADER = """/*
 * {name}: a kernel machine rewritten with a few elements of its mask, exported by eigensieve.
 *
 * kernel       {kernel}
 * inputs       {n_features} features, in the order of training
 * scaling      {scaling}
 * missing      {missing}
 * mask         {n_elements} elements in {n_columns} columns
 * outputs      {n_outputs} decision value{plural}{unit}
 * precision    {precision}
 * error        {error}
 *
 * void {name}_decision(const {sample} *x, {value} *decision);   fills {n_outputs} value{plural}{predict}{listing}
 *
 * Self-contained: no headers, no libraries, no allocation; C89 and later, C++.
 */
"""
MISSING = "NaN in a feature that is read: every decision value is NaN{class_} (not with -ffast-math)"
_MISSING = """    for (c = 0, m = 0; c < {padded}; c++) m |= k[c] != k[c];
    if (m) {{ /* a feature that is read is NaN */
        for (c = 0; k[c] == k[c]; c++) {{}}
        for (m = 0; m < {n_outputs}; m++) decision[m] = k[c];
        return;
    }}"""

_ALL_NAMED = 1_000
"""With more features than this, only those that are read are listed."""


@dataclass(frozen=True, eq=False)
class Interface:
    """Names of the inputs and outputs of an exported machine, and the scaling of its inputs."""

    features: Sequence[Any] | None = None  # names, in the order of training
    classes: Sequence[Any] | None = None  # in the order of their numbers; None for a regression
    # The machine was fitted on (value - mean) / scale. The exported one then takes the raw values.
    mean: FloatArray | None = None
    scale: FloatArray | None = None

    def listing(self, read: IntArray) -> str:
        """Return lines of a C comment with the names of features and classes; `read` are the features in use."""
        lines = []
        if self.features is not None:
            everything = len(self.features) <= _ALL_NAMED
            shown, used = range(len(self.features)) if everything else read.tolist(), set(read.tolist())
            lines += ["", "features" if everything else "features that are read"]
            lines += [f"  x[{i}]  {_quoted(self.features[i])}{'' if i in used else '  (not read)'}" for i in shown]
        if self.classes is not None:
            lines += ["", "classes"]
            lines += [f"  {number}  {_quoted(label)}" for number, label in enumerate(self.classes)]
        return "".join(f"\n * {line}".rstrip() for line in lines)


def _quoted(name: object) -> str:
    """Return a name in quotes that cannot end a C comment, begin another one, or break the line."""
    text = "".join(letter if letter.isprintable() else "?" for letter in str(name))
    return '"' + re.sub(r"\*(?=/)|/(?=\*)", r"\g<0> ", text) + '"'


@dataclass(frozen=True, eq=False)
class _Layout:
    """Columns sorted by length and padded; elements of a group of equal lengths stand feature by feature."""

    groups: list[tuple[int, int, int, int]]
    features: IntArray
    values: FloatArray
    gammas: FloatArray
    weights: FloatArray

    @classmethod
    def of(cls, expansion: ElementExpansion) -> "_Layout":
        lengths = np.unique(expansion.lengths)
        groups: list[tuple[int, int, int, int]] = []
        elements: list[int] = []
        order: list[int] = []
        mine: list[int] = []
        for length in lengths:
            mine += np.flatnonzero(expansion.lengths == length).tolist()
            # Those that fill no vector get an element that adds nothing, and join the next group.
            rest = len(mine) % VECTOR if length + 1 in lengths else 0
            mine, later = mine[: len(mine) - rest], mine[len(mine) - rest :]
            if mine:
                groups.append((int(length), len(mine), len(order), len(elements)))
            place = [(expansion.starts[c], expansion.lengths[c]) for c in mine]
            elements += [first + e if e < own else -1 for e in range(length) for first, own in place]
            order += mine
            mine = later
        used = len(order)
        padded = max(LANES, -(-used // LANES) * LANES)
        gammas, weights = np.zeros(padded), np.zeros((expansion.intercept.size, padded))
        gammas[:used] = expansion.gammas[order]
        weights[:, :used] = expansion.weights[order].T
        at = np.array(elements, dtype=np.int64)
        features = np.where(at < 0, -1, expansion.features[at])
        return cls(groups, features, np.where(at < 0, 0.0, expansion.values[at]), gammas, weights)


def expansion_to_c(
    expansion: ElementExpansion,
    name: str,
    threshold: float | None,
    *,
    precision: str = "single",
    reach: FloatArray | None = None,
    interface: Interface | None = None,
) -> str:
    """Return C source for the decision values and the predicted class index.

    `name`, a C identifier, is the prefix of all names. Decision values above `threshold` are class 1 (one output only);
    None for a regression. The error of single precision is stated for samples within `reach`, the largest size of each
    feature. `interface` has names, and how raw values become those of training.
    """
    check_c_name(name)
    if precision not in ("single", "double"):
        kinds = "'single', 'double', 'int8' or 'int16'"
        raise ValueError(f"The 'precision' parameter of to_c must be {kinds}. Got {precision!r} instead.")
    real = "float" if precision == "single" else "double"
    interface = interface or Interface()
    layout = _Layout.of(expansion)
    rbf = expansion.kernel.kind == RBF
    # exp - 1 is summed; the weights' total goes into the offset. Large weights of opposite sign then cost no digits.
    offset = expansion.intercept + (expansion.weights.sum(axis=0) if rbf else 0.0)
    # In single precision, powers of two are taken: the factor goes into gamma.
    scale = 1.4426950408889634 if rbf and real == "float" else -1.0 if rbf else 1.0
    raw = interface.mean is not None
    error = "that of rounding"
    if precision == "single" and reach is not None:
        bound = float(summed_in_single_bound(expansion, reach, 1 if expansion.is_thin else LANES).max())
        error = f"at most {bound:.2e} for features as large as in training"
        error += " once standardised;\n *              standardising raw values adds to it" if raw else ""
    words = {
        "scaling": "raw values; the functions standardise them" if raw else "none: give values as in training",
        "missing": MISSING.format(class_="" if threshold is None else ", the class -1"),
        "unit": "", "precision": precision, "error": error, "sample": real, "value": real,
    }  # fmt: skip
    parts = [
        c_header(expansion, name, threshold, interface, **words),
        c_array(real, f"{name}_values", layout.values),
        c_array(real, f"{name}_gammas", scale * layout.gammas),
        *weight_arrays(real, name, layout.weights, thin=expansion.is_thin),
        c_array(real, f"{name}_offset", offset),
    ]
    if rbf and real == "double":
        parts.append(_DOUBLE_EXP.format(name=name))
    parts.append(_decision(expansion, layout, name, real, inner=raw))
    if interface.mean is not None and interface.scale is not None:
        parts += [c_array(real, f"{name}_mean", interface.mean), c_array(real, f"{name}_scale", interface.scale)]
        parts.append(_STANDARDISING.format(name=name, real=real, n_features=expansion.n_features))
    if threshold is not None:
        limit = f"{threshold!r}{'f' if real == 'float' else ''}"
        parts.append(c_predict(name, expansion.intercept.size, threshold, limit, f"const {real}", real))
    return "\n".join(parts)


def c_header(
    expansion: ElementExpansion, name: str, threshold: float | None, interface: Interface, **words: str
) -> str:
    """Return the comment at the head of the file: the functions to call, their inputs and outputs, the error."""
    n_outputs = expansion.intercept.size
    sample, top = words["sample"], max(1, n_outputs - 1)
    return HEADER.format(
        name=name,
        kernel=expansion.kernel.name,
        n_features=expansion.n_features,
        n_elements=expansion.n_elements,
        n_columns=expansion.n_columns,
        n_outputs=n_outputs,
        plural="" if n_outputs == 1 else "s",
        predict="" if threshold is None else f"\n * int  {name}_predict(const {sample} *x);  the class, 0 to {top}",
        listing=interface.listing(np.unique(expansion.features)),
        **words,
    )


def check_c_name(name: str) -> None:
    """Raise a ValueError unless C takes the name."""
    if not re.fullmatch(r"[A-Za-z_][A-Za-z0-9_]*", name):
        raise ValueError(f"The 'name' parameter of to_c must be a C identifier. Got {name!r} instead.")


def c_array(kind: str, name: str, values: Iterable[Any]) -> str:
    """Return the declaration of a constant array."""
    if kind == "float":
        # Nine digits are enough for every number of single precision.
        texts = [f"{np.float32(v):.9g}" for v in values]
        texts = [f"{text}f" if "." in text or "e" in text else f"{text}.0f" for text in texts]
    else:
        texts = [repr(float(v)) if kind == "double" else str(int(v)) for v in values]
    texts = texts or ["0"]
    lines = [", ".join(texts[k : k + 8]) for k in range(0, len(texts), 8)]
    body = ",\n    ".join(lines)
    return f"static const {kind} {name}[{len(texts)}] = {{\n    {body}\n}};"


def _reads(features: IntArray) -> str:
    """Return one assignment per element: a table of features would cost a second load for each."""
    reads = [f"seen[{e}] = {'0' if i < 0 else f'x[{i}]'};" for e, i in enumerate(features)]
    return "\n".join("    " + " ".join(reads[k : k + 5]) for k in range(0, len(reads), 5))


def _sums(layout: _Layout, name: str, *, squares: bool, real: str) -> str:
    """Return the loops that fill k with each column's sum over its features."""
    zero = "0.0f" if real == "float" else "0.0"
    lines = []
    for length, count, column, start in layout.groups:
        for sign, first, last in (("=", 0, 1), ("+=", 1, length)):
            if first >= last:
                continue
            term = (
                f"{{ {real} d = seen[at] - {name}_values[at]; k[{column} + c] {sign} d * d; }}"
                if squares
                else f"k[{column} + c] {sign} seen[at] * {name}_values[at];"
            )
            lines.append(
                f"    for (e = {first}; e < {last}; e++)\n        for (c = 0; c < {count}; c++) {{\n"
                f"            int at = {start} + e * {count} + c;\n            {term}\n        }}"
            )
    used = sum(group[1] for group in layout.groups)
    lines.append(f"    for (c = {used}; c < {layout.gammas.size}; c++) k[c] = {zero};")
    return "\n".join(lines)


def _kernel(expansion: ElementExpansion, name: str, padded: int, real: str) -> str:
    """Return the loops from sums to kernel values."""
    kernel = expansion.kernel
    if kernel.kind == RBF:
        if real == "float":
            return _SINGLE_RBF.format(name=name, padded=padded)
        return f"    for (c = 0; c < {padded}; c++) k[c] = {name}_expm1({name}_gammas[c] * k[c]);"
    if kernel.kind == LINEAR:
        return f"    for (c = 0; c < {padded}; c++) k[c] *= {name}_gammas[c];"
    coef0 = f"{kernel.coef0!r}f" if real == "float" else repr(kernel.coef0)
    one = "1.0f" if real == "float" else "1.0"
    return (
        f"    for (c = 0; c < {padded}; c++) {{\n"
        f"        {real} base = {name}_gammas[c] * k[c] + {coef0}, value = {one};\n"
        f"        for (e = 0; e < {kernel.degree}; e++) value *= base;\n        k[c] = value;\n    }}"
    )


def _decision(expansion: ElementExpansion, layout: _Layout, name: str, real: str, *, inner: bool) -> str:
    """Return the function from features to decision values; an `inner` one is called after the standardisation."""
    padded, n_elements = layout.gammas.size, max(1, layout.features.size)
    rbf = expansion.kernel.kind == RBF
    powers = f"\n    union {{ int i[{padded}]; float f[{padded}]; }} power;" if rbf and real == "float" else ""
    head = f"static void {name}_standardised" if inner else f"void {name}_decision"
    return f"""
{head}(const {real} *x, {real} *decision)
{{
    {real} seen[{n_elements}], k[{padded}];{powers}
    int c, e, m;
{_reads(layout.features)}
{_sums(layout, name, squares=rbf, real=real)}
{_MISSING.format(padded=padded, n_outputs=expansion.intercept.size)}
{_kernel(expansion, name, padded, real)}
{_outputs(expansion, name, padded, real)}
}}
"""


def weight_arrays(kind: str, name: str, weights: Array, *, thin: bool) -> list[str]:
    """Return all weights row by row. If `thin`: those that are not zero, their places in the row, the rows' ends."""
    if not thin:
        return [c_array(kind, f"{name}_weights", weights.ravel())]
    rows, places = np.nonzero(weights)
    ends = np.cumsum(np.bincount(rows, minlength=len(weights)))
    return [
        c_array(kind, f"{name}_weights", weights[rows, places]),
        c_array(_index_type(weights.shape[1]), f"{name}_weight_places", places),
        c_array(_index_type(rows.size), f"{name}_weight_ends", ends),
    ]


def _index_type(top: int) -> str:
    """Return the smallest C type that holds 0 to `top`."""
    return "unsigned char" if top < 256 else "unsigned short" if top < 65536 else "unsigned long"


def _outputs(expansion: ElementExpansion, name: str, padded: int, real: str) -> str:
    """Return the loops from kernel values to decision values."""
    zero = "0.0f" if real == "float" else "0.0"
    if expansion.is_thin:
        return f"""    for (m = 0, e = 0; m < {expansion.intercept.size}; m++) {{
        {real} sum = {zero};
        for (; e < (int){name}_weight_ends[m]; e++) sum += {name}_weights[e] * k[{name}_weight_places[e]];
        decision[m] = {name}_offset[m] + sum;
    }}"""
    zeros = ", ".join([zero] * LANES)
    pairs = " + ".join(f"(sum[{k}] + sum[{k + LANES // 2}])" for k in range(LANES // 2))
    return f"""    for (m = 0; m < {expansion.intercept.size}; m++) {{
        {real} sum[{LANES}] = {{{zeros}}};
        const {real} *w = {name}_weights + m * {padded};
        for (c = 0; c < {padded}; c += {LANES})
            for (e = 0; e < {LANES}; e++) sum[e] += w[c + e] * k[c + e];
        decision[m] = {name}_offset[m] + ({pairs});
    }}"""


def c_predict(name: str, n_outputs: int, threshold: float, limit: str, sample: str, value: str) -> str:
    """Return the function that predicts a class; `limit` is the threshold as C text, `sample` and `value` are types."""
    if n_outputs > 1:
        verdict = f"for (m = 1; m < {n_outputs}; m++)\n        if (decision[m] > decision[best]) best = m;"
    elif np.isinf(threshold):
        verdict = f"best = {int(threshold < 0)};"
    else:
        verdict = f"best = decision[0] > {limit};"
    missing = (
        ""
        if value == "long"
        else "\n    if (decision[0] != decision[0]) return -1; /* a feature that is read is NaN */"
    )
    return f"""int {name}_predict({sample} *x)
{{
    {value} decision[{n_outputs}];
    int {"m, " if n_outputs > 1 else ""}best = 0;
    {name}_decision(x, decision);{missing}
    {verdict}
    return best;
}}
"""
