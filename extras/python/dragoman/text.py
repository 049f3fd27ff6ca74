"""Texts as the native module takes them."""

from collections.abc import Iterable, Iterator


def rows_of(lines: Iterable[object], name: str) -> Iterator[object]:
    """The lines, one by one. Raises TypeError for a str, whose characters are not lines, and for a table, whose
    columns are not lines either."""
    if isinstance(lines, str):
        raise TypeError(f"{name}: must be a list of str, not a str")
    if hasattr(lines, "columns"):
        raise TypeError(f"{name}: must be a list of str, not a {type(lines).__name__}; give one column of it")
    return iter(lines)



def text_of(text: object, what: str) -> str:
    """The text itself. Half of a surrogate pair, which is not text, becomes U+FFFD."""
    if not isinstance(text, str):
        raise TypeError(f"{what} must be str, not {type(text).__name__}")
    try:
        text.encode()
    except UnicodeEncodeError:
        return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    return text
