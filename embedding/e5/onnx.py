"""Builds an ONNX model in memory (onnx.proto3, IR version 10)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from embedding.e5.protobuf import Value, message

MICROSOFT = "com.microsoft"
OPSET = 20

_ELEMENT_TYPES = {
    np.dtype(np.float32): 1,
    np.dtype(np.uint8): 2,
    np.dtype(np.int8): 3,
    np.dtype(np.int32): 6,
    np.dtype(np.int64): 7,
}
_FLOAT_ATTRIBUTE, _INT_ATTRIBUTE = 1, 2


class Graph:
    """A graph under construction; values are named by strings."""

    def __init__(self) -> None:
        self._nodes: list[tuple[int, Value]] = []
        self._constants: list[tuple[int, Value]] = []
        self._inputs: list[tuple[int, Value]] = []

    def input(self, name: str, dtype: type[np.generic], *dimensions: int | str) -> str:
        """Declare an input; a dimension given as a name may differ from run to run."""
        self._inputs.append((11, _value_info(name, np.dtype(dtype), dimensions)))
        return name

    def constant(self, array: NDArray[Any]) -> str:
        """Add a constant and return its name."""
        name = f"c{len(self._constants)}"
        tensor = message(
            *((1, size) for size in array.shape),
            (2, _ELEMENT_TYPES[array.dtype]),
            (8, name),
            (9, array.tobytes()),
        )
        self._constants.append((5, tensor))
        return name

    def node(self, operator: str, *inputs: str, domain: str = "", **attributes: float) -> str:
        """Add an operator with one output and return its name; "" leaves an input out."""
        name = f"n{len(self._nodes)}"
        node = message(
            *((1, value) for value in inputs),
            (2, name),
            (3, name),
            (4, operator),
            *((5, _attribute(key, value)) for key, value in attributes.items()),
            (7, domain),
        )
        self._nodes.append((1, node))
        return name

    def model(self, output: str, *dimensions: int | str) -> bytes:
        """Return the ModelProto with one float32 output."""
        graph = message(
            *self._nodes,
            (2, "graph"),
            *self._constants,
            *self._inputs,
            (12, _value_info(output, np.dtype(np.float32), dimensions)),
        )
        opsets = (message((1, ""), (2, OPSET)), message((1, MICROSOFT), (2, 1)))
        return message((1, 10), (7, graph), *((8, opset) for opset in opsets))


def _attribute(name: str, value: float) -> bytes:
    if isinstance(value, int):
        return message((1, name), (3, value), (20, _INT_ATTRIBUTE))
    return message((1, name), (2, value), (20, _FLOAT_ATTRIBUTE))


def _value_info(name: str, dtype: np.dtype[np.generic], dimensions: Sequence[int | str]) -> bytes:
    shape = message(
        *((1, message((2, size) if isinstance(size, str) else (1, size))) for size in dimensions)
    )
    tensor = message((1, _ELEMENT_TYPES[dtype]), (2, shape))
    return message((1, name), (2, message((1, tensor))))
