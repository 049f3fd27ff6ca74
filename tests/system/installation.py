"""cmake --install puts a program with its pages and completion into the folders of the FHS, and it runs from there.

Usage: installation.py CMAKE BUILD FOLDER PROGRAM...
"""

import gzip
import pathlib
import shutil
import subprocess
import sys

TEXT = {"check": True, "capture_output": True, "text": True}


def check(program, prefix):
    # Without the variables of the build's shell, and in another place than it was installed to.
    moved = prefix.with_name(f"{prefix.name} moved")
    shutil.move(prefix, moved)
    version = subprocess.run([moved / "bin" / program, "--version"], env={}, **TEXT).stdout
    assert version.startswith(f"{program} "), version
    has_torch = program == "dragoman"
    binary = next(moved.glob("lib/**/dragoman-torch")) if has_torch else moved / "bin" / program
    libraries = subprocess.run(["ldd", binary], **TEXT).stdout
    torch = [line.split(" => ")[1].rpartition(" (")[0] for line in libraries.splitlines() if "torch" in line]
    assert all(path.startswith(str(moved)) or str(moved) in str(pathlib.Path(path).resolve()) for path in torch), torch
    assert bool(torch) == has_torch, libraries
    # The static program of a release has no trainer to link.
    symbols = subprocess.run(["nm", "-D", "--undefined-only", binary], **TEXT).stdout
    assert ("SentencePieceTrainer" in symbols) == has_torch, symbols
    alone = subprocess.run(["ldd", moved / "bin" / program], **TEXT).stdout
    assert "torch" not in alone, alone

    share = moved / "share"
    overview = subprocess.run([moved / "bin" / program, "--help"], env={}, **TEXT).stdout
    commands = overview.split("Commands:\n")[1].split("\n\n")[0].splitlines()
    names = {f"{program}-{line.split()[0]}" for line in commands if not line.startswith("   ")} | {program}
    pages = {path.name.removesuffix(".1.gz"): path for path in (share / "man" / "man1").iterdir()}
    assert set(pages) == names, (set(pages), names)
    for name, page in pages.items():
        assert gzip.open(page, "rt", encoding="utf-8").readline().startswith(".TH "), name
    scripts = [share / "bash-completion" / "completions" / program, share / "zsh" / "site-functions" / f"_{program}",
               share / "fish" / "vendor_completions.d" / f"{program}.fish"]
    for script in scripts:
        assert program in script.read_text(encoding="utf-8"), script
    registered = subprocess.run(["bash", "-c", '. "$0" && complete -p "$1"', scripts[0], program], **TEXT).stdout
    assert registered.startswith("complete "), registered


def main():
    cmake, build, folder, *programs = sys.argv[1:]
    shutil.rmtree(folder, ignore_errors=True)
    for program in programs:
        prefix = pathlib.Path(folder) / program
        subprocess.run([cmake, "--install", build, "--component", program, "--prefix", prefix], check=True, stdout=subprocess.DEVNULL)
        check(program, prefix)
    shutil.rmtree(folder)


if __name__ == "__main__":
    main()
