"""A masked expansion as an ONNX graph of standard operators."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from eigensieve._extras import require
from eigensieve.elements.expansion import ElementExpansion
from eigensieve.elements.kernel import LINEAR, RBF

OPSET = 17


def expansion_to_onnx(expansion: ElementExpansion, classes: NDArray, threshold: float) -> Any:
    """Return a model with input "X" (float) and outputs "label" and "decision" (double).

    The graph gathers the elements' features, sums them into columns by a product with a 0/1 matrix, applies the
    kernel and the weights. It computes in double precision, as the decision values are defined.

    Parameters
    ----------
    expansion : ElementExpansion
    classes : ndarray
        Integers or strings.
    threshold : float
        Decision values above it are the second class (one output only).
    """
    helper = require("onnx.helper", extra="onnx")
    numpy_helper = require("onnx.numpy_helper", extra="onnx")
    proto = require("onnx", extra="onnx").TensorProto
    constants: list[Any] = []

    def constant(name: str, value: NDArray) -> str:
        constants.append(numpy_helper.from_array(value, name))
        return name

    kernel, n_outputs = expansion.kernel, expansion.intercept.size
    labels = np.asarray(classes)
    texts = labels.dtype.kind not in "iub"
    constant("classes", labels.astype(object) if texts else labels.astype(np.int64))
    gammas = expansion.factors * (1.0 if kernel.kind == LINEAR else kernel.gamma)
    sign = -1.0 if kernel.kind == RBF else 1.0
    nodes = [
        helper.make_node("Gather", ["X", constant("features", expansion.features)], ["seen_float"], axis=1),
        helper.make_node("Cast", ["seen_float"], ["seen"], to=proto.DOUBLE),
    ]
    values = constant("values", expansion.values[None, :])
    if kernel.kind == RBF:
        nodes += [
            helper.make_node("Sub", ["seen", values], ["difference"]),
            helper.make_node("Mul", ["difference", "difference"], ["terms"]),
        ]
    else:
        nodes.append(helper.make_node("Mul", ["seen", values], ["terms"]))
    sums = constant("membership", sign * expansion.membership().toarray() * gammas[None, :])
    nodes.append(helper.make_node("MatMul", ["terms", sums], ["sums"]))
    if kernel.kind == RBF:
        nodes.append(helper.make_node("Exp", ["sums"], ["columns"]))
    elif kernel.kind == LINEAR:
        nodes.append(helper.make_node("Identity", ["sums"], ["columns"]))
    else:
        nodes.append(helper.make_node("Add", ["sums", constant("coef0", np.array([kernel.coef0]))], ["base"]))
        powers = ["base"]
        for k in range(1, kernel.degree):
            nodes.append(helper.make_node("Mul", [powers[-1], "base"], [f"power{k + 1}"]))
            powers.append(f"power{k + 1}")
        nodes.append(helper.make_node("Identity", [powers[-1]], ["columns"]))
    nodes += [
        helper.make_node("MatMul", ["columns", constant("weights", expansion.weights)], ["weighted"]),
        helper.make_node("Add", ["weighted", constant("intercept", expansion.intercept[None, :])], ["decision"]),
    ]
    if n_outputs == 1:
        nodes += [
            helper.make_node("Greater", ["decision", constant("threshold", np.array([threshold]))], ["above"]),
            helper.make_node("Cast", ["above"], ["index_column"], to=proto.INT64),
            helper.make_node("Squeeze", ["index_column", constant("axis", np.array([1]))], ["index"]),
        ]
    else:
        nodes.append(helper.make_node("ArgMax", ["decision"], ["index"], axis=1, keepdims=0))
    nodes.append(helper.make_node("Gather", ["classes", "index"], ["label"], axis=0))
    graph = helper.make_graph(
        nodes,
        "eigensieve_elements",
        [helper.make_tensor_value_info("X", proto.FLOAT, [None, expansion.n_features])],
        [
            helper.make_tensor_value_info("label", proto.STRING if texts else proto.INT64, [None]),
            helper.make_tensor_value_info("decision", proto.DOUBLE, [None, n_outputs]),
        ],
        initializer=constants,
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", OPSET)], producer_name="eigensieve")
    model.ir_version = 8
    require("onnx.checker", extra="onnx").check_model(model)
    return model
