"""Random lines scored by dragoman evaluate and by the sacreBLEU package: every option of every metric, line by
line and as a corpus, and the tests of significance. Exits with 77 (skipped) where sacreBLEU cannot be installed.

Usage: sacrebleu_scores.py PROGRAM PACKAGES    (a folder in which pip installs sacreBLEU, once)
"""

import itertools
import json
import logging
import pathlib
import random
import subprocess
import sys
import tempfile

import packages

LINES = 100  # of a configuration
WORDS = ("the a cat Cat dog's it's sat on mat, mat. (hi) hi! \"quoted\" 1,000 1.5 3-4 well-known 50% $3 a&b &quot; "
         "&amp; &lt;b&gt; <skipped> - -- ... . , ; ' `` _ x_y / http://a.b/c?d=e #tag @me Straße ΟΔΟΣ İstanbul ǅ ﬁ "
         "naïve nai\u0308ve 日本語 東京都 に は ひらがな カタカナ ー 中文,字 ，。！ 「引用」 ｶﾅ 한국어 \u3400\U00020000 ㈱ ㌔ ﾞ "
         "العربية، हिन्दी ไทย 👍🏽 👩‍👩‍👧 \u200b \ufeff ½ ² Ⅷ № © ∑ \u2028x \x1cy \xa0z 0.5. 7, ,7 .5 a.b 1a,").split(" ")
SPACES = [" "] * 12 + ["  ", "\u3000", "\u00a0", "\t"]


def sentence(draw, longest=14):
    return "".join(draw.choice(WORDS) + draw.choice(SPACES) for _ in range(draw.randrange(longest)))


def varied(draw, line):
    """A hypothesis for a reference: words left out, changed, moved together, or another sentence altogether."""
    if draw.random() < 0.1:
        return sentence(draw)
    words = [w for w in line.split(" ") if draw.random() > 0.1]
    words = [draw.choice(WORDS) if draw.random() < 0.1 else w for w in words]
    for _ in range(draw.randrange(3)):
        begin, end, to = (draw.randrange(len(words) + 1) for _ in range(3))
        begin, end = min(begin, end), max(begin, end)
        moved, rest = words[begin:end], words[:begin] + words[end:]
        words = rest[:to] + moved + rest[to:]
    return " ".join(words)


def configurations():
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
        draw = random.Random(number)
        count = draw.choice([1, 1, 2, 3])
        references = [[sentence(draw) for _ in range(LINES)] for _ in range(count)]
        hypotheses = [varied(draw, draw.choice(lines)) for lines in zip(*references)]
        hypotheses[0] = references[0][0] = "a file that begins with a byte order mark is read without it"
        files = ["--hyp", self.file("hyp", hypotheses), "--ref"]
        files += [self.file(f"ref{i}", lines) for i, lines in enumerate(references)]
        # As both programs read lines.
        hypotheses, *references = [[line.rstrip() for line in lines] for lines in (hypotheses, *references)]
        [corpus] = self.evaluate(*files, *flags)
        self.expect(corpus["score"], metric.corpus_score(hypotheses, references).score, flags)
        ours, theirs = corpus["signature"], str(metric.get_signature())
        assert ours.rsplit("|", 1)[0] == theirs.rsplit("|", 1)[0], (ours, theirs)
        for score, hypothesis, *lines in zip(self.evaluate(*files, *flags, "--sentence-level"), hypotheses, *references):
            self.expect(score["score"], metric.sentence_score(hypothesis, lines).score, (flags, hypothesis, lines))

    def significance(self, kind, flag, samples):
        from sacrebleu.metrics import BLEU, CHRF, TER
        from sacrebleu.significance import PairedTest
        draw = random.Random(kind)
        reference = [sentence(draw) for _ in range(LINES)]
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
    packages.install(folder, "sacrebleu==2.6.0")
    logging.disable(logging.WARNING)
    with tempfile.TemporaryDirectory() as work:
        comparison = Comparison(program, work)
        for number, (flags, metric) in enumerate(configurations()):
            comparison.scores(number, flags, metric)
        comparison.significance("bs", "--paired-bootstrap", 300)
        comparison.significance("ar", "--paired-approximate-randomization", 1000)
        print(f"{comparison.cases} scores are sacreBLEU's")
        assert comparison.cases > 3000


main()
