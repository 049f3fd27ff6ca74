"""Runs the commands of docs/transformer.md, on a model that is trained for a moment; or on a trained one, to draw the
pictures of the page again (for those of the pages of `explain` and `plot` with Chromium and Node.js).

usage: transformer_page.py PROGRAM SOURCE_FOLDER
       transformer_page.py PROGRAM SOURCE_FOLDER RUN EXPERIMENTS   # writes SOURCE_FOLDER/docs/transformer/
"""

import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import xml.etree.ElementTree

sys.path.append(str(pathlib.Path(__file__).parents[3] / "system"))
import node_packages

HERE = pathlib.Path(__file__).resolve().parent
MAKE_A_MODEL = """
dragoman sample -o demo/sample --train-size 3000 --valid-size 10 --test-size 10
dragoman train -o demo/run --preset tiny --vocab-size 2000 --max-updates 4 --valid-every 2 --max-tokens 500 \\
  --train-src demo/sample/train.en --train-tgt demo/sample/train.de \\
  --valid-src demo/sample/valid.en --valid-tgt demo/sample/valid.de
"""
SMALLER = (r"(bench/paper_experiments .*) --updates 425", r"\1 --updates 4 --only plain no-warm-up")


def blocks(page):
    return re.findall(r"^```sh\n(.*?)^```$", page, re.MULTILINE | re.DOTALL)


def run(text, folder, program):
    path = os.path.dirname(os.path.abspath(program)) + ":" + os.environ["PATH"]
    done = subprocess.run(["bash", "-euo", "pipefail", "-c", text], cwd=folder, env=dict(os.environ, PATH=path),
                          capture_output=True, text=True)
    if done.returncode != 0:
        sys.exit(f"docs/transformer.md: a command fails:\n{text}\n{done.stdout}{done.stderr}")
    return done.stdout


def check_pictures(page, folder):
    """Each picture of the page that a command draws is there, and the page names no other file of the repository."""
    files = list((folder / "pictures").glob("*.svg"))
    for file in files:
        assert xml.etree.ElementTree.parse(file).getroot().tag == "{http://www.w3.org/2000/svg}svg", file
    drawn = {file.name for file in files}
    shown = set(re.findall(r"\]\(transformer/([^)]+)\)", page))
    assert drawn and drawn <= shown, f"drawn, but not shown: {drawn - shown}"
    missing = [name for name in shown if not (HERE.parents[3] / "docs/transformer" / name).is_file()]
    assert not missing, f"no such picture: {missing}"
    for name in set(re.findall(r"`([a-z_]+/[\w/.]+\.(?:h|cpp))`", page)):
        assert (HERE.parents[3] / name).is_file(), f"no such file: {name}"


def commands_work(program, source, page):
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        (folder / "bench").symlink_to(source / "bench")
        run(MAKE_A_MODEL, folder, program)
        outputs = []
        for block in blocks(page):
            text, count = re.subn(*SMALLER, block)
            outputs.append(run(text, folder, program))
        check_pictures(page, folder)
        assert "chrF2" in "".join(outputs), "no score"


def draw(program, source, page, demo):
    """The pictures that commands draw, and the figures of the page of `explain`."""
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        (folder / "demo").mkdir()
        for link, to in zip(("run", "experiments"), demo):
            (folder / "demo" / link).symlink_to(pathlib.Path(to).resolve())
        for block in blocks(page):
            if re.search("dragoman (explain|plot)", block):
                run(block, folder, program)
        pictures = source / "docs/transformer"
        for svg in (folder / "pictures").glob("*.svg"):
            shutil.copy(svg, pictures)
        with tempfile.TemporaryDirectory() as packages:
            modules = node_packages.modules(pathlib.Path(packages), *node_packages.BROWSER)
            subprocess.run(["node", HERE / "transformer_pictures.js", modules, node_packages.browser(),
                            folder / "pictures", pictures], check=True)


def main(program, source_folder, *demo):
    source = pathlib.Path(source_folder).resolve()
    page = (source / "docs/transformer.md").read_text(encoding="utf-8")
    if demo:
        draw(program, source, page, demo)
    else:
        commands_work(program, source, page)


main(*sys.argv[1:])
