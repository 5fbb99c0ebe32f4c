"""A masked expansion as one C file that needs nothing but a compiler.

Hand-written, because no exporter knows masked columns: m2cgen writes every value of every support vector (146,539
numbers for the faces of docs/measured/elements.md, where 200 elements store 268).

Columns of equal length stand one after the other. One loop for each length sums up distances. Loops over all columns
without branches then make kernel values, several at once if the compiler has vector units. Elements read their features
through a table: plain code with a load and a store for each takes three times the bytes.
"""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from eigensieve._types import Array, FloatArray, IntArray
from eigensieve.elements.expansion import ElementExpansion, summed_in_single_bound
from eigensieve.elements.kernel import BUMP, LINEAR, RBF

LANES = 4
"""Partial sums over columns; columns are padded to a multiple with weights of zero."""
UNROLLED = 4
"""The longest columns that are written out."""

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
        float p = {name}_numbers[c] * k[c];
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

_BUMP = """
    for (c = 0; c < {padded}; c++) {{
        {real} p = {name}_numbers[c] * k[c];
        k[c] = 1 < p ? 1 : p; /* NaN stays */
    }}
"""

_STANDARDISING = """
void {name}_decision(const {real} *x, {real} *decision)
{{
    {real} z[{n_read}];
    int i;
    for (i = 0; i < {n_read}; i++) z[i] = (x[{name}_read[i]] - {name}_mean[i]) / {name}_scale[i];
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
    expansion = expansion.take(np.argsort(expansion.lengths, kind="stable"))
    read, places = np.unique(expansion.features, return_inverse=True)
    extra = LANES if expansion.n_columns == 0 else -expansion.n_columns % LANES
    gammas, weights = np.pad(expansion.gammas, (0, extra)), np.pad(expansion.weights.T, ((0, 0), (0, extra)))
    kind, thin = expansion.kernel.kind, expansion.is_thin
    rbf = kind == RBF
    # exp - 1 is summed; the weights' total goes into the offset. Large weights of opposite sign then cost no digits.
    offset = expansion.intercept + (expansion.weights.sum(axis=0) if rbf else 0.0)
    # For rbf in single precision, powers of two are taken: the factor goes into gamma.
    scale = 0.25 if kind == BUMP else 1.0 if not rbf else 1.4426950408889634 if real == "float" else -1.0
    raw = interface.mean is not None
    error = "that of rounding"
    if precision == "single" and reach is not None:
        bound = float(summed_in_single_bound(expansion, reach, 1 if thin else LANES).max())
        error = f"at most {bound:.2e} for features as large as in training"
        error += " once standardised;\n *              standardising raw values adds to it" if raw else ""
    words = {
        "scaling": "raw values; the functions standardise them" if raw else "none: give values as in training",
        "missing": MISSING.format(class_="" if threshold is None else ", the class -1"),
        "unit": "", "precision": precision, "error": error, "sample": real, "value": real,
    }  # fmt: skip
    features, top = (places, read.size) if raw else (expansion.features, expansion.n_features)
    numbers = scale * gammas if thin else np.concatenate([scale * gammas, weights.ravel()])
    parts = [
        c_header(expansion, name, threshold, interface, **words),
        c_array(index_type(top), f"{name}_features", features),
        "/* of each column the factor on its sum, the weights; of each element the value; the offsets */",
        c_array(real, f"{name}_numbers", [*numbers, *expansion.values, *offset]),
        *(thin_weights(real, name, weights) if thin else ()),
    ]
    if rbf and real == "double":
        parts.append(_DOUBLE_EXP.format(name=name))
    parts.append(_decision(expansion, gammas.size, name, real, len(numbers), f"const {index_type(top)} *i", inner=raw))
    if interface.mean is not None and interface.scale is not None:
        parts += [
            c_array(index_type(expansion.n_features), f"{name}_read", read),
            c_array(real, f"{name}_mean", interface.mean[read]),
            c_array(real, f"{name}_scale", interface.scale[read]),
            _STANDARDISING.format(name=name, real=real, n_read=max(1, read.size)),
        ]
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


def _sums(expansion: ElementExpansion, padded: int, real: str) -> str:
    """Return the loops that fill k with each column's sum over its features."""
    lines, column, squares = [], 0, expansion.kernel.is_radial
    for length, count in zip(*np.unique(expansion.lengths, return_counts=True), strict=True):
        head = f"for (c = {column}; c < {column + count}; c++, i += {length}, v += {length}) {{\n        {real} sum = 0"
        column += count
        each = "d = x[i[{0}]] - v[{0}]; sum += d * d;" if squares else "sum += x[i[{0}]] * v[{0}];"
        many = f"for (e = 0; e < {length}; e++) {{{{ {each} }}}}".format("e")
        terms = [each.format(e) for e in range(length)] if length <= UNROLLED else [many]
        lines.append("\n        ".join([f"    {head}{', d' if squares else ''};", *terms, "k[c] = sum;"]) + "\n    }")
    lines.append(f"    for (c = {column}; c < {padded}; c++) k[c] = 0;")
    return "\n".join(lines)


def _kernel(expansion: ElementExpansion, name: str, padded: int, real: str) -> str:
    """Return the loops from sums to kernel values."""
    kernel = expansion.kernel
    if kernel.kind == RBF:
        if real == "float":
            return _SINGLE_RBF.format(name=name, padded=padded)
        return f"    for (c = 0; c < {padded}; c++) k[c] = {name}_expm1({name}_numbers[c] * k[c]);"
    if kernel.kind == BUMP:
        return _BUMP.format(name=name, padded=padded, real=real)
    if kernel.kind == LINEAR:
        return f"    for (c = 0; c < {padded}; c++) k[c] *= {name}_numbers[c];"
    coef0 = f"{kernel.coef0!r}f" if real == "float" else repr(kernel.coef0)
    one = "1.0f" if real == "float" else "1.0"
    return (
        f"    for (c = 0; c < {padded}; c++) {{\n"
        f"        {real} base = {name}_numbers[c] * k[c] + {coef0}, value = {one};\n"
        f"        for (e = 0; e < {kernel.degree}; e++) value *= base;\n        k[c] = value;\n    }}"
    )


def _decision(
    expansion: ElementExpansion, padded: int, name: str, real: str, first: int, table: str, *, inner: bool
) -> str:
    """Return the function from features to decision values; an `inner` one is called after the standardisation. Values
    of elements begin at number `first`, and `table` declares the pointer to their features."""
    n_outputs = expansion.intercept.size
    clamped = expansion.kernel.kind == RBF and real == "float"  # hides NaN, and so do weights that are left out
    powers = f"\n    union {{ int i[{padded}]; float f[{padded}]; }} power;" if clamped else ""
    missing = _MISSING.format(padded=padded, n_outputs=n_outputs) if clamped or expansion.is_thin else ""
    head = f"static void {name}_standardised" if inner else f"void {name}_decision"
    return f"""
{head}(const {real} *x, {real} *decision)
{{
    {table} = {name}_features;
    const {real} *v = {name}_numbers + {first};
    {real} k[{padded}];{powers}
    int c, e, m;
{_sums(expansion, padded, real)}
{missing}
{_kernel(expansion, name, padded, real)}
{_outputs(expansion, name, padded, real)}
}}
"""


def thin_weights(kind: str, name: str, weights: Array) -> list[str]:
    """Return the weights that are not zero row by row, their places in the row, the rows' ends."""
    rows, places = np.nonzero(weights)
    ends = np.cumsum(np.bincount(rows, minlength=len(weights)))
    return [
        c_array(kind, f"{name}_weights", weights[rows, places]),
        c_array(index_type(weights.shape[1]), f"{name}_weight_places", places),
        c_array(index_type(rows.size), f"{name}_weight_ends", ends),
    ]


def index_type(top: int) -> str:
    """Return the smallest C type that holds 0 to `top`."""
    return "unsigned char" if top < 256 else "unsigned short" if top < 65536 else "unsigned long"


def _outputs(expansion: ElementExpansion, name: str, padded: int, real: str) -> str:
    """Return the loops from kernel values to decision values."""
    zero = "0.0f" if real == "float" else "0.0"
    column = "k[{0}]"
    if expansion.kernel.kind == BUMP:  # here, since it spares a loop
        column = "(1 - k[{0}]) * (1 - k[{0}]) * ((1 - k[{0}]) * (1 - k[{0}]))"
    if expansion.is_thin:
        return f"""    for (m = 0, e = 0; m < {expansion.intercept.size}; m++) {{
        {real} sum = {zero};
        for (; e < (int){name}_weight_ends[m]; e++) {{
            c = {name}_weight_places[e];
            sum += {name}_weights[e] * ({column.format("c")});
        }}
        decision[m] = v[m] + sum;
    }}"""
    zeros = ", ".join([zero] * LANES)
    pairs = " + ".join(f"(sum[{k}] + sum[{k + LANES // 2}])" for k in range(LANES // 2))
    return f"""    for (m = 0; m < {expansion.intercept.size}; m++) {{
        {real} sum[{LANES}] = {{{zeros}}};
        const {real} *w = {name}_numbers + {padded} + m * {padded};
        for (c = 0; c < {padded}; c += {LANES})
            for (e = 0; e < {LANES}; e++) sum[e] += w[c + e] * ({column.format("c + e")});
        decision[m] = v[m] + ({pairs});
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
