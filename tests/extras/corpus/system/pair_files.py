"""Pairs in files that other programs have made are read as those programs read them: TMX, XLIFF 1.2 and PO of Translate Toolkit,
TSV and JSON lines of Python, and a zip archive as OPUS has it. Exits with 77 (skipped) if pip cannot install the package.

Usage: pair_files.py PROGRAM PACKAGES
"""

import csv
import json
import pathlib
import subprocess
import sys
import tempfile
import zipfile

sys.path.append(str(pathlib.Path(__file__).parents[3] / "system"))
import packages

PAIRS = [("The house is old.", "Das Haus ist alt."), ("Fish & chips < 5 €", "Fisch & Pommes < 5 €"),
         ("She said \"no\".", "Sie sagte „nein“."), ("A line\u2028with its own separator", "Eine Zeile\u2028mit eigenem Trenner"),
         ("Tabs and \\n are not line ends", "Tabulatoren und \\n sind keine Zeilenenden"), ("漢字 and ﬁ", "漢字 und ﬁ"),
         ("Two  blanks", "Zwei  Leerzeichen"), ("Emoji 👩‍👧", "Emoji 👩‍👧")]


def write_tmx(path):
    from translate.storage import tmx
    store = tmx.tmxfile()
    for source, target in PAIRS:
        store.addtranslation(source, "en", target, "de")
    store.savefile(str(path))
    return [(unit.source, unit.target) for unit in tmx.tmxfile.parsefile(str(path)).units]


def write_xliff(path):
    from translate.storage import xliff
    store = xliff.xlifffile(sourcelanguage="en", targetlanguage="de")
    for source, target in PAIRS:
        unit = store.addsourceunit(source)
        unit.target = target
        unit.markapproved()
    store.savefile(str(path))
    return [(str(unit.source), str(unit.target)) for unit in xliff.xlifffile.parsefile(str(path)).units]


def write_po(path):
    from translate.storage import pypo
    store = pypo.pofile()
    store.updateheader(add=True, Content_Type="text/plain; charset=UTF-8", Language="de")
    for source, target in PAIRS:
        store.addsourceunit(source).target = target
    store.savefile(str(path))
    return [(str(unit.source), str(unit.target)) for unit in pypo.pofile.parsefile(str(path)).units if not unit.isheader()]


def write_tsv(path):
    with path.open("w", newline="", encoding="utf-8") as file:
        csv.writer(file, delimiter="\t", quoting=csv.QUOTE_NONE, quotechar=None, lineterminator="\n").writerows(PAIRS)
    with path.open(newline="", encoding="utf-8") as file:
        return [tuple(row) for row in csv.reader(file, delimiter="\t", quoting=csv.QUOTE_NONE)]


def write_json_lines(path):
    path.write_text("".join(json.dumps({"source": source, "target": target}) + "\n" for source, target in PAIRS), encoding="utf-8")
    return [(pair["source"], pair["target"]) for pair in map(json.loads, path.open(encoding="utf-8"))]


def write_archive(path):
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("README", "a corpus\n")
        for language, side in (("en", 0), ("de", 1)):
            archive.writestr(f"Sample.de-en.{language}", "".join(pair[side] + "\n" for pair in PAIRS))
    with zipfile.ZipFile(path) as archive:
        sides = [archive.read(f"Sample.de-en.{language}").decode().split("\n")[:-1] for language in ("en", "de")]
    return list(zip(*sides))


def read(program, path, folder):
    """The pairs as dragoman reads them: the text that nothing is cut from."""
    (folder / "filters.toml").write_text("cut = []\n")
    done = subprocess.run([program, "corpus", path, "--quick", "--quiet", "--source-lang", "en", "--target-lang", "de",
                           "--clean", folder / "filters.toml", "-o", folder / path.name], capture_output=True, text=True)
    assert done.returncode == 0, (path, done.stderr)
    sides = [next((folder / path.name).glob(f"*.{side}")).read_text(encoding="utf-8").split("\n")[:-1] for side in ("source", "target")]
    return list(zip(*sides))


def main():
    program, folder = map(pathlib.Path, sys.argv[1:])
    packages.install(folder, "translate-toolkit")
    writers = {"memory.tmx": write_tmx, "texts.xlf": write_xliff, "texts.po": write_po, "pairs.tsv": write_tsv,
               "pairs.jsonl": write_json_lines, "de-en.txt.zip": write_archive}
    with tempfile.TemporaryDirectory() as name_of_work:
        work = pathlib.Path(name_of_work)
        (work / "read").mkdir()
        for name, write in writers.items():
            theirs = write(work / name)
            ours = read(program, work / name, work / "read")
            assert len(theirs) == len(PAIRS), (name, theirs)
            assert ours == theirs, (name, [pair for pair in zip(ours, theirs) if pair[0] != pair[1]])
            print(name, "passed", flush=True)


main()
