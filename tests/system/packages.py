"""Python packages that tests compare the program with: installed once, by pip, into a folder of the build."""

import shutil
import subprocess
import sys

SKIPPED = 77


def install(folder, *names):
    """Makes the packages importable; exits with 77 (skipped) where pip cannot install them."""
    asked_for = folder / "asked_for.txt"
    if not asked_for.exists() or asked_for.read_text().split() != list(names):
        part = folder.with_suffix(".part")
        shutil.rmtree(part, ignore_errors=True)
        command = [sys.executable, "-m", "pip", "install", "--quiet", "--disable-pip-version-check",
                   "--target", str(part), *names]
        if subprocess.run(command).returncode != 0:
            print("skipped: pip cannot install", *names)
            sys.exit(SKIPPED)
        (part / asked_for.name).write_text("\n".join(names))
        shutil.rmtree(folder, ignore_errors=True)
        part.rename(folder)
    sys.path.insert(0, str(folder))
