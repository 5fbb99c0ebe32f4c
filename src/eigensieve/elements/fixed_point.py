"""A masked expansion in whole numbers, and as C, for processors without a float unit (bumps and the rbf kernel).

A feature enters as a level q = 0 ... top, which stands for low + step q: 255 steps ("int8") or 16,383 ("int16") across
the training range. Let b be a centre on the grid of the finer levels, and m 2^-s the width. For each element

    u = |q - b| m 2^-s        the distance; bump: in 1/32768, at most 2; rbf: in 1/16384, at most 4
    t = u^2                   bump: in 1/16384; rbf: in 1/4096

and for each column, with z the sum of its t, k = (1 - z)^4, or 0 beyond z = 1. For rbf, k = 2^-z: a table of 65
numbers, interpolated, shifted by the whole part of z. Weights have 16 bits and the sum over columns 32. No product
leaves 32 bits.

How far the result can be off is computed by trying: every level of every element, and every z. With t_e and v_e in
whole numbers and exactly, a bump's k moves by at most 4 sum |t_e - v_e|, where t_e and v_e count as 1 beyond 1. For rbf
the factors 2^-t are at most 1, and |prod 2^-t_e - prod 2^-v_e| <= sum |2^-t_e - 2^-v_e|.
"""

from dataclasses import dataclass

import numpy as np

from eigensieve._types import FloatArray, IntArray
from eigensieve.elements.expansion import ElementExpansion, steepest
from eigensieve.elements.export_c import Interface, c_array, c_header, c_predict, check_c_name, index_type, thin_weights
from eigensieve.elements.kernel import BUMP

TOPS = {"int8": 255, "int16": 16383}
"""The largest level of a feature."""
FINE = 16383
"""The largest level on the grid of the centres."""
TABLE = 64
"""Steps of the table of 2^-f, 0 <= f <= 1."""
KERNEL_UNIT = 2.0**-15
FAR = 65535
"""The largest u and the largest z: 2^-16 is below half a unit of the kernel values."""
END = 16384
"""The z at which a bump ends."""


def power_table() -> IntArray:
    """Return 2^-(i / 64), i = 0 ... 64, in units of 2^-15."""
    return np.asarray(np.rint(2.0 ** (15.0 - np.arange(TABLE + 1) / TABLE)), dtype=np.int64)


def powers(z: IntArray) -> IntArray:
    """Return 2^-(z / 4096) in units of 2^-15, as the C file computes it."""
    table = power_table()
    part = z & 4095
    at, rest = part >> 6, part & 63
    return (table[at] - (((table[at] - table[at + 1]) * rest + 32) >> 6)) >> (z >> 12)


def bumps(z: IntArray) -> IntArray:
    """Return (1 - z / END)^4 in units of 2^-15, as the C file computes it."""
    left = END - np.minimum(z, END)
    left = (left * left + 4096) >> 13
    return np.asarray((left * left + 16384) >> 15)


@dataclass(frozen=True, eq=False)
class FixedPoint:
    """The whole numbers of an expansion: level q of feature i stands for low_i + step_i q."""

    expansion: ElementExpansion
    low: FloatArray
    step: FloatArray
    top: int  # the largest level
    centres: IntArray
    multipliers: IntArray
    shifts: IntArray
    weights: IntArray  # columns x outputs
    offset: IntArray  # (outputs,)
    divisor: int  # what a column's weighted value is divided by before it is added
    unit: float  # the decision value of a result of 1

    @classmethod
    def of(cls, expansion: ElementExpansion, low: FloatArray, high: FloatArray, precision: str) -> "FixedPoint":
        """Round an expansion, for features between `low` and `high`."""
        if not expansion.kernel.is_radial:
            raise ValueError(
                f"The 'precision' parameter of to_c must be 'single' or 'double' for the {expansion.kernel.name} "
                f"kernel. Got {precision!r} instead. Hand over an 'estimator' with kernel='rbf' for whole numbers."
            )
        top = TOPS[precision]
        step = np.where(high > low, high - low, 1.0) / top
        # The grid of the centres is a whole number of times finer than that of the levels.
        fine = step[expansion.features] / (FINE // top)
        centres = np.clip(np.rint((expansion.values - low[expansion.features]) / fine), -FINE, 2 * FINE)
        unit = 0.5 * 2.0**15 if expansion.kernel.kind == BUMP else np.sqrt(np.log2(np.e)) * 2.0**14
        scales = np.sqrt(np.repeat(expansion.gammas, expansion.lengths)) * fine * unit
        exponents = np.clip(np.floor(np.log2(np.maximum(scales, 1e-300))), -16, 15).astype(np.int64)
        multipliers = np.clip(np.rint(scales * 2.0 ** (15 - exponents)), 0, 65535).astype(np.int64)
        largest = float(np.abs(expansion.weights).max(initial=0.0)) or 1.0
        weights = np.rint(expansion.weights / largest * 32767).astype(np.int64)
        # A sum of all columns, and the offset, must stay below 2^31.
        reach = np.abs(weights).sum(axis=0) + np.abs(expansion.intercept) / largest * 32767 + len(weights) + 1
        divisor = 1 << max(0, int(np.ceil(np.log2(float(reach.max()) * 32768))) - 30)
        unit = largest / 32767 * KERNEL_UNIT * divisor
        offset = np.rint(expansion.intercept / unit).astype(np.int64)
        return cls(expansion, low, step, top, centres.astype(np.int64), multipliers, 15 - exponents, weights, offset,
                   divisor, unit)  # fmt: skip

    def levels(self, X: FloatArray) -> IntArray:
        """Return the level nearest to each value. Values outside the training range take the first or last level."""
        return np.clip(np.rint((X - self.low) / self.step), 0, self.top).astype(np.int64)

    def decision(self, levels: IntArray) -> IntArray:
        """Return the results in whole numbers (samples x outputs), bit by bit those of the C file."""
        terms = self._terms(levels[:, self.expansion.features] * (FINE // self.top))
        sums = np.minimum((terms @ self.expansion.membership()).astype(np.int64), FAR)
        products = self._columns(sums)[:, :, None] * self.weights[None]
        # C's division rounds towards zero.
        return self.offset + (np.sign(products) * (np.abs(products) // self.divisor)).sum(axis=1)

    def _terms(self, fine: IntArray, which: int | slice = slice(None)) -> IntArray:
        """Return t of some elements, for levels on the grid of the centres."""
        shifts = self.shifts[which]
        u = (np.abs(fine - self.centres[which]) * self.multipliers[which] + ((1 << shifts) >> 1)) >> shifts
        u = np.minimum(u, FAR)
        return np.asarray((u * u + 32768) >> 16)

    def _columns(self, sums: IntArray) -> IntArray:
        """Return columns from their z, in `KERNEL_UNIT`."""
        return bumps(sums) if self.expansion.kernel.kind == BUMP else powers(sums)

    @property
    def error_bound(self) -> float:
        """How far unit times the result can be from the exact decision value of the same levels."""
        levels = np.arange(self.top + 1)
        off = np.empty(self.expansion.n_elements)
        gammas = np.repeat(self.expansion.gammas, self.expansion.lengths)
        ends = self.expansion.kernel.kind == BUMP
        for e, feature in enumerate(self.expansion.features):
            x = self.low[feature] + self.step[feature] * levels
            exact = gammas[e] * (x - self.expansion.values[e]) ** 2
            found = self._terms(levels * (FINE // self.top), e)
            if ends:
                off[e] = 4.0 * np.abs(np.minimum(found / END, 1.0) - np.minimum(exact / 4.0, 1.0)).max()
            else:
                off[e] = np.abs(2.0 ** (-found / 4096) - np.exp(-exact)).max()
        z = np.arange(FAR + 1)
        ideal = np.maximum(1.0 - z / END, 0.0) ** 4 if ends else 2.0 ** (-z / 4096)
        function = float(np.abs(self._columns(z) * KERNEL_UNIT - ideal).max())
        columns = off @ self.expansion.membership() + function
        used = self.weights * (self.unit / self.divisor / KERNEL_UNIT)
        rounded = np.abs(used - self.expansion.weights).sum(axis=0)
        return float((columns @ np.abs(used) + rounded + (len(used) + 1) * self.unit).max())

    @property
    def input_error_bound(self) -> float:
        """Bound the change of the decision value when a sample within the training range is rounded to levels: half a
        step times a column's largest slope."""
        gammas = np.repeat(self.expansion.gammas, self.expansion.lengths)
        moved = np.minimum(1.0, steepest(self.expansion.kernel, gammas) * self.step[self.expansion.features] / 2.0)
        return float((moved @ self.expansion.membership() @ np.abs(self.expansion.weights)).max())


_RULE = """
 *
 * The level of feature i is (value - low) / step, rounded to the nearest and cut to 0 ... {top}:
 *
 *   feature                low               step
{rows}"""

_DECISION = """
void {name}_decision(const {level} *x, long *decision)
{{
    int c, e = 0, m;
    for (m = 0; m < {n_outputs}; m++) decision[m] = {name}_offset[m];
    for (c = 0; c < {n_columns}; c++) {{
        unsigned long z = 0, k;
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
{kernel}
{outputs}
    }}
}}
"""

_BUMP = """        k = z < 16384UL ? 16384UL - z : 0UL;
        k = (k * k + 4096UL) >> 13;
        k = (k * k + 16384UL) >> 15;"""

_RBF = """        k = {name}_powers[(z & 4095UL) >> 6];
        k -= ((k - {name}_powers[((z & 4095UL) >> 6) + 1]) * (z & 63UL) + 32UL) >> 6;
        k >>= z >> 12;"""

_ALL_OUTPUTS = """        for (m = 0; m < {n_outputs}; m++)
            decision[m] += (long){name}_weights[c * {n_outputs} + m] * (long)k / {divisor}L;"""

_SOME_OUTPUTS = """        for (m = c ? (int){name}_weight_ends[c - 1] : 0; m < (int){name}_weight_ends[c]; m++)
            decision[{name}_weight_places[m]] += (long){name}_weights[m] * (long)k / {divisor}L;"""


def fixed_to_c(fixed: FixedPoint, name: str, threshold: float | None, interface: Interface | None = None) -> str:
    """Return C source for the decision values and the predicted class index; `name`, a C identifier, starts all names.
    Decision values above `threshold` are class 1 (one output only); None for a regression. The levels' rule is stated
    for raw values."""
    check_c_name(name)
    expansion = fixed.expansion
    n_outputs = expansion.intercept.size
    level = "unsigned char" if fixed.top < 256 else "unsigned short"
    interface = interface or Interface()
    low, step = fixed.low, fixed.step
    if interface.mean is not None and interface.scale is not None:
        low, step = interface.mean + interface.scale * low, interface.scale * step
    rows = "\n".join(f" * {i:9d}  {low[i]:17.9g}  {step[i]:17.9g}" for i in np.unique(expansion.features))
    rule = _RULE.format(top=fixed.top, rows=rows or " *   none")
    stated = {
        "scaling": f"levels 0 to {fixed.top}{rule}\n *",
        "missing": "NaN has no level: replace missing values before rounding",
        "unit": f"; times {fixed.unit:.9g} in the units of training",
        "precision": "whole numbers of 32 bits",
        "error": f"at most {fixed.error_bound:.2e} (in the units of training) for every input\n"
        f" * rounding     a sample of the training range, rounded to levels, adds at most "
        f"{fixed.input_error_bound:.2e}",
        "sample": level, "value": "long",
    }  # fmt: skip
    words = {
        "name": name, "n_columns": expansion.n_columns, "n_outputs": n_outputs, "top": fixed.top,
        "finer": FINE // fixed.top, "level": level, "divisor": fixed.divisor,
    }  # fmt: skip
    outputs, weights = _ALL_OUTPUTS, [c_array("short", f"{name}_weights", fixed.weights.ravel())]
    if expansion.is_thin:
        outputs, weights = _SOME_OUTPUTS, thin_weights("short", name, fixed.weights)
    ends, short = expansion.kernel.kind == BUMP, "unsigned short"
    parts = [
        c_header(expansion, name, threshold, interface, **stated),
        c_array(index_type(expansion.n_features), f"{name}_features", expansion.features),
        c_array("short", f"{name}_centres", fixed.centres),
        c_array(short, f"{name}_multipliers", fixed.multipliers),
        c_array("unsigned char", f"{name}_shifts", fixed.shifts),
        c_array(index_type(expansion.n_elements), f"{name}_ends", expansion.starts[1:]),
        *weights,
        c_array("long", f"{name}_offset", fixed.offset),
        *([] if ends else [c_array(short, f"{name}_powers", power_table())]),
        _DECISION.format(**words, kernel=(_BUMP if ends else _RBF).format(**words), outputs=outputs.format(**words)),
    ]
    if threshold is not None:
        limit = "0" if np.isinf(threshold) else f"{int(np.floor(threshold / fixed.unit))}L"
        parts.append(c_predict(name, n_outputs, threshold, limit, f"const {level}", "long"))
    return "\n".join(parts)
