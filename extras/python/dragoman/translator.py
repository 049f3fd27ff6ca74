"""The resident translator."""

import os
from collections import deque
from collections.abc import Iterable, Iterator
from itertools import islice
from typing import Any, Literal, TypeAlias, Unpack, overload

from . import _native
from .options import Settings, TranslateOptions, named
from .text import rows_of, text_of
from .translation import Score, Translation, translation_of

Path: TypeAlias = str | os.PathLike[str]
ComputeType: TypeAlias = Literal["auto", "float32", "bfloat16", "int8"]
SplitSentences: TypeAlias = Literal["auto", "always", "never"]


def paths_of(model: Path | Iterable[Path]) -> list[str]:
    if isinstance(model, (str, os.PathLike)):
        model = [model]
    return [os.fspath(path) for path in model]


def next_texts(texts: Iterator[object], most: int | None, name: str, first: int = 0) -> list[str]:
    return [text_of(text, f"{name}[{row}]:") for row, text in enumerate(islice(texts, most), first)]


class Translator:
    """A model that stays in memory. Many threads may share one; each gets the results that it would get alone.

    `model` is a run folder or a model file; several with the same tokenizer translate together, by the mean of
    their probabilities. `threads`: 0 stands for all cores that this process may use. `compute_type`: "auto" is that
    of the weights in the file; "int8" and "bfloat16" round the weights and are faster. `batch_size`: hypotheses that
    are computed together; it changes speed and memory, not the result.

    Raises dragoman.Error if a file is missing or damaged, and ValueError for a wrong argument. As a context manager
    it closes itself at the end of the block.
    """

    def __init__(self, model: Path | Iterable[Path], *, threads: int = 0, compute_type: ComputeType = "auto",
                 batch_size: int = 0) -> None:
        self._models = paths_of(model)
        self._options = {"threads": threads, "compute_type": compute_type, "batch_size": batch_size}
        self._opened: _native.CpuTranslator | None = _native.open({"model": self._models, **named(self._options)})

    @property
    def _model(self) -> _native.CpuTranslator:
        if self._opened is None:
            raise ValueError("this Translator is closed")
        return self._opened

    def close(self) -> None:
        """Frees the model's memory once the translations that are under way have been taken."""
        self._opened = None

    def __enter__(self) -> "Translator":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"dragoman.Translator({', '.join(map(repr, self._models))})"

    def __reduce__(self) -> tuple[Any, ...]:
        """A pickle has only the names of its files: another process opens them again."""
        return (_open, (self._models, self._options))

    # A str is an iterable of str, too: the first signature that fits counts.
    @overload
    def translate(self, lines: str, *, prefixes: str | None = None,  # type: ignore[overload-overlap]
                  **options: Unpack[TranslateOptions]) -> Translation: ...
    @overload
    def translate(self, lines: Iterable[str], *, prefixes: Iterable[str] | None = None,
                  **options: Unpack[TranslateOptions]) -> list[Translation]: ...

    def translate(self, lines: str | Iterable[str], *, prefixes: str | Iterable[str] | None = None,
                  **options: Unpack[TranslateOptions]) -> Translation | list[Translation]:
        """Translates lines: a str gives one Translation, any other iterable of str a list in the same order.

        `prefixes` has a str for each line, with which its translation begins; "" for none. The other options are those
        of TranslateOptions.
        """
        if not isinstance(lines, str):
            if isinstance(prefixes, str):
                raise TypeError("prefixes: must have a str for each line")
            return list(self.translate_iter(lines, prefixes=prefixes, **options))
        if prefixes is not None:
            prefixes = [text_of(prefixes, "prefixes: the prefix of one line")]
        return next(self.translate_iter([lines], prefixes=prefixes, **options))

    def translate_iter(self, lines: Iterable[str], *, prefixes: Iterable[str] | None = None,
                       read_ahead: int | None = None, **options: Unpack[TranslateOptions]) -> Iterator[Translation]:
        """Translates a stream, in order. It reads no more than twice `read_ahead` lines beyond those it has given.

        Lines are read `read_ahead` at a time (by default as many as keep all threads busy), and the first
        translations come once that many are read. Lines of similar length are translated together, so a larger
        number is faster.
        """
        settings = Settings(options)
        request = self._model.prepare(settings.options, settings.terms)
        if read_ahead is None:
            read_ahead = 8 * self._model.capacity(request) + 64
        if read_ahead < 1:
            raise ValueError(f"read_ahead {read_ahead}: must be at least 1")
        return self._stream(rows_of(lines, "lines"), None if prefixes is None else rows_of(prefixes, "prefixes"), request,
                            read_ahead)

    def _stream(self, lines: Iterator[object], prefixes: Iterator[object] | None, request: _native.Request,
                read_ahead: int) -> Iterator[Translation]:
        under_way: deque[_native.Answers] = deque()
        submitted = given = 0
        ended = False
        while True:
            while not ended and submitted - given <= read_ahead:
                batch = next_texts(lines, read_ahead, "lines", submitted)
                ended = len(batch) < read_ahead
                begins = [] if prefixes is None else next_texts(prefixes, len(batch), "prefixes", submitted)
                if prefixes is not None and (len(begins) < len(batch) or (ended and next(prefixes, None) is not None)):
                    raise ValueError("prefixes: must have as many texts as lines has")
                if batch:
                    under_way.append(_native.submit(self._model, request, (batch, begins), submitted))
                submitted += len(batch)
            if not under_way:
                return
            answer = under_way[0].next()
            if answer is None:
                under_way.popleft()
            else:
                given += 1
                yield translation_of(answer)

    @overload
    def score(self, sources: str, targets: str, *,  # type: ignore[overload-overlap]
              split_sentences: SplitSentences = "auto") -> Score: ...
    @overload
    def score(self, sources: Iterable[str], targets: Iterable[str], *,
              split_sentences: SplitSentences = "auto") -> list[Score]: ...

    def score(self, sources: str | Iterable[str], targets: str | Iterable[str], *,
              split_sentences: SplitSentences = "auto") -> Score | list[Score]:
        """The probability that the model gives to translations that are already there, as `dragoman score` gives it.

        Two str give one Score, two iterables a list. `split_sentences`: sentences of a line are scored one by one,
        if both sides have the same number; "auto": if the model was trained on single sentences.
        """
        if isinstance(sources, str) and isinstance(targets, str):
            return self._score([sources], [targets], split_sentences)[0]
        if isinstance(sources, str) or isinstance(targets, str):
            raise TypeError("sources and targets: both must be str, or both iterables of str")
        return self._score(sources, targets, split_sentences)

    def _score(self, sources: Iterable[str], targets: Iterable[str], split_sentences: SplitSentences) -> list[Score]:
        tokens = self._model.score(next_texts(rows_of(sources, "sources"), None, "sources"),
                                    next_texts(rows_of(targets, "targets"), None, "targets"), split_sentences)
        return [Score(of_line) for of_line in tokens]


def _open(models: list[str], options: dict[str, Any]) -> Translator:
    return Translator(models, **options)
