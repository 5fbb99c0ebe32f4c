"""A masked expansion as an ONNX graph of standard operators.

The file holds little more than the numbers of the machine. One Gather reads all features (columns x longest column),
shorter columns are filled up with copies of an element, and one sum over the last axis makes the columns. NaN in a
feature that is read makes every decision value NaN; the label of such a sample means nothing.
"""

from typing import Any

import numpy as np

from eigensieve._extras import require
from eigensieve._types import Array, FloatArray
from eigensieve.elements.expansion import ElementExpansion
from eigensieve.elements.export_c import Interface
from eigensieve.elements.kernel import BUMP, LINEAR, RBF

OPSET = 17
PRECISIONS = {"single": np.float32, "double": np.float64}


def expansion_to_onnx(
    expansion: ElementExpansion, interface: Interface, threshold: float | None, *, precision: str = "single"
) -> Any:
    """Return a model with input "X" (float) and outputs "decision" and, for classes, "label". Decision values above
    `threshold` are the second class (one output only). `interface` has the classes, integers or strings, and how raw
    values become those of training."""
    if precision not in PRECISIONS:
        raise ValueError(
            f"The 'precision' parameter of to_onnx must be 'single' or 'double'. Got {precision!r} instead."
        )
    graph = _Graph(PRECISIONS[precision])
    helper, proto = graph.helper, graph.proto
    seen = "X"
    if interface.mean is not None and interface.scale is not None:
        graph.add("Sub", ["X", graph.constant("feature_mean", interface.mean.astype(np.float32))], "centred")
        graph.add("Div", ["centred", graph.constant("feature_scale", interface.scale.astype(np.float32))], "scaled")
        seen = "scaled"
    _add_columns(graph, expansion, seen)
    graph.add("MatMul", ["columns", graph.number("weights", expansion.weights)], "weighted")
    graph.add("Add", ["weighted", graph.number("intercept", expansion.intercept[None, :])], "decision")
    outputs = [helper.make_tensor_value_info("decision", graph.real, [None, expansion.intercept.size])]
    if interface.classes is not None and threshold is not None:
        kind = _add_label(graph, expansion, np.asarray(interface.classes), threshold)
        outputs.insert(0, helper.make_tensor_value_info("label", kind, [None]))
    inputs = [helper.make_tensor_value_info("X", proto.FLOAT, [None, expansion.n_features])]
    whole = helper.make_graph(graph.nodes, "eigensieve_elements", inputs, outputs, initializer=graph.constants)
    model = helper.make_model(whole, opset_imports=[helper.make_opsetid("", OPSET)], producer_name="eigensieve")
    model.ir_version = 8
    require("onnx.checker", extra="onnx").check_model(model)
    return model


class _Graph:
    """Nodes and constants, in the order in which they are added."""

    def __init__(self, dtype: type) -> None:
        self.helper = require("onnx.helper", extra="onnx")
        self.numpy_helper = require("onnx.numpy_helper", extra="onnx")
        self.proto = require("onnx", extra="onnx").TensorProto
        self.dtype = dtype
        self.real = self.proto.FLOAT if dtype is np.float32 else self.proto.DOUBLE
        self.nodes: list[Any] = []
        self.constants: list[Any] = []

    def constant(self, name: str, value: Array) -> str:
        self.constants.append(self.numpy_helper.from_array(value, name))
        return name

    def number(self, name: str, value: FloatArray) -> str:
        """Add a constant in the precision of the arithmetic."""
        return self.constant(name, value.astype(self.dtype))

    def as_real(self, name: str) -> str:
        """Return a float value's name in the precision of the arithmetic."""
        if self.real == self.proto.FLOAT:
            return name
        self.add("Cast", [name], f"{name}_real", to=self.real)
        return f"{name}_real"

    def add(self, operator: str, inputs: list[str], output: str, **attributes: Any) -> None:
        self.nodes.append(self.helper.make_node(operator, inputs, [output], **attributes))


def _add_columns(graph: _Graph, expansion: ElementExpansion, samples: str) -> None:
    """From the samples to "columns": the masked kernel (samples x columns)."""
    kernel = expansion.kernel
    longest = int(expansion.lengths.max(initial=1))
    # A short column repeats its last element, and the copies share its weight: no other feature is read, even if NaN.
    within = np.minimum(np.arange(longest), expansion.lengths[:, None] - 1)
    at = expansion.starts[:-1, None] + within
    copies = np.where(within == expansion.lengths[:, None] - 1, longest - expansion.lengths[:, None] + 1, 1)
    features, values = expansion.features[at].astype(np.int32), expansion.values[at]
    scales = {RBF: -1.0, BUMP: 0.25}.get(kernel.kind, 1.0) * expansion.gammas[:, None] / copies
    graph.add("Gather", [samples, graph.constant("features", features)], "read", axis=1)
    seen = graph.as_real("read")
    if kernel.is_radial:
        graph.add("Sub", [seen, graph.number("values", values)], "difference")
        graph.add("Mul", ["difference", "difference"], "squares")
        graph.add("Mul", ["squares", graph.number("scales", scales)], "terms")
    else:
        graph.add("Mul", [seen, graph.number("values", values * scales)], "terms")
    graph.add("ReduceSum", ["terms", graph.constant("last", np.array([2]))], "sums", keepdims=0)
    if kernel.kind == RBF:
        graph.add("Exp", ["sums"], "columns")
    elif kernel.kind == BUMP:
        # Not Max, which may hide NaN.
        zero, one = graph.number("zero", np.zeros(1)), graph.number("one", np.ones(1))
        graph.add("Sub", [one, "sums"], "left")
        graph.add("Less", ["left", zero], "beyond")
        graph.add("Where", ["beyond", zero, "left"], "root")
        graph.add("Mul", ["root", "root"], "square")
        graph.add("Mul", ["square", "square"], "columns")
    elif kernel.kind == LINEAR:
        graph.add("Identity", ["sums"], "columns")
    else:
        graph.add("Add", ["sums", graph.number("coef0", np.array([kernel.coef0]))], "base")
        graph.add("Pow", ["base", graph.number("degree", np.array([float(kernel.degree)]))], "columns")


def _add_label(graph: _Graph, expansion: ElementExpansion, classes: Array, threshold: float) -> int:
    """From "decision" to "label"; return the type of the labels."""
    texts = classes.dtype.kind not in "iub"
    graph.constant("classes", classes.astype(object) if texts else classes.astype(np.int64))
    if expansion.intercept.size == 1:
        graph.add("Greater", ["decision", graph.number("threshold", np.array([threshold]))], "above")
        graph.add("Cast", ["above"], "index_column", to=graph.proto.INT64)
        graph.add("Squeeze", ["index_column", graph.constant("axis", np.array([1]))], "index")
    else:
        graph.add("ArgMax", ["decision"], "index", axis=1, keepdims=0)
    graph.add("Gather", ["classes", "index"], "label", axis=0)
    return int(graph.proto.STRING if texts else graph.proto.INT64)
