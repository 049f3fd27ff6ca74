import os
import pathlib
import random
import string
import sys

import dragoman
import pytest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2]))  # names.py


@pytest.fixture(scope="session")
def model():
    """A run folder: a model with random weights (bench/random_model)."""
    return os.environ["DRAGOMAN_MODEL"]


@pytest.fixture(scope="session")
def translator(model):
    return dragoman.Translator(model, threads=2)


@pytest.fixture(scope="session")
def lines():
    draw = random.Random(1)
    def word():
        return "".join(draw.choices(string.ascii_lowercase, k=draw.randint(1, 7)))
    return [" ".join(word() for _ in range(draw.randint(0, 6))) for _ in range(60)] + ["", "Straße 12 日本 👍"]


@pytest.fixture(scope="session")
def program():
    """The path of a program by its name; the test is skipped if it is not built."""
    paths = {pathlib.Path(path).name: path for path in os.environ["DRAGOMAN_PROGRAMS"].split(os.pathsep)}
    def path_of(name):
        if name not in paths:
            pytest.skip(f"{name} is not built")
        return paths[name]
    return path_of
