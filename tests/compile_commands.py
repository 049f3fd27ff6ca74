"""The commands that compile the sources, as a build folder has them."""

import json
import pathlib
import shlex


def sources_of(root, file):
    """The sources that are compiled by one command: those that a unit includes (cmake/rooms.cmake), or the file itself."""
    if file.parent.name != "together":
        return [file]
    return [root / line.split('"')[1] for line in file.read_text(encoding="utf-8").splitlines()
            if line.startswith("#include")]


def commands_of(root, build):
    """The compile command of each source below `root`, by its path from there, as if it were compiled alone."""
    entries = json.loads((build / "compile_commands.json").read_text(encoding="utf-8"))
    return {source.relative_to(root): entry["command"].replace(entry["file"], str(source)) for entry in entries
            for source in sources_of(root, pathlib.Path(entry["file"])) if source.is_relative_to(root)}


def compiler_words(command):
    """The compiler's own words, without the launcher before them and the source and output after them."""
    words = shlex.split(command)
    begin = next(i for i, word in enumerate(words) if "++" in pathlib.Path(word).name)
    words = words[begin:]
    for flag in ("-o", "-c"):
        at = words.index(flag)
        del words[at:at + 2]
    return words
