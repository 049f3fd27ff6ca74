"""BLEU, chrF, chrF++ and TER, and significance tests: the scores and signatures of sacreBLEU.

`hypotheses` has a str for each line. `references` has a str for each line, or several such lists if a line has
several references (an empty str or None: missing).
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias, cast

from . import _native
from .options import named
from .text import rows_of, text_of

Lines: TypeAlias = Iterable[str]
References: TypeAlias = Iterable[str | None] | Iterable[Iterable[str | None]]
Smoothing: TypeAlias = Literal["none", "floor", "add-k", "exp"]

__all__ = ["MetricScore", "Comparison", "bleu", "chrf", "ter", "sentence_scores", "compare"]


@dataclass(frozen=True, slots=True)
class MetricScore:
    """A score of a system by a metric."""

    name: str  #: "BLEU", "chrF2", "chrF2++", "TER"
    score: float
    signature: str  #: sacreBLEU's, with this program's version
    details: str = ""  #: BLEU's precisions and lengths
    mean: float | None = None  #: of resampled corpora, if asked for
    interval: float | None = None  #: half of the 95 % interval
    p_value: float | None = None  #: of the difference from the first system; None if its output is the same

    def __float__(self) -> float:
        return self.score


#: metric -> system -> score
Comparison: TypeAlias = dict[str, dict[str, MetricScore]]


def _lines(lines: Iterable[str], name: str) -> list[str]:
    return [text_of(line, f"{name}[{row}]:") for row, line in enumerate(rows_of(lines, name))]


def _reference_lines(lines: Iterable[object], name: str) -> list[str]:
    """None stands for a missing reference."""
    return ["" if line is None else text_of(line, f"{name}[{row}]:") for row, line in enumerate(rows_of(lines, name))]


def _references(references: References) -> list[list[str]]:
    items = list(rows_of(references, "references"))
    are_lists = [isinstance(item, Iterable) and not isinstance(item, str) for item in items]
    if not any(are_lists):
        return [_reference_lines(items, "references")]
    if not all(are_lists):
        raise TypeError("references: has lines beside lists of lines")
    return [_reference_lines(cast(Iterable[object], item), f"references[{number}]") for number, item in enumerate(items)]


def _evaluate(hypotheses: Lines, references: References, options: Mapping[str, Any]) -> list[MetricScore]:
    native = _native.evaluate(_lines(hypotheses, "hypotheses"), _references(references), named(options))
    return [MetricScore(name, score[0], signature, details, *score[1:]) for name, signature, details, score in native]


def _evaluate_as(metric: str, hypotheses: Lines, references: References, own: Mapping[str, Any],
                 others: Mapping[str, Any]) -> MetricScore:
    """`own`: options that the program has with the metric in front of their names. An error names them as here."""
    options = {f"{metric}_{name}": value for name, value in own.items()}
    try:
        return _evaluate(hypotheses, references, {"metrics": [metric], **options, **others})[0]
    except (TypeError, ValueError) as error:
        text = str(error)
        for name in own:
            text = text.replace(f"{metric}_{name}", name)
        raise type(error)(text) from None


def bleu(hypotheses: Lines, references: References, *, tokenize: str = "auto", target_language: str = "",
         lowercase: bool = False, smooth_method: Smoothing = "exp", smooth_value: float = -1,
         effective_order: bool = False, spm_model: str = "", mecab_dictionary: str = "", confidence: bool = False,
         confidence_n: int = 1000) -> MetricScore:
    """BLEU of a corpus. `tokenize` is one of sacreBLEU's: 13a, intl, zh, char, none, spm, ja-mecab, ko-mecab."""
    return _evaluate(hypotheses, references, {
        "metrics": ["bleu"], "tokenize": tokenize, "target_language": target_language, "lowercase": lowercase,
        "smooth_method": smooth_method, "smooth_value": smooth_value, "effective_order": effective_order,
        "spm_model": spm_model, "mecab_dictionary": mecab_dictionary, "confidence": confidence, "confidence_n": confidence_n})[0]


def chrf(hypotheses: Lines, references: References, *, word_order: int = 0, char_order: int = 6, beta: int = 2,
         lowercase: bool = False, whitespace: bool = False, eps_smoothing: bool = False, confidence: bool = False,
         confidence_n: int = 1000) -> MetricScore:
    """chrF of a corpus. With `word_order` 2 it is chrF++."""
    return _evaluate_as("chrf", hypotheses, references, {
        "word_order": word_order, "char_order": char_order, "beta": beta, "lowercase": lowercase,
        "whitespace": whitespace, "eps_smoothing": eps_smoothing},
        {"confidence": confidence, "confidence_n": confidence_n})


def ter(hypotheses: Lines, references: References, *, normalized: bool = False, no_punct: bool = False,
        asian_support: bool = False, case_sensitive: bool = False, confidence: bool = False,
        confidence_n: int = 1000) -> MetricScore:
    """Translation edit rate of a corpus, in percent; lower is better."""
    return _evaluate_as("ter", hypotheses, references, {
        "normalized": normalized, "no_punct": no_punct, "asian_support": asian_support,
        "case_sensitive": case_sensitive}, {"confidence": confidence, "confidence_n": confidence_n})


def sentence_scores(hypotheses: Lines, references: References, *, metric: str = "chrf",
                    **options: Any) -> list[MetricScore]:
    """The score of each line by one of "bleu", "chrf", "chrf++", "ter".

    `options` are those of `dragoman evaluate`, with "_" for "-": effective_order, chrf_word_order, ...
    """
    return _evaluate(hypotheses, references, {"metrics": [metric], "sentence_level": True, **options})


def compare(systems: Mapping[str, Lines], references: References, *,
            metrics: Sequence[str] = ("bleu", "chrf"), test: Literal["bootstrap", "randomization"] | None = "bootstrap",
            samples: int | None = None, **options: Any) -> Comparison:
    """Scores several systems, with p-values of the differences from the first one.

    `test`: paired bootstrap resampling (1,000 samples by default), or paired approximate randomization (10,000).
    The numbers are sacreBLEU's. `options` are those of `dragoman evaluate`, with "_" for "-".
    """
    flags = {"bootstrap": "paired_bootstrap", "randomization": "paired_approximate_randomization"}
    if isinstance(metrics, str):
        metrics = [metrics]
    if test is not None and test not in flags:
        raise ValueError(f"test: '{test}' is none of bootstrap, randomization, None")
    chosen = dict(options)
    if test is not None:
        chosen |= {flags[test]: True, flags[test] + "_n": samples}
    lines = [_lines(hypotheses, f"systems[{name!r}]") for name, hypotheses in systems.items()]
    native = _native.compare(lines, _references(references), named({"metrics": list(metrics), **chosen}))
    return {name: {system: MetricScore(name, score[0], signature, "", *score[1:])
                   for system, score in zip(systems, scores)}
            for name, signature, scores in native}
