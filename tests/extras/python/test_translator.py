"""dragoman.Translator gives the numbers of the program, in order, for every kind of input."""

import json
import pathlib
import pickle
import subprocess

import dragoman
import pytest
from names import names

DRAWS = {"max_length": 8, "max_length_ratio": 0.1}  # which have no beam
SHORT = {**DRAWS, "beam_size": 2}
FLAGS = ["--max-length", "8", "--max-length-ratio", "0.1"]


def program_answers(path, model, lines, *flags):
    beam = [] if "--sampling" in flags else ["--beam-size", "2"]  # draws have none
    requests = "".join(json.dumps({"text": line}) + "\n" for line in lines)
    run = subprocess.run([path, "translate", "-m", model, "--json", "--threads", "2", *FLAGS, *beam, *flags],
                         input=requests, capture_output=True, text=True, check=True)
    return [json.loads(answer) for answer in run.stdout.splitlines()]


def test_translations_are_those_of_the_program(translator, model, lines, program):
    expected = program_answers(program("dragoman-lite"), model, lines, "--n-best", "2", "--alignment", "hard",
                               "--word-scores")
    ours = translator.translate(lines, n_best=2, alignment=True, word_scores=True, **SHORT)
    assert len(ours) == len(lines)
    for translation, answer in zip(ours, expected):
        assert translation.text == answer["translation"]
        assert translation.score == answer["score"]
        assert translation.log_probability == answer["log_probability"]
        assert translation.alignment == [tuple(link) for link in answer["alignment"]]
        assert translation.word_scores == [word["log_probability"] for word in answer["words"]]
        assert [word.text for word in translation.words] == [word["text"] for word in answer["words"]]
        assert [other.text for other in translation.n_best[1:]] == [o["translation"] for o in answer["alternatives"]]


@pytest.mark.parametrize("options", [
    {"beam_size": 1}, {"beam_size": 3, "length_penalty": 0.2, "stop": "exact"}, {"no_repeat_ngram_size": 1},
    {"repetition_penalty": 1.5}, {"suppress": ["kp"]},
    {"length_penalty_kind": "gnmt", "coverage_penalty": 0.3},
    {"sampling": True, "seed": 5, "sampling_topk": 20, "temperature": 0.8}])
def test_options_are_the_flags_of_the_program(translator, model, lines, program, options):
    flags = []
    for name, value in options.items():
        values = value if isinstance(value, list) else [] if value is True else [value]
        flags += ["--" + name.replace("_", "-"), *map(str, values)]
    expected = [(answer["translation"], answer["score"])
                for answer in program_answers(program("dragoman-lite"), model, lines, *flags)]
    plain = [(t.text, t.score) for t in translator.translate(lines, **SHORT)]
    ours = [(t.text, t.score) for t in translator.translate(lines, **{**(DRAWS if "sampling" in options else SHORT), **options})]
    assert ours == expected
    assert ours != plain


def test_one_line_gives_one_translation(translator, lines):
    assert translator.translate(lines[3], **SHORT) == translator.translate(lines, **SHORT)[3]
    assert str(translator.translate("", **SHORT)) == ""


@pytest.mark.parametrize("make", [list, tuple, iter, lambda lines: (line for line in lines),
                                  lambda lines: dict.fromkeys(lines).keys()])
def test_any_iterable_is_translated(translator, make):
    lines = ["one", "two words", "three"]
    assert translator.translate(make(lines), **SHORT) == [translator.translate(line, **SHORT) for line in lines]


def test_nothing_gives_nothing(translator):
    assert translator.translate([]) == []
    assert list(translator.translate_iter(iter([]))) == []


def test_line_ends_and_half_surrogates_do_not_split_a_line(translator):
    odd = ["a\nb", "a\r\nb", "a\0b", "a\ud800b", "\ufeffa", "a" * 3000]
    translations = translator.translate(odd, **SHORT)
    assert len(translations) == len(odd)
    assert not any(set("\n\r\0") & set(translation.text) for translation in translations)
    assert translations[0] == translator.translate("a b", **SHORT)


def test_an_iterator_is_read_as_translations_are_taken(translator):
    read = 0
    def endless():
        nonlocal read
        while True:
            read += 1
            yield f"line {read}"
    stream = translator.translate_iter(endless(), read_ahead=10, **SHORT)
    assert read == 0
    given = []
    for _ in range(95):
        given.append(next(stream).text)
        assert read <= len(given) - 1 + 20 + 1
    assert given == [t.text for t in translator.translate([f"line {i}" for i in range(1, 96)], **SHORT)]


def test_the_seed_counts_lines_over_a_whole_stream(translator):
    options = {**DRAWS, "sampling": True, "seed": 3}
    lines = ["same line"] * 50
    texts = [t.text for t in translator.translate(lines, **options)]
    assert len(set(texts)) > 10
    assert texts == [t.text for t in translator.translate_iter(lines, read_ahead=7, **options)]


def test_an_error_of_the_iterator_is_raised(translator):
    def failing():
        yield "a"
        raise KeyError("mine")
    with pytest.raises(KeyError, match="mine"):
        translator.translate(failing(), **SHORT)
    assert translator.translate("a", **SHORT).text  # it still works


def test_prefixes_begin_translations(translator):
    lines = ["one", "two", "three"]
    prefixes = ["abc de ", "", "xyz "]
    translations = translator.translate(lines, prefixes=prefixes, **SHORT)
    assert [t.text.startswith(p.strip()) for t, p in zip(translations, prefixes)] == [True] * 3
    assert translations[1] == translator.translate("two", **SHORT)
    assert translator.translate("one", prefixes="abc de ", **SHORT) == translations[0]
    for wrong in (["a"], ["a"] * 4, []):
        with pytest.raises(ValueError, match="prefixes"):
            translator.translate(lines, prefixes=wrong, **SHORT)
    with pytest.raises(TypeError, match="prefixes"):
        translator.translate(lines, prefixes="abc", **SHORT)


def test_terms_are_met_or_named(translator, tmp_path):
    terms = {"one": "uno", "two": "dos"}
    options = {"beam_size": 2, "max_length": 30, "terms_force": True}
    [translation] = translator.translate(["one xx two"], terms=terms, **options)
    assert not translation.unmet and "uno" in translation.text and "dos" in translation.text
    glossary = tmp_path / "terms.tsv"
    glossary.write_text("one\tuno\ntwo\tdos\n")
    assert translator.translate(["one xx two"], terms=glossary, **options) == [translation]
    [cut] = translator.translate(["one xx two"], terms={"one": "uno"}, beam_size=1, max_length=2, max_length_ratio=0.1)
    assert cut.cut and cut.unmet in ([], ["uno"])


def test_protected_texts_are_met_or_named(translator):
    options = {"beam_size": 2, "max_length": 40}
    [kept] = translator.translate(["xx 6,263 yy"], protect=True, terms_force=True, number_format="en-de", **options)
    assert "6.263" in kept.text or kept.unmet == ["6.263"]


def test_the_words_of_a_protected_text_are_those_of_the_translation(translator):
    [kept] = translator.translate(["xx 1\u202f000 yy 10\u2074"], protect=True, terms_force=True, word_scores=True,
                                  beam_size=4, max_length=40)
    assert all(text in kept.text or text in kept.unmet for text in ("1\u202f000", "10\u2074"))
    assert "10\u2074" in kept.text
    assert " ".join(word.text for word in kept.words) == kept.text


def test_lines_with_nothing_to_translate_are_copied(translator):
    table = pathlib.Path(__file__).parents[2] / "tokenizer" / "translatable_examples.tsv"
    examples = [line.split("\t", 1) for line in table.read_text(encoding="utf-8").splitlines()]
    assert len(examples) >= 60
    texts = [text for _, text in examples]
    for (kind, text), translation in zip(examples, translator.translate(texts, **SHORT), strict=True):
        assert translation.copied == (kind != "translated"), text
        assert (translation.text == text) == translation.copied
    assert not any(t.copied for t in translator.translate(texts, translate_all=True, **SHORT))


def test_avoided_texts_are_those_of_the_program(translator, model, lines, program, tmp_path):
    sampling = {**DRAWS, "sampling": True, "seed": 2}
    plain = translator.translate(lines, **sampling)
    avoid = sorted({word for translation in plain for word in translation.text.split()})
    (tmp_path / "avoid").write_text("".join(text + "\n" for text in avoid))
    expected = program_answers(program("dragoman-lite"), model, lines, "--sampling", "--seed", "2", "--avoid",
                               str(tmp_path / "avoid"))
    ours = translator.translate(lines, avoid=avoid, **sampling)
    assert [t.text for t in ours] == [answer["translation"] for answer in expected]
    assert [t.text for t in ours] != [t.text for t in plain]


def test_results_are_plain_data(translator):
    translation = translator.translate("some words", alignment=True, **SHORT)
    assert pickle.loads(pickle.dumps(translation)) == translation
    assert len(translation.words[0].attention) == 2


def test_a_pickled_translator_opens_its_files_again(translator):
    again = pickle.loads(pickle.dumps(translator))
    assert again.translate("some words", **SHORT) == translator.translate("some words", **SHORT)


def test_an_ensemble_of_equals_translates_as_one(translator, model):
    both = dragoman.Translator([model, model], threads=1)
    line = "some words"
    ours, one = both.translate(line, **SHORT), translator.translate(line, **SHORT)
    assert ours.text == one.text and abs(ours.score - one.score) < 1e-4


def test_compute_types_differ(translator, model, lines):
    int8 = dragoman.Translator(model, threads=1, compute_type="int8", batch_size=4)
    scores = [t.score for t in int8.translate(lines[:5], **SHORT)]
    assert scores != [t.score for t in translator.translate(lines[:5], **SHORT)]


def test_scores_are_those_of_the_program(translator, model, lines, program, tmp_path):
    targets = [t.text for t in translator.translate(lines, **SHORT)]
    for name, texts in (("src", lines), ("tgt", targets)):
        (tmp_path / name).write_text("".join(text + "\n" for text in texts))
    run = subprocess.run([program("dragoman"), "score", "-m", model, "--device", "cpu", "--per-token", "--src",
                          tmp_path / "src", "--tgt", tmp_path / "tgt"], capture_output=True, text=True, check=True)
    for score, line in zip(translator.score(lines, targets), run.stdout.splitlines(), strict=True):
        total, tokens = line.split("\t")
        expected = [float(token) for token in tokens.split()]
        assert score.tokens == pytest.approx(expected, abs=1e-4)
        assert score.log_probability == pytest.approx(float(total), abs=1e-3)


def test_scores_are_those_of_the_search(translator, lines):
    """The search's sum of log-probabilities is the score of its translation, if the pieces are the same."""
    options = {"beam_size": 1, "max_length": 60}
    translations = translator.translate(lines[:20], split_sentences="never", **options)
    scores = translator.score(lines[:20], [t.text for t in translations], split_sentences="never")
    pairs = [(t, s) for t, s in zip(translations, scores) if t.text and not t.cut]
    same = [abs(t.log_probability - s.log_probability) < 1e-3 for t, s in pairs]
    assert all(s.log_probability <= 0 for s in scores)
    assert not pairs or sum(same) >= len(pairs) // 2


def test_scores_need_as_many_translations_as_lines(translator):
    with pytest.raises(ValueError, match=names("sources ... 2 ... targets ... 1")):
        translator.score(["a", "b"], ["c"])
    with pytest.raises(TypeError, match=names("str")):
        translator.score("a", ["c"])
    assert translator.score([], []) == []
    assert translator.score("a", "b") == translator.score(["a"], ["b"])[0]


@pytest.mark.parametrize(("options", "message"), [
    ({"beam_size": 0}, "beam_size 0 ... 1 ... 1000"), ({"beem_size": 3}, "beem_size ... beam_size"),
    ({"beam_size": 2.5}, "beam_size"), ({"beam_size": 2, "n_best": 9}, "n_best 9 ... beam_size"),
    ({"stop": "soon"}, "full, exact, hf"), ({"terms": {"a": " "}}, "target term"),
    ({"terms": {"a": "b\nc"}}, "line end"), ({"number_format": "en-de"}, "protect"),
    ({"attention_layer": 99, "alignment": True}, "attention_layer 99"), ({"read_ahead": 0}, "read_ahead 0"),
    ({"temperature": float("nan")}, "temperature"),
    ({"sampling": True, "beam_size": 4}, "beam_size: ... sampling"), ({"sampling": True, "stop": "hf"}, "stop: ... sampling")])
def test_wrong_options_are_named(translator, options, message):
    with pytest.raises(ValueError, match=names(message)):
        translator.translate_iter(["a"], **options)  # at the call, not when the first line is taken


@pytest.mark.parametrize(("lines", "message"), [
    (None, "lines: ... list of str ... NoneType"), (5, "lines: ... list of str ... int"),
    (b"A man walks.", "lines: ... bytes ... decode"), ({"a": 1}, "lines: ... dict"), ([5], "lines[0] ... int"),
    ([b"bytes"], "lines[0] ... bytes"), ([None], "lines[0] ... NoneType")])
def test_what_is_not_text_is_refused(translator, lines, message):
    with pytest.raises(TypeError, match=names(message)):
        translator.translate(lines)
    with pytest.raises(TypeError, match=names(message.replace("lines", "sources"))):
        translator.score(lines, ["a"])


def test_an_error_names_the_row(translator):
    with pytest.raises(TypeError, match=names("lines[2] ... str ... float")):
        translator.translate(["a", "b", float("nan")], **SHORT)
    stream = translator.translate_iter(iter(["a", "b", "c", None]), read_ahead=1, **SHORT)
    with pytest.raises(TypeError, match=names("lines[3] ... str ... NoneType")):
        list(stream)
    with pytest.raises(TypeError, match=names("targets[1] ... str")):
        translator.score(["a", "b"], ["c", 5])


def test_a_table_is_not_a_list_of_texts(translator):
    class Table:
        columns = ("source",)

        def __iter__(self):
            return iter(self.columns)

    with pytest.raises(TypeError, match=names("lines ... list of str ... Table ... one column")):
        translator.translate(Table())


@pytest.mark.parametrize(("options", "message"), [
    ({"terms": {"house": 1}}, "terms ... 'house': 1 ... str ... int"),
    ({"terms": {1: "house"}}, "terms ... 1: 'house' ... str"),
    ({"beam_size": "5"}, "beam_size ... number"), ({"protect": "no"}, "protect ... number ... bool")])
def test_values_of_another_type_are_named(translator, options, message):
    with pytest.raises(TypeError, match=names(message)):
        translator.translate_iter(["a"], **options)


def test_a_translator_is_a_context_manager(model):
    with dragoman.Translator(model, threads=1) as translator:
        stream = translator.translate_iter(["one", "two"], **SHORT)
        first = next(stream).text
        assert first == translator.translate("one", **SHORT).text
    assert len(list(stream)) in (0, 1)  # what was under way may be taken
    with pytest.raises(ValueError, match="closed"):
        translator.translate("one")
    translator.close()


def test_lists_of_texts_are_not_text(translator):
    for name in ("suppress", "avoid"):
        with pytest.raises(TypeError, match=name):
            translator.translate("a", **{name: "abc"})


def test_missing_and_damaged_files_are_named(model, tmp_path):
    with pytest.raises(dragoman.Error, match="nowhere"):
        dragoman.Translator(tmp_path / "nowhere")
    damaged = tmp_path / "damaged.safetensors"
    whole = open(f"{model}/model.safetensors", "rb").read()
    damaged.write_bytes(whole[:-1000])
    with pytest.raises(dragoman.Error, match="damaged.safetensors"):
        dragoman.Translator(damaged)
    changed = bytearray(whole)
    changed[-5000] ^= 1
    damaged.write_bytes(changed)
    with pytest.raises(dragoman.Error, match="damaged"):
        dragoman.Translator(damaged)
    for arguments in ({"threads": -1}, {"threads": 10**6}, {"compute_type": "int9"}, {"batch_size": -1}):
        with pytest.raises(ValueError, match=next(iter(arguments))):
            dragoman.Translator(model, **arguments)
    with pytest.raises(ValueError):
        dragoman.Translator([])


def test_facts_of_a_model(model, tmp_path):
    facts = dragoman.inspect(model)
    assert facts.architecture["d-model"] > 0 and facts.provenance["command"] == "random_model"
    assert facts.bytes > 1000 and facts.path.endswith("model.safetensors")
    with pytest.raises(dragoman.Error):
        dragoman.inspect(tmp_path / "nowhere")
