"""Tests of messages ask for what a message must name, so a better sentence breaks no test (names.h does it in C++)."""

import re


def names(text):
    """A regular expression for a line that holds all the names, in any order: flags, files, lines, values, remedies.
    "beam_size 0 ... 1 ... 1000" has three of them. A name stands whole: "2" is not in "29"."""
    def whole(name):
        before = r"(?<![\w-])" if re.match(r"[\w-]", name) else ""
        after = r"(?![\w-])" if re.search(r"[\w-]$", name) else ""
        return f"(?=.*{before}{re.escape(name)}{after})"
    return "".join(whole(name) for name in text.split(" ... "))
