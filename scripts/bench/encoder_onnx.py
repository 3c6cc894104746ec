"""A BERT sentence encoder as ONNX files, for scripts/bench/encoder.py.

Two graphs of the same weights. `plain` is what an exporter writes: matrix products,
transpositions, softmax, error function. `fused` says the same in the operators that
onnxruntime's own optimiser puts in their place (attention, skip layer norm, biased
GELU). Each is written in single precision and quantised dynamically to eight bits.

Needs the packages numpy, onnx, onnxruntime and safetensors.
"""

import json
from pathlib import Path

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper
from onnxruntime.quantization import QuantType, quantize_dynamic
from safetensors.numpy import load_file

MICROSOFT = "com.microsoft"


class Graph:
    """Nodes and weights, as they are added."""

    def __init__(self):
        self.nodes, self.weights = [], []

    def weight(self, name, values):
        self.weights.append(numpy_helper.from_array(np.ascontiguousarray(values), name))
        return name

    def add(self, kind, *inputs, domain="", **attributes):
        name = f"{kind}_{len(self.nodes)}"
        self.nodes.append(helper.make_node(kind, list(inputs), [name], name=name, domain=domain,
                                           **attributes))
        return name


def dense(graph, tensors, name, states):
    """The product with a matrix, and the bias to be added to it."""
    weight = graph.weight(f"{name}.weight", tensors[f"{name}.weight"].T)
    bias = graph.weight(f"{name}.bias", tensors[f"{name}.bias"])
    return graph.add("MatMul", states, weight), bias


def norm(graph, tensors, name, states, epsilon):
    weight = graph.weight(f"{name}.weight", tensors[f"{name}.weight"])
    bias = graph.weight(f"{name}.bias", tensors[f"{name}.bias"])
    return graph.add("LayerNormalization", states, weight, bias, axis=-1, epsilon=epsilon)


def skip_norm(graph, tensors, name, states, skip, bias, epsilon):
    weight = graph.weight(f"{name}.weight", tensors[f"{name}.weight"])
    shift = graph.weight(f"{name}.bias", tensors[f"{name}.bias"])
    return graph.add("SkipLayerNormalization", states, skip, weight, shift, bias,
                     domain=MICROSOFT, epsilon=epsilon)


def plain_attention(graph, tensors, name, states, hidden, heads):
    split = graph.weight(f"{name}.split", np.array([0, 0, heads, hidden // heads], np.int64))
    joined = graph.weight(f"{name}.joined", np.array([0, 0, hidden], np.int64))

    def project(part, order):
        product, bias = dense(graph, tensors, f"{name}.{part}", states)
        rows = graph.add("Reshape", graph.add("Add", product, bias), split)
        return graph.add("Transpose", rows, perm=order)

    query, key = project("query", [0, 2, 1, 3]), project("key", [0, 2, 3, 1])
    value = project("value", [0, 2, 1, 3])
    size = graph.weight(f"{name}.size", np.array((hidden // heads) ** 0.5, np.float32))
    scores = graph.add("Div", graph.add("MatMul", query, key), size)
    weights = graph.add("Softmax", graph.add("Add", scores, "mask_terms"), axis=-1)
    context = graph.add("Transpose", graph.add("MatMul", weights, value), perm=[0, 2, 1, 3])
    return graph.add("Reshape", context, joined)


def fused_attention(graph, tensors, name, states, heads):
    parts = [f"{name}.{part}" for part in ("query", "key", "value")]
    weight = np.concatenate([tensors[f"{part}.weight"].T for part in parts], axis=1)
    bias = np.concatenate([tensors[f"{part}.bias"] for part in parts])
    return graph.add("Attention", states, graph.weight(f"{name}.weight", weight),
                     graph.weight(f"{name}.bias", bias), "lengths", domain=MICROSOFT,
                     num_heads=heads)


def feed_forward(graph, tensors, name, states, fused):
    inner, bias = dense(graph, tensors, f"{name}.intermediate.dense", states)
    if fused:
        active = graph.add("BiasGelu", inner, bias, domain=MICROSOFT)
    else:
        inner = graph.add("Add", inner, bias)
        root, one, half = (graph.weight(f"{name}.{what}", np.array(value, np.float32))
                           for what, value in [("root", 2 ** 0.5), ("one", 1.0), ("half", 0.5)])
        error = graph.add("Add", graph.add("Erf", graph.add("Div", inner, root)), one)
        active = graph.add("Mul", graph.add("Mul", inner, error), half)
    return dense(graph, tensors, f"{name}.output.dense", active)


def build(folder, fused):
    """The graph from token ids and their mask to vectors of length one."""
    config = json.loads(Path(folder, "config.json").read_text(encoding="utf-8"))
    tensors = load_file(Path(folder, "model.safetensors"))
    hidden, heads = config["hidden_size"], config["num_attention_heads"]
    epsilon = config["layer_norm_eps"]
    graph = Graph()
    one = graph.weight("one", np.array(1.0, np.float32))
    lowest = graph.weight("lowest", np.array(-10000.0, np.float32))
    axes = {axes: graph.weight(f"axes{axes}", np.array(axes, np.int64))
            for axes in ((1,), (2,), (1, 2))}
    mask = graph.add("Cast", "attention_mask", to=TensorProto.FLOAT)
    terms = graph.add("Mul", graph.add("Sub", one, graph.add("Unsqueeze", mask, axes[1, 2])), lowest)
    graph.nodes.append(helper.make_node("Identity", [terms], ["mask_terms"]))
    graph.nodes.append(helper.make_node(
        "Cast", [graph.add("ReduceSum", mask, axes[1,], keepdims=0)], ["lengths"],
        to=TensorProto.INT32))

    words = graph.add("Gather", graph.weight(
        "words", tensors["embeddings.word_embeddings.weight"]), "input_ids")
    # All tokens are of the first type, whose row is added to every position's.
    places = graph.weight("places", tensors["embeddings.position_embeddings.weight"]
                          + tensors["embeddings.token_type_embeddings.weight"][0])
    start, end = graph.weight("start", np.array([0], np.int64)), graph.add("Shape", "input_ids",
                                                                             start=1, end=2)
    states = graph.add("Add", words, graph.add("Slice", places, start, end))
    states = norm(graph, tensors, "embeddings.LayerNorm", states, epsilon)
    for layer in range(config["num_hidden_layers"]):
        name = f"encoder.layer.{layer}"
        attend = f"{name}.attention.self"
        context = (fused_attention(graph, tensors, attend, states, heads) if fused
                   else plain_attention(graph, tensors, attend, states, hidden, heads))
        parts = [("attention.output", lambda _: dense(
            graph, tensors, f"{name}.attention.output.dense", context)),
            ("output", lambda states: feed_forward(graph, tensors, name, states, fused))]
        for part, work in parts:
            product, bias = work(states)
            norm_name = f"{name}.{part}.LayerNorm"
            if fused:
                states = skip_norm(graph, tensors, norm_name, product, states, bias, epsilon)
            else:
                product = graph.add("Add", product, bias)
                states = norm(graph, tensors, norm_name, graph.add("Add", product, states), epsilon)
    column = graph.add("Unsqueeze", mask, axes[2,])
    total = graph.add("ReduceSum", graph.add("Mul", states, column), axes[1,], keepdims=0)
    mean = graph.add("Div", total, graph.add("ReduceSum", column, axes[1,], keepdims=0))
    graph.nodes.append(helper.make_node("LpNormalization", [mean], ["vectors"], axis=-1, p=2))
    inputs = [helper.make_tensor_value_info(name, TensorProto.INT64, ["texts", "tokens"])
              for name in ("input_ids", "attention_mask")]
    output = helper.make_tensor_value_info("vectors", TensorProto.FLOAT, ["texts", hidden])
    model = helper.make_model(
        helper.make_graph(graph.nodes, "encoder", inputs, [output], graph.weights),
        opset_imports=[helper.make_opsetid("", 18), helper.make_opsetid(MICROSOFT, 1)],
        ir_version=9)
    return model


def write_all(folder, cache):
    """Writes what is not there yet; the paths by name."""
    Path(cache).mkdir(parents=True, exist_ok=True)
    paths = {}
    for kind in ("plain", "fused"):
        single, integer = Path(cache, f"{kind}.onnx"), Path(cache, f"{kind}.int8.onnx")
        if not integer.exists():
            onnx.save(build(folder, kind == "fused"), single)
            quantize_dynamic(single, integer, weight_type=QuantType.QInt8,
                             extra_options={"DefaultTensorType": TensorProto.FLOAT})
        paths[f"f32, {kind}"], paths[f"int8, {kind}"] = single, integer
    return paths
