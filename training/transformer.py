"""BERT-like transformers as ONNX graphs, written node by node: exact, or quantised as suits each layer."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Final

import numpy as np
import onnx
from numpy.typing import NDArray
from onnx import TensorProto, helper, numpy_helper

Floats = NDArray[np.float32]
Weights = dict[str, Floats]

LAYERS, HEADS, WIDTH, MAX_TOKENS = 6, 12, 384, 256

BLOCK: Final = 64  # 128 is 8 % faster, but then a vector depends on what else is in its batch
# Activations of 0..220 times weights of -74..74: two products fit 16 bits, so that processors without
# VNNI, which add pairs in 16 bits, are as exact as those with it. 255 x 127 does not fit.
LARGEST_ACTIVATION: Final = 220
LARGEST_WEIGHT: Final = 74
MIDDLE: Final = LARGEST_ACTIVATION // 2  # stands for 0 where activations have either sign alike
SMOOTHING: Final = 0.65  # best of 0.5, 0.65, 0.75, 0.85 on 3,000 questions

MICROSOFT: Final = "com.microsoft"  # ONNX Runtime's own operators
GRAPH: Final = "all-MiniLM-L6-v2"  # the first one made; the name is part of the digest of all three


@dataclass
class Graph:
    """ONNX nodes and constants in the order they are made."""

    nodes: list[onnx.NodeProto] = field(default_factory=list)
    constants: list[onnx.TensorProto] = field(default_factory=list)

    def constant(self, name: str, value: Any) -> str:
        """The name of a constant with this value."""
        self.constants.append(numpy_helper.from_array(np.ascontiguousarray(value), name))
        return name

    def apply(
        self, operator: str, *inputs: str, domain: str = "", outputs: tuple[str, ...] = (), **options: Any
    ) -> str:
        """The name of the (first) result of an operator."""
        named = outputs or (f"{operator}.{len(self.nodes)}",)
        self.nodes.append(helper.make_node(operator, inputs, named, named[0], domain=domain, **options))
        return named[0]

    def model(self, outputs: list[str], width: int = WIDTH) -> onnx.ModelProto:
        """The whole, with token ids and mask as its inputs and first an output of that width."""
        read = [
            helper.make_tensor_value_info(name, TensorProto.INT64, ["batch", "tokens"])
            for name in ("input_ids", "attention_mask")
        ]
        inner = ["batch", "tokens", WIDTH]
        made = [helper.make_tensor_value_info(outputs[0], TensorProto.FLOAT, ["batch", width])]
        made += [helper.make_tensor_value_info(name, TensorProto.FLOAT, inner) for name in outputs[1:]]
        graph = helper.make_graph(self.nodes, GRAPH, read, made, self.constants)
        versions = [helper.make_opsetid("", 20), helper.make_opsetid(MICROSOFT, 1)]
        model = helper.make_model(graph, opset_imports=versions, ir_version=9, producer_name="sekisho")
        onnx.checker.check_model(model)
        return model


@dataclass(frozen=True)
class Layer:
    """One linear layer: `inputs` says whether a layer normalisation bounds what goes in."""

    name: str
    weight: Floats  # (out, in)
    bias: Floats
    normalised_input: bool


Multiply = Callable[[Graph, str, Layer], str]
LookUp = Callable[[Graph, Floats], str]  # rows of the embedding table


@dataclass(frozen=True)
class Kind:
    """What a model gives out: a vector of one text, or a judgement of two."""

    width: int
    separator: int | None = None  # the token between two texts; None if the model reads only one
    second: bool = False  # the mean is of the second text alone


ENCODER: Final = Kind(WIDTH)


def exact(graph: Graph, x: str, layer: Layer) -> str:
    """The layer in fp32."""
    product = graph.apply("MatMul", x, graph.constant(f"{layer.name}.weight", layer.weight.T))
    return graph.apply("Add", product, graph.constant(f"{layer.name}.bias", layer.bias))


def in_blocks(graph: Graph, x: str, layer: Layer) -> str:
    """8-bit weights with a scale per block; the runtime scales activations per token and block."""
    rows, columns = layer.weight.shape
    blocks = layer.weight.reshape(rows, columns // BLOCK, BLOCK)
    scale = np.abs(blocks).max(axis=2) / 127
    stored = (np.rint(blocks / scale[..., None]) + 128).astype(np.uint8)
    return multiplied(graph, x, layer, stored, scale.astype(np.float32), bits=8, block=BLOCK)


def multiplied(
    graph: Graph, x: str, layer: Layer, stored: Any, scale: Floats, *, bits: int, block: int
) -> str:
    """A layer whose weights are stored in blocks, each with a scale."""
    rows, columns = layer.weight.shape
    return graph.apply(
        "MatMulNBits",
        x,
        graph.constant(f"{layer.name}.weight", stored),
        graph.constant(f"{layer.name}.scale", scale),
        "",
        "",
        graph.constant(f"{layer.name}.bias", layer.bias),
        domain=MICROSOFT,
        K=columns,
        N=rows,
        bits=bits,
        block_size=block,
        accuracy_level=4,
    )


@dataclass(frozen=True)
class Ranges:
    """The smallest and largest value seen in each channel of a layer's input."""

    low: Floats
    high: Floats


def with_fixed_scale(graph: Graph, x: str, layer: Layer, ranges: Ranges) -> str:
    """8 bits on both sides, scales fixed beforehand: the fastest, for inputs of known range.

    Channels with outliers are first shrunk, and their weights grown (SmoothQuant, arXiv:2211.10438).
    """
    name = layer.name
    reach = np.maximum(np.abs(ranges.low), np.abs(ranges.high))
    shrink = reach**SMOOTHING / np.abs(layer.weight).max(axis=0) ** (1 - SMOOTHING)
    high, low = (ranges.high / shrink).max(), (ranges.low / shrink).min()
    step = (high - low) / LARGEST_ACTIVATION
    weight = layer.weight * shrink
    weight_step = np.abs(weight).max(axis=1) / LARGEST_WEIGHT
    scale = graph.constant(f"{name}.input_scale", np.float32(step))
    zero = graph.constant(f"{name}.input_zero", np.uint8(np.rint(-low / step)))
    shrunk = graph.apply("Mul", x, graph.constant(f"{name}.shrink", (1 / shrink).astype(np.float32)))
    return graph.apply(
        "MatMulIntegerToFloat",
        graph.apply("QuantizeLinear", shrunk, scale, zero),
        graph.constant(f"{name}.weight", np.rint(weight / weight_step[:, None]).astype(np.int8).T),
        scale,
        graph.constant(f"{name}.scale", weight_step.astype(np.float32)),
        zero,
        graph.constant(f"{name}.zero", np.zeros(len(weight_step), np.int8)),
        graph.constant(f"{name}.bias", layer.bias),
        domain=MICROSOFT,
    )


def with_token_scale(graph: Graph, x: str, layer: Layer) -> str:
    """8 bits on both sides, activations with a scale per token: as fast, for inputs of any range.

    Source: Yao et al., ZeroQuant, arXiv:2206.01861.
    """
    name = layer.name
    step = np.abs(layer.weight).max(axis=1) / LARGEST_WEIGHT
    reach = graph.apply("ReduceMax", graph.apply("Abs", x), graph.constant(f"{name}.axis", np.array([2])))
    reach = graph.apply("Max", reach, graph.constant(f"{name}.least", np.float32(1e-6)))
    scale = graph.constant(f"{name}.input_scale", np.float32(1 / MIDDLE))
    zero = graph.constant(f"{name}.input_zero", np.uint8(MIDDLE))
    product = graph.apply(
        "MatMulIntegerToFloat",
        graph.apply("QuantizeLinear", graph.apply("Div", x, reach), scale, zero),
        graph.constant(f"{name}.weight", np.rint(layer.weight / step[:, None]).astype(np.int8).T),
        scale,
        graph.constant(f"{name}.scale", step.astype(np.float32)),
        zero,
        graph.constant(f"{name}.zero", np.zeros(len(step), np.int8)),
        domain=MICROSOFT,
    )
    return graph.apply("Add", graph.apply("Mul", product, reach), graph.constant(f"{name}.bias", layer.bias))


def word_vectors(graph: Graph, table: Floats) -> str:
    """Rows of the embedding table, kept as int8 with a scale per word."""
    scale = np.maximum(np.abs(table).max(axis=1, keepdims=True) / 127, 1e-12)
    stored = graph.constant("words", np.rint(table / scale).astype(np.int8))
    rows = graph.apply("Cast", graph.apply("Gather", stored, "input_ids"), to=TensorProto.FLOAT)
    scales = graph.apply("Gather", graph.constant("words.scale", scale.astype(np.float32)), "input_ids")
    return graph.apply("Mul", rows, scales)


def normalised(graph: Graph, x: str, weights: Weights, name: str) -> str:
    """Layer normalisation with the weights of that name."""
    scale = graph.constant(f"{name}.weight", weights[f"{name}.weight"])
    shift = graph.constant(f"{name}.bias", weights[f"{name}.bias"])
    return graph.apply("LayerNormalization", x, scale, shift, axis=-1, epsilon=1e-12)


def embedded(graph: Graph, weights: Weights, second: str, look_up: LookUp | None) -> str:
    """What goes into the first layer; the type of the first text is added to the positions."""
    table = weights["embeddings.word_embeddings.weight"]
    if look_up:
        words = look_up(graph, table)
    else:
        words = graph.apply("Gather", graph.constant("words", table), "input_ids")
    places = weights["embeddings.position_embeddings.weight"][:MAX_TOKENS]
    places = graph.constant("places", places + weights["embeddings.token_type_embeddings.weight"][0])
    length = graph.apply("Shape", "input_ids", start=1, end=2)
    here = graph.apply("Slice", places, graph.constant("start", np.array([0])), length)
    summed = graph.apply("Add", words, here)
    if second:
        summed = graph.apply("Add", summed, second_text(graph, weights, second))
    return normalised(graph, summed, weights, "embeddings.LayerNorm")


def second_text(graph: Graph, weights: Weights, second: str) -> str:
    """What tells the second text from the first: the difference of their types."""
    types = weights["embeddings.token_type_embeddings.weight"]
    column = graph.apply("Unsqueeze", second, graph.constant("type_axis", np.array([2])))
    return graph.apply("Mul", column, graph.constant("type", types[1] - types[0]))


def layer(weights: Weights, *names: str, normalised_input: bool = False) -> Layer:
    """Linear layers that read the same input, as one."""
    weight = np.concatenate([weights[f"{name}.weight"] for name in names])
    bias = np.concatenate([weights[f"{name}.bias"] for name in names])
    return Layer(f"{names[0]}.linear", weight, bias, normalised_input)


def transformer_block(graph: Graph, x: str, mask: str, weights: Weights, at: str, multiply: Multiply) -> str:
    """Attention, then the feed-forward network, each added to its input and normalised."""
    own = f"{at}.attention.self"
    triple = layer(weights, f"{own}.query", f"{own}.key", f"{own}.value", normalised_input=True)
    parts = tuple(f"{own}.{part}" for part in "qkv")
    graph.apply("Split", multiply(graph, x, triple), outputs=parts, axis=2, num_outputs=3)
    seen = graph.apply("MultiHeadAttention", *parts, "", mask, domain=MICROSOFT, num_heads=HEADS)
    mixed = multiply(graph, seen, layer(weights, f"{at}.attention.output.dense"))
    x = normalised(graph, graph.apply("Add", mixed, x), weights, f"{at}.attention.output.LayerNorm")
    wide = multiply(graph, x, layer(weights, f"{at}.intermediate.dense", normalised_input=True))
    narrow = multiply(graph, graph.apply("Gelu", wide), layer(weights, f"{at}.output.dense"))
    return normalised(graph, graph.apply("Add", narrow, x), weights, f"{at}.output.LayerNorm")


def summed(graph: Graph, x: str, mask: str) -> str:
    """The sum over tokens."""
    column = graph.apply("Unsqueeze", mask, graph.constant("last_axis", np.array([2])))
    kept = graph.apply("Mul", x, column)
    return graph.apply("ReduceSum", kept, graph.constant("token_axis", np.array([1])), keepdims=0)


def pooled(graph: Graph, x: str, name: str = "embedding") -> str:
    """The mean over real tokens, of length 1. A sum has the same direction as the mean."""
    mask = graph.apply("Cast", "attention_mask", to=TensorProto.FLOAT)
    return graph.apply("LpNormalization", summed(graph, x, mask), outputs=(name,), axis=-1, p=2)


def judged(graph: Graph, x: str, weights: Weights, second: str = "") -> str:
    """A linear layer over the mean of the real tokens, or of those of the second text."""
    mask = graph.apply("Cast", "attention_mask", to=TensorProto.FLOAT)
    if second:
        mask = graph.apply("Mul", mask, second)
    total = summed(graph, x, mask)
    count = graph.apply("ReduceSum", mask, "token_axis", keepdims=1)
    weight, bias = weights["head.weight"].T, weights["head.bias"]
    head = graph.constant("head.weight", weight), graph.constant("head.bias", bias)
    return graph.apply("Gemm", graph.apply("Div", total, count), *head, outputs=("embedding",))


def second_part(graph: Graph, separator: int) -> str:
    """1 for tokens after the first separator, 0 for the others; shape (batch, tokens)."""
    ends = graph.apply("Equal", "input_ids", graph.constant("part.separator", np.int64(separator)))
    counted = graph.apply("Cast", ends, outputs=("part.ends",), to=TensorProto.FLOAT)
    seen = graph.apply("CumSum", counted, graph.constant("part.along", np.int64(1)), exclusive=1)
    return graph.apply("Min", seen, graph.constant("part.one", np.float32(1)))


def depth(weights: Weights) -> int:
    """How many transformer blocks the weights have, at most LAYERS."""
    found = {name.split(".")[2] for name in weights if name.startswith("encoder.layer.")}
    return min(LAYERS, len(found))


def build(
    weights: Weights,
    multiply: Multiply,
    kind: Kind,
    *,
    quantised: bool,
    also: list[str] | None = None,
    words: LookUp = word_vectors,
) -> bytes:
    """The whole model; `also` names inner values to give out besides its output."""
    graph = Graph()
    second = "" if kind.separator is None else second_part(graph, kind.separator)
    x = embedded(graph, weights, second, words if quantised else None)
    mask = graph.apply("Cast", "attention_mask", to=TensorProto.INT32)
    for number in range(depth(weights)):
        x = transformer_block(graph, x, mask, weights, f"encoder.layer.{number}", multiply)
    if kind.separator is not None:
        made = judged(graph, x, weights, second if kind.second else "")
    else:
        made = pooled(graph, x)
    data: bytes = graph.model([made, *(also or [])], kind.width).SerializeToString()
    return data
