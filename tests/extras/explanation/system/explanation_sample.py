"""An explanation of made-up numbers, as `dragoman explain` gives them to its page: attention that follows from its
queries and keys."""

import math
import random
import string

DIGITS = string.ascii_uppercase + string.ascii_lowercase + string.digits + "+/"
SOURCE = ("The old teacher does not know why the children in the village are always so late for the lessons that she has "
          "prepared with great care every evening since the beginning of the very long and cold winter months .")
TARGET = ("Die alte Lehrerin weiß nicht , warum die Kinder im Dorf immer so spät zu den Stunden kommen , die sie seit "
          "Anfang der sehr langen und kalten Wintermonate jeden Abend mit großer Sorgfalt vorbereitet hat .")
MARKUP = "<b onclick=alert(1)>Katze</b> </script> & <!--"
ARABIC = "المعلم القديم لا يعرف"


def text_of(rows, digits):
    """The rows, each number with this many digits, and the scale of each row."""
    middle = 64**digits // 2
    scales = [max(map(abs, row)) / (middle - 1) or 1 for row in rows]
    numbers = [middle + round(value / scale) for row, scale in zip(rows, scales) for value in row]
    return {"scales": scales, "data": "".join(DIGITS[number >> 6 * digit & 63]
                                              for number in numbers for digit in reversed(range(digits)))}


def vectors(rows):
    return {"shape": [len(rows), len(rows[0])], **text_of(rows, 1)}


class Layer:
    """The attention of one layer: queries that look near their own place, each head at another distance."""

    def __init__(self, draw, sizes, heads, width, kind):
        self.draw, self.heads, self.width = draw, heads, width
        queries, keys = sizes
        size = width // heads
        self.k, self.v, self.q = self.rows(keys), self.rows(keys), self.rows(queries)
        scores = [[] for _ in range(heads)]
        for head in range(heads):
            part = slice(head * size, (head + 1) * size)
            for t, query in enumerate(self.q):
                query[part] = [value + 1.5 * other for value, other in
                               zip(query[part], self.k[min(keys - 1, max(0, t + head - 1))][part])]
                last = t + 1 if kind == "decoder" else keys
                scores[head] += [sum(a * b for a, b in zip(query[part], key[part])) / math.sqrt(size)
                                 for key in self.k[:last]]
        self.attention = {"shape": [heads, queries, keys], "causal": kind == "decoder", **text_of(scores, 3)}

    def rows(self, count):
        return [[self.draw.gauss(0, 1) for _ in range(self.width)] for _ in range(count)]

    def vectors(self):
        return {"q": vectors(self.q), "k": vectors(self.k), "v": vectors(self.v), "output": vectors(self.v[:1] * len(self.q))}


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
    """Greedy search takes another token at the third step, if there is one."""
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
    greedy = {"text": "other0", "pieces": greedy_pieces(output), "log_probability": -3.5, "score": -1.17}
    return {"beam_size": 2, "length_penalty": 1, "best": last, "nodes": nodes, "greedy": greedy}


def sentence(model, draw, source, target):
    config = model["config"]
    heads, width = config["heads"], config["d-model"]
    source_tokens, output = tokens(source), output_tokens(target, draw)
    places = {"encoder": (len(source_tokens), len(source_tokens)), "decoder": (len(output), len(output)),
              "cross": (len(output), len(source_tokens))}
    layers = {kind: [Layer(draw, sizes, heads, width, kind) for _ in range(config["decoder-layers"])]
              for kind, sizes in places.items()}
    rows = {"source": len(source_tokens), "target": len(output)}
    embedded = ["token", "position"] if config["positions"] == "learned" else ["token"]
    block = {side: vectors([[draw.gauss(0, 1) for _ in range(width)] for _ in range(count)]) for side, count in rows.items()}
    return {"source": source, "target": target, "given": False, "source_tokens": source_tokens, "target_tokens": output,
            "attention": {kind: [layer.attention for layer in made] for kind, made in layers.items()},
            "vectors": {kind: [layer.vectors() for layer in made] for kind, made in layers.items()},
            "embedding": {side: {part: block[side] for part in embedded} for side in rows},
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
    return {"format": "dragoman explanation page", "version": 2, "model": made,
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
