"""An exported machine that standardises its inputs first: (x - mean) / scale per feature."""

from typing import Any

import numpy as np

from eigensieve._extras import require
from eigensieve._types import Array
from eigensieve.elements.export_fixed import fixed_to_c
from eigensieve.elements.fixed_point import TOPS

_DECISION = """
/* The functions to call. They take raw values and standardise them: (x - mean) / scale per feature. */
static const {real} {name}_mean[{n}] = {{{mean}}};
static const {real} {name}_scale[{n}] = {{{scale}}};

void {name}_decision(const {real} *x, {real} *decision)
{{
    {real} z[{n}];
    int i;
    for (i = 0; i < {n}; i++) z[i] = (x[i] - {name}_mean[i]) / {name}_scale[i];
    {name}_standardised_decision(z, decision);
}}
"""

_PREDICT = """
int {name}_predict(const {real} *x)
{{
    {real} z[{n}];
    int i;
    for (i = 0; i < {n}; i++) z[i] = (x[i] - {name}_mean[i]) / {name}_scale[i];
    return {name}_standardised_predict(z);
}}
"""


def scaled_c(machine: Any, mean: Array, scale: Array, *, precision: str = "double", name: str = "eigensieve") -> str:
    """Return a machine as one C file whose functions take raw values.

    Parameters
    ----------
    machine : estimator
        With `to_c`; fitted on standardised values.
    mean, scale : ndarray of shape (n_features,)
    precision : {"single", "double", "int8", "int16"}
        With whole numbers, the rule from values to levels holds the standardisation; nothing is computed for it.
    name : str
        Prefix of the functions.
    """
    if precision in TOPS:
        fixed = machine.fixed_point(precision)
        return fixed_to_c(fixed, name, getattr(machine, "threshold_", None), mean=mean, scale=scale)
    real = "float" if precision == "single" else "double"
    ending = "f" if precision == "single" else ""
    numbers = {
        key: ", ".join(f"{value!r}{ending}" for value in values.tolist())
        for key, values in (("mean", mean), ("scale", scale))
    }
    wrapper = _DECISION + (_PREDICT if hasattr(machine, "classes_") else "")
    source = machine.to_c(f"{name}_standardised", precision=precision)
    return str(source) + wrapper.format(name=name, n=len(mean), real=real, **numbers)


def scaled_onnx(machine: Any, mean: Array, scale: Array) -> Any:
    """Return a machine as an ONNX model that takes raw values.

    Parameters
    ----------
    machine : estimator
        With `to_onnx`; fitted on standardised values.
    mean, scale : ndarray of shape (n_features,)
    """
    model = machine.to_onnx()
    helper = require("onnx.helper", extra="onnx")
    arrays = require("onnx.numpy_helper", extra="onnx")
    for node in model.graph.node:
        node.input[:] = ["standardised" if name == "X" else name for name in node.input]
    steps = [
        helper.make_node("Sub", ["X", "feature_mean"], ["centred"]),
        helper.make_node("Div", ["centred", "feature_scale"], ["standardised"]),
    ]
    nodes = [*steps, *model.graph.node]
    del model.graph.node[:]
    model.graph.node.extend(nodes)
    for key, values in (("feature_mean", mean), ("feature_scale", scale)):
        model.graph.initializer.append(arrays.from_array(np.asarray(values, dtype=np.float32), name=key))
    require("onnx.checker", extra="onnx").check_model(model)
    return model
