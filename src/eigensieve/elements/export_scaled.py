"""An ONNX model that standardises its inputs first: (x - mean) / scale per feature."""

from typing import Any

import numpy as np

from eigensieve._extras import require
from eigensieve._types import Array


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
