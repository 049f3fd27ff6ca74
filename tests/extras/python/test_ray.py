"""dragoman.ray with two workers: every row once and in order, also if one is killed."""

import os
import signal

import dragoman
import pytest
from names import names
from processes import descendants, wait_for

os.environ["RAY_USAGE_STATS_ENABLED"] = "0"
ray = pytest.importorskip("ray", reason="the tests of dragoman.ray need ray[data]")
pytest.importorskip("ray.data", reason="the tests of dragoman.ray need ray[data]")
from dragoman import ray as dragoman_ray  # noqa: E402

SHORT = {"max_length": 8, "max_length_ratio": 0.1, "beam_size": 2}
WORKER = "ray::MapWorker"


@pytest.fixture(scope="module", autouse=True)
def cluster():
    ray.init(num_cpus=3, include_dashboard=False, log_to_driver=False, object_store_memory=200 * 2**20)
    ray.data.DataContext.get_current().enable_progress_bars = False
    yield
    ray.shutdown()


def numbered(lines, blocks=1):
    return ray.data.from_items([{"id": i, "text": line} for i, line in enumerate(lines)], override_num_blocks=blocks)


def expected_of(translator, lines):
    return [{"id": number, "text": line, "translation": translation.text}
            for number, (line, translation) in enumerate(zip(lines, translator.translate(lines, **SHORT)))]


def test_every_row_is_translated_once_and_in_order(translator, model, lines):
    dataset = dragoman_ray.translate(numbered(lines, 8), model, workers=2, **SHORT)
    assert dataset.take_all() == expected_of(translator, lines)


def test_a_killed_worker_costs_no_row(translator, model, lines):
    many = [f"{line} {i}" for i, line in enumerate(lines * 30)]
    dataset = dragoman_ray.translate(numbered(many, 60), model, workers=2, rows=16, **SHORT)
    rows, before, later = [], set(), set()
    for row in dataset.iter_rows():
        rows.append(row)
        if not before:
            before = set(wait_for(lambda: descendants(os.getpid(), WORKER)))
            os.kill(min(before), signal.SIGKILL)
        elif len(rows) % 20 == 0:
            later |= set(descendants(os.getpid(), WORKER))
    assert later - before  # another one has taken the place: the kill came in time
    assert rows == expected_of(translator, many)


def test_null_and_numbers_end_the_job_or_get_null(translator, model):
    dataset = numbered(["a", None])
    with pytest.raises(Exception, match=names("'text' ... str ... null ... {'id': 1, 'text': None}")):
        dragoman_ray.translate(dataset, model, **SHORT).take_all()
    rows = dragoman_ray.translate(dataset, model, bad_rows="null", score_column="score", **SHORT).take_all()
    expected = translator.translate("a", **SHORT)
    assert rows == [{"id": 0, "text": "a", "translation": expected.text, "score": expected.score},
                    {"id": 1, "text": None, "translation": None, "score": None}]
    with pytest.raises(Exception, match=names("'id' ... str ... int")):
        dragoman_ray.translate(dataset, model, column="id", **SHORT).take_all()


def test_a_file_of_every_machine_is_not_shipped(translator, model):
    dataset = dragoman_ray.translate(numbered(["some words"]), f"local:{model}/model.safetensors", **SHORT)
    assert dataset.take_all()[0]["translation"] == translator.translate("some words", **SHORT).text


@pytest.mark.parametrize(("options", "error", "message"), [
    ({"column": "txt"}, ValueError, "'txt' ... id, text"),
    ({"translation_column": "id"}, ValueError, "column 'id'"),
    ({"beam_size": 0}, ValueError, "beam_size 0 ... 1 ... 1000"),
    ({"threads": 0}, ValueError, "threads 0 ... 1"),
    ({"rows": 0}, ValueError, "rows 0 ... 1"),
    ({"terms": "terms.tsv"}, TypeError, "terms ... dict")])
def test_what_is_wrong_is_said_before_work_begins(model, options, error, message):
    with pytest.raises(error, match=names(message)):
        dragoman_ray.translate(numbered(["a"]), model, **options)


def test_a_missing_model_is_named(tmp_path):
    with pytest.raises(dragoman.Error, match="nowhere"):
        dragoman_ray.translate(numbered(["a"]), tmp_path / "nowhere")
