"""The facts that a model file has about itself."""

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
    """Reads the facts of a run folder or a model file. Raises dragoman.Error where it is missing or damaged."""
    path, size, architecture, provenance, defaults = _native.model_facts(os.fspath(model))
    return ModelFacts(path, size, json.loads(architecture), json.loads(provenance), defaults)
