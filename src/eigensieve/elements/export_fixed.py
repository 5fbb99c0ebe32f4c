"""A masked expansion in whole numbers as one C file, for processors without a float unit."""

import numpy as np

from eigensieve.elements.export_c import c_array, c_predict, check_c_name, classes_text, weight_arrays
from eigensieve.elements.export_names import Interface
from eigensieve.elements.fixed_point import FINE, FixedPoint, power_table

_HEADER = """/*
 * {name}: a kernel machine rewritten with a few elements of its mask, exported by eigensieve.
 *
 * kernel       rbf
 * inputs       {n_features} features in the order of training, as levels 0 to {top}
 * mask         {n_elements} elements in {n_columns} columns
 * outputs      {n_outputs} decision value{plural}; times {unit:.9g} in the units of training
 * precision    whole numbers of 32 bits
 * error        at most {error:.2e} (in the units of training) for every input
 * rounding     a sample of the training range, rounded to levels, adds at most {rounding:.2e}
 *
 * void {name}_decision(const {level} *x, long *decision);   fills {n_outputs} value{plural}{predict}
 *
 * The level of feature i is (value - low) / step, rounded to the nearest and cut to 0 ... {top}:
 *
 *   feature                low               step
{rule}{listing}
 *
 * Other features are not read. Self-contained: no headers, no libraries, no allocation; C89 and later, C++.
 */
"""

_DECISION = """
void {name}_decision(const {level} *x, long *decision)
{{
    int c, e = 0, m;
    for (m = 0; m < {n_outputs}; m++) decision[m] = {name}_offset[m];
    for (c = 0; c < {n_columns}; c++) {{
        unsigned long z = 0, part, k;
        for (; e < (int){name}_ends[c]; e++) {{
            long d = x[{name}_features[e]];
            unsigned long u;
            if (d > {top}L) d = {top}L;
            d = d * {finer}L - {name}_centres[e];
            /* below 2^15 times below 2^16, and at most 2^30 for rounding */
            u = (unsigned long)(d < 0 ? -d : d) * {name}_multipliers[e];
            u = (u + ((1UL << {name}_shifts[e]) >> 1)) >> {name}_shifts[e];
            if (u > 65535UL) u = 65535UL;
            z += (u * u + 32768UL) >> 16;
            if (z > 65535UL) z = 65535UL;
        }}
        part = (z & 4095UL) >> 6;
        k = {name}_powers[part];
        k -= ((k - {name}_powers[part + 1]) * (z & 63UL) + 32UL) >> 6;
        k >>= z >> 12;
{outputs}
    }}
}}
"""

_ALL_OUTPUTS = """        for (m = 0; m < {n_outputs}; m++)
            decision[m] += (long){name}_weights[c * {n_outputs} + m] * (long)k / {divisor}L;"""

_SOME_OUTPUTS = """        for (m = c ? (int){name}_weight_ends[c - 1] : 0; m < (int){name}_weight_ends[c]; m++)
            decision[{name}_weight_places[m]] += (long){name}_weights[m] * (long)k / {divisor}L;"""


def fixed_to_c(fixed: FixedPoint, name: str, threshold: float | None, interface: Interface | None = None) -> str:
    """Return C source for the decision values and the predicted class index.

    Parameters
    ----------
    fixed : FixedPoint
    name : str
        Prefix of all names; must be a C identifier.
    threshold : float, optional
        Decision values above it are class 1 (one output only). None for a regression.
    interface : Interface, optional
        The names of features and classes. The rule for the levels is stated for raw values.
    """
    check_c_name(name)
    expansion = fixed.expansion
    n_outputs = expansion.intercept.size
    level = "unsigned char" if fixed.top < 256 else "unsigned short"
    interface = interface or Interface()
    low, step = fixed.low, fixed.step
    if interface.mean is not None and interface.scale is not None:
        low, step = interface.mean + interface.scale * low, interface.scale * step
    read = np.unique(expansion.features)
    words = {
        "name": name,
        "n_features": expansion.n_features,
        "n_elements": expansion.n_elements,
        "n_columns": expansion.n_columns,
        "n_outputs": n_outputs,
        "plural": "" if n_outputs == 1 else "s",
        "top": fixed.top,
        "finer": FINE // fixed.top,
        "level": level,
        "divisor": fixed.divisor,
        "unit": fixed.unit,
        "error": fixed.error_bound,
        "rounding": fixed.input_error_bound,
        "rule": "\n".join(f" * {i:9d}  {low[i]:17.9g}  {step[i]:17.9g}" for i in read) or " *   none",
        "listing": interface.listing(read),
        "predict": ""
        if threshold is None
        else f"\n * int  {name}_predict(const {level} *x);  {classes_text(n_outputs)}",
    }
    outputs = _SOME_OUTPUTS if expansion.is_thin else _ALL_OUTPUTS
    short = "unsigned short"
    parts = [
        _HEADER.format(**words),
        c_array(short if expansion.n_features < 65536 else "unsigned long", f"{name}_features", expansion.features),
        c_array("short", f"{name}_centres", fixed.centres),
        c_array(short, f"{name}_multipliers", fixed.multipliers),
        c_array("unsigned char", f"{name}_shifts", fixed.shifts),
        c_array(short if expansion.n_elements < 65536 else "unsigned long", f"{name}_ends", expansion.starts[1:]),
        *weight_arrays("short", name, fixed.weights, thin=expansion.is_thin),
        c_array("long", f"{name}_offset", fixed.offset),
        c_array(short, f"{name}_powers", power_table()),
        _DECISION.format(**words, outputs=outputs.format(**words)),
    ]
    if threshold is not None:
        limit = "0" if np.isinf(threshold) else f"{int(np.floor(threshold / fixed.unit))}L"
        parts.append(c_predict(name, n_outputs, threshold, limit, f"const {level}", "long"))
    return "\n".join(parts)
