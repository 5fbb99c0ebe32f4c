"""An exported machine that standardises its inputs first: (x - mean) / scale per feature."""

from typing import Any

import numpy as np

from eigensieve._extras import require
from eigensieve._types import Array

_WRAPPER = """
/* The functions to call. They take raw values and standardise them: (x - mean) / scale per feature. */
static const double {name}_mean[{n}] = {{{mean}}};
static const double {name}_scale[{n}] = {{{scale}}};

void {name}_decision(const double *x, double *decision)
{{
    double z[{n}];
    int i;
    for (i = 0; i < {n}; i++) z[i] = (x[i] - {name}_mean[i]) / {name}_scale[i];
    {name}_standardised_decision(z, decision);
}}

int {name}_predict(const double *x)
{{
    double z[{n}];
    int i;
    for (i = 0; i < {n}; i++) z[i] = (x[i] - {name}_mean[i]) / {name}_scale[i];
    return {name}_standardised_predict(z);
}}
"""


def scaled_c(machine: Any, mean: Array, scale: Array, name: str = "eigensieve") -> str:
    """Return a machine as one C file whose functions take raw values.

    Parameters
    ----------
    machine : estimator
        With `to_c`; fitted on standardised values.
    mean, scale : ndarray of shape (n_features,)
    name : str
        Prefix of the functions.
    """
    numbers = {key: ", ".join(map(repr, values.tolist())) for key, values in (("mean", mean), ("scale", scale))}
    return str(machine.to_c(f"{name}_standardised", precision="double")) + _WRAPPER.format(
        name=name, n=len(mean), **numbers
    )


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
