"""dragoman.tables: rows and their other columns survive; bad rows are shown, or null."""

import pickle

import pytest
from names import names

pa = pytest.importorskip("pyarrow", reason="the tests of tables need pyarrow")
from dragoman.tables import Columns, TableTranslator, model_files, portable, without_scheme  # noqa: E402

SHORT = {"max_length": 8, "max_length_ratio": 0.1, "beam_size": 2}


def plan(model, columns=Columns(), **options):
    return TableTranslator(tuple(model_files(model)), columns, portable({**SHORT, **options}))


@pytest.mark.parametrize("kind", [pa.table, pa.RecordBatch.from_pydict])
def test_rows_keep_their_place_and_columns(translator, model, lines, kind):
    table = kind({"id": pa.array(range(len(lines)), pa.int32()), "text": lines,
                  "odd": [None if i % 2 else {"x": [i]} for i in range(len(lines))]})
    translated = pickle.loads(pickle.dumps(plan(model, Columns(score="score")))).translate(table)
    assert type(translated) is type(table)
    assert translated.select(["id", "text", "odd"]).equals(table)
    expected = translator.translate(lines, **SHORT)
    assert translated.column("translation").to_pylist() == [translation.text for translation in expected]
    assert translated.column("score").to_pylist() == [translation.score for translation in expected]


def test_no_rows_give_no_rows(model):
    translated = plan(model).translate(pa.table({"text": pa.array([], pa.string())}))
    assert translated.num_rows == 0 and translated.schema.names == ["text", "translation"]


def test_rows_without_text_are_shown(model):
    table = pa.table({"id": [7, 8], "text": ["a", None]})
    with pytest.raises(TypeError, match=names("'text' ... str ... null ... {'id': 8, 'text': None}")):
        plan(model).translate(table)
    with pytest.raises(TypeError, match=names("str ... int ... row")):
        plan(model).translate(pa.table({"text": [7]}))


def test_rows_without_text_may_get_null(translator, model):
    table = pa.table({"text": [None, "some words", None, "others"]})
    translated = plan(model, Columns(bad_rows="null", score="score")).translate(table)
    expected = translator.translate(["some words", "others"], **SHORT)
    assert translated.column("translation").to_pylist() == [None, expected[0].text, None, expected[1].text]
    assert translated.column("score").to_pylist() == [None, expected[0].score, None, expected[1].score]
    nothing = plan(model, Columns(bad_rows="null")).translate(pa.table({"text": pa.array([None, None], pa.null())}))
    assert nothing.column("translation").to_pylist() == [None, None]


def test_batches_draw_differently_and_the_same_batch_alike(model):
    def texts(*lines):
        return plan(model, sampling=True, seed=3, beam_size=None).translate(pa.table({"text": lines})).column("translation").to_pylist()
    assert texts("a", "b") == texts("a", "b")
    assert texts("a", "b")[0] != texts("a", "c")[0]


@pytest.mark.parametrize(("call", "error", "message"), [
    (lambda: portable({"n_best": 2}), TypeError, "n_best ... column"),
    (lambda: portable({"terms": "terms.tsv"}), TypeError, "terms ... dict"),
    (lambda: Columns(bad_rows="skip"), ValueError, "bad_rows ... 'skip' ... error, null"),
    (lambda: Columns().check(["id"]), ValueError, "'text' ... id"),
    (lambda: Columns().check(["text", "translation"]), ValueError, "column 'translation'"),
    (lambda: Columns(score="text").check(["text"]), ValueError, "column 'text'"),
    (lambda: Columns(score="translation").check(["text"]), ValueError, "column 'translation'")])
def test_what_does_not_fit_is_named(call, error, message):
    with pytest.raises(error, match=names(message)):
        call()


def test_files_of_every_machine_keep_their_name(model):
    assert model_files(model) == [f"{model}/model.safetensors"]
    assert model_files(["local:/models/a", "b.safetensors"]) == ["local:/models/a", "b.safetensors"]
    assert without_scheme("local:/models/a") == without_scheme("local:///models/a") == "/models/a"
