"""dragoman.metrics gives sacreBLEU's scores and signatures."""

import inspect
import random
import re

import dragoman
import pytest
from dragoman import metrics
from names import names

WORDS = "the a cat Cat sat on mat, mat. (hi) 1,000 1.5 well-known 50% &quot; Straße 日本語 に 中文 👍 ' `` x_y  \t".split(" ")


def corpus(seed, count=80):
    draw = random.Random(seed)
    references = ["a " + " ".join(draw.choices(WORDS, k=draw.randint(1, 14))) for _ in range(count)]
    hypotheses = [" ".join(word if draw.random() > 0.2 else draw.choice(WORDS) for word in line.split(" "))
                  for line in references]
    return hypotheses, references


def same(ours, theirs, signature):
    assert ours.score == pytest.approx(theirs.score, abs=1e-9)
    assert ours.signature.rsplit("|", 1)[0] == str(signature).rsplit("|", 1)[0]


def test_scores_are_those_of_sacrebleu():
    sacrebleu = pytest.importorskip("sacrebleu.metrics")
    hypotheses, references = corpus(1)
    second = corpus(2)[1]
    for ours, metric in [
            (metrics.bleu, sacrebleu.BLEU(force=True)), (metrics.chrf, sacrebleu.CHRF()), (metrics.ter, sacrebleu.TER()),
            (lambda *lines: metrics.bleu(*lines, lowercase=True, tokenize="intl", smooth_method="floor"),
             sacrebleu.BLEU(lowercase=True, tokenize="intl", smooth_method="floor", force=True)),
            (lambda *lines: metrics.chrf(*lines, word_order=2, beta=3, whitespace=True),
             sacrebleu.CHRF(word_order=2, beta=3, whitespace=True)),
            (lambda *lines: metrics.ter(*lines, normalized=True, no_punct=True, case_sensitive=True),
             sacrebleu.TER(normalized=True, no_punct=True, case_sensitive=True))]:
        same(ours(hypotheses, references), metric.corpus_score(hypotheses, [references]), metric.get_signature())
        same(ours(hypotheses, [references, second]), metric.corpus_score(hypotheses, [references, second]),
             metric.get_signature())


def test_scores_of_sentences_are_those_of_sacrebleu():
    sacrebleu = pytest.importorskip("sacrebleu.metrics")
    hypotheses, references = corpus(3)
    metric = sacrebleu.CHRF(word_order=2)
    scores = metrics.sentence_scores(hypotheses, references, metric="chrf++")
    assert [score.score for score in scores] == pytest.approx(
        [metric.sentence_score(h, [r]).score for h, r in zip(hypotheses, references)], abs=1e-9)


@pytest.mark.parametrize(("test", "kind"), [("bootstrap", "bs"), ("randomization", "ar")])
def test_p_values_are_those_of_sacrebleu(test, kind):
    sacrebleu = pytest.importorskip("sacrebleu.metrics")
    significance = pytest.importorskip("sacrebleu.significance")
    first, references = corpus(4)
    systems = {"first": first, "second": corpus(5)[0], "third": references[:40] + first[40:]}
    theirs = significance.PairedTest(list(systems.items()), {"BLEU": sacrebleu.BLEU(force=True), "chrF2": sacrebleu.CHRF()},
                                     [references], test_type=kind, n_samples=200)()[1]
    ours = metrics.compare(systems, references, test=test, samples=200)
    for metric, by_system in ours.items():
        for i, score in enumerate(by_system.values()):
            expected = theirs[metric][i]
            assert score.score == pytest.approx(expected.score, abs=1e-9)
            assert (score.p_value is None) == (i == 0)
            for value, other in ((score.p_value, expected.p_value), (score.mean, expected.mean),
                                 (score.interval, expected.ci)):
                if other is not None and value is not None:
                    assert value == pytest.approx(other, abs=1e-6)


def test_confidence_gives_an_interval():
    hypotheses, references = corpus(6)
    score = metrics.bleu(hypotheses, references, confidence=True, confidence_n=100)
    assert score.interval and abs(score.mean - score.score) < score.interval and "bs:100" in score.signature
    assert float(score) == score.score


def test_missing_references_may_be_none():
    with_none = metrics.chrf(["a b", "c d"], [["a b", "x"], [None, "c d"]])
    assert with_none == metrics.chrf(["a b", "c d"], [["a b", "x"], ["", "c d"]])
    assert with_none.score == 100


class Table:
    """Iterates over the names of its columns, as a DataFrame does."""

    columns = ("source", "target")

    def __iter__(self):
        return iter(self.columns)


@pytest.mark.parametrize("metric", [metrics.bleu, metrics.chrf, metrics.ter])
def test_an_error_names_the_keywords_of_its_function(metric):
    known = inspect.signature(metric).parameters
    for name in known:
        if name in ("hypotheses", "references"):
            continue
        for value in (-7, "no such", float("nan")):
            try:
                metric(["a"], ["a"], confidence=name == "confidence_n", **({name: value} if name != "confidence" else {}))
            except (TypeError, ValueError, dragoman.Error) as error:
                named = set(re.findall(r"\b[a-z]+(?:_[a-z0-9]+)+\b", str(error)))
                assert named <= set(known), f"{name}: {error}"
    try:
        metric(["a"], ["a"], **({"tokenize": "ja-mecab"} if "tokenize" in known else {}))
    except (ValueError, dragoman.Error) as error:
        assert set(re.findall(r"\b[a-z]+_[a-z]+\b", str(error))) <= set(known), error


@pytest.mark.parametrize(("call", "error", "message"), [
    (lambda: metrics.bleu("a", ["b"]), TypeError, "hypotheses ... list"),
    (lambda: metrics.bleu(["a"], "b"), TypeError, "references ... list"),
    (lambda: metrics.bleu(["a"], [1]), TypeError, "str ... int"),
    (lambda: metrics.bleu([1], ["a"]), TypeError, "str ... int"),
    (lambda: metrics.bleu(["a"], ["a", ["b"]]), TypeError, "lists"),
    (lambda: metrics.bleu(["a"], ["b", "c"]), dragoman.Error, "1 line ... reference 1 ... 2 lines"),
    (lambda: metrics.bleu([], []), dragoman.Error, "score"),
    (lambda: metrics.bleu(["a"], ["a"], tokenize="13b"), ValueError, "13a"),
    (lambda: metrics.bleu(["a", None], ["a", "b"]), TypeError, "hypotheses[1] ... str ... NoneType"),
    (lambda: metrics.bleu(["a", "b"], ["a", 1.5]), TypeError, "references[1] ... str ... float"),
    (lambda: metrics.bleu(["a"], [["a"], [2]]), TypeError, "references[1][0] ... str ... int"),
    (lambda: metrics.bleu({"a": 1}, ["a"]), TypeError, "hypotheses ... list of str ... dict"),
    (lambda: metrics.bleu(["a"], {"a": 1}), TypeError, "references ... list of str ... dict"),
    (lambda: metrics.bleu(Table(), ["a"]), TypeError, "Table ... one column"),
    (lambda: metrics.compare({"x": Table()}, ["a"]), TypeError, "Table ... one column"),
    (lambda: metrics.bleu(["a"], ["a"], confidence_n="5"), TypeError, "confidence_n ... number"),
    (lambda: metrics.chrf(["a"], ["a"], char_order=-1), ValueError, "char_order -1"),
    (lambda: metrics.ter(["a"], ["a"], no_punct="x"), TypeError, "no_punct"),
    (lambda: metrics.compare({}, ["a"]), ValueError, "systems"),
    (lambda: metrics.compare({"x": ["a"]}, ["a"], metrics="bloo"), ValueError, "bleu"),
    (lambda: metrics.compare({"x": ["a"]}, ["a"], test="t"), ValueError, "bootstrap"),
    (lambda: metrics.compare({"x": ["a"], "y": ["a", "b"]}, ["a"]), dragoman.Error, "2 lines"),
    (lambda: metrics.sentence_scores(["a"], ["a"], beeta=3), ValueError, "beeta")])
def test_wrong_arguments_are_named(call, error, message):
    with pytest.raises(error, match=names(message)):
        call()
