"""The options of a translation, under the names that `dragoman translate` has for them."""

import os
from collections.abc import Iterable, Mapping
from typing import Any, Literal, TypedDict, get_type_hints

from .text import text_of


class SearchOptions(TypedDict, total=False):
    """Options of the search. Those left out are as the model file has them, or the program's defaults."""

    beam_size: int  # hypotheses kept open at each step; 1 is greedy
    n_best: int  # translations of each line, best first
    length_penalty: float  # alpha: scores are divided by length^alpha
    length_penalty_kind: Literal["average", "gnmt"]
    word_penalty: float  # subtracted from the log-probability for each piece, as in Marian; 0: none
    coverage_penalty: float  # GNMT's beta; 0: none
    repetition_penalty: float  # factor for log-probabilities of pieces that are there already; 1: none
    no_repeat_ngram_size: int  # 0: no such rule
    suppress: Iterable[str]  # pieces that are never produced
    stop: Literal["full", "exact", "hf", "marian", "fairseq", "opennmt"]
    min_length: int  # fewest pieces of a translation
    max_length: int  # most pieces, </s> counted; 0: only max_length_ratio counts
    max_length_ratio: float  # the same for each source piece; 50 pieces are always allowed
    split_sentences: Literal["auto", "always", "never"]
    split_length: int  # most source pieces that are translated at once
    translate_all: bool  # lines with nothing to translate ("42", a URL), too, which are copied otherwise
    unknown_words: Literal["copy", "translate"]  # text in characters that the training text did not have
    sampling: bool  # draw each token at random
    sampling_topk: int  # 0: from all tokens
    sampling_topp: float
    temperature: float
    seed: int
    attention_layer: int  # from 1; -1: the last but one
    attention_head: int  # from 1; 0: the mean of all


class TranslateOptions(SearchOptions, total=False):
    """All options of a translation."""

    terms: Mapping[str, str] | str | os.PathLike[str]  # source terms and their target terms, or a glossary's file
    terms_force: bool  # write every required text, even if it spoils the sentence
    protect: bool  # copy numbers, URLs, e-mail addresses and placeholders
    number_format: str  # "en-de": rewrite the numbers that are copied
    avoid: Iterable[str]  # texts that no translation may have
    word_scores: bool  # report the words with their log-probabilities
    alignment: bool  # report each word's attention to the words of the source


#: Options that are numbers or switches, for which "5" and "no" are not values.
NUMBERS = {name for options in (SearchOptions, TranslateOptions) for name, kind in get_type_hints(options).items()
           if kind in (int, float, bool)} | {
    "threads", "batch_size", "confidence", "confidence_n", "smooth_value", "lowercase", "effective_order",
    "chrf_word_order", "chrf_char_order", "chrf_beta", "chrf_lowercase", "chrf_whitespace", "chrf_eps_smoothing",
    "ter_normalized", "ter_no_punct", "ter_asian_support", "ter_case_sensitive"}


def texts_of(name: str, value: Any) -> list[str]:
    """A value as the program's texts for it: one, or any number for a list."""
    if name in NUMBERS and isinstance(value, str):
        raise TypeError(f"{name}: must be a number or a bool, not the str {value!r}")
    if isinstance(value, bool):
        return ["true" if value else "false"]
    if isinstance(value, (str, int, float)) or not isinstance(value, Iterable):
        return [str(value)]
    texts = list(value)
    if not all(isinstance(text, str) for text in texts):
        raise TypeError(f"{name}: all of its items must be str")
    return texts


def named(options: Mapping[str, Any]) -> dict[str, list[str]]:
    """Options by the names of the program's fields. None stands for an option that is left out."""
    return {name.replace("_", "-"): texts_of(name, value) for name, value in options.items() if value is not None}


def term_of(source: object, target: object) -> tuple[str, str]:
    for text in (source, target):
        if not isinstance(text, str):
            raise TypeError(f"terms: in {source!r}: {target!r} both must be str, not {type(text).__name__}")
    return text_of(source, "terms: a key"), text_of(target, "terms: a value")


class Settings:
    """Options as the native module takes them."""

    def __init__(self, options: Mapping[str, Any]) -> None:
        rest = dict(options)
        terms = rest.pop("terms", None)
        for name in ("suppress", "avoid"):
            if isinstance(rest.get(name), str):
                raise TypeError(f"{name}: must be a list of str, not a str")
        self.options = named(rest)
        self.terms: list[tuple[str, str]] = []
        if isinstance(terms, Mapping):
            self.terms = [term_of(source, target) for source, target in terms.items()]
        elif terms is not None:
            self.options["terms"] = [os.fspath(terms)]
