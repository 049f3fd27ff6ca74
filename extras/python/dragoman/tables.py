"""A text column of Arrow tables, translated: the common part of dragoman.spark and dragoman.ray.

Needs pyarrow, which both engines bring.
"""

import hashlib
import os
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Literal, TypeAlias, cast

import pyarrow as pa  # type: ignore[import-untyped, import-not-found, unused-ignore]

from .options import TranslateOptions
from .translator import ComputeType, Path, Translator, paths_of

BadRows: TypeAlias = Literal["error", "null"]

LOCAL = "local:"  # a file that every machine has under this path
WITHOUT_COLUMN = ("n_best", "alignment", "word_scores")  # options whose results have no column


@dataclass(frozen=True)
class Columns:
    """The columns that are read and added, and the fate of a row whose text is null or not a str."""

    text: str = "text"
    translation: str = "translation"
    score: str | None = None  #: the score of the best translation; None: no such column
    bad_rows: BadRows = "error"

    def __post_init__(self) -> None:
        if self.bad_rows not in ("error", "null"):
            raise ValueError(f"bad_rows: '{self.bad_rows}' is none of error, null")

    @property
    def added(self) -> list[str]:
        return [self.translation, *([] if self.score is None else [self.score])]

    def check(self, given: Iterable[str]) -> None:
        """Raises ValueError if a table with these columns has no text, or has a column that is to be added."""
        names = list(given)
        if self.text not in names:
            raise ValueError(f"column: no '{self.text}' among the columns {', '.join(names)}")
        for name in self.added:
            if name in names or self.added.count(name) > 1:
                raise ValueError(f"there is a column '{name}' already: choose another name for the one that is added")


@lru_cache(maxsize=1)
def resident(models: tuple[str, ...], threads: int, compute_type: ComputeType, batch_size: int) -> Translator:
    """The translator that this process keeps between batches."""
    return Translator(models, threads=threads, compute_type=compute_type, batch_size=batch_size)


@dataclass(frozen=True)
class TableTranslator:
    """How tables are translated. It holds names and options alone, and can be pickled."""

    models: tuple[str, ...]
    columns: Columns
    options: dict[str, Any]
    threads: int = 1
    compute_type: ComputeType = "auto"
    batch_size: int = 0

    def open(self) -> Translator:
        return resident(self.models, self.threads, self.compute_type, self.batch_size)

    def translate(self, table: Any) -> Any:
        """An Arrow table or record batch with its translations. Rows and their other columns stay as they are."""
        texts = table.column(self.columns.text).to_pylist()
        kept = [number for number, text in enumerate(texts) if isinstance(text, str)]
        if self.columns.bad_rows == "error" and len(kept) < len(texts):
            raise TypeError(self._complaint(table, texts))
        translations: list[str | None] = [None] * len(texts)
        scores: list[float | None] = [None] * len(texts)
        good = [texts[number] for number in kept]
        for number, translation in zip(kept, self.open().translate(good, **self._options_for(good)), strict=True):
            translations[number], scores[number] = translation.text, translation.score
        added = [pa.array(translations, pa.string()), pa.array(scores, pa.float64())][:len(self.columns.added)]
        schema = table.schema
        for name, values in zip(self.columns.added, added):
            schema = schema.append(pa.field(name, values.type))
        return type(table).from_arrays([*table.columns, *added], schema=schema)

    def _complaint(self, table: Any, texts: list[Any]) -> str:
        number = next(number for number, text in enumerate(texts) if not isinstance(text, str))
        found = "null" if texts[number] is None else type(texts[number]).__name__
        row = repr(table.slice(number, 1).to_pylist()[0])
        return (f"column '{self.columns.text}': must be str, but is {found} in the row {row[:200]}; "
                "bad_rows='null' gives such rows null as their translation")

    def _options_for(self, texts: list[str]) -> TranslateOptions:
        """The options; if tokens are drawn, with a seed from these texts, so that no two batches draw alike."""
        options = cast(TranslateOptions, dict(self.options))
        if options.get("sampling"):
            text = "\n".join([str(options.get("seed", 0)), *texts]).encode("utf-8", "replace")
            options["seed"] = int.from_bytes(hashlib.blake2b(text, digest_size=4).digest())
        return options


def model_files(model: Path | Iterable[Path]) -> list[str]:
    """The files behind run folders and model files. Paths that begin with "local:" stay as they are."""
    files = []
    for path in paths_of(model):
        inside = os.path.join(path, "model.safetensors")
        files.append(inside if not path.startswith(LOCAL) and os.path.isdir(path) else path)
    return files


def without_scheme(path: str) -> str:
    """The path in "local:/models/en-de.safetensors" or "local:///models/en-de.safetensors"."""
    path = path.removeprefix(LOCAL)
    return "/" + path.lstrip("/") if path.startswith("//") else path


def portable(options: Mapping[str, Any]) -> dict[str, Any]:
    """Options that can go to another process. Raises TypeError for those whose result has no column, and for files."""
    for name in WITHOUT_COLUMN:
        if name in options:
            raise TypeError(f"{name}: a table has no column for it")
    terms = options.get("terms")
    if terms is not None and not isinstance(terms, Mapping):
        raise TypeError("terms: must be a dict here, as other machines do not have the glossary's file")
    return {name: list(value) if isinstance(value, Iterable) and not isinstance(value, (str, Mapping)) else value
            for name, value in options.items()}


def checked(translator: TableTranslator) -> TableTranslator:
    """The same, after this process has opened the models and seen the options; those of "local:" only workers have."""
    if not any(path.startswith(LOCAL) for path in translator.models):
        Translator(translator.models, threads=1, compute_type=translator.compute_type,
                   batch_size=translator.batch_size).translate([], **cast(TranslateOptions, translator.options))
    return translator
