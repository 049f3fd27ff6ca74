"""Texts as the native module takes them."""


def text_of(text: object, what: str) -> str:
    """The text itself. Half of a surrogate pair, which is no text, becomes U+FFFD."""
    if not isinstance(text, str):
        raise TypeError(f"{what} must be str, not {type(text).__name__}")
    try:
        text.encode()
    except UnicodeEncodeError:
        return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    return text
