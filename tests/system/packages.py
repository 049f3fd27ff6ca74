"""Python packages that tests compare the program with: installed once, by pip, into a folder of the build."""

import fcntl
import shutil
import subprocess
import sys

SKIPPED = 77
TORCH = ("torch==2.13.0", "numpy")


def install(folder, *names, alone=()):
    """Makes the packages importable, those of `alone` without what they depend on; exits with 77 (skipped) if pip cannot
    install them. Tests that run at the same time may have the same folder, if they ask for the same packages."""
    with open(folder.with_suffix(".lock"), "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        fill(folder, names, alone)
    sys.path.insert(0, str(folder))


def install_torch(folder):
    """PyTorch, in a folder beside `folder`: it is large, and several tests share it. Call it before install(), whose
    packages then come first."""
    install(folder.with_name("torch"), *TORCH)


def fill(folder, names, alone):
    asked_for = folder / "asked_for.txt"
    wanted = [*names, *alone]
    if asked_for.exists() and asked_for.read_text().split() == wanted:
        return
    part = folder.with_suffix(".part")
    shutil.rmtree(part, ignore_errors=True)
    command = [sys.executable, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--no-compile",
               "--target", str(part)]
    for words in (names, ("--no-deps", *alone) if alone else ()):
        if words and subprocess.run([*command, *words]).returncode != 0:
            print("skipped: pip cannot install", *words)
            sys.exit(SKIPPED)
    (part / asked_for.name).write_text("\n".join(wanted))
    shutil.rmtree(folder, ignore_errors=True)
    part.rename(folder)
