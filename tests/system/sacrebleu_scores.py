"""Random lines scored by dragoman evaluate and by the sacreBLEU package: every option of every metric, line by
line and as a corpus, and the significance tests; the tokens of SentencePiece and MeCab, and those of Moses beside
sacremoses. Exits with 77 (skipped) if the packages cannot be installed.

Usage: sacrebleu_scores.py PROGRAM PACKAGES    (a folder in which pip installs sacreBLEU, once)
"""

import ctypes.util
import itertools
import json
import logging
import pathlib
import random
import re
import subprocess
import sys
import tempfile

import packages

LINES = 100  # of a configuration
WORDS = ("the a cat Cat dog's it's sat on mat, mat. (hi) hi! \"quoted\" 1,000 1.5 3-4 well-known 50% $3 a&b &quot; "
         "&amp; &lt;b&gt; <skipped> - -- ... . , ; ' `` _ x_y / http://a.b/c?d=e #tag @me Straße ΟΔΟΣ İstanbul ǅ ﬁ "
         "naïve nai\u0308ve 日本語 東京都 に は ひらがな カタカナ ー 中文,字 ，。！ 「引用」 ｶﾅ 한국어 \u3400\U00020000 ㈱ ㌔ ﾞ "
         "العربية، हिन्दी ไทย 👍🏽 👩‍👩‍👧 \u200b \ufeff ½ ² Ⅷ № © ∑ \u2028x \x1cy \xa0z 0.5. 7, ,7 .5 a.b 1a,").split(" ")
# sacremoses, not Moses, makes words of single Chinese, Japanese and Korean characters.
WORDS_FOR_MOSES = [word for word in WORDS if not any("\u1100" <= c < "\U0001F000" for c in word if c != "\ufeff")]
SPACES = [" "] * 12 + ["  ", "\u3000", "\u00a0", "\t"]


def sentence(draw, words=WORDS, longest=14):
    return "".join(draw.choice(words) + draw.choice(SPACES) for _ in range(draw.randrange(longest)))


def varied(draw, line, vocabulary=WORDS):
    """A hypothesis for a reference: words left out, changed, moved together, or another sentence altogether."""
    if draw.random() < 0.1:
        return sentence(draw, vocabulary)
    words = [w for w in line.split(" ") if draw.random() > 0.1]
    words = [draw.choice(vocabulary) if draw.random() < 0.1 else w for w in words]
    for _ in range(draw.randrange(3)):
        begin, end, to = (draw.randrange(len(words) + 1) for _ in range(3))
        begin, end = min(begin, end), max(begin, end)
        moved, rest = words[begin:end], words[:begin] + words[end:]
        words = rest[:to] + moved + rest[to:]
    return " ".join(words)


def sentencepiece_metric(folder, **options):
    """A small model, and BLEU as sacreBLEU counts the pieces of its own models."""
    import sentencepiece
    from sacrebleu.metrics import BLEU
    from sacrebleu.tokenizers.tokenizer_spm import TokenizerSPM
    draw = random.Random("spm")
    model = folder / "spm.tiny.model"
    sentencepiece.SentencePieceTrainer.train(sentence_iterator=iter([sentence(draw) for _ in range(400)]),
                                             model_prefix=str(model.with_suffix("")), vocab_size=170,
                                             character_coverage=0.98, minloglevel=2)
    metric = BLEU(tokenize="none", force=True, **options)
    metric.tokenizer = TokenizerSPM.__new__(TokenizerSPM)
    metric.tokenizer.sp = sentencepiece.SentencePieceProcessor(model_file=str(model))
    metric.tokenizer_signature = "spm-spm.tiny"
    return ["--tokenize", "spm", "--spm-model", str(model)], metric


def moses_metric(language, split_compounds):
    """multi-bleu.perl on Moses's tokens, and on those with compounds split as tensor2tensor's script does it."""
    import sacremoses
    from sacrebleu.metrics import BLEU
    moses = sacremoses.MosesTokenizer(lang=language)
    moses.NONBREAKING_PREFIXES = []
    metric = BLEU(tokenize="none", smooth_method="none", force=True)

    def tokens(line):
        line = moses.tokenize(line, escape=False, return_str=True)
        return re.sub(r"(\S)-(\S)", r"\1 ##AT##-##AT## \2", line) if split_compounds else line

    metric.tokenizer = tokens
    metric.tokenizer_signature = "moses-split" if split_compounds else "moses"
    return ["--metrics", "bleu-compound-split" if split_compounds else "bleu-tokenized",
            "--target-language", language], metric


def mecab_metric():
    import ipadic
    from sacrebleu.metrics import BLEU
    return ["--metrics", "bleu", "--target-language", "ja", "--mecab-dictionary", ipadic.DICDIR], BLEU(trg_lang="ja")


def configurations(folder):
    """(flags, metric and its arguments), every value of every option at least once."""
    from sacrebleu.metrics import BLEU, CHRF, TER
    for tokenize, lowercase in itertools.product(["13a", "intl", "zh", "char", "none"], [False, True]):
        yield (["--metrics", "bleu", "--tokenize", tokenize] + ["--lowercase"] * lowercase,
               BLEU(tokenize=tokenize, lowercase=lowercase, force=True))
    for method, value, effective in [("none", None, True), ("floor", None, False), ("floor", 0.3, True),
                                     ("add-k", None, True), ("add-k", 2.5, False), ("exp", None, True)]:
        flags = ["--metrics", "bleu", "--smooth-method", method] + ["--effective-order"] * effective
        yield (flags + (["--smooth-value", str(value)] if value else []),
               BLEU(smooth_method=method, smooth_value=value, effective_order=effective, force=True))
    flags, metric = sentencepiece_metric(folder, lowercase=True)
    yield ["--metrics", "bleu", "--lowercase", *flags], metric
    for language, split_compounds in itertools.product(["en", "fr", "de"], [False, True]):
        yield moses_metric(language, split_compounds)
    if ctypes.util.find_library("mecab"):
        yield mecab_metric()
    for chars, words, beta, lowercase, whitespace, eps in [
            (6, 0, 2, False, False, False), (6, 2, 2, False, False, False), (4, 1, 3, True, False, False),
            (6, 0, 1, False, True, False), (3, 0, 2, False, False, True), (6, 2, 2, True, True, True)]:
        flags = ["--metrics", "chrf", "--chrf-char-order", str(chars), "--chrf-word-order", str(words),
                 "--chrf-beta", str(beta)]
        flags += ["--chrf-lowercase"] * lowercase + ["--chrf-whitespace"] * whitespace
        yield (flags + ["--chrf-eps-smoothing"] * eps,
               CHRF(char_order=chars, word_order=words, beta=beta, lowercase=lowercase, whitespace=whitespace,
                    eps_smoothing=eps))
    for normalized, no_punct, asian, case in itertools.product([False, True], repeat=4):
        flags = ["--ter-normalized"] * normalized + ["--ter-no-punct"] * no_punct
        flags += ["--ter-asian-support"] * asian + ["--ter-case-sensitive"] * case
        yield (["--metrics", "ter"] + flags,
               TER(normalized=normalized, no_punct=no_punct, asian_support=asian, case_sensitive=case))


def without_missing(references):
    """None for an empty reference beside others."""
    lines = [[line or None for line in lines] if any(lines) else lines for lines in zip(*references)]
    return [list(reference) for reference in zip(*lines)]


class Comparison:
    def __init__(self, program, folder):
        self.program, self.folder = program, pathlib.Path(folder)
        self.cases = 0

    def file(self, name, lines):
        path = self.folder / name
        path.write_bytes("".join(line + "\n" for line in lines).encode())
        return str(path)

    def evaluate(self, *arguments):
        run = subprocess.run([self.program, "evaluate", "--format", "json", "--width", "12", *arguments],
                             capture_output=True, text=True)
        assert run.returncode == 0, (arguments, run.stderr)
        return json.loads(run.stdout)

    def expect(self, ours, theirs, what):
        self.cases += 1
        assert abs(ours - theirs) < 1e-9, f"{what}: {ours}, sacreBLEU has {theirs}"

    def scores(self, number, flags, metric):
        words = WORDS_FOR_MOSES if "moses" in getattr(metric, "tokenizer_signature", "") else WORDS
        draw = random.Random(number)
        count = draw.choice([1, 1, 2, 3])
        references = [[sentence(draw, words) for _ in range(LINES)] for _ in range(count)]
        hypotheses = [varied(draw, draw.choice(lines), words) for lines in zip(*references)]
        hypotheses[0] = references[0][0] = "a file that begins with a byte order mark is read without it"
        for hypothesis, lines in zip(range(LINES), zip(*references)):
            if not any(line.strip() for line in lines):
                hypotheses[hypothesis] = ""
        files = ["--hyp", self.file("hyp", hypotheses), "--ref"]
        files += [self.file(f"ref{i}", lines) for i, lines in enumerate(references)]
        # As both programs read lines.
        hypotheses, *references = [[line.rstrip() for line in lines] for lines in (hypotheses, *references)]
        references = without_missing(references)
        [corpus] = self.evaluate(*files, *flags)
        self.expect(corpus["score"], metric.corpus_score(hypotheses, references).score, flags)
        ours, theirs = corpus["signature"], str(metric.get_signature())
        assert ours.rsplit("|", 1)[0] == theirs.rsplit("|", 1)[0], (ours, theirs)
        for score, hypothesis, *lines in zip(self.evaluate(*files, *flags, "--sentence-level"), hypotheses, *references):
            lines = [line for line in lines if line is not None]
            self.expect(score["score"], metric.sentence_score(hypothesis, lines).score, (flags, hypothesis, lines))

    def significance(self, kind, flag, samples):
        from sacrebleu.metrics import BLEU, CHRF, TER
        from sacrebleu.significance import PairedTest
        draw = random.Random(kind)
        reference = ["a " + sentence(draw) for _ in range(LINES)]
        systems = [(self.file(f"system{i}", lines), [line.rstrip() for line in lines])
                   for i, lines in enumerate([varied(draw, line) for line in reference] for _ in range(3))]
        metrics = {"BLEU": BLEU(force=True), "chrF2": CHRF(), "TER": TER()}
        _, theirs = PairedTest(systems, metrics, [[line.rstrip() for line in reference]], test_type=kind,
                               n_samples=samples)()
        ours = self.evaluate("--hyp", *[name for name, _ in systems], "--ref", self.file("ref", reference),
                             "--metrics", "bleu", "chrf", "ter", flag, flag + "-n", str(samples))
        for i, name in itertools.product(range(3), metrics):
            for key in ("score", "p_value", "mean", "ci"):
                expected = getattr(theirs[name][i], key)
                if expected is not None:
                    self.expect(ours[i][name][key], expected, (kind, name, i, key))


def main():
    program, folder = sys.argv[1], pathlib.Path(sys.argv[2])
    packages.install(folder, "sacrebleu==2.6.0", "sentencepiece", "sacremoses", "mecab-python3", "ipadic")
    logging.disable(logging.WARNING)
    with tempfile.TemporaryDirectory() as work:
        comparison = Comparison(program, work)
        for number, (flags, metric) in enumerate(configurations(pathlib.Path(work))):
            comparison.scores(number, flags, metric)
        comparison.significance("bs", "--paired-bootstrap", 300)
        comparison.significance("ar", "--paired-approximate-randomization", 1000)
        print(f"{comparison.cases} scores are sacreBLEU's")
        assert comparison.cases > 3000


main()
