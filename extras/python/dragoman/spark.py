"""Translation of a column of a Spark DataFrame, on all machines of a cluster.

    from dragoman import spark as dragoman_spark

    translated = dragoman_spark.translate(frame, "run/", column="text")

Each machine needs this package and pyarrow; the model goes there by itself.
"""

import hashlib
import os
import shutil
import tempfile
from collections.abc import Iterable, Iterator
from dataclasses import replace
from functools import partial
from typing import Any, Unpack

import pyspark  # type: ignore[import-not-found, unused-ignore]
from pyspark.sql import DataFrame, types  # type: ignore[import-not-found, unused-ignore]

from .options import TranslateOptions
from .tables import LOCAL, BadRows, Columns, TableTranslator, checked, model_files, portable, without_scheme
from .translator import ComputeType, Path

__all__ = ["translate"]


def translate(frame: DataFrame, model: Path | Iterable[Path], *, column: str = "text",
              translation_column: str = "translation", score_column: str | None = None, bad_rows: BadRows = "error",
              threads: int = 0, compute_type: ComputeType = "auto", batch_size: int = 0,
              **options: Unpack[TranslateOptions]) -> DataFrame:
    """The frame with a column of translations. All rows are there, once, in the order of their partition.

    `model` is a run folder or a model file of this machine, which Spark copies to the others (`addFile`), or
    "local:/path" of a file that every machine has there. Each Python worker opens it once. `threads`: 0 stands for
    as many as the task has cores (`spark.task.cpus`). `score_column` names a column of scores to add. A row whose
    text is null ends the job with an error that shows the row; `bad_rows="null"` gives it null as its translation.

    The other options are those of Translator and Translator.translate; `terms` must be a dict. Spark computes a
    frame again whenever it is used: write or cache the result. Raises dragoman.Error, ValueError and TypeError
    before any task begins if the model, an option or a column is wrong.
    """
    columns = Columns(column, translation_column, score_column, bad_rows)
    columns.check(frame.columns)
    kind = frame.schema[column].dataType
    if not isinstance(kind, types.StringType):
        raise TypeError(f"column '{column}': must be a column of strings, but is one of {kind.simpleString()}")
    plan = checked(TableTranslator(tuple(model_files(model)), columns, portable(options), threads, compute_type,
                                   batch_size))
    names = [file if file.startswith(LOCAL) else _files.name_of(frame.sparkSession.sparkContext, file)
             for file in plan.models]
    schema = types.StructType(list(frame.schema.fields))
    for name, added in zip(columns.added, (types.StringType(), types.DoubleType())):
        schema = schema.add(name, added)
    return frame.mapInArrow(partial(_translate_batches, replace(plan, models=tuple(names))), schema)


def _translate_batches(plan: TableTranslator, batches: Iterator[Any]) -> Iterator[Any]:
    """Translates the partition of a task."""
    models = tuple(without_scheme(name) if name.startswith(LOCAL) else pyspark.SparkFiles.get(name)
                   for name in plan.models)
    task = pyspark.TaskContext.get()
    here = replace(plan, models=models, threads=plan.threads or (1 if task is None else task.cpus()))
    return map(here.translate, batches)


class _ShippedFiles:
    """Files that Spark has for its workers, each under a name of its own: Spark tells files apart by their names."""

    def __init__(self) -> None:
        self._folder: tempfile.TemporaryDirectory[str] | None = None
        self._added: set[tuple[str, str]] = set()

    def name_of(self, context: pyspark.SparkContext, file: str) -> str:
        """Ships a file once for each application, and again if it has been replaced."""
        facts = os.stat(file)
        key = f"{os.path.realpath(file)}:{facts.st_ino}:{facts.st_size}:{facts.st_mtime_ns}"
        name = f"dragoman-{hashlib.sha256(key.encode('utf-8', 'surrogateescape')).hexdigest()[:16]}.safetensors"
        if (context.applicationId, name) not in self._added:
            context.addFile(self._under(name, file))
            self._added.add((context.applicationId, name))
        return name

    def _under(self, name: str, file: str) -> str:
        if self._folder is None:
            self._folder = tempfile.TemporaryDirectory(prefix="dragoman-")
        path = os.path.join(self._folder.name, name)
        if not os.path.exists(path):
            try:
                os.link(os.path.realpath(file), path)
            except OSError:  # another file system
                shutil.copyfile(file, path + ".part")
                os.replace(path + ".part", path)
        return path


_files = _ShippedFiles()
