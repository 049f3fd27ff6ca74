"""Texts as the native module takes them."""

from collections.abc import Iterable, Iterator, Mapping


def rows_of(lines: Iterable[object], name: str) -> Iterator[object]:
    """The lines, one by one. Raises TypeError for a str or bytes, whose characters are not lines, for a dict and a
    table, whose keys and columns are not lines either, and for what has no items."""
    if isinstance(lines, str):
        raise TypeError(f"{name}: must be a list of str, not a str")
    if isinstance(lines, (bytes, bytearray, memoryview)):
        raise TypeError(f"{name}: must be str, not {type(lines).__name__}; .decode() gives str")
    if isinstance(lines, Mapping):
        raise TypeError(f"{name}: must be a list of str, not a {type(lines).__name__}, whose keys are not lines")
    if hasattr(lines, "columns"):
        raise TypeError(f"{name}: must be a list of str, not a {type(lines).__name__}; give one column of it")
    try:
        return iter(lines)
    except TypeError:
        raise TypeError(f"{name}: must be a list of str, not {type(lines).__name__}") from None


def text_of(text: object, what: str) -> str:
    """The text itself. Half of a surrogate pair, which is not text, becomes U+FFFD."""
    if not isinstance(text, str):
        raise TypeError(f"{what} must be str, not {type(text).__name__}")
    try:
        text.encode()
    except UnicodeEncodeError:
        return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    return text
