"""A masked expansion as one C file that needs nothing but a compiler.

Hand-written, because no exporter knows masked columns: m2cgen writes every value of every support vector (146,539
numbers for the faces of docs/measured/elements.md, where 200 elements store 268).

Columns of equal length stand in groups of four: the first element of each, then the second of each, and so on. One loop
sums up four distances at once, in vectors if the processor has them, and bumps go from there straight into the decision
value. Features are read through a table, in which a mark after every four says whether the group goes on: plain code
with a load for each takes three times the bytes.
"""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from eigensieve._types import Array, BoolArray, FloatArray, IntArray
from eigensieve.elements.expansion import ElementExpansion, summed_in_single_bound
from eigensieve.elements.kernel import BUMP, LINEAR, POLY, RBF, MaskedKernel

LANES = 4
"""Columns of a group, and partial sums over columns."""
REPEATED = 4
"""Groups of columns up to so long are filled with shorter columns."""

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

_GROUPS = """
    for (c = 0; c < {padded}; c += {lanes}) {{
        {real} z[{lanes}] = {{{zeros}}};
        do {{
            {row}
            v += {lanes};
            i += {lanes} + 1;
        }} while (i[-1]);
{kernel}
        for (e = 0; e < {lanes}; e++) {store};
    }}"""

_BUMP = """        for (e = 0; e < {lanes}; e++) {{
            {real} root = 1 + {name}_numbers[c + e] * z[e];
            z[e] = 0 > root ? 0 : root; /* NaN stays */
        }}
        for (e = 0; e < {lanes}; e++) z[e] = z[e] * z[e] * (z[e] * z[e]);"""

_LINEAR = "        for (e = 0; e < {lanes}; e++) z[e] *= {name}_numbers[c + e];"

_POLY = """        for (e = 0; e < {lanes}; e++) {{
            {real} base = {name}_numbers[c + e] * z[e] + {coef0};
            for (z[e] = 1, m = 0; m < {degree}; m++) z[e] *= base;
        }}"""

_RBF = "        for (e = 0; e < {lanes}; e++) z[e] = {name}_expm1({name}_numbers[c + e] * z[e]);"

_SINGLE_RBF = """        /* exp - 1 of minus the sum, as 2^n 2^f - 1 with |f| <= 1/2. 2^-126 is the least. */
        for (e = 0; e < {lanes}; e++) {{
            float p = {name}_numbers[c + e] * z[e];
            missing[e] = p != p ? p : 0.0f; /* NaN */
            power.f[e] = p < 126.0f ? p : 126.0f;
        }}
        for (e = 0; e < {lanes}; e++) {{
            int n = (int)(power.f[e] + 0.5f);
            float f = (float)n - power.f[e];
            z[e] = (((((1.546144746e-04f * f + 1.339086735e-03f) * f + 9.618056670e-03f) * f + 5.550357104e-02f) * f
                     + 2.402265092e-01f) * f + 6.931471880e-01f) * f;
            power.i[e] = (127 - n) << 23;
        }}
        for (e = 0; e < {lanes}; e++) z[e] = power.f[e] * z[e] + (power.f[e] - 1.0f) + missing[e];"""

_PAIRS = "((sum[0] + sum[2]) + (sum[1] + sum[3]))"

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
class Groups:
    """Columns in groups of `LANES`. Where too few are of one length, shorter ones whose elements are repeated fill the
    group, or copies of its first column with weight zero."""

    spans: IntArray  # elements of each group's columns
    columns: IntArray  # of all groups
    shown: BoolArray  # False for copies
    times: IntArray  # how often each column's elements stand there

    @classmethod
    def of(cls, lengths: IntArray) -> "Groups":
        """Group columns of these lengths, the longest first."""
        left = {int(span): np.flatnonzero(lengths == span).tolist() for span in np.unique(lengths)[::-1]}
        found: list[tuple[int, int, bool]] = []
        for span, own in left.items():
            shorter = [left[part] for part in left if part < span <= REPEATED and span % part == 0]
            for begin in range(0, len(own), LANES):
                group = own[begin : begin + LANES]
                for others in shorter:
                    group += [others.pop() for _ in range(min(LANES - len(group), len(others)))]
                copies = LANES - len(group)
                found += [(span, c, True) for c in group] + [(span, group[0], False)] * copies
        spans, columns, shown = np.array(found, dtype=np.int64).reshape(-1, 3).T
        return cls(spans[::LANES], columns, shown.astype(bool), spans // lengths[columns])

    def elements(self, expansion: ElementExpansion) -> IntArray:
        """Return the elements in the order of the file."""
        starts, lengths = (part[self.columns].reshape(-1, LANES) for part in (expansion.starts, expansion.lengths))
        rows = [starts[g] + k % lengths[g] for g, span in enumerate(self.spans) for k in range(span)]
        return np.array(rows, dtype=np.int64).ravel()

    def marked(self, features: IntArray) -> IntArray:
        """Return the features of elements in this order, and after each `LANES` whether the group goes on."""
        goes_on = np.ones((features.size // LANES, 1), np.int64)
        goes_on[np.cumsum(self.spans) - 1] = 0
        return np.hstack([features.reshape(-1, LANES), goes_on]).ravel()


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
    expansion: ElementExpansion, name: str, threshold: float | None, *, precision: str = "single",
    reach: FloatArray | None = None, interface: Interface | None = None,
) -> str:  # fmt: skip
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
    read, places = np.unique(expansion.features, return_inverse=True)
    groups = Groups.of(expansion.lengths)
    elements, columns = groups.elements(expansion), groups.columns
    gammas, weights = expansion.gammas[columns] / groups.times, groups.shown * expansion.weights[columns].T
    kind, thin = expansion.kernel.kind, expansion.is_thin
    rbf = kind == RBF
    # exp - 1 is summed; the weights' total goes into the offset. Large weights of opposite sign then cost no digits.
    offset = expansion.intercept + (expansion.weights.sum(axis=0) if rbf else 0.0)
    # For rbf in single precision, powers of two are taken: the factor goes into gamma.
    scale = -0.25 if kind == BUMP else 1.0 if not rbf else 1.4426950408889634 if real == "float" else -1.0
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
        c_array(index_type(top), f"{name}_features", groups.marked(features[elements])),
        "/* of each column the factor on its sum, the weights; of each element the value; the offsets */",
        c_array(real, f"{name}_numbers", [*numbers, *expansion.values[elements], *offset]),
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
    predict = "" if threshold is None else f"\n * int  {name}_predict(const {sample} *x);  the class, 0 to {top}"
    return HEADER.format(
        name=name, kernel=expansion.kernel.name, n_features=expansion.n_features, n_elements=expansion.n_elements,
        n_columns=expansion.n_columns, n_outputs=n_outputs, plural="" if n_outputs == 1 else "s", predict=predict,
        listing=interface.listing(np.unique(expansion.features)), **words,
    )  # fmt: skip


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


def _kernel(kernel: MaskedKernel, real: str, **words: Any) -> str:
    """Return the loops from a group's sums to kernel values."""
    rbf = _SINGLE_RBF if real == "float" else _RBF
    text = {RBF: rbf, BUMP: _BUMP, LINEAR: _LINEAR, POLY: _POLY}[kernel.kind]
    coef0 = f"{kernel.coef0!r}f" if real == "float" else repr(kernel.coef0)
    return text.format(real=real, coef0=coef0, degree=kernel.degree, **words)


def _decision(
    expansion: ElementExpansion, padded: int, name: str, real: str, first: int, table: str, *, inner: bool
) -> str:
    """Return the function from features to decision values; an `inner` one is called after the standardisation. Values
    of elements begin at number `first`, and `table` declares the pointer to their features."""
    n_outputs, kernel = expansion.intercept.size, expansion.kernel
    words: dict[str, Any] = {"name": name, "padded": padded, "lanes": LANES, "real": real, "zeros": _zeros(real)}
    head = f"static void {name}_standardised" if inner else f"void {name}_decision"
    each = "d = x[i[{0}]] - v[{0}]; z[{0}] += d * d;" if kernel.is_radial else "z[{0}] += x[i[{0}]] * v[{0}];"
    declared = "{real} sum[{lanes}] = {{{zeros}}};"
    store, rest = f"sum[e] += {name}_numbers[{padded} + c + e] * z[e]", f"    decision[0] = v[0] + {_PAIRS};"
    if n_outputs > 1:
        rest = _outputs(expansion, name, padded, real)
        declared, store = f"{real} k[{max(1, padded)}];", "k[c + e] = z[e]"
    if kernel.kind == RBF and real == "float":
        declared += " float missing[{lanes}]; union {{ int i[{lanes}]; float f[{lanes}]; }} power;"
    if kernel.is_radial:
        declared += f" {real} d;"
    row = "\n            ".join(each.format(e) for e in range(LANES))
    groups = _GROUPS.format(**words, row=row, kernel=_kernel(kernel, **words), store=store)
    return f"""
{head}(const {real} *x, {real} *decision)
{{
    {table} = {name}_features;
    const {real} *v = {name}_numbers + {first};
    {declared.format(**words)}
    int c, e{", m" if n_outputs > 1 or kernel.kind == POLY else ""};
{groups}
{rest}
}}
"""


def _zeros(real: str) -> str:
    return ", ".join(["0.0f" if real == "float" else "0.0"] * LANES)


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
    if expansion.is_thin:
        missing = _MISSING.format(padded=padded, n_outputs=expansion.intercept.size)
        return f"""{missing}
    for (m = 0, e = 0; m < {expansion.intercept.size}; m++) {{
        {real} sum = 0;
        for (; e < (int){name}_weight_ends[m]; e++) {{
            c = {name}_weight_places[e];
            sum += {name}_weights[e] * k[c];
        }}
        decision[m] = v[m] + sum;
    }}"""
    return f"""    for (m = 0; m < {expansion.intercept.size}; m++) {{
        {real} sum[{LANES}] = {{{_zeros(real)}}};
        const {real} *w = {name}_numbers + {padded} + m * {padded};
        for (c = 0; c < {padded}; c += {LANES})
            for (e = 0; e < {LANES}; e++) sum[e] += w[c + e] * k[c + e];
        decision[m] = v[m] + {_PAIRS};
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
