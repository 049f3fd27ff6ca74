"""dragoman.spark in a cluster of two executors: every row once and in order, also if processes are killed."""

import os
import signal
import sys

import dragoman
import pytest
from names import names
from processes import descendants, wait_for

pyspark = pytest.importorskip("pyspark", reason="the tests of dragoman.spark need pyspark, pyarrow and a JRE")
pa = pytest.importorskip("pyarrow", reason="the tests of dragoman.spark need pyspark, pyarrow and a JRE")
from dragoman import spark as dragoman_spark  # noqa: E402
from dragoman.tables import Columns, TableTranslator, portable, resident  # noqa: E402
from pyspark.sql import SparkSession  # noqa: E402

SHORT = {"max_length": 8, "max_length_ratio": 0.1, "beam_size": 2}


@pytest.fixture(scope="module")
def spark():
    os.environ["PYSPARK_PYTHON"] = sys.executable
    os.environ.setdefault("SPARK_HOME", os.path.dirname(pyspark.__file__))
    session = (SparkSession.builder.master("local-cluster[2,1,1024]").appName("test_spark")
               .config("spark.executorEnv.PYTHONPATH", os.environ.get("PYTHONPATH", ""))
               .config("spark.sql.execution.arrow.maxRecordsPerBatch", 50)
               .config("spark.ui.enabled", False).config("spark.driver.host", "127.0.0.1").getOrCreate())
    session.sparkContext.setLogLevel("OFF")
    yield session
    session.stop()


def numbered(spark, lines, partitions):
    return spark.createDataFrame(list(enumerate(lines)), "id int, text string").repartitionByRange(partitions, "id")


def expected_of(translator, lines):
    return [(number, line, translation.text)
            for number, (line, translation) in enumerate(zip(lines, translator.translate(lines, **SHORT)))]


def test_every_row_is_translated_once_and_in_order(spark, translator, model, lines):
    frame = dragoman_spark.translate(numbered(spark, lines, 4), model, **SHORT)
    assert [tuple(row) for row in frame.collect()] == expected_of(translator, lines)


def test_a_process_opens_the_model_once(spark, model):
    plan = TableTranslator((f"local:{model}/model.safetensors",), Columns(), portable(SHORT))
    def opened(batches):
        before = resident.cache_info().misses  # the process may have worked for another test
        count = sum(1 for _ in dragoman_spark._translate_batches(plan, batches))
        yield pa.RecordBatch.from_pydict({"process": [os.getpid()], "batches": [count],
                                          "opened": [resident.cache_info().misses - before]})
    frame = numbered(spark, ["a", "b"] * 200, 4)
    seen = frame.mapInArrow(opened, "process long, batches long, opened long").collect()
    assert len(seen) == 4 and sum(row.batches for row in seen) >= 8  # more batches than tasks
    for process in {row.process for row in seen}:
        assert sum(row.opened for row in seen if row.process == process) == 1


@pytest.mark.parametrize("victim", ["CoarseGrainedExecutorBackend", "pyspark.daemon"])
def test_a_killed_process_costs_no_row(spark, translator, model, lines, victim):
    many = [f"{line} {i}" for i, line in enumerate(lines * 10)]
    frame = dragoman_spark.translate(numbered(spark, many, 12), model, **SHORT)
    tracker = spark.sparkContext.statusTracker()
    rows = []
    spark.sparkContext.setJobGroup(victim, victim)
    job = pyspark.InheritableThread(target=lambda: rows.extend(frame.collect()))
    job.start()
    def translating_stage():
        stages = [tracker.getStageInfo(number) for number in tracker.getActiveStageIds()]
        return [s for s in stages if s and s.numTasks == 12 and s.numCompletedTasks >= 2 and s.numActiveTasks > 0]
    [stage] = wait_for(translating_stage)
    os.kill(descendants(os.getpid(), victim)[-1], signal.SIGKILL)
    job.join()
    assert [tuple(row) for row in rows] == expected_of(translator, many)
    after = tracker.getStageInfo(stage.stageId)
    assert after.numFailedTasks > 0 or after.currentAttemptId > 0  # the kill came in time


def test_null_ends_the_job_or_stays_null(spark, translator, model):
    frame = spark.createDataFrame([(1, "a"), (2, None)], "id int, text string")
    with pytest.raises(Exception, match=names("'text' ... str ... null ... {'id': 2, 'text': None}")):
        dragoman_spark.translate(frame, model, **SHORT).collect()
    rows = dragoman_spark.translate(frame, model, bad_rows="null", score_column="score", **SHORT).collect()
    expected = translator.translate("a", **SHORT)
    assert [tuple(row) for row in rows] == [(1, "a", expected.text, expected.score), (2, None, None, None)]


def test_a_replaced_model_is_shipped_again(spark, model, tmp_path):
    whole = open(f"{model}/model.safetensors", "rb").read()
    frame = spark.createDataFrame([("some words",)], "text string")
    file = tmp_path / "model.safetensors"
    file.write_bytes(whole)
    first = dragoman_spark.translate(frame, file, **SHORT).collect()
    file.unlink()
    file.write_bytes(whole)
    assert dragoman_spark.translate(frame, file, **SHORT).collect() == first
    file.unlink()
    with pytest.raises(dragoman.Error, match="model.safetensors"):
        dragoman_spark.translate(frame, file, **SHORT)


def test_a_file_of_every_machine_is_not_shipped(spark, translator, model):
    frame = spark.createDataFrame([("some words",)], "text string")
    before = spark.sparkContext.listFiles
    rows = dragoman_spark.translate(frame, f"local:{model}/model.safetensors", **SHORT).collect()
    assert rows[0].translation == translator.translate("some words", **SHORT).text
    assert spark.sparkContext.listFiles == before


@pytest.mark.parametrize(("options", "error", "message"), [
    ({"column": "txt"}, ValueError, "'txt' ... id, text"),
    ({"column": "id"}, TypeError, "'id' ... strings ... int"),
    ({"translation_column": "id"}, ValueError, "column 'id'"),
    ({"beam_size": 0}, ValueError, "beam_size 0 ... 1 ... 1000"),
    ({"terms": "terms.tsv"}, TypeError, "terms ... dict")])
def test_what_is_wrong_is_said_before_a_task_begins(spark, model, options, error, message):
    with pytest.raises(error, match=names(message)):
        dragoman_spark.translate(numbered(spark, ["a"], 1), model, **options)
