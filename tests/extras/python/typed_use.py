"""The interface as type checkers see it: mypy --strict must find nothing here."""

from collections.abc import Iterator

import dragoman
from dragoman import metrics


def texts(translator: dragoman.Translator) -> list[str]:
    one: dragoman.Translation = translator.translate("a", beam_size=2, terms={"a": "b"})
    many: list[dragoman.Translation] = translator.translate(["a", "b"], n_best=2, word_scores=True)
    stream: Iterator[dragoman.Translation] = translator.translate_iter(iter("ab"), read_ahead=4)
    return [one.text, *(translation.text for translation in many), *(translation.text for translation in stream)]


def shapes(model: str) -> list[tuple[int, ...]]:
    parameters: "dict[str, memoryview[float]]" = dragoman.load_file(model)
    return [view.shape or () for view in parameters.values()]


def numbers(translator: dragoman.Translator) -> list[float]:
    one: dragoman.Score = translator.score("a", "b")
    many: list[dragoman.Score] = translator.score(["a"], ["b"])
    return [one.log_probability, many[0].normalized, metrics.bleu(["a"], ["a"]).score]
