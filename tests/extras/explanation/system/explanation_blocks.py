"""Runs the Python of docs/explanation.md on the numbers that `dragoman explain --format json` writes: weights sum to 1,
and follow from queries and keys; every figure of `--format svg` says what its documented keys have. The page of a base
model is as small as the documentation says. Exits with 77 (skipped) if there is no NumPy.

Usage: explanation_blocks.py PROGRAM RANDOM_MODEL SOURCES
"""

import json
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

SENTENCE = "the cat sat on the mat"
# A page of 12 words of real text has some 15 pieces a side, and </s>.
TWELVE_WORDS = {"tokens": 16, "bytes": 1_000_000}


def documented_code(page, folder):
    """What the documentation's two pieces of Python define, with numbers.json and packed.json in the folder."""
    before = os.getcwd()
    os.chdir(folder)
    plain, packed = ({}, {})
    for names, code in zip((plain, packed), re.findall(r"```python\n(.*?)```", page, re.DOTALL)[:2]):
        exec(code, names)
    os.chdir(before)
    plain |= {"weights": numpy.array, "vectors": numpy.array}
    return plain, packed


def expect_same(plain, packed):
    """Every list of numbers is, to the precision of 16 bits, what the block in its place has."""
    def compare(numbers, block):
        if isinstance(block, dict) and set(block) == {"shape", "data"}:
            read = packed["weights" if len(block["shape"]) == 3 else "vectors"](block)
            numpy.testing.assert_allclose(numpy.array(numbers), read, rtol=1e-3, atol=2e-5)
        elif isinstance(block, dict):
            assert set(numbers) == set(block)
            for name in block:
                compare(numbers[name], block[name])
        elif isinstance(block, list):
            for one, other in zip(numbers, block, strict=True):
                compare(one, other)
        else:
            assert numbers == block

    compare(plain["explanation"]["sentences"], packed["explanation"]["sentences"])
    assert plain["first"].shape == packed["weights"](
        packed["explanation"]["sentences"][0]["attention"]["encoder"][0]).shape


def expect_weights(names, sentence, heads):
    for kind, layers in sentence["attention"].items():
        for block, vectors in zip(layers, sentence["vectors"][kind]):
            weights = names["weights"](block)
            numpy.testing.assert_allclose(weights.sum(axis=-1), 1, rtol=0, atol=1e-4)
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


def expect_positions(names, sentence):
    embedding = {name: names["vectors"](block) for name, block in sentence["embedding"]["source"].items()}
    pairs = numpy.arange(64)  # of a sine and a cosine, in the 128 dimensions of tiny
    angles = numpy.arange(len(embedding["position"]))[:, None] * 10000.0 ** (-pairs / 64)
    sines = numpy.stack([numpy.sin(angles), numpy.cos(angles)], axis=2).reshape(embedding["token"].shape)
    numpy.testing.assert_allclose(embedding["position"], sines, rtol=0, atol=1e-3)


class Figures:
    """The figures of a sentence: the texts that a figure has of its numbers, made of the documented keys alone."""

    def __init__(self, names, sentence, norm):
        self.names, self.sentence, self.norm = names, sentence, norm
        self.keys = []

    def block(self, *path):
        self.keys.append(path[0])
        found = self.sentence
        for key in path:
            found = found[key]
        return self.names["vectors"](found)

    @staticmethod
    def length(vectors, token=0):
        return numpy.linalg.norm(vectors[token])

    def weights(self, layer, kind):
        self.keys.append("attention")
        return self.names["weights"](self.sentence["attention"][kind][layer])

    def matrix(self, stack):  # has only cells
        self.weights(-1, stack)
        return []

    def heads(self, stack):
        layers = range(len(self.sentence["attention"][stack]))
        heads = [head for layer in layers for head in self.weights(layer, stack)]
        return [-(head * numpy.log2(numpy.where(head > 0, head, 1))).sum(axis=-1).mean() for head in heads]

    def input(self, stack):
        side = {"encoder": "source", "decoder": "target"}[stack]
        token, position = (self.block("embedding", side, name) for name in ("token", "position"))
        return [self.length(vectors) for vectors in (token, position, token + position)]

    def feed_forward(self, stack):
        read, hidden, written = (self.block("feed_forward", stack, -1, name) for name in ("input", "hidden", "output"))
        return [self.length(read), (hidden[0] > 0).sum(), self.length(written)]

    def residual(self, stack):
        side = {"encoder": "source", "decoder": "target"}[stack]
        way = []
        for layer in range(len(self.sentence["vectors"][stack])):
            attentions = [stack] if stack == "encoder" else [stack, "cross"]
            places = [("vectors", kind, layer) for kind in attentions] + [("feed_forward", stack, layer)]
            way += [[self.block(*place, name) for name in ("stream", "output")] for place in places]
        sub_layers = len(way) // len(self.sentence["vectors"][stack])
        lengths = [self.length(self.block("embedding", side, "token") + self.block("embedding", side, "position"))]
        result = self.block("stacks", stack)
        for i, (stream, output) in enumerate(way):
            lengths.append(self.length(output))
            if self.norm == "after":
                lengths.append(self.length(way[i + 1][0] if i + 1 < len(way) else result))
            elif i % sub_layers == sub_layers - 1:
                lengths.append(self.length(stream + output))
        return lengths + ([self.length(result)] if self.norm == "before" else [])


def notes_of(svg):
    """The numbers that the figure shows, in order."""
    found = re.findall(r">length ([\d.]+)<|>(\d+) of \d+ are above 0<|>([\d.]+) bits<", svg)
    return [float("".join(alternatives)) for alternatives in found]


def documented_keys(page):
    table = re.search(r"\| `--figure` \| keys of a sentence \|\n\|.*\n((?:\|.*\n)+)", page).group(1)
    rows = [row.strip("|").split("|") for row in table.splitlines()]
    return {name.strip(" `"): set(re.findall("`(.+?)`", keys)) for name, keys in rows}


def expect_figures(program, folder, page, figures):
    """Each figure that the program draws, of both stacks, says the numbers of the documented keys."""
    usage = subprocess.run([program, "explain", "--help"], check=True, capture_output=True, text=True).stdout
    told = " ".join(re.search(r"--figure NAME(.*?)\[", usage, re.DOTALL).group(1).split())
    drawn = told.rpartition(": ")[2].split(", ")
    documented = documented_keys(page)
    assert set(drawn) == set(documented), f"figures: {drawn}, documented: {list(documented)}"
    for figure in drawn:
        for stack in ("encoder", "decoder"):
            svg = subprocess.run([program, "explain", "-m", folder, SENTENCE, "--max-length", "12", "--format", "svg",
                                  "--figure", figure, "--kind", stack, "-o", "-", "--quiet"],
                                 check=True, capture_output=True, text=True).stdout
            figures.keys.clear()
            expected = getattr(figures, figure.replace("-", "_"))(stack)
            assert set(figures.keys) == documented[figure], f"{figure}: {set(figures.keys)}"
            numpy.testing.assert_allclose(notes_of(svg), expected, rtol=0, atol=0.06, err_msg=f"{figure}, {stack}")


def make(random_model, folder, preset):
    subprocess.run([random_model, "--preset", preset, "--vocab-size", "600", "--length", "5", "--sentences", "1", "-o",
                    folder], check=True, stdout=subprocess.DEVNULL)


def explain(program, folder, text, output, length, *flags):
    subprocess.run([program, "explain", "-m", folder, text, "--max-length", str(length), "-o", f"{folder}/{output}",
                    "--quiet", *flags], check=True)
    return pathlib.Path(folder) / output


def expect_small_page(program, folder):
    """Words of random letters have more pieces than those of real text, so each word is one letter."""
    tokens = TWELVE_WORDS["tokens"]
    text, length = " ".join("a" * (tokens - 1)), tokens - 1  # with </s>
    page = explain(program, folder, text, "page.html", length)
    numbers = json.loads(explain(program, folder, text, "numbers.json", length).read_text(encoding="utf-8"))
    for side in ("source_tokens", "target_tokens"):
        assert len(numbers["sentences"][0][side]) == tokens, side
    size = page.stat().st_size
    print(f"a page of {tokens} tokens on each side: {size:,} bytes")
    assert size <= TWELVE_WORDS["bytes"], f"the page has {size:,} bytes"


def main():
    program, random_model, sources = (os.path.abspath(name) for name in sys.argv[1:])
    page = (pathlib.Path(sources) / "docs" / "explanation.md").read_text(encoding="utf-8")
    with tempfile.TemporaryDirectory() as folder:
        make(random_model, folder, "tiny")
        explain(program, folder, SENTENCE, "numbers.json", 12)
        explain(program, folder, SENTENCE, "packed.json", 12, "--packed")
        names, packed = documented_code(page, folder)
        expect_same(names, packed)
        config = names["explanation"]["model"]["config"]
        sentence = names["explanation"]["sentences"][0]
        expect_weights(names, sentence, config["heads"])
        expect_positions(names, sentence)
        expect_figures(program, folder, page, Figures(names, sentence, config["norm"]))
    with tempfile.TemporaryDirectory() as folder:
        make(random_model, folder, "base")
        expect_small_page(program, folder)


main()
