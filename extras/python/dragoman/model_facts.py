"""The facts that a model file has about itself, and its parameters."""

import json
import os
from dataclasses import dataclass
from typing import Any

from . import _native


@dataclass(frozen=True, slots=True)
class ModelFacts:
    """The facts of `dragoman inspect`: architecture, how the model was made, and its defaults of the search."""

    path: str
    bytes: int
    architecture: dict[str, Any]
    provenance: dict[str, Any]
    search_defaults: dict[str, str]


def inspect(model: str | os.PathLike[str]) -> ModelFacts:
    """Reads the facts of a run folder or a model file. Raises dragoman.Error if it is missing or damaged."""
    path, size, architecture, provenance, defaults = _native.model_facts(os.fspath(model))
    return ModelFacts(path, size, json.loads(architecture), json.loads(provenance), defaults)


def load_file(model: str | os.PathLike[str]) -> "dict[str, memoryview[float]]":
    """Reads the parameters of a run folder or a model file, by name, as safetensors' load_file does.

    Each is a memoryview of its shape, of float32 whatever the file stores; numpy.asarray makes an array of it without
    a copy. Raises dragoman.Error if the file is missing or damaged."""
    return {name: memoryview(elements).cast("f", shape)
            for name, shape, elements in _native.parameters(os.fspath(model))}
