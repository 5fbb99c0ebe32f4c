"""A masked expansion as one C file that needs nothing but a compiler.

The features that the elements read are copied out first. Columns of equal length stand side by side, so that sums,
kernel and weights are loops over columns without branches. A compiler with vector units evaluates several at once.
"""

import re
from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from eigensieve._types import Array
from eigensieve.elements.expansion import ElementExpansion
from eigensieve.elements.export_names import Interface
from eigensieve.elements.kernel import LINEAR, RBF
from eigensieve.elements.rounding import summed_in_single_bound

LANES = 8
"""Partial sums over columns; columns are padded to a multiple with weights of zero."""

_DOUBLE_EXP = """
/* exp(x) - 1 for x <= 0: 2^n e^f with |f| <= ln(2)/2, Taylor series for e^f; error under 1e-15. NaN gives -1. */
static double {name}_expm1(double x)
{{
    static const double inverse[13] = {{1.0, 1.0, 1.0 / 2, 1.0 / 3, 1.0 / 4, 1.0 / 5, 1.0 / 6, 1.0 / 7,
                                       1.0 / 8, 1.0 / 9, 1.0 / 10, 1.0 / 11, 1.0 / 12}};
    double f, sum = 1.0, scale = 1.0, half = 0.5;
    long n;
    int k;
    if (!(x > -708.0)) return -1.0; /* NaN too: a cast of it to an integer is undefined */
    n = (long)(0.5 - x * 1.4426950408889634074);
    f = (x + n * 6.93147180369123816490e-01) + n * 1.90821492927058770002e-10;
    for (k = 12; k > 0; k--) sum = 1.0 + f * inverse[k] * sum;
    for (; n > 0; n >>= 1, half *= half)
        if (n & 1) scale *= half;
    return sum * scale - 1.0;
}}
"""

_SINGLE_RBF = """
    /* exp - 1 of minus the sum, as 2^n 2^f - 1 with |f| <= 1/2. At most 2^-126 is reached. NaN is not below the limit
       either: it counts as far away, as infinity does. */
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

_HEADER = """/*
 * {name}: a kernel machine rewritten with a few elements of its mask, exported by eigensieve.
 *
 * kernel       {kernel}
 * inputs       {n_features} features, in the order of training{raw}
 * mask         {n_elements} elements in {n_columns} columns
 * outputs      {n_outputs} decision value{plural}
 * precision    {precision}
 * error        {error}
 *
 * void {name}_decision(const {real} *x, {real} *decision);   fills {n_outputs} value{plural}{predict}{listing}
 *
 * Self-contained: no headers, no libraries, no allocation; C89 and later, C++.
 */
"""


@dataclass(frozen=True, eq=False)
class _Layout:
    """Columns sorted by length and padded; elements of a group of equal lengths stand feature by feature."""

    groups: list[tuple[int, int, int, int]]
    features: Array
    values: Array
    gammas: Array
    weights: Array

    @classmethod
    def of(cls, expansion: ElementExpansion) -> "_Layout":
        order = np.argsort(expansion.lengths, kind="stable")
        groups: list[tuple[int, int, int, int]] = []
        elements: list[int] = []
        place = 0
        for length in np.unique(expansion.lengths):
            mine = order[expansion.lengths[order] == length]
            groups.append((int(length), mine.size, place, len(elements)))
            elements += [expansion.starts[c] + e for e in range(length) for c in mine]
            place += mine.size
        padded = max(LANES, -(-place // LANES) * LANES)
        gammas, weights = np.zeros(padded), np.zeros((expansion.intercept.size, padded))
        gammas[:place] = expansion.gammas[order]
        weights[:, :place] = expansion.weights[order].T
        at = np.array(elements, dtype=np.int64)
        return cls(groups, expansion.features[at], expansion.values[at], gammas, weights)


def expansion_to_c(
    expansion: ElementExpansion,
    name: str,
    threshold: float | None,
    *,
    precision: str = "single",
    reach: Array | None = None,
    interface: Interface | None = None,
) -> str:
    """Return C source for the decision values and the predicted class index.

    Parameters
    ----------
    expansion : ElementExpansion
    name : str
        Prefix of all names; must be a C identifier.
    threshold : float
        Decision values above it are class 1 (one output only). None for a regression: no class is predicted then.
    precision : {"single", "double"}
    reach : ndarray of shape (n_features,), optional
        Largest size of each feature. The error of single precision is stated for samples within it.
    interface : Interface, optional
        The names of features and classes, and how raw values become those of training.
    """
    check_c_name(name)
    if precision not in ("single", "double"):
        raise ValueError(
            f"The 'precision' parameter of to_c must be 'single', 'double', 'int8' or 'int16'. "
            f"Got {precision!r} instead."
        )
    real = "float" if precision == "single" else "double"
    n_outputs = expansion.intercept.size
    interface = interface or Interface()
    layout = _Layout.of(expansion)
    rbf = expansion.kernel.kind == RBF
    # exp - 1 is summed; the weights' total goes into the offset. Large weights of opposite sign then cost no digits.
    offset = expansion.intercept + (expansion.weights.sum(axis=0) if rbf else 0.0)
    # In single precision, powers of two are taken: the factor goes into gamma.
    scale = 1.4426950408889634 if rbf and real == "float" else -1.0 if rbf else 1.0
    parts = [
        _header(expansion, name, threshold, precision, reach, interface),
        c_array(real, f"{name}_values", layout.values),
        c_array(real, f"{name}_gammas", scale * layout.gammas),
        *weight_arrays(real, name, layout.weights, thin=expansion.is_thin),
        c_array(real, f"{name}_offset", offset),
    ]
    if rbf and real == "double":
        parts.append(_DOUBLE_EXP.format(name=name))
    parts.append(_decision(expansion, layout, name, real, inner=interface.mean is not None))
    if interface.mean is not None and interface.scale is not None:
        parts += [c_array(real, f"{name}_mean", interface.mean), c_array(real, f"{name}_scale", interface.scale)]
        parts.append(_STANDARDISING.format(name=name, real=real, n_features=expansion.n_features))
    if threshold is not None:
        limit = f"{threshold!r}{'f' if real == 'float' else ''}"
        parts.append(c_predict(name, n_outputs, threshold, limit, f"const {real}", real))
    return "\n".join(parts)


def _header(
    expansion: ElementExpansion,
    name: str,
    threshold: float | None,
    precision: str,
    reach: Array | None,
    interface: Interface,
) -> str:
    """Return the comment at the head of the file: what to call, with what, and how exact it is."""
    real = "float" if precision == "single" else "double"
    n_outputs, raw = expansion.intercept.size, interface.mean is not None
    error = _stated_error(expansion, precision, reach)
    if raw and precision == "single":
        error += " once standardised;\n *              standardising raw values in single precision adds to it"
    return _HEADER.format(
        name=name,
        kernel=expansion.kernel.name,
        n_features=expansion.n_features,
        raw=": raw values, which the functions standardise" if raw else "",
        n_elements=expansion.n_elements,
        n_columns=expansion.n_columns,
        n_outputs=n_outputs,
        plural="" if n_outputs == 1 else "s",
        precision=precision,
        error=error,
        real=real,
        predict="" if threshold is None else f"\n * int  {name}_predict(const {real} *x);  {classes_text(n_outputs)}",
        listing=interface.listing(np.unique(expansion.features)),
    )


def check_c_name(name: str) -> None:
    """Raise a ValueError unless C takes the name."""
    if not re.fullmatch(r"[A-Za-z_][A-Za-z0-9_]*", name):
        raise ValueError(f"The 'name' parameter of to_c must be a C identifier. Got {name!r} instead.")


def classes_text(n_outputs: int) -> str:
    """Say what the predicting function returns."""
    return f"the class, 0 to {max(1, n_outputs - 1)}"


def _stated_error(expansion: ElementExpansion, precision: str, reach: Array | None) -> str:
    if precision == "double" or reach is None:
        return "that of rounding"
    bound = float(summed_in_single_bound(expansion, reach, 1 if expansion.is_thin else LANES).max())
    return f"at most {bound:.2e} for features as large as in training"


def c_array(kind: str, name: str, values: Iterable) -> str:
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


def _reads(features: Array) -> str:
    """Return one assignment per element: a table of features would cost a second load for each."""
    reads = [f"seen[{e}] = x[{i}];" for e, i in enumerate(features)]
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
    padded, n_elements = layout.gammas.size, max(1, expansion.n_elements)
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
    if n_outputs == 1:
        if np.isinf(threshold):
            verdict = "    (void)decision;\n    return " + ("1;" if threshold < 0 else "0;")
        else:
            verdict = f"    return decision[0] > {limit};"
    else:
        verdict = (
            f"    int m, best = 0;\n    for (m = 1; m < {n_outputs}; m++)\n"
            f"        if (decision[m] > decision[best]) best = m;\n    return best;"
        )
    lines = verdict.split("\n")
    declared = [line for line in lines if line.startswith("    int ")]
    rest = [line for line in lines if not line.startswith("    int ")]
    body = "\n".join([f"    {value} decision[{n_outputs}];", *declared, f"    {name}_decision(x, decision);", *rest])
    return f"int {name}_predict({sample} *x)\n{{\n{body}\n}}\n"
