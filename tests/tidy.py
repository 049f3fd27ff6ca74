"""Fails if clang-tidy 16 finds fault with a source of the rooms without LibTorch (.clang-tidy says with
what), or clang's analysis of threads does (base/mutex.h). Exits with 77 (skipped) if there is no
clang-tidy 16.

A source that has passed is not checked again until it, a header or the rules change: the hash of all that is
kept in ~/.cache/dragoman-tidy.

Usage: tidy.py SOURCE_FOLDER BUILD_FOLDER [PART_OF_A_PATH...]
"""

import concurrent.futures
import hashlib
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

from compile_commands import commands_of, compiler_words
from include_directions import LIBTORCH, sees

SKIPPED = 77
TIDY = "clang-tidy-16"
# OpenMP's header is not clang's; flags of GCC's mean nothing to clang.
EXTRA = ["-fno-openmp", "-Wno-unknown-warning-option", "-Wthread-safety"]
# Asio 1.74 does not see that clang has coroutines.
COROUTINES = ["-DBOOST_ASIO_HAS_CO_AWAIT=1", "-DBOOST_ASIO_HAS_STD_COROUTINE=1"]


def is_checked(path):
    return path.parts[0] not in ("bench", "tests", "build") and not sees(path.as_posix(), LIBTORCH)


class Checker:
    def __init__(self, root, build, commands, database):
        self.root, self.build, self.database = root, build, database
        entries = [{"directory": str(build), "command": command, "file": str(root / source)}
                   for source, command in commands.items()]
        (database / "compile_commands.json").write_text(json.dumps(entries), encoding="utf-8")
        version = subprocess.run([TIDY, "--version"], capture_output=True, check=True).stdout
        self.rules = version + (root / ".clang-tidy").read_bytes() + " ".join(EXTRA).encode()
        self.cache = pathlib.Path(os.environ.get("XDG_CACHE_HOME", pathlib.Path.home() / ".cache")) / "dragoman-tidy"
        self.cache.mkdir(parents=True, exist_ok=True)

    def faults(self, source, command):
        words = compiler_words(command)
        text = subprocess.run([*words, "-E", "-P", "-C", str(self.root / source)], capture_output=True, check=True,
                              cwd=self.build).stdout
        passed = self.cache / hashlib.sha256(self.rules + text).hexdigest()
        if passed.exists():
            return ""
        asio = b"<boost/asio" in (self.root / source).read_bytes()
        extra = [f"--extra-arg={word}" for word in (EXTRA + COROUTINES if asio else EXTRA)]
        result = subprocess.run([TIDY, "-p", str(self.database), "--quiet", "--warnings-as-errors=*", *extra,
                                 str(self.root / source)], capture_output=True, text=True)
        if result.returncode == 0:
            passed.touch()
            return ""
        return result.stdout or result.stderr


def main():
    root, build, wanted = pathlib.Path(sys.argv[1]).resolve(), pathlib.Path(sys.argv[2]).resolve(), sys.argv[3:]
    if not shutil.which(TIDY):
        print(f"skipped: {TIDY} is missing; scripts/setup --tidy installs it")
        sys.exit(SKIPPED)
    commands = commands_of(root, build)
    sources = sorted(path for path in commands if is_checked(path) and
                     (not wanted or any(part in str(path) for part in wanted)))
    faulty = 0
    with tempfile.TemporaryDirectory() as database, concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        checker = Checker(root, build, commands, pathlib.Path(database))
        for text in pool.map(lambda path: checker.faults(path, commands[path]), sources):
            faulty += text != ""
            print(text, end="", flush=True)
    print(f"{len(sources) - faulty} of {len(sources)} sources are clean")
    sys.exit(1 if faulty else 0)


main()
