"""Fails where a tracked source is not as clang-format 16 writes it; exits with 77 (skipped) where
there is no clang-format 16 or no git.

Usage: format.py SOURCE_FOLDER
"""

import shutil
import subprocess
import sys

SKIPPED = 77


def clang_format():
    """A clang-format of version 16: another version formats otherwise."""
    for name in ("clang-format-16", "clang-format"):
        if shutil.which(name):
            version = subprocess.run([name, "--version"], capture_output=True, text=True).stdout
            if "version 16." in version:
                return name
    print("skipped: clang-format 16 is missing; scripts/setup installs it")
    sys.exit(SKIPPED)


def tracked_sources(root):
    listing = subprocess.run(
        ["git", "-c", "safe.directory=*", "-C", root, "ls-files", "*.h", "*.cpp"],
        capture_output=True, text=True)
    if listing.returncode != 0:
        print("skipped: not a git checkout")
        sys.exit(SKIPPED)
    return listing.stdout.split("\n")[:-1]


def main():
    root = sys.argv[1]
    sources = tracked_sources(root)
    sys.exit(subprocess.run([clang_format(), "--dry-run", "-Werror", *sources], cwd=root).returncode)


main()
