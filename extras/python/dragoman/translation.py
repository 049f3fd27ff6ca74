"""The results of a translation. They are plain data: they can be compared, copied and pickled."""

from dataclasses import dataclass
from typing import TypeAlias

NativeWord: TypeAlias = tuple[str, float, list[float]]
NativeCandidate: TypeAlias = tuple[str, float, float, list[NativeWord]]
NativeTranslation: TypeAlias = tuple[list[NativeCandidate], list[str], bool, bool, list[str]]


@dataclass(frozen=True, slots=True)
class Word:
    """A word of a translation: text between white space."""

    text: str
    log_probability: float  #: the sum over its pieces
    attention: list[float]  #: to each word of the source line; empty if no alignment was asked for


@dataclass(frozen=True, slots=True)
class Candidate:
    """One of the n best translations of a line."""

    text: str
    score: float  #: the log-probability, normalised by length; the order of the n best
    log_probability: float
    words: list[Word]  #: empty unless word_scores or alignment was asked for

    @property
    def alignment(self) -> list[tuple[int, int]]:
        """For each word of the translation the source word with most attention: (source, target), from 0."""
        return [(word.attention.index(max(word.attention)), target)
                for target, word in enumerate(self.words) if word.attention]

    @property
    def word_scores(self) -> list[float]:
        """The log-probability of each word."""
        return [word.log_probability for word in self.words]


@dataclass(frozen=True, slots=True)
class Translation:
    """The translation of a line. Text, score and words are those of the best candidate."""

    n_best: list[Candidate]  #: best first, at least one
    unmet: list[str]  #: texts that the best one should have (terms, protected text) but lacks
    cut: bool  #: whether it ends at the maximum length
    copied: bool  #: whether the line had nothing to translate and was copied
    unknown: list[str]  #: texts of the source that were copied, as the training text lacked their characters

    @property
    def text(self) -> str:
        return self.n_best[0].text

    @property
    def score(self) -> float:
        return self.n_best[0].score

    @property
    def log_probability(self) -> float:
        return self.n_best[0].log_probability

    @property
    def words(self) -> list[Word]:
        return self.n_best[0].words

    @property
    def alignment(self) -> list[tuple[int, int]]:
        return self.n_best[0].alignment

    @property
    def word_scores(self) -> list[float]:
        return self.n_best[0].word_scores

    def __str__(self) -> str:
        return self.text


@dataclass(frozen=True, slots=True)
class Score:
    """The probability that a model gives to a translation that is already there."""

    tokens: list[float]  #: log-probability of each piece, </s> as the last

    @property
    def log_probability(self) -> float:
        return sum(self.tokens)

    @property
    def normalized(self) -> float:
        """The log-probability divided by the number of pieces."""
        return self.log_probability / len(self.tokens)


def candidate_of(native: NativeCandidate) -> Candidate:
    text, score, log_probability, words = native
    return Candidate(text, score, log_probability, [Word(*word) for word in words])


def translation_of(native: NativeTranslation) -> Translation:
    n_best, unmet, cut, copied, unknown = native
    return Translation([candidate_of(candidate) for candidate in n_best], unmet, cut, copied, unknown)
