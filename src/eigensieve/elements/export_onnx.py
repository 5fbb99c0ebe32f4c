"""A masked expansion as an ONNX graph of standard operators."""

from typing import Any

import numpy as np

from eigensieve._extras import require
from eigensieve._types import Array
from eigensieve.elements.expansion import ElementExpansion
from eigensieve.elements.kernel import LINEAR, RBF

OPSET = 17


def expansion_to_onnx(expansion: ElementExpansion, classes: Array, threshold: float) -> Any:
    """Return a model with input "X" (float) and outputs "label" and "decision" (double).

    The graph gathers the elements' features, sums them into columns by a product with a 0/1 matrix, and applies the
    kernel and the weights. It computes in double precision, as the decision values are defined.

    Parameters
    ----------
    expansion : ElementExpansion
    classes : ndarray
        Integers or strings.
    threshold : float
        Decision values above it are the second class (one output only).
    """
    graph = _Graph()
    helper, proto = graph.helper, graph.proto
    labels = np.asarray(classes)
    texts = labels.dtype.kind not in "iub"
    graph.constant("classes", labels.astype(object) if texts else labels.astype(np.int64))
    _add_sums(graph, expansion)
    _add_kernel(graph, expansion)
    _add_label(graph, expansion, threshold)
    whole = helper.make_graph(
        graph.nodes,
        "eigensieve_elements",
        [helper.make_tensor_value_info("X", proto.FLOAT, [None, expansion.n_features])],
        [
            helper.make_tensor_value_info("label", proto.STRING if texts else proto.INT64, [None]),
            helper.make_tensor_value_info("decision", proto.DOUBLE, [None, expansion.intercept.size]),
        ],
        initializer=graph.constants,
    )
    model = helper.make_model(whole, opset_imports=[helper.make_opsetid("", OPSET)], producer_name="eigensieve")
    model.ir_version = 8
    require("onnx.checker", extra="onnx").check_model(model)
    return model


class _Graph:
    """Nodes and constants, in the order in which they are added."""

    def __init__(self) -> None:
        self.helper = require("onnx.helper", extra="onnx")
        self.numpy_helper = require("onnx.numpy_helper", extra="onnx")
        self.proto = require("onnx", extra="onnx").TensorProto
        self.nodes: list[Any] = []
        self.constants: list[Any] = []

    def constant(self, name: str, value: Array) -> str:
        self.constants.append(self.numpy_helper.from_array(value, name))
        return name

    def add(self, operator: str, inputs: list[str], output: str, **attributes: Any) -> None:
        self.nodes.append(self.helper.make_node(operator, inputs, [output], **attributes))


def _add_sums(graph: _Graph, expansion: ElementExpansion) -> None:
    """From "X" to "sums": the argument of each column's kernel function."""
    graph.add("Gather", ["X", graph.constant("features", expansion.features)], "seen_float", axis=1)
    graph.add("Cast", ["seen_float"], "seen", to=graph.proto.DOUBLE)
    values = graph.constant("values", expansion.values[None, :])
    sign = 1.0
    if expansion.kernel.kind == RBF:
        sign = -1.0
        graph.add("Sub", ["seen", values], "difference")
        graph.add("Mul", ["difference", "difference"], "terms")
    else:
        graph.add("Mul", ["seen", values], "terms")
    weighted = sign * expansion.membership().toarray() * expansion.gammas[None, :]
    graph.add("MatMul", ["terms", graph.constant("membership", weighted)], "sums")


def _add_kernel(graph: _Graph, expansion: ElementExpansion) -> None:
    """From "sums" to "columns" and "decision"."""
    kernel = expansion.kernel
    if kernel.kind == RBF:
        graph.add("Exp", ["sums"], "columns")
    elif kernel.kind == LINEAR:
        graph.add("Identity", ["sums"], "columns")
    else:
        graph.add("Add", ["sums", graph.constant("coef0", np.array([kernel.coef0]))], "base")
        power = "base"
        for k in range(2, kernel.degree + 1):
            graph.add("Mul", [power, "base"], f"power{k}")
            power = f"power{k}"
        graph.add("Identity", [power], "columns")
    graph.add("MatMul", ["columns", graph.constant("weights", expansion.weights)], "weighted")
    graph.add("Add", ["weighted", graph.constant("intercept", expansion.intercept[None, :])], "decision")


def _add_label(graph: _Graph, expansion: ElementExpansion, threshold: float) -> None:
    """From "decision" to "label"."""
    if expansion.intercept.size == 1:
        graph.add("Greater", ["decision", graph.constant("threshold", np.array([threshold]))], "above")
        graph.add("Cast", ["above"], "index_column", to=graph.proto.INT64)
        graph.add("Squeeze", ["index_column", graph.constant("axis", np.array([1]))], "index")
    else:
        graph.add("ArgMax", ["decision"], "index", axis=1, keepdims=0)
    graph.add("Gather", ["classes", "index"], "label", axis=0)
