"""The commands that compile the sources, as a build folder has them."""

import json
import pathlib
import shlex


def commands_of(root, build):
    """The compile command of each source below `root`, by its path from there."""
    entries = json.loads((build / "compile_commands.json").read_text(encoding="utf-8"))
    return {pathlib.Path(entry["file"]).relative_to(root): entry["command"] for entry in entries
            if pathlib.Path(entry["file"]).is_relative_to(root)}


def compiler_words(command):
    """The compiler's own words, without the launcher before them and the source and output after them."""
    words = shlex.split(command)
    begin = next(i for i, word in enumerate(words) if "++" in pathlib.Path(word).name)
    words = words[begin:]
    for flag in ("-o", "-c"):
        at = words.index(flag)
        del words[at:at + 2]
    return words
