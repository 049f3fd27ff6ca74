"""Python packages that tests compare the program with: installed once, by pip, into a folder of the build."""

import shutil
import subprocess
import sys

SKIPPED = 77


def install(folder, *names, alone=()):
    """Makes the packages importable, those of `alone` without what they depend on; exits with 77 (skipped) where pip cannot
    install them."""
    asked_for = folder / "asked_for.txt"
    wanted = [*names, *alone]
    if not asked_for.exists() or asked_for.read_text().split() != wanted:
        part = folder.with_suffix(".part")
        shutil.rmtree(part, ignore_errors=True)
        command = [sys.executable, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--target", str(part)]
        for words in (names, ("--no-deps", *alone) if alone else ()):
            if words and subprocess.run([*command, *words]).returncode != 0:
                print("skipped: pip cannot install", *words)
                sys.exit(SKIPPED)
        (part / asked_for.name).write_text("\n".join(wanted))
        shutil.rmtree(folder, ignore_errors=True)
        part.rename(folder)
    sys.path.insert(0, str(folder))
