"""Runs the Python of docs/explanation.md on the numbers that `dragoman explain --format json` writes: weights sum to 1,
and follow from queries and keys. Exits with 77 (skipped) where there is no NumPy.

Usage: explanation_blocks.py PROGRAM RANDOM_MODEL SOURCES
"""

import os
import pathlib
import re
import subprocess
import sys
import tempfile

SKIPPED = 77

try:
    import numpy
except ImportError:
    print("skipped: there is no NumPy (python3-numpy)")
    sys.exit(SKIPPED)


def documented(sources, folder):
    """What the documentation's Python defines, with the numbers of numbers.json in the folder."""
    text = (pathlib.Path(sources) / "docs" / "explanation.md").read_text(encoding="utf-8")
    code = re.search(r"```python\n(.*?)```", text, re.DOTALL).group(1)
    names = {}
    os.chdir(folder)
    exec(code, names)
    return names


def expect_weights(names, sentence, heads):
    for kind, layers in sentence["attention"].items():
        for block, vectors in zip(layers, sentence["vectors"][kind]):
            weights = names["weights"](block)
            numpy.testing.assert_allclose(weights.sum(axis=-1), 1, rtol=0, atol=1e-12)
            masked = numpy.triu(numpy.ones(weights.shape[1:]), 1) * (kind == "decoder")
            assert (weights[:, masked > 0] == 0).all()
            queries, keys = (names["vectors"](vectors[name]) for name in "qk")
            size = queries.shape[1] // heads
            for head in range(heads):
                part = slice(head * size, (head + 1) * size)
                scores = queries[:, part] @ keys[:, part].T / numpy.sqrt(size)
                powers = numpy.where(masked, 0, numpy.exp(scores - scores.max(axis=-1, keepdims=True)))
                numpy.testing.assert_allclose(powers / powers.sum(axis=-1, keepdims=True), weights[head],
                                              rtol=0, atol=2e-3)


def main():
    program, random_model, sources = (os.path.abspath(name) for name in sys.argv[1:])
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run([random_model, "--preset", "tiny", "--vocab-size", "600", "--length", "5", "--sentences", "1", "-o",
                        folder], check=True, stdout=subprocess.DEVNULL)
        subprocess.run([program, "explain", "-m", folder, "the cat sat on the mat", "--max-length", "12", "--format", "json",
                        "-o", f"{folder}/numbers.json", "--quiet"], check=True)
        names = documented(sources, folder)
        explanation = names["explanation"]
        sentence = explanation["sentences"][0]
        expect_weights(names, sentence, explanation["model"]["config"]["heads"])
        embedding = {name: names["vectors"](block) for name, block in sentence["embedding"]["source"].items()}
        pairs = numpy.arange(64)  # of a sine and a cosine, in the 128 dimensions of tiny
        angles = numpy.arange(len(embedding["position"]))[:, None] * 10000.0 ** (-pairs / 64)
        sines = numpy.stack([numpy.sin(angles), numpy.cos(angles)], axis=2).reshape(embedding["token"].shape)
        numpy.testing.assert_allclose(embedding["position"], sines, rtol=0, atol=2 / 127)
        os.chdir("/")


main()
