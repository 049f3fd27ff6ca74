"""Translation of a column of a Ray dataset, on all machines of a cluster.

    from dragoman import ray as dragoman_ray

    translated = dragoman_ray.translate(dataset, "run/", column="text", workers=8)

Each machine needs this package; the model goes there by itself.
"""

import os
import pathlib
import tempfile
from collections.abc import Iterable
from dataclasses import replace
from typing import Any, Unpack

import ray  # type: ignore[import-not-found, unused-ignore]
import ray.data  # type: ignore[import-not-found, unused-ignore]

from .options import TranslateOptions
from .tables import LOCAL, BadRows, Columns, TableTranslator, checked, model_files, portable, without_scheme
from .translator import ComputeType, Path

__all__ = ["translate"]

ROWS = 1024  # of a batch: some rounds of an engine's rows, and seconds of work if a worker dies


def translate(dataset: ray.data.Dataset, model: Path | Iterable[Path], *, column: str = "text",
              translation_column: str = "translation", score_column: str | None = None, bad_rows: BadRows = "error",
              workers: int | tuple[int, int] = 1, threads: int = 1, rows: int = ROWS,
              compute_type: ComputeType = "auto", batch_size: int = 0,
              **options: Unpack[TranslateOptions]) -> ray.data.Dataset:
    """The dataset with a column of translations. All rows are there, once, in the order of the dataset.

    `model` is a run folder or a model file of this machine, which Ray copies to the others (its object store), or
    "local:/path" of a file that every machine has there. `workers` are actors, or the fewest and the most of them;
    each opens the model once and takes `threads` cores. `rows` are handed to a worker at once. `score_column` names a
    column of scores to add. A row whose text is null or not a str ends the job with an error that shows the row;
    `bad_rows="null"` gives it null as its translation.

    The other options are those of Translator and Translator.translate; `terms` must be a dict. Ray computes a dataset
    again whenever it is used: write or materialize the result. Raises dragoman.Error, ValueError and TypeError
    before any work begins if the model, an option or a column that Ray knows is wrong.
    """
    for name, value in (("threads", threads), ("rows", rows)):
        if value < 1:
            raise ValueError(f"{name} {value}: must be at least 1")
    columns = Columns(column, translation_column, score_column, bad_rows)
    known = dataset.schema(fetch_if_missing=False)
    if known is not None:
        columns.check(known.names)
    plan = checked(TableTranslator(tuple(model_files(model)), columns, portable(options), threads, compute_type,
                                   batch_size))
    content = [None if file.startswith(LOCAL) else ray.put(pathlib.Path(file).read_bytes()) for file in plan.models]
    fewest, most = (workers, workers) if isinstance(workers, int) else workers
    translated = dataset.map_batches(
        _Worker, fn_constructor_args=(plan, content), batch_size=rows, batch_format="pyarrow", num_cpus=threads,
        compute=ray.data.ActorPoolStrategy(min_size=fewest, max_size=most))
    translated.context.execution_options.preserve_order = True
    return translated


class _Worker:
    """An actor: a process with a translator."""

    def __init__(self, plan: TableTranslator, content: list[Any]) -> None:
        with tempfile.TemporaryDirectory(prefix="dragoman-") as folder:
            files = [without_scheme(name) if reference is None else _written(folder, number, reference)
                     for number, (name, reference) in enumerate(zip(plan.models, content))]
            self._plan = replace(plan, models=tuple(files))
            self._plan.open()

    def __call__(self, table: Any) -> Any:
        self._plan.columns.check(table.schema.names)
        return self._plan.translate(table)


def _written(folder: str, number: int, reference: Any) -> str:
    path = os.path.join(folder, f"{number}.safetensors")
    pathlib.Path(path).write_bytes(ray.get(reference))
    return path
