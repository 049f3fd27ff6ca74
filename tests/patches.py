"""Applies each patch of docs/transformer/ to a copy of the sources that it changes, and lets the compiler read the
changed units, with the command that compiles them. A changed header is read by a unit that includes it. Fails if a
patch no longer fits, or its result is no longer C++; and if docs/transformer.md does not name a patch.

Usage: patches.py SOURCE_FOLDER BUILD_FOLDER
"""

import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import time

from compile_commands import commands_of, compiler_words
from include_directions import LIBTORCH, sees


def touched(patch):
    return re.findall(r"^\+\+\+ b/(.+)$", patch.read_text(encoding="utf-8"), re.MULTILINE)


def apply(patch, root, folder):
    """Copies the patch's files into the folder, and changes them there."""
    for name in touched(patch):
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(root / name, folder / name)
    outside = dict(os.environ, GIT_CEILING_DIRECTORIES=str(folder.parent))  # of any repository around the folder
    done = subprocess.run(["git", "apply", patch], cwd=folder, env=outside, capture_output=True, text=True)
    return "" if done.returncode == 0 else done.stdout + done.stderr


def unit_of(name, root, commands):
    """The source that shows whether a changed file compiles: one without LibTorch if there is one, as it is read
    sooner."""
    if name in commands:
        return name
    include = f'#include "{name}"'
    sources = [source for source in commands if not source.startswith("tests/")
               and include in (root / source).read_text(encoding="utf-8")]
    assert sources, f"no source includes {name}"
    return min(sources, key=lambda source: sees(source, LIBTORCH))


def faults_of(command, source, changed):
    """What the compiler says about the source, if the files in `changed` replace those of the sources."""
    compiler, *rest = compiler_words(command)
    done = subprocess.run([compiler, f"-I{changed}", *rest, "-fsyntax-only", source], capture_output=True, text=True)
    return "" if done.returncode == 0 else done.stderr


def check(patch, root, commands):
    with tempfile.TemporaryDirectory() as name:
        changed = pathlib.Path(name)
        faults = apply(patch, root, changed)
        if faults:
            return f"does not fit:\n{faults}"
        for file in touched(patch):
            unit = unit_of(file, root, commands)
            source = changed / unit if (changed / unit).exists() else root / unit
            faults = faults_of(commands[unit], str(source), changed)
            if faults:
                return f"{unit} does not compile:\n{faults}"
    return ""


def main():
    root, build = (pathlib.Path(argument).resolve() for argument in sys.argv[1:])
    page = (root / "docs" / "transformer.md").read_text(encoding="utf-8")
    patches = sorted((root / "docs" / "transformer").glob("*.patch"))
    named = set(re.findall(r"git apply docs/transformer/([\w-]+\.patch)", page))
    assert patches and named == {patch.name for patch in patches}, f"patches: {patches}, named: {named}"
    commands = {path.as_posix(): command for path, command in commands_of(root, build).items()}
    failed = 0
    for patch in patches:
        begin = time.monotonic()
        fault = check(patch, root, commands)
        failed += fault != ""
        print(f"{patch.name}: {fault or 'fits'}, {time.monotonic() - begin:.1f} s")
    sys.exit(failed > 0)


main()
