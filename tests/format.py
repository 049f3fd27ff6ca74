"""Fails if a source is not as clang-format 16 writes it, or if a file has the
marks of an unresolved merge; exits with 77 (skipped) if there is no clang-format 16.

Usage: format.py SOURCE_FOLDER
"""

import os
import shutil
import subprocess
import sys

SKIPPED = 77


def clang_format():
    """A clang-format of version 16: another version formats differently."""
    for name in ("clang-format-16", "clang-format"):
        if shutil.which(name):
            version = subprocess.run([name, "--version"], capture_output=True, text=True).stdout
            if "version 16." in version:
                return name
    print("skipped: clang-format 16 is missing; scripts/setup installs it")
    sys.exit(SKIPPED)


def sources_below(root):
    """All sources except those in folders of builds and downloads: build/, .libtorch/, CMake's folders."""
    for folder, subfolders, files in os.walk(root):
        subfolders[:] = [name for name in subfolders if name != "build" and not name.startswith(".")]
        if "CMakeCache.txt" in files:
            subfolders.clear()
            continue
        yield from (os.path.join(folder, name) for name in files if name.endswith((".h", ".cpp", ".cu", ".cuh")))


def undecided_merges(root):
    """The lines of marks that git leaves where two sides change the same lines; none outside a repository."""
    found = subprocess.run(["git", "-C", root, "grep", "-nIE", "^(<{7}|>{7}) "], capture_output=True, text=True)
    return found.stdout


def main():
    if marks := undecided_merges(sys.argv[1]):
        sys.exit(marks)
    sources = sorted(sources_below(sys.argv[1]))
    sys.exit(subprocess.run([clang_format(), "--dry-run", "-Werror", *sources]).returncode)


if __name__ == "__main__":
    main()
