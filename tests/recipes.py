"""Runs the commands of docs/recipes.md with few pairs and updates.

usage: recipes.py PROGRAM SOURCE_FOLDER
"""

import os
import pathlib
import re
import subprocess
import sys
import tempfile

from names import names

# Replacements that make the recipes small. Each pattern must be found.
SMALLER = [
    (r"--train-size 23000", "--train-size 800 --valid-size 20 --test-size 20"),
    (r"-n 3000\b", "-n 500"),
    (r"-n 20000\b", "-n 300"),
    (r" --max-updates 600\b", ""),
    (r"(dragoman train .*) \\$", r"\1 --max-updates 6 --valid-every 3 --max-tokens 500 --threads 1 \\"),
    (r"(train -o (?!tuned|adapted).*) \\$", r"\1 --vocab-size 400 --d-model 32 --heads 2 --d-ff 64 \\"),
    (r"(dragoman (?:translate|evaluate) .*)$", r"\1 --max-length 12 --threads 1"),
]


def commands(page):
    text = "\n".join(re.findall(r"^```sh\n(.*?)^```$", page, re.MULTILINE | re.DOTALL))
    for pattern, smaller in SMALLER:
        text, count = re.subn(pattern, smaller, text, flags=re.MULTILINE)
        if count == 0:
            sys.exit(f"docs/recipes.md: no '{pattern}' to make smaller")
    return text


def main(program, source_folder):
    page = (pathlib.Path(source_folder) / "docs/recipes.md").read_text(encoding="utf-8")
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.dirname(os.path.abspath(program)) + ":" + os.environ["PATH"]
        run = subprocess.run(
            ["bash", "-euxo", "pipefail", "-c", commands(page)],
            cwd=folder, env=dict(os.environ, PATH=path), capture_output=True, text=True)
        print(run.stdout, run.stderr, sep="\n")
        if run.returncode != 0:
            sys.exit("docs/recipes.md: a command fails")
        translated = pathlib.Path(folder, "mono.en").read_text(encoding="utf-8").count("\n")
        if translated != 300:
            sys.exit(f"mono.en has {translated} lines for the 300 of mono.de")
        if not re.search(names("pairs ... weight 1 ... tag <bt>"), run.stderr):
            sys.exit("the log does not show the tagged corpus")
        if "BLEU" not in run.stdout:
            sys.exit("no score at the end")


main(*sys.argv[1:])
