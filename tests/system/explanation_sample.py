"""An explanation of made-up numbers, as `dragoman explain` writes them: attention that follows from its queries and
keys."""

import array
import base64
import math
import random

WHOLE = 65535
SOURCE = ("The old teacher does not know why the children in the village are always so late for the lessons that she has "
          "prepared with great care every evening since the beginning of the very long and cold winter months .")
TARGET = ("Die alte Lehrerin weiß nicht , warum die Kinder im Dorf immer so spät zu den Stunden kommen , die sie seit "
          "Anfang der sehr langen und kalten Wintermonate jeden Abend mit großer Sorgfalt vorbereitet hat .")
MARKUP = "<b onclick=alert(1)>Katze</b> </script> & <!--"
ARABIC = "المعلم القديم لا يعرف"


def encoded(kind, numbers):
    return base64.b64encode(array.array(kind, numbers).tobytes()).decode()


def in_bytes(numbers, bits):
    """Two numbers of 12 bits stand in three bytes."""
    if bits == 8:
        return encoded("b", numbers)
    pairs = zip(numbers[::2], [*numbers[1::2], 0])
    return encoded("B", [byte for a, b in pairs for byte in (a & 255, a >> 8 & 15 | (b & 15) << 4, b >> 4 & 255)])


def vectors(rows, bits=8):
    """A block of vectors, in whole numbers of `bits`."""
    scales = [max(map(abs, row)) / (2**(bits - 1) - 1) or 1 for row in rows]
    numbers = [round(value / scale) for row, scale in zip(rows, scales) for value in row]
    return {"shape": [len(rows), len(rows[0])], "bits": bits, "scales": scales, "data": in_bytes(numbers, bits)}


def whole_numbers(weights):
    """The weights as whole numbers with the sum WHOLE; those that are 0 stay so."""
    numbers = [math.floor(WHOLE * weight) for weight in weights]
    rest = sorted((i for i, weight in enumerate(weights) if weight), key=lambda i: numbers[i] - WHOLE * weights[i])
    for i in rest[:WHOLE - sum(numbers)]:
        numbers[i] += 1
    return numbers


def softmax(scores):
    powers = [math.exp(score) for score in scores]
    return [power / sum(powers) for power in powers]


class Layer:
    """The attention of one layer: queries that look near their own place, each head at another distance."""

    def __init__(self, draw, sizes, heads, width, kind):
        self.draw, self.heads, self.width = draw, heads, width
        queries, keys = sizes
        size = width // heads
        self.k, self.v, self.q = self.rows(keys), self.rows(keys), self.rows(queries)
        numbers = []
        for head in range(heads):
            part = slice(head * size, (head + 1) * size)
            for t, query in enumerate(self.q):
                query[part] = [value + 1.5 * other for value, other in
                               zip(query[part], self.k[min(keys - 1, max(0, t + head - 1))][part])]
                last = t + 1 if kind == "decoder" else keys
                scores = [sum(a * b for a, b in zip(query[part], key[part])) / math.sqrt(size) for key in self.k[:last]]
                numbers += whole_numbers(softmax(scores) + [0.0] * (keys - last))
        self.attention = {"shape": [heads, queries, keys], "data": encoded("H", numbers)}

    def rows(self, count):
        return [[self.draw.gauss(0, 1) for _ in range(self.width)] for _ in range(count)]

    def vectors(self):
        return {"q": vectors(self.q, 12), "k": vectors(self.k, 12), "v": vectors(self.v), "output": vectors(self.v[:1] * len(self.q))}


def tokens(text):
    made = []
    for word, letters in enumerate(text.split()):
        parts = [letters] if len(letters) < 7 else [letters[:4], letters[4:]]
        made += [{"piece": ("" if part else "▁") + piece, "id": 9 + word, "word": word} for part, piece in enumerate(parts)]
    return [*made, {"piece": "</s>", "id": 2, "word": None}]


def output_tokens(text, draw):
    made = tokens(text)
    for token in made:
        probability = draw.uniform(0.05, 0.95)
        others = [{"piece": f"▁other{i}", "probability": (1 - probability) / 2**(i + 1)} for i in range(9)]
        token["log_probability"] = math.log(probability)
        token["top"] = sorted([{"piece": token["piece"], "probability": probability}, *others],
                              key=lambda candidate: -candidate["probability"])
        token["alternatives"] = [{"piece": "▁other0", "text": f"other0 {text}", "log_probability": -9.5}]
    return made


def greedy_pieces(output):
    """Greedy search goes another way at the third step, where there is one."""
    return [*(token["piece"] for token in output[:2]), "▁other0", "</s>"]


def search(output):
    """A beam of two: the first hypothesis is the translation, the second one is dropped or ends at once."""
    nodes = [{"id": 0, "parent": None, "step": 0, "piece": "<s>", "log_probability": 0.0, "score": 0.0, "state": "alive"}]
    last, total = 0, 0.0
    for step, token in enumerate(output, 1):
        parent, total = last, total + token["log_probability"]
        ends = token["piece"] == "</s>"
        last = len(nodes)
        nodes.append({"id": last, "parent": parent, "step": step, "piece": token["piece"], "log_probability": total,
                      "score": total / step, "state": "best" if ends else "alive"})
        nodes.append({"id": last + 1, "parent": parent, "step": step, "piece": "</s>" if step == 2 else "▁other0",
                      "log_probability": total - 1, "score": (total - 1) / step,
                      "state": "finished" if step == 2 else "dropped"})
    return {"beam_size": 2, "best": last, "nodes": nodes, "greedy": {"text": "other0", "pieces": greedy_pieces(output), "log_probability": -3.5}}


def sentence(model, draw, source, target):
    config = model["config"]
    heads, width = config["heads"], config["d-model"]
    source_tokens, output = tokens(source), output_tokens(target, draw)
    places = {"encoder": (len(source_tokens), len(source_tokens)), "decoder": (len(output), len(output)),
              "cross": (len(output), len(source_tokens))}
    layers = {kind: [Layer(draw, sizes, heads, width, kind) for _ in range(config["decoder-layers"])]
              for kind, sizes in places.items()}
    rows = {"source": len(source_tokens), "target": len(output)}
    block = {side: vectors([[draw.gauss(0, 1) for _ in range(width)] for _ in range(count)]) for side, count in rows.items()}
    return {"source": source, "target": target, "given": False, "source_tokens": source_tokens, "target_tokens": output,
            "attention": {kind: [layer.attention for layer in made] for kind, made in layers.items()},
            "vectors": {kind: [layer.vectors() for layer in made] for kind, made in layers.items()},
            "embedding": {side: {part: block[side] for part in ("token", "position")} for side in rows},
            "search": search(output)}


def model(layers, heads, width, **fields):
    shapes = {"embedding.weight": [500, width]}
    for stack, kinds in (("encoder", ["self_attention"]), ("decoder", ["self_attention", "cross_attention"])):
        for layer in range(layers):
            for kind in kinds:
                shapes |= {f"{stack}.layers.{layer}.{kind}.{name}.weight": [width, width]
                           for name in ("query", "key", "value", "output")}
            shapes |= {f"{stack}.layers.{layer}.feed_forward.inner.weight": [2 * width, width],
                       f"{stack}.layers.{layer}.feed_forward_norm.weight": [width]}
    config = {"d-model": width, "heads": heads, "d-ff": 2 * width, "encoder-layers": layers, "decoder-layers": layers,
              "norm": "after", "activation": "relu", "positions": "sinusoidal", "max-positions": 1024,
              "tying": "three-way", "output-bias": False, "source-vocabulary": 500, "target-vocabulary": 500}
    return {"name": "run/", "begin": {"piece": "<s>"}, "alignment": {"layer": layers - 1, "head": None}, "config": config | fields,
            "parameters": [{"name": name, "shape": shape} for name, shape in shapes.items()]}


def explanation(made, pairs):
    draw = random.Random(1)
    return {"format": "dragoman explanation", "version": 1, "model": made,
            "sentences": [sentence(made, draw, source, target) for source, target in pairs]}


def large():
    """40 words, 6 layers of 8 heads."""
    return explanation(model(6, 8, 64), [(SOURCE, TARGET), ("a cat", f"{MARKUP} x"), ("an old teacher", ARABIC)])


def unusual():
    """Learned positions, norms before, more heads than colours, and a translation that was given: nothing was searched."""
    draw = random.Random(2)
    made = model(1, 12, 48, norm="before", positions="learned", activation="gated-gelu", tying="none")
    made["positions"] = {side: vectors([[draw.gauss(0, 1) for _ in range(48)] for _ in range(30)])
                         for side in ("source", "target")}
    made = explanation(made, [("a", "b")])
    only = made["sentences"][0]
    only["given"] = True
    del only["search"]
    for token in only["target_tokens"]:
        del token["alternatives"]
    return made
