"""dragoman.load_file gives the parameters that the model file stores."""

import json
import pathlib
import struct
import subprocess

import dragoman
import pytest


def stored(path):
    """The tensors of a file of safetensors: dtype, shape, bytes."""
    contents = pathlib.Path(path).read_bytes()
    (size,) = struct.unpack("<Q", contents[:8])
    header, data = json.loads(contents[8:8 + size]), contents[8 + size:]
    return {name: (facts["dtype"], facts["shape"], data[slice(*facts["data_offsets"])])
            for name, facts in header.items() if name != "__metadata__"}


def test_parameters_are_those_of_the_file(model):
    loaded = dragoman.load_file(model)
    file = stored(pathlib.Path(model) / "model.safetensors")
    assert set(loaded) == {name for name in file if not name.startswith(("tokenizer.", "training."))} != set()
    for name, view in loaded.items():
        dtype, shape, elements = file[name]
        assert dtype == "F32" and view.format == "f" and list(view.shape) == shape
        assert view.tobytes() == elements


def test_whole_numbers_are_multiplied_by_their_scales(model, program, tmp_path):
    small = tmp_path / "int8.safetensors"
    subprocess.run([program("dragoman-lite"), "quantize", model, "-o", small], check=True, capture_output=True)
    whole, loaded, rounded = stored(small), dragoman.load_file(model), dragoman.load_file(small)
    assert any(dtype == "I8" for dtype, _, _ in whole.values())
    assert {name: view.shape for name, view in rounded.items()} == {name: view.shape for name, view in loaded.items()}
    for name, view in loaded.items():
        exact, near = view.cast("B").cast("f").tolist(), rounded[name].cast("B").cast("f").tolist()
        assert max(abs(a - b) for a, b in zip(exact, near)) <= max(map(abs, exact)) / 127


def test_a_missing_file_is_named(tmp_path):
    with pytest.raises(dragoman.Error, match="none.safetensors"):
        dragoman.load_file(tmp_path / "none.safetensors")
