"""A masked expansion as one C file that needs nothing but a compiler."""

import re
from collections.abc import Iterable

import numpy as np

from eigensieve.elements.expansion import ElementExpansion
from eigensieve.elements.kernel import LINEAR, RBF

_EXP = """
/* exp(x) for x <= 0: 2^n e^f with |f| <= ln(2)/2, Taylor series for e^f; relative error under 1e-15. */
static double {name}_exp(double x)
{{
    static const double inverse[13] = {{1.0, 1.0, 1.0 / 2, 1.0 / 3, 1.0 / 4, 1.0 / 5, 1.0 / 6, 1.0 / 7,
                                       1.0 / 8, 1.0 / 9, 1.0 / 10, 1.0 / 11, 1.0 / 12}};
    double f, sum = 1.0, scale = 1.0, half = 0.5;
    long n;
    int k;
    if (!(x >= -708.0)) return x < -708.0 ? 0.0 : x; /* NaN stays NaN: a cast of it to an integer is undefined */
    n = (long)(0.5 - x * 1.4426950408889634074);
    f = (x + n * 6.93147180369123816490e-01) + n * 1.90821492927058770002e-10;
    for (k = 12; k > 0; k--) sum = 1.0 + f * inverse[k] * sum;
    for (; n > 0; n >>= 1, half *= half)
        if (n & 1) scale *= half;
    return sum * scale;
}}
"""

_HEADER = """/*
 * {name}: a kernel machine rewritten with a few elements of its mask, exported by eigensieve.
 *
 * kernel       {kernel}
 * inputs       {n_features} features, in the order of training
 * mask         {n_elements} elements in {n_columns} columns
 * outputs      {n_outputs} decision value{plural}
 *
 * void {name}_decision(const double *x, double *decision);   fills {n_outputs} value{plural}
 * int  {name}_predict(const double *x);                      {predicts}
 *
 * Self-contained: no headers, no libraries, no allocation; C89 and later, C++.
 */
"""


def expansion_to_c(expansion: ElementExpansion, name: str, threshold: float) -> str:
    """Return C source for the decision values and the predicted class index.

    Parameters
    ----------
    expansion : ElementExpansion
    name : str
        Prefix of all names; must be a C identifier.
    threshold : float
        Decision values above it are class 1 (one output only).
    """
    if not re.fullmatch(r"[A-Za-z_][A-Za-z0-9_]*", name):
        raise ValueError(f"The 'name' parameter of to_c must be a C identifier. Got {name!r} instead.")
    n_outputs = expansion.intercept.size
    kernel = expansion.kernel
    parts = [
        _HEADER.format(
            name=name,
            kernel=kernel.name,
            n_features=expansion.n_features,
            n_elements=expansion.n_elements,
            n_columns=expansion.n_columns,
            n_outputs=n_outputs,
            plural="" if n_outputs == 1 else "s",
            predicts="0 or 1" if n_outputs == 1 else f"0 to {n_outputs - 1}",
        ),
        _array("int", f"{name}_starts", expansion.starts),
        _array("int", f"{name}_features", expansion.features),
        _array("double", f"{name}_values", expansion.values),
        _array("double", f"{name}_gammas", expansion.gammas),
        _array("double", f"{name}_weights", expansion.weights.ravel()),
        _array("double", f"{name}_intercept", expansion.intercept),
    ]
    if kernel.kind == RBF:
        parts.append(_EXP.format(name=name))
    parts += [_decision(expansion, name), _predict(name, n_outputs, threshold)]
    return "\n".join(parts)


def _array(kind: str, name: str, values: Iterable) -> str:
    texts = [repr(float(v)) if kind == "double" else str(int(v)) for v in values] or ["0"]
    lines = [", ".join(texts[k : k + 8]) for k in range(0, len(texts), 8)]
    body = ",\n    ".join(lines)
    return f"static const {kind} {name}[{len(texts)}] = {{\n    {body}\n}};"


def _decision(expansion: ElementExpansion, name: str) -> str:
    kernel = expansion.kernel
    if kernel.kind == RBF:
        term = (
            f"double difference = x[{name}_features[e]] - {name}_values[e];\n"
            f"            sum += difference * difference;"
        )
        finish = f"value = {name}_exp(-{name}_gammas[c] * sum);"
    else:
        term = f"sum += x[{name}_features[e]] * {name}_values[e];"
        finish = f"value = {name}_gammas[c] * sum;"
        if kernel.kind != LINEAR:
            finish = (
                f"base = {name}_gammas[c] * sum + {kernel.coef0!r};\n        value = 1.0;\n"
                f"        for (m = 0; m < {kernel.degree}; m++) value *= base;"
            )
    base = ", base" if kernel.kind not in (RBF, LINEAR) else ""
    n_outputs = expansion.intercept.size
    return f"""
void {name}_decision(const double *x, double *decision)
{{
    int c, e, m;
    for (m = 0; m < {n_outputs}; m++) decision[m] = {name}_intercept[m];
    for (c = 0; c < {expansion.n_columns}; c++) {{
        double sum = 0.0, value{base};
        for (e = {name}_starts[c]; e < {name}_starts[c + 1]; e++) {{
            {term}
        }}
        {finish}
        for (m = 0; m < {n_outputs}; m++) decision[m] += {name}_weights[c * {n_outputs} + m] * value;
    }}
}}
"""


def _predict(name: str, n_outputs: int, threshold: float) -> str:
    if n_outputs == 1:
        if np.isinf(threshold):
            verdict = "    (void)decision;\n    return " + ("1;" if threshold < 0 else "0;")
        else:
            verdict = f"    return decision[0] > {threshold!r};"
    else:
        verdict = (
            f"    int m, best = 0;\n    for (m = 1; m < {n_outputs}; m++)\n"
            f"        if (decision[m] > decision[best]) best = m;\n    return best;"
        )
    lines = verdict.split("\n")
    declared = [line for line in lines if line.startswith("    int ")]
    rest = [line for line in lines if not line.startswith("    int ")]
    body = "\n".join([f"    double decision[{n_outputs}];", *declared, f"    {name}_decision(x, decision);", *rest])
    return f"int {name}_predict(const double *x)\n{{\n{body}\n}}\n"
